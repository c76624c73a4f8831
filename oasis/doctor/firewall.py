"""Checks of zones, masquerading, port forwards and what is open to the internet."""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.core import clean
from oasis.doctor.scene import SHARED, Net, SkippedError, digits, ip4, networks, seen
from oasis.uci.model import flag, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Found, Scene, Section, Values

# What manages the router, by port: to be open to everybody is how routers are taken over.
_MANAGEMENT = {22: "SSH", 23: "Telnet", 80: "the web page", 443: "the web page", 161: "SNMP", 8080: "the web page"}
# What answers everybody and is misused against others when it does.
_MISUSED = {53: "DNS", 123: "NTP", 1900: "UPnP", 5351: "port mapping"}
# By which protocol they are reached where that is not TCP alone: a VPN may well listen on UDP port 443.
_SPOKEN = {161: {"udp"}, 53: {"tcp", "udp"}, 123: {"udp"}, 1900: {"udp"}, 5351: {"udp"}}


def _outside_zones(scene: Scene) -> list[Section]:
    names = scene.outside_names
    return [zone for zone in scene.zones if any(name in names for name in words(zone.get("network")))]


def _needs_firewall(scene: Scene) -> None:
    if not scene.zones:
        raise SkippedError("there is no firewall configuration")


def masquerade(scene: Scene) -> Found:
    """Private addresses go out as they are, so nothing comes back."""
    _needs_firewall(scene)
    for entry in scene.outside:
        zone = scene.zone_of(entry["interface"])
        text = entry["address"]
        if zone is None or not entry.get("up") or not text or flag(zone, "masq", False):
            continue
        if any(address_text.is_private4(net.first) or net.first in SHARED for net in scene.home):
            values = {"zone": zone.get("name"), "interface": entry["interface"]}
            path = scene.path("firewall", zone)
            commands = ["uci set %s.masq='1'" % path, "uci set %s.mtu_fix='1'" % path]
            yield seen("no-masquerade", str(zone.get("name")), values, ["%s: masq is off" % path], commands)


def forwarding(scene: Scene) -> Found:
    """The home network may not go out."""
    _needs_firewall(scene)
    outside_zones = _outside_zones(scene)
    outside = [str(zone.get("name")) for zone in outside_zones]
    allowed = {(str(one.get("src")), str(one.get("dest"))) for one in scene.sections("firewall", "forwarding")
               if flag(one, "enabled", True)}  # fmt: skip
    allowed |= {(str(one.get("src")), str(one.get("dest"))) for one in scene.sections("firewall", "rule")
                if flag(one, "enabled", True) and str(one.get("target")).upper() == "ACCEPT"
                and not one.get("dest_port") and not _is_narrowed(one)}  # fmt: skip
    for zone in scene.zones if outside else []:
        name = str(zone.get("name"))
        is_allowed = any((name, other) in allowed for other in (*outside, "*"))
        if zone in outside_zones or "lan" not in words(zone.get("network")) or is_allowed:
            continue
        evidence = ["no forwarding from %s to %s" % (name, " or ".join(outside))]
        commands = ["uci add firewall forwarding", "uci set firewall.@forwarding[-1].src='%s'" % name,
                    "uci set firewall.@forwarding[-1].dest='%s'" % outside[0]]  # fmt: skip
        yield seen("no-forwarding", name, {"zone": name, "outside": outside[0]}, evidence, commands)


def zones(scene: Scene) -> Found:
    """Interfaces in no zone, or in two; zones that name an interface which is not there."""
    _needs_firewall(scene)
    interfaces = {name for name, one in scene.config("network").items() if one.get(".type") == "interface"}
    live = scene.live
    added = {one["interface"] for one in live if one.get("dynamic")}  # by netifd, as wan_4 of a mobile modem
    held: dict[str, list[str]] = {}
    for zone in scene.zones:
        for name in words(zone.get("network")):
            held.setdefault(name, []).append(str(zone.get("name")))
    for name in sorted(interfaces - {"loopback"}):
        section = scene.config("network")[name]
        devices = {str(one.get("l3_device")) for one in live if one["interface"] == name}
        devices |= {name, str(section.get("device"))}
        by_device = any(devices & set(words(zone.get("device"))) for zone in scene.zones)
        if name not in held and not by_device and section.get("proto", "none") != "none":
            yield seen("no-zone", name, {"interface": name}, ["no zone has network %s" % name])
    for name, names in sorted(held.items()):
        if len(names) > 1:
            yield seen("two-zones", name, {"interface": name, "zones": ", ".join(names)},
                       ["%s is in %s" % (name, ", ".join(names))])  # fmt: skip
        elif name not in interfaces | added and not name.startswith("wan6"):
            yield seen("zone-of-nothing", name, {"interface": name, "zone": names[0]},
                       ["network has no interface %s" % name])  # fmt: skip


def forwards(scene: Scene) -> Found:
    """Port forwards that the firewall leaves out, or that lead nowhere."""
    names = {str(zone.get("name")) for zone in scene.zones}
    first: dict[tuple[str, str, str], str] = {}
    for redirect in scene.sections("firewall", "redirect"):
        if not flag(redirect, "enabled", True) or str(redirect.get("target", "DNAT")).upper() != "DNAT":
            continue
        path = scene.path("firewall", redirect)
        values: dict[str, object] = {"name": clean.name(redirect.get("name")) or path}
        source, target = str(redirect.get("src") or ""), str(redirect.get("dest") or "")
        address, family = str(redirect.get("dest_ip") or ""), str(redirect.get("family") or "any").lower()
        to_address = {**values, "address": address}
        # What fw4 skips with a warning nobody reads.
        if not source:
            yield seen("forward-no-source", path, values, ["%s: no src" % path], ["uci set %s.src='wan'" % path])
        for zone, option, subject in ((source, "src", path), (target, "dest", path + "-dest")):
            if zone and zone not in names:
                evidence = ["%s.%s: %s" % (path, option, zone)]
                yield seen("forward-unknown-zone", subject, {**values, "zone": zone}, evidence)
        found = address_text.number(address.partition("/")[0]) if address else None
        if found and family in ("ipv4", "ipv6") and family != "ipv%d" % found[0]:
            evidence = ["%s: family %s, dest_ip %s" % (path, family, address)]
            yield seen("forward-family", path, {**to_address, "family": family}, evidence,
                       ["uci delete %s.family" % path])  # fmt: skip
        # What leads nowhere.
        nets = scene.home
        number = ip4(address) if nets else None
        has_own = address in [entry["address"] for entry in scene.inside]
        is_fixed = has_own or any(str(host.get("ip")) == address for host in scene.sections("dhcp", "host"))
        held: Values = next((lease for lease in scene.leases if lease["ip"] == address), {})
        if number is not None and not any(number in net for net in (*nets, *_behind(scene))):
            evidence = ["%s.dest_ip: %s" % (path, address), "networks: " + ", ".join(map(str, nets))]
            yield seen("forward-outside", path, to_address, evidence)
        elif number is not None and not is_fixed and int(str(held.get("expires_unix_s", 0))):
            evidence = ["%s has %s by a lease that ends" % (held["mac"], address)]
            commands = ["uci add dhcp host", "uci set dhcp.@host[-1].mac='%s'" % held["mac"],
                        "uci set dhcp.@host[-1].ip='%s'" % address]  # fmt: skip
            yield seen("forward-not-fixed", path, to_address, evidence, commands)
        for protocol in _protocols(redirect):
            key = (source, protocol, str(redirect.get("src_dport", "")))
            if key in first and key[2]:
                more = {**values, "other": first[key], "port": key[2]}
                yield seen("forward-twice", path, more, ["%s and %s: %s port %s" % (first[key], path, *key[1:])])
            first.setdefault(key, path)


def _protocols(section: Section) -> list[str]:
    given = [one for word in words(section.get("proto")) for one in word.lower().split(",")] or ["tcpudp"]
    return ["tcp", "udp"] if set(given) & {"tcpudp", "all", "any", "*"} else given


def _behind(scene: Scene) -> list[Net]:
    """Return the networks that are reached without being ours: of tunnels, and by routes."""
    entries = [one for one in scene.interfaces if one["interface"] not in scene.outside_names]
    routes = [{"address": one.get("target"), "mask": one.get("mask")} for entry in entries for one in entry["route"]]
    for section in scene.sections("network", "route"):
        target, _, bits = str(section.get("target") or "").partition("/")
        given, mask = digits(bits), ip4(section.get("netmask"))
        if given is None:
            given = 32 if mask is None else bin(mask).count("1")
        routes.append({"address": target, "mask": given})
    found = [net for entry in entries for net in entry["networks"]]
    return found + [net for net in networks(routes) if net.bits]


def open_zone(scene: Scene) -> Found:
    """Everything of the router is open to the internet."""
    ways = [one["interface"] for one in scene.outside if one["ways"]]
    for zone in _outside_zones(scene):
        # A zone of tunnels masquerades as well; from the internet comes what has a way out, or is called so.
        if not any(name in ways or name.startswith("wan") for name in words(zone.get("network"))):
            continue
        default = (scene.sections("firewall", "defaults") or [{}])[0].get("input", "DROP")
        if str(zone.get("input") or default).upper() == "ACCEPT":
            path = scene.path("firewall", zone)
            evidence = ["%s.input: %s" % (path, zone.get("input") or default)]
            yield seen("open-to-all", str(zone.get("name")), {"zone": zone.get("name")}, evidence,
                       ["uci set %s.input='REJECT'" % path])  # fmt: skip


def open_ports(scene: Scene) -> Found:
    """Rules that open services of the router itself to the internet."""
    outside = [str(zone.get("name")) for zone in _outside_zones(scene)]
    for rule in scene.sections("firewall", "rule"):
        protocols, ranges = _protocols(rule), words(rule.get("dest_port"))
        is_open = str(rule.get("target", "")).upper() == "ACCEPT" and flag(rule, "enabled", True)
        if not is_open or rule.get("src") not in (*outside, "*") or rule.get("dest") or _is_narrowed(rule):
            continue
        if not set(protocols) & {"tcp", "udp"}:
            continue
        kinds = {"tcp", "udp"} if set(protocols) - {"tcp", "udp"} else set(protocols)
        ports = [port for port in (*_MANAGEMENT, *_MISUSED) if kinds & _SPOKEN.get(port, {"tcp"})]
        if ranges:
            ports = [port for port in ports if any(_holds(one, port) for one in ranges)]
        if not ports:
            continue
        path = scene.path("firewall", rule)
        evidence = ["%s: %s from %s, port %s" % (path, "/".join(protocols), rule["src"], " ".join(ranges) or "any")]
        key = "open-management" if any(port in _MANAGEMENT for port in ports) else "open-service"
        services = sorted({_MANAGEMENT.get(port) or _MISUSED[port] for port in ports})
        values = {"name": clean.name(rule.get("name")) or path, "services": ", ".join(services)}
        yield seen(key, path, values, evidence, ["uci set %s.enabled='0'" % path])


def _holds(ports: str, port: int) -> bool:
    first, _, last = ports.replace(":", "-").partition("-")
    low, high = digits(first), digits(last or first)
    return low is not None and high is not None and low <= port <= high


def _is_narrowed(rule: Section) -> bool:
    """Tell whether a rule is for chosen senders only."""
    return any(rule.get(option) for option in ("src_ip", "src_mac", "ipset"))
