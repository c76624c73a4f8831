"""Read the part of TOML 1.0 that settings need, and remember on which line each key stands.

Read are comments, [table], [[array of tables]], bare and quoted keys, strings on one line, whole numbers, decimals,
true, false, and arrays of these over any number of lines. Dates, inline tables, dotted keys and strings over several
lines are refused by their line. tomllib is there from Python 3.11 on only, and tells no line of a key.

Shape: [{"name", "is_array", "line", "values": {key: (line, value)}}]; keys before the first table are in one called "".
Source: toml.io/en/v1.0.0.
"""

from __future__ import annotations

import re

from oasis.errors import SettingsError

if False:  # annotations only
    from oasis.core.shapes import Any

    Table = dict[str, Any]

MAX_CHARS = 256 * 1024
DEPTH = 8
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]|\r\n|#[^\n]*)*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\.)*)"')
_LITERAL = re.compile(r"'([^'\x00-\x08\x0a-\x1f\x7f]*)'")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9](?:_?[0-9])*)(\.[0-9](?:_?[0-9])*)?([eE][+-]?[0-9]+)?(?![\w.:-])")
_WORD = re.compile(r"(true|false)(?![\w.-])")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def read(text: str, path: str) -> list[Table]:
    """Return the tables of a text.

    Raises: SettingsError naming `path` and the line.
    """
    return _Reader(text, path).tables()


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0
        if len(text) > MAX_CHARS:
            raise SettingsError("%s has more than %d characters" % (path, MAX_CHARS))

    def tables(self) -> list[Table]:
        found: list[Table] = [{"name": "", "is_array": False, "line": 1, "values": {}}]
        self._match(_GAP)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                found.append(self._header(found))
            else:
                self._pair(found[-1]["values"])
            self._match(_GAP)
        return found

    def _header(self, found: list[Table]) -> Table:
        line, is_array = self._line(), self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        self._match(_BLANK)
        name = self._key()
        self._match(_BLANK)
        end = "]]" if is_array else "]"
        if not self._text.startswith(end, self._at):
            raise self._wrong("the name of a table ends with %s" % end, line)
        self._at += len(end)
        self._end_line()
        if any(table["name"] == name and not (is_array and table["is_array"]) for table in found):
            raise self._wrong("the table %s is there twice" % name, line)
        return {"name": name, "is_array": is_array, "line": line, "values": {}}

    def _pair(self, values: dict[str, tuple[int, Any]]) -> None:
        line, key = self._line(), self._key()
        self._match(_BLANK)
        if not self._text.startswith("=", self._at):
            raise self._wrong("a = is missing behind %s" % key, line)
        self._at += 1
        self._match(_BLANK)
        if key in values:
            raise self._wrong("%s is set twice" % key, line)
        values[key] = (line, self._value(0))
        self._end_line()

    def _key(self) -> str:
        found = self._match(_BARE)
        key = found if found is not None else self._string()
        if key is None:
            raise self._wrong("a key is letters, digits, _ and -, or stands in quotes")
        if self._text.startswith(".", self._at):
            raise self._wrong("keys with dots are not read here")
        return key

    def _value(self, depth: int) -> Any:
        if self._text.startswith(('"""', "'''"), self._at):
            raise self._wrong("strings over several lines are not read here")
        if self._text.startswith("[", self._at):
            return self._array(depth + 1)
        text = self._string()
        if text is not None:
            return text
        word = self._match(_WORD)
        if word is not None:
            return word == "true"
        number = self._match(_NUMBER)
        if number is None:
            raise self._wrong("this is no text in quotes, number, true, false or [list]")
        is_whole = not set(number) & set(".eE")
        return int(number.replace("_", "")) if is_whole else float(number.replace("_", ""))

    def _array(self, depth: int) -> list[Any]:
        if depth > DEPTH:
            raise self._wrong("lists are nested too deep")
        self._at += 1
        items: list[Any] = []
        self._match(_GAP)
        while not self._text.startswith("]", self._at):
            items.append(self._value(depth))
            self._match(_GAP)
            if self._text.startswith(",", self._at):
                self._at += 1
                self._match(_GAP)
            elif not self._text.startswith("]", self._at):
                raise self._wrong("a list ends with ], and its items with a comma")
        self._at += 1
        return items

    def _string(self) -> str | None:
        literal = _LITERAL.match(self._text, self._at)
        found = literal or _BASIC.match(self._text, self._at)
        if found is None:
            if self._text.startswith(("'", '"'), self._at):
                raise self._wrong("a string ends on its line, with the quote that it began with")
            return None
        text = found.group(1) if literal else _ESCAPE.sub(self._unescaped, found.group(1))
        self._at = found.end()
        return text

    def _unescaped(self, found: re.Match[str]) -> str:
        word = found.group(1)
        if word in _ESCAPES:
            return _ESCAPES[word]
        code = int(word[1:], 16) if len(word) > 1 else -1
        if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
            raise self._wrong("\\%s is no escape" % word)
        return chr(code)

    def _end_line(self) -> None:
        if self._match(_REST) is None:
            raise self._wrong("nothing more is expected on this line")

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found.group()

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _wrong(self, words: str, line: int = 0) -> SettingsError:
        return SettingsError("%s:%d: %s" % (self._path, line or self._line(), words))
