"""What one question costs the router beside the interpreter itself; prints the ratios (pytest -s)."""

import os
import re
import subprocess
import sys
import time

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.values import end, info, polled

TIMES = 4.0
SIZES = 1.6
ROUNDS = 15
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
# `_socket` does what `socket` would; the others are habits that cost more than the command does.
TOO_BIG = {"argparse", "socket", "typing", "subprocess", "threading", "requests", "http", "ssl", "logging", "pathlib"}
MEASURED = """
import os, sys
leave = os._exit
def shown(status):
    sys.stderr.write(open('/proc/self/status').read())
    sys.stderr.flush()
    leave(status)
os._exit = shown
del sys.argv[0]
if sys.argv:
    exec(compile(open(sys.argv[0]).read(), 'oasis', 'exec'))
shown(0)
"""


def best_s(argv, environment):
    """Return the shortest of some runs: what it takes when nothing else is in the way."""
    times = []
    for _ in range(ROUNDS):
        before_s = time.perf_counter()
        subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - before_s)
    return min(times)


def largest_kib(argv, environment):
    """Return the peak resident size of a program, as it sees itself at its end; of the interpreter without one."""
    command = [sys.executable, "-I", "-S", "-c", MEASURED, *argv]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"VmHWM:\s+(\d+) kB", shown).group(1))


def test_one_question_costs_little_beside_the_interpreter(tmp_path):
    program = launcher.install(tmp_path)
    answers = [("run.start", None, {"run": "r1", "chat": "c1"})]
    answers.append(("run.poll", None, polled([{"type": "delta", "text": "Hi."}, end()])))
    environment = launcher.environment(tmp_path)
    with FakeDaemon(tmp_path, answers):
        subprocess.run([*program, "prompt", "hello"], env=environment, check=True, capture_output=True)  # bytecode
        slower = best_s([*program, "prompt", "hello"], environment) / best_s(BARE, environment)
        ours = largest_kib([program[-1], "prompt", "hello"], environment)
        bigger = ours / largest_kib([], environment)
    print(f"\noasis prompt: {slower:.2f} times the time and {bigger:.2f} times the memory of a bare interpreter")
    assert slower <= TIMES
    assert bigger <= SIZES


def imported(tmp_path, answers, words):
    """Return the names of the modules that a command loads."""
    program = launcher.install(tmp_path)
    with FakeDaemon(tmp_path, answers):
        argv = [sys.executable, "-IS", "-X", "importtime", program[-1], *words]
        done = subprocess.run(argv, env=launcher.environment(tmp_path), capture_output=True, text=True, input="hello\n")
    assert done.returncode == 0, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_one_question_imports_no_big_module_and_nothing_of_other_commands(tmp_path):
    answers = [("run.start", None, {"run": "r1", "chat": "c1"}), ("run.poll", None, polled([end()]))]
    found = imported(tmp_path, answers, ["prompt", "hello"])
    ours = {name for name in found if name.startswith("oasis.cli.")}
    needed = {"cards", "commands", "main", "prompt", "rpc_client", "terminal"}
    assert ours == {"oasis.cli." + name for name in needed}
    assert not found & TOO_BIG


CHATS = [{"id": "c1", "title": "t", "updated_unix_s": 0, "exchanges": 1}]
LIGHT = {
    "list": ("list",),
    "show": ("show", "c1"),
    "tree": ("tree",),
    "search": ("search", "word"),
    "branch": ("branch",),
    "export": ("export", "c1"),
    "topics": ("topics",),
    "chat": ("chat",),
}


@pytest.mark.parametrize("name", LIGHT)
def test_no_command_of_the_chats_imports_a_big_module(tmp_path, name):
    answers = [
        ("chat.list", None, {"item": CHATS}),
        ("chat.load", None, {"id": "c1", "title": "t", "head": "m1", "messages": [], "earlier": 0}),
        ("chat.tree", None, {"id": "c1", "title": "t", "head": "", "nodes": []}),
        ("chat.search", None, {"found": []}),
        ("chat.export", None, {"name": "n", "media_type": "m", "data": "{}\n", "parts": 1}),
        ("bookmark.list", None, {"bookmarks": []}),
        ("topic.list", None, {"topics": []}),
        ("info", None, info()),
        ("run.start", None, {"run": "r1", "chat": "c1"}),
        ("run.poll", None, polled([end()])),
    ]
    assert not imported(tmp_path, answers, LIGHT[name]) & TOO_BIG


def test_launcher_leaves_no_bytecode_on_a_router():
    with open(os.path.join(launcher.REPOSITORY, "files/usr/bin/oasis"), encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("#!/usr/bin/python3 -IS\n")
    assert 'sys.dont_write_bytecode = ROOT == "/"' in text
    assert os.access(os.path.join(launcher.REPOSITORY, "files/usr/bin/oasis"), os.X_OK)
