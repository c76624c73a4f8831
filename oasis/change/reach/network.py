"""The router's interfaces as netifd will make them of a network package: devices, addresses, what is not known of them.

Shape of a network:
    {"name", "device": l3 device, "" for none, None when its name is not known, "proto",
     "addresses": [(family, value, bits)],
     "unknown4", "unknown6": addresses that come from elsewhere, "zone": firewall zone that its protocol names,
     "is_up": False when it surely stays down, "why": the reason for that, "options": its section}
Addresses that are not in the configuration come from the facts, as long as nothing that they hang on is changed.
Source: netifd, config.c, interface.c, proto.c.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Config, Facts, Interface, Network, Networks, Subnet, Table, Tables

_ON_DEVICE = ("static", "none", "dhcp", "dhcpv6", "")
_OWN_DEVICE = ("wireguard", "amneziawg", "vxlan", "gre", "openconnect", "openvpn")
PEERS = ("wireguard_", "amneziawg_")  # beginnings of the types of a tunnel's peers
PPP = ("pppoe", "pppoa", "ppp", "pptp", "l2tp", "3g")
# What addresses of IPv6 hang on: these of the interface, and the prefix of our own.
_SIX = (
    "proto",
    "device",
    "ifname",
    "ip6assign",
    "ip6hint",
    "ip6class",
    "ip6ifaceid",
    "ip6prefix",
    "ip6addr",
    "delegate",
)
_FOUR = ("proto", "device", "ifname", "ipaddr", "netmask", "macaddr", "clientid", "hostname")


def networks(config: Config, facts: Facts, base: Config) -> Networks:
    """Return the interfaces of `config`; `base` is the configuration under which the facts were taken."""
    package, old = config.get("network", {}), base.get("network", {})
    running = facts.get("interfaces", {})
    found: Networks = {}
    for section in sections.typed(package, "interface"):
        if sections.flag(section, "disabled", False):
            continue
        name = str(section[".name"])
        found[name] = _network(section, old.get(name, {}), running.get(name, {}), package, old)
    for network in found.values():
        if network["device"] and network["device"].startswith("@"):
            lower = found.get(network["device"][1:])
            network["device"] = lower["device"] if lower else ""
    for name, entry in running.items():
        if name not in found and name not in old:  # made by a protocol, as wan_6 is
            found[name] = _dynamic(name, entry)
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


def _dynamic(name: str, entry: Interface) -> Network:
    return {
        "name": name, "device": entry.get("device", ""), "proto": "dynamic", "addresses": entry.get("addresses", []),
        "unknown4": True, "unknown6": True, "zone": entry.get("zone", ""), "is_up": True, "why": "", "options": {},
    }  # fmt: skip


def _network(section: Table, old: Table, running: Interface, package: Tables, old_package: Tables) -> Network:
    proto = sections.text(section, "proto", "none")
    held, why = static_addresses(section) if proto == "static" else ([], "")
    network: Network = {
        "name": str(section[".name"]), "device": _device(section, old, running), "proto": proto, "addresses": held,
        "unknown4": proto not in ("static", "none", "dhcpv6"), "unknown6": proto not in ("static", "none", "dhcp"),
        "zone": running.get("zone", "") if old else sections.text(section, "zone"), "is_up": not why, "why": why,
        "options": section,
    }  # fmt: skip
    if not sections.flag(section, "auto", True) and not (old and not sections.flag(old, "auto", True)):
        network["is_up"], network["why"] = False, "network.%s.auto is off" % network["name"]
    _add_running(network, section, old, running, package, old_package)
    return network


def _device(section: Table, old: Table, running: Interface) -> str | None:
    """Return the l3 device's name."""
    proto, name = sections.text(section, "proto", "none"), str(section[".name"])
    device = sections.text(section, "device")
    if " " in device and proto in _ON_DEVICE:
        return device  # netifd takes it for one name, which no device has
    told = device or sections.text(section, "ifname")
    if sections.text(section, "type") == "bridge":
        return "br-" + name
    if proto in _OWN_DEVICE:
        return name
    if proto in PPP:
        return "%s-%s" % (proto, name)
    if proto in _ON_DEVICE and told:
        return told.split()[0]
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
    broken = _broken(section, {family for family, _, _ in held})
    return ([], "network.%s.%s is no address" % (name, broken)) if broken else (held, "")


def _broken(section: Table, families: set[int]) -> str:
    """Return the option for whose value netifd refuses a static interface, "" when there is none."""
    for option, family, is_read in (
        ("broadcast", 4, True), ("ptpaddr", 4, True), ("gateway", 4, 4 in families), ("ip6gw", 6, 6 in families),
    ):  # fmt: skip
        number = address_text.number(sections.text(section, option))
        if is_read and option in section and (number is None or number[0] != family):
            return option
    bad = any(_subnet(word, 6, -1) is None for word in sections.texts(section, "ip6prefix"))
    return "ip6prefix" if bad else ""


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


def _add_running(
    network: Network, section: Table, old: Table, running: Interface, package: Tables, old_package: Tables
) -> None:
    """Add what the router got from elsewhere, and the addresses of our own prefix when that alone changes."""
    configured = static_addresses(old)[0] if old and sections.text(old, "proto") == "static" else []
    told: list[Subnet] = list(running.get("addresses", []))
    got = [one for one in told if one not in configured and one not in network["addresses"]]
    prefix, old_prefix = _own_prefix(package), _own_prefix(old_package)
    is_assigned = "ip6assign" in section
    is_same4 = bool(old) and all(section.get(key) == old.get(key) for key in _FOUR)
    is_same6 = bool(old) and all(section.get(key) == old.get(key) for key in _SIX)
    for family, value, bits in got:
        is_ours = family == 6 and old_prefix is not None and covers(old_prefix, 6, value)
        if family == 4 and is_same4:
            network["addresses"].append((4, value, bits))
        elif family == 6 and is_same6 and not is_ours:
            network["addresses"].append((6, value, bits))
        elif is_ours and is_same6 and prefix and old_prefix and prefix[2] == old_prefix[2]:
            rest = (1 << (128 - prefix[2])) - 1
            network["addresses"].append((6, prefix[1] & ~rest | value & rest, bits))
    if is_assigned and not (is_same6 and prefix == old_prefix and running):
        network["unknown6"] = network["unknown6"] or bool(prefix) or not is_same6


def _own_prefix(package: Tables) -> Subnet | None:
    """Return the router's own IPv6 prefix (ULA), None without one."""
    # netifd asks for the section of this name, whatever its type is.
    return _subnet(sections.text(package.get("globals", {}), "ula_prefix"), 6, 48)
