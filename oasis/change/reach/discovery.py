"""Do router and peer find each other's link address? IPv4 asks by ARP, which no firewall sees; IPv6 asks by ICMPv6.

A peer that is known already goes on for a while when these packets are shut out, and is lost then: so that is never
"no". Source: RFC 4861, sections 4.3, 4.4 and 7.2; RFC 4291, section 2.7.1.
"""

from __future__ import annotations

from oasis.change.reach import firewall, ruleset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Any, Networks, Packet, Ruleset, Tables

_SOLICITATION, _ADVERTISEMENT = 135, 136
_SOLICITED_NODE = 0xFF02_0000_0000_0000_0000_0001_FF00_0000


def judge(
    package: Tables, nets: Networks, added: list[dict[str, Any]], packet: Packet, proven: set[str]
) -> tuple[bool, str]:
    """Return whether the packets of neighbour discovery surely pass both ways, and what stops them or may."""
    rules = {**ruleset.compile_rules(package, nets, added, "ipv6-icmp"), "redirects": {}, "is_slow": False}
    group = _SOLICITED_NODE | packet["address"] & 0xFFFFFF
    for kind, to in ((_SOLICITATION, group), (_SOLICITATION, packet["address"]), (_ADVERTISEMENT, packet["address"])):
        asked = {**packet, "type": kind, "address": to}
        found = firewall.judge(rules, asked, lambda _: True, proven)
        if found["state"] != "yes":
            return False, "IPv6 neighbours may not find each other: " + str(found["reason"])
    return is_sending(rules, packet)


def is_sending(rules: Ruleset, packet: Packet) -> tuple[bool, str]:
    """Return whether what the router itself sends to the peer's link surely gets out, and what may stop it."""
    if rules["is_mute"]:
        return False, "a rule without src may keep back what the router sends to IPv6 neighbours"
    for zone in rules["zones"]:
        is_here = firewall.matches_zone({**zone, "subnets": []}, packet)
        if is_here is not False and zone["output"] != "accept":
            return False, "%s.output of zone %s is %s" % (zone["label"], zone["name"], zone["output"])
        if is_here is True and not zone["subnets"]:
            return True, ""
    if rules["output"] != "accept":
        return False, "firewall.@defaults[0].output is %s" % rules["output"]
    return True, ""
