"""The message gate: each rule, the seed's edge cases, and idempotence over arbitrary conversations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.providers import gate, ollama

FIRST = gate.merge_system_first
RUNS = ollama._merge_system_runs


def message(role, *blocks):
    return {"role": role, "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def text(words):
    return {"type": "text", "text": words}


def call(ident, name="status", arguments=None):
    return {"type": "tool_use", "id": ident, "name": name, "input": {} if arguments is None else arguments}


def result(ident, words="ok"):
    return {"type": "tool_result", "tool_use_id": ident, "name": "status", "content": [text(words)]}


def prepared(*messages, merge=FIRST, **rules):
    return gate.prepare(list(messages), merge, **rules)


def test_a_plain_conversation_passes_unchanged():
    chat = [message("system", "s"), message("user", "u"), message("assistant", "a"), message("user", "v")]
    assert prepared(*chat) == chat


def test_a_text_content_becomes_one_block():
    assert prepared({"role": "user", "content": "hi", "id": "x"}) == [message("user", "hi")]


def test_unknown_roles_and_malformed_blocks_are_dropped():
    chat = [message("developer", "x"), {"role": "user", "content": [1, {"type": "text"}, {}, text("u")]}]
    assert prepared(*chat) == [message("user", "u")]


def test_a_message_stored_empty_stays_and_is_dropped_only_where_asked():
    chat = [message("user", "u"), {"role": "assistant", "content": ""}, message("user", "v")]
    assert prepared(*chat)[1] == {"role": "assistant", "content": []}
    assert prepared(*chat, drop_empty=True) == [message("user", "u"), message("user", "v")]


@pytest.mark.parametrize("arguments", ["{}", [1], None, 7, "broken {"])
def test_specs_that_are_no_object_become_an_empty_one(arguments):
    block = {**call("a"), "input": arguments}
    chat = prepared(message("user", "u"), message("assistant", block), message("tool", result("a")))
    assert chat[1]["content"] == [call("a")]


def test_the_mark_of_invalid_arguments_never_goes_out():
    block = {**call("a"), "invalid": "{broken"}
    chat = prepared(message("user", "u"), message("assistant", block), message("tool", result("a")))
    assert "invalid" not in str(chat)


@pytest.mark.parametrize("field", ["id", "name"])
def test_calls_without_id_or_name_are_dropped(field):
    chat = prepared(message("user", "u"), message("assistant", "a", {**call("a"), field: ""}), message("user", "v"))
    assert chat == [message("user", "u"), message("assistant", "a"), message("user", "v")]


def test_results_without_id_or_without_call_are_dropped():
    chat = prepared(message("user", "u"), message("tool", result("")), message("tool", result("nobody")))
    assert chat == [message("user", "u")]


def test_a_result_before_its_call_is_an_orphan_and_so_is_the_call():
    chat = prepared(message("user", "u"), message("tool", result("a")), message("assistant", "x", call("a")))
    assert chat == [message("user", "u"), message("assistant", "x")]


def test_of_two_calls_only_the_unanswered_one_is_dropped():
    chat = prepared(message("user", "u"), message("assistant", call("a"), call("b")), message("tool", result("b")))
    assert chat == [message("user", "u"), message("assistant", call("b")), message("tool", result("b"))]


def test_an_assistant_message_of_unanswered_calls_and_thoughts_is_dropped_whole():
    thought = {"type": "thinking", "text": "hm"}
    assert prepared(message("user", "u"), message("assistant", thought, call("a"))) == [message("user", "u")]


def test_results_move_directly_behind_their_call_in_the_order_of_the_calls():
    chat = prepared(
        message("user", "u"),
        message("assistant", call("a"), call("b")),
        message("user", "v"),
        message("tool", result("b")),
        message("tool", result("a")),
    )
    assert chat == [
        message("user", "u"),
        message("assistant", call("a"), call("b")),
        message("tool", result("a"), result("b")),
        message("user", "v"),
    ]


def test_results_stored_in_a_users_message_are_found_too():
    chat = prepared(message("user", "u"), message("assistant", call("a")), message("user", result("a"), "go on"))
    assert chat == [
        message("user", "u"),
        message("assistant", call("a")),
        message("tool", result("a")),
        message("user", "go on"),
    ]


def test_a_second_result_for_one_call_is_dropped():
    chat = prepared(
        message("assistant", call("a")), message("tool", result("a", "1")), message("tool", result("a", "2"))
    )
    assert chat[1] == message("tool", result("a", "1")) and len(chat) == 2


def test_a_repeated_id_is_renamed_with_the_results_that_follow():
    chat = prepared(
        message("assistant", call("a")),
        message("tool", result("a", "first")),
        message("assistant", call("a"), call("a")),
        message("tool", result("a", "second"), result("a", "third")),
    )
    ids = [block["id"] for m in chat for block in gate.blocks_of(m, "tool_use")]
    assert ids == ["a", "a_2", "a_3"]
    assert chat[3]["content"] == [result("a_2", "second"), result("a_3", "third")]


def test_a_late_result_answers_the_newest_call_of_its_id():
    chat = prepared(
        message("user", "u"),
        message("assistant", "old", call("a")),
        message("assistant", "new", call("a")),
        message("tool", result("a")),
    )
    assert [gate.text_of(m) for m in chat[1:3]] == ["old", "new"]
    assert not gate.blocks_of(chat[1], "tool_use") and gate.blocks_of(chat[2], "tool_use")


def test_all_system_texts_are_joined_into_one_first_message():
    chat = prepared(message("user", "u"), message("system", "one"), message("assistant", "a"), message("system", "two"))
    assert chat == [message("system", "one\n\ntwo"), message("user", "u"), message("assistant", "a")]


def test_empty_system_texts_add_no_separator_and_alone_no_message():
    assert prepared(message("system", ""), message("system", "x"), message("user", "u"))[0] == message("system", "x")
    assert prepared(message("system", ""), message("user", "u")) == [message("user", "u")]
    assert prepared(message("system", "")) == []
    assert prepared() == []


def test_only_system_left_gets_a_user_who_begins():
    assert prepared(message("system", "s")) == [message("system", "s"), message("user", "Begin.")]
    assert prepared(message("system", "s"), message("tool", result("x")))[-1] == message("user", "Begin.")


def test_ollamas_rule_merges_runs_in_place_only():
    chat = prepared(
        message("system", "1"), message("system", "2"), message("user", "u"), message("system", "3"), merge=RUNS
    )
    assert chat == [message("system", "1\n\n2"), message("user", "u"), message("system", "3")]


def test_alternation_merges_neighbours_but_never_across_tool_messages():
    chat = prepared(
        message("user", "a"),
        message("user", "b"),
        message("assistant", "c", call("x")),
        message("tool", result("x")),
        message("assistant", "d"),
        message("assistant", "e"),
        alternate=True,
    )
    assert chat == [
        message("user", "a\n\nb"),
        message("assistant", "c", call("x")),
        message("tool", result("x")),
        message("assistant", "d\n\ne"),
    ]


def test_results_that_nobody_answered_are_closed_only_where_asked():
    chat = [message("user", "u"), message("assistant", call("a")), message("tool", result("a")), message("user", "v")]
    assert prepared(*chat) == chat
    closed = [*chat[:3], message("assistant", gate.STOPPED), chat[3]]
    assert prepared(*chat, bridge=True) == closed == prepared(*closed, bridge=True)
    answered = [*chat[:3], message("assistant", "3")]
    assert prepared(*answered, bridge=True) == answered


def test_alternation_lets_the_user_begin():
    chat = prepared(message("system", "s"), message("assistant", "a"), message("user", "u"), alternate=True)
    assert [m["role"] for m in chat] == ["system", "user", "assistant", "user"]
    assert chat[1] == message("user", "Begin.")


def test_the_end_is_made_a_users_only_where_asked():
    chat = [message("user", "u"), message("assistant", "a")]
    assert prepared(*chat) == chat
    assert prepared(*chat, end_with_user=True) == [*chat, message("user", "Continue.")]


def test_what_was_given_is_not_changed():
    given = [message("assistant", call("a"), call("a")), message("tool", result("a"), result("a"))]
    before = str(given)
    gate.prepare(given, FIRST)
    assert str(given) == before


def test_words_for_the_owner_alone_and_what_another_service_made_do_not_go_out():
    made = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    told = {**result("a"), "user_only": "SECRET", "taint": ["tool texts"]}
    sent = prepared(message("user", "u", made), message("assistant", made, found, call("a")), message("tool", told))
    assert sent == prepared(message("user", "u"), message("assistant", call("a")), message("tool", result("a")))


IDS = st.sampled_from(["", "a", "b", "a_2", "c"])
TEXT = st.builds(text, st.sampled_from(["", "x", "y"]))
BLOCK = st.one_of(
    TEXT,
    st.builds(call, IDS, st.sampled_from(["", "status"]), st.sampled_from([{}, [1], "x", {"k": 1}])),
    st.builds(result, IDS),
    st.just({"type": "thinking", "text": "t"}),
    st.just({"type": "thinking", "text": "", "provider_metadata": {"responses": {"items": []}}}),
    st.just({"type": "text", "text": "z", "cache": True}),
    st.just({"type": "image", "source": {}}),
    st.just({"type": "document", "media_type": "text/plain", "sha256": "0", "data": "aGk="}),
    st.just({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
    st.just({"type": "web_search_tool_result", "tool_use_id": "a", "content": []}),
    st.builds(lambda ident: {**result(ident), "content": [{"type": "image", "media_type": "image/png"}, 7]}, IDS),
    st.just({"no": "type"}),
    st.just(5),
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool", "other"]),
        "content": st.one_of(st.sampled_from(["", "plain"]), st.lists(BLOCK, max_size=4), st.none()),
    }
)
RULES = st.fixed_dictionaries({name: st.booleans() for name in ("alternate", "drop_empty", "end_with_user", "bridge")})


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGE, max_size=8), st.sampled_from([FIRST, RUNS]), RULES)
def test_preparing_twice_equals_preparing_once(chat, merge, rules):
    once = gate.prepare(chat, merge, **rules)
    assert gate.prepare(once, merge, **rules) == once


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGE, max_size=8), st.sampled_from([FIRST, RUNS]), RULES)
def test_every_call_has_its_result_behind_it_and_ids_are_unique(chat, merge, rules):
    out = gate.prepare(chat, merge, **rules)
    ids = []
    for index, here in enumerate(out):
        calls = [block["id"] for block in gate.blocks_of(here, "tool_use")]
        ids.extend(calls)
        if calls:
            after = out[index + 1]
            assert [block["tool_use_id"] for block in after["content"]] == calls and after["role"] == "tool"
        if here["role"] == "tool":
            assert here["content"] and gate.blocks_of(out[index - 1], "tool_use")
    assert len(ids) == len(set(ids)) and "" not in ids
    if merge is FIRST:
        assert all(m["role"] != "system" for m in out[1:])


@settings(max_examples=200, deadline=None)
@given(st.lists(MESSAGE, max_size=8))
def test_alternating_chats_take_turns(chat):
    out = [m["role"] for m in gate.prepare(chat, FIRST, alternate=True, drop_empty=True) if m["role"] != "system"]
    assert all(out[index] != out[index + 1] for index in range(len(out) - 1))
    assert not out or out[0] == "user"
