"""Identifiers: SCRU128 for messages, xid for records; clock and randomness enter as arguments.

Sources: SCRU128 specification 3 (48-bit Unix ms, 24-bit counter_hi, 24-bit counter_lo, 32-bit entropy, 25 digits of
base 36, lower case); xid (4 bytes Unix seconds, 3 machine, 2 process, 3 counter, 20 digits of base 32 hex).
Both sort by time as text.
"""

from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Clock, Random

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ANY_CASE = _DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# 128 bits, all set; digits and small letters sort as text as they do as numbers.
SCRU128_MAX = "f5lxx1zz5pnorynqglhzmsp33"
_COUNTER_MAX = 0xFFFFFF
# A clock that steps back less than this keeps the newest timestamp (order is kept); more is a new era.
ROLLBACK_MS = 10000


class Scru128:
    """Make SCRU128 ids; one instance a process, calls serialised by the caller."""

    def __init__(self, now_ms: "Clock", random: "Random") -> None:
        """`now_ms()` gives Unix milliseconds, `random(n)` gives n random bytes."""
        self._now_ms = now_ms
        self._random = random
        self._timestamp = 0
        self._hi_at = 0
        self._hi = 0
        self._lo = 0

    def next(self) -> str:
        """Return the next id: 25 digits, greater than every earlier one unless the clock fell back far."""
        now = max(self._now_ms(), 1)
        if now > self._timestamp:
            self._timestamp = now
            self._lo = self._bits(3)
        elif now + ROLLBACK_MS > self._timestamp:
            self._lo += 1
            if self._lo > _COUNTER_MAX:
                self._lo = self._bits(3)
                self._hi += 1
            if self._hi > _COUNTER_MAX:
                self._hi = self._bits(3)
                self._timestamp += 1
        else:
            self._timestamp = now
            self._hi_at = 0
            self._lo = self._bits(3)
        if self._timestamp - self._hi_at >= 1000 or not self._hi_at:
            self._hi_at = self._timestamp
            self._hi = self._bits(3)
        number = (self._timestamp << 80) | (self._hi << 56) | (self._lo << 32) | self._bits(4)
        return _base36(number)

    def _bits(self, size: int) -> int:
        return int.from_bytes(self._random(size), "big")


def _base36(number: int) -> str:
    digits = ""
    for _ in range(25):
        digits = _DIGITS[number % 36] + digits
        number //= 36
    return digits


def at(name: str, unix_ms: int) -> str:
    """Return a SCRU128 id of another time: what else is in it stays, and keeps it apart from all others."""
    number = int(name, 36)
    return _base36((max(unix_ms, 1) << 80) | (number & ((1 << 80) - 1)))


def looks_like_id(text: object) -> bool:
    """Return whether somebody who writes `text` means a message: exactly 25 letters and digits, any case."""
    return isinstance(text, str) and len(text) == 25 and not text.strip(_ANY_CASE)


def is_scru128(text: object) -> bool:
    """Return whether `text` is a SCRU128 id as we write it: in lower case, and none beyond the largest."""
    return isinstance(text, str) and len(text) == 25 and text <= SCRU128_MAX and not text.strip(_DIGITS)


def scru128_ms(text: str) -> int:
    """Return the Unix milliseconds in which a SCRU128 id, in any case, was made."""
    if not looks_like_id(text):
        raise SchemaError("%r is not a SCRU128 id" % text, "25 letters and digits")
    return int(text, 36) >> 80


class Xid:
    """Make xids; `machine_and_process` are 5 bytes that tell this process from others.

    Each sorts behind the ones before it, also when the clock was set back; none is of an earlier second than `from_s`.
    """

    def __init__(
        self, now_s: "Clock", random: "Random", machine_and_process: "bytes | None" = None, from_s: int = 0
    ) -> None:
        self._now_s = now_s
        self._second = from_s
        self._place = (random(5) if machine_and_process is None else machine_and_process)[:5]
        self._counter = int.from_bytes(random(3), "big")

    def next(self) -> str:
        """Return the next id: 20 digits of 0-9 a-v."""
        self._second = max(int(self._now_s()), self._second)
        self._counter = (self._counter + 1) & _COUNTER_MAX
        if not self._counter:
            self._second += 1  # a counter that starts again would sort before its last value
        raw = self._second.to_bytes(4, "big") + self._place + self._counter.to_bytes(3, "big")
        number = int.from_bytes(raw, "big") << 4  # 96 bits to 20 digits of 5 bits
        return "".join([_DIGITS[(number >> shift) & 31] for shift in range(95, -1, -5)])


def xid_s(text: str) -> int:
    """Return the Unix second in which an xid was made; 0 for what is no xid."""
    return int(text, 32) >> 68 if is_xid(text) else 0


def is_xid(text: object) -> bool:
    """Return whether `text` has the form of an xid."""
    return isinstance(text, str) and len(text) == 20 and not text.strip(_DIGITS[:32])
