"""What happens on the router without anybody asking: from lines of hotplug, and from a look now and then.

    WAN down, up     hotplug's interface events, of the networks of the firewall zone that leads out; each counts once
                     it has stayed so for a moment, for a restart of the network is neither
    new device       hotplug's DHCP events, of addresses that were never here (remembered, bounded)
    disk full        a look at the free space of the overlay, told when it becomes little
    failed logins    a look at the log, told when several came since the last look

Looks are taken only while an entry wants them. Event: {"event", "text": what happened, "taint": whose words are in it}.
Knows no entry. `is_known(mac)` remembers and tells devices, `space()` gives free and all bytes of the overlay.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.tools.facts import is_ipv4, is_mac, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.tools.facts import Facts

    Event = dict[str, Any]

# A look at disk and log costs a call of the bus; who fills one or guesses passwords takes longer.
LOOK_S = 300
# A reload of the network takes interfaces down and up again within seconds.
SETTLE_S = 15
# Of the overlay: below one of them it counts as full, and again only after it was above.
FULL_SHARE, FULL_BYTES = 20, 128 * 1024
# Between two looks. A person mistypes a password twice.
FAILED = 5
_LOG_LINES = 500
_FAILURES = ("bad password attempt for", "login attempt for nonexistent user", "failed login on ")
_ADDRESS_CHARS = "0123456789abcdefABCDEF.:"


class Watch:
    """The events of one router; `now_s()` is monotonic."""

    def __init__(
        self, facts: Facts, is_known: Callable[[str], bool], space: Callable[[], tuple[int, int]],
        now_s: Callable[[], float],
    ) -> None:  # fmt: skip
        self._facts = facts
        self._is_known = is_known
        self._space = space
        self._now_s = now_s
        self._settling: dict[str, tuple[str, float]] = {}  # interface: what it did, from when that counts
        self._state: dict[str, str] = {}  # interface: what was told of it last
        self._found: list[Event] = []
        self._looked_s: float | None = None
        self._is_full = False
        self._read_ms = -1

    def take(self, line: str, wanted: set[str]) -> None:
        """Take a line of a hotplug script."""
        parts = line.split(" ")
        if parts[0] == "iface" and len(parts) == 3 and wanted & {"wan_down", "wan_up"}:
            self._interface(parts[1], clean.name(parts[2]))
        elif parts[0] == "dhcp" and len(parts) >= 4 and "new_device" in wanted:
            self._device(parts[1], parts[2].lower(), parts[3], " ".join(parts[4:]))

    def _interface(self, action: str, name: str) -> None:
        if action in ("ifup", "ifdown") and name in self._outside():
            event = "wan_up" if action == "ifup" else "wan_down"
            if self._state.get(name, "wan_up") == event:
                self._settling.pop(name, None)  # it went away and came back: nothing happened
            else:
                self._settling[name] = event, self._now_s() + SETTLE_S

    def _outside(self) -> list[str]:
        zones = self._facts.sections("firewall", "zone")
        found = [name for zone in zones if zone.get("name") == "wan" for name in words(zone.get("network"))]
        return found or ["wan", "wan6"]

    def _device(self, action: str, mac: str, address: str, name: str) -> None:
        if action != "add" or not is_mac(mac) or self._is_known(mac):
            return
        where = " with the address %s" % address if _is_address(address) else ""
        named = clean.name(name)
        text = "A device that was never here joined: %s%s" % (mac, where)
        if named:
            text += ", and calls itself %r" % named
        self._add("new_device", text, ["names of devices"] if named else [])

    def due(self, wanted: set[str]) -> list[Event]:
        """Return what happened, each event once; takes the looks that entries want."""
        now_s = self._now_s()
        for name, (event, from_s) in list(self._settling.items()):
            if from_s <= now_s:
                del self._settling[name]
                self._state[name] = event
                self._add(event, "The interface %s %s" % (name, "is up" if event == "wan_up" else "went down"), [])
        if wanted & _LOOKED_FOR and (self._looked_s is None or now_s - self._looked_s >= LOOK_S):
            self._looked_s = now_s
            if "disk_full" in wanted:
                self._look_at_disk()
            if "failed_logins" in wanted:
                self._look_at_log()
        found, self._found = [one for one in self._found if one["event"] in wanted], []
        return found

    def wait_s(self, wanted: set[str]) -> float | None:
        """Return the seconds until there is something to look at, None when only a line brings it."""
        now_s = self._now_s()
        waits = [from_s - now_s for _, from_s in self._settling.values()]
        if wanted & _LOOKED_FOR:
            waits.append(LOOK_S if self._looked_s is None else self._looked_s + LOOK_S - now_s)
        return max(min(waits), 0.0) if waits else None

    def _look_at_disk(self) -> None:
        free, size = self._space()
        is_full = free < max(size // FULL_SHARE, FULL_BYTES)
        if is_full and not self._is_full:
            self._add("disk_full", "The router's own disk is nearly full: %d kB are free" % (free // 1024), [])
        self._is_full = is_full

    def _look_at_log(self) -> None:
        reply = self._facts.ubus("log", "read", {"lines": _LOG_LINES, "stream": False, "oneshot": True})
        entries = reply.get("log")
        lines = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
        times = [one["time"] for one in lines if isinstance(one.get("time"), int)]
        since, is_first = self._read_ms, self._read_ms < 0
        self._read_ms = max(times, default=max(since, 0))
        if is_first:
            return  # what happened before anybody wanted to know
        new = [str(one.get("msg", "")) for one in lines if isinstance(one.get("time"), int) and one["time"] > since]
        failed = [text for text in new if any(words in text.casefold() for words in _FAILURES)]
        if len(failed) >= FAILED:
            whence = sorted({address for address in map(_address, failed) if address})[:5]
            text = "%d logins failed in the last minutes" % len(failed)
            self._add("failed_logins", text + (", from " + ", ".join(whence) if whence else ""), [])

    def _add(self, event: str, text: str, taint: list[str]) -> None:
        # Only the newest of its kind: an entry comes once for several.
        self._found = [one for one in self._found if one["event"] != event]
        self._found.append({"event": event, "text": text, "taint": taint})


_LOOKED_FOR = {"disk_full", "failed_logins"}


def _address(text: str) -> str:
    """Return the address behind the last "from" of a line, "" for what is none: the rest of a line is a stranger's."""
    word = text.rpartition(" from ")[2].strip().split(" ")[0].strip("<>[]")
    host, sign, port = word.rpartition(":")
    if sign and port.isdigit() and (is_ipv4(host) or ":" in host):
        word = host
    return word if _is_address(word) else ""


def _is_address(word: str) -> bool:
    return is_ipv4(word) or (":" in word and not word.strip(_ADDRESS_CHARS) and len(word) <= 45)
