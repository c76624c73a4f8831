"""The real names nearest to a wrong one; without difflib, which costs more memory than the data it would search."""

from __future__ import annotations

_SHOWN = 3
# A longer word is no misspelt name, and the search takes the product of the lengths.
_LETTERS = 64
_ALL = 12  # so many names are simply listed when none is near


def nearest(word: str, names: list[str]) -> list[str]:
    """Return up to three names that `word` may have meant, the likeliest first."""
    if len(word) > _LETTERS:
        return []
    lower = word.lower()
    ranked = []
    for name in names:
        other = name.lower()
        cost = _distance(lower, other)
        if other.startswith(lower) or other.endswith(lower) or (len(other) > 2 and other in lower):
            cost = min(cost, 2)
        if cost <= max(2, len(word) // 3):
            ranked.append((cost, name))
    return [name for _, name in sorted(ranked)[:_SHOWN]]


def closest(word: str, names: list[str]) -> list[str]:
    """Return the three names nearest to a word, however far they are."""
    lower = word[:_LETTERS].lower()
    return sorted(names, key=lambda name: (_distance(lower, name.lower()), name))[:_SHOWN]


def hint(word: str, names: list[str]) -> str:
    """Return a sentence with the nearest names, or with all of them when they are few."""
    near = nearest(word, names)
    if near:
        return "did you mean {}".format(" or ".join(near))
    if not names:
        return ""
    rest = ", …" if len(names) > _ALL else ""
    return "there are: " + ", ".join(sorted(names)[:_ALL]) + rest


def _distance(one: str, other: str) -> int:
    """Count the letters to insert, remove, replace or swap with the next one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        earlier, before, row = before, row, [at + 1]
        for place, candidate in enumerate(other):
            cost = min(before[place] + (letter != candidate), before[place + 1] + 1, row[place] + 1)
            if at and place and letter == other[place - 1] and one[at - 1] == candidate:
                cost = min(cost, earlier[place - 1] + 1)
            row.append(cost)
    return row[-1]
