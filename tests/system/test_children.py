"""Every child process of the project: there is one place that starts them, and what each kind may is what it says.

What the limits do when they are reached is in test_child_executor.py; the user and the network of a worker are in
test_confinement.py.
"""

import ast
import json
import os
import signal
import stat
import sys
import time

import pytest

import oasis
from oasis.llm.pool import ENV, Process
from oasis.system.child import MODEL, SERVICE, TOOL, Executor
from oasis.system.root import SCRIPTS, Root
from tests.oasisd import has_part

PACKAGE = os.path.dirname(oasis.__file__)
MODULES = {"subprocess", "multiprocessing", "pty", "_posixsubprocess", "concurrent.futures.process"}
CALLS = {"posix_spawn", "posix_spawnp", "fork", "forkpty", "system", "popen"}
CALLS |= {begin + end for begin in ("exec", "spawn") for end in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")}
WITHIN_S = 10
# What a shell that runs a script of ours adds by itself.
OF_SHELLS = {"PWD", "OLDPWD", "SHLVL", "_"}


def sources():
    for where, _, files in os.walk(PACKAGE):
        for file in files:
            if file.endswith(".py"):
                path = os.path.join(where, file)
                with open(path, encoding="utf-8") as handle:
                    yield os.path.relpath(path, PACKAGE), ast.parse(handle.read())


def starts_processes(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("os", "posix"):
            yield from {node.attr} & CALLS


def here(table):
    """Return what of a table by modules is in this tree."""
    return {name: row for name, row in table.items() if "parts/" not in name or has_part(name.split("/")[1])}


def test_one_module_of_the_daemon_starts_processes():
    found = {name: set(starts_processes(tree)) for name, tree in sources()}
    assert {name: words for name, words in found.items() if words} == here({
        "system/child.py": {"posix_spawn"},
        "daemon/main.py": {"execv"},  # itself again, when other parts are installed
        "cli/without_daemon.py": {"posix_spawn"},  # a command at a terminal: the init script, by the owner's word
        "parts/memory/command.py": {"spawnvp"},  # a command at a terminal: the owner's own editor
        "worker/rights.py": {"execvpe"},  # a process that has given its rights away becomes the program
    })  # fmt: skip


def test_a_child_is_made_in_five_places_each_with_limits():
    found = {}
    for name, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Child":
                found[name] = ast.unparse(node.args[2])
    assert found == here({
        "system/child.py": "limits",
        "llm/pool.py": "MODEL",
        "parts/offline/child_process.py": "MODEL",
        "parts/mcp/server_connection.py": "SERVER",
        "tools/seed.py": "LIMITS",
    })  # fmt: skip


# What a child says of itself: to a file where one is named, else as an answer to a request.
REPORTER = """#!{python} -IS
import json, os, resource, sys
limits = [resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in ("CORE", "NOFILE", "FSIZE", "AS", "CPU")]
seen = {{"limits": limits, "environment": sorted(os.environ), "leads": os.getsid(0) == os.getpid() == os.getpgid(0),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")), "folder": os.getcwd(),
        "blocked": [line.split()[1] for line in open("/proc/self/status") if line.startswith("SigBlk")][0]}}
text = json.dumps({{"events": [seen]}})
if {path!r}:
    with open({path!r} + ".new", "w") as file:
        file.write(text)
    os.rename({path!r} + ".new", {path!r})
else:
    print(text, flush=True)
    sys.stdin.read()
"""


def reporter(place, path=""):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(REPORTER.format(python=sys.executable, path=str(path)))
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


@pytest.fixture
def root(tmp_path):
    for name in ("uci", "ubus", "nft"):
        reporter(tmp_path / "bin" / name)
    reporter(tmp_path / "etc/init.d/network")
    for name in SCRIPTS:  # what follows a shell's own line is what it becomes
        (tmp_path / name).write_text(f'exec {reporter(tmp_path / "said", tmp_path / "report")} "$@"\n')
    return Root(str(tmp_path), [str(tmp_path / "bin")])


@pytest.fixture
def executor(root):
    return Executor(root.environment(), root.allowed(root.folder))


def said(out):
    return json.loads(out)["events"][0]


def by_program(name):
    def start(root, executor, tmp_path):
        return said(executor.run([root.program(name)])[1]), TOOL

    return start


def by_init_script(root, executor, tmp_path):
    return said(executor.run([root.init_script("network"), "reload"])[1]), SERVICE


def report_of(path):
    deadline_s = time.monotonic() + WITHIN_S
    while not path.exists():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return said(path.read_bytes())


def by_script(root, executor, tmp_path):
    executor.run(["/bin/sh", root.folder + "/restore.sh"])
    return report_of(tmp_path / "report"), SERVICE


def by_guard(root, executor, tmp_path):
    child = executor.detach(["/bin/sh", root.folder + "/guard.sh"])
    try:
        return report_of(tmp_path / "report"), SERVICE
    finally:
        child.wait(WITHIN_S)
        child.close()


def by_worker(root, executor, tmp_path):
    process = Process([sys.executable, "-IS", reporter(tmp_path / "worker.py")], dict(ENV))
    try:
        return said(next(line for line in process.talk(b"", 65536) if line)), MODEL
    finally:
        process.stop()


def by_offline(root, executor, tmp_path):
    from oasis.parts.offline.child_process import Offline

    offline = Offline([sys.executable, "-IS", reporter(tmp_path / "offline.py")])
    try:
        return offline.reply([], None, 0)[0], MODEL
    finally:
        offline.close()


WAYS = [by_program("uci"), by_program("ubus"), by_program("nft"), by_init_script, by_script, by_guard, by_worker]
NAMES = ["uci", "ubus", "nft", "init script", "restore", "guard", "worker", "offline"]


@pytest.mark.parametrize("start", [*WAYS, pytest.param(by_offline, marks=pytest.mark.part("offline"))], ids=NAMES)
def test_every_child_has_its_limits_and_nothing_of_ours(root, executor, tmp_path, start):
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    os.environ["OASIS_TEST_SECRET"] = "x"
    try:
        seen, limits = start(root, executor, tmp_path)
    finally:
        del os.environ["OASIS_TEST_SECRET"]
        os.close(reading)
        os.close(writing)
    core, *others = [hard for _, hard in seen["limits"]]
    assert core == 0
    for given, limit, factor in zip(others, limits[:4], (1, 1024, 1024, 1), strict=True):
        assert limit == "" or given == int(limit) * factor
    assert set(seen["environment"]) <= {"PATH", "HOME", "LANG", "LC_ALL", "OASIS_ROOT", "LC_CTYPE", *OF_SHELLS}
    assert [number for number in seen["descriptors"] if number > 3] == [], "3 is the listing itself"
    assert seen["leads"] is True
    assert seen["folder"] == os.getcwd()
    assert seen["blocked"] == "0" * 16


@pytest.mark.parametrize("kind", [TOOL, SERVICE, MODEL])
def test_a_child_does_not_ignore_what_python_ignores(kind):
    executor = Executor({"PATH": "/usr/bin:/bin"}, lambda argv: kind)
    _, out, _ = executor.run(["/bin/grep", "^SigIgn", "/proc/self/status"])
    ignored = int(out.split()[1], 16)
    assert ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0
