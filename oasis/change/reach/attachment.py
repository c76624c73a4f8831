"""Where a peer is plugged in, and which interfaces it meets there: bridges, VLANs of bridges, VLAN devices, Wi-Fi.

Shape of a candidate, one place where the peer may be: {"kind": "port", "port", "tag" (0: none)} or {"kind": "network",
"name" of the interface, "wifi"?: its wifi-iface section}. Often the place is not known: then there is a candidate for
each port, and an answer that all of them share is sure. Source: netifd, bridge.c, vlandev.c, config.c.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Candidate, Config, Facts, Networks, Table, Tables

_VLAN_TYPES = ("8021q", "8021ad")
# A bridge on a VLAN of a bridge on a bond is what people build; more is a loop.
_DEPTH = 4


def candidates(config: Config, found: Networks, device: str, source: str, facts: Facts) -> list[Candidate]:
    """Return the places where the peer may be that reaches the router at `device` now."""
    names = [name for name, network in found.items() if network["device"] == device]
    port = facts.get("ports", {}).get(source, "")
    wifi = [one for name in names for one in _wifi(config, name)]
    if port:
        on_air = facts.get("wifi", {}).get(port, "")
        if on_air:
            return [one for one in wifi if one["wifi"][".name"] == on_air]
    wired = _ports(config.get("network", {}), device)
    if port and any(one["port"] == port for one in wired):
        return [one for one in wired if one["port"] == port]
    if port and not wired:
        return [{"kind": "port", "port": port, "tag": 0}]
    if all(found[name]["proto"] in ("static", "none", "dhcp", "dhcpv6") for name in names):
        return wired + wifi
    return [{"kind": "network", "name": name} for name in names]  # behind a tunnel or a modem


def _ports(package: Tables, device: str) -> list[Candidate]:
    """Return the ports from which frames come to a device."""
    ports = bridge_ports(package, device)
    if ports is not None:
        return [_port(package, port) for port in ports]
    lower, vid = vlan_of(package, device)
    if not vid:
        return [{"kind": "port", "port": device, "tag": 0}]
    if bridge_ports(package, lower) is None:
        return [{"kind": "port", "port": lower, "tag": vid}]
    vlans = _vlans(package, lower)
    if not vlans:
        return [{"kind": "port", "port": port, "tag": vid} for port in bridge_ports(package, lower) or []]
    members = vlans.get(vid, {"ports": {}})["ports"]
    return [
        {"kind": "port", "port": port, "tag": 0 if is_untagged else vid} for port, (is_untagged, _) in members.items()
    ]


def _port(package: Tables, name: str) -> Candidate:
    lower, vid = vlan_of(package, name)
    return {"kind": "port", "port": lower, "tag": vid}


def _wifi(config: Config, name: str) -> list[Candidate]:
    """Return the access points that lead into an interface and are on."""
    package = config.get("wireless", {})
    return [
        {"kind": "network", "name": name, "wifi": section}
        for section in sections.typed(package, "wifi-iface")
        if name in sections.texts(section, "network") and is_on_air(package, section)
    ]


def is_on_air(package: Tables, section: Table) -> bool:
    """Return whether an access point and its radio are switched on."""
    radio = package.get(sections.text(section, "device"))
    is_off = sections.flag(section, "disabled", False) or not sections.flag(section, "enable", True)
    return radio is not None and not is_off and not sections.flag(radio, "disabled", False)


def uplinks(package: Tables, port: str, tag: int, depth: int = _DEPTH) -> tuple[list[str], str]:
    """Return the devices at which frames of a port arrive, and why they do not when they stop on the way."""
    if not depth:
        return [], "the devices of network are nested too deep"
    off = _switched_off(package, port)
    if off:
        return [], off
    names = [port] if not tag else ["%s.%d" % (port, tag)]
    names += [name for name, lower, vid in _vlan_devices(package) if (lower, vid) == (port, tag) and tag]
    found, why = [], ""
    for bridge, section in _bridges(package):
        ports = sections.texts(section, "ports") or sections.texts(section, "ifname")
        is_whole = port in ports
        if not is_whole and not any(name in ports for name in names):
            continue
        device, why = _through(package, bridge, port if is_whole else names[0], tag if is_whole else 0)
        if device:
            for one in device:
                above, stopped = uplinks(package, *vlan_of(package, one), depth - 1)
                found += [one, *above]
                why = why or stopped
        return sorted(set(found)), why
    return [*names, *_stacked(package, names)], ""


def _stacked(package: Tables, names: list[str]) -> list[str]:
    """Return MAC VLANs, which see the same frames."""
    return [
        sections.text(section, "name")
        for section in sections.typed(package, "device")
        if sections.text(section, "type") == "macvlan" and sections.text(section, "ifname") in names
    ]


def _through(package: Tables, bridge: str, port: str, tag: int) -> tuple[list[str], str]:
    """Return the devices on a bridge at which frames of its port arrive; none, and why, when the bridge drops them."""
    off = _switched_off(package, bridge)
    vlans = _vlans(package, bridge)
    is_filtering = sections.flag(device_section(package, bridge), "vlan_filtering", False)
    if tag and is_filtering and not vlans:
        return [], "%s filters VLANs and knows none" % bridge
    if off or not vlans:
        names = [] if off else ["%s.%d" % (bridge, tag) if tag else bridge]
        names += [name for name, lower, vid in _vlan_devices(package) if tag and (lower, vid) == (bridge, tag)]
        return names, off
    vid = tag or _pvid(vlans, port)
    member = vlans.get(vid, {"ports": {}})["ports"].get(port)
    if member is None:
        return [], "port %s of %s is in no VLAN that takes its frames" % (port, bridge)
    if member[0] != (tag == 0):
        return [], "port %s of %s answers with%s a VLAN tag" % (port, bridge, "out" if member[0] else "")
    if not vlans[vid]["local"]:
        return [], "VLAN %d of %s does not reach the router itself" % (vid, bridge)
    names = ["%s.%d" % (bridge, vid), *("%s.%s" % (bridge, alias) for alias in vlans[vid]["alias"])]
    return names + [name for name, lower, number in _vlan_devices(package) if (lower, number) == (bridge, vid)], ""


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
    found = []
    for section in sections.typed(package, "device"):
        vid = sections.text(section, "vid")
        if sections.text(section, "type") in _VLAN_TYPES and vid.isdigit():
            found.append((sections.text(section, "name"), sections.text(section, "ifname"), int(vid)))
    return found


def _bridges(package: Tables) -> list[tuple[str, Table]]:
    """Return the bridges by name; an old form names them in the interface."""
    found = [
        (sections.text(section, "name"), section)
        for section in sections.typed(package, "device")
        if sections.text(section, "type") == "bridge"
    ]
    for section in sections.typed(package, "interface"):
        if sections.text(section, "type") == "bridge" and not sections.flag(section, "disabled", False):
            found.append(("br-%s" % section[".name"], section))
    return found


def bridge_ports(package: Tables, name: str) -> list[str] | None:
    """Return the ports of a bridge, None when there is no such bridge."""
    for bridge, section in _bridges(package):
        if bridge == name:
            return sections.texts(section, "ports") or sections.texts(section, "ifname")
    return None


def device_section(package: Tables, name: str) -> Table:
    """Return the section that describes a device, {} when none does."""
    for section in sections.typed(package, "device"):
        if sections.text(section, "name") == name:
            return section
    return {}


def is_switched_off(package: Tables, name: str) -> bool:
    """Return whether the section of a device says that it stays down."""
    section = device_section(package, name)
    return bool(section) and not sections.flag(section, "enabled", True)


def _switched_off(package: Tables, name: str) -> str:
    return "device %s is switched off" % name if is_switched_off(package, name) else ""


def _vlans(package: Tables, bridge: str) -> dict[int, Table]:
    """Return the VLANs of a filtering bridge: {VLAN: {"ports": {port: (untagged, is its PVID)}, "local", "alias"}}."""
    found: dict[int, Table] = {}
    for section in sections.typed(package, "bridge-vlan"):
        number = sections.text(section, "vlan")
        # netifd takes 010 for an octal number
        if (
            sections.text(section, "device") != bridge
            or not address_text.is_number(number, 1, 4094)
            or number[0] == "0"
        ):
            continue
        ports = {}
        for word in sections.texts(section, "ports"):
            name, _, flags = word.partition(":")
            ports[name] = ("t" not in flags, "*" in flags)
        found[int(number)] = {
            "ports": ports, "local": sections.flag(section, "local", True), "alias": sections.texts(section, "alias"),
        }  # fmt: skip
    return found


def _pvid(vlans: dict[int, Table], port: str) -> int:
    """Return the VLAN of a port's untagged frames: the one marked, else its first untagged one, 0 for none."""
    own = [(vid, vlans[vid]["ports"][port]) for vid in sorted(vlans) if port in vlans[vid]["ports"]]
    marked = [vid for vid, (_, is_pvid) in own if is_pvid]
    untagged = [vid for vid, (is_untagged, _) in own if is_untagged]
    return marked[-1] if marked else untagged[0] if untagged else 0
