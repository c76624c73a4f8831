"""The account of the soak can fail: what was acknowledged and is gone is told; and a short soak has nothing missing."""

import glob
import os
import subprocess
import sys

import pytest

from tests.guards import kill_guards
from tests.recorder import Recorder

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import household  # noqa: E402
import soak  # noqa: E402


@pytest.fixture
def house(tmp_path):
    model = Recorder()
    root = soak.prepared(str(tmp_path), model.url)
    with open(root + "/clock", "w") as handle:
        handle.write("0")
    made = household.House(root, model, 1)
    made.start()
    yield made
    made.stop()
    kill_guards(root)
    model.close()


class Dice:
    """Always the first, and never by chance."""

    def choice(self, things):
        return things[0]

    def random(self):
        return 0.99


def test_a_message_that_was_acknowledged_and_is_gone_is_told(house):
    house._talk(Dice(), {})
    assert house.missing() == []
    house.stop()
    for path in glob.glob(house.root + "/etc/oasis/chats/*.jsonl"):
        with open(path, "r+b") as handle:
            handle.truncate(0)
    house.start()
    assert "messages of chat" in " ".join(house.missing())


def test_a_change_that_was_told_and_is_gone_is_told(house):
    house._rename(Dice(), "attic")
    assert house.counts["renames"] == 1
    assert house.missing() == []
    with open(house.root + "/etc/config/system") as handle:
        text = handle.read()
    with open(house.root + "/etc/config/system", "w") as handle:
        handle.write(text.replace("attic", "other"))
    assert "the router is called 'other'" in " ".join(house.missing())


def test_a_chat_that_was_deleted_and_is_there_is_told(house):
    house._talk(Dice(), {})
    house.deleted.update(house.messages.values())
    assert "deleted chats are there again" in " ".join(house.missing())


def test_a_change_with_another_state_is_told(house):
    house._rename(Dice(), "attic")
    change = next(iter(house.changes))
    house.changes[change] = "rolled_back"
    assert f"change {change} was told as rolled_back and is confirmed" in house.missing()


@pytest.mark.long
def test_a_soak_of_seconds_has_nothing_missing():
    done = subprocess.run([sys.executable, HERE + "/soak.py", "--seconds", "12", "--seed", "3"], capture_output=True,
                          text=True, timeout=200, check=False)  # fmt: skip
    assert "everything that was told is there" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
