"""Checks of the connection: is there a link, did the interface come up, has it an address, a route, a first hop?

A check is a generator over what it saw (scene.seen); it raises SkippedError when it cannot say anything.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.doctor import scene as sight
from oasis.doctor.scene import (
    PRIVATE,
    SHARED,
    Net,
    SkippedError,
    address_of,
    default_routes,
    digits,
    ip4,
    networks,
    seen,
    whole,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Entry, Found, Scene, Section, Sight

# netifd's own words in `errors`, and those of the protocol handlers that ship with OpenWrt.
_LOGIN = ("AUTH_FAILED", "AUTH_TOPEER_FAILED", "AUTHENTICATION_FAILED")
# Messages of pppd in the log that tell of a refused login.
_LOGIN_LOG = ("CHAP authentication failed", "PAP authentication failed", "AUTH failed")
_NO_LEASE_LOG = ("no lease, failing", "Sending discover", "broadcasting discover")
_NO_SESSION_LOG = "Timeout waiting for PADO"
# A plug that is pulled once or twice is somebody at work; more often in what the log holds, the cable is bad.
_FLAPS = 6
_FLAP_LOG = ("Link is Down", "link is down", "carrier lost", "link down")
_SLOW_MBIT, _FASTER = 100, ("1000", "2500", "5000", "10000")
_LINES = 3
_PING_S = 2
# PPPoE takes 8 bytes of 1500 (RFC 2516).
_PPPOE_MTU = 1492
# Neighbours are found by ARP here; other links end at the provider, whose first hop may never answer a ping.
_WITH_ARP = ("dhcp", "static")
# An address of these is of a network inside another one, and says nothing of what is in front.
_TUNNELS = ("wireguard", "amneziawg", "openvpn", "openconnect", "l2tp", "pptp", "sstp", "vpnc", "gre", "gretap", "ipip",
            "vti", "xfrm", "vxlan", "dslite", "map", "464xlat", "none", "unmanaged")  # fmt: skip
_LEAST_MTU = 1280  # what IPv6 needs (RFC 8200)


def carrier(scene: Scene) -> Found:
    """The port to the internet has no link."""
    for entry in scene.outside():
        if not entry.get("device"):
            continue
        device = scene.device(entry.get("device"))
        is_off = entry.get("autostart") is False  # reported by the check of the connection
        if device.get("carrier") is False and device.get("type") != "bridge" and not is_off:
            values = {"interface": entry["interface"], "device": entry["device"]}
            yield seen("wan-no-carrier", str(entry["interface"]), values, ["%(device)s: carrier is off" % values])


def duplex(scene: Scene) -> Found:
    """A port works at half duplex, or at 10 or 100 Mbit/s although it and its partner can do more."""
    for name, device in sorted(scene.ubus("network.device", "status").items()):
        if not isinstance(device, dict) or not device.get("carrier"):
            continue
        speed = str(device.get("speed", ""))
        evidence = ["%s: %s" % (name, speed)]
        if speed.endswith("H"):
            yield seen("half-duplex", name, {"device": name, "speed": speed[:-1]}, evidence)
        elif 0 < (digits(speed[:-1]) or 0) <= _SLOW_MBIT and all(
            any(mode.startswith(_FASTER) for mode in words(device.get(end)))
            for end in ("link-supported", "link-partner-advertising")
        ):  # both ends could do a gigabit: then the cable is what cannot
            yield seen("slow-link", name, {"device": name, "speed": speed[:-1]}, evidence)


def flapping(scene: Scene) -> Found:
    """The link of a port comes and goes."""
    counts: dict[str, list[str]] = {}
    known = scene.ubus("network.device", "status")
    for line in scene.log():
        if any(sign in line for sign in _FLAP_LOG):
            name = next((one for one in line.replace(":", " ").split() if one in known), "")
            counts.setdefault(name, []).append(line)
    for name, lines in sorted(counts.items()):
        if name and len(lines) >= _FLAPS:
            yield seen("link-flaps", name, {"device": name, "times": len(lines)}, lines[-_LINES:])


def down(scene: Scene) -> Found:
    """The interface to the internet is configured and not up."""
    if not scene.is_router():
        raise SkippedError("no interface leads out: this is an access point or a switch")
    entries = scene.outside()
    for entry in entries:
        is_plugged = scene.device(entry.get("device")).get("carrier") is not False
        if not entry.get("up") and (is_plugged or entry.get("autostart") is False):
            yield _why_down(scene, entry)
    if not entries:
        names = ", ".join(scene.outside_names())
        yield seen("wan-missing", "", {"names": names}, ["netifd lists no %s" % names])


def _why_down(scene: Scene, entry: Entry) -> Sight:
    name = str(entry["interface"])
    section: Section = scene.config("network").get(name, {})
    codes = [str(one.get("code", "")) for one in entry.get("errors", []) if isinstance(one, dict)]
    values = {"interface": name, "proto": entry.get("proto", ""), "device": entry.get("device", "")}
    evidence = ["interface %s: up is false" % name, *("netifd says %s" % code for code in codes)]
    path = "network." + name
    if entry.get("autostart") is False or str(section.get("auto", "1")) == "0":
        switch = ["uci delete %s.auto" % path] if section.get("auto") else []
        return seen("wan-off", name, values, evidence, switch)
    if "NO_DEVICE" in codes or entry.get("available") is False:
        return seen("wan-no-device", name, values, evidence)
    logged = _logged(scene, name, _LOGIN_LOG)
    if any(code in _LOGIN for code in codes) or (str(entry.get("proto")).startswith("ppp") and logged):
        return seen("wan-login", name, values, evidence + logged)
    if entry.get("proto") == "pppoe" and _logged(scene, name, (_NO_SESSION_LOG,)):
        return seen("wan-no-session", name, values, evidence + _logged(scene, name, (_NO_SESSION_LOG,)))
    if entry.get("proto") == "dhcp":
        return seen("wan-no-lease", name, values, evidence + _logged(scene, name, _NO_LEASE_LOG))
    return seen("wan-down", name, values, evidence)


def _logged(scene: Scene, name: str, signs: tuple[str, ...]) -> list[str]:
    lines = [line for line in scene.log() if any(sign in line for sign in signs)]
    about = [line for line in lines if name in words(line.replace(":", " ").replace("(", " ").replace(")", " "))]
    return (about or lines)[-_LINES:]


def address(scene: Scene) -> Found:
    """The interface to the internet is up and has no address of use."""
    for entry in scene.outside():
        if not entry.get("up") or entry.get("proto") in ("none", "unmanaged"):
            continue
        name, text = str(entry["interface"]), address_of(entry)
        found = ip4(text)
        if found is None and not scene.has_address(entry):
            yield seen("wan-no-address", name, {"interface": name}, ["%s: no address" % name])
        elif found is not None and found in sight.LINK_LOCAL:
            yield seen("wan-link-local", name, {"interface": name, "address": text}, ["%s: %s" % (name, text)])


def double_nat(scene: Scene) -> Found:
    """The address on the outside is a private one and masquerading is on: there is another router in front."""
    for entry in scene.outside():
        if entry.get("proto") in _TUNNELS or not default_routes(entry):
            continue
        text = address_of(entry)
        found = ip4(text)
        zone = scene.zone_of(entry["interface"])
        if found is None or zone is None or not sight.is_on(zone, "masq", False):
            continue
        values = {"interface": entry["interface"], "address": text}
        if found in SHARED:
            yield seen("carrier-nat", str(entry["interface"]), values, ["%(interface)s: %(address)s" % values])
        elif any(found in net for net in PRIVATE):
            yield seen("double-nat", str(entry["interface"]), values, ["%(interface)s: %(address)s" % values])


def same_network(scene: Scene) -> Found:
    """Two interfaces have overlapping networks, so the router does not know where an address is."""
    known = [
        (str(entry["interface"]), str(entry.get("l3_device") or entry.get("device")), net)
        for entry in scene.interfaces()
        for net in networks(entry)
        if net.bits < 32
    ]
    inside = [str(entry["interface"]) for entry in scene.inside()]
    for number, (name, device, net) in enumerate(known):
        for other, other_device, other_net in known[number + 1 :]:
            if device != other_device and net.overlaps(other_net):
                evidence = ["%s: %s" % (name, net), "%s: %s" % (other, other_net)]
                movable = next((one for one in (name, other) if one in inside), "")
                commands = _moved(scene, movable, [one for _, _, one in known]) if movable else []
                values = {"one": name, "other": other, "network": str(net)}
                yield seen("same-network", "%s-%s" % (name, other), values, evidence, commands)


def _moved(scene: Scene, interface: str, taken: list[Net]) -> list[str]:
    """Return commands that give an interface a network which nobody has, with the same last number."""
    section = scene.config("network").get(interface, {})
    own = ip4(section.get("ipaddr"))
    if own is None:
        return []
    for third in (*range(50, 255), *range(1, 50)):
        net = Net(0xC0A80000 + (third << 8), 24)
        if not any(net.overlaps(other) for other in taken):
            return [
                "uci set network.%s.ipaddr='%s'" % (interface, address_text.text_of(4, net.first + (own & 0xFF or 1)))
            ]
    return []


def route(scene: Scene) -> Found:
    """No way out, or two that are equally good."""
    up = [entry for entry in scene.outside() if entry.get("up") and address_of(entry)]
    if not up:
        raise SkippedError("no interface to the internet is up")
    ways = [(entry, one) for entry in up for one in default_routes(entry)]
    if not ways:
        names = ", ".join(str(entry["interface"]) for entry in up)
        commands = [
            "uci delete network.%s.defaultroute" % entry["interface"]
            for entry in up
            if str(scene.config("network").get(str(entry["interface"]), {}).get("defaultroute", "1")) == "0"
        ]
        yield seen("no-route", "", {"interfaces": names}, ["no default route on " + names], commands)
    metrics: dict[int, list[Entry]] = {}
    for entry, one in ways:
        metrics.setdefault(whole(one.get("metric"), whole(entry.get("metric"))), []).append(entry)
    for metric, entries in metrics.items():
        equal = [str(entry["interface"]) for entry in entries]
        if len(set(equal)) > 1 and not scene.config("mwan3"):
            values = {"interfaces": ", ".join(equal), "metric": metric}
            yield seen("equal-routes", "", values, ["%s: metric %d" % (name, metric) for name in equal])


def begin(scene: Scene) -> None:
    """Begin to ask what `gateway` wants to know."""
    for _, hop in _hops(scene):
        scene.begin("ping", hop, _PING_S)


def _hops(scene: Scene) -> list[tuple[str, str]]:
    """Return the first hops that can be asked, as (interface, address)."""
    found = []
    for entry in scene.outside():
        for one in default_routes(entry) if entry.get("up") else []:
            hop = str(one.get("nexthop", ""))
            if ip4(hop) not in (None, 0) and entry.get("proto") in _WITH_ARP:
                found.append((str(entry["interface"]), hop))
    return found


def gateway(scene: Scene) -> Found:
    """The first hop does not answer."""
    asked = False
    for interface, hop in _hops(scene):
        answers = scene.ask("ping", hop, _PING_S)
        asked = asked or answers is not None
        if answers is False and _is_unheard(scene, hop):
            evidence = ["ping %s: no answer" % hop, "%s is not in the neighbour table" % hop]
            yield seen("gateway-silent", hop, {"gateway": hop, "interface": interface}, evidence)
    if not asked:
        raise SkippedError("there is no gateway to ask, or no ping on this host")


def _is_unheard(scene: Scene, hop: str) -> bool:
    """Tell whether the neighbour table, after the ping, knows no hardware address of the hop: many refuse pings."""
    for line in scene.text("/proc/net/arp").split("\n")[1:]:
        fields = line.split()
        if len(fields) >= 4 and fields[0] == hop:
            return fields[2] == "0x0" or fields[3] == "00:00:00:00:00:00"
    return True


def mtu(scene: Scene) -> Found:
    """Packets of the usual size do not fit through the way out, and nobody tells the senders."""
    for entry in scene.outside():
        name = str(entry["interface"])
        zone = scene.zone_of(name)
        if not entry.get("up"):
            continue
        size = scene.device(entry.get("l3_device") or entry.get("device")).get("mtu")
        size = size if isinstance(size, int) and size > 0 else 1500
        below = scene.device(entry.get("device")).get("mtu")
        has_jumbo = isinstance(below, int) and below > 1500  # the port below PPPoE carries larger frames (RFC 4638)
        is_narrow = size < 1500 or str(entry.get("proto")).startswith(("ppp", "l2tp", "6in4"))
        values, evidence = {"interface": name, "mtu": size}, ["%s: mtu %d" % (name, size)]
        if size < _LEAST_MTU:
            yield seen("mtu-small", name, values, evidence)
        elif entry.get("proto") == "pppoe" and size > _PPPOE_MTU and not has_jumbo:
            is_set = scene.config("network").get(name, {}).get("mtu")
            yield seen("mtu-pppoe", name, values, evidence, ["uci delete network.%s.mtu" % name] if is_set else [])
        if zone and is_narrow and not sight.is_on(zone, "mtu_fix", False):
            path = sight.path_of("firewall", zone)
            more = {"zone": zone.get("name"), "interface": name}
            clamp = ["uci set %s.mtu_fix='1'" % path]
            yield seen("no-mtu-fix", name, more, ["%s: mtu_fix is off" % path, *evidence], clamp)


def fragments(scene: Scene) -> Found:
    """The router had to drop packets that were too large and might not be cut."""
    lines = [line.split() for line in scene.text("/proc/net/snmp").split("\n") if line.startswith("Ip:")]
    if len(lines) != 2 or "FragFails" not in lines[0]:
        raise SkippedError("the kernel does not tell")
    values = dict(zip(lines[0], lines[1], strict=False))
    failed, sent = int(values.get("FragFails", "0")), int(values.get("ForwDatagrams", "0"))
    # A few are how senders learn the size of the way; one in a hundred means that they do not learn it.
    if failed > 1000 and failed * 100 > sent:
        yield seen("too-large", "", {"failed": failed}, ["FragFails %d of %d forwarded" % (failed, sent)])
