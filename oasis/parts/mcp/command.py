"""`oasis servers`: MCP servers of others, whose tools a model may get; `oasis mcp`: our tools for MCP clients.

Contract of `oasis mcp`: whoever connects is a client; it proposes and looks, and approves nothing.
"""

from __future__ import annotations

import functools
import os
import sys
import time

from oasis.cli.commands import OK
from oasis.cli.rpc_client import LOOK_S, WAIT_S, Client, NoDaemon
from oasis.cli.terminal import Screen, read_secret
from oasis.errors import UsageError
from oasis.parts.mcp.server import Session

if False:  # annotations only
    from typing import Any

    from oasis.cli.rpc_client import Call
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
    if action == "remove":
        return screen.result(call("mcp.delete", {"name": name}), f"{name} removed")
    if action == "key":
        if name not in [one["name"] for one in call("mcp.list", {})["servers"]]:
            raise UsageError(f"there is no MCP server {name!r}", "list them: oasis servers")
        value = read_secret(screen, f"Token of {name} (not shown): ")
        if not value:
            raise UsageError("no token was typed", f"type it when asked, or: oasis servers key {name} < FILE")
        return screen.result(call("mcp.key", {"name": name, "key": value}), f"the token of {name} is stored")
    if action == "add":
        words = arguments["COMMAND"].split("\n") if arguments["COMMAND"] else []
        if not words:
            hint = "like: oasis servers add files node /opt/files.js"
            raise UsageError("what starts it, or its address, is missing", hint)
        is_url = len(words) == 1 and words[0].startswith(("http://", "https://"))
        call("mcp.add", {"name": name, **({"url": words[0]} if is_url else {"command": words})})
    reply = call("mcp.refresh", {"name": name})
    count = f"{len(reply['tools'])} tools; they are off until you switch them on: oasis tools enable NAME"
    return screen.result(reply, [*reply["tools"], count])


def _list(reply: ServerList, screen: Screen) -> int:
    lines = []
    for one in reply["servers"]:
        token = ", with a token" if one["has_token"] else ""
        note = f"  {one['note']}" if one.get("note") else ""
        lines.append(f"{one['name']:12} {one['state']}, {one['tools']} tools{token}  {one['where']}{note}")
    return screen.result(reply, lines or "no MCP server is set up; `oasis help servers` says how")


def connect(path: str, name: str, wait_s: float = WAIT_S) -> Ask:
    """Return the `call` of a new connection, lowered to the role of a client for good.

    The service may begin again, or a call take too long: the connection that is opened then is lowered before its
    first call, as each is an owner's at first. What may be said twice is asked again, a call of a tool is not.
    """
    client = Client(path)

    def join() -> None:
        until_s = time.monotonic() + wait_s
        while True:
            try:
                client.call("client.join", {"name": name or "an MCP client"})
                return
            except NoDaemon:
                if time.monotonic() > until_s:
                    raise
                time.sleep(LOOK_S)
            except BaseException:
                client.close()  # it is not lowered: nothing is asked over it
                raise

    def ask(method: str, params: dict[str, object]) -> dict[str, Any]:
        if not client.is_open():
            join()
        try:
            return client.call(method, params)
        except NoDaemon:
            if method == "tool.call":
                raise NoDaemon("the service ended during this call", "look whether it had an effect, then ask again")
        join()
        return client.call(method, params)

    join()
    return ask


def serve(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Serve one client over standard input and output, or many over HTTP on this machine."""
    from oasis.parts.mcp import server_http

    call("info", {})  # says at once when the service is not running
    root = os.environ.get("OASIS_ROOT") or "/"

    def session() -> Session:
        return Session(functools.partial(connect, os.path.join(root, "var/run/oasis/oasis.sock")), time.monotonic)

    port = arguments["--http"]
    if port:
        if not port.isdigit() or not 0 <= int(port) < 65536:
            raise UsageError(f"{port!r} is no port", "like: oasis mcp --http 8808")
        return server_http.serve(session, int(port), os.path.join(root, "etc/oasis/mcp-token"), screen)
    if screen.can_ask:
        raise UsageError("this speaks MCP and is no place to type", "set it as a command of an MCP client")
    server_http.serve_streams(session(), sys.stdin.buffer, sys.stdout.buffer)
    return OK
