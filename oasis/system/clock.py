"""The clocks, and whether the wall clock may be believed. A router without a battery wakes up in the past.

At boot OpenWrt sets the clock to the newest file of /etc, so a time that looks good says nothing by itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from oasis.core import jsonl
from oasis.system.files import Files
from oasis.system.root import Root

# Our own NTP hook writes the first, dnsmasq's the second; both are in RAM, so they tell of this boot.
_SET_BY_NTP = ("/var/run/oasis/clock", "/var/state/dnsmasqsec")
_BATTERY_CLOCKS = "/sys/class/rtc"
# From the way to the internet being up to the first answer of a time server, with some to spare.
WAIT_S = 45.0
_LOOK_S = 0.5


class Clock:
    """The three times: monotonic, wall, and since boot (what the guard reads)."""

    def now_s(self) -> float:
        return time.monotonic()

    def unix_s(self) -> int:
        return int(time.time())

    def up_s(self) -> float:
        with open("/proc/uptime", encoding="ascii") as handle:
            return float(handle.read().split()[0])


def is_trusted(root: Root, files: Files, unix_s: int, newest_unix_s: int) -> bool:
    """Return whether `unix_s` is believed to be the time.

    It is when NTP has set the clock since the boot. Without that it must not lie before the newest record or before
    this program was installed, and must come from a battery clock, or from another host's system that we only visit.
    """
    if any(files.read(root.path(path)) is not None for path in _SET_BY_NTP):
        return True
    if unix_s < max(newest_unix_s, int(os.stat(__file__).st_mtime)):
        return False
    if root.folder != "/":
        return True
    clocks = ["%s/%s/hctosys" % (_BATTERY_CLOCKS, name) for name in files.names(_BATTERY_CLOCKS)]
    return any((files.read(path) or b"").strip() == b"1" for path in clocks)  # the kernel took its time from it at boot


class Wait:
    """Waits for the clock of a router that woke up a moment ago. `is_set()` tells whether it may be believed."""

    def __init__(self, is_set: Callable[[], bool], sleep: Callable[[float], None]) -> None:
        self.is_set = is_set
        self._sleep = sleep

    def until_set(self, is_cancelled: Callable[[], bool]) -> bool:
        """Wait some time at most; return whether the clock is set now."""
        for _ in range(int(WAIT_S / _LOOK_S)):
            if self.is_set():
                return True
            if is_cancelled():
                return False
            self._sleep(_LOOK_S)
        return self.is_set()


def zone_rules() -> dict[str, str]:
    """Return {name of a time zone: POSIX rule, as in `system.timezone`}; most routers have no tz database.

    Read anew each time: few callers ask, and seldom.
    """
    found: dict[str, str] = jsonl.table(__file__, "time_zones.json")["zones"]
    return found
