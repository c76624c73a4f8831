"""Words of a sentence that say when, how often or under which condition: what a plan does not carry of them.

A change is made at once or not at all. So whatever was understood, these words are looked for in the sentence itself,
by the expressions of intents/moments.json, and each must be carried by a slot of the request. What is left is never
acted on: it is said back. Text in quotes is a value and says nothing. Knows no intents beyond their slots.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.tokens import SENTENCE_CHARS, narrow, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.reading import Part

    Span = tuple[int, int]

KINDS = ("never", "end", "tomorrow", "today", "daily", "day")
_PART = re.compile(r"\{([a-z]{2}_[a-z]+)\}")
_WRITTEN = re.compile(r"(?<![\w:.-])(\d{1,2}):(\d\d)(?![\w:]|\.\d)", re.ASCII)
_ENDS = {"until", "to"}
_CLOCK = re.compile(r"\d{2}:\d{2}\Z")
_TIMED = {"until", "from", "to", "days", "duration"}  # their texts are times, not names
_KEPT = {"device", "devices"}  # a name of the router's own is no time, however it reads


class Moments:
    """The expressions of one language."""

    def __init__(self, data: dict[str, object], language: str) -> None:
        parts, found = data.get("parts"), data.get(language)
        self._parts = parts if isinstance(parts, dict) else {}
        table = found if isinstance(found, dict) else {}
        self._is_wide = language in ("ja", "zh")
        self._kinds = {kind: self._compiled(table.get(kind)) for kind in ("now", "forever", *KINDS)}
        self.ask, self.say, self.both = (str(table.get(name, "")) for name in ("ask", "say", "both"))

    def _compiled(self, expressions: object) -> re.Pattern[str] | None:
        if not isinstance(expressions, list) or not expressions:
            return None
        joined = "|".join(_PART.sub(lambda match: str(self._parts[match.group(1)]), str(one)) for one in expressions)
        return re.compile(f"(?:{joined})" if self._is_wide else rf"(?<![\w.-])(?:{joined})(?![\w-]|\.\w)")

    def endless(self, sentence: str) -> str:
        """Return the words of a sentence by which what is done has no end, "" without."""
        forever = self._kinds["forever"]
        match = forever.search(bare(sentence)) if forever else None
        return sentence[slice(*match.span())] if match else ""

    def found(self, sentence: str) -> list[tuple[str, Span]]:
        """Return (kind, place) of all such words, those of a shorter phrase inside a longer one left out."""
        text = bare(sentence)
        now = self._kinds["now"]
        if now:
            text = now.sub(lambda match: "\0" * len(match.group()), text)
        spans = []
        for kind in KINDS:
            expression = self._kinds[kind]
            spans += [(kind, match.span()) for match in expression.finditer(text)] if expression else []
        spans = [(kind, span) for kind, span in spans if span[1] > span[0]]
        return [one for one in spans if not any(_covers(other[1], one[1]) for other in spans)]


def bare(sentence: str) -> str:
    """Return a sentence in small letters, its quoted texts blanked out, every character in its place."""
    text = [char.casefold() if len(char.casefold()) == 1 else char for char in sentence.replace("’", "'")]
    for token in tokenize(sentence[:SENTENCE_CHARS], {}):
        if token.is_quoted:
            text[token.start : token.end] = "\0" * (token.end - token.start)
    return "".join(text)


def impossible(sentence: str, parts: list[Part]) -> str:
    """Return what is written like a time of day and is none, outside of the values of requests; "" without."""
    text = bare(narrow(sentence))
    names = [name for _, name in _names(parts)]
    for match in _WRITTEN.finditer(text):
        is_time = int(match[1]) < 24 or (match[1], match[2]) == ("24", "00")
        if not (is_time and int(match[2]) < 60) and not any(match[0] in name for name in names):
            return match[0]
    return ""


def left(moments: Moments, sentence: str, parts: list[Part], now_clock: str = "") -> tuple[list[str], list[str]]:
    """Return what of the words no slot carries: (beside the values, inside of a name that was typed without quotes)."""
    sentence = narrow(sentence)
    outside: list[str] = []
    inside: list[str] = []
    names, text = _names(parts), bare(sentence)
    known = [name for slot, name in names if slot in _KEPT]
    for kind, (start, end) in moments.found(sentence):
        words = sentence[start:end].strip()
        around = [(slot, name) for slot, name in names if _is_within(text, name, start, end)]
        if any(slot in _KEPT and name in known for slot, name in around) or _is_carried(kind, parts, now_clock):
            continue
        (inside if around else outside).append(words)
    return outside, inside


def _is_carried(kind: str, parts: list[Part], now_clock: str) -> bool:
    """Tell whether a slot of a request carries words of a kind."""
    slots: dict[str, str] = {name: raw for part in parts for name, (raw, _) in part.slots.items()}
    if kind == "tomorrow" and "until" in slots:
        # An end is the next time that the clock shows it: after that time of day it is the one of tomorrow.
        return not (now_clock and _CLOCK.match(slots["until"]) and slots["until"] > now_clock)
    if kind in ("end", "tomorrow", "today"):
        return bool(_ENDS & set(slots))
    if kind == "daily":
        return {"from", "to"} <= set(slots) or "until" in slots
    return kind == "day" and "days" in slots


def _names(parts: list[Part]) -> list[tuple[str, str]]:
    return [
        (slot, narrow(raw).replace("’", "'").casefold())
        for part in parts
        for slot, (raw, _) in part.slots.items()
        if slot not in _TIMED and raw
    ]


def _is_within(text: str, name: str, start: int, end: int) -> bool:
    at = text.find(name)
    while at >= 0:
        if at <= start and end <= at + len(name):
            return True
        at = text.find(name, at + 1)
    return False


def _covers(whole: Span, part: Span) -> bool:
    return whole != part and whole[0] <= part[0] and part[1] <= whole[1]
