"""`oasis look`: what devices, links, rules and services do now, and a speed test."""

from __future__ import annotations

from oasis.cli.prompt import follow
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen

_USAGE = "usage: oasis look traffic|radios|ports|rules|services|topology [TARGET], or: oasis look speed ADDRESS"
_HIDDEN = ("what", "untrusted")
_TWICE = ("name", True)


def look(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Show one subject, or follow a speed test."""
    what, target = arguments["WHAT"], arguments["TARGET"]
    if what == "speed":
        if not target:
            raise UsageError("a speed test needs an address", _USAGE)
        started: Any = call("monitor.speed", {"target": target})
        return follow(call, started, screen)
    found = call("monitor.look", {"what": what, **({"target": target} if target else {})})
    return screen.result(found, _lines({key: one for key, one in found.items() if key not in _HIDDEN}))


def _lines(answer: dict[str, object], indent: str = "") -> list[str | tuple[str, str]]:
    """Return an answer as lines: one for each entry, what is inside it further in."""
    lines: list[str | tuple[str, str]] = []
    for key, one in answer.items():
        name = indent + clean.line(key).replace("_", " ")
        if isinstance(one, dict) and any(isinstance(item, (dict, list)) for item in one.values()):
            lines += [(f"{name}:", "" if indent else "bold"), *_lines(one, indent + "  ")]
        elif isinstance(one, list) and any(isinstance(item, (dict, str)) for item in one):
            lines += [(f"{name}:", "" if indent else "bold"), *[f"{indent}  {_short(item)}" for item in one]]
        else:
            lines.append(f"{name}: {_short(one)}")
    return lines


def _short(value: object) -> str:
    if isinstance(value, dict):
        # A name stands before the handle of its device already.
        shown = [
            (key, one) for key, one in value.items() if one not in ("", [], {}) and (key, "device" in value) != _TWICE
        ]
        return ", ".join([f"{key.replace('_', ' ')} {_short(one)}" for key, one in shown]) or "none"
    if isinstance(value, list):
        return " ".join([_short(one) for one in value]) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean.line(str(value))
