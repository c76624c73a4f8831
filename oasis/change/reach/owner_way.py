"""Ask the running router whether its owner still reaches it after a plan: gathers what reach/ needs, and judges.

Callable: `OwnerWay(root, files, call)(images, connections)` with `call(object, method)` of the bus and the connections
by which the owner of the run is here (proof_of_life.py); gives reach.verdict's answer. The way that is tried is that of
the owner's own connection while it stands; where nothing tells it, all that lead from elsewhere to pages or SSH.
Reads files and the bus, writes nothing. Each function turns one text or reply into the value of one key of the facts.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import listeners, sections
from oasis.change.reach.verdict import PACKAGES, dangers, verdict
from oasis.errors import StoreError, ToolError
from oasis.system.connections import connections as all_connections
from oasis.system.connections import is_loopback
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.change.reach.shapes import Added, Answer, Facts, Interface, Iterable, Path
    from oasis.change.shapes import Any, Callable, Images
    from oasis.system.connections import Connection
    from oasis.system.files import Files
    from oasis.system.root import Root

    Reply = dict[str, Any]  # of netifd and procd, read as they write it

_LEASES = "/tmp/dhcp.leases"  # noqa: S108 - where dnsmasq keeps them by default
_DEVICES = "/sys/class/net"
# What uhttpd's script asks for before it serves HTTPS. Source: uhttpd.init of OpenWrt 24.10.
_TLS, _CERTIFICATE, _KEY = "/lib/libustream-ssl.so", "/etc/uhttpd.crt", "/etc/uhttpd.key"


class OwnerWay:
    """The ways by which owners are connected now, tried on the configuration that a plan gives."""

    def __init__(self, root: Root, files: Files, call: Callable[..., dict[str, Any] | None]) -> None:
        self._root = root
        self._files = files
        self._call = call

    def __call__(self, images: Images, connections: Sequence[Connection] = ()) -> Answer | None:
        """Return verdict's answer, "dangers" and "read", {package: sha256} of the sources; None: it touches no way."""
        if not any(name in PACKAGES for name in images):
            return None
        before = {name: self._files.read(self._root.confdir + "/" + name) for name in PACKAGES}
        files = {name: data for name, data in before.items() if data is not None}
        after = {**files, **{name: pair[1] for name, pair in images.items() if name in PACKAGES}}
        ways = owner_paths(all_connections(self._root.path("/proc/net")), management_ports(files))
        own = among(ways, connections)
        found: Facts = self._facts(files, own) if own else {}
        found["keys"] = self._read(listeners.KEYS_FILE)
        answer = verdict(files, after, own, found)
        answer["dangers"] = dangers(files, after, found)
        # What the verdict rests on: a plan is stale when any of it moved.
        answer["read"] = {name: sha256(data) for name, data in files.items()}
        return answer

    def _facts(self, packages: dict[str, bytes], ways: list[Path]) -> Facts:
        dump = self._ask("network.interface", "dump")
        macs, devices = neighbours(self._read("/proc/net/arp"))
        pairs = certificates(packages.get("uhttpd", b""))
        served = [name or usual for pair in pairs for name, usual in zip(pair, (_CERTIFICATE, _KEY), strict=True)]
        found: Facts = {
            "interfaces": interfaces(dump),
            "firewall": added_rules(dump, self._ask("service", "get_data", {"type": "firewall"})),
            "neighbours": macs,
            "devices": devices,
            "leases": leases(self._read(_LEASES)),
            "ports": {},
            "wifi": access_points(self._ask("network.wireless", "status")),
            "has_tls": all(self._files.size(self._root.path(name)) > 0 for name in (_TLS, *served)),
        }
        peers = {way["source"]: macs[way["source"]] for way in ways if way["source"] in macs}
        for bridge in {devices[source] for source in peers}:
            folder = "%s/%s/" % (_DEVICES, bridge)
            numbers = {}  # of a bridge's ports; another device has none
            for port in self._files.names(self._root.path(folder + "brif")):
                word = self._read("%sbrif/%s/port_no" % (folder, port)).strip()
                numbers.update({int(word, 0): port} if word else {})
            found["ports"].update(ports(self._read(folder + "brforward") if numbers else b"", numbers, peers))
        return found

    def _read(self, path: str) -> bytes:
        try:
            return self._files.read(self._root.path(path)) or b""
        except StoreError:
            return b""  # as below: a fact that cannot be had is missing

    def _ask(self, name: str, method: str, arguments: dict[str, str] | None = None) -> dict[str, Any]:
        try:
            return self._call(name, method, arguments) or {}
        except ToolError:
            return {}  # a missing fact makes the answer more careful, never wrong


# Linux, include/uapi/linux/if_bridge.h, struct __fdb_entry: MAC, port, is_local, age, port_hi, 3 bytes unused
_FDB_ENTRY_BYTES = 16


def interfaces(dump: Reply) -> dict[str, Interface]:
    """Return "interfaces" of the reply to `network.interface dump`."""
    found: dict[str, Interface] = {}
    for entry in dump.get("interface", []):
        prefixes = [one["local-address"] for one in entry.get("ipv6-prefix-assignment", []) if "local-address" in one]
        held = []
        for one in [*entry.get("ipv4-address", []), *entry.get("ipv6-address", []), *prefixes]:
            number = address_text.number(str(one["address"]))
            if number:
                held.append((*number, int(one["mask"])))
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
    entries = [one for radio in status.values() if isinstance(radio, dict) for one in radio.get("interfaces", [])]
    return {str(one["ifname"]): str(one["section"]) for one in entries if one.get("ifname") and one.get("section")}


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


_ESTABLISHED = 1
_DEFAULT_PORTS = (22, 80, 443)


def owner_paths(found: dict[Connection, int], listen_ports: Iterable[int]) -> list[Path]:
    """Return every established connection from elsewhere to one of the ports, each peer, address and port once.

    `found`: the state of all connections, see system/connections.py.
    """
    ports = set(listen_ports)
    ways: dict[object, Path] = {}
    for (own, port, peer, peer_port), state in found.items():
        is_near = is_loopback(own) or is_loopback(peer)
        if state == _ESTABLISHED and port in ports and len(own) == len(peer) and not is_near:
            ways.setdefault((peer, own, port), {
                "family": 4 if len(own) == 4 else 6, "source": _text(peer), "source_port": peer_port,
                "address": _text(own), "port": port, "protocol": "tcp",
            })  # fmt: skip
    return list(ways.values())


def among(ways: list[Path], connections: Iterable[Connection]) -> list[Path]:
    """Return the ways by which somebody came, as far as they stand; all of them when none of theirs does.

    A browser opens connections as it likes, so peer, address and port tell its way, and not the peer's port.
    """
    own = [(_text(one[2]), _text(one[0]), one[1]) for one in connections]
    return [way for way in ways if (way["source"], way["address"], way["port"]) in own] or ways


def _text(address: bytes) -> str:
    return address_text.text_of(4 if len(address) == 4 else 6, int.from_bytes(address, "big"))


def management_ports(files: dict[str, bytes]) -> list[int]:
    """Return the ports that dropbear and uhttpd are configured to listen on, and the usual ones."""
    config = sections.read({name: files[name] for name in ("dropbear", "uhttpd") if name in files})
    words = []
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        words += sections.texts(section, "Port")
    for section in sections.typed(config.get("uhttpd", {}), "uhttpd"):
        listens = sections.texts(section, "listen_http") + sections.texts(section, "listen_https")
        words += [word.rpartition(":")[2] for word in listens]
    return sorted({*_DEFAULT_PORTS, *(int(word) for word in words if address_text.is_port(word))})
