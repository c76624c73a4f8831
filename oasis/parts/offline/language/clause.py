"""A sentence as segments (Scanner), and one clause of it that frames are matched against (Clause).

A segment is a phrase of the lexicon, a value with its type, or the name of a device of this router. Types found here in
addition to those of the language file: quoted, ip, cidr, ip6, mac, domain, number, range, clock, hours (a range of
clocks), duration, band, width, speed, power, device. Units are concepts: u_ghz, u_mhz, u_dbm, u_kbit, u_mbit, u_gbit,
u_minute, u_hour, u_day, u_week, u_clock, u_am, u_pm, u_night (past midnight or before it: 夜), u_half (half past),
u_halfto (halb zehn).
"""

from __future__ import annotations

import re

from oasis.core.addresses import number4
from oasis.parts.offline.caution import VERBS
from oasis.parts.offline.language.lexicon import FILLER, Lexicon, Segment, Token, is_near
from oasis.parts.offline.language.slots import is_ipv6

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Device, IsValue


ASKED = "asked"  # a sign of the whole clause: it is a question


class Clause:
    """The tokens and segments of one clause; `signs` are concepts of the clause as a whole.

    `is_value(kind, text)` tells whether a text can be a value of a type on this router.
    """

    def __init__(
        self, sentence: str, tokens: list[Token], segments: list[Segment], signs: set[str], is_value: IsValue
    ) -> None:
        self.sentence = sentence
        self.tokens = tokens
        self.segments = segments
        self.signs = signs
        self.is_value = is_value
        self.concepts = set().union(*[one.concepts for one in segments]) | signs if segments else set(signs)

    def go_on(self, topic: set[str]) -> None:
        """Mark the clause as one that goes on from a request about a topic."""
        self.signs = self.signs | {"following"} | (topic - self.concepts)

    def drop_question(self, asking: set[str]) -> None:
        """Take away what makes the clause a question; `asking` are the concepts that do."""
        self.signs = self.signs - {ASKED}
        self.concepts = self.concepts - {ASKED} - asking

    def norm(self, segment: Segment) -> str:
        """Return the words of a segment as they are compared."""
        return " ".join(token.norm for token in self.tokens[segment.start : segment.end])

    def text(self, first: int, last: int) -> str:
        """Return the characters from one segment to another as they were typed."""
        tokens = self.tokens[self.segments[first].start : self.segments[last].end]
        return self.sentence[tokens[0].start : tokens[-1].end]

    def tail(self, at: int) -> str:
        """Return the punctuation after a segment."""
        return self.tokens[self.segments[at].end - 1].tail

    def of(self, *concepts: str) -> list[int]:
        """Return the segments of any of these concepts."""
        wanted = set(concepts)
        return [at for at, one in enumerate(self.segments) if one.concepts & wanted]

    def with_value(self, *kinds: str) -> list[int]:
        """Return the segments that have a value of any of these types."""
        return [at for at, one in enumerate(self.segments) if any(kind in one.values for kind in kinds)]

    def is_filler(self, at: int) -> bool:
        """Tell whether a segment means nothing of its own."""
        return self.segments[at].concepts == {FILLER} and not self.segments[at].values

    def before(self, at: int, *through: str) -> int:
        """Return the segment before one, past fillers and the concepts `through`; -1 when there is none."""
        at -= 1
        while at >= 0 and (self.is_filler(at) or self.segments[at].concepts & set(through)):
            at -= 1
        return at

    def after(self, at: int, *through: str) -> int:
        """Return the segment after one, past fillers and the concepts `through`; the count of them when none is."""
        at += 1
        while at < len(self.segments) and (self.is_filler(at) or self.segments[at].concepts & set(through)):
            at += 1
        return at


class Found:
    """A value: the raw slot, the segments it took, and how doubtful it is."""

    __slots__ = ("doubt", "raw", "taken")

    def __init__(self, text: str, taken: set[int], doubt: float = 0.0, is_exact: bool = True) -> None:
        self.raw = (text, is_exact)
        self.taken = taken
        self.doubt = doubt


_NUMBER = re.compile(r"\d{1,9}(?:[.,]\d{1,3})?\Z")
_RANGE = re.compile(r"(\d{1,5})[-–:~](\d{1,5})\Z")
_CLOCK = re.compile(r"([01]?\d|2[0-4])[:h.]([0-5]\d)(?::00)?(?:hs?|hrs)?\Z")
_HOURS = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d))?[-–~]([01]?\d|2[0-4])(?::([0-5]\d))?\Z")
_MAC = re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\Z|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\Z")
_DOMAIN = re.compile(r"(?:https?://)?((?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+[a-z]{2,24})(?:/\S*)?\Z")
_LIKE_ADDRESS = re.compile(r"\d+(?:\.\d+){3}(?:/\d+)?\Z")
_BANDS = {"2.4": "2g", "2,4": "2g", "2": "2g", "5": "5g", "5.0": "5g", "6": "6g"}
_SPEEDS = {"u_kbit": 1, "u_mbit": 1000, "u_gbit": 1000_000}
_MINUTES = {"u_minute": 1, "u_hour": 60, "u_day": 1440, "u_week": 10080}
_NAME_PARTS = re.compile(r"[^\W_]+")
_NO_NAMES = {*VERBS, "and"}
NAME_TOKENS = 4  # of a device's name as people say it


class Names:
    """The names of the devices this router knows, in parts."""

    def __init__(self, devices: list[Device]) -> None:
        self.parts = [[part.casefold() for part in _NAME_PARTS.findall(one["name"])] for one in devices if one["name"]]
        self._every = {part for parts in self.parts for part in parts}

    def part(self, norm: str, is_known: bool) -> str:
        """Return the part of a name that a word is, mistyped or not; "" when it is none."""
        bare = re.sub(r"'s?\Z", "", norm)
        for word in (bare, bare + "s", bare[:-1] if bare.endswith("s") and len(bare) > 3 else bare):
            if word in self._every:
                return word
        if is_known or len(bare) < 4 or not bare.isalpha():
            return ""
        near = [part for part in self._every if len(part) >= 4 and part.isalpha() and is_near(bare, part)]
        return min(near) if near else ""

    def is_name(self, words: list[str]) -> bool:
        """Tell whether all words are parts of one device's name, each once."""
        if len(set(words)) != len(words):
            return False
        # An owner's name has an s in some languages only: iphone de Anna is annas-iphone.
        return any(all(word in parts or word + "s" in parts for word in words) for parts in self.parts)


class Scanner:
    """Find the segments of one list of tokens."""

    def __init__(self, lexicon: Lexicon, names: Names, tokens: list[Token]) -> None:
        self._lexicon = lexicon
        self._names = names
        self._tokens = tokens
        self._words, self._slips = lexicon.norms(tokens)
        # A comma ends a phrase of wide characters: 不，用 is not 不用.
        self._bounds = [at + 1 for at, token in enumerate(tokens) if token.tail and token.norm >= "\u3040"]

    def segments(self) -> list[Segment]:
        """Return the segments, in order; every token is in one."""
        found: list[Segment] = []
        at = 0
        while at < len(self._tokens):
            segment = self._segment(at)
            found.append(segment)
            at = segment.end
        return _joined_devices(found, self._names)

    def _longest(self, at: int) -> tuple[int, set[str], dict[str, str]]:
        bound = next((one for one in self._bounds if one > at), 0)
        return self._lexicon.longest(self._words[:bound] if bound else self._words, at)

    def _segment(self, at: int) -> Segment:
        token = self._tokens[at]
        if token.is_quoted:
            return Segment(at, at + 1, set(), {"quoted": "1"})
        typed = self._clock(at) or self._measure(at) or self._shape(at)
        length, concepts, values = self._longest(at)
        if typed and typed.end - at >= length:
            if typed.end - at == length and FILLER not in concepts:
                typed.add(*concepts)
            return typed
        name = self._device(at, length)
        if name and name.end - at > length:
            return name
        if length:
            slips = sum(self._slips[at : at + length])
            # A client chooses its name: one that is called "block" does not make that word a device.
            is_small = FILLER in concepts and len(token.norm) < 4
            if name and name.end - at == length and not (concepts & _NO_NAMES or is_small):
                values = {**values, **name.values}
            # A number word with the unit after it is one segment.
            segment = Segment(at, at + length, concepts, values, slips)
            number = segment.values.get("number")
            if number is None:
                return segment
            return self._with_unit(segment.start, segment.end, number) or segment
        return name or Segment(at, at + 1, set(), {}, 0)

    def _concepts(self, at: int) -> tuple[int, set[str]]:
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return 0, set()
        length, concepts, _ = self._longest(at)
        return length, concepts

    def _after_filler(self, at: int) -> int:
        length, concepts = self._concepts(at)
        return at + length if concepts == {FILLER} and length == 1 else at

    def _number_at(self, at: int) -> tuple[int, str]:
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return 0, ""
        if _NUMBER.match(self._tokens[at].norm):
            return 1, self._tokens[at].norm
        length, _, values = self._longest(at)
        return (length, values["number"]) if "number" in values else (0, "")

    def _measure(self, at: int) -> Segment | None:
        length, number = self._number_at(at)
        if not length:
            return None
        found = self._with_unit(at, at + length, number)
        if found or not _NUMBER.match(self._tokens[at].norm):
            return found
        if number in ("2.4", "2,4"):
            return Segment(at, at + 1, set(), {"band": "2g"})
        return Segment(at, at + 1, set(), {"number": number} if number.isdigit() else {"decimal": number})

    def _with_unit(self, start: int, end: int, number: str) -> Segment | None:
        length, concepts = self._concepts(end)
        after = end + length
        amount = float(number.replace(",", "."))
        for unit in concepts:
            if unit == "u_ghz" and number in _BANDS:
                return Segment(start, after, set(), {"band": _BANDS[number]})
            if unit == "u_mhz" and number.isdigit():
                return Segment(start, after, set(), {"width": number})
            if unit == "u_dbm" and number.isdigit():
                return Segment(start, after, set(), {"power": number})
            if unit in _SPEEDS:
                return Segment(start, after, set(), {"speed": str(round(amount * _SPEEDS[unit]))})
            if unit in _MINUTES:
                return self._duration(start, after, amount * _MINUTES[unit])
        return None

    def _duration(self, start: int, end: int, minutes: float) -> Segment:
        half, concepts = self._concepts(end)
        if "u_half" in concepts:  # 2時間半
            return Segment(start, end + half, set(), {"duration": f"{round(minutes) + 30}m"})
        at = end
        length, joiner = self._concepts(at)
        if "and" in joiner:
            at += length
        size, number = self._number_at(at)
        if size:
            length, concepts = self._concepts(at + size)
            for unit in concepts & set(_MINUTES):
                more = float(number.replace(",", ".")) * _MINUTES[unit]
                if more < minutes:
                    return Segment(start, at + size + length, set(), {"duration": f"{round(minutes + more)}m"})
        return Segment(start, end, set(), {"duration": f"{round(minutes)}m"})

    def _clock(self, at: int) -> Segment | None:
        start, before = at, set()
        length, concepts = self._concepts(at)
        if concepts & {"u_am", "u_pm", "u_night", "u_halfto", "u_half", "u_quarter", "u_quarterto", "u_at"}:
            before, at = concepts, self._after_filler(at + length)
        size, hour, minute, is_sure = self._hour(at)
        if not size:
            return None
        is_sure = is_sure or bool(before & {"u_halfto", "u_half", "u_quarter", "u_quarterto", "u_at"})
        at += size
        length, concepts = self._concepts(at)
        if concepts & {"u_half", "u_quarter", "u_quarterto"} and "u_clock" not in concepts:  # las ocho y media
            before, at, is_sure = before | concepts, at + length, True
            length, concepts = self._concepts(at)
        elif "u_at" in before and "u_hour" in concepts:  # las 22 horas
            at += length
            length, concepts = self._concepts(at)
        if "u_clock" in concepts:
            at, is_sure = at + length, True
            at, minute = self._minutes(at, minute)
        elif before & {"u_am", "u_pm", "u_night"} and not is_sure:
            return None
        tail, after = self._concepts(at)
        if after & {"u_am", "u_pm"}:
            at, is_sure = at + tail, True
        if not is_sure:
            return None
        marks = before | (after & {"u_am", "u_pm"})
        hour, minute = _shifted(hour, minute, marks)
        half = {"half": "pm" if marks & {"u_pm", "u_night"} else "am"} if marks & {"u_am", "u_pm", "u_night"} else {}
        return Segment(start, at, set(), {"clock": f"{hour % 24:02d}:{minute:02d}", **half})

    def _hour(self, at: int) -> tuple[int, int, int, bool]:
        """Return (tokens, hour, minute, whether this can only be a time of day)."""
        if at < len(self._tokens) and not self._tokens[at].is_quoted:
            match = _CLOCK.match(self._tokens[at].norm)
            if match:
                return 1, int(match.group(1)), int(match.group(2)), "." not in match.group()
        size, number = self._number_at(at)
        if size and number.isdigit() and int(number) <= 24:
            return size, int(number), 0, False
        return 0, 0, 0, False

    def _minutes(self, at: int, minute: int) -> tuple[int, int]:
        half, concepts = self._concepts(at)
        if "u_half" in concepts:
            return at + half, 30
        size, number = self._number_at(at)
        if size and number.isdigit() and int(number) < 60:
            length, concepts = self._concepts(at + size)
            return at + size + (length if "u_minute" in concepts else 0), int(number)
        return at, minute

    def _shape(self, at: int) -> Segment | None:
        norm = self._tokens[at].norm
        values = _form(norm)
        return Segment(at, at + 1, set(), values) if values else None

    def _device(self, at: int, known: int) -> Segment | None:
        words: list[str] = []
        best: Segment | None = None
        for place in range(at, min(at + NAME_TOKENS, len(self._tokens))):
            token = self._tokens[place]
            whole = [part.casefold() for part in _NAME_PARTS.findall(token.norm)]
            found = whole if len(whole) > 1 and self._names.is_name(whole) else []
            found = found or [self._names.part(token.norm, self._lexicon.knows(token.norm))]
            if token.is_quoted or not found[0] or not self._names.is_name(words + found):
                break
            words += found
            best = Segment(at, place + 1, set(), {"device": " ".join(words)})
            if token.tail:
                break
        return best


def _shifted(hour: int, minute: int, marks: set[str]) -> tuple[int, int]:
    if "u_halfto" in marks:
        hour, minute = hour - 1, 30
    elif "u_half" in marks:
        minute = 30
    elif "u_quarter" in marks:
        minute = 15
    elif "u_quarterto" in marks:
        hour, minute = hour - 1, 45
    if "u_night" in marks and 5 <= hour <= 12:
        hour += 12  # 夜12時 is the end of the day
    if "u_pm" in marks and hour < 12:
        hour += 12
    if "u_am" in marks and hour == 12:
        hour = 0
    return hour, minute


def _form(norm: str) -> dict[str, str]:
    if _LIKE_ADDRESS.match(norm):
        address, slash, _ = norm.partition("/")
        return {"cidr": norm, "ip": address} if slash else {"ip": norm, "cidr": norm}
    if _MAC.match(norm):
        return {"device": norm, "mac": norm}
    if ":" in norm and is_ipv6(norm):
        return {"ip6": norm}
    hours = _HOURS.match(norm)
    if hours and (hours.group(2) or hours.group(4)):
        first, last = f"{int(hours.group(1)) % 24:02d}:{hours.group(2) or '00'}", int(hours.group(3)) % 24
        return {"hours": f"{first}-{last:02d}:{hours.group(4) or '00'}"}
    if _RANGE.match(norm):
        return {"range": re.sub("[–:~]", "-", norm)}
    domain = _DOMAIN.match(norm)
    if domain and number4(domain.group(1)) is None:
        return {"domain": domain.group(1)}
    return {}


def _joined_devices(found: list[Segment], names: Names) -> list[Segment]:
    """Return the segments with parts of one name, such as `tv in the living room`, as one."""
    merged: list[Segment] = []
    for segment in found:
        gap = [one for one in merged[-3:] if one.concepts == {FILLER}]
        if "device" in segment.values and "mac" not in segment.values:
            before = [one for one in merged[-3:] if "device" in one.values]
            tail = merged[merged.index(before[-1]) + 1 :] if before else []
            words = before[-1].values["device"].split() + segment.values["device"].split() if before else []
            if before and all(one in gap for one in tail) and names.is_name(words):
                del merged[merged.index(before[-1]) :]
                segment = Segment(before[-1].start, segment.end, set(), {"device": " ".join(words)})
        merged.append(segment)
    return merged
