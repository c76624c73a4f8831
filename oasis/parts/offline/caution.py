"""What keeps a change from being carried out: another time, a condition, somebody else, or a second request.

The words are in the language files and in intents/cautions.json. Nothing here reads a request; it only holds one back.

A change is made at once or not at all. So in every request, words that say when, how often or under which condition
(Moments, by the expressions of intents/moments.json) must be carried by a slot; what is left is said back and never
acted on. Text in quotes is a value and never such a word.
"""

from __future__ import annotations

import re
from itertools import pairwise

from oasis.parts.offline.clause import FILLER, SENTENCE_CHARS, VERBS, Segment, narrow, tokenize
from oasis.parts.offline.expressions import Alternatives
from oasis.system.late import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.clause import Clause
    from oasis.parts.offline.reading import Part
    from oasis.parts.offline.shapes import Caution, Kind, MomentsTables

    Cut = tuple[int, int]
    Span = tuple[int, int]


TIMES = {"clock", "hours", "days", "duration"}
STOPS = {"later", "condition", "past", "hearsay"}  # of the whole sentence: no change in any clause of it
OTHERS = "others"  # somebody else does it
# Intents that are said with two verbs, and those whose slots tell when.
_COUNTING = ("番目", "つ目", "個目", "回目")
TWO_VERBS = {
    "wifi_both", "guest_setup", "wifi_restart", "reboot", "qos_limit", "parental_times", "wifi_hours", "undo", "keep",
}  # fmt: skip
CLOCKS, CLOCK_SLOTS = {"clock", "hours", "duration"}, {"until", "from", "to", "duration"}
NIGHTLY = {"wifi_hours"}  # what is done again and again
TIMED_SLOTS = {"until", "from", "to", "days", "duration"}
FREE_SLOTS = {"ssid", "key", "user", "hostname", "name", "host", "text"}
_STRONG = {"block", "unblock", "on", "off", "restart", "reboot", "install", "uninstall", "add"}
_OBJECTS = {"wifi", "guest", "led", "vpn", "router", "upnp", "ipv6", "qos", "ads", "ntp", "firewall", "thing"}
_LEADING = {"greet", "also", "yes", "request", "and", "it", "end_"}
_ALONE = {"reboot", "block", "unblock"}  # a clause of this one word is a request
_ASKING = {"howmany", "ask", "who", "show"}


def times_marked(clause: Clause, marks: Caution) -> None:
    """Make lengths of time that say when (`in an hour`) words for a later time."""
    for one in clause.segments:
        if "duration" not in one.values:
            continue
        norms = [token.norm for token in clause.tokens]
        before, behind = norms[max(0, one.start - 2) : one.start], norms[one.end : one.end + 4]
        # The mark may be a part of the length itself, as in Japanese: 1時間後.
        own = "".join(norms[one.start : one.end])
        is_before = any(before[-len(mark.split()) :] == mark.split() for mark in marks.get("before_span", ()))
        is_behind = any(
            behind[: len(mark.split())] == mark.split()
            or (mark > "\u3000" and ("".join(behind).startswith(mark) or own.endswith(mark)))
            for mark in marks.get("behind_span", ())
        )
        if is_before or is_behind:
            one.values.pop("duration")
            one.concepts.discard(FILLER)
            one.concepts.add("later")


def ordinals(clause: Clause) -> None:
    """Take the number from what only counts or points: the second one, 第二个, 2番目."""
    for at, one in enumerate(clause.segments):
        first = clause.tokens[one.start]
        ahead = clause.tokens[one.start - 1].norm if one.start else ""
        behind = "".join(token.norm for token in clause.tokens[one.end : one.end + 2])
        is_pointing = first.norm == "one" and at > 0 and FILLER in clause.segments[at - 1].concepts
        if "number" in one.values and (is_pointing or ahead == "第" or behind.startswith(_COUNTING)):
            del one.values["number"]
            one.concepts = one.concepts or {FILLER}


def stays(clause: Clause) -> None:
    """Take the meaning from what is to stay as it is: 5 GHz off, the other one stays; 5ギガはそのままで."""
    segments = clause.segments
    ends = [at for at in range(1, len(segments)) if clause.tail(at - 1) or "and" in segments[at].concepts]
    pieces = [segments[start:end] for start, end in pairwise((0, *ends, len(segments)))]
    others = [piece for piece in pieces if not any("stays" in one.concepts for one in piece)]
    if any(one.concepts & VERBS for piece in others for one in piece):
        for one in (one for piece in pieces if piece not in others for one in piece):
            one.concepts, one.values = {FILLER}, {}


def not_this(clause: Clause) -> None:
    """Take the meaning from a value that another one is put in place of: not the xbox, the printer; AではなくてB."""
    segments = clause.segments

    def is_beside(first: int, last: int) -> bool:
        return all(FILLER in one.concepts for one in segments[first + 1 : last])

    nos = [at for at, one in enumerate(segments[:-1]) if "no" in one.concepts and segments[at + 1].values]
    for at, one in enumerate(segments):
        if "no" not in one.concepts or len(nos) > 1:  # no xbox and no tv: neither of them
            continue
        ahead = [place for place, other in enumerate(segments[:at]) if other.values]
        behind = [place for place, other in enumerate(segments) if other.values and place > at]
        is_between = bool(ahead and behind) and is_beside(ahead[-1], at)
        if is_between and "instead" in one.concepts and is_beside(at, behind[0]) and not clause.tail(at):
            wrong, others = behind[0], ahead  # the printer, not the xbox
        elif is_between:
            wrong, others = ahead[-1], behind
            if clause.tail(ahead[-1]) and not clause.tail(at):
                one.concepts.add(OTHERS)  # the printer, no the xbox: one of them, and nobody can tell which
        elif clause.tail(at):
            continue
        elif behind and is_beside(at, behind[0]) and clause.tail(behind[0]):
            wrong, others = behind[0], behind[1:]
        else:
            continue
        if any(set(segments[place].values) & set(segments[wrong].values) for place in others):
            segments[wrong] = Segment(segments[wrong].start, segments[wrong].end, {FILLER}, {})
            kept = {"no", FILLER} | (one.concepts & {OTHERS})
            segments[at] = Segment(one.start, one.end, kept, one.values, one.slips)


def yes_or_if(clause: Clause) -> None:
    """Decide what a word is that means `yes` and `if`: with an accent or before a comma it is yes."""
    for at, one in enumerate(clause.segments):
        if {"yes", "condition"} <= one.concepts:
            is_yes = not clause.text(at, at).isascii() or bool(clause.tail(at)) or len(clause.segments) == 1
            one.concepts.difference_update({"condition"} if is_yes else {"yes", FILLER})


def spans(clause: Clause, cuts: list[Cut]) -> list[Span]:
    """Return where the pieces between some cuts begin and end."""
    edges = [0, *(edge for cut in cuts for edge in cut), len(clause.segments)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def is_double(clause: Clause, cuts: list[Cut]) -> bool:
    """Tell whether a sentence has verbs on both sides of a place where it may be cut."""
    verbs = 0
    for start, end in spans(clause, cuts):
        # Left out are words that are neither a verb nor what one is about.
        spoken = [
            one.concepts
            for one in clause.segments[start:end]
            if (one.concepts & _ASKING if FILLER in one.concepts else not one.concepts or one.concepts - _LEADING)
        ]
        wanted = _ALONE if len(spoken) == 1 else VERBS
        verbs += any(concepts & wanted for concepts in spoken[:1] + spoken[-1:])
    return verbs > 1


def seams(clause: Clause) -> list[Cut]:
    """Return where a second verb with a thing of its own begins though nothing joins the two: block A turn off B."""
    kinds: list[tuple[int, str]] = []  # V for a verb, O for what it is about
    for at, one in enumerate(clause.segments):
        if FILLER not in one.concepts:
            is_thing = set(one.values) & {"device", "domain", "service"} or one.concepts & _OBJECTS
            kinds += [(at, "O")] if is_thing else [(at, "V")] if one.concepts & _STRONG else []
    row = "".join(kind for _, kind in kinds)
    at = row.find("VOVO" if row.startswith("V") else "OVOV")
    return [(kinds[at + 2][0], kinds[at + 2][0])] if at >= 0 else []


def stopped(clause: Clause, part: Part | None = None) -> set[str]:
    """Return what of a sentence says that no change is wanted now; words in the values of a part say nothing."""
    slots = part.slots if part else {}
    free = [raw for name, (raw, _) in slots.items() if name in FREE_SLOTS]
    said: set[str] = set()
    for at, one in enumerate(clause.segments):
        if not any(clause.text(at, at) in raw for raw in free):
            said |= one.concepts & (STOPS | {OTHERS})
            if set(one.values) & TIMES and not one.concepts & {FILLER, "fixed"} and not TIMED_SLOTS & set(slots):
                said.add("later")
    # Times without internet are said like that; which ones may be asked for.
    is_meant = {"from", "to"} <= set(slots) or (part is not None and part.intent in NIGHTLY)
    return said - {"later"} if is_meant else said


def _is_clock(one: Segment) -> bool:
    return not one.concepts & {FILLER, "fixed"} and bool(set(one.values) & CLOCKS)


def clocks(clause: Clause) -> list[tuple[str, list[str]]]:
    """Return the times of day and lengths in a sentence, each as it was typed and with its values."""
    return [
        (clause.text(at, at), [one.values[kind] for kind in sorted(CLOCKS & set(one.values))])
        for at, one in enumerate(clause.segments)
        if _is_clock(one)
    ]


def clocks_left(clause: Clause, parts: list[Part]) -> list[str]:
    """Return the times of day and lengths in a sentence, when there are more of them than the slots can carry."""
    carried = sum(len(CLOCK_SLOTS & set(part.slots)) for part in parts)
    raws = [raw for part in parts for name, (raw, _) in part.slots.items() if name not in TIMED_SLOTS]
    said = [(at, clause.text(at, at)) for at, one in enumerate(clause.segments) if _is_clock(one)]
    left = [(at, text) for at, text in said if not any(text in raw for raw in raws)]
    count = sum(2 if "hours" in clause.segments[at].values else 1 for at, _ in left)
    return [text for _, text in left] if count > carried else []


def is_later(clause: Clause) -> bool:
    """Tell whether something is to be done at another time, and nothing else keeps it from being done."""
    is_wish = clause.concepts & VERBS - {"show", "ask", "who", "howmany", "search"}
    is_other = "asked" in clause.signs or clause.concepts & {"negation", "howto"}
    return bool(is_wish) and not is_other and stopped(clause) - {OTHERS} == {"later"}


_ACTING: tuple[Kind, ...] = ("now", "forever")  # of times that ask for nothing but what is done
KINDS: tuple[Kind, ...] = ("never", "end", "tomorrow", "today", "daily", "day")
_WRITTEN = late(r"(?<![\w:.-])(\d{1,2}):(\d\d)(?![\w:]|\.\d)", re.ASCII)
_ENDS = {"until", "to"}
_CLOCK = late(r"\d{2}:\d{2}\Z")
_KEPT = {"device", "devices"}  # a name of the router's own is no time, however it reads


class Moments:
    """The expressions of one language."""

    def __init__(self, tables: MomentsTables) -> None:
        self.ask, self.say, self.both = tables["ask"], tables["say"], tables["both"]
        form, kinds = tables["form"], tables["kinds"]
        self._kinds = {kind: Alternatives(kinds.get(kind, []), form) for kind in (*_ACTING, *KINDS)}

    def endless(self, sentence: str) -> str:
        """Return the words of a sentence by which what is done has no end, "" without."""
        text = bare(sentence)
        forever = self._kinds["forever"].on(text)
        match = forever.search(text) if forever else None
        return sentence[slice(*match.span())] if match else ""

    def found(self, sentence: str) -> list[tuple[Kind, Span]]:
        """Return (kind, place) of all such words, those of a shorter phrase inside a longer one left out."""
        text = bare(sentence)
        now = self._kinds["now"].on(text)
        text = now.sub(lambda match: "\0" * len(match[0]), text) if now else text
        kinds = [(kind, expression) for kind in KINDS if (expression := self._kinds[kind].on(text))]
        found = [(kind, match.span()) for kind, expression in kinds for match in expression.finditer(text) if match[0]]
        return [
            (kind, span)
            for kind, span in found
            if not any(span != other and other[0] <= span[0] and span[1] <= other[1] for _, other in found)
        ]


def bare(sentence: str) -> str:
    """Return a sentence in small letters, its quoted texts blanked out, every character in its place."""
    text = [char.casefold() if len(char.casefold()) == 1 else char for char in sentence.replace("’", "'")]
    for token in tokenize(sentence[:SENTENCE_CHARS], {}):
        if token.is_quoted:
            text[token.start : token.end] = "\0" * (token.end - token.start)
    return "".join(text)


def _names(parts: list[Part]) -> list[tuple[str, str]]:
    return [
        (slot, narrow(raw).replace("’", "'").casefold())
        for part in parts
        for slot, (raw, _) in part.slots.items()
        if slot not in TIMED_SLOTS and raw
    ]


def impossible(sentence: str, parts: list[Part]) -> str:
    """Return what is written like a time of day and is none, outside of the values of requests; "" without."""
    names = [name for _, name in _names(parts)]
    for match in _WRITTEN.finditer(bare(narrow(sentence))):
        is_time = int(match[2]) < 60 and (int(match[1]) < 24 or match[0] == "24:00")
        if not is_time and not any(match[0] in name for name in names):
            return match[0]
    return ""


def left(moments: Moments, sentence: str, parts: list[Part], now_clock: str = "") -> tuple[list[str], list[str]]:
    """Return the times that no slot carries: (outside the values, inside a name that was typed without quotes)."""
    sentence = narrow(sentence)
    found: tuple[list[str], list[str]] = ([], [])
    slots: dict[str, str] = {name: raw for part in parts for name, (raw, _) in part.slots.items()}
    # An end is the next time that the clock shows it: after that time of day it is the one of tomorrow.
    is_today = bool(now_clock and _CLOCK.match(slots.get("until", "")) and slots["until"] > now_clock)
    is_tomorrow = not is_today if "until" in slots else "to" in slots
    carried: dict[Kind, bool] = {
        "end": bool(_ENDS & set(slots)),
        "today": bool(_ENDS & set(slots)),
        "tomorrow": is_tomorrow,
        "daily": {"from", "to"} <= set(slots) or "until" in slots or any(part.intent in NIGHTLY for part in parts),
        "day": "days" in slots,
    }
    names, text = _names(parts), bare(sentence)
    for kind, (start, end) in moments.found(sentence):
        around = [
            slot
            for slot, name in names
            if any(text.startswith(name, at) for at in range(max(end - len(name), 0), start + 1))
        ]
        if not _KEPT & set(around) and not carried.get(kind, False):
            found[bool(around)].append(sentence[start:end].strip())
    return found
