"""A router has the parts that are installed: what one brings, what is said where it is missing or broken."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.oasisd import PARTS, REPOSITORY, SLOWER, connected, copy_root, read_line, set_option, start_daemon

# Each test takes away what it is about.
pytestmark = pytest.mark.part(*PARTS)


@pytest.fixture
def copy(tmp_path):
    """Return the folder of the parts in a copy of the program."""
    shutil.copytree(REPOSITORY + "/oasis", tmp_path / "lib/oasis", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lib/oasis/parts"


def run(copy, code, **env):
    lib = str(copy.parent.parent)
    argv = [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {lib!r})\n{code}"]
    done = subprocess.run(argv, env={"PATH": "", **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def oasis(copy, *words, **env):
    lib = str(copy.parent.parent)
    code = f"import sys; sys.path.insert(0, {lib!r})\nfrom oasis.cli.main import main; sys.exit(main(sys.argv[1:]))"
    argv = [sys.executable, "-IS", "-c", code, *words]
    return subprocess.run(argv, env={"PATH": "", **env}, capture_output=True, text=True, check=False)


TABLES = """
import json
from oasis.api.table import ROLES, TABLE
from oasis.tools.principal import TOOLS
from oasis.cli.commands import every
from oasis import parts
loaded = [name for name in sys.modules if name.startswith('oasis.parts.')]
print(json.dumps({'methods': [*TABLE], 'roles': [*ROLES], 'commands': [*every()], 'refused': parts.refused,
                  'loaded': loaded}))
"""


def test_without_parts_there_is_the_core_and_nothing_of_them(copy):
    for name in PARTS:
        shutil.rmtree(copy / name)
    found = run(copy, TABLES)
    assert {"run.start", "plan.approve", "doctor.run"} <= set(found["methods"])
    words = {method.partition(".")[0] for method in found["methods"]}
    known = json.loads((copy / "known.json").read_text())
    assert not words & {word for part, row in known.items() if part != "core" for word in row["methods"]}
    assert (found["roles"], found["refused"], found["loaded"]) == (["owner", "viewer"], {}, [])
    assert "schedule" not in found["commands"] and "undo" in found["commands"]


EVERY_MODULE = """
import json, os
top = sys.path[0]
names = []
for folder, folders, files in os.walk(top + '/oasis'):
    for file in files:
        if file.endswith('.py') and not file.startswith('__'):
            names.append(os.path.relpath(os.path.join(folder, file), top)[:-3].replace('/', '.'))
for name in names:
    __import__(name)
print(json.dumps(sorted(name for name in sys.modules if name.startswith('oasis.parts'))))
"""


def test_no_module_of_the_core_imports_a_part(copy):
    pytest.importorskip("_ssl", reason="NOT RUN: this Python has no TLS, which the worker imports")
    for name in PARTS:
        shutil.rmtree(copy / name)
    assert run(copy, EVERY_MODULE) == ["oasis.parts"]


@pytest.mark.parametrize("name", PARTS)
def test_each_part_works_alone(copy, name):
    for other in PARTS:
        if other != name:
            shutil.rmtree(copy / other)
    found = run(copy, TABLES)
    known = json.loads((copy / "known.json").read_text())[name]
    assert set(known["commands"]) <= set(found["commands"])
    assert set(known["methods"]) - {"said"} <= {method.partition(".")[0] for method in found["methods"]}
    assert found["loaded"] == [f"oasis.parts.{name}", f"oasis.parts.{name}.manifest"]


def test_what_is_said_of_missing_parts_is_made_from_their_manifests(packaging_known):
    with open(REPOSITORY + "/oasis/parts/known.json", encoding="utf-8") as file:
        assert file.read() == packaging_known.text(), "run: make acl"


@pytest.fixture
def packaging_known():
    sys.path.insert(0, REPOSITORY + "/package")
    import known

    sys.path.remove(REPOSITORY + "/package")
    return known


@pytest.mark.parametrize(
    ("part", "words", "title"),
    [
        ("telegram", ("telegram", "list"), "the messenger"),
        ("schedule", ("schedule",), "the schedule"),
        ("memory", ("knowledge", "list"), "memory, documents and skills"),
        ("mcp", ("servers",), "MCP"),
        ("monitor", ("look", "ports"), "the closer look"),
        ("lua", ("plugins",), "compatibility with the Lua Oasis"),
    ],
)
@pytest.mark.parametrize("command", ["opkg install", "apk add"])
def test_a_command_of_a_missing_part_names_what_installs_it(copy, tmp_path, part, words, title, command):
    shutil.rmtree(copy / part)
    if command == "apk add":
        (tmp_path / "usr/bin").mkdir(parents=True)
        (tmp_path / "usr/bin/apk").write_text("")
    done = oasis(copy, *words, OASIS_ROOT=str(tmp_path))
    assert done.returncode == 2
    assert f"{title}: not installed" in done.stderr and f"{command} oasis-{part}" in done.stderr
    error = json.loads(oasis(copy, *words, "-j", OASIS_ROOT=str(tmp_path)).stdout)["error"]
    assert (error["message"], error["hint"]) == (f"{title}: not installed", f"{command} oasis-{part}")


def test_a_slash_command_of_a_missing_part_names_what_installs_it(copy, request):
    shutil.rmtree(copy / "memory")  # before the daemon starts, which would begin again
    daemon = request.getfixturevalue("daemon")
    lib = str(copy.parent.parent)
    code = f"import sys; sys.path.insert(0, {lib!r})\nfrom oasis.cli.main import main; sys.exit(main(['chat']))"
    env = {"PATH": "", "OASIS_ROOT": daemon.root}
    argv = [sys.executable, "-IS", "-c", code]
    done = subprocess.run(argv, env=env, input="/skills\n/knit\n", capture_output=True, text=True, check=False)
    assert "memory, documents and skills: not installed\noasis: hint: opkg install oasis-memory" in done.stderr
    assert "unknown command /knit" in done.stderr


def test_a_tool_and_the_service_of_missing_parts_name_what_installs_them(copy, tmp_path):
    for name in ("schedule", "offline"):
        shutil.rmtree(copy / name)
    running = start_daemon(copy_root(str(tmp_path / "router")), library=str(copy.parent.parent))
    try:
        run = running.call("tool.call", name="schedule_create", arguments={})["run"]
        events = running.call("run.poll", run=run, since=0, wait_ms=10000)["events"]
        assert "the schedule: not installed" in str(events) and "opkg install oasis-schedule" in str(events)
        service = running.call("service.list")["service"][0]
        assert (service["ready"], service["note"]) == (False, "not installed: opkg install oasis-offline")
        error = running.call("run.start", message="call this router attic")["error"]
        assert error["message"] == "the built-in service: not installed; and no service with a model is in use"
    finally:
        running.stop()


SPOILED = {
    "a text that is no Python": ("VERSION = (", "was never closed"),
    "another version": ('VERSION = "0.0.1"', "it is of version 0.0.1, and this is Oasis"),
    "no version": ("ROWS = {}", "has no attribute 'VERSION'"),
    "a table that is none": ("VERSION = oasis.VERSION\nROWS = []", "ROWS of its manifest is no table"),
    "methods of the core": (
        'VERSION = oasis.VERSION\nMETHODS = {"run": "parts.schedule.x"}',
        "run is the name of another",
    ),
    "methods of another part": (
        'VERSION = oasis.VERSION\nMETHODS = {"memory": "parts.schedule.x"}',
        "memory is the name of another",
    ),
    "a method that is not under its own name": (
        'VERSION = oasis.VERSION\nMETHODS = {"x": "parts.schedule.x"}\nROWS = {"run.start": ("read", "x.y", {})}',
        "no part for the method run.start",
    ),
    "a command of the core": (
        'VERSION = oasis.VERSION\nCOMMANDS = {"undo": ("", "", "parts.schedule.x:y", "")}',
        "undo is the name of another of the commands",
    ),
    "a row that is none": (
        'VERSION = oasis.VERSION\nMETHODS = {"schedule": "parts.schedule.x"}\nROWS = {"schedule.x": ("read",)}',
        "not enough values to unpack",
    ),
    "a way out of the interpreter": ("raise SystemExit(1)", "1"),
    "what is not UTF-8": ("VERSION = '\udcff'", "utf-8"),
    "a table with other keys": ("VERSION = oasis.VERSION\nROWS = {1: ()}", "ROWS of its manifest is no table"),
    "a row that is a number": (
        "VERSION = oasis.VERSION\nCOMMANDS = {'a': 1}",
        "a in COMMANDS of its manifest is a int",
    ),
    "a command of numbers": (
        "VERSION = oasis.VERSION\nCOMMANDS = {'a': (1, 2, 'parts.schedule.x:y', 4)}",
        "a in its manifest is no list",
    ),
    "a module out of its folder": (
        "VERSION = oasis.VERSION\nMETHODS = {'schedule': 'daemon.main'}",
        "not in its folder",
    ),
    "a file out of its folder": (
        "VERSION = oasis.VERSION\nMETHODS = {'schedule': 'parts.schedule.scheduler'}\n"
        "TOOLS = {'schedule': 'parts/schedule/../../../../etc/passwd'}",
        "not in its folder",
    ),
    "a role's methods that are no list": (
        "VERSION = oasis.VERSION\nROLE_METHODS = {'viewer': 'plan.approve'}",
        "viewer in ROLE_METHODS of its manifest is a str",
    ),
    "a right that is not its own to give": (
        "VERSION = oasis.VERSION\nROLE_METHODS = {'viewer': ('plan.approve',)}",
        "what is not its own",
    ),
    "a tool for viewers": ("VERSION = oasis.VERSION\nROLE_TOOLS = {'viewer': ('*',)}", "what is not its own"),
    "an argument of no type": (
        "VERSION = oasis.VERSION\nMETHODS = {'schedule': 'parts.schedule.x'}\n"
        "ROWS = {'schedule.x': ('read', 'schedule.x', {'a': 'text'})}",
        "the row of schedule.x in its manifest is invalid",
    ),
    "somebody to look at turns that is nobody": ("VERSION = oasis.VERSION\nLOOKING = ('x',)", "x is not in METHODS"),
    "a start that is no function": (
        "VERSION = oasis.VERSION\nMETHODS = {'schedule': 'parts.schedule.x'}\nSTARTING = {'schedule': 1}",
        "schedule in STARTING of its manifest is a int",
    ),
    "very deep": ("VERSION = oasis.VERSION\nROWS = " + "[" * 5000 + "]" * 5000, ""),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_manifest_that_cannot_be_used_is_refused_with_the_reason_and_the_rest_works(copy, how):
    text, why = SPOILED[how]
    data = ("import oasis\n" + text + "\n").encode("utf-8", "surrogateescape")
    (copy / "schedule/manifest.py").write_bytes(data)
    found = run(copy, TABLES)
    assert list(found["refused"]) == ["schedule"] and why in found["refused"]["schedule"]
    assert {"memory.list", "telegram.pair", "run.start"} <= set(found["methods"])
    assert not [name for name in found["methods"] if name.startswith("schedule.")]
    done = oasis(copy, "schedule", "list")
    assert "the package oasis-schedule cannot be used: " in done.stderr and "install it again" in done.stderr


@pytest.mark.parametrize("fault", ["VERSION = (", "import knitting", "raise SystemExit(3)", ""])
def test_a_part_whose_modules_are_broken_stops_nobody_else(copy, tmp_path, fault):
    root = copy_root(str(tmp_path / "router"))
    first = start_daemon(root, library=str(copy.parent.parent))
    try:
        first.call("schedule.add", when="22:00 daily", wish="is the internet working?")
    finally:
        first.stop()
    for file in (
        "schedule/scheduler.py", "schedule/command.py", "memory/owner_facts.py", "telegram/messenger.py",
        "offline/child_process.py", "memory/knowledge.json", "lua/phone.py",
    ):  # fmt: skip
        (copy / file).write_text(fault)
    set_option(root, "x", "1'\n\nconfig telegram\n\toption enabled '1")
    second = start_daemon(root, library=str(copy.parent.parent))
    try:
        told(second, "waits for it: install it again: opkg install --force-reinstall oasis-schedule")
        assert second.process.poll() is None
        error = second.call("schedule.list")["error"]
        assert "the schedule: the package oasis-schedule cannot be used: " in error["message"]
        told(second, "the messenger: the package oasis-telegram cannot be used: ")  # it is looked at last
        missing = {one["part"]: one["refused"] for one in second.call("info")["missing"]}
        assert {"schedule": True, "telegram": True, "offline": True}.items() <= missing.items()
        assert "configure" in str(second.call("tool.list")) and "remember" not in str(second.call("tool.list"))
        assert second.call("service.list")["service"][-1]["ready"] is False
        second.process.send_signal(signal.SIGHUP)
        assert "version" in second.call("info")
    finally:
        second.stop()
    done = oasis(copy, "schedule", "list", OASIS_ROOT=root)
    assert "the package oasis-schedule cannot be used: " in done.stderr and "Traceback" not in done.stderr


def test_many_reloads_at_once_are_one_and_a_stop_among_them_stops(copy, daemon):
    for _ in range(2000):
        daemon.process.send_signal(signal.SIGHUP)
    assert "version" in daemon.call("info")
    for _ in range(500):
        daemon.process.send_signal(signal.SIGHUP)
    assert daemon.stop() == 0


def test_a_part_that_was_written_in_part_is_refused_with_the_reason_everywhere(copy, tmp_path):
    for name in ("schedule", "offline", "memory"):
        files = {
            os.path.relpath(os.path.join(folder, file), copy / name): os.path.getsize(os.path.join(folder, file))
            for folder, _, files in os.walk(copy / name)
            for file in files
        }
        (copy / name / "files.json").write_text(json.dumps(files))
    os.truncate(copy / "schedule/scheduler.py", 100)
    os.remove(copy / "offline/provider.py")
    root = copy_root(str(tmp_path / "router"))
    why = {
        "schedule": "its file scheduler.py is missing or cut off, as when the flash was full",
        "offline": "its file provider.py is missing or cut off, as when the flash was full",
    }
    for _ in range(2):  # the second one tells nothing twice
        daemon = start_daemon(root, library=str(copy.parent.parent))
        try:
            assert {one["part"] for one in daemon.call("info")["missing"] if one["refused"]} == set(why)
            shown = oasis(copy, "status", OASIS_ROOT=root).stdout
            notices = [one["text"] for one in daemon.call("notice.list")["notices"]]
            found = str(daemon.call("doctor.run"))
            assert len(notices) == len(why)
            for name, words in why.items():
                told_of = f"the package oasis-{name} cannot be used: {words}"
                again = f"install it again: opkg install --force-reinstall oasis-{name}"
                assert f"{told_of}: {again}" in shown and f"part-refused:{name}" in found
                assert any(f"{told_of}: {again}" in text for text in notices)
        finally:
            daemon.stop()


def test_a_built_in_service_that_was_removed_a_moment_ago_is_not_ready(copy):
    code = "import json, shutil\nfrom oasis import parts\nfrom oasis.config.settings import built_in\n"
    code += f"parts.manifests(); shutil.rmtree({str(copy / 'offline')!r})\n"
    service = run(copy, code + "print(json.dumps(built_in('offline')))")
    assert (service["ready"], service["note"]) == (False, "not installed: opkg install oasis-offline")


@pytest.mark.parametrize("file", ["provider.py", "intents/en.json"])
def test_a_built_in_service_that_breaks_while_the_daemon_runs_says_so(copy, daemon, file):
    os.remove(copy / "offline" / file)
    run = daemon.call("run.start", message="what is my lan address?")["run"]
    until, events = time.monotonic() + 60 * SLOWER, []
    while "error" not in str(events):
        events = daemon.call("run.poll", run=run, since=0, wait_ms=1000)["events"]
        assert time.monotonic() < until, events
    assert "the built-in service: the package oasis-offline cannot be used: " in str(events)
    assert "install it again: opkg install --force-reinstall oasis-offline" in str(events)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x9f\x0c\r\n" + bytes(12), "made for another Python"),
        (importlib.util.MAGIC_NUMBER + bytes(12), "a file of it is damaged"),
        (importlib.util.MAGIC_NUMBER + bytes(2000), "a file of it is damaged"),
        (bytes(2000), "a file of it is damaged"),
        (b"\xff" * 2000, "a file of it is damaged"),
    ],
)
def test_bytecode_of_another_python_and_what_is_damaged_are_called_so(copy, data, words):
    os.remove(copy / "schedule/manifest.py")
    (copy / "schedule/manifest.pyc").write_bytes(data)
    assert words in run(copy, TABLES)["refused"]["schedule"]


@pytest.mark.parametrize("has_list", [True, False])
def test_a_part_whose_manifest_was_lost_is_not_called_missing(copy, daemon, has_list):
    if has_list:
        (copy / "schedule/files.json").write_text('{"manifest.py": 1, "scheduler.py": 1}')
    told(daemon, "ready on")
    time.sleep(1)  # it looks once more which parts there are
    os.remove(copy / "schedule/manifest.py")
    told_of = "the schedule: the package oasis-schedule cannot be used: its file manifest"
    again = "install it again: opkg install --force-reinstall oasis-schedule"
    error = daemon.call("schedule.list")["error"]
    assert error["message"].startswith(told_of) and error["hint"] == again
    daemon.process.send_signal(signal.SIGHUP)
    soon(daemon, lambda: "schedule.list" not in methods(daemon))
    done = oasis(copy, "schedule", OASIS_ROOT=daemon.root)
    assert told_of in done.stderr and again in done.stderr and done.returncode == 2
    assert told_of in oasis(copy, "status", OASIS_ROOT=daemon.root).stdout
    for name in os.listdir(copy / "schedule"):  # what a package manager leaves of a part that it removed
        if os.path.isfile(copy / "schedule" / name):
            os.remove(copy / "schedule" / name)
    assert "the schedule: not installed" in oasis(copy, "schedule", OASIS_ROOT=daemon.root).stderr


def test_parts_of_another_version_are_one_line_with_one_command(copy, tmp_path):
    for name in ("schedule", "memory", "telegram"):
        (copy / name / "manifest.py").write_text('VERSION = "0.0.1"')
    with open(REPOSITORY + "/package/scripts/oasis.postinst", encoding="utf-8") as file:
        code = re.search("python3 -ISB -c '([^']*)'", file.read()).group(1).replace("/usr/lib/oasis", str(copy)[:-12])
    line = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, check=True).stdout
    assert line.startswith("oasis: ") and line.count("\n") == 1
    assert line.endswith(": opkg install --force-reinstall oasis-memory oasis-schedule oasis-telegram\n")
    daemon = start_daemon(copy_root(str(tmp_path / "router")), library=str(copy.parent.parent))
    try:
        shown = oasis(copy, "status", OASIS_ROOT=daemon.root).stdout
        assert len(re.findall("force-reinstall", shown)) == 1
        assert "opkg install --force-reinstall oasis-memory oasis-schedule oasis-telegram\n" in shown
        advice = [one["advice"] for one in daemon.call("doctor.run")["findings"] if one["id"].startswith("part-ref")]
        assert len(advice) == 1 and advice[0].count("install it again") == 1
    finally:
        daemon.stop()


def test_a_part_that_was_replaced_by_one_of_the_same_size_and_time_is_taken_up(copy, daemon):
    path = copy / "schedule/manifest.py"
    before = os.stat(path)
    data = path.read_bytes()
    told(daemon, "ready on")
    time.sleep(1)  # it looks once more which parts there are
    path.write_bytes(data)  # the same inode, too
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    daemon.process.send_signal(signal.SIGHUP)
    soon(daemon, lambda: daemon.log().count("ready on") == 2)


def test_a_part_that_waits_to_be_taken_up_is_not_called_missing(copy, tmp_path, request):
    os.rename(copy / "schedule", copy.parent.parent / "schedule")
    daemon = request.getfixturevalue("daemon")
    told(daemon, "ready on")
    time.sleep(1)  # it looks once more which parts there are
    os.rename(copy.parent.parent / "schedule", copy / "schedule")
    done = oasis(copy, "schedule", OASIS_ROOT=daemon.root)
    assert "the schedule: installed, and taken up when nothing runs and no change waits" in done.stderr
    assert done.returncode == 2 and "not installed" not in done.stderr


@pytest.fixture
def daemon(copy, tmp_path):
    running = start_daemon(copy_root(str(tmp_path / "router")), library=str(copy.parent.parent))
    yield running
    running.stop()


def methods(daemon):
    """Return what a wrong call of the daemon names; waits for a daemon that begins again."""
    until = time.monotonic() + 60 * SLOWER
    while True:
        try:
            return daemon.call("knit")["error"]["hint"]
        except (OSError, ValueError):
            assert time.monotonic() < until, daemon.log()
            time.sleep(0.1)


def told(daemon, words):
    until = time.monotonic() + 60 * SLOWER
    while words not in daemon.log():
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)


def test_a_part_that_goes_and_comes_is_taken_up_with_a_reload(copy, daemon):
    assert "schedule.add" in methods(daemon)
    os.rename(copy / "schedule", copy.parent.parent / "schedule")
    daemon.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 60 * SLOWER
    while "schedule.add" in methods(daemon):
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)
    assert daemon.process.poll() is None
    error = daemon.call("schedule.list")["error"]
    assert (error["message"], error["hint"]) == ("the schedule: not installed", "opkg install oasis-schedule")
    os.rename(copy.parent.parent / "schedule", copy / "schedule")
    daemon.process.send_signal(signal.SIGHUP)
    while "schedule.add" not in methods(daemon):
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)
    assert daemon.process.poll() is None


def test_a_change_that_waits_is_not_put_back_by_a_part_that_comes(copy, daemon):
    daemon.call("run.start", message="set the LAN address to 192.168.7.1")
    until = time.monotonic() + 60 * SLOWER
    while not daemon.call("plan.list")["plans"]:
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)
    plan = daemon.call("plan.list")["plans"][0]
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    while not daemon.call("change.pending").get("change"):
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)
    shutil.rmtree(copy / "telegram")
    daemon.process.send_signal(signal.SIGHUP)
    told(daemon, "taken up when nothing runs and no change waits")
    time.sleep(3)
    assert daemon.call("change.pending")["change"] and "telegram.list" in methods(daemon)
    daemon.call("change.confirm", unproved=True)
    while "telegram.list" in methods(daemon):
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)


def test_help_lists_what_is_not_installed_and_what_installs_it(copy, tmp_path):
    assert "Optional parts:" not in oasis(copy, "help").stdout
    shutil.rmtree(copy / "telegram")
    assert "the messenger: not installed (opkg install oasis-telegram)" in oasis(copy, "help").stdout


def test_help_has_no_empty_heading_and_a_slip_names_the_part_that_was_meant(copy):
    for name in ("memory", "schedule", "telegram"):
        shutil.rmtree(copy / name)
    assert "Memory and schedule:" not in oasis(copy, "help").stdout
    for slip, meant, package in (("telegramm", "telegram", "telegram"), ("skill", "skills", "memory")):
        error = oasis(copy, slip).stderr
        assert f"did you mean `oasis {meant}`? " in error and f"not installed: opkg install oasis-{package}" in error
    assert "where the package oasis-offline is installed" in oasis(copy, "help", "first-hour").stdout


def test_a_part_that_goes_while_it_is_in_use_keeps_its_data_and_the_owner_is_told(copy, tmp_path):
    root = copy_root(str(tmp_path / "router"))
    first = start_daemon(root, library=str(copy.parent.parent))
    try:
        assert "id" in str(first.call("schedule.add", when="22:00 daily", wish="is the internet working?"))
    finally:
        first.stop()
    os.rename(copy / "schedule", tmp_path / "schedule")
    second = start_daemon(root, library=str(copy.parent.parent))
    try:
        told(second, "waits for it: opkg install oasis-schedule")
        notices = [one["text"] for one in second.call("notice.list")["notices"]]
        assert notices == [
            "the schedule: not installed, and what it keeps for you waits for it: opkg install oasis-schedule"
        ]
        assert "version" in second.call("info")
        assert "the schedule: not installed" in str(second.call("info")["missing"])
    finally:
        second.stop()
    os.rename(tmp_path / "schedule", copy / "schedule")
    third = start_daemon(root, library=str(copy.parent.parent))
    try:
        assert "is the internet working?" in str(third.call("schedule.list"))
    finally:
        third.stop()


def soon(daemon, what):
    """Wait until something is so, also over a daemon that begins again; return it."""
    until = time.monotonic() + 60 * SLOWER
    while True:
        try:
            found = what()
        except (OSError, ValueError, AssertionError):  # it is ending, or not there yet
            found = None
        if found:
            return found
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.1)


def notices(daemon, kind):
    return [one["text"] for one in daemon.call("notice.list")["notices"] if one["kind"] == kind]


def test_a_plan_that_only_waits_blocks_no_reload_and_the_owner_hears_of_its_end(copy, daemon):
    chat = daemon.call("run.start", message="set the LAN address to 192.168.7.1")["chat"]
    plan = soon(daemon, lambda: daemon.call("plan.list")["plans"])[0]
    shutil.rmtree(copy / "telegram")
    daemon.process.send_signal(signal.SIGHUP)
    dropped = soon(daemon, lambda: notices(daemon, "plan_dropped"))
    assert len(dropped) == 1 and plan["summary"] in dropped[0] and "nothing of it was done, ask again" in dropped[0]
    soon(daemon, lambda: "telegram.list" not in methods(daemon))
    assert daemon.call("plan.list")["plans"] == [] and daemon.process.poll() is None
    assert "stopped by the service, which takes up other parts" in str(daemon.call("chat.load", id=chat))


def test_a_plan_that_a_client_proposed_blocks_no_reload(copy, daemon):
    with connected(daemon.socket) as sock:

        def ask(method, **params):
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            sock.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(read_line(sock))["result"]

        ask("client.join", name="demo")
        moved = {"commands": ["uci set network.lan.ipaddr='192.168.7.1'"], "summary": "move the network"}
        ask("tool.call", name="configure", arguments=moved)
        soon(daemon, lambda: daemon.call("plan.list")["plans"])
        shutil.rmtree(copy / "mcp")
        error = {}
        while not error:  # from this moment on, whether or not a reload came
            request = {"jsonrpc": "2.0", "id": 1, "method": "tool.specs", "params": {}}
            sock.sendall(json.dumps(request).encode() + b"\n")
            error = json.loads(read_line(sock))["error"]
        assert (error["data"]["message"], error["data"]["hint"]) == ("MCP: not installed", "opkg install oasis-mcp")
    daemon.process.send_signal(signal.SIGHUP)
    assert "move the network" in soon(daemon, lambda: notices(daemon, "plan_dropped"))[0]
    soon(daemon, lambda: "mcp.list" not in methods(daemon))
    error = daemon.call("client.join", name="demo")["error"]
    assert (error["message"], error["hint"]) == ("MCP: not installed", "opkg install oasis-mcp")


def test_a_removed_part_takes_no_order_while_a_run_keeps_the_service_from_beginning_again(copy, tmp_path):
    from tests.parts.telegram.kit import OWNER, Model, Scene

    scene, model = Scene(tmp_path, pace_ms="150"), Model()
    with open(scene.root + "/etc/config/oasis", "a") as settings:
        settings.write(model.section())
    model.pieces, model.pause_s = ["word "] * 600, 0.5
    daemon = scene.start(str(copy.parent.parent)).daemon
    try:
        scene.pair(OWNER)
        scene.api.says(OWNER, "/status")
        scene.api.wait_text(OWNER, "OpenWrt")
        daemon.call("schedule.add", when="22:00 daily", wish="is the internet working?")
        run = daemon.call("run.start", message="tell me a long story", service="home")["run"]
        soon(daemon, lambda: model.asked)
        for name in ("telegram", "schedule", "memory", "lua"):
            shutil.rmtree(copy / name)
        for method, title in (
            ("telegram.list", "the messenger"), ("schedule.list", "the schedule"), ("plugin.list", "compatibility"),
            ("memory.list", "memory"),
        ):  # fmt: skip
            error = daemon.call(method)["error"]
            assert error["message"].startswith(title) and error["message"].endswith(": not installed")
        assert "schedule_create" not in str(daemon.call("tool.list"))
        daemon.process.send_signal(signal.SIGHUP)
        told(daemon, "taken up when nothing runs and no change waits")
        scene.api.says(OWNER, "call this router pwned")
        time.sleep(3)
        assert "pwned" not in scene.config("system")
        info = daemon.call("info")
        assert {"telegram", "schedule", "memory", "lua"} <= {one["part"] for one in info["missing"]}
        assert "the messenger was removed: this is taken up when" in info["parts_wait"]
        assert run in info["parts_wait"] and notices(daemon, "parts_waiting") == [info["parts_wait"]]
        with open(scene.root + "/var/run/oasis/waits") as file:
            assert file.read() == info["parts_wait"] + "\n"
        daemon.call("run.cancel", run=run)
        soon(daemon, lambda: "telegram.list" not in methods(daemon))
        assert not os.path.exists(scene.root + "/var/run/oasis/waits") and daemon.call("info")["parts_wait"] == ""
        assert notices(daemon, "parts_waiting") == []
    finally:
        scene.close()
        model.shutdown()


def test_the_owner_is_told_when_the_service_in_use_or_the_way_to_a_server_goes(copy, daemon):
    daemon.call("mcp.add", name="files", command=["/opt/files"])
    assert "no tool" in daemon.call("tool.set", name="files___gone", enabled=True)["error"]["message"]
    daemon.call("telegram.set", enabled=True)
    run = daemon.call("run.start", message="what is my lan address?")["run"]
    soon(daemon, lambda: daemon.call("run.poll", run=run)["state"] == "done")
    for name in ("offline", "mcp", "telegram"):
        shutil.rmtree(copy / name)
    daemon.process.send_signal(signal.SIGHUP)
    assert soon(daemon, lambda: len(notices(daemon, "part_missing")) > 2 and notices(daemon, "part_missing")) == [
        "MCP: not installed, and what it keeps for you waits for it: opkg install oasis-mcp",
        "the messenger: not installed, and what it keeps for you waits for it: opkg install oasis-telegram",
        "the built-in service: not installed, and no other AI service is set up, so nothing answers: "
        "opkg install oasis-offline",
    ]
    run = daemon.call("tool.call", name="files___read", arguments={})["run"]
    events = daemon.call("run.poll", run=run, since=0, wait_ms=10000)["events"]
    assert "opkg install oasis-mcp" in str(events)
    assert "opkg install oasis-mcp" in str(daemon.call("tool.set", name="files___read", enabled=True)["error"])
    assert "opkg install" not in str(daemon.call("tool.set", name="nobody_has_this", enabled=True)["error"])


def test_a_token_is_kept_and_taken_away_without_the_messenger(copy, daemon):
    from tests.parts.telegram.bot_api import TOKEN

    shutil.rmtree(copy / "telegram")
    daemon.process.send_signal(signal.SIGHUP)
    soon(daemon, lambda: "telegram.list" not in methods(daemon))
    keys = daemon.root + "/etc/oasis/keys.json"
    for words, text in (((), "kept"), (("-d",), "taken away")):
        lib = str(copy.parent.parent)
        code = f"import sys; sys.path.insert(0, {lib!r})\nfrom oasis.cli.main import main; sys.exit(main(sys.argv[1:]))"
        argv = [sys.executable, "-IS", "-c", code, "key", *words, "telegram"]
        env = {"PATH": "", "OASIS_ROOT": daemon.root}
        done = subprocess.run(argv, env=env, input=TOKEN + "\n", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        shown = f"the key of telegram is {text}\nthe messenger: not installed (opkg install oasis-telegram)\n"
        assert done.stdout == shown
        with open(keys) as file:
            assert (TOKEN in file.read()) is (text == "kept")


def test_the_built_in_service_that_goes_is_named(copy, daemon):
    shutil.rmtree(copy / "offline")
    error = soon(daemon, lambda: daemon.call("run.start", message="what is my lan address?"))["error"]
    assert "not installed" in error["message"] and "opkg install oasis-offline" in str(error)
