"""Optional parts: each folder here can be left out of an installation.

What a part offers stands in its `manifest.py`: data, and small functions that load the part when they are called. No
module outside a part names one inside it; it asks here. A manifest has of these what it needs:

    METHODS        {first word of its methods: module whose gather(kit) makes what answers them}; see api/parts.py
    ROWS           {name: (access, handler, arguments, takes_role?)}: rows of the table of methods; see api/table.py
    ROLE_METHODS   {role: methods that it may call}, of roles of its own and of others
    ROLE_TOOLS     {role: tools that work for it}; see tools/principal.py
    TOOLS          {one of METHODS: file with the specs of its tools, below oasis/}
    OUTSIDE        {one of METHODS: has_any(kit), whether its sources of tools, sources(), are to be asked}
    ADDING         those of METHODS that add to a turn, by added()
    LOOKING        those of METHODS that look at a turn that ended, by after()
    STARTING       {one of METHODS: is_wanted(kit)}: start() at the start of the daemon
    SETTLING       {one of METHODS: is_wanted(kit)}: settle() at the start and when the settings changed
    COMMANDS       commands of `oasis`, as in cli/commands.json: (usage, summary, "module:function", more help)
    CHAT_COMMANDS  {command of `oasis chat`: (summary, "module:function", its arguments)}
    BUS_METHODS    further methods for the bus, in the form of api/table.py; bus_methods(daemon, waiters) answers them
    BUS_ROLES      which of them each role may call
    BUS_SHARED     methods of ours that they have, too, with fewer arguments: these are answered in their shape
    offline(idle_s)                           the built-in model service
    moment(words, now_s, facts, root)         the time that words mean

Modules are named below oasis/: "parts.schedule.scheduler".
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_read: list[tuple[ModuleType, ...]] = []


def manifests() -> tuple[ModuleType, ...]:
    """Return the manifests of the parts that are installed, by name; read once."""
    if not _read:
        found = [name for name in sorted(os.listdir(_HERE)) if _has_manifest(name)]
        _read.append(tuple(__import__(f"oasis.parts.{name}.manifest", fromlist=("manifest",)) for name in found))
    return _read[0]


def _has_manifest(name: str) -> bool:
    # Where only bytecode is installed there is no .py.
    return any(os.path.exists(f"{_HERE}/{name}/manifest{suffix}") for suffix in (".py", ".pyc"))


def merged(attribute: str) -> dict[str, Any]:
    """Return what all manifests say in a table of theirs."""
    found: dict[str, Any] = {}
    for manifest in manifests():
        found.update(getattr(manifest, attribute, {}))
    return found


def joined(attribute: str, own: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return a table of names, ours with what all manifests add to it."""
    found = dict(own)
    for manifest in manifests():
        for key, names in getattr(manifest, attribute, {}).items():
            found[key] = found.get(key, ()) + names
    return found


def listed(attribute: str) -> tuple[str, ...]:
    """Return the names that all manifests give in a list of theirs."""
    return tuple(name for manifest in manifests() for name in getattr(manifest, attribute, ()))


def first(attribute: str) -> Any:
    """Return what the first manifest has by a name, None where no installed part has it."""
    return next((getattr(manifest, attribute) for manifest in manifests() if hasattr(manifest, attribute)), None)
