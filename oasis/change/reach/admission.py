"""Who is let in by a change: what the firewall, the ports, the Wi-Fi and the listeners pass afterwards and not before.

`openings(before, after)` gives a sentence for it, [] when nobody is; `Change.admitted_anew` the packets themselves.
Pure: bytes of UCI packages in. It reports what is new for a person: a rename, a match that gets narrower or an order
that changes nothing lets in nobody. SSH and the router's page also count by who can log in there: a port that moves
lets in nobody, passwords that are switched on let in those who know one. What the configuration does not hold (files
that the firewall includes, addresses from elsewhere, rules that services add) is taken to be the same before and after.

Of peers counts what people they are, not what sections are called: a port is one whatever interface is on it; a Wi-Fi
stands for those who know its key, so another name lets in nobody, an open one for anybody near by; a WireGuard peer is
its public key.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.difference import Pairing
from oasis.change.reach import listeners, network, ruleset, sections, walk
from oasis.core.clean import shown as plain
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import (
        Box,
        Config,
        Intervals,
        Listener,
        Networks,
        Peer,
        Ruleset,
        Side,
        Table,
        Tables,
    )

PACKAGES = ("network", "firewall", "wireless", "dropbear", "uhttpd")
NO_ZONE = "interfaces without a zone"
_OPEN = ("", "none", "owe")
_ON_LINK = ("static", "none", "dhcp", "dhcpv6", "")
_GONE: Side = {"devices": (), "macs": ("", ()), "nets": ()}
_OPENS = "lets in what was kept out before: "
_MOST_TOLD = 4
_NAMES = {6: "tcp", 17: "udp", 1: "icmp", 47: "gre", 50: "esp", 51: "ah", 2: "igmp"}
_PING = sum(b"echo-request") % 60000
_TCP = ((6, 6),)
# What tells one service from another when it moves is not where it listens.
_PLACE = ("port", "proto", "dst", "dst4", "dst6", "source_port")


def openings(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return a sentence for who is let in by a change to what, and one for a firewall that will not load.

    Raises: UciError for a file that is none.
    """
    change = Change(before, after)
    try:
        found = change.sentences()
    except walk.TooManyError:
        found = ["who is let in cannot be worked out: there are too many rules"]
    return found


class Change:
    """Two configurations, and who passes under each."""

    def __init__(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        files = [{name: side[name] for name in PACKAGES if name in side} for side in (before, after)]
        self._configs = (sections.read(files[0]), sections.read(files[1]))
        self._nets = (networks_of(self._configs[0]), networks_of(self._configs[1]))
        self.peers = find_peers(self._configs, self._nets, _earlier(files[0], files[1]))
        self._rules = [
            ruleset.compile_rules(config["firewall"], nets, [], "") if "firewall" in config else None
            for config, nets in zip(self._configs, self._nets, strict=True)
        ]

    def sentences(self) -> list[str]:
        """Return what `openings` returns."""
        admitted = [self._admitted(side) for side in (0, 1)]
        new = self._new(admitted)
        lines = self._told(new) + self._told_services(admitted, new)
        doubts = [rules["doubt"] if rules else "" for rules in self._rules]
        found = [_OPENS + "; ".join(_shortened(lines))] if lines else []
        if doubts[1] and doubts[1] != doubts[0]:
            found.append("the new firewall may not load, and then keeps nobody out after a restart: " + doubts[1])
        return found

    def admitted_anew(self) -> list[Box]:
        """Return the packets that pass after the change and did not before."""
        return self._new([self._admitted(side) for side in (0, 1)])

    def _admitted(self, side: int) -> list[Box]:
        rules = self._rules[side]
        return walk.Walk(rules or _NO_FIREWALL, self.peers, side, self._nets[side]).admitted()

    def _new(self, admitted: list[list[Box]]) -> list[Box]:
        """Return what is new, but for what reaches a peer that was not there before or that nobody has named."""
        there = [
            number for number, one in enumerate(self.peers, 1)
            if one["sides"][0]["devices"] and one["label"] != NO_ZONE
        ]  # fmt: skip
        known = {"dst": walk.union(tuple((one, one) for one in [walk.ROUTER, *there]))}
        same = {walk.key(one) for one in admitted[0]}  # most of it, and comparing is quick
        left = [one for one in admitted[1] if walk.key(one) not in same]
        after = [met for one in left if (met := walk.meet(one, known)) is not None]
        return walk.subtract(after, admitted[0])

    # --- services of the router

    def _told_services(self, admitted: list[list[Box]], new: list[Box]) -> list[str]:
        """Return who reaches a service by which the router is managed, as far as no new packet tells it already."""
        lines = []
        for name in _SERVICES:
            before = [box for one in self._heard(name, 0) if (box := _person(one, admitted[0]))]
            old = [box for group in before for box in group]
            now = []
            for one in self._heard(name, 1):
                now += _person(one, walk.subtract(admitted[1], new)) or []
            # those who come from every address of one family are no others with IPv6
            anywhere: list[Box] = [{"src": one["src"]} for one in old if set(one) <= {"src", "family"}]
            left = walk.subtract(now, [*old, *anywhere])
            for one in left:
                whose = _whose({key: value for key, value in one.items() if key != "family"})
                lines.append("from %s to %s%s" % (_joined(self._labels(one, "src")), name, whose))
        return list(dict.fromkeys(lines))

    def _heard(self, name: str, side: int) -> list[Box]:
        """Return the packets that a service hears."""
        found = []
        for one in listeners.listeners(self._configs[side], self._nets[side]):
            section = self._configs[side][one["service"]][one["section"]]
            if name not in _offered(one["service"], section):
                continue
            box: Box = {"dst": ((walk.ROUTER,) * 2,), "proto": _TCP, "port": ((one["port"],) * 2,)}
            found += _bound(box, one, self.peers, side, self._nets[side])
        return found

    # --- words

    def _told(self, new: list[Box]) -> list[str]:
        """Return "from X to Y, what" for what is new; ways and peers with the same news are joined."""
        ways: dict[tuple[str, str], dict[str, list[str]]] = {}
        for box in new:
            for source in self._labels(box, "src"):
                for to in self._labels(box, "dst"):
                    ways.setdefault((source, to), {}).setdefault(_what(box), []).append(_whose(box))
        by_target: dict[tuple[str, str], list[str]] = {}
        for (source, to), kinds in ways.items():
            if "everything" in kinds:
                kinds = {"everything": kinds["everything"]}
            # each with the addresses it is for where there is one way to say that
            words = [what + (whose[0] if len(set(whose)) == 1 else "") for what, whose in kinds.items()]
            by_target.setdefault((source, _joined(_shortened(words))), []).append(to)
        by_source: dict[tuple[str, str], list[str]] = {}
        for (source, what), targets in by_target.items():
            by_source.setdefault((_joined(targets), what), []).append(source)
        return ["from %s to %s, %s" % (_joined(sources), to, what) for (to, what), sources in by_source.items()]

    def _labels(self, box: Box, end: str) -> list[str]:
        """Return how people call the peers of a box."""
        found = []
        for low, high in box.get(end, ((0, len(self.peers)),)):
            for number in range(low, min(high, len(self.peers)) + 1):
                found.append("the router" if number == walk.ROUTER else self._label(self.peers[number - 1], end))
        return list(dict.fromkeys(found))

    def _label(self, peer: Peer, end: str) -> str:
        """Return a peer's network where it stays in it, else the peer itself."""
        sides = zip(self._nets, self._configs, peer["sides"], strict=True)
        names = [self._network(nets, config, side) for nets, config, side in sides]
        is_same = names[0] == names[1] and peer["sides"][0]["macs"] == peer["sides"][1]["macs"]
        return plain(names[0] if is_same and names[0] else str(peer["label"]))

    def _network(self, nets: Networks, config: Config, side: Side) -> str:
        """Return the zone of a side's network, or the network where no zone has it; "" without one."""
        names = sorted(name for name, one in nets.items() if one["device"] in side["devices"])
        for section in sections.typed(config.get("firewall", {}), "zone"):
            if set(names) & set(sections.texts(section, "network")):
                return sections.text(section, "name")
        return names[0] if names else ""


def _earlier(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, str]:
    """Return which wifi-iface section was which before, by name."""
    packages = [model.parse(side.get("wireless", b""), "wireless") for side in (before, after)]
    pairs = Pairing(*packages)
    joined = [(one, pairs.old_of(one)) for one in packages[1].sections if one.type == "wifi-iface"]
    return {one.name: old.name for one, old in joined if old is not None}


_NO_FIREWALL: Ruleset = {
    "policy": "accept", "forward": "accept", "output": "accept", "zones": [], "rules": {}, "redirects": {},
    "includes": [], "doubt": "", "is_mute": False, "is_slow": False,
}  # fmt: skip
_WITH_PASSWORD, _WITH_KEY, _PAGE = "SSH with the root password", "SSH with a key", "the router's page"
_SERVICES = (_WITH_PASSWORD, _WITH_KEY, _PAGE)


def _offered(service: str, section: Table) -> tuple[str, ...]:
    """Return what somebody who reaches a listener may try."""
    if service == "uhttpd":
        return (_PAGE,)
    is_by_password = listeners.takes_password(section)
    is_by_key = sections.flag(section, "RootLogin", True)
    return (_WITH_PASSWORD,) * is_by_password + (_WITH_KEY,) * is_by_key


def _bound(box: Box, listener: Listener, found: list[Peer], side: int, nets: Networks) -> list[Box]:
    """Return the packets that arrive where a listener is bound."""
    bound = listener["bound"]
    if bound is None:
        return [{**box, "family": walk.of_family(family)} for family in listener["families"]]
    if "device" in bound:
        return [{**box, "src": _numbered(found, side, {str(bound["device"])})}]
    outside = {
        str(one["device"]) for one in nets.values()
        if one["proto"] not in ("static", "none", "") or "gateway" in one["options"]
    }  # fmt: skip
    near = walk.inverse("src", _numbered(found, side, outside))
    made = []
    for family, value in bound["addresses"]:
        own = {"family": walk.of_family(family), "dst%d" % family: ((value, value),)}
        # Nobody on the internet has a way to a home address.
        made.append(
            {**box, **own, **({"src": near} if address_text.is_home(address_text.text_of(family, value)) else {})}
        )
    return [one for one in made if all(one.values())]


def _numbered(found: list[Peer], side: int, devices: set[str]) -> Intervals:
    numbers = [number for number, one in enumerate(found, 1) if devices & set(one["sides"][side]["devices"])]
    return walk.union(tuple((one, one) for one in numbers))


def _person(heard: Box, admitted: list[Box]) -> list[Box]:
    """Return who of those that are let in reaches a listener, wherever it is."""
    found = [met for one in admitted if (met := walk.meet(one, heard)) is not None]
    return [{key: value for key, value in one.items() if key not in _PLACE} for one in found]


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - _MOST_TOLD
    return lines if more <= 0 else [*lines[:_MOST_TOLD], "and %d more" % more]


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _what(box: Box) -> str:
    """Return protocol and ports of a box."""
    ports, proto = box.get("port", ((0, 0xFFFF),)), box.get("proto", ((0, 0xFFFF),))
    if sum(high - low for low, high in proto) > _MOST_TOLD:
        return "everything"  # but for what was open already
    names = [_NAMES.get(number, "protocol %d" % number) for low, high in proto for number in range(low, high + 1)]
    if names == ["icmp"]:
        return "ping" if ports == ((_PING, _PING),) else "icmp"
    words = [str(low) if low == high else "%d-%d" % (low, high) for low, high in ports]
    words = words if len(words) <= _MOST_TOLD else [*words[:_MOST_TOLD], "…"]
    return "/".join(names) + (" " + ", ".join(words) if ports != ((0, 0xFFFF),) else "")


def _whose(box: Box) -> str:
    """Return what of a box is left out of "who, where, what": addresses, MACs, hours and other conditions."""
    found = []
    for end, word in (("dst", "at"), ("src", "of")):
        for family in (4, 6):
            dimension = "%s%d" % (end, family)
            held = box.get(dimension, ())
            if sum(high - low for low, high in held) > walk.domain(dimension)[1] // 2:
                continue
            if 0 < len(held) <= 2 and all(low == high for low, high in held):
                found.append("%s %s" % (word, " and ".join(address_text.text_of(family, low) for low, _ in held)))
            elif held:
                found.append("%s some IPv%d addresses" % (word, family))
    if "family" in box and box["family"] != ((0, 1),) and not found:
        found.append("IPv6 only" if box["family"] == walk.of_family(6) else "IPv4 only")
    macs = box.get("mac", ())
    if macs and len(macs) <= 2 and all(low == high for low, high in macs):
        found.append("of " + " and ".join(low.to_bytes(6, "big").hex(":") for low, _ in macs))
    elif macs:
        found.append("of some MACs")
    found += ["at some hours"] if "time" in box else []
    return " (%s)" % ", ".join(found) if found else ""


# --- peers


def networks_of(config: Config) -> Networks:
    """Return the interfaces that are up, each with a name for its device: @INTERFACE where only the router knows it."""
    found: Networks = {}
    for name, one in network.networks(config, {}, config).items():
        if one["is_up"] and sections.flag(one["options"], "auto", True):
            found[name] = {**one, "device": one["device"] or "@" + name}
    return found


def find_peers(sides: tuple[Config, Config], nets: tuple[Networks, Networks], earlier: dict[str, str]) -> list[Peer]:
    """Return the peers of both sides; `earlier` gives the name that a wifi-iface section had before, by its own."""
    found = _ports(sides, nets) + _switched(sides, nets) + _wifi(sides, nets, earlier)
    found += _wireguard(sides, nets) + _tunnels(sides, nets)
    taken = {name for one in found for side in one["sides"] for name in side["devices"]}
    found += _named_by_firewall(sides, taken)
    return [one for one in found if one["sides"][0]["devices"] or one["sides"][1]["devices"]]


def _side(
    devices: list[str] | set[str], macs: tuple[str, tuple[str, ...]] = ("", ()), nets: tuple[str, ...] = ()
) -> Side:
    return {"devices": tuple(sorted(set(devices))), "macs": macs, "nets": nets}


# --- ports


def _ports(sides: tuple[Config, Config], nets: tuple[Networks, Networks]) -> list[Peer]:
    places = sorted({place for side, found in zip(sides, nets) for place in _places(side.get("network", {}), found)})  # noqa: B905
    made: list[Peer] = []
    for port, tag in places:
        met = [_arrivals(side.get("network", {}), found, port, tag) for side, found in zip(sides, nets)]  # noqa: B905
        label = "port %s" % port if not tag else "port %s, VLAN %d" % (port, tag)
        made += [{"label": label, "sides": ends, "place": label} for ends in _ways_in(met)]
    return made


def _ways_in(met: list[set[str]]) -> list[list[Side]]:
    """Return the sides of each way in from a port: a device in no zone is open even where a zone is shut.

    Who comes by a device that was not there came by any of the others before.
    """
    found: list[list[Side]] = []
    for name in sorted(met[0] | met[1]):
        ends = [_side([name] if name in one else one) for one in met]
        if ends not in found:
            found.append(ends)
    return found


def _places(package: Tables, found: Networks) -> set[tuple[str, int]]:
    """Return the (port, VLAN or 0) from which frames may come."""
    places = set()
    names = {str(one["device"]) for one in found.values() if one["proto"] in _ON_LINK and one["device"] != "lo"}
    names |= {word for one in found.values() for word in sections.texts(one["options"], "device")}
    names |= {word for one in sections.typed(package, "device") for word in sections.texts(one, "ports")}
    for name in sorted(names):
        if name.startswith("@") or name == "lo":
            continue
        lower, tag = network.vlan_of(package, name)
        if network.bridge_ports(package, lower) is None:
            places.add((lower, tag))
    for section in sections.typed(package, "bridge-vlan"):
        vlan = sections.text(section, "vlan")
        for word in sections.texts(section, "ports"):
            port, _, flags = word.partition(":")
            if vlan.isdigit():
                places.add((port, int(vlan) if "t" in flags else 0))
    return places


def _arrivals(package: Tables, found: Networks, port: str, tag: int) -> set[str]:
    devices = network.uplinks(package, port, tag)[0]
    met = {str(one["device"]) for one in found.values() if one["device"] in devices or network.rides(one, devices)}
    return {name for name in met if not network.is_switched_off(package, name)}


def _switched(sides: tuple[Config, Config], nets: tuple[Networks, Networks]) -> list[Peer]:
    """Return the ports of a switch chip, whose VLANs lead to devices that end in their number."""
    held = []
    for side, found in zip(sides, nets):  # noqa: B905
        ports: dict[tuple[str, str], set[str]] = {}
        for section in sections.typed(side.get("network", {}), "switch_vlan"):
            vlan = sections.text(section, "vid") or sections.text(section, "vlan")
            devices = set()  # those on the VLAN, themselves or by a port of the bridge
            for name in (str(one["device"]) for one in found.values()):
                members = network.bridge_ports(side.get("network", {}), name) or [name]
                devices |= {name} if any(member.endswith("." + vlan) for member in members) else set()
            for word in sections.texts(section, "ports"):
                if not word.endswith("t"):
                    ports.setdefault((sections.text(section, "device"), word), set()).update(devices)
        held.append(ports)
    return [
        {"label": "port %s of %s" % (place[1], place[0]), "sides": [_side(one.get(place, set())) for one in held]}
        for place in sorted({*held[0], *held[1]})
    ]


# --- Wi-Fi


def _wifi(sides: tuple[Config, Config], nets: tuple[Networks, Networks], names: dict[str, str]) -> list[Peer]:
    """Return the access points that are on after the change, and those that were."""
    held = [
        [one for one in sections.typed(side.get("wireless", {}), "wifi-iface")
         if network.is_on_air(side["wireless"], one)]
        for side in sides
    ]  # fmt: skip
    made: list[Peer] = []
    joined: set[str] = set()
    for now in held[1]:
        earlier = [one for one in held[0] if _may_join(now, one, names.get(str(now[".name"]), ""))]
        joined.update(str(one[".name"]) for one in earlier)
        ends = [_air(earlier, nets[0]) if earlier else _GONE, _air([now], nets[1])]
        made.append({"label": _wifi_label(now), "sides": ends})
    gone = [one for one in held[0] if str(one[".name"]) not in joined]
    return made + [{"label": _wifi_label(one), "sides": [_air([one], nets[0]), _GONE]} for one in gone]


def _may_join(now: Table, earlier: Table, paired: str) -> bool:
    """Return whether those who are on a Wi-Fi now could be on an earlier one."""
    if _is_open(now) != _is_open(earlier):
        return _is_open(earlier) and earlier[".name"] == paired
    return earlier[".name"] == paired or _credential(now) == _credential(earlier)


def _is_open(section: Table) -> bool:
    kind = sections.text(section, "encryption").lower()
    return kind in _OPEN or kind.startswith("wep")  # WEP is read along in a minute


def _credential(section: Table) -> tuple[object, ...]:
    return (_is_open(section), *(section.get(key) for key in ("mode", "key", "auth_server", "sae_password")))


def _air(found: list[Table], nets: Networks) -> Side:
    names = [name for one in found for name in sections.texts(one, "network") if name in nets]
    kind = sections.text(found[0], "macfilter") if len(found) == 1 else ""
    macs = tuple(word.lower() for word in sections.texts(found[0], "maclist")) if kind in ("allow", "deny") else ()
    return _side([str(nets[name]["device"]) for name in names], (kind if macs else "", macs))


def _wifi_label(section: Table) -> str:
    name = "the Wi-Fi %s" % (sections.text(section, "ssid") or section[".name"])
    if sections.text(section, "mode") == "sta":
        return name + " that the router joins"
    return "anybody near by (%s is open)" % name if _is_open(section) else name


# --- tunnels and what only the firewall names


def _wireguard(sides: tuple[Config, Config], nets: tuple[Networks, Networks]) -> list[Peer]:
    held: list[dict[str, tuple[str, Side]]] = []
    for side, found in zip(sides, nets):  # noqa: B905
        own: dict[str, tuple[str, Side]] = {}
        for section in side.get("network", {}).values():
            kind = next((one for one in network.PEERS if str(section[".type"]).startswith(one)), "")
            name = str(section[".type"])[len(kind) :]
            if kind and name in found and not sections.flag(section, "disabled", False):
                label = sections.text(section, "description") or "with the key %s…" % _key(section)[:8]
                allowed = tuple(sections.texts(section, "allowed_ips"))
                own[_key(section)] = (
                    "the WireGuard peer " + label,
                    _side([str(found[name]["device"])], ("", ()), allowed),
                )
        held.append(own)
    return [
        {
            "label": (held[1].get(key) or held[0][key])[0],
            "sides": [one[key][1] if key in one else _GONE for one in held],
        }
        for key in sorted({*held[0], *held[1]})
    ]


def _key(section: Table) -> str:
    return sections.text(section, "public_key") or str(section[".name"])


def _tunnels(sides: tuple[Config, Config], nets: tuple[Networks, Networks]) -> list[Peer]:
    """Return what is behind interfaces with a device of their own, but for WireGuard and what rides on a port."""
    devices = [
        {str(one["device"]): name for name, one in found.items()
         if one["proto"] not in (*_ON_LINK, "wireguard", "amneziawg")
         and not (one["proto"] in network.PPP and sections.texts(one["options"], "device"))}
        for found in nets
    ]  # fmt: skip
    made: list[Peer] = []
    for device in sorted({*devices[0], *devices[1]}):
        ends = []
        for names, found in zip(devices, nets, strict=True):
            # where its packets arrive: a tunnel of layer 2 is a port of the bridges of the networks it names
            joined = sections.texts(found[names[device]]["options"], "network") if device in names else []
            at = [str(found[name]["device"]) for name in joined if name in found] or [device]
            ends.append(_side(at if device in names else []))
        made.append({"label": "the tunnel " + (devices[1].get(device) or devices[0][device]), "sides": ends})
    return made


def _named_by_firewall(sides: tuple[Config, Config], taken: set[str]) -> list[Peer]:
    """Return the devices that only the firewall names, and one that stands for all other devices."""
    words = {
        word.lstrip("! ")
        for side in sides
        for kind in ("zone", "rule")
        for section in sections.typed(side.get("firewall", {}), kind)
        for word in sections.texts(section, "device")
    }
    # A beginning stands for one more device than those that have a name.
    names = {word[:-1] + "~" if word[-1:] in ("+", "*") else word for word in words} - taken - {"~", "", "lo"}
    found: list[Peer] = [
        {"label": "device " + name.replace("~", "*"), "sides": [_side([name])] * 2} for name in sorted(names)
    ]
    return [*found, {"label": NO_ZONE, "sides": [_side(["~"])] * 2}]
