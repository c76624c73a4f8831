"""What became of a change, as a model hears of it: kept, rolled back, undone; and its next change, which waits."""

import json
import re

import pytest

from oasis.tools.operator import _KEEPING
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import approve, config, follow, of_type
from tests.recorder import results


@pytest.fixture
def here(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


def call(*commands):
    return [("configure", {"commands": list(commands)})]


WIFI = call("uci set wireless.default_radio0.ssid=Attic")
CHANNEL = call("uci set wireless.radio0.channel=6")
NAME = call("uci set system.@system[0].hostname=attic")


def change(here, commands, *more):
    """Have the model make a risky change, approve it; return the change that waits now."""
    here.say("please", commands, *more, until=("plan",))
    assert approve(here.daemon, here.follow(("plan",)))["decision"] == "approved"
    here.follow()
    return here.daemon.call("change.pending")["change"]


def told(made):
    """Return how a model hears of a change again: by its id and what it changed first."""
    return "%s (%s%s)" % (made["id"], made["words"][0][:60], ", …" if len(made["words"]) > 1 else "")


def system(here):
    return json.loads(here.model.bodies()[-1])["messages"][0]["content"]


def test_a_model_hears_that_its_change_waits_and_that_it_may_go_on(here):
    change(here, WIFI, "It waits to be kept.")
    result = json.loads(results(json.loads(here.model.bodies()[-1]))[-1])
    assert result["status"] == "waiting_confirm" and result["notes"] == [_KEEPING]
    assert re.search(r"on the page or with `oasis confirm`, until \d\d:\d\d:\d\d [\w+-]+$", result["keep"])
    assert "Since then" not in system(here)


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        ("change.confirm", {"unproved": True}, "change %s was kept."),
        ("change.rollback", {}, "change %s was rolled back, the router is as before it"),
    ],
)
def test_the_next_request_begins_with_what_became_of_it(here, method, given, words):
    made = change(here, WIFI, "It waits to be kept.")
    assert "error" not in here.daemon.call(method, change=made["id"], **given)
    here.say("and now?", "As you see.")
    assert "Since then: " + words % told(made) in system(here)
    here.restart()  # the history knows it, too
    here.say("and now?", "As you see.")
    assert "Since then: " + words % told(made) in system(here)


def test_a_change_that_was_undone_later_is_told_as_well(here):
    here.say("call it attic", NAME, "Done.")
    made = here.daemon.call("change.list")["changes"][0]
    here.say("how is it?", "Fine.")
    assert "Since then" not in system(here)
    follow(here.daemon, here.daemon.call("change.undo", change=made["id"]))
    here.say("and now?", "It is undone.")
    assert "Since then: change %s was undone by " % told(made) in system(here)


def test_a_second_change_waits_for_the_first_ones_window(here):
    made = change_until_second(here)
    assert "error" not in here.daemon.call("change.confirm", change=made["id"], unproved=True)
    events = here.follow()
    assert any(made["id"] in event["text"] for event in of_type(events, "note"))
    result = json.loads(results(json.loads(here.model.bodies()[-1]))[-1])
    assert result["status"] == "applied" and b"'attic'" in config(here.root, "system")
    assert "Since then: change %s was kept." % told(made) in system(here)


def test_a_second_change_that_waits_ends_with_its_run(here):
    made = change_until_second(here)
    here.daemon.call("run.cancel", run=here.started["run"])
    assert "error" not in here.daemon.call("change.confirm", change=made["id"], unproved=True)
    assert of_type(here.follow(), "end")[0]["state"] == "cancelled"
    assert here.daemon.call("change.list")["changes"][0]["id"] == made["id"]
    assert b"'attic'" not in config(here.root, "system")


def change_until_second(here):
    """Have a model make two changes; return the first, which waits, while the second one waits for it."""
    here.say("please", WIFI, NAME, "Both are done.", until=("plan",))
    approve(here.daemon, here.follow(("plan",)))
    here.follow(("note",))
    return here.daemon.call("change.pending")["change"]


def test_commands_may_come_as_one_text(here):
    text = "uci set system.@system[0].hostname='loft'\n\nuci set system.@system[0].hostname='attic'\n"
    here.say("call it attic", [("configure", {"commands": text})], "Done.")
    assert b"'attic'" in config(here.root, "system")
