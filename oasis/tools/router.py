"""The router's programs and files, for the tools that need more than the bus: argv only, from the list, in time.

What a program says is decoded and cleaned where it is used; here it is bytes within the executor's limits.
"""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.watch import Watch

    Run = Callable[..., tuple[int, bytes, bytes]]


class Router:
    """One router root; `run` is the executor's, `later(seconds, work)` does something after the answer is out."""

    def __init__(
        self, root: Root, run: Run, files: Files, later: Callable[[float, Callable[[], None]], None] | None = None
    ) -> None:
        self.root = root
        self.files = files
        self._run = run
        self.later = later or _later

    def has(self, program: str) -> bool:
        """Tell whether the router has a program."""
        return bool(self.root.program(program))

    def run(self, words: list[str], watch: Watch, most_s: float = 30.0) -> tuple[int, str, str]:
        """Run a program by its name and return (exit status, stdout, stderr).

        Raises: ToolError when there is none, or it prints too much or does not end in time: its group is ended then.
        """
        path = self.root.program(words[0])
        if not path:
            raise ToolError("this router has no program %s" % words[0], "it is part of a package that is not installed")
        status, out, err = self._run([path, *words[1:]], timeout_s=watch.left_s(most_s))
        return status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def read(self, path: str) -> str:
        """Return a file of the router as text, "" when it is not there."""
        return (self.files.read(self.root.path(path)) or b"").decode("utf-8", "replace")


def _later(seconds: float, work: Callable[[], None]) -> None:
    import threading

    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
