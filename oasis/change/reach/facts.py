"""What a running router knows in addition to its configuration, as plain values; every key may be missing.

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

Paths: the connections by which owners reach the router now. Shape: {"family": 4 | 6, "source": the peer's address,
"source_port": int, "address": the router's address that it uses, "port": int, "protocol": "tcp"}.
Source: Linux, Documentation/networking/proc_net_tcp.rst.

Logins: who can log in by SSH, by password or by a key in /etc/dropbear/authorized_keys. Source: dropbear,
svr-authpubkey.c and signkey.c; OpenWrt's build of it, which leaves out ECDSA and security keys by default.
"""

from __future__ import annotations

import base64
import binascii
import sys

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Added, Facts, Interface, Iterable, Path, Table
    from oasis.core.shapes import Any
    from oasis.system.connections import Connection

    Reply = dict[str, Any]  # of netifd and procd, read as they write it


# Linux, include/uapi/linux/if_bridge.h, struct __fdb_entry: MAC, port, is_local, age, port_hi, 3 bytes unused
_FDB_ENTRY_BYTES = 16


def interfaces(dump: Reply) -> dict[str, Interface]:
    """Return "interfaces" of the reply to `network.interface dump`."""
    found: dict[str, Interface] = {}
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


def added_rules(dump: Reply, services: Reply) -> list[Added]:
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


def access_points(status: Reply) -> dict[str, str]:
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


_ESTABLISHED = b"01"
_MAPPED = 0xFFFF << 32  # ::ffff:0:0/96, IPv4 on a socket of both families
_DEFAULT_PORTS = (22, 80, 443)


def owner_paths(
    tcp_table: bytes, tcp6_table: bytes, listen_ports: Iterable[int], order: str = sys.byteorder
) -> list[Path]:
    """Return every established connection from elsewhere to one of the ports, each peer, address and port once.

    `tcp_table` and `tcp6_table` are the texts of /proc/net/tcp and tcp6 ("" where there is none); `order` is the byte
    order of the router, in whose words the kernel prints addresses.
    """
    ports, found, seen = set(listen_ports), [], set()
    for line in tcp_table.split(b"\n")[1:] + tcp6_table.split(b"\n")[1:]:
        words = line.split()
        if len(words) < 4 or words[3] != _ESTABLISHED:
            continue
        path = _path(_endpoint(words[2], order), _endpoint(words[1], order))
        key = path and (path["source"], path["address"], path["port"])
        if path and path["port"] in ports and key not in seen:
            seen.add(key)
            found.append(path)
    return found


def among(ways: list[Path], came: Iterable[Connection]) -> list[Path]:
    """Return the ways by which somebody came, as far as they stand; all of them when none of theirs does.

    A browser opens connections as it likes, so peer, address and port tell its way, and not the peer's port.
    """
    own = [(_text(one[2]), _text(one[0]), one[1]) for one in came]
    return [way for way in ways if (way["source"], way["address"], way["port"]) in own] or ways


def _text(address: bytes) -> str:
    return address_text.text_of(4 if len(address) == 4 else 6, int.from_bytes(address, "big"))


def management_ports(files: dict[str, bytes]) -> list[int]:
    """Return the ports that dropbear and uhttpd are configured to listen on, and the usual ones."""
    ports = set(_DEFAULT_PORTS)
    config = sections.read({name: files[name] for name in ("dropbear", "uhttpd") if name in files})
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        ports.update(int(word) for word in sections.texts(section, "Port") if address_text.is_port(word))
    for section in sections.typed(config.get("uhttpd", {}), "uhttpd"):
        for word in sections.texts(section, "listen_http") + sections.texts(section, "listen_https"):
            port = word.rpartition(":")[2]
            ports.update([int(port)] if address_text.is_port(port) else [])
    return sorted(ports)


def _path(peer: tuple[int, int, int], here: tuple[int, int, int]) -> Path | None:
    (family, source, source_port), (own_family, address, port) = _unmapped(peer), _unmapped(here)
    if family != own_family or _is_loopback(family, source) or _is_loopback(family, address):
        return None
    return {
        "family": family, "source": address_text.text_of(family, source), "source_port": source_port,
        "address": address_text.text_of(family, address), "port": port, "protocol": "tcp",
    }  # fmt: skip


def _unmapped(end: tuple[int, int, int]) -> tuple[int, int, int]:
    family, value, port = end
    if family == 6 and value & ~0xFFFFFFFF == _MAPPED:
        return 4, value & 0xFFFFFFFF, port
    return end


def _is_loopback(family: int, value: int) -> bool:
    return value >> 24 == 127 if family == 4 else value == 1


def _endpoint(word: bytes, order: str) -> tuple[int, int, int]:
    """Return (family, address, port) of ADDRESS:PORT in hex; each 32 bits of the address stand in the host's order."""
    address, _, port = word.partition(b":")
    value = 0
    for start in range(0, len(address), 8):
        raw = bytes.fromhex(address[start : start + 8].decode("ascii"))
        value = value << 32 | int.from_bytes(raw, "little" if order == "little" else "big")
    return 4 if len(address) == 8 else 6, value, int(port, 16)


PASSWORDS = ("PasswordAuth", "RootPasswordAuth", "RootLogin")
FILE = "/etc/dropbear/authorized_keys"
_READ = ("ssh-ed25519", "ssh-rsa")
# Read by some builds only.
_PERHAPS = (
    "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip
_LONGEST = 4200  # MAX_AUTHKEYS_LINE: what is longer is passed over
_LEAST_BYTES = {"ssh-ed25519": 51, "ssh-rsa": 140}  # the whole key; RSA of 1024 bits, below that it is refused


def takes_password(section: Table) -> bool:
    """Return whether root can log in with a password."""
    return all(sections.flag(section, option, True) for option in PASSWORDS)


def readable_keys(text: bytes | None) -> str:
    """Return "yes" when the file holds a key that dropbear reads, "unknown" for one that it may read, else "no".

    None is a file that could not be asked for: "unknown" too.
    """
    if text is None:
        return "unknown"
    found = {_key(line.decode("utf-8", "replace")) for line in text.split(b"\n") if len(line) <= _LONGEST}
    return next((answer for answer in ("yes", "unknown") if answer in found), "no")


def _key(line: str) -> str:
    """Judge one line: options may stand before the kind, and one of them may take the shell away."""
    words = line.split()
    kinds = (*_READ, *_PERHAPS)
    number = next((index for index, word in enumerate(words) if word in kinds), -1)
    if number < 0 or line.lstrip().startswith("#") or number + 1 >= len(words):
        return "no"
    kind = words[number]
    try:
        data = base64.b64decode(words[number + 1], validate=True)
    except (binascii.Error, ValueError):
        return "no"
    name = data[4 : 4 + len(kind)]
    if name != kind.encode() or int.from_bytes(data[:4], "big") != len(kind) or len(data) < _LEAST_BYTES.get(kind, 0):
        return "no"
    return "yes" if kind in _READ and not number else "unknown"


def shut(old: Table, new: Table, facts: Facts) -> tuple[str, str]:
    """Return ("no" | "cannot_tell", why) when passwords go off in a section, ("", "") when they do not."""
    if not takes_password(old) or takes_password(new):
        return "", ""
    option = next(name for name in PASSWORDS if not sections.flag(new, name, True))
    what = "dropbear.%s.%s goes off" % (new[".name"], option)
    if not sections.flag(new, "RootLogin", True):
        return "cannot_tell", what + ": root cannot log in by SSH then, with a key neither"
    held = readable_keys(facts["keys"]) if "keys" in facts else ""
    if held == "no":
        return "no", what + ": nobody can log in by SSH then, for %s holds no key that dropbear reads" % FILE
    if held == "unknown":
        return "cannot_tell", what + ": %s holds only keys that dropbear may not read or not give a shell" % FILE
    return "cannot_tell", what + ": whether you hold a key is not known"
