"""What the owner set for each tool: whether it is on, and whether he is asked; in sections `tool` of /etc/config/oasis.

The sections are upstream's: `name`, `server` and `enable` mean the same there. Ours are `approval`, and `revision`:
the sum of what the owner saw when he set it. Where a tool of somebody else's has another description, arguments or
class than it had then, his word does not count any more. A section counts for one server's tool, never for another of
the same name.

Shape of a permit: {"enabled": bool, "approval": ask | allow | deny, "note": why the owner's word does not count or ""}
"""

from __future__ import annotations

import threading

from oasis.config.settings import write
from oasis.core import jsonl
from oasis.errors import UsageError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.uci.cursor import Cursor
    from oasis.uci.model import Section

    Spec = dict[str, Any]

APPROVALS = ("ask", "allow", "deny")
BUILT_IN = "built-in"
_PLUGIN = "plugin:"
_SUM_CHARS = 16
_CHANGED = "it is not what it was when it was switched on: look at it again"
_SWITCH = {"0": False, "1": True, "off": False, "on": True, "no": False, "yes": True, "false": False, "true": True}


class Permits:
    """`sections()` gives those of our package, `cursor()` opens it for writing."""

    def __init__(self, sections: Callable[[], list[Section]], cursor: Callable[[], Cursor]) -> None:
        self._sections = sections
        self._cursor = cursor
        self._lock = threading.Lock()

    def read(self, specs: list[Spec]) -> list[dict[str, Any]]:
        """Return the permit of each spec, in their order."""
        found = [section.options for section in self._sections() if section.type == "tool"]
        return [_permit(spec, next((one for one in found if _is_of(one, spec)), {})) for spec in specs]

    def write(self, spec: Spec, enabled: bool | None, approval: str) -> None:
        """Set what is given; the rest stays as it is now.

        Raises: UsageError for what no owner can set.
        """
        if approval and approval not in APPROVALS:
            raise UsageError("approval is %r" % approval, "one of " + ", ".join(APPROVALS))
        if approval == "allow" and spec["class"] == "danger":
            raise UsageError("%s is dangerous: the owner is always asked" % spec["name"], "ask or deny")
        with self._lock:
            now = self.read([spec])[0]
            is_on = now["enabled"] if enabled is None else enabled
            values = {"enable": "1" if is_on else "0", "approval": approval or now["approval"]}
            if spec["source"] != BUILT_IN:
                values["revision"] = revision(spec)
            self._store(self._place(spec), spec, values)

    def _place(self, spec: Spec) -> str:
        for section in self._sections():
            if section.type == "tool" and _is_of(section.options, spec):
                return str(section.name)
        return ""

    def _store(self, section: str, spec: Spec, values: dict[str, str]) -> None:
        steps: list[dict[str, object]] = []
        if not section:
            section = "@tool[-1]"
            steps.append({"op": "add", "type": "tool"})
            values = {"name": spec["name"], "server": server(spec["source"]), **values}
        for option, value in values.items():
            steps.append({"op": "set", "section": section, "option": option, "value": value})
        write(self._cursor(), steps)


def server(source: str) -> str:
    """Return what a section calls a source: upstream's plugins are called by their object alone."""
    return source[len(_PLUGIN) :] if source.startswith(_PLUGIN) else source


def revision(spec: Spec) -> str:
    """Return a short sum of what the owner sees of a tool."""
    seen = [spec["description"], spec["input_schema"], spec["class"]]
    return sha256(jsonl.canonical(seen).encode("utf-8"))[:_SUM_CHARS]


def _is_of(options: dict[str, Any], spec: Spec) -> bool:
    return bool(options.get("name") == spec["name"] and options.get("server", BUILT_IN) == server(spec["source"]))


def _permit(spec: Spec, options: dict[str, Any]) -> dict[str, Any]:
    is_ours = spec["source"] == BUILT_IN
    permit = {"enabled": spec.get("enabled", is_ours), "approval": _usual(spec, is_ours), "note": ""}
    if not is_ours and "revision" in options and options["revision"] != revision(spec):
        return {**permit, "enabled": False, "note": _CHANGED}
    permit["enabled"] = _SWITCH.get(str(options.get("enable", "")).lower(), permit["enabled"])
    if options.get("approval") in APPROVALS:
        permit["approval"] = options["approval"]
    if spec["class"] == "danger" and permit["approval"] == "allow":
        permit["approval"] = "ask"
    return permit


def _usual(spec: Spec, is_ours: bool) -> str:
    if "approval" in spec:
        return str(spec["approval"])
    return "allow" if spec["class"] == "read" or (is_ours and spec["class"] != "danger") else "ask"
