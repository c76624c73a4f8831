"""The layers above UCI on a host that is no router: oasis.toml, then the environment.

    [main]           options of the section main            OASIS_<OPTION>=value does the same, and wins
    [[service]]      a service, before those of UCI          without its key: that is in the environment or kept by
                                                             `oasis key`
    [[alias]]        name, target
    [[price]]        model, service, input, output, cached

A key that nobody knows and a value of the wrong kind are errors that name file and line, or the variable. Variables
that hold API keys (OPENAI_API_KEY and the like, one for each provider; OASIS_LLM_API_KEY for the active service) are
read once and taken out of the environment, before anything is started that could inherit them.
"""

from __future__ import annotations

import re

from oasis import providers
from oasis.errors import SettingsError
from oasis.uci.model import Section

if False:  # annotations only
    from collections.abc import MutableMapping
    from typing import TypedDict

    from oasis.system.files import Files

    Value = str | int | float | bool | list["Value"]

    class Table(TypedDict):
        """A table of a TOML text; the keys before the first one are in one called ""."""

        name: str
        is_array: bool
        line: int
        values: dict[str, tuple[int, Value]]


FILE = "oasis.toml"
PLACE = "OASIS_CONFIG"
PREFIX = "OASIS_"
ACTIVE_KEY = "OASIS_LLM_API_KEY"
# Variables with this beginning that are no settings.
_OTHERS = (PLACE, ACTIVE_KEY, "OASIS_ROOT")

_TEXT, _NUMBER, _TRUTH = (str,), (int,), (bool,)
_AMOUNT = (int, float, str)
_MAIN: dict[str, tuple[type, ...]] = {
    "approval": _TEXT, "chat_path": _TEXT, "sync": _TEXT, "titles": _TEXT, "uci_backend": _TEXT, "currency": _TEXT,
    "quota": _NUMBER, "worker_max": _NUMBER, "worker_idle_s": _NUMBER, "confirm_s": _NUMBER, "budget_tokens": _NUMBER,
    "sync_interval_s": _NUMBER,
    "management_confirm_s": _NUMBER, "archive_gzip": _TRUTH, "alive_loopback": _TRUTH, "enabled": _TRUTH, "bus": _TRUTH,
    "budget_cost": _AMOUNT,
}  # fmt: skip
_SERVICE: dict[str, tuple[type, ...]] = {
    "name": _TEXT, "identifier": _TEXT, "model": _TEXT, "endpoint": _TEXT, "tool_mode": _TEXT, "ca_file": _TEXT,
    "proxy": _TEXT, "thinking": (str, int), "temperature": (int, float), "max_tokens": _NUMBER,
    "context_tokens": _NUMBER, "idle_s": _NUMBER, "connect_s": _NUMBER, "retries": _NUMBER, "extra": (list,),
    "search": _TRUTH, "cache": _TRUTH, "strict": _TRUTH, "dimensions": _NUMBER,
}  # fmt: skip
_TABLES: dict[str, dict[str, tuple[type, ...]]] = {
    "service": _SERVICE,
    "alias": {"name": _TEXT, "target": (str, list)},
    "price": {"model": _TEXT, "service": _TEXT, "input": _AMOUNT, "output": _AMOUNT, "cached": _AMOUNT},
}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}


class Layers:
    """What was found: `main` options, `sections` of services, aliases and prices, `keys` by profile, "" for the active.

    `path` is the file, for those who tell where a setting comes from.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.main: dict[str, str] = {}
        self.sections: list[Section] = []
        self.keys: dict[str, str] = {}


def load(files: Files, folder: str, environment: MutableMapping[str, str]) -> Layers:
    """Return the layers of a host; the keys are taken out of `environment`.

    Raises: SettingsError for what nobody knows or what is no value.
    """
    given = environment.get(PLACE, "")
    layers = Layers(given or folder + "/" + FILE)
    names = {ACTIVE_KEY: [""]}
    for profile, entry in providers.profiles().items():
        if entry.get("key_env"):
            names.setdefault(str(entry["key_env"]), []).append(profile)
    for name, owners in names.items():
        key = environment.pop(name, "").strip()
        layers.keys.update({owner: key for owner in owners if key})
    data = files.read(layers.path)
    if data is None and given:
        raise SettingsError("%s names %s, which is not there" % (PLACE, given))
    try:
        tables = read((data or b"").decode("utf-8"), layers.path)
    except UnicodeError:
        raise SettingsError("%s is not UTF-8" % layers.path)
    for table in tables:
        name = table["name"]
        if name == "main" and not table["is_array"]:
            for key, (line, value) in table["values"].items():
                where = "%s:%d" % (layers.path, line)
                layers.main[key] = str(_checked(where, "main", key, value, _MAIN))
        elif name or table["values"]:
            layers.sections.append(_section(table, layers))
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in _OTHERS:
            key, text = name[len(PREFIX) :].lower(), environment[name]
            kinds = _MAIN.get(key, ())
            setting: object = text
            if bool in kinds and text in ("0", "1", "true", "false"):
                setting = text in ("1", "true")
            elif int in kinds and text.isascii() and text.isdigit():
                setting = int(text)
            layers.main[key] = str(_checked("the variable " + name, "main", key, setting, _MAIN))
    return layers


def _section(table: Table, layers: Layers) -> Section:
    name, path = table["name"], layers.path
    where = "%s:%d" % (path, table["line"])
    if name not in _TABLES or not table["is_array"]:
        known = "[main], " + ", ".join("[[%s]]" % word for word in _TABLES)
        raise SettingsError("%s: no settings are called %s" % (where, name or "that, outside of a table"), known)
    section = Section(name, "%s%d" % (name, len(layers.sections) + 1), True)
    for key, (line, value) in table["values"].items():
        section.options[key] = _checked("%s:%d" % (path, line), name, key, value, _TABLES[name])
    if name in ("service", "alias") and not section.options.get("name"):
        raise SettingsError("%s: [[%s]] needs a name" % (where, name))
    if name == "service":
        section.options.setdefault("identifier", str(section.options["name"]).lower().replace(" ", ""))
    return section


def _checked(where: str, table: str, key: str, value: object, known: dict[str, tuple[type, ...]]) -> str | list[str]:
    """Return a value as UCI has it."""
    if key not in known:
        raise SettingsError("%s: %s has no setting %r" % (where, table, key), "there are: " + ", ".join(known))
    kinds = known[key]
    is_right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, list):
        is_right = is_right and all(isinstance(item, str) for item in value)
    if not is_right:
        raise SettingsError("%s: %s is not %s" % (where, key, " or ".join(_WORDS[kind] for kind in kinds)))
    if isinstance(value, bool):
        return "1" if value else "0"
    return list(value) if isinstance(value, list) else str(value)


# TOML
#
# The part of TOML 1.0 that settings need, with the line of each key: comments, [table], [[array of tables]], bare and
# quoted keys, strings on one line, whole numbers, decimals, true, false, and arrays of these over any number of lines.
# Dates, inline tables, dotted keys and strings over several lines are refused by their line. tomllib is there from
# Python 3.11 on only, and gives no line of a key. Source: toml.io/en/v1.0.0.

MAX_CHARS = 256 * 1024
DEPTH = 8
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]|\r\n|#[^\n]*)*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\.)*)"')
_LITERAL = re.compile(r"'([^'\x00-\x08\x0a-\x1f\x7f]*)'")
_DIGITS = re.compile(r"[+-]?(?:0|[1-9](?:_?[0-9])*)(\.[0-9](?:_?[0-9])*)?([eE][+-]?[0-9]+)?(?![\w.:-])")
_WORD = re.compile(r"(true|false)(?![\w.-])")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def read(text: str, path: str) -> list[Table]:
    """Return the tables of a text.

    Raises: SettingsError naming `path` and the line.
    """
    if len(text) > MAX_CHARS:
        raise SettingsError("%s has more than %d characters" % (path, MAX_CHARS))
    return _Reader(text, path).tables()


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0

    def tables(self) -> list[Table]:
        found: list[Table] = [{"name": "", "is_array": False, "line": 1, "values": {}}]
        self._match(_GAP)
        while self._at < len(self._text):
            line, is_array = self._line(), self._text.startswith("[[", self._at)
            if self._text[self._at] == "[":
                end = "]]" if is_array else "]"
                self._at += len(end)
                self._match(_BLANK)
                name = self._key()
                self._sign(end, "the name of a table ends with " + end, line)
                if any(table["name"] == name and not (is_array and table["is_array"]) for table in found):
                    raise self._wrong("the table %s is there twice" % name, line)
                found.append({"name": name, "is_array": is_array, "line": line, "values": {}})
            else:
                key, values = self._key(), found[-1]["values"]
                self._sign("=", "a = is missing behind %s" % key, line)
                if key in values:
                    raise self._wrong("%s is set twice" % key, line)
                values[key] = (line, self._value(0))
            if self._match(_REST) is None:
                raise self._wrong("nothing more is expected on this line")
            self._match(_GAP)
        return found

    def _key(self) -> str:
        found = self._match(_BARE)
        key = found if found is not None else self._string()
        if key is None:
            raise self._wrong("a key is letters, digits, _ and -, or stands in quotes")
        if self._text.startswith(".", self._at):
            raise self._wrong("keys with dots are not read here")
        return key

    def _value(self, depth: int) -> Value:
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
        number = self._match(_DIGITS)
        if number is None:
            raise self._wrong("this is no text in quotes, number, true, false or [list]")
        is_whole = not set(number) & set(".eE")
        return int(number.replace("_", "")) if is_whole else float(number.replace("_", ""))

    def _array(self, depth: int) -> list[Value]:
        if depth > DEPTH:
            raise self._wrong("lists are nested too deep")
        self._at += 1
        items: list[Value] = []
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

    def _sign(self, sign: str, words: str, line: int) -> None:
        self._match(_BLANK)
        if not self._text.startswith(sign, self._at):
            raise self._wrong(words, line)
        self._at += len(sign)
        self._match(_BLANK)

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
