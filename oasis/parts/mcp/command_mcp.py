"""`oasis mcp`: the tools of this router for other people's programs, over the Model Context Protocol.

Contract: what connects is a client, whoever runs it: it proposes and looks, and approves nothing.
"""

from __future__ import annotations

import os
import sys
import time

from oasis.cli.commands import OK
from oasis.cli.rpc_client import Client
from oasis.errors import UsageError
from oasis.parts.mcp.server import Bridge, Session, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.terminal import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def serve(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Serve one client over standard input and output, or many over HTTP on this machine."""
    call("info", {})  # says at once when the service is not running

    def connect(name: str) -> Call:
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
