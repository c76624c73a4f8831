"""Send one new TCP connection through a ruleset and say where it may end. Knows no UCI and no listener.

A new connection is judged, never an old one: fw4 lets established ones through, also after a change that lets no new
one in.

Includes: what an included file does is not known. One that is unchanged and surely seen by today's connection
("proven") is known not to stop it; it may still be what lets it in.

Matching what is only partly known gives True, False, or None for "it depends"; values are closed intervals of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from oasis.catalogue import address_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Include, Interval, IsOwn, Judged, Match, Packet, Rule, Ruleset, Values, Zone

_WORDS = {
    "ipset": "the members of a set", "helper": "a connection helper", "limit": "how much traffic there is",
    "mark": "marks that other programs set", "dscp": "the service class of packets",
}  # fmt: skip
_WIDE_RATE = 100  # packets a second; the stock rule for IPv6 has 1000
# Names of types that IPv6 has, as far as anybody needs them here. Source: firewall4, ipv6_icmptypes.
_TYPES = {
    "neighbour-solicitation": 135, "neighbor-solicitation": 135, "neighbour-advertisement": 136,
    "neighbor-advertisement": 136, "router-solicitation": 133, "router-advertisement": 134, "echo-request": 128,
    "ping": 128,
    "echo-reply": 129, "pong": 129, "packet-too-big": 2, "time-exceeded": 3, "destination-unreachable": 1,
}  # fmt: skip


def judge(ruleset: Ruleset, packet: Packet, is_own: IsOwn, proven: set[str]) -> Judged:
    """Return where a new connection ends; `is_own((family, address))` tells whether an address is the router's."""
    return _Walk(ruleset, packet, is_own, proven).run()


def matches_zone(zone: Zone, packet: Packet) -> Match:
    """Return whether what comes in belongs to a zone."""
    if zone["family"] and zone["family"] != packet["family"]:
        return False
    device = packet["device"]
    groups = []
    for positive, negative in zone["groups"]:
        named = True if positive is None else either(is_device(name, device) for name in positive)
        groups.append(every([named, *(opposite(is_device(name, device)) for name in negative)]))
    return every([either(groups), _any_net(zone["subnets"], packet["family"], packet["source"])])


class _Walk:
    def __init__(self, ruleset: Ruleset, packet: Packet, is_own: IsOwn, proven: set[str]) -> None:
        self._ruleset = ruleset
        self._packet = packet.copy()
        self._is_own = is_own
        self._proven = proven
        self._ends: list[tuple[str, str]] = []  # ("accept" | "deny", why) in the order met; the last is sure
        self._doubts: list[str] = []
        self._passed: set[str] = set()
        self._is_rewritten: Match = False

    def run(self) -> Judged:
        if self._ruleset["doubt"]:
            self._doubts.append(self._ruleset["doubt"])
        for zone in self._ruleset["zones"]:
            for rule in self._ruleset["rules"].get("notrack", []):
                if _matches(rule, self._packet) is not False and matches_zone(zone, self._packet) is not False:
                    self._doubts.append("%s takes connections out of tracking" % rule["label"])
        if self._ruleset["is_slow"]:
            self._doubts.append("the limit for new connections (synflood_rate) is very low")
        for include in self._ruleset["includes"]:
            # Outside the chains input and input_ZONE: files that load anything, and chains around. Answers of a
            # tracked connection are accepted before what is appended to output.
            chain = include["chain"]
            is_of_output = include["place"] == "append" and chain in ("output", "raw_output")
            is_elsewhere = chain == "input" or chain.startswith(("input_", "forward", "srcnat", "mangle_forward"))
            if not is_elsewhere and not is_of_output:
                self._include(include)
                self._passed.add(include["key"])
        if not self._rewrite():
            self._input()
        verdicts = {verdict for verdict, _ in self._ends}
        state, reason = "cannot_tell", "; ".join(self._doubts)
        if not self._doubts and len(verdicts) == 1:
            state = "yes" if verdicts == {"accept"} else "no"
            reason = self._ends[-1][1]
        elif not self._doubts:
            reason = self._ends[0][1]
        return {
            "state": state, "reason": reason, "decider": self._ends[-1][1] if self._ends else "",
            "port": self._packet["port"], "address": self._packet["address"], "passed": self._passed,
        }  # fmt: skip

    def _meet(self, match: Match, target: str, why: str) -> bool:
        """Note the verdict of a target that is met; return whether the way surely ends here."""
        if match is not False:
            self._ends.append(("accept" if target == "accept" else "deny", why))
        return match is True

    def _includes(self, chain: str, place: str) -> None:
        for include in self._ruleset["includes"]:
            if (include["chain"], include["place"]) == (chain, place):
                self._passed.update([] if self._ends else [include["key"]])
                self._include(include)

    def _include(self, include: Include) -> None:
        why = "%s loads a file whose rules are not known" % include["label"]
        self._ends += [("accept", why)] if include["key"] in self._proven else [("deny", why), ("accept", why)]

    def _rewrite(self) -> bool:
        """Follow redirects; return whether one surely sends the connection elsewhere."""
        for zone in self._ruleset["zones"]:
            is_here = matches_zone(zone, self._packet)
            for rule in self._ruleset["redirects"].get(zone["name"], []) if zone["has_dnat"] else []:
                match = every([is_here, _matches(rule, self._packet)])
                if match is False:
                    continue
                if not rule["is_plain"]:
                    match = None
                if rule["to"] and not self._is_own(rule["to"]):
                    to = address_text.text_of(*rule["to"])
                    if self._meet(match, "deny", "%s sends port %s to %s" % (rule["label"], self._packet["port"], to)):
                        return True
                elif match is None:
                    self._doubts.append("%s may send port %s elsewhere" % (rule["label"], self._packet["port"]))
                else:  # to the router itself; the kernel takes one that changes nothing for none
                    here = (self._packet["address"], self._packet["port"])
                    there = (rule["to"][1] if rule["to"] else here[0], rule["to_port"] or here[1])
                    self._is_rewritten = False if rule["to"] else None
                    if there != here:
                        self._is_rewritten = True
                    self._packet["address"], self._packet["port"] = there
                    return False
        return False

    def _input(self) -> None:
        """Walk through chain input and the chains of zones."""
        self._includes("input", "prepend")
        if self._rules("input"):
            return
        for zone in self._ruleset["zones"]:
            is_here, chain = matches_zone(zone, self._packet), "input_" + zone["name"]
            if is_here is False:
                continue
            self._includes(chain, "prepend")
            is_turned = every([is_here, self._is_rewritten]) if zone["has_dnat"] else False
            if self._rules(chain, is_here) or self._meet(is_turned, "accept", "a redirect leads to the router"):
                return
            self._includes(chain, "append")
            why = "%s.input of zone %s is %s" % (zone["label"], zone["name"], zone["input"])
            if self._meet(is_here, zone["input"], why):
                return
        policy = self._ruleset["policy"]
        if policy != "reject":
            self._includes("input", "append")
        self._meet(True, policy, "no zone has its network, and firewall.@defaults[0].input is %s" % policy)

    def _rules(self, chain: str, is_here: Match = True) -> bool:
        for rule in self._ruleset["rules"].get(chain, []):
            match = every([is_here, _matches(rule, self._packet)])
            if match is False:
                continue
            why = "%s says %s" % (rule["label"], rule["target"])
            if match is None and rule["depends"]:
                why += ", depending on " + ", ".join(_WORDS.get(word, "the time") for word in rule["depends"])
            if self._meet(match, rule["target"], why):
                return True
        return False


def _matches(rule: Rule, packet: Packet) -> Match:
    """Return whether a packet meets all that a rule asks for."""
    asked = rule["device"]
    if rule["family"] and rule["family"] != packet["family"]:
        return False
    if asked and rule["direction"] == "out":
        return False  # what comes in has no outgoing device yet
    is_unknown = bool(rule["depends"]) or not rule["is_complete"]
    if "type" in packet and rule["depends"] == ["limit"] and rule["target"] == "accept":
        # a wide limit lets the few packets of ICMP through
        is_unknown = bool(rule["rate"] < _WIDE_RATE) or not rule["is_complete"]
    return every([
        is_device(asked["device"], packet["device"]) if asked else True,
        _any_net(rule["sources"], packet["family"], packet["source"]),
        _any_net(rule["targets"], packet["family"], (packet["address"], packet["address"])),
        _any_port(rule["ports"], (packet["port"], packet["port"])),
        _any_port(rule["source_ports"], packet["source_port"]),
        _chosen([(one["invert"], one["mac"] == packet["mac"] if packet["mac"] else None) for one in rule["macs"]]),
        _asked_type(rule, packet),
        None if is_unknown else True,
    ])  # fmt: skip


def is_device(pattern: str | None, device: str | None) -> Match:
    """Return whether a device is the one named, or begins like it ("x*"); None is one whose name is not known."""
    if pattern is None or device is None:
        return None
    return device.startswith(pattern[:-1]) if pattern.endswith("*") else device == pattern


def _any_net(values: list[Values], family: int, address: Interval) -> Match:
    """Return whether an address is in one of the positive networks and in none of the inverted ones."""
    found: list[tuple[bool, Match]] = []
    for value in values:
        for kind, low, high, mask in value["nets"]:
            if kind == family and mask < 0:
                found.append((value["invert"], _within(address, low, high)))
            elif kind == family:  # a mask with holes says something of one address only
                is_met = address[0] & mask == low & mask if address[0] == address[1] else None
                found.append((value["invert"], is_met))
    return _chosen(found)


def _any_port(values: list[Values], port: Interval) -> Match:
    return _chosen([(value["invert"], _within(port, value["low"], value["high"])) for value in values])


def _chosen(matches: list[tuple[bool, Match]]) -> Match:
    positive = [match for invert, match in matches if not invert]
    negative = [opposite(match) for invert, match in matches if invert]
    return every([either(positive) if positive else True, *negative])


def _asked_type(rule: Rule, packet: Packet) -> Match:
    """Return whether a rule for types of ICMP is for this one."""
    types = rule.get("types")
    if not types or "type" not in packet:
        return True
    known = [_TYPES.get(word, int(word.partition("/")[0]) if word[0].isdigit() else -1) for word in types]
    if packet["type"] in known:
        return True
    # fw4 makes a rule for all types when none of the words is one of IPv6; which words are, is not decided here
    return False if any(number in _TYPES.values() for number in known) else None


def every(matches: Iterable[Match]) -> Match:
    """Return whether all match: one False decides."""
    found = set(matches)
    if False in found:
        return False
    return None if None in found else True


def either(matches: Iterable[Match]) -> Match:
    """Return whether one of them matches: one True decides; False for none at all."""
    found = set(matches)
    if True in found:
        return True
    return None if None in found else False


def opposite(match: Match) -> Match:
    """Return the negation; what is not known stays so."""
    return None if match is None else not match


def _within(value: Interval, low: int, high: int) -> Match:
    """Return whether a value that is somewhere in an interval lies between the bounds."""
    if low <= value[0] and value[1] <= high:
        return True
    return False if value[1] < low or high < value[0] else None
