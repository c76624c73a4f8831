"""Sets of packets as unions of boxes, with what two rule sets need: cut and subtract. Knows no firewall.

A box is {dimension: ((low, high), …)}: a packet is in it when each of its numbers lies in one of the closed intervals
of that dimension; a dimension that is not named does not matter. DOMAINS says how far a dimension reaches; family is 0
for IPv4 and 1 for IPv6, and any other name is a question that has the answers 0 and 1 (whether an address is in a set
that is not known, as an example).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Box, Intervals

_DAY_S = 86400
DOMAINS = {
    "src": (0, 0xFFFF), "dst": (0, 0xFFFF), "family": (0, 1), "proto": (0, 0xFFFF), "port": (0, 0xFFFF),
    "source_port": (0, 0xFFFF), "src4": (0, (1 << 32) - 1), "dst4": (0, (1 << 32) - 1), "src6": (0, (1 << 128) - 1),
    "dst6": (0, (1 << 128) - 1), "mac": (0, (1 << 48) - 1), "time": (0, 7 * _DAY_S - 1), "rate": (0, 1 << 40),
}  # fmt: skip
_QUESTION = (0, 1)


def domain(dimension: str) -> tuple[int, int]:
    """Return the least and the greatest number of a dimension."""
    return DOMAINS.get(dimension, _QUESTION)


def union(intervals: Intervals) -> Intervals:
    """Return the same numbers as disjoint intervals in order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def common(one: Intervals, other: Intervals) -> Intervals:
    """Return the numbers that are in both; intervals are disjoint and in order, here and everywhere."""
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        low, high = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if low <= high:
            found.append((low, high))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def rest(one: Intervals, other: Intervals) -> Intervals:
    """Return the numbers of the first that are not in the second."""
    if not one:
        return ()
    gaps, low = [], one[0][0]
    for start, end in other:
        if low < start:
            gaps.append((low, start - 1))
        low = max(low, end + 1)
    return common(one, (*gaps, (low, max(one[-1][1], low))))


def inverse(dimension: str, intervals: Intervals) -> Intervals:
    """Return all other numbers of a dimension."""
    return rest((domain(dimension),), intervals)


def key(one: Box) -> tuple[tuple[str, Intervals], ...]:
    """Return a box as a value to look up."""
    return tuple(sorted(one.items()))


def meet(one: Box, other: Box) -> Box | None:
    """Return what is in both boxes, None for nothing."""
    found = dict(one)
    for dimension, wanted in other.items():
        found[dimension] = common(found[dimension], wanted) if dimension in found else wanted
        if not found[dimension]:
            return None
    return found


def without(one: Box, other: Box) -> list[Box]:
    """Return what is in the first box and not in the second, as disjoint boxes."""
    if meet(one, other) is None:
        return [one]
    found, current = [], dict(one)
    for dimension, taken in other.items():
        held = current.get(dimension, (domain(dimension),))
        left = rest(held, taken)
        if left:
            found.append({**current, dimension: left})
        current[dimension] = common(held, taken)
    return found


def of_family(family: int) -> Intervals:
    """Return IPv4 (4) or IPv6 (6) as the number of its dimension."""
    number = 1 if family == 6 else 0
    return ((number, number),)


class TooManyError(Exception):
    """The rules cut the packets into more pieces than can be looked at in a reasonable time."""


# Intervals of all pieces together. A usual firewall needs some hundreds; so many take a second on a small router.
MOST = 20000


def cut(region: list[Box], other: Box) -> tuple[list[Box], list[Box]]:
    """Return (what of a region is in a box, what is not)."""
    inside = [part for one in region if (part := meet(one, other)) is not None]
    return inside, subtract(region, [other])


def subtract(region: list[Box], others: list[Box]) -> list[Box]:
    """Return what of a region is in none of the boxes.

    Raises: TooManyError.
    """
    for other in others:
        region = [part for one in region for part in without(one, other)]
        if sum(len(held) for part in region for held in part.values()) > MOST:
            raise TooManyError
    return region
