"""Rows for the command templates: LAN, DNS, fixed leases, optional packages, LEDs, tunnels, firewall and Wi-Fi.

Every function takes the world and the slots and returns rows of fields. Where a package is missing the Problem says
which one to install. The sections of the guest network have fixed names, so that it can be found again.
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
    from oasis.parts.offline.shapes import AccessPoint, Callable, Fields, Named, Option, Rows, Section, Slots


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
    own = words(world.facts.config("network").get("lan", {}).get("ipaddr"))
    if address != (own[0].partition("/")[0] if own else ""):
        check_inside(world, address)
    for section in world.sections("dhcp", "domain"):
        if str(section.get("name", "")).lower() == slots["host"]:
            if section.get("ip") == address:
                raise Problem("is_so_already")
            raise Problem("name_taken", name=slots["host"], ip=section.get("ip", ""))
    return [{"section": world.free_name("dhcp", "oasis_name"), "address": address}]


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


_OWN_BLOCK = "oasis_block"
_OWN_FORWARD = "oasis_forward"


def wan_zone(world: World) -> str:
    """Return the name of the zone that leads to the internet. Raises: Problem when none is known."""
    zones = world.sections("firewall", "zone")
    for zone in zones:
        if zone.get("name") == "wan" or zone.get("masq") == "1":
            return str(zone.get("name"))
    raise Problem("no_wan")


def zone_of(world: World, ip: str) -> str:
    """Return the zone a machine is in by its address, that of the LAN when the address tells nothing."""
    inside = [name for name, own, prefix in networks(world) if ip and overlaps(ip, 32, own, prefix)]
    for wanted in [*inside, "lan"]:
        for zone in world.sections("firewall", "zone"):
            if wanted in words(zone.get("network")) and zone.get("name") != wan_zone(world):
                return str(zone.get("name"))
    raise Problem("no_lan_zone")


def block(world: World, slots: Slots) -> Rows:
    """Return a row for each device that gets a rule, or whose rule ends by itself: saying it again sets that end.

    Raises: Problem when all of them are blocked.
    """
    rows: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        held = _blocking(world, mac)
        rows += [_said_again(rule) for rule in held if "firewall.%s" % rule[".name"] in world.facts.ending()]
        if not held:
            row = {"rule": world.free_name("firewall", _OWN_BLOCK), "mac": mac, "name": rule_name("Block", device)}
            rows.append({**row, "src": zone_of(world, device["ip"]), "dest": wan_zone(world)})
    if not rows:
        raise Problem("is_blocked", devices=slots["devices"])
    return rows


def _said_again(rule: Section) -> Fields:
    row = {key: rule.get(key, "") for key in ("name", "src", "dest")}
    return {**row, "rule": rule[".name"], "mac": " ".join(words(rule.get("src_mac")))}


def blocked(world: World, slots: Slots) -> Rows:
    """Return the rules of ours to delete, so that the devices may go out again.

    Raises: Problem when a device is not blocked, or by a rule that somebody else wrote.
    """
    found: list[str] = []
    for device in slots["devices"]:
        rules = _blocking(world, need(device, "mac"))
        own = [str(rule[".name"]) for rule in rules if str(rule[".name"]).startswith(_OWN_BLOCK + "_")]
        if rules and not own:
            raise Problem("blocked_by_other", device=device, rule=rules[0].get("name") or rules[0][".name"])
        if not rules:
            raise Problem("is_not_blocked", device=device)
        found += own
    return [{"rule": name} for name in found]


def _blocking(world: World, mac: str) -> list[Section]:
    return [
        rule
        for rule in world.sections("firewall", "rule")
        if rule.get("target") in ("REJECT", "DROP")
        and rule.get("dest")
        and not rule.get("dest_port")
        and rule.get("enabled") != "0"
        and mac in [one.lower() for one in words(rule.get("src_mac"))]
    ]


def rule_name(verb: str, device: Named) -> str:
    """Return the name of a rule; a device's name is foreign text, so only plain letters of it are used."""
    return (verb + " " + re.sub(r"[^A-Za-z0-9:._-]+", " ", device["label"]).strip())[:60].strip()


def forward(world: World, slots: Slots) -> Rows:
    """Return a row for each port that is to be forwarded. Raises: Problem when one goes elsewhere already."""
    check_inside(world, need(slots["device"], "ip"))
    ports, inner = slots["port"], slots.get("inner", "")
    if inner and inner not in ports and (len(ports) > 1 or "-" in inner + ports[0]):
        raise Problem("range_moves", port=ports, inner=inner)
    return [_forward(world, slots, port, inner or port) for port in ports]


def _forward(world: World, slots: Slots, port: str, inner: str) -> Fields:
    device = slots["device"]
    ip = need(device, "ip")
    protos = [proto for proto in ("tcp", "udp") if slots.get("proto", "both") in (proto, "both")]
    for taken in _redirects(world, port, protos):
        raise Problem("port_taken", port=port, rule=taken.get("name") or taken[".name"], ip=taken.get("dest_ip", ""))
    label = rule_name(f"Forward {port} to", device)
    zones = {"src": wan_zone(world), "dest": zone_of(world, ip)}
    row = {"forward": world.free_name("firewall", _OWN_FORWARD), "name": label, "ip": ip, "port": port, "inner": inner}
    return {**row, **zones, **{proto: proto in protos for proto in ("tcp", "udp")}}


def forwarded(world: World, slots: Slots) -> Rows:
    """Return the forwards of a port, last first, to be deleted. Raises: Problem when there is none."""
    port = str(slots["port"])
    found = _redirects(world, port, ["tcp", "udp"])
    if not found:
        raise Problem("no_forward", port=port)
    if any(section.get("src_dport") != port for section in found):
        raise Problem("forward_wider", port=port, ports=[section.get("src_dport") for section in found])
    device = slots.get("device")
    if device and any(section.get("dest_ip") != device["ip"] for section in found):
        raise Problem("forward_elsewhere", port=port, device=device, ip=found[0].get("dest_ip", ""))
    return [{"forward": reference(world, "firewall", section)} for section in reversed(found)]


def moving_target(world: World, slots: Slots) -> Rows:
    """Return a row when the address of the device may change; for a note."""
    device = slots["device"]
    return [] if device["fixed"] or not device["mac"] else [device]


def _redirects(world: World, port: str, protos: list[str]) -> list[Section]:
    found = []
    for section in world.sections("firewall", "redirect"):
        listed = words(section.get("proto")) or ["tcp", "udp"]
        same = any(proto in listed for proto in protos) or any(word in ("all", "any", "tcpudp") for word in listed)
        is_in = section.get("src", "wan") == wan_zone(world) and section.get("enabled") != "0"
        if same and is_in and _touch(port, str(section.get("src_dport", ""))):
            found.append(section)
    return found


def _touch(left: str, right: str) -> bool:
    ends = [[int(end) for end in re.split("[-:]", text) if end.isdigit()] for text in (left, right)]
    if not ends[0] or not ends[1]:
        return False
    return ends[0][0] <= ends[1][-1] and ends[1][0] <= ends[0][-1]


_OWN = "oasis_hours"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def hours(world: World, slots: Slots) -> Rows:
    """Return a rule for each device, two where the time goes past midnight: the second one belongs to the next day."""
    start, stop = slots["from"], slots["to"]
    if start == stop:
        raise Problem("no_hours", clock=start)
    days = [day for day in _DAYS if day in slots.get("days", "").split()]
    spans = [(start, stop, days)]
    if start > stop:
        spans = [(start, "23:59:59", days), ("00:00", stop, [_DAYS[(_DAYS.index(day) + 1) % 7] for day in days])]
        spans = [span for span in spans if span[0] != span[1]]
    rows: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        for first, last, chosen in spans:
            named = " ".join(day.capitalize() for day in chosen) if 0 < len(chosen) < 7 else ""
            if _is_there(world, mac, first, last, named):
                continue
            row = {"rule": world.free_name("firewall", _OWN), "name": rule_name("Hours", device), "mac": mac}
            row.update(src=zone_of(world, device["ip"]), dest=wan_zone(world))
            rows.append({**row, "start": first, "stop": last, "days": named})
    if not rows:
        raise Problem("is_so_already")
    return rows


def _is_there(world: World, mac: str, start: str, stop: str, days: str) -> bool:
    wanted = (start, stop, days.lower().split())
    return any(
        (rule.get("start_time"), rule.get("stop_time"), words(str(rule.get("weekdays") or "").lower())) == wanted
        for rule in world.sections("firewall", "rule")
        if mac in [one.lower() for one in words(rule.get("src_mac"))]
        and rule.get("enabled") != "0"
        and rule.get("target") in ("REJECT", "DROP")
    )


def hours_left(world: World, slots: Slots) -> Rows:
    """Return the rules of ours with times of these devices, to be deleted. Raises: Problem when there is none."""
    found: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        timed = [
            rule
            for rule in world.sections("firewall", "rule")
            if mac in [one.lower() for one in words(rule.get("src_mac"))] and rule.get("start_time")
        ]
        own = [rule for rule in timed if str(rule[".name"]).startswith(_OWN)]
        if timed and not own:
            raise Problem("blocked_by_other", device=device, rule=timed[0].get("name") or timed[0][".name"])
        found += [{"rule": rule[".name"]} for rule in own]
    if not found:
        raise Problem("no_hours_set", devices=slots["devices"])
    return found


_OPEN = ("", "none", "wep", "wep-open", "wep-shared", "wep+open", "wep+shared")


# Channels of the bands that any country allows; which of them this country does, the driver knows.
_CHANNELS = {
    "2g": tuple(range(1, 15)),
    "5g": (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    "6g": tuple(range(1, 234, 4)),
}
_WIDEST = {"2g": 40, "5g": 160, "6g": 160}
_ENCRYPTION = {"wpa2": "psk2", "wpa3": "sae", "mixed": "sae-mixed", "none": "none"}
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}


def band_of(radio: Section) -> str:
    """Return 2g, 5g or 6g of a wifi-device; releases before 21.02 wrote hwmode instead."""
    return str(radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g"))


def radios(world: World, slots: Slots) -> list[Section]:
    """Return the wifi-device sections of the wanted band. Raises: Problem when the router has none."""
    every = world.sections("wireless", "wifi-device")
    if not every:
        raise Problem("no_wifi")
    band = slots.get("band", "both")
    found = [radio for radio in every if band in ("both", band_of(radio))]
    if not found:
        raise Problem("no_band", band=_BANDS.get(band, band))
    return found


def access_points(world: World, slots: Slots) -> list[tuple[Section, Section]]:
    """Return (radio, wifi-iface) pairs of the owner's own networks: access points that are no guest network."""
    wanted = {str(radio[".name"]): radio for radio in radios(world, slots)}
    found = []
    for section in world.sections("wireless", "wifi-iface"):
        radio = wanted.get(str(section.get("device")))
        if radio and section.get("mode", "ap") == "ap" and not _is_guest(section):
            found.append((radio, section))
    return found


def own(world: World, slots: Slots) -> list[AccessPoint]:
    """Return a row for each access point that gets a new name or password.

    Raises: Problem when there is none, when one radio has several and no name was said, or when it logs in by account.
    """
    pairs = access_points(world, slots)
    named = slots.get("network")
    if named:
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        pairs = [pair for pair in pairs if str(pair[1].get("ssid", "")).casefold() == named.casefold()]
        if not pairs:
            raise Problem("network_unknown", value=named[:40], choices=names)
    if not pairs:
        raise Problem("no_access_point")
    if not named and len({str(radio[".name"]) for radio, _ in pairs}) < len(pairs):
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        raise Problem("network_which", choices=names, first=names[0])
    return [_row(radio, section) for radio, section in pairs]


def secured(world: World, slots: Slots) -> Rows:
    """Return the rows of `own` for a new password. Raises: Problem where a password is not how one joins."""
    rows = own(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def guest(world: World, slots: Slots) -> list[AccessPoint]:
    """Return a row for each access point of a guest network. Raises: Problem when there is none."""
    devices = {str(radio[".name"]): radio for radio in world.sections("wireless", "wifi-device")}
    found = [
        _row(devices.get(str(section.get("device")), {}), section)
        for section in world.sections("wireless", "wifi-iface")
        if _is_guest(section)
    ]
    if not found:
        raise Problem("no_guest")
    return found


def guest_secured(world: World, slots: Slots) -> Rows:
    """Return the rows of `guest` for a new password."""
    rows = guest(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def switched(world: World, slots: Slots) -> Rows:
    """Return the sections whose `disabled` has to change so that Wi-Fi is on or off.

    Raises: Problem when nothing has to change.
    """
    chosen = radios(world, slots)
    turned_on = slots.get("switch") == "on"
    rows: list[Fields] = [
        {"section": radio[".name"], "disabled": "0" if turned_on else "1"}
        for radio in chosen
        if (radio.get("disabled") == "1") == turned_on
    ]
    if turned_on:
        off = [section for _, section in access_points(world, slots) if section.get("disabled") == "1"]
        rows += [{"section": section[".name"], "disabled": "0"} for section in off]
    if not rows:
        raise Problem("wifi_is_on" if turned_on else "wifi_is_off")
    return rows


def guest_switched(world: World, slots: Slots) -> Rows:
    """Return what has to change so that the guest network is on or off. Raises: Problem when nothing has to."""
    turned_on = slots.get("switch") == "on"
    rows: list[Fields] = []
    for row in guest(world, slots):
        if bool(row["off"]) == turned_on:
            rows.append({"section": row["ap"], "disabled": "0" if turned_on else "1"})
        if turned_on and row["radio_off"] and row["radio"]:
            rows.append({"section": row["radio"], "disabled": "0"})
            rows += silenced(world, row["radio"], row["ap"])
    if not rows:
        raise Problem("guest_is_on" if turned_on else "guest_is_off")
    return rows


def silenced(world: World, radio: str, but: str = "") -> list[Fields]:
    """Return the networks of a sleeping radio that must stay off when the radio is woken for another one."""
    return [
        {"section": section[".name"], "disabled": "1"}
        for section in world.sections("wireless", "wifi-iface")
        if section.get("device") == radio and section.get("disabled") != "1" and section[".name"] != but
    ]


def open_when_on(world: World, slots: Slots) -> Rows:
    """Return the networks that anybody can join once Wi-Fi is turned on; for a warning."""
    pairs = access_points(world, slots) if slots.get("switch") == "on" else []
    return [{"ssid": section.get("ssid", "")} for _, section in pairs if section.get("encryption", "") in _OPEN]


def sleeping(world: World, slots: Slots) -> Rows:
    """Return the owner's networks that are off; for a note."""
    return [row for row in own(world, slots) if row["off"] or row["radio_off"]]


def _is_guest(section: Section) -> bool:
    networks = section.get("network", "")
    words = networks if isinstance(networks, list) else str(networks).split()
    return any("guest" in str(word).lower() for word in [*words, section[".name"]])


def _row(radio: Section, section: Section) -> AccessPoint:
    encryption = str(section.get("encryption", ""))
    return {
        "ap": str(section[".name"]),
        "radio": str(radio.get(".name", "")),
        "radio_off": "1" if radio.get("disabled") == "1" else "",
        "off": "1" if section.get("disabled") == "1" else "",
        "encryption": encryption,
        "new_encryption": new_encryption(encryption, band_of(radio)),
    }


def new_encryption(now: str, band: str) -> str:
    """Return the encryption a network needs for a password, "" when the present one takes passwords."""
    if now.startswith("owe"):
        return "sae-mixed"
    if now in _OPEN:
        return "sae" if band == "6g" else "psk2"  # 6 GHz allows WPA3 only
    return ""


def _need_password(row: AccessPoint) -> None:
    if not row["new_encryption"] and not row["encryption"].startswith(("psk", "sae")):
        raise Problem("enterprise", encryption=row["encryption"])


def channels(world: World, slots: Slots) -> Rows:
    """Return the radios that get another channel. Raises: Problem for a channel that the band has not."""
    channel = slots["channel"]
    chosen = radios(world, slots)
    if channel != "auto":
        fitting = [radio for radio in chosen if int(channel) in _CHANNELS.get(band_of(radio), ())]
        if not fitting or (slots.get("band", "both") != "both" and len(fitting) < len(chosen)):
            bands = [_BANDS.get(band_of(radio), "") for radio in chosen]
            raise Problem("no_channel", channel=channel, bands=bands)
        # 1 to 13 are channels of 6 GHz too: a bare number means the band that everybody has.
        lowest = min(band_of(radio) for radio in fitting)
        chosen = fitting if slots.get("band") else [radio for radio in fitting if band_of(radio) == lowest]
    return _changed(chosen, "channel", lambda radio: channel, Problem("channel_same", channel=channel))


def widths(world: World, slots: Slots) -> Rows:
    """Return the radios that get another width. Raises: Problem for one that the band has not."""
    width = int(slots["width"])
    chosen = radios(world, slots)
    fitting = [radio for radio in chosen if width <= _WIDEST.get(band_of(radio), 160)]
    if not fitting or (slots.get("band") and len(fitting) < len(chosen)):
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(chosen[0]), ""))
    return _changed(fitting, "htmode", lambda radio: _mode(radio, width), Problem("width_same", width=width))


def _mode(radio: Section, width: int) -> str:
    kind = re.match(r"[A-Z]+", str(radio.get("htmode", "")))
    family = kind.group() if kind and kind.group() in ("HT", "VHT", "HE", "EHT") else "HT"
    if family == "HT" and width > 40:
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(radio), ""))
    return f"{family}{width}"


def countries(world: World, slots: Slots) -> Rows:
    """Return the radios that get another country. Raises: Problem when all have it."""
    country = slots["country"]
    return _changed(radios(world, {}), "country", lambda radio: country, Problem("country_same", country=country))


def powers(world: World, slots: Slots) -> Rows:
    """Return the radios that get another power. Raises: Problem when all have it."""
    power = slots["power"]
    return _changed(radios(world, slots), "txpower", lambda radio: power, Problem("power_same", power=power))


def hidden(world: World, slots: Slots) -> Rows:
    """Return the networks whose name is to be hidden or shown. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "hidden", value, "is_hidden" if value == "1" else "is_visible")


def isolated(world: World, slots: Slots) -> Rows:
    """Return the networks whose clients are to be kept apart, or not. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "isolate", value, "is_isolated" if value == "1" else "is_not_isolated")


def encrypted(world: World, slots: Slots) -> Rows:
    """Return the networks that get another encryption.

    Raises: Problem where a password would be missing, where 6 GHz forbids it, and where they have it.
    """
    wanted = _ENCRYPTION[slots["encryption"]]
    rows = []
    for radio, section in _own(world, slots):
        now = str(section.get("encryption", "none"))
        if now.startswith(("wpa", "8021x")):
            raise Problem("enterprise", encryption=now)
        if wanted != "none" and not section.get("key"):
            raise Problem("needs_key", ssid=section.get("ssid", ""))
        if band_of(radio) == "6g" and wanted != "sae":
            raise Problem("six_needs_wpa3")
        if now.partition("+")[0] != wanted:
            rows.append({"ap": section[".name"], "value": wanted})
    if not rows:
        raise Problem("encryption_same")
    return rows


def opened(world: World, slots: Slots) -> Rows:
    """Return a row when anybody can join afterwards; for a warning."""
    return [{"ssid": ""}] if slots["encryption"] == "none" else []


def _own(world: World, slots: Slots) -> list[tuple[Section, Section]]:
    pairs = access_points(world, slots)
    if not pairs:
        raise Problem("no_access_point")
    return pairs


def _networks(world: World, slots: Slots, option: str, value: str, same: str) -> Rows:
    rows: list[Fields] = [
        {"ap": section[".name"], "value": value}
        for _, section in _own(world, slots)
        if str(section.get(option) or "0") != value
    ]
    if not rows:
        raise Problem(same)
    return rows


def _changed(chosen: list[Section], option: str, value: Callable[[Section], str], same: Problem) -> Rows:
    rows = [
        {"radio": radio[".name"], option: wanted, "band": band_of(radio)}
        for radio in chosen
        if radio.get(option) != (wanted := value(radio))
    ]
    if not rows:
        raise same
    return rows


_SECTIONS = (
    ("wireless", "guest"),
    ("wireless", "guest_2"),
    ("wireless", "guest_3"),
    ("dhcp", "guest"),
    ("firewall", "guest_dhcp"),
    ("firewall", "guest_dns"),
    ("firewall", "guest_wan"),
    ("firewall", "guest"),
    ("network", "guest"),
    ("network", "guest_bridge"),
)
_THIRD_BYTES = (3, 4, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 123, 150, 200)  # 192.168.x: away from what modems use


def new(world: World, slots: Slots) -> Rows:
    """Return the row of a new guest network. Raises: Problem when there is one or its names are in use."""
    present = [section for section in world.sections("wireless", "wifi-iface") if section[".name"] == "guest"]
    if present:
        raise Problem("guest_exists", ssid=present[0].get("ssid", ""))
    used = [".".join(pair) for pair in _existing(world)]
    zones = world.sections("firewall", "zone")
    if used or any(zone.get("name") == "guest" for zone in zones):
        raise Problem("guest_in_use", names=used or ["firewall zone guest"])
    chosen = _chosen(world, slots)
    return [{"ip": _free_address(world), "bridge": "1" if len(chosen) > 1 else "", "wan": wan_zone(world)}]


def guest_access_points(world: World, slots: Slots) -> Rows:
    """Return a row for each access point of the new guest network."""
    return [
        {
            "ap": "guest" if not at else f"guest_{at + 1}",
            "radio": radio[".name"],
            "encryption": new_encryption("none", band_of(radio)),
        }
        for at, radio in enumerate(_chosen(world, slots))
    ]


def woken(world: World, slots: Slots) -> Rows:
    """Return what has to change so that the radios send, and nothing that was silent begins to."""
    rows: list[Fields] = []
    for radio in _chosen(world, slots):
        if radio.get("disabled") == "1":
            rows.append({"section": radio[".name"], "disabled": "0"})
            rows += silenced(world, str(radio[".name"]))
    return rows


def wakes(world: World, slots: Slots) -> Rows:
    """Return a row when the owner's own Wi-Fi on the woken radio is kept off; for a note."""
    rows = woken(world, slots)
    return rows if any(row["disabled"] == "1" for row in rows) else []


def one_band(world: World, slots: Slots) -> Rows:
    """Return a row with the band when the router could send the guest network on more than one; for a note."""
    chosen = _chosen(world, slots)
    every = {band_of(radio) for radio in radios(world, {})}
    band = band_of(chosen[0])
    return [{"band": _BANDS.get(band, band)}] if len(chosen) == 1 and len(every) > 1 and not slots.get("band") else []


def left(world: World, slots: Slots) -> Rows:
    """Return every section of the guest network, to be deleted. Raises: Problem when there is none."""
    rows: list[Fields] = [{"package": package, "section": section} for package, section in _existing(world)]
    if not rows:
        raise Problem("no_guest")
    return rows


def _existing(world: World) -> list[tuple[str, str]]:
    return [(package, name) for package, name in _SECTIONS if name in world.facts.config(package)]


def _chosen(world: World, slots: Slots) -> list[Section]:
    # One radio needs no bridge. 2.4 GHz reaches farther and every device has it, so it is the first choice.
    found = radios(world, slots)
    if slots.get("band"):
        return found
    awake = [radio for radio in found if radio.get("disabled") != "1"] or found
    return sorted(awake, key=lambda radio: band_of(radio) != "2g")[:1]


def _free_address(world: World) -> str:
    taken = networks(world)
    for byte in _THIRD_BYTES:
        address = f"192.168.{byte}.1"
        if not any(overlaps(address, 24, other, prefix) for _, other, prefix in taken):
            return address
    raise Problem("no_free_network")
