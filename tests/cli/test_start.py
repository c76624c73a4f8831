"""The command line without a service: it says so, and starts one when a person says yes or `oasis start` is called."""

import os
import signal
import subprocess
import sys
import time

import pytest

from oasis.cli.rpc_client import Client, NoDaemon
from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.terminal import Terminal
from tests.oasisd import REPOSITORY, connected, copy_root

QUESTION = "Start it now? [Y/n] "
# What procd would do: start the daemon, and return at once.
INIT = """#!/bin/sh
echo "$1" >>{root}/calls
[ "$1" = start ] || exit 0
OASIS_ROOT={root} PATH={root}/bin:$PATH setsid {python} -IS -c \\
    'import sys; sys.path.insert(0, "{library}"); from oasis.daemon.main import main; sys.exit(main([]))' \\
    </dev/null >/dev/null 2>&1 &
"""


@pytest.fixture
def root(tmp_path):
    root = copy_root(str(tmp_path / "root"))
    script = root + "/etc/init.d/oasis"
    with open(script, "w") as file:
        file.write(INIT.format(root=root, python=sys.executable, library=REPOSITORY))
    os.chmod(script, 0o755)
    yield root
    stop(root)


def stop(root):
    """End the daemon that was started, by the process that it wrote down."""
    try:
        with open(root + "/var/run/oasis/lock") as file:
            pid = int(file.read())
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        return
    until_s = time.monotonic() + 15
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until_s:
        time.sleep(0.05)


def runs(root):
    try:
        connected(root + "/var/run/oasis/oasis.sock").close()
    except OSError:
        return False
    return True


def calls(root):
    try:
        with open(root + "/calls") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def shell(tmp_path, *words, root):
    program, env = launcher.install(tmp_path), launcher.environment(root)
    return subprocess.run([*program, *words], env=env, capture_output=True, text=True, check=False)


def at_terminal(root, tmp_path, *words):
    return Terminal([*launcher.install(tmp_path), *words], launcher.environment(root))


@pytest.mark.parametrize("answer", ["\n", "y\n", "Yes\n"])
def test_a_person_who_says_yes_gets_the_service_and_the_answer(root, tmp_path, answer):
    terminal = at_terminal(root, tmp_path, "prompt", "hello")
    terminal.wait_for(QUESTION)
    terminal.type(answer)
    assert terminal.leave() == 0, terminal.text
    assert runs(root) and calls(root) == ["start"]
    assert "not running" in terminal.text and "error" not in terminal.text


@pytest.mark.parametrize("answer", ["n\n", "maybe\n", "\x04"])
def test_whoever_says_no_is_told_how_and_nothing_starts(root, tmp_path, answer):
    terminal = at_terminal(root, tmp_path, "prompt", "hello")
    terminal.wait_for(QUESTION)
    terminal.type(answer)
    assert terminal.leave() == 69, terminal.text
    assert "start it:" in terminal.text and calls(root) == [] and not runs(root)


def test_no_program_is_asked(root, tmp_path):
    for words in (["prompt", "hello"], ["-j", "list"], ["chat"]):
        done = shell(tmp_path, *words, root=root)
        assert done.returncode == 69 and QUESTION not in done.stdout + done.stderr
    assert calls(root) == []


def test_start_waits_until_the_service_answers_and_starts_no_second_one(root, tmp_path):
    for told in ("the service runs", "the service runs already"):
        done = shell(tmp_path, "start", root=root)
        assert (done.returncode, done.stdout) == (0, "") and done.stderr == f"oasis: {told}\n"
        assert runs(root)
    assert calls(root) == ["start"]


@pytest.mark.parametrize("word", ["0", "off", "no"])
def test_a_service_that_is_switched_off_is_not_started(root, tmp_path, word):
    path = root + "/etc/config/oasis"
    with open(path) as file:
        text = file.read().replace("option enabled '1'", f"option enabled '{word}'")
    with open(path, "w") as file:
        file.write(text)
    assert f"'{word}'" in text
    done = shell(tmp_path, "start", root=root)
    assert done.returncode != 0 and "switched off" in done.stderr and "oasis.main.enabled=1" in done.stderr
    assert calls(root) == []


def test_a_service_that_dies_at_once_is_told_with_the_way_to_its_words(root, tmp_path):
    with open(root + "/etc/init.d/oasis", "w") as file:
        file.write("#!/bin/sh\nexit 1\n")
    done = shell(tmp_path, "start", root=root)
    assert done.returncode == 69 and "logread -e oasis" in done.stderr


def test_without_an_init_script_there_is_nothing_to_start_with(root, tmp_path):
    os.remove(root + "/etc/init.d/oasis")
    done = shell(tmp_path, "start", root=root)
    assert done.returncode != 0 and "make run" in done.stderr
    terminal = at_terminal(root, tmp_path, "prompt", "hello")
    assert terminal.leave() == 69 and QUESTION not in terminal.text


def test_what_was_asked_of_a_service_that_went_away_is_not_asked_again(tmp_path):
    client = Client(str(tmp_path / "var/run/oasis/oasis.sock"))
    with FakeDaemon(tmp_path, [("run.start", None, {"run": "r1", "chat": "c1"})]):
        client.call("run.start", {"message": "hello"})
    client.close()  # as after any call that did not complete
    with pytest.raises(NoDaemon) as gone:
        client.call("run.poll", {"run": "r1"})
    with pytest.raises(NoDaemon) as absent:
        Client(client.path).call("info", {})
    assert (gone.value.is_absent, absent.value.is_absent) == (False, True)
