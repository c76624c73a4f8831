"""`oasis tools`: what models may use, whether it is on, whether the owner is asked, and what telling of it costs."""

from __future__ import annotations

from oasis.cli.commands import OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

# What each word sets; to ask or allow a tool that is off does not switch it on.
_SETS: dict[str, dict[str, object]] = {
    "enable": {"enabled": True},
    "disable": {"enabled": False},
    "ask": {"approval": "ask"},
    "allow": {"approval": "allow"},
    "deny": {"approval": "deny"},
}
ACTIONS = ("list", "show", *_SETS)
_SUMMARY_CHARS = 60


def tools(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the tools, show one whole, or set what the owner wants of one."""
    action, name = arguments["ACTION"], arguments["NAME"]
    if action in ("", "list", "show"):
        return _show(call("tool.list", {}), name, screen)
    if action not in _SETS or not name:
        wrong = f"`tools {action}` needs the name of a tool" if action in _SETS else f"unknown word {action!r}"
        raise UsageError(wrong, f"usage: oasis tools [list|show NAME|{'|'.join(f'{word} NAME' for word in _SETS)}]")
    reply = call("tool.set", {"name": name, **_SETS[action]})
    if screen.is_json:
        screen.json(reply)
    else:
        _line(reply["tool"], screen)
    return OK


def _show(reply: dict[str, Any], name: str, screen: Screen) -> int:
    found = [tool for tool in reply["tools"] if not name or tool["name"] == name]
    if not found:
        raise UsageError(f"there is no tool {name!r}", "list them with: oasis tools")
    if screen.is_json:
        screen.json({**reply, "tools": found} if not name else {"tools": found})
        return OK
    if name:
        return _whole(found[0], screen)
    source = ""
    for tool in found:
        if tool["source"] != source:
            source = tool["source"]
            screen.line(clean.line(source), "bold")
        _line(tool, screen)
    count = sum(tool["enabled"] for tool in found)
    screen.line(f"{count} of {len(found)} are on; telling a model of all of these costs about {reply['tokens']} tokens")
    return OK


def _line(tool: dict[str, Any], screen: Screen) -> None:
    state = tool["approval"] if tool["enabled"] else "off"
    text = clean.line(tool["description"])
    short = text if len(text) <= _SUMMARY_CHARS else text[:_SUMMARY_CHARS] + "…"
    screen.line(clean.line(f"  {tool['name']:<16} {tool['class']:<7} {state:<6} {tool['tokens']:>5}  {short}"))
    if tool.get("note"):
        screen.line(clean.line(f"      {tool['note']}"), "-")


def _whole(tool: dict[str, Any], screen: Screen) -> int:
    screen.line(clean.line(f"{tool['name']} ({tool['source']})"), "bold")
    state = "on" if tool["enabled"] else "off"
    screen.line(
        clean.line(f"  {state}, approval {tool['approval']}, class {tool['class']}, about {tool['tokens']} tokens")
    )
    if tool.get("note"):
        screen.line(clean.line(f"  {tool['note']}"), "-")
    screen.line(clean.text(tool["description"]))
    return OK
