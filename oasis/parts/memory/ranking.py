"""How near texts are to a question: by their words, or by vectors of the embedding service. Touches no file.

Words ranks chunks by BM25, and `fused` joins several orders into one. Source: Robertson and Zaragoza, The Probabilistic
Relevance Framework: BM25 and Beyond (2009); Cormack and others, Reciprocal Rank Fusion (2009). The length of a chunk is
that of its text, because counting its words would mean reading them.

A packed vector is a row: a scale (float32, little endian) and a signed byte a number. It has the length 1, its largest
number is rounded to 127 steps; a zero vector has the scale 0.

Near compares short sentences (facts, descriptions of skills). Its vectors stay in memory, packed; missing
ones are made in one request when they are needed. After a failure the service is left alone for a while and words are
compared instead, so no turn waits for it twice. `is_home`: a model at home answers, so the text goes to no service
elsewhere.

Without vectors, likeness is the mean of common words and common letters, leaving out words that stand in every
sentence: common words alone call "guest network" and "guest networks" different, common letters alone call two people's
phones the same. Sentences that each have a name or number of their own are always different.

The Embedder makes vectors by the service of the alias `embedding`; without one, everything is compared by words. What
the router holds in secret is hidden on the way out.
"""

from __future__ import annotations

import math
import operator
import re
import struct
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Sequence

from oasis.config.settings import OFFLINE
from oasis.errors import OasisError, ProviderError
from oasis.system.late import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from oasis.api.parts import Services
    from oasis.config.shapes import Service
    from oasis.parts.memory.shapes import Fact, IsCancelled, Progress

    Key = TypeVar("Key")


SCALE = struct.Struct("<f")
_STEPS = 127
# Their usual values: how soon more of a word says nothing more, and how much a long text counts less.
K1, B = 1.2, 0.75
# How much the first places of an order count before all others; that of the paper.
FUSED = 60

_WORD = late(r"[^\W_]+")
# Hiragana, katakana, CJK and Hangul: there words are not spaced, or change their ends.
_UNSPACED = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Words of most questions say nothing about what is asked.
COMMON = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "das", "de", "der", "des", "di", "die", "do", "does",
    "ein", "eine", "el", "en", "es", "est", "et", "for", "from", "has", "have", "how", "i", "ich", "il", "in", "is",
    "ist", "it", "la", "le", "les", "me", "mein", "my", "of", "on", "or", "que", "should", "that", "the", "this", "to",
    "und", "use", "was", "what", "when", "where", "which", "who", "why", "wie", "with", "you", "your",
])  # fmt: skip


def terms(text: str) -> list[str]:
    """Return the words of a text that are compared: small letters, no plural's s; pairs of unspaced scripts."""
    lower = text.lower()
    found = [_stem(word) for word in _WORD.findall(_UNSPACED.sub(" ", lower))]
    for piece in _UNSPACED.findall(lower):
        found += _pairs(piece)
    return found


def _stem(word: str) -> str:
    return word[:-1] if len(word) >= 4 and word[-1] == "s" and word[-2] not in "su" else word


class Words:
    """A question; chunks are taken one by one, only what is needed of those that have its words is kept."""

    def __init__(self, query: str) -> None:
        asked = list(dict.fromkeys(terms(query)))
        self._wanted = frozenset([term for term in asked if term not in COMMON] or asked)
        self._pairs = [term for term in self._wanted if _UNSPACED.match(term)]
        words = self._wanted.difference(self._pairs)
        self._forms = {form: term for term in words for form in (term, term + "s") if _stem(form) == term}
        longest = sorted(self._forms, key=len, reverse=True)
        self._is_asked = re.compile(r"(?<![^\W_])(?:%s)(?![^\W_])" % ("|".join(map(re.escape, longest)) or r"(?!)"))
        self._count = 0
        self._chars = 0
        self._with: dict[str, int] = {}
        self._found: list[tuple[object, int, dict[str, int]]] = []

    def may_have(self, text: str) -> bool:
        """Return whether a text can hold a word of the question: by its letters, without looking for words."""
        lower = text.lower()
        return any(term in lower for term in self._wanted)

    def skip(self, chars: int) -> None:
        """Count a chunk that has none of the words."""
        self._count += 1
        self._chars += chars

    def take(self, key: object, text: str, chars: int = 0) -> None:
        """Look at a chunk; `key` is what it is called in the order, `chars` its length where `text` holds more."""
        length = chars or len(text)
        self.skip(length)
        counts = self.counts(text) if self.may_have(text) else {}
        if counts:
            self._found.append((key, length, counts))
            for term in counts:
                self._with[term] = self._with.get(term, 0) + 1

    def counts(self, text: str) -> dict[str, int]:
        """Return how often each word of the question is among the terms of a text: without making all of those."""
        lower = text.lower()
        found = {term: count for term in self._pairs if (count := lower.count(term))}
        for form in self._is_asked.findall(lower if lower.isascii() else _UNSPACED.sub(" ", lower)):
            found[self._forms[form]] = found.get(self._forms[form], 0) + 1
        return found

    def place(self, text: str) -> int:
        """Return where the first word of the question stands in a text, 0 where none does."""
        return min([at for at in map(text.lower().find, [*self._forms, *self._pairs]) if at >= 0], default=0)

    def order(self, most: int, least: float = 0.0) -> list[tuple[float, Any]]:
        """Return (score, key) of the best chunks, the best first; what is equal in the order it was taken in.

        `least`: how much of what is asked a chunk must have, from 0 to 1, by the weight of its words.
        """
        if not self._found:
            return []
        mean = self._chars / self._count or 1.0
        counts = {**self._with, "": 0}  # "" is a word that no chunk has
        weight = {term: math.log(1 + (self._count - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
        needed = least * sum([weight.get(term, weight[""]) for term in self._wanted])
        rows = []
        for key, length, there in self._found:
            if sum([weight[term] for term in there]) < needed:
                continue
            norm = K1 * (1 - B + B * length / mean)
            score = sum([weight[term] * count * (K1 + 1) / (count + norm) for term, count in there.items()])
            rows.append((score, key))
        return best(rows, most)


def fused(orders: Sequence[Sequence[Key]], most: int) -> list[tuple[float, Key]]:
    """Return (score, key) of what stands high in several orders of keys, the best first."""
    scores: dict[Key, float] = {}
    for order in orders:
        for place, key in enumerate(order):
            scores[key] = scores.get(key, 0.0) + 1.0 / (FUSED + place + 1)
    return best([(score, key) for key, score in scores.items()], most)


def best(rows: list[tuple[float, Key]], most: int) -> list[tuple[float, Key]]:
    """Return the rows with the highest scores, the best first; what is equal stays in its order."""
    return sorted(rows, key=lambda row: -row[0])[:most]


# The seed's: above it two facts are one.
COSINE = 0.85
# Of a question to all-MiniLM-L6-v2, most facts lie below 0.1, and those that matter above this.
RELATED = 0.25
NEAREST, SUREST = 10, 15
# A small model loses its way among notes that say nothing about its question.
SMALL = 5
REST_S = 300.0
# All facts, the skills, and some messages.
KEPT = 400


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector as a row."""
    length = sum([number * number for number in vector]) ** 0.5
    most = max([abs(number) for number in vector], default=0.0)
    if not length or not most or length == float("inf"):
        return SCALE.pack(0.0) + bytes(len(vector))  # it has no direction
    numbers = array("b", [round(number / most * _STEPS) for number in vector])
    return SCALE.pack(most / length / _STEPS) + numbers.tobytes()


def nearness(row: bytes) -> Callable[[bytes], float]:
    """Return what gives the cosine of a row with another, 0 for one of another length, without direction or damaged."""
    scale, asked = SCALE.unpack_from(row)[0], array("b", row[SCALE.size :])

    def cosine(other: bytes) -> float:
        own = SCALE.unpack_from(other)[0] if len(other) == len(row) else 0.0
        if not 0 < own <= 1:
            return 0.0
        return float(scale * own * sum(map(operator.mul, asked, array("b", other[SCALE.size :]))))

    return cosine


class Near:
    """`log(text)` hears of a service that fails."""

    def __init__(
        self, embedder: Callable[[], Embedder], empty: Callable[[], Iterable[str]], log: Callable[..., object],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._embedder = embedder
        self._empty = empty
        self._log = log
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[str, bytes] = {}  # text: its vector
        self._name = ""  # of the model that made them
        self._rests_until_s = 0.0

    def alike(self, text: str, facts: list[Fact], is_home: bool = True) -> tuple[list[float], float]:
        """Return how alike each fact is to a text, and from where on two are the same."""
        empty = self._empty()
        scores = self.closeness(text, [fact["fact"] for fact in facts], is_home)
        if scores is None:
            return [likeness(text, fact["fact"], empty) for fact in facts], SAME
        pairs = zip(facts, scores, strict=True)
        return [0.0 if are_two(text, fact["fact"], empty) else score for fact, score in pairs], COSINE

    def nearest(self, text: str, facts: list[Fact], is_small: bool, may_ask: bool, is_home: bool = True) -> list[Fact]:
        """Return the facts that matter for a text, of `facts`, the surest first; `may_ask`: a service for vectors.

        A large model gets the nearest ones, and without vectors those that the text mentions and then the
        surest; a small one only those related to the text.
        """
        scores = self.closeness(text, [fact["fact"] for fact in facts], is_home) if may_ask else None
        least, most = RELATED, NEAREST
        if scores is None:
            empty, least, most = self._empty(), 0.0, SUREST
            said = words(text, empty)
            scores = [touches(said, words(fact["fact"], empty)) for fact in facts]
        order = sorted(range(len(facts)), key=lambda at: -scores[at])
        if is_small:
            order = [at for at in order if scores[at] > least][:SMALL]
        return [facts[at] for at in order[:most]]

    def closeness(self, text: str, texts: list[str], is_home: bool = True) -> list[float] | None:
        """Return how near each of some texts is to one, None where there is no service for vectors or it fails."""
        texts = [text, *texts]
        with self._lock:
            if self._now_s() < self._rests_until_s:
                return None
            try:
                embedder = self._embedder()
                name = embedder.name
                if not name or (is_home and not embedder.is_local):
                    return None
                if name != self._name:
                    self._known, self._name = {}, name
                missing = [text for text in dict.fromkeys(texts) if text not in self._known]
                made = embedder.rows(missing) if missing else []
            except OasisError as error:
                self._rests_until_s = self._now_s() + REST_S
                self._log("facts are compared by their words for a while: " + error.message)
                return None
            if len(made) != len(missing):
                return None
            self._known.update(zip(missing, made, strict=True))
            found = [self._known[text] for text in texts]
            for text in dict.fromkeys(texts):
                self._known[text] = self._known.pop(text)  # what was used last stays longest
            for text in list(self._known)[: -max(KEPT, len(texts))]:
                del self._known[text]
        return list(map(nearness(found[0]), found[1:]))

    def drop(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._known = {}


# Measured on the pairs of tests/parts/memory/fact_pairs.jsonl: the lowest that calls no two different facts the same.
SAME = 0.67
# Letters from which on a word counts as meant when another one begins with it: "print" and "printers".
_STEM = 4


def words(text: str, empty: Iterable[str] = ()) -> list[str]:
    """Return the words of a text without case, but for empty ones; scripts without blanks come in pairs of letters."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if is_dense(word):
            found += _pairs(word)
        elif word not in empty:
            found.append(word)
    return found


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(max(len(text) - 1, 1))]


def likeness(one: str, other: str, empty: Iterable[str] = ()) -> float:
    """Return from 0 to 1 how alike two sentences are."""
    first, second = words(one, empty), words(other, empty)
    if not first or not second:
        return 1.0 if one.strip().casefold() == other.strip().casefold() else 0.0
    if are_two(one, other, empty):
        return 0.0
    joined = [" %s " % " ".join(found) for found in (first, second)]
    grams = [{text[at : at + 3] for at in range(len(text) - 2)} for text in joined]
    pairs = (set(first), set(second)), grams
    return sum(len(of_one & of_other) / (len(of_one) + len(of_other)) for of_one, of_other in pairs)


def are_two(one: str, other: str, empty: Iterable[str] = ()) -> bool:
    """Return whether each of two sentences has a name or a number that the other one lacks."""
    first, second = _names(one, empty), _names(other, empty)
    return bool(first - set(words(other))) and bool(second - set(words(one)))


def touches(said: list[str], fact: list[str]) -> float:
    """Return which share of a fact's words is said, 0 for none; the beginning of a long word counts half."""
    if not fact:
        return 0.0
    known = set(said)
    stems = {word[:_STEM] for word in said if len(word) > _STEM}
    found = set(fact)
    hits = [1.0 if word in known else 0.5 * (len(word) > _STEM and word[:_STEM] in stems) for word in found]
    return sum(hits) / len(found)


def _names(text: str, empty: Iterable[str]) -> set[str]:
    """Return what looks like a name or a number: with a digit, or large and no word that only begins a sentence."""
    found: set[str] = set()
    for part in text.split():
        plain = part.strip(".,;:!?()\"'“”„«»").removesuffix("'s").removesuffix("’s")
        if any(char.isdigit() for char in plain) or plain[:1].isupper():
            found.update(words(plain, empty))
    return found


def is_dense(word: str) -> bool:
    """Return whether a text is of a script that needs few letters and no blanks."""
    return _UNSPACED.search(word) is not None


ALIAS = "embedding"
# Of one request of the pool (llm/pool.py takes 1024), so that a long text can be left off in between.
AT_ONCE = 64
# What the shortest of today's models read of a text is less; nobody should pay for more.
TEXT_CHARS = 4000


class Embedder:
    """Vectors by the service that the owner chose for them; `name` is "" without one."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit

    @property
    def name(self) -> str:
        """Return service/model, which vectors are labelled with; "" where there is none, or it cannot be used now."""
        try:
            service = self.service()
        except OasisError:
            return ""
        return "%s/%s" % (service["identifier"], service["model"]) if service else ""

    @property
    def is_local(self) -> bool:
        """Return whether what is compared stays at home; for who has a name."""
        service = self.service()
        return service is not None and service["is_local"]

    def service(self) -> Service | None:
        """Return the service, None where none is set. Raises: SettingsError when it cannot be used."""
        if ALIAS not in self._kit.settings.aliases():
            return None
        service = self._kit.settings.service(ALIAS)
        return None if service["vendor"] == OFFLINE else service

    def rows(
        self, texts: Sequence[str], is_cancelled: IsCancelled = lambda: False,
        told: Progress = lambda done, total: None,
    ) -> list[bytes]:  # fmt: skip
        """Return a packed vector for each text, made in steps; none where no service is set for it.

        They are packed as they come: as numbers of Python they take thirty times as much. `told(done, total)` hears
        how far it is. Raises: SettingsError when the service cannot be used, ProviderError when it fails.
        """
        found: list[bytes] = []
        service = self.service()
        if service is None:
            return found
        for at in range(0, len(texts), AT_ONCE):
            told(at, len(texts))
            # What the router holds in secret is hidden on the way out.
            step = [str(self._kit.redactor.hide(text[:TEXT_CHARS], "")) or "-" for text in texts[at : at + AT_ONCE]]
            found += map(packed, self._kit.models.embed(self._kit.settings.request(service), step, is_cancelled))
            if len({SCALE.size, *map(len, found)}) != 2:
                raise ProviderError("%s gave vectors of several lengths" % service["name"], "choose another model")
        return found


def asked(embedder: Embedder, query: str, is_home: bool, notes: list[str]) -> bytes | None:
    """Return the packed vector of a question, None where it is looked for by words alone, which is noted."""
    if is_home and not embedder.is_local:
        notes.append("looked for by words alone: the model for vectors is not at home, and who asks is")
        return None
    try:
        made = embedder.rows([query])
    except OasisError as error:
        notes.append("looked for by words alone: %s" % error.message)
        return None
    return made[0] if made else None
