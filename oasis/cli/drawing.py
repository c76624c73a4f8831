"""Draws the tree of a chat as lines of text; a pure function of what chat.tree answers.

    0f2c…  ○ is the guest Wi-Fi on? → No.
    0f31…  ├─○ switch it on  [guests]
    0f3a…  │ ○ and call it Visitors
    0f3d…  ● thanks  (here)

A line is an exchange: the id to give to --continue, then its place, the owner's words and the answer's. The way to the
end that is talked on from runs straight down (else the newest way); every other branch hangs beside it and goes down
itself, so that a long talk is not a wide one. What is deeper than the line has room for loses its outer rails, marked.
"""

from __future__ import annotations

from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Node = dict[str, Any]

WIDTH = 80
# Fewer characters say nothing; rails give way to them.
WORDS_CHARS = 24
_UNICODE = {"branch": "├─", "rail": "│ ", "here": "●", "exchange": "○", "cut": "…", "answer": " → ", "deep": "⋯ "}
_ASCII = {"branch": "|-", "rail": "| ", "here": "*", "exchange": "o", "cut": "..", "answer": " -> ", "deep": "~ "}
# First and last code point of what takes two cells of a terminal: East Asian wide and full width, emoji.
_WIDE = (
    (0x1100, 0x115F), (0x2E80, 0x303E), (0x3041, 0xA4CF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60), (0xFFE0, 0xFFE6), (0x1F300, 0x1FAFF), (0x20000, 0x3FFFD),
)  # fmt: skip


def lines(tree: dict[str, Any], here: str = "", width: int = WIDTH, is_unicode: bool = True) -> list[tuple[str, bool]]:
    """Return (line, whether it is the exchange that is talked on from) from top to bottom; trees are parted by an
    empty line.

    `here` is a message or bookmark, "" for the end of the chat.
    """
    nodes: dict[str, Node] = {node["id"]: node for node in tree["nodes"]}
    current = _exchange_of(tree["nodes"], here or str(tree.get("head", "")))
    signs = _UNICODE if is_unicode else _ASCII
    id_chars = max((len(node["end"]) for node in tree["nodes"]), default=0)
    found: list[tuple[str, bool]] = []
    for name, lead, is_root in _ordered(nodes, current, signs):
        if is_root and found:
            found.append(("", False))
        room = width - id_chars - 2
        mark = signs["here" if name == current else "exchange"]
        shown = _fitting_lead(lead, room, signs) + mark + " "
        text = shown + _words(nodes[name], name == current, room - len(shown), signs)
        found.append((f"{nodes[name]['end']:{id_chars}}  {text}".rstrip(), name == current))
    return found


def _exchange_of(nodes: list[Node], headish: str) -> str:
    """Return the exchange that a message or bookmark lies in, "" when it is in none."""
    for node in reversed(nodes):
        if headish in (node["id"], node["end"]) or headish in node.get("heads", ()):
            return str(node["id"])
    return ""


def _ordered(nodes: dict[str, Node], current: str, signs: dict[str, str]) -> list[tuple[str, str, bool]]:
    """Return (exchange, what stands before it, whether a tree begins with it) in drawing order."""
    below: dict[str, list[str]] = {}
    for name, node in nodes.items():
        below.setdefault(node["parent"] if node["parent"] in nodes else "", []).append(name)
    straight = _way_to(nodes, current)
    found: list[tuple[str, str, bool]] = []
    seen: set[str] = set()
    for root in below.get("", []) + list(nodes):  # the second time for what only a cycle leads to
        stack = [(root, "", "")]  # exchange, rails, what it hangs on
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
    """Return what is drawn below an exchange, last first: the branches, then the way straight on."""
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


def _words(node: Node, is_here: bool, room: int, signs: dict[str, str]) -> str:
    """Return the words of an exchange and what is to be known of it, in `room` cells."""
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
