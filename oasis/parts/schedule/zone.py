"""Time zones: the POSIX rule of `system.timezone`, computed without tables and without libc.

A router has no zone files unless somebody installed them, and the C library reads its rule only once.
Source: POSIX.1-2017, section 8.3 (TZ), with the hours from -167 to 167 of RFC 8536.
"""

from __future__ import annotations

import re
import time

from oasis.errors import UsageError
from oasis.system.clock import zone_rules
from oasis.tools.router import Facts

Change = tuple[int, int, int]  # when (Unix seconds), seconds east of Greenwich before and after
Date = tuple[str, int, int, int, int]  # kind (M, J or none), month or day, week, weekday, seconds of the day

DAY_S = 86400
# A rule of a zone has 30 to 50 characters.
RULE_CHARS = 100
# Where a zone has summer time and does not say when. Source: the tz code; POSIX leaves it open.
_USUAL = ("M3.2.0", None, "M11.1.0", None)
# Without an offset; OpenWrt's own default is UTC.
_GREENWICH = ("UTC", "GMT")
_NAME, _OFFSET = "(?:[A-Za-z]{3,}|<[^>]+>)", "([+-]?[0-9]{1,3}(?::[0-9]{1,3}){0,2})"
_DATE = f"(M[0-9]{{1,3}}[.][0-9]{{1,3}}[.][0-9]{{1,3}}|J?[0-9]{{1,3}})(?:/{_OFFSET})?"
_RULE = re.compile(f"{_NAME}{_OFFSET}(?:({_NAME}){_OFFSET}?(?:,{_DATE},{_DATE})?)?")
# What the numbers of a date may be, by its kind.
_RANGES = {"M": ((1, 12), (1, 5), (0, 6)), "J": ((1, 365),), "": ((0, 365),)}
_HINT = "a POSIX rule like CET-1CEST,M3.5.0,M10.5.0/3, or a name like Europe/Berlin"


class Zone:
    """The zone of a POSIX rule. Raises: UsageError for an invalid one."""

    def __init__(self, rule: str) -> None:
        self.rule = rule
        found = _RULE.fullmatch(rule + "0" if rule in _GREENWICH else rule)
        try:
            if found is None or len(rule) > RULE_CHARS:
                raise ValueError(rule)
            standard, summer_name, summer, *dates = found.groups()
            self._standard_s = -_seconds(standard, 24)
            self._summer_s = -_seconds(summer, 24) if summer else self._standard_s + 3600
            self._has_summer = bool(summer_name)
            begins, begins_at, ends, ends_at = dates if dates[0] else _USUAL
            self._begins, self._ends = _date(begins, begins_at), _date(ends, ends_at)
        except ValueError:
            raise UsageError("%r is no time zone" % rule[:RULE_CHARS], _HINT)
        self._years: dict[int, list[Change]] = {}

    def offset_s(self, unix_s: int) -> int:
        """Return the seconds east of Greenwich at a time."""
        found = [after_s for at, _, after_s in self._changes(time.gmtime(unix_s).tm_year) if at <= unix_s]
        return found[-1] if found else self._standard_s

    def local(self, unix_s: int) -> tuple[int, int, int, int, int, int]:
        """Return year, month, day, hour, minute and weekday (Monday 0) of a time."""
        found = time.gmtime(unix_s + self.offset_s(unix_s))
        return found.tm_year, found.tm_mon, found.tm_mday, found.tm_hour, found.tm_min, found.tm_wday

    def moment(self, day: int, minutes: int) -> int:
        """Return when a `day_number` has so many minutes: of two times the first, of a skipped one when it skips."""
        shown_s = day * DAY_S + minutes * 60
        offsets = (self._standard_s, self._summer_s) if self._has_summer else (self._standard_s,)
        fitting = [shown_s - offset for offset in offsets if self.offset_s(shown_s - offset) == offset]
        if fitting:
            return min(fitting)
        for at, before_s, after_s in self._changes(time.gmtime(shown_s).tm_year):
            if at + before_s <= shown_s < at + after_s:
                return at
        return shown_s - self._standard_s

    def shown(self, unix_s: int) -> str:
        """Return a time as the clocks there show it, to the minute."""
        return "%04d-%02d-%02d %02d:%02d" % self.local(unix_s)[:5]

    def _changes(self, year: int) -> list[Change]:
        if not self._has_summer:
            return []
        if year not in self._years:
            if len(self._years) > 8:
                self._years.clear()  # a search decades ahead only passes through
            years = (year - 1, year, year + 1)
            begins = [(_shown_s(self._begins, one) - self._standard_s, 1, self._summer_s) for one in years]
            ends = [(_shown_s(self._ends, one) - self._summer_s, 0, self._standard_s) for one in years]
            found = sorted(begins + ends)  # of two at the same time the beginning counts: summer time all year
            before = [self._standard_s + self._summer_s - found[0][2], *[after_s for _, _, after_s in found]]
            spans = zip(before, found, strict=False)
            self._years[year] = [(at, before_s, after_s) for before_s, (at, _, after_s) in spans]
        return self._years[year]


def day_number(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of a date."""
    # In years that begin in March a leap day is the last.
    early = year - 1 if month < 3 else year
    return (
        365 * early + early // 4 - early // 100 + early // 400
        + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    )  # fmt: skip


def month_days(year: int, month: int) -> int:
    """Return how many days a month has."""
    return 31 if month == 12 else day_number(year, month + 1, 1) - day_number(year, month, 1)


def _shown_s(rule: Date, year: int) -> int:
    """Return the wall time of a change as if it were in Greenwich."""
    kind, first, week, weekday, clock_s = rule
    if kind == "M":
        start = day_number(year, first, 1)
        day = (weekday - (start + 4)) % 7 + (week - 1) * 7  # 1970-01-01 was a Thursday, 4
        number = start + (day if day < month_days(year, first) else day - 7)
    else:
        skips = kind == "J" and first >= 60 and month_days(year, 2) == 29  # J counts no 29th of February
        number = day_number(year, 1, 1) + first + skips - (kind == "J")
    return number * DAY_S + clock_s


def _seconds(text: str, most_hours: int) -> int:
    """Read [+-]hh[:mm[:ss]]; raises ValueError for numbers that are too large."""
    numbers = [int(part) for part in text.lstrip("+-").split(":")]
    if numbers[0] > most_hours or max(numbers[1:], default=0) > 59:
        raise ValueError(text)
    found = sum(number * unit_s for number, unit_s in zip(numbers, (3600, 60, 1), strict=False))
    return -found if text.startswith("-") else found


def _date(text: str, clock: str | None) -> Date:
    """Read Mm.w.d, Jn or n, and the time of day behind it, which is two o'clock where none is said."""
    kind = text[0] if text[0] in "MJ" else ""
    numbers = [int(part) for part in text[len(kind) :].split(".")]
    if any(not least <= one <= most for one, (least, most) in zip(numbers, _RANGES[kind], strict=True)):
        raise ValueError(text)
    first, week, weekday = [*numbers, 0, 0][:3]
    return kind, first, week, weekday, 7200 if clock is None else _seconds(clock, 167)


class Zones:
    """The zones of one router: its own, and named ones; `fault` says why its own is not used."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._last: tuple[str, Zone] | None = None
        self.fault = ""

    def router(self) -> Zone:
        """Return the zone of the router as its settings are now; UTC where they name none that can be read."""
        options = next(iter(self._facts.sections("system", "system")), {})
        rule = str(options.get("timezone") or "")
        if self._last is None or self._last[0] != rule:
            self.fault = ""
            try:
                zone = Zone(rule) if rule else self.named(str(options.get("zonename") or ""))
            except UsageError as error:
                self.fault = "system.timezone: %s; times are UTC" % error.message
                zone = None
            self._last = rule, zone or Zone("UTC0")
        return self._last[1]

    def named(self, text: str) -> Zone | None:
        """Return the zone of a name or a rule, None for no words. Raises: UsageError for what is neither."""
        text = text.strip()
        return Zone(zone_rules().get(text.replace(" ", "_"), text)) if text else None
