"""Events on the router: the pipe of the hotplug scripts, periodic checks, and the devices that were seen before.

    WAN down, up     hotplug's interface events, of the networks of the firewall zone `wan`; each counts once the state
                     has lasted a moment, so a restart of the network is neither
    new device       hotplug's DHCP events, for addresses never seen before (remembered, bounded)
    disk full        a check of the free space of the overlay, reported when it becomes little
    failed logins    a check of the log, reported when several came since the last check

Checks run only while a job wants them. Knows no job.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterable

from oasis.core import clean
from oasis.errors import StoreError
from oasis.system.records import Records
from oasis.tools.router import Facts, dicts, is_ipv4, is_mac, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.api.parts import Services
    from oasis.parts.schedule.shapes import Event

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
_LOOKED_FOR = {"disk_full", "failed_logins"}
# A script's line is atomic up to 4096 bytes; ours have 150.
LINE_BYTES = 512
_READ_BYTES = 65536
# Devices that are remembered; beyond a few at once they are written together, and a power cut forgets the last ones.
DEVICES = 512
# A party's guests are written one by one; after that, writes come one in so long.
AT_ONCE, WRITE_S = 8, 3600


class RouterEvents:
    """The events of one router. `is_known(mac)`: it was seen before; `space()`: the overlay's free and all bytes."""

    def __init__(
        self, facts: Facts, is_known: Callable[[str], bool], space: Callable[[], tuple[int, int]],
        now_s: Callable[[], float],
    ) -> None:  # fmt: skip
        self._facts = facts
        self._is_known = is_known
        self._space = space
        self._now_s = now_s
        self._settling: dict[str, tuple[str, float]] = {}  # interface: what it did, from when that counts
        self._state: dict[str, str] = {}  # interface: its last event
        self._found: list[Event] = []
        self._looked_s: float | None = None
        self._is_full = False
        self._read_ms = -1

    def take(self, line: str, wanted: set[str]) -> None:
        """Take a line of a hotplug script."""
        parts = line.split(" ")
        if parts[0] == "iface" and len(parts) == 3 and wanted & {"wan_down", "wan_up"}:
            event, name = {"ifup": "wan_up", "ifdown": "wan_down"}.get(parts[1]), clean.name(parts[2])
            zones = [zone for zone in self._facts.sections("firewall", "zone") if zone.get("name") == "wan"]
            outside = [network for zone in zones for network in words(zone.get("network"))] or ["wan", "wan6"]
            if event and name in outside:
                if self._state.get(name, "wan_up") == event:
                    self._settling.pop(name, None)  # it went away and came back: nothing happened
                else:
                    self._settling[name] = event, self._now_s() + SETTLE_S
        elif parts[0] == "dhcp" and len(parts) >= 4 and "new_device" in wanted:
            mac, address, name = parts[2].lower(), parts[3], clean.name(" ".join(parts[4:]))
            if parts[1] == "add" and is_mac(mac) and not self._is_known(mac):
                text = "A device that was never here joined: %s" % mac
                text += " with the address %s" % address if _is_address(address) else ""
                text += ", and calls itself %r" % name if name else ""
                self._add("new_device", text, ["names of devices"] if name else [])

    def due(self, wanted: set[str]) -> list[Event]:
        """Return what happened, each event once; runs the checks that jobs want."""
        now_s = self._now_s()
        for name, (event, from_s) in list(self._settling.items()):
            if from_s <= now_s:
                del self._settling[name]
                self._state[name] = event
                self._add(event, "The interface %s %s" % (name, "is up" if event == "wan_up" else "went down"), [])
        if wanted & _LOOKED_FOR and (self._looked_s is None or now_s - self._looked_s >= LOOK_S):
            self._looked_s = now_s
            if "disk_full" in wanted:
                free, size = self._space()
                is_full = free < max(size // FULL_SHARE, FULL_BYTES)
                if is_full and not self._is_full:
                    text = "The router's own disk is nearly full: %d kB are free" % (free // 1024)
                    self._add("disk_full", text, [])
                self._is_full = is_full
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

    def _look_at_log(self) -> None:
        reply = self._facts.ubus("log", "read", {"lines": _LOG_LINES, "stream": False, "oneshot": True})
        lines: list[Any] = [one for one in dicts(reply.get("log")) if isinstance(one.get("time"), int)]
        since = self._read_ms
        self._read_ms = max([one["time"] for one in lines], default=max(since, 0))
        if since < 0:
            return  # what happened before anybody wanted to know
        new = [str(one.get("msg", "")) for one in lines if one["time"] > since]
        failed = [text for text in new if any(words in text.casefold() for words in _FAILURES)]
        if len(failed) >= FAILED:
            whence = sorted({address for address in map(_address, failed) if address})[:5]
            text = "%d logins failed in the last minutes" % len(failed)
            self._add("failed_logins", text + (", from " + ", ".join(whence) if whence else ""), [])

    def _add(self, event: str, text: str, taint: list[str]) -> None:
        # Only the newest of its kind: a job runs once for several.
        self._found = [one for one in self._found if one["event"] != event]
        self._found.append({"event": event, "text": text, "taint": taint})


def _address(text: str) -> str:
    """Return the address behind the last "from" of a line, "" for what is none: the rest of a line is a stranger's."""
    word = text.rpartition(" from ")[2].strip().split(" ")[0].strip("<>[]")
    host, sign, port = word.rpartition(":")
    if sign and port.isdigit() and (is_ipv4(host) or ":" in host):
        word = host
    return word if _is_address(word) else ""


def _is_address(word: str) -> bool:
    return is_ipv4(word) or (":" in word and not word.strip("0123456789abcdefABCDEF.:") and len(word) <= 45)


class Pipe:
    """The pipe at `path`, 0600, which exists only while somebody waits; hotplug scripts write lines into it.

    A script opens it for reading as well (`1<>`), so it never waits for a reader. Lines are a few words that a shell
    wrote: the reader checks them.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._number = -1  # closed

    def open(self) -> None:
        """Make the pipe and hold it open. Raises: StoreError."""
        try:
            if os.path.lexists(self._path):
                os.remove(self._path)  # of a daemon that was killed
            os.mkfifo(self._path, 0o600)
            with self._lock:
                self._number = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError("cannot make %s: %s" % (self._path, error.strerror))

    def wait(self, seconds: float) -> list[str]:
        """Return the lines that came, waiting at most so long for the first."""
        poll = select.poll()
        poll.register(self._number, select.POLLIN)
        if not poll.poll(max(int(seconds * 1000), 0)):
            return []
        try:
            data = os.read(self._number, _READ_BYTES)
        except BlockingIOError:
            return []
        # A reading may end within a line only when more was waiting than fits: then nobody keeps up anyway.
        lines = data.split(b"\n")
        return [line.decode("ascii", "replace") for line in lines if line and len(line) <= LINE_BYTES]

    def wake(self) -> None:
        """Wake the thread that waits; nothing happens where none does."""
        with self._lock:
            if self._number >= 0:
                try:
                    os.write(self._number, b"\n")
                except BlockingIOError:
                    pass  # it is full, so the thread is awake

    def close(self) -> None:
        """Remove the pipe."""
        with self._lock:
            number, self._number = self._number, -1
        if number >= 0:
            os.close(number)
            try:
                os.remove(self._path)
            except OSError:
                pass  # the folder is gone, and the pipe with it


class Devices:
    """The devices that were seen, by MAC address."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        path = kit.root.state_folder + "/devices.jsonl"
        self._records = Records(kit.files, path, DEVICES, kit.free_bytes, kit.log)
        self._lock = threading.Lock()
        self._met: dict[str, None] = {}  # since the last write, in order
        self._writes = float(AT_ONCE)  # that may be made now
        self._counted_s = kit.clock.now_s()

    def is_known(self, mac: str) -> bool:
        """Return whether a device was seen before, and remember it."""
        with self._lock:
            if mac in self._met or self._records.get(mac) is not None:
                return True
            self._met[mac] = None
            while len(self._met) > DEVICES:
                del self._met[next(iter(self._met))]
            now_s = self._kit.clock.now_s()
            self._writes = min(self._writes + (now_s - self._counted_s) / WRITE_S, AT_ONCE)
            self._counted_s = now_s
            if self._writes >= 1:
                self._writes -= 1
                self._write()
            return False

    def seed(self, macs: Iterable[str]) -> None:
        """Remember who is here when the first job wants to know of others. Raises: StoreError."""
        with self._lock:
            if not self._records.count():
                self._records.put_all([{"id": mac} for mac in sorted(set(macs))[:DEVICES]])

    def close(self) -> None:
        """Write what waits."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        if not self._met:
            return
        try:
            over = self._records.count() + len(self._met) - DEVICES
            if over > 0:  # some more of the oldest, so that this is not done for each
                self._records.delete([one["id"] for one in self._records.all()[: max(over, DEVICES // 8)]])
            self._records.put_all([{"id": mac} for mac in self._met])
            self._met.clear()
        except StoreError as error:
            self._kit.log("schedule: who was here is not kept for now: %s" % error.message)
