"""Answer one request of the daemon with events, by its op; the last one is its ending.

Knows providers and a transport that is given; not stdin, rights or the daemon. See transport.py for how all of it is
sent, shapes.pyi for requests and events.

A chat is asked again before any output was emitted, at most `retries` times, only for failures that say so, and never
when that would begin after BUDGET_S. It is done here, not in the daemon, because here a cancelled request ends at once
in the middle of a wait: with the process. Source of the waiting times: the defaults of the services' own libraries
(0.5 s doubling to 8 s, up to a quarter less, a server's wish obeyed up to 60 s). A parameter that the model refuses is
left out, once each, and reported, so that the daemon leaves it out from then on.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable

from oasis import providers
from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderError, ProviderTimeout, SettingsError, UsageError
from oasis.providers import events, wire
from oasis.worker import transport, web

if False:  # annotations only
    from typing import Any

    from oasis.providers.decoding import Decoder
    from oasis.providers.shapes import Event, Model, Options, Profile
    from oasis.providers.shapes import Request as Http
    from oasis.worker.shapes import Emit, Limits, Open, Request

# In seconds: to connect, without a byte, and in all. The longest answers of slow models at home take some minutes; what
# drips on for longer is no answer.
LIMITS: Limits = {
    "connect_s": 10.0, "idle_s": 120.0, "total_s": 3600.0,
    "ca_file": "", "proxy": "", "proxy_auth": "", "walled": False,
}  # fmt: skip
RETRIES = 2
WAIT_MAX_S = 60.0  # longer is for a person to decide
BUDGET_S = 120.0  # the owner waits: after two minutes an answer to "why" is better than one more try
REFUSALS = 4  # of parameters in one request; who refuses more does not take our requests at all

_OUTPUT = ("delta", "thinking", "tool_use")


def answer(
    request: Request, profiles: dict[str, Profile], send: Open, emit: Emit, sleep_s: Callable[[float], None],
    now_s: Callable[[], float] = time.monotonic,
) -> None:  # fmt: skip
    """Answer a request with events; the last one is its ending."""
    key = request.get("key") or ""

    def emit_masked(event: Event) -> None:
        """Emit an event in which the key, should it stand in words about a failure, is masked."""
        if len(key) < 4:
            pass
        elif event["type"] in ("retry", "refused"):
            event = {**event, "text": str(event["text"]).replace(key, "…")}
        elif event["type"] == "message":  # of an MCP server, which may repeat what it was called with
            event = jsonl.loads(jsonl.dumps(event).replace(key, "…"), TOTAL_BYTES)  # type: ignore[assignment]
        elif event["type"] == "error":
            said = event["error"].items()
            hidden = {name: value.replace(key, "…") if isinstance(value, str) else value for name, value in said}
            event = {"type": "error", "error": hidden}  # type: ignore[typeddict-item]
        emit(event)

    try:
        _Exchange(request, profiles, send, emit_masked, sleep_s, now_s).answer()
    except OasisError as error:
        emit_masked(_failed(error))


def _part(op: str) -> Any:
    """Return the module of the part with this name that asks for it: exchange(request, open_it, read, emit)."""
    try:
        return __import__(f"oasis.parts.{op}.exchange", fromlist=("exchange",))
    except ImportError:
        raise UsageError(f"op {op[:40]!r} is unknown", "lines.py has those that there are")


class _Exchange:
    """One request, with all the times that a service is asked for it."""

    def __init__(
        self, request: Request, profiles: dict[str, Profile], send: Open, emit: Emit,
        sleep_s: Callable[[float], None], now_s: Callable[[], float],
    ) -> None:  # fmt: skip
        name = request.get("profile") or "compatible"
        if name not in profiles:
            raise UsageError(f"profile {name!r} is unknown", "use one of: " + ", ".join(sorted(profiles)))
        profile, given = profiles[name], request.get("options") or {}
        self._request = request
        self._options: Options = {
            "stream": True,
            **given,
            "profile": {**profile, "id": name},
            "base_url": request.get("base_url") or profile.get("base_url") or "",
            "key": request.get("key") or "",  # the profile's `key` says whether one is needed
            "model": request.get("model") or profile.get("model") or "",
        }
        usual = {**LIMITS, "idle_s": profile.get("idle_s") or LIMITS["idle_s"]}
        self._limits: Limits = {name: given.get(name) or one for name, one in usual.items()}  # type: ignore[assignment]
        self._without = list(given.get("without") or [])
        self._module = providers.load(request.get("vendor") or profile["vendor"])
        self._send = send
        self._emit = emit
        self._sleep_s = sleep_s
        self._now_s = now_s

    def answer(self) -> None:
        """Do what the op says.

        Raises: OasisError when that cannot be done.
        """
        op, options = self._request.get("op"), self._options
        if op in ("chat", "show"):
            tools = wire.Toolset(self._request.get("messages", []), self._request.get("tools", []), options)
            http = self._module.build_request(tools.messages, tools.tools, tools.options)
            if op == "chat":
                self._chat(http, tools)
                return
            http = events.without(http, self._without)  # shown, and not sent
            key = options["key"]
            hidden = {name: value.replace(key, "***") if key else value for name, value in http["headers"].items()}
            shown: Event = {"type": "shown", "method": http["method"], "url": http["url"], "headers": hidden}
            self._emit({**shown, "text": str(http["body"], "utf-8")})
            self._emit(events.done("end_turn", wire.model_of(options)))
        elif op == "models":
            self._emit({"type": "models", "models": self._models(bool(self._request.get("only")))})
        elif op == "embed":
            self._embed(self._request.get("texts", []))
        elif op in ("fetch", "search", "read"):
            asked = web.Web(self._request)
            late = ProviderTimeout("the web takes longer than it may", "try again later")
            with transport.within(asked.most_s(), late):
                self._emit({"type": "web", "result": asked.run()})  # type: ignore[typeddict-item]
        elif op == "find":
            self._emit({"type": "web", "result": web.find(self._request.get("places", []))})  # type: ignore[typeddict-item]
        else:
            until_s = self._now_s() + self._limits["total_s"]
            begun = lambda http: transport.begun(http, self._limits, self._send)  # noqa: E731
            read = lambda response: transport.read(response, until_s - self._now_s())  # noqa: E731
            _part(str(op)).exchange(self._request, begun, read, self._emit)

    def _models(self, only: bool) -> list[Model]:
        """Return what a service lists, or of `only` the chosen model what the service says of it, [] for nothing."""
        options = self._options
        http = self._module.model_request(options) if only and hasattr(self._module, "model_request") else None
        if http:
            with contextlib.suppress(ProviderError):  # not every version has this address
                room = wire.room_of(self._plain(http))
                if room:
                    return [wire.model(wire.model_of(options), room)]
        found: list[Model] = self._module.models_read(self._plain(self._module.models_request(options)), options)
        if only:
            # A server with one model alone takes any name for it.
            found = [one for one in found if len(found) == 1 or one["id"] == options.get("model")][:1]
        return found

    def _plain(self, http: Http) -> object:
        """Return the JSON of a whole answer."""
        until_s, body = self._now_s() + self._limits["total_s"], b""
        with contextlib.closing(transport.begun(http, self._limits, self._send)) as response:
            while len(body) <= TOTAL_BYTES and (data := transport.read(response, until_s - self._now_s())):
                body += data
        return wire.answer_of(response.status, response.headers, body, self._options)

    def _embed(self, texts: list[str]) -> None:
        """Emit a vector for each text, and the tokens that they took."""
        if not hasattr(self._module, "embed_request"):
            hint = "choose a service that has them, like OpenAI, Gemini, Cohere or Ollama"
            raise SettingsError(f"{wire.label_of(self._options)} has no embeddings", hint)
        # `extra` holds fields of a chat's body, which the method for embeddings need not know.
        options: Options = {**self._options, "extra": {}}
        found, counts = self._module.embed_read(self._plain(self._module.embed_request(texts, options)), options)
        if len(found) != len(texts):
            raise wire.bad_answer(options, f"it holds {len(found)} embeddings for {len(texts)} texts")
        for vector in found:
            self._emit({"type": "embedding", "embedding": vector})
        for event in [*events.usage(counts), events.done("end_turn", wire.model_of(options))]:
            self._emit(event)

    # Chats

    def _chat(self, http: Http, tools: wire.Toolset) -> None:
        """Ask until there is an answer, or a failure that stays."""
        retries, attempt, began_s = self._options.get("retries", RETRIES), 0, self._now_s()
        while True:
            sent = events.without(http, self._without)
            failure = self._attempt(sent, tools)
            if failure is None:
                return
            error = failure["error"]
            name = error.get("parameter", "")  # that it refuses: left out from now on, if that is possible
            is_known = not name or name in self._without or len(self._without) >= REFUSALS
            if not is_known and events.without(sent, [name]) is not sent:
                self._without.append(name)
                plain, _, other = name.partition("=")
                how = f"it is sent as {other} from now on" if other else "it is left out from now on"
                text = f"{wire.model_of(self._options)} does not take {plain}: {how}"
                self._emit({"type": "refused", "text": text, "parameter": name})
                continue
            wait_s = error.get("retry_after_s")
            if wait_s is None:
                wait_s = min(8.0, 0.5 * 2.0**attempt) * (1 - random.random() / 4)  # noqa: S311 (spreads clients)
            is_soon = wait_s <= WAIT_MAX_S and self._now_s() - began_s + wait_s <= BUDGET_S
            if attempt == retries or not error["retryable"] or not is_soon:
                self._emit(failure)
                return
            attempt += 1
            text = f"{error['message']}; asking again in {wait_s:.1f} s"
            self._emit({"type": "retry", "text": text, "wait_s": wait_s})
            self._sleep_s(wait_s)

    def _attempt(self, http: Http, tools: wire.Toolset) -> Event | None:
        """Ask once; return the failure when nothing was emitted yet, None when the answer has ended."""
        has_output = False
        until_s = self._now_s() + self._limits["total_s"]
        try:
            response = transport.begun(http, self._limits, self._send)
        except OasisError as error:
            return _failed(error)
        most, taken, data = TOTAL_BYTES if 200 <= response.status < 300 else events.BODY_BYTES, 0, b""
        try:
            decoder: Decoder = self._module.Decoder(response.status, response.headers, self._options)
            while not decoder.is_ended:
                data = transport.read(response, until_s - self._now_s()) if taken <= most else b""
                taken += len(data)
                for event in decoder.feed(data) if data else decoder.close():
                    if event["type"] == "error" and not has_output:
                        return event
                    has_output = has_output or event["type"] in _OUTPUT
                    self._emit(tools.event(event))
        except ProviderError as error:
            if not has_output:
                return _failed(error)
            self._emit(_failed(error))
        finally:
            response.close()
        return None


def _failed(error: OasisError) -> Event:
    return events.error(error.code, error.message, error.hint, error.retryable)
