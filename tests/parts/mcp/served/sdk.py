"""A server made with the official SDK: `sdk.py stdio`, or `sdk.py http PORT` on 127.0.0.1."""

import sys

from mcp.server import MCPServer

server = MCPServer("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def label(text: str) -> str:
    """Say what stands on a label."""
    return f"The label says: {text}"


@server.resource("demo://hello")
def hello() -> str:
    return "hello there"


@server.prompt()
def greet(name: str) -> str:
    return f"Say hello to {name}"


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
