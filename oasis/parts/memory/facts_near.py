"""Which facts are near to a sentence: by vectors where the owner has a service for them, else by their words.

Vectors are in memory alone, a byte a number; they are made when they are needed, all missing ones in one request. A
service that fails is left alone for a while, and words do meanwhile: no turn waits for it twice. `embedder()` gives
what makes vectors (structured.py). `is_home`: who answers is at home, and then what is said goes to no service that is
not. Knows no file.

Without vectors, likeness is the mean of common words and common letters, without the words that stand in every
sentence: common words alone call "guest network" and "guest networks" strangers, common letters alone call two people's
phones the same. Names and numbers that differ on both sides are two things in any case.
"""

from __future__ import annotations

import threading
import time

from oasis.errors import OasisError

pass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Fact = dict[str, Any]


# The seed's: above it two facts are one.
COSINE = 0.85
# Of a question to all-MiniLM-L6-v2, most facts lie below 0.1, and those that matter above this.
RELATED = 0.25
NEAREST, SUREST = 10, 15
# A small model loses its way among notes that say nothing about its question.
SMALL = 5
REST_S = 300.0
_ONE = 127
# All facts, the skills, and some messages.
KEPT = 400


class Near:
    """`log(text)` hears of a service that fails."""

    def __init__(
        self, embedder: Callable[[], Any], empty: Callable[[], Iterable[str]], log: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._embedder = embedder
        self._empty = empty
        self._log = log
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, ...]] = {}  # text: its vector
        self._name = ""  # of the model that made them
        self._rests_until_s = 0.0

    def alike(self, text: str, facts: list[Fact], is_home: bool = True) -> tuple[list[float], float]:
        """Return how alike each fact is to a text, and from where on two are the same."""
        empty = self._empty()
        vectors = self._vectors([text, *[fact["fact"] for fact in facts]], is_home)
        if vectors is None:
            return [likeness(text, fact["fact"], empty) for fact in facts], SAME
        return [
            0.0 if are_two(text, fact["fact"], empty) else _cosine(vectors[0], vector)
            for fact, vector in zip(facts, vectors[1:], strict=True)
        ], COSINE

    def nearest(self, text: str, facts: list[Fact], is_small: bool, may_ask: bool, is_home: bool = True) -> list[Fact]:
        """Return the facts that matter for a text, of `facts`, the surest first; `may_ask`: a service for vectors.

        A large model is told the nearest ones, and without vectors those of which something is said and then the
        surest; a small one only what has to do with the text.
        """
        vectors = self._vectors([text, *[fact["fact"] for fact in facts]], is_home) if may_ask else None
        if vectors is not None:
            scores, least, most = [_cosine(vectors[0], vector) for vector in vectors[1:]], RELATED, NEAREST
        else:
            empty = self._empty()
            said = words(text, empty)
            scores, least, most = [touches(said, words(fact["fact"], empty)) for fact in facts], 0.0, SUREST
        order = sorted(range(len(facts)), key=lambda at: -scores[at])
        if is_small:
            order = [at for at in order if scores[at] > least][:SMALL]
        return [facts[at] for at in order[:most]]

    def closeness(self, text: str, texts: list[str], is_home: bool = True) -> list[float] | None:
        """Return how near each of some texts is to one, None where there are no vectors."""
        vectors = self._vectors([text, *texts], is_home)
        return None if vectors is None else [_cosine(vectors[0], vector) for vector in vectors[1:]]

    def drop(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._known = {}

    def _vectors(self, texts: list[str], is_home: bool) -> list[tuple[int, ...]] | None:
        """Return a vector for each text, None where there is no service for it or it fails."""
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
                made = embedder.embed(missing) if missing else []
            except OasisError as error:
                self._rests_until_s = self._now_s() + REST_S
                self._log("facts are compared by their words for a while: " + error.message)
                return None
            if made is None or len(made) != len(missing):
                return None
            self._known.update({text: _packed(vector) for text, vector in zip(missing, made, strict=True)})
            found = [self._known[text] for text in texts]
            for text in dict.fromkeys(texts):
                self._known[text] = self._known.pop(text)  # what was used last stays longest
            for text in list(self._known)[: -max(KEPT, len(texts))]:
                del self._known[text]
            return found


def _packed(vector: list[float]) -> Any:
    """Return a vector of length one as signed bytes."""
    from array import array

    length = sum(number * number for number in vector) ** 0.5 or 1.0
    return array("b", [round(_ONE * number / length) for number in vector])


def _cosine(one: Any, other: Any) -> float:
    if len(one) != len(other):
        return 0.0
    return float(sum(map(int.__mul__, one, other))) / (_ONE * _ONE)


# Measured on the pairs of tests/parts/memory/fact_pairs.jsonl: the lowest that calls no two different facts the same.
SAME = 0.67
_LETTERS = 3
# Letters from which on a word counts as meant when another one begins with it: "print" and "printers".
_STEM = 4
# Kana, ideographs and Hangul are written without blanks, or with few.
_DENSE = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7a3"))


def words(text: str, empty: Iterable[str] = ()) -> list[str]:
    """Return the words of a text without case, but for empty ones; scripts without blanks come in pairs of letters."""
    found: list[str] = []
    for word in "".join([char if char.isalnum() else " " for char in text.casefold()]).split():
        if is_dense(word):
            found += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
        elif word not in empty:
            found.append(word)
    return found


def likeness(one: str, other: str, empty: Iterable[str] = ()) -> float:
    """Return from 0 to 1 how alike two sentences are."""
    first, second = words(one, empty), words(other, empty)
    if not first or not second:
        return 1.0 if one.strip().casefold() == other.strip().casefold() else 0.0
    if are_two(one, other, empty):
        return 0.0
    return (_share(set(first), set(second)) + _share(_grams(first), _grams(second))) / 2


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
    hits = [
        1.0 if word in known else 0.5
        for word in found
        if word in known or (len(word) > _STEM and word[:_STEM] in stems)
    ]
    return sum(hits) / len(found)


def _names(text: str, empty: Iterable[str]) -> set[str]:
    """Return what looks like a name or a number: with a digit, or large and no word that only begins a sentence."""
    found: set[str] = set()
    for part in text.split():
        plain = part.strip(".,;:!?()\"'“”„«»").removesuffix("'s").removesuffix("’s")
        if any(char.isdigit() for char in plain) or plain[:1].isupper():
            found.update(words(plain, empty))
    return found


def _grams(found: list[str]) -> set[str]:
    joined = " " + " ".join(found) + " "
    return {joined[at : at + _LETTERS] for at in range(len(joined) - _LETTERS + 1)}


def _share(first: set[str], second: set[str]) -> float:
    """Return Dice's coefficient."""
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def is_dense(word: str) -> bool:
    """Return whether a text is of a script that needs few letters and no blanks."""
    return any(first <= char <= last for char in word for first, last in _DENSE)
