"""Time zones: the POSIX rule of `system.timezone`, computed without tables and without libc.

A router has no zone files unless somebody installed them, and the C library reads its rule only once.
Source: POSIX.1-2017, section 8.3 (TZ), with the hours from -167 to 167 of RFC 8536.
"""

from __future__ import annotations

import time

from oasis.errors import UsageError
from oasis.system.clock import zone_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.tools.router import Facts

    Change = tuple[int, int, int]  # when (Unix seconds), seconds east of Greenwich before and after

DAY_S = 86400
# A rule of a zone has 30 to 50 characters.
RULE_CHARS = 100
# Where a zone has summer time and does not say when. Source: the tz code; POSIX leaves it open.
_USUAL = "M3.2.0,M11.1.0"
# Without an offset; OpenWrt's own default is UTC.
_GREENWICH = ("UTC", "GMT")
_HINT = "a POSIX rule like CET-1CEST,M3.5.0,M10.5.0/3, or a name like Europe/Berlin"


class Zone:
    """The zone of a POSIX rule.

    Raises: UsageError for an invalid one.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        text = _Text(rule)
        text.name()
        self._standard_s = 0 if rule in _GREENWICH else -text.seconds(24)
        self._summer_s = self._standard_s
        self._begins = self._ends = ("", 0, 0, 0, 0)
        self._has_summer = not text.is_over()
        if self._has_summer:
            text.name()
            self._summer_s = self._standard_s + 3600
            if not text.is_over() and text.next() != ",":
                self._summer_s = -text.seconds(24)
            rest = _Text(_USUAL) if text.is_over() else text.after(",")
            self._begins = rest.date()
            self._ends = rest.after(",").date()
            rest.end()
        self._years: dict[int, list[Change]] = {}

    def offset_s(self, unix_s: int) -> int:
        """Return the seconds east of Greenwich at a time."""
        year = time.gmtime(unix_s).tm_year
        found = [after_s for at, _, after_s in self._changes(year) if at <= unix_s]
        return found[-1] if found else self._standard_s

    def local(self, unix_s: int) -> tuple[int, int, int, int, int, int]:
        """Return year, month, day, hour, minute and weekday (Monday 0) of a time."""
        found = time.gmtime(unix_s + self.offset_s(unix_s))
        return found.tm_year, found.tm_mon, found.tm_mday, found.tm_hour, found.tm_min, found.tm_wday

    def moment(self, day: int, minutes: int) -> int:
        """Return the time of so many minutes after midnight of a day, counted as `day_number` does.

        Where clocks show it twice, the first; where they skip it, the moment at which they do.
        """
        shown_s = day * DAY_S + minutes * 60
        offsets = {self._standard_s, self._summer_s}
        fitting = [shown_s - offset for offset in offsets if self.offset_s(shown_s - offset) == offset]
        if fitting:
            return min(fitting)
        for at, before_s, after_s in self._changes(time.gmtime(shown_s).tm_year):
            if at + before_s <= shown_s < at + after_s:
                return at
        return shown_s - self._standard_s

    def shown(self, unix_s: int) -> str:
        """Return a time as the clocks there show it, to the minute."""
        year, month, day, hour, minute, _ = self.local(unix_s)
        return "%04d-%02d-%02d %02d:%02d" % (year, month, day, hour, minute)

    def _changes(self, year: int) -> list[Change]:
        """Return the changes of a year and its neighbours, in order."""
        if not self._has_summer:
            return []
        if year not in self._years:
            if len(self._years) > 8:
                self._years.clear()  # a search decades ahead only passes through
            found: list[tuple[int, int, int]] = []
            for one in (year - 1, year, year + 1):
                begins = _shown_s(self._begins, one) - self._standard_s
                ends = _shown_s(self._ends, one) - self._summer_s
                found += [(begins, 1, self._summer_s), (ends, 0, self._standard_s)]
            found.sort()  # of two at the same time the beginning counts: summer time all year is written so
            self._years[year] = [
                (at, found[number - 1][2] if number else self._other(after_s), after_s)
                for number, (at, _, after_s) in enumerate(found)
            ]
        return self._years[year]

    def _other(self, offset_s: int) -> int:
        return self._standard_s if offset_s == self._summer_s else self._summer_s


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
    if month == 12:
        return 31
    return day_number(year, month + 1, 1) - day_number(year, month, 1)


def _shown_s(rule: tuple[str, int, int, int, int], year: int) -> int:
    """Return the wall time of a change as if it were in Greenwich."""
    kind, first, week, weekday, clock_s = rule
    if kind == "M":
        start = day_number(year, first, 1)
        day = (weekday - (start + 4)) % 7 + (week - 1) * 7  # 1970-01-01 was a Thursday, 4
        if day >= month_days(year, first):
            day -= 7
        number = start + day
    else:
        is_leap = month_days(year, 2) == 29
        skips = 1 if kind == "J" and is_leap and first >= 60 else 0  # J counts no 29th of February
        number = day_number(year, 1, 1) + first + skips - (1 if kind == "J" else 0)
    return number * DAY_S + clock_s


class _Text:
    """What is left to read of a rule."""

    def __init__(self, rule: str) -> None:
        self._rule = rule
        self._at = 0
        if len(rule) > RULE_CHARS:
            raise self.fault()

    def fault(self) -> UsageError:
        return UsageError("%r is no time zone" % self._rule[:RULE_CHARS], _HINT)

    def is_over(self) -> bool:
        return self._at >= len(self._rule)

    def next(self) -> str:
        return self._rule[self._at : self._at + 1]

    def end(self) -> None:
        if not self.is_over():
            raise self.fault()

    def after(self, sign: str) -> _Text:
        if self.next() != sign:
            raise self.fault()
        self._at += 1
        return self

    def name(self) -> None:
        """Pass over a name: three letters or more, or anything in <>."""
        begin = self._at
        if self.next() == "<":
            while not self.is_over() and self.next() != ">":
                self._at += 1
            self.after(">")
        else:
            while self.next().isascii() and self.next().isalpha():
                self._at += 1
        if self._at - begin < 3:
            raise self.fault()

    def number(self, least: int, most: int) -> int:
        digits = ""
        while self.next() and self.next() in "0123456789":
            digits += self.next()
            self._at += 1
        if not digits or len(digits) > 3 or not least <= int(digits) <= most:
            raise self.fault()
        return int(digits)

    def seconds(self, hours: int) -> int:
        """Read [+-]hh[:mm[:ss]]."""
        sign = -1 if self.next() == "-" else 1
        if self.next() and self.next() in "+-":
            self._at += 1
        found = self.number(0, hours) * 3600
        for unit_s in (60, 1):
            if self.next() == ":":
                self._at += 1
                found += self.number(0, 59) * unit_s
        return sign * found

    def date(self) -> tuple[str, int, int, int, int]:
        """Read Mm.w.d, Jn or n, and the time of day behind it."""
        kind = self.next() if self.next() in ("M", "J") else ""
        self._at += len(kind)
        week = weekday = 0
        if kind == "M":
            first = self.number(1, 12)
            week = self.after(".").number(1, 5)
            weekday = self.after(".").number(0, 6)
        else:
            first = self.number(1, 365) if kind else self.number(0, 365)
        clock_s = 7200
        if self.next() == "/":
            self._at += 1
            clock_s = self.seconds(167)
        return kind, first, week, weekday, clock_s


_UTC = "UTC0"


class Zones:
    """The zones of one router: its own, and named ones; `fault` says why its own is not used."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._last: tuple[str, Zone] | None = None
        self.fault = ""

    def router(self) -> Zone:
        """Return the zone of the router as its settings are now; UTC where they name none that can be read."""
        sections = self._facts.sections("system", "system")
        options = sections[0] if sections else {}
        rule = str(options.get("timezone") or "")
        if self._last is None or self._last[0] != rule:
            self._last = rule, self._read(rule, str(options.get("zonename") or ""))
        return self._last[1]

    def _read(self, rule: str, name: str) -> Zone:
        self.fault = ""
        try:
            if rule:
                return Zone(rule)
            return self.named(name) or Zone(_UTC)
        except UsageError as error:
            self.fault = "system.timezone: %s; times are UTC" % error.message
            return Zone(_UTC)

    def named(self, text: str) -> Zone | None:
        """Return the zone of a name or a rule, None for no words.

        Raises: UsageError for what is neither.
        """
        text = text.strip()
        if not text:
            return None
        return Zone(zone_rules().get(text.replace(" ", "_"), text))
