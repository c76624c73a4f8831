"""Matching what is not wholly known: True, False, or None for "it depends". Values are closed intervals of numbers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Interval, Iterable, Match


def every(matches: Iterable[Match]) -> Match:
    """Return whether all match: one False decides."""
    found: Match = True
    for match in matches:
        if match is False:
            return False
        if match is None:
            found = None
    return found


def either(matches: Iterable[Match]) -> Match:
    """Return whether one of them matches: one True decides; False for none at all."""
    found: Match = False
    for match in matches:
        if match is True:
            return True
        if match is None:
            found = None
    return found


def opposite(match: Match) -> Match:
    """Return the negation; what is not known stays so."""
    return None if match is None else not match


def within(value: Interval, low: int, high: int) -> Match:
    """Return whether a value that is somewhere in an interval lies between the bounds."""
    if low <= value[0] and value[1] <= high:
        return True
    if value[1] < low or high < value[0]:
        return False
    return None


def masked(value: Interval, address: int, mask: int) -> Match:
    """Return whether `value & mask == address & mask`; for a value that is not one number only when it is plain."""
    if value[0] == value[1]:
        return value[0] & mask == address & mask
    return None
