"""The guard of a change that waits: a process of its own that puts it back when the daemon does not.

guard.sh reads the deadline from the pending record, and ends by itself within a second of the record's going.
"""

from __future__ import annotations

import sys

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.journal import Journal
    from oasis.system.child import Child, Executor

# What an init script gets: a slow router restarts its network in 20 s, and ends a hung service after 5. The guard waits
# for all of a change.
ACTION_S = 60


class Guard:
    """At most one process; `scripts` is the folder of guard.sh and restore.sh, `folder` the router root."""

    def __init__(self, executor: Executor, journal: Journal, scripts: str, folder: str) -> None:
        self._executor = executor
        self._journal = journal
        self._argv = ["/bin/sh", scripts + "/guard.sh", journal.pending, folder, scripts + "/restore.sh"]
        self._process: Child | None = None

    def start(self) -> None:
        """Start it, once there is a record.

        Raises: ToolError when it cannot be.
        """
        self._process = self._executor.detach(self._argv)

    def keep(self) -> None:
        """Start another one when the one that waits was killed: it reads the same deadline."""
        if self._process is None or self._process.poll() is None or not self._journal.is_pending():
            return
        try:
            self.start()
        except ToolError as error:
            print("oasisd: no guard, tried again: %s" % error.message, file=sys.stderr)

    def let_finish(self, seconds: float) -> None:
        """Wait until it has reloaded the services, where it is the one that put the files back."""
        if self._process is not None and self._is_restoring(self._process.pid):
            self._process.wait(seconds)

    def _is_restoring(self, pid: int) -> bool:
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as handle:
                return b"/guard.sh\0" not in handle.read()  # it has become restore.sh
        except OSError:
            return False

    def end(self) -> None:
        """End it; one of a daemon before this one ends by itself."""
        if self._process is not None:
            self._process.end_group()
            self._process = None
