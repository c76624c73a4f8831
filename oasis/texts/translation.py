"""Texts for people in their own language, translated where they leave for a front end.

Inside, Oasis speaks English: to models, in logs, in the audit, and in all that is stored, hashed or compared. Whoever
serves a reader of another language hands what is shown through a Translation, which finds a text as it stands, or by
the template that it was made of ("the plan %s has expired"): the values stay as they are, unless they are texts of ours
themselves. What is not known stays English. English costs nothing: nobody loads this for it.

LANGUAGE.po in this folder has the translations (package/i18n.py keeps it up to date); a package brings it without
comments, and packed by zlib. A placeholder is one of Python's; where the order differs, a translation has %2$s.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.path.dirname(__file__)
# What is text of ours in the reply to a method, or in an event of a run: all else is data.
FIELDS = {
    "reasons", "words", "summary", "message", "hint", "title", "explanation", "advice", "why", "reason", "evidence",
    "unconfined", "expiry", "untrusted", "from", "note", "what", "notes", "refused", "settings_wrong", "notices",
}  # fmt: skip
_PAIR = re.compile(r'msgid "(.+)"\nmsgstr "(.+)"\n')
_ESCAPE = re.compile(r"\\(.)")
_PLACE = re.compile(r"%(?:(\d)\$)?(?:\((\w+)\))?[-0-9.]*([a-z%])")
_FORMS = {"d": r"(-?\d+)", "g": r"([\d.e+-]+)", "r": r"""('.*?'|".*?"|-?\d+)""", "s": r"(.*?)", "o": r"(\d+)"}
# A template with fewer fits too much by chance; the second, where it begins with a value.
_LETTERS, _LETTERS_BEHIND = 3, 6
# Between texts of ours that stand in one.
_MARKS = ("; ", ": ", ", ", " and ", " (")
# Of a text that is taken apart: a value in a value in a value is rare, and a hostile one is not followed on.
_DEPTH, _TEXT_CHARS = 4, 2000
_KNOWN: dict[str, Translation] = {}


def translation(name: str) -> Translation | None:
    """Return the translation for a locale or a language tag like de_DE.UTF-8 or zh-cn; None for English.

    None too for what is no language, and for a language that is not installed.
    """
    code = name[:2].lower()
    if code == "en" or not (code.isascii() and code.isalpha()):
        return None
    if code not in _KNOWN:
        try:
            with open(f"{FOLDER}/{code}.po", "rb") as file:
                data = file.read()
        except OSError:
            return None
        _KNOWN[code] = Translation(pairs(data))
    return _KNOWN[code]


def pairs(data: bytes) -> dict[str, str]:
    """Return {English: translation} of a file; {} where it is packed and this Python has no zlib."""
    if not data.startswith((b"m", b"#")):
        try:
            import zlib  # a router may lack it

            data = zlib.decompress(data)
        except ImportError:
            return {}
    return {_plain(one): _plain(other) for one, other in _PAIR.findall(data.decode())}


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text) if "\\" in text else text


class Template:
    """A text with places for values, and its translation; the expression is compiled with the first use."""

    def __init__(self, english: str, translated: str) -> None:
        self.english, self._translated = english, translated
        places = [one.span() for one in _PLACE.finditer(english) if one[3] != "%"]
        begins, ends = [0, *(end for _, end in places)], [*(begin for begin, _ in places), len(english)]
        self.pieces = [english[a:b].replace("%%", "%") for a, b in zip(begins, ends, strict=True)]
        self.longest = max(self.pieces, key=len)
        self._form: re.Pattern[str] | None = None
        self._names: list[str] = []

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values of a text by the place or name of each, None for another text."""
        if self.longest not in text or not text.startswith(self.pieces[0]) or not text.endswith(self.pieces[-1]):
            return None
        if self._form is None:
            self._form = self._compiled()
        found = self._form.fullmatch(text)
        return dict(zip(self._names, found.groups(), strict=True)) if found else None

    def is_telling(self) -> bool:
        """Tell whether it says enough for its texts to be known by it."""
        is_led = bool(self.pieces[0].strip()) or self.pieces[1].startswith(":")
        return sum(map(str.isalpha, "".join(self.pieces))) >= (_LETTERS if is_led else _LETTERS_BEHIND)

    def _compiled(self) -> re.Pattern[str]:
        source, at = "", 0
        for place in _PLACE.finditer(self.english):
            source += re.escape(self.english[at : place.start()])
            at = place.end()
            if place[3] == "%":
                source += "%"
                continue
            source += _FORMS[place[3]]
            self._names.append(place[2] or str(len(self._names) + 1))
        return re.compile(source + re.escape(self.english[at:]), re.S)

    def filled(self, values: dict[str, str]) -> str:
        """Return the translation with values."""
        places = iter(self._names)

        def value(place: re.Match[str]) -> str:
            return "%" if place[3] == "%" else values[place[1] or place[2] or next(places)]

        return _PLACE.sub(value, self._translated)


class Translation:
    """The texts of one language. Shape of texts: {English: translation}."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._whole = texts
        # What ends in a colon has something behind it.
        more = {one + "%s": other + "%s" for one, other in texts.items() if one.endswith(": ") and len(one) > _LETTERS}
        templates = [Template(one, other) for one, other in {**texts, **more}.items() if "%" in one.replace("%%", "")]
        templates = [one for one in templates if one.is_telling()]
        # Of two that fit, the one that says more of the text is meant.
        self._templates = sorted(templates, key=lambda one: (-len("".join(one.pieces)), one.english))

    def text(self, text: str, depth: int = _DEPTH) -> str:
        """Return a text in this language, itself where it is not known."""
        found = self._known(text, depth)
        if found is not None or not depth:
            return found or text
        for mark in _MARKS:
            if mark in text:
                parts = text.split(mark)
                said = [self.text(part, depth - 1) for part in parts]
                if said != parts:
                    return self._whole.get(mark, mark).join(said)
        name, blank, rest = text.rpartition(" ")  # Interface guest
        return self._whole.get(name, name) + blank + rest

    def _known(self, text: str, depth: int) -> str | None:
        """Return a text that is whole or by its template one of ours, or a list of such; None for another."""
        if text in self._whole:
            return self._whole[text]
        if not depth or not text or len(text) > _TEXT_CHARS:
            return None
        for mark in _MARKS[:1] + _MARKS[2:3]:
            if mark in text:
                parts = [self._known(part, depth - 1) for part in text.split(mark)]
                if all(parts):
                    return self._whole.get(mark, mark).join(part or "" for part in parts)
        for template in self._templates:
            values = template.values(text)
            if values is not None:
                return template.filled({name: self.text(value, depth - 1) for name, value in values.items()})
        return None

    def reply(self, value: Any, is_text: bool = False) -> Any:
        """Return a reply or an event with its texts (FIELDS) in this language; the value itself stays as it is."""
        if isinstance(value, dict):
            return {key: self.reply(one, key in FIELDS or (is_text and key == "text")) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.reply(one, is_text) for one in value]
        return self.text(value) if is_text and isinstance(value, str) else value
