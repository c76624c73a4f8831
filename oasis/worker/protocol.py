"""Answer one request of the daemon with events, by its op; the last one is its ending.

Knows providers and a transport that is given; not stdin, rights or the daemon. See chat.py for chats, transport.py for
how all of it is sent, lines.py for requests and events.
"""

from __future__ import annotations

import time

from oasis import providers
from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderTimeout, SettingsError, UsageError
from oasis.providers import events, wire
from oasis.worker import mcp, telegram, transport, web
from oasis.worker.chat import Chat, Outside, failed
from oasis.worker.transport import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from oasis.providers import wire
    from oasis.providers.shapes import Profile
    from oasis.worker.chat import Emit, Sleep
    from oasis.worker.finding import Found
    from oasis.worker.transport import Now, Open

Request = dict[str, object]

CONNECT_S = 10.0
IDLE_S = 120.0
RETRIES = 2
# The longest answers of slow models at home take some minutes; what drips on for longer is no answer.
TOTAL_S = 3600.0


def answer(
    request: Request, profiles: dict[str, Profile], send: Open, emit: Emit, sleep_s: Sleep,
    now_s: Now = time.monotonic,
) -> None:  # fmt: skip
    """Answer a request with events; the last one is its ending."""
    key = str(request.get("key") or "")

    def emit_masked(event: events.Event) -> None:
        emit(_masked(event, key))

    try:
        _answer(request, profiles, send, emit_masked, sleep_s, now_s)
    except OasisError as error:
        emit_masked(failed(error))


def _answer(request: Request, profiles: dict[str, Profile], send: Open, emit: Emit, sleep_s: Sleep, now_s: Now) -> None:
    op, options, limits = request.get("op"), _options(request, profiles), _limits(request, profiles)
    module = providers.load(str(request.get("vendor") or wire.profile_of(options).get("vendor")))
    if op in ("chat", "show"):
        chat = Chat(request, module, options, limits, Outside(send, emit, sleep_s, now_s))
        chat.run() if request["op"] == "chat" else chat.show()
    elif op == "models":
        emit({"type": "models", "models": _models(module, options, limits, send, now_s)})
    elif op == "embed":
        made, counts = _embeddings(request, module, options, limits, send, now_s)
        for vector in made:
            emit({"type": "embedding", "embedding": vector})
        for event in [*events.usage(counts), events.done("end_turn", wire.model_of(options))]:
            emit(event)
    elif op in ("mcp", "telegram"):
        until_s = now_s() + transport.seconds(limits, "total_s")
        begun = lambda http: transport.begun(http, limits, send)  # noqa: E731
        read = lambda response: transport.read(response, until_s - now_s())  # noqa: E731
        (mcp if op == "mcp" else telegram).exchange(request, begun, read, emit)
    elif op in ("fetch", "search", "read"):
        emit({"type": "web", "result": _web(request)})
    elif op == "find":
        emit({"type": "web", "result": _found(request)})
    else:
        raise UsageError(f"op {str(op)[:40]!r} is unknown", "lines.py has those that there are")


def _found(request: Request) -> Found:
    from oasis.worker import finding  # in the first hour, and then hardly ever

    places = request.get("places")
    return finding.find([str(one) for one in places] if isinstance(places, list) else [])


def _web(request: Request) -> web.Page | web.Findings:
    asked = web.Web(request)  # type: ignore[arg-type]  # the keys of lines.py; each value is converted there
    with within(asked.most_s(), ProviderTimeout("the web takes longer than it may", "try again later")):
        return asked.run()


# What was asked for


def _options(request: Request, profiles: dict[str, Profile]) -> wire.Options:
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


def _limits(request: Request, profiles: dict[str, Profile]) -> dict[str, object]:
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


# Lists and vectors


def _models(
    module: ModuleType, options: wire.Options, limits: dict[str, object], send: Open, now_s: Now
) -> list[dict[str, object]]:
    status, headers, body = transport.fetched(module.models_request(options), limits, send, now_s)
    models: list[dict[str, object]] = module.models_read(status, headers, body, options)
    return models


def _embeddings(
    request: Request,
    module: ModuleType,
    options: wire.Options,
    limits: dict[str, object],
    send: Open,
    now_s: Now,
) -> wire.Made:
    """Return a vector for each text of a request, and the tokens that they took.

    Raises: SettingsError for a service without embeddings, UsageError for texts that cannot be sent, ProviderError.
    """
    if not hasattr(module, "embed_request"):
        hint = "choose a service that has them, like OpenAI, Gemini, Cohere or Ollama"
        raise SettingsError(f"{wire.label_of(options)} has no embeddings", hint)
    given = request.get("texts")
    texts = [str(text) for text in given] if isinstance(given, list) else []
    # `extra` holds fields of a chat's body, which the method for embeddings need not know.
    options = {name: value for name, value in options.items() if name != "extra"}
    status, headers, body = transport.fetched(module.embed_request(texts, options), limits, send, now_s)
    made: wire.Made = module.embed_read(status, headers, body, options)
    if len(made[0]) != len(texts):
        raise wire.bad_answer(options, f"it holds {len(made[0])} embeddings for {len(texts)} texts")
    return made


# Failures


def _masked(event: events.Event, key: str) -> events.Event:
    """Return an event in which the key, should it stand in words about a failure, is masked."""
    if len(key) >= 4 and event["type"] == "message":  # of an MCP server, which may repeat what it was called with
        masked: object = jsonl.loads(jsonl.dumps(event).replace(key, "…"), TOTAL_BYTES)
        return masked if isinstance(masked, dict) else event
    if len(key) < 4 or event["type"] not in ("error", "retry", "refused"):
        return event
    if event["type"] != "error":
        return {**event, "text": str(event["text"]).replace(key, "…")}
    body = event["error"]
    assert isinstance(body, dict)
    shown = {name: value.replace(key, "…") if isinstance(value, str) else value for name, value in body.items()}
    return {"type": "error", "error": shown}
