"""Approving by messenger: off at first; then a code, once, for the plan that was shown; the code is kept nowhere."""

import json
import time

import pytest

from oasis.parts.telegram.people import STEP_S, decoded, totp
from tests.parts.telegram.kit import OWNER

RISKY = "set the wifi password to swordfish-%d"


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    from tests.parts.telegram.kit import Scene

    made = Scene(tmp_path_factory.mktemp("approval"), notices="0", approve="1", pace_ms="150").start()
    made.pair(OWNER)
    yield made
    made.close()


class Authenticator:
    """What the owner's telephone shows; a code that was used is not shown again."""

    def __init__(self, scene):
        shown = scene.call("telegram.secret")
        self.secret, self.used = decoded(shown["secret"]), 0
        assert shown["uri"].startswith("otpauth://totp/Oasis:")
        assert scene.call("telegram.secret", code=self.next()) == {"status": "OK"}

    def next(self):
        """Return the next code that is good, waiting for the one after where all were used."""
        while True:
            step = int(time.time()) // STEP_S
            for one in (step - 1, step, step + 1):
                if one > self.used:
                    self.used = one
                    return totp(self.secret, one)
            time.sleep(0.2)


def card_of(scene, number):
    scene.api.says(OWNER, RISKY % number)
    scene.until(lambda: scene.call("plan.list")["plans"])
    return scene.api.wait(
        lambda: next((one for one in reversed(scene.api.of_bot(OWNER)) if "waits for your word" in one["text"]), None)
    )


def labels(card):
    return [button["text"] for row in card["reply_markup"]["inline_keyboard"] for button in row]


def test_risky_plans_are_approved_by_a_code_alone_and_the_code_is_kept_nowhere(scene):
    card = card_of(scene, 1)
    assert labels(card) == ["Decline"], "without a secret nothing risky is approved"
    scene.api.presses(OWNER, card["message_id"], "Decline")
    scene.until(lambda: not scene.call("plan.list")["plans"])

    phone = Authenticator(scene)
    card = card_of(scene, 2)
    assert labels(card) == ["Approve", "Decline"]
    (plan,) = scene.call("plan.list")["plans"]
    scene.api.presses(OWNER, card["message_id"], "Approve")
    asked = scene.api.wait_text(OWNER, "Send the six digits")
    assert plan["short"] in asked["text"]
    assert scene.call("plan.list")["plans"], "a press alone approves nothing"

    wrong = scene.api.says(OWNER, "000000")
    scene.api.wait_text(OWNER, "This code is not good")
    assert scene.call("plan.list")["plans"]
    code = phone.next()
    right = scene.api.says(OWNER, code[:3] + " " + code[3:])
    scene.until(lambda: scene.call("change.pending")["change"])
    assert wrong not in scene.api.chats[OWNER] and right not in scene.api.chats[OWNER]  # both are deleted
    (line, *_) = [one for one in scene.call("audit.list")["lines"] if one["what"] == "approved"]
    assert line["role"] == "messenger"

    # Used once: the same digits keep nothing.
    scene.api.wait_text(OWNER, "undone automatically in")
    scene.api.says(OWNER, code)
    scene.api.wait(lambda: sum("This code is not good" in text for text in scene.api.texts(OWNER)) == 2)
    assert scene.call("change.pending")["change"]
    scene.api.says(OWNER, phone.next())
    scene.api.wait_text(OWNER, "Kept.")
    assert scene.call("change.pending")["change"] is None
    assert "swordfish-2" in scene.config("wireless")
    everything = scene.on_flash()
    assert code not in everything and code[:3] + " " + code[3:] not in everything
    with open(scene.root + "/etc/oasis/keys.json") as keys:
        secret = json.load(keys)["telegram/codes"]
    assert secret not in everything
    assert not [1 for method, asked in scene.api.calls if secret in str(asked)]


def test_six_digits_that_nobody_awaits_become_no_message(scene):
    scene.until(lambda: not scene.call("run.active")["runs"])
    before = len(scene.call("chat.list")["item"])
    scene.api.says(OWNER, "271828")
    scene.api.wait_text(OWNER, "Nothing waits for a code.")
    assert len(scene.call("chat.list")["item"]) == before
    assert "271828" not in scene.on_flash()


def test_a_secret_is_kept_only_with_the_code_that_it_gives(scene):
    with open(scene.root + "/etc/oasis/keys.json") as keys:
        before = keys.read()
    scene.call("telegram.secret")
    assert scene.call("telegram.secret", code="000000")["error"]["code"] == "policy"
    with open(scene.root + "/etc/oasis/keys.json") as keys:
        assert keys.read() == before


def test_what_the_owner_turned_off_is_off_at_once(scene):
    assert scene.call("telegram.set", approve=False)["approve"] is False
    card = card_of(scene, 3)
    assert labels(card) == ["Decline"]
    scene.api.presses(OWNER, card["message_id"], "Decline")
    scene.until(lambda: not scene.call("plan.list")["plans"])
    assert "option approve '0'" in scene.config("oasis")
