"""The worker process: one request a line in, event lines out; the end of stdin ends it at once.

Started by its path with -I, so it puts its own tree on the path. An argument names the user that it must become;
without one it becomes `oasis` where it can. Reads stdin in a thread of its own, because the end of stdin is how a
request is cancelled: the process exits, and with it every connection.
"""

from __future__ import annotations

import os
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import queue
import threading
import time

from oasis import providers
from oasis.core import jsonl
from oasis.errors import PeerError, SchemaError
from oasis.providers import events
from oasis.worker import lines, protocol, rights, transport

if False:  # annotations only
    from oasis.providers.shapes import Event, Profile
    from oasis.worker.shapes import Open, Request


def main(user: str) -> None:
    """Serve requests until stdin ends, as `user`, or without one as the usual user when that is possible."""
    for vendor in providers.VENDORS:
        providers.load(vendor)
    transport.prepare()
    profiles, send = providers.profiles(), transport.best()
    rights.drop(user or rights.USER, is_required=bool(user))
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while True:
        serve(requests.get(), profiles, send)


def serve(line: bytes, profiles: dict[str, Profile], send: Open) -> None:
    """Answer one request line."""
    number = 0

    def emit(event: Event) -> None:
        try:
            written = lines.encode(number, event)
        except PeerError as error:
            written = lines.encode(number, events.error(error.code, error.message, error.hint))
        sys.stdout.buffer.write(b"".join(written))
        sys.stdout.buffer.flush()

    try:
        request: Request = jsonl.loads(line, max_bytes=lines.REQUEST_BYTES)  # type: ignore[assignment]  # by the daemon
        number = request["id"]
    except SchemaError as error:
        emit(events.error(error.code, f"the request is not readable: {error.message}", error.hint))
        return
    protocol.answer(request, profiles, send, emit, time.sleep)


def _read(requests: queue.SimpleQueue[bytes]) -> None:
    while True:
        line = sys.stdin.buffer.readline(lines.REQUEST_BYTES + 2)
        if not line.endswith(b"\n"):
            os._exit(0)  # the end, or a line nobody may send: nothing to tidy up, sockets close with the process
        requests.put(line)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
