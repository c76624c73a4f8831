"""One chat request with all the times it is asked: sent, decoded, asked again; everything that happens is an event.

Retries only before any output was emitted, at most `retries` times, only for failures that say so, and none that would
begin after BUDGET_S. It is done here, not in the daemon, because here a cancelled request ends at once in the middle of
a wait: with the process. Source of the waiting times: the defaults of the services' own libraries (0.5 s doubling to
8 s, up to a quarter less, a server's wish obeyed up to 60 s).

A parameter that the model refuses is left out, once each, and reported, so that the daemon leaves it out from then on.
"""

from __future__ import annotations

import random

from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderError
from oasis.providers import events, faults, wire
from oasis.worker import transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from oasis.providers.decoding import Decoder
    from oasis.worker.transport import Now, Open, Response

    Emit = Callable[[events.Event], None]
    Sleep = Callable[[float], None]

WAIT_MAX_S = 60.0  # longer is for a person to decide
BUDGET_S = 120.0  # the owner waits: after two minutes an answer to "why" is better than one more try
REFUSALS = 4  # of parameters in one request; who refuses more does not take our requests at all

_OUTPUT = ("delta", "thinking", "tool_use")


class Outside:
    """What a request needs of the world: a connection, a receiver of events, and time."""

    def __init__(self, send: Open, emit: Emit, sleep_s: Sleep, now_s: Now) -> None:
        self.send = send
        self.emit = emit
        self.sleep_s = sleep_s
        self.now_s = now_s


class Chat:
    """One chat request, with all the times it is asked."""

    def __init__(
        self,
        request: dict[str, object],
        module: ModuleType,
        options: wire.Options,
        limits: dict[str, object],
        outside: Outside,
    ) -> None:
        self._tools = tools = wire.of_request(request, options)
        self._http = module.build_request(tools.messages, tools.tools, tools.options)
        known = options.get("without")
        self._without = [str(name) for name in known] if isinstance(known, list) else []
        self._module = module
        self._options = options
        self._limits = limits
        self._send = outside.send
        self._emit = outside.emit
        self._sleep_s = outside.sleep_s
        self._now_s = outside.now_s

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
        http = faults.without(self._http, self._without)
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
        if not faults.has(faults.without(self._http, self._without), name):
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
        until_s = self._now_s() + transport.seconds(self._limits, "total_s")
        try:
            response = transport.begun(faults.without(self._http, self._without), self._limits, self._send)
        except OasisError as error:
            return failed(error)
        try:
            decoder = self._module.Decoder(response.status, response.headers, self._options)
            for event in _decoded(response, decoder, lambda: until_s - self._now_s()):
                if event["type"] == "error" and not has_output:
                    return event
                has_output = has_output or event["type"] in _OUTPUT
                self._emit(self._tools.event(event))
        except ProviderError as error:
            if not has_output:
                return failed(error)
            self._emit(failed(error))
        finally:
            response.close()
        return None


def _decoded(response: Response, decoder: Decoder, left_s: Now) -> Iterator[events.Event]:
    """Yield the events of a response up to its ending."""
    most = TOTAL_BYTES if 200 <= response.status < 300 else faults.BODY_BYTES
    taken = 0
    while taken <= most and not decoder.is_ended:
        data = transport.read(response, left_s())
        if not data:
            break
        taken += len(data)
        yield from decoder.feed(data)
    yield from decoder.close()


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


def failed(error: OasisError) -> events.Event:
    """Return the event of a failure."""
    return events.error(error.code, error.message, error.hint, error.retryable)
