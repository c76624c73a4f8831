"""Cron's five fields: minutes, hours, days of the month, months, days of the week.

Supported: lists, ranges, steps after a range or *, names of months and weekdays, Sunday as 0 or 7, and the words
@hourly to @yearly. Where both kinds of days are restricted, either is enough; where one of them begins with *, both
must fit. Source: crontab(5) of cron by Paul Vixie.
"""

from __future__ import annotations

from oasis.errors import UsageError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# name, least, most, names of the values from the least on
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minutes", 0, 59, ()),
    ("hours", 0, 23, ()),
    ("days of the month", 1, 31, ()),
    ("months", 1, 12, MONTHS),
    ("weekdays", 0, 7, WEEKDAYS),
)
_WORDS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
HINT = "five fields (minute hour day month weekday), like 30 22 * * mon-fri, or @daily"
TEXT_CHARS = 200


class Fields:
    """What cron's five fields mean; weekdays are counted from Monday 0, as the rest of Python does."""

    def __init__(
        self, times: list[int], days: frozenset[int], months: frozenset[int], weekdays: frozenset[int], is_either: bool
    ) -> None:
        self.times = times  # minutes after midnight
        self._days = days
        self._months = months
        self.weekdays = weekdays
        self._is_either = is_either

    def has(self, year: int, month: int, day: int, weekday: int) -> bool:
        """Return whether it comes on a day."""
        if month not in self._months:
            return False
        fits = day in self._days, weekday in self.weekdays
        return any(fits) if self._is_either else all(fits)


def is_meant(text: str) -> bool:
    """Return whether a text looks like cron's rather than ours."""
    return text.startswith("@") or len(text.split()) == 5


def fields_of(text: str) -> str:
    """Return the five fields of a word like @daily, other texts as they are.

    Raises: UsageError.
    """
    if not text.startswith("@"):
        return text
    if text.lower() not in _WORDS:
        raise UsageError("%r is no time" % text, "one of " + ", ".join(_WORDS))
    return _WORDS[text.lower()]


def parse(text: str) -> Fields:
    """Read five fields, or one of the words for them.

    Raises: UsageError naming the field.
    """
    if len(text) > TEXT_CHARS:
        raise UsageError("a schedule has at most %d characters" % TEXT_CHARS, HINT)
    text = fields_of(text)
    words = text.lower().split()
    if len(words) != 5:
        raise UsageError("%r has %d fields" % (text, len(words)), HINT)
    minutes, hours, days, months, weekdays = [_field(word, *field) for word, field in zip(words, _FIELDS, strict=True)]
    times = sorted(hour * 60 + minute for hour in hours for minute in minutes)
    is_either = not words[2].startswith("*") and not words[4].startswith("*")
    return Fields(times, days, months, frozenset((day - 1) % 7 for day in weekdays), is_either)


def _field(text: str, name: str, least: int, most: int, names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _number(step_text, name, 1, most, ()) if slash else 1
        if span == "*":
            first, last = least, (6 if name == "weekdays" else most)
        else:
            begin, dash, end = span.partition("-")
            first = _number(begin, name, least, most, names)
            last = _number(end, name, least, most, names) if dash else first
            if slash and not dash:
                raise UsageError("%s: a step needs a range in %r" % (name, part), "like */15 or 8-20/2")
            if dash and end == "sun":
                last = 7
        if first > last:
            raise UsageError("%s: %r goes backwards" % (name, part), "write it as two parts, like 22-23,0-6")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, name: str, least: int, most: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + least
    if text.isascii() and text.isdigit() and len(text) <= 2 and least <= int(text) <= most:
        return int(text)
    words = ", or " + names[0] + " to " + names[-1] if names else ""
    raise UsageError("%s: %r is none of them" % (name, text), "%d to %d%s" % (least, most, words))
