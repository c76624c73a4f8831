"""What the registry gives back for a call, whatever the tool said: within its size, and an error in few words."""

import json

from oasis.change.undo import ConflictError
from oasis.errors import ToolError
from oasis.tools.registry import ERROR_CHARS, RESULT_BYTES, Registry


class Hands:
    """An operator whose undo fails, and which hides one secret."""

    def __init__(self, error):
        self.error = error

    def undo(self, change):
        raise self.error

    def masked(self, value):
        return json.loads(json.dumps(value).replace("correct-horse", "********"))


def call(error):
    text, is_error, _ = Registry().call("undo", {}, Hands(error))
    assert is_error
    return text, json.loads(text)["error"]


def test_an_error_that_repeats_a_long_argument_is_cut():
    text, error = call(ToolError("there is no part " + "x" * 200_000, "y" * 200_000))
    assert len(text) < 3 * ERROR_CHARS and error["message"].endswith("…") and error["code"] == "tool"


def test_a_secret_at_the_cut_is_hidden_whole():
    text, _ = call(ToolError("x" * (ERROR_CHARS - 8) + "correct-horse" + "x" * 100))
    assert "correct" not in text


def test_more_conflicts_than_a_result_holds_are_left_to_the_message():
    item = {"package": "firewall", "section": "one", "option": "name", "now": "a" * 50, "expected": "b" * 50}
    text, error = call(ConflictError("c1", [item] * 400))
    assert len(text) < RESULT_BYTES and "and 395 more" in error["message"] and "conflicts" not in error
    assert "conflicts" in call(ConflictError("c1", [item] * 3))[1]
