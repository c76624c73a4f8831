"""The offline provider as a process: one request a line in, one answer out, questions for facts between.

The other side, and the lines, are in child_process.py. Started by its path with -I; its argument is how many seconds
without a request end it. The end of stdin ends it, too.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import select
import sys

if not __package__:
    # What modules and languages are made of is no circle: looking for some would take a tenth of a first answer.
    gc.set_threshold(500_000)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from oasis.core import jsonl
from oasis.parts.offline import provider
from oasis.parts.offline.child_process import REQUEST_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from oasis.parts.offline.shapes import Mapping


# After so many answers the expressions that were compiled for their sentences go: few of them come again.
_FORGET = 16


def read() -> Any:
    """Return the next line's value; ends the process when none can come any more."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        _leave()
    return jsonl.loads(line, REQUEST_BYTES)  # the daemon is ours


def write(value: Mapping[str, object]) -> None:
    sys.stdout.buffer.write(jsonl.line(value))
    sys.stdout.buffer.flush()


class Asked:
    """The facts of one request, each asked for once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Any] = {}

    def _ask(self, *words: str) -> Any:
        if words not in self._known:
            write({"ask": words[0], "arguments": list(words[1:])})
            self._known[words] = read()["answer"]
        return self._known[words]

    config = functools.partialmethod(_ask, "config")
    devices = functools.partialmethod(_ask, "devices")
    interfaces = functools.partialmethod(_ask, "interfaces")
    services = functools.partialmethod(_ask, "services")
    ending = functools.partialmethod(_ask, "ending")


def main(idle_s: float) -> None:
    """Answer requests until nobody asks. The daemon waits for each answer: no second request is ever in the buffer."""
    offline = provider.Provider()
    poll = select.poll()
    poll.register(0, select.POLLIN)
    answered = 0
    while poll.poll(idle_s * 1000):
        request = read()
        if "times" in request:
            write({"times": offline.times(request["times"], Asked())})
        else:
            is_sure = request.get("only_sure") is True
            write({"events": offline.reply(request["messages"], Asked(), request["now_s"], is_sure)})
        answered += 1
        if not answered % _FORGET:
            re.purge()
            gc.collect()


def _leave() -> NoReturn:
    """End at once: everything is written, and what taking a large process apart frees is freed anyway."""
    os._exit(0)


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]))
    except ImportError as error:  # a file of it is damaged, which is no fault of the program
        sys.exit("ImportError: %s" % error)
    _leave()
