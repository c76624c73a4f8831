"""When, as people say it: "every weekday at 7", "jeden Tag um 22 Uhr", read into the form that entries keep (when.py).

times.json holds the expressions of each language, in the order in which they are looked for. Each that fits takes its
words out of the sentence and gives a fact; what is left must be fill words, else nothing is read: a word that is passed
over could be the one that mattered. Then the facts, which belong to no language, give one form, or an error that says
what is missing, double or impossible. Pure: now and the zone are arguments.

Fact: {"kind", and of these what the expression gave: "h", "m", "half", "part", "n", "unit", "day", "to", "d", "month",
"y", … as numbers or words of ours}. A choice that the words leave open is made and noted, or refused.
"""

from __future__ import annotations

import os
import re

from oasis.core import clean, jsonl
from oasis.errors import UsageError
from oasis.parts.schedule import when
from oasis.parts.schedule.cron import TEXT_CHARS
from oasis.parts.schedule.facts import Facts, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.schedule.zone import Zone

    Fact = dict[str, Any]

_DATA = os.path.dirname(os.path.abspath(__file__)) + "/times.json"
LANGUAGES = ("en", "de", "es", "ja", "zh")
EXAMPLES = ("every weekday at 7:00", "tomorrow at 8 pm", "on the first of every month at 6:30")
HINT = "say it like " + ", ".join("'%s'" % one for one in EXAMPLES)
_MACRO = re.compile(r"\{([a-z]+)\}")
_NUMBERS = ("h", "m", "n", "d", "e", "y", "a", "b")
_TAKEN = "\0"
_QUOTES = {
    "’": "'",
    "‘": "'",
    "´": "'",
    "“": '"',
    "”": '"',
    "–": "-",
    "—": "-",
    "〜": "-",
    "～": "-",
    "、": ",",
    "，": ",",
}
# What is meant to be one of the forms that entries keep, and has a fault: its own error says more.
_STRICT = re.compile(r".*\(|@\w|[\d*][\d*,/-]* [\d*][\d*,/-]* \S+ \S+ \S+$|on \w*_\w*$|\d{4}-\d\d-\d\d(?: \d+:\d+)?$")
_SIGNS = re.compile(r"[\s,.;!?。\0]+")
_KANJI = {char: number for number, char in enumerate("零一二三四五六七八九")}
_KANJI.update({"〇": 0, "两": 2, "兩": 2})


class Language:
    """The expressions of one language, compiled."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._is_wide = bool(data.get("wide"))
        self._words: dict[str, dict[str, Any]] = {
            name: data[name] for name in ("number", "day", "month", "unit", "part")
        }
        self._macros = {name: _either(words) for name, words in self._words.items()}
        digits = "[0-9零〇一二三四五六七八九十两兩]{1,4}" if self._is_wide else "[0-9]{1,4}"
        self._macros["n"] = _either(self._words["number"], digits)
        self._rules = [(one[0], self._compiled(one[1]), one[2] if len(one) > 2 else {}) for one in data["rules"]]
        self._fill = self._compiled(data["fill"])

    def _compiled(self, expression: str) -> re.Pattern[str]:
        text = _MACRO.sub(lambda match: self._macros[match.group(1)], expression)
        return re.compile("(?:%s)" % text if self._is_wide else r"(?<![\w])(?:%s)(?![\w])" % text)

    def facts(self, text: str) -> tuple[list[Fact], str]:
        """Return the facts of a sentence in their order, and the words that are none."""
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

    def _fact(self, kind: str, match: re.Match[str], fixed: dict[str, Any]) -> Fact:
        fact: Fact = {"kind": kind, "text": match.group()}
        for name, word in match.groupdict().items():
            if word is not None:
                # A group of another branch has a digit: part2 is a part. A window alone has two hours.
                name = name if kind == "window" else name.rstrip("23")
                fact[name] = self._value(name.rstrip("2"), word)
        for name, other in (("day", "to"), ("d", "e")):
            if name not in fact and other in fact:
                fact[name] = fact.pop(other)
        return {**fact, **fixed}

    def _value(self, name: str, word: str) -> Any:
        if name in _NUMBERS:
            return _number(word, self._words["number"])
        table = "day" if name == "to" else name
        return self._words[table][word] if table in self._words else word


def read(text: str, now_s: int, zone: Zone) -> tuple[str, list[str]]:
    """Return the form that entries keep, and what was taken for granted.

    Raises: UsageError for words that are no time, mean several times, or mean one that there is not.
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
            form, notes = resolve(Facts(facts), now_s, zone)
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
    """Return a time as entries keep it: one that is in such a form as it is, other words as they are read.

    Raises: UsageError.
    """
    try:
        when.parse(text)
        return text.strip(), []
    except UsageError:
        if _STRICT.match(text.strip().lower()):
            raise
    return read(text, now_s, zone)


def moment(text: str, now_s: int, zone: Zone) -> int:
    """Return the one time that words mean.

    Raises: UsageError, also for what comes again and again.
    """
    meant = when.checked(form(text, now_s, zone)[0], now_s, zone)
    found = None if meant.event else meant.next(now_s, zone)
    if found is None or not meant.is_once:
        raise UsageError("%r is not one time" % text, "like 'tomorrow at 8 pm', or 2h")
    return found


def plain(text: str) -> str:
    """Return a text in small letters, wide forms and typographic signs as plain ones, single blanks."""
    text = clean.narrow("".join(_QUOTES.get(char, char) for char in text)).casefold()
    return " ".join(text.replace("\0", " ").split()).strip(" .!?。\"'")


_languages: dict[str, Language] = {}


def languages() -> dict[str, Language]:
    """Return the languages, read with the first use: few routers are asked often."""
    if not _languages:
        with open(_DATA, "rb") as handle:
            data = jsonl.loads(handle.read())
        _languages.update({name: Language(data[name]) for name in LANGUAGES})
    return _languages


def _either(words: dict[str, Any], first: str = "") -> str:
    longest = sorted(words, key=len, reverse=True)
    return "(?:%s)" % "|".join(([first] if first else []) + [re.escape(word) for word in longest])


def _number(word: str, names: dict[str, Any]) -> int:
    if word.isascii() and word.isdigit():
        return int(word)
    if word in names:
        return int(names[word])
    total = digit = 0
    for char in word:
        if char == "十":
            total, digit = total + (digit or 1) * 10, 0
        else:
            digit = digit * 10 + (int(char) if char.isdigit() and char.isascii() else _KANJI.get(char, 0))
    return total + digit
