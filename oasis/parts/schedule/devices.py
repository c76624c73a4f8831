"""The devices that were here, for who wants to know of new ones: on flash, bounded, and not written without end.

A telephone takes another address when it likes, and a program as many as it likes: beyond a few at once, what is met
waits in memory for the next write, and a power cut forgets it, after which it is new once more. Knows no entry.
"""

from __future__ import annotations

import threading

from oasis.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oasis.system.records import Records

MOST = 512
# A party's guests are written one by one; after that, writes come one in so long.
AT_ONCE, WRITE_S = 8, 3600


class Devices:
    """Devices by their MAC addresses. `now_s()` is monotonic, `log(text)` hears of a flash that refuses."""

    def __init__(self, records: Records, now_s: Callable[[], float], log: Callable[[str], object]) -> None:
        self._records = records
        self._now_s = now_s
        self._log = log
        self._lock = threading.Lock()
        self._met: dict[str, None] = {}  # since the last write, in order
        self._writes = float(AT_ONCE)  # that may be made now
        self._counted_s = now_s()

    def is_known(self, mac: str) -> bool:
        """Tell whether a device was here before; from now on it was."""
        with self._lock:
            if mac in self._met or self._records.get(mac) is not None:
                return True
            self._met[mac] = None
            while len(self._met) > MOST:
                del self._met[next(iter(self._met))]
            if self._may_write():
                self._write()
            return False

    def _may_write(self) -> bool:
        now_s = self._now_s()
        self._writes = min(self._writes + (now_s - self._counted_s) / WRITE_S, AT_ONCE)
        self._counted_s = now_s
        if self._writes < 1:
            return False
        self._writes -= 1
        return True

    def seed(self, macs: Iterable[str]) -> None:
        """Remember who is here when somebody first wants to know of others.

        Raises: StoreError when the flash refuses.
        """
        with self._lock:
            if not self._records.count():
                self._records.put_all([{"id": mac} for mac in sorted(set(macs))[:MOST]])

    def close(self) -> None:
        """Write what waits."""
        with self._lock:
            if self._met:
                self._write()

    def _write(self) -> None:
        try:
            over = self._records.count() + len(self._met) - MOST
            if over > 0:  # some more of the oldest, so that this is not done for each
                self._records.delete([one["id"] for one in self._records.all()[: max(over, MOST // 8)]])
            self._records.put_all([{"id": mac} for mac in self._met])
            self._met.clear()
        except StoreError as error:
            self._log("schedule: who was here is not kept for now: %s" % error.message)
