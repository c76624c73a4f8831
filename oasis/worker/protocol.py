"""Answer one request: translate, send, decode, retry; everything that happens leaves as events.

Knows providers and a transport that is given; not stdin, rights or the daemon. Retries only before any output was
emitted, at most `retries` times, and only for failures that say so. Source of the waiting times: the defaults of the
services' own libraries (0.5 s doubling to 8 s, up to a quarter less, a server's wish obeyed up to 60 s).
"""

from __future__ import annotations

import random
import urllib.parse

from oasis import providers
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderError, UsageError
from oasis.providers import events, faults, toolset, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from oasis.providers.decoding import Decoder
    from oasis.worker.transport import Response

    Open = Callable[[dict[str, object], dict[str, object]], Response]
    Emit = Callable[[events.Event], None]
    Sleep = Callable[[float], None]

Request = dict[str, object]

CONNECT_S = 10.0
IDLE_S = 120.0
RETRIES = 2
WAIT_MAX_S = 60.0  # longer is for a person to decide
REDIRECTS = 3

_OUTPUT = ("delta", "thinking", "tool_use")


def answer(request: Request, profiles: dict[str, dict[str, object]], send: Open, emit: Emit, sleep_s: Sleep) -> None:
    """Answer a request with events; the last one is its ending."""
    key = str(request.get("key") or "")

    def emit_masked(event: events.Event) -> None:
        emit(_masked(event, key) if event["type"] == "error" else event)

    try:
        options, limits = _options(request, profiles), _limits(request, profiles)
        module = providers.load(str(request.get("vendor") or _profile(options).get("vendor")))
        if request.get("op") == "chat":
            _chat(request, module, options, limits, send, emit_masked, sleep_s)
        elif request.get("op") == "models":
            emit_masked({"type": "models", "models": _models(module, options, limits, send)})
        else:
            raise UsageError(f"op {str(request.get('op'))[:40]!r} is unknown", "use chat or models")
    except OasisError as error:
        emit_masked(_event(error))


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
        "retries": options.get("retries", RETRIES),
    }
    if options.get("ca_file"):
        limits["ca_file"] = options["ca_file"]
    return limits


def _profile(options: wire.Options) -> dict[str, object]:
    return wire.profile_of(options)


# Asking and retrying


def _chat(
    request: Request,
    module: ModuleType,
    options: wire.Options,
    limits: dict[str, object],
    send: Open,
    emit: Emit,
    sleep_s: Sleep,
) -> None:
    known = toolset.of_request(request, options)
    http = module.build_request(known.messages, known.tools, known.options)
    retries = limits["retries"]
    assert isinstance(retries, int)
    for attempt in range(retries + 1):
        failure = _attempt(http, module, options, limits, send, lambda event: emit(known.event(event)))
        if failure is None:
            return
        wait_s = _wait_s(failure, attempt)
        if attempt == retries or wait_s is None:
            emit(failure)
            return
        sleep_s(wait_s)


def _attempt(
    http: wire.Request,
    module: ModuleType,
    options: wire.Options,
    limits: dict[str, object],
    send: Open,
    emit: Emit,
) -> events.Event | None:
    """Ask once; return the failure when nothing was emitted yet, None when the answer has ended."""
    has_output = False
    try:
        response = _open(http, limits, send)
    except ProviderError as error:
        return _event(error)
    try:
        decoder = module.Decoder(response.status, response.headers, options)
        for event in _decoded(response, decoder):
            if event["type"] == "error" and not has_output:
                return event
            has_output = has_output or event["type"] in _OUTPUT
            emit(event)
    except ProviderError as error:
        if not has_output:
            return _event(error)
        emit(_event(error))
    finally:
        response.close()
    return None


def _decoded(response: Response, decoder: Decoder) -> Iterator[events.Event]:
    """Yield the events of a response up to its ending."""
    most = TOTAL_BYTES if 200 <= response.status < 300 else faults.BODY_BYTES
    taken = 0
    while taken <= most and not decoder.is_ended:
        data = response.read()
        if not data:
            break
        taken += len(data)
        yield from decoder.feed(data)
    yield from decoder.close()


def _open(http: wire.Request, limits: dict[str, object], send: Open) -> Response:
    """Send a request; follow a redirect only within the same host, for the key goes along."""
    for _ in range(REDIRECTS):
        response = send(http, limits)
        target = urllib.parse.urljoin(str(http["url"]), response.headers.get("location", ""))
        if response.status not in (307, 308) or _origin(target) != _origin(str(http["url"])):
            break
        response.close()
        http = {**http, "url": target}
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in ("", "identity"):
        response.close()
        hint = "something between here and the service compresses answers; turn that off"
        raise ProviderError(f"the answer is compressed ({packing[:40]}) though that was not asked for", hint)
    return response


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


def _models(
    module: ModuleType, options: wire.Options, limits: dict[str, object], send: Open
) -> list[dict[str, object]]:
    response = _open(module.models_request(options), limits, send)
    try:
        body = b""
        while len(body) <= TOTAL_BYTES:
            data = response.read()
            if not data:
                break
            body += data
    finally:
        response.close()
    models: list[dict[str, object]] = module.models_read(response.status, response.headers, body, options)
    return models


# Failures


def _event(error: OasisError) -> events.Event:
    return events.error(error.code, error.message, error.hint, error.retryable)


def _masked(event: events.Event, key: str) -> events.Event:
    """Return an error event in which the key, should it stand there, is masked."""
    body = event["error"]
    assert isinstance(body, dict)
    if len(key) < 4:
        return event
    shown = {name: value.replace(key, "…") if isinstance(value, str) else value for name, value in body.items()}
    return {"type": "error", "error": shown}
