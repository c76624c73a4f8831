"""The setting `sync`: which writes of chats may reach the flash later than they are answered.

    exchange   none: the owner's message, what stands before a plan, and the end of an exchange are on flash when they
               are answered. A power cut takes nothing that was acknowledged.
    interval   all are synced together, every `sync_interval_s` seconds when there are some. A power cut takes at most
               what was said in those seconds.
    exit       Oasis syncs when it stops; in between, the kernel decides (half a minute on most file systems). A power
               cut takes what the kernel had not written.

In each, a plan is applied only when its exchange is on flash (Chat.secure), and the end of the daemon alone takes
nothing, for what is written is the kernel's.
"""

from __future__ import annotations

import threading

from oasis.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.system.files import Files

INTERVAL_S = 30


class Late:
    """Syncs what was written without: `late(path)` takes note of it."""

    def __init__(self, files: Files, mode: str, interval_s: int, log: Callable[[str], None]) -> None:
        self._files = files
        self._interval_s = interval_s if mode == "interval" else 0
        self._log = log
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._timer: threading.Timer | None = None

    def __call__(self, path: str) -> None:
        """Take note of a file that was written and not synced."""
        with self._lock:
            self._paths.add(path)
            if self._interval_s and self._timer is None:
                self._timer = threading.Timer(self._interval_s, self.settle)
                self._timer.daemon = True
                self._timer.start()

    def settle(self) -> None:
        """Sync all of them now; what cannot be synced is told, and tried again with the next."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            paths, self._paths, self._timer = self._paths, set(), None
        for path in sorted(paths):
            try:
                if self._files.stamp(path) is not None:
                    self._files.settle(path)
            except StoreError as error:
                self._log(error.message)
                with self._lock:
                    self._paths.add(path)
