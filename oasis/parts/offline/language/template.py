"""Templates of the intent files, uci commands and sentences with {fields}; and the values of tool results for people.

An item of a command template is a command line (values are always quoted here), or {"each": set, "do": [items]} (once
for each row of a set of fulfil.SETS, whose fields then are known), or {"if": field, "do": […]} or {"unless": field,
"do": […]}. In sentences, [ … ] is left out when a field in it is empty.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Callable, Fields, Item, Json, Rows, Step, Texts

    Data = dict[str, Json]

_FIELD = re.compile(r"\{(\w+)\}")
_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.(?:[A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?\d+\])){0,2}\Z")


def commands(items: list[Item], fields: Fields, rows: Callable[[str], Rows]) -> list[str]:
    """Return the uci command lines of a template. Raises: ValueError for a broken template, Problem from a set."""
    found: list[str] = []
    for item in items:
        if isinstance(item, str):
            found.append(_command(item, fields))
        else:
            for row in _branches(item, fields, rows):
                found.extend(commands(item["do"], {**fields, **row}, rows))
    return found


def _branches(item: Step, fields: Fields, rows: Callable[[str], Rows]) -> Rows:
    if "each" in item:
        return rows(item["each"])
    is_wanted = bool(fields.get(item["if"])) if "if" in item else not fields.get(item["unless"])
    return [{}] if is_wanted else []


def _command(template: str, fields: Fields) -> str:
    verb, _, rest = template.partition(" ")
    path, equals, value = rest.partition("=")
    path = fill(path, fields)
    if not _PATH.match(path):
        raise ValueError(f"template {template}: path {path}")
    if not equals:
        return f"uci {verb} {path}"
    value = fill(value, fields)
    is_type = path.count(".") == 1
    return f"uci {verb} {path}={value if is_type else quoted(value)}"


def quoted(value: str) -> str:
    """Return a value in single quotes, as a shell reads it back unchanged."""
    return "'" + value.replace("'", "'\\''") + "'"


def fill(template: str, fields: Fields) -> str:
    """Put fields into a template, each once: braces in a value stay as they are. Raises: ValueError."""

    def replaced(match: re.Match[str]) -> str:
        if match.group(1) not in fields:
            raise ValueError(f"template {template}: no field {match.group(1)}")
        return text_of(fields[match.group(1)])

    return _FIELD.sub(replaced, template)


def sentence(template: str, fields: Fields) -> str:
    """Return a sentence; parts in [brackets] with an empty field are left out, unknown fields are empty."""

    def optional(match: re.Match[str]) -> str:
        names = _FIELD.findall(match.group(1))
        return match.group(1) if all(text_of(fields.get(name, "")) for name in names) else ""

    short = re.sub(r"\[([^\[\]]*\{[^\[\]]*)\]", optional, template)
    return _FIELD.sub(lambda match: text_of(fields.get(match.group(1), "")), short)


def text_of(value: object) -> str:
    """Return a slot's value as words: a device by its label, a list with commas."""
    if isinstance(value, dict):
        return str(value.get("label", ""))
    if isinstance(value, list):
        return ", ".join(text_of(item) for item in value)
    return "" if value is None else str(value)


def duration(seconds: object, texts: Texts) -> str:
    """Return a span of time in its two largest units."""
    if not isinstance(seconds, int):
        return ""
    parts = ((seconds // 86400, "days"), (seconds // 3600 % 24, "hours"), (seconds // 60 % 60, "minutes"))
    shown = [f"{count} {texts[name]}" for count, name in parts if count][:2]
    return " ".join(shown) or "0 " + texts["minutes"]


def size(number: object) -> str:
    """Return bytes with a unit."""
    if not isinstance(number, int):
        return ""
    value = float(number)
    units = ["TB", "GB", "MB", "kB", "B"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop()
    return f"{value:.{0 if value >= 10 else 1}f} {units[-1]}"


def bare(addresses: Json) -> list[str]:
    """Return addresses without the lengths of their networks."""
    return [str(one).partition("/")[0] for one in items(addresses)]


def table(value: Json) -> Data:
    """Return what should be an object, {} for anything else."""
    return value if isinstance(value, dict) else {}


def rows(value: Json) -> list[Data]:
    """Return the objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def items(value: Json) -> list[Json]:
    """Return what should be a list, [] for anything else."""
    return value if isinstance(value, list) else []
