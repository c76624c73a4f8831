"""What of a change is read otherwise than it is written, or not worked out here: then nobody can tell.

Each function takes packages before and after and returns the reason, "" when there is none. Found by trying changes on
real programs, and by reading netifd (config.c, device.c, bridge.c), libuci's uci_to_blob and dnsmasq.init.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import network, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Config, Iterable, Table, Tables

# Options of network that netifd takes as lists; any other one that is a list does not exist for it.
_LISTS = (
    "ipaddr", "ip6addr", "ip6prefix", "dns", "dns_search", "ip6class", "ports", "ifname", "addresses", "allowed_ips",
    "tunlink", "alias", "egress_qos_mapping", "ingress_qos_mapping",
)  # fmt: skip
# Types of sections whose effect is worked out somewhere here; of any other one it is not.
_KNOWN = (
    "interface", "device", "bridge-vlan", "globals", "route", "route6", "rule", "rule6", "neighbor", "neighbor6",
    "switch", "switch_vlan", "switch_port",
)  # fmt: skip
_QUIET_GLOBALS = ("ula_prefix", "packet_steering", "steering_flows", "dhcp_default_duid")
_PREFIXES = ("ip6assign", "ip6hint", "ip6class", "ip6prefix", "ip6weight")
_VLAN_TYPES = ("8021q", "8021ad")
# IPv6 needs it, and so does every packet that was made for a usual link.
_LEAST_MTU = 1280
# How IPv6 neighbours find each other.
_MULTICAST = ("multicast", "igmp_snooping", "multicast_querier", "multicast_to_unicast", "multicast_fast_leave")
# Sections of dhcp that change nothing for who has a lease of the interface's pool.
_OTHERS = ("dhcp", "host", "domain", "cname", "srvhost", "mxhost", "hostrecord")


def changed(old: Tables, new: Tables, kinds: Iterable[str] = ()) -> list[tuple[Table, Table]]:
    """Return (before or {}, after) of the sections that are new or another, of some types or of all."""
    wanted = tuple(kinds)
    pairs = [(old.get(str(one[".name"]), {}), one) for one in new.values() if not wanted or one[".type"] in wanted]
    return [pair for pair in pairs if sections.options(pair[0]) != sections.options(pair[1])]


def others(old: Tables, new: Tables) -> str:
    """Return what is not understood of sections that stand for nothing here, and of addresses that no host has."""
    for section in new.values():
        kind, name = str(section[".type"]), sections.label(new, section)
        before = old.get(str(section[".name"]), {})
        if section == before:
            continue
        if name == "globals":  # read by its name, whatever its type is
            if sections.options(before, _QUIET_GLOBALS) != sections.options(section, _QUIET_GLOBALS):
                return "network.globals: what it does to your way is not known"
        elif kind not in _KNOWN and not kind.startswith(network.PEERS):
            return "network.%s: what a section of type %s does is not known" % (name, kind)
        odd = kind == "interface" and network.odd_address(section)
        if odd:
            return "network.%s: %s is no usual address of a router" % (name, odd)
    return ""


def lists(old: Tables, new: Tables) -> str:
    """Return an option of an interface or device that became a list and is lost by that."""
    for before, after in changed(old, new, ("interface", "device", "bridge-vlan")):
        for option, value in sections.options(after).items():
            if isinstance(value, list) and option not in _LISTS and before.get(option) != value:
                return "network.%s.%s is a list, which netifd does not read" % (sections.label(new, after), option)
    return ""


def devices(old: Tables, new: Tables, family: int, mac: str) -> str:
    """Return what a device section does that is not worked out: names that are taken, sizes, MACs, multicast."""
    ports = [word for one in sections.typed(new, "device") for word in _ports(one)]
    for before, after in changed(old, new, ("device",)):
        name, kind = sections.text(after, "name"), sections.text(after, "type")
        told = "device %s: " % name
        if kind in _VLAN_TYPES and (name in ports or "." in name) and before.get("type") != kind:
            wanted = "%s.%s" % (sections.text(after, "ifname"), sections.text(after, "vid"))
            if name != wanted or name in ports:
                return told + "the name may be another device's"
        if kind == "bridge" and any(ports.count(port) > 1 for port in _ports(after)):
            return told + "one of its ports is in another bridge"
        if after.get("vlan_filtering") != before.get("vlan_filtering") and not _filters(new, after):
            return told + "what vlan_filtering does to its ports is not known"
        if family == 6 and any(before.get(option) != after.get(option) for option in _MULTICAST):
            return told + "IPv6 neighbours may not find each other"
        odd = _odd(before, after, mac)
        if odd:
            return told + odd
    return ""


def _ports(section: Table) -> list[str]:
    return sections.texts(section, "ports") if sections.text(section, "type") == "bridge" else []


def _filters(package: Tables, section: Table) -> bool:
    is_set = sections.flag(section, "vlan_filtering", False)
    vlans = [one for one in sections.typed(package, "bridge-vlan") if one.get("device") == section.get("name")]
    return bool(vlans) if is_set else not vlans


def _odd(before: Table, after: Table, mac: str) -> str:
    """Return why packets may not come through a device."""
    for option in ("mtu", "mtu6"):
        value = sections.text(after, option)
        if value != sections.text(before, option) and not (value.isdigit() and int(value) >= _LEAST_MTU):
            return "%s %s is not the usual" % (option, value or "of its driver")
    value = sections.text(after, "macaddr").lower()
    if not value or value == sections.text(before, "macaddr").lower():
        return ""
    parts = value.split(":")
    is_mac = len(parts) == 6 and all(len(one) == 2 and not one.strip("0123456789abcdef") for one in parts)
    if not is_mac or int(parts[0], 16) & 1 or value in (mac, "00:00:00:00:00:00"):
        return "macaddr %s is none of its own" % value
    return ""


def interfaces(old: Tables, new: Tables, names: list[str], family: int) -> str:
    """Return what interfaces do beside their addresses; `names` are those that the owner meets."""
    for before, after in changed(old, new, ("interface",)):
        name = str(after[".name"])
        odd = _odd({"mtu": before.get("mtu")}, {"mtu": after["mtu"]}, "") if "mtu" in after else ""
        if name in names and odd:
            return "network.%s: %s" % (name, odd)
        if name in names and any(before.get(option) != after.get(option) for option in ("zone", "type") if before):
            return "network.%s: what its zone or type does to your way is not known" % name
        if family == 6 and name not in names and any(before.get(one) != after.get(one) for one in _PREFIXES):
            return "network.%s takes a part of the prefix, and yours may be another one then" % name
    return ""


def wireless(old: Tables, new: Tables, section: Table) -> str:
    """Return what else happens on the radio of an access point."""
    radio, name = sections.text(section, "device"), section[".name"]
    for before, after in [*changed(old, new), *changed(new, old)]:
        kind = after[".type"]
        if kind == "wifi-device" or (kind == "wifi-iface" and radio not in (before.get("device"), after.get("device"))):
            continue
        if kind != "wifi-iface" or after[".name"] != name:
            return "what else changes on the radio of your Wi-Fi may keep it away"
    later = new.get(name, {})
    if (
        sections.texts(later, "network") != sections.texts(section, "network")
        and len(sections.texts(later, "network")) != 1
    ):
        return "your Wi-Fi then leads into several networks"
    return ""


def leases(before: Config, after: Config, name: str, size: int) -> str:
    """Return why who has a lease of an interface's pool may get none in its new network, which has `size` addresses."""
    old, new = before.get("dhcp", {}), after.get("dhcp", {})
    sides = [[one for one in sections.content(side) if one[1] not in _OTHERS] for side in (old, new)]
    if sides[0] != sides[1]:
        return "the DHCP server is set up otherwise than now"
    if any("listen_address" in one for one in sections.typed(new, "dnsmasq")):
        return "the DHCP server listens at an address of its own"
    pools = [
        [one for one in sections.typed(side, "dhcp") if sections.text(one, "interface") == name] for side in (old, new)
    ]
    quiet = ("start", "limit", "interface")
    if len(pools[0]) != 1 or sections.options(pools[0][0], quiet) != sections.options(pools[1][0], quiet):
        return "the pool of interface %s is set up otherwise than now" % name
    start, limit = sections.text(pools[1][0], "start", "100"), sections.text(pools[1][0], "limit", "150")
    if not address_text.is_number(limit, 1, size) or not start.isdigit() or int(start) + int(limit) >= size:
        return "the pool of interface %s does not fit its network" % name
    return ""
