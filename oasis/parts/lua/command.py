"""`oasis plugins`: tool servers on this router that were made for the Lua Oasis: list, review, accept."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.cli.terminal import read_line
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen


ACTIONS = ("list", "review", "accept")


def plugins(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list them without one."""
    action, name, digest = arguments["ACTION"] or "list", arguments["NAME"], arguments["HASH"]
    if action not in ACTIONS:
        raise UsageError(f"unknown action {action!r}", "one of " + ", ".join(ACTIONS))
    if action == "list":
        reply = call("plugin.list", {})
        lines: list[str | tuple[str, str]] = []
        for one in reply["plugins"]:
            lines.append(f"{one['server']:<32} {one['state']:<9} {', '.join(one['tools'])}")
            lines += [(clean.line(f"    {one['note']}"), "-")] if one.get("note") else []
        lines += [(clean.line(note), "-") for note in reply["notes"]]
        if not reply["plugins"]:
            lines.append("no manifest in /etc/oasis/tool-manifest.d describes a tool server")
        return screen.result(reply, lines)
    if not name:
        raise UsageError(f"`plugins {action}` needs the NAME of a tool server", "list them: oasis plugins")
    if action == "accept" and not digest and not screen.can_ask:
        hint = f"oasis plugins review {name}, then accept {name} SUM"
        raise UsageError("without a terminal the sum of the file is needed", hint)
    if not digest or action == "review":
        reply = call("plugin.review", {"server": name})
        lines = ["  " + line for line in reply["lines"]]
        lines += [f"  … and {reply['more']} lines more"] if reply["more"] else []
        lines += [f"{tool['name']}: {tool['description']}" for tool in reply["tools"]]
        lines.append((clean.line(f"{reply['server']}, {reply['path']}: {reply['state']}"), "bold"))
        screen.result(reply, [*lines, f"sha256 {reply['sha256']}", reply["words"]])
        digest = str(reply["sha256"])
    if action == "review":
        return OK
    if not arguments["HASH"] and (read_line(screen, "Accept it? Type yes: ") or "").strip() != "yes":
        return DECLINED
    reply = call("plugin.accept", {"server": name, "hash": digest})
    return screen.result(reply, f"{name} is accepted; switch its tools on: oasis tools enable NAME")
