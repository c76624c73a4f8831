"""The free texts of a frame: names and passwords, which have no form of their own.

    free_values(clause, frame, taken)    every way to choose them: slots, segments, how good the choice looks

A free text is what stands in quotes, behind a marking word (to, called, is …), or what is in no list of words; up to a
bound. The word nearest to it tells which slot it is for.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.lexicon import FILLER, ORDINARY
from oasis.parts.offline.language.naming import NAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.frames import Frame

    Raw = dict[str, tuple[str, bool]]

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
_LINKS = {
    "de",
    "del",
    "la",
    "las",
    "los",
    "el",
    "y",
    "am",
    "an",
    "im",
    "in",
    "zum",
    "zur",
    "der",
    "die",
    "das",
    "dem",
    "von",
    "vom",
    "und",
    "of",
    "the",
    "and",
    "at",
    "by",
}  # small words inside of names
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
    """Tell whether a span begins or ends inside a word with a hyphen."""
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
    """Tell whether a word has a capital that begins no sentence, and is no word for what the sentence is about."""
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
    """Tell whether a joining word stands between two words with capitals: Tom and Jerry."""
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
    """Return how much a span looks like a value of a type."""
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
