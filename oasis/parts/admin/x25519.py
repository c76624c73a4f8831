"""WireGuard's keys: made here, so that no private key is in a pipe, an argument or a file on its way into a plan.

Source: RFC 7748, section 5. Not of constant time: a key is made once, at home, and agrees on nothing here.
"""

from __future__ import annotations

import binascii
import os

_P = 2**255 - 19
_A24 = 121665
_BASE = (9).to_bytes(32, "little")


def generate() -> str:
    """Return a new private key as WireGuard writes it."""
    raw = bytearray(os.urandom(32))
    raw[0] &= 248
    raw[31] = raw[31] & 127 | 64
    return _text(bytes(raw))


def public(private: str) -> str:
    """Return the public key of a private one, "" for what is no key."""
    raw = decoded(private)
    return _text(multiplied(raw, _BASE)) if raw else ""


def decoded(key: str) -> bytes:
    """Return the 32 bytes of a key, b"" for what is no key, or one of zeros."""
    try:
        raw = binascii.a2b_base64(key.encode("ascii"))
    except (ValueError, UnicodeError):
        return b""
    return raw if len(raw) == 32 and any(raw) and _text(raw) == key else b""


def multiplied(scalar: bytes, point: bytes) -> bytes:
    """Return X25519(scalar, point)."""
    number = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    x1 = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for place in reversed(range(255)):
        bit = number >> place & 1
        if swap != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % _P, b * b % _P, d * a % _P, c * b % _P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % _P, x1 * (da - cb) ** 2 % _P
        x2, z2 = aa * bb % _P, e * (aa + _A24 * e) % _P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, _P - 2, _P) % _P).to_bytes(32, "little")


def _text(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).decode("ascii")
