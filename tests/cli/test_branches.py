"""How the tree of a chat is drawn: small trees and the lines they become."""

import pytest

from oasis.cli import chats

WIDE = 60


def tree(*nodes, head=""):
    """Return what chat.tree answers; a node is "NAME<PARENT: text" and may have keys of its own behind it."""
    made = []
    for node in nodes:
        said, more = node if isinstance(node, tuple) else (node, {})
        place, _, text = said.partition(": ")
        name, _, parent = place.partition("<")
        parents = more.pop("parents", [parent] if parent else [])
        made.append(
            {"id": name, "end": name.upper(), "parent": parent, "parents": parents, "text": text, "heads": [], **more}
        )
    return {"id": "c1", "title": "t", "head": head, "nodes": made}


def drawn(found, here="", width=WIDE, is_unicode=True):
    return [line for line, _ in chats.tree_lines(found, here, width, is_unicode)]


TREES = {
    "nothing": (tree(), []),
    "one": (tree("a: hello", head="A"), ["A  ● hello  (here)"]),
    "a talk runs straight down": (
        tree("a: one", "b<a: two", "c<b: three", head="C"),
        ["A  ○ one", "B  ○ two", "C  ● three  (here)"],
    ),
    "the way to the current end is straight, the other hangs beside": (
        tree("a: one", "b<a: two", "c<a: other", head="B"),
        ["A  ○ one", "C  ├─○ other", "B  ● two  (here)"],
    ),
    "without an end the newest way is straight": (
        tree("a: one", "b<a: two", "c<a: other"),
        ["A  ○ one", "B  ├─○ two", "C  ○ other"],
    ),
    "a branch goes on and branches": (
        tree("a: 1", "b<a: 2", "c<b: 3", "d<b: 4", "e<a: 5", head="E"),
        ["A  ○ 1", "B  ├─○ 2", "C  │ ├─○ 3", "D  │ ○ 4", "E  ● 5  (here)"],
    ),
    "several branches in the order of the file": (
        tree("a: 1", "b<a: 2", "c<a: 3", "d<a: 4", "e<d: 5", head="E"),
        ["A  ○ 1", "B  ├─○ 2", "C  ├─○ 3", "D  ○ 4", "E  ● 5  (here)"],
    ),
    "several beginnings are parted": (
        tree("a: 1", "b: 2", "c<b: 3", head="C"),
        ["A  ○ 1", "", "B  ○ 2", "C  ● 3  (here)"],
    ),
    "a parent that is gone makes a beginning": (
        tree("b<a: 2", "c<b: 3", head="C"),
        ["B  ○ 2", "C  ● 3  (here)"],
    ),
    "a cycle ends": (tree("a<b: 1", "b<a: 2", head="B"), ["A  ○ 1", "B  ● 2  (here)"]),
    "its own parent": (tree("a<a: 1"), ["A  ○ 1"]),
    "bookmarks, states, answers and further parents are told": (
        tree(
            ("a: 1", {"heads": ["x", "y"], "answer": "yes"}),
            ("b<a: 2", {"state": "error", "parents": ["a", "q", "r"]}),
            head="B",
        ),
        ["A  ○ 1 → yes  [x]  [y]", "B  ● 2  (error)  (continues 2 more)  (here)"],
    ),
    "what steers a terminal is not drawn": (
        tree(("a: he\x1b[2Jllo\nthere", {"heads": ["x\x07\u202e"]})),
        ["A  ○ he[2Jllo there  [x]"],
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_tree(name):
    given, expected = TREES[name]
    assert drawn(given) == expected


def test_exchange_that_one_looks_from_is_marked_and_gives_the_way():
    given = tree(("a: 1", {}), ("b<a: 2", {"heads": ["mine"]}), "c<a: 3", head="C")
    for here in ("mine", "b", "B"):
        assert drawn(given, here) == ["A  ○ 1", "C  ├─○ 3", "B  ● 2  [mine]  (here)"]
    marked = [is_here for _, is_here in chats.tree_lines(given, "mine")]
    assert marked == [False, False, True]


def test_only_ascii_where_the_locale_has_no_more():
    given = tree(("a: 1", {"answer": "2"}), "b<a: " + "x" * 90, "c<b: 3", "d<a: 4", head="D")
    lines = drawn(given, is_unicode=False)
    assert lines[0] == "A  o 1 -> 2"
    assert lines[1].startswith("B  |-o xxx") and lines[1].endswith("xx..")
    assert lines[2:] == ["C  | o 3", "D  * 4  (here)"]
    assert all(line.isascii() for line in lines)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("words", ["word " * 60, "無線網路" * 60, "🛜" * 90, ""])
def test_no_line_is_wider_than_the_terminal_and_none_is_without_its_words(width, words):
    nodes = ["m0: " + words]
    for number in range(1, 60):  # every exchange has two continuations: the deepest tree there can be
        nodes.append(f"m{number}<m{number - 1}: {words}")
        nodes.append(
            (f"n{number}<m{number - 1}: {words}", {"heads": ["a bookmark of some length"], "state": "cancelled"})
        )
    lines = drawn(tree(*nodes, head="N1"), width=width)
    assert len(lines) == len(nodes)
    assert max(chats.cells(line) for line in lines) <= width
    if words:
        assert all(words[:4] in line for line in lines)


def test_rails_of_a_deep_branch_are_cut_and_it_is_told():
    nodes = ["m0: 0"]
    for number in range(1, 40):
        nodes += [f"m{number}<m{number - 1}: {number}", f"n{number}<m{number - 1}: side"]
    lines = drawn(tree(*nodes, head="M0"), width=40)
    deepest = next(line for line in lines if line.startswith("M39"))
    assert deepest.startswith("M39  ⋯ ") and deepest.endswith("├─○ 39")


def test_ten_thousand_exchanges_are_drawn_without_recursion():
    nodes = ["m0: 0", *(f"m{number}<m{number - 1}: {number}" for number in range(1, 10000))]
    lines = drawn(tree(*nodes, head="M9999"))
    assert lines[0] == "M0     ○ 0" and lines[-1] == "M9999  ● 9999  (here)"
