"""What the files in intents/ come to: the tables that tables.py gives, made of what people write.

Used where these files are: in a clone, in a package with sources, and when a package with bytecode is built, which has
the tables alone and not this module. Each function gives what marshal writes: dicts, lists, texts and numbers. The same
files give the same tables, in the same order.
"""

from __future__ import annotations

import marshal
import re

from oasis import VERSION
from oasis.parts.offline.clause import FILLER, ORDINARY, normal, spaced
from oasis.parts.offline.tables import BASE, COMMON, FIRST, block_of, load
from oasis.parts.offline.understanding import MIDDLE, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import (
        Callable,
        Caution,
        EvidenceData,
        EvidenceTables,
        FramesData,
        FramesTables,
        GrammarTables,
        Language,
        LexiconTables,
        MomentsData,
        MomentsTables,
        NamingData,
        NamingTables,
        PatternTables,
        Sources,
    )

    Read = Callable[[str], Any]

SECTIONS = {COMMON: ("intents", "frames", "moments", "evidence", "places")}
OF_A_LANGUAGE = ("grammar", "words", "evidence")
_WIDE = ("ja", "zh")  # languages written without blanks
_WORDS = {"words", "values", "fillers", "ordinary", "real_words", "sounds"}  # what the lexicon alone reads
_LISTS = ("lead", "request", "trail", "questions", "answers", "only")  # of patterns
_ALSO = ("patterns", "about")  # the same, of each intent


def section(name: str, part: str, read: Read) -> Any:
    """Return a section of the tables of a language, or of what all share; `read` gives the files by their names."""
    if name == COMMON:
        if part == "frames":
            return frames(read("frames"))
        if part == "moments":
            data = read("moments")
            return {one: moments(data[one], data["parts"], one in _WIDE) for one in read("intents")["languages"]}
        return evidence(read("evidence")) if part == "evidence" else read(part)
    if part == "evidence":
        return evidence(read("evidence_" + name))
    language: Language = read(name)
    if part == "grammar":
        return grammar(language)
    marks: Caution = read("cautions")[name]
    services = {service: [service] for service in read("intents")["services"]}
    for spoken, service in language.get("aliases", {}).get("services", {}).items():
        services.setdefault(service, []).append(spoken)
    return {
        "lexicon": lexicon(language, marks.get("words", {}), services),
        "naming": naming(read("naming")[name]),
        "marks": {key: value for key, value in marks.items() if key != "words"},
    }


def packed(name: str, read: Read = load) -> bytes:
    """Return the content of the file of tables of a language, or of what all share."""
    parts = SECTIONS.get(name, OF_A_LANGUAGE)
    blocks = {part: _small(marshal.dumps(section(name, part, read), 2)) for part in parts}
    words = " ".join([f"oasis {VERSION} {name}", *(f"{part}:{len(block)}" for part, block in blocks.items())])
    return b"".join([words.encode() + b"\n", *blocks.values()])


def _small(data: bytes) -> bytes:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)  # the most of each
    return packer.compress(data) + packer.flush()


def figures(number: int) -> str:
    """Return a number in two figures to the base BASE, the first of which is the character FIRST."""
    if not 0 <= number < BASE * BASE:
        raise ValueError(f"{number} has more than two figures")
    return chr(FIRST + number // BASE) + chr(FIRST + number % BASE)


def texts(named: dict[str, str]) -> dict[str, str]:
    """Return texts by name as tables.Texts reads them."""
    found: dict[str, list[str]] = {}
    for name in sorted(named):
        found.setdefault(block_of(name), []).append(f"{name}\n{named[name]}")
    return {begin: "\0" + "\0".join(some) + "\0" for begin, some in found.items()}


# Patterns


def grammar(language: Language) -> GrammarTables:
    """Return a language with its patterns apart, each with what it needs."""
    said: Any = {key: value for key, value in language.items() if key not in (*_WORDS, *_LISTS)}
    intents = language["intents"]
    said["intents"] = {
        intent: {key: value for key, value in one.items() if key not in _ALSO} for intent, one in intents.items()
    }
    classes = _Classes(language)
    whole: Any = language
    lists = {name: [("", text) for text in whole.get(name, ())] for name in _LISTS}
    for name in _ALSO:
        own: Any = intents
        lists[name] = [(intent, text) for intent, one in own.items() for text in one.get(name, ())]
    return {"language": said, "patterns": {name: _listed(some, classes) for name, some in lists.items()}}


def _listed(patterns: list[tuple[str, str]], classes: _Classes) -> PatternTables:
    """Return patterns with the intents that they are of, and what each needs, the rarest first."""
    needs = [classes.needs(text) for _, text in patterns]
    counts: dict[str, int] = {}
    for sets in needs:
        for word in set().union(*sets):
            counts[word] = counts.get(word, 0) + 1
    number_of: dict[str, int] = {}
    rows = []
    for (intent, text), sets in zip(patterns, needs, strict=True):
        sets.sort(key=lambda one: sum(counts[word] for word in one))
        joined = [" ".join(sorted(one)) for one in sets]
        rows.append((intent, text, [number_of.setdefault(one, len(number_of)) for one in joined]))
    return {"rows": rows, "needs": list(number_of)}


_PIECE = re.compile(r"<\w+>|[()\[\]|]|\{\w+(?::\w+)?\}|[^()\[\]|<>{}\s]+")


class _Classes:
    """The named patterns of a language, and what each needs."""

    def __init__(self, language: Language) -> None:
        self._texts = language.get("classes", {})
        self._fold = language.get("fold", {})
        self._known: dict[str, list[set[str]]] = {}

    def needs(self, text: str) -> list[set[str]]:
        """Return sets of keywords: a sentence that fits a pattern has one of each. Raises: KeyError for a class."""
        return self._row(_PIECE.findall(normal(spaced(text), self._fold))[::-1])

    def _of(self, name: str) -> list[set[str]]:
        if name not in self._known:
            self._known[name] = self.needs(self._texts[name])
        return self._known[name]

    def _row(self, left: list[str]) -> list[set[str]]:
        """Return what the pieces up to the end of their bracket need; of alternatives each has a keyword in one set."""
        ways: list[list[set[str]]] = [[]]
        while left:
            piece = left.pop()
            if piece in (")", "]"):
                break
            if piece == "|":
                ways.append([])
            elif piece == "(":
                ways[-1] += self._row(left)
            elif piece == "[":
                self._row(left)  # nothing of it need be there
            elif piece[0] == "<":
                ways[-1] += self._of(piece[1:-1])
            elif piece[0] != "{":
                ways[-1].append({piece})
        if len(ways) == 1 or not all(ways):
            return ways[0] if len(ways) == 1 else []
        return [set().union(*[min(way, key=lambda one: (len(one), -len(min(one)))) for way in ways])]


# Words


def lexicon(language: Language, more: dict[str, list[str]], services: dict[str, list[str]]) -> LexiconTables:
    """Return the words and values of a language; `more` are words that hold a change back (caution.py)."""
    fold = language.get("fold", {})
    own = language.get("words", {})
    words = {name: [*own.get(name, ()), *more.get(name, ())] for name in {**own, **more}}
    words |= {FILLER: language.get("fillers", []), ORDINARY: language.get("ordinary", [])}
    # Several tokens, which only the lexicon can hold together.
    places = {place: [place] for place in language.get("places", {}) if spaced(place) != place}
    kinds = [("", words), *language.get("values", {}).items(), ("place", places), ("service", services)]
    meanings: dict[str, str] = {}
    phrases: dict[str, str] = {}
    opened: dict[str, list[tuple[list[str], str]]] = {}
    begins, light, heavy = dict[str, None](), dict[str, None](), dict[str, None]()
    for kind, values in kinds:
        for value, some in values.items():
            meaning = f"{kind}={value}" if kind else value
            known = heavy if meaning != FILLER else light
            for phrase in normal(spaced("\n".join(some)), fold).split("\n") if some else ():
                parts = phrase.split()
                first = parts[0]
                if "*" in phrase:
                    opened.setdefault(first[0] + "*" if first.endswith("*") else first, []).append((parts, meaning))
                else:
                    number = meanings.setdefault(meaning, figures(len(meanings)))
                    phrases[first] = (phrases.get(first) or "\n") + " ".join([*parts[1:], f"\t{number}\n"])
                known.update(dict.fromkeys(parts))
                if known is light:
                    begins[first] = None
    for word in heavy | light:
        if not word.endswith("*"):
            phrases.setdefault(word, "")
    stems: dict[str, list[str]] = {}
    for word in (word for some in opened.values() for parts, _ in some for word in parts if word.endswith("*")):
        stems.setdefault(word[0], []).append(word[:-1])
    return {
        "has_compounds": language.get("compounds", False),
        "meanings": list(meanings),
        "phrases": texts(phrases),
        "open": opened,
        "stems": stems,
        "real": [normal(word, fold) for word in language.get("real_words", ())],
        "light": [word for word in begins if word not in heavy],
        "sounds": language.get("sounds", []),
    }


def naming(data: NamingData) -> NamingTables:
    """Return the expressions for names, each with texts of which a sentence that fits it has one."""

    def needing(sources: list[str]) -> Sources:
        return [(one, needs(one)) for one in sources]

    return {
        "edges": needing(data["edges"]),
        "bounds": needing(data["bounds"]),
        "none": needing(data["none"]),
        "forms": needing(data["forms"]),
        "articles": needing(data["articles"]),
        "small": needing(data["small"]),
        "lead": data.get("lead", []),
    }


# What holds a change back, frames, evidence

_PART = re.compile(r"\{([a-z]{2}_[a-z]+)\}")


def moments(data: MomentsData, parts: dict[str, str], is_wide: bool) -> MomentsTables:
    """Return the expressions of a language that say when, in the form in which they stand in a sentence."""
    own: Any = data
    kinds = {
        kind: [(one, needs(one)) for one in (_PART.sub(lambda match: parts[match[1]], text) for text in some)]
        for kind, some in own.items()
        if isinstance(some, list)
    }
    form = "(?:%s)" if is_wide else r"(?<![\w.-])(?:%s)(?![\w-]|\.\w)"
    return {"ask": data["ask"], "say": data["say"], "both": data["both"], "form": form, "kinds": kinds}


def frames(data: FramesData) -> FramesTables:
    """Return the frames as rows (intent, mood, text), and by concept the rows that need it, "" for those without."""
    rows = [
        (intent, mood, text)
        for mood, intents in data["frames"].items()
        for intent, some in intents.items()
        for text in some
    ]
    needed: dict[str, list[int]] = {}
    for at, (_, _, text) in enumerate(rows):
        first = next((word for word in text.split() if word[0] not in "?!{"), "")
        for concept in first.split("|"):
            needed.setdefault(concept, []).append(at)
    return {
        "always": data["always"],
        "asking": data["asking"],
        "brakes": data["brakes"],
        "light": data["light"],
        "allowed": data["allowed"],
        "rows": rows,
        "needed": needed,
    }


def evidence(data: EvidenceData) -> EvidenceTables:
    """Return weights as tables.Texts, three characters for each; see understanding.Evidence."""
    return {
        "classes": data.get("classes", []),
        "weights": texts({name: _weights(text) for name, text in data.get("weights", {}).items()}),
    }


def _weights(text: str) -> str:
    """Return `gap weight gap weight …` in figures to the base BASE, one for a gap and two for a weight in STEPs."""
    numbers = list(map(int, text.split()))
    found = []
    for gap, weight in zip(numbers[::2], numbers[1::2], strict=True):
        while gap >= BASE:  # one figure at a time, with no weight
            found.append(chr(FIRST + BASE - 1) + figures(MIDDLE))
            gap -= BASE - 1
        found.append(chr(FIRST + gap) + figures(round(weight / STEP) + MIDDLE))
    return "".join(found)


# Texts of which each text that an expression fits has one


_SPECIAL = re.compile(r"[\\\[(){}|?*+.^$]")
# What is no plain text, and what may follow a piece: an expression of one kind of group, a class, an end, a count.
_PLAIN = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|<?[:=!]))?|[|)]|[?*+]\??|\{[^}]*\}|[^\\\[\](){}|?*+.^$]+|."
)
_ASIDE = ("(?=", "(?!", "(?<")  # what these groups hold is not among the characters that fit
_MAY_LACK = ("?", "*", "{0")
_NO_TEXT = "\\[{.^$?*+"


def needs(source: str) -> list[str]:
    """Return texts of which each text that an expression fits has one, [] for any; a {name} may stand for anything."""
    return _read(_PLAIN.findall(source), 0)[0] if _SPECIAL.search(source) else [source]


def _read(pieces: list[str], at: int) -> tuple[list[str], int]:
    """Return what the alternatives from a place on need, and the place behind their bracket."""
    found: list[str] = []
    best: list[str] = []  # of this alternative, as its length
    length, is_any = 0, False
    last = len(pieces)
    while at < last:
        piece = pieces[at]
        at += 1
        first = piece[0]
        if first == ")":
            break
        if first == "|":
            is_any = is_any or not best
            found += best
            best, length = [], 0
            continue
        need: list[str] = []
        if first == "(":
            need, at = _read(pieces, at)
            if piece.startswith(_ASIDE):
                need = []
        elif first == "\\" and not piece[1].isalnum():
            need = [piece[1]]
        elif first not in _NO_TEXT:
            need = [piece]
        if at < last and pieces[at].startswith(_MAY_LACK):
            need = [piece[:-1]] if need and first != "(" and len(piece) > 1 else []
        if need and " " not in need and (shortest := len(min(need, key=len))) > length:
            best, length = need, shortest
    return ([] if is_any or not best else found + best), at
