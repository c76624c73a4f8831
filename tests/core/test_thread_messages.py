"""New messages: what a caller gives becomes content, parents become ids, a response becomes an answer and back."""

from oasis.core import schema, thread
from oasis.errors import SchemaError

ID = "036z951mhjikzik2gsl81gr7l"
OTHER = "036z951mhjikzik2gsl81gr7m"
CALL = {"type": "tool_use", "id": "c1", "name": "status", "input": {}}


def refusal(function, *arguments):
    try:
        function(*arguments)
    except SchemaError as error:
        return error.message
    raise AssertionError("it was taken")


def content_of(given):
    return thread.message(ID, "user", given)["content"]


def test_a_text_is_one_text_and_a_list_of_texts_a_block_each():
    assert content_of("a") == "a"
    assert content_of(["a", "b"]) == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert content_of(["a"]) == "a"
    assert content_of([CALL, "a"]) == [CALL, {"type": "text", "text": "a"}]
    assert "content[1].type" in refusal(content_of, ["a", {"type": "video"}])
    assert "content must" in refusal(content_of, {"text": "a"})


def test_what_was_not_given_is_left_out_and_false_and_empty_stay():
    assert thread.message(ID, "user", "a") == {"id": ID, "role": "user", "content": "a"}
    made = thread.message(ID, "user", "a", [OTHER], "home", {"search": False, "servers": []})
    assert made == {
        "id": ID, "role": "user", "content": "a", "continues": [OTHER], "head": "home",
        "options": {"search": False, "servers": []},
    }  # fmt: skip
    assert "message.options.search" in refusal(thread.message, ID, "user", "a", None, "", {"search": "off"})


def names(headish):
    return {"home": ID, "": OTHER}.get(headish, headish)


def test_continues_is_nothing_one_or_several():
    assert thread.parents(None, names) == []
    assert thread.parents("home", names) == [ID]
    assert thread.parents([OTHER, "home"], names) == [OTHER, ID]
    assert thread.parents(["home", ID, "home"], names) == [ID]
    assert thread.parents("", names) == [OTHER]
    for wrong in (5, {}, [5], ["home", None], True):
        assert "continues must be" in refusal(thread.parents, wrong, names)
    many = ["%025d" % number for number in range(schema.PARENTS + 1)]
    assert "continues has more" in refusal(thread.parents, many, names)


def test_responding_adds_the_newest_message_behind_the_others():
    assert thread.parents(["home"], names, OTHER) == [ID, OTHER]
    assert thread.parents(None, names, OTHER) == [OTHER]
    assert thread.parents([OTHER], names, OTHER) == [OTHER]


RESPONSE = {
    "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "a"}, CALL],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 9, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4},
}  # fmt: skip


def test_an_answer_is_the_response_with_what_it_continues_under_the_same_bookmark():
    asked = {"id": OTHER, "role": "user", "content": "q", "head": "home"}
    answer = thread.answer(ID, RESPONSE, asked)
    assert answer == {
        "id": ID, "role": "assistant", "content": RESPONSE["content"], "continues": [OTHER], "head": "home",
        "model": "m", "stop_reason": "tool_use", "usage": RESPONSE["usage"],
    }  # fmt: skip
    assert thread.response(answer) == RESPONSE
    assert "response.usage" in refusal(thread.answer, ID, dict(RESPONSE, usage=None), asked)


def test_an_answer_of_one_text_is_stored_as_text_and_comes_back_as_a_block():
    response = dict(RESPONSE, content=[{"type": "text", "text": "a"}], usage={}, stop_reason="end_turn")
    answer = thread.answer(ID, response, {"id": OTHER})
    assert (answer["content"], "usage" in answer, "head" in answer) == ("a", False, False)
    assert thread.response(answer) == response
    schema.check_response(thread.response({"id": ID, "role": "assistant", "content": "old"}))
