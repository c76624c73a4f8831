"""`oasis alias`: names that stand for AI services, or models of them, in the order to try them."""

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


def alias(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the aliases, set one, or delete one with -d."""
    name, targets = arguments["NAME"], [target for target in arguments["TARGET"].split("\n") if target]
    if arguments["-d"] and (not name or targets):
        raise UsageError("which alias is to go is not clear", "oasis alias -d NAME")
    if not targets and not arguments["-d"]:
        return _show(call, name, screen)
    if arguments["-d"]:
        reply, words = call("alias.delete", {"name": name}), f"{name} is no alias any more"
    else:
        reply = call("alias.set", {"name": name, "targets": targets})
        words = f"{name} stands for {', then '.join(targets)}"
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK


def _show(call: Call, name: str, screen: Screen) -> int:
    reply = call("alias.list", {})
    found = [item for item in reply["alias"] if name in ("", item["name"])]
    if name and not found:
        raise UsageError(f"there is no alias {name!r}", "set one: oasis alias NAME SERVICE/MODEL")
    if screen.is_json:
        screen.json({**reply, "alias": found})
        return OK
    for item in found:
        note = "" if item["ready"] else f"  cannot be used: {item['note']}"
        screen.line(clean.line(f"{item['name']}  {', then '.join(item['targets'])}{note}"))
    if not found:
        screen.line("no aliases are set; usual names are " + ", ".join(reply["usual"]))
    return OK
