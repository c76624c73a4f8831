"""Ollama's own API: requests, NDJSON answers, and its differences from the OpenAI class."""

import json

import pytest

from oasis.errors import SettingsError, UsageError
from oasis.providers import ollama
from tests.providers.recordings import (
    JSON,
    at_every_cut,
    calls_of,
    cut_off_everywhere,
    decode,
    error_of,
    options,
    plain,
    text_of,
)

NDJSON = {"content-type": "application/x-ndjson"}


def line(**fields):
    return (
        json.dumps({"model": "q", "created_at": "2026-01-01T00:00:00.123Z", **fields}, ensure_ascii=False).encode()
        + b"\n"
    )


def said(text="", **more):
    return line(message={"role": "assistant", "content": text, **more}, done=False)


END = line(
    message={"role": "assistant", "content": ""}, done=True, done_reason="stop", prompt_eval_count=5, eval_count=2
)


def body_of(messages, tools=(), **more):
    return json.loads(ollama.build_request(list(messages), list(tools), options("ollama", **more))["body"])


def test_a_tool_turn_keeps_arguments_as_objects_and_names_the_tool_of_a_result():
    chat = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "status", "input": {"what": "x"}}]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "3", "is_error": True}]},
    ]
    assert body_of(chat)["messages"] == [
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "function": {"name": "status", "arguments": {"what": "x"}}}],
        },
        {"role": "tool", "content": "Error: 3", "tool_name": "status", "tool_call_id": "a"},
    ]


def test_thoughts_go_back_with_the_calls_that_they_led_to_until_the_owner_speaks_again():
    thought = {"type": "thinking", "text": "It may be off.", "provider_metadata": {"ollama": {"thoughts": True}}}
    call = {"type": "tool_use", "id": "a", "name": "status", "input": {}}
    chat = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [thought, call]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "3"}]},
    ]
    assert body_of(chat)["messages"][1]["thinking"] == "It may be off."
    later = [*chat, {"role": "assistant", "content": [thought, "Done."]}, {"role": "user", "content": "thanks"}]
    assert not any("thinking" in one for one in body_of(later)["messages"])


def test_limits_are_options_and_the_context_is_never_left_to_the_server():
    body = body_of([], max_tokens=99, temperature=0.5, extra={"options": {"num_ctx": 8192}, "keep_alive": "1h"})
    assert body["options"] == {"num_ctx": 8192, "num_predict": 99, "temperature": 0.5}
    assert body["keep_alive"] == "1h" and "max_tokens" not in body and "tool_choice" not in body
    assert body_of([])["options"] == {"num_ctx": 16384}


def test_images_are_bare_and_files_of_text_stand_before_the_words():
    image = {"type": "image", "media_type": "image/png", "sha256": "0", "data": "aGk="}
    words = {"type": "document", "media_type": "text/plain", "sha256": "0", "name": "c.txt", "data": "aGk="}
    chat = [{"role": "user", "content": [{"type": "text", "text": "look"}, image, words]}]
    assert body_of(chat)["messages"] == [{"role": "user", "content": "c.txt:\n\nhi\n\nlook", "images": ["aGk="]}]


def test_a_pdf_is_refused_where_it_is_new_and_told_of_where_it_is_old():
    pdf = {"type": "document", "media_type": "application/pdf", "sha256": "0", "name": "b.pdf", "data": "aGk="}
    chat = [{"role": "user", "content": [pdf]}]
    with pytest.raises(UsageError, match=r"Ollama cannot read b\.pdf \(application/pdf\)"):
        body_of(chat)
    later = body_of([*chat, {"role": "assistant", "content": "no"}, {"role": "user", "content": "why?"}])
    assert "cannot read application/pdf" in later["messages"][0]["content"]


def test_a_search_is_a_clear_error():
    with pytest.raises(SettingsError, match="search is not offered by m-1 of Ollama"):
        body_of([], search=True)


@pytest.mark.parametrize(
    ("choice", "offered"),
    [
        ("auto", ["a", "b"]),
        ("required", ["a", "b"]),
        ("none", None),
        ({"name": "b"}, ["b"]),
        ({"name": "c"}, ["a", "b"]),
    ],
)
def test_the_choice_is_said_by_what_is_offered(choice, offered):
    body = body_of([], [{"name": "a"}, {"name": "b"}], tool_choice=choice)
    found = [tool["function"]["name"] for tool in body["tools"]] if "tools" in body else None
    assert found == offered and "tool_choice" not in body


def test_thinking_is_a_level_only_for_the_models_that_know_levels():
    assert [body_of([], thinking=wished).get("think") for wished in ("off", "low", 9000, "adaptive", None)] == [
        False, True, True, None, None,
    ]  # fmt: skip
    assert body_of([], model="gpt-oss:20b", thinking="low")["think"] == "low"
    assert body_of([], model="gpt-oss:20b", thinking="off")["think"] is False


def test_an_answer_that_breaks_off_anywhere_has_no_call():
    made = [{"function": {"name": "status", "arguments": {"what": "x"}}}]
    cut_off_everywhere(said("Grüße", thinking="hm") + said(tool_calls=made) + END, profile="ollama")


def test_a_tool_without_usable_schema_gets_the_empty_one():
    for schema in ({}, {"input_schema": None}, {"input_schema": "{broken"}):
        tool = body_of([], [{"name": "x", **schema}])["tools"][0]
        assert tool["function"]["parameters"] == {"type": "object", "properties": {}}


def test_system_messages_stay_where_they_are():
    chat = [{"role": "user", "content": "u"}, {"role": "system", "content": "late"}]
    assert [m["role"] for m in body_of(chat)["messages"]] == ["user", "system"]


@pytest.mark.parametrize("base", ["http://h:11434", "http://h:11434/", "http://h:11434/v1", "http://h:11434/api"])
def test_the_address_may_be_written_in_several_ways(base):
    assert ollama.build_request([], [], options("ollama", base_url=base))["url"] == "http://h:11434/api/chat"


def test_an_answer_in_lines():
    raw = said("Grü") + said("ße", thinking=None) + said(thinking="hm") + END
    assert at_every_cut(raw, profile="ollama", headers=NDJSON) == [
        {"type": "delta", "text": "Grüße"},
        {"type": "thinking", "text": "hm"},
        {"type": "thinking", "text": "", "provider_metadata": {"ollama": {"thoughts": True}}},
        {"type": "usage", "usage": {"input_tokens": 5, "output_tokens": 2}},
        {"type": "done", "stop_reason": "end_turn", "model": "q"},
    ]


def test_the_last_line_may_lack_its_end_and_the_reason():
    raw = said("a") + line(message={"content": ""}, done=True).rstrip()
    assert at_every_cut(raw, profile="ollama")[-1]["stop_reason"] == "end_turn"


def test_an_answer_in_one_object():
    raw = line(message={"role": "assistant", "content": "hi"}, done=True, done_reason="length")
    events = at_every_cut(raw, profile="ollama", headers=JSON, stream=False)
    assert text_of(events) == "hi" and events[-1]["stop_reason"] == "max_tokens"


def test_whole_calls_in_one_or_several_lines_with_equal_indexes_and_without_ids():
    def call(name, arguments):
        return {"function": {"index": 0, "name": name, "arguments": arguments}}

    raw = (
        said(tool_calls=[call("status", {"what": "x"}), call("undo", {})]) + said(tool_calls=[call("undo", None)]) + END
    )
    events = at_every_cut(raw, profile="ollama")
    assert [(c["name"], c["input"]) for c in calls_of(events)] == [
        ("status", {"what": "x"}),
        ("undo", {}),
        ("undo", {}),
    ]
    assert len({c["id"] for c in calls_of(events)}) == 3
    assert events[-1]["stop_reason"] == "tool_use"


@pytest.mark.parametrize("reason", ["load", "unload"])
def test_reasons_of_a_server_that_only_loads(reason):
    assert (
        decode(line(message={"content": ""}, done=True, done_reason=reason), "ollama")[-1]["stop_reason"] == "end_turn"
    )


def test_an_error_line_ends_the_answer():
    events = at_every_cut(said("a") + line(error="model runner has stopped"), profile="ollama")
    assert "runner has stopped" in error_of(events)["message"]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (said("a"), "truncated"),
        (said("a") + END[:20], "truncated"),
        (b"", "empty_answer"),
        (b"<html>", "portal"),
        (b"[]", "bad_answer"),
        (b'{"message": oops}\n', "bad_answer"),
        (b'{"version":"1"}\n', "bad_answer"),
        (b"Ollama is running", "bad_answer"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, code):
    assert error_of(at_every_cut(raw, profile="ollama", headers=JSON))["code"] == code


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (404, "model 'q' not found", "not_found"),
        (400, "q does not support tools", "no_tools"),
        (503, "server busy", "overloaded"),
        (500, "llama runner process has terminated", "server"),
    ],
)
def test_errors_of_the_server(status, words, code):
    error = error_of(decode(json.dumps({"error": words}).encode(), "ollama", status, JSON))
    assert error["code"] == code and words in error["message"] and error["status"] == status


def test_models_are_read():
    body = b'{"models":[{"name":"a:1b","capabilities":["tools"]},{"name":"b"},{}]}'
    assert plain(ollama.models_read, 200, JSON, body, options("ollama")) == [{"id": "a:1b", "tools": True}, {"id": "b"}]


@pytest.mark.parametrize("field", ["thinking", "reasoning", "reasoning_content"])
def test_thoughts_have_other_names_in_imitations(field):
    assert at_every_cut(said("a", **{field: "hm"}) + END, profile="ollama")[0] == {"type": "thinking", "text": "hm"}
