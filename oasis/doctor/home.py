"""Checks of the addresses of the home: its networks, what the router gives out, and what is fixed."""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.core import clean
from oasis.doctor.scene import Net, digits, ip4, seen
from oasis.uci.model import flag, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Found, Scene, Section


def same_network(scene: Scene) -> Found:
    """Two interfaces have overlapping networks, so the router does not know where an address is."""
    known = [
        (str(entry["interface"]), str(entry.get("l3_device") or entry.get("device")), net)
        for entry in scene.interfaces
        for net in entry["networks"]
        if net.bits < 32
    ]
    inside = [str(entry["interface"]) for entry in scene.inside]
    for number, (name, device, net) in enumerate(known):
        for other, other_device, other_net in known[number + 1 :]:
            if device != other_device and net.overlaps(other_net):
                evidence = ["%s: %s" % (name, net), "%s: %s" % (other, other_net)]
                movable = next((one for one in (name, other) if one in inside), "")
                own = ip4(scene.config("network").get(movable, {}).get("ipaddr"))
                # A network that nobody has, and the same last number in it.
                nets = [Net(0xC0A80000 + (third << 8), 24) for third in (*range(50, 255), *range(1, 50))]
                free = next((one for one in nets if not any(one.overlaps(taken) for _, _, taken in known)), None)
                commands = []
                if own is not None and free is not None:
                    moved = address_text.text_of(4, free.first + (own & 0xFF or 1))
                    commands = ["uci set network.%s.ipaddr='%s'" % (movable, moved)]
                values = {"one": name, "other": other, "network": str(net)}
                yield seen("same-network", "%s-%s" % (name, other), values, evidence, commands)


def pool(scene: Scene) -> Found:
    """The addresses to be given out do not fit into the network, or are used up."""
    for entry in scene.inside:
        section = _pool_of(scene, str(entry["interface"]))
        nets = entry["networks"]
        if section is None or not nets or flag(section, "ignore", False):
            continue
        given = [digits(str(section.get(option, default))) for option, default in (("start", 100), ("limit", 150))]
        start, limit = 100 if given[0] is None else given[0], 150 if given[1] is None else given[1]
        path = scene.path("dhcp", section)
        size = (1 << (32 - nets[0].bits)) - 2
        values = {"interface": entry["interface"], "start": start, "limit": limit, "network": str(nets[0])}
        if start < 1 or start > size:
            yield seen("pool-outside", path, values, ["%s: start %d, network %s" % (path, start, nets[0])])
            continue
        first, room = nets[0].first + start, min(limit, size - start + 1)
        fixed = {str(one.get("ip")) for one in scene.sections("dhcp", "host")}
        held = [ip4(lease["ip"]) for lease in scene.leases if lease["ip"] not in fixed]
        taken = sum(1 for one in held if one is not None and first <= one < first + room)
        if taken >= room:
            room = min(size - start + 1, 2 * limit)
            commands = ["uci set %s.limit='%d'" % (path, room)] if room > limit else []
            yield seen("pool-empty", path, values, ["%d leases, limit %d" % (taken, limit)], commands)


def _pool_of(scene: Scene, interface: str) -> Section | None:
    return next((one for one in scene.sections("dhcp", "dhcp") if one.get("interface") == interface), None)


def no_server(scene: Scene) -> Found:
    """The home network gets no addresses from this router."""
    for entry in scene.inside if scene.is_router else []:
        section = _pool_of(scene, "lan")
        if entry["interface"] != "lan" or scene.zone_of("lan") is None or not entry.get("up"):
            continue
        if section is None or flag(section, "ignore", False):
            commands = ["uci delete %s.ignore" % scene.path("dhcp", section)] if section else []
            what = "%s: ignore is set" % scene.path("dhcp", section) if section else "dhcp: nothing about lan"
            yield seen("no-dhcp-server", "lan", {"interface": "lan"}, [what], commands)


def reservations(scene: Scene) -> Found:
    """Fixed leases that collide with each other, with the router, or with the network."""
    nets = scene.home
    own = {entry["address"] for entry in scene.inside} - {""}
    first: dict[str, Section] = {}
    for host in scene.sections("dhcp", "host"):
        address, path = str(host.get("ip") or ""), scene.path("dhcp", host)
        if not address_text.is_ip4(address):
            continue
        values = {"address": address, "name": clean.name(host.get("name")) or path}
        if address in own:
            yield seen("lease-of-router", path, values, ["%s.ip: %s" % (path, address)], ["uci delete %s.ip" % path])
        elif address in first:
            other = scene.path("dhcp", first[address])
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
