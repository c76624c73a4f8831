"""The bounds of a model in one turn: how often a refused proposal is corrected, and how often the same call is made.

A gate is what judges a proposed change before anything is written: parser, catalogue, UCI, policy. Its words hold the
nearest real names where something was only misspelt; they are the model's way to a right proposal. What a rule forbids
is no mistake: nothing is named that would lead to the same end, and the model must not look for another way. An
answer whose proposal was refused is a round, however many calls it made; one that was accepted ends the wish, and
the next one begins anew. What the owner declined was no mistake and counts for nothing. Knows no model and no tool.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.agent.shapes import Arguments, ToolCaller
    from oasis.core.shapes import Json

# A model that does not have it right after two corrections goes round in circles.
ROUNDS = 2
# The tools that propose changes; a look that fails is none.
TOOLS = ("configure", "service")
# Codes of errors that are the model's mistakes; `policy` is one only where the error says that it can be mended.
_MISTAKES = ("usage", "uci", "tool", "schema")
_ENDED = ("applied", "waiting_confirm", "unchanged")

TELL = (
    "The proposed change was refused and is not made. Only looking is possible now: tell the owner plainly that it was "
    "not done, what was refused and why, and what they could do without you."
)
_AGAIN = "correct what is named here by real names, and propose the whole change again"
_RULE = "a rule, and no mistake: look for no other way to the same end; tell the owner"
LAST = "no further attempt: tell the owner that it was not done, and why"


class CorrectionRounds:
    """The rounds of one turn; `is_over` when no further proposal is taken: then the model is given TELL."""

    def __init__(self) -> None:
        self.is_over = False
        self._rounds = 0  # that were refused, one after another
        self._refusal = ""  # of the answer that is worked off now
        self._is_ended = False

    def judged(self, name: str, text: str, is_error: bool) -> str:
        """Return the result of a call as the model gets it: with what is left to try where a gate refused it."""
        if name not in TOOLS:
            return text
        result = result_of(text)
        if not is_error:
            self._is_ended = self._is_ended or result.get("status") in _ENDED
            return text
        error = result.get("error")
        if not isinstance(error, dict) or not (error.get("code") in _MISTAKES or error.get("code") == "policy"):
            return text  # it failed while it was carried out, which no other words would mend
        self._refusal = str(error.get("message", ""))
        advice: dict[str, Json] = {"say": _RULE}
        if self._rounds >= ROUNDS:
            advice = {"left": 0, "say": LAST}
        elif error.get("code") in _MISTAKES or error.get("repairable") is True:
            advice = {"left": ROUNDS - self._rounds, "say": _AGAIN}
        return jsonl.dumps({**result, "repair": advice})

    def end_round(self) -> str:
        """Count the answer whose calls were made; return a note for the owner, "" for none."""
        refusal, self._refusal = self._refusal, ""
        is_ended, self._is_ended = self._is_ended, False
        if refusal:
            self._rounds += 1
            self.is_over = self._rounds > ROUNDS
        elif is_ended:
            self._rounds = 0
        is_new = bool(refusal and self.is_over)
        return "not done: refused %d times, last because %s" % (self._rounds, refusal) if is_new else ""


def result_of(text: str) -> dict[str, Json]:
    """Return the result of a tool, {} where it is no object."""
    try:
        found = jsonl.loads(text, len(text) * 4)
    except SchemaError:
        return {}
    return found if isinstance(found, dict) else {}


# To look before, after a change, and after another one.
SAME = 3
_SAME_CALL = "not run: the very same call was made %d times already; do something else, or say what is missing"


class Repeats:
    """The calls of one turn; of each the first `most` are made. `stopped` is how many were not."""

    def __init__(self, most: int = SAME) -> None:
        self._most = most
        self._made: dict[str, int] = {}
        self.stopped = 0

    def watched(self, call: ToolCaller) -> ToolCaller:
        """Return a caller of tools that does not make the same call over and over."""

        def watch(name: str, arguments: Arguments, taint: list[str]) -> tuple[str, bool, list[str]]:
            key = name + " " + jsonl.canonical(arguments)
            self._made[key] = self._made.get(key, 0) + 1
            if self._made[key] > self._most:
                self.stopped += 1
                return _SAME_CALL % self._most, True, []
            return call(name, arguments, taint)

        return watch
