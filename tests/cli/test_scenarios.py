"""Runs every tests/cli/*.txt: a scenario is read as a session at a router.

    # prose
    daemon> METHOD PARAMS -> ANSWER      what a scripted daemon answers (all must be asked for), JSON; or the one line
    daemon                               the real daemon, on a router root of its own
    needs PART                           what is left out in a tree without it
    file NAME TEXT                       a file in the folder where the commands run, TEXT as a JSON text
    $ oasis WORDS                        a command, words quoted as in a shell
    < a line on its standard input
    a line on its standard output
    root> a line on its standard output where the tests, and so the daemon, run as root
    2> a line on its standard error
    exit 2                               its status, 0 when not given

{ROOT} in an expected line stands for the router root. A line without end marks, ` …` at its end, may go on anyhow.
"""

import glob
import json
import os
import re
import shlex
import subprocess

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.oasisd import copy_root, start_daemon

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 60
SCENARIOS = sorted(glob.glob(os.path.join(HERE, "*.txt")))


class Command:
    def __init__(self, words):
        self.words = words
        self.stdin = ""
        self.stdout = []
        self.stderr = []
        self.status = 0


def read(path):
    """Return (answers, uses the real daemon, files, commands) of a scenario file."""
    answers, commands, files, is_real = [], [], {}, False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("$ oasis"):
                commands.append(Command(shlex.split(line)[2:]))
            elif line.startswith("daemon> "):
                call, answer = line[len("daemon> ") :].split(" -> ", 1)
                method, params = call.split(" ", 1)
                answers.append((method, json.loads(params), json.loads(answer)))
            elif line.startswith("file ") and not commands:
                name, text = line[len("file ") :].split(" ", 1)
                files[name] = json.loads(text)
            elif line == "daemon":
                is_real = True
            elif commands and not line.startswith("#"):
                _expect(commands[-1], line)
    for command in commands:
        while command.stdout and not command.stdout[-1]:
            command.stdout.pop()  # empty lines before the next command are for the reader
    return answers, is_real, files, commands


def _expect(command, line):
    if line.startswith("2> "):
        command.stderr.append(line[3:])
    elif line.startswith("root> "):
        command.stdout += [line[len("root> ") :]] if os.geteuid() == 0 else []
    elif line.startswith("< "):
        command.stdin += line[2:] + "\n"
    elif re.fullmatch(r"exit \d+", line):
        command.status = int(line[5:])
    else:
        command.stdout.append(line)


def agrees(expected, shown, root):
    """Return whether each shown line is as expected."""
    expected = [line.replace("{ROOT}", root) for line in expected]
    return len(expected) == len(shown) and all(
        line.startswith(wanted[:-1]) if wanted.endswith(" …") else line == wanted
        for wanted, line in zip(expected, shown, strict=True)
    )


def run(commands, root, program, folder):
    for command in commands:
        done = subprocess.run(
            [*program, *command.words],
            input=command.stdin,
            env=launcher.environment(root),
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
        )
        shown = f"$ oasis {shlex.join(command.words)}\n{done.stdout}--- stderr\n{done.stderr}--- exit {done.returncode}"
        assert agrees(command.stdout, done.stdout.split("\n")[:-1], root), shown
        assert agrees(command.stderr, done.stderr.split("\n")[:-1], root), shown
        assert done.returncode == command.status, shown


def start_real(root):
    return start_daemon(copy_root(str(root)))


def needs(path):
    """Return the parts that a scenario needs."""
    with open(path, encoding="utf-8") as lines:
        return [line.split()[1] for line in lines if line.startswith("needs ")]


@pytest.mark.parametrize(
    "path",
    [pytest.param(one, id=os.path.basename(one)[:-4], marks=pytest.mark.part(*needs(one))) for one in SCENARIOS],
)
def test_scenario(path, tmp_path):
    answers, is_real, files, commands = read(path)
    program = launcher.install(tmp_path)
    root = tmp_path / "root"
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert commands, "a scenario has commands"
    if is_real:
        daemon = start_real(root)
        try:
            run(commands, str(daemon.root), program, folder)
        finally:
            daemon.stop()
    elif answers:
        with FakeDaemon(root, answers) as daemon:
            run(commands, str(root), program, folder)
            assert daemon.unused() == [], "written answers that nobody asked for"
    else:
        run(commands, str(root), program, folder)
