"""The offline provider as a process: one request a line in, one answer out, questions for facts between.

The other side, and the lines, are in child_process.py. Started by its path with -I; its argument is how many seconds
without a request end it. The end of stdin ends it, too.
"""

from __future__ import annotations

import functools
import os
import select
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from oasis.core import jsonl
from oasis.parts.offline import provider
from oasis.parts.offline.child_process import REQUEST_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import Line, Mapping

_READ_BYTES = 65536


class Pipes:
    """Lines from stdin and to stdout."""

    def __init__(self) -> None:
        self._rest = b""
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def read(self, timeout_s: float | None) -> Line:
        """Return the next line's value; ends the process when none comes in time, or none can come any more."""
        while b"\n" not in self._rest:
            is_ready = self._poll.poll(None if timeout_s is None else timeout_s * 1000)
            piece = os.read(0, _READ_BYTES) if is_ready else b""
            if not piece:
                raise SystemExit(0)
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        value: Any = jsonl.loads(line, REQUEST_BYTES)
        request: Line = value  # the daemon is ours
        return request

    def write(self, value: Mapping[str, object]) -> None:
        view = memoryview(jsonl.line(value))
        while len(view):
            view = view[os.write(1, view) :]


class Asked:
    """The facts of one request, each asked for once."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._known: dict[tuple[str, ...], Any] = {}

    def _ask(self, name: str, *arguments: str) -> Any:
        key = (name, *arguments)
        if key not in self._known:
            self._pipes.write({"ask": name, "arguments": list(arguments)})
            self._known[key] = self._pipes.read(None)["answer"]
        return self._known[key]

    config = functools.partialmethod(_ask, "config")
    devices = functools.partialmethod(_ask, "devices")
    interfaces = functools.partialmethod(_ask, "interfaces")
    services = functools.partialmethod(_ask, "services")
    ending = functools.partialmethod(_ask, "ending")


def main(idle_s: float) -> None:
    """Answer requests until nobody asks."""
    pipes = Pipes()
    offline = provider.Provider()
    while True:
        request = pipes.read(idle_s)
        if "times" in request:
            pipes.write({"times": offline.times(request["times"], Asked(pipes))})
        else:
            is_sure = request.get("only_sure") is True
            pipes.write({"events": offline.reply(request["messages"], Asked(pipes), request["now_s"], is_sure)})


if __name__ == "__main__":
    main(float(sys.argv[1]))
