"""Checks of name resolution and address assignment: dnsmasq, its servers, its leases."""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.core import clean
from oasis.doctor import scene as sight
from oasis.doctor.scene import SkippedError, digits, ip4, networks, seen, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Found, Scene, Section

# OpenWrt's own name: asked for by every router that looks for updates, so it reveals nothing new.
ASKED = "downloads.openwrt.org"
_LOOKUP_S = 2
_REBIND_LOG = "possible DNS-rebind attack detected"
_BUSY_LOG = "Maximum number of concurrent DNS queries reached"
_LINES = 3


def servers(scene: Scene) -> Found:
    """Nobody to ask for names."""
    if not scene.is_router() or not any(entry.get("up") for entry in scene.outside()):
        raise SkippedError("the router is not connected to the internet")
    known = _upstream(scene)
    if not known:
        yield seen("no-dns-servers", "", {}, ["no server in resolv.conf.auto, and none in dhcp"])


def _upstream(scene: Scene) -> list[str]:
    found = []
    for section in scene.sections("dhcp", "dnsmasq"):
        found += [one for one in words(section.get("server")) if not one.startswith("/")]
        path = str(section.get("resolvfile") or "/tmp/resolv.conf.d/resolv.conf.auto")  # noqa: S108 - dnsmasq's own
        if not sight.is_on(section, "noresolv", False):
            lines = [line.split() for line in scene.text(path).split("\n")]
            found += [line[1] for line in lines if len(line) > 1 and line[0] == "nameserver"]
    for entry in scene.outside():
        found += [str(one) for one in entry.get("dns-server", [])]
    return list(dict.fromkeys(found))


def begin(scene: Scene) -> None:
    """Begin to ask what `answers` wants to know."""
    if scene.is_router():
        for server in ("127.0.0.1", *_asked(scene)):
            scene.begin("lookup", ASKED, server, _LOOKUP_S)


def _asked(scene: Scene) -> list[str]:
    return [one for one in _upstream(scene) if ip4(one) is not None][:2]


def answers(scene: Scene) -> Found:
    """A name is not found: by the router's own resolver, or by none of the servers either."""
    if not scene.is_router():
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
        yield seen(
            "dns-silent", "", {"servers": ", ".join([one for one, _ in others] or _upstream(scene)[:2])}, evidence
        )


def rebind(scene: Scene) -> Found:
    """dnsmasq threw away answers with private addresses."""
    lines = [line for line in scene.log() if _REBIND_LOG in line]
    names = sorted({clean.name(line.rpartition(" ")[2]) for line in lines} - {""})
    if names:
        yield seen("dns-rebind", "", {"names": ", ".join(names[:_LINES])}, lines[-_LINES:])


def busy(scene: Scene) -> Found:
    """dnsmasq has more open questions than it takes."""
    lines = [line for line in scene.log() if _BUSY_LOG in line]
    if lines:
        yield seen("dns-busy", "", {"times": len(lines)}, lines[-_LINES:])


def pool(scene: Scene) -> Found:
    """The addresses to be given out do not fit into the network, or are used up."""
    for entry in scene.inside():
        section = _pool_of(scene, str(entry["interface"]))
        nets = networks(entry)
        if section is None or not nets or sight.is_on(section, "ignore", False):
            continue
        start, limit = _number(section, "start", 100), _number(section, "limit", 150)
        path = sight.path_of("dhcp", section)
        size = (1 << (32 - nets[0].bits)) - 2
        values = {"interface": entry["interface"], "start": start, "limit": limit, "network": str(nets[0])}
        if start < 1 or start > size:
            yield seen("pool-outside", path, values, ["%s: start %d, network %s" % (path, start, nets[0])])
            continue
        first, room = nets[0].first + start, min(limit, size - start + 1)
        fixed = {str(one.get("ip")) for one in scene.sections("dhcp", "host")}
        held = [ip4(lease["ip"]) for lease in scene.leases() if lease["ip"] not in fixed]
        taken = sum(1 for one in held if one is not None and first <= one < first + room)
        if taken >= room:
            room = min(size - start + 1, 2 * limit)
            commands = ["uci set %s.limit='%d'" % (path, room)] if room > limit else []
            yield seen("pool-empty", path, values, ["%d leases, limit %d" % (taken, limit)], commands)


def _pool_of(scene: Scene, interface: str) -> Section | None:
    return next((one for one in scene.sections("dhcp", "dhcp") if one.get("interface") == interface), None)


def _number(section: Section, option: str, default: int) -> int:
    found = digits(str(section.get(option, default)))
    return default if found is None else found


def no_server(scene: Scene) -> Found:
    """The home network gets no addresses from this router."""
    for entry in scene.inside() if scene.is_router() else []:
        name = str(entry["interface"])
        section = _pool_of(scene, name)
        if scene.zone_of(name) is None or not entry.get("up") or name != "lan":
            continue
        if section is None or sight.is_on(section, "ignore", False):
            commands = ["uci delete %s.ignore" % sight.path_of("dhcp", section)] if section else []
            what = "%s: ignore is set" % sight.path_of("dhcp", section) if section else "dhcp: nothing about %s" % name
            yield seen("no-dhcp-server", name, {"interface": name}, [what], commands)


def reservations(scene: Scene) -> Found:
    """Fixed leases that collide with each other, with the router, or with the network."""
    nets = [net for entry in scene.inside() for net in networks(entry)]
    own = {sight.address_of(entry) for entry in scene.inside()} - {""}
    first: dict[str, Section] = {}
    for host in scene.sections("dhcp", "host"):
        address, path = str(host.get("ip") or ""), sight.path_of("dhcp", host)
        if not address_text.is_ip4(address):
            continue
        values = {"address": address, "name": clean.name(host.get("name")) or path}
        if address in own:
            yield seen("lease-of-router", path, values, ["%s.ip: %s" % (path, address)], ["uci delete %s.ip" % path])
        elif address in first:
            other = sight.path_of("dhcp", first[address])
            yield seen("lease-twice", path, values, ["%s.ip and %s.ip: %s" % (other, path, address)])
        elif nets and not any(ip4(address) in net for net in nets):
            yield seen(
                "lease-outside", path, values, ["%s.ip: %s" % (path, address), "networks: " + ", ".join(map(str, nets))]
            )
        first.setdefault(address, host)


def same_address(scene: Scene) -> Found:
    """Two machines were seen with one address."""
    seen_with: dict[str, set[str]] = {}
    for line in scene.text("/proc/net/arp").split("\n")[1:]:
        fields = line.split()
        if len(fields) >= 6 and fields[2] != "0x0":
            seen_with.setdefault(fields[0], set()).add(fields[3].lower())
    fixed = {str(one.get("ip")): words(one.get("mac")) for one in scene.sections("dhcp", "host") if one.get("ip")}
    for address, macs in sorted(seen_with.items()):
        wanted = {mac.lower() for mac in fixed.get(address, [])}
        if wanted and not macs & wanted:
            evidence = ["%s is %s" % (address, ", ".join(sorted(macs))), "reserved for " + ", ".join(sorted(wanted))]
            yield seen("address-taken", address, {"address": address}, evidence)
