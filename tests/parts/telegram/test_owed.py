"""Messages behind a plan that waits, answers that Telegram does not take, and what a kill loses: nothing is silent."""

import json
import os

import pytest

from oasis.errors import PolicyError, StoreError
from oasis.parts.telegram.card import ASK_S, BUTTONS, Approval, Buttons
from oasis.parts.telegram.talk import Owed
from tests.parts.telegram.bot_api import Hung, Refused
from tests.parts.telegram.kit import OWNER

RENAME = "call this router %s"
RISKY = "set the wifi password to swordfish-2026"
FLASH, RAM = "/etc/oasis/messenger-open.json", "/var/run/oasis/messenger-open.json"


@pytest.fixture
def scene(scenes):
    made = scenes(notices="0", approve="1", pace_ms="150").start()
    made.pair(OWNER)
    return made


def risky(scene):
    """Let a plan wait; return its card in the chat, and the plan."""
    asked = scene.api.says(OWNER, RISKY)
    card = scene.api.wait_text(OWNER, "This waits for your word")
    (plan,) = scene.call("plan.list")["plans"]
    return asked, card, plan


def press(scene, card, text, data=None):
    number = scene.api.presses(OWNER, card["message_id"], text, data)
    return scene.api.wait(lambda: scene.api.pressed[number])


def button(card, text):
    return next(one["callback_data"] for one in card["reply_markup"]["inline_keyboard"][0] if one["text"] == text)


# A plan that waits


def test_the_next_message_is_told_at_once_what_is_waited_for_and_is_answered_when_that_is_decided(scene):
    _, card, plan = risky(scene)
    asked = scene.api.says(OWNER, RENAME % "attic")
    told = scene.api.wait_text(OWNER, "still waits", 10)
    assert told["reply_to"] == asked and plan["short"] in told["text"] and "/stop" in told["text"]
    assert scene.call("plan.list")["plans"], "the message decides nothing"
    assert press(scene, card, "Decline") == "Declined."
    assert scene.api.wait_text(OWNER, "Done: rename the router to attic.")["reply_to"] == asked


def test_a_message_that_finds_no_room_behind_a_plan_is_told_so(scene):
    risky(scene)
    for number in range(4):
        scene.api.says(OWNER, RENAME % f"attic-{number}")
    assert "still waits" in scene.api.wait_text(OWNER, "I do not keep this message")["text"]
    scene.api.says(OWNER, "/stop")
    assert scene.api.wait_text(OWNER, "Stopping.")["text"] == "Stopping. I do not answer the 3 messages that waited."
    scene.until(lambda: not scene.call("run.active")["runs"])
    scene.until(lambda: not os.path.exists(scene.root + FLASH))
    assert "attic-" not in scene.config("system")


def test_a_kill_is_told_in_the_chat_at_the_next_start_and_once(scene):
    asked, card, plan = risky(scene)
    later = scene.api.says(OWNER, "is the attic-lamp here?")
    scene.api.wait_text(OWNER, "still waits")
    with open(scene.root + FLASH) as kept:
        noted = kept.read()
    assert "attic-lamp" not in noted and "swordfish" not in noted
    scene.daemon.kill()
    scene.start()
    lost = scene.api.wait_text(OWNER, "ended what waited here")
    assert lost["reply_to"] == asked and plan["short"] in lost["text"] and "Nothing of it was done" in lost["text"]
    unanswered = scene.api.wait_text(OWNER, "stopped before I answered this")
    assert unanswered["reply_to"] == later
    assert "started again since" in press(scene, card, "Decline")
    scene.until(lambda: not os.path.exists(scene.root + FLASH))
    scene.daemon.kill()
    scene.start()
    scene.api.says(OWNER, "/help")
    scene.api.wait_text(OWNER, "/undo takes the newest change back")
    texts = scene.api.texts(OWNER)
    assert sum("I was stopped" in text for text in texts) == 2


def test_a_power_cut_is_told_as_a_kill_is(scene):
    risky(scene)
    scene.daemon.kill()
    os.remove(scene.root + RAM)
    scene.start()
    scene.api.wait_text(OWNER, "ended what waited here")


def test_a_plan_outlives_that_the_messenger_is_off_for_a_while(scene):
    _, card, _ = risky(scene)
    scene.call("telegram.set", enabled=False)
    scene.call("telegram.set", enabled=True)
    again = scene.api.wait(lambda: [one for one in scene.api.of_bot(OWNER) if "waits for your word" in one["text"]][1:])
    assert press(scene, card, "Decline") == "Declined."
    scene.until(lambda: not scene.call("plan.list")["plans"])
    assert "was declined already" in press(scene, again[0], "Decline")


def test_ordinary_answers_write_nothing_on_flash(scene):
    before = set(os.listdir(scene.root + "/etc/oasis"))
    scene.api.says(OWNER, RENAME % "attic")
    scene.api.wait_text(OWNER, "Done: rename the router to attic.")
    scene.until(lambda: not scene.call("run.active")["runs"])
    assert not os.path.exists(scene.root + FLASH)
    assert "messenger-open.json" not in before

    def is_empty():
        with open(scene.root + RAM) as kept:
            return json.loads(kept.read()) == []

    scene.until(is_empty)


# Buttons


def test_a_decided_plan_says_what_became_of_it_however_often_a_button_is_pressed(scene):
    _, card, plan = risky(scene)
    scene.call("plan.decline", plan=plan["id"])
    scene.api.wait_text(OWNER, "Declined: ")
    for _ in range(2):
        said = press(scene, card, "Decline", button(card, "Decline"))
        assert said == f"Plan {plan['short']} was declined already. Nothing of it was done."
    scene.api.says(OWNER, "/stop")
    scene.until(lambda: not scene.call("run.active")["runs"])
    asked = scene.api.says(OWNER, RISKY)
    card = scene.api.wait(
        lambda: next((one for one in scene.api.of_bot(OWNER) if one["message_id"] > asked and one["reply_markup"]), 0)
    )
    scene.api.says(OWNER, "/stop")
    scene.until(lambda: not scene.call("plan.list")["plans"])
    assert "was stopped. Nothing of it was done" in press(scene, card, "Decline", button(card, "Decline"))


class Codes:
    """Codes of which "111111" is good."""

    def has_secret(self):
        return True

    def use(self, code):
        if code != "111111":
            raise PolicyError("this code is not good", "type the one shown now")


class ApprovalQueue:
    """Approvals on a clock set by hand; `outcome` is what became of the plan."""

    def __init__(self):
        self.now, self.outcome, self.asked = 0.0, ("waiting", ""), []
        self.approval = Approval(self.call, Codes(), lambda: True, lambda: self.now, lambda plan: self.outcome)
        self.card = {"id": "p1", "hash": "0" * 64, "short": "1a2b3c4d", "summary": "a thing", "words": [], "uci": [],
                     "services": [], "reasons": [], "risk": "medium", "expires_in_s": 600}  # fmt: skip

    def call(self, method, params, role):
        self.asked.append(method)
        return {"change": None}


@pytest.mark.parametrize("code, words", [("111111", "too late"), ("222222", "not good")])
def test_after_a_code_request_that_expired_approve_works_again(code, words):
    desk = ApprovalQueue()
    assert "Send the six digits" in desk.approval.press(1, desk.card)
    desk.now += ASK_S + 1
    said = desk.approval.code(1, code)
    assert words in said and "still waits: press Approve again" in said
    assert "plan.approve" not in desk.asked
    for _ in range(3):
        assert "Send the six digits" in desk.approval.press(1, desk.card)
    assert desk.approval.code(1, "111111") == "" and desk.asked[-1] == "plan.approve"


def test_a_wrong_code_leaves_time_for_the_next_one():
    desk = ApprovalQueue()
    desk.approval.press(1, desk.card)
    for _ in range(3):
        desk.now += ASK_S - 1
        assert "still waits: send the next code" in desk.approval.code(1, "222222")
    assert desk.approval.code(1, "111111") == "" and desk.asked[-1] == "plan.approve"


@pytest.mark.parametrize(
    "outcome, words",
    [
        (("approved", "owner"), "was approved on the router already"),
        (("approved", "messenger"), "was approved by messenger already"),
        (("declined", "no"), "was declined already"),
        (("expired", ""), "was not decided in time"),
        (("cancelled", ""), "was stopped"),
        (("", ""), "does not wait any more"),
    ],
)
def test_a_press_and_a_code_say_what_became_of_a_plan_that_is_over(outcome, words):
    desk = ApprovalQueue()
    desk.approval.press(1, desk.card)
    desk.outcome = outcome
    assert words in desk.approval.press(1, desk.card)
    assert words in desk.approval.code(1, "222222")
    assert "plan.approve" not in desk.asked


def test_buttons_of_undos_give_way_before_those_of_plans():
    buttons = Buttons(lambda: 0.0)
    plan = buttons.make("Approve", 1, "approve", card={})["callback_data"]
    undos = [buttons.make("Undo", 1, "undo", change=str(number))["callback_data"] for number in range(2 * BUTTONS)]
    assert buttons.take(plan, 1)["what"] == buttons.take(plan, 1)["what"] == "approve"
    assert buttons.take(undos[0], 1) is None
    assert [buttons.take(undos[-1], 1)["what"] for _ in range(2)] == ["undo", "pressed"]


# Answers that are not taken


@pytest.mark.parametrize(
    "faults",
    [
        [Refused(429, "Too Many Requests: retry after 2", retry_after=2)] * 2,
        [Refused(500, "Internal Server Error")] * 3,
        [Hung(1.0)],
        [Hung(0.5), Refused(502, "Bad Gateway"), Refused(429, "Too Many Requests: retry after 1", retry_after=1)],
    ],
    ids=["429", "500", "hung", "all"],
)
def test_an_answer_arrives_after_faults(scene, faults):
    scene.api.planned = [("sendMessage", fault) for fault in faults]
    asked = scene.api.says(OWNER, "/status")
    assert scene.api.wait_text(OWNER, "Internet:")["reply_to"] == asked
    scene.api.says(OWNER, RISKY)
    scene.api.planned = [("sendMessage", fault) for fault in faults]
    card = scene.api.wait_text(OWNER, "This waits for your word")
    assert press(scene, card, "Decline") == "Declined."
    scene.api.planned = [("sendMessage", fault) for fault in faults]
    scene.api.says(OWNER, RENAME % "attic")
    scene.api.wait_text(OWNER, "Done: rename the router to attic.")
    scene.until(lambda: not os.path.exists(scene.root + FLASH))


@pytest.mark.part("offline")  # its answer is one message: what comes in pieces is sent again with the next one
def test_an_answer_that_cannot_be_sent_is_told_later_and_on_the_routers_page(scene):
    scene.api.planned = [("sendMessage", Refused(403, "Forbidden: bot was blocked by the user"))]
    asked = scene.api.says(OWNER, "/status")
    (told,) = scene.until(
        lambda: [one for one in scene.call("notice.list")["notices"] if "could not be sent" in one["text"]]
    )
    assert "Internet:" in str(scene.call("chat.load", id=told["chat"])["messages"])
    assert os.path.exists(scene.root + FLASH)
    scene.daemon.kill()
    scene.start()
    assert scene.api.wait_text(OWNER, "I could not send the answer to this")["reply_to"] == asked
    scene.until(lambda: not os.path.exists(scene.root + FLASH))
    scene.api.planned = [("sendMessage", Refused(403, "Forbidden"))]
    scene.api.says(OWNER, "/status")
    scene.until(lambda: os.path.exists(scene.root + FLASH))
    scene.api.says(OWNER, "/help")
    scene.api.wait(lambda: sum("I could not send the answer" in text for text in scene.api.texts(OWNER)) == 2)


# What is kept


class Disk:
    """Files in a dict; `is_full` refuses every write."""

    def __init__(self):
        self.kept, self.is_full = {}, False

    def read(self, path):
        return self.kept.get(path)

    def folder(self, path):
        """There is every folder."""

    def replace(self, path, data):
        if self.is_full:
            raise StoreError("the flash is full", "")
        self.kept[path] = data

    def remove(self, path):
        self.kept.pop(path, None)


def test_what_does_not_wait_is_never_on_flash():
    disk = Disk()
    owed = Owed(disk, "/ram", "/flash", lambda words: None)
    number = owed.begin(1, 5, False)
    assert "/flash" not in disk.kept and b'"message":5' in disk.kept["/ram"]
    owed.note(number, "plan", {"id": "p", "short": "1a2b", "summary": "a thing"})
    assert b"a thing" in disk.kept["/flash"]
    owed.note(number, "plan", None)
    assert "/flash" not in disk.kept
    owed.end(number)
    owed.note(number, "plan", {"id": "p", "short": "1a2b", "summary": "too late"})
    assert "/flash" not in disk.kept and owed.untold() == []


@pytest.mark.parametrize("data", [b"nonsense", b"{}", b'[7,{"chat":"1"},{"chat":1,"message":2,"plan":7}]\n', b"[" * 99])
def test_a_file_that_was_tampered_with_tells_nothing(data):
    disk = Disk()
    disk.kept["/flash"] = data
    assert Owed(disk, "/ram", "/flash", lambda words: None).untold() == []


def test_a_full_flash_loses_no_answer():
    disk, said = Disk(), []
    disk.is_full = True
    owed = Owed(disk, "/ram", "/flash", said.append)
    owed.end(owed.begin(1, 5, True))
    assert "the flash is full" in said[0]
