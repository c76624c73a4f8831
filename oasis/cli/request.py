"""From the words of a command line to the parameters of a call: which chat, message or service is meant, what goes
along with a message, and the files to upload.

CHAT is an id or no=N, HEADISH a message's id or a bookmark's name; the daemon knows which chat holds it. A file is sent
in pieces, one piece in memory at a time; the daemon decides what may come in, how much of it, and what it is.
"""

from __future__ import annotations

import binascii
import os
import sys

from oasis.cli.commands import given, whole
from oasis.core.ids import looks_like_id
from oasis.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from oasis.cli.shapes import Any, Call, Params, RunParams, Upload
    from oasis.cli.terminal import Screen

NO_SERVICE = "off"  # the thread goes on with the service that is the active one


def run_params(call: Call, arguments: dict[str, str], screen: Screen) -> RunParams:
    """Return the parameters that the options ask for; files are sent now.

    Raises: UsageError for options that exclude each other, and what the daemon raises.
    """
    chat = arguments["--chat"] or arguments.get("CHAT", "")
    if arguments["--chat"] and arguments.get("CHAT"):
        raise UsageError("the chat is named twice", "oasis chat CHAT, or --chat CHAT")
    continues = arguments["--continue"].split("\n") if arguments["--continue"] else []
    if len(continues) == 1 and continues[0].startswith("no=") and not chat:  # that chat, as it always was
        chat, continues = continues[0], []
    search = arguments["--search"]
    more: Any = given(
        chat=chat_id(call, chat), continues=continues, head=arguments["--head"], topic=arguments["--topic"]
    )
    found: RunParams = {**along(continues), **more}
    if arguments["--service"]:
        found.update(service(call, arguments["--service"]))
    if search not in ("", "on", "off"):
        raise UsageError(f"--search is {search!r}", "on or off, for the thread from here on")
    if search:
        found["options"] = {**found.get("options", {}), "search": search == "on"}
    if arguments.get("--attach"):
        found["attachments"] = [attach(call, path, screen)["upload"] for path in arguments["--attach"].split("\n")]
    if "topic" in found and ("chat" in found or "continues" in found):
        raise UsageError("a chat has its topic from the start", "--topic is for a new chat")
    return found


def along(continues: list[str]) -> RunParams:
    """Return the parameters that let a bookmark go along with what continues it, like a branch."""
    is_bookmark = len(continues) == 1 and not looks_like_id(continues[0])
    return {"head": continues[0]} if is_bookmark else {}


def service(call: Call, name: str) -> RunParams:
    """Return the parameters that give a thread another service, or none of its own with `off`."""
    return {"options": {"provider_ptr": "" if name == NO_SERVICE else service_id(call, name)}}


PIECE_BYTES = 36 * 1024  # 48 KiB as base64, what upload.part takes at most


def attach(call: Call, path: str, screen: Screen) -> Upload:
    """Send a file that goes with a message, telling what the daemon knows of its kind; see `send`."""
    reply = send(call, path)
    if reply.get("note"):
        screen.notice(reply["note"])
    return reply


def send(call: Call, path: str) -> Upload:
    """Send one file, - is standard input; return {"upload", "size_bytes", "media_type"?, "note"?}.

    Raises: UsageError for a folder, StoreError for a file that is not there or cannot be read, and what
    the daemon raises.
    """
    if path == "-":
        file, name = sys.stdin.buffer, "stdin"
    else:
        path = os.path.expanduser(path)
        if os.path.isdir(path):
            raise UsageError(f"{path} is a folder", "name a file")
        if os.path.exists(path) and not os.path.isfile(path):  # of a pipe the end may never come
            raise UsageError(f"{path} is no regular file", "name a file; standard input is -")
        try:
            file, name = open(path, "rb"), os.path.basename(path)  # noqa: SIM115  # closed below
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} cannot be read: {_reason(error)}", "name a file that is there")
    params: Params = {"name": name}
    try:
        piece = _read(file)
        while True:
            following = _read(file) if piece else b""
            data = binascii.b2a_base64(piece, newline=False).decode()
            reply = call("upload.part", {**params, "data": data, **given(is_last=not following)})
            if not following:
                return reply
            params["upload"], piece = reply["upload"], following
    finally:
        if path != "-":
            file.close()


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read(PIECE_BYTES)
    except OSError as error:
        raise StoreError(f"the file cannot be read: {_reason(error)}")


def _reason(error: Exception) -> str:
    return os.strerror(error.errno or 0) if isinstance(error, OSError) else "invalid file name"


def chat_id(call: Call, name: str) -> str:
    """Return the id that `name` (an id or no=N, or "" for none) means."""
    is_id = not name.startswith("no=")
    return name if is_id else _at_position([chat["id"] for chat in call("chat.list", {})["item"]], name, "chat")


def service_id(call: Call, name: str) -> str:
    """Return the identifier that `name` (an identifier or no=N) means."""
    if not name.startswith("no="):
        return name
    return _at_position([one["identifier"] for one in call("service.list", {})["service"]], name, "service")


def _at_position(identifiers: list[str], name: str, what: str) -> str:
    """Return the identifier that no=N names, counted from 1."""
    number = whole(name.removeprefix("no="))
    if not 1 <= number <= len(identifiers):
        known = f"they are numbered from 1 to {len(identifiers)}" if identifiers else "there are none yet"
        raise UsageError(f"there is no {what} {name}", known)
    return identifiers[number - 1]


def newest_chat(call: Call) -> str:
    """Return the id of the chat used last; archived ones are left alone.

    Raises: UsageError when there is none.
    """
    for chat in call("chat.list", {})["item"]:
        if not chat.get("archived"):
            return chat["id"]
    raise UsageError("there is no chat yet", "begin one: oasis chat")


def end_of(call: Call, chat: str) -> str:
    """Return the id of the message that the next words in a chat continue.

    Raises: UsageError when there is none.
    """
    found = call("chat.load", {"id": chat, "limit": 1}).get("head")
    if not found:
        raise UsageError("there is no message yet", "say something first")
    return found


def place(call: Call, name: str) -> tuple[str, str]:
    """Return (chat, headish) for a CHAT or HEADISH; the headish is "" for a whole chat.

    Raises: UsageError for what is neither.
    """
    if name.startswith("no="):
        return chat_id(call, name), ""
    if any(chat["id"] == name for chat in call("chat.list", {})["item"]):
        return name, ""
    try:
        return call("chat.load", {"id": "", "head": name, "limit": 1})["id"], name
    except UsageError:
        raise UsageError(
            f"there is no chat, message or bookmark {name!r}", "`oasis list` lists chats, `oasis branch` bookmarks"
        )
