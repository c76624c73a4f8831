"""How much of the flash chats may take, and what goes when it is full: the oldest archived chats, and never silently.

Without a setting it is the smaller of 2 MiB and a tenth of what the file system of the chats has for them; `quota` in
KiB says something else, for a disk on USB. Nothing archived left: models are asked no more, for their answers are
what is long; the built-in service goes on in a small reserve, so that a router can be operated. Reading always goes on.
"""

from __future__ import annotations

from oasis.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

QUOTA_BYTES = 2 * 1024 * 1024
SHARE = 10
# An exchange with a few calls of tools; a longer one may go beyond the quota once.
EXCHANGE_BYTES = 16 * 1024
# Of the quota, and beyond it, for the built-in service: of two mebibytes a hundred of its exchanges.
RESERVE_PART = 8


def limit_bytes(quota_kib: int, used: int, free: int) -> int:
    """Return how many bytes the chats may take; `quota_kib` is the owner's word, 0 for none."""
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

    Raises: StoreError when there is not enough of them; then none is removed.
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
