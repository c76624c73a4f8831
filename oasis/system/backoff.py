"""How long a service is waited for that could not be reached a moment ago: shortly, and once.

With the internet down each message would else wait for connections and their repetitions before another service, or the
built-in one, stands in. A service that is there again answers at the short try as well, and then is as good as any. An
interface that came up (`online()` tells something new) ends the impatience: netifd's hook says so.
"""

from __future__ import annotations

if False:  # annotations only
    from oasis.core.shapes import Any, Callable

# Of a failure to get through to a service, whatever it would have said.
UNREACHED = ("dns", "network", "proxy", "refused", "timeout", "unreachable")
# After that long a try with patience costs no more than the first did.
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

    def hear(self, service: str, event: dict[str, Any]) -> None:
        """Learn from an event of a service's answer; retries say nothing yet."""
        if event["type"] == "error" and event["error"]["code"] in UNREACHED:
            self._failed[service] = (self._now_s(), self._online())
        elif event["type"] in ("delta", "thinking", "tool_use", "done", "error"):
            self._failed.pop(service, None)
