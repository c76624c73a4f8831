"""The machine that a daemon works on, as one value: its folder tree, files, programs and clocks."""

from __future__ import annotations

from oasis.system.files import KnownFiles, free_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.system.child import Executor
    from oasis.system.clock import Clock
    from oasis.system.files import Files
    from oasis.system.root import Root


class Machine:
    """Root, files, programs and clocks of one router, or of a folder on a host; `free_bytes(path)` looks at a disk."""

    def __init__(
        self, root: Root, files: Files, executor: Executor, clock: Clock, free: Callable[[str], int] = free_bytes
    ) -> None:
        self.root = root
        self.files = files
        self.known = KnownFiles(files)  # to look at; who writes or decides reads `files`
        self.executor = executor
        self.clock = clock
        self.free_bytes = free
