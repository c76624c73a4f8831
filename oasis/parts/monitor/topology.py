"""How the home network hangs together, in one answer: uplinks, networks, access points, and the devices behind them.

Which port a device on a cable is behind stands in the bridge's own table, /sys/class/net/BRIDGE/brforward. Source:
struct __fdb_entry of the kernel's linux/if_bridge.h: six bytes of MAC, low byte of the port's number, whether it is the
bridge's own, four bytes of age, high byte of the number, three of padding.
"""

from __future__ import annotations

import struct

from oasis.core import clean
from oasis.doctor.findings import judged
from oasis.doctor.rounds import CHECKS
from oasis.doctor.scene import Scene as Doctor
from oasis.parts.monitor.look import is_about
from oasis.tools.builtin.probing import is_within, prefixes
from oasis.tools.builtin.status import clients, interface, wan_names, wireless
from oasis.tools.router import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Finding
    from oasis.parts.monitor.look import Scene
    from oasis.tools.shapes import Result

DEVICES = 60
_ENTRY = struct.Struct("<6sBBIBBH")
_KINDS = {
    "dhcp": "an address by DHCP", "dhcpv6": "IPv6 by DHCPv6", "pppoe": "dial-in by PPPoE", "static": "a fixed address",
    "wireguard": "a VPN by WireGuard", "dslite": "IPv4 through IPv6 (DS-Lite)", "map": "IPv4 through IPv6 (MAP)",
    **dict.fromkeys(("qmi", "mbim", "ncm", "3g", "modemmanager"), "mobile"),
}  # fmt: skip
_NAT = ("double-nat", "carrier-nat")
# What the doctor asks of the uplinks without asking the network: `diagnose` must not say otherwise than this.
_CHECKS = ("carrier", "wan", "address", "same-network", "double-nat", "route", "hops")


def topology(scene: Scene, target: str) -> Result:
    """Return {"uplinks", "networks", "access_points", "devices", "faults"?, "left_out"?} about a network or a device.

    "faults" are the doctor's findings of the uplinks, each {"title", "explanation"}.
    """
    facts = scene.facts
    live = {str(item.get("interface")): item for item in facts.interfaces()}
    outside = [name for name in wan_names(facts) if name in live]
    doctor = Doctor(facts, lambda _: [], None, bool)  # type: ignore[arg-type]  # these checks ask no probe
    findings = judged(doctor, [one for one in CHECKS if one[0] in _CHECKS])[0]
    found = {one["id"]: one for one in findings}
    answer: dict[str, object] = {"uplinks": [_uplink(scene, name, live[name], found) for name in outside]}
    faults = [
        {key: one[key] for key in ("title", "explanation")}
        for one in findings
        if one["id"].partition(":")[0] not in _NAT
    ]
    if faults:
        answer["faults"] = faults
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
    scene: Scene, name: str, item: dict[str, object], findings: dict[str, Finding]
) -> dict[str, object]:  # fmt: skip
    """Return one way to the internet; whether another router is before this one, where its address tells."""
    shown = interface(item)
    row: dict[str, object] = {
        key: shown[key] for key in ("interface", "device", "up", "ipv4", "ipv6", "gateway") if key in shown
    }
    proto = str(item.get("proto") or "")
    ifnames = {str(one.get("ifname")) for one in wireless(scene.facts)}
    row["kind"] = _KINDS.get(proto, proto) + (", over Wi-Fi" if str(row.get("device")) in ifnames else "")
    if item.get("ipv4-address"):
        found = [findings[key] for key in (f"{one}:{name}" for one in _NAT) if key in findings]
        row["double_nat"] = bool(found)
        if found:
            row["why"] = found[0]["explanation"]
    return row


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
