"""Whole chats out and in: nothing is lost on the way, nothing comes in unmarked, unchecked or half."""

import io
import sys

from oasis.core import export, jsonl, lua_chats, schema
from oasis.core.ids import is_scru128, scru128_ms
from oasis.core.thread import IMPORTED, resolve
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
    value = export.document("d5p3", "A  title", tree(), RECORDS, {"ab" * 32: "aGk="})
    value.update(changes)
    return jsonl.dumps(value).encode("utf-8")


def read(data, taken=(), **options):
    """Return what comes of a file, as it is stored when the ids `taken` are there already."""
    found = export.read(io.BytesIO(data), Ids(), **options)
    if any(name in found for name in taken):
        found.rename()
    return {
        "title": found.title,
        "messages": list(found.messages()),
        "records": list(found.records()),
        "blobs": dict(found.blobs()),
        "reports": found.reports,
    }


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
    again = export.document("x", "", first["messages"], [], {})
    found = read(jsonl.dumps(again).encode("utf-8"))
    assert [message["taint"] for message in found["messages"]] == [[IMPORTED]] * 4


def test_what_is_no_chat_is_named_by_its_path_and_nothing_comes_in():
    without = [{"role": "user", "content": "no id"}]
    for changes, path in (
        ({"messages": without}, "messages[0].id"),
        ({"messages": [5]}, "messages[0] must be"),
        ({"messages": 3}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": []}, "no message"),
        ({"records": 3}, "records"),
        ({"blobs": {"a": 1}}, "blobs"),
        ({"blobs": []}, "blobs"),
        ({"title": 1}, "title"),
        ({"version": 9}, "version"),
    ):
        assert path in refusal(out(**changes)), path


def test_what_can_be_kept_of_a_damaged_message_or_record_is_kept_and_reported():
    broken = tree()
    broken[2]["content"][0]["tool_use_id"] = 7
    broken[3]["head"] = ""
    broken[1]["continues"] = A
    marks = [{"type": "bookmark", "name": "x", "target": 3}, RECORDS[1]]
    found = read(out(messages=broken, records=marks))
    assert [message["id"] for message in found["messages"]] == [A, B, C, D]
    assert "cannot read" in found["messages"][2]["content"][0]["text"]
    assert found["messages"][2]["content"][0]["unread"] == broken[2]["content"][0], "a newer program may read it"
    assert found["messages"][1]["continues"] == [A]
    assert found["records"] == [RECORDS[1]]
    assert ["messages[2].content[0]" in found["reports"][0], "records[0]" in found["reports"][1]] == [True, True]
    assert len(found["reports"]) == 2, "what means the same is no repair"
    for message in found["messages"]:
        schema.check_message(message)


def test_parents_come_first_in_whatever_order_they_stand_in_the_file():
    state = 7
    for _ in range(40):
        shuffled = tree()
        shuffled.append({"id": "04" + "0" * 22 + "x", "role": "user", "content": "last", "continues": [C, D]})
        for at in range(len(shuffled) - 1, 0, -1):
            state = state * 48271 % 2147483647
            other = state % (at + 1)
            shuffled[at], shuffled[other] = shuffled[other], shuffled[at]
        found = read(out(messages=shuffled))
        names = [message["id"] for message in found["messages"]]
        assert sorted(names) == sorted([message["id"] for message in shuffled])
        for place, message in enumerate(found["messages"]):
            assert all(parent in names[:place] for parent in message.get("continues", []) if parent in names)
        last = "04" + "0" * 22 + "x"
        thread = resolve({message["id"]: message for message in found["messages"]}, [last])
        assert len(thread["messages"]) == 5, "the model gets them all"
        is_other = names != [message["id"] for message in shuffled]
        assert [True for text in found["reports"] if "order" in text] == ([True] if is_other else [])


def test_messages_that_continue_each_other_come_in_and_are_told():
    loop = tree()
    loop[0]["continues"] = [C]
    found = read(out(messages=loop))
    assert sorted([message["id"] for message in found["messages"]]) == [A, B, C, D]
    assert any("detour" in text for text in found["reports"])


def test_of_two_messages_with_one_id_both_are_kept_and_of_two_equal_ones_one():
    twice = tree()
    twice[3]["id"] = A
    found = read(out(messages=twice))
    names = [message["id"] for message in found["messages"]]
    assert len(names) == len(set(names)) == 4 and A in names
    assert [message["content"] for message in found["messages"] if message["id"] == A] == ["other branch"], "the later"
    assert "twice" in found["reports"][0]
    found = read(out(messages=tree() + tree()[3:]))
    assert [message["id"] for message in found["messages"]] == [A, B, C, D] and "once" in found["reports"][0]


def test_ids_in_capitals_are_ours_and_ids_beyond_the_largest_get_others():
    loud = jsonl.loads(out().replace(b"03jrq2tcl18qk2nxfr9wpzdn", b"03JRQ2TCL18QK2NXFR9WPZDN"))
    found = read(jsonl.dumps(loud).encode("utf-8").replace(b"DNa", b"DNA"))
    assert [message["id"] for message in found["messages"]] == [A, B, C, D]
    assert found["messages"][1]["continues"] == [A] and found["records"][1]["target"] == C
    beyond = [{"id": "z" * 25, "role": "user", "content": "x"}]
    found = read(out(messages=beyond))
    assert is_scru128(found["messages"][0]["id"]) and "messages[0].id" in found["reports"][0]


def test_bookmarks_get_other_names_where_theirs_stand_elsewhere():
    found = export.read(io.BytesIO(out()), Ids())
    assert found.heads == {"home"}
    found.rename_heads({"home": "home 2"})
    assert [message.get("head") for message in found.messages()] == ["home 2", None, None, None]
    assert [record.get("name") for record in found.records()] == [None, "home 2"]


def test_upstreams_messages_are_of_the_time_of_their_file_in_order():
    pairs = [{"role": "user", "content": "q%d" % number} for number in range(5)]
    data = jsonl.dumps({"messages": pairs}).encode("utf-8")
    names = [message["id"] for message in read(data, unix_ms=1_600_000_000_000)["messages"]]
    assert names == sorted(names) and scru128_ms(names[-1]) == 1_600_000_000_000
    found = read(out(), taken=(A,))
    assert [scru128_ms(message["id"]) for message in found["messages"]] == [scru128_ms(A)] * 4, "its own time stays"


def test_a_file_of_many_small_values_is_refused_before_they_are_made():
    many = b'{"messages":[{"id":"' + A.encode() + b'","role":"user","content":"x","x":[' + b"[]," * 100000 + b"0]}]}"
    assert "values" in refusal(many)
    deep = b'{"messages":[{"id":"' + A.encode() + b'","role":"user","x":' + b"[" * 5000 + b"]" * 5000 + b"}]}"
    assert "deeper" in refusal(deep)


def test_a_message_too_long_for_a_line_is_refused():
    half = {"type": "text", "text": "x" * (jsonl.LINE_BYTES // 2)}
    assert "messages[0]" in refusal(out(messages=[{"id": A, "role": "user", "content": "x" * (jsonl.LINE_BYTES + 1)}]))
    assert "allowed" in refusal(out(messages=[{"id": A, "role": "user", "content": [half, half]}]))


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
    data = jsonl.dumps(lua_chats.write(thread)).encode("utf-8")
    found = read(data)
    assert [(m["role"], m["content"]) for m in found["messages"]] == [(m["role"], m["content"]) for m in thread]


def test_half_a_character_costs_no_import_and_is_told():
    if sys.implementation.name == "micropython":
        return  # its parser makes bytes of it that no text may hold
    whole = out().replace(b"Hello", b"He\\ud800llo").replace(b"A  title", b"A \\udfff title")
    found = read(whole)
    assert found["messages"][0]["content"] == "He\ufffdllo\nthere" and len(found["messages"]) == 4
    assert any("half a character" in text for text in found["reports"])
    other = read(b'{"messages":[{"role":"user","content":"x\\ud800y"},{"role":"assistant","content":"z"}]}')
    assert [one["content"] for one in other["messages"]] == ["x\ufffdy", "z"]
    assert any("half a character" in text for text in other["reports"])
