"""Answer one request: translate, send, decode, retry; everything that happens leaves as events.

Knows providers and a transport that is given; not stdin, rights or the daemon. Retries only before any output was
emitted, at most `retries` times, only for failures that say so, and none that would begin after BUDGET_S. It is done
here, not in the daemon, because here a cancelled request ends at once in the middle of a wait: with the process.
Source of the waiting times: the defaults of the services' own libraries (0.5 s doubling to 8 s, up to a quarter less,
a server's wish obeyed up to 60 s).

A parameter that the model refuses is left out, once each, and told, so that the daemon asks without it from then on.
"""

from __future__ import annotations

import random
import time
import urllib.parse

from oasis import providers
from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderError, ProviderTimeout, SettingsError, UsageError
from oasis.providers import events, faults, refusals, toolset, wire
from oasis.worker import mcp, telegram, web
from oasis.worker.deadline import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from oasis.providers.decoding import Decoder
    from oasis.worker.transport import Response

    Open = Callable[[dict[str, object], dict[str, object]], Response]
    Emit = Callable[[events.Event], None]
    Sleep = Callable[[float], None]
    Now = Callable[[], float]

Request = dict[str, object]

CONNECT_S = 10.0
IDLE_S = 120.0
RETRIES = 2
WAIT_MAX_S = 60.0  # longer is for a person to decide
BUDGET_S = 120.0  # the owner waits: after two minutes an answer to "why" is better than one more try
# The longest answers of slow models at home take some minutes; what drips on for longer is no answer.
TOTAL_S = 3600.0
# Several addresses may be tried; then the request goes out, and the head of the answer comes in.
_CONNECTS, _IDLES = 3, 2
REFUSALS = 4  # of parameters in one request; who refuses more does not take our requests at all
REDIRECTS = 3

_OUTPUT = ("delta", "thinking", "tool_use")


def answer(
    request: Request,
    profiles: dict[str, dict[str, object]],
    send: Open,
    emit: Emit,
    sleep_s: Sleep,
    now_s: Now = time.monotonic,
) -> None:
    """Answer a request with events; the last one is its ending."""
    key = str(request.get("key") or "")

    def emit_masked(event: events.Event) -> None:
        emit(_masked(event, key))

    try:
        options, limits = _options(request, profiles), _limits(request, profiles)
        module = providers.load(str(request.get("vendor") or _profile(options).get("vendor")))
        if request.get("op") in ("chat", "show"):
            chat = _Chat(request, module, options, limits, send, emit_masked, sleep_s, now_s)
            chat.run() if request["op"] == "chat" else chat.show()
        elif request.get("op") == "models":
            emit_masked({"type": "models", "models": _models(module, options, limits, send, now_s)})
        elif request.get("op") == "embed":
            for vector in _embeddings(request, module, options, limits, send, now_s):
                emit_masked({"type": "embedding", "embedding": vector})
            emit_masked(events.done("end_turn", wire.model_of(options)))
        elif request.get("op") in ("mcp", "telegram"):
            until_s = now_s() + _seconds(limits, "total_s")
            (mcp if request["op"] == "mcp" else telegram).exchange(
                request,
                lambda http: _open(http, limits, send),
                lambda response: _read(response, until_s - now_s()),
                emit_masked,
            )
        elif request.get("op") in ("fetch", "search", "read"):
            emit_masked({"type": "web", "result": _web(request)})
        elif request.get("op") == "find":
            emit_masked({"type": "web", "result": _found(request)})
        else:
            raise UsageError(f"op {str(request.get('op'))[:40]!r} is unknown", "lines.py has those that there are")
    except OasisError as error:
        emit_masked(_event(error))


def _found(request: Request) -> dict[str, object]:
    from oasis.worker import finding  # in the first hour, and then hardly ever

    places = request.get("places")
    return finding.find([str(one) for one in places] if isinstance(places, list) else [])


def _web(request: Request) -> dict[str, object]:
    asked = web.Web(request)
    with within(asked.most_s(), _too_long("the web takes longer than it may", "try again later")):
        return asked.run()


# What was asked for


def _options(request: Request, profiles: dict[str, dict[str, object]]) -> wire.Options:
    name = str(request.get("profile") or "compatible")
    if name not in profiles:
        raise UsageError(f"profile {name!r} is unknown", "use one of: " + ", ".join(sorted(profiles)))
    given = request.get("options")
    options = dict(given) if isinstance(given, dict) else {}
    options.setdefault("stream", True)
    options["profile"] = {**profiles[name], "id": name}
    for field in ("base_url", "key", "model"):
        options[field] = request.get(field) or profiles[name].get(field) or ""
    options["key"] = request.get("key") or ""  # the profile's `key` says whether one is needed
    return options


def _limits(request: Request, profiles: dict[str, dict[str, object]]) -> dict[str, object]:
    given = request.get("options")
    options = given if isinstance(given, dict) else {}
    profile = profiles.get(str(request.get("profile") or "compatible"), {})
    limits: dict[str, object] = {
        "connect_s": options.get("connect_s") or CONNECT_S,
        "idle_s": options.get("idle_s") or profile.get("idle_s") or IDLE_S,
        "total_s": options.get("total_s") or TOTAL_S,
        "retries": options.get("retries", RETRIES),
    }
    limits.update({name: options[name] for name in ("ca_file", "proxy", "proxy_auth", "walled") if options.get(name)})
    return limits


def _profile(options: wire.Options) -> dict[str, object]:
    return wire.profile_of(options)


# Asking and retrying


class _Chat:
    """One chat request, with all the times it is asked."""

    def __init__(
        self,
        request: Request,
        module: ModuleType,
        options: wire.Options,
        limits: dict[str, object],
        send: Open,
        emit: Emit,
        sleep_s: Sleep,
        now_s: Now,
    ) -> None:
        self._tools = tools = toolset.of_request(request, options)
        self._http = module.build_request(tools.messages, tools.tools, tools.options)
        known = options.get("without")
        self._without = [str(name) for name in known] if isinstance(known, list) else []
        self._module = module
        self._options = options
        self._limits = limits
        self._send = send
        self._emit = emit
        self._sleep_s = sleep_s
        self._now_s = now_s

    def run(self) -> None:
        """Ask until there is an answer, or a failure that stays."""
        retries, attempt, began_s = self._limits["retries"], 0, self._now_s()
        assert isinstance(retries, int)
        while True:
            failure = self._attempt()
            if failure is None:
                return
            if self._leaves_out(failure):
                continue
            wait_s = _wait_s(failure, attempt)
            if attempt == retries or wait_s is None or self._now_s() - began_s + wait_s > BUDGET_S:
                self._emit(failure)
                return
            attempt += 1
            self._emit(_retry(failure, wait_s))
            self._sleep_s(wait_s)

    def show(self) -> None:
        """Tell what would be sent, and send nothing."""
        http = refusals.without(self._http, self._without)
        headers, key, body = http["headers"], str(self._options.get("key") or ""), http["body"]
        assert isinstance(headers, dict) and isinstance(body, bytes)
        hidden = {name: value.replace(key, "***") if key else value for name, value in headers.items()}
        shown = {"method": http["method"], "url": http["url"], "headers": hidden}
        self._emit({"type": "shown", **shown, "text": body.decode("utf-8")})
        self._emit(events.done("end_turn", wire.model_of(self._options)))

    def _leaves_out(self, failure: events.Event) -> bool:
        """Take the parameter that a failure refuses out of the request; False when that is not what failed."""
        error = failure["error"]
        assert isinstance(error, dict)
        name = str(error.get("parameter") or "")
        if not name or name in self._without or len(self._without) >= REFUSALS:
            return False
        if not refusals.has(refusals.without(self._http, self._without), name):
            return False
        self._without.append(name)
        plain, _, other = name.partition("=")
        how = f"it is sent as {other} from now on" if other else "it is left out from now on"
        text = f"{wire.model_of(self._options)} does not take {plain}: {how}"
        self._emit({"type": "refused", "text": text, "parameter": name})
        return True

    def _attempt(self) -> events.Event | None:
        """Ask once; return the failure when nothing was emitted yet, None when the answer has ended."""
        has_output = False
        until_s = self._now_s() + _seconds(self._limits, "total_s")
        try:
            response = _open(refusals.without(self._http, self._without), self._limits, self._send)
        except OasisError as error:
            return _event(error)
        try:
            decoder = self._module.Decoder(response.status, response.headers, self._options)
            for event in _decoded(response, decoder, lambda: until_s - self._now_s()):
                if event["type"] == "error" and not has_output:
                    return event
                has_output = has_output or event["type"] in _OUTPUT
                self._emit(self._tools.event(event))
        except ProviderError as error:
            if not has_output:
                return _event(error)
            self._emit(_event(error))
        finally:
            response.close()
        return None


def _decoded(response: Response, decoder: Decoder, left_s: Now) -> Iterator[events.Event]:
    """Yield the events of a response up to its ending."""
    most = TOTAL_BYTES if 200 <= response.status < 300 else faults.BODY_BYTES
    taken = 0
    while taken <= most and not decoder.is_ended:
        data = _read(response, left_s())
        if not data:
            break
        taken += len(data)
        yield from decoder.feed(data)
    yield from decoder.close()


def _read(response: Response, left_s: float) -> bytes:
    with within(left_s, _too_long("the answer takes longer than it may", "ask for less at once, or raise total_s")):
        return response.read()


def _too_long(message: str, hint: str) -> ProviderTimeout:
    return ProviderTimeout(message, hint)


def _open(http: wire.Request, limits: dict[str, object], send: Open) -> Response:
    """Send a request; follow a redirect only within the same host, for the key goes along."""
    head_s = _CONNECTS * _seconds(limits, "connect_s") + _IDLES * _seconds(limits, "idle_s")
    for _ in range(REDIRECTS):
        host = str(http["url"]).partition("://")[2].partition("/")[0]
        message = f"the answer of {host} did not begin within {head_s:g} s"
        with within(head_s, _too_long(message, "try again; a local model may need a longer idle_s")):
            response = send(http, limits)
        target = _moved(str(http["url"]), response)
        if not target:
            break
        response.close()
        http = {**http, "url": target}
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in ("", "identity"):
        response.close()
        hint = "something between here and the service compresses answers; turn that off"
        raise ProviderError(f"the answer is compressed ({packing[:40]}) though that was not asked for", hint)
    return response


def _moved(url: str, response: Response) -> str:
    """Return where a redirect within the same host leads, "" for every other answer."""
    if response.status not in (307, 308):
        return ""
    try:
        target = urllib.parse.urljoin(url, response.headers.get("location", ""))
        return target if _origin(target) == _origin(url) else ""
    except (ValueError, ImportError):
        return ""  # no address, or letters that are judged by python3-codecs, which may be missing


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _wait_s(failure: events.Event, attempt: int) -> float | None:
    """Return how long to wait before the next attempt, None when there should be none."""
    error = failure["error"]
    assert isinstance(error, dict)
    if not error["retryable"]:
        return None
    wished = error.get("retry_after_s")
    if wished is not None:
        return float(wished) if wished <= WAIT_MAX_S else None
    return min(8.0, 0.5 * 2.0**attempt) * (1 - random.random() / 4)  # noqa: S311 (spreads clients, guards nothing)


def _retry(failure: events.Event, wait_s: float) -> events.Event:
    error = failure["error"]
    assert isinstance(error, dict)
    return {"type": "retry", "text": f"{error['message']}; asking again in {wait_s:.1f} s", "wait_s": wait_s}


def _models(
    module: ModuleType, options: wire.Options, limits: dict[str, object], send: Open, now_s: Now
) -> list[dict[str, object]]:
    status, headers, body = _fetched(module.models_request(options), limits, send, now_s)
    models: list[dict[str, object]] = module.models_read(status, headers, body, options)
    return models


def _embeddings(
    request: Request,
    module: ModuleType,
    options: wire.Options,
    limits: dict[str, object],
    send: Open,
    now_s: Now,
) -> list[list[float]]:
    """Return a vector for each text of a request.

    Raises: SettingsError for a service without embeddings, UsageError for texts that cannot be sent, ProviderError.
    """
    if not hasattr(module, "embed_request"):
        hint = "choose a service that has them, like OpenAI, Gemini, Cohere or Ollama"
        raise SettingsError(f"{wire.label_of(options)} has no embeddings", hint)
    given = request.get("texts")
    texts = [str(text) for text in given] if isinstance(given, list) else []
    # `extra` holds fields of a chat's body, which the method for embeddings need not know.
    options = {name: value for name, value in options.items() if name != "extra"}
    status, headers, body = _fetched(module.embed_request(texts, options), limits, send, now_s)
    vectors: list[list[float]] = module.embed_read(status, headers, body, options)
    if len(vectors) != len(texts):
        raise wire.bad_answer(options, f"it holds {len(vectors)} embeddings for {len(texts)} texts")
    return vectors


def _fetched(
    http: wire.Request, limits: dict[str, object], send: Open, now_s: Now
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and the whole body of an answer."""
    until_s = now_s() + _seconds(limits, "total_s")
    response = _open(http, limits, send)
    try:
        body = b""
        while len(body) <= TOTAL_BYTES:
            data = _read(response, until_s - now_s())
            if not data:
                break
            body += data
    finally:
        response.close()
    return response.status, response.headers, body


def _seconds(limits: dict[str, object], name: str) -> float:
    value = limits[name]
    assert isinstance(value, (int, float))
    return float(value)


# Failures


def _event(error: OasisError) -> events.Event:
    return events.error(error.code, error.message, error.hint, error.retryable)


def _masked(event: events.Event, key: str) -> events.Event:
    """Return an event in which the key, should it stand in words about a failure, is masked."""
    if len(key) >= 4 and event["type"] == "message":  # of an MCP server, which may repeat what it was called with
        masked: events.Event = jsonl.loads(jsonl.dumps(event).replace(key, "…"), TOTAL_BYTES)
        return masked
    if len(key) < 4 or event["type"] not in ("error", "retry", "refused"):
        return event
    if event["type"] != "error":
        return {**event, "text": str(event["text"]).replace(key, "…")}
    body = event["error"]
    assert isinstance(body, dict)
    shown = {name: value.replace(key, "…") if isinstance(value, str) else value for name, value in body.items()}
    return {"type": "error", "error": shown}
