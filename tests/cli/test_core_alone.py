"""A core without any part and without a model: what it says, and that it names what to do next."""

import os
import shutil
import subprocess

import pytest

from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import PARTS, REPOSITORY, copy_root, set_option, start_daemon
from tests.recorder import Recorder

COMMANDS = {"opkg": "opkg install oasis-offline", "apk": "apk add oasis-offline"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(REPOSITORY + "/oasis", folder / "oasis", ignore=shutil.ignore_patterns("__pycache__", *PARTS))
    return str(folder)


@pytest.fixture(scope="module", params=COMMANDS)
def core(request, library, tmp_path_factory):
    """A daemon of a core alone, and the command that installs the built-in service there."""
    root = copy_root(str(tmp_path_factory.mktemp("root") / "router"))
    shutil.copy(REPOSITORY + "/tests/router/root/etc/config/oasis", root + "/etc/config/oasis")
    if request.param == "apk":
        os.makedirs(root + "/usr/bin", exist_ok=True)
        with open(root + "/usr/bin/apk", "w"):
            pass
    running = start_daemon(root, library=library)
    yield running, COMMANDS[request.param]
    running.stop()


@pytest.fixture
def program(library, tmp_path):
    command = launcher.install(tmp_path)
    with open(command[-1], encoding="utf-8") as handle:
        text = handle.read()
    assert text.count(repr(REPOSITORY)) == 1
    with open(command[-1], "w", encoding="utf-8") as handle:
        handle.write(text.replace(repr(REPOSITORY), repr(library)))
    return command


def oasis(program, daemon, *words):
    environment = launcher.environment(daemon.root)
    return subprocess.run([*program, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "words",
    [
        ("prompt", "which devices are here?"),
        ("prompt", "--service", "offline", "hello"),
        ("agent", "call this router attic"),
        ("privacy", "hello"),
        ("test", "offline"),
        ("select", "offline"),
        ("models", "offline"),
    ],
)
def test_what_needs_a_service_says_what_to_do_next(core, program, words):
    daemon, install = core
    done = oasis(program, daemon, *words)
    assert done.returncode not in (0, 1) and "Traceback" not in done.stderr
    assert "oasis: error: the built-in service: not installed; and no service with a model is in use" in done.stderr
    assert f"oasis: hint: {install}; or set up a service with a model: oasis setup" in done.stderr


@pytest.mark.parametrize("words", [("status",), ("services",)])
def test_what_shows_the_service_says_that_it_is_not_here(core, program, words):
    daemon, install = core
    done = oasis(program, daemon, *words)
    assert f"not ready: not installed: {install}" in done.stdout and done.returncode == 0


def test_what_needs_no_service_works(core, program):
    daemon, _ = core
    for words in (("doctor",), ("tools",), ("topics",), ("help",), ("completion",), ("audit", "--verify"), ("notices",),
                  ("apply", "uci set system.@system[0].hostname=attic"), ("undo",), ("list",)):  # fmt: skip
        done = oasis(program, daemon, *words)
        assert (done.returncode, done.stderr) == (0, ""), words
    help_text = oasis(program, daemon, "help").stdout
    assert all(f"oasis-{part}" in help_text for part in PARTS)


def test_setup_without_a_model_ends_with_what_to_do_next(core, program):
    daemon, install = core
    terminal = Terminal([*program, "setup"], launcher.environment(daemon.root, TERM="xterm"))
    terminal.wait_for("where the built-in service is installed: " + install)
    terminal.wait_for("Your choice [3]: ")
    terminal.type("\n")
    assert terminal.leave() == 0, terminal.text
    assert "Nothing answers yet. Set up a model (oasis setup), or install the built-in service: " + install in (
        " ".join(terminal.text.split())
    )


def test_setup_with_a_model_puts_nothing_behind_it_that_is_not_here(library, program, tmp_path):
    model = Recorder("OK.", "Good evening.")
    root = copy_root(str(tmp_path / "router"))
    shutil.copy(REPOSITORY + "/tests/router/root/etc/config/oasis", root + "/etc/config/oasis")
    set_option(root, "titles", "words")
    daemon = start_daemon(root, library=library)
    try:
        done = oasis(program, daemon, "add", "compatible", model.url, "--model", "m")
        assert done.returncode == 0, done.stderr
        done = oasis(program, daemon, "select", "compatible")
        assert (done.returncode, done.stderr) == (0, "")
        done = oasis(program, daemon, "prompt", "good evening")
        assert (done.returncode, done.stdout.strip()) == (0, "OK.")
        done = oasis(program, daemon, "prompt", "--service", "offline", "good evening")
        assert done.returncode not in (0, 1) and done.stderr.splitlines() == [
            "oasis: error: the built-in service: not installed",
            "oasis: hint: opkg install oasis-offline; or let another service answer: oasis select",
        ]
        assert "not ready" not in oasis(program, daemon, "status").stdout
    finally:
        daemon.stop()
        model.close()
