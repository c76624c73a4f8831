"""Ask the running router whether its owner still reaches it after a plan: gathers what reach/ needs, and judges.

Callable: `OwnerWay(root, files, call)(images, came)` with `call(object, method)` of the bus and the connections by
which the owner of the run is here (origin.py); gives reach.verdict's answer. The way that is tried is that of the
owner's own connection while it stands; where nothing tells it, all that lead from elsewhere to pages or SSH.
Reads files and the bus, writes nothing. The judge is loaded with the first plan that needs it.
"""

from __future__ import annotations

from oasis.errors import StoreError, ToolError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.change.reach.shapes import Answer, Facts, Path
    from oasis.change.shapes import Any, Callable, Images
    from oasis.system.connections import Connection
    from oasis.system.files import Files
    from oasis.system.root import Root

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

    def __call__(self, images: Images, came: Sequence[Connection] = ()) -> Answer | None:
        """Return verdict's answer, "dangers" and "read", {package: sha256} of the sources; None: it touches no way."""
        from oasis.change.reach import facts
        from oasis.change.reach.verdict import PACKAGES, dangers, verdict

        if not any(name in PACKAGES for name in images):
            return None
        before = {name: self._files.read(self._root.confdir + "/" + name) for name in PACKAGES}
        files = {name: data for name, data in before.items() if data is not None}
        after = {**files, **{name: pair[1] for name, pair in images.items() if name in PACKAGES}}
        tables = [self._files.read(self._root.path("/proc/net/" + name)) or b"" for name in ("tcp", "tcp6")]
        ways = facts.owner_paths(tables[0], tables[1], facts.management_ports(files))
        own = facts.among(ways, came)
        found: Facts = self._facts(files, own) if own else {}
        found["keys"] = self._read(facts.FILE)
        answer = verdict(files, after, own, found)
        answer["dangers"] = dangers(files, after, found)
        # What the verdict rests on: a plan is stale when any of it moved.
        answer["read"] = {name: sha256(data) for name, data in files.items()}
        return answer

    def _facts(self, packages: dict[str, bytes], ways: list[Path]) -> Facts:
        from oasis.change.reach import facts

        dump = self._ask("network.interface", "dump")
        neighbours, devices = facts.neighbours(self._read("/proc/net/arp"))
        found: Facts = {
            "interfaces": facts.interfaces(dump),
            "firewall": facts.added_rules(dump, self._ask("service", "get_data", {"type": "firewall"})),
            "neighbours": neighbours,
            "devices": devices,
            "leases": facts.leases(self._read(_LEASES)),
            "ports": {},
            "wifi": facts.access_points(self._ask("network.wireless", "status")),
            "has_tls": self._has_tls(facts.certificates(packages.get("uhttpd", b""))),
        }
        peers = {way["source"]: neighbours[way["source"]] for way in ways if way["source"] in neighbours}
        for bridge in {devices[source] for source in peers}:
            names, forwarding = self._bridge(bridge)
            found["ports"].update(facts.ports(forwarding, names, peers))
        return found

    def _bridge(self, name: str) -> tuple[dict[int, str], bytes]:
        """Return {number: device} of a bridge's ports and its forwarding table; nothing for another device."""
        folder = "%s/%s/" % (_DEVICES, name)
        numbers = {}
        for port in self._files.names(self._root.path(folder + "brif")):
            word = self._read("%sbrif/%s/port_no" % (folder, port)).strip()
            if word:
                numbers[int(word, 0)] = port
        return numbers, self._read(folder + "brforward") if numbers else b""

    def _has_tls(self, pairs: list[tuple[str, str]]) -> bool:
        wanted = [_TLS] + [name or usual for pair in pairs for name, usual in zip(pair, (_CERTIFICATE, _KEY))]  # noqa: B905
        return all(self._files.size(self._root.path(name)) > 0 for name in wanted)

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
