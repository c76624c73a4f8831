"""Sets about what a router may have or not: names of its own, DHCP, IPv6, the clock, LEDs, and packages that are extra.

Every function takes the world and the slots and returns rows of fields for the command templates. Where a package is
missing the Problem says which one to install.
"""

from __future__ import annotations

from oasis.parts.offline.language.slots import Problem, host_label
from oasis.parts.offline.requests.addresses import mask, parse_ipv4, split_cidr
from oasis.parts.offline.requests.lan import check_inside, host_section, need, reference, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

    Section = dict[str, object]

_SLEEPING, _AWAKE = ("none", "0"), ("default-on", "1")
_DIALED = ("pppoe", "pppoa", "ppp")  # these ask for IPv6 by themselves


def _needs(world: World, package: str, kind: str, name: str) -> list[Section]:
    found = world.sections(package, kind)
    if not found:
        raise Problem("needs_package", package=name)
    return found


def _switch(world: World, slots: dict[str, object], section: Section, option: str, package: str) -> Rows:
    value = "1" if slots["switch"] == "on" else "0"
    if str(section.get(option) or "0") == value:
        raise Problem("is_on_already" if value == "1" else "is_off_already", what=package)
    return [{"section": reference(world, package, section), "value": value}]


def named_host(world: World, slots: dict[str, object]) -> Rows:
    """Return the section that names a device, its own or a new one. Raises: Problem."""
    device = slots["device"]
    name = host_label(str(slots["name"]))
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


def lease_time(world: World, slots: dict[str, object]) -> Rows:
    """Return the pool of the LAN with another time. Raises: Problem when it is too short or the same."""
    minutes = int(str(slots["duration"])[:-1])
    if minutes < 2:
        raise Problem("lease_short")  # dnsmasq takes no less
    text = f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
    section = _lan_pool(world)
    if section.get("leasetime") == text:
        raise Problem("is_so_already")
    return [{"pool": reference(world, "dhcp", section), "leasetime": text}]


def pool(world: World, slots: dict[str, object]) -> Rows:
    """Return the pool of the LAN with other addresses. Raises: Problem when they are not inside, or in no order."""
    lan = world.facts.config("network").get("lan", {})
    own = split_cidr((words(lan.get("ipaddr")) or [""])[0], (words(lan.get("netmask")) or [""])[0])
    if own is None:
        raise Problem("no_static_lan")
    numbers = []
    for name in ("from_ip", "to_ip"):
        check_inside(world, str(slots[name]))
        numbers.append((parse_ipv4(str(slots[name])) or 0) & ~mask(own[1]) & 0xFFFFFFFF)
    base = (parse_ipv4(own[0]) or 0) & mask(own[1])
    for name in ("from_ip", "to_ip"):
        if (parse_ipv4(str(slots[name])) or 0) & mask(own[1]) != base:
            raise Problem("not_in_lan", ip=slots[name], networks=[f"{own[0]}/{own[1]}"])
    if numbers[0] > numbers[1]:
        raise Problem("pool_backwards", first=slots["from_ip"], last=slots["to_ip"])
    section = _lan_pool(world)
    row = {"start": str(numbers[0]), "limit": str(numbers[1] - numbers[0] + 1)}
    if all(section.get(name) == value for name, value in row.items()):
        raise Problem("is_so_already")
    return [{"pool": reference(world, "dhcp", section), **row}]


def ipv6(world: World, slots: dict[str, object]) -> Rows:
    """Return what has to change so that IPv6 is used or not, to the internet and in the LAN. Raises: Problem."""
    turned_on = slots["switch"] == "on"
    rows: Rows = []
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


def upnp(world: World, slots: dict[str, object]) -> Rows:
    """Return the section of the UPnP service. Raises: Problem when it is not installed, or so already."""
    return _switch(world, slots, _needs(world, "upnpd", "upnpd", "miniupnpd-nftables")[0], "enabled", "upnpd")


def local_name(world: World, slots: dict[str, object]) -> Rows:
    """Return the section of a name in the own network. Raises: Problem when it is taken or the address strange."""
    device = slots.get("device")
    address = str(slots.get("ip") or (need(device, "ip") if device else ""))
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


def dns_blocked(world: World, slots: dict[str, object]) -> Rows:
    """Return the entry that makes a domain unknown. Raises: Problem when it is so."""
    section, entry = _resolver(world), f"/{slots['domain']}/"
    if entry in words(section.get("address")):
        raise Problem("domain_blocked", domain=slots["domain"])
    return [{"section": reference(world, "dhcp", section), "entry": entry}]


def dns_unblocked(world: World, slots: dict[str, object]) -> Rows:
    """Return the entry to take away. Raises: Problem when the domain is not blocked here."""
    section, entry = _resolver(world), f"/{slots['domain']}/"
    if entry not in words(section.get("address")):
        raise Problem("domain_not_blocked", domain=slots["domain"])
    return [{"section": reference(world, "dhcp", section), "entry": entry}]


def adblock(world: World, slots: dict[str, object]) -> Rows:
    """Return the section of adblock. Raises: Problem when it is not installed, or so already."""
    section = _needs(world, "adblock", "adblock", "adblock")[0]
    return _switch(world, slots, section, "adb_enabled", "adblock") if "switch" in slots else []


def _tunnels(world: World) -> list[Section]:
    found = [one for one in world.sections("network", "interface") if one.get("proto") in ("wireguard", "openvpn")]
    if not found:
        raise Problem("no_vpn")
    return found


def vpn_there(world: World, slots: dict[str, object]) -> Rows:
    """Return nothing. Raises: Problem when there is no tunnel that could get a peer."""
    _tunnels(world)
    return []


def vpn(world: World, slots: dict[str, object]) -> Rows:
    """Return the tunnels to switch. Raises: Problem when there is none, or all are so."""
    value = "0" if slots["switch"] == "on" else "1"
    rows: Rows = [
        {"section": one[".name"], "value": value} for one in _tunnels(world) if str(one.get("disabled") or "0") != value
    ]
    if not rows:
        raise Problem("is_on_already" if value == "0" else "is_off_already", what="VPN")
    return rows


def peer(world: World, slots: dict[str, object]) -> Rows:
    """Return the sections of a peer, last first, to be deleted. Raises: Problem when there is none of that name."""
    wanted, names = str(slots["name"]).casefold(), []
    found: Rows = []
    for tunnel in _tunnels(world):
        for section in world.sections("network", f"wireguard_{tunnel['.name']}"):
            names.append(str(section.get("description") or section[".name"]))
            if names[-1].casefold() == wanted:
                found.append({"section": reference(world, "network", section)})
    if not found:
        raise Problem("peer_unknown", value=slots["name"], choices=names)
    return found[::-1]


def qos(world: World, slots: dict[str, object]) -> Rows:
    """Return the queue of SQM to limit. Raises: Problem when it is not installed."""
    section = _needs(world, "sqm", "queue", "sqm-scripts")[0]
    wake = "" if section.get("enabled") == "1" else "1"
    return [{"section": reference(world, "sqm", section), "wake": wake}]


def qos_switched(world: World, slots: dict[str, object]) -> Rows:
    """Return the queue of SQM to switch. Raises: Problem when it is not installed, or so already."""
    return _switch(world, slots, _needs(world, "sqm", "queue", "sqm-scripts")[0], "enabled", "sqm")


def ntp(world: World, slots: dict[str, object]) -> Rows:
    """Return whether other time servers have to go first. Raises: Problem when it is the only one already."""
    present = words(world.facts.config("system").get("ntp", {}).get("server"))
    if present == [slots["host"]]:
        raise Problem("is_so_already")
    if "ntp" not in world.facts.config("system"):
        raise Problem("no_ntp")
    return [{"clear": "1" if present else ""}]


def ntp_switched(world: World, slots: dict[str, object]) -> Rows:
    """Return whether the time is to be fetched. Raises: Problem when it is so."""
    section = world.facts.config("system").get("ntp")
    if section is None:
        raise Problem("no_ntp")
    value = "1" if slots["switch"] == "on" else "0"
    if str(section.get("enabled") or "1") == value:
        raise Problem("is_on_already" if value == "1" else "is_off_already", what="NTP")
    return [{"value": value}]


def leds(world: World, slots: dict[str, object]) -> Rows:
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
