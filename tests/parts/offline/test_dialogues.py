"""Dialogues of several turns in five languages: answers to questions, corrections, and what goes on from before.

A line of dialogues.jsonl is {"turns": what the owner says, "router": "new" for one without settings of its own,
"summary": of the plan that the last turn leads to, or "says": how the words begin that change nothing}.
"""

import json
import os

import pytest

from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of

with open(os.path.join(os.path.dirname(__file__), "dialogues.jsonl"), encoding="utf-8") as handle:
    DIALOGUES = [json.loads(line) for line in handle]


@pytest.mark.parametrize("one", DIALOGUES, ids=lambda one: " / ".join(one["turns"]))
def test_last_turn_is_understood_from_the_ones_before(one):
    router = Router() if one.get("router") == "new" else Router(HOME + GUEST)
    events = router.ask(*one["turns"])
    plans = [given for name, given in calls_of(events) if name == "configure"]
    if "summary" in one:
        until = plans[0].get("until") if plans else None
        assert [plan["summary"] for plan in plans] == [one["summary"]], text_of(events)
        assert until == one.get("until")
        assert router.changes(events)
    else:
        assert not calls_of(events)
        assert text_of(events).startswith(one["says"])
