"""When a job runs: the forms in which times are kept, the moments they mean, and how they are said in words.

    HH:MM once | daily | weekly(day) | custom(day,day,…) | monthly(n)    in a shorter month: its last day
    2026-12-24 18:00                                                     once
    30 22 * * mon-fri, @daily                                            cron (cron.py)
    on wan_down                                                          an event (router_events.py)

Days are English, long or short, or Indonesian; phrases.py reads what people say into these forms. All times are local
to a zone (zone.py): a time that its clocks skip comes when they skip it, one that they show twice comes the first time.
A moment that is now has passed. `words` and `moments` show a form to the owner, who then sees a misunderstanding.
"""

from __future__ import annotations

import itertools
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


class Trigger:
    """The moments of a job; `event` is set instead where it waits for something to happen."""

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


def parse(text: str) -> Trigger:
    """Read a form; `checked` also sees that it ever comes.

    Raises: UsageError for an invalid form, or one that comes too often.
    """
    words = text.strip().lower()
    if words.startswith("on ") or words == "on":
        return _event(words[2:].strip())
    if not words.isascii() or len(words) > cron.TEXT_CHARS:
        raise UsageError("%r is no time" % text[:80], HINT)
    if cron.is_meant(words) and "(" not in words:
        fields = cron.parse(words)
        return _no_oftener(Trigger(fields.times, fields.has), fields.times)
    clock, _, rest = words.partition(" ")
    if "-" in clock:
        return _on_a_date(clock, rest.strip(), text)
    return _repeated(_clock(clock, text), rest.strip(), text)


def checked(text: str, now_s: int, zone: Zone) -> Trigger:
    """Read a form, and check that it comes at all.

    Raises: UsageError.
    """
    found = parse(text)
    if not found.event and found.next(now_s, zone) is None:
        what = "is over already" if found.is_once else "never comes: there is no such day"
        raise UsageError("%r %s" % (text, what), HINT)
    return found


def _event(name: str) -> Trigger:
    name = name.replace("-", "_").replace(" ", "_")
    if name not in EVENTS:
        raise UsageError("there is no event %r" % name, "one of: on " + ", on ".join(EVENTS))
    return Trigger([], lambda *_: False, event=name)


def _no_oftener(found: Trigger, times: list[int]) -> Trigger:
    gaps = [later - earlier for earlier, later in zip(times, [*times[1:], times[0] + 1440], strict=True)]
    if min(gaps) < LEAST_MINUTES:
        raise UsageError(
            "it would come every %d minute(s)" % min(gaps),
            "at least %d minutes lie between, like */15 * * * *" % LEAST_MINUTES,
        )
    return found


def _on_a_date(date: str, rest: str, text: str) -> Trigger:
    """Read an ISO date and a time of day."""
    clock, _, word = rest.partition(" ")
    numbers = [int(part) if part.isdigit() else 0 for part in date.split("-")]
    if len(date) != 10 or len(numbers) != 3 or word.strip() not in ("", "once") or not clock:
        raise UsageError("%r is no time" % text, "like 2026-12-24 18:00, or " + HINT)
    year, month, day = numbers
    if year < 2000 or not 1 <= month <= 12 or not 1 <= day <= month_days(year, month):
        raise UsageError("there is no day %s" % date, "months have 28 to 31 days")
    return Trigger([_clock(clock, text)], lambda *given: given[:3] == (year, month, day), True)


def _repeated(minutes: int, words: str, text: str) -> Trigger:
    name, bracket, inside = words.partition("(")
    name, given = name.strip(), []
    if bracket:
        inside = inside.strip()
        if not inside.endswith(")"):
            raise UsageError("%r does not end with a bracket" % text, HINT)
        given = [one.strip() for one in inside[:-1].split(",")]
    if name in ("once", "daily") and not bracket:
        return Trigger([minutes], lambda *_: True, name == "once")
    if (name == "weekly" and len(given) == 1) or (name == "custom" and given):
        days = frozenset(weekday(one) for one in given)
        return Trigger([minutes], lambda year, month, day, number: number in days)
    if name == "monthly" and len(given) == 1:
        wanted = _number(given[0])
        if not 1 <= wanted <= 31:
            raise UsageError("%r is no day of a month" % given[0], "1 to 31; 31 is the last day of each month")
        return Trigger([minutes], lambda year, month, day, weekday: day == min(wanted, month_days(year, month)))
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


MOMENTS = 3
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EVENTS = {
    "wan_down": "when the internet connection goes", "wan_up": "when the internet connection comes",
    "new_device": "when a new device joins", "disk_full": "when the disk is full",
    "failed_logins": "when logins fail again and again",
}  # fmt: skip
# As many times of day are listed; of more the distance is said.
_LISTED = 6
_LAST_DAY, _EVERY_MONTH_HAS = 31, 28


def words(form: str) -> str:
    """Return in words what a form means."""
    text = " ".join(form.lower().split())
    if text.startswith("on "):
        return _EVENTS[text[3:].replace("-", "_").replace(" ", "_")]
    if cron.is_meant(text) and "(" not in text:
        return _cron(text)
    clock, _, rest = text.partition(" ")
    if "-" in clock:
        weekday = _DAYS[(day_number(*[int(part) for part in clock.split("-")]) + 3) % 7]
        return "once, on %s %s at %s" % (weekday, clock, _time_of_day(rest.partition(" ")[0]))
    name, _, given = rest.replace(" ", "").rstrip(")").partition("(")
    if name == "once":
        return "once, the next time that it is %s" % _time_of_day(clock)
    days = {"daily": "every day"}.get(name) or (_month_day(int(given)) if name == "monthly" else _weekdays(given))
    return "%s at %s" % (days, _time_of_day(clock))


def moments(form: str, after_s: int, zone: Zone, count: int = MOMENTS) -> list[str]:
    """Return the next moments of a form as its zone's clocks show them; an event has none, "once" has one."""
    meant = parse(form)
    found: list[str] = []
    at = None if meant.event else meant.next(after_s, zone)
    while at is not None and len(found) < (1 if meant.is_once else count):
        found.append(zone.shown(at))
        at = meant.next(at, zone)
    return found


def _time_of_day(text: str) -> str:
    hour, _, minute = text.partition(":")
    return "%02d:%02d" % (int(hour), int(minute))


def _weekdays(given: str) -> str:
    return "every " + _named(frozenset(weekday(one) for one in given.split(",")))


def _named(days: frozenset[int]) -> str:
    if len(days) == 7:
        return "day"
    found = sorted(days)
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return "%s to %s" % (_DAYS[found[0]], _DAYS[found[-1]])
    return _joined([_DAYS[day] for day in found])


def _month_day(number: int) -> str:
    if number == _LAST_DAY:
        return "on the last day of every month"
    short = "" if number <= _EVERY_MONTH_HAS else " (in a shorter month on its last day)"
    return "on day %d of every month%s" % (number, short)


def _cron(text: str) -> str:
    """Say cron's fields in words; what has no simple words is said to be cron's."""
    fields = cron.parse(text)
    spread = cron.fields_of(text)
    _, _, days, months, weekdays = spread.split()
    times = _times(fields.times)
    if days == months == "*":
        return (
            times
            if weekdays == "*" and times.startswith("every ")
            else "%s %s" % _on("every " + _named(fields.weekdays), times)
        )
    if weekdays == "*" and all(part.isdigit() for part in days.split(",")):
        numbers = _joined(days.split(","))
        if months == "*":
            return "on day%s %s of every month %s" % ("s" if "," in days else "", numbers, times)
        if all(part in cron.MONTHS for part in months.split(",")):
            return "every year on %s %s %s" % (numbers, _joined([one.capitalize() for one in months.split(",")]), times)
    return "by cron's fields %s" % spread


def _on(days: str, times: str) -> tuple[str, str]:
    return (times, days.replace("every ", "on ", 1)) if times.startswith("every ") else (days, times)


def _times(minutes: list[int]) -> str:
    gaps = {later - earlier for earlier, later in itertools.pairwise(minutes)}
    if len(minutes) <= _LISTED and (len(minutes) < 3 or len(gaps) > 1 or minutes[0] + 1440 - minutes[-1] not in gaps):
        return "at " + _joined([_shown(one) for one in minutes])
    if len(gaps) > 1:
        return "at %d times from %s to %s" % (len(minutes), _shown(minutes[0]), _shown(minutes[-1]))
    gap = gaps.pop()
    often = "%d minutes" % gap if gap % 60 else "hour" if gap == 60 else "%d hours" % (gap // 60)
    is_all_day = minutes[0] + 1440 - minutes[-1] == gap
    span = "" if is_all_day and minutes[0] == 0 else ", from %s to %s" % (_shown(minutes[0]), _shown(minutes[-1]))
    return "every %s%s" % (often, span)


def _shown(minutes: int) -> str:
    return "%02d:%02d" % divmod(minutes, 60)


def _joined(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
