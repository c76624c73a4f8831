"""Names of hosts on a router that has not python3-codecs, which is large and holds what the codec `idna` needs.

Sockets and TLS encode every name with that codec, also names that need nothing of it. Where it cannot be imported, one
takes its place that takes ASCII and refuses the rest (UnicodeEncodeError); such names can be written as xn--….
"""

from __future__ import annotations

import codecs
import urllib.parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def split(url: str) -> urllib.parse.SplitResult:
    """Take an address apart.

    Raises: ValueError for what is none, and for letters that cannot be judged here (urllib asks unicodedata).
    """
    try:
        return urllib.parse.urlsplit(url)
    except ImportError:
        raise ValueError("letters beyond ASCII in a host's name")


def prepare() -> bool:
    """Have names encoded by something, before rights are dropped; return whether that is the whole codec."""
    try:
        import encodings.idna  # noqa: F401
    except ImportError:
        codecs.register(_search)
        return False
    return True


def _search(name: str) -> codecs.CodecInfo | None:
    return codecs.CodecInfo(_encode, _decode, name="idna") if name == "idna" else None


def _encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    return text.encode("ascii", errors), len(text)


def _decode(data: Buffer, errors: str = "strict") -> tuple[str, int]:
    whole = bytes(data)
    return whole.decode("ascii", errors), len(whole)
