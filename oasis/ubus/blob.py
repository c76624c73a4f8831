"""Attributes in a blob: a type, a length and bytes, which is what everything on the bus is made of.

Numbers are big-endian, everything is padded to 4 bytes, lengths count the 4 bytes of their own and no padding.
Source: libubox's blob.h, blob.c (the checks are those of blob_parse_untrusted).
"""

from __future__ import annotations

from oasis.errors import ToolError

NAMED = 0x80000000
LENGTH = 0xFFFFFF


def attribute(kind: int, content: bytes, flag: int = 0) -> bytes:
    """Return an attribute, padded.

    Raises: ToolError when it is longer than an attribute can be.
    """
    if len(content) + 4 > LENGTH:
        raise ToolError("%d bytes are more than the bus takes" % len(content), "ask for less")
    head = flag | kind << 24 | (len(content) + 4)
    return head.to_bytes(4, "big") + content + bytes(-len(content) % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    """Return the contents of a blob's attributes by their types; the last of a type counts, as in blob_parse.

    Raises: ToolError for a length that cannot be.
    """
    found = {}
    at = 0
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "big")
        size = head & LENGTH
        if size < 4 or at + size > len(data):
            raise broken()
        found[(head >> 24) & 0x7F] = data[at + 4 : at + size]
        at += (size + 3) & ~3
    return found


def named(kind: int, name: bytes, content: bytes) -> bytes:
    """Return an attribute with a name, which ends with its NUL."""
    head = (len(name) - 1).to_bytes(2, "big") + name
    return attribute(kind, head + bytes(-len(head) % 4) + content, NAMED)


def broken() -> ToolError:
    """Return what is raised for bytes that cannot be attributes."""
    return ToolError("the bus sent a broken message")
