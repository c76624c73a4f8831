"""Stored chats: list, show, search, rename, archive, delete, export and import them, and their branches.

Contract: what is not printed is reported: messages left out, parents that are gone, lines that could not be read. What
cannot be undone is asked about where somebody can be asked. An export replaces no file unasked and leaves no partial
file behind; only its owner may read it (0600), because a chat holds what was typed. One failed import stops no other.
"""

from __future__ import annotations

import os

from oasis.cli import cards
from oasis.cli.commands import DECLINED, OK, given, whole
from oasis.cli.request import chat_id, end_of, newest_chat, place, send
from oasis.cli.rpc_client import NoDaemon
from oasis.cli.terminal import is_meant
from oasis.core import clean
from oasis.errors import OasisError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli import shapes
    from oasis.cli.shapes import Call, ExportPart, Iterator, Node, Params, Thread
    from oasis.cli.terminal import Screen


def list_chats(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the chats with their positions and ids; a position counts all chats, whichever are shown."""
    reply = call("chat.list", {})
    wanted = [
        (n, chat) for n, chat in enumerate(reply["item"], 1) if chat.get("archived") or not arguments["--archived"]
    ]
    none = "no archived chats" if arguments["--archived"] else "no chats yet"
    lines = []
    for number, chat in wanted:
        marks = "  (archived)" if chat.get("archived") else ""
        marks += f"  ({chat['damaged']} damaged lines)" if chat.get("damaged") else ""
        when = cards.local_time(chat["updated_unix_s"])
        lines.append(f"{number:3}  {chat['id']}  {when}  {chat['title'] or UNTITLED}{marks}")
    return screen.result({**reply, "item": [chat for _, chat in wanted]}, lines or [none])


def show_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print a thread: the newest one of a chat, or the one that a message or bookmark ends."""
    chat, head = place(call, arguments["CHAT"])
    thread = load_thread(call, chat, head, number(arguments["--last"], "--last"))
    screen.card([(clean.line(f"{thread['title'] or UNTITLED} ({thread['id']})"), "bold")])
    show_thread(thread, screen)
    return OK


def search(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    more = given(limit=number(arguments["--limit"], "--limit"), meaning=bool(arguments["--meaning"]))
    reply = call("chat.search", {"text": arguments["WORDS"], **more})
    lines: list[str | tuple[str, str]] = []
    chat = ""
    for found in reply["found"]:
        if found["chat"] != chat:
            chat = found["chat"]
            mark = "  (archived)" if found.get("archived") else ""
            lines.append((clean.line(f"{found.get('title') or UNTITLED} ({chat}){mark}"), "bold"))
        lines.append(f"  {found['message']}  {found['snippet']}")
    screen.result(reply, lines or ["nothing found"])
    if reply.get("more"):
        screen.notice("there may be more: search for more words, or with --limit")
    for report in [*(reply.get("reports") or []), *([reply["note"]] if reply.get("note") else [])]:
        screen.notice(report)
    return OK


def number(text: str, option: str) -> int:
    """Return the value of an option that takes a number from 1, 0 when it was not given.

    Raises: UsageError for anything else.
    """
    if text and whole(text) < 1:
        raise UsageError(f"{option} {text!r} is not a number from 1", f"like: {option} 20")
    return whole(text or "0")


UNTITLED = "--"  # upstream's word for a chat without a title


def load_thread(call: Call, chat: str, head: str = "", last: int = 0) -> Thread:
    """Return a thread, whole or its newest `last` messages, in the shape of chat.load."""
    params: Params = {"id": chat, **given(head=head)}
    whole = page = call("chat.load", {**params, **given(limit=last)})
    messages = page["messages"]
    while page["messages"] and _has_more(page) and (not last or len(messages) < last):
        more = given(limit=last - len(messages) if last else 0)
        page = call("chat.load", {**params, "before": messages[0]["id"], **more})
        messages = page["messages"] + messages
        whole = {**page, **whole, "siblings": {**page.get("siblings", {}), **whole.get("siblings", {})}}
    return {**whole, "messages": messages, "earlier": page.get("earlier", 0), "more": _has_more(page)}


def _has_more(page: Thread) -> bool:
    return bool(page.get("earlier") or page.get("more"))


def show_thread(thread: Thread, screen: Screen) -> None:
    """Print a thread, its branches and bookmarks named where they are."""
    if screen.is_json:
        screen.json(thread)
        return
    if thread["more"]:
        screen.line(f"({thread['earlier'] or 'some'} more before)", "dim")
    marks: dict[str, list[str]] = {}
    for name, marked in (thread.get("bookmarks") or {}).items():
        marks.setdefault(marked, []).append(name)
    for message in thread["messages"]:
        for paragraph in cards.transcript([message]):
            screen.line()
            screen.line(paragraph)
        # The bookmarks on it, and which of several branches it begins.
        name = message.get("id", "")
        notes = [f"[{mark}]" for mark in marks.get(name, [])]
        others = [item["id"] for item in (thread.get("siblings") or {}).get(name, [])]
        if len(others) > 1 and name in others:
            notes.append(f"(branch {others.index(name) + 1} of {len(others)}: oasis tree shows them)")
        if notes:
            screen.line(clean.line(" ".join(notes)), "dim")
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
    chat = chat_id(call, arguments["CHAT"])
    return screen.result(call("chat.archive", {"id": chat}), f"chat {chat} archived")


def unarchive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
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
    chat = chat_id(call, arguments["CHAT"])
    if screen.can_ask:
        title = clean.line(call("chat.load", {"id": chat})["title"] or UNTITLED)
        if not is_meant(screen, f'Delete the chat "{title}"?'):
            return DECLINED
    return screen.result(call("chat.delete", {"id": chat}), f"chat {chat} deleted")


def forget(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    message, chat = arguments["MESSAGE"], chat_id(call, arguments["--chat"])
    if not is_meant(screen, f"Forget what message {clean.line(message)} says?"):
        return DECLINED
    return screen.result(call("chat.forget", {"message": message, **given(chat=chat)}), f"message {message} forgotten")


def export_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    if arguments["--markdown"] and arguments["--upstream"]:
        raise UsageError("--markdown and --upstream exclude each other", "name one form")
    form = "markdown" if arguments["--markdown"] else "upstream" if arguments["--upstream"] else "oasis"
    chat, head = place(call, arguments["CHAT"])
    parts = _parts(call, {"id": chat, "form": form, **given(head=head)})
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
    part = call("chat.export", params)
    yield part
    for number in range(1, part.get("parts", 1)):
        yield call("chat.export", {**params, "part": number})


def _save(path: str, parts: Iterator[ExportPart], replaces: bool, screen: Screen) -> int:
    """Write the parts to a new file, or over an old one once they are all there; a part of a file does not stay."""
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", "name a file with -o")
    if not replaces and os.path.lexists(path):
        raise UsageError(f"{path} is there already", "with --force it is replaced")
    made = f"{path}.{os.getpid()}.new" if replaces else path
    try:
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "wb") as file:
                size = sum(file.write(part["data"].encode("utf-8", "surrogatepass")) for part in parts)
                file.flush()
                os.fsync(descriptor)
        except BaseException:
            os.unlink(made)
            raise
        if replaces:
            os.rename(made, path)
    except FileExistsError:
        raise UsageError(f"{made} is there already", "with --force it is replaced")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {os.strerror(error.errno or 0)}", "name another file with -o")
    return screen.result({"file": path, "size_bytes": size}, f"{path}: {size} bytes")


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
            _show_imported(path, call("chat.import", {"upload": send(call, path)["upload"]}), screen)
        except NoDaemon:
            raise
        except OasisError as error:
            status = status or error.exit_status
            if screen.is_json:
                screen.json({"file": path, "error": error.as_dict()})
            elif error.message.startswith(path):
                screen.failure(error)
            else:
                screen.failure(type(error)(f"{path}: {error.message}", error.hint))
    return status


def _show_imported(path: str, reply: shapes.Imported, screen: Screen) -> int:
    where = f"{path}: " if path else ""
    lines = [f"{where}chat {chat['id']}  {chat.get('title') or UNTITLED}" for chat in reply["chats"]]
    lines += [f"{where}topic {key}" for key in reply.get("topics", [])]
    screen.result({**given(file=path), **reply}, lines or [f"{where}nothing new"])
    for report in reply.get("reports", []):
        screen.notice(report)
    return OK


# Branches
#
#     0f2c…  ○ is the guest Wi-Fi on? → No.
#     0f31…  ├─○ switch it on  [guests]
#     0f3a…  │ ○ and call it Visitors
#     0f3d…  ● thanks  (here)
#
# A line is a turn: the id to give to --continue, then its place, the owner's message and the answer. The path to the
# current end runs straight down (without one, the newest path); every other branch hangs at its side and runs down
# itself, so that a long chat is not a wide one. A line that is deeper than its room loses its outer rails, marked.


def show_tree(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Draw the tree of a chat; a message or bookmark instead of a chat is where one looks from."""
    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    return draw_tree(call, chat, head, screen)


def draw_tree(call: Call, chat: str, here: str, screen: Screen) -> int:
    """Draw the tree of a chat, marking the turn of the headish `here`, "" for the chat's end."""
    tree = call("chat.tree", {"id": chat})
    lines = [(clean.line(f"{tree['title'] or UNTITLED} ({tree['id']})"), "bold")]
    drawn = tree_lines(tree, here, screen.columns, screen.is_unicode)
    lines += [(line, "bold" if is_here else "") for line, is_here in drawn]
    screen.result(tree, lines)
    if tree.get("more"):
        screen.notice("these are the newest turns; older ones are left out")
    screen.card([] if tree["nodes"] else ["nothing was said yet"])
    return OK


def summarise(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    from oasis.cli.prompt import follow

    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    return follow(call, call("chat.summarise", {"id": chat, **given(head=head)}), screen)


def branch(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    name, chat = arguments["NAME"], chat_id(call, arguments["--chat"])
    in_chat = given(chat=chat)
    if not name:
        if arguments["-d"]:
            raise UsageError("NAME is missing", "usage: oasis branch -d NAME")
        reply = call("bookmark.list", in_chat)
        width = max((len(mark["name"]) for mark in reply["bookmarks"]), default=0)
        lines = [f"{mark['name']:{width}}  {mark['message']}  {mark.get('text') or ''}" for mark in reply["bookmarks"]]
        return screen.result(reply, [clean.line(line).rstrip() for line in lines] or ["no bookmarks yet"])
    if arguments["-d"]:
        deleted = call("bookmark.delete", {"name": name, **in_chat})
        return screen.result(deleted, f"{name} deleted; what it stood on is still there")
    message = arguments["HEADISH"]
    if not message:
        chat = chat or newest_chat(call)
        message = end_of(call, chat)
    return set_bookmark(call, {"name": name, "message": message}, chat, bool(arguments["--move"]), screen)


def set_bookmark(call: Call, params: Params, chat: str, moves: bool, screen: Screen) -> int:
    """Set a bookmark; one that stands elsewhere is moved with `moves`, or after asking.

    Shape of params: {"name", "message": headish}.
    Raises: UsageError for a name or message that is none, or when it stands elsewhere and nobody can be asked.
    """
    params = {**params, **given(chat=chat)}
    try:
        reply = call("bookmark.set", {**params, **given(move=moves)})
    except UsageError as error:
        if moves or "--move" not in error.hint or not screen.can_ask:
            raise
        if not is_meant(screen, f"{clean.line(error.message)}. Move it?"):
            return DECLINED
        reply = call("bookmark.set", {**params, "move": True})
    return screen.result(reply, f"{params['name']} stands at {params['message']}")


WIDTH = 80
# Fewer characters say nothing; rails give way to them.
WORDS_CHARS = 24
_UNICODE = {"branch": "├─", "rail": "│ ", "here": "●", "turn": "○", "cut": "…", "answer": " → ", "deep": "⋯ "}
_ASCII = {"branch": "|-", "rail": "| ", "here": "*", "turn": "o", "cut": "..", "answer": " -> ", "deep": "~ "}
# First and last code point of what takes two cells of a terminal: East Asian wide and full width, emoji.
_WIDE = (
    (0x1100, 0x115F), (0x2E80, 0x303E), (0x3041, 0xA4CF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60), (0xFFE0, 0xFFE6), (0x1F300, 0x1FAFF), (0x20000, 0x3FFFD),
)  # fmt: skip


def tree_lines(
    tree: shapes.Tree, here: str = "", width: int = WIDTH, is_unicode: bool = True
) -> list[tuple[str, bool]]:
    """Return (line, whether it is the turn that the chat continues) from top to bottom; trees are parted by an
    empty line.

    `here` is a message or bookmark, "" for the end of the chat.
    """
    nodes: dict[str, Node] = {node["id"]: node for node in tree["nodes"]}
    headish = here or tree.get("head", "")
    current = ""
    for node in tree["nodes"]:  # the newest turn that a message or bookmark lies in
        if headish in (node["id"], node["end"]) or headish in node.get("heads", ()):
            current = node["id"]
    signs = _UNICODE if is_unicode else _ASCII
    id_chars = max((len(node["end"]) for node in tree["nodes"]), default=0)
    room = width - id_chars - 2
    most = max(room - WORDS_CHARS, len(signs["deep"]) + len(signs["branch"]))
    found: list[tuple[str, bool]] = []
    for name, lead, is_root in _ordered(nodes, current, signs):
        if is_root and found:
            found.append(("", False))
        if len(lead) > most:
            lead = signs["deep"] + lead[-(most - most % 2 - len(signs["deep"])) :]
        shown = lead + signs["here" if name == current else "turn"] + " "
        text = shown + _turn_text(nodes[name], name == current, room - len(shown), signs)
        found.append((f"{nodes[name]['end']:{id_chars}}  {text}".rstrip(), name == current))
    return found


def _ordered(nodes: dict[str, Node], current: str, signs: dict[str, str]) -> list[tuple[str, str, bool]]:
    """Return (turn, what stands before it, whether a tree begins with it) in drawing order."""
    below: dict[str, list[str]] = {}
    for name, node in nodes.items():
        below.setdefault(node["parent"] if node["parent"] in nodes else "", []).append(name)
    straight: set[str] = set()
    while current in nodes and current not in straight:
        straight.add(current)
        current = nodes[current]["parent"]
    found: list[tuple[str, str, bool]] = []
    seen: set[str] = set()
    for root in below.get("", []) + list(nodes):  # the second time for what only a cycle leads to
        stack = [(root, "", "")]  # turn, rails, what it hangs on
        while stack:
            name, rails, hook = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            found.append((name, rails + hook, not rails and not hook and name == root))
            rails += signs["rail"] if hook else ""
            children = below.get(name, [])
            if children:  # the last of the stack is drawn first: the branches, then the path straight down
                on = next((child for child in children if child in straight), children[-1])
                stack.append((on, rails, ""))
                stack += [(child, rails, signs["branch"]) for child in reversed(children) if child != on]
    return found


def _turn_text(node: Node, is_here: bool, room: int, signs: dict[str, str]) -> str:
    """Return the texts of a turn and the notes on it, in `room` cells."""
    notes = [f"[{name}]" for name in node.get("heads", ())]
    notes += [f"({node['state']})"] if node.get("state") else []
    others = len(node.get("parents") or []) - 1
    notes += [f"(continues {others} more)"] if others > 0 else []
    notes += ["(here)"] if is_here else []
    tail = "".join("  " + clean.line(note) for note in notes)
    tail = _cut(tail, max(room - WORDS_CHARS // 2, 0), signs["cut"])
    answer = clean.line(node.get("answer", ""))
    text = clean.line(node["text"]) + (signs["answer"] + answer if answer else "")
    return _cut(text, room - cells(tail), signs["cut"]) + tail


def _cut(text: str, room: int, mark: str) -> str:
    if cells(text) <= room:
        return text
    found, left = "", room - len(mark)
    for char in text:
        left -= cells(char)
        if left < 0:
            break
        found += char
    return found.rstrip() + mark


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    count = len(text)
    for code in [] if text.isascii() else map(ord, text):
        if 0x300 <= code <= 0x36F or 0xFE00 <= code <= 0xFE0F or 0x200C <= code <= 0x200D:
            count -= 1  # drawn onto what stands before
        elif any(first <= code <= last for first, last in _WIDE):
            count += 1
    return count
