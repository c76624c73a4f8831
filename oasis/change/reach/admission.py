"""Who is let in by a change: what the firewall, the ports, the Wi-Fi and the listeners pass afterwards and not before.

`openings(before, after)` gives a sentence for it, [] when nobody is; `Change.new` the packets themselves.
Pure: bytes of UCI packages in. It reports what is new for a person: a rename, a match that gets narrower or an order
that changes nothing lets in nobody. SSH and the router's page also count by who can log in there: a port that moves
lets in nobody, passwords that are switched on let in those who know one. What the configuration does not hold (files
that the firewall includes, addresses from elsewhere, rules that services add) is taken to be the same before and after.

Of peers counts what people they are, not what sections are called: a port is one whatever interface is on it; a Wi-Fi
stands for those who know its key, so another name lets in nobody, an open one for anybody near by; a WireGuard peer is
its public key.
"""

from __future__ import annotations

from collections.abc import Callable

from oasis.catalogue import address_text
from oasis.change.difference import Pairing
from oasis.change.reach import listeners, network, ruleset, sections, walk
from oasis.core.clean import shown as plain
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach import shapes
    from oasis.change.reach.shapes import Box, Config, Intervals, Networks, Peer, Side, Table, Tables

    Setup = tuple[Config, Networks]  # one configuration, and its interfaces
    Found = dict[shapes.Any, tuple[str, Side]]  # (label, where it is) by what a peer is known by

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
        admitted = [change.admitted(side) for side in (0, 1)]
        new = change.new(admitted)
        lines = change.told(new) + change.told_services(admitted, new)
    except walk.TooManyError:
        return ["who is let in cannot be worked out: there are too many rules"]
    found = [_OPENS + "; ".join(_shortened(lines))] if lines else []
    doubts = [rules["doubt"] for rules in change.rules]
    if doubts[1] and doubts[1] != doubts[0]:
        found.append("the new firewall may not load, and then keeps nobody out after a restart: " + doubts[1])
    return found


class Change:
    """Two configurations, and who passes under each; `side` is 0 for the one before, 1 for the one after."""

    def __init__(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        files = [{name: side[name] for name in PACKAGES if name in side} for side in (before, after)]
        configs = [sections.read(side) for side in files]
        # the interfaces that are up, with @INTERFACE as the device where only the router knows its name
        self._sides: list[Setup] = []
        for config in configs:
            up = [one for one in network.networks(config, {}, config).values() if one["is_up"]]
            up = [one for one in up if sections.flag(one["options"], "auto", True)]
            self._sides.append(
                (config, {one["name"]: {**one, "device": one["device"] or "@" + one["name"]} for one in up})
            )
        # which wifi-iface section was which before, by name
        packages = [model.parse(side.get("wireless", b""), "wireless") for side in files]
        old_of = Pairing(*packages).old_of
        earlier = {
            one.name: old.name for one in packages[1].sections if one.type == "wifi-iface" and (old := old_of(one))
        }
        self.peers = find_peers(self._sides, earlier)
        self.rules = [
            ruleset.compile_rules(config["firewall"], nets, [], "") if "firewall" in config else _NO_FIREWALL
            for config, nets in self._sides
        ]

    def admitted(self, side: int) -> list[Box]:
        """Return the packets that pass on one side."""
        return walk.Walk(self.rules[side], self.peers, side, self._sides[side][1]).admitted()

    def new(self, admitted: list[list[Box]]) -> list[Box]:
        """Return what passes after the change and did not before.

        But for what reaches a peer that was not there before or that nobody has named.
        """
        there = [
            number for number, one in enumerate(self.peers, 1)
            if one["sides"][0]["devices"] and one["label"] != NO_ZONE
        ]  # fmt: skip
        known = {"dst": walk.points([walk.ROUTER, *there])}
        same = {frozenset(one.items()) for one in admitted[0]}  # most of it, and comparing is quick
        left = [one for one in admitted[1] if frozenset(one.items()) not in same]
        after = [met for one in left if (met := walk.meet(one, known)) is not None]
        return walk.subtract(after, admitted[0])

    def told_services(self, admitted: list[list[Box]], new: list[Box]) -> list[str]:
        """Return who reaches a service by which the router is managed, as far as no new packet tells it already."""
        lines = []
        left_over = walk.subtract(admitted[1], new)
        for name in (_WITH_PASSWORD, _WITH_KEY, _PAGE):
            old, now = self._reaching(name, 0, admitted[0]), self._reaching(name, 1, left_over)
            # those who come from every address of one family are no others with IPv6
            anywhere: list[Box] = [{"src": one["src"]} for one in old if set(one) <= {"src", "family"}]
            for one in walk.subtract(now, [*old, *anywhere]):
                whose = _whose({key: value for key, value in one.items() if key != "family"})
                lines.append("from %s to %s%s" % (_joined(self._labels(one, "src")), name, whose))
        return list(dict.fromkeys(lines))

    def _reaching(self, name: str, side: int, admitted: list[Box]) -> list[Box]:
        """Return who of those that are let in reaches a service, wherever it is."""
        config, nets = self._sides[side]
        found = []
        for one in listeners.listeners(config, nets):
            section, is_ssh = config[one["service"]][one["section"]], one["service"] == "dropbear"
            offered = {
                _WITH_PASSWORD: is_ssh and listeners.takes_password(section),
                _WITH_KEY: is_ssh and sections.flag(section, "RootLogin", True),
                _PAGE: not is_ssh,
            }
            box: Box = {"dst": ((walk.ROUTER,) * 2,), "proto": _TCP, "port": ((one["port"],) * 2,)}
            for heard in self._bound(box, one, side) if offered[name] else []:
                found += [met for part in admitted if (met := walk.meet(part, heard)) is not None]
        return [{key: value for key, value in one.items() if key not in _PLACE} for one in found]

    def _bound(self, box: Box, listener: shapes.Listener, side: int) -> list[Box]:
        """Return the packets that arrive where a listener is bound."""
        bound = listener["bound"]
        if bound is None:
            return [{**box, "family": walk.of_family(family)} for family in listener["families"]]
        if "device" in bound:
            return [{**box, "src": self._numbered(side, {str(bound["device"])})}]
        outside = {
            str(one["device"]) for one in self._sides[side][1].values()
            if one["proto"] not in ("static", "none", "") or "gateway" in one["options"]
        }  # fmt: skip
        near = walk.rest((walk.domain("src"),), self._numbered(side, outside))
        found = []
        for family, value in bound["addresses"]:
            own: Box = {**box, "family": walk.of_family(family), "dst%d" % family: ((value, value),)}
            # Nobody on the internet has a way to a home address.
            found.append({**own, "src": near} if address_text.is_home(address_text.text_of(family, value)) else own)
        return [one for one in found if all(one.values())]

    def _numbered(self, side: int, devices: set[str]) -> Intervals:
        found = [at for at, one in enumerate(self.peers, 1) if devices & set(one["sides"][side]["devices"])]
        return walk.points(found)

    def told(self, new: list[Box]) -> list[str]:
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
                found.append("the router" if number == walk.ROUTER else self._label(self.peers[number - 1]))
        return list(dict.fromkeys(found))

    def _label(self, peer: Peer) -> str:
        """Return the zone of a peer's network where it stays in it, the network without one; else the peer itself."""
        found = []
        for (config, nets), side in zip(self._sides, peer["sides"], strict=True):
            names = sorted(name for name, one in nets.items() if one["device"] in side["devices"])
            zones = [
                sections.text(one, "name") for one in sections.typed(config.get("firewall", {}), "zone")
                if set(names) & set(sections.texts(one, "network"))
            ]  # fmt: skip
            found.append([*zones, *names, ""][0])
        is_same = found[0] == found[1] and peer["sides"][0]["macs"] == peer["sides"][1]["macs"]
        return plain(found[0] if is_same and found[0] else str(peer["label"]))


_NO_FIREWALL: shapes.Ruleset = {
    "policy": "accept", "forward": "accept", "output": "accept", "zones": [], "rules": {}, "redirects": {},
    "includes": [], "doubt": "", "is_mute": False, "is_slow": False,
}  # fmt: skip
_WITH_PASSWORD, _WITH_KEY, _PAGE = "SSH with the root password", "SSH with a key", "the router's page"


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


def find_peers(sides: list[Setup], earlier: dict[str, str]) -> list[Peer]:
    """Return the peers of both sides; `earlier` gives the name that a wifi-iface section had before, by its own."""
    found = _ports(sides) + _both(sides, _switched) + _wifi(sides, earlier)
    found += _both(sides, _wireguard) + _both(sides, _tunnels)
    taken = {name for one in found for side in one["sides"] for name in side["devices"]}
    # the devices that only the firewall names, and one that stands for all other devices
    words = {
        word.lstrip("! ")
        for config, _ in sides
        for kind in ("zone", "rule")
        for section in sections.typed(config.get("firewall", {}), kind)
        for word in sections.texts(section, "device")
    }
    # A beginning stands for one more device than those that have a name.
    names = {word[:-1] + "~" if word[-1:] in ("+", "*") else word for word in words} - taken - {"~", "", "lo"}
    for name in sorted(names):
        found.append({"label": "device " + name.replace("~", "*"), "sides": [_side([name])] * 2})
    found.append({"label": NO_ZONE, "sides": [_side(["~"])] * 2})
    return [one for one in found if one["sides"][0]["devices"] or one["sides"][1]["devices"]]


def _both(sides: list[Setup], find: Callable[[Tables, Networks], Found]) -> list[Peer]:
    """Return the peers of a kind that is known by the same key before and after."""
    held = [find(config.get("network", {}), nets) for config, nets in sides]
    return [
        {
            "label": (held[1].get(key) or held[0][key])[0],
            "sides": [one[key][1] if key in one else _GONE for one in held],
        }
        for key in sorted({*held[0], *held[1]})
    ]


def _side(
    devices: list[str] | set[str], macs: tuple[str, tuple[str, ...]] = ("", ()), nets: tuple[str, ...] = ()
) -> Side:
    return {"devices": tuple(sorted(set(devices))), "macs": macs, "nets": nets}


def _ports(sides: list[Setup]) -> list[Peer]:
    made: list[Peer] = []
    held = [(config.get("network", {}), nets) for config, nets in sides]
    for port, tag in sorted({place for package, nets in held for place in _places(package, nets)}):
        label = "port %s" % port if not tag else "port %s, VLAN %d" % (port, tag)
        met = []
        for package, nets in held:
            devices = network.uplinks(package, port, tag)[0]
            names = {
                str(one["device"]) for one in nets.values() if one["device"] in devices or network.rides(one, devices)
            }
            met.append({name for name in names if not network.switched_off(package, name)})
        # A device in no zone is open even where a zone is shut: each is a way in. Who comes by a device that was not
        # there came by any of the others before.
        ways: list[list[Side]] = []
        for name in sorted(met[0] | met[1]):
            ends = [_side([name] if name in one else one) for one in met]
            ways += [ends] if ends not in ways else []
        made += [{"label": label, "sides": ends, "place": label} for ends in ways]
    return made


def _places(package: Tables, found: Networks) -> set[tuple[str, int]]:
    """Return the (port, VLAN or 0) from which frames may come to an interface."""
    names = {str(one["device"]) for one in found.values() if one["proto"] in _ON_LINK}
    names |= {word for one in found.values() for word in sections.texts(one["options"], "device")}
    names = {name for name in names if name != "lo" and not name.startswith("@")}
    return {place for name in names for place in network.places(package, name)}


def _switched(package: Tables, nets: Networks) -> Found:
    """Return the ports of a switch chip, whose VLANs lead to devices that end in their number."""
    ports: dict[tuple[str, str], set[str]] = {}
    for section in sections.typed(package, "switch_vlan"):
        vlan = sections.text(section, "vid") or sections.text(section, "vlan")
        devices = set()  # those on the VLAN, themselves or by a port of the bridge
        for name in (str(one["device"]) for one in nets.values()):
            members = network.bridge_ports(package, name) or [name]
            devices |= {name} if any(member.endswith("." + vlan) for member in members) else set()
        for word in sections.texts(section, "ports"):
            if not word.endswith("t"):
                ports.setdefault((sections.text(section, "device"), word), set()).update(devices)
    return {key: ("port %s of %s" % (key[1], key[0]), _side(devices)) for key, devices in ports.items()}


def _wifi(sides: list[Setup], names: dict[str, str]) -> list[Peer]:
    """Return the access points that are on after the change, and those that were."""
    held = []
    for config, _ in sides:
        package = config.get("wireless", {})
        held.append([one for one in sections.typed(package, "wifi-iface") if network.is_on_air(package, one)])
    made: list[Peer] = []
    joined: set[str] = set()
    for now in held[1]:
        earlier = [one for one in held[0] if _may_join(now, one, names.get(str(now[".name"]), ""))]
        joined.update(str(one[".name"]) for one in earlier)
        ends = [_air(earlier, sides[0][1]) if earlier else _GONE, _air([now], sides[1][1])]
        made.append({"label": _wifi_label(now), "sides": ends})
    gone = [one for one in held[0] if str(one[".name"]) not in joined]
    return made + [{"label": _wifi_label(one), "sides": [_air([one], sides[0][1]), _GONE]} for one in gone]


def _may_join(now: Table, earlier: Table, paired: str) -> bool:
    """Return whether those who are on a Wi-Fi now could be on an earlier one."""
    if _is_open(now) != _is_open(earlier):
        return _is_open(earlier) and earlier[".name"] == paired
    credential = ("mode", "key", "auth_server", "sae_password")
    return earlier[".name"] == paired or all(now.get(key) == earlier.get(key) for key in credential)


def _is_open(section: Table) -> bool:
    kind = sections.text(section, "encryption").lower()
    return kind in _OPEN or kind.startswith("wep")  # WEP is read along in a minute


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


def _wireguard(package: Tables, nets: Networks) -> Found:
    found: Found = {}
    for section in package.values():
        kind = next((one for one in network.PEERS if str(section[".type"]).startswith(one)), "")
        name = str(section[".type"])[len(kind) :]
        if kind and name in nets and not sections.flag(section, "disabled", False):
            key = sections.text(section, "public_key") or str(section[".name"])
            label = sections.text(section, "description") or "with the key %s…" % key[:8]
            allowed = tuple(sections.texts(section, "allowed_ips"))
            found[key] = ("the WireGuard peer " + label, _side([str(nets[name]["device"])], ("", ()), allowed))
    return found


def _tunnels(package: Tables, nets: Networks) -> Found:
    """Return what is behind interfaces with a device of their own, but for WireGuard and what rides on a port."""
    found: Found = {}
    for name, one in nets.items():
        is_riding = one["proto"] in network.PPP and sections.texts(one["options"], "device")
        if one["proto"] not in (*_ON_LINK, "wireguard", "amneziawg") and not is_riding:
            # where its packets arrive: a tunnel of layer 2 is a port of the bridges of the networks it names
            joined = sections.texts(one["options"], "network")
            at = [str(nets[name]["device"]) for name in joined if name in nets] or [str(one["device"])]
            found[str(one["device"])] = ("the tunnel " + name, _side(at))
    return found
