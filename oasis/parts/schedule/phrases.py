"""Times as people say them, "every weekday at 7" or "jeden Tag um 22 Uhr", read into the forms of trigger.py.

times.json holds the expressions of each language, in the order in which they are tried. Each match takes its words out
of the sentence and gives a fact; what is left must be filler, else nothing is read: an ignored word could be the one
that mattered. A Phrase turns the facts, which belong to no language, into one form, or raises an error that says what
is missing, double or impossible. Pure: now and the zone are arguments. An ambiguity is decided and noted, or refused.

Fact: {"kind", "text": the words, and what the expression gave: "h", "m", "half", "part", "n", "unit", "day", "to",
"d", "month", "y", … as numbers or canonical words}.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Mapping

from oasis.core import clean, jsonl
from oasis.errors import UsageError
from oasis.parts.schedule import trigger
from oasis.parts.schedule.trigger import DAYS, MONTHS, TEXT_CHARS, shown
from oasis.parts.schedule.zone import DAY_S, Zone, day_number, month_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.schedule.shapes import Fact, LanguageData

    Values = Mapping[str, str | int]

LANGUAGES = ("en", "de", "es", "ja", "zh")
HINT = "say it like 'every weekday at 7:00', 'tomorrow at 8 pm', 'on the first of every month at 6:30'"
_MACRO = re.compile(r"\{([a-z]+)\}")
_NUMBERS = ("h", "m", "n", "d", "e", "y", "a", "b")
_TAKEN = "\0"
_QUOTES = str.maketrans("’‘´“”–—〜～、，", "'''\"\"----,,")
# What looks like one of the forms that jobs keep, and has a fault: its own error says more.
_STRICT = re.compile(r".*\(|@\w|[\d*][\d*,/-]* [\d*][\d*,/-]* \S+ \S+ \S+$|on \w*_\w*$|\d{4}-\d\d-\d\d(?: \d+:\d+)?$")
_SIGNS = re.compile(r"[\s,.;!?。\0]+")
_KANJI = {char: number for number, char in enumerate("零一二三四五六七八九")}
_KANJI.update({"〇": 0, "两": 2, "兩": 2})


def form(text: str, now_s: int, zone: Zone) -> tuple[str, list[str]]:
    """Return a time as jobs keep it, and what was assumed; such a form stays as it is. Raises: UsageError."""
    try:
        trigger.parse(text)
        return text.strip(), []
    except UsageError:
        if _STRICT.match(text.strip().lower()):
            raise
    return read(text, now_s, zone)


def moment(text: str, now_s: int, zone: Zone) -> int:
    """Return the one time that words mean. Raises: UsageError, also for what comes again and again."""
    meant = trigger.checked(form(text, now_s, zone)[0], now_s, zone)
    found = None if meant.event else meant.next(now_s, zone)
    if found is None or not meant.is_once:
        raise UsageError("%r is not one time" % text, "like 'tomorrow at 8 pm', or 2h")
    return found


def read(text: str, now_s: int, zone: Zone) -> tuple[str, list[str]]:
    """Return the form of words, and what was assumed. Raises: UsageError for none, several, or an impossible one."""
    # In small letters, with wide forms and typographic signs as plain ones, and single blanks.
    words = clean.narrow(text.translate(_QUOTES)).casefold()
    words = " ".join(words.replace(_TAKEN, " ").split()).strip(" .!?。\"'")
    if not words or len(words) > TEXT_CHARS:
        raise UsageError("%r is no time" % text[:80], HINT)
    for event, said in jsonl.table(__file__, "times.json")["events"].items():
        if any(re.fullmatch(one, words) for one in said):
            return "on " + event, []
    forms: dict[str, list[str]] = {}
    faults: list[UsageError] = []
    rests: list[str] = []
    for language in _languages():
        facts, left = language.facts(words)
        if left or not facts:
            rests += [left] if facts else []
            continue
        phrase = Phrase(facts, now_s, zone)
        try:
            forms.setdefault(phrase.form(), phrase.notes)
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


@functools.cache
def _languages() -> list[Language]:
    """Return the languages, read with the first use: few routers are asked often."""
    data = jsonl.table(__file__, "times.json")
    return [Language(data[name]) for name in LANGUAGES]


class Language:
    """The expressions of one language, compiled."""

    def __init__(self, data: LanguageData) -> None:
        self._numbers = data["number"]
        self._words: dict[str, Values] = {
            "day": data["day"], "to": data["day"], "month": data["month"], "unit": data["unit"], "part": data["part"],
        }  # fmt: skip
        is_wide = bool(data.get("wide"))
        digits = "[0-9零〇一二三四五六七八九十两兩]{1,4}" if is_wide else "[0-9]{1,4}"
        macros = {name: _either(words) for name, words in {**self._words, "number": self._numbers}.items()}
        macros["n"] = _either(self._numbers, digits)
        around = "(?:%s)" if is_wide else r"(?<![\w])(?:%s)(?![\w])"

        def compiled(expression: str) -> re.Pattern[str]:
            return re.compile(around % _MACRO.sub(lambda match: macros[match.group(1)], expression))

        self._rules = [(kind, compiled(text), fixed[0] if fixed else {}) for kind, text, *fixed in data["rules"]]
        self._fill = compiled(data["fill"])

    def facts(self, text: str) -> tuple[list[Fact], str]:
        """Return the facts of a sentence in their order, and the words that are left."""
        found: list[tuple[int, Fact]] = []
        for kind, expression, fixed in self._rules:
            while (match := expression.search(text)) and match.group():
                found.append((match.start(), self._fact(kind, match, fixed)))
                text = text[: match.start()] + _TAKEN * len(match.group()) + text[match.end() :]
        left = _SIGNS.sub(" ", self._fill.sub(" ", text)).strip(" -:'\"")
        return [fact for _, fact in sorted(found, key=lambda one: one[0])], left

    def _fact(self, kind: str, match: re.Match[str], fixed: Values) -> Fact:
        fact: dict[str, str | int] = {"kind": kind, "text": match.group()}
        for group, word in match.groupdict().items():
            if word is not None:
                # A group of another branch has a digit: part2 is a part. A window alone has two hours.
                name = group.rstrip("23")
                value = _number(word, self._numbers) if name in _NUMBERS else self._words.get(name, {word: word})[word]
                fact[group if kind == "window" else name] = value
        for name, other in (("day", "to"), ("d", "e")):
            if name not in fact and other in fact:
                fact[name] = fact.pop(other)
        return {**fact, **fixed}  # type: ignore[typeddict-item]  # as times.json has it


def _either(words: Values, first: str = "") -> str:
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
_MINUTES = {"minute": 1, "hour": 60}
_WHICH_CLOCK = "add a time of day, like 'at 7:00' or 'at 8 pm'"
_ONE_OF_THEM = "say one of them"


class Phrase:
    """The facts of one sentence, said at a time in a zone; `notes`: what was assumed. Errors go on after the words."""

    def __init__(self, facts: list[Fact], now_s: int, zone: Zone) -> None:
        self._facts = facts
        self._now_s = now_s
        self._zone = zone
        self._year, self._month, self._day, hour, minute, self._weekday = zone.local(now_s)
        self._today = day_number(self._year, self._month, self._day)
        self._minutes = hour * 60 + minute
        self.notes: list[str] = []

    def form(self) -> str:
        """Return the form that jobs keep. Raises: UsageError."""
        if self._of("odd"):
            what = "cannot be kept: a schedule knows times, weekdays and days of the month"
            raise UsageError(what, "name such days, like every Monday")
        # "Mondays at 8 and Fridays at 9": in one order every time would come on every day.
        order = "".join("c" if fact["kind"] == "clock" else "d" for fact in self._facts if fact["kind"] != "part")
        if "d" in order.strip("d"):
            raise UsageError("says different times for different days", "make one order for each of them")
        kinds = frozenset(fact["kind"] for fact in self._facts) - {"clock", "part"}
        for needed, allowed, work in _SHAPES:
            if needed in kinds and kinds <= {needed, *allowed}:
                return work(self)
        if not kinds or kinds == {"next"}:
            hint = "like 'every day at 7:00' or 'tomorrow at 7:00'"
            raise UsageError("does not say on which day, or whether every day", hint)
        raise UsageError("says on which day in two ways", _ONE_OF_THEM)

    def _of(self, kind: str) -> list[Fact]:
        return [fact for fact in self._facts if fact["kind"] == kind]

    def _one(self, kind: str) -> Fact:
        """Return the one fact of a kind that was found; several are refused."""
        found = self._of(kind)
        if len(found) > 1:
            raise UsageError("says %s and %s" % (found[0]["text"].strip(), found[1]["text"].strip()), _ONE_OF_THEM)
        return found[0]

    # Times of day, in minutes after midnight

    def _clocks(self) -> list[int]:
        """Return the times that were said; a part of the day counts where no clock was said."""
        loose = [fact["part"] for fact in self._facts if "part" in fact and fact["kind"] != "clock"]
        said = self._of("clock")
        if len(set(loose)) > 1 and len(loose) != len(said):
            raise UsageError("says several parts of the day", _WHICH_CLOCK)
        if not said:
            for part in loose[:1]:
                self.notes.append("no time of day was said: %s is taken as %02d:00" % (part, PARTS[part][0]))
            return [PARTS[part][0] * 60 for part in loose[:1]]
        if len(loose) == 1:
            loose = loose * len(said)
        parts = loose if len(loose) == len(said) else [""] * len(said)
        return sorted({self._clock(fact, fact.get("part") or part) for fact, part in zip(said, parts, strict=True)})

    def _clock(self, fact: Fact, part: str) -> int:
        hour, minute, half = int(fact["h"]), int(fact.get("m", 0)), str(fact.get("half", ""))
        if hour > 24 or minute > 59 or (hour == 24 and minute):
            raise UsageError("there is no time of day %d:%02d" % (hour, minute), "hours are 0 to 23, minutes 0 to 59")
        if half:
            hour = _in_half(hour, half)
        elif part:
            hour = _in_part(hour, part)
        elif 0 < hour < 12 and "m" not in fact and not fact.get("is_24"):
            self.notes.append("%d is taken as %02d:00 in the morning, not as %d:00" % (hour, hour, hour + 12))
        return (hour * 60 + (minute if not fact.get("back") else -minute)) % 1440

    def once_at(self) -> int:
        """Return the one time of day that was said."""
        found = self._clocks()
        if len(found) != 1:
            what = "says several times of day" if found else "does not say at what time of day"
            raise UsageError(what, _WHICH_CLOCK)
        return found[0]

    # What comes again and again

    def _again(self, word: str, days: str) -> str:
        """Return the form of certain days: one time of day with its word, else cron's fields with these days."""
        clocks = self._clocks()
        if not clocks:
            self.notes.append("no time of day was said: it is 00:00, when the day begins")
            clocks = [0]
        if word and len(clocks) == 1:
            return "%s %s" % (shown(clocks[0]), word)
        minutes = {clock % 60 for clock in clocks}
        if len(minutes) != 1:
            raise UsageError("says times of different minutes", "make one order for each of them")
        return "%d %s %s" % (minutes.pop(), ",".join("%d" % (clock // 60) for clock in clocks), days)

    def _each(self) -> str:
        """Read "every …": a day, a week, a month, a year, or so many hours or minutes."""
        each = self._one("each")
        unit, number = each["unit"], each.get("n", 1)
        if unit in _MINUTES:
            return self._interval(number * _MINUTES[unit])
        if self._of("window"):
            raise UsageError("says from when to when, but not every how many hours", "like 'every hour from 8 to 18'")
        if number != 1:
            what = "cannot be kept: every %d %ss is no day of the week or month" % (number, unit)
            hint = "name the days, like 'every Monday and Thursday' or 'on the 1st and 15th of every month'"
            raise UsageError(what, hint)
        for kind, units, work in (
            ("days", ("day", "week"), self._weekly), ("mday", ("month",), self._monthly),
            ("date", ("year",), self._yearly),
        ):  # fmt: skip
            if self._of(kind):
                if unit not in units:
                    raise _two_ways(unit)
                return work()
        if unit != "day":
            example = {"week": "every Monday", "month": "on the first of every month", "year": "every 24 December"}
            raise UsageError("does not say on which day of the %s" % unit, "like '%s at 7:00'" % example[unit])
        return self._again("daily", "* * *")

    def _interval(self, minutes: int) -> str:
        if self._of("clock") or minutes < 1 or (60 % minutes if minutes < 60 else minutes % 60 or 1440 % minutes):
            what = "says at what time, too" if self._of("clock") else "cannot be kept: a day has no such parts"
            raise UsageError(what, "5, 10, 15, 20 or 30 minutes, or 1, 2, 3, 4, 6, 8 or 12 hours")
        if self._of("mday") or self._of("date"):
            raise _two_ways("hour" if minutes >= 60 else "minute")
        hours, step = "*", minutes // 60
        if self._of("window"):
            window = self._one("window")
            first = _in_half(window["h"], window["half"]) if "half" in window else window["h"]
            last = _in_half(window["h2"], window["half2"]) if "half2" in window else window["h2"]
            if not first < last <= 23:
                hint = "from an earlier to a later hour, like from 8 to 18"
                raise UsageError("says from %d to %d" % (first, last), hint)
            hours = "%d-%d" % (first, last if step else last - 1)
        hours += "/%d" % step if step > 1 else ""
        span = "0" if step else "*/%d" % minutes
        return "%s %s * * %s" % (span, "0" if step == 24 else hours, self._day_names() or "*")

    def _weekdays(self) -> set[int]:
        found: set[int] = set()
        for fact in self._of("days"):
            if "days" in fact:
                found.update(fact["days"])
            else:
                span = (fact["to"] - fact["day"]) % 7 if "to" in fact else 0
                found.update((fact["day"] + step) % 7 for step in range(span + 1))
        return found

    def _day_names(self) -> str:
        return ",".join(DAYS[day][:3].lower() for day in sorted(self._weekdays()))

    def _weekly(self) -> str:
        days = self._day_names()
        if any(fact.get("which") for fact in self._of("days")):
            raise UsageError("says every week and one week", _ONE_OF_THEM)
        return self._again("%s(%s)" % ("custom" if "," in days else "weekly", days), "* * " + days)

    def _monthly(self) -> str:
        numbers = sorted({fact[name] for fact in self._of("mday") for name in ("d", "e") if name in fact})
        for number in numbers:
            if not 1 <= number <= 31:
                raise UsageError("there is no day %d of a month" % number, "1 to 31; 31 is the last day of each month")
        word = "monthly(%d)" % numbers[0] if len(numbers) == 1 else ""
        form = self._again(word, "%s * *" % ",".join(map(str, numbers)))
        if numbers[-1] > 28 and "monthly" not in form:
            what = "cannot be kept in one order: not every month has a day %d" % numbers[-1]
            raise UsageError(what, "make one order for each")
        return form

    def _yearly(self) -> str:
        date = self._one("date")
        if "y" in date:
            raise UsageError("says every year and one year", _ONE_OF_THEM)
        month, day = _month_of(date)
        return self._again("", "%d %s *" % (day, MONTHS[month - 1]))

    # What comes once

    def _days(self) -> str:
        """Read days of the week: again and again where it was said so or there are several, else the next one."""
        said = self._of("days")
        if len(self._weekdays()) > 1 or any(fact.get("each") for fact in said):
            return self._weekly()
        day, which, minutes = said[0]["day"], said[0].get("which", ""), self.once_at()
        this_week = self._today - self._weekday + day
        if which == "nextweek":
            return _date(this_week + 7, minutes)
        if which == "this":
            return _date(this_week, minutes)
        ahead = (day - self._weekday) % 7
        if ahead == 0 and self._zone.moment(self._today, minutes) <= self._now_s:
            ahead = 7
        if which == "next" and this_week + 7 != self._today + ahead:
            raise _ambiguous(self._today + ahead, this_week + 7, minutes)
        return _date(self._today + ahead, minutes)

    def _mday(self) -> str:
        """Read a day of the month that no other word surrounds."""
        of = {fact.get("of", "") for fact in self._of("mday")}
        if of == {"each"}:
            return self._monthly()
        fact = self._one("mday")
        if not of <= {"next", "this"}:
            hint = "like 'on the %d. of every month at 7:00', or a date like 2026-12-24 18:00" % fact.get("d", 1)
            raise UsageError("does not say in which month, or whether in every month", hint)
        year, month = self._year, self._month
        if of == {"next"}:
            year, month = year + month // 12, month % 12 + 1
        day = month_days(year, month) if fact["d"] == 31 else fact["d"]
        return _date(_number_of(year, month, day), self.once_at())

    def _on_date(self) -> str:
        """Read a date; without a year it is the next such day."""
        date = self._one("date")
        month, day = _month_of(date)
        minutes = self.once_at()
        if "y" in date:
            number = _number_of(date["y"] + (2000 if date["y"] < 100 else 0), month, day)
        else:
            years = [one for one in range(self._year, self._year + 9) if day <= month_days(one, month)]
            numbers = [day_number(one, month, day) for one in years]
            number = next(one for one in numbers if self._zone.moment(one, minutes) > self._now_s)
        weekday = (number + 3) % 7
        if self._of("days") and self._weekdays() != {weekday}:
            what = "does not fit: %s is a %s" % (_date(number, 0)[:10], DAYS[weekday])
            raise UsageError(what, "leave out one of them")
        return _date(number, minutes)

    def _offset(self) -> str:
        fact = self._one("offset")
        number, minutes = self._today + fact["n"], self.once_at()
        is_night = self._of("clock") and any(one.get("part") == "night" for one in self._facts)
        is_midnight = any(one.get("is_midnight") for one in self._of("clock"))
        if minutes < 360 and (is_night or is_midnight):  # a night's hour after midnight belongs to the next day
            if fact["n"]:
                raise _ambiguous(number, number + 1, minutes)
            if self._zone.moment(number, minutes) <= self._now_s:
                number += 1
        return _date(number, minutes)

    def _in(self) -> str:
        fact = self._one("in")
        unit, number = fact["unit"], fact["n"]
        if unit in _MINUTES:
            if self._of("clock"):
                raise UsageError("says in how long and at what time", _ONE_OF_THEM)
            at = self._now_s + 60 * (number * _MINUTES[unit] + fact.get("m", 0))
            year, month, day, hour, minute, _ = self._zone.local(at)
            found = day_number(year, month, day), hour * 60 + minute
            if abs(self._zone.moment(*found) - at) > 60:
                raise UsageError("means an hour that the clocks show twice", "say it a little later or earlier")
            return _date(*found)
        minutes = self.once_at() if self._of("clock") or self._of("part") else self._minutes
        if unit in ("day", "week"):
            return _date(self._today + number * (7 if unit == "week" else 1), minutes)
        months = self._month - 1 + number * (12 if unit == "year" else 1)
        return _date(_number_of(self._year + months // 12, months % 12 + 1, self._day), minutes)


# A kind that must be there, kinds that may be there as well, and what reads them.
_SHAPES: tuple[tuple[str, tuple[str, ...], Callable[[Phrase], str]], ...] = (
    ("each", ("days", "mday", "date", "window"), Phrase._each),
    ("date", ("days", "once"), Phrase._on_date),
    ("days", ("once",), Phrase._days),
    ("mday", ("once",), Phrase._mday),
    ("offset", ("once",), Phrase._offset),
    ("in", ("once",), Phrase._in),
    ("once", (), lambda phrase: shown(phrase.once_at()) + " once"),
)


def _two_ways(unit: str) -> UsageError:
    return UsageError("says on which day in two ways, one of them every %s" % unit, _ONE_OF_THEM)


def _ambiguous(number: int, other: int, minutes: int) -> UsageError:
    choice = _date(number, minutes), _date(other, minutes)
    return UsageError("can mean %s or %s" % choice, "write the one that is meant")


def _in_half(hour: int, half: str) -> int:
    is_afternoon = half.startswith("p")
    if is_afternoon and hour >= 12:
        return hour
    if hour > 12:
        raise UsageError("says %d o'clock and am" % hour, _WHICH_CLOCK)
    return hour % 12 + (12 if is_afternoon else 0)


def _in_part(hour: int, part: str) -> int:
    _, least, most = PARTS[part]
    for one in (hour, hour + 12) if hour <= 12 else (hour,):
        if least <= one <= most:
            return one % 24
        if part in ("night", "dawn") and one in (*range(0, 6), 12, 24):
            return one % 12
    raise UsageError("says %d o'clock and %s" % (hour, part), _WHICH_CLOCK)


def _month_of(date: Fact) -> tuple[int, int]:
    if "a" in date:
        month, day = date["a"], date["b"]
        if date.get("order") == "dm" or month > 12:
            month, day = day, month
        elif day <= 12 and month != day:
            hint = "write it like 24 December or 2026-12-24"
            raise UsageError("has a date in which either number could be the day", hint)
    else:
        month, day = date.get("month") or date["e"], date["d"]
    if not 1 <= month <= 12 or not 1 <= day <= month_days(2028, month):
        name = MONTHS[month - 1].capitalize() if 1 <= month <= 12 else "month %d" % month
        raise UsageError("means a day that does not exist: %d %s" % (day, name), "months have 28 to 31 days")
    return month, day


def _number_of(year: int, month: int, day: int) -> int:
    if not 2000 <= year <= 2199 or not 1 <= day <= month_days(year, month):
        what = "means a day that does not exist: %04d-%02d-%02d" % (year, month, day)
        raise UsageError(what, "months have 28 to 31 days")
    return day_number(year, month, day)


def _date(number: int, minutes: int) -> str:
    found = time.gmtime(number * DAY_S)
    return "%04d-%02d-%02d %s" % (found.tm_year, found.tm_mon, found.tm_mday, shown(minutes))
