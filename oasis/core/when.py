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
    words = text.strip().lower()
    if words in ("today", "yesterday"):
        return _day(now, -1 if words == "yesterday" else 0, 0, 0)
    length = _length(words)
    if length is not None:
        return now - length
    clock = _clock(words)
    if clock is not None:
        today = _day(now, 0, clock[0], clock[1])
        return today if today <= now else _day(now, -1, clock[0], clock[1])
    return _date(words, text)


def until(text: str, now: int) -> int:
    """Return the time in the future that `text` means; a day ends with its last second.

    Raises: UsageError for what is no time, or is over.
    """
    words = text.strip().lower()
    length, clock = _length(words), _clock(words)
    if words in ("today", "tomorrow"):
        found = _day(now, 2 if words == "tomorrow" else 1, 0, 0)
    elif length is not None:
        found = now + length
    elif clock is not None:
        found = _day(now, 0, clock[0], clock[1])
        if found <= now:
            found = _day(now, 1, clock[0], clock[1])
    else:
        found = _date(words, text)
        if len(words) == 10:
            found = _day(found, 1, 0, 0)
    if found <= now:
        raise UsageError("%r is over already" % text, "name a time in the future, " + HINT)
    return found


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


def _clock(words: str) -> "tuple[int, int] | None":
    hours, sign, minutes = words.partition(":")
    hour, minute = _number(hours, 2), _number(minutes, 2)
    if not sign or hour is None or minute is None or len(minutes) != 2 or hour > 23 or minute > 59:
        return None
    return hour, minute


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
    found = None
    if len(date) == 10 and [len(part) for part in parts] == [4, 2, 2, 2, 2, 2] and None not in numbers:
        found = (_utc if is_utc else _local)([number or 0 for number in numbers])
    if found is None:
        raise UsageError("%r is no time" % text, HINT)
    return found


def _local(values: "list[int]") -> "int | None":
    """Return Unix seconds, None for a 31st of February: mktime would make it a day in March."""
    try:
        year, month, day, hour, minute, second = values
        found = int(time.mktime((year, month, day, hour, minute, second, 0, 0, -1)))
    except (ValueError, OverflowError):
        return None
    return found if list(time.localtime(found)[:5]) == values[:5] else None


def _utc(values: "list[int]") -> "int | None":
    year, month, day, hour, minute, second = values
    # Days since 1970 in a year that begins in March, so that a leap day is its last.
    early = year - 1 if month < 3 else year
    days = 365 * early + early // 4 - early // 100 + early // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    found = ((days * 24 + hour) * 60 + minute) * 60 + second
    return found if list(time.gmtime(found)[:5]) == values[:5] else None
