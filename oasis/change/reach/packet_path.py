"""Send one new TCP connection through a ruleset and say where it may end. Knows no UCI and no listener.

A new connection is judged, never an old one: fw4 lets established ones through, also after a change that lets no new
one in.

Includes: what an included file does is not known. One that is unchanged and surely seen by today's connection
("proven") is known not to stop it; it may still be what lets it in.

Matching what is only partly known gives True, False, or None for "it depends". What a rule asks for are the boxes of
walk.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oasis.catalogue import address_text
from oasis.change.reach import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Box, Include, IsOwn, Judged, Match, Packet, Rule, Ruleset, Values, Zone

_WORDS = {
    "ipset": "the members of a set", "helper": "a connection helper", "limit": "how much traffic there is",
    "mark": "marks that other programs set", "dscp": "the service class of packets",
}  # fmt: skip
_WIDE_RATE = 100  # packets a second: a wider limit lets the few packets of ICMP through; the stock rule has 1000
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
        named = True if positive is None else either(walk.is_device(name, device) for name in positive)
        groups.append(every([named, *(opposite(walk.is_device(name, device)) for name in negative)]))
    return every([either(groups), _lies_in(packet, walk.addresses(zone["subnets"], "src"), zone["subnets"])])


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
            if match is None and rule["conditions"]:
                why += ", depending on " + ", ".join(_WORDS.get(word, "the time") for word in rule["conditions"])
            if self._meet(match, rule["target"], why):
                return True
        return False


def _matches(rule: Rule, packet: Packet) -> Match:
    """Return whether a packet meets all that a rule asks for."""
    asked = rule["device"]
    if asked and rule["direction"] == "out":
        return False  # what comes in has no outgoing device yet
    return every([
        walk.is_device(asked["device"], packet["device"]) if asked else True,
        _asked_type(rule, packet),
        _lies_in(packet, walk.matches({**rule, "proto": "any", "types": []}), rule["sources"], rule["targets"]),
    ])  # fmt: skip


def _lies_in(packet: Packet, boxes: list[Box], sources: list[Values], targets: Sequence[Values] = ()) -> Match:
    """Return whether all that a packet may be is in one of the boxes; what it does not say hangs on other things.

    `sources`, `targets`: what the boxes are made of. A mask with holes is a question that one address answers.
    """
    family, address = packet["family"], packet["address"]
    point: Box = {
        "family": walk.of_family(family), "src%d" % family: (packet["source"],),
        "dst%d" % family: ((address, address),), "port": ((packet["port"], packet["port"]),),
        "source_port": (packet["source_port"],), "mac": walk.macs([packet["mac"]]) or (walk.domain("mac"),),
    }  # fmt: skip
    if "type" in packet:
        point["rate"] = ((0, _WIDE_RATE * walk.DAY_S),)
    for end, values, (low, high) in (("src", sources, packet["source"]), ("dst", targets, (address, address))):
        for value, (kind, wanted, _, mask) in [(one, net) for one in values for net in one["nets"]]:
            if kind == family and mask >= 0 and low == high:
                answer = int(low & mask == wanted & mask)
                point[walk.question(end, family, value)] = ((answer, answer),)
    left = walk.subtract([point], boxes)
    return True if not left else False if left == [point] else None


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


_SURER: tuple[Match, ...] = (False, None, True)


def every(matches: Iterable[Match]) -> Match:
    """Return whether all match: one False decides."""
    return min(matches, key=_SURER.index, default=True)


def either(matches: Iterable[Match]) -> Match:
    """Return whether one of them matches: one True decides; False for none at all."""
    return max(matches, key=_SURER.index, default=False)


def opposite(match: Match) -> Match:
    """Return the negation; what is not known stays so."""
    return None if match is None else not match
