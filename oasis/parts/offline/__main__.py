"""The offline provider as a process: one request a line in, one answer out, questions for facts between.

The other side, and the lines, are in process.py. Started by its path with -I; its argument is how many seconds without
a request end it. The end of stdin ends it, too.
"""

from __future__ import annotations

import os
import select
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from oasis.core import jsonl
from oasis.parts.offline import provider
from oasis.parts.offline.process import REQUEST_BYTES

_READ_BYTES = 65536


class Asked:
    """The facts of one request, each asked for once."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._known: dict[tuple[str, ...], object] = {}

    def _ask(self, name: str, *arguments: str) -> object:
        key = (name, *arguments)
        if key not in self._known:
            self._pipes.say({"ask": name, "arguments": list(arguments)})
            self._known[key] = self._pipes.hear(None)["answer"]
        return self._known[key]

    def config(self, package: str) -> dict[str, dict[str, object]]:
        return self._ask("config", package)  # type: ignore[return-value]

    def devices(self) -> list[dict[str, object]]:
        return self._ask("devices")  # type: ignore[return-value]

    def interfaces(self) -> list[dict[str, object]]:
        return self._ask("interfaces")  # type: ignore[return-value]

    def services(self) -> dict[str, dict[str, object]]:
        return self._ask("services")  # type: ignore[return-value]

    def ending(self) -> list[str]:
        return self._ask("ending")  # type: ignore[return-value]


class Pipes:
    """Lines from stdin and to stdout."""

    def __init__(self) -> None:
        self._rest = b""
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def hear(self, timeout_s: float | None) -> dict[str, object]:
        """Return the next line's value; ends the process when none comes in time, or none can come any more."""
        while b"\n" not in self._rest:
            is_ready = self._poll.poll(None if timeout_s is None else timeout_s * 1000)
            piece = os.read(0, _READ_BYTES) if is_ready else b""
            if not piece:
                raise SystemExit(0)
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        value: dict[str, object] = jsonl.loads(line, REQUEST_BYTES)
        return value

    def say(self, value: dict[str, object]) -> None:
        view = memoryview(jsonl.line(value))
        while len(view):
            view = view[os.write(1, view) :]


def main(idle_s: float) -> None:
    """Answer requests until nobody asks."""
    pipes = Pipes()
    offline = provider.Provider()
    while True:
        request = pipes.hear(idle_s)
        only_sure = request.get("only_sure") is True
        if "times" in request:
            pipes.say({"times": offline.times(str(request["times"]), Asked(pipes))})
            continue
        events = offline.reply(request["messages"], Asked(pipes), request["now_s"], only_sure)  # type: ignore[arg-type]
        pipes.say({"events": events})


if __name__ == "__main__":
    main(float(sys.argv[1]))
