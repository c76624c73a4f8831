"""The difference of two lists of lines, as groups of what is removed and added with some lines around.

difflib would do it as well, and stay in the daemon with a quarter of a megabyte. Pure; knows nothing of UCI.
Source: E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986, the greedy form.
"""

from __future__ import annotations

# Lines removed and added beyond which the middle is shown as replaced: nobody reads that line by line, and the search
# takes the square of it.
EDITS = 256

TYPE_CHECKING = False
if TYPE_CHECKING:
    # (tag, from and to in the old lines, from and to in the new ones); tag is equal, delete, insert or replace
    Piece = tuple[str, int, int, int, int]


def groups(old: list[str], new: list[str], around: int) -> list[list[Piece]]:
    """Return the pieces that differ, each group with up to `around` equal lines before, between and after."""
    found: list[list[Piece]] = []
    group: list[Piece] = []
    pieces = differences(old, new)
    for at, (tag, old_from, old_to, new_from, new_to) in enumerate(pieces):
        if tag != "equal":
            group.append((tag, old_from, old_to, new_from, new_to))
            continue
        before = around if at else 0  # belongs to the piece before it
        after = around if at < len(pieces) - 1 else 0
        if at and old_to - old_from <= before + after:
            group.append((tag, old_from, old_to, new_from, new_to))
            continue
        if at:
            length = min(before, old_to - old_from)
            group.append((tag, old_from, old_from + length, new_from, new_from + length))
            found.append(group)
        length = min(after, old_to - old_from)
        group = [(tag, old_to - length, old_to, new_to - length, new_to)]
    if any(piece[0] != "equal" for piece in group):
        found.append(group)
    return found


def differences(old: list[str], new: list[str]) -> list[Piece]:
    """Return the pieces that lead from the old lines to the new ones, in order and without gaps."""
    found: list[Piece] = []
    at_old = at_new = 0
    for old_from, new_from, length in [*_common(old, new), (len(old), len(new), 0)]:
        if old_from > at_old or new_from > at_new:
            tag = "replace" if old_from > at_old and new_from > at_new else "delete" if old_from > at_old else "insert"
            found.append((tag, at_old, old_from, at_new, new_from))
        at_old, at_new = old_from + length, new_from + length
        if length:
            found.append(("equal", old_from, at_old, new_from, at_new))
    return found


def _common(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """Return the runs of lines in both, in order: (from in the old, from in the new, length)."""
    runs: list[tuple[int, int, int]] = []
    for one, other in _kept(old, new):
        if runs and runs[-1][0] + runs[-1][2] == one and runs[-1][1] + runs[-1][2] == other:
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((one, other, 1))
    return runs


def _kept(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of places of the lines that stay."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = _search(old[head : len(old) - tail], new[head : len(new) - tail])
    pairs = [(at, at) for at in range(head)] + [(one + head, other + head) for one, other in middle]
    return pairs + [(len(old) - at, len(new) - at) for at in range(tail, 0, -1)]


def _search(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of the shortest edit, none when it has more than EDITS."""
    furthest = {1: 0}  # by diagonal (place in old - place in new): how far in old
    history = []
    for edits in range(min(len(old) + len(new), EDITS) + 1):
        history.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            one = furthest[_step(furthest, diagonal, edits)]
            one += _step(furthest, diagonal, edits) < diagonal
            while one < len(old) and one - diagonal < len(new) and old[one] == new[one - diagonal]:
                one += 1
            furthest[diagonal] = one
            if one >= len(old) and one - diagonal >= len(new):
                return _walk_back(history, len(old), len(new))
    return []


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """Return the diagonal that is come from: above by adding a line, below by removing one."""
    is_added = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return diagonal + 1 if is_added else diagonal - 1


def _walk_back(history: list[dict[int, int]], one: int, other: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(history) - 1, -1, -1):
        source = _step(history[edits], one - other, edits)
        before = history[edits][source]
        while one > before and other > before - source:
            one, other = one - 1, other - 1
            pairs.append((one, other))
        one, other = before, before - source
    return pairs[::-1]
