"""Which chunks answer a question best by their words: BM25; and how two orders become one. Pure.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Cormack and others,
Reciprocal Rank Fusion (2009). The length of a chunk is that of its text: counting its words would cost reading them.
"""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any

# Their usual values: how soon more of a word says nothing more, and how much a long text counts less.
K1, B = 1.2, 0.75
# How much the first places of an order count before all others; that of the paper.
FUSED = 60

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Hiragana, katakana, CJK and Hangul: there words are not spaced, or change their ends.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Words of most questions say nothing about what is asked.
COMMON = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "das", "de", "der", "des", "di", "die", "do", "does",
    "ein", "eine", "el", "en", "es", "est", "et", "for", "from", "has", "have", "how", "i", "ich", "il", "in", "is",
    "ist", "it", "la", "le", "les", "me", "mein", "my", "of", "on", "or", "que", "should", "that", "the", "this", "to",
    "und", "use", "was", "what", "when", "where", "which", "who", "why", "wie", "with", "you", "your",
])  # fmt: skip
_STEM_CHARS = 4


def terms(text: str) -> list[str]:
    """Return the words of a text that are compared: small letters, no plural's s; pairs of unspaced scripts."""
    lower = text.lower()
    if lower.isascii():
        return [_stem(word) for word in _WORD.findall(lower)]
    found = [_stem(word) for word in _WORD.findall(_UNSPACED.sub(" ", lower))]
    for piece in _UNSPACED.findall(lower):
        found += [piece[at : at + 2] for at in range(max(len(piece) - 1, 1))]
    return found


def _stem(word: str) -> str:
    if len(word) >= _STEM_CHARS and word[-1] == "s" and word[-2] not in "su":
        return word[:-1]
    return word


class Words:
    """A question; chunks are taken one by one, only what is needed of those that have its words is kept."""

    def __init__(self, query: str) -> None:
        asked = list(dict.fromkeys(terms(query)))
        self._wanted = frozenset([term for term in asked if term not in COMMON] or asked)
        self._pairs = [term for term in self._wanted if _UNSPACED.match(term)]
        forms = {form: term for term in self._wanted for form in (term, term + "s") if _stem(form) == term}
        self._forms = {form: term for form, term in forms.items() if term not in self._pairs}
        longest = sorted(self._forms, key=len, reverse=True)
        # Letters that may be a word of the question; whether they are one, their neighbours tell.
        self._letters = re.compile("|".join([re.escape(form) for form in longest]) or r"(?!)")
        self._count = 0
        self._chars = 0
        self._with: dict[str, int] = {}
        self._found: list[tuple[Any, int, dict[str, int]]] = []

    def may_have(self, text: str) -> bool:
        """Return whether a text can hold a word of the question: by its letters, without looking for words."""
        lower = text.lower()
        return any(term in lower for term in self._wanted)

    def skip(self, chars: int) -> None:
        """Count a chunk that has none of the words."""
        self._count += 1
        self._chars += chars

    def take(self, key: Hashable, text: str, chars: int = 0) -> None:
        """Look at a chunk; `key` is what it is called in the order, `chars` its length where `text` holds more."""
        length = chars or len(text)
        self.skip(length)
        counts = self.counts(text)
        if counts:
            self._found.append((key, length, counts))
            for term in counts:
                self._with[term] = self._with.get(term, 0) + 1

    def counts(self, text: str) -> dict[str, int]:
        """Return how often each word of the question is among the terms of a text: without making all of those."""
        lower = text.lower()
        found = {term: count for term in self._pairs if (count := lower.count(term))}
        plain = lower if lower.isascii() else _UNSPACED.sub(" ", lower)
        for match in self._letters.finditer(plain):
            start, end = match.span()
            if not plain[start - 1 : start].isalnum() and not plain[end : end + 1].isalnum():
                term = self._forms[match.group()]
                found[term] = found.get(term, 0) + 1
        return found

    def place(self, text: str) -> int:
        """Return where the first word of the question stands in a text, 0 where none does."""
        places = [match.start() for match in [self._letters.search(text.lower())] if match]
        return min(places + [at for at in (text.lower().find(term) for term in self._pairs) if at >= 0], default=0)

    def _weights(self) -> dict[str, float]:
        """Return how much each word counts; "" for one that no chunk has."""
        counts = {**self._with, "": 0}
        return {term: math.log(1 + (self._count - count + 0.5) / (count + 0.5)) for term, count in counts.items()}

    def order(self, most: int, least: float = 0.0) -> list[tuple[float, Any]]:
        """Return (score, key) of the best chunks, the best first; what is equal in the order it was taken in.

        `least`: how much of what is asked a chunk must have, from 0 to 1, by the weight of its words.
        """
        if not self._found:
            return []
        mean = self._chars / self._count or 1.0
        weight = self._weights()
        needed = least * sum([weight.get(term, weight[""]) for term in self._wanted])
        rows = []
        for key, length, counts in self._found:
            if sum([weight[term] for term in counts]) < needed:
                continue
            norm = K1 * (1 - B + B * length / mean)
            score = sum([weight[term] * count * (K1 + 1) / (count + norm) for term, count in counts.items()])
            rows.append((score, key))
        rows.sort(key=lambda row: -row[0])
        return rows[:most]


def fused(orders: list[list[Any]], most: int) -> list[tuple[float, Any]]:
    """Return (score, key) of what stands high in several orders of keys, the best first."""
    scores: dict[Any, float] = {}
    for order in orders:
        for place, key in enumerate(order):
            scores[key] = scores.get(key, 0.0) + 1.0 / (FUSED + place + 1)
    rows = [(score, key) for key, score in scores.items()]
    rows.sort(key=lambda row: -row[0])
    return rows[:most]
