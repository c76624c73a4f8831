"""`oasis export` and `import`: whole chats as files, out and in again.

Contract: a file that is there is not replaced unasked, and one that failed is not left behind in parts; only its owner
reads it (0600), because a chat holds what was typed. One import that fails stops no other.
"""

from __future__ import annotations

import os

from oasis.cli.commands import OK
from oasis.cli.named import place
from oasis.cli.thread import UNTITLED
from oasis.core import clean
from oasis.errors import OasisError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def export_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Write a chat to standard output or a file."""
    if arguments["--markdown"] and arguments["--upstream"]:
        raise UsageError("--markdown and --upstream exclude each other", "name one form")
    form = "markdown" if arguments["--markdown"] else "upstream" if arguments["--upstream"] else "oasis"
    chat, head = place(call, arguments["CHAT"])
    params: dict[str, object] = {"id": chat, "form": form, **({"head": head} if head else {})}
    parts = _parts(call, params)
    if arguments["-o"] not in ("", "-"):
        return _save(arguments["-o"], parts, bool(arguments["--force"]), screen)
    if screen.is_json:
        found = list(parts)
        screen.json({**found[0], "data": "".join(part["data"] for part in found), "parts": 1})
        return OK
    for part in parts:
        screen.document(part["data"])
    screen.fresh_line()
    return OK


def _parts(call: Call, params: dict[str, object]) -> Iterator[dict[str, Any]]:
    number = 0
    while True:
        part = call("chat.export", {**params, "part": number} if number else params)
        yield part
        number += 1
        if number >= part.get("parts", 1):
            return


def _save(path: str, parts: Iterator[dict[str, Any]], replaces: bool, screen: Screen) -> int:
    """Write the parts to a new file, or over an old one once they are all there."""
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", "name a file with -o")
    if not replaces and os.path.lexists(path):
        raise UsageError(f"{path} is there already", "with --force it is replaced")
    made = f"{path}.{os.getpid()}.new" if replaces else path
    try:
        size = _write(made, parts)
        if replaces:
            os.rename(made, path)
    except FileExistsError:
        raise UsageError(f"{made} is there already", "with --force it is replaced")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {os.strerror(error.errno or 0)}", "name another file with -o")
    if screen.is_json:
        screen.json({"file": path, "size_bytes": size})
    else:
        screen.line(clean.line(f"{path}: {size} bytes"))
    return OK


def _write(path: str, parts: Iterator[dict[str, Any]]) -> int:
    """Create a file from parts and return its size; what fails half way is taken away."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            size = sum(file.write(part["data"].encode("utf-8", "surrogatepass")) for part in parts)
            file.flush()
            os.fsync(descriptor)
            return size
    except BaseException:
        os.unlink(path)
        raise


def import_chats(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Take in chat files, or the chats of the old program on this router; the first failure's status counts."""
    files = arguments["FILE"].split("\n") if arguments["FILE"] else []
    if bool(files) == bool(arguments["--upstream"]):
        raise UsageError("either FILE or --upstream is needed", "usage: oasis import [--upstream] [FILE]…")
    if not files:
        return _tell("", call("upstream.import", {}), screen)
    status = OK
    for path in files:
        try:
            _tell(path, _import(call, path), screen)
        except OasisError as error:
            failed = _failed(path, error, screen)
            status = status or failed
    return status


def _import(call: Call, path: str) -> dict[str, Any]:
    from oasis.cli.upload import send

    return call("chat.import", {"upload": send(call, path)["upload"]})


def _tell(path: str, reply: dict[str, Any], screen: Screen) -> int:
    if screen.is_json:
        screen.json({**({"file": path} if path else {}), **reply})
        return OK
    where = f"{path}: " if path else ""
    for chat in reply["chats"]:
        screen.line(clean.line(f"{where}chat {chat['id']}  {chat.get('title') or UNTITLED}"))
    for key in reply.get("topics", []):
        screen.line(clean.line(f"{where}topic {key}"))
    if not reply["chats"] and not reply.get("topics"):
        screen.line(clean.line(f"{where}nothing new"))
    for report in reply.get("reports", []):
        screen.notice(report)
    return OK


def _failed(path: str, error: OasisError, screen: Screen) -> int:
    """Show why one file was not taken in; a service that is not running ends the command.

    Raises: the error itself then.
    """
    from oasis.cli.client import NoDaemon

    if isinstance(error, NoDaemon):
        raise error
    if screen.is_json:
        screen.json({"file": path, "error": error.as_dict()})
        return error.exit_status
    if not error.message.startswith(path):
        error = type(error)(f"{path}: {error.message}", error.hint)
    return screen.failure(error)
