"""The owner at a terminal while the service takes up other parts."""

import os
import re
import shutil
import signal
import time

import pytest

from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import PARTS, REPOSITORY, SLOWER, copy_root, set_option, start_daemon

pytestmark = pytest.mark.part(*PARTS)

BEGAN_AGAIN = "oasis: the service began again, as it does when parts are added or removed"
STOPPED = r"oasis: error: stopped by the service, which \w+.*: the plan that waited is dropped\r?\noasis: hint: say it"


class Scene:
    def __init__(self, folder):
        """Start a service from a copy of the program."""
        self.library = folder / "lib"
        shutil.copytree(REPOSITORY + "/oasis", self.library / "oasis", ignore=shutil.ignore_patterns("__pycache__"))
        root = copy_root(str(folder / "router"))
        set_option(root, "titles", "off")
        self.daemon = start_daemon(root, library=str(self.library))
        self.program = launcher.install(folder, library=str(self.library))

    def at_terminal(self, *words):
        return Terminal([*self.program, *words], launcher.environment(self.daemon.root))

    def take_up(self, part="schedule"):
        """Remove a part; return when the service began again."""
        shutil.rmtree(self.library / "oasis/parts" / part)
        count = self.daemon.log().count("ready on")
        self.daemon.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 60 * SLOWER
        while self.daemon.log().count("ready on") == count:
            assert time.monotonic() < until, self.daemon.log()
            time.sleep(0.05)

    def messages(self):
        """Return what the owner said in all chats."""
        chats = [one["id"] for one in self.daemon.call("chat.list")["item"]]
        found = [message for chat in chats for message in self.daemon.call("chat.load", id=chat)["messages"]]
        return [message["content"] for message in found if message["role"] == "user"]


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    yield scene
    scene.daemon.stop()


def test_a_chat_goes_on_when_parts_change_and_sends_a_line_once(scene):
    terminal = scene.at_terminal("chat")
    terminal.wait_for("you: ")
    scene.take_up()
    terminal.type("what is my lan address?\n")
    terminal.wait_for(BEGAN_AGAIN)
    terminal.wait_for("192.168.1.1")
    terminal.wait_for("you: ")
    assert [str(one).count("lan address") for one in scene.messages()] == [1]
    terminal.type("/exit\n")
    assert terminal.leave() == 0 and "error" not in terminal.text


def test_a_plan_that_is_asked_about_is_dropped_in_one_sentence(scene):
    terminal = scene.at_terminal("prompt", "change the wifi name to Home")
    terminal.wait_for("Apply this? [y/N] ")
    scene.take_up()
    assert terminal.leave() == 11
    assert re.search(STOPPED, terminal.text) and terminal.text.count("error") == 1, terminal.text


def test_an_answer_that_comes_too_late_is_no_message(scene):
    terminal = scene.at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("change the wifi name to Home\n")
    terminal.wait_for("Apply this? [y/N] ")
    scene.take_up()
    terminal.wait_for("you: ")
    assert re.search(STOPPED, terminal.text), terminal.text
    terminal.type("y\n")
    terminal.wait_for("nothing waits for an answer any more, and this is not sent")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    terminal.leave()
    assert len(scene.messages()) == 1


def test_a_command_waits_while_parts_are_taken_up(scene):
    process = scene.daemon.process
    shutil.rmtree(scene.library / "oasis/parts/telegram")
    process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 60 * SLOWER
    while os.path.exists(scene.daemon.socket):
        assert time.monotonic() < until, scene.daemon.log()
    terminal = scene.at_terminal("status")
    assert terminal.leave() == 0, terminal.text
