"""Times as people write them, to Unix seconds and back; in the router's own time zone.

    2h, 30 min, 3 d, 1w      so long ago, or from now
    22:00                    the last time it was so late, or the next
    yesterday, today         since its beginning
    2026-11-20, 2026-11-20 22:00, 2026-11-20T22:00:00Z
Knows no clock: `now` enters as Unix seconds.
"""

import time

from oasis.errors import UsageError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_UNITS = {
    "sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "hr": "h", "day": "d", "week": "w",
}  # fmt: skip
HINT = "like 2h, 22:00, yesterday or 2026-11-20 22:00"


def since(text: str, now: int) -> int:
    """Return the time in the past that `text` means.

    Raises: UsageError for what is no time.
    """
    return _time(text, now, -1)


def until(text: str, now: int) -> int:
    """Return the time in the future that `text` means; a day ends with its last second.

    Raises: UsageError for what is no time, or is over.
    """
    found = _time(text, now, 1)
    if found <= now:
        raise UsageError("%r is over already" % text, "name a time in the future, " + HINT)
    return found


def _time(text: str, now: int, way: int) -> int:
    """Return the time that a text means, seen from now into the past (-1) or the future (1)."""
    words = text.strip().lower()
    days = {"today": 0, "yesterday": -1} if way < 0 else {"today": 1, "tomorrow": 2}
    if words in days:
        return _day(now, days[words], 0, 0)
    length = _length(words)
    if length is not None:
        return now + way * length
    hours, sign, minutes = words.partition(":")
    hour, minute = _number(hours, 2), _number(minutes, 2)
    if sign and hour is not None and minute is not None and len(minutes) == 2 and hour <= 23 and minute <= 59:
        found = _day(now, 0, hour, minute)
        is_there = found <= now if way < 0 else found > now
        return found if is_there else _day(now, way, hour, minute)
    found = _date(words, text)
    return _day(found, 1, 0, 0) if way > 0 and len(words) == 10 else found


def shown(unix_s: int) -> str:
    """Return a time as a date and a time of day."""
    return "%04d-%02d-%02d %02d:%02d" % tuple(time.localtime(unix_s)[:5])


def _length(words: str) -> "int | None":
    digits = words
    while digits and not ("0" <= digits[-1] <= "9"):
        digits = digits[:-1]
    unit = words[len(digits) :].strip()
    if len(unit) > 1 and unit.endswith("s"):
        unit = unit[:-1]
    unit = _UNITS.get(unit, unit)
    number = _number(digits, 6)
    return number * _SECONDS[unit] if number is not None and unit in _SECONDS else None


def _number(text: str, digits: int) -> "int | None":
    if not text or len(text) > digits or any(not ("0" <= char <= "9") for char in text):
        return None
    return int(text)


def _day(unix_s: int, days: int, hour: int, minute: int) -> int:
    """Return a time of day, so many days from the day of a time."""
    year, month, day = time.localtime(unix_s)[:3]
    return int(time.mktime((year, month, day + days, hour, minute, 0, 0, 0, -1)))


def _date(words: str, text: str) -> int:
    """Read an ISO date, with or without time, local or with a Z."""
    is_utc = words.endswith("z")
    date, sign, clock = words.rstrip("z").replace("t", " ").partition(" ")
    parts = date.split("-") + (clock.split(":") if sign else ["00", "00"])
    if len(parts) == 5:
        parts.append("00")
    numbers = [_number(part, 4) for part in parts]
    if len(date) == 10 and [len(part) for part in parts] == [4, 2, 2, 2, 2, 2] and None not in numbers:
        given = [number or 0 for number in numbers]
        given += [0, 0, -1]
        try:
            found = _utc(*given[:6]) if is_utc else int(time.mktime(tuple(given)))  # type: ignore[arg-type]
            # A 31st of February would be a day in March.
            if list((time.gmtime if is_utc else time.localtime)(found)[:5]) == numbers[:5]:
                return found
        except (ValueError, OverflowError):  # no such day, or one that a time of 32 bits does not reach
            pass
    raise UsageError("%r is no time" % text, HINT)


def _utc(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    # Days since 1970 in a year that begins in March, so that a leap day is its last.
    early = year - 1 if month < 3 else year
    days = 365 * early + early // 4 - early // 100 + early // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    return ((days * 24 + hour) * 60 + minute) * 60 + second
