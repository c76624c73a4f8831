"""A call under watch: it runs in a thread of its own, and whoever waits for it gets his answer in time all the same.

A tool ends itself when it can: it is told how long it has, and whether anybody still waits. One that does not is left
behind; its late answer reaches nobody. Those left behind are counted, so that a broken tool cannot fill the router.
"""

from __future__ import annotations

import threading

from oasis.core import clean
from oasis.errors import OasisError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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
