"""Two questions to the network, asked by the router's own programs: does an address answer, is a name found?

Knows busybox's words for them. One packet, one question, a time limit; a host without the programs gets None.
"""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, bytes, bytes]]

# What the program may take longer than it was told, to start and to end.
_MORE_S = 0.5
# nslookup asks for IPv4 and IPv6 and fails when one of them is refused: what it found stands under this word.
_FOUND = b"\nName:"


class Probe:
    """The probes of one router; `run` is the executor's, `program(name)` the path of a program or ""."""

    def __init__(self, run: Run, program: Callable[[str], str]) -> None:
        self._run = run
        self._program = program

    def ping(self, address: str, seconds: int) -> bool | None:
        """Tell whether an address answers a ping within some seconds; None when nobody can ask."""
        said = self._ask("ping", ["-c", "1", "-W", str(seconds), address], seconds)
        return None if said is None else said[0] == 0

    def lookup(self, name: str, server: str, seconds: int) -> bool | None:
        """Tell whether a server finds a name within some seconds; None when nobody can ask."""
        said = self._ask("nslookup", [name, server], seconds)
        return None if said is None else said[0] == 0 or _FOUND in said[1]

    def _ask(self, name: str, words: list[str], seconds: int) -> tuple[int, bytes] | None:
        """Return exit status and words of a program, None where there is none."""
        program = self._program(name)
        if not program:
            return None
        try:
            status, said, _ = self._run([program, *words], timeout_s=seconds + _MORE_S)
        except ToolError:
            return 1, b""  # it did not end in time: nobody answered
        return status, said
