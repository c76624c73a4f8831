"""The router's interfaces as netifd will make them of a network package: devices, addresses, what is not known of them;
and where a peer is plugged in, and which interfaces it meets there: bridges, VLANs, Wi-Fi.

Addresses that are not in the configuration come from the facts, as long as nothing that they hang on is changed. Often
the place of a peer is not known: then there is a candidate for each port, and an answer that all of them share is sure.
Source: netifd, config.c, interface.c, proto.c, bridge.c, vlandev.c.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Candidate, Config, Facts, Interface, Network, Networks, Subnet, Table, Tables

_ON_DEVICE = ("static", "none", "dhcp", "dhcpv6", "")
_OWN_DEVICE = ("wireguard", "amneziawg", "vxlan", "gre", "openconnect", "openvpn")
PEERS = ("wireguard_", "amneziawg_")  # beginnings of the types of a tunnel's peers
PPP = ("pppoe", "pppoa", "ppp", "pptp", "l2tp", "3g")
# What addresses of IPv6 hang on: these of the interface, and the prefix of our own.
_SIX = (
    "proto", "device", "ifname", "ip6assign", "ip6hint", "ip6class", "ip6ifaceid", "ip6prefix", "ip6addr", "delegate",
)  # fmt: skip
_FOUR = ("proto", "device", "ifname", "ipaddr", "netmask", "macaddr", "clientid", "hostname")


def networks(config: Config, facts: Facts, base: Config) -> Networks:
    """Return the interfaces of `config`; `base` is the configuration under which the facts were taken."""
    package, old = config.get("network", {}), base.get("network", {})
    running = facts.get("interfaces", {})
    found: Networks = {}
    for section in sections.typed(package, "interface"):
        if sections.flag(section, "disabled", False):
            continue
        proto, name = sections.text(section, "proto", "none"), str(section[".name"])
        earlier, entry = old.get(name, {}), running.get(name, {})
        held, why = static_addresses(section) if proto == "static" else ([], "")
        if not sections.flag(section, "auto", True) and not (earlier and not sections.flag(earlier, "auto", True)):
            why = "network.%s.auto is off" % name
        found[name] = {
            "name": name, "device": _device(section, earlier, entry), "proto": proto, "addresses": held,
            "unknown4": proto not in ("static", "none", "dhcpv6"), "unknown6": proto not in ("static", "none", "dhcp"),
            "zone": entry.get("zone", "") if earlier else sections.text(section, "zone"), "is_up": not why, "why": why,
            "options": section,
        }  # fmt: skip
        _add_running(found[name], earlier, entry, package, old)
    for network in found.values():
        if network["device"] and network["device"].startswith("@"):
            lower = found.get(network["device"][1:])
            network["device"] = lower["device"] if lower else ""
    for name, entry in running.items():
        if name not in found and name not in old:  # made by a protocol, as wan_6 is
            found[name] = {
                "name": name, "device": entry.get("device", ""), "proto": "dynamic",
                "addresses": entry.get("addresses", []), "unknown4": True, "unknown6": True,
                "zone": entry.get("zone", ""), "is_up": True, "why": "", "options": {},
            }  # fmt: skip
    return found


def owns(found: Networks, family: int, value: int) -> bool:
    """Return whether an address is one of the router's."""
    return any(
        one[:2] == (family, value) for network in found.values() if network["is_up"] for one in network["addresses"]
    )


def covers(subnet: Subnet, family: int, value: int) -> bool:
    """Return whether an address is in the network of another one."""
    shift = (32 if family == 4 else 128) - subnet[2]
    return subnet[0] == family and subnet[1] >> shift == value >> shift


def rides(one: Network, devices: list[str]) -> bool:
    """Return whether an interface makes its own device on top of one of these, as PPPoE does."""
    below = sections.texts(one["options"], "device") + sections.texts(one["options"], "ifname")
    return one["proto"] in PPP and any(name in devices for name in below)


def _device(section: Table, old: Table, running: Interface) -> str | None:
    """Return the l3 device's name."""
    proto, name = sections.text(section, "proto", "none"), str(section[".name"])
    device = sections.text(section, "device")
    if " " in device and proto in _ON_DEVICE:
        return device  # netifd takes it for one name, which no device has
    below = device or sections.text(section, "ifname")
    if sections.text(section, "type") == "bridge":
        return "br-" + name
    if proto in _OWN_DEVICE:
        return name
    if proto in PPP:
        return "%s-%s" % (proto, name)
    if proto in _ON_DEVICE and below:
        return below.split()[0]
    same = ("proto", "device", "ifname", "type")
    if old and running.get("device") and all(section.get(key) == old.get(key) for key in same):
        return str(running["device"])
    return None  # Wi-Fi alone, or a protocol whose devices have names of their own


def static_addresses(section: Table) -> tuple[list[Subnet], str]:
    """Return the addresses of a static interface; none, and why, when netifd refuses one of its values."""
    name = section[".name"]
    default = 32
    if "netmask" in section:
        mask = sections.text(section, "netmask")
        default = _mask_bits(mask)
        if default < 0:
            return [], "network.%s.netmask %r is no mask" % (name, mask)
    held = []
    for option, family, bits in (("ipaddr", 4, default), ("ip6addr", 6, 128)):
        for word in sections.texts(section, option):
            subnet = _subnet(word, family, bits)
            if subnet is None:
                return [], "network.%s.%s %r is no address" % (name, option, word)
            held.append(subnet)
    families = {family for family, _, _ in held}
    for option, family, is_read in (
        ("broadcast", 4, True), ("ptpaddr", 4, True), ("gateway", 4, 4 in families), ("ip6gw", 6, 6 in families),
    ):  # fmt: skip
        number = address_text.number(sections.text(section, option))
        if is_read and option in section and (number is None or number[0] != family):
            return [], "network.%s.%s is no address" % (name, option)
    if any(_subnet(word, 6, -1) is None for word in sections.texts(section, "ip6prefix")):
        return [], "network.%s.ip6prefix is no address" % name
    return held, ""


def odd_address(section: Table) -> str:
    """Return an address of an interface that the kernel may refuse or that is no host's, "" when there is none."""
    for family, value, bits in static_addresses(section)[0] if sections.text(section, "proto") == "static" else []:
        is_local = section[".name"] == "loopback"
        is_odd = value >> 24 in (0, 127) or value >> 28 >= 14 if family == 4 else value >> 120 == 0xFF or value < 2
        if not bits or (is_odd and not is_local):
            return address_text.text_of(family, value)
    return ""


def _mask_bits(text: str) -> int:
    if address_text.is_number(text, 0, 32):
        return int(text)
    number = address_text.number(text)
    return address_text.mask_bits(number[1], 4) if number and number[0] == 4 else -1


def _subnet(word: str, family: int, bits: int) -> Subnet | None:
    head, slash, tail = word.partition("/")
    number = address_text.number(head)
    if not number or number[0] != family:
        return None
    if slash:
        bits = _mask_bits(tail) if family == 4 else int(tail) if address_text.is_number(tail, 0, 128) else -1
    return (family, number[1], bits) if bits >= 0 else None


def _add_running(network: Network, old: Table, running: Interface, package: Tables, old_package: Tables) -> None:
    """Add what the router got from elsewhere, and the addresses of our own prefix when that alone changes."""
    section, held = network["options"], network["addresses"]
    configured = static_addresses(old)[0] if old and sections.text(old, "proto") == "static" else []
    prefix, old_prefix = _own_prefix(package), _own_prefix(old_package)
    is_same4, is_same6 = (bool(old) and all(section.get(key) == old.get(key) for key in keys) for keys in (_FOUR, _SIX))
    for family, value, bits in [one for one in running.get("addresses", []) if one not in [*configured, *held]]:
        is_ours = family == 6 and old_prefix is not None and covers(old_prefix, 6, value)
        if is_same4 if family == 4 else is_same6 and not is_ours:
            held.append((family, value, bits))
        elif is_ours and is_same6 and prefix and old_prefix and prefix[2] == old_prefix[2]:
            rest = (1 << (128 - prefix[2])) - 1
            held.append((6, prefix[1] & ~rest | value & rest, bits))
    if "ip6assign" in section and not (is_same6 and prefix == old_prefix and running):
        network["unknown6"] = network["unknown6"] or bool(prefix) or not is_same6


def _own_prefix(package: Tables) -> Subnet | None:
    """Return the router's own IPv6 prefix (ULA), None without one."""
    # netifd asks for the section of this name, whatever its type is.
    return _subnet(sections.text(package.get("globals", {}), "ula_prefix"), 6, 48)


# --- where a peer is plugged in

_VLAN_TYPES = ("8021q", "8021ad")
# A bridge on a VLAN of a bridge on a bond is what people build; more is a loop.
_DEPTH = 4


def candidates(config: Config, found: Networks, device: str, source: str, facts: Facts) -> list[Candidate]:
    """Return the places where the peer may be that reaches the router at `device` now."""
    names = [name for name, network in found.items() if network["device"] == device]
    port = facts.get("ports", {}).get(source, "")
    air = config.get("wireless", {})
    wifi: list[Candidate] = [  # the access points that lead into an interface and are on
        {"kind": "network", "name": name, "wifi": section}
        for name in names for section in sections.typed(air, "wifi-iface")
        if name in sections.texts(section, "network") and is_on_air(air, section)
    ]  # fmt: skip
    on_air = facts.get("wifi", {}).get(port, "")
    if port and on_air:
        return [one for one in wifi if one["wifi"][".name"] == on_air]
    wired: list[Candidate] = [
        {"kind": "port", "port": lower, "tag": tag} for lower, tag in places(config.get("network", {}), device)
    ]
    if port and any(one["port"] == port for one in wired):
        return [one for one in wired if one["port"] == port]
    if port and not wired:
        return [{"kind": "port", "port": port, "tag": 0}]
    if all(found[name]["proto"] in ("static", "none", "dhcp", "dhcpv6") for name in names):
        return wired + wifi
    return [{"kind": "network", "name": name} for name in names]  # behind a tunnel or a modem


def places(package: Tables, device: str) -> list[tuple[str, int]]:
    """Return the (port, VLAN or 0) from which frames come to a device."""
    ports = bridge_ports(package, device)
    if ports is not None:
        return [vlan_of(package, port) for port in ports]
    lower, vid = vlan_of(package, device)
    below = bridge_ports(package, lower) if vid else None
    if below is None:
        return [(lower, vid)]
    vlans = _vlans(package, lower)
    if not vlans:
        return [(port, vid) for port in below]
    members = vlans.get(vid, {"ports": {}})["ports"]
    return [(port, 0 if is_untagged else vid) for port, (is_untagged, _) in members.items()]


def is_on_air(package: Tables, section: Table) -> bool:
    """Return whether an access point and its radio are switched on."""
    radio = package.get(sections.text(section, "device"))
    is_off = sections.flag(section, "disabled", False) or not sections.flag(section, "enable", True)
    return radio is not None and not is_off and not sections.flag(radio, "disabled", False)


def uplinks(package: Tables, port: str, tag: int, depth: int = _DEPTH) -> tuple[list[str], str]:
    """Return the devices at which frames of a port arrive, and why they do not when they stop on the way."""
    if not depth:
        return [], "the devices of network are nested too deep"
    off = switched_off(package, port)
    if off:
        return [], off
    names = [port] if not tag else ["%s.%d" % (port, tag)]
    names += [name for name, lower, vid in _vlan_devices(package) if (lower, vid) == (port, tag) and tag]
    for bridge, ports in _bridges(package):
        is_whole = port in ports
        if is_whole or any(name in ports for name in names):
            devices, why = _through(package, bridge, port if is_whole else names[0], tag if is_whole else 0)
            found = [*devices]
            for one in devices:
                above, stopped = uplinks(package, *vlan_of(package, one), depth - 1)
                found += above
                why = why or stopped
            return sorted(set(found)), why
    stacked = [one for one in sections.typed(package, "device") if sections.text(one, "type") == "macvlan"]
    # MAC VLANs see the same frames
    return [*names, *(sections.text(one, "name") for one in stacked if sections.text(one, "ifname") in names)], ""


def _through(package: Tables, bridge: str, port: str, tag: int) -> tuple[list[str], str]:
    """Return the devices on a bridge at which frames of its port arrive; none, and why, when the bridge drops them."""
    vlans = _vlans(package, bridge)
    is_filtering = sections.flag(device_section(package, bridge), "vlan_filtering", False)
    if tag and is_filtering and not vlans:
        return [], "%s filters VLANs and knows none" % bridge
    vid, names = tag, ["%s.%d" % (bridge, tag) if tag else bridge]
    off = switched_off(package, bridge)
    if off:
        names = []
    elif vlans:
        own = {vid: vlans[vid]["ports"][port] for vid in sorted(vlans) if port in vlans[vid]["ports"]}
        # untagged frames belong to the VLAN that is marked, else to the port's first untagged one
        marked = [vid for vid, (_, is_pvid) in own.items() if is_pvid]
        untagged = [vid for vid, (is_untagged, _) in own.items() if is_untagged]
        vid = tag or [*marked[-1:], *untagged, 0][0]
        if vid not in own:
            return [], "port %s of %s is in no VLAN that takes its frames" % (port, bridge)
        if own[vid][0] != (tag == 0):
            return [], "port %s of %s answers with%s a VLAN tag" % (port, bridge, "out" if own[vid][0] else "")
        if not vlans[vid]["local"]:
            return [], "VLAN %d of %s does not reach the router itself" % (vid, bridge)
        names = ["%s.%s" % (bridge, one) for one in (vid, *vlans[vid]["alias"])]
    return names + [
        name for name, lower, number in _vlan_devices(package) if vid and (lower, number) == (bridge, vid)
    ], off


def vlan_of(package: Tables, name: str) -> tuple[str, int]:
    """Return (lower device, VLAN) of a VLAN device, (name, 0) of another."""
    for device, lower, vid in _vlan_devices(package):
        if device == name:
            return lower, vid
    lower, dot, number = name.rpartition(".")
    if dot and lower:
        if number.isdigit():
            return lower, int(number)
        for vid, vlan in _vlans(package, lower).items():
            if number in vlan["alias"]:
                return lower, vid
    return name, 0


def _vlan_devices(package: Tables) -> list[tuple[str, str, int]]:
    return [
        (sections.text(one, "name"), sections.text(one, "ifname"), int(sections.text(one, "vid")))
        for one in sections.typed(package, "device")
        if sections.text(one, "type") in _VLAN_TYPES and sections.text(one, "vid").isdigit()
    ]


def _bridges(package: Tables) -> list[tuple[str, list[str]]]:
    """Return the bridges and their ports; an old form names them in the interface."""
    found = []
    for kind in ("device", "interface"):
        for section in sections.typed(package, kind):
            is_off = kind == "interface" and sections.flag(section, "disabled", False)
            if sections.text(section, "type") == "bridge" and not is_off:
                name = sections.text(section, "name") if kind == "device" else "br-%s" % section[".name"]
                found.append((name, sections.texts(section, "ports") or sections.texts(section, "ifname")))
    return found


def bridge_ports(package: Tables, name: str) -> list[str] | None:
    """Return the ports of a bridge, None when there is no such bridge."""
    return next((ports for bridge, ports in _bridges(package) if bridge == name), None)


def device_section(package: Tables, name: str) -> Table:
    """Return the section that describes a device, {} when none does."""
    return next((one for one in sections.typed(package, "device") if sections.text(one, "name") == name), {})


def switched_off(package: Tables, name: str) -> str:
    """Return why a device stays down when its section says so, "" when it does not."""
    is_on = sections.flag(device_section(package, name), "enabled", True)
    return "" if is_on else "device %s is switched off" % name


def _vlans(package: Tables, bridge: str) -> dict[int, Table]:
    """Return the VLANs of a filtering bridge: {VLAN: {"ports": {port: (untagged, is its PVID)}, "local", "alias"}}."""
    found: dict[int, Table] = {}
    for section in sections.typed(package, "bridge-vlan"):
        number = sections.text(section, "vlan")
        # netifd takes 010 for an octal number
        is_vlan = address_text.is_number(number, 1, 4094) and number[0] != "0"
        if is_vlan and sections.text(section, "device") == bridge:
            words = [word.partition(":") for word in sections.texts(section, "ports")]
            found[int(number)] = {
                "ports": {name: ("t" not in flags, "*" in flags) for name, _, flags in words},
                "local": sections.flag(section, "local", True), "alias": sections.texts(section, "alias"),
            }  # fmt: skip
    return found
