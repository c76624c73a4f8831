"""Templates of the intent files: uci commands and sentences with {fields}; values are always quoted here.

An item of a command template is a command line, or {"each": set, "do": [items]} (once for each row of a set of
requests/sets.py, whose fields then are known), or {"if": field, "do": […]} or {"unless": field, "do": […]}.
In sentences, [ … ] is left out when a field in it is empty.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = list[dict[str, object]]

_FIELD = re.compile(r"\{(\w+)\}")
_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.(?:[A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?\d+\])){0,2}\Z")


def commands(items: list[object], fields: dict[str, object], rows: Callable[[str], Rows]) -> list[str]:
    """Return the uci command lines of a template. Raises: ValueError for a broken template, Problem from a set."""
    found: list[str] = []
    for item in items:
        if isinstance(item, str):
            found.append(_command(item, fields))
        elif isinstance(item, dict):
            for row in _branches(item, fields, rows):
                found.extend(commands(item["do"], {**fields, **row}, rows))
    return found


def _branches(item: dict[str, object], fields: dict[str, object], rows: Callable[[str], Rows]) -> Rows:
    if "each" in item:
        return rows(str(item["each"]))
    name = str(item.get("if", item.get("unless")))
    return [{}] if bool(fields.get(name)) == ("if" in item) else []


def _command(template: str, fields: dict[str, object]) -> str:
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


def fill(template: str, fields: dict[str, object]) -> str:
    """Put fields into a template, each once: braces in a value stay as they are. Raises: ValueError."""

    def replaced(match: re.Match[str]) -> str:
        if match.group(1) not in fields:
            raise ValueError(f"template {template}: no field {match.group(1)}")
        return text_of(fields[match.group(1)])

    return _FIELD.sub(replaced, template)


def sentence(template: str, fields: dict[str, object]) -> str:
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
