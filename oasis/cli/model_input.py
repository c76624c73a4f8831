"""What a model is sent: `oasis tools` sets what it may call, `oasis privacy` shows a request without sending it."""

from __future__ import annotations

import binascii

from oasis.cli.commands import OK
from oasis.cli.request import chat_id
from oasis.core import clean, jsonl
from oasis.errors import OasisError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Json, Params, SentRequest, ToolRow, Tools
    from oasis.cli.terminal import Screen

# What each word sets; to ask or allow a tool that is off does not switch it on.
_SETS: dict[str, Params] = {
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
        return _show_tools(call("tool.list", {}), name, screen)
    if action not in _SETS or not name:
        wrong = f"`tools {action}` needs the name of a tool" if action in _SETS else f"unknown word {action!r}"
        raise UsageError(wrong, f"usage: oasis tools [list|show NAME|{'|'.join(f'{word} NAME' for word in _SETS)}]")
    reply = call("tool.set", {"name": name, **_SETS[action]})
    if screen.is_json:
        screen.json(reply)
    else:
        _tool_line(reply["tool"], screen)
    return OK


def _show_tools(reply: Tools, name: str, screen: Screen) -> int:
    found = [tool for tool in reply["tools"] if not name or tool["name"] == name]
    if not found:
        raise UsageError(f"there is no tool {name!r}", "list them with: oasis tools")
    if screen.is_json:
        screen.json({**reply, "tools": found} if not name else {"tools": found})
        return OK
    if name:
        return _show_tool(found[0], screen)
    source = ""
    for tool in found:
        if tool["source"] != source:
            source = tool["source"]
            screen.line(clean.line(source), "bold")
        _tool_line(tool, screen)
    count = sum(tool["enabled"] for tool in found)
    screen.line(f"{count} of {len(found)} are on; telling a model of all of these costs about {reply['tokens']} tokens")
    return OK


def _tool_line(tool: ToolRow, screen: Screen) -> None:
    state = tool["approval"] if tool["enabled"] else "off"
    text = clean.line(tool["description"])
    short = text if len(text) <= _SUMMARY_CHARS else text[:_SUMMARY_CHARS] + "…"
    screen.line(clean.line(f"  {tool['name']:<16} {tool['class']:<7} {state:<6} {tool['tokens']:>5}  {short}"))
    if tool.get("note"):
        screen.line(clean.line(f"      {tool['note']}"), "-")


def _show_tool(tool: ToolRow, screen: Screen) -> int:
    screen.line(clean.line(f"{tool['name']} ({tool['source']})"), "bold")
    state = "on" if tool["enabled"] else "off"
    screen.line(
        clean.line(f"  {state}, approval {tool['approval']}, class {tool['class']}, about {tool['tokens']} tokens")
    )
    if tool.get("note"):
        screen.line(clean.line(f"  {tool['note']}"), "-")
    screen.line(clean.text(tool["description"]))
    return OK


_STEP = "  "


def privacy(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print where a message would go, and all that would go there."""
    params: Params = {"message": arguments["TEXT"]}
    if arguments["--chat"]:
        params["chat"] = chat_id(call, arguments["--chat"])
    if arguments["--service"]:
        params["service"] = arguments["--service"]
    reply = call("privacy.show", params)
    body = binascii.a2b_base64(reply["data"])
    for part in range(1, reply["parts"]):
        body += binascii.a2b_base64(call("privacy.show", {**params, "part": part})["data"])
    text = body.decode("utf-8")
    if screen.is_json:
        screen.json({**reply, "data": text, "parts": 1})
    elif arguments["--raw"]:
        screen.document(text)
    else:
        _show_request(reply, text, screen)
    return OK


def _show_request(reply: SentRequest, text: str, screen: Screen) -> None:
    service = reply["service"]
    if not reply["url"]:
        screen.line(clean.line(f"Nothing: {service['name']} answers on the router itself."))
        return
    where = "a server of your own" if service["is_local"] else "a service outside your home"
    screen.line(clean.line(f"To {service['name']} ({service['model']}), {where}:"), "bold")
    screen.line(clean.line(f"{reply['method']} {reply['url']}"))
    for name, value in reply["headers"].items():
        screen.line(clean.line(f"{name}: {value}"))
    screen.line(f"{reply['bytes']} bytes, about {reply['tokens']} tokens:")
    screen.text(_pretty(text) + "\n")
    screen.notice("nothing was sent; the router's secrets are placeholders, the key is shown as ***")
    screen.notice("these lines are drawn for reading; the bytes as they would go: oasis privacy --raw TEXT")


def _pretty(text: str) -> str:
    """Return JSON in lines for people; what is none as it is."""
    try:
        return "\n".join(_lines(jsonl.loads(text, max_bytes=4 * len(text) + 1), ""))
    except OasisError:
        return text


def _lines(value: Json, indent: str) -> list[str]:
    if not isinstance(value, (dict, list)) or not value:
        return [jsonl.dumps(value)]
    is_table = isinstance(value, dict)
    found = ["{" if is_table else "["]
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        first, *rest = _lines(item, indent + _STEP)
        found += [f"{indent}{_STEP}{jsonl.dumps(key) + ': ' if is_table else ''}{first}", *rest]
    return [*found, indent + ("}" if is_table else "]")]
