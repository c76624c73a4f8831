"""From the peer's plug to the router's address: which interface it meets after a change, at which address, and if
answers find back. Knows no firewall and no listener.

A moved address is a "yes" when the peer gets there without anybody's hands: at once when the new address is in its old
network, or by a fresh lease when it has one now and the interface still gives them (IPv6: by router advertisements).

Doubts: what of a change is read otherwise than it is written, or not worked out here; then the verdict is unknown, and
the first of them is its reason. Found by trying changes on real programs
and by reading netifd (config.c, device.c, bridge.c), libuci's uci_to_blob and dnsmasq.init.
"""

from __future__ import annotations

from collections.abc import Iterator

from oasis.catalogue import address_text
from oasis.change.reach import network, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Candidate, Config, End, Facts, Network, Path, Subnet, Table, Tables


# Options of interface and device whose change moves no packet of a peer that is on the link.
_QUIET_INTERFACE = (
    "device proto ipaddr netmask ip6addr dns dns_search dns_metric peerdns gateway defaultroute metric mtu broadcast "
    "delegate ip6assign ip6hint ip6class ip6ifaceid ip6gw ip6weight ip6prefix ip6deprecated force_link hostname auto "
    "disabled type ifname zone igmp_snooping stp bridge_empty carrier_loss_delay username password norelease "
    "reqaddress reqprefix clientid vendorid sourcefilter"
)
_QUIET_DEVICE = (
    "name type ports ifname vid enabled vlan_filtering macaddr mtu mtu6 stp promisc igmp_snooping bridge_empty "
    "multicast_querier multicast ipv6 gro "
    "multicast_to_unicast multicast_fast_leave sendredirects igmpversion mldversion robustness query_interval"
)
_SWITCH = ("switch", "switch_vlan", "switch_port")
_LINK_LOCAL = 0xFE80 << 112
# The middle of the half that a device makes of its MAC; nobody gives such an address by hand. RFC 4291, appendix A.
_EUI64 = 0xFFFE


class Way:
    """One path, on the configuration before and after."""

    def __init__(self, before: Config, after: Config, path: Path, facts: Facts) -> None:
        self._before, self._after, self._path, self._facts = before, after, path, facts
        self._old, self._new = before.get("network", {}), after.get("network", {})
        self._family = int(path["family"])
        self._source, self._address = value_of(path["source"]), value_of(path["address"])
        self._peer = address_text.text_of(self._family, self._source)
        self._mac = facts.get("neighbours", {}).get(self._peer, "")
        self._now = network.networks(before, facts, before)
        self._then = network.networks(after, facts, before)
        self._device = self._device_now()

    def _device_now(self) -> str:
        """Return the device by which the router reaches the peer now, "" when it is not known."""
        device = self._path.get("device") or self._facts.get("devices", {}).get(self._path["source"])
        if device:
            return str(device)
        held = [(one, net["device"]) for net in self._now.values() for one in net["addresses"]]
        near = [(one[2], name) for one, name in held if network.covers(one, self._family, self._source) and name]
        if near:
            return str(max(near)[1])
        at = {name for one, name in held if one[:2] == (self._family, self._address)}
        return str(at.pop()) if len(at) == 1 and None not in at else ""

    def candidates(self) -> list[Candidate]:
        """Return where the peer may be plugged in."""
        return network.candidates(self._before, self._now, self._device, self._peer, self._facts)

    def find(self, candidate: Candidate) -> End:
        """Return how a peer at that place reaches the router after the change."""
        met, why = self._met(candidate)
        if not met:
            refused = [one for one in self._then.values() if not one["is_up"] and one["proto"] == "static"]
            # an interface may keep its IPv6 prefix although netifd refuses its settings of IPv4
            is_half = self._family == 6 and any("ip6assign" in one["options"] for one in refused)
            return self._ending("cannot_tell" if is_half else "no", why)
        if candidate["kind"] == "port" and self._changed(_SWITCH):
            return self._ending("cannot_tell", "the switch is set up anew, and which port is yours is not known")
        if network.owns(self._then, self._family, self._source):
            return self._ending("no", "the router takes your device's own address")
        doubt = next(self._doubts(candidate, met), "")
        states = ("yes", "cannot_tell", "no")
        best = min([self._arrive(one) for one in met], key=lambda one: (states.index(one["state"]), one["moved"]))
        if doubt and best["state"] == "yes":
            return {**best, "state": "cannot_tell", "reason": doubt}
        return best

    def _ending(self, state: str, why: str, met: Network | None = None) -> End:
        return {
            "state": state, "reason": why, "network": met, "address": self._address,
            "source": (self._source, self._source), "moved": False, "is_renewed": False,
        }  # fmt: skip

    def _met(self, candidate: Candidate) -> tuple[list[Network], str]:
        """Return the interfaces that the peer meets."""
        if candidate["kind"] == "network":
            names, why = [candidate["name"]], "interface %s is gone" % candidate["name"]
            if "wifi" in candidate:
                package = self._after.get("wireless", {})
                section = package.get(candidate["wifi"][".name"], {})
                names = sections.texts(section, "network") if section and network.is_on_air(package, section) else []
                why = "the Wi-Fi %s is switched off" % sections.text(candidate["wifi"], "ssid")
            there = [self._then[name] for name in names if name in self._then]
            return [one for one in there if one["is_up"]], (there[0]["why"] if there else why) or why
        devices, why = network.uplinks(self._new, candidate["port"], candidate["tag"])
        there = [one for one in self._then.values() if one["device"] in devices or network.rides(one, devices)]
        on = [one for one in there if one["is_up"]]
        met = [one for one in on if not network.switched_off(self._new, str(one["device"]))]
        if met:
            return met, ""
        down = [network.switched_off(self._new, str(one["device"])) for one in on]
        down += [one["why"] for one in self._then.values() if one["device"] in devices and one["why"]]
        place = candidate["port"] + (".%d" % candidate["tag"] if candidate["tag"] else "")
        return [], why or [*down, "no interface is on port %s any more" % place][0]

    def _doubts(self, candidate: Candidate, met: list[Network]) -> Iterator[str]:
        """Yield what may keep the peer away although the interface is there."""
        if "wifi" in candidate:
            air, own = [side.get("wireless", {}) for side in (self._before, self._after)], candidate["wifi"]
            later = air[1].get(own[".name"], {})
            radios = [side.get(sections.text(one, "device"), {}) for side, one in zip(air, (own, later), strict=True)]
            if sections.differing(own, later, ["network"]) or sections.differing(radios[0], radios[1]):
                is_on_it = self._peer in self._facts.get("ports", {})
                yield ("your device has to join the Wi-Fi again" if is_on_it else
                       "if your device is on this Wi-Fi, it has to join again")  # fmt: skip
            yield from wireless(air[0], air[1], own)
        elif candidate["kind"] == "network":
            name = candidate["name"]
            is_other = sections.differing(self._old.get(name, {}), self._new.get(name, {}))
            if is_other or self._changed(("wireguard_" + name,)):
                yield "how the peer gets to interface %s changes" % name
        for one in met:
            quiet = _QUIET_INTERFACE.split() if candidate["kind"] == "port" or "wifi" in candidate else []
            loud = sections.differing(self._old.get(one["name"], {}), one["options"], quiet)
            if loud:
                yield "network.%s.%s: what it does to your way is not known" % (one["name"], loud)
        yield from odd_sections(self._old, self._new, [one["name"] for one in met], self._family, self._mac)
        yield from self._odd_ways()

    def _odd_ways(self) -> Iterator[str]:
        """Yield what else may lie between: devices, routes, a neighbour set by hand, a tunnel that claims the peer."""
        names = set()
        for section in sections.typed(self._new, "device"):
            name, kind = sections.text(section, "name"), sections.text(section, "type")
            if name in names:
                yield "there are two sections of device %s" % name
            names.add(name)
            earlier = network.device_section(self._old, name)
            loud = sections.differing(earlier, section, _QUIET_DEVICE.split())
            if loud:
                yield "device %s, %s: what it does to your way is not known" % (name, loud)
            if kind not in ("", "bridge", "macvlan", *_VLAN_TYPES) and section != earlier:
                yield "device %s of type %s is not understood" % (name, section["type"])
        suffix = "" if self._family == 4 else "6"
        if self._changed(("rule" + suffix,)):
            yield "rules of routing change"
        routes = [one for side in (self._new, self._old) for one in sections.typed(side, "route" + suffix)]
        for section in routes if self._changed(("route" + suffix,)) else []:
            target = _route_target(section, self._family)
            if target is None or (target[2] > 0 and network.covers(target, self._family, self._source)):
                yield "a route to your device changes"
        for section in [one for one in self._new.values() if one != self._old.get(one[".name"])]:
            kind = str(section[".type"])
            if kind.startswith("neighbor") and value_of(sections.text(section, "ipaddr")) == self._source:
                yield "network.%s sets by hand where your device is" % sections.label(self._new, section)
            for word in sections.texts(section, "allowed_ips") if kind.startswith(network.PEERS) else []:
                target = _route_target({"target": word}, self._family)
                if target is not None and target[2] > 0 and network.covers(target, self._family, self._source):
                    yield "%s claims your device's address" % kind

    def _changed(self, kinds: tuple[str, ...]) -> bool:
        was, is_now = (
            [sections.options(one) for kind in kinds for one in sections.typed(side, kind)]
            for side in (self._old, self._new)
        )
        return was != is_now

    def _arrive(self, met: Network) -> End:
        """Return how the peer finds the router on an interface that it meets."""
        section = network.device_section(self._new, str(met["device"]))
        if self._family == 6 and not sections.flag(section, "ipv6", True):
            return self._ending("no", "IPv6 is switched off on %s" % met["device"], met)
        if self._family == 6 and self._address >> 118 == _LINK_LOCAL >> 118:
            was, is_now = (network.device_section(side, self._device) for side in (self._old, self._new))
            is_same = all(was.get(key) == is_now.get(key) for key in ("macaddr", "type", "ports"))
            if met["device"] == self._device and is_same:
                return self._ending("yes", "", met)
            return self._ending("cannot_tell", "a link-local address may change", met)
        own = [one for one in met["addresses"] if one[0] == self._family]
        same = self._now.get(met["name"])
        before = (self._subnet(same["addresses"]) if same else None) or self._subnet(
            [one for old in self._now.values() if old["device"] == self._device for one in old["addresses"]]
        )
        if network.owns(self._then, self._family, self._address):
            return self._stay(met, before, self._subnet(own), any(one[1] == self._address for one in own))
        return self._move(met, before, own)

    def _stay(self, met: Network, before: Subnet | None, after: Subnet | None, is_on_it: bool) -> End:
        """Judge an address that is still the router's."""
        rival = self._rival(met, after)
        if rival:
            return self._ending("cannot_tell", "network %s holds your device's address too" % rival, met)
        if after:
            if is_on_it or (before and any(one[1] == before[1] for one in met["addresses"])):
                return self._ending("yes", "", met)
            return self._ending("cannot_tell", "your device may not find its way to the other network any more", met)
        if before:
            new = next(one for one in met["addresses"] if one[1] == self._address) if is_on_it else None
            moved = self._renewed(met, new)
            # The page stays where it is and is silent until then: nobody can tell that it is not lost.
            state = "cannot_tell" if moved["state"] == "yes" else moved["state"]
            return {**moved, "moved": False, "state": state}
        if sections.content(self._old) == sections.content(self._new):
            return self._ending("yes", "", met)
        return self._ending("cannot_tell", "your device is behind another router", met)

    def _move(self, met: Network, before: Subnet | None, own: list[Subnet]) -> End:
        gone = "%s is the router's address no more" % address_text.text_of(self._family, self._address)
        if not own:
            if met["unknown4"] if self._family == 4 else met["unknown6"]:
                return self._ending("cannot_tell", gone + ", and the new one comes from elsewhere", met)
            return self._ending("no", gone + ", and interface %s gets no other" % met["name"], met)
        new = own[0]
        rival = self._rival(met, new)
        if rival:
            return self._ending("cannot_tell", "network %s already holds that address" % rival, met)
        why = "the router moves to %s" % address_text.text_of(self._family, new[1])
        if new[1] == self._source:
            return self._ending("no", why + ", which is your own device's address", met)
        size = (32 if new[0] == 4 else 128) - new[2]
        is_edge = new[1] & ((1 << size) - 1) in (0, (1 << size) - 1)  # the network's own, or its broadcast
        if self._family == 4 and size >= 2 and is_edge:
            return self._ending("cannot_tell", why + ", which is no address of a host", met)
        if before and network.covers(before, *new[:2]) and network.covers(new, self._family, self._source):
            return {**self._ending("yes", why, met), "address": new[1], "moved": True}
        if before is None:
            return self._ending("cannot_tell", why + ", and your device is behind another router", met)
        return self._renewed(met, new)

    def _renewed(self, met: Network, new: Subnet | None) -> End:
        """Judge a move for which the peer needs another address of its own."""
        if new is None:
            return self._ending("cannot_tell", "your device has to get another address", met)
        _, low, high, _ = sections.prefix(*new)
        place = address_text.text_of(self._family, new[1])
        why = "the router is then at %s; your device needs a fresh address first: reconnect it" % place
        state, doubt = self._served(met["name"], new)
        return {
            **self._ending(state, why if state == "yes" else doubt, met),
            "address": new[1], "moved": True, "is_renewed": True, "source": (low + 1, high),
        }  # fmt: skip

    def _served(self, name: str, subnet: Subnet) -> tuple[str, str]:
        """Return whether the peer gets an address of the network on an interface by itself."""
        package = self._after.get("dhcp", {})
        pools = [one for one in sections.typed(package, "dhcp") if sections.text(one, "interface") == name]
        pools = [one for one in pools if not sections.flag(one, "ignore", False)]
        if self._family == 6:
            if not any(sections.text(one, "ra") in ("server", "hybrid") for one in pools):
                return "no", "interface %s tells no device of its new addresses" % name
            if self._source >> 24 & 0xFFFF == _EUI64:
                return "yes", ""
            return "cannot_tell", "whether your device takes its IPv6 address from the router is not known"
        pools = [one for one in pools if sections.text(one, "dhcpv4", "server") == "server"]
        if not pools or not sections.typed(package, "dnsmasq"):
            return "no", "interface %s gives no addresses (DHCP is off): your device would keep its old one" % name
        start, size = sections.text(pools[0], "start", "100"), 1 << (32 - subnet[2])
        if len(pools) > 1 or not start.isdigit() or not 0 < int(start) < size - 1:
            return "cannot_tell", "the pool of interface %s does not fit its network" % name
        if not sections.flag(pools[0], "dynamicdhcp", True):
            return "cannot_tell", "interface %s gives addresses to known devices only" % name
        if self._peer not in self._facts.get("leases", []):
            return "cannot_tell", "whether your device takes its address from the router is not known"
        other = leases(self._before.get("dhcp", {}), package, name, size)
        if other:
            return "cannot_tell", other
        for host in sections.typed(package, "host"):
            number = address_text.number(sections.text(host, "ip"))
            is_named = self._mac in [one.lower() for one in sections.texts(host, "mac")]
            is_yours = is_named or (number and number[1] == self._source)
            if is_yours and not (number and network.covers(subnet, *number)):
                return "cannot_tell", "your device has a fixed lease outside the new network"
        return "yes", ""

    def _subnet(self, held: list[Subnet]) -> Subnet | None:
        """Return the network, of these, that the peer is in."""
        return next((one for one in held if network.covers(one, self._family, self._source)), None)

    def _rival(self, met: Network, subnet: Subnet | None) -> str:
        """Return another interface whose network would draw the answers to itself."""
        if subnet is None:
            return ""
        for name, other in self._then.items():
            is_elsewhere = name != met["name"] and other["device"] != met["device"] and other["is_up"]
            for family, value, bits in other["addresses"] if is_elsewhere else []:
                if network.covers((family, value, min(bits, subnet[2])), *subnet[:2]):
                    return name
        return ""


def value_of(text: str) -> int:
    """Return an address as a number; paths hold no other texts."""
    number = address_text.number(text.partition("%")[0])
    return number[1] if number else 0


def _route_target(section: Table, family: int) -> Subnet | None:
    head, _, bits = sections.text(section, "target").partition("/")
    number, size = address_text.number(head), 32 if family == 4 else 128
    if not number or number[0] != family:
        return None
    mask = bits or sections.text(section, "netmask") or str(size)
    if mask.isdigit():
        return (family, number[1], int(mask)) if int(mask) <= size else None
    dotted = address_text.number(mask)
    return (family, number[1], address_text.mask_bits(dotted[1], 4)) if dotted else None


# Options of network that netifd takes as lists; any other one that is a list does not exist for it.
_LISTS = (
    "ipaddr", "ip6addr", "ip6prefix", "dns", "dns_search", "ip6class", "ports", "ifname", "addresses", "allowed_ips",
    "tunlink", "alias", "egress_qos_mapping", "ingress_qos_mapping",
)  # fmt: skip
# Types of sections whose effect is worked out somewhere here; of any other one it is not.
_KNOWN = (
    "interface", "device", "bridge-vlan", "globals", "route", "route6", "rule", "rule6", "neighbor", "neighbor6",
    "switch", "switch_vlan", "switch_port",
)  # fmt: skip
_QUIET_GLOBALS = ("ula_prefix", "packet_steering", "steering_flows", "dhcp_default_duid")
_PREFIXES = ("ip6assign", "ip6hint", "ip6class", "ip6prefix", "ip6weight")
_VLAN_TYPES = ("8021q", "8021ad")
# IPv6 needs it, and so does every packet that was made for a usual link.
_LEAST_MTU = 1280
# How IPv6 neighbours find each other.
_MULTICAST = ("multicast", "igmp_snooping", "multicast_querier", "multicast_to_unicast", "multicast_fast_leave")
# Sections of dhcp that change nothing for who has a lease of the interface's pool.
_OTHERS = ("dhcp", "host", "domain", "cname", "srvhost", "mxhost", "hostrecord")


def changed(old: Tables, new: Tables, kinds: tuple[str, ...] = ()) -> list[tuple[Table, Table]]:
    """Return (before or {}, after) of the sections that are new or another, of some types or of all."""
    pairs = [(old.get(str(one[".name"]), {}), one) for one in new.values() if not kinds or one[".type"] in kinds]
    return [pair for pair in pairs if sections.options(pair[0]) != sections.options(pair[1])]


def odd_sections(old: Tables, new: Tables, names: list[str], family: int, mac: str) -> Iterator[str]:
    """Yield what sections of network do that is not worked out; `names` are the interfaces that the owner meets."""
    for before, after in changed(old, new, ("interface", "device", "bridge-vlan")):
        for option, value in sections.options(after).items():
            if isinstance(value, list) and option not in _LISTS and before.get(option) != value:
                yield "network.%s.%s is a list, which netifd does not read" % (sections.label(new, after), option)
    bridges = [one for one in sections.typed(new, "device") if sections.text(one, "type") == "bridge"]
    ports = [word for one in bridges for word in sections.texts(one, "ports")]
    for before, after in changed(old, new, ("device",)):
        name, kind = sections.text(after, "name"), sections.text(after, "type")
        where = "device %s: " % name
        if kind in _VLAN_TYPES and (name in ports or "." in name) and before.get("type") != kind:
            wanted = "%s.%s" % (sections.text(after, "ifname"), sections.text(after, "vid"))
            if name != wanted or name in ports:
                yield where + "the name may be another device's"
        if kind == "bridge" and any(ports.count(port) > 1 for port in sections.texts(after, "ports")):
            yield where + "one of its ports is in another bridge"
        vlans = [one for one in sections.typed(new, "bridge-vlan") if one.get("device") == after.get("name")]
        is_odd = bool(vlans) != sections.flag(after, "vlan_filtering", False)
        if after.get("vlan_filtering") != before.get("vlan_filtering") and is_odd:
            yield where + "what vlan_filtering does to its ports is not known"
        if family == 6 and any(before.get(option) != after.get(option) for option in _MULTICAST):
            yield where + "IPv6 neighbours may not find each other"
        odd = _odd(before, after, mac)
        if odd:
            yield where + odd
    for before, after in changed(old, new, ("interface",)):
        name, is_met = str(after[".name"]), after[".name"] in names
        odd = _odd({"mtu": before.get("mtu")}, {"mtu": after["mtu"]}, "") if is_met and "mtu" in after else ""
        if odd:
            yield "network.%s: %s" % (name, odd)
        if is_met and before and any(before.get(option) != after.get(option) for option in ("zone", "type")):
            yield "network.%s: what its zone or type does to your way is not known" % name
        if family == 6 and not is_met and any(before.get(one) != after.get(one) for one in _PREFIXES):
            yield "network.%s takes a part of the prefix, and yours may be another one then" % name
    for section in new.values():
        kind, name = str(section[".type"]), sections.label(new, section)
        before = old.get(str(section[".name"]), {})
        if section == before:
            continue
        if name == "globals":  # read by its name, whatever its type is
            if sections.differing(before, section, _QUIET_GLOBALS):
                yield "network.globals: what it does to your way is not known"
        elif kind not in _KNOWN and not kind.startswith(network.PEERS):
            yield "network.%s: what a section of type %s does is not known" % (name, kind)
        odd = network.odd_address(section) if kind == "interface" else ""
        if odd:
            yield "network.%s: %s is no usual address of a router" % (name, odd)


def _odd(before: Table, after: Table, mac: str) -> str:
    """Return why packets may not come through a device."""
    for option in ("mtu", "mtu6"):
        value = sections.text(after, option)
        if value != sections.text(before, option) and not (value.isdigit() and int(value) >= _LEAST_MTU):
            return "%s %s is not the usual" % (option, value or "of its driver")
    value = sections.text(after, "macaddr").lower()
    if not value or value == sections.text(before, "macaddr").lower():
        return ""
    if not address_text.is_mac(value) or int(value[:2], 16) & 1 or value in (mac, "00:00:00:00:00:00"):
        return "macaddr %s is none of its own" % value
    return ""


def wireless(old: Tables, new: Tables, section: Table) -> Iterator[str]:
    """Yield what else happens on the radio of an access point."""
    radio = sections.text(section, "device")
    for before, after in [*changed(old, new), *changed(new, old)]:
        is_here = after[".type"] == "wifi-iface" and radio in (before.get("device"), after.get("device"))
        is_other = after[".type"] not in ("wifi-device", "wifi-iface")
        if is_other or (is_here and after[".name"] != section[".name"]):
            yield "what else changes on the radio of your Wi-Fi may keep it away"
    names = sections.texts(new.get(section[".name"], {}), "network")
    if names != sections.texts(section, "network") and len(names) != 1:
        yield "your Wi-Fi then leads into several networks"


def leases(old: Tables, new: Tables, name: str, size: int) -> str:
    """Return why who has a lease of an interface's pool may get none in its new network, which has `size` addresses."""
    was, is_now = ([one for one in sections.content(side) if one[1] not in _OTHERS] for side in (old, new))
    if was != is_now:
        return "the DHCP server is set up otherwise than now"
    if any("listen_address" in one for one in sections.typed(new, "dnsmasq")):
        return "the DHCP server listens at an address of its own"
    pools = [
        [one for one in sections.typed(side, "dhcp") if sections.text(one, "interface") == name] for side in (old, new)
    ]
    if len(pools[0]) != 1 or sections.differing(pools[0][0], pools[1][0], ("start", "limit", "interface")):
        return "the pool of interface %s is set up otherwise than now" % name
    start, limit = sections.text(pools[1][0], "start", "100"), sections.text(pools[1][0], "limit", "150")
    if not address_text.is_number(limit, 1, size) or not start.isdigit() or int(start) + int(limit) >= size:
        return "the pool of interface %s does not fit its network" % name
    return ""
