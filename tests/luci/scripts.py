"""Runs the scripts below /cgi-bin as uhttpd does.

It must not know LuCI or sessions. A script gets the addresses and ports of the very connection that asked for it,
its body on stdin, a timeout, and one of a few slots; its standard output is headers, a blank line, a body.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from http.client import HTTPMessage

# uhttpd kills a script that says nothing for this long.
TIMEOUT_S = 60

Reply = tuple[int, list[tuple[str, str]], bytes]
Address = tuple[str, int]


def environment(
    headers: HTTPMessage, request: dict[str, str], remote: Address, server: Address, root: str
) -> dict[str, str]:
    """Return a script's environment. Shape: request holds the CGI words of the request line."""
    env = {
        "PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
        "OASIS_ROOT": root,
        "GATEWAY_INTERFACE": "CGI/1.1",
        "SERVER_SOFTWARE": "uhttpd",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REDIRECT_STATUS": "200",
        "REMOTE_ADDR": remote[0],
        "REMOTE_PORT": str(remote[1]),
        "SERVER_ADDR": server[0],
        "SERVER_PORT": str(server[1]),
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": headers.get("Content-Length", ""),
        **request,
    }
    for name in ("Host", "Cookie", "User-Agent", "Accept", "Authorization", "Origin", "Referer"):
        if name in headers:
            env["HTTP_" + name.upper().replace("-", "_")] = headers[name]
    return env


def run(path: str, env: dict[str, str], body: bytes) -> Reply:
    """Run a script and return (HTTP status, headers, body); 502 when it says nothing usable."""
    if not os.access(path, os.X_OK):
        return 403, [], b"Forbidden\n"
    try:
        done = subprocess.run(
            [path], input=body, env=env, cwd=os.path.dirname(path), capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return 504, [], b"Gateway Timeout\n"
    except OSError as error:
        return 502, [], f"Bad Gateway: {error}\n".encode()
    return _reply(done.stdout)


def _reply(output: bytes) -> Reply:
    parts = re.split(rb"\r?\n\r?\n", output, maxsplit=1)
    if len(parts) != 2:
        return 502, [], b"Bad Gateway: the script sent no header\n"
    status, headers, body = 200, [], parts[1]
    for line in parts[0].decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers.append((name.strip(), value.strip()))
    return status, headers, body
