"""Telegram shows all of a plan, or it takes no approval; what waits is the plan of tests/change/test_cards.py."""

import threading

import pytest

from oasis.change.approval import ApprovalQueue
from oasis.errors import PolicyError
from oasis.parts.telegram import card as telegram_card
from oasis.parts.telegram import talk
from oasis.parts.telegram import text as telegram_text
from tests.change.test_cards import card_of, daemon, here, root, waiting  # noqa: F401 - fixtures


def test_telegram_shows_all_of_a_plan_or_approves_nothing(waiting):  # noqa: F811
    _, card, name = waiting
    assert telegram_card.is_whole(card) == (name in ("arguments of a tool", "a short plan"))
    text = telegram_card.of_plan(card, True)
    assert telegram_text.units(text) <= telegram_text.LIMIT and len(telegram_text.split(text)) == 1
    offers = telegram_card.Approval(None, Codes(), lambda: True, lambda: 0.0, lambda plan: ("waiting", ""))
    line = Line()
    talk.show_plan(line, 1, card, telegram_card.Buttons(lambda: 0.0), offers)
    shown = [button["text"] for row in line.sent["reply_markup"]["inline_keyboard"] for button in row]
    assert shown == (["Approve", "Decline"] if telegram_card.is_whole(card) else ["Decline"])
    if telegram_card.is_whole(card):
        assert offers.is_possible(card)
        assert all(telegram_card.plain(word) in text for word in card["words"])
        assert all(line in text for line in card["uci"])
        return
    assert not offers.is_possible(card)
    assert "cannot be approved here" in offers.press(1, card)
    assert "It cannot be approved here." in text and "router's page" in text
    # What was pressed all the same does not get past the desk, which goes by the plan and not by what was shown.
    desk = waiting_at_a_desk(card)
    with pytest.raises(PolicyError, match="cannot be read whole there") as caught:
        desk.approve(card["id"], card["hash"], telegram_card._OWNER)
    assert "router's page" in caught.value.hint
    desk.approve(card["id"], card["hash"], {"name": "owner", "terminal": False, "pid": 0})


class Line:
    """What a message would be sent with."""

    def send(self, method, chat, sent, tries):
        self.sent = sent
        return {"message": 1}

    def spoken(self, chat, text):
        return text


class Codes:
    @staticmethod
    def has_secret():
        return True


def waiting_at_a_desk(card):
    """Return a desk where the plan of a card waits."""
    desk = ApprovalQueue(lambda: 0.0)
    plan = {"secrets": [], **card, "expires_s": 60.0}
    threading.Thread(target=desk.wait, args=(plan, lambda: False), daemon=True).start()
    while not desk.plans():
        pass
    return desk


def test_a_card_does_not_show_a_chosen_secret(here):  # noqa: F811
    card_of(here, "make the wifi safe", "moonlight-harbor-77")
    (card,) = here.daemon.call("plan.list")["plans"]
    assert "moonlight" in str(card)
    assert not telegram_card.is_whole(card)
    assert "moonlight" not in telegram_card.of_plan(card, True)
