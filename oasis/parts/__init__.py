"""Optional parts: each folder here can be left out of an installation.

What a part offers stands in its `manifest.py`: data, and small functions that load the part when they are called. No
module outside a part names one inside it; it asks here. A manifest that cannot be used is refused with the reason, and
the rest works. Which commands, methods and tools a part that is not here would have stands in known.json. A manifest
has VERSION, that of the package which it was made for, and of these what it needs:

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

Modules are named below oasis/: "parts.schedule.scheduler". A part that talks to the network has a module `exchange`,
which runs in the worker: exchange(request, open_it, read, emit) answers requests whose op is the part's name.
"""

from __future__ import annotations

import os
import sys

from oasis import VERSION
from oasis.core import jsonl
from oasis.errors import SchemaError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
# The tables of a manifest: of what the values are. No name in the first three may be one of the core's or of another
# part; what those after ROLE_TOOLS name is in METHODS.
_TABLES: dict[str, type] = {
    "METHODS": str, "COMMANDS": tuple, "CHAT_COMMANDS": tuple, "ROWS": tuple, "BUS_METHODS": tuple,
    "ROLE_METHODS": tuple, "BUS_ROLES": tuple, "ROLE_TOOLS": tuple,
    "TOOLS": str, "OUTSIDE": object, "STARTING": object, "SETTLING": object,
}  # fmt: skip
_LISTS = ("ADDING", "LOOKING", "BUS_SHARED")
_ARGUMENTS = (str, int, bool, list, dict)
_LOST = "its file %s is missing or cut off, as when the flash was full"
_MAGIC = "\\r\\n'"  # ends the magic number of every Python, as the error shows it
_KINDS = ("methods", "commands", "chat_commands")
_read: list[list[ModuleType]] = []
_seen: dict[str, tuple[int, int]] = {}
# Parts that are here and not used: why.
refused: dict[str, str] = {}


def _installed() -> dict[str, tuple[int, int]]:
    """Return {name of a part that is here: inode of its manifest and when that was written, 0 for a lost manifest}.

    A package that was removed leaves folders, and the bytecode in them that was made here, but no other files.
    """
    found = {}
    for name in sorted(os.listdir(_HERE)):
        for suffix in (".py", ".pyc"):  # where only bytecode is installed there is no .py
            try:
                status = os.stat(f"{_HERE}/{name}/manifest{suffix}")
                found[name] = (status.st_ino, status.st_ctime_ns)  # a package sets the other time, maybe as it was
            except OSError:
                continue
        folder = f"{_HERE}/{name}"
        inside = os.listdir(folder) if name not in found and name[0] != "_" and os.path.isdir(folder) else ()
        if any(os.path.isfile(f"{folder}/{file}") for file in inside):
            found[name] = (0, 0)
    return found


def is_here(part: str) -> bool:
    """Tell whether a part is installed now, which need not be so since the manifests were read."""
    return any(os.path.exists(f"{_HERE}/{part}/manifest{suffix}") for suffix in (".py", ".pyc"))


def news() -> str:
    """Return what parts were installed or removed since the manifests were read, "" for nothing."""
    now = _installed()
    changed = [name for name in sorted({*_seen, *now}) if _seen.get(name) != now.get(name)]
    return ", ".join(_title(name) + (" was installed" if name in now else " was removed") for name in changed)


def manifests() -> tuple[ModuleType, ...]:
    """Return the manifests of the parts that can be used, by name; read once."""
    if not _read:
        _read.append([])
        _seen.update(_installed())
        taken = {what: set(names) for what, names in jsonl.table(__file__, "known.json")["core"].items()}
        for name in _seen:
            try:
                lacking = _not_whole(name)
                if lacking:
                    raise ValueError(lacking)
                manifest = __import__(f"oasis.parts.{name}.manifest", fromlist=("manifest",))
                _check(name, manifest, taken)
                _read[0].append(manifest)
            except (Exception, SystemExit) as error:  # whatever is in that file: it is not ours alone
                refused[name] = _why(error)
    return tuple(_read[0])


def read_again() -> None:
    """Have the manifests read anew: a program that talks to the service goes on while that takes up other parts."""
    _read.clear()
    _seen.clear()
    refused.clear()


def _not_whole(part: str) -> str:
    """Return which file of a part is missing or cut off, as on a full flash; "" where none is.

    Shape of its files.json, which `make package` writes: {path in its folder: size_bytes}; without it nothing is known.
    """
    folder = f"{_HERE}/{part}/"
    try:
        with open(folder + "files.json", "rb") as file:
            sizes = jsonl.loads(file.read())
    except FileNotFoundError:
        sizes = {}
    except (OSError, SchemaError):
        sizes = {"files.json": -1}
    for name, size_bytes in sizes.items() if isinstance(sizes, dict) else ():
        try:
            is_whole = os.path.getsize(folder + name) == size_bytes
        except OSError:
            is_whole = False
        if not is_whole:
            return _LOST % name
    return "" if is_here(part) else _LOST % "manifest"


def _why(error: BaseException) -> str:
    words = str(error) or type(error).__name__
    if isinstance(error, EOFError) or "marshal data" in words or ("bad magic number" in words and words[-5:] != _MAGIC):
        return "a file of it is damaged (%s)" % words
    if isinstance(error, ImportError) and "bad magic number" in words:
        return "it is made for another Python than that of this router (%d.%d)" % sys.version_info[:2]
    return words


def _check(part: str, manifest: ModuleType, taken: dict[str, set[str]]) -> None:
    """Add what a manifest names to what is taken. Raises: ValueError, or what a broken table raises."""
    if manifest.VERSION != VERSION:
        raise ValueError(f"it is of version {manifest.VERSION}, and this is Oasis {VERSION}")
    tables: dict[str, dict[str, Any]] = {name: getattr(manifest, name, {}) for name in _TABLES}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(key, str) for key in table):
            raise ValueError(f"{name} of its manifest is no table")
        for key, value in table.items():
            if not isinstance(value, _TABLES[name]) or (_TABLES[name] is object and not callable(value)):
                raise ValueError(f"{key} in {name} of its manifest is a {type(value).__name__}")
    for name in _LISTS:
        _check_texts(name, getattr(manifest, name, ()))
    own = tables["METHODS"]
    within = [*[key for name in list(_TABLES)[8:] for key in tables[name]], *getattr(manifest, "ADDING", ())]
    for key in (*within, *getattr(manifest, "LOOKING", ())):
        if key not in own:
            raise ValueError(f"{key} is not in METHODS of its manifest")
    functions = [row[2] for row in tables["COMMANDS"].values()] + [row[1] for row in tables["CHAT_COMMANDS"].values()]
    for place in (*own.values(), *functions, *(file.replace("/", ".") for file in tables["TOOLS"].values())):
        if not place.startswith(f"parts.{part}.") or ".." in place:
            raise ValueError(f"{place} in its manifest is not in its folder")
    for key, row in tables["COMMANDS"].items():
        _check_texts(key, row, 4)
    for key, (summary, function, arguments) in tables["CHAT_COMMANDS"].items():
        _check_texts(key, (summary, function, *{**arguments}))
    for key, row in {**tables["ROWS"], **tables["BUS_METHODS"]}.items():
        access, handler, *arguments = (*row, {}) if len(row) == 3 else row[:4]
        if key in tables["ROWS"] and not {key.partition(".")[0], handler.partition(".")[0]} <= set(own):
            raise ValueError(f"its manifest has no part for the method {key}")
        if access not in ("read", "write") or not all(kind in _ARGUMENTS for one in arguments for kind in one.values()):
            raise ValueError(f"the row of {key} in its manifest is invalid")
    for name in ("ROLE_METHODS", "BUS_ROLES", "ROLE_TOOLS"):
        for role, names in tables[name].items():
            _check_texts(role, names)
            given = tables["BUS_METHODS"] if name == "BUS_ROLES" else tables["ROWS"] if name == "ROLE_METHODS" else ()
            if role in ("owner", "viewer") and not set(names) <= set(given):
                raise ValueError(f"{name} of its manifest gives the role {role} what is not its own")
    names = {what: set(tables[table]) for what, table in zip(_KINDS, _TABLES, strict=False)}
    for what, new in names.items():
        for name in new & taken[what]:
            raise ValueError(f"{name} is the name of another of the {what}")
    for what, new in names.items():
        taken[what] |= new


def _check_texts(name: str, texts: tuple[str, ...], count: int = 0) -> None:
    if not isinstance(texts, tuple) or not all(isinstance(one, str) for one in texts) or len(texts) < count:
        raise ValueError(f"{name} in its manifest is no list of texts")


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
    found = (one for one in manifests() if hasattr(one, attribute) and is_here(one.__name__.split(".")[2]))
    return next((getattr(one, attribute) for one in found), None)


def missing(kind: str, name: str) -> UsageError | None:
    """Return what to say of a name that only a part knows which is not in use, None where no part knows it.

    `kind` is commands, chat_commands, methods (their first words) or tools; "*x*" is every name with x in it.
    """
    for part, row in jsonl.table(__file__, "known.json").items():
        is_like = any(one[0] == "*" and one[1:-1] in name for one in row.get(kind, ()))
        if part != "core" and (name in row[kind] or (is_like and (part in refused or not is_here(part)))):
            return absent(part)
    return None


def check_here(module: str) -> None:
    """Raise UsageError for a module of a part that was removed since the manifests were read."""
    part = module.partition("parts.")[2].partition(".")[0]
    if not is_here(part):
        raise absent(part)


def check_role(role: str) -> None:
    """Raise UsageError for a role of a part that is not in use, or was removed since: it gives no more orders."""
    if role in ("owner", "viewer"):
        return
    for part, row in jsonl.table(__file__, "known.json").items():
        if role in row.get("roles", ()) and (part in refused or not is_here(part)):
            raise absent(part)


def all_missing(state_folder: str = "", types: set[str] | frozenset[str] = frozenset()) -> dict[str, UsageError]:
    """Return what to say of each part that is not in use.

    With a folder only of those that keep something there, or have one of these types of sections in the settings.
    """
    names = {manifest.__name__.split(".")[2] for manifest in manifests()} - {*refused}
    there = {name for name in names if is_here(name)}
    found = {}
    for name, row in jsonl.table(__file__, "known.json").items():
        if name in there or name == "core":
            continue
        is_kept = any(_has_content(f"{state_folder}/{kept}") for kept in row["keeps"])
        if not state_folder or is_kept or not types.isdisjoint(row["sections"]):
            found[name] = absent(name)
    return found


def all_refused(without: tuple[str, ...] = ()) -> dict[str, UsageError]:
    """Return what to say of the parts that are installed and cannot be used, once of those with the same reason."""
    manifests()
    reasons: dict[str, list[str]] = {}
    for name in sorted({*refused} - {*without}):
        reasons.setdefault(refused[name], []).append(name)
    return {"+".join(names): _refusal(names, why) for why, names in reasons.items()}


def _has_content(path: str) -> bool:
    try:
        return bool(os.listdir(path)) if os.path.isdir(path) else os.path.getsize(path) > 0
    except OSError:
        return False


def absent(part: str) -> UsageError:
    """Return what to say of a part that is not in use, with the command that mends it."""
    is_installed = part in _installed()
    why = refused.get(part) or (_not_whole(part) if is_installed else "")
    if why:
        return _refusal([part], why)
    if is_installed:
        words = "installed, and taken up when nothing runs and no change waits"
        return UsageError(f"{_title(part)}: {words}", "what it waits for: oasis status")
    return UsageError(f"{_title(part)}: not installed", install("oasis-" + part))


def _title(part: str) -> str:
    title: str = jsonl.table(__file__, "known.json").get(part, {}).get("title", part)
    return title


def _refusal(names: list[str], why: str) -> UsageError:
    packages = ["oasis-" + name for name in names]
    words = f"the package{'s' * (len(names) > 1)} {', '.join(packages)} cannot be used: {why}"
    hint = "install it again: " + install(" ".join(packages), True)
    return UsageError(f"{', '.join(map(_title, names))}: {words}", hint)


def broken(part: str, error: BaseException) -> UsageError:
    """Return what to say of a part that failed when it was loaded: its files are broken, or were removed since."""
    if is_here(part):
        refused[part] = _not_whole(part) or _why(error)
    return absent(part)


def install(package: str, is_again: bool = False) -> str:
    """Return the command that installs a package here, or installs it again, which neither program does unasked."""
    root = os.environ.get("OASIS_ROOT") or "/"
    is_apk = any(os.path.exists(os.path.join(root, place)) for place in ("sbin/apk", "usr/bin/apk"))
    if is_again:
        return ("apk fix -r -u " if is_apk else "opkg install --force-reinstall ") + package
    return ("apk add " if is_apk else "opkg install ") + package
