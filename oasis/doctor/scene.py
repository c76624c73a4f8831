"""The router as the checks look at it: configuration, live state, files and two probes, each asked for once.

Probes wait for answers that may never come, so they are begun before the first check and wait side by side.

Knows the way things hang together (which interface leads out, which zone it is in), judges nothing. Everything comes
through the given router (tools/router.py), folder lister and probe; nothing is opened here.
"""

from __future__ import annotations

import threading
from functools import cache, cached_property

from oasis.catalogue import address_text
from oasis.core import addresses, jsonl
from oasis.uci.model import flag, label, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Any, Callable, Entry, Probe, Router, Section, Sequence, Sight, Values

LOG_LINES = 2000  # a router's log is a ring of 128 KiB by default


class SkippedError(Exception):
    """A check that cannot say anything here; its text tells why."""


def seen(
    text: str, subject: str = "", values: Values | None = None, evidence: list[str] | None = None,
    commands: list[str] | None = None,
) -> Sight:  # fmt: skip
    """Return what a check saw.

    Shape: (key of findings.json, what it is about when there may be several, values for the texts, evidence, UCI
    commands that mend it).
    """
    return text, subject, values or {}, evidence or [], commands or []


def whole(value: object, default: int = 0) -> int:
    """Return a number of the bus, the default where there stands anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def digits(text: str) -> int | None:
    """Return the number that a text of digits is, None for anything else; one of ten digits is no number of ours."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


class Net:
    """An IPv4 network: first address and bits."""

    def __init__(self, address: int, bits: int) -> None:
        self.bits = bits
        self.mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
        self.first = address & self.mask

    def __contains__(self, address: int | None) -> bool:
        return address is not None and address & self.mask == self.first

    def overlaps(self, other: Net) -> bool:
        return self.first in other or other.first in self

    def __str__(self) -> str:
        return "%s/%d" % (address_text.text_of(4, self.first), self.bits)


def ip4(text: object) -> int | None:
    """Return an IPv4 address as a number, None for anything else."""
    return addresses.number4(str(text or ""))


SHARED = Net(0x64400000, 10)  # carrier-grade NAT, RFC 6598
LINK_LOCAL = Net(0xA9FE0000, 16)


class Scene:
    """What one round of checks sees; each fact is looked up once.

    `names(path)` lists a folder of the router; `is_clock_trusted()` see system/clock.py.
    """

    def __init__(
        self, router: Router, names: Callable[[str], list[str]], probe: Probe, is_clock_trusted: Callable[[], bool]
    ) -> None:
        self.router = router
        self.names = names
        self.probe = probe
        self.is_clock_trusted = is_clock_trusted
        self.text = cache(router.read_text)
        self.config = cache(router.config)
        self.ubus = cache(router.ubus)
        self._asking: dict[tuple[Any, ...], tuple[threading.Thread, list[Any]]] = {}

    def begin(self, what: str, *words: Any) -> None:
        """Begin to ask the network in a thread: whoever wants the answer waits for it, and all wait at once."""
        key = (what, *words)
        answers: list[Any] = []
        if key in self._asking:
            return

        def run() -> None:
            try:
                answers.append(getattr(self.probe, what)(*words))
            except Exception as bug:  # reported by the check that wants the answer
                answers.append(bug)

        self._asking[key] = threading.Thread(target=run, name="doctor", daemon=True), answers
        self._asking[key][0].start()

    def ask(self, what: str, *words: Any) -> bool | None:
        """Return the answer of a probe (system/connections.py), None where nobody can ask."""
        key = (what, *words)
        self.begin(*key)
        thread, answers = self._asking[key]
        thread.join()  # a probe ends by itself
        if isinstance(answers[0], Exception):
            raise answers[0]
        answer: bool | None = answers[0]
        return answer

    def path(self, package: str, section: Section) -> str:
        """Return how UCI commands call a section of a package."""
        return "%s.%s" % (package, label(self.config(package), section))

    def sections(self, package: str, kind: str) -> list[Section]:
        return [section for section in self.config(package).values() if section.get(".type") == kind]

    def number(self, path: str) -> int | None:
        """Return the number that a file of /proc or /sys holds."""
        text = self.text(path).strip()
        is_number = text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20
        return int(text) if is_number else None

    @cached_property
    def leases(self) -> Sequence[Values]:
        return self.router.leases()

    @cached_property
    def live(self) -> list[Entry]:
        """All of netifd's interfaces with a name, each with its lists; [] when it says nothing.

        Of IPv4 each has also "address" (the first as text, or ""), "networks" [Net] and "ways" (its default routes).
        """
        found = []
        for entry in self.router.interfaces():
            lists: Entry = {key: entry[key] if isinstance(entry.get(key), list) else [] for key in _LISTS}
            lists.update({key: [one for one in lists[key] if isinstance(one, dict)] for key in _LISTS[1:]})
            addresses = lists["ipv4-address"]
            lists["address"] = str(addresses[0].get("address", "")) if addresses else ""
            lists["networks"] = networks(addresses)
            lists["ways"] = [one for one in lists["route"] if one.get("mask") == 0 and ip4(one.get("target")) == 0]
            found += [{**entry, **lists}] if isinstance(entry.get("interface"), str) else []
        return found

    @cached_property
    def interfaces(self) -> list[Entry]:
        """Netifd's interfaces but loopback.

        Raises: SkippedError when netifd says nothing.
        """
        if not self.live:
            raise SkippedError("netifd does not answer")
        return [entry for entry in self.live if entry["interface"] != "loopback"]

    def device(self, name: object) -> Entry:
        """Return the live state of a network device, {} when it is not known."""
        found = self.ubus("network.device", "status").get(str(name))
        return found if isinstance(found, dict) else {}

    @cached_property
    def log(self) -> list[str]:
        """The messages of the system log, oldest first."""
        lines = self.router.ubus("log", "read", {"lines": LOG_LINES, "stream": False, "oneshot": True}).get("log")
        return [str(one.get("msg", "")) for one in lines if isinstance(one, dict)] if isinstance(lines, list) else []

    @property
    def zones(self) -> list[Section]:
        return self.sections("firewall", "zone")

    def zone_of(self, interface: object) -> Section | None:
        return next((zone for zone in self.zones if interface in words(zone.get("network"))), None)

    def is_home(self, interface: str) -> bool:
        """Tell whether an interface is the owner's own network: lan, or in one zone with it."""
        zone = self.zone_of("lan")
        return interface == "lan" or (zone is not None and zone is self.zone_of(interface))

    @cached_property
    def outside_names(self) -> list[str]:
        """The interfaces that lead to the internet: those of masquerading zones, or called wan.

        None where the only way out is through the home network: an access point, whatever else is left of a router.
        """
        configured = [name for name, one in self.config("network").items() if one.get(".type") == "interface"]
        masked = [name for zone in self.zones if flag(zone, "masq", False) for name in words(zone.get("network"))]
        plain = [name for zone in self.zones if not flag(zone, "masq", False) for name in words(zone.get("network"))]
        with_route = [one["interface"] for one in self.live if one["ways"]]
        if with_route and all(self.is_home(name) for name in with_route):
            return []
        usual = [name for name in configured if name.startswith("wan")]
        away = [name for name in with_route if not self.is_home(name)]
        found = [*(name for name in masked if name not in plain), *away, *usual]
        return [name for name in dict.fromkeys(found) if name in configured]

    @property
    def is_router(self) -> bool:
        """Whether it stands between two networks, and is not only an access point or a switch."""
        return bool(self.outside_names)

    @property
    def outside(self) -> list[Entry]:
        """The live interfaces that lead to the internet, those of IPv6 left out where there are others."""
        found = [one for one in self.interfaces if one["interface"] in self.outside_names]
        return [one for one in found if one.get("proto") != "dhcpv6"] or found

    @property
    def inside(self) -> list[Entry]:
        """The live interfaces with a fixed address that lead to the owner's own machines."""
        away = self.outside_names
        return [one for one in self.interfaces if one["interface"] not in away and one.get("proto") == "static"]

    @property
    def home(self) -> list[Net]:
        """The networks of the owner's own machines."""
        return [net for one in self.inside for net in one["networks"]]


# Of a live interface: what are lists, all but the first of objects. The bus may say anything, or nothing.
_LISTS = ("dns-server", "ipv4-address", "ipv6-address", "ipv6-prefix", "route", "errors")


def networks(given: list[Entry]) -> list[Net]:
    """Return the networks of netifd's objects with an address and a mask, as far as they are of IPv4."""
    pairs = [(ip4(one.get("address")), whole(one.get("mask"), 32)) for one in given]
    return [Net(address, bits) for address, bits in pairs if address is not None and 0 <= bits <= 32]


def data() -> dict[str, Any]:
    """Return the words and tables of findings.json: "checks", "findings", "foreign", "ended_releases"."""
    found: dict[str, Any] = jsonl.table(__file__, "findings.json")
    return found
