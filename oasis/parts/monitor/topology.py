"""How the home network hangs together, in one answer: uplinks, networks, access points, and the devices behind them.

Which port a device on a cable is behind stands in the bridge's own table, /sys/class/net/BRIDGE/brforward. Source:
struct __fdb_entry of the kernel's linux/if_bridge.h: six bytes of MAC, low byte of the port's number, whether it is the
bridge's own, four bytes of age, high byte of the number, three of padding.
"""

from __future__ import annotations

import struct

from oasis.core import addresses, clean
from oasis.parts.monitor.look import is_about
from oasis.tools.builtin.probing import is_within, prefixes
from oasis.tools.builtin.status import clients, interface, wan_names, wireless
from oasis.tools.router import dicts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.monitor.look import Scene
    from oasis.tools.builtin.probing import Prefix
    from oasis.tools.shapes import Result

DEVICES = 60
_ENTRY = struct.Struct("<6sBBIBBH")
_KINDS = {
    "dhcp": "an address by DHCP", "dhcpv6": "IPv6 by DHCPv6", "pppoe": "dial-in by PPPoE", "static": "a fixed address",
    "wireguard": "a VPN by WireGuard", "dslite": "IPv4 through IPv6 (DS-Lite)", "map": "IPv4 through IPv6 (MAP)",
    **dict.fromkeys(("qmi", "mbim", "ncm", "3g", "modemmanager"), "mobile"),
}  # fmt: skip
# 100.64.0.0/10, which providers give to many customers at once.
_SHARED = (4, 100 << 24 | 64 << 16, 10)


def topology(scene: Scene, target: str) -> Result:
    """Return {"uplinks", "networks", "access_points", "devices", "left_out"?}; `target` is a network or a device."""
    facts = scene.facts
    live = {str(item.get("interface")): item for item in facts.interfaces()}
    outside = [name for name in wan_names(facts) if name in live]
    inside = {name: prefixes(item) for name, item in live.items() if name not in (*outside, "loopback")}
    answer: dict[str, object] = {"uplinks": [_uplink(scene, name, live[name], inside) for name in outside]}
    stations, points = _access_points(scene)
    zones = {
        name: str(zone.get("name"))
        for zone in facts.sections("firewall", "zone")
        for name in words(zone.get("network"))
    }
    told = facts.ubus("network.device", "status")
    networks: dict[str, dict[str, object]] = {}
    for name, item in live.items():
        if name in outside or name == "loopback":
            continue
        shown = interface(item)
        row: dict[str, object] = {
            key: shown[key] for key in ("interface", "device", "up", "ipv4", "ipv6") if key in shown
        }
        row["zone"] = zones.get(name, "none: the firewall drops or accepts it by its defaults")
        bridge = told.get(str(item.get("device") or "").partition(".")[0])
        row["members"] = words(bridge.get("bridge-members")) if isinstance(bridge, dict) else []
        networks[name] = {**row, "devices": 0}
    ports = {mac: port for name, one in told.items() if isinstance(one, dict) and one.get("bridge-members")
             for mac, port in _behind(scene, name, words(one.get("bridge-members"))).items()}  # fmt: skip
    rows = []
    for one in scene.devices():
        network = _network_of(one["ip"], live, outside)
        if network in networks:
            networks[network]["devices"] = int(str(networks[network]["devices"])) + 1
        row = scene.named(one)
        if network:
            row["network"] = network
        by = stations.get(one["mac"]) or ports.get(one["mac"])
        if by:
            row["by"] = by
        if is_about(target, one["device"], one["mac"], one["ip"], one.get("name"), network):
            rows.append(row)
    answer["networks"] = [
        row for name, row in networks.items() if is_about(target, name) or not target or _of(rows, name)
    ]
    answer["access_points"] = points
    answer["devices"] = rows[:DEVICES]
    if len(rows) > DEVICES:
        answer["left_out"] = len(rows) - DEVICES
    return answer if live else {**answer, "notes": ["the live state is not available"]}


def _of(rows: list[dict[str, object]], name: str) -> bool:
    return any(row.get("network") == name for row in rows)


def _uplink(
    scene: Scene, name: str, item: dict[str, object], inside: dict[str, list[Prefix]]
) -> dict[str, object]:  # fmt: skip
    """Return one way to the internet; whether another router is before this one, where its address tells."""
    shown = interface(item)
    row: dict[str, object] = {
        key: shown[key] for key in ("interface", "device", "up", "ipv4", "ipv6", "gateway") if key in shown
    }
    proto = str(item.get("proto") or "")
    ifnames = {str(one.get("ifname")) for one in wireless(scene.facts)}
    row["kind"] = _KINDS.get(proto, proto) + (", over Wi-Fi" if str(row.get("device")) in ifnames else "")
    own = [str(one.get("address")) for one in dicts(item.get("ipv4-address"))]
    if own:
        parsed = addresses.number(own[0])
        is_shared = parsed is not None and parsed[0] == 4 and parsed[1] >> 22 == _SHARED[1] >> 22
        row["double_nat"] = bool(addresses.not_of_internet(own[0]))
        if row["double_nat"]:
            row["why"] = (
                "the provider shares one address among customers (CGNAT): nothing from outside gets in by IPv4"
                if is_shared
                else "its address is private: another router is before this one; forwards are needed there, too"
            )
    faults = [f"its address is in the network of {one}, too: neither is reached rightly; diagnose has the way out"
              for one, own_at in inside.items() if any(is_within(address, own_at) for address in own)]  # fmt: skip
    gateway, nets = str(row.get("gateway") or ""), prefixes({"ipv4-address": item.get("ipv4-address")})
    if "." in gateway and nets and all(length < 32 for _, _, length in nets) and not is_within(gateway, nets):
        faults.append(f"its gateway {gateway} is not in the network of its address: nothing gets out that way")
    return {**row, "faults": faults} if faults else row


def _access_points(scene: Scene) -> tuple[dict[str, str], list[dict[str, object]]]:
    """Return what each station is in, by MAC, and the access points."""
    there, stations, points = clients(scene.facts), {}, []
    by_section = {str(one.get("section")): one for one in wireless(scene.facts)}
    for section in scene.facts.sections("wireless", "wifi-iface"):
        live = by_section.get(str(section[".name"]), {})
        ssid = clean.name(scene.facts.text("wireless", section, "ssid"))
        heard = there.get(str(live.get("ifname")), [])
        for client in heard:
            stations[str(client["mac"])] = f"Wi-Fi {ssid} ({section.get('device')})"
        points.append({"radio": section.get("device"), "ssid": ssid, "mode": section.get("mode", "ap"),
                       "network": words(section.get("network")), "up": bool(live.get("ifname")),
                       "clients": len(heard)})  # fmt: skip
    return stations, points


def _behind(scene: Scene, bridge: str, members: list[str]) -> dict[str, str]:
    """Return the port behind which each MAC was heard last, {} where the kernel does not tell."""
    if "/" in bridge:
        return {}
    numbers = {}
    for member in members:
        text = scene.read(f"/sys/class/net/{member}/brport/port_no").strip() if "/" not in member else b""
        if text:
            numbers[int(text, 16)] = member
    found = {}
    data = scene.read(f"/sys/class/net/{bridge}/brforward")
    for at in range(0, len(data) - _ENTRY.size + 1, _ENTRY.size):
        mac, low, is_own, _, high, _, _ = _ENTRY.unpack_from(data, at)
        port = numbers.get(high << 8 | low)
        if port and not is_own:
            found[":".join([f"{byte:02x}" for byte in mac])] = f"port {port}"
    return found


def _network_of(ip: str, live: dict[str, dict[str, object]], outside: list[str]) -> str:
    inside = [name for name in live if name not in (*outside, "loopback")]
    return next((name for name in inside if ip and is_within(ip, prefixes(live[name]))), "")
