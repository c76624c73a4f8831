"""Agent mode: a goal is worked on in as many turns as the owner allows, and its ending is one of five states.

DONE; NEED_INPUT (the model asks the owner something); NEED_CONFIRMATION (a plan or a change waits for the owner, or was
not approved); STUCK (the turns were used up, or the same call came again and again); FAILED (an error, or stopped).
Words and states are those of the Lua Oasis, so that scripts around it go on to work. Knows no run and no model.
"""

from __future__ import annotations

from oasis.agent.loop_guard import Repeats, result_of
from oasis.core import schema
from oasis.errors import UsageError

if False:  # annotations only
    from oasis.agent.shapes import Outcome
    from oasis.core.shapes import Message

TURNS = 6  # upstream's own
MOST_TURNS = 20
DONE, NEED_INPUT, NEED_CONFIRMATION, STUCK, FAILED = "DONE", "NEED_INPUT", "NEED_CONFIRMATION", "STUCK", "FAILED"
# What the model begins its last answer with, see prompts.json.
_SAID = (NEED_INPUT, NEED_CONFIRMATION, STUCK)
# Of the result of a tool: the owner has to do something, or has not done it.
_WAITING = ("waiting_confirm", "declined", "expired")
# A call made so often with the same arguments: nobody looks on, so it is stopped sooner than in a chat.
SAME = 2


def checked(turns: int) -> int:
    """Return how many turns a goal gets, 0 for the usual number; raise UsageError beyond MOST_TURNS."""
    if not 0 <= turns <= MOST_TURNS:
        raise UsageError("%d turns are not allowed" % turns, "from 1 to %d; %d when not given" % (MOST_TURNS, TURNS))
    return turns or TURNS


class Goal:
    """One goal at work; `turns` is how many answers of the model it may take."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.repeats = Repeats(SAME)

    def outcome(self, messages: list[Message], state: str) -> Outcome:
        """Return how it ended, from the messages that followed the owner's.

        Shape: {"state", "message", "turns": int, "tools": [names in the order of their first call]}
        """
        answers = [one for one in messages if one["role"] == "assistant" and not one.get("error")]
        calls = [call["name"] for one in answers for call in schema.tool_uses(one)]
        errors = [one["error"]["message"] for one in messages if one.get("error")]
        text = schema.text_of(answers[-1]).strip() if answers else ""
        waits = any(
            result_of(schema.text_of(block)).get("status") in _WAITING
            for message in messages
            for block in schema.blocks(message)
            if block["type"] == "tool_result"
        )
        said = next((word for word in _SAID if text.startswith(word)), "")
        if state != "done":
            found, text = FAILED, ""
        elif said:
            found, text = said, text[len(said) :].lstrip(": \n")
        elif waits:
            found = NEED_CONFIRMATION
        else:
            found = STUCK if len(answers) > self.turns or self.repeats.stopped > SAME else DONE
        tools = list(dict.fromkeys(calls))
        return {"state": found, "message": text or (errors or [""])[-1], "turns": len(answers), "tools": tools}
