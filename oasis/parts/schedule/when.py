"""When something is to be done: the words that people and models write, and the moments that they mean.

    HH:MM once | daily | weekly(day) | custom(day,day,…) | monthly(n)    a month without that day: on its last one
    2026-12-24 18:00                                                     once
    30 22 * * mon-fri, @daily                                            cron's (cron.py)
    on wan_down                                                          an event (events.py)

Days are English, long or short, or Indonesian. What people say is read into these forms by spoken.py. All times are the
zone's own (zone.py): one that its clocks skip comes when they do, one that they show twice comes the first time. A
moment that is now is over. Knows no clock.
"""

from __future__ import annotations

import time

from oasis.errors import UsageError
from oasis.parts.schedule import cron
from oasis.parts.schedule.zone import DAY_S, day_number, month_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.schedule.zone import Zone

    Has = Callable[[int, int, int, int], bool]  # year, month, day, weekday

EVENTS = ("wan_down", "wan_up", "new_device", "disk_full", "failed_logins")
# Oftener than this nobody wants a turn of a model, and the flash no message.
LEAST_MINUTES = 5
# A 29th of February that is a Sunday is at most so far away; what does not come by then never does.
FURTHEST_DAYS = 41 * 366
HINT = "like 22:00 daily, 08:30 custom(mon,fri), 07:00 monthly(1), 30 22 * * mon-fri, or on wan_down"
_WEEKDAYS = (
    ("monday", "mon", "senin"),
    ("tuesday", "tue", "tues", "selasa"),
    ("wednesday", "wed", "rabu"),
    ("thursday", "thu", "thur", "thurs", "kamis"),
    ("friday", "fri", "jumat", "jum'at"),
    ("saturday", "sat", "sabtu"),
    ("sunday", "sun", "minggu", "ahad"),
)


class When:
    """The moments of a schedule; `event` is set instead for one that waits for something to happen."""

    def __init__(self, times: list[int], has: Has, is_once: bool = False, event: str = "") -> None:
        self.event = event
        self.is_once = is_once
        self._times = times
        self._has = has

    def next(self, after_unix_s: int, zone: Zone) -> int | None:
        """Return the first moment after a time, None where there is none in forty years."""
        year, month, day, _, _, _ = zone.local(after_unix_s)
        number = day_number(year, month, day) - 1  # where midnight is skipped, the day before may end later
        for today in range(number, number + FURTHEST_DAYS if self._times else number):
            year, month, day = _date(today)
            if self._has(year, month, day, (today + 3) % 7):
                for minutes in self._times:
                    found = zone.moment(today, minutes)
                    if found > after_unix_s:
                        return found
        return None


def parse(text: str) -> When:
    """Read when.

    Raises: UsageError for what is no time, or comes too often; whether it ever comes, `checked` tells.
    """
    words = text.strip().lower()
    if words.startswith("on ") or words == "on":
        return _event(words[2:].strip())
    if not words.isascii() or len(words) > cron.TEXT_CHARS:
        raise UsageError("%r is no time" % text[:80], HINT)
    if cron.is_meant(words) and "(" not in words:
        fields = cron.parse(words)
        return _no_oftener(When(fields.times, fields.has), fields.times)
    clock, _, rest = words.partition(" ")
    if "-" in clock:
        return _on_a_date(clock, rest.strip(), text)
    return _repeated(_clock(clock, text), rest.strip(), text)


def checked(text: str, now_s: int, zone: Zone) -> When:
    """Read when, and see that it comes at all.

    Raises: UsageError.
    """
    found = parse(text)
    if not found.event and found.next(now_s, zone) is None:
        what = "is over already" if found.is_once else "never comes: there is no such day"
        raise UsageError("%r %s" % (text, what), HINT)
    return found


def _event(name: str) -> When:
    name = name.replace("-", "_").replace(" ", "_")
    if name not in EVENTS:
        raise UsageError("there is no event %r" % name, "one of: on " + ", on ".join(EVENTS))
    return When([], lambda *_: False, event=name)


def _no_oftener(found: When, times: list[int]) -> When:
    gaps = [later - earlier for earlier, later in zip(times, [*times[1:], times[0] + 1440], strict=True)]
    if min(gaps) < LEAST_MINUTES:
        raise UsageError(
            "it would come every %d minute(s)" % min(gaps),
            "at least %d minutes lie between, like */15 * * * *" % LEAST_MINUTES,
        )
    return found


def _on_a_date(date: str, rest: str, text: str) -> When:
    """Read an ISO date and a time of day."""
    clock, _, word = rest.partition(" ")
    numbers = [int(part) if part.isdigit() else 0 for part in date.split("-")]
    if len(date) != 10 or len(numbers) != 3 or word.strip() not in ("", "once") or not clock:
        raise UsageError("%r is no time" % text, "like 2026-12-24 18:00, or " + HINT)
    year, month, day = numbers
    if year < 2000 or not 1 <= month <= 12 or not 1 <= day <= month_days(year, month):
        raise UsageError("there is no day %s" % date, "months have 28 to 31 days")
    return When([_clock(clock, text)], lambda *given: given[:3] == (year, month, day), True)


def _repeated(minutes: int, words: str, text: str) -> When:
    name, bracket, inside = words.partition("(")
    name, given = name.strip(), []
    if bracket:
        inside = inside.strip()
        if not inside.endswith(")"):
            raise UsageError("%r does not end with a bracket" % text, HINT)
        given = [one.strip() for one in inside[:-1].split(",")]
    if name in ("once", "daily") and not bracket:
        return When([minutes], lambda *_: True, name == "once")
    if (name == "weekly" and len(given) == 1) or (name == "custom" and given):
        days = frozenset(weekday(one) for one in given)
        return When([minutes], lambda year, month, day, number: number in days)
    if name == "monthly" and len(given) == 1:
        wanted = _number(given[0])
        if not 1 <= wanted <= 31:
            raise UsageError("%r is no day of a month" % given[0], "1 to 31; 31 is the last day of each month")
        return When([minutes], lambda year, month, day, weekday: day == min(wanted, month_days(year, month)))
    raise UsageError("%r does not say how often" % text, HINT)


def weekday(word: str) -> int:
    """Return the number of a day of the week, Monday 0.

    Raises: UsageError.
    """
    for number, names in enumerate(_WEEKDAYS):
        if word in names:
            return number
    raise UsageError("%r is no day of the week" % word, "like mon or monday")


def _clock(word: str, text: str) -> int:
    hour, sign, minute = word.partition(":")
    if not sign or not 0 <= _number(hour) <= 23 or not 0 <= _number(minute) <= 59:
        raise UsageError("%r does not begin with a time of day" % text, HINT)
    return _number(hour) * 60 + _number(minute)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 2 else -1


def _date(number: int) -> tuple[int, int, int]:
    found = time.gmtime(number * DAY_S)
    return found.tm_year, found.tm_mon, found.tm_mday
