"""Dialogues of several turns in five languages: answers to questions, corrections, and what goes on from before.

A line of dialogues.jsonl is {"turns": what the owner says, "router": "new" for one without settings of its own,
"summary": of the plan that the last turn leads to, with "until" its end, or "says": how the words begin that change
nothing}. Each plan on the way is carried out.
"""

import json
import os

import pytest

from oasis.uci.model import preview
from tests.parts.offline.stock import GUEST, HOME, NOW_S, Router, assistant, calls_of, reply, steps_of, text_of

with open(os.path.join(os.path.dirname(__file__), "dialogues.jsonl"), encoding="utf-8") as handle:
    DIALOGUES = [json.loads(line) for line in handle]


def played(turns, router):
    """Say the turns one after the other, carry out each plan, and return the last events."""
    messages = []
    for at, said in enumerate(turns):
        messages.append({"role": "user", "content": said})
        events = reply(messages, router.facts, NOW_S)
        messages.append(assistant(events))
        if at < len(turns) - 1:
            files = {**router.files, **preview(router.files, steps_of(events))}
            router = Router()
            router.files = files
    return events, router


@pytest.mark.parametrize("one", DIALOGUES, ids=lambda one: " / ".join(one["turns"]))
def test_last_turn_is_understood_from_the_ones_before(one):
    events, router = played(one["turns"], Router() if one.get("router") == "new" else Router(HOME + GUEST))
    plans = [given for name, given in calls_of(events) if name == "configure"]
    if "summary" in one:
        assert [plan["summary"] for plan in plans] == [one["summary"]], text_of(events)
        assert plans[0].get("until") == one.get("until")
        assert router.changes(events)
    else:
        assert not calls_of(events)
        assert text_of(events).startswith(one["says"])
