"""The tree of a chat: every message drawn once, in order, with its branches, bookmarks and what is gone."""

from oasis.core.tree import tree


def name(number):
    return "%025d" % number


def message(number, *parents):
    return {"id": name(number), "role": "user", "content": str(number), "continues": [name(one) for one in parents]}


def drawn(found):
    return [(int(node["id"]), node["depth"]) for node in found["nodes"]]


def node(found, number):
    return next(one for one in found["nodes"] if one["id"] == name(number))


def test_a_chain_is_drawn_straight_down():
    found = tree([message(1), message(2, 1), message(3, 2)])
    assert drawn(found) == [(1, 0), (2, 0), (3, 0)]
    assert (found["roots"], found["branches"], found["ends"]) == ([name(1)], [], [name(3)])


def test_branches_are_indented_in_the_order_of_the_file():
    found = tree([message(1), message(2, 1), message(3, 1), message(4, 2), message(5, 3), message(6, 3)])
    assert drawn(found) == [(1, 0), (2, 1), (4, 1), (3, 1), (5, 2), (6, 2)]
    assert found["branches"] == [name(1), name(3)]
    assert found["ends"] == [name(4), name(5), name(6)]
    assert node(found, 1)["children"] == [name(2), name(3)]


def test_a_message_with_several_parents_is_drawn_once_under_the_first():
    found = tree([message(1), message(2), message(3, 1, 2)])
    assert drawn(found) == [(1, 0), (3, 0), (2, 0)]
    assert node(found, 3)["parents"] == [name(1), name(2)]
    assert node(found, 1)["children"] == node(found, 2)["children"] == [name(3)]
    assert found["roots"] == [name(1), name(2)]
    assert node(tree([message(1), message(2, 1, 1)]), 1)["children"] == [name(2)]


def test_bookmarks_stand_at_their_messages_and_the_current_one_is_told():
    found = tree([message(1), message(2, 1)], {"b": name(2), "a": name(2), "gone": name(9), "removed": ""}, name(1))
    assert node(found, 2)["bookmarks"] == ["a", "b"]
    assert node(found, 1)["bookmarks"] == []
    assert [one["is_current"] for one in found["nodes"]] == [True, False]
    assert found["current"] == name(1)
    assert tree([], {}, name(1)) == {
        "roots": [], "nodes": [], "branches": [], "ends": [], "current": "", "missing": [],
    }  # fmt: skip


def test_what_is_gone_and_what_is_in_another_chat_is_told_apart():
    elsewhere = {name(7): message(7)}
    found = tree([message(1, 7, 8), message(2, 1, 8)], find=elsewhere.get)
    assert node(found, 1)["elsewhere"] == [name(7)]
    assert node(found, 1)["missing"] == node(found, 2)["missing"] == found["missing"] == [name(8)]
    assert "elsewhere" not in node(found, 2)


def test_words_are_asked_for_and_not_made_up():
    found = tree([message(1)], label=lambda value: "<%s>" % value["content"])
    assert found["nodes"][0]["label"] == "<1>"
    assert "label" not in tree([message(1)])["nodes"][0]


def test_cycles_are_drawn_too():
    found = tree([message(1), message(2, 3), message(3, 2), message(4, 4), message(5, 3)])
    assert sorted([number for number, _ in drawn(found)]) == [1, 2, 3, 4, 5]
    assert found["roots"] == [name(1), name(2), name(4)]


def test_a_long_chain_does_not_recurse():
    found = tree([message(0)] + [message(number, number - 1) for number in range(1, 3000)])
    assert len(found["nodes"]) == 3000
    assert found["nodes"][-1]["depth"] == 0


def test_any_messages_are_drawn_once_each_below_a_parent():
    state = 1
    for seed in range(100):
        values = []
        for number in range(1, 25):
            state = (state * 48271 + seed) % 2147483647
            values.append(message(number, *[state // (7 + 5 * one) % 28 for one in range(state % 4)]))
        found = tree(values)
        assert sorted([number for number, _ in drawn(found)]) == list(range(1, 25)), seed
        place = {one["id"]: at for at, one in enumerate(found["nodes"])}
        for one in found["nodes"]:
            known = [parent for parent in one["parents"] if parent in place]
            assert one["id"] in found["roots"] or place[known[0]] < place[one["id"]], seed
            assert all(one["id"] in found["nodes"][place[parent]]["children"] for parent in known), seed
