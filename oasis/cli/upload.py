"""Sends a file to the daemon in pieces: documents and images for a message, and chats to import.

Contract: one piece is in memory at a time. What may come in, how much of it, and what it is, the daemon decides.
"""

from __future__ import annotations

import binascii
import os
import sys

from oasis.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

PIECE_BYTES = 36 * 1024  # 48 KiB as base64, what upload.part takes at most


def attach(call: Call, path: str, screen: Screen) -> dict[str, Any]:
    """Send a file that goes with a message, telling what the daemon knows of its kind; see `send`."""
    reply = send(call, path)
    if reply.get("note"):
        screen.notice(reply["note"])
    return reply


def send(call: Call, path: str) -> dict[str, Any]:
    """Send one file, - is standard input; return {"upload", "size_bytes", "media_type"?, "note"?}.

    Raises: UsageError for a folder, StoreError for a file that is not there or cannot be read, and what
    the daemon raises.
    """
    if path == "-":
        return _send(call, "stdin", sys.stdin.buffer)
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", "name a file")
    with _opened(path) as file:
        return _send(call, os.path.basename(path), file)


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {_reason(error)}", "name a file that is there")


def _send(call: Call, name: str, file: BinaryIO) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    piece = _read(file)
    while True:
        following = _read(file) if piece else b""
        params: dict[str, object] = {"name": name, "data": binascii.b2a_base64(piece, newline=False).decode()}
        if reply:
            params["upload"] = reply["upload"]
        if not following:
            params["is_last"] = True
        reply = call("upload.part", params)
        if not following:
            return reply
        piece = following


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read(PIECE_BYTES)
    except OSError as error:
        raise StoreError(f"the file cannot be read: {_reason(error)}")


def _reason(error: Exception) -> str:
    return os.strerror(error.errno or 0) if isinstance(error, OSError) else "its name is none"
