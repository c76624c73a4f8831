"""A thread for people: headings, tool calls, fences that hold whatever is inside."""

from oasis.core import export

NAME = "03jrq2tcl18qk2nxfr9wpzdnf"


def shown(*messages):
    for message in messages:
        message["id"] = NAME
    return export.markdown("A title", list(messages))


def result(text, **fields):
    block = {"type": "tool_result", "tool_use_id": "c", "name": "logs", "content": [{"type": "text", "text": text}]}
    block.update(fields)
    return {"role": "tool", "content": [block]}


def test_words_of_both_sides_stand_under_their_headings():
    text = shown({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!", "model": "m1"})
    lines = text.split("\n")
    assert lines[0] == "# A title"
    assert lines[2][:9] == "## You · " and "Hello" in lines
    assert lines[6][:16] == "## Oasis (m1) · "
    assert text[-1] == "\n" and "Hi!" in lines


def test_a_fence_is_longer_than_any_inside():
    assert "\n`````\na\n````\nb\n`````" in shown(result("a\n````\nb"))


def test_calls_errors_and_endings_are_told_and_thinking_is_not():
    call = {"type": "tool_use", "id": "c", "name": "status", "input": {"what": "wan"}}
    text = shown(
        {"role": "assistant", "content": [{"type": "thinking", "text": "hm"}, call]},
        result("no bus", is_error=True),
        {"role": "assistant", "content": "", "error": {"message": "stopped by the owner"}},
    )
    assert '{"what":"wan"}' in text and "Error of `logs`" in text and "stopped by the owner" in text
    assert "hm" not in text


def test_long_results_are_cut_and_say_so():
    assert "(3000 more characters)" in shown(result("x" * 5000))
