"""The context of a chat: parents before children, each once, whole calls; options; calls left open."""

from oasis.core import jsonl, schema, thread
from oasis.core.schema import check_message


def name(number):
    return "%025d" % number


def message(number, *parents, **fields):
    value = {
        "id": name(number),
        "role": "user",
        "content": str(number),
        "continues": [name(parent) for parent in parents],
    }
    value.update(fields)
    return value


def chat(*messages):
    return {value["id"]: value for value in messages}


def options_of(ordered):
    return thread.merged([value["options"] for value in ordered if "options" in value])


def numbers(ordered):
    return [int(value["id"]) for value in ordered]


def call(ident, tool="status"):
    return {"type": "tool_use", "id": ident, "name": tool, "input": {}}


def calls(number, parent, *idents):
    return message(number, parent, role="assistant", content=[call(ident) for ident in idents])


def results(number, parent, *idents):
    content = [schema.tool_result(call(ident), "done") for ident in idents]
    return message(number, parent, role="tool", content=content)


def test_parents_come_before_children():
    messages = chat(message(3, 2), message(1), message(2, 1))
    assert numbers(thread.context(messages, [name(3)])) == [1, 2, 3]


def test_a_branch_leaves_the_other_branch_out():
    messages = chat(message(1), message(2, 1), message(3, 1))
    assert numbers(thread.context(messages, [name(3)])) == [1, 3]


def test_a_shared_ancestor_appears_once():
    messages = chat(message(1), message(2, 1), message(3, 1), message(4, 2, 3))
    assert numbers(thread.context(messages, [name(4)])) == [1, 2, 3, 4]
    assert numbers(thread.context(messages, [name(2), name(3)])) == [1, 2, 3]


def test_a_parent_that_is_also_reached_the_long_way_still_comes_first():
    messages = chat(message(1), message(2, 1), message(3, 2), message(4, 3, 1))
    assert numbers(thread.context(messages, [name(4)])) == [1, 2, 3, 4]
    messages = chat(message(1), message(2, 1), message(3, 1, 2), message(4, 1, 3))
    assert numbers(thread.context(messages, [name(4)])) == [1, 2, 3, 4]


def test_a_cycle_ends():
    messages = chat(message(1, 2), message(2, 1), message(3, 2))
    assert sorted(numbers(thread.context(messages, [name(3)]))) == [1, 2, 3]
    assert numbers(thread.context(messages, [name(3)]))[-1] == 3
    assert numbers(thread.context(chat(message(1, 1)), [name(1)])) == [1]


def test_missing_parents_are_left_out_and_named():
    messages = chat(message(2, 1), message(3, 2, 7, 1))
    ordered = thread.context(messages, [name(3)])
    assert numbers(ordered) == [2, 3]
    assert thread.resolve(messages, [name(3)])["missing"] == [name(1), name(7)]


def test_unknown_heads_give_nothing():
    assert thread.context({}, [name(1)]) == []
    assert thread.context(chat(message(1)), []) == []


def test_a_long_thread_does_not_recurse():
    messages = chat(message(0), *[message(number, number - 1) for number in range(1, 5000)])
    ordered = thread.context(messages, [name(4999)])
    assert len(ordered) == thread.CONTEXT_MESSAGES
    assert numbers(ordered)[-1] == 4999


def test_a_cut_context_begins_with_an_owner_not_with_a_result_without_its_call():
    values = [message(0)]
    for turn in range(100):
        first = turn * 3 + 1
        values += [
            calls(first, first - 1, "c%d" % turn),
            results(first + 1, first, "c%d" % turn),
            message(first + 2, first + 1),
        ]
    ordered = thread.context(chat(*values), [values[-1]["id"]])
    assert thread.CONTEXT_MESSAGES - 3 < len(ordered) <= thread.CONTEXT_MESSAGES
    assert ordered[0]["role"] == "user"
    assert thread.unanswered(ordered) == []


def test_options_merge_down_the_thread_and_false_and_empty_count():
    ordered = [
        message(1, options={"search": True, "servers": ["a"], "model": {"name": "x", "temperature": 1}}),
        message(2),
        message(3, options={"search": False, "servers": [], "model": {"temperature": 0}}),
    ]
    assert options_of(ordered) == {"search": False, "servers": [], "model": {"name": "x", "temperature": 0}}


def test_merging_options_does_not_change_the_messages():
    first = message(1, options={"model": {"name": "x"}})
    options_of([first, message(2, options={"model": {"name": "y"}})])
    assert first["options"] == {"model": {"name": "x"}}


def test_an_object_replaces_a_word_and_a_word_an_object():
    ordered = [message(1, options={"a": 1, "b": {"c": 1}}), message(2, options={"a": {"c": 1}, "b": 2})]
    assert options_of(ordered) == {"a": {"c": 1}, "b": 2}


def test_open_calls_are_found_and_closed():
    ordered = [message(1), calls(2, 1, "a", "b"), results(3, 2, "b")]
    left = thread.unanswered(ordered)
    assert [block["id"] for block in left] == ["a"]
    closing = message(4, 3, role="tool", content=thread.interruption(left))
    check_message(closing)
    assert closing["content"][0]["is_error"] is True
    assert "interrupted" in closing["content"][0]["content"][0]["text"]
    ordered.append(closing)
    assert thread.unanswered(ordered) == []


def test_an_old_result_does_not_close_a_new_call_of_the_same_id():
    ordered = [calls(1, 0, "call_0"), results(2, 1, "call_0"), calls(3, 2, "call_0")]
    assert len(thread.unanswered(ordered)) == 1
    ordered.append(results(4, 3, "call_0"))
    assert thread.unanswered(ordered) == []


def test_the_taint_of_a_thread_is_that_of_any_of_its_messages():
    tainted = results(3, 2, "a")
    tainted["content"][0]["taint"] = ["device names"]
    ordered = [message(1), calls(2, 1, "a"), tainted, message(4, 3, taint=["web pages", "device names"])]
    assert thread.taint(ordered) == ["device names", "web pages"]
    assert thread.taint(ordered[:2]) == thread.taint([]) == []


# Conformance with the turn log's reference behaviour, and what is repaired there.


def test_a_chain_comes_out_oldest_first_whatever_the_order_of_the_file():
    messages = chat(message(2, 1), message(4, 3), message(1), message(3, 2))
    assert numbers(thread.context(messages, [name(4)])) == [1, 2, 3, 4]


def test_siblings_stand_in_the_order_listed():
    messages = chat(message(1), message(2), message(3, 1, 2))
    assert numbers(thread.context(messages, [name(3)])) == [1, 2, 3]
    messages = chat(message(1), message(2), message(3, 2, 1))
    assert numbers(thread.context(messages, [name(3)])) == [2, 1, 3]


def test_branches_are_not_interleaved():
    messages = chat(message(1), message(2, 1), message(3, 2), message(4, 1), message(5, 4), message(6, 3, 5))
    assert numbers(thread.context(messages, [name(6)])) == [1, 2, 3, 4, 5, 6]


def test_a_message_listed_twice_as_parent_appears_once():
    messages = chat(message(1), message(2, 1, 1))
    assert numbers(thread.context(messages, [name(2), name(2)])) == [1, 2]


def test_parents_of_other_chats_come_along_with_what_they_continue():
    elsewhere = chat(message(1), message(2, 1))
    messages = chat(message(3), message(4, 3, 2))
    found = thread.resolve(messages, [name(4)], elsewhere.get)
    assert numbers(found["messages"]) == [3, 1, 2, 4]
    assert found["missing"] == []
    assert thread.resolve(messages, [name(4)])["missing"] == [name(2)]


def test_a_missing_parent_is_a_marker_where_it_stood_and_no_model_sees_it():
    messages = chat(message(2, 1), message(3, 2, 7), message(5, 3, 7))
    shown = thread.lineage(messages, [name(5)])
    assert [item["id"] for item in shown] == [name(1), name(2), name(7), name(3), name(5)]
    assert [item.get("type") for item in shown] == ["missing", None, "missing", None, None]
    assert all("role" in item for item in thread.context(messages, [name(5)]))
    assert thread.resolve(messages, [name(5)])["missing"] == [name(1), name(7)]


def test_a_head_that_is_gone_is_told():
    assert thread.resolve({}, [name(9)]) == {
        "messages": [], "options": {}, "missing": [name(9)], "left_out": 0, "has_older": False,
    }  # fmt: skip


def test_a_thread_of_which_only_the_newer_part_was_read_is_cut_not_broken():
    messages = chat(message(5, 4, role="tool"), message(6, 5, role="assistant"), message(7, 6, options={"b": 1}))
    older = [name(4), name(2)]
    found = thread.resolve(messages, [name(7)], None, older, {"a": 1, "b": 0})
    assert numbers(found["messages"]) == [7]
    assert (found["options"], found["missing"]) == ({"a": 1, "b": 1}, [])
    assert (found["left_out"], found["has_older"]) == (2, True)
    shown = thread.lineage(messages, [name(7)], None, older)
    assert [(item["id"], item.get("type")) for item in shown][:2] == [(name(4), "older"), (name(5), None)]
    assert not thread.resolve(messages, [name(7)])["has_older"]


def test_lists_of_words_are_replaced_whole():
    ordered = [message(1, options={"servers": ["a", "b"]}), message(2, options={"servers": ["c"]})]
    assert options_of(ordered) == {"servers": ["c"]}


def test_lists_of_objects_merge_element_by_element():
    first = message(1, options={"tools": [{"name": "a", "deep": {"x": 1}}, {"name": "b"}, {"name": "c"}]})
    second = message(2, options={"tools": [{"deep": {"y": 2}}, {"name": "B"}]})
    assert options_of([first, second]) == {
        "tools": [{"name": "a", "deep": {"x": 1, "y": 2}}, {"name": "B"}, {"name": "c"}]
    }
    third = message(3, options={"tools": [{}, {}, {}, {"name": "d"}]})
    assert [item["name"] for item in options_of([first, third])["tools"]] == ["a", "b", "c", "d"]


def test_an_empty_list_switches_off_whatever_was_listed():
    for listed in (["a"], [{"name": "a"}]):
        ordered = [message(1, options={"servers": listed}), message(2, options={"servers": []})]
        assert options_of(ordered) == {"servers": []}
        ordered.append(message(3, options={"servers": listed}))
        assert options_of(ordered) == {"servers": listed}


def test_records_merge_at_every_depth_and_false_stays():
    ordered = [message(1, options={"a": {"b": {"c": True, "d": 1}}}), message(2, options={"a": {"b": {"c": False}}})]
    assert options_of(ordered) == {"a": {"b": {"c": False, "d": 1}}}


def test_no_options_at_all_is_an_empty_record():
    assert options_of([]) == options_of([message(1)]) == {}


def test_merged_options_share_nothing_with_the_messages():
    first = message(1, options={"tools": [{"name": "a"}], "servers": ["x"]})
    merged = options_of([first, message(2, options={"tools": [{"on": True}]})])
    merged["servers"].append("y")
    merged["tools"][0]["name"] = "b"
    assert first["options"] == {"tools": [{"name": "a"}], "servers": ["x"]}


def test_a_bookmark_is_no_option():
    assert options_of([message(1, head="home", options={"search": True})]) == {"search": True}


def test_options_come_from_the_whole_thread_also_where_the_context_is_cut():
    values = [message(0, options={"provider_ptr": "kilo", "search": True})]
    values += [message(number, number - 1) for number in range(1, 1000)]
    values[500]["options"] = {"search": False}
    found = thread.resolve(chat(*values), [name(999)])
    assert found["options"] == {"provider_ptr": "kilo", "search": False}
    assert (len(found["messages"]), found["left_out"]) == (thread.CONTEXT_MESSAGES, 1000 - thread.CONTEXT_MESSAGES)


def test_an_attachment_listed_before_a_long_thread_is_not_cut_off_with_its_beginning():
    values = [message(number, *([number - 1] if number else [])) for number in range(500)]
    values += [message(500), message(501, 500, 499)]
    found = numbers(thread.context(chat(*values), [name(501)]))
    assert found[0] == 500
    assert found[-2:] == [499, 501]
    assert len(found) == thread.CONTEXT_MESSAGES


def test_of_two_long_branches_that_join_the_newer_one_is_kept():
    values = [message(number, *([number - 1] if number != 300 else [])) for number in range(600)]
    values.append(message(600, 299, 599))
    found = numbers(thread.context(chat(*values), [name(600)]))
    assert found == list(range(601 - thread.CONTEXT_MESSAGES, 601))


def test_a_thread_is_the_same_when_the_clock_fell_back():
    values = [message(number, number - 1) for number in range(1001, 1301)]
    values += [message(1, 1300)] + [message(number, number - 1) for number in range(2, 50)]
    found = numbers(thread.context(chat(*values), [name(49)]))
    assert found == list(range(1150, 1301))[-thread.CONTEXT_MESSAGES + 49 :] + list(range(1, 50))


def test_a_walk_is_bounded():
    class Endless:
        def get(self, ident):
            return message(int(ident), int(ident) + 1)

    found = thread.resolve(Endless(), [name(1)])
    assert len(found["messages"]) == thread.CONTEXT_MESSAGES
    assert found["left_out"] == thread.WALK_MESSAGES - thread.CONTEXT_MESSAGES


class Dice:
    """A plain seeded generator; the same numbers under both interpreters."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 4294967291 + 1

    def below(self, limit):
        self.state = self.state * 48271 % 2147483647
        return self.state // 7 % limit


def grown(dice, size):
    """Return messages with any parents: none, several, the same twice, gone ones, later ones, themselves."""
    values = []
    for number in range(1, size + 1):
        parents = [dice.below(size + 4) for _ in range(dice.below(4))]
        if dice.below(3):
            parents.append(max(number - 1 - dice.below(3), 0))
        values.append(message(number, *parents))
    return values


def above(messages, heads):
    """Return the ids of all that heads continue, the plain way."""
    found = set()
    waiting = list(heads)
    while waiting:
        ident = waiting.pop()
        if ident in messages and ident not in found:
            found.add(ident)
            waiting += messages[ident]["continues"]
    return found


def test_any_tree_gives_every_ancestor_once():
    for seed in range(150):
        dice = Dice(seed)
        messages = chat(*grown(dice, 3 + dice.below(30)))
        heads = [name(1 + dice.below(len(messages))) for _ in range(1 + dice.below(3))]
        ordered = [value["id"] for value in thread.context(messages, heads)]
        assert len(ordered) == len(set(ordered)), seed
        assert set(ordered) == above(messages, heads), seed
        shown = thread.lineage(messages, heads)
        assert [item["id"] for item in shown if "role" in item] == ordered, seed
        gone = [item["id"] for item in shown if "role" not in item]
        assert sorted(gone) == sorted(thread.resolve(messages, heads)["missing"]), seed


def test_any_tree_without_cycles_has_parents_before_children():
    for seed in range(150):
        dice = Dice(seed)
        size = 3 + dice.below(40)
        values = [message(number, *[dice.below(number) for _ in range(dice.below(4))]) for number in range(1, size)]
        messages = chat(*values)
        ordered = [value["id"] for value in thread.context(messages, [values[-1]["id"]])]
        for place, ident in enumerate(ordered):
            for parent in messages[ident]["continues"]:
                assert parent not in messages or ordered.index(parent) < place, seed


def test_any_merge_of_options_keeps_what_it_was_made_of():
    def any_value(dice, depth):
        kind = dice.below(6 if depth else 4)
        if kind < 4:
            return [True, False, [], "x"][kind]
        if kind == 4:
            return [any_value(dice, depth - 1) for _ in range(dice.below(3))]
        return {"abc"[dice.below(3)]: any_value(dice, depth - 1) for _ in range(dice.below(3))}

    for seed in range(200):
        dice = Dice(seed)
        deltas = [{"a": any_value(dice, 3), "b": any_value(dice, 2)} for _ in range(4)]
        before = jsonl.canonical(deltas)
        ordered = [message(number, options=delta) for number, delta in enumerate(deltas)]
        merged = jsonl.canonical(options_of(ordered))
        assert jsonl.canonical(deltas) == before, seed
        ordered.append(message(9, options={}))
        assert jsonl.canonical(options_of(ordered)) == merged, seed
        for key in deltas[-1]:
            if not isinstance(deltas[-1][key], (dict, list)):
                assert options_of(ordered)[key] == deltas[-1][key], seed
