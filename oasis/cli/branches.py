"""The branches of a chat: `oasis tree` draws them, `branch` sets bookmarks on them, `summarise` shortens one.

    0f2c…  ○ is the guest Wi-Fi on? → No.
    0f31…  ├─○ switch it on  [guests]
    0f3a…  │ ○ and call it Visitors
    0f3d…  ● thanks  (here)

A line is a turn: the id to give to --continue, then its place, the owner's message and the answer. The path to the
current end runs straight down (without one, the newest path); every other branch hangs at its side and runs down
itself, so that a long chat is not a wide one. A line that is deeper than its room loses its outer rails, marked.
"""

from __future__ import annotations

from oasis.cli.chats import UNTITLED
from oasis.cli.commands import DECLINED, OK
from oasis.cli.prompt import follow
from oasis.cli.request import chat_id, end_of, newest_chat, place
from oasis.cli.terminal import is_meant
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Node, Params, Tree
    from oasis.cli.terminal import Screen


def show_tree(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Draw the tree of a chat; a message or bookmark instead of a chat is where one looks from."""
    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    return draw_tree(call, chat, head, screen)


def draw_tree(call: Call, chat: str, here: str, screen: Screen) -> int:
    """Draw the tree of a chat, marking the turn of the headish `here`, "" for the chat's end."""
    tree = call("chat.tree", {"id": chat})
    if screen.is_json:
        screen.json(tree)
        return OK
    screen.line(clean.line(f"{tree['title'] or UNTITLED} ({tree['id']})"), "bold")
    for line, is_here in tree_lines(tree, here, screen.columns, screen.is_unicode):
        screen.line(line, "bold" if is_here else "")
    if tree.get("more"):
        screen.notice("these are the newest turns; older ones are left out")
    if not tree["nodes"]:
        screen.line("nothing was said yet")
    return OK


def summarise(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Have a thread summed up; the chat goes on from the summary."""
    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    params: Params = {"id": chat}
    if head:
        params["head"] = head
    return follow(call, call("chat.summarise", params), screen)


def branch(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the bookmarks, set one, or delete one."""
    name, chat = arguments["NAME"], arguments["--chat"]
    if chat:
        chat = chat_id(call, chat)
    if not name:
        if arguments["-d"]:
            raise UsageError("NAME is missing", "usage: oasis branch -d NAME")
        return _list_bookmarks(call, chat, screen)
    if arguments["-d"]:
        return _delete_bookmark(call, name, chat, screen)
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
    if chat:
        params = {**params, "chat": chat}
    try:
        reply = call("bookmark.set", {**params, "move": True} if moves else params)
    except UsageError as error:
        if moves or "--move" not in error.hint or not screen.can_ask:
            raise
        if not is_meant(screen, f"{clean.line(error.message)}. Move it?"):
            return DECLINED
        reply = call("bookmark.set", {**params, "move": True})
    return screen.result(reply, f"{params['name']} stands at {params['message']}")


def _list_bookmarks(call: Call, chat: str, screen: Screen) -> int:
    reply = call("bookmark.list", {"chat": chat} if chat else {})
    if screen.is_json:
        screen.json(reply)
        return OK
    width = max((len(mark["name"]) for mark in reply["bookmarks"]), default=0)
    for mark in reply["bookmarks"]:
        screen.line(clean.line(f"{mark['name']:{width}}  {mark['message']}  {mark.get('text') or ''}").rstrip())
    if not reply["bookmarks"]:
        screen.line("no bookmarks yet")
    return OK


def _delete_bookmark(call: Call, name: str, chat: str, screen: Screen) -> int:
    reply = call("bookmark.delete", {"name": name, **({"chat": chat} if chat else {})})
    return screen.result(reply, f"{name} deleted; what it stood on is still there")


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


def tree_lines(tree: Tree, here: str = "", width: int = WIDTH, is_unicode: bool = True) -> list[tuple[str, bool]]:
    """Return (line, whether it is the turn that the chat continues) from top to bottom; trees are parted by an
    empty line.

    `here` is a message or bookmark, "" for the end of the chat.
    """
    nodes: dict[str, Node] = {node["id"]: node for node in tree["nodes"]}
    current = _turn_of(tree["nodes"], here or str(tree.get("head", "")))
    signs = _UNICODE if is_unicode else _ASCII
    id_chars = max((len(node["end"]) for node in tree["nodes"]), default=0)
    found: list[tuple[str, bool]] = []
    for name, lead, is_root in _ordered(nodes, current, signs):
        if is_root and found:
            found.append(("", False))
        room = width - id_chars - 2
        mark = signs["here" if name == current else "turn"]
        shown = _fitting_lead(lead, room, signs) + mark + " "
        text = shown + _turn_text(nodes[name], name == current, room - len(shown), signs)
        found.append((f"{nodes[name]['end']:{id_chars}}  {text}".rstrip(), name == current))
    return found


def _turn_of(nodes: list[Node], headish: str) -> str:
    """Return the turn that a message or bookmark lies in, "" when it is in none."""
    for node in reversed(nodes):
        if headish in (node["id"], node["end"]) or headish in node.get("heads", ()):
            return str(node["id"])
    return ""


def _ordered(nodes: dict[str, Node], current: str, signs: dict[str, str]) -> list[tuple[str, str, bool]]:
    """Return (turn, what stands before it, whether a tree begins with it) in drawing order."""
    below: dict[str, list[str]] = {}
    for name, node in nodes.items():
        below.setdefault(node["parent"] if node["parent"] in nodes else "", []).append(name)
    straight = _way_to(nodes, current)
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
            stack += _next(below.get(name, []), straight, rails, signs["branch"])
    return found


def _next(children: list[str], straight: set[str], rails: str, branch: str) -> list[tuple[str, str, str]]:
    """Return what is drawn below a turn, last first: the branches, then the path straight down."""
    if not children:
        return []
    on = next((name for name in children if name in straight), children[-1])
    beside = [(name, rails, branch) for name in children if name != on]
    return [(on, rails, ""), *reversed(beside)]


def _way_to(nodes: dict[str, Node], name: str) -> set[str]:
    way: set[str] = set()
    while name in nodes and name not in way:
        way.add(name)
        name = nodes[name]["parent"]
    return way


def _fitting_lead(lead: str, room: int, signs: dict[str, str]) -> str:
    most = max(room - WORDS_CHARS, len(signs["deep"]) + len(signs["branch"]))
    return lead if len(lead) <= most else signs["deep"] + lead[-(most - most % 2 - len(signs["deep"])) :]


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
    if text.isascii():
        return len(text)
    return sum(_cells(ord(char)) for char in text)


def _cells(code: int) -> int:
    if 0x300 <= code <= 0x36F or 0xFE00 <= code <= 0xFE0F or 0x200C <= code <= 0x200D:
        return 0  # drawn onto what stands before
    return 2 if any(first <= code <= last for first, last in _WIDE) else 1
