"""Sets about addresses: the LAN, DNS servers, fixed leases and the time zone.

Every function takes the world and the slots and returns rows of fields for the command templates.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.requests.addresses import (
    ipv4_text,
    is_host,
    is_private,
    mask,
    overlaps,
    parse_ipv4,
    split_cidr,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

    Section = dict[str, object]

_IPV6_PROTOS = ("dhcpv6", "6in4", "6rd", "6to4", "map")
_POOL_PREFIX = 24  # longer prefixes have no room for the usual pool of 150 addresses from .100


def words(value: object) -> list[str]:
    """Return a UCI option as a list, however it was written."""
    if isinstance(value, list):
        return [str(item) for item in value]
    return str(value).split() if value else []


def reference(world: World, package: str, section: Section) -> str:
    """Return how a command names a section: its name, or @type[index] when it has none."""
    if not section.get(".anonymous"):
        return str(section[".name"])
    names = [one[".name"] for one in world.sections(package, str(section[".type"]))]
    return f"@{section['.type']}[{names.index(section['.name'])}]"


def networks(world: World) -> list[tuple[str, str, int]]:
    """Return (interface, address, prefix) of every IPv4 network the router is in, configured or live."""
    found = []
    for section in world.sections("network", "interface"):
        for text in words(section.get("ipaddr")):
            pair = split_cidr(text, (words(section.get("netmask")) or [""])[0])
            if pair:
                found.append((str(section[".name"]), *pair))
    for interface in world.facts.interfaces():
        listed = interface.get("ipv4-address")
        for item in listed if isinstance(listed, list) else []:
            entry = (str(interface.get("interface")), str(item.get("address")), int(item.get("mask", 32)))
            if entry not in found:
                found.append(entry)
    return found


def address(world: World, slots: dict[str, object]) -> Rows:
    """Return the row that gives the LAN another address. Raises: Problem when the address cannot work."""
    lan = world.facts.config("network").get("lan")
    if lan is None or lan.get("proto") != "static":
        raise Problem("no_static_lan")
    old = words(lan.get("ipaddr"))
    if len(old) != 1:
        raise Problem("lan_many", count=len(old))
    present = split_cidr(old[0], (words(lan.get("netmask")) or [""])[0])
    text, slash, prefix = str(slots["address"]).partition("/")
    old_prefix = present[1] if present else 24
    new_prefix = int(prefix) if slash else old_prefix
    told = str(slots.get("old", "")).partition("/")[0]
    if told and present and told != present[0]:
        raise Problem("lan_other", address=present[0], old=told)
    if present == (text, new_prefix):
        raise Problem("lan_same", address=text)
    _check_lan(world, text, new_prefix, old_prefix)
    is_cidr = "/" in old[0]
    return [
        {
            "old": old[0],
            "is_list": isinstance(lan.get("ipaddr"), list),
            "ipaddr": f"{text}/{new_prefix}" if is_cidr else text,
            "netmask": ipv4_text(mask(new_prefix)) if not is_cidr and new_prefix != old_prefix else "",
            "new": text,
        }
    ]


def _check_lan(world: World, text: str, prefix: int, old_prefix: int) -> None:
    number = parse_ipv4(text)
    if number is None or not is_host(text) or not is_private(text):
        raise Problem("not_private", address=text)
    if number & ~mask(prefix) & 0xFFFFFFFF in (0, ~mask(prefix) & 0xFFFFFFFF):
        raise Problem("not_a_host", address=text, prefix=prefix)
    if prefix > _POOL_PREFIX and prefix != old_prefix:
        raise Problem("pool_too_small", prefix=prefix)
    for interface, other, other_prefix in networks(world):
        if interface not in ("lan", "loopback") and overlaps(text, prefix, other, other_prefix):
            raise Problem("overlap", address=text, interface=interface, other=f"{other}/{other_prefix}")


def outside(world: World) -> list[Section]:
    """Return the interfaces that lead to the internet. Raises: Problem when none is known."""
    zones = [zone for zone in world.sections("firewall", "zone") if zone.get("masq") == "1"]
    names = [name for zone in zones for name in words(zone.get("network"))] or ["wan", "wan6"]
    sections = world.facts.config("network")
    found = [sections[name] for name in names if sections.get(name, {}).get(".type") == "interface"]
    if not found:
        raise Problem("no_wan")
    return found


def wan_dns(world: World, slots: dict[str, object]) -> Rows:
    """Return rows that make the given servers the only ones asked. Raises: Problem when they are already."""
    servers = slots.get("servers") or world.table("providers").get(str(slots.get("provider")), [])
    listed = [str(one) for one in servers] if isinstance(servers, list) else []
    interfaces = outside(world)
    has_ipv6 = any(_is_ipv6(one) for one in interfaces)
    rows: Rows = []
    for section in interfaces:
        wanted = [one for one in listed if not has_ipv6 or (":" in one) == _is_ipv6(section)]
        present = words(section.get("dns"))
        name = section[".name"]
        if present and present != wanted:
            rows.append({"wan": name, "delete": "dns", "peerdns": "", "server": ""})
        if section.get("peerdns") != "0" and section.get("proto") != "static":
            rows.append({"wan": name, "delete": "", "peerdns": "0", "server": ""})
        if present != wanted:
            rows += [{"wan": name, "delete": "", "peerdns": "", "server": one} for one in wanted]
    if not rows:
        raise Problem("dns_same", servers=listed)
    return rows


def wan_dns_own(world: World, slots: dict[str, object]) -> Rows:
    """Return the options to delete so that the provider's DNS servers are used. Raises: Problem when they are."""
    rows: Rows = [
        {"wan": section[".name"], "option": option}
        for section in outside(world)
        for option in ("dns", "peerdns")
        if section.get(option)
    ]
    if not rows:
        raise Problem("dns_is_own")
    return rows


def _is_ipv6(section: Section) -> bool:
    return section.get("proto") in _IPV6_PROTOS


def zone(world: World, slots: dict[str, object]) -> Rows:
    """Return the name and rule of the wanted time zone."""
    place = slots["place"]
    return [place] if isinstance(place, dict) else []


def need(device: object, what: str) -> str:
    """Return the "mac" or "ip" of a device slot. Raises: Problem when it is not known."""
    found = str(device.get(what, "")) if isinstance(device, dict) else ""
    if not found:
        raise Problem("device_no_" + what, device=device)
    return found


def host_section(world: World, mac: str) -> Section | None:
    """Return the section of a device's own address or name, None when it has none."""
    for section in world.sections("dhcp", "host"):
        if mac in [one.lower() for one in words(section.get("mac"))]:
            return section
    return None


def host(world: World, slots: dict[str, object]) -> Rows:
    """Return the row of a fixed address for a device: its own section, changed, or a new one. Raises: Problem."""
    device = slots["device"]
    mac = need(device, "mac")
    ip = str(slots.get("ip") or need(device, "ip"))
    _check_lease(world, mac, ip)
    section = host_section(world, mac)
    if section is not None:
        if section.get("ip") == ip:
            raise Problem("lease_same", device=device, ip=ip)
        return [{"host": reference(world, "dhcp", section), "is_new": "", "ip": ip}]
    name = re.sub(r"[^A-Za-z0-9]+", "-", str(device.get("name", "")) if isinstance(device, dict) else "").strip("-")[
        :63
    ]
    return [{"host": world.free_name("dhcp", "oasis_host"), "is_new": "1", "name": name, "mac": mac, "ip": ip}]


def check_inside(world: World, ip: str) -> None:
    """Raise Problem unless `ip` can belong to a machine in a network of the router's own."""
    inside = [(own, prefix) for _, own, prefix in _static(world) if overlaps(ip, 32, own, prefix)]
    if not inside:
        raise Problem("not_in_lan", ip=ip, networks=[f"{own}/{prefix}" for _, own, prefix in _static(world)])
    own, prefix = inside[0]
    number = parse_ipv4(ip) or 0
    if ip == own or number & ~mask(prefix) & 0xFFFFFFFF in (0, ~mask(prefix) & 0xFFFFFFFF):
        raise Problem("ip_is_routers", ip=ip)


def _check_lease(world: World, mac: str, ip: str) -> None:
    check_inside(world, ip)
    for section in world.sections("dhcp", "host"):
        if section.get("ip") == ip and mac not in [one.lower() for one in words(section.get("mac"))]:
            raise Problem("ip_taken", ip=ip, holder=section.get("name") or section.get("mac"))
    for device in world.facts.devices():
        if device["ip"] == ip and device["mac"] != mac and device["present"]:
            raise Problem("ip_taken", ip=ip, holder=device["name"] or device["mac"])


def _static(world: World) -> list[tuple[str, str, int]]:
    configured = {str(one[".name"]) for one in world.sections("network", "interface") if one.get("proto") == "static"}
    return [entry for entry in networks(world) if entry[0] in configured and entry[0] != "loopback"]


def host_left(world: World, slots: dict[str, object]) -> Rows:
    """Return the fixed addresses of a device, last first, to be deleted. Raises: Problem when there is none."""
    mac = need(slots["device"], "mac")
    found = [one for one in world.sections("dhcp", "host") if mac in [text.lower() for text in words(one.get("mac"))]]
    if not found:
        raise Problem("no_lease", device=slots["device"])
    return [{"host": reference(world, "dhcp", section)} for section in reversed(found)]
