"""Times as people say them, "every weekday at 7" or "jeden Tag um 22 Uhr", read into the forms of trigger.py.

times.json holds the expressions of each language, in the order in which they are tried. Each match takes its words out
of the sentence and gives a fact; what is left must be filler, else nothing is read: an ignored word could be the one
that mattered. `resolve` turns the facts, which belong to no language, into one form, or raises an error that says what
is missing, double or impossible. Pure: now and the zone are arguments. An ambiguity is decided and noted, or refused.

Fact: {"kind", "text": the words, and what the expression gave: "h", "m", "half", "part", "n", "unit", "day", "to",
"d", "month", "y", … as numbers or canonical words}.
"""

from __future__ import annotations

import os
import re
import time

from oasis.core import clean, jsonl
from oasis.errors import UsageError
from oasis.parts.schedule import trigger
from oasis.parts.schedule.cron import MONTHS, TEXT_CHARS
from oasis.parts.schedule.zone import DAY_S, day_number, month_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.schedule.shapes import Callable, Fact, LanguageData, Mapping
    from oasis.parts.schedule.zone import Zone

    Read = tuple[str, list[str]]
    Work = Callable[["Phrase", int, Zone], str]

_DATA = os.path.dirname(os.path.abspath(__file__)) + "/times.json"
LANGUAGES = ("en", "de", "es", "ja", "zh")
EXAMPLES = ("every weekday at 7:00", "tomorrow at 8 pm", "on the first of every month at 6:30")
HINT = "say it like " + ", ".join("'%s'" % one for one in EXAMPLES)
_MACRO = re.compile(r"\{([a-z]+)\}")
_NUMBERS = ("h", "m", "n", "d", "e", "y", "a", "b")
_TAKEN = "\0"
_QUOTES = str.maketrans("’‘´“”–—〜～、，", "'''\"\"----,,")
# What looks like one of the forms that jobs keep, and has a fault: its own error says more.
_STRICT = re.compile(r".*\(|@\w|[\d*][\d*,/-]* [\d*][\d*,/-]* \S+ \S+ \S+$|on \w*_\w*$|\d{4}-\d\d-\d\d(?: \d+:\d+)?$")
_SIGNS = re.compile(r"[\s,.;!?。\0]+")
_KANJI = {char: number for number, char in enumerate("零一二三四五六七八九")}
_KANJI.update({"〇": 0, "两": 2, "兩": 2})


class Language:
    """The expressions of one language, compiled."""

    def __init__(self, data: LanguageData) -> None:
        self._is_wide = bool(data.get("wide"))
        self._numbers = data["number"]
        self._words: dict[str, Mapping[str, str | int]] = {
            "day": data["day"], "month": data["month"], "unit": data["unit"], "part": data["part"],
        }  # fmt: skip
        self._macros = {name: _either(words) for name, words in {**self._words, "number": self._numbers}.items()}
        digits = "[0-9零〇一二三四五六七八九十两兩]{1,4}" if self._is_wide else "[0-9]{1,4}"
        self._macros["n"] = _either(self._numbers, digits)
        self._rules = [(kind, self._compiled(text), fixed[0] if fixed else {}) for kind, text, *fixed in data["rules"]]
        self._fill = self._compiled(data["fill"])

    def _compiled(self, expression: str) -> re.Pattern[str]:
        text = _MACRO.sub(lambda match: self._macros[match.group(1)], expression)
        return re.compile("(?:%s)" % text if self._is_wide else r"(?<![\w])(?:%s)(?![\w])" % text)

    def facts(self, text: str) -> tuple[list[Fact], str]:
        """Return the facts of a sentence in their order, and the words that are left."""
        found: list[tuple[int, Fact]] = []
        for kind, expression, fixed in self._rules:
            while True:
                match = expression.search(text)
                if match is None or match.start() == match.end():
                    break
                found.append((match.start(), self._fact(kind, match, fixed)))
                text = text[: match.start()] + _TAKEN * (match.end() - match.start()) + text[match.end() :]
        left = _SIGNS.sub(" ", self._fill.sub(" ", text)).strip(" -:'\"")
        return [fact for _, fact in sorted(found, key=lambda one: one[0])], left

    def _fact(self, kind: str, match: re.Match[str], fixed: Mapping[str, str | int]) -> Fact:
        fact: dict[str, str | int] = {"kind": kind, "text": match.group()}
        for name, word in match.groupdict().items():
            if word is not None:
                # A group of another branch has a digit: part2 is a part. A window alone has two hours.
                name = name if kind == "window" else name.rstrip("23")
                fact[name] = self._value(name.rstrip("2"), word)
        for name, other in (("day", "to"), ("d", "e")):
            if name not in fact and other in fact:
                fact[name] = fact.pop(other)
        return {**fact, **fixed}  # type: ignore[typeddict-item]  # as times.json has it

    def _value(self, name: str, word: str) -> str | int:
        if name in _NUMBERS:
            return _number(word, self._numbers)
        table = "day" if name == "to" else name
        return self._words[table][word] if table in self._words else word


def read(text: str, now_s: int, zone: Zone) -> tuple[str, list[str]]:
    """Return the form that jobs keep, and what was taken for granted.

    Raises: UsageError for words that are no time, mean several times, or mean an impossible one.
    """
    words = plain(text)
    if not words or len(words) > TEXT_CHARS:
        raise UsageError("%r is no time" % text[:80], HINT)
    forms: dict[str, list[str]] = {}
    faults: list[UsageError] = []
    rests: list[str] = []
    for language in languages().values():
        facts, left = language.facts(words)
        if left or not facts:
            rests += [left] if facts else []
            continue
        try:
            form, notes = resolve(Phrase(facts), now_s, zone)
            forms.setdefault(form, notes)
        except UsageError as error:
            faults.append(error)
    if len(forms) == 1:
        return next(iter(forms.items()))
    if forms:
        raise UsageError("%r can mean %s" % (text, " or ".join(forms)), "write one of these")
    if faults:
        raise UsageError("%r %s" % (text, faults[0].message), faults[0].hint or HINT)
    # Of what all languages left over, the shortest names best what was in the way.
    left = min(rests, key=len) if rests else ""
    raise UsageError("%r is no time that I know%s" % (text, ": what is %r?" % left if left else ""), HINT)


def form(text: str, now_s: int, zone: Zone) -> tuple[str, list[str]]:
    """Return a time as jobs keep it: one in such a form unchanged, other words as they are read.

    Raises: UsageError.
    """
    try:
        trigger.parse(text)
        return text.strip(), []
    except UsageError:
        if _STRICT.match(text.strip().lower()):
            raise
    return read(text, now_s, zone)


def moment(text: str, now_s: int, zone: Zone) -> int:
    """Return the one time that words mean.

    Raises: UsageError, also for what comes again and again.
    """
    meant = trigger.checked(form(text, now_s, zone)[0], now_s, zone)
    found = None if meant.event else meant.next(now_s, zone)
    if found is None or not meant.is_once:
        raise UsageError("%r is not one time" % text, "like 'tomorrow at 8 pm', or 2h")
    return found


def plain(text: str) -> str:
    """Return a text in small letters, wide forms and typographic signs as plain ones, single blanks."""
    text = clean.narrow(text.translate(_QUOTES)).casefold()
    return " ".join(text.replace("\0", " ").split()).strip(" .!?。\"'")


_languages: dict[str, Language] = {}


def languages() -> dict[str, Language]:
    """Return the languages, read with the first use: few routers are asked often."""
    if not _languages:
        with open(_DATA, "rb") as handle:
            data = jsonl.shipped(handle.read())
        _languages.update({name: Language(data[name]) for name in LANGUAGES})
    return _languages


def _either(words: Mapping[str, str | int], first: str = "") -> str:
    longest = sorted(words, key=len, reverse=True)
    return "(?:%s)" % "|".join(([first] if first else []) + [re.escape(word) for word in longest])


def _number(word: str, names: dict[str, int]) -> int:
    if word.isascii() and word.isdigit():
        return int(word)
    if word in names:
        return names[word]
    total = digit = 0
    for char in word:
        if char == "十":
            total, digit = total + (digit or 1) * 10, 0
        else:
            digit = digit * 10 + (int(char) if char.isdigit() and char.isascii() else _KANJI.get(char, 0))
    return total + digit


# What a part of the day means where no time of day is said, and the hours that it can go with.
PARTS = {
    "dawn": (5, 0, 6), "morning": (7, 0, 12), "noon": (12, 11, 15), "afternoon": (15, 12, 20), "evening": (20, 16, 23),
    "night": (22, 18, 30),
}  # fmt: skip
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MINUTES = {"minute": 1, "hour": 60}
_WHICH_CLOCK = "add a time of day, like 'at 7:00' or 'at 8 pm'"
_HALF_CLOCKS = range(1, 12)


class Phrase:
    """The facts of one sentence, by their kinds."""

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = facts
        self.notes: list[str] = []

    def of(self, kind: str) -> list[Fact]:
        """Return the facts of a kind."""
        return [fact for fact in self._facts if fact["kind"] == kind]

    def one(self, kind: str) -> Fact | None:
        """Return the one fact of a kind, None for none.

        Raises: UsageError for several.
        """
        found = self.of(kind)
        if len(found) > 1:
            raise UsageError("says %s and %s" % (found[0]["text"].strip(), found[1]["text"].strip()), "say one of them")
        return found[0] if found else None

    def the(self, kind: str) -> Fact:
        """Return the one fact of a kind that was found.

        Raises: UsageError for several.
        """
        found = self.one(kind)
        assert found is not None
        return found

    def kinds(self) -> frozenset[str]:
        """Return the kinds that say on which days."""
        return frozenset(fact["kind"] for fact in self._facts) - {"clock", "part"}

    def clocks(self) -> list[int]:
        """Return the minutes after midnight that were said; a part of the day counts where no clock was said."""
        loose = [fact["part"] for fact in self._facts if "part" in fact and fact["kind"] != "clock"]
        said = self.of("clock")
        if len(set(loose)) > 1 and len(loose) != len(said):
            raise UsageError("says several parts of the day", _WHICH_CLOCK)
        if not said:
            return [self._usual(part) for part in loose[:1]]
        if len(loose) == 1:
            loose = loose * len(said)
        parts = loose if len(loose) == len(said) else [""] * len(said)
        return sorted({self._clock(fact, fact.get("part") or part) for fact, part in zip(said, parts, strict=True)})

    def _usual(self, part: str) -> int:
        hour = PARTS[part][0]
        self.notes.append("no time of day was said: %s is taken as %02d:00" % (part, hour))
        return hour * 60

    def _clock(self, fact: Fact, part: str) -> int:
        hour, minute, half = int(fact["h"]), int(fact.get("m", 0)), str(fact.get("half", ""))
        if hour > 24 or minute > 59 or (hour == 24 and minute):
            raise UsageError("there is no time of day %d:%02d" % (hour, minute), "hours are 0 to 23, minutes 0 to 59")
        if half:
            hour = self._half(hour, half[0])
        elif part:
            hour = self._in(hour, part)
        elif hour in _HALF_CLOCKS and "m" not in fact and not fact.get("is_24"):
            self.notes.append("%d is taken as %02d:00 in the morning, not as %d:00" % (hour, hour, hour + 12))
        return (hour * 60 + (minute if not fact.get("back") else -minute)) % 1440

    def _half(self, hour: int, half: str) -> int:
        if half == "p" and hour >= 12:
            return hour
        if hour > 12:
            raise UsageError("says %d o'clock and am" % hour, _WHICH_CLOCK)
        return hour % 12 + (12 if half == "p" else 0)

    def _in(self, hour: int, part: str) -> int:
        """Return the hour of a clock that was said with a part of the day."""
        _, least, most = PARTS[part]
        for one in (hour, hour + 12) if hour <= 12 else (hour,):
            if least <= one <= most:
                return one % 24
            if part in ("night", "dawn") and one in (*range(0, 6), 12, 24):
                return one % 12
        raise UsageError("says %d o'clock and %s" % (hour, part), _WHICH_CLOCK)

    def check_order(self) -> None:
        """Refuse "Mondays at 8 and Fridays at 9": in one order every time would come on every day."""
        order = ["clock" if fact["kind"] == "clock" else "day" for fact in self._facts if fact["kind"] != "part"]
        first, last = (
            order.index("clock") if "clock" in order else 0,
            len(order) - order[::-1].index("clock") if "clock" in order else 0,
        )
        if "day" in order[first:last]:
            raise UsageError("says different times for different days", "make one order for each of them")

    def is_small_hour(self) -> bool:
        """Tell whether a night's hour after midnight was meant, which belongs to the next day."""
        parts = [fact["part"] for fact in self._facts if "part" in fact]
        is_midnight = any(fact.get("is_midnight") for fact in self.of("clock"))
        return is_midnight or ("night" in parts and bool(self.of("clock")) and min(self.clocks(), default=999) < 360)


def resolve(facts: Phrase, now_s: int, zone: Zone) -> Read:
    """Return the form that jobs keep and what was taken for granted.

    Raises: UsageError; its message goes on after the words that were read.
    """
    kinds = facts.kinds()
    odd = facts.of("odd")
    if odd:
        raise UsageError(
            "cannot be kept: a schedule knows times, weekdays and days of the month",
            "name such days, like every Monday",
        )
    facts.check_order()
    for needed, allowed, work in _SHAPES:
        if needed <= kinds <= needed | allowed:
            return work(facts, now_s, zone), facts.notes
    if not kinds or kinds == {"next"}:
        raise UsageError(
            "does not say on which day, or whether every day", "like 'every day at 7:00' or 'tomorrow at 7:00'"
        )
    raise UsageError("says on which day in two ways", "say one of them")


def _each(facts: Phrase, now_s: int, zone: Zone) -> str:
    """Read "every …": a day, a week, a month, a year, or so many hours or minutes."""
    each = facts.the("each")
    unit, number = each["unit"], each.get("n", 1)
    if unit in _MINUTES:
        return _interval(facts, number * _MINUTES[unit])
    if facts.of("window"):
        raise UsageError("says from when to when, but not every how many hours", "like 'every hour from 8 to 18'")
    if number != 1:
        raise UsageError(
            "cannot be kept: every %d %ss is no day of the week or month" % (number, unit),
            "name the days, like 'every Monday and Thursday' or 'on the 1st and 15th of every month'",
        )
    if facts.of("days"):
        return _weekly(facts, now_s, zone) if unit in ("day", "week") else _lost(unit)
    if facts.of("mday"):
        return _monthly(facts, now_s, zone) if unit == "month" else _lost(unit)
    if facts.of("date"):
        return _yearly(facts, now_s, zone) if unit == "year" else _lost(unit)
    if unit != "day":
        example = {"week": "every Monday", "month": "on the first of every month", "year": "every 24 December"}[unit]
        raise UsageError("does not say on which day of the %s" % unit, "like '%s at 7:00'" % example)
    clocks = _recurring(facts)
    return "%02d:%02d daily" % divmod(clocks[0], 60) if len(clocks) == 1 else _cron(clocks, "* * *")


def _lost(unit: str) -> str:
    raise UsageError("says on which day in two ways, one of them every %s" % unit, "say one of them")


def _recurring(facts: Phrase) -> list[int]:
    found = facts.clocks()
    if not found:
        facts.notes.append("no time of day was said: it is 00:00, when the day begins")
    return found or [0]


def _once_at(facts: Phrase) -> int:
    found = facts.clocks()
    if len(found) != 1:
        raise UsageError("does not say at what time of day" if not found else "says several times of day", _WHICH_CLOCK)
    return found[0]


def _cron(clocks: list[int], days: str) -> str:
    minutes = {clock % 60 for clock in clocks}
    if len(minutes) != 1:
        raise UsageError("says times of different minutes", "make one order for each of them")
    return "%d %s %s" % (minutes.pop(), ",".join("%d" % (clock // 60) for clock in clocks), days)


def _interval(facts: Phrase, minutes: int) -> str:
    if facts.of("clock") or minutes < 1 or (60 % minutes if minutes < 60 else minutes % 60 or 1440 % minutes):
        hint = "5, 10, 15, 20 or 30 minutes, or 1, 2, 3, 4, 6, 8 or 12 hours"
        what = "says at what time, too" if facts.of("clock") else "cannot be kept: a day has no such parts"
        raise UsageError(what, hint)
    if facts.of("mday") or facts.of("date"):
        _lost("hour" if minutes >= 60 else "minute")
    days = _weekdays(facts) if facts.of("days") else None
    window = facts.one("window")
    first, last = (window["h"], window["h2"]) if window else (0, 23)
    if window:
        first = facts._half(first, window["half"][0]) if "half" in window else first
        last = facts._half(last, window["half2"][0]) if "half2" in window else last
        if not first < last <= 23:
            raise UsageError("says from %d to %d" % (first, last), "from an earlier to a later hour, like from 8 to 18")
    step = minutes // 60
    if minutes < 60:
        span, last = "*/%d" % minutes, last - 1 if window else last
    else:
        span = "0"
    hours = "%d-%d" % (first, last) if window else "*"
    hours += "/%d" % step if step > 1 else ""
    if step == 24:
        hours = "0"
    return "%s %s * * %s" % (span, hours, ",".join(_DAYS[day] for day in sorted(days)) if days else "*")


def _weekdays(facts: Phrase) -> set[int]:
    found: set[int] = set()
    for fact in facts.of("days"):
        if "days" in fact:
            found.update(fact["days"])
        elif "to" in fact:
            found.update((fact["day"] + step) % 7 for step in range((fact["to"] - fact["day"]) % 7 + 1))
        else:
            found.add(fact["day"])
    return found


def _weekly(facts: Phrase, now_s: int, zone: Zone) -> str:
    days = [_DAYS[day] for day in sorted(_weekdays(facts))]
    if any(fact.get("which") for fact in facts.of("days")):
        raise UsageError("says every week and one week", "say one of them")
    clocks = _recurring(facts)
    if len(clocks) > 1:
        return _cron(clocks, "* * " + ",".join(days))
    name = "weekly" if len(days) == 1 else "custom"
    return "%02d:%02d %s(%s)" % (*divmod(clocks[0], 60), name, ",".join(days))


def _days(facts: Phrase, now_s: int, zone: Zone) -> str:
    """Read days of the week: again and again where it was said so or there are several, else the next one."""
    said = facts.of("days")
    if len(_weekdays(facts)) > 1 or any(fact.get("each") for fact in said):
        return _weekly(facts, now_s, zone)
    day, which = said[0]["day"], said[0].get("which", "")
    today, weekday, minutes = _today(now_s, zone), zone.local(now_s)[5], 0
    minutes = _once_at(facts)
    ahead = (day - weekday) % 7
    if which == "nextweek":
        return _date(today - weekday + 7 + day, minutes)
    if which == "this":
        return _date(today - weekday + day, minutes)
    if ahead == 0 and zone.moment(today, minutes) <= now_s:
        ahead = 7
    if which == "next":
        following = today - weekday + 7 + day
        if following != today + ahead:
            choice = "%s or %s" % (_date(today + ahead, minutes), _date(following, minutes))
            raise UsageError("can mean %s" % choice, "write the one that is meant")
    return _date(today + ahead, minutes)


def _monthly(facts: Phrase, now_s: int, zone: Zone) -> str:
    numbers = sorted({fact[name] for fact in facts.of("mday") for name in ("d", "e") if name in fact})
    for number in numbers:
        if not 1 <= number <= 31:
            raise UsageError("there is no day %d of a month" % number, "1 to 31; 31 is the last day of each month")
    clocks = _recurring(facts)
    if len(numbers) == 1 and len(clocks) == 1:
        return "%02d:%02d monthly(%d)" % (*divmod(clocks[0], 60), numbers[0])
    if numbers[-1] > 28:
        raise UsageError(
            "cannot be kept in one order: not every month has a day %d" % numbers[-1], "make one order for each"
        )
    return _cron(clocks, "%s * *" % ",".join(map(str, numbers)))


def _mday(facts: Phrase, now_s: int, zone: Zone) -> str:
    """Read a day of the month that no other word surrounds."""
    of = {fact.get("of", "") for fact in facts.of("mday")}
    if of == {"each"}:
        return _monthly(facts, now_s, zone)
    fact = facts.the("mday")
    if not of <= {"next", "this"}:
        raise UsageError(
            "does not say in which month, or whether in every month",
            "like 'on the %d. of every month at 7:00', or a date like 2026-12-24 18:00" % fact.get("d", 1),
        )
    year, month, _, _, _, _ = zone.local(now_s)
    year, month = (year + month // 12, month % 12 + 1) if of == {"next"} else (year, month)
    return _date(
        _number_of(year, month, min(fact["d"], month_days(year, month)) if fact["d"] == 31 else fact["d"]),
        _once_at(facts),
    )


def _month_of(date: Fact, facts: Phrase) -> tuple[int, int]:
    """Return month and day of a date as it was said."""
    if "a" in date:
        month, day = date["a"], date["b"]
        if date.get("order") == "dm":
            month, day = day, month
        elif month <= 12 and day <= 12 and month != day:
            raise UsageError(
                "has a date in which either number could be the day", "write it like 24 December or 2026-12-24"
            )
        elif month > 12:
            month, day = day, month
    else:
        month, day = date.get("month") or date["e"], date["d"]
    if not 1 <= month <= 12 or not 1 <= day <= month_days(2028, month):
        name = MONTHS[month - 1].capitalize() if 1 <= month <= 12 else "month %d" % month
        raise UsageError("means a day that does not exist: %d %s" % (day, name), "months have 28 to 31 days")
    return month, day


def _yearly(facts: Phrase, now_s: int, zone: Zone) -> str:
    date = facts.the("date")
    if "y" in date:
        raise UsageError("says every year and one year", "say one of them")
    month, day = _month_of(date, facts)
    return _cron(_recurring(facts), "%d %s *" % (day, MONTHS[month - 1]))


def _on_date(facts: Phrase, now_s: int, zone: Zone) -> str:
    """Read a date; without a year it is the next such day."""
    date = facts.the("date")
    month, day = _month_of(date, facts)
    minutes, year = _once_at(facts), zone.local(now_s)[0]
    if "y" in date:
        number = _number_of(date["y"] + (2000 if date["y"] < 100 else 0), month, day)
    else:
        fitting = [one for one in range(year, year + 9) if day <= month_days(one, month)]
        numbers = [day_number(one, month, day) for one in fitting]
        number = next(one for one in numbers if zone.moment(one, minutes) > now_s)
    named = facts.of("days")
    if named and _weekdays(facts) != {(number + 3) % 7}:
        raise UsageError(
            "does not fit: %s is a %s" % (_date(number, 0)[:10], _NAMES[(number + 3) % 7]), "leave out one of them"
        )
    return _date(number, minutes)


def _offset(facts: Phrase, now_s: int, zone: Zone) -> str:
    fact = facts.the("offset")
    number, minutes = _today(now_s, zone) + fact["n"], _once_at(facts)
    if facts.is_small_hour() and minutes < 360:
        if fact["n"]:
            choice = "%s or %s" % (_date(number, minutes), _date(number + 1, minutes))
            raise UsageError("can mean %s" % choice, "write the one that is meant")
        if zone.moment(number, minutes) <= now_s:
            number += 1
    return _date(number, minutes)


def _in(facts: Phrase, now_s: int, zone: Zone) -> str:
    fact = facts.the("in")
    unit, number = fact["unit"], fact["n"]
    if unit in _MINUTES:
        if facts.of("clock"):
            raise UsageError("says in how long and at what time", "say one of them")
        at = now_s + 60 * (number * _MINUTES[unit] + fact.get("m", 0))
        year, month, day, hour, minute, _ = zone.local(at)
        found = day_number(year, month, day), hour * 60 + minute
        if abs(zone.moment(*found) - at) > 60:
            raise UsageError("means an hour that the clocks show twice", "say it a little later or earlier")
        return _date(*found)
    year, month, day, hour, minute, _ = zone.local(now_s)
    today = day_number(year, month, day)
    minutes = _once_at(facts) if facts.of("clock") or facts.of("part") else hour * 60 + minute
    if unit in ("day", "week"):
        return _date(today + number * (7 if unit == "week" else 1), minutes)
    months = month - 1 + number * (12 if unit == "year" else 1)
    return _date(_number_of(year + months // 12, months % 12 + 1, day), minutes)


def _next(facts: Phrase, now_s: int, zone: Zone) -> str:
    """Read "once at 7"."""
    return "%02d:%02d once" % divmod(_once_at(facts), 60)


def _today(now_s: int, zone: Zone) -> int:
    return day_number(*zone.local(now_s)[:3])


def _number_of(year: int, month: int, day: int) -> int:
    if not 2000 <= year <= 2199 or not 1 <= day <= month_days(year, month):
        raise UsageError(
            "means a day that does not exist: %04d-%02d-%02d" % (year, month, day), "months have 28 to 31 days"
        )
    return day_number(year, month, day)


def _date(number: int, minutes: int) -> str:
    found = time.gmtime(number * DAY_S)
    return "%04d-%02d-%02d %02d:%02d" % (found.tm_year, found.tm_mon, found.tm_mday, *divmod(minutes, 60))


# Kinds that must be there, kinds that may be there as well, and what reads them.
_SHAPES: tuple[tuple[frozenset[str], frozenset[str], Work], ...] = (
    (frozenset({"each"}), frozenset({"days", "mday", "date", "window"}), _each),
    (frozenset({"days"}), frozenset({"once"}), _days),
    (frozenset({"mday"}), frozenset({"once"}), _mday),
    (frozenset({"date"}), frozenset({"days", "once"}), _on_date),
    (frozenset({"offset"}), frozenset({"once"}), _offset),
    (frozenset({"in"}), frozenset({"once"}), _in),
    (frozenset({"once"}), frozenset(), _next),
)
