"""Which passages answer a question best, by its words alone: no model, no embeddings. Pure.

Words are compared in small letters; of scripts without spaces, pairs of characters. A word counts the more the fewer
passages have it. A score is 1 when every word of the question is there, often; 0 when none is.
"""

from __future__ import annotations

import math
import re

CHUNK_CHARS = 500
LEAST_CHARS = 50
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Hiragana, katakana, CJK and Hangul: there words are not spaced, or change their ends.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Words of most questions say nothing about what is asked.
_COMMON = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "by", "der", "des", "die", "do", "does", "el", "en", "es", "est",
    "et", "for", "from", "how", "i", "in", "is", "it", "la", "le", "les", "of", "on", "or", "the", "to", "und",
    "was", "what", "when", "where", "which", "who", "why", "wie", "with", "you",
])  # fmt: skip


def chunks(text: str) -> list[str]:
    """Return a text in passages of at most CHUNK_CHARS, cut at line ends and spaces; short ones are left out."""
    found: list[str] = []
    here = ""
    for word in re.split(r"(?<=\n)|(?<= )", text):
        while len(word) > CHUNK_CHARS:
            found, here, word = [*found, here, word[:CHUNK_CHARS]], "", word[CHUNK_CHARS:]
        if len(here) + len(word) > CHUNK_CHARS:
            found.append(here)
            here = ""
        here += word
    return [chunk.strip() for chunk in [*found, here] if len(chunk.strip()) >= LEAST_CHARS]


def terms(text: str) -> list[str]:
    """Return the words of a text that are compared."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        pieces = _UNSPACED.findall(word)
        for piece in pieces:
            found += [piece[at : at + 2] for at in range(max(len(piece) - 1, 1))]
        if not pieces:
            found.append(word)
    return found


def scores(query: str, passages: list[str]) -> list[float]:
    """Return how well each passage fits, from 0 to 1."""
    asked = list(dict.fromkeys(terms(query)))
    wanted = [term for term in asked if term not in _COMMON] or asked
    counted = [_counts(passage, set(wanted)) for passage in passages]
    weight = {
        term: math.log(1 + (len(passages) + 1) / (1 + sum(term in counts for counts in counted))) for term in wanted
    }
    total = sum(weight.values())
    return [
        sum(weight[term] * count / (count + 0.5) for term, count in counts.items()) / total if total else 0.0
        for counts in counted
    ]


def _counts(text: str, wanted: set[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for term in terms(text):
        if term in wanted:
            found[term] = found.get(term, 0) + 1
    return found
