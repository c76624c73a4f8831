"""Who is let in by a change: what the firewall, the ports, the Wi-Fi and the listeners pass afterwards and not before.

`openings(before, after)` gives a sentence for it, [] when nobody is; `Change.admitted_anew` the packets themselves.
Pure: bytes of UCI packages in. It reports what is new for a person (see peers.py): a rename, a match that gets narrower
or an order that changes nothing lets in nobody. SSH and the router's page also count by who can log in there: a port
that moves lets in nobody, passwords that are switched on let in those who know one. What the configuration does not
hold (files that the firewall includes, addresses from elsewhere, rules that services add) is taken to be the same
before and after.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.diff.pairing import Pairing
from oasis.change.reach import facts, listeners, peers, ruleset, sections, walk
from oasis.uci import model
from oasis.uci.visible import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import (
        Box,
        Config,
        Intervals,
        Listener,
        Network,
        Networks,
        Peer,
        Ruleset,
        Side,
        Table,
    )

PACKAGES = ("network", "firewall", "wireless", "dropbear", "uhttpd")
_OPENS = "lets in what was kept out before: "
_MOST_TOLD = 4
_NAMES = {6: "tcp", 17: "udp", 1: "icmp", 47: "gre", 50: "esp", 51: "ah", 2: "igmp"}
_PING = sum(b"echo-request") % 60000
_TCP = ((6, 6),)
# What tells one service from another when it moves is not where it listens.
_PLACE = ("port", "proto", "dst", "dst4", "dst6", "source_port")


def openings(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return a sentence for who is let in by a change to what, and one for a firewall that will not load.

    Raises: UciError for a file that is none.
    """
    change = Change(before, after)
    try:
        found = change.sentences()
    except walk.TooManyError:
        found = ["who is let in cannot be worked out: there are too many rules"]
    return found


class Change:
    """Two configurations, and who passes under each."""

    def __init__(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        files = [{name: side[name] for name in PACKAGES if name in side} for side in (before, after)]
        self._configs = (sections.read(files[0]), sections.read(files[1]))
        self._nets = (peers.networks_of(self._configs[0]), peers.networks_of(self._configs[1]))
        self.peers = peers.peers(self._configs, self._nets, _earlier(files[0], files[1]))
        self._rules = [_rules(config, nets) for config, nets in zip(self._configs, self._nets)]  # noqa: B905

    def sentences(self) -> list[str]:
        """Return what `openings` returns."""
        admitted = [self._admitted(side) for side in (0, 1)]
        new = self._new(admitted)
        told = self._told(new) + self._told_services(admitted, new)
        doubts = [rules["doubt"] if rules else "" for rules in self._rules]
        found = [_OPENS + "; ".join(_shortened(told))] if told else []
        if doubts[1] and doubts[1] != doubts[0]:
            found.append("the new firewall may not load, and then keeps nobody out after a restart: " + doubts[1])
        return found

    def admitted_anew(self) -> list[Box]:
        """Return the packets that pass after the change and did not before."""
        return self._new([self._admitted(side) for side in (0, 1)])

    def _admitted(self, side: int) -> list[Box]:
        rules = self._rules[side]
        return walk.Walk(rules or _NO_FIREWALL, self.peers, side, self._nets[side]).admitted()

    def _new(self, admitted: list[list[Box]]) -> list[Box]:
        """Return what is new, but for what reaches a peer that was not there before or that nobody has named."""
        there = [
            number for number, one in enumerate(self.peers, 1)
            if one["sides"][0]["devices"] and one["label"] != peers.NO_ZONE
        ]  # fmt: skip
        known = {"dst": walk.union(tuple((one, one) for one in [walk.ROUTER, *there]))}
        same = {walk.key(one) for one in admitted[0]}  # most of it, and comparing is quick
        left = [one for one in admitted[1] if walk.key(one) not in same]
        after = [met for one in left if (met := walk.meet(one, known)) is not None]
        return walk.subtract(after, admitted[0])

    # --- services of the router

    def _told_services(self, admitted: list[list[Box]], new: list[Box]) -> list[str]:
        """Return who reaches a service by which the router is managed, as far as no new packet tells it already."""
        told = []
        for name in _SERVICES:
            before = [box for one in self._heard(name, 0) if (box := _person(one, admitted[0]))]
            old = [box for group in before for box in group]
            now = []
            for one in self._heard(name, 1):
                now += _person(one, walk.subtract(admitted[1], new)) or []
            left = walk.subtract(now, [*old, *_any_family(old)])
            told += [self._words(box, name) for box in left]
        return list(dict.fromkeys(told))

    def _heard(self, name: str, side: int) -> list[Box]:
        """Return the packets that a service hears."""
        found = []
        for one in listeners.listeners(self._configs[side], self._nets[side]):
            section = self._configs[side][one["service"]][one["section"]]
            if name not in _offered(one["service"], section):
                continue
            box: Box = {"dst": ((walk.ROUTER,) * 2,), "proto": _TCP, "port": ((one["port"],) * 2,)}
            found += _bound(box, one, self.peers, side, self._nets[side])
        return found

    # --- words

    def _told(self, new: list[Box]) -> list[str]:
        """Return "from X to Y, what" for what is new; ways and peers with the same news are joined."""
        ways: dict[tuple[str, str], dict[str, list[str]]] = {}
        for box in new:
            for source in self._labels(box, "src"):
                for to in self._labels(box, "dst"):
                    ways.setdefault((source, to), {}).setdefault(_what(box), []).append(_whose(box))
        by_target: dict[tuple[str, str], list[str]] = {}
        for (source, to), kinds in ways.items():
            by_target.setdefault((source, _listed(kinds)), []).append(to)
        by_source: dict[tuple[str, str], list[str]] = {}
        for (source, what), targets in by_target.items():
            by_source.setdefault((_joined(targets), what), []).append(source)
        return ["from %s to %s, %s" % (_joined(sources), to, what) for (to, what), sources in by_source.items()]

    def _labels(self, box: Box, end: str) -> list[str]:
        """Return how people call the peers of a box."""
        found = []
        for low, high in box.get(end, ((0, len(self.peers)),)):
            for number in range(low, min(high, len(self.peers)) + 1):
                found.append("the router" if number == walk.ROUTER else self._label(self.peers[number - 1], end))
        return list(dict.fromkeys(found))

    def _label(self, peer: Peer, end: str) -> str:
        """Return a peer's network where it stays in it, else the peer itself."""
        sides = zip(self._nets, self._configs, peer["sides"], strict=True)
        names = [self._network(nets, config, side) for nets, config, side in sides]
        is_same = names[0] == names[1] and peer["sides"][0]["macs"] == peer["sides"][1]["macs"]
        return plain(names[0] if is_same and names[0] else str(peer["label"]))

    def _network(self, nets: Networks, config: Config, side: Side) -> str:
        """Return the zone of a side's network, or the network where no zone has it; "" without one."""
        names = sorted(name for name, one in nets.items() if one["device"] in side["devices"])
        for section in sections.typed(config.get("firewall", {}), "zone"):
            if set(names) & set(sections.texts(section, "network")):
                return sections.text(section, "name")
        return names[0] if names else ""

    def _words(self, box: Box, service: str) -> str:
        whose = _whose({key: value for key, value in box.items() if key != "family"})
        return "from %s to %s%s" % (_joined(self._labels(box, "src")), service, whose)


def _earlier(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, str]:
    """Return which wifi-iface section was which before, by name."""
    packages = [model.parse(side.get("wireless", b""), "wireless") for side in (before, after)]
    pairs = Pairing(*packages)
    joined = [(one, pairs.old_of(one)) for one in packages[1].sections if one.type == "wifi-iface"]
    return {one.name: old.name for one, old in joined if old is not None}


def _rules(config: Config, nets: Networks) -> Ruleset | None:
    return ruleset.compile_rules(config["firewall"], nets, [], "") if "firewall" in config else None


_NO_FIREWALL: Ruleset = {
    "policy": "accept", "forward": "accept", "output": "accept", "zones": [], "rules": {}, "redirects": {},
    "includes": [], "doubt": "", "is_mute": False, "is_slow": False,
}  # fmt: skip
_WITH_PASSWORD, _WITH_KEY, _PAGE = "SSH with the root password", "SSH with a key", "the router's page"
_SERVICES = (_WITH_PASSWORD, _WITH_KEY, _PAGE)


def _offered(service: str, section: Table) -> tuple[str, ...]:
    """Return what somebody who reaches a listener may try."""
    if service == "uhttpd":
        return (_PAGE,)
    is_by_password = facts.takes_password(section)
    is_by_key = sections.flag(section, "RootLogin", True)
    return (_WITH_PASSWORD,) * is_by_password + (_WITH_KEY,) * is_by_key


def _bound(box: Box, listener: Listener, found: list[Peer], side: int, nets: Networks) -> list[Box]:
    """Return the packets that arrive where a listener is bound."""
    bound = listener["bound"]
    if bound is None:
        return [{**box, "family": walk.of_family(family)} for family in listener["families"]]
    if "device" in bound:
        return [{**box, "src": _numbered(found, side, {str(bound["device"])})}]
    outside = {str(one["device"]) for one in nets.values() if _is_outside(one)}
    near = walk.inverse("src", _numbered(found, side, outside))
    made = []
    for family, value in bound["addresses"]:
        own = {"family": walk.of_family(family), "dst%d" % family: ((value, value),)}
        # Nobody on the internet has a way to a home address.
        made.append(
            {**box, **own, **({"src": near} if address_text.is_home(address_text.text_of(family, value)) else {})}
        )
    return [one for one in made if all(one.values())]


def _numbered(found: list[Peer], side: int, devices: set[str]) -> Intervals:
    numbers = [number for number, one in enumerate(found, 1) if devices & set(one["sides"][side]["devices"])]
    return walk.union(tuple((one, one) for one in numbers))


def _is_outside(one: Network) -> bool:
    return one["proto"] not in ("static", "none", "") or "gateway" in one["options"]


def _person(heard: Box, admitted: list[Box]) -> list[Box]:
    """Return who of those that are let in reaches a listener, wherever it is."""
    found = [met for one in admitted if (met := walk.meet(one, heard)) is not None]
    return [{key: value for key, value in one.items() if key not in _PLACE} for one in found]


def _any_family(old: list[Box]) -> list[Box]:
    """Return, without their family, those who come from every address of one: they are no others with IPv6."""
    return [{"src": one["src"]} for one in old if set(one) <= {"src", "family"}]


def _shortened(told: list[str]) -> list[str]:
    more = len(told) - _MOST_TOLD
    return told if more <= 0 else [*told[:_MOST_TOLD], "and %d more" % more]


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _listed(kinds: dict[str, list[str]]) -> str:
    """Return what is let in, each with the addresses it is for where there is one way to say that."""
    if "everything" in kinds:
        kinds = {"everything": kinds["everything"]}
    return _joined(_shortened([what + (whose[0] if len(set(whose)) == 1 else "") for what, whose in kinds.items()]))


def _what(box: Box) -> str:
    """Return protocol and ports of a box."""
    ports, proto = box.get("port", ((0, 0xFFFF),)), box.get("proto", ((0, 0xFFFF),))
    if sum(high - low for low, high in proto) > _MOST_TOLD:
        return "everything"  # but for what was open already
    names = [_NAMES.get(number, "protocol %d" % number) for low, high in proto for number in range(low, high + 1)]
    if names == ["icmp"]:
        return "ping" if ports == ((_PING, _PING),) else "icmp"
    return "/".join(names) + (" " + _ranges(ports) if ports != ((0, 0xFFFF),) else "")


def _ranges(intervals: tuple[tuple[int, int], ...]) -> str:
    words = [str(low) if low == high else "%d-%d" % (low, high) for low, high in intervals]
    return ", ".join(words if len(words) <= _MOST_TOLD else [*words[:_MOST_TOLD], "…"])


def _whose(box: Box) -> str:
    """Return what of a box is left out of "who, where, what": addresses, MACs, hours and other conditions."""
    found = []
    for end, word in (("dst", "at"), ("src", "of")):
        for family in (4, 6):
            dimension = "%s%d" % (end, family)
            held = box.get(dimension, ())
            if sum(high - low for low, high in held) > walk.domain(dimension)[1] // 2:
                continue
            if 0 < len(held) <= 2 and all(low == high for low, high in held):
                found.append("%s %s" % (word, " and ".join(address_text.text_of(family, low) for low, _ in held)))
            elif held:
                found.append("%s some IPv%d addresses" % (word, family))
    if "family" in box and box["family"] != ((0, 1),) and not found:
        found.append("IPv6 only" if box["family"] == walk.of_family(6) else "IPv4 only")
    macs = box.get("mac", ())
    if macs and len(macs) <= 2 and all(low == high for low, high in macs):
        found.append("of " + " and ".join(_mac(low) for low, _ in macs))
    elif macs:
        found.append("of some MACs")
    found += ["at some hours"] if "time" in box else []
    return " (%s)" % ", ".join(found) if found else ""


def _mac(number: int) -> str:
    return ":".join("%02x" % (number >> shift & 0xFF) for shift in range(40, -8, -8))
