"""Ask the running router whether its owner still reaches it after a plan: gathers what reach/ needs, and judges.

Callable: `OwnerWay(root, files, call)(images)` with `call(object, method)` of the bus; gives reach.verdict's answer.
Reads files and the bus, writes nothing. The judge is loaded with the first plan that needs it.
"""

from __future__ import annotations

from oasis.errors import ToolError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Answer, Facts
    from oasis.change.shapes import Any, Callable, Images
    from oasis.system.files import Files
    from oasis.system.root import Root

_LEASES = "/tmp/dhcp.leases"  # noqa: S108 - where dnsmasq keeps them by default


class OwnerWay:
    """The ways by which owners are connected now, tried on the configuration that a plan gives."""

    def __init__(self, root: Root, files: Files, call: Callable[..., dict[str, Any] | None]) -> None:
        self._root = root
        self._files = files
        self._call = call

    def __call__(self, images: Images) -> Answer | None:
        """Return verdict's answer and "read", {package: sha256} of its sources; None when nothing touches the way."""
        from oasis.change.reach import paths
        from oasis.change.reach.verdict import PACKAGES, verdict

        if not any(name in PACKAGES for name in images):
            return None
        before = {name: self._files.read(self._root.confdir + "/" + name) for name in PACKAGES}
        files = {name: data for name, data in before.items() if data is not None}
        after = {**files, **{name: pair[1] for name, pair in images.items() if name in PACKAGES}}
        tables = [self._files.read(self._root.path("/proc/net/" + name)) or b"" for name in ("tcp", "tcp6")]
        ways = paths.owner_paths(tables[0], tables[1], paths.management_ports(files))
        answer = verdict(files, after, ways, self._facts() if ways else {})
        # What the verdict rests on: a plan is stale when any of it moved.
        answer["read"] = {name: sha256(data) for name, data in files.items()}
        return answer

    def _facts(self) -> Facts:
        from oasis.change.reach import facts

        dump = self._ask("network.interface", "dump")
        neighbours, devices = facts.neighbours(self._files.read(self._root.path("/proc/net/arp")) or b"")
        return {
            "interfaces": facts.interfaces(dump),
            "firewall": facts.added_rules(dump, self._ask("service", "get_data", {"type": "firewall"})),
            "neighbours": neighbours,
            "devices": devices,
            "leases": facts.leases(self._files.read(self._root.path(_LEASES)) or b""),
        }

    def _ask(self, name: str, method: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return self._call(name, method, arguments) or {}
        except ToolError:
            return {}  # a missing fact makes the answer more careful, never wrong
