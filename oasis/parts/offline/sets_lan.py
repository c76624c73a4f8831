"""Rows for the command templates about the LAN, DNS, fixed leases and names, and about optional packages.

Also about LEDs, tunnels and the clock. Every function takes the world and the slots and returns rows of fields. Where a
package is missing the Problem says which one to install.
"""

from __future__ import annotations

import re

from oasis.catalogue.address_text import mask_bits, text_of
from oasis.core.addresses import number4
from oasis.parts.offline.language.slots import Problem, host_label, is_host4

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from oasis.parts.offline.fulfil import World
    from oasis.parts.offline.shapes import Fields, Named, Option, Rows, Section, Slots

_IPV6_PROTOS = ("dhcpv6", "6in4", "6rd", "6to4", "map")
_POOL_PREFIX = 24  # longer prefixes have no room for the usual pool of 150 addresses from .100


def split_cidr(text: str, netmask: str = "") -> tuple[str, int] | None:
    """Return ("192.168.1.1", 24) for an address with prefix or with a separate netmask, None when unreadable."""
    address, slash, prefix = text.partition("/")
    length = _prefix_of(prefix if slash else netmask or "24")
    return (address, length) if length is not None and number4(address) is not None else None


def _prefix_of(netmask: str) -> int | None:
    """Return the prefix length of 255.255.255.0 or 24, None for anything else."""
    if netmask.isascii() and netmask.isdigit():
        return int(netmask) if int(netmask) <= 32 else None
    number = number4(netmask)
    length = -1 if number is None else mask_bits(number, 4)
    return length if length >= 0 else None


def mask(prefix: int) -> int:
    """Return the netmask of a prefix length as a number."""
    return 0xFFFFFFFF << (32 - prefix) & 0xFFFFFFFF


def _is_private(text: str) -> bool:
    """Tell whether an address is from the private ranges. Source: RFC 1918; RFC 6598 for 100.64/10."""
    number = number4(text)
    ranges = ((0x0A000000, 8), (0xAC100000, 12), (0xC0A80000, 16), (0x64400000, 10))
    return number is not None and any(number & mask(prefix) == first for first, prefix in ranges)


def overlaps(left: str, left_prefix: int, right: str, right_prefix: int) -> bool:
    """Tell whether two networks share an address."""
    first, second = number4(left), number4(right)
    shared = mask(min(left_prefix, right_prefix))
    return first is not None and second is not None and first & shared == second & shared


def words(value: Option | None) -> list[str]:
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
        for item in interface.get("ipv4-address", []):
            entry = (str(interface.get("interface")), str(item.get("address")), item.get("mask", 32))
            if entry not in found:
                found.append(entry)
    return found


def address(world: World, slots: Slots) -> Rows:
    """Return the row that gives the LAN another address. Raises: Problem when the address cannot work."""
    lan = world.facts.config("network").get("lan")
    if lan is None or lan.get("proto") != "static":
        raise Problem("no_static_lan")
    old = words(lan.get("ipaddr"))
    if len(old) != 1:
        raise Problem("lan_many", count=len(old))
    present = split_cidr(old[0], (words(lan.get("netmask")) or [""])[0])
    text, slash, prefix = slots["address"].partition("/")
    old_prefix = present[1] if present else 24
    new_prefix = int(prefix) if slash else old_prefix
    told = slots.get("old", "").partition("/")[0]
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
            "netmask": text_of(4, mask(new_prefix)) if not is_cidr and new_prefix != old_prefix else "",
            "new": text,
        }
    ]


def _check_lan(world: World, text: str, prefix: int, old_prefix: int) -> None:
    number = number4(text)
    if number is None or not is_host4(text) or not _is_private(text):
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


def wan_dns(world: World, slots: Slots) -> Rows:
    """Return rows that make the given servers the only ones asked. Raises: Problem when they are already."""
    listed = slots.get("servers") or world.providers.get(slots.get("provider", ""), [])
    interfaces = outside(world)
    has_ipv6 = any(_is_ipv6(one) for one in interfaces)
    rows: list[Fields] = []
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


def wan_dns_own(world: World, slots: Slots) -> Rows:
    """Return the options to delete so that the provider's DNS servers are used. Raises: Problem when they are."""
    rows = [
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


def zone(world: World, slots: Slots) -> Rows:
    """Return the name and rule of the wanted time zone."""
    return [slots["place"]]


def need(device: Named, what: Literal["mac", "ip"]) -> str:
    """Return the address of a device slot. Raises: Problem when it is not known."""
    if not device[what]:
        raise Problem("device_no_" + what, device=device)
    return device[what]


def host_section(world: World, mac: str) -> Section | None:
    """Return the section of a device's own address or name, None when it has none."""
    for section in world.sections("dhcp", "host"):
        if mac in [one.lower() for one in words(section.get("mac"))]:
            return section
    return None


def host(world: World, slots: Slots) -> Rows:
    """Return the row of a fixed address for a device: its own section, changed, or a new one. Raises: Problem."""
    device = slots["device"]
    mac = need(device, "mac")
    ip = slots.get("ip") or need(device, "ip")
    _check_lease(world, mac, ip)
    section = host_section(world, mac)
    if section is not None:
        if section.get("ip") == ip:
            raise Problem("lease_same", device=device, ip=ip)
        return [{"host": reference(world, "dhcp", section), "is_new": "", "ip": ip}]
    name = re.sub(r"[^A-Za-z0-9]+", "-", device["name"]).strip("-")[:63]
    return [{"host": world.free_name("dhcp", "oasis_host"), "is_new": "1", "name": name, "mac": mac, "ip": ip}]


def check_inside(world: World, ip: str) -> None:
    """Raise Problem unless `ip` can belong to a machine in a network of the router's own."""
    inside = [(own, prefix) for _, own, prefix in _static(world) if overlaps(ip, 32, own, prefix)]
    if not inside:
        raise Problem("not_in_lan", ip=ip, networks=[f"{own}/{prefix}" for _, own, prefix in _static(world)])
    own, prefix = inside[0]
    number = number4(ip) or 0
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


def host_left(world: World, slots: Slots) -> Rows:
    """Return the fixed addresses of a device, last first, to be deleted. Raises: Problem when there is none."""
    mac = need(slots["device"], "mac")
    found = [one for one in world.sections("dhcp", "host") if mac in [text.lower() for text in words(one.get("mac"))]]
    if not found:
        raise Problem("no_lease", device=slots["device"])
    return [{"host": reference(world, "dhcp", section)} for section in reversed(found)]


_SLEEPING, _AWAKE = ("none", "0"), ("default-on", "1")
_DIALED = ("pppoe", "pppoa", "ppp")  # these ask for IPv6 by themselves


def _needs(world: World, package: str, kind: str, name: str) -> list[Section]:
    found = world.sections(package, kind)
    if not found:
        raise Problem("needs_package", package=name)
    return found


def _switch(world: World, slots: Slots, section: Section, option: str, package: str) -> Rows:
    value = "1" if slots["switch"] == "on" else "0"
    if str(section.get(option) or "0") == value:
        raise Problem("is_on_already" if value == "1" else "is_off_already", what=package)
    return [{"section": reference(world, package, section), "value": value}]


def named_host(world: World, slots: Slots) -> Rows:
    """Return the section that names a device, its own or a new one. Raises: Problem."""
    device = slots["device"]
    name = host_label(slots["name"])
    if not name:
        raise Problem("bad_name", value=slots["name"])
    mac = need(device, "mac")
    section = host_section(world, mac)
    if section is not None:
        if section.get("name") == name:
            raise Problem("name_same", device=device)
        return [{"host": reference(world, "dhcp", section), "is_new": "", "host_name": name}]
    return [{"host": world.free_name("dhcp", "oasis_host"), "is_new": "1", "mac": mac, "host_name": name}]


def _lan_pool(world: World) -> Section:
    for section in world.sections("dhcp", "dhcp"):
        if section.get("interface", section[".name"]) == "lan" and section.get("ignore") != "1":
            return section
    raise Problem("no_pool")


def lease_time(world: World, slots: Slots) -> Rows:
    """Return the pool of the LAN with another time. Raises: Problem when it is too short or the same."""
    minutes = int(slots["duration"][:-1])
    if minutes < 2:
        raise Problem("lease_short")  # dnsmasq takes no less
    text = f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
    section = _lan_pool(world)
    if section.get("leasetime") == text:
        raise Problem("is_so_already")
    return [{"pool": reference(world, "dhcp", section), "leasetime": text}]


def pool(world: World, slots: Slots) -> Rows:
    """Return the pool of the LAN with other addresses. Raises: Problem when they are not inside, or in no order."""
    lan = world.facts.config("network").get("lan", {})
    own = split_cidr((words(lan.get("ipaddr")) or [""])[0], (words(lan.get("netmask")) or [""])[0])
    if own is None:
        raise Problem("no_static_lan")
    numbers = []
    for ip in (slots["from_ip"], slots["to_ip"]):
        check_inside(world, ip)
        numbers.append((number4(ip) or 0) & ~mask(own[1]) & 0xFFFFFFFF)
    for ip in (slots["from_ip"], slots["to_ip"]):
        if not overlaps(ip, 32, *own):
            raise Problem("not_in_lan", ip=ip, networks=[f"{own[0]}/{own[1]}"])
    if numbers[0] > numbers[1]:
        raise Problem("pool_backwards", first=slots["from_ip"], last=slots["to_ip"])
    section = _lan_pool(world)
    row = {"start": str(numbers[0]), "limit": str(numbers[1] - numbers[0] + 1)}
    if all(section.get(name) == value for name, value in row.items()):
        raise Problem("is_so_already")
    return [{"pool": reference(world, "dhcp", section), **row}]


def ipv6(world: World, slots: Slots) -> Rows:
    """Return what has to change so that IPv6 is used or not, to the internet and in the LAN. Raises: Problem."""
    turned_on = slots["switch"] == "on"
    rows: list[Fields] = []
    for section in world.sections("network", "interface"):
        path = f"network.{section['.name']}"
        if section.get("proto") == "dhcpv6" and (section.get("disabled") == "1") == turned_on:
            rows.append({"path": path + ".disabled", "value": "0" if turned_on else "1"})
        if section.get("proto") in _DIALED and (section.get("ipv6", "auto") == "0") == turned_on:
            rows.append({"path": path + ".ipv6", "value": "auto" if turned_on else "0"})
    pool_section = _lan_pool(world)
    for option in ("ra", "dhcpv6"):
        # A relay is IPv6 as well: it is only started where there is none.
        if (str(pool_section.get(option) or "disabled") == "disabled") == turned_on:
            path = f"dhcp.{reference(world, 'dhcp', pool_section)}.{option}"
            rows.append({"path": path, "value": "server" if turned_on else "disabled"})
    if not rows:
        raise Problem("is_on_already" if turned_on else "is_off_already", what="IPv6")
    return rows


def upnp(world: World, slots: Slots) -> Rows:
    """Return the section of the UPnP service. Raises: Problem when it is not installed, or so already."""
    return _switch(world, slots, _needs(world, "upnpd", "upnpd", "miniupnpd-nftables")[0], "enabled", "upnpd")


def local_name(world: World, slots: Slots) -> Rows:
    """Return the section of a name in the own network. Raises: Problem when it is taken or the address strange."""
    device = slots.get("device")
    address = slots.get("ip") or (need(device, "ip") if device else "")
    if address != _own_address(world):
        check_inside(world, address)
    for section in world.sections("dhcp", "domain"):
        if str(section.get("name", "")).lower() == slots["host"]:
            if section.get("ip") == address:
                raise Problem("is_so_already")
            raise Problem("name_taken", name=slots["host"], ip=section.get("ip", ""))
    return [{"section": world.free_name("dhcp", "oasis_name"), "address": address}]


def _own_address(world: World) -> str:
    own = words(world.facts.config("network").get("lan", {}).get("ipaddr"))
    return own[0].partition("/")[0] if own else ""


def _resolver(world: World) -> Section:
    found = world.sections("dhcp", "dnsmasq")
    if not found:
        raise Problem("needs_package", package="dnsmasq")
    return found[0]


def dns_blocked(world: World, slots: Slots) -> Rows:
    """Return the entry that makes a domain unknown. Raises: Problem when it is so."""
    section, entry = _resolver(world), f"/{slots['domain']}/"
    if entry in words(section.get("address")):
        raise Problem("domain_blocked", domain=slots["domain"])
    return [{"section": reference(world, "dhcp", section), "entry": entry}]


def dns_unblocked(world: World, slots: Slots) -> Rows:
    """Return the entry to take away. Raises: Problem when the domain is not blocked here."""
    section, entry = _resolver(world), f"/{slots['domain']}/"
    if entry not in words(section.get("address")):
        raise Problem("domain_not_blocked", domain=slots["domain"])
    return [{"section": reference(world, "dhcp", section), "entry": entry}]


def adblock(world: World, slots: Slots) -> Rows:
    """Return the section of adblock. Raises: Problem when it is not installed, or so already."""
    section = _needs(world, "adblock", "adblock", "adblock")[0]
    return _switch(world, slots, section, "adb_enabled", "adblock") if "switch" in slots else []


def _tunnels(world: World) -> list[Section]:
    found = [one for one in world.sections("network", "interface") if one.get("proto") in ("wireguard", "openvpn")]
    if not found:
        raise Problem("no_vpn")
    return found


def vpn_there(world: World, slots: Slots) -> Rows:
    """Return nothing. Raises: Problem when there is no tunnel that could get a peer."""
    _tunnels(world)
    return []


def vpn(world: World, slots: Slots) -> Rows:
    """Return the tunnels to switch. Raises: Problem when there is none, or all are so."""
    value = "0" if slots["switch"] == "on" else "1"
    rows = [
        {"section": one[".name"], "value": value} for one in _tunnels(world) if str(one.get("disabled") or "0") != value
    ]
    if not rows:
        raise Problem("is_on_already" if value == "0" else "is_off_already", what="VPN")
    return rows


def peer(world: World, slots: Slots) -> Rows:
    """Return the sections of a peer, last first, to be deleted. Raises: Problem when there is none of that name."""
    wanted, names = slots["name"].casefold(), list[str]()
    found: list[Fields] = []
    for tunnel in _tunnels(world):
        for section in world.sections("network", f"wireguard_{tunnel['.name']}"):
            names.append(str(section.get("description") or section[".name"]))
            if names[-1].casefold() == wanted:
                found.append({"section": reference(world, "network", section)})
    if not found:
        raise Problem("peer_unknown", value=slots["name"], choices=names)
    return found[::-1]


def qos(world: World, slots: Slots) -> Rows:
    """Return the queue of SQM to limit. Raises: Problem when it is not installed."""
    section = _needs(world, "sqm", "queue", "sqm-scripts")[0]
    wake = "" if section.get("enabled") == "1" else "1"
    return [{"section": reference(world, "sqm", section), "wake": wake}]


def qos_switched(world: World, slots: Slots) -> Rows:
    """Return the queue of SQM to switch. Raises: Problem when it is not installed, or so already."""
    return _switch(world, slots, _needs(world, "sqm", "queue", "sqm-scripts")[0], "enabled", "sqm")


def ntp(world: World, slots: Slots) -> Rows:
    """Return whether other time servers have to go first. Raises: Problem when it is the only one already."""
    present = words(world.facts.config("system").get("ntp", {}).get("server"))
    if present == [slots["host"]]:
        raise Problem("is_so_already")
    if "ntp" not in world.facts.config("system"):
        raise Problem("no_ntp")
    return [{"clear": "1" if present else ""}]


def ntp_switched(world: World, slots: Slots) -> Rows:
    """Return whether the time is to be fetched. Raises: Problem when it is so."""
    section = world.facts.config("system").get("ntp")
    if section is None:
        raise Problem("no_ntp")
    value = "1" if slots["switch"] == "on" else "0"
    if str(section.get("enabled") or "1") == value:
        raise Problem("is_on_already" if value == "1" else "is_off_already", what="NTP")
    return [{"value": value}]


def leds(world: World, slots: Slots) -> Rows:
    """Return the LEDs that UCI knows. Raises: Problem when it knows none: their names are the router's own."""
    found = world.sections("system", "led")
    if not found:
        raise Problem("no_leds")
    turned_on = slots["switch"] == "on"
    trigger, default = _AWAKE if turned_on else _SLEEPING
    # One that shows something, as traffic, is on: it keeps what it shows.
    meant = [one for one in found if _is_dark(one) == turned_on]
    if not meant:
        raise Problem("is_on_already" if turned_on else "is_off_already", what="LED")
    return [{"section": reference(world, "system", one), "trigger": trigger, "default": default} for one in meant]


def _is_dark(led: Section) -> bool:
    return str(led.get("trigger") or "none") == "none" and str(led.get("default") or "0") == "0"
