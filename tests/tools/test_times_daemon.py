"""A time or a condition that the owner named and a model drops: its change waits for them, and says which words."""

import pytest

from oasis.tools.operator import dropped_times
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import approve, config, of_type


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


ATTIC = ["uci set system.@system[0].hostname=attic"]


def plan_of(scene, sentence, **more):
    call = ("configure", {"commands": ATTIC, "summary": "a name", **more})
    events = scene.say(sentence, [call], "Done.", until=("plan",))
    return of_type(events, "plan")[0]["plan"]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("call this router attic for two hours", "two hours"),
        ("call this router attic next year", "next year"),
        ("tomorrow at 8 call this router attic", "tomorrow"),
        ("call this router attic if nobody is home", "if"),
        ("nenne diesen Router attic für zwei Stunden", "zwei Stunden"),
        ("ルーターの名前を2時間だけatticにして", "2時間"),
    ],
)
@pytest.mark.part("offline")
def test_a_time_that_the_model_drops_waits_for_the_owner(scene, sentence, words):
    before = config(scene.root, "system")
    plan = plan_of(scene, sentence)
    assert plan["needs_approval"]
    assert words in plan["reasons"][0] and plan["reasons"][0].startswith("you named a time or a condition (")
    scene.daemon.call("plan.decline", plan=plan["id"])
    scene.follow()
    assert config(scene.root, "system") == before


@pytest.mark.parametrize("sentence", ["call this router attic", "please always call this router attic right now"])
def test_a_sentence_without_a_time_holds_nothing_back(scene, sentence):
    plan = plan_of(scene, sentence)
    assert (plan["needs_approval"], plan["reasons"]) == (False, [])


def test_a_plan_with_an_end_carries_the_time(scene):
    plan = plan_of(scene, "call this router attic for two hours", until="2h")
    assert (plan["needs_approval"], plan["reasons"]) == (False, [])


@pytest.mark.part("offline")
def test_a_yes_to_the_question_of_the_model_does_not_make_the_time_forgotten(scene):
    scene.say("call this router attic for two hours", "Shall I?")
    call = ("configure", {"commands": ATTIC, "summary": "a name"})
    events = scene.say("yes please", [call], "Done.", until=("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    assert plan["needs_approval"] and "two hours" in plan["reasons"][0]
    approve(scene.daemon, events)
    scene.follow()
    again = ("configure", {"commands": ["uci set system.@system[0].hostname=loft"], "summary": "a name"})
    events = scene.say("now loft", [again], "Done.")
    assert of_type(events, "plan")[0]["plan"]["reasons"] == []


def plan(*steps, until_unix_s=0):
    operations = [{"option": option, "value": value} for option, value in steps]
    return {"until_unix_s": until_unix_s, "ends": [], "call": {}, "operations": operations}


@pytest.mark.parametrize(
    ("found", "steps"),
    [
        ([("12h", ["720m"])], [("leasetime", "12h")]),
        ([("half an hour", ["30m"])], [("commit_interval", "1800")]),
        ([("next friday", ["never"])], [("ssid", "Next Friday")]),
        ([("8pm", ["20:00"]), ("9pm", ["21:00"])], [("start_time", "20:00:00"), ("stop_time", "21:00:00")]),
        ([("on school nights", ["day"])], [("weekdays", "Sun Mon Tue Wed Thu"), ("start_time", "20:00:00")]),
    ],
)
def test_a_value_of_the_plan_carries_what_it_says(found, steps):
    assert dropped_times(plan(*steps), found) == ""
    assert dropped_times(plan(("hostname", "attic"), ("leasetime", "7h")), found) != ""
