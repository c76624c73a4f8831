"""What a model makes of the owner's words: whether its plan carries the times they named, and its note is theirs.

What of a sentence is a time the offline process tells (Session.times); here it is only held against the plan. A name
that holds such words ("Next Friday") and an option that holds such a value (a lease time, hours of a rule) carry them.
Knows no language.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.change.shapes import Plan
    from oasis.core.shapes import Message

    Found = list[tuple[str, list[str]]]

# A message as long as this may be an answer to a question of the model's: what was said before counts, too.
ANSWER_CHARS = 40
# What somebody says to a router is shorter; of a text that is pasted in, the beginning.
SAID_CHARS = 4000
# Calls that did what was said: what stands before them is done.
_DOING = ("configure", "service", "power", "undo")
_SENTENCE, _WORD = re.compile(r"[.!?。！？]\s|[。！？\n]"), re.compile(r"\w+")
_CLOCK = re.compile(r"\d\d:\d\d\Z")
_LENGTH = re.compile(r"(\d{1,9})([smhdw]?)\Z")
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
# The options by which a rule is for days and for hours.
_DAYS, _HOURS = ("weekdays", "monthdays", "start_date"), ("start_time", "stop_time")
_REASON = "you named a time or a condition (%s), and this change has none: it is done now, and stays"
UNREAD = "whether you named a time could not be read"


def said(messages: list[Message], last: str, text_of: Callable[[Message], str]) -> str:
    """Return what the owner said that a turn is about: the message with the id `last`, and what it may answer."""
    found: list[str] = []
    # Ids are in the order of time, which a chat that was read from its end is not.
    for one in sorted((one for one in messages if one["id"] <= last), key=lambda one: str(one["id"]), reverse=True):
        if one["role"] == "user":
            found.append(text_of(one)[:SAID_CHARS])
            if len(found[-1]) > ANSWER_CHARS:
                break
        elif any(name in _DOING for name in _called(one)):
            break
    return "\n".join(reversed(found))


def _called(message: Message) -> list[str]:
    content = message["content"]
    blocks = [] if isinstance(content, str) else content
    return [str(block.get("name", "")) for block in blocks if block["type"] == "tool_use"]


def is_quoted(text: str, said: str) -> bool:
    """Return whether each sentence of a text stands word for word in what somebody said."""
    whole = " %s " % _bare(said)
    return all(" %s " % one in whole for one in map(_bare, _SENTENCE.split(text)) if one)


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def dropped(plan: Plan, found: Found) -> str:
    """Return the reason to ask the owner for what of their words no step of a plan carries, "" when all is carried."""
    steps = plan["operations"]
    values = [str(step["value"]).casefold() for step in steps if "value" in step]
    options = {str(step.get("option", "")) for step in steps}
    left = [words for words, carriers in found if not _is_carried(words.casefold(), carriers, values, options)]
    return _REASON % ", ".join("“%s”" % words for words in dict.fromkeys(left)) if left else ""


def _is_carried(words: str, carriers: list[str], values: list[str], options: set[str]) -> bool:
    if any(words in value for value in values):
        return True
    if "day" in carriers or "daily" in carriers:
        return bool(options & {*_DAYS, *_HOURS})
    times = [part for one in carriers for part in one.split("-")]
    return bool(times) and all(any(_is_same(time, value) for value in values) for time in times)


def _is_same(time: str, value: str) -> bool:
    """Return whether a value of an option is a time of day, or a length of time in whatever unit the option has."""
    if _CLOCK.match(time):
        return value.startswith(time)
    wanted, given = _LENGTH.match(time), _LENGTH.match(value)
    if not wanted or not given:
        return False
    length_s = int(wanted[1]) * _UNITS_S[wanted[2] or "s"]
    units = [given[2]] if given[2] else ["s", "m", "h"]
    return any(int(given[1]) * _UNITS_S[unit] == length_s for unit in units)
