"""What keeps a change from being carried out: another time, a condition, somebody else, or a second request.

The words are in the language files and in intents/cautions.json. Nothing here reads a request; it only holds one back.

A change is made at once or not at all. So in every request, words that say when, how often or under which condition
(Moments, by the expressions of intents/moments.json) must be carried by a slot; what is left is said back and never
acted on. Text in quotes is a value and never such a word.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.lexicon import FILLER, SENTENCE_CHARS, narrow, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.lexicon import Segment, Token
    from oasis.parts.offline.reading import Part
    from oasis.parts.offline.shapes import Caution, Kind, Language, MomentsData

    Cut = tuple[int, int]
    Span = tuple[int, int]


TIMES = {"clock", "hours", "days", "duration"}
STOPS = {"later", "condition", "past", "hearsay"}  # of the whole sentence: no change in any clause of it
OTHERS = "others"  # somebody else does it
# Intents that are said with two verbs, and those whose slots tell when.
TWO_VERBS = {"wifi_both", "guest_setup", "wifi_restart", "reboot", "qos_limit", "parental_times", "undo", "keep"}
CLOCKS, CLOCK_SLOTS = {"clock", "hours", "duration"}, {"until", "from", "to", "duration"}
TIMED_SLOTS = {"until", "from", "to", "days", "duration"}
FREE_SLOTS = {"ssid", "key", "hostname", "name", "host", "text"}
VERBS = {
    "set", "make", "add", "remove", "rename", "give", "use", "on", "off", "block", "unblock", "allow", "restart",
    "reload", "start", "stop", "reboot", "open", "close", "forward", "install", "uninstall", "hide", "limit", "undo",
    "show", "scan", "diagnose", "ping", "traceroute", "search", "save", "update", "move", "reset", "isolate",
    "expose", "protect", "lookup", "forbid", "howmany", "ask", "who",
}  # fmt: skip
_STRONG = {"block", "unblock", "on", "off", "restart", "reboot", "install", "uninstall", "add"}
_OBJECTS = {"wifi", "guest", "led", "vpn", "router", "upnp", "ipv6", "qos", "ads", "ntp", "firewall", "thing"}
_LEADING = {"greet", "also", "yes", "request", "and", "it", "end_"}
_ALONE = {"reboot", "block", "unblock"}  # a clause of this one word is a request
_ASKING = {"howmany", "ask", "who", "show"}


def times_marked(tokens: list[Token], segments: list[Segment], marks: Caution) -> None:
    """Make lengths of time that say when (`in an hour`) words for a later time."""
    ahead, after = marks.get("before_span", ()), marks.get("behind_span", ())
    for one in segments:
        if "duration" not in one.values:
            continue
        before = [token.norm for token in tokens[max(0, one.start - 2) : one.start]]
        behind = [token.norm for token in tokens[one.end : one.end + 4]]
        # The mark may be a part of the length itself, as in Japanese: 1時間後.
        own = "".join(token.norm for token in tokens[one.start : one.end])
        is_before = any(_ends(before, mark) for mark in ahead)
        is_behind = any(_begins(behind, mark) for mark in after)
        if is_before or is_behind or any(own.endswith(mark) for mark in after if mark > "\u3000"):
            one.values.pop("duration")
            one.drop({FILLER})
            one.add("later")


def not_this(tokens: list[Token], segments: list[Segment]) -> None:
    """Take the meaning from a value that another one is put in place of: not the xbox, the printer; AではなくてB."""
    for at, one in enumerate(segments):
        if "no" not in one.concepts or tokens[one.end - 1].tail:
            continue
        values = [place for place, other in enumerate(segments) if other.values and place != at]
        ahead = [place for place in values if place < at]
        behind = [place for place in values if place > at]
        if ahead and behind and _is_beside(segments, ahead[-1], at):
            wrong, others = ahead[-1], behind
        elif behind and _is_beside(segments, at, behind[0]) and tokens[segments[behind[0]].end - 1].tail:
            wrong, others = behind[0], behind[1:]
        else:
            continue
        if any(set(segments[place].values) & set(segments[wrong].values) for place in others):
            segments[wrong] = type(one)(segments[wrong].start, segments[wrong].end, {FILLER}, {})
            one.drop(one.concepts - {"no"})
            one.add(FILLER)


def _is_beside(segments: list[Segment], first: int, last: int) -> bool:
    return all(FILLER in one.concepts for one in segments[first + 1 : last])


def _ends(words: list[str], mark: str) -> bool:
    wanted = mark.split()
    return words[len(words) - len(wanted) :] == wanted


def _begins(words: list[str], mark: str) -> bool:
    if mark > "\u3000":
        return "".join(words).startswith(mark)
    wanted = mark.split()
    return words[: len(wanted)] == wanted


def yes_or_if(clause: Clause) -> None:
    """Decide what a word is that means `yes` and `if`: with an accent or before a comma it is yes."""
    for at, one in enumerate(clause.segments):
        if {"yes", "condition"} <= one.concepts:
            is_yes = not clause.text(at, at).isascii() or bool(clause.tail(at)) or len(clause.segments) == 1
            one.drop({"condition"} if is_yes else {"yes", FILLER})


def is_double(clause: Clause, cuts: list[Cut]) -> bool:
    """Tell whether a sentence has verbs on both sides of a place where it may be cut."""
    edges = [0, *(edge for cut in cuts for edge in cut), len(clause.segments)]
    spans = zip(edges[::2], edges[1::2], strict=True)
    return sum(_has_verb(clause, start, end) for start, end in spans) > 1


def _has_verb(clause: Clause, start: int, end: int) -> bool:
    spoken = [one for one in clause.segments[start:end] if not _is_silent(one)]
    if len(spoken) == 1:
        return bool(spoken[0].concepts & _ALONE)
    return any(one.concepts & VERBS for one in spoken[:1] + spoken[-1:])


def _is_silent(one: Segment) -> bool:
    """Tell whether a word is neither a verb nor what one is about."""
    if FILLER in one.concepts:
        return not one.concepts & _ASKING
    return bool(one.concepts) and one.concepts <= _LEADING


def seams(clause: Clause) -> list[Cut]:
    """Return where a second verb with a thing of its own begins though nothing joins the two: block A turn off B."""
    kinds = [(at, _kind(one)) for at, one in enumerate(clause.segments) if _kind(one)]
    row = "".join(kind for _, kind in kinds)
    found = []
    for form, place in (("VOVO", 2), ("OVOV", 2)):
        at = row.find(form)
        if at >= 0 and (form == "VOVO") == row.startswith("V"):
            cut = kinds[at + place][0]
            found.append((cut, cut))
    return found[:1]


def _kind(one: Segment) -> str:
    if FILLER in one.concepts:
        return ""
    if set(one.values) & {"device", "domain", "service"} or one.concepts & _OBJECTS:
        return "O"
    return "V" if one.concepts & _STRONG else ""


def stopped(clause: Clause | None, part: Part | None = None) -> set[str]:
    """Return what of a sentence says that no change is wanted now; words in the values of a part say nothing."""
    said: set[str] = set()
    for at, one in enumerate(clause.segments if clause else []):
        if part is None or clause is None or not _is_inside(clause.text(at, at), part):
            said |= one.concepts & (STOPS | {OTHERS})
            is_time = set(one.values) & TIMES and not one.concepts & {FILLER, "fixed"}
            if is_time and (part is None or not TIMED_SLOTS & set(part.slots)):
                said.add("later")
    is_meant = part is not None and {"from", "to"} <= set(part.slots)  # times without internet are said like that
    return said - {"later"} if is_meant else said


def clocks_left(clause: Clause, parts: list[Part]) -> list[str]:
    """Return the times of day and lengths in a sentence, when there are more of them than the slots can carry."""
    carried = sum(len(CLOCK_SLOTS & set(part.slots)) for part in parts)
    said: list[str] = []
    count = 0
    for at, one in enumerate(clause.segments):
        text = clause.text(at, at)
        is_value = any(
            text in raw for part in parts for name, (raw, _) in part.slots.items() if name not in TIMED_SLOTS
        )
        if not is_value and not one.concepts & {FILLER, "fixed"} and set(one.values) & CLOCKS:
            said.append(text)
            count += 2 if "hours" in one.values else 1
    return said if count > carried else []


def clocks(clause: Clause) -> list[tuple[str, list[str]]]:
    """Return the times of day and lengths in a sentence, each as it was typed and with its values."""
    return [
        (clause.text(at, at), [one.values[kind] for kind in sorted(CLOCKS & set(one.values))])
        for at, one in enumerate(clause.segments)
        if not one.concepts & {FILLER, "fixed"} and set(one.values) & CLOCKS
    ]


def is_later(clause: Clause | None) -> bool:
    """Tell whether something is to be done at another time, and nothing else keeps it from being done."""
    if clause is None or "asked" in clause.signs or clause.concepts & {"negation", "howto"}:
        return False
    is_wish = bool(clause.concepts & VERBS - {"show", "ask", "who", "howmany", "search"})
    return is_wish and stopped(clause) - {OTHERS} == {"later"}


def _is_inside(text: str, part: Part) -> bool:
    return any(text in raw for name, (raw, _) in part.slots.items() if name in FREE_SLOTS)


def merged(language: Language, caution: Caution) -> Language:
    """Return a language with the words that hold a change back among its words."""
    words, more = language["words"], caution.get("words", {})
    joined = {name: [*words.get(name, ()), *more.get(name, ())] for name in {**words, **more}}
    return {**language, "words": joined}


_ACTING: tuple[Kind, ...] = ("now", "forever")  # of times that ask for nothing but what is done
KINDS: tuple[Kind, ...] = ("never", "end", "tomorrow", "today", "daily", "day")
_PART = re.compile(r"\{([a-z]{2}_[a-z]+)\}")
_WRITTEN = re.compile(r"(?<![\w:.-])(\d{1,2}):(\d\d)(?![\w:]|\.\d)", re.ASCII)
_ENDS = {"until", "to"}
_CLOCK = re.compile(r"\d{2}:\d{2}\Z")
_KEPT = {"device", "devices"}  # a name of the router's own is no time, however it reads


class Moments:
    """The expressions of one language."""

    def __init__(self, data: MomentsData, parts: dict[str, str], is_wide: bool) -> None:
        self._kinds = {kind: _compiled(data.get(kind, []), parts, is_wide) for kind in (*_ACTING, *KINDS)}
        self.ask, self.say, self.both = data["ask"], data["say"], data["both"]

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


def _compiled(expressions: list[str], parts: dict[str, str], is_wide: bool) -> re.Pattern[str] | None:
    joined = "|".join(_PART.sub(lambda match: parts[match.group(1)], one) for one in expressions)
    if not joined:
        return None
    return re.compile(f"(?:{joined})" if is_wide else rf"(?<![\w.-])(?:{joined})(?![\w-]|\.\w)")


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
    """Return the times that no slot carries: (outside the values, inside a name that was typed without quotes)."""
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
        if slot not in TIMED_SLOTS and raw
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
