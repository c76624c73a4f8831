"""The tree of a chat, as a value that a terminal and a page can draw line by line.

Works on messages alone; imports under MicroPython. Every message is drawn once, under the first of its parents that the
chat holds; a message that only cycles lead to is drawn as a root.
"""

if False:  # annotations only
    from oasis.core.shapes import Callable, Json, Message

    Node = dict[str, Json]


def tree(
    ordered: "list[Message]", bookmarks: "dict[str, str] | None" = None, current: str = "",
    label: "Callable[[Message], str] | None" = None, find: "Callable[[str], Message | None] | None" = None,
) -> "dict[str, Json]":  # fmt: skip
    """Return the tree of the messages of one chat, which come in file order.

    `bookmarks` maps name to id, `current` is the id that the next message continues by itself, `label(message)` gives
    the words of a node, `find(id)` a message of another chat or None.
    Shape: {"roots": [ids], "nodes": [in drawing order], "branches": [ids with several children], "ends": [ids without],
    "current", "missing": [parents that are gone]}; a node: {"id", "role", "depth": 0 or one more for each branch above,
    "parents", "children", "bookmarks", "is_current", "missing"?, "elsewhere"?: [parents in other chats], "label"?}.
    """
    nodes: dict[str, Node] = {}
    for message in ordered:
        nodes[message["id"]] = _node(message, current, label)
    missing: list[str] = []
    for message in ordered:
        _join(nodes, nodes[message["id"]], find, missing)
    for name in sorted(bookmarks or {}):
        if (bookmarks or {})[name] in nodes:
            nodes[(bookmarks or {})[name]]["bookmarks"].append(name)
    names = [message["id"] for message in ordered]
    roots, drawn = _drawn(names, nodes)
    return {
        "roots": roots,
        "nodes": [nodes[name] for name in drawn],
        "branches": [name for name in drawn if len(nodes[name]["children"]) > 1],
        "ends": [name for name in drawn if not nodes[name]["children"]],
        "current": current if current in nodes else "",
        "missing": missing,
    }


def _node(message: "Message", current: str, label: "Callable[[Message], str] | None") -> "Node":
    node: Node = {
        "id": message["id"],
        "role": message["role"],
        "depth": 0,
        "parents": list(message.get("continues", [])),
        "children": [],
        "bookmarks": [],
        "is_current": message["id"] == current,
    }
    if label:
        node["label"] = label(message)
    return node


def _join(
    nodes: "dict[str, Node]", node: "Node", find: "Callable[[str], Message | None] | None", missing: "list[str]"
) -> None:
    """Enter a node with its parents, and what is known of those that the chat does not hold."""
    for parent in node["parents"]:
        if parent in nodes:
            if node["id"] not in nodes[parent]["children"]:
                nodes[parent]["children"].append(node["id"])
            continue
        is_elsewhere = find is not None and find(parent) is not None
        node.setdefault("elsewhere" if is_elsewhere else "missing", []).append(parent)
        if not is_elsewhere and parent not in missing:
            missing.append(parent)


def _drawn(names: "list[str]", nodes: "dict[str, Node]") -> "tuple[list[str], list[str]]":
    """Return the roots, and all ids in drawing order; sets the depth of each node."""
    above: dict[str, str] = {}
    for name in names:
        known = [parent for parent in nodes[name]["parents"] if parent in nodes]
        above[name] = known[0] if known else ""
    roots: list[str] = []
    drawn: list[str] = []
    seen: set[str] = set()
    for name in [name for name in names if not above[name]] + names:  # the second time for what only cycles lead to
        if name not in seen:
            roots.append(name)
            _draw(name, nodes, above, drawn, seen)
    return roots, drawn


def _draw(root: str, nodes: "dict[str, Node]", above: "dict[str, str]", drawn: "list[str]", seen: "set[str]") -> None:
    stack = [(root, 0)]
    while stack:
        name, depth = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        drawn.append(name)
        nodes[name]["depth"] = depth
        below = [child for child in nodes[name]["children"] if above[child] == name]
        for child in reversed(below):
            stack.append((child, depth + 1 if len(below) > 1 else depth))
