"""What a tool gets to work with: the router's programs and files, and a watch over its call.

Router: programs by argv only, from the list, with a time limit. What a program prints is decoded and cleaned where it
is used; here it is bytes within the executor's limits.

Watch: the call runs in a thread of its own, and its caller gets an answer in time in any case. The tool learns how long
it has and whether somebody still waits. One that does not end is left behind, and its late answer is dropped. Those
left behind are counted, so that a broken tool cannot fill the router.
"""

from __future__ import annotations

import threading

from oasis.core import clean
from oasis.errors import OasisError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.system.files import Files
    from oasis.system.root import Root

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


# Threads of tools that were given up and have not ended.
LEFT_BEHIND = 4
# How often the owner's word to stop is looked at.
_LOOK_S = 0.1
# A tool that ends itself at its deadline still gets its own error told.
_GRACE_S = 1.0
PROGRESS_CHARS = 200
# Progress that comes faster is left out: a run keeps so many events.
_PROGRESS_S = 0.25


class Watch:
    """What a running tool is given: how long it has, whether anybody waits, and a way to say how far it is."""

    def __init__(
        self, tell: Callable[[str], object], is_cancelled: Callable[[], bool], now_s: Callable[[], float],
        timeout_s: float,
    ) -> None:  # fmt: skip
        self._tell = tell
        self._is_cancelled = is_cancelled
        self._now_s = now_s
        self._deadline_s = now_s() + timeout_s if timeout_s else 0.0
        self._told_s = 0.0
        self.is_given_up = False

    def left_s(self, most_s: float = 3600.0) -> float:
        """Return the seconds that are left, at most `most_s`: what a program or a request may take."""
        return max(min(self._deadline_s - self._now_s(), most_s), 0.0) if self._deadline_s else most_s

    def is_cancelled(self) -> bool:
        """Return whether nobody waits for the answer any more."""
        return self.is_given_up or self._is_cancelled()

    def progress(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Tell the owner how far the tool is; what comes too often is left out."""
        now_s = self._now_s()
        if self.is_cancelled() or (self._told_s and now_s - self._told_s < _PROGRESS_S):
            return
        self._told_s = now_s
        share = " (%d %%)" % (100 * done / total) if done is not None and total else ""
        self._tell(clean.name(clean.line(text), PROGRESS_CHARS) + share)


class Watched:
    """Runs calls in threads; one for all calls of a registry."""

    def __init__(self) -> None:
        self._left: list[threading.Thread] = []

    def run(self, name: str, work: Callable[[], Any], watch: Watch) -> Any:
        """Return what `work()` returns.

        Raises: what it raises; ToolError when it does not end in time or the owner stops it.
        """
        self._left = [thread for thread in self._left if thread.is_alive()]
        if len(self._left) >= LEFT_BEHIND:
            raise ToolError(
                "%d calls of tools did not end and are still at work" % len(self._left),
                "wait until they end, or restart oasis",
            )
        box: dict[str, Any] = {}
        thread = threading.Thread(target=_work, args=(work, box), name="tool " + name, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_S)
            if thread.is_alive() and (watch.is_cancelled() or (not watch.left_s() and self._is_late(thread))):
                return self._give_up(name, thread, watch)
        if "error" in box:
            raise box["error"]
        return box.get("result")

    def _is_late(self, thread: threading.Thread) -> bool:
        thread.join(_GRACE_S)
        return thread.is_alive()

    def _give_up(self, name: str, thread: threading.Thread, watch: Watch) -> Any:
        is_stopped = watch.is_cancelled()
        watch.is_given_up = True
        self._left.append(thread)
        if is_stopped:
            raise ToolError("%s was stopped by the owner" % name, "look whether it had an effect")
        raise ToolError("%s did not end in time and was given up" % name, "look whether it had an effect")


def _work(work: Callable[[], Any], box: dict[str, Any]) -> None:
    try:
        box["result"] = work()
    except OasisError as error:
        box["error"] = error
    except Exception as bug:
        import sys
        import traceback

        traceback.print_exc(file=sys.stderr)
        box["error"] = ToolError("a fault in the tool: %s" % type(bug).__name__, "its log tells more: logread -e oasis")
