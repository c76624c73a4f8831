"""Whole chats out and in: nothing is lost on the way, nothing comes in unmarked, unchecked or half."""

from oasis.core import exchange, jsonl, schema, upstream
from oasis.core.thread import IMPORTED
from oasis.errors import SchemaError

A, B, C, D = ["03jrq2tcl18qk2nxfr9wpzdn" + digit for digit in "abcd"]


class Ids:
    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return "04" + "0" * 19 + "%04d" % self.count


def tree():
    call = {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "wan"}}
    back = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "name": "status",
        "content": [{"type": "text", "text": "up\n\n"}],
    }
    back["taint"] = ["device names"]
    return [
        {"id": A, "role": "user", "content": "Hello\nthere", "head": "home"},
        {"id": B, "role": "assistant", "content": [{"type": "text", "text": "Hi "}, call], "continues": [A]},
        {"id": C, "role": "tool", "content": [back], "continues": [B]},
        {"id": D, "role": "user", "content": "other branch", "continues": [A, "03jrq2tcl18qk2nxfr9wpzd00"]},
    ]


RECORDS = [{"type": "title", "title": "A  title"}, {"type": "bookmark", "name": "home", "target": C}]


def out(**changes):
    value = exchange.document("d5p3", "A  title", tree(), RECORDS, {"ab" * 32: "aGk="})
    value.update(changes)
    return jsonl.dumps(value).encode("utf-8")


def read(data, taken=()):
    return exchange.read(data, Ids(), lambda name: name in taken)


def refusal(data):
    try:
        read(data)
    except SchemaError as error:
        return error.message
    return ""


def without_taint(messages):
    for message in messages:
        message.pop("taint", None)
    return messages


def test_a_whole_tree_comes_back_with_its_ids_branches_bookmarks_and_attachments():
    found = read(out())
    assert all(message["taint"][0] == IMPORTED for message in found["messages"])
    assert without_taint(found["messages"]) == tree()
    assert found["title"] == "A  title" and found["records"] == RECORDS and found["blobs"] == {"ab" * 32: "aGk="}


def test_a_chat_that_is_here_already_comes_in_with_new_ids_and_the_same_shape():
    found = read(out(), taken=(B,))
    messages = found["messages"]
    names = [message["id"] for message in messages]
    assert len(set(names)) == 4 and not set(names) & {A, B, C, D}
    assert messages[1]["continues"] == [names[0]] and messages[2]["continues"] == [names[1]]
    assert messages[3]["continues"] == [names[0], "03jrq2tcl18qk2nxfr9wpzd00"], "a parent elsewhere keeps its id"
    assert found["records"][1]["target"] == names[2]
    assert messages[2]["content"] == tree()[2]["content"]


def test_words_of_an_import_are_marked_once_beside_what_they_had():
    first = read(out())
    again = exchange.document("x", "", first["messages"], [], {})
    found = read(jsonl.dumps(again).encode("utf-8"))
    assert [message["taint"] for message in found["messages"]] == [[IMPORTED]] * 4


def test_what_is_wrong_is_named_by_its_path_and_nothing_comes_in():
    broken = tree()
    broken[2]["content"][0]["tool_use_id"] = 7
    twice = tree()
    twice[3]["id"] = A
    for changes, path in (
        ({"messages": broken}, "messages[2].content[0].tool_use_id"),
        ({"messages": twice}, "messages[3].id"),
        ({"messages": 3}, "messages"),
        ({"messages": []}, "no message"),
        ({"records": [{"type": "bookmark", "name": "x", "target": 3}]}, "records[0].target"),
        ({"blobs": {"a": 1}}, "blobs"),
        ({"title": 1}, "title"),
        ({"version": 9}, "version"),
    ):
        assert path in refusal(out(**changes)), path


def test_a_message_too_long_for_a_line_is_refused():
    half = {"type": "text", "text": "x" * (jsonl.LINE_BYTES // 2)}
    assert "messages[0]" in refusal(out(messages=[{"id": A, "role": "user", "content": "x" * (jsonl.LINE_BYTES + 1)}]))
    assert "are allowed" in refusal(out(messages=[{"id": A, "role": "user", "content": [half, half]}]))


def test_an_upstream_file_becomes_one_thread():
    data = b'{"messages":[{"role":"system","content":"S"},{"role":"user","content":"q"},{"role":"new","content":"n"}]}'
    found = read(data)
    messages = found["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "user"]
    assert [message.get("continues", []) for message in messages] == [[], [messages[0]["id"]], [messages[1]["id"]]]
    assert messages[2]["foreign_role"] == "new"
    for message in messages:
        schema.check_message(message)


def test_every_text_survives_upstreams_form_there_and_back():
    texts = [
        "plain",
        " spaces  kept ",
        "line\nline\n",
        "\\n not a line end",
        '"quoted"',
        "日本語 🙂 e\u0301",
        "\u200f\u200b\t",
        "'",
    ]
    thread = []
    for text in texts + texts:
        thread.append({"role": "user", "content": text})
        thread.append({"role": "assistant", "content": "A: " + text})
    data = jsonl.dumps(upstream.write(thread)).encode("utf-8")
    found = read(data)
    assert [(m["role"], m["content"]) for m in found["messages"]] == [(m["role"], m["content"]) for m in thread]
