"""Will the owner still reach the router after this change? "yes", "no" or "cannot_tell", and why.

For every path: where is the peer plugged in, which interface and address does it meet there (way.py), does the firewall
let a new connection in (ruleset.py, packet_path.py), does somebody answer it (listeners.py).
Pure: bytes of UCI packages and facts (owner_way.py) in, a dict out. What holds:

- "yes" only when yes for all paths; "no" when certainly no for one; without a path "cannot_tell".
- A part of the way whose causes the change does not touch is as open afterwards as it is now, however hard to
  understand: the path is in use. A part that looks shut before and after is not understood: "cannot_tell".
- An address or a port that moves is a "yes" only when the peer gets there by itself (see way.py) and the firewall and a
  listener take it there; `new_address` then says where: ADDRESS, or ADDRESS:PORT ([ADDRESS]:PORT) when the port moved.
  It stays "" when nothing moves, and on every other verdict.
- Wi-Fi that a device must join again by hand, a login that needs a key nobody can see, files that the firewall
  includes, limits, hours, marks: "cannot_tell" when they decide.

Neighbour discovery: IPv4 asks for link addresses by ARP, which no firewall sees; IPv6 asks by ICMPv6. A known peer goes
on for a while when these packets are blocked and is lost then, so that is never "no". Source: RFC 4861, sections 4.3,
4.4 and 7.2; RFC 4291, section 2.7.1.

Dangers: what a change breaks for people who are not connected now: SSH that is blocked or silent, servers that do not
start. Sentences only for what the change itself causes.
"""

from __future__ import annotations

from functools import cached_property

from oasis.catalogue import address_text
from oasis.change.reach import listeners, network, packet_path, ruleset, sections
from oasis.change.reach.way import Way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Added, Answer, Config, End, Facts, Networks, Packet, Path, Ruleset, Tables


# What decides about the way; another package in a change leaves it alone.
PACKAGES = ("network", "firewall", "wireless", "dhcp", "dropbear", "uhttpd")
# New connections come from another port than the old one. Source: Linux, ip_local_port_range, and what others use.
_EPHEMERAL = (1024, 65535)


def verdict(before: dict[str, bytes], after: dict[str, bytes], paths: list[Path], facts: Facts) -> Answer:
    """Return {"verdict": "yes" | "no" | "cannot_tell", "reasons": [text], "new_address": text or ""}.

    `before` and `after` hold the files of PACKAGES, as far as the router has them; what `after` leaves out is gone.
    Raises: UciError for a file that is none.
    """
    old, new = (sections.read({name: side[name] for name in PACKAGES if name in side}) for side in (before, after))
    if not paths:
        why = "nobody is connected to the router's pages or its SSH: whose way to check is not known"
        return {"verdict": "cannot_tell", "reasons": [why], "new_address": ""}
    found = [_Check(old, new, path, facts).run() for path in paths]
    state = next(state for state in ("no", "cannot_tell", "yes") if any(one[0] == state for one in found))
    reasons = [why for one, why, _ in found if one == state and (why or state != "yes")]
    moved = next((address for _, _, address in found if address), "") if state == "yes" else ""
    return {"verdict": state, "reasons": list(dict.fromkeys(reasons)), "new_address": moved}


class _Check(Way):
    """One path under one change, to a listener behind the firewall."""

    def __init__(self, before: Config, after: Config, path: Path, facts: Facts) -> None:
        super().__init__(before, after, path, facts)
        self._is_calm = all(self._is_same(name) for name in ("network", "wireless"))
        self._packet: Packet = {  # as it arrives now
            "family": self._family, "device": self._device or None, "source": (self._source, self._source),
            "address": self._address, "source_port": _EPHEMERAL, "port": int(path["port"]),
            "mac": self._mac,
        }  # fmt: skip

    def run(self) -> tuple[str, str, str]:
        """Return (state, reason, new address)."""
        if all(self._is_same(name) for name in PACKAGES if name != "dhcp"):
            return "yes", "", ""
        if self._is_calm:
            known = [one for one in self._then.values() if one["device"] == self._device]
            return self._at(self._ending("yes", "", known[0] if known else None))
        if not self._device:
            return "cannot_tell", "where your device is connected is not known", ""
        places = self.candidates()
        if not places:
            return "cannot_tell", "the port behind which your device is, is not known", ""
        found = [self._arrived(self.find(place)) for place in places]
        first = found[0]
        if all((state, moved) == (first[0], first[2]) for state, _, moved in found):
            return first
        why = next((reason for state, reason, _ in found if state != "yes"), None)
        what = "behind which port your device is, is not known: "
        return "cannot_tell", first[1] if why is None else what + why, ""

    def _is_same(self, name: str) -> bool:
        return sections.content(self._before.get(name, {})) == sections.content(self._after.get(name, {}))

    def _arrived(self, way: End) -> tuple[str, str, str]:
        """Go on from the interface, unless the way ends before it."""
        if way["state"] == "no":
            same = Way(self._before, self._before, self._path, self._facts)
            if all(same.find(place)["state"] == "no" for place in same.candidates()):
                return "cannot_tell", "how your device reaches the router now is not understood", ""
            return "no", way["reason"], ""
        if way["is_renewed"]:
            state = self._is_told(way)
            if state != "yes":
                return state, way["reason"] + ", which the firewall keeps from it", ""
        found = self._at(way)
        if found[0] == "no" or way["state"] == "yes":
            return found
        return "cannot_tell", way["reason"], ""

    def _is_told(self, way: End) -> str:
        """Return whether the firewall lets the peer ask for another address, or the router tell it."""
        if "firewall" not in self._after:
            return "yes"
        device = way["network"]["device"] if way["network"] else None
        rules = ruleset.compile_rules(self._after["firewall"], self._then, self._facts.get("firewall", []), "udp")
        packet: Packet = {**self._packet, "address": 0xFFFFFFFF, "device": device, "port": 67, "source": (0, 0)}
        if self._family == 4:  # a request goes from nobody's address to everybody's; source: RFC 2131, section 4.1
            found = packet_path.judge(rules, {**packet, "source_port": (68, 68)}, lambda _: True, set())
            return "cannot_tell" if rules["includes"] else str(found["state"])
        is_open = is_sending(rules, packet)[0] and not rules["includes"]
        return "yes" if is_open else "cannot_tell"

    def _at(self, way: End) -> tuple[str, str, str]:
        """Judge firewall and listener at the interface and address that the peer meets."""
        met, port = way["network"], self._packet["port"]
        then: Packet = {
            **self._packet,
            "address": way["address"],
            "device": met["device"] if met else self._device or None,
        }
        state, why, new_port, page_port = "yes", "", port, 0
        if not (self._is_calm and self._is_same("dropbear") and self._is_same("uhttpd")):
            nets = (self._now, self._then)
            state, why, new_port, page_port = listeners.judge(
                self._before, self._after, nets, self._packet, then, self._facts
            )
        if state != "yes":
            return state, why, ""
        then = {**then, "source": way["source"], "port": new_port}
        let_in = self._let_in(then)
        if let_in[0] != "yes":
            return let_in[0], let_in[1], ""
        if page_port:
            further = self._let_in({**then, "port": page_port})
            if further[0] != "yes":
                return further[0], "the page goes on to port %d: %s" % (page_port, further[1]), ""
        reason = "; ".join(one for one in (way["reason"], why if new_port != port else "") if one)
        place = address_text.text_of(self._family, way["address"])
        if new_port != port:
            return "yes", reason, "%s:%d" % (place if self._family == 4 else "[%s]" % place, new_port)
        return "yes", reason, place if way["moved"] else ""

    def _let_in(self, then: Packet) -> tuple[str, str]:
        now = self._packet
        is_alike = now == then and self._is_same("firewall") and (self._is_calm or self._zoned_alike())
        if is_alike or "firewall" not in self._after:
            return "yes", ""
        old, new = self._rulesets
        earlier = packet_path.judge(old, now, lambda one: network.owns(self._now, *one), set())
        proven = {one["key"] for one in old["includes"]} & earlier["passed"] if now == then else set()
        later = packet_path.judge(new, then, lambda one: network.owns(self._then, *one), proven)
        if later["state"] == "yes" and new["includes"] and later["decider"] != earlier["decider"]:
            return "cannot_tell", "a file that the firewall includes may close another way in"
        if later["state"] == "no" and earlier["state"] == "no" and now == then:
            return "cannot_tell", "by its rules the firewall is shut for you already, yet you are connected"
        if (later["port"], later["address"]) != (then["port"], then["address"]) and later["state"] == "yes":
            for one in listeners.listeners(self._after, self._then):
                is_there = one["port"] == later["port"]
                if is_there and listeners.hears(one, self._family, later["address"], then["device"]):
                    return "cannot_tell", "a redirect leads to port %d of the router" % later["port"]
            return "no", "a redirect leads to port %d, where nobody answers" % later["port"]
        if later["state"] == "yes" and self._family == 6:
            # what IPv6 needs in addition to the connection itself; a doubt that exists today does not count
            added = self._facts.get("firewall", [])
            found, why = judge_discovery(self._after["firewall"], self._then, added, then, proven)
            before = judge_discovery(self._before.get("firewall", {}), self._now, added, now, proven)
            return ("yes", "") if found or before == (found, why) else ("cannot_tell", why)
        return later["state"], later["reason"]

    def _zoned_alike(self) -> bool:
        """Return whether names and addresses that the firewall may use are the same before and after."""
        keys = ("device", "addresses", "zone", "unknown4", "unknown6")
        sides = [
            {name: [value for key, value in one.items() if key in keys] for name, one in side.items()}
            for side in (self._now, self._then)
        ]
        return sides[0] == sides[1]

    @cached_property
    def _rulesets(self) -> list[Ruleset]:
        """What fw4 makes of the firewall before and after."""
        added, sides = self._facts.get("firewall", []), ((self._before, self._now), (self._after, self._then))
        return [ruleset.compile_rules(config.get("firewall", {}), nets, added) for config, nets in sides]


_SOLICITATION, _ADVERTISEMENT = 135, 136
_SOLICITED_NODE = 0xFF02_0000_0000_0000_0000_0001_FF00_0000


def judge_discovery(
    package: Tables, nets: Networks, added: list[Added], packet: Packet, proven: set[str]
) -> tuple[bool, str]:
    """Return whether the packets of neighbour discovery surely pass both ways, and what stops them or may."""
    rules: Ruleset = {**ruleset.compile_rules(package, nets, added, "ipv6-icmp"), "redirects": {}, "is_slow": False}
    group = _SOLICITED_NODE | packet["address"] & 0xFFFFFF
    for kind, to in ((_SOLICITATION, group), (_SOLICITATION, packet["address"]), (_ADVERTISEMENT, packet["address"])):
        asked: Packet = {**packet, "type": kind, "address": to}
        found = packet_path.judge(rules, asked, lambda _: True, proven)
        if found["state"] != "yes":
            return False, "IPv6 neighbours may not find each other: " + str(found["reason"])
    return is_sending(rules, packet)


def is_sending(rules: Ruleset, packet: Packet) -> tuple[bool, str]:
    """Return whether what the router itself sends to the peer's link surely gets out, and what may stop it."""
    if rules["is_mute"]:
        return False, "a rule without src may keep back what the router sends to IPv6 neighbours"
    for zone in rules["zones"]:
        is_here = packet_path.matches_zone({**zone, "subnets": []}, packet)
        if is_here is not False and zone["output"] != "accept":
            return False, "%s.output of zone %s is %s" % (zone["label"], zone["name"], zone["output"])
        if is_here is True and not zone["subnets"]:
            return True, ""
    if rules["output"] != "accept":
        return False, "firewall.@defaults[0].output is %s" % rules["output"]
    return True, ""


def dangers(before: dict[str, bytes], after: dict[str, bytes], facts: Facts) -> list[str]:
    """Return a sentence for each danger. Raises: UciError for a file that is none."""
    old, new = sections.read(before), sections.read(after)
    nets = (network.networks(old, facts, old), network.networks(new, facts, old))
    earlier = listeners.unbound(old, nets[0])
    waiting = [why for name, why in listeners.unbound(new, nets[1]).items() if name not in earlier]
    # One that waits for its interface is reported already, with the reason.
    was, then = (_answers(config, own, facts) for config, own in ((old, nets[0]), (new, nets[1])))
    lost = [name for name, answer in was.items() if answer == "yes" and then.get(name) == "no"]
    silent = ["SSH will no longer answer in the network %s" % name for name in lost if not waiting]
    has_key = listeners.readable_keys(facts.get("keys")) == "yes"
    shut = []  # where passwords go off and nothing that surely works is left
    for section in sections.typed(new.get("dropbear", {}), "dropbear"):
        before_it = old.get("dropbear", {}).get(section[".name"], {})
        is_on = sections.flag(section, "enable", True) and bool(before_it)
        why = listeners.shut(before_it, section, facts)[1] if is_on else ""
        if why and not (has_key and sections.flag(section, "RootLogin", True)):
            shut.append(why)
    return [*shut, *waiting, *silent, *_strayed(old, new, nets)]


def _answers(config: Config, nets: Networks, facts: Facts) -> dict[str, str]:
    """Return whether SSH answers in each network at home: "yes", "no" or "cannot_tell"."""
    rules: Ruleset | None = None
    if "firewall" in config:
        rules = ruleset.compile_rules(config["firewall"], nets, facts.get("firewall", []))
    heard = [one for one in listeners.listeners(config, nets) if one["service"] == "dropbear"]
    answers: dict[str, str] = {}
    for name, one in nets.items():
        # the home addresses of a network that is up and leads to no router above
        is_near = one["proto"] == "static" and one["is_up"] and "gateway" not in one["options"]
        held = [held for held in one["addresses"] if is_near and held[0] == 4 and address_text.is_private4(held[1])]
        found = {"no"}
        for family, address, bits in held:
            packet: Packet = {
                "family": family, "device": one["device"], "source": sections.prefix(family, address, bits)[1:3],
                "address": address, "source_port": _EPHEMERAL, "port": 0, "mac": "",
            }  # fmt: skip
            for port in {one["port"] for one in heard}:
                state, at = "yes", (port, address)
                if rules is not None:
                    end = packet_path.judge(rules, {**packet, "port": port}, lambda at: network.owns(nets, *at), set())
                    state, at = end["state"], (end["port"], end["address"])
                there = [other for other in heard if other["port"] == at[0]]
                is_met = any(listeners.hears(other, family, at[1], one["device"]) for other in there)
                found.add(state if is_met else "no")
        if held:
            answers[name] = next(state for state in ("yes", "cannot_tell", "no") if state in found)
    return answers


def _strayed(old: Config, new: Config, nets: tuple[Networks, Networks]) -> list[str]:
    """Return the addresses on which uhttpd listens and which were the router's, or are new in its list, and are not."""
    found = []
    for section in sections.typed(new.get("uhttpd", {}), "uhttpd"):
        for option in ("listen_http", "listen_https"):
            for word in sections.texts(section, option):
                number = address_text.number(word.rpartition(":")[0].strip("[]"))
                if number is None or number[1] == 0 or network.owns(nets[1], *number):
                    continue
                is_new = word not in sections.texts(old.get("uhttpd", {}).get(section[".name"], {}), option)
                if network.owns(nets[0], *number) or (is_new and address_text.is_home(address_text.text_of(*number))):
                    found.append(
                        "uhttpd.%s.%s %s: the router has no such address then, so nobody is heard there"
                        % (section[".name"], option, word)
                    )
    return found
