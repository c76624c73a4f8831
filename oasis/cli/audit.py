"""`oasis audit`: the log of decisions, and whether it is whole. The daemon reads it; nothing here opens a file."""

from __future__ import annotations

import time

from oasis.cli.commands import FAILED, OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def show(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the decisions, or follow their chain."""
    if arguments["--verify"]:
        return _verify(call("audit.verify", {}), screen)
    reply = call("audit.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for line in reply["lines"]:
        screen.line(_line(line))
    if not reply["lines"]:
        screen.line("no decisions yet")
    return OK


def _line(line: dict[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(line.get("when_unix_s", 0)))
    tool = [line["tool"]] if line.get("tool") else []
    where = ", ".join([*line.get("packages", []), *line.get("services", []), *tool])
    forced = f"  forced: {', '.join(line['forces'])}" if line.get("forces") else ""
    made = f"{when}  {line.get('what', '?'):12}  {line.get('role', '?'):8}  {line.get('plan', '?')}  {where}"
    return made.rstrip() + forced


def _verify(reply: dict[str, Any], screen: Screen) -> int:
    broken = reply.get("broken")
    if screen.is_json:
        screen.json(reply)
        return FAILED if broken else OK
    screen.line(f"{reply['lines']} lines fit together")
    if reply.get("gone"):
        screen.line(f"{reply['gone']} older lines were rotated out, as the log says")
    if "torn" in reply:
        screen.line(f"the last line of {reply['torn']} was torn by a power cut; the next decision cuts it off")
    if broken:
        screen.line(f"broken at line {broken['line']} of {broken['file']}: {broken['reason']}")
    return FAILED if broken else OK
