"""Which packets a firewall lets to the router and through it, as a set of boxes : all of them at once.

packet_path.py sends one packet through the same rule set (ruleset.py). What a match hangs on and no packet carries
(members of a set, marks, dates) is a question of its own in the box, the same one before and after a change.

Boxes: a set of packets is a union of boxes {dimension: ((low, high), …)}. A packet is in a box when each of its numbers
lies in one of the closed intervals of that dimension; a dimension that is not named does not matter. DOMAINS tells how
far a dimension reaches; family is 0 for IPv4 and 1 for IPv6. Any other name is a question with the answers 0 and 1, for
example whether an address is in a set whose members are unknown.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from oasis.catalogue import address_text
from oasis.change.reach import network, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Box, Intervals, Match, Networks, Peer, Rule, Ruleset, Side, Values, Zone


ROUTER = 0  # of the dimension dst; the others are peers, from 1
PROTOCOLS = {
    "icmp": 1, "ipv6-icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ah": 51, "ospf": 89, "sctp": 132,
}  # fmt: skip
_UNITS = {"second": 86400, "minute": 1440, "hour": 24, "day": 1}
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MOST_MEMBERS = 32  # of a set that are looked at one by one


class Walk:
    """One side of a change: its rule set, and where each peer's packets arrive (`side` is 0 or 1 of a peer's sides)."""

    def __init__(self, rules: Ruleset, found: list[Peer], side: int, nets: Networks) -> None:
        self._rules = rules
        self._ends = [peer["sides"][side] for peer in found]
        self._places = [peer.get("place") or str(number) for number, peer in enumerate(found, 1)]
        self._nets = nets
        self._accepted: list[Box] = []

    def admitted(self) -> list[Box]:
        """Return what is let in and through.

        Raises: TooManyError.
        """
        there = [number for number, end in enumerate(self._ends, 1) if end["devices"]]
        region: list[Box] = []  # all that may arrive: from each peer that is there, to the router or to another peer
        for number in there:
            box = {"src": ((number, number),), **_to([ROUTER, *(one for one in there if self._is_other(one, number))])}
            region += [{**box, **one} for one in _own(self._ends[number - 1])]
        turned: list[Box] = []
        for zone in self._rules["zones"]:
            for rule in self._rules["redirects"].get(zone["name"], []) if zone["has_dnat"] else []:
                for box in _product(self._of_zone(zone, "src"), matches(rule)):
                    inside, region = cut(region, box)
                    turned += [made for one in inside if (made := self._turned(one, rule))["dst"]]
        ways = (("input", _to([ROUTER])), ("forward", _to(range(1, len(self._ends) + 1))))
        for found, is_turned in ((region, False), (turned, True)):
            for way, to in ways:
                self._pass([met for one in found if (met := meet(one, to)) is not None], way, is_turned)
        return self._accepted + self._bridged()

    def _bridged(self) -> list[Box]:
        """Return what peers on one link send each other, which no firewall sees."""
        found = []
        for number, end in enumerate(self._ends, 1):
            near = [
                other for other, one in enumerate(self._ends, 1)
                if self._is_other(other, number) and set(one["devices"]) & set(end["devices"])
            ]  # fmt: skip
            found += [{"src": ((number, number),), **_to(near), **one} for one in _own(end)] if near else []
        return found

    def _is_other(self, one: int, other: int) -> bool:
        """Return whether two peers are two: a port is one by whatever device its frames come."""
        return self._places[one - 1] != self._places[other - 1]

    def _turned(self, box: Box, rule: Rule) -> Box:
        """Return packets as a redirect leaves them."""
        made = {key: value for key, value in box.items() if key not in ("dst", "dst4", "dst6")}
        if rule["to_ports"]:
            made["port"] = (rule["to_ports"],)
        if rule["to"] is None or network.owns(self._nets, *rule["to"]):
            return {**made, **_to([ROUTER])}
        family, value = rule["to"]
        near = {
            str(one["device"]) for one in self._nets.values()
            if any(network.covers(held, family, value) for held in one["addresses"])
        }  # fmt: skip
        source = box["src"]
        to = [
            number for number, end in enumerate(self._ends, 1)
            if (near & set(end["devices"]) or not near) and source != ((number, number),)
        ]  # fmt: skip
        return {**made, **_to(to), "dst%d" % family: ((value, value),), "family": of_family(family)}

    def _pass(self, region: list[Box], way: str, is_turned: bool) -> None:
        """Send packets through the chain "input" or "forward" and those of the zones; `is_turned` by a redirect."""
        region = self._through(region, way)
        for zone in self._rules["zones"]:
            for box in self._of_zone(zone, "src"):
                inside, region = cut(region, box)
                inside = self._through(inside, "%s_%s" % (way, zone["name"]))
                if (is_turned and zone["has_dnat"]) or (way == "input" and zone["input"] == "accept"):
                    self._accepted += inside
                elif way == "forward":
                    region += self._judged(inside, self._of_zone(zone, "dst"), zone["forward"])
        if self._rules["policy" if way == "input" else "forward"] == "accept":
            self._accepted += region

    def _through(self, region: list[Box], chain: str) -> list[Box]:
        """Let a region meet the rules of a chain; return what is left of it."""
        for rule in self._rules["rules"].get(chain, []):
            dest = rule["dest"]
            found = _product(matches(rule), self._of_zone(dest, "dst")) if isinstance(dest, dict) else matches(rule)
            if rule["device"]:
                end = "dst" if rule["direction"] == "out" else "src"
                found = _product(found, [{end: self._numbers([([rule["device"]["device"]], [])])}])
            region = self._judged(region, found, rule["target"])
        return region

    def _judged(self, region: list[Box], found: list[Box], target: str) -> list[Box]:
        for box in found:
            inside, region = cut(region, box)
            if target == "accept":
                self._accepted += inside
        return region

    def _of_zone(self, zone: Zone, end: str) -> list[Box]:
        """Return what comes from a zone, or goes to it."""
        numbers = self._numbers(zone["groups"])
        if not numbers:
            return []
        box: Box = {end: numbers, **({"family": of_family(zone["family"])} if zone["family"] else {})}
        return _product([box], addresses(zone["subnets"], end))

    def _numbers(self, groups: list[tuple[list[str | None] | None, list[str | None]]]) -> Intervals:
        found = []
        for number, end in enumerate(self._ends, 1):
            for name, (positive, negative) in itertools.product(end["devices"], groups):
                is_named = positive is None or any(is_device(one, name) for one in positive)
                if is_named and not any(is_device(one, name) for one in negative):
                    found.append(number)
        return points(found)


def is_device(pattern: str | None, device: str | None) -> Match:
    """Return whether a device is the one named, or begins like it ("x*"); None is one whose name is not known."""
    if pattern is None or device is None:
        return None
    return device.startswith(pattern[:-1]) if pattern.endswith("*") else device == pattern


def _to(numbers: range | list[int]) -> Box:
    return {"dst": points(numbers)}


def _own(end: Side) -> list[Box]:
    """Return what a peer itself can send: with which MACs and addresses."""
    kind, words = end["macs"]
    held = macs(words)
    box: Box = {} if not kind else {"mac": held if kind == "allow" else rest((domain("mac"),), held)}
    if not end["nets"]:
        return [box]
    found = []
    for family in (4, 6):
        nets: list[tuple[int, int]] = []
        for word in end["nets"]:
            try:
                nets += [net[1:3] for net in sections.nets(word) or [] if net[0] == family and net[3] < 0]
            except ValueError:
                continue  # no such prefix: the tunnel takes nothing from it
        if nets:
            found.append({**box, "family": of_family(family), "src%d" % family: union(tuple(nets))})
    return found


# --- rules as boxes


def matches(rule: Rule) -> list[Box]:
    """Return the boxes that a rule matches, without its zones."""
    box: Box = {}
    if rule["proto"] != "any":
        name, types = rule["proto"], rule.get("types") or []
        box["proto"] = ((PROTOCOLS.get(name, int(name) if name.isdigit() else 256 + sum(name.encode()) % 60000),) * 2,)
        if types and "icmp" in name:  # types of ICMP are numbers in the dimension of ports: they never go together
            box["port"] = points(sum(one.encode()) % 60000 for one in types)
    for dimension, values in (("port", rule["ports"]), ("source_port", rule["source_ports"])):
        if values:
            box[dimension] = _chosen(dimension, [(one["invert"], (one["low"], one["high"])) for one in values])
    if rule["macs"]:
        box["mac"] = _chosen("mac", [(one["invert"], macs([one["mac"]])[0]) for one in rule["macs"]])
    if rule["family"]:
        box["family"] = of_family(rule["family"])
    found = [box]
    for values, end in ((rule["sources"], "src"), (rule["targets"], "dst")):
        found = _product(found, addresses(values, end))
    for one in _conditions(rule):
        found = _product(found, one)
    return found


def _product(one: list[Box], other: list[Box]) -> list[Box]:
    return [met for a in one for b in other if (met := meet(a, b)) is not None]


def _chosen(dimension: str, values: list[tuple[bool, tuple[int, int]]]) -> Intervals:
    """Return the numbers that are in one of the positive intervals and in none of the inverted ones."""
    positive = union(tuple(one for invert, one in values if not invert))
    negative = union(tuple(one for invert, one in values if invert))
    return rest(positive or (domain(dimension),), negative)


def addresses(values: list[Values], end: str) -> list[Box]:
    """Return the boxes of address values; what has no plain interval is a question.

    For fw4 a network without any address asks for nothing.
    """
    if not any(one["nets"] or not one["is_complete"] for one in values):
        return [{}]
    found = []
    for family in (4, 6):
        dimension = "%s%d" % (end, family)
        own = [one for one in values if any(net[0] == family for net in one["nets"]) or not one["is_complete"]]
        plain = [
            (one["invert"], (net[1], net[2])) for one in own for net in one["nets"] if net[0] == family and net[3] < 0
        ]
        asked = [
            (one["invert"], question(end, family, one)) for one in own
            if not one["is_complete"] or any(net[3] >= 0 and net[0] == family for net in one["nets"])
        ]  # fmt: skip
        if not own:
            continue
        base: Box = {"family": of_family(family), **{name: ((0, 0),) for invert, name in asked if invert}}
        if any(not one["invert"] for one in own):
            within = _chosen(dimension, plain) if any(not invert for invert, _ in plain) else ()
            found += [{**base, dimension: within}] if within else []
            barred = rest((domain(dimension),), tuple(one for invert, one in plain if invert))
            found += [{**base, dimension: barred, name: ((1, 1),)} for invert, name in asked if not invert]
        else:
            found.append({**base, dimension: _chosen(dimension, plain)} if plain else base)
    return found


def question(end: str, family: int, value: Values) -> str:
    """Return the question whether the source or the destination is in a value."""
    return "%s%d in %s" % (end, family, value["text"])


def _conditions(rule: Rule) -> list[list[Box]]:
    """Return what else a rule asks for, each as alternatives."""
    words = dict(rule["conditions"])
    found: list[list[Box]] = []
    if "limit" in words and rule["limit"] is not None:
        found.append([{"rate": ((0, rule["limit"][0] * _UNITS[rule["limit"][1]]),)}])
        del words["limit"]
    times: dict[str, str] = {key: words.pop(key) for key in ("start_time", "stop_time", "weekdays") if key in words}
    if times:
        found.append([{"time": _times(times)}])
    if "ipset" in words:
        # a question for each member, so that a longer set is a wider match
        text, members = words.pop("ipset"), rule["members"]
        name = text.lstrip("! ").split()[0]
        asked = ["set %s has %s" % (name, one) for one in members] or ["set " + name]
        if len(asked) > _MOST_MEMBERS:
            asked = ["set %s %s" % (name, " ".join(members))]
        is_inverted = text.strip().startswith("!")
        found.append([dict.fromkeys(asked, ((0, 0),))] if is_inverted else [{one: ((1, 1),)} for one in asked])
    return found + [[{"%s %s" % one: ((1, 1),)}] for one in sorted(words.items())]


def _times(words: dict[str, str]) -> Intervals:
    """Return the seconds of a week; hours that end before they begin go on after midnight, as in nft."""
    found = []
    for text in (words.get("start_time", "0:0"), words.get("stop_time", "23:59:59")):
        parts = [int(one) for one in re.findall("[0-9]+", text)]
        found.append(sum(part * unit for part, unit in zip(parts, (3600, 60, 1))))  # noqa: B905 - seconds may be left out
    start, stop = found
    hours = ((start, stop),) if start <= stop else ((0, stop), (start, DAY_S - 1))
    weekdays = words.get("weekdays", "")
    named = {word.lower()[:3] for word in weekdays.replace("!", " ").split()}
    days = [
        number for number, day in enumerate(_DAYS) if not named or (day in named) != weekdays.strip().startswith("!")
    ]
    return union(tuple((day * DAY_S + low, day * DAY_S + high) for day in days for low, high in hours))


DAY_S = 86400
DOMAINS = {
    "src": (0, 0xFFFF), "dst": (0, 0xFFFF), "family": (0, 1), "proto": (0, 0xFFFF), "port": (0, 0xFFFF),
    "source_port": (0, 0xFFFF), "src4": (0, (1 << 32) - 1), "dst4": (0, (1 << 32) - 1), "src6": (0, (1 << 128) - 1),
    "dst6": (0, (1 << 128) - 1), "mac": (0, (1 << 48) - 1), "time": (0, 7 * DAY_S - 1), "rate": (0, 1 << 40),
}  # fmt: skip


def domain(dimension: str) -> tuple[int, int]:
    """Return the least and the greatest number of a dimension; of a question they are 0 and 1."""
    return DOMAINS.get(dimension, (0, 1))


def points(numbers: Iterable[int]) -> Intervals:
    """Return numbers as intervals."""
    return union(tuple((one, one) for one in numbers))


def macs(words: Iterable[str]) -> Intervals:
    """Return MACs as intervals of numbers, without what is none."""
    return points(int(word.replace(":", ""), 16) for word in words if address_text.is_mac(word))


def union(intervals: Intervals) -> Intervals:
    """Return the same numbers as disjoint intervals in order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def common(one: Intervals, other: Intervals) -> Intervals:
    """Return the numbers that are in both; intervals are disjoint and in order, here and everywhere."""
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        low, high = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if low <= high:
            found.append((low, high))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def rest(one: Intervals, other: Intervals) -> Intervals:
    """Return the numbers of the first that are not in the second."""
    if not one:
        return ()
    gaps, low = [], one[0][0]
    for start, end in other:
        if low < start:
            gaps.append((low, start - 1))
        low = max(low, end + 1)
    return common(one, (*gaps, (low, max(one[-1][1], low))))


def meet(one: Box, other: Box) -> Box | None:
    """Return what is in both boxes, None for nothing."""
    found = dict(one)
    for dimension, wanted in other.items():
        found[dimension] = common(found[dimension], wanted) if dimension in found else wanted
        if not found[dimension]:
            return None
    return found


def without(one: Box, other: Box) -> list[Box]:
    """Return what is in the first box and not in the second, as disjoint boxes."""
    if meet(one, other) is None:
        return [one]
    found, current = [], dict(one)
    for dimension, taken in other.items():
        held = current.get(dimension, (domain(dimension),))
        left = rest(held, taken)
        if left:
            found.append({**current, dimension: left})
        current[dimension] = common(held, taken)
    return found


def of_family(family: int) -> Intervals:
    """Return IPv4 (4) or IPv6 (6) as the number of its dimension."""
    return ((1, 1),) if family == 6 else ((0, 0),)


class TooManyError(Exception):
    """The rules cut the packets into more pieces than can be looked at in a reasonable time."""


# Intervals of all pieces together. A usual firewall needs some hundreds; so many take a second on a small router.
MOST = 20000


def cut(region: list[Box], other: Box) -> tuple[list[Box], list[Box]]:
    """Return (what of a region is in a box, what is not)."""
    inside = [part for one in region if (part := meet(one, other)) is not None]
    return inside, subtract(region, [other])


def subtract(region: list[Box], others: list[Box]) -> list[Box]:
    """Return what of a region is in none of the boxes.

    Raises: TooManyError.
    """
    for other in others:
        region = [part for one in region for part in without(one, other)]
        if sum(len(held) for part in region for held in part.values()) > MOST:
            raise TooManyError
    return region
