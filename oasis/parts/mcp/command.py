"""`oasis servers`: MCP servers of others, whose tools a model may get; `oasis mcp`: our tools for MCP clients.

Contract of `oasis mcp`: whoever connects is a client; it proposes and looks, and approves nothing.
"""

from __future__ import annotations

import os
import sys
import time

from oasis.cli.commands import OK
from oasis.cli.rpc_client import Client
from oasis.core import clean
from oasis.errors import UsageError
from oasis.parts.mcp.server import Bridge, Session, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.mcp.server import Call as Ask
    from oasis.parts.mcp.shapes import ServerList


ACTIONS = ("list", "add", "remove", "key", "refresh")


def servers(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list them without one."""
    action, name = arguments["ACTION"] or "list", arguments["NAME"]
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", "one of " + ", ".join(ACTIONS))
    if action == "list":
        return _list(call("mcp.list", {}), screen)
    if not name:
        raise UsageError(f"`servers {action}` needs the NAME of a server", "list them: oasis servers")
    if action == "add":
        return _add(call, name, arguments["COMMAND"], screen)
    if action == "remove":
        return _done(call("mcp.delete", {"name": name}), f"{name} removed", screen)
    if action == "key":
        return _key(call, name, screen)
    return _refresh(call, name, screen)


def _list(reply: ServerList, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
        return OK
    for one in reply["servers"]:
        token = ", with a token" if one["has_token"] else ""
        note = f"  {clean.line(one['note'])}" if one.get("note") else ""
        where = clean.line(one["where"])
        screen.line(f"{one['name']:12} {clean.line(one['state'])}, {one['tools']} tools{token}  {where}{note}")
    if not reply["servers"]:
        screen.line("no MCP server is set up; `oasis help servers` says how")
    return OK


def _add(call: Call, name: str, given: str, screen: Screen) -> int:
    words = given.split("\n") if given else []
    if not words:
        raise UsageError(
            "what starts it, or its address, is missing", "like: oasis servers add files node /opt/files.js"
        )
    is_url = len(words) == 1 and words[0].startswith(("http://", "https://"))
    call("mcp.add", {"name": name, **({"url": words[0]} if is_url else {"command": words})})
    return _refresh(call, name, screen)


def _key(call: Call, name: str, screen: Screen) -> int:
    from oasis.cli.terminal import read_secret

    if name not in [one["name"] for one in call("mcp.list", {})["servers"]]:
        raise UsageError(f"there is no MCP server {name!r}", "list them: oasis servers")
    value = read_secret(screen, f"Token of {name} (not shown): ")
    if not value:
        raise UsageError("no token was typed", f"type it when asked, or: oasis servers key {name} < FILE")
    return _done(call("mcp.key", {"name": name, "key": value}), f"the token of {name} is stored", screen)


def _refresh(call: Call, name: str, screen: Screen) -> int:
    reply = call("mcp.refresh", {"name": name})
    if screen.is_json:
        screen.json(reply)
        return OK
    for tool in reply["tools"]:
        screen.line(tool)
    screen.line(f"{len(reply['tools'])} tools; they are off until you switch them on: oasis tools enable NAME")
    return OK


def _done(reply: Mapping[str, object], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(words)
    return OK


def serve(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Serve one client over standard input and output, or many over HTTP on this machine."""
    call("info", {})  # says at once when the service is not running

    def connect(name: str) -> Ask:
        root = os.environ.get("OASIS_ROOT") or "/"
        return joined(Client(os.path.join(root, "var/run/oasis/oasis.sock")).call, name)

    def session() -> Session:
        return Session(Bridge(connect, time.monotonic))

    if arguments["--http"]:
        from oasis.parts.mcp import server_http

        return server_http.serve(session, _port(arguments["--http"]), _token_file(), screen)
    if screen.can_ask:
        raise UsageError("this speaks MCP and is no place to type", "set it as a command of an MCP client")
    from oasis.parts.mcp.server_http import Stdio

    Stdio(session(), sys.stdin.buffer, sys.stdout.buffer).serve()
    return OK


def _port(text: str) -> int:
    if not text.isdigit() or not 0 <= int(text) < 65536:
        raise UsageError(f"{text!r} is no port", "like: oasis mcp --http 8808")
    return int(text)


def _token_file() -> str:
    return os.path.join(os.environ.get("OASIS_ROOT") or "/", "etc/oasis/mcp-token")
