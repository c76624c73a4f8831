"""A speed test in a worker: bounded bytes and time from one host, and to it; the ending `web` tells the result."""

from __future__ import annotations

import contextlib
import http.client
import os
import select
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable

from oasis.errors import ProviderTimeout
from oasis.worker import transport, web

if False:  # annotations only
    from oasis.parts.monitor.shapes import Speed, Way
    from oasis.worker.shapes import Emit, Exchange, Read, Request

    Connection = http.client.HTTPConnection

# Each way: long enough for TCP to get going, and what a mobile contract can bear.
SPEED_S, SPEED_BYTES = 8.0, 25 * 1000 * 1000
_PIECE = 64 * 1024


def exchange(request: Request, open_it: Exchange, read: Read, emit: Emit) -> None:
    """Measure, and tell it."""
    late = ProviderTimeout("the web takes longer than it may", "try again later")
    with transport.within(2 * (3 * web.CONNECT_S + SPEED_S), late):
        emit({"type": "web", "result": speed(web.Web(request), request["url"])})  # type: ignore[typeddict-item]


def speed(asked: web.Web, url: str, seconds: float = SPEED_S, most: int = SPEED_BYTES) -> Speed:
    """Return how fast a file comes, and how fast bytes go to the same address; why, where one way is refused.

    Raises: ProviderError when the host cannot be reached, and what `split` and `checked` raise.
    """
    parts = web.split(url)
    ways = [_way(asked, parts, work, seconds, most) for work in (_down, _up)]
    return {"host": parts.hostname or "", "download": ways[0], "upload": ways[1]}


def _way(
    asked: web.Web, parts: urllib.parse.SplitResult, work: Callable[[Connection, str, float, int], int | str],
    seconds: float, most: int,
) -> Way:  # fmt: skip
    connection = asked.connected(parts, time.monotonic() + 3 * web.CONNECT_S)
    begun_s = time.monotonic()
    stop = threading.Timer(seconds + 2, web.cut_off, (connection.sock,))
    stop.daemon = True
    stop.start()
    try:
        target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        target = urllib.parse.quote(target, safe="/%:@!$&'()*+,;=~-._?")
        found = work(connection, target, begun_s + seconds, most)
    except (http.client.HTTPException, OSError, ValueError) as error:
        return {"why": web.failed(error, parts.hostname or "", begun_s + seconds).message}
    finally:
        stop.cancel()
        connection.close()
    if isinstance(found, str):
        return {"why": found}
    lasted_s = max(time.monotonic() - begun_s, 0.001)
    return {"bytes": found, "seconds": round(lasted_s, 2), "mbit_s": round(found * 8 / lasted_s / 1e6, 1)}


def _down(connection: Connection, target: str, until_s: float, most: int) -> int | str:
    """Return how many bytes came, or why none do."""
    connection.request("GET", target, headers={**web.USUAL, "Connection": "close"})
    response = connection.getresponse()
    if response.status != 200:
        return f"the host answered with HTTP {response.status}: name the address of a large file itself"
    count = 0
    while count < most and time.monotonic() < until_s:
        piece = response.read1(_PIECE)
        if not piece:
            break
        count += len(piece)
    return count or "the file is empty"


def _up(connection: Connection, target: str, until_s: float, most: int) -> int | str:
    """Return how many bytes the host took, or why it takes none."""
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE)  # what waits here was not sent
    headers = {**web.USUAL, "Content-Type": "application/octet-stream", "Content-Length": str(most)}
    connection.putrequest("POST", target, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    count, piece = 0, os.urandom(_PIECE)  # nothing on the way can pack it
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its answer says why
        while count < most and time.monotonic() < until_s:
            connection.send(piece[: most - count])
            count += min(_PIECE, most - count)
    is_whole = count == most
    if is_whole or select.select([connection.sock], [], [], 0)[0]:
        status = connection.getresponse().status
        if not 200 <= status < 300:
            return f"the host takes no upload at this address (HTTP {status})"
    return count
