"""What a running router knows beside its configuration, as plain values; every key may be missing.

Shape of facts:
    {"interfaces": {name: {"device": l3 device or "", "up": bool, "addresses": [(family, address, bits)], "zone": str}},
     "devices": {peer address: the router's device that leads to it},
     "neighbours": {peer address: MAC address}, "leases": [addresses given by DHCP],
     "ports": {peer address: the bridge port behind which it is, a wireless one too},
     "wifi": {wireless device: name of its wifi-iface section},
     "has_tls": bool (uhttpd can serve HTTPS),
     "keys": the text of dropbear's authorized_keys, b"" without one,
     "firewall": [rules that services added, as ubus gives them]}
A key that is missing makes answers more careful, never wrong. Each function turns one text or reply into the value of
one key.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Any, Facts

# Linux, include/uapi/linux/if_bridge.h, struct __fdb_entry: MAC, port, is_local, age, port_hi, 3 bytes unused
_FDB_ENTRY_BYTES = 16


def interfaces(dump: dict[str, Any]) -> Facts:
    """Return "interfaces" of the reply to `network.interface dump`."""
    found = {}
    for entry in dump.get("interface", []):
        told = [(4, one) for one in entry.get("ipv4-address", [])] + [(6, one) for one in entry.get("ipv6-address", [])]
        told += [(6, one["local-address"]) for one in entry.get("ipv6-prefix-assignment", []) if "local-address" in one]
        held = []
        for family, one in told:
            number = address_text.number(str(one["address"]))
            if number:
                held.append((family, number[1], int(one["mask"])))
        found[str(entry["interface"])] = {
            "device": str(entry.get("l3_device") or entry.get("device") or ""),
            "up": bool(entry.get("up")),
            "addresses": held,
            "zone": str(entry.get("data", {}).get("zone", "")),
        }
    return found


def added_rules(dump: dict[str, Any], services: dict[str, Any]) -> list[dict[str, Any]]:
    """Return "firewall" of `network.interface dump` and `service get_data {"type": "firewall"}`."""
    found = []
    for entry in dump.get("interface", []):
        for rule in entry.get("data", {}).get("firewall", []):
            found.append({**rule, "device": rule.get("device") or entry.get("l3_device") or entry.get("device")})
    for service in services.values():
        for part in [service, *[one for one in service.values() if isinstance(one, dict)]]:
            found += [dict(rule) for rule in part.get("firewall", [])]
    return found


def neighbours(arp_table: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Return "neighbours" and "devices" of the text of /proc/net/arp."""
    macs, devices = {}, {}
    for line in arp_table.decode("ascii", "replace").split("\n")[1:]:
        words = line.split()
        if len(words) == 6 and words[2] != "0x0":
            macs[words[0]] = words[3].lower()
            devices[words[0]] = words[5]
    return macs, devices


def leases(text: bytes) -> list[str]:
    """Return "leases" of dnsmasq's lease file."""
    lines = [line.split() for line in text.decode("utf-8", "replace").split("\n")]
    return [words[2] for words in lines if len(words) >= 4 and address_text.number(words[2])]


def access_points(status: dict[str, Any]) -> dict[str, str]:
    """Return "wifi" of the reply to `network.wireless status`."""
    told = [one for radio in status.values() if isinstance(radio, dict) for one in radio.get("interfaces", [])]
    return {str(one["ifname"]): str(one["section"]) for one in told if one.get("ifname") and one.get("section")}


def certificates(uhttpd: bytes) -> list[tuple[str, str]]:
    """Return (certificate, key) of each section of uhttpd's package, "" for the usual file."""
    package = sections.read({"uhttpd": uhttpd})["uhttpd"]
    return [(sections.text(one, "cert"), sections.text(one, "key")) for one in sections.typed(package, "uhttpd")]


def ports(forwarding: bytes, names: dict[int, str], macs: dict[str, str]) -> dict[str, str]:
    """Return "ports" of a bridge's /sys/class/net/BRIDGE/brforward.

    `names`: the bridge's port numbers (brif/PORT/port_no) and their devices; `macs`: "neighbours".
    """
    behind = {}
    for start in range(0, len(forwarding) - _FDB_ENTRY_BYTES + 1, _FDB_ENTRY_BYTES):
        entry = forwarding[start : start + _FDB_ENTRY_BYTES]
        is_local = entry[7]
        name = names.get(entry[6] | entry[12] << 8)
        if name and not is_local:
            behind[":".join("%02x" % byte for byte in entry[:6])] = name
    return {address: behind[mac] for address, mac in macs.items() if mac in behind}
