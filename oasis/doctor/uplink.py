"""Checks of the connection: is there a link, did the interface come up, has it an address, a route, a first hop? And of
names: dnsmasq and its servers.

A check is a generator over what it saw (scene.seen); it raises SkippedError when it cannot say anything.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.core import clean
from oasis.doctor.scene import LINK_LOCAL, SHARED, SkippedError, digits, ip4, seen, whole
from oasis.uci.model import flag, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Entry, Found, Scene, Section

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
# OpenWrt's own name: asked for by every router that looks for updates, so it reveals nothing new.
ASKED = "downloads.openwrt.org"
_LOOKUP_S = 2
_REBIND_LOG = "possible DNS-rebind attack detected"
_BUSY_LOG = "Maximum number of concurrent DNS queries reached"


def carrier(scene: Scene) -> Found:
    """The port to the internet has no link."""
    for entry in scene.outside:
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
    for line in scene.log:
        if any(sign in line for sign in _FLAP_LOG):
            name = next((one for one in line.replace(":", " ").split() if one in known), "")
            counts.setdefault(name, []).append(line)
    for name, lines in sorted(counts.items()):
        if name and len(lines) >= _FLAPS:
            yield seen("link-flaps", name, {"device": name, "times": len(lines)}, lines[-_LINES:])


def down(scene: Scene) -> Found:
    """The interface to the internet is configured and not up."""
    if not scene.is_router:
        raise SkippedError("no interface leads out: this is an access point or a switch")
    entries = scene.outside
    for entry in entries:
        is_off = entry.get("autostart") is False
        if entry.get("up") or (not is_off and scene.device(entry.get("device")).get("carrier") is False):
            continue
        name, proto = str(entry["interface"]), str(entry.get("proto", ""))
        section: Section = scene.config("network").get(name, {})
        codes = [str(one.get("code", "")) for one in entry["errors"]]
        values = {"interface": name, "proto": proto, "device": entry.get("device", "")}
        evidence = ["interface %s: up is false" % name, *("netifd says %s" % code for code in codes)]
        refused, unanswered = _logged(scene, name, _LOGIN_LOG), _logged(scene, name, (_NO_SESSION_LOG,))
        if is_off or str(section.get("auto", "1")) == "0":
            switch = ["uci delete network.%s.auto" % name] if section.get("auto") else []
            yield seen("wan-off", name, values, evidence, switch)
        elif "NO_DEVICE" in codes or entry.get("available") is False:
            yield seen("wan-no-device", name, values, evidence)
        elif any(code in _LOGIN for code in codes) or (proto.startswith("ppp") and refused):
            yield seen("wan-login", name, values, evidence + refused)
        elif proto == "pppoe" and unanswered:
            yield seen("wan-no-session", name, values, evidence + unanswered)
        elif proto == "dhcp":
            yield seen("wan-no-lease", name, values, evidence + _logged(scene, name, _NO_LEASE_LOG))
        else:
            yield seen("wan-down", name, values, evidence)
    if not entries:
        names = ", ".join(scene.outside_names)
        yield seen("wan-missing", "", {"names": names}, ["netifd lists no %s" % names])


def _logged(scene: Scene, name: str, signs: tuple[str, ...]) -> list[str]:
    lines = [line for line in scene.log if any(sign in line for sign in signs)]
    about = [line for line in lines if name in words(line.replace(":", " ").replace("(", " ").replace(")", " "))]
    return (about or lines)[-_LINES:]


def address(scene: Scene) -> Found:
    """The interface to the internet is up and has no address of use."""
    for entry in scene.outside:
        if not entry.get("up") or entry.get("proto") in ("none", "unmanaged"):
            continue
        name, text = str(entry["interface"]), entry["address"]
        found = ip4(text)
        # An interface that netifd added to the same connection may have it.
        same = [one for one in scene.live if one is entry or one["interface"] in (name + "_4", name + "_6")]
        has_any = any(one[key] for one in same for key in ("ipv4-address", "ipv6-address", "ipv6-prefix"))
        if found is None and not has_any:
            yield seen("wan-no-address", name, {"interface": name}, ["%s: no address" % name])
        elif found is not None and found in LINK_LOCAL:
            yield seen("wan-link-local", name, {"interface": name, "address": text}, ["%s: %s" % (name, text)])


def double_nat(scene: Scene) -> Found:
    """The address on the outside is a private one and masquerading is on: there is another router in front."""
    for entry in scene.outside:
        if entry.get("proto") in _TUNNELS or not entry["ways"]:
            continue
        text = entry["address"]
        found = ip4(text)
        zone = scene.zone_of(entry["interface"])
        if found is None or zone is None or not flag(zone, "masq", False):
            continue
        values = {"interface": entry["interface"], "address": text}
        if found in SHARED or address_text.is_private4(found):
            key = "carrier-nat" if found in SHARED else "double-nat"
            yield seen(key, str(entry["interface"]), values, ["%(interface)s: %(address)s" % values])


def route(scene: Scene) -> Found:
    """No way out, or two that are equally good."""
    up = [entry for entry in scene.outside if entry.get("up") and entry["address"]]
    if not up:
        raise SkippedError("no interface to the internet is up")
    ways = [(entry, one) for entry in up for one in entry["ways"]]
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


def hops(scene: Scene) -> Found:
    """The first hop is not in the network of the address."""
    for interface, hop in _hops(scene):
        nets = [net for entry in scene.outside if entry["interface"] == interface for net in entry["networks"]]
        # With a single address the provider sends a route to the hop itself (on-link).
        if nets and all(net.bits < 32 for net in nets) and not any(ip4(hop) in net for net in nets):
            values = {"interface": interface, "gateway": hop, "networks": ", ".join(map(str, nets))}
            yield seen(
                "gateway-outside", interface, values, ["%(interface)s: %(networks)s, way by %(gateway)s" % values]
            )


def begin(scene: Scene) -> None:
    """Begin to ask what `gateway` and `answers` want to know."""
    for _, hop in _hops(scene):
        scene.begin("ping", hop, _PING_S)
    for server in ("127.0.0.1", *_asked(scene)) if scene.is_router else ():
        scene.begin("lookup", ASKED, server, _LOOKUP_S)


def _hops(scene: Scene) -> list[tuple[str, str]]:
    """Return the first hops that can be asked, as (interface, address)."""
    found = []
    for entry in scene.outside:
        for one in entry["ways"] if entry.get("up") else []:
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
        if answers is not False:
            continue
        # Many refuse pings: it is gone when the neighbour table knows no hardware address of it even after one.
        arp = [line.split() for line in scene.text("/proc/net/arp").split("\n")[1:]]
        heard = [one for one in arp if len(one) >= 4 and one[0] == hop][:1]
        if all(one[2] == "0x0" or one[3] == "00:00:00:00:00:00" for one in heard):
            evidence = ["ping %s: no answer" % hop, "%s is not in the neighbour table" % hop]
            yield seen("gateway-silent", hop, {"gateway": hop, "interface": interface}, evidence)
    if not asked:
        raise SkippedError("there is no gateway to ask, or no ping on this host")


def mtu(scene: Scene) -> Found:
    """Packets of the usual size do not fit through the way out, and nobody tells the senders."""
    for entry in scene.outside:
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
        if zone and is_narrow and not flag(zone, "mtu_fix", False):
            path = scene.path("firewall", zone)
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


def servers(scene: Scene) -> Found:
    """Nobody to ask for names."""
    if not scene.is_router or not any(entry.get("up") for entry in scene.outside):
        raise SkippedError("the router is not connected to the internet")
    if not _upstream(scene):
        yield seen("no-dns-servers", "", {}, ["no server in resolv.conf.auto, and none in dhcp"])


def _upstream(scene: Scene) -> list[str]:
    found = []
    for section in scene.sections("dhcp", "dnsmasq"):
        found += [one for one in words(section.get("server")) if not one.startswith("/")]
        path = str(section.get("resolvfile") or "/tmp/resolv.conf.d/resolv.conf.auto")  # noqa: S108 - dnsmasq's own
        if not flag(section, "noresolv", False):
            lines = [line.split() for line in scene.text(path).split("\n")]
            found += [line[1] for line in lines if len(line) > 1 and line[0] == "nameserver"]
    for entry in scene.outside:
        found += [str(one) for one in entry.get("dns-server", [])]
    return list(dict.fromkeys(found))


def _asked(scene: Scene) -> list[str]:
    return [one for one in _upstream(scene) if ip4(one) is not None][:2]


def answers(scene: Scene) -> Found:
    """A name is not found: by the router's own resolver, or by none of the servers either."""
    if not scene.is_router:
        raise SkippedError("no interface leads out")
    own = scene.ask("lookup", ASKED, "127.0.0.1", _LOOKUP_S)
    if own is None:
        raise SkippedError("there is no nslookup on this host")
    if not _upstream(scene):  # what the resolver still answers comes from its memory
        raise SkippedError("there is no name server to ask")
    if own:
        return
    others = [(one, scene.ask("lookup", ASKED, one, _LOOKUP_S)) for one in _asked(scene)]
    evidence = ["nslookup %s 127.0.0.1: no answer" % ASKED]
    evidence += ["nslookup %s %s: %s" % (ASKED, one, "answers" if said else "no answer") for one, said in others]
    if any(said for _, said in others):
        yield seen("dns-own-silent", "", {}, evidence)
    else:
        asked = [one for one, _ in others] or _upstream(scene)[:2]
        yield seen("dns-silent", "", {"servers": ", ".join(asked)}, evidence)


def rebind(scene: Scene) -> Found:
    """dnsmasq threw away answers with private addresses."""
    lines = [line for line in scene.log if _REBIND_LOG in line]
    names = sorted({clean.name(line.rpartition(" ")[2]) for line in lines} - {""})
    if names:
        yield seen("dns-rebind", "", {"names": ", ".join(names[:_LINES])}, lines[-_LINES:])


def busy(scene: Scene) -> Found:
    """dnsmasq has more open questions than it takes."""
    lines = [line for line in scene.log if _BUSY_LOG in line]
    if lines:
        yield seen("dns-busy", "", {"times": len(lines)}, lines[-_LINES:])
