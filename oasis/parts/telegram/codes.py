"""Six digits that a program on the owner's telephone shows, as proof that a message is his: RFC 6238.

A code is good for its 30 seconds and those before and after, once: no earlier or same one counts again, also not after
a restart. After WRONG wrong ones there is a pause, and each pause is twice the one before. The secret is the daemon's
and its owner's: no worker, model or messenger ever has it.
Source: RFC 4226 section 5.3, RFC 6238 section 4 (SHA-1, 30 s, 6 digits: all that every authenticator knows).
"""

from __future__ import annotations

import threading

from oasis.errors import PolicyError, UsageError
from oasis.system.digest import hmac_sha1, is_equal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Kept = dict[str, Any]

STEP_S = 30
DIGITS = 6
SECRET_BYTES = 20  # RFC 4226 section 4, R6: what HMAC-SHA1 can make use of
# Steps before and after that count: a telephone's clock, and the time it takes to type.
WINDOW = 1
WRONG = 5
# Five tries of three codes in a million, four times a day at most: a guess takes lifetimes.
PAUSE_S = 900
_LONGEST_PAUSE_S = 6 * 3600
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class Codes:
    """The codes of one router.

    `secret()` gives the shared secret in base32, "" for none; `kept` holds "last" (the newest step that was used),
    "wrong", "pauses" and "until_unix_s", and `keep()` puts it on flash.
    """

    def __init__(
        self, secret: Callable[[], str], kept: Kept, keep: Callable[[], object], unix_s: Callable[[], int],
        is_clock_trusted: Callable[[int], bool],
    ) -> None:  # fmt: skip
        self._secret = secret
        self._kept = kept
        self._keep = keep
        self._unix_s = unix_s
        self._is_clock_trusted = is_clock_trusted
        self._lock = threading.Lock()

    def has_secret(self) -> bool:
        """Tell whether codes can be checked at all."""
        return bool(self._secret())

    def use(self, code: str) -> None:
        """Take a code, which is good only this once.

        Raises: PolicyError for one that is not good, and while there is a pause; nothing in it tells how near it was.
        """
        with self._lock:
            secret = self._secret()
            if not secret:
                raise PolicyError("no secret for codes is set", "on the router: oasis telegram secret")
            now_s = self._unix_s()
            if not self._is_clock_trusted(0):
                raise PolicyError("the router's clock is not set, so no code can be judged", "try again in a minute")
            if now_s < self._kept.get("until_unix_s", 0):
                raise PolicyError("too many wrong codes", "wait, or approve on the router's page")
            step = _found(decoded(secret), code, now_s)
            # Before it counts: whoever pulls the plug now has used it up.
            if step > self._kept.get("last", 0):
                self._kept.update(last=step, wrong=0, pauses=0)
                self._keep()
                return
            self._count_wrong(now_s)
        raise PolicyError("this code is not good, or was used already", "send the one that is shown now")

    def _count_wrong(self, now_s: int) -> None:
        wrong = self._kept.get("wrong", 0) + 1
        if wrong >= WRONG:
            pauses = self._kept.get("pauses", 0)
            pause_s = min(PAUSE_S << min(pauses, 10), _LONGEST_PAUSE_S)
            self._kept.update(until_unix_s=now_s + pause_s, pauses=pauses + 1)
            wrong = 0
        self._kept["wrong"] = wrong
        self._keep()

    def forget(self) -> None:
        """Begin anew, with another secret."""
        with self._lock:
            self._kept.clear()
            self._keep()


def _found(secret: bytes, code: str, now_s: int) -> int:
    """Return the step whose code this is, 0 for none; every step is looked at, whatever the others are."""
    found, given = 0, code.rjust(DIGITS, "x")
    for step in range(now_s // STEP_S - WINDOW, now_s // STEP_S + WINDOW + 1):
        if is_equal(totp(secret, step), given):
            found = step
    return found


def is_code(text: str) -> bool:
    """Tell whether a message is a code and nothing else; people type it in two halves, too."""
    return len(plain(text)) == DIGITS and plain(text).isascii() and plain(text).isdigit() and len(text.strip()) < 9


def plain(text: str) -> str:
    """Return a code without blanks."""
    return "".join(text.split())


def totp(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step, as RFC 4226 makes it of a counter."""
    mac = hmac_sha1(secret, step.to_bytes(8, "big"))
    at = mac[-1] & 15
    number = int.from_bytes(mac[at : at + 4], "big") & 0x7FFFFFFF
    return ("%0*d" % (digits, number % 10**digits))[-digits:]


def encoded(data: bytes) -> str:
    """Return bytes in base32 without padding, as authenticators take it; RFC 4648 section 6."""
    bits = len(data) * 8
    number = int.from_bytes(data, "big") << (-bits % 5)
    count = (bits + 4) // 5
    return "".join(_ALPHABET[number >> 5 * (count - 1 - place) & 31] for place in range(count))


def decoded(text: str) -> bytes:
    """Return the bytes of a secret.

    Raises: UsageError for what is no base32.
    """
    number, clean = 0, text.replace(" ", "").rstrip("=").upper()
    for char in clean:
        if char not in _ALPHABET:
            raise UsageError("the secret is no base32", "make another one: oasis telegram secret")
        number = number << 5 | _ALPHABET.index(char)
    return (number >> (len(clean) * 5 % 8)).to_bytes(len(clean) * 5 // 8, "big")


def uri(secret: str, name: str) -> str:
    """Return a secret as authenticators read it from a picture or a link."""
    label = "".join(char if char.isalnum() and char.isascii() else "-" for char in name) or "router"
    return "otpauth://totp/Oasis:%s?secret=%s&issuer=Oasis&algorithm=SHA1&digits=%d&period=%d" % (
        label, secret, DIGITS, STEP_S,
    )  # fmt: skip
