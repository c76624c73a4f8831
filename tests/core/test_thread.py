"""The context of a chat: parents before children, each once, whole calls; options; calls left open."""

from oasis.core import schema, thread
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
    assert thread.missing(messages, ordered) == [name(1), name(7)]


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
    assert thread.options(ordered) == {"search": False, "servers": [], "model": {"name": "x", "temperature": 0}}


def test_merging_options_does_not_change_the_messages():
    first = message(1, options={"model": {"name": "x"}})
    thread.options([first, message(2, options={"model": {"name": "y"}})])
    assert first["options"] == {"model": {"name": "x"}}


def test_an_object_replaces_a_word_and_a_word_an_object():
    ordered = [message(1, options={"a": 1, "b": {"c": 1}}), message(2, options={"a": {"c": 1}, "b": 2})]
    assert thread.options(ordered) == {"a": {"c": 1}, "b": 2}


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
