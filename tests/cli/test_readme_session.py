"""The session that README shows, once more: the same commands and answers give the same lines."""

import os
import re
import shlex

import pytest

from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import REPOSITORY, copy_root, set_option, start_daemon

WINDOW_S = 4  # three minutes in README
# What differs from one day to the next: ids of changes, hashes, times, seconds, colours, the countdown.
CHANGING = (
    (re.compile(r"\x1b(\[[0-9;]*[A-Za-z]|[78])"), ""),
    (re.compile(r"\b[0-9a-v]{20}\b"), "ID"),
    (re.compile(r"Plan [0-9a-f]{8}"), "Plan HASH"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "TIME"),
    (re.compile(r"(Keep it\? \[y/N\]) .*"), r"\1"),
    (re.compile(r"\d+ s\b"), "N s"),
)
ANSWER = re.compile(r"^(.*\[y/N\]) ?(.*)$")


def told():
    """Return [(command words, shown lines)] of README's session."""
    with open(os.path.join(REPOSITORY, "README.md"), encoding="utf-8") as file:
        block = file.read().split("```console\n")[1].split("```")[0]
    parts = re.split(r"^\$ oasis ", block, flags=re.M)[1:]
    return [(shlex.split(part.split("\n")[0]), part.rstrip("\n").split("\n")[1:]) for part in parts]


def steady(lines):
    found = []
    for line in lines:
        for pattern, stands in CHANGING:
            line = pattern.sub(stands, line)
        found.append(line.rstrip())
    return [line for line in found if line]


@pytest.mark.part("offline")
def test_readmes_session_is_what_the_programs_print(tmp_path):
    root = copy_root(str(tmp_path / "root"))
    set_option(root, "alive_loopback", "1")
    set_option(root, "confirm_s", str(WINDOW_S))
    daemon = start_daemon(root)
    try:
        for words, lines in told():
            terminal = Terminal([*launcher.install(tmp_path), *words], launcher.environment(root))
            for line in lines:
                question = ANSWER.match(line)
                if question and question.group(2):
                    terminal.wait_for(question.group(1))
                    terminal.type(question.group(2) + "\n")
            terminal.leave()
            shown = terminal.text.replace("\r", "").removeprefix("$ ").split("\n")
            assert steady(shown) == steady(lines), words
    finally:
        daemon.stop()
