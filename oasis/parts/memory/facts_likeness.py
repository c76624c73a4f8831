"""How alike two short sentences are by their words and letters: for facts, where no service gives vectors.

Knows no file and no service. The share of common words alone calls "guest network" and "guest networks" strangers, the
share of common letters alone calls two people's phones the same: the mean of both, over what is left without the words
that stand in every sentence, does neither. Names and numbers that differ on both sides are two things in any case.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
