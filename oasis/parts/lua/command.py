"""`oasis plugins`: tool servers on this router that were made for the Lua Oasis: list, review, accept."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen


ACTIONS = ("list", "review", "accept")


def plugins(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list them without one."""
    action, name = arguments["ACTION"] or "list", arguments["NAME"]
    if action not in ACTIONS:
        raise UsageError(f"unknown action {action!r}", "one of " + ", ".join(ACTIONS))
    if action == "list":
        return _list(call, screen)
    if not name:
        raise UsageError(f"`plugins {action}` needs the NAME of a tool server", "list them: oasis plugins")
    if action == "accept":
        return _accept(call, name, arguments["HASH"], screen)
    _review(call, name, screen, screen.is_json)
    return OK


def _list(call: Call, screen: Screen) -> int:
    reply = call("plugin.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for one in reply["plugins"]:
        screen.line(clean.line(f"{one['server']:<32} {one['state']:<9} {', '.join(one['tools'])}"))
        if one.get("note"):
            screen.line(clean.line(f"    {one['note']}"), "-")
    for note in reply["notes"]:
        screen.line(clean.line(note), "-")
    if not reply["plugins"]:
        screen.line("no manifest in /etc/oasis/tool-manifest.d describes a tool server")
    return OK


def _review(call: Call, name: str, screen: Screen, is_json: bool) -> str:
    """Show the review of a server; return the sum of its file."""
    reply = call("plugin.review", {"server": name})
    digest = str(reply["sha256"])
    if is_json:
        screen.json(reply)
        return digest
    for line in reply["lines"]:
        screen.line("  " + clean.line(line))
    if reply["more"]:
        screen.line(f"  … and {reply['more']} lines more")
    for tool in reply["tools"]:
        screen.line(clean.line(f"{tool['name']}: {tool['description']}"))
    screen.line(clean.line(f"{reply['server']}, {reply['path']}: {reply['state']}"), "bold")
    screen.line(f"sha256 {reply['sha256']}")
    screen.line(reply["words"])
    return digest


def _accept(call: Call, name: str, digest: str, screen: Screen) -> int:
    if not digest:
        if not screen.can_ask:
            raise UsageError(
                "without a terminal the sum of the file is needed",
                f"oasis plugins review {name}, then accept {name} SUM",
            )
        from oasis.cli.terminal import read_line

        digest = _review(call, name, screen, is_json=False)
        if (read_line(screen, "Accept it? Type yes: ") or "").strip() != "yes":
            return DECLINED
    reply = call("plugin.accept", {"server": name, "hash": digest})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(f"{clean.line(name)} is accepted; switch its tools on: oasis tools enable NAME")
    return OK
