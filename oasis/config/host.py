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
from oasis.system.late import late
from oasis.uci.model import Section

if False:  # annotations only
    from collections.abc import MutableMapping
    from typing import TypedDict

    from oasis.system.files import Files

    Item = str | int | float | bool
    Value = Item | list[Item]

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
            elif int in kinds and text.isascii() and text.isdigit() and len(text) < 20:
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
# quoted keys, strings on one line, whole numbers, decimals, true, false, and lists of these over any number of lines.
# Lists in lists, dates, inline tables, dotted keys and strings over several lines are refused by their line. tomllib is
# there from Python 3.11 on only, and gives no line of a key. Source: toml.io/en/v1.0.0.

MAX_CHARS = 256 * 1024
# Each of these matches a text in one way alone: a hostile file is read, or refused, in one pass.
_GAP = r"(?:[ \t\n]|\r\n|#[^\n]*\n)*"
_STRING = r"""(?:"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[btnfr"\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*"|"""
_STRING += r"""'[^'\x00-\x08\x0a-\x1f\x7f]*')"""
_DIGITS = r"[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9]+)?"
_ITEM = rf"(?:{_STRING}|(?:true|false|{_DIGITS})(?![\w.:-]))"
_LIST = rf"\[{_GAP}(?:{_ITEM}{_GAP}(?:,{_GAP}|(?=\])))*\]"
_KEY = rf"(?:[A-Za-z0-9_-]+|{_STRING})"
_LINE = late(
    rf"[ \t]*(?:(?:(\[\[?)[ \t]*({_KEY})[ \t]*(\]\]?)|({_KEY})[ \t]*=[ \t]*({_ITEM}|{_LIST}))[ \t]*)?"
    r"(?:#[^\n]*)?(?:\r?\n|\Z)"
)
_ITEMS = late(rf"#[^\n]*|({_ITEM})")
_HINT = "a value is a text in quotes on its line, a number, true, false or a [list] of these"
_ESCAPE = late(r"\\(?:[uU]([0-9A-Fa-f]+)|(.))")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def read(text: str, path: str) -> list[Table]:
    """Return the tables of a text.

    Raises: SettingsError naming `path` and the line.
    """
    if len(text) > MAX_CHARS:
        raise SettingsError("%s has more than %d characters" % (path, MAX_CHARS))
    tables: list[Table] = [{"name": "", "is_array": False, "line": 1, "values": {}}]
    at, line = 0, 1
    while at < len(text):
        found = _LINE.match(text, at)
        if found is None or len(found[1] or "") != len(found[3] or ""):
            raise SettingsError("%s:%d: this is no [table], [[table]] or key = value" % (path, line), _HINT)
        try:
            _take(found, line, tables)
        except (ValueError, OverflowError) as error:
            raise SettingsError("%s:%d: %s" % (path, line, error), _HINT)
        line += text.count("\n", at, found.end())
        at = found.end()
    return tables


def _take(found: re.Match[str], line: int, tables: list[Table]) -> None:
    """Take what a line says into the tables; ValueError and OverflowError for what cannot be."""
    brackets, name, _, key, value = found.groups()
    if name:
        name, is_array = _plain(name), brackets == "[["
        if any(table["name"] == name and not (is_array and table["is_array"]) for table in tables):
            raise ValueError("the table %s is there twice" % name)
        tables.append({"name": name, "is_array": is_array, "line": line, "values": {}})
    elif key:
        key, values = _plain(key), tables[-1]["values"]
        if key in values:
            raise ValueError("%s is set twice" % key)
        items = [_item(one) for one in _ITEMS.findall(value) if one]
        values[key] = (line, items if value[0] == "[" else items[0])


def _item(text: str) -> Item:
    if text[0] in "\"'":
        return _plain(text)
    if text in ("true", "false"):
        return text == "true"
    return float(text) if set(text) & set(".eE") else int(text)


def _plain(text: str) -> str:
    """Return what a key or a string says; ValueError for half a surrogate pair and what is no character."""
    if text[0] == '"':
        text = _ESCAPE.sub(lambda found: _ESCAPES[found[2]] if found[2] else chr(int(found[1], 16)), text)
        text.encode()
    return text[1:-1] if text[0] in "\"'" else text
