"""A schedule's time said back: in words, and as its next moments. What was understood wrongly is seen there."""

from __future__ import annotations

import itertools

from oasis.parts.schedule import cron, when
from oasis.parts.schedule.zone import day_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.schedule.zone import Zone

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
    """Return in words what a form that entries keep means (when.py)."""
    text = " ".join(form.lower().split())
    if text.startswith("on "):
        return _EVENTS[text[3:].replace("-", "_").replace(" ", "_")]
    if cron.is_meant(text) and "(" not in text:
        return _cron(text)
    clock, _, rest = text.partition(" ")
    if "-" in clock:
        weekday = _DAYS[(day_number(*[int(part) for part in clock.split("-")]) + 3) % 7]
        return "once, on %s %s at %s" % (weekday, clock, _clock(rest.partition(" ")[0]))
    name, _, given = rest.replace(" ", "").rstrip(")").partition("(")
    if name == "once":
        return "once, the next time that it is %s" % _clock(clock)
    days = {"daily": "every day"}.get(name) or (_month_day(int(given)) if name == "monthly" else _weekdays(given))
    return "%s at %s" % (days, _clock(clock))


def moments(form: str, after_s: int, zone: Zone, count: int = MOMENTS) -> list[str]:
    """Return the next moments of a form as its zone's clocks show them; an event has none, "once" has one."""
    meant = when.parse(form)
    found: list[str] = []
    at = None if meant.event else meant.next(after_s, zone)
    while at is not None and len(found) < (1 if meant.is_once else count):
        found.append(zone.shown(at))
        at = meant.next(at, zone)
    return found


def _clock(text: str) -> str:
    hour, _, minute = text.partition(":")
    return "%02d:%02d" % (int(hour), int(minute))


def _weekdays(given: str) -> str:
    return "every " + _named(frozenset(when.weekday(one) for one in given.split(",")))


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
