"""Stored chats: list, show, search, rename, archive, delete, export and import them.

Contract: what is not printed is reported: messages left out, parents that are gone, lines that could not be read. What
cannot be undone is asked about where somebody can be asked. An export replaces no file unasked and leaves no partial
file behind; only its owner may read it (0600), because a chat holds what was typed. One failed import stops no other.
"""

from __future__ import annotations

import os

from oasis.cli import cards
from oasis.cli.commands import DECLINED, OK
from oasis.cli.request import chat_id, place, send
from oasis.cli.rpc_client import NoDaemon
from oasis.cli.terminal import is_meant
from oasis.core import clean
from oasis.errors import OasisError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, ChatRow, ExportPart, Imported, Iterator, Params, Sibling, Thread
    from oasis.cli.terminal import Screen


def list_chats(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the chats with their positions and ids; a position counts all chats, whichever are shown."""
    reply = call("chat.list", {})
    wanted = [
        (n, chat) for n, chat in enumerate(reply["item"], 1) if chat.get("archived") or not arguments["--archived"]
    ]
    if screen.is_json:
        screen.json({**reply, "item": [chat for _, chat in wanted]})
        return OK
    for number, chat in wanted:
        screen.line(_chat_line(number, chat))
    if not wanted:
        screen.line("no archived chats" if arguments["--archived"] else "no chats yet")
    return OK


def _chat_line(number: int, chat: ChatRow) -> str:
    marks = "  (archived)" if chat.get("archived") else ""
    marks += f"  ({chat['damaged']} damaged lines)" if chat.get("damaged") else ""
    when = cards.local_time(chat["updated_unix_s"])
    return clean.line(f"{number:3}  {chat['id']}  {when}  {chat['title'] or UNTITLED}{marks}")


def show_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print a thread: the newest one of a chat, or the one that a message or bookmark ends."""
    chat, head = place(call, arguments["CHAT"])
    thread = load_thread(call, chat, head, number(arguments["--last"], "--last"))
    if screen.is_json:
        screen.json(thread)
    else:
        screen.line(clean.line(f"{thread['title'] or UNTITLED} ({thread['id']})"), "bold")
        show_thread(thread, screen)
    return OK


def search(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print where words were said, a chat's finds together."""
    limit = number(arguments["--limit"], "--limit")
    params: Params = {"text": arguments["WORDS"], **({"limit": limit} if limit else {})}
    reply = call("chat.search", {**params, "meaning": True} if arguments["--meaning"] else params)
    if screen.is_json:
        screen.json(reply)
        return OK
    chat = ""
    for found in reply["found"]:
        if found["chat"] != chat:
            chat = found["chat"]
            mark = "  (archived)" if found.get("archived") else ""
            screen.line(clean.line(f"{found.get('title') or UNTITLED} ({chat}){mark}"), "bold")
        screen.line(clean.line(f"  {found['message']}  {found['snippet']}"))
    if not reply["found"]:
        screen.line("nothing found")
    if reply.get("more"):
        screen.notice("there may be more: search for more words, or with --limit")
    for report in [*(reply.get("reports") or []), *([reply["note"]] if reply.get("note") else [])]:
        screen.notice(report)
    return OK


def number(given: str, option: str) -> int:
    """Return the value of an option that takes a number from 1, 0 when it was not given.

    Raises: UsageError for anything else.
    """
    if not given:
        return 0
    if not (given.isascii() and given.isdigit() and len(given) <= 9 and int(given)):
        raise UsageError(f"{option} {given!r} is not a number from 1", f"like: {option} 20")
    return int(given)


UNTITLED = "--"  # upstream's word for a chat without a title


def load_thread(call: Call, chat: str, head: str = "", last: int = 0) -> Thread:
    """Return a thread, whole or its newest `last` messages, in the shape of chat.load."""
    params: Params = {"id": chat, **({"head": head} if head else {})}
    whole = page = call("chat.load", {**params, "limit": last} if last else params)
    pages = [page["messages"]]
    count = len(page["messages"])
    while page["messages"] and _has_more(page) and (not last or count < last):
        more: Params = {"before": page["messages"][0]["id"], **({"limit": last - count} if last else {})}
        page = call("chat.load", {**params, **more})
        pages.append(page["messages"])
        count += len(page["messages"])
        whole = {**page, **whole, "siblings": {**page.get("siblings", {}), **whole.get("siblings", {})}}
    found = [message for messages in reversed(pages) for message in messages]
    return {**whole, "messages": found, "earlier": page.get("earlier", 0), "more": _has_more(page)}


def _has_more(page: Thread) -> bool:
    return bool(page.get("earlier") or page.get("more"))


def show_thread(thread: Thread, screen: Screen) -> None:
    """Print a thread, its branches and bookmarks named where they are."""
    if thread["more"]:
        screen.line(f"({thread['earlier'] or 'some'} more before)", "dim")
    marks: dict[str, list[str]] = {}
    for name, marked in (thread.get("bookmarks") or {}).items():
        marks.setdefault(marked, []).append(name)
    for message in thread["messages"]:
        for paragraph in cards.transcript([message]):
            screen.line()
            screen.line(paragraph)
        note = _marks(message.get("id", ""), thread.get("siblings") or {}, marks)
        if note:
            screen.line(note, "dim")
    _show_gaps(thread, screen)


def _marks(message: str, siblings: dict[str, list[Sibling]], marks: dict[str, list[str]]) -> str:
    """Return the bookmarks on a message, and which of several branches it begins."""
    words = [f"[{name}]" for name in marks.get(message, [])]
    others = [item["id"] for item in siblings.get(message, [])]
    if len(others) > 1 and message in others:
        words.append(f"(branch {others.index(message) + 1} of {len(others)}: oasis tree shows them)")
    return clean.line(" ".join(words))


def _show_gaps(thread: Thread, screen: Screen) -> None:
    gone = len(thread.get("missing") or [])
    if gone:
        what = "a message that is gone" if gone == 1 else f"{gone} messages that are gone"
        screen.notice(f"this thread continues {what}")
    for report in thread.get("reports") or []:
        screen.notice(report)


def rename(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Give a chat a title, the whitespace in it kept."""
    chat = chat_id(call, arguments["CHAT"])
    return screen.result(call("chat.rename", {"id": chat, "title": arguments["TITLE"]}), f"chat {chat} renamed")


def archive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Put a chat into the archive."""
    chat = chat_id(call, arguments["CHAT"])
    return screen.result(call("chat.archive", {"id": chat}), f"chat {chat} archived")


def unarchive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Bring a chat back from the archive."""
    chat = chat_id(call, arguments["CHAT"])
    return screen.result(call("chat.archive", {"id": chat, "archived": False}), f"chat {chat} brought back")


def delete(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id.

    Raises: UsageError for a position: upstream's `delete no=N` deletes a service, and nobody should lose a chat so.
    """
    if arguments["CHAT"].startswith("no="):
        raise UsageError("`delete no=N` is unclear: a chat or a service", "oasis delchat no=N, or oasis remove no=N")
    return delete_chat(call, arguments, screen)


def delete_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id or position."""
    chat = chat_id(call, arguments["CHAT"])
    if screen.can_ask:
        title = clean.line(call("chat.load", {"id": chat})["title"] or UNTITLED)
        if not is_meant(screen, f'Delete the chat "{title}"?'):
            return DECLINED
    return screen.result(call("chat.delete", {"id": chat}), f"chat {chat} deleted")


def forget(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Take what one message says off the flash."""
    params: Params = {"message": arguments["MESSAGE"]}
    if arguments["--chat"]:
        params["chat"] = chat_id(call, arguments["--chat"])
    if not is_meant(screen, f"Forget what message {clean.line(arguments['MESSAGE'])} says?"):
        return DECLINED
    return screen.result(call("chat.forget", params), f"message {arguments['MESSAGE']} forgotten")


def export_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Write a chat to standard output or a file."""
    if arguments["--markdown"] and arguments["--upstream"]:
        raise UsageError("--markdown and --upstream exclude each other", "name one form")
    form = "markdown" if arguments["--markdown"] else "upstream" if arguments["--upstream"] else "oasis"
    chat, head = place(call, arguments["CHAT"])
    params: Params = {"id": chat, "form": form, **({"head": head} if head else {})}
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


def _parts(call: Call, params: Params) -> Iterator[ExportPart]:
    number = 0
    while True:
        part = call("chat.export", {**params, "part": number} if number else params)
        yield part
        number += 1
        if number >= part.get("parts", 1):
            return


def _save(path: str, parts: Iterator[ExportPart], replaces: bool, screen: Screen) -> int:
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


def _write(path: str, parts: Iterator[ExportPart]) -> int:
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
        return _show_imported("", call("upstream.import", {}), screen)
    status = OK
    for path in files:
        try:
            _show_imported(path, _import(call, path), screen)
        except OasisError as error:
            failed = _failed(path, error, screen)
            status = status or failed
    return status


def _import(call: Call, path: str) -> Imported:
    return call("chat.import", {"upload": send(call, path)["upload"]})


def _show_imported(path: str, reply: Imported, screen: Screen) -> int:
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
    if isinstance(error, NoDaemon):
        raise error
    if screen.is_json:
        screen.json({"file": path, "error": error.as_dict()})
        return error.exit_status
    if not error.message.startswith(path):
        error = type(error)(f"{path}: {error.message}", error.hint)
    return screen.failure(error)
