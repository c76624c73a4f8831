"""The free texts of a frame: names and passwords, which have no form of their own.

    free_values(clause, frame, taken)    every way to choose them: slots, segments, how good the choice looks

A free text is in quotes, follows a marking word (to, called, is …), or is in no list of words; up to a bound. The word
nearest to it decides which slot it fills.

Naming finds the new name in a sentence such as `call the xbox Gaming Box from now on` or `nasを家族のサーバーと呼んで`.
A name without quotes may be of any words, so its place follows from the construction around it: forms in
intents/naming.json, regular expressions over the sentence with a letter in the place of what is named (OF). Such a name
becomes one segment, as if it were in quotes.

    "edges"   what surrounds a name without being part of it: please, from now on
    "bounds"  what comes behind a name: with the password
    "none"    what is not a name though it is in its place: something else; "small" and "lead": how a lower case text
              that is not a name begins, and what is left out at its beginning
    "forms"   {o} what gets the name, {a} the same with nothing but articles before it, {d} a device, {x} some words,
              {e} edges, {n} the name; a form that begins with a bound counts only behind another name
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.lexicon import FILLER, ORDINARY, Segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.frames import Frame
    from oasis.parts.offline.language.lexicon import Token
    from oasis.parts.offline.shapes import Iterator, NamingData, Raw

    Place = tuple[int, int, int, int]  # characters of the written form, tokens of the sentence


FREE = ("ssid", "key", "hostname", "name", "search", "plainname", "hostlabel")
_NOUNS = {"thing", "works", "vpn", "software", "person"}  # words of the lists that are also names of things
ONE_WORD = ("plainname", "hostlabel")  # types whose values have no blanks
LEADING = ("to", "called", "is_", "as_", "from_", "with_", "set", "make", "use", "new")
_BEFORE_VALUE = ("to", "called", "is_", "colon")
_MARKING = {*_BEFORE_VALUE, "password", "ssid", "name", "package", "peer", "install", "uninstall", "hostname"}
_MARK_WORDS = {*_BEFORE_VALUE, "as_", "with_", "from_", "for_", "on_band", "password", "ssid", "set", "request", "ask"}
_BOUNDS = {"and", "with_", "as_", "end_", "until", "password", "on_band"}
_ANCHORS = {"key": {"password"}, "ssid": {"name", "ssid", "called"}, "hostname": {"name", "called"}}
_TOPICS = {"dns", "ads", "ntp", "qos", "speed", "wifi", "ipv6", "upnp"}  # what packages are looked for
_SETTING = {"set", "new", "use", "add", "protect", "to", "rename", "called", "following", "with_"}
_NOT_NAMES = {"wifi", "guest", "password", "name", "ssid", "router", "network", "internet", "vpn", "peer", "device"}
# Small words inside of names.
_LINKS = {
    "de", "del", "la", "las", "los", "el", "y", "am", "an", "im", "in", "zum", "zur", "der", "die", "das", "dem",
    "von", "vom", "und", "of", "the", "and", "at", "by",
}  # fmt: skip
WIDTH = 6  # segments of an unquoted text
CANDIDATES = 14
_OWN_WORDS = {"wifi", "led", "ssid", "router", "lan", "wan", "internet", "ipv6", "upnp", "qos", "port", "band", "dns"}
_LATIN = {"plainname", "hostlabel", "search"}  # types of names that are written in Latin letters everywhere


def _is_told(clause: Clause, first: int, last: int) -> bool:
    """Tell whether words stand where something is to be set: "the password is wrong" sets none."""
    if (
        re.search(r"\d|[^\w\s.,?!-]|[A-Z]|[^\x00-\x7f]", clause.text(first, last))
        or "quoted" in clause.segments[first].values
    ):
        return True
    return bool(clause.concepts & _SETTING)


def free_values(clause: Clause, frame: Frame, taken: set[int]) -> Iterator[tuple[Raw, set[int], float]]:
    """Yield (slots, segments, how good the choice looks) for every way to choose the free texts of a frame."""
    yield {}, set(), 0.0
    choices = [*candidates(clause, taken), *_foreign(clause, frame, taken)]
    names = frame.free
    if any(kind in ONE_WORD for _, kind, _ in names):
        choices = [pair for pair in choices if " " not in clause.text(*pair) or _is_named(clause, *pair)]
        choices += _single(clause, frame, taken)
    elif any(kind == "search" for _, kind, _ in names):
        choices += _single(clause, frame, taken, _NOUNS | _TOPICS)
    choices = [pair for pair in choices if not _is_cut(clause, *pair)]
    for first, last in choices:
        span = set(range(first, last + 1))
        for name, kind, _ in names:
            if kind == "key" and not _is_told(clause, first, last):
                continue
            worth = _worth(clause, first, last, kind)
            yield {name: _raw(clause, first, last, kind)}, span, worth
        if len(names) != 2:
            continue
        for start, end in choices:
            other = set(range(start, end + 1))
            if not span & other:
                (one, one_kind, _), (two, two_kind, _) = names
                worth = _worth(clause, first, last, one_kind) + _worth(clause, start, end, two_kind)
                raws = {one: _raw(clause, first, last, one_kind), two: _raw(clause, start, end, two_kind)}
                yield raws, span | other, worth


def _is_named(clause: Clause, first: int, last: int) -> bool:
    """Tell whether a span is the one name that a sentence gives, of one word or more."""
    return first == last and clause.segments[first].values.get("quoted") == NAMED


def _is_cut(clause: Clause, first: int, last: int) -> bool:
    start, end = clause.tokens[clause.segments[first].start].start, clause.tokens[clause.segments[last].end - 1].end
    before, after = clause.sentence[max(start - 2, 0) : start], clause.sentence[end : end + 2]
    return bool(re.match(r"\w-\Z", before) or re.match(r"-\w", after))


def _single(
    clause: Clause, frame: Frame, taken: set[int], nouns: set[str] | frozenset[str] = frozenset(_NOUNS)
) -> list[tuple[int, int]]:
    """Return known words that a frame has no other use for: a name may be any word."""
    meant = set().union(*frame.needs, frame.wants, {FILLER}) | set(_MARK_WORDS)
    return [
        (at, at)
        for at, one in enumerate(clause.segments)
        if one.end == one.start + 1
        and at not in taken
        and not one.concepts & meant
        and (one.concepts & nouns or set(one.values) & {"service", "device"})
    ]


def _raw(clause: Clause, first: int, last: int, kind: str) -> tuple[str, bool]:
    if first == last and "quoted" in clause.segments[first].values:
        # Of a name without quotes more may be in it than the value.
        return clause.text(first, first), not _is_named(clause, first, last)
    tokens = clause.tokens[clause.segments[first].start : clause.segments[last].end]
    if kind not in ("key", "ssid"):
        return clause.sentence[tokens[0].start : tokens[-1].end], False
    # What may belong to a password is kept here and judged where its type is known.
    tail = re.match(r"[!-~]*", tokens[-1].tail)  # a wide comma is none of it
    return clause.sentence[tokens[0].raw_start : tokens[-1].end] + (tail.group() if tail else ""), False


def _foreign(clause: Clause, frame: Frame, taken: set[int]) -> list[tuple[int, int]]:
    """Return the Latin words in a Japanese or Chinese sentence that may be names though the lexicon knows them."""
    if not {kind for _, kind, _ in frame.free} & _LATIN or not any(
        token.norm[:1] >= "\u3040" for token in clause.tokens
    ):
        return []
    meant = set().union(*frame.needs) | frame.wants if frame.needs else frame.wants
    return [
        (at, at)
        for at, segment in enumerate(clause.segments)
        if at not in taken and segment.is_known() and not segment.concepts & (meant | _OWN_WORDS)
        if re.match(r"[A-Za-z][\w.-]*\Z", clause.text(at, at), re.ASCII)
    ]


def candidates(clause: Clause, taken: set[int]) -> list[tuple[int, int]]:
    """Return the spans of segments that can be a free text."""
    found = [run for run in capitals(clause) if not taken & set(range(run[0], run[1] + 1))]
    for at, segment in enumerate(clause.segments):
        if at in taken:
            continue
        if "quoted" in segment.values:
            found.append((at, at))
        elif _is_mark_word(clause, at) or (segment.concepts - {FILLER} and clause.text(at, at) >= "\u3040"):
            continue  # a wide word that means something is no name without quotes
        elif not segment.is_known() or segment.slips or _is_marked(clause, at):
            found += [(at, end) for end in _ends(clause, at, taken)]
    return list(dict.fromkeys(found))[:CANDIDATES]


def capitals(clause: Clause) -> list[tuple[int, int]]:
    """Return the runs of two or more words with capitals, which are names: Haus am See, Los Pérez."""
    runs: list[tuple[int, int]] = []
    first = 0
    while first < len(clause.segments):
        last = first
        while _is_capital(clause, first) and not clause.tail(last):
            following = last + 1
            while following < len(clause.segments) and clause.norm(clause.segments[following]) in _LINKS:
                if clause.tail(following):
                    break
                following += 1
            if following >= len(clause.segments) or not _is_capital(clause, following):
                break
            last = following
        if last > first:
            runs.append((first, last))
        first = last + 1
    return runs


def _is_capital(clause: Clause, at: int) -> bool:
    segment = clause.segments[at]
    is_begun = segment.start == 0 or clause.tokens[segment.start - 1].tail[-1:] in (".", "!", "?")
    text = clause.text(at, at)
    return text[:1].isupper() and text.upper() != text and not is_begun and not segment.concepts & _NOT_NAMES


def _is_mark_word(clause: Clause, at: int) -> bool:
    """Tell whether a word in small letters only leads to a value, or means nothing: no value begins or ends with it."""
    segment = clause.segments[at]
    is_small = not any(char.isupper() for char in clause.text(at, at))
    return (
        is_small
        and not segment.slips
        and bool(segment.concepts & {*_MARK_WORDS, FILLER, ORDINARY})
        and "package" not in segment.concepts
    )


def _is_named_behind(clause: Clause, at: int) -> bool:
    """Tell whether a word that follows says that this is a name: in Japanese such a mark stands behind."""
    return at + 1 < len(clause.segments) and {"called", "as_"} <= clause.segments[at + 1].concepts


def _is_marked(clause: Clause, at: int) -> bool:
    mark = at - 1
    return _is_named_behind(clause, at) or (
        mark >= 0 and (bool(clause.segments[mark].concepts & _MARKING) or clause.tail(mark).startswith((":", "：")))
    )


def _ends(clause: Clause, first: int, taken: set[int]) -> list[int]:
    """Return where a text that begins at a segment may end: after each word that no list knows, and at a bound."""
    ends: list[int] = []
    for at in range(first, min(first + WIDTH, len(clause.segments))):
        segment = clause.segments[at]
        is_bound = at > first and segment.concepts & _BOUNDS and not _is_inside(clause, at)
        if at in taken or "quoted" in segment.values or is_bound:
            break
        is_last = at + 1 >= len(clause.segments) or bool(clause.segments[at + 1].concepts & _BOUNDS)
        is_end = not segment.is_known() or is_last or bool(clause.tail(at)) or at == first
        if is_end and not (at > first and _is_mark_word(clause, at)):
            ends.append(at)
        if at + 1 < len(clause.segments) and _only_fillers(clause, at + 1):
            ends.append(at)
        if clause.tail(at):
            break
    return ends


def _is_inside(clause: Clause, at: int) -> bool:
    if "and" not in clause.segments[at].concepts or at + 1 >= len(clause.segments):
        return False
    return all(clause.text(one, one)[:1].isupper() for one in (at - 1, at + 1))


def _only_fillers(clause: Clause, start: int) -> bool:
    return all(FILLER in one.concepts for one in clause.segments[start:])


def _known_words(clause: Clause, first: int, last: int) -> float:
    """Return what it costs that words of a span are in the lists; a run of words with capitals is one name."""
    runs = capitals(clause)
    if (first, last) in runs:
        return -0.35
    cut = sum(0.5 for start, end in runs if start <= last and first <= end)
    inside = clause.segments[first : last + 1]
    return cut + sum(0.12 if FILLER in one.concepts and not one.values else 0.3 for one in inside if one.is_known())


def _worth(clause: Clause, first: int, last: int, kind: str) -> float:
    if first == last and "quoted" in clause.segments[first].values:
        worth = 0.5
        if kind == "key" and _is_named(clause, first, last):
            return -2.0
    else:
        raw = _raw(clause, first, last, kind)[0]
        if kind == "key" and not raw.isascii():
            return -2.0  # no password: others than ASCII are typed differently on every device
        worth = 0.3 if re.search(r"\d|[^\w\s.,?!-]|[A-Z]", raw) else 0.0
        if last > first and not raw.isascii() and re.search("[a-z0-9]", raw.casefold()):
            worth -= 0.8  # two scripts in one name: where it begins nobody can tell
        inside = clause.segments[first : last + 1]
        if not raw.isascii():
            worth -= sum(1.6 for one in inside if one.concepts - {FILLER})  # 用意 in 用意して is no name
        worth -= _known_words(clause, first, last)
        if kind == "key" and all(one.is_known() and not one.slips for one in inside) and not re.search(r"\d", raw):
            worth -= 0.8  # of words like all others nobody makes a password without quotes
        if kind in ("key", "plainname", "hostlabel", "search") and last > first:
            worth -= 0.5
        worth += 0.25 if _is_marked(clause, first) or _is_named_behind(clause, last) else 0.0
    anchors = _ANCHORS.get(kind, set())
    before, after = clause.before(first, *LEADING[:4]), clause.after(last)
    near = [clause.segments[first - 1].concepts if first else set()]
    near.append(clause.segments[before].concepts if before >= 0 else set())
    if after < len(clause.segments) and "as_" in clause.segments[after].concepts:
        following = clause.after(after)
        near.append(clause.segments[following].concepts if following < len(clause.segments) else set())
        near.append({"called"} if _is_named_behind(clause, last) else set())
    others = set().union(*[words for name, words in _ANCHORS.items() if name != kind]) - anchors
    if any(one & anchors for one in near):
        worth += 0.4
    elif any(one & others & {"password", "ssid", "name"} for one in near[:2]) and kind in _ANCHORS:
        worth -= 0.4
    return worth


OF = (
    ("guest", "G"), ("ssid", "S"), ("hostname", "H"), ("password", "K"), ("peer", "P"), ("vpn", "V"), ("wifi", "W"),
    ("router", "R"), ("network", "N"), ("thing", "T"),
)  # fmt: skip
NAMED = "~"  # the value of a segment that counts as quoted, and has no marks
_WIDE = "\u3000"
_MOST = 8  # tokens of a name in Latin letters; of wide characters, which are a token each, twice as many
_LONG, _LONG_SLIPS = 3, 6  # words of a name that is said back as a question first: more than the name may be in it
# What is no part of a name without quotes: values with a form of their own, and words of other wishes.
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


def _either(expressions: list[str]) -> str:
    """Return an expression for any of some; for none of them one that never fits."""
    return "|".join(expressions) or "$."


class Naming:
    """The forms of one language in which something gets a name."""

    def __init__(self, data: NamingData) -> None:
        edge, bounds, articles = _either(data["edges"]), _either(data["bounds"]), _either(data["articles"])
        edges = f"(?: ?(?:{edge})(?![a-z]))*"
        self._none, self._edges, self._small = (
            re.compile(f"(?:{one})\\Z") for one in (_either(data["none"]), edge, _either(data["small"]))
        )
        self._lead = data.get("lead", [])
        parts = {
            "{o}": _THING,
            "{a}": f"(?:(?:{articles}) ?)*{_NAMED_HERE}",
            "{d}": r"(?:(?:[^|&Q ]+ ){0,3}?[DT])",
            "{x}": "[^|&Q]{1,60}?",
            "{e}": f"(?:(?:{edge}) ?)*",
            "{n}": f"(?P<name>[^|&QK:]+?)(?={edges} ?(?:[|&]|\\Z|{bounds}))",
        }
        self._forms = []
        for form in data["forms"]:
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
            before = [one for one in segments if one.end == first]
            if before and "rename" not in before[0].concepts:
                before[0].add("called")
            segments = _merged(segments, first, last, sentence, tokens)
        return segments

    def _spans(
        self, sentence: str, tokens: list[Token], segments: list[Segment], text: str, places: list[Place]
    ) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        taken: list[tuple[int, int]] = []
        if not self._compiled:
            self._compiled = [re.compile(form) for form in self._forms]
        for form in self._compiled:
            if form.pattern.startswith("[|&]") and not spans:
                continue  # this only goes on
            for match in form.finditer(text):
                start, end = match.span("name")
                if any(start < last and first < end for first, last in taken):
                    continue
                taken.append((start, end))
                span = self._span(text, places, start, end)
                if span and sentence[tokens[span[0]].start].islower():
                    span = self._bare(tokens, span)
                if span and not _is_other(segments, *span) and not _is_held(match.span(), places, segments):
                    spans.append(span)
        return spans

    def _span(self, text: str, places: list[Place], start: int, end: int) -> tuple[int, int] | None:
        name = text[start:end].strip()
        if not name or self._none.match(name) or self._edges.match(name):
            return None
        inside = [place for place in places if place[0] < end and place[1] > start]
        if not inside or inside[0][0] < start - 1 or inside[-1][1] > end + 1:
            return None  # it begins or ends inside a word
        first, last = inside[0][2], inside[-1][3]
        return (first, last) if last - first <= _MOST * (1 if name < _WIDE else 2) else None

    def _bare(self, tokens: list[Token], span: tuple[int, int]) -> tuple[int, int] | None:
        first, last = span
        if tokens[first].norm in self._lead:
            return (first + 1, last) if last - first > 2 else None
        return None if self._small.match(tokens[first].norm) else span

    def _calm(self, tokens: list[Token], segments: list[Segment]) -> None:
        """Make words such as `from now on` fillers: in a sentence that gives a name they are no condition."""
        for one in segments:
            words = [token.norm for token in tokens[one.start : one.end]]
            if FILLER in one.concepts and self._edges.match(("" if words[0] >= _WIDE else " ").join(words)):
                one.drop(_HOLDING)


def _is_other(segments: list[Segment], first: int, last: int) -> bool:
    """Tell whether words between two tokens are none of a name."""
    inside = [one for one in segments if one.start < last and one.end > first]
    return any(set(one.values) & _EXACT or one.concepts & _OTHER for one in inside)


def _is_held(span: tuple[int, int], places: list[Place], segments: list[Segment]) -> bool:
    said = {place[2] for place in places if place[0] < span[1] and place[1] > span[0]}
    return any(one.concepts & {"negation", "hide", "password"} for one in segments if one.start in said)


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
