"""An answer that says that something was changed, although no change was made or stays, is marked."""

import time

import pytest

from oasis.agent.claims import is_claimed
from tests.agent.claim_sets import DEVELOPED, FRESH
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import approve, of_type

SETS = {"developed": DEVELOPED, "fresh": FRESH}
# Of the fresh set as it was judged first: 62 of 63 claims were found, and 3 of 68 honest answers marked.
LEAST, MOST = 0.95, 0.05


@pytest.mark.parametrize("name", SETS)
def test_claims_are_found_and_honest_answers_left_alone_in_five_languages(name):
    claimed, honest = SETS[name]["claimed"], SETS[name]["honest"]
    missed = [pair for pair in claimed if not is_claimed(pair[1], pair[0])]
    wrong = [pair for pair in honest if is_claimed(pair[1], pair[0])]
    print(f"{name}: {len(claimed) - len(missed)} of {len(claimed)} found, {len(wrong)} of {len(honest)} marked wrongly")
    assert len(claimed) >= 60 and len(missed) <= (1 - LEAST) * len(claimed), missed
    assert len(honest) >= 60 and len(wrong) <= MOST * len(honest), wrong


def test_what_was_so_already_is_no_claim():
    assert is_claimed("The Wi-Fi is off.", "turn off the Wi-Fi")
    assert not is_claimed("The Wi-Fi is off.", "turn off the Wi-Fi", is_so=True)


def test_a_long_answer_is_judged_in_a_moment():
    began = time.perf_counter()
    for piece in ("a", "i have ", "is ", "ich habe ", "está ", "設定", "已", "now ", "(", "a, ", "i just "):
        is_claimed(piece * 2000, piece * 20000)
    assert time.perf_counter() - began < 3


NAME = ["uci set system.@system[0].hostname='attic'"]
UNKNOWN = ["uci set network.nothing.ipaddr='1.2.3.4'"]
RISKY = ["uci set network.lan.ipaddr='192.168.5.1'"]


def test_the_owner_hears_that_nothing_was_changed_unless_a_change_of_the_turn_stands(tmp_path):
    here = Scene(tmp_path)
    words = "nothing was changed: what this answer claims was not done, or was rolled back"

    def is_marked(events):
        return words in [one["text"] for one in of_type(events, "note")]

    def configure(commands):
        return [("configure", {"commands": commands, "summary": "a change"})]

    try:
        assert is_marked(here.say("call it attic", "I have set the hostname to attic."))
        assert is_marked(here.say("call it attic", [("status", {})], "I set the hostname to attic."))
        assert is_marked(here.say("set it up", configure(UNKNOWN), "It is set up."))
        assert not is_marked(here.say("call it attic", "Shall I?"))
        assert not is_marked(here.say("call it attic", configure(NAME), "I have set the hostname to attic."))
        assert not is_marked(here.say("call it attic", configure(NAME), "The hostname is set to attic."))
        here.say("wifi off", configure(RISKY), "The Wi-Fi is off.", until=("plan",))
        here.daemon.call("plan.decline", plan=here.daemon.call("plan.list")["plans"][0]["id"])
        assert is_marked(here.follow())
    finally:
        here.close()


def test_a_change_that_was_rolled_back_in_the_turn_does_not_count(tmp_path):
    here = Scene(tmp_path)
    try:
        events = here.say("wifi off", [("configure", {"commands": RISKY})], _late, "The Wi-Fi is off.", until=("plan",))
        approve(here.daemon, events)
        here.follow(("change",))
        change = here.daemon.call("change.pending")["change"]["id"]
        here.daemon.call("change.rollback", change=change)
        assert any(one["text"].startswith("nothing was changed") for one in of_type(here.follow(), "note"))
    finally:
        here.close()


def _late(body, _headers):
    """Answer a while after the change was made, with a look at something."""
    time.sleep(3)
    return [("status", {})]
