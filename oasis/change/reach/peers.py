"""Who can be at the other end, before and after a change: the ports, Wi-Fi networks and tunnels of a router.

Shape of a peer: {"label", "sides": [side before, side after], "place"?: what the ways in from one port share};
a side is {"devices": (L3 devices at which its packets arrive), "macs": ("" | "allow" | "deny", MACs),
"nets": (addresses that it may use) or ()}. No devices: it is not connected then. What people are counts, not what
sections are called: a port is one whatever interface is on it; a Wi-Fi stands for those who know its key, so another
name lets in nobody, an open one for anybody near by; a WireGuard peer is its public key. Knows no firewall.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import attachment, network, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Config, Network, Networks, Peer, Side, Table, Tables

NO_ZONE = "interfaces without a zone"
_OPEN = ("", "none", "owe")
_ON_LINK = ("static", "none", "dhcp", "dhcpv6", "")
_GONE: Side = {"devices": (), "macs": ("", ()), "nets": ()}


def networks_of(config: Config) -> Networks:
    """Return the interfaces that are up, each with a name for its device: @INTERFACE where only the router knows it."""
    found: Networks = {}
    for name, one in network.networks(config, {}, config).items():
        if one["is_up"] and sections.flag(one["options"], "auto", True):
            found[name] = {**one, "device": one["device"] or "@" + name}
    return found


def peers(sides: tuple[Config, Config], nets: tuple[Networks, Networks], earlier: dict[str, str]) -> list[Peer]:
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
        lower, tag = attachment.vlan_of(package, name)
        if attachment.bridge_ports(package, lower) is None:
            places.add((lower, tag))
    for section in sections.typed(package, "bridge-vlan"):
        vlan = sections.text(section, "vlan")
        for word in sections.texts(section, "ports"):
            port, _, flags = word.partition(":")
            if vlan.isdigit():
                places.add((port, int(vlan) if "t" in flags else 0))
    return places


def _arrivals(package: Tables, found: Networks, port: str, tag: int) -> set[str]:
    devices = attachment.uplinks(package, port, tag)[0]
    met = {str(one["device"]) for one in found.values() if one["device"] in devices or _rides(one, devices)}
    return {name for name in met if not attachment.is_switched_off(package, name)}


def _rides(one: Network, devices: list[str]) -> bool:
    below = sections.texts(one["options"], "device") + sections.texts(one["options"], "ifname")
    return one["proto"] in network.PPP and any(name in devices for name in below)


def _switched(sides: tuple[Config, Config], nets: tuple[Networks, Networks]) -> list[Peer]:
    """Return the ports of a switch chip, whose VLANs lead to devices that end in their number."""
    held = []
    for side, found in zip(sides, nets):  # noqa: B905
        ports: dict[tuple[str, str], set[str]] = {}
        for section in sections.typed(side.get("network", {}), "switch_vlan"):
            vlan = sections.text(section, "vid") or sections.text(section, "vlan")
            devices = {str(one["device"]) for one in found.values() if _is_on_vlan(side, str(one["device"]), vlan)}
            for word in sections.texts(section, "ports"):
                if not word.endswith("t"):
                    ports.setdefault((sections.text(section, "device"), word), set()).update(devices)
        held.append(ports)
    return [
        {"label": "port %s of %s" % (place[1], place[0]), "sides": [_side(one.get(place, set())) for one in held]}
        for place in sorted({*held[0], *held[1]})
    ]


def _is_on_vlan(config: Config, device: str, vlan: str) -> bool:
    members = attachment.bridge_ports(config.get("network", {}), device) or [device]
    return any(name.endswith("." + vlan) for name in members)


# --- Wi-Fi


def _wifi(sides: tuple[Config, Config], nets: tuple[Networks, Networks], names: dict[str, str]) -> list[Peer]:
    """Return the access points that are on after the change, and those that were."""
    held = [
        [one for one in sections.typed(side.get("wireless", {}), "wifi-iface")
         if attachment.is_on_air(side["wireless"], one)]
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
    return [
        {"label": "the tunnel " + (devices[1].get(name) or devices[0][name]),
         "sides": [_side(_leads(name, one, found)) for one, found in zip(devices, nets, strict=True)]}
        for name in sorted({*devices[0], *devices[1]})
    ]  # fmt: skip


def _leads(device: str, names: dict[str, str], found: Networks) -> list[str]:
    """Return where a tunnel's packets arrive: one of layer 2 is a port of the bridges of the networks it names."""
    if device not in names:
        return []
    joined = sections.texts(found[names[device]]["options"], "network")
    return [str(found[name]["device"]) for name in joined if name in found] or [device]


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


def macs_of(side: Side) -> tuple[str, list[int]]:
    """Return how the MACs of a side count, and the MACs as numbers."""
    kind, words = side["macs"]
    return kind, [int(word.replace(":", ""), 16) for word in words if address_text.is_mac(word)]
