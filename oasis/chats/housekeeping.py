"""Keep the folder of chats in order: how much they take, when it is synced, and documents that no chat names.

When the flash is full the oldest archived chats go, never silently.

Without a setting it is the smaller of 2 MiB and a tenth of what the file system of the chats has for them; `quota` in
KiB says something else, for a disk on USB. Nothing archived left: models are asked no more, for their answers are
what is long; the built-in service goes on in a small reserve, so that a router can be operated. Reading always goes on.
"""

from __future__ import annotations

import threading

from oasis.chats.archive import whole_lines
from oasis.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from oasis.system.files import Files


QUOTA_BYTES = 2 * 1024 * 1024
SHARE = 10
# An exchange with a few calls of tools; a longer one may go beyond the quota once.
EXCHANGE_BYTES = 16 * 1024
# Of the quota, and beyond it, for the built-in service: of two mebibytes a hundred of its turns.
RESERVE_PART = 8


def limit_bytes(quota_kib: int, used: int, free: int) -> int:
    """Return how many bytes the chats may take; `quota_kib` is the owner's setting, 0 for none."""
    return quota_kib * 1024 if quota_kib else min(QUOTA_BYTES, (used + free) // SHARE)


def has_reserve(used: int, limit: int, needed: int, free: int) -> bool:
    """Return whether an exchange with the built-in service fits when the quota is used up, and so does the disk."""
    reserve = limit // RESERVE_PART
    return used + needed <= limit + reserve and free >= 2 * reserve


def make_room(
    used: int, limit: int, needed: int, archived: Iterable[tuple[str, int]], remove: Callable[[str], None],
    is_share: bool = False,
) -> list[str]:  # fmt: skip
    """Remove archived chats, (id, bytes) the oldest first, until `needed` bytes fit; return the ids of those removed.

    `is_share`: the limit is a share of the disk, no word of the owner's.

    Raises: StoreError when they are not enough; then none is removed.
    """
    chosen: list[str] = []
    for name, size in archived:
        if used + needed <= limit:
            break
        chosen.append(name)
        used -= size
    if used + needed > limit:
        raise _full(used, limit, needed, is_share)
    for name in chosen:
        remove(name)
    return chosen


def _full(used: int, limit: int, needed: int, is_share: bool) -> StoreError:
    if is_share and limit < EXCHANGE_BYTES:
        told = "the flash is full: a tenth of what it has for chats is %d KiB" % (limit // 1024)
        return StoreError(told, "delete chats, documents or packages, or keep chats on USB (oasis.main.chat_path)")
    told = f"there is no room for {-(-needed // 1024)} KiB: the chats take {-(-used // 1024)} KiB"
    told += f", and {limit // 1024} KiB are allowed"
    return StoreError(told, "delete or archive chats, or raise the option quota of oasis.main")


# -- documents and images that no chat names any more -----------------------------------------------------------------
#
# They are files named by their SHA-256; a chat names one as "sha256" in a block. Only those that the deleted chat named
# are looked at: what another has just stored for a message to come is never touched.


def named(pieces: Iterator[bytes]) -> set[str]:
    """Return every hash that the bytes of a chat hold; more than it means does no harm."""
    import re  # with the first chat that is deleted: an idle daemon must not load it

    found: set[str] = set()
    for block in whole_lines(pieces):
        found.update(match.decode() for match in re.findall(rb"[0-9a-f]{64}", block))
    return found


def remove(files: Files, folder: str, blobs: set[str], chats: Iterable[Iterator[bytes]]) -> None:
    """Remove those of some blobs that are named in none of the chats."""
    left = blobs & {name.partition(".")[0] for name in files.names(folder)}
    for pieces in chats:
        if not left:
            return
        for block in whole_lines(pieces):
            left = {name for name in left if name.encode() not in block}
    for name in files.names(folder):
        if name.partition(".")[0] in left:
            files.forget(folder + "/" + name)


# -- the setting `sync`: which writes may reach the flash later than they are answered --------------------------------
#
#     exchange   none: the owner's message, what stands before a plan, and the end of an exchange are on flash when they
#                are answered. A power cut takes nothing that was acknowledged.
#     interval   all are synced together, every `sync_interval_s` seconds when there are some. A power cut takes at most
#                what was said in those seconds.
#     exit       Oasis syncs when it stops; in between, the kernel decides (half a minute on most file systems). A power
#                cut takes what the kernel had not written.
#
# In each, a plan is applied only when its exchange is on flash (Chat.secure), and the end of the daemon alone takes
# nothing, for what is written is the kernel's.

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
        """Sync all of them now; what cannot be synced is logged and tried again with the next."""
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
