"""When a job runs: the forms in which times are kept, the moments they mean, and how they are said in words.

    HH:MM once | daily | weekly(day) | custom(day,day,…) | monthly(n)    in a shorter month: its last day
    2026-12-24 18:00                                                     once
    30 22 * * mon-fri, @daily                                            cron
    on wan_down                                                          an event (router_events.py)

Days are English, long or short, or Indonesian; phrases.py reads what people say into these forms. All times are local
to a zone (zone.py): a time that its clocks skip comes when they skip it, one that they show twice comes the first time.
A moment that is now has passed. A form's words and moments are shown to the owner, who then sees a misunderstanding.

Of cron: lists, ranges, steps after a range or *, names of months and weekdays, Sunday as 0 or 7, and the words @hourly
to @yearly. Where both kinds of days are restricted, either is enough; where one of them begins with *, both must fit.
Source: crontab(5) of cron by Paul Vixie.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from oasis.errors import UsageError
from oasis.parts.schedule.zone import DAY_S, Zone, day_number, month_days

Has = Callable[[int, int, int, int], bool]  # year, month, day, weekday
# The events, and when they come in words.
EVENTS = {
    "wan_down": "when the internet connection goes", "wan_up": "when the internet connection comes",
    "new_device": "when a new device joins", "disk_full": "when the disk is full",
    "failed_logins": "when logins fail again and again",
}  # fmt: skip
TEXT_CHARS = 200
# Oftener than this nobody wants a turn of a model, and the flash no message.
LEAST_MINUTES = 5
# A 29th of February that is a Sunday is at most so far away; what does not come by then never does.
FURTHEST_DAYS = 41 * 366
MOMENTS = 3
# As many times of day are listed; of more the distance is said.
_LISTED = 6
HINT = "like 22:00 daily, 08:30 custom(mon,fri), 07:00 monthly(1), 30 22 * * mon-fri, or on wan_down"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = {
    "monday": 0, "mon": 0, "senin": 0, "tuesday": 1, "tue": 1, "tues": 1, "selasa": 1, "wednesday": 2, "wed": 2,
    "rabu": 2, "thursday": 3, "thu": 3, "thur": 3, "thurs": 3, "kamis": 3, "friday": 4, "fri": 4, "jumat": 4,
    "jum'at": 4, "saturday": 5, "sat": 5, "sabtu": 5, "sunday": 6, "sun": 6, "minggu": 6, "ahad": 6,
}  # fmt: skip
# Cron's: name, least, most, names of the values from the least on.
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minutes", 0, 59, ()), ("hours", 0, 23, ()), ("days of the month", 1, 31, ()), ("months", 1, 12, MONTHS),
    ("weekdays", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)  # fmt: skip
_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip


class Trigger:
    """When a job runs: at `times`, in minutes after midnight, or at an `event`; `words` say it to the owner."""

    def __init__(self, times: list[int], has: Has, words: str, is_once: bool = False, event: str = "") -> None:
        self.times = times
        self.words = words
        self.event = event
        self.is_once = is_once
        self._has = has

    def next(self, after_unix_s: int, zone: Zone) -> int | None:
        """Return the first moment after a time, None where there is none in forty years."""
        number = day_number(*zone.local(after_unix_s)[:3]) - 1  # the day before ends later where midnight is skipped
        for today in range(number, number + FURTHEST_DAYS if self.times else number):
            date = time.gmtime(today * DAY_S)
            if self._has(date.tm_year, date.tm_mon, date.tm_mday, date.tm_wday):
                for minutes in self.times:
                    found = zone.moment(today, minutes)
                    if found > after_unix_s:
                        return found
        return None

    def moments(self, after_unix_s: int, zone: Zone) -> list[str]:
        """Return the next moments as its zone's clocks show them; an event has none, "once" has one."""
        found: list[str] = []
        at = self.next(after_unix_s, zone)
        while at is not None and len(found) < (1 if self.is_once else MOMENTS):
            found.append(zone.shown(at))
            at = self.next(at, zone)
        return found


def parse(text: str) -> Trigger:
    """Read a form; `checked` also sees that it ever comes. Raises: UsageError for an invalid or too frequent one."""
    words = text.strip().lower()
    if words.startswith("on ") or words == "on":
        name = words[2:].strip().replace("-", "_").replace(" ", "_")
        if name not in EVENTS:
            raise UsageError("there is no event %r" % name, "one of: on " + ", on ".join(EVENTS))
        return Trigger([], lambda *_: False, EVENTS[name], event=name)
    if not words.isascii() or len(words) > TEXT_CHARS:
        raise UsageError("%r is no time" % text[:80], HINT)
    if (words.startswith("@") or len(words.split()) == 5) and "(" not in words:
        return _cron(words)
    clock, _, rest = words.partition(" ")
    if "-" not in clock:
        return _repeated(_clock(clock, text), rest.strip(), text)
    date, (clock, _, word) = clock, rest.strip().partition(" ")
    numbers = [int(part) if part.isdigit() else 0 for part in date.split("-")]
    if len(date) != 10 or len(numbers) != 3 or word.strip() not in ("", "once") or not clock:
        raise UsageError("%r is no time" % text, "like 2026-12-24 18:00, or " + HINT)
    year, month, day = numbers
    if year < 2000 or not 1 <= month <= 12 or not 1 <= day <= month_days(year, month):
        raise UsageError("there is no day %s" % date, "months have 28 to 31 days")
    minutes, weekday = _clock(clock, text), DAYS[(day_number(year, month, day) + 3) % 7]
    said = "once, on %s %s at %s" % (weekday, date, shown(minutes))
    return Trigger([minutes], lambda *given: given[:3] == (year, month, day), said, True)


def checked(text: str, now_s: int, zone: Zone) -> Trigger:
    """Read a form, and check that it comes at all. Raises: UsageError."""
    found = parse(text)
    if not found.event and found.next(now_s, zone) is None:
        what = "is over already" if found.is_once else "never comes: there is no such day"
        raise UsageError("%r %s" % (text, what), HINT)
    return found


def _repeated(minutes: int, words: str, text: str) -> Trigger:
    name, bracket, inside = words.partition("(")
    name, inside, given = name.strip(), inside.strip(), []
    if bracket:
        if not inside.endswith(")"):
            raise UsageError("%r does not end with a bracket" % text, HINT)
        given = [one.strip() for one in inside[:-1].split(",")]
    at = shown(minutes)
    if name == "once" and not bracket:
        return Trigger([minutes], lambda *_: True, "once, the next time that it is " + at, True)
    if name == "daily" and not bracket:
        return Trigger([minutes], lambda *_: True, "every day at " + at)
    if (name == "weekly" and len(given) == 1) or (name == "custom" and given):
        unknown = [one for one in given if one not in _WEEKDAYS]
        if unknown:
            raise UsageError("%r is no day of the week" % unknown[0], "like mon or monday")
        days = frozenset(_WEEKDAYS[one] for one in given)
        return Trigger([minutes], lambda *given: given[3] in days, "every %s at %s" % (_named(days), at))
    if name == "monthly" and len(given) == 1:
        wanted = _number(given[0])
        if not 1 <= wanted <= 31:
            raise UsageError("%r is no day of a month" % given[0], "1 to 31; 31 is the last day of each month")
        said = "on day %d of every month" % wanted if wanted < 31 else "on the last day of every month"
        said += " (in a shorter month on its last day)" if 28 < wanted < 31 else ""
        has: Has = lambda year, month, day, weekday: day == min(wanted, month_days(year, month))  # noqa: E731
        return Trigger([minutes], has, "%s at %s" % (said, at))
    raise UsageError("%r does not say how often" % text, HINT)


def _clock(word: str, text: str) -> int:
    hour, sign, minute = word.partition(":")
    if not sign or not 0 <= _number(hour) <= 23 or not 0 <= _number(minute) <= 59:
        raise UsageError("%r does not begin with a time of day" % text, HINT)
    return _number(hour) * 60 + _number(minute)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 2 else -1


def _cron(text: str) -> Trigger:
    """Read five fields, or one of the words for them."""
    fields = _MACROS.get(text, text)
    if fields.startswith("@"):
        raise UsageError("%r is no time" % text, "one of " + ", ".join(_MACROS))
    words = fields.split()
    minutes, hours, days, months, weekdays = [_field(word, *field) for word, field in zip(words, _FIELDS, strict=True)]
    times = sorted(hour * 60 + minute for hour in hours for minute in minutes)
    gap = min(later - earlier for earlier, later in itertools.pairwise([*times, times[0] + 1440]))
    if gap < LEAST_MINUTES:
        hint = "at least %d minutes lie between, like */15 * * * *" % LEAST_MINUTES
        raise UsageError("it would come every %d minute(s)" % gap, hint)
    numbers = frozenset((day - 1) % 7 for day in weekdays)
    fit = all if words[2].startswith("*") or words[4].startswith("*") else any

    def has(year: int, month: int, day: int, weekday: int) -> bool:
        return month in months and fit((day in days, weekday in numbers))

    return Trigger(times, has, _cron_words(" ".join(words), times, numbers))


def _field(text: str, name: str, least: int, most: int, names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, text = part.partition("/")
        step = _in_field(text, name, 1, most, ()) if slash else 1
        begin, dash, end = span.partition("-")
        if span == "*":
            first, last = least, (6 if name == "weekdays" else most)
        else:
            first = _in_field(begin, name, least, most, names)
            last = _in_field(end, name, least, most, names) if dash else first
            if slash and not dash:
                raise UsageError("%s: a step needs a range in %r" % (name, part), "like */15 or 8-20/2")
            if end == "sun":
                last = 7
        if first > last:
            raise UsageError("%s: %r goes backwards" % (name, part), "write it as two parts, like 22-23,0-6")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _in_field(text: str, name: str, least: int, most: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + least
    if least <= _number(text) <= most:
        return _number(text)
    words = ", or " + names[0] + " to " + names[-1] if names else ""
    raise UsageError("%s: %r is none of them" % (name, text), "%d to %d%s" % (least, most, words))


def shown(minutes: int) -> str:
    """Return a time of day, in minutes after midnight, as a clock shows it."""
    return "%02d:%02d" % divmod(minutes, 60)


def _named(days: frozenset[int]) -> str:
    found = sorted(days)
    if len(found) == 7:
        return "day"
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return "%s to %s" % (DAYS[found[0]], DAYS[found[-1]])
    return _joined([DAYS[day] for day in found])


def _cron_words(spread: str, minutes: list[int], on_days: frozenset[int]) -> str:
    """Say cron's fields in words; what has no simple words is said to be cron's."""
    _, _, days, months, weekdays = spread.split()
    times = _times(minutes)
    if days == months == "*":
        is_interval, named = times.startswith("every "), _named(on_days)
        if is_interval:
            return times if weekdays == "*" else "%s on %s" % (times, named)
        return "every %s %s" % (named, times)
    if weekdays == "*" and all(part.isdigit() for part in days.split(",")):
        numbers = _joined(days.split(","))
        if months == "*":
            return "on day%s %s of every month %s" % ("s" if "," in days else "", numbers, times)
        if all(part in MONTHS for part in months.split(",")):
            return "every year on %s %s %s" % (numbers, _joined([one.capitalize() for one in months.split(",")]), times)
    return "by cron's fields %s" % spread


def _times(minutes: list[int]) -> str:
    gaps = {later - earlier for earlier, later in itertools.pairwise(minutes)}
    night = minutes[0] + 1440 - minutes[-1]
    if len(minutes) <= _LISTED and (len(minutes) < 3 or len(gaps) > 1 or night not in gaps):
        return "at " + _joined([shown(one) for one in minutes])
    if len(gaps) > 1:
        return "at %d times from %s to %s" % (len(minutes), shown(minutes[0]), shown(minutes[-1]))
    gap = gaps.pop()
    often = "%d minutes" % gap if gap % 60 else "hour" if gap == 60 else "%d hours" % (gap // 60)
    span = "" if night == gap and minutes[0] == 0 else ", from %s to %s" % (shown(minutes[0]), shown(minutes[-1]))
    return "every %s%s" % (often, span)


def _joined(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
