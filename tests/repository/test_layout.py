"""The shape of oasis/: who imports whom, what core/ may use, how long things are, what an idle daemon loads."""

from __future__ import annotations

import ast
import functools
import glob
import math
import os
import re
import subprocess
import sys
import warnings

import pytest

from tests.oasisd import PARTS, copy_root, parts_in, start_daemon

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(REPOSITORY, "oasis")

# Who may import whom: a row the rows below it; names in one row do not import each other. `parts` alone is the list of
# the optional parts, which reads their manifests; what a manifest names is loaded by its own part.
ROWS = (
    (
        "parts.admin",
        "parts.lua",
        "parts.mcp",
        "parts.memory",
        "parts.monitor",
        "parts.offline",
        "parts.schedule",
        "parts.telegram",
    ),
    ("daemon",),
    ("bus", "cli"),
    ("api",),
    ("agent",),
    ("tools",),
    ("change", "chats", "doctor", "llm"),
    ("config", "redaction"),
    ("catalogue", "ubus", "worker"),
    ("parts", "providers", "system", "texts", "uci"),
    ("core",),
    ("errors",),
)
RANK = {name: number for number, row in enumerate(ROWS) for name in row}
BASE = {"core", "errors"}
FUNCTION_LINES = 80
LONG_FUNCTION_LINES = 60
P90_LINES = 30
PARAMETERS = 6
ANY, PLAIN_DICTS = 250, 300  # in annotations and their imports: what is foreign, and not looked at yet
PLAIN = {"str", "int", "float", "bool", "bytes", "list", "dict", "tuple", "object", "Sequence", "Collection"}
FOLDER_FILES = 25
# One file a UCI package, each read alone and named by its package: grouped, a reader would parse what it does not need.
DATA_FOLDERS = {"catalogue/feed", "catalogue/generated"}
# The same kind of thing in each part, or an entry point.
SHARED_NAMES = {"exchange.py", "__init__.py", "__main__.py", "main.py", "manifest.py", "command.py", "shapes.pyi"}

# What MicroPython has of the standard library, of the modules that core/ could want.
MICRO_MODULES = {"array", "binascii", "collections", "errno", "gc", "io", "json", "os", "re", "struct", "sys", "time"}
MICRO_LACKS = {
    "FileNotFoundError", "FileExistsError", "PermissionError", "IsADirectoryError", "NotADirectoryError",
    "JSONDecodeError", "removeprefix", "removesuffix", "zfill", "isalnum", "isidentifier", "casefold", "fullmatch",
    "splitlines", "maketrans",
}  # fmt: skip
MICRO_LACKS_OF_OS = {"path", "replace", "makedirs", "environ", "fsync", "popen", "scandir", "walk"}
MICRO_LACKS_OF_DUMPS = {"indent", "sort_keys", "ensure_ascii", "default", "cls"}

# An idle daemon must have none of these: each is a megabyte or more that every router would pay.
NOT_IN_DAEMON = {
    "_hashlib", "_ssl", "asyncio", "dataclasses", "enum", "hashlib", "hmac", "http.client", "logging", "pathlib",
    "random", "re", "requests", "secrets", "ssl", "tempfile", "typing", "urllib.request",
}  # fmt: skip
# `enum`, `typing` and the like come with others on some versions; these never may.
NEVER_IN_DAEMON = {"_hashlib", "_ssl", "asyncio", "hashlib", "http.client", "logging", "re", "requests", "ssl"}
NEVER_MAPPED = ("libssl", "libcrypto", "_ssl.", "_hashlib.")


@functools.cache
def sources():
    """Return (name below oasis, path, text) of every module."""
    found = []
    for where, _, files in sorted(os.walk(PACKAGE)):
        for file in sorted(files):
            if file.endswith(".py"):
                path = os.path.join(where, file)
                name = os.path.relpath(path, PACKAGE)[:-3].replace(os.sep, ".")
                with open(path, encoding="utf-8") as handle:
                    found.append((name.removesuffix(".__init__"), path, handle.read()))
    return tuple(found)


@functools.cache
def modules():
    return frozenset(name for name, _, _ in sources())


def imports(tree):
    """Yield (line, module name below oasis) of every import in a tree, at any depth, also those for annotations."""
    known = modules()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names = [node.module + "." + alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name == "oasis" or name.startswith("oasis."):
                below = name[len("oasis.") :]
                while below and below not in known:
                    below = below.rpartition(".")[0]  # the last word is a name in the module
                yield node.lineno, below


def area(name):
    """Return the room of a module: its folder, of parts the part's own."""
    words = name.split(".")
    return ".".join(words[: 2 if words[0] == "parts" else 1])


def is_allowed(importer, imported):
    """Return whether an arrow from one module to another agrees with the rows."""
    ours, theirs = area(importer), area(imported)
    return not imported or ours == theirs or RANK[ours] < RANK[theirs]


@pytest.mark.part(*PARTS)
def test_every_room_has_a_row():
    rooms = {area(name) for name in modules()} - {"__init__"}
    assert rooms == set(RANK), "a new room needs a row in ROWS and in docs/architecture.md"
    assert len(ROWS) <= 12


def loaded(tree):
    """Yield (line, module name below oasis) of everything a module loads: imports, and modules named in a text.

    A table, a manifest or an argument list that names a module loads it as much as an import does.
    """
    yield from imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.removeprefix("oasis.").partition(":")[0]
            if "." in name and name in modules():
                yield node.lineno, name


def parts_named(tree):
    """Yield (line, part) of each module or folder of a part that is imported, or named in a text but a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    said = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            names = [node.value]
        else:
            continue
        for part in PARTS:
            if any(re.search(rf"\bparts[./]{part}\b", name) for name in names):
                yield node.lineno, part


def test_no_source_and_no_table_of_the_core_names_a_module_of_a_part():
    """Also what an import does not show: a name for importlib or __import__, and one in a JSON table."""
    outside = [(name, text) for name, _, text in sources() if area(name).partition(".")[2] not in PARTS]
    found = [(name, part) for name, text in outside for _, part in parts_named(ast.parse(text))]
    tables = [path for path in glob.glob(PACKAGE + "/**/*.json", recursive=True) if not parts_in(path[len(PACKAGE) :])]
    for path in tables:
        with open(path, encoding="utf-8") as handle:
            found += [(path, part) for _, part in parts_named(ast.parse(repr(handle.read())))]
    assert len(outside) > 100 and len(tables) > 20
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "def late():\n    from oasis.parts.lua.phone import Phone", "from oasis.parts import mcp",
        "import oasis.parts.telegram", 'importlib.import_module("oasis.parts.mcp.servers")',
        '__import__("oasis.parts.memory.skills")', '{"function": "parts.schedule.command:schedule"}',
        'open(HERE + "/parts/offline/intents/en.json")',
    ],
)  # fmt: skip
def test_a_name_of_a_part_is_found_however_it_is_loaded(line):
    assert list(parts_named(ast.parse(line)))


def test_imports_point_down():
    wrong = []
    for name, path, text in sources():
        for line, below in loaded(ast.parse(text)):
            if not is_allowed(name, below):
                wrong.append(f"{os.path.relpath(path, REPOSITORY)}:{line}: {name} imports {below}")
    assert wrong == []


@pytest.mark.parametrize(
    "importer, imported, answer",
    [
        ("daemon.wiring", "api.methods", True),
        ("api.methods", "daemon.wiring", False),
        ("core.store", "system.files", False),
        ("change.plan", "parts.offline.provider", False),
        ("parts.schedule.scheduler", "parts.memory.owner_facts", False),
        ("tools.operator", "change.plan", True),
        ("providers.gate", "system.files", False),
        ("cli.prompt", "daemon.wiring", False),
        ("parts.telegram.talk", "cli.terminal", True),
    ],
)
def test_the_rows_say_what_the_design_says(importer, imported, answer):
    assert is_allowed(importer, imported) is answer


def functions(text):
    """Yield (name, lines) of every function of a module, its decorators counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *[item.lineno for item in node.decorator_list]])
            yield node.name, node.end_lineno - first + 1


def folders():
    """Return {folder below oasis: its files}."""
    found = {}
    for where, _, files in os.walk(PACKAGE):
        if os.path.basename(where) != "__pycache__":
            found[os.path.relpath(where, PACKAGE)] = sorted(files)
    return found


def test_a_folder_can_be_read_at_a_glance():
    assert set(folders()["."]) == {"__init__.py", "errors.py", "shapes.pyi"}
    crowded = {name: len(files) for name, files in folders().items() if len(files) > FOLDER_FILES}
    assert set(crowded) == DATA_FOLDERS
    with_one = [name for name, files in folders().items() if len([file for file in files if file != "__init__.py"]) < 2]
    assert with_one == ["parts"], "a folder of one file is a file"


def test_a_name_of_a_module_says_which_it_is():
    paths = {}
    for folder, files in folders().items():
        for file in files:
            if file.endswith((".py", ".pyi")) and file not in SHARED_NAMES:
                paths.setdefault(file, []).append(folder)
    assert {file: where for file, where in paths.items() if len(where) > 1} == {}


def is_plain(parameter):
    """Return whether a parameter is a value of plain data, by its annotation."""
    named = {node.id for node in ast.walk(parameter.annotation) if isinstance(node, ast.Name)}
    return named <= PLAIN


def parameters(function):
    """Return how many parameters a function has: not the object itself, and no keyword-only ones of plain data."""
    given = function.args.posonlyargs + function.args.args
    named = [one for one in function.args.kwonlyargs if not is_plain(one)]
    return len([one for one in given if one.arg not in ("self", "cls")]) + len(named)


def test_no_function_takes_more_than_six_parameters():
    many = [
        f"{name}: {node.name} takes {parameters(node)}"
        for name, _, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and parameters(node) > PARAMETERS
    ]
    assert many == []


def test_values_have_types():
    text = "\n".join(text for _, _, text in sources())
    assert len(re.findall(r"\bAny\b", text)) <= ANY
    assert len(re.findall(r"dict\[str, (?:Any|object)\]", text)) <= PLAIN_DICTS


def test_functions_are_short():
    every = [(count, f"{name}: {function}") for name, _, text in sources() for function, count in functions(text)]
    too_long = [f"{what} has {count} lines" for count, what in every if count > FUNCTION_LINES]
    assert too_long == []
    counts = sorted(count for count, _ in every)
    p90 = counts[math.ceil(0.9 * len(counts)) - 1]
    assert p90 <= P90_LINES, f"nine of ten functions have at most {p90} lines"
    for count, what in sorted(every, reverse=True):
        if count > LONG_FUNCTION_LINES:
            warnings.warn(f"{what} has {count} lines", stacklevel=1)


def dangers(tree):
    """Yield (line, what) for what is never written here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno, "a bare except"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in (("os", "system"), ("os", "popen"), ("subprocess", "getoutput")):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg == "shell":
            yield node.value.lineno, "shell="
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
            yield node.lineno, node.func.id


def test_nothing_is_given_to_a_shell_and_no_error_is_swallowed_whole():
    found = [(path, *what) for _, path, text in sources() for what in dangers(ast.parse(text))]
    assert found == []


# Every place that starts a process, and with what. A new one is a decision: give it limits, and a reason to be here.
STARTS = {
    ("system.child", "posix_spawn"): "the one call; through the script that limits it",
    ("system.child", "Child"): "programs on the list of system.root",
    ("llm.pool", "Child"): "a worker",
    ("parts.offline.child_process", "Child"): "the offline provider",
    ("parts.mcp.server_connection", "Child"): "an MCP server of the owner's choice, by way of worker.rights",
    ("tools.seed", "Child"): "a program that the owner listed, by way of worker.rights",
    ("worker.rights", "execvpe"): "becomes that server or program",
    ("change.apply.transaction", "executor.detach"): "the guard",
    ("change.apply.transaction", "executor.run"): "restore.sh",
    ("change.apply.evidence", "executor.run"): "init scripts, and nft, which lists what was compiled",
    ("daemon.main", "execv"): "itself again, when other parts are installed",
    ("daemon.wiring", "executor.run"): "the uci program, given to the cursor",
    ("agent.start", "executor.run"): "programs of the router, given to the tools",
    ("parts.monitor.look", "executor.run"): "nft, nlbw and wg, which list what is there",
    ("parts.admin.programs", "executor.run"): "programs of the router, given to the tools of keys and images",
    ("cli.without_daemon", "posix_spawn"): "the service's init script, by the hand of who asked for it",
    ("parts.memory.command", "spawnvp"): "the owner's editor, by their own hand",
    ("cli.without_daemon", "executor.run"): "ping and nslookup, given to the doctor",
    ("ubus.outgoing", "executor.run"): "the ubus program",
}
STARTERS = {"subprocess", "multiprocessing", "pty", "_posixsubprocess", "asyncio", "concurrent"}


def starts(tree):
    """Yield (line, how) of everything that starts a process or becomes another program."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            words = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for word in words:
                if word.partition(".")[0] in STARTERS:
                    yield node.lineno, word
        elif isinstance(node, ast.Attribute):
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if node.attr.startswith(("posix_spawn", "spawn", "exec", "fork", "popen", "system")) and owner in (
                "os",
                "posix",
            ):
                yield node.lineno, node.attr
            elif node.attr in ("run", "detach") and owner.strip("_") == "executor":
                yield node.lineno, "executor." + node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Child":
            yield node.lineno, "Child"


@pytest.mark.part(*PARTS)
def test_every_place_that_starts_a_process_is_known():
    found = {(name, how) for name, _, text in sources() for _, how in starts(ast.parse(text))}
    assert found - set(STARTS) == set(), "a process started elsewhere has no limits"
    assert set(STARTS) - found == set(), "the list names what is no more"


@pytest.mark.parametrize(
    "line",
    [
        "import subprocess", "from subprocess import run", "from multiprocessing import Process", "import pty",
        "os.posix_spawnp(a, b, c)", "os.execv(a, b)", "os.fork()", "posix.fork()", "os.spawnl(0, a)", "os.system(a)",
        "self._executor.run(a)", "executor.detach(a)", "child.Child(a, b, c, True, True)", "import concurrent.futures",
    ],
)  # fmt: skip
def test_a_start_of_a_process_is_found(line):
    assert list(starts(ast.parse(line)))


def micro_faults(tree):
    """Yield (line, what) for what MicroPython cannot import, parse or run."""
    guarded = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name not in MICRO_MODULES and id(node) not in guarded:
                    yield line, "import " + alias.name
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("oasis"):
            if node.module not in MICRO_MODULES:
                yield line, f"from {node.module} import"
        else:
            for what in micro_syntax(node):
                yield line, what


def micro_syntax(node):
    """Yield the names of what one node uses that MicroPython has not."""
    if isinstance(node, ast.Dict) and None in node.keys:
        yield "{**a}"
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)) and any(isinstance(one, ast.Starred) for one in node.elts):
        yield "[*a]"
    elif isinstance(node, (ast.Match, ast.AsyncFunctionDef)):
        yield type(node).__name__
    elif isinstance(node, ast.arguments) and node.posonlyargs:
        yield "a positional-only /"
    elif isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        owner = node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""
        if name in MICRO_LACKS or (owner == "os" and name in MICRO_LACKS_OF_OS):
            yield name
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("dumps", "dump"):
        for word in node.keywords:
            if word.arg in MICRO_LACKS_OF_DUMPS:
                yield f"dumps({word.arg}=)"


def test_core_is_written_for_micropython():
    found = []
    for name, path, text in sources():
        if area(name) in BASE:
            found += [(os.path.relpath(path, REPOSITORY), *fault) for fault in micro_faults(ast.parse(text))]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "import typing", "from __future__ import annotations", "import logging", "a = {**b}", "a = [*b]",
        "def f(a, /): pass", "match a:\n  case 1: pass", "os.replace(a, b)", "os.path.join(a)", "a.removeprefix('b')",
        "json.dumps(a, indent=1)", "try:\n  pass\nexcept FileNotFoundError: pass",
    ],
)  # fmt: skip
def test_what_micropython_lacks_is_found(line):
    assert list(micro_faults(ast.parse(line)))


def test_importing_the_daemon_loads_nothing_heavy():
    code = "import sys; sys.path.insert(0, %r); import oasis.daemon.wiring; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-IS", "-c", code % REPOSITORY], capture_output=True, text=True, check=True)
    loaded = set(shown.stdout.split())
    assert "oasis.change.apply.transaction" in loaded
    assert "oasis.change.apply.evidence" not in loaded, "loaded with the first change"
    assert loaded & NEVER_IN_DAEMON == set()
    for name in sorted(loaded & NOT_IN_DAEMON):
        warnings.warn(f"an idle daemon loads {name}", stacklevel=1)


BAD_JSON = """
import sys
sys.path.insert(0, %r)
from oasis.core import jsonl
from oasis.errors import SchemaError
assert "json" not in sys.modules, "a command starts without it"
bad = ['{nonsense}', '"a', '{"a"}', '[1 2]', '[1,]', '"\\\\x"', '"\\\\u12"']
bad += ['', 'nul', '1 2', '[NaN]', '"\\t"', '{"a":1,}', '-']
for text in bad:
    try:
        jsonl.loads(text)
    except SchemaError:
        continue
    raise AssertionError(text)
"""


def test_bad_json_is_refused_where_nobody_loaded_the_json_package():
    subprocess.run([sys.executable, "-IS", "-c", BAD_JSON % REPOSITORY], check=True, timeout=60)


def mapped(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as lines:
        paths = {line.split(None, 5)[5].strip() for line in lines if len(line.split(None, 5)) == 6}
    return {path for path in paths if os.path.basename(path).startswith(NEVER_MAPPED)}


def test_a_running_daemon_maps_no_library_for_tls(tmp_path):
    bare = subprocess.Popen([sys.executable, "-IS", "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1)
    daemon = start_daemon(copy_root(str(tmp_path / "root")))
    try:
        assert daemon.call("info")["version"]
        bare.stdout.readline()
        assert mapped(daemon.process.pid) - mapped(bare.pid) == set()
    finally:
        daemon.stop()
        bare.communicate(b"\n", timeout=10)
