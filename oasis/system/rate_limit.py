"""How often each service is asked (a token bucket a name), and how long one is waited for (backoff).

A bucket holds at most `burst` tokens and gets `per_s` new ones a second; a request takes one. A model at home that is
asked by titles, summaries and two chats at once would do nothing well, and a cloud counts requests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

if False:  # annotations only
    from typing import Any


# How soon a cancelled request stops waiting.
_TICK_S = 0.1


class Pace:
    """The buckets of one daemon."""

    def __init__(self, now_s: Callable[[], float], sleep_s: Callable[[float], None]) -> None:
        self._now_s = now_s
        self._sleep_s = sleep_s
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # name -> (tokens, when there were that many)

    def wait(self, name: str, per_s: float, burst: int, is_cancelled: Callable[[], bool]) -> bool:
        """Wait for a token and take it; False, and none is taken, when the request was cancelled meanwhile."""
        # Who waits has its token already, as a debt of the bucket: nobody who comes later is served before.
        with self._lock:
            now_s = self._now_s()
            tokens, then_s = self._buckets.get(name, (float(burst), now_s))
            tokens = min(float(burst), tokens + (now_s - then_s) * per_s) - 1
            self._buckets[name] = (tokens, now_s)
        until_s = now_s + max(0.0, -tokens / per_s)
        while not is_cancelled():
            left_s = until_s - self._now_s()
            if left_s <= 0:
                return True
            self._sleep_s(min(left_s, _TICK_S))
        with self._lock:  # it is given back
            tokens, then_s = self._buckets[name]
            self._buckets[name] = (tokens + 1, then_s)
        return False


# -- backoff: how long a service is waited for that could not be reached a moment ago ---------------------------------
#
# With the internet down each message would else wait for connections and retries before another service, or the
# built-in one, stands in. A service that is back answers the short try as well, and then is as good as any. An
# interface that came up (`online()` returns something new) ends the short tries: netifd's hook says so.

# Of a failure to get through to a service, whatever it would have said.
UNREACHED = ("dns", "network", "proxy", "refused", "timeout", "unreachable")
# After that long the next retry waits no longer than the first did.
KEPT_S = 300.0
SHORT = {"connect_s": 4, "retries": 0}


class Patience:
    """What is known of services, by identifier. `now_s()` is monotonic."""

    def __init__(self, now_s: Callable[[], float], online: Callable[[], object]) -> None:
        self._now_s = now_s
        self._online = online
        self._failed: dict[str, tuple[float, object]] = {}

    def options(self, service: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a request as they are given, or those of a short try."""
        failed_s, online = self._failed.get(service, (0.0, None))
        if service not in self._failed or self._now_s() - failed_s > KEPT_S or online != self._online():
            return given
        return {**given, **SHORT, "connect_s": min(SHORT["connect_s"], given.get("connect_s", SHORT["connect_s"]))}

    def hear(self, service: str, event: Mapping[str, object]) -> None:
        """Learn from an event of a service's answer; retries say nothing yet."""
        error = event.get("error")
        if isinstance(error, dict) and event["type"] == "error" and error["code"] in UNREACHED:
            self._failed[service] = (self._now_s(), self._online())
        elif event["type"] in ("delta", "thinking", "tool_use", "done", "error"):
            self._failed.pop(service, None)
