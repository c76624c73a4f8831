"""The new name in a sentence that gives one: `call the xbox Gaming Box from now on`, `nasを家族のサーバーと呼んで`.

A name without quotes may be of any words, also of those that mean something elsewhere. Where it stands is told by the
construction around it: forms in intents/naming.json, regular expressions over the sentence with a letter in the place
of what is named (OF). Such a name becomes one segment, as if it stood in quotes. Knows no request.

    "edges"   what stands around a name and is none of it: please, from now on
    "bounds"  what comes behind a name: with the password
    "none"    what is no name though it stands there: something else; "small" and "lead": what none in small letters
              begins with, and what is left out at its beginning
    "forms"   {o} what gets the name, {a} the same with nothing but articles before it, {d} a device, {x} some words,
              {e} edges, {n} the name; a form that begins with a bound counts only behind another name
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.lexicon import FILLER, Segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.tokens import Token

    Place = tuple[int, int, int, int]  # characters of the written form, tokens of the sentence

OF = (
    ("guest", "G"), ("ssid", "S"), ("hostname", "H"), ("password", "K"), ("peer", "P"), ("vpn", "V"), ("wifi", "W"),
    ("router", "R"), ("network", "N"), ("thing", "T"),
)  # fmt: skip
NAMED = "~"  # the value of a segment that counts as quoted, and has no marks
_WIDE = "\u3000"
_MOST = 8  # tokens of a name in Latin letters; of wide characters, which are a token each, twice as many
_LONG, _LONG_SLIPS = 3, 6  # words of a name that is said back as a question first: more than the name may be in it
# What is no part of a name without quotes: values told by their form, and words of other wishes.
_EXACT = {
    "quoted", "ip", "cidr", "ip6", "mac", "domain", "clock", "hours", "duration", "speed", "width", "power", "range",
    "provider", "encryption",
}  # fmt: skip
_OTHER = {
    "negation", "hide", "visible", "isolate", "schedule", "bedtime", "limit", "fixed", "lease", "encryption", "ntp",
    "dns", "forbid", "howto", "password", "peer", "width", "channel",
}  # fmt: skip
_HOLDING = {"condition", "later", "past", "hearsay", "howto", "negation"}
_NAMED_HERE = r"(?:[DRT]|[GWNS](?: ?[GWNR])*)(?! [WN]\b)"
_THING = f"(?:(?:[^|&Q ]+ ){{0,3}}?{_NAMED_HERE})"


class Naming:
    """The forms of one language in which something gets a name."""

    def __init__(self, data: dict[str, object]) -> None:
        self._edge = "|".join(_listed(data.get("edges"))) or "$."
        bounds = "|".join(_listed(data.get("bounds"))) or "$."
        articles = "|".join(_listed(data.get("articles"))) or "$."
        edges = f"(?: ?(?:{self._edge})(?![a-z]))*"
        self._none = re.compile(f"(?:{'|'.join(_listed(data.get('none'))) or '$.'})\\Z")
        self._edges = re.compile(f"(?:{self._edge})\\Z")
        self._lead = _listed(data.get("lead"))
        self._small = re.compile(f"(?:{'|'.join(_listed(data.get('small'))) or '$.'})\\Z")
        parts = {
            "{o}": _THING,
            "{a}": f"(?:(?:{articles}) ?)*{_NAMED_HERE}",
            "{d}": r"(?:(?:[^|&Q ]+ ){0,3}?[DT])",
            "{x}": "[^|&Q]{1,60}?",
            "{e}": f"(?:(?:{self._edge}) ?)*",
            "{n}": f"(?P<name>[^|&QK:]+?)(?={edges} ?(?:[|&]|\\Z|{bounds}))",
        }
        self._forms = []
        for form in _listed(data.get("forms")):
            for mark, text in parts.items():
                form = form.replace(mark, text)
            self._forms.append(form)
        self._compiled: list[re.Pattern[str]] = []

    def joined(self, sentence: str, tokens: list[Token], segments: list[Segment], words: list[str]) -> list[Segment]:
        """Return the segments with each name that the sentence gives as one; `words` has mistyped ones mended."""
        if not self._forms:
            return segments
        text, places = _written(sentence, tokens, segments, words)
        spans = self._spans(sentence, tokens, segments, text, places)
        if spans:
            self._calm(tokens, segments)
        for first, last in spans:
            _marked(segments, first)
            segments = _merged(segments, first, last, sentence, tokens)
        return segments

    def _spans(
        self, sentence: str, tokens: list[Token], segments: list[Segment], text: str, places: list[Place]
    ) -> list[tuple[int, int]]:
        """Return the tokens that are names, each as (first, the one behind it)."""
        spans: list[tuple[int, int]] = []
        taken: list[tuple[int, int]] = []
        for form in self._ready():
            if form.pattern.startswith("[|&]") and not spans:
                continue  # this only goes on
            for match in form.finditer(text):
                start, end = match.span("name")
                if any(start < last and first < end for first, last in taken):
                    continue
                taken.append((start, end))
                span = self._span(text, places, start, end)
                if span and _is_small(sentence, tokens, span):
                    span = self._bare(tokens, span)
                if span and not _is_other(segments, *span) and not _is_held(match.span(), places, segments):
                    spans.append(span)
        return spans

    def _ready(self) -> list[re.Pattern[str]]:
        if not self._compiled:
            self._compiled = [re.compile(form) for form in self._forms]
        return self._compiled

    def _span(self, text: str, places: list[Place], start: int, end: int) -> tuple[int, int] | None:
        """Return the first token of a name and the one behind it, None when this is no name."""
        name = text[start:end].strip()
        if not name or self._none.match(name) or self._edges.match(name):
            return None
        inside = [place for place in places if place[0] < end and place[1] > start]
        if not inside or inside[0][0] < start - 1 or inside[-1][1] > end + 1:
            return None  # it begins or ends inside a word
        first, last = inside[0][2], inside[-1][3]
        return (first, last) if last - first <= _MOST * (1 if name < _WIDE else 2) else None

    def _bare(self, tokens: list[Token], span: tuple[int, int]) -> tuple[int, int] | None:
        """Return a name in small letters without its article, None when it begins as no name does."""
        first, last = span
        if tokens[first].norm in self._lead:
            return (first + 1, last) if last - first > 2 else None
        return None if self._small.match(tokens[first].norm) else span

    def _calm(self, tokens: list[Token], segments: list[Segment]) -> None:
        """Make words such as `from now on` fillers: in a sentence that gives a name they are no condition."""
        for one in segments:
            words = [token.norm for token in tokens[one.start : one.end]]
            if FILLER in one.concepts and self._edges.match(_spelled(words)):
                one.concepts -= _HOLDING


def _is_small(sentence: str, tokens: list[Token], span: tuple[int, int]) -> bool:
    return sentence[tokens[span[0]].start].islower()


def _is_other(segments: list[Segment], first: int, last: int) -> bool:
    """Tell whether words between two tokens are none of a name."""
    inside = [one for one in segments if one.start < last and one.end > first]
    return any(set(one.values) & _EXACT or one.concepts & _OTHER for one in inside)


def _is_held(span: tuple[int, int], places: list[Place], segments: list[Segment]) -> bool:
    """Tell whether what is said between two characters is not wished for, or is another wish."""
    said = {place[2] for place in places if place[0] < span[1] and place[1] > span[0]}
    return any(one.concepts & {"negation", "hide", "password"} for one in segments if one.start in said)


def _marked(segments: list[Segment], first: int) -> None:
    """Make the word before a name one that leads to it."""
    before = [one for one in segments if one.end == first]
    if before and "rename" not in before[0].concepts:
        before[0].concepts = before[0].concepts | {"called"}


def _spelled(words: list[str]) -> str:
    return ("" if words[0] >= _WIDE else " ").join(words)


def _written(sentence: str, tokens: list[Token], segments: list[Segment], words: list[str]) -> tuple[str, list[Place]]:
    """Return the sentence as forms are held against it: `|` between clauses, `&` for and, and where its words stand."""
    text = ""
    places: list[Place] = []
    for at, one in enumerate(segments):
        letter = _letter(one, segments, at, sentence, tokens)
        if letter:
            text = _put(text, places, letter, one.start, one.end)
        else:
            for place in range(one.start, one.end):
                text = _put(text, places, words[place] if one.slips else tokens[place].norm, place, place + 1)
        tail = tokens[one.end - 1].tail
        if tail:
            text += ":" if tail in (":", "：") else "|"
    return text, places


def _put(text: str, places: list[Place], word: str, first: int, last: int) -> str:
    is_wide = word >= _WIDE or text[-1:] >= _WIDE
    text += " " if text and not is_wide and text[-1] != "|" else ""
    places.append((len(text), len(text) + len(word), first, last))
    return text + word


def _letter(one: Segment, segments: list[Segment], at: int, sentence: str, tokens: list[Token]) -> str:
    first = tokens[one.start]
    if first.is_quoted:
        return "Q"
    if set(one.values) & {"device", "ip", "mac"}:
        return "D"
    if "and" in one.concepts and not "\u3040" <= first.norm[0] < "\u3100":  # て and と join everything in Japanese
        between = [segments[place] for place in (at - 1, at + 1) if 0 <= place < len(segments)]
        words = [sentence[tokens[near.start].start : tokens[near.end - 1].end] for near in between]
        return "" if len(words) == 2 and all(word[:1].isupper() for word in words) else "&"
    return next((letter for concept, letter in OF if concept in one.concepts), "")


def _merged(segments: list[Segment], first: int, last: int, sentence: str, tokens: list[Token]) -> list[Segment]:
    """Return the segments with the tokens of a name as one; a single word that no list knows stays what it is."""
    inside = [one for one in segments if one.start < last and one.end > first]
    is_plain = len(inside) == 1 and not inside[0].is_known()
    if is_plain:
        return segments
    if all(one.concepts == {FILLER} and not one.values for one in inside) and not any(
        token.norm != sentence[token.start : token.end] for token in tokens[first:last]
    ):
        return segments  # small words alone are hardly a name
    found: list[Segment] = []
    for one in segments:
        if one not in inside:
            found.append(one)
            continue
        if one.start < first:
            found.append(Segment(one.start, first, one.concepts, {}))
        if one is inside[0]:
            slips = _LONG_SLIPS if last - first > _LONG and tokens[first].norm < _WIDE else 0
            found.append(Segment(first, last, set(), {"quoted": NAMED}, slips))
        if one.end > last:
            found.append(Segment(last, one.end, one.concepts, {}))
    return found


def _listed(value: object) -> list[str]:
    return value if isinstance(value, list) else []
