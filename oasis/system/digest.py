"""SHA-256, HMAC-SHA256 and HMAC-SHA1 from the interpreter's built-in modules.

`hashlib` and `hmac` would map libcrypto into the daemon (several MB of RSS); the built-in modules do the same.
Source: FIPS 180-4, RFC 2104, RFC 2202.
"""

from _operator import _compare_digest
from collections.abc import Callable

try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found,unused-ignore]  # CPython 3.12 and later
except ImportError:
    from _sha256 import sha256 as _sha256  # type: ignore[import-not-found,no-redef,unused-ignore]

if False:  # annotations only
    from typing import Any

_BLOCK = 64  # bytes, of both


def sha256(data: bytes) -> str:
    digest: str = _sha256(data).hexdigest()
    return digest


def hmac_sha256(key: bytes, data: bytes) -> str:
    return _hmac(_sha256, key, data).hex()


def hmac_sha1(key: bytes, data: bytes) -> bytes:
    """Return the HMAC-SHA1 of `data`: for RFC 4226 only, where programs on telephones know nothing else."""
    from _sha1 import sha1  # type: ignore[import-not-found,unused-ignore]

    return _hmac(sha1, key, data)


def _hmac(make: "Callable[[bytes], Any]", key: bytes, data: bytes) -> bytes:
    key = (make(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner = make(bytes([byte ^ 0x36 for byte in key]) + data).digest()
    outer: bytes = make(bytes([byte ^ 0x5C for byte in key]) + inner).digest()
    return outer


def is_equal(left: str, right: str) -> bool:
    """Compare two hex texts in a time that does not tell where they differ."""
    return _compare_digest(left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass"))
