"""Upstream's stored forms: the importer rules one by one, and what goes back."""

import io

from oasis.core import jsonl, lua_chats
from oasis.errors import SchemaError


def file(*pairs, **extra):
    value = {"messages": [{"role": role, "content": content} for role, content in pairs]}
    value.update(extra)
    return jsonl.dumps(value).encode("utf-8")


def read(data):
    """Return the messages of a file, and what was repaired in it."""
    handle, reports = io.BytesIO(data), []
    parts = jsonl.members(handle, (0, len(data)))
    return list(lua_chats.messages(handle, parts, reports.append)), reports


def said(messages):
    return [(message["role"], message["content"]) for message in messages]


def text(words):
    return {"type": "text", "text": words}


def refusal(data):
    try:
        read(data)
    except SchemaError as error:
        return error.message
    return ""


PAIR = (("user", "hi"), ("assistant", "A1"))
REST = (("user", "next"), ("assistant", "A2"))
DAMAGED = PAIR + PAIR + REST


def test_a_chat_file_is_read_with_and_without_a_line_end():
    expected = [
        ("system", "Help with this router."),
        ("user", "Which LAN address?"),
        ("assistant", "It is 192.168.1.1."),
    ]
    for data in (file(*expected), file(*expected) + b"\n"):
        messages, reports = read(data)
        assert said(messages) == expected and reports == []


def test_what_is_no_chat_file_is_refused_and_says_why():
    assert "not a JSON text" in refusal(b'{"messages": [')
    assert "not a JSON text" in refusal(b"[1]")
    assert "messages must be a list" in refusal(b'{"messages": "x"}')


def test_missing_and_empty_messages_are_a_chat_of_nothing():
    for data in (b"{}", b'{"messages":{}}', b'{"messages":[]}'):
        assert read(data) == ([], [])


def test_a_message_without_a_role_is_left_out():
    messages, reports = read(file(("", ""), ("user", "hi"), ("", "lost words")))
    assert said(messages) == [("user", "hi")]
    assert len(reports) == 1 and "lost words" in reports[0]


def test_an_unknown_role_is_kept_as_words_that_remember_it():
    messages, _ = read(file(("developer", "be brief"), ("user", "hi")))
    assert messages[0] == {"role": "user", "content": "be brief", "foreign_role": "developer"}
    assert lua_chats.write(messages)["messages"][0] == {"role": "developer", "content": "be brief"}


def test_absent_and_structured_content_survive():
    messages, reports = read(b'{"messages":[{"role":"user"},{"role":"assistant","content":{"a":[1]}}]}')
    assert said(messages) == [("user", ""), ("assistant", '{"a":[1]}')]
    assert len(reports) == 1 and "messages[1].content" in reports[0]


def test_what_is_no_message_is_left_out_and_named():
    messages, reports = read(b'{"messages":[7,{"role":3},{"role":"user","content":"hi"}]}')
    assert said(messages) == [("user", "hi")]
    assert ["messages[0]" in reports[0], "messages[1]" in reports[1]] == [True, True]


def test_a_pair_that_was_saved_again_stands_once():
    messages, reports = read(file(*DAMAGED))
    assert said(messages) == list(PAIR + REST)
    assert len(reports) == 1 and "hi" in reports[0]


def test_a_pair_saved_three_times_stands_once():
    messages, reports = read(file(*(PAIR * 3)))
    assert said(messages) == list(PAIR) and len(reports) == 2


def test_two_questions_in_a_row_and_other_answers_are_no_repeat():
    for pairs in (
        (("user", "hi"), ("user", "hi"), ("assistant", "A")),
        (("user", "hi"), ("assistant", "A"), ("user", "hi"), ("assistant", "B")),
        (("user", "a"), ("assistant", ""), ("user", "a"), ("assistant", "")),
        (("system", "S"), ("system", "S")),
    ):
        messages, reports = read(file(*pairs))
        assert said(messages) == list(pairs) and reports == []


def test_what_this_program_wrote_is_not_repaired():
    written = lua_chats.write([{"role": role, "content": content} for role, content in PAIR * 2])
    messages, reports = read(jsonl.dumps(written).encode("utf-8"))
    assert said(messages) == list(PAIR * 2) and reports == []


def test_a_thread_goes_out_as_words_of_three_roles_alone():
    call = {"type": "tool_use", "id": "c1", "name": "status", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "status", "content": [text("up")]}
    image = {"type": "image", "media_type": "image/png", "sha256": "0", "name": "a.png"}
    thread = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [text("q"), image]},
        {"role": "assistant", "content": [{"type": "thinking", "text": "hm"}, text("I look."), call]},
        {"role": "tool", "content": [result]},
        {"role": "assistant", "content": "It is up."},
        {"role": "assistant", "content": "", "error": {"message": "cut"}},
    ]
    assert said(lua_chats.write(thread)["messages"]) == [
        ("system", "S"), ("user", "q\n\n[image: a.png]"), ("assistant", "I look.\n\nIt is up."),
    ]  # fmt: skip


def test_the_index_gives_each_chat_once_and_no_title_where_there_is_none():
    sections = [{"id": "4820017365", "title": "LANaddress"}, {"id": "1", "title": "--"}, {"id": "2"}]
    sections += [{"id": "4820017365", "title": "again"}, {"id": "../../etc/passwd", "title": "x"}]
    sections += [{"title": "y"}, {"id": "3", "title": ["z"]}]
    assert lua_chats.index(sections) == [("4820017365", "LANaddress"), ("1", ""), ("2", ""), ("3", "")]


CONF = """
# system messages
[general]
auto_title = "Make a title"
[title]
openai_temperature = 0
[icons]
using = icon_1
[default]
title = "OpenWrt Assistant"
chat = "You help.\\nBe \\"brief\\"."
[custom_1]
title = Wi-Fi; fast = good
chat = "First line
second line = still text
[not a section]
end"
prompt = unused
[custom_2]
title = "Prompt only"
prompt = one\\ntwo
[custom_3]
title = "Nothing said"
"""


def test_system_messages_are_read_from_the_ini_file():
    assert lua_chats.topics(CONF) == [
        ("default", "OpenWrt Assistant", 'You help.\nBe "brief".'),
        ("custom_1", "Wi-Fi; fast = good", "First line\nsecond line = still text\n[not a section]\nend"),
        ("custom_2", "Prompt only", "one\ntwo"),
    ]


def test_a_quote_that_is_never_closed_takes_the_rest():
    assert lua_chats.topics('[a]\nchat = "x\ny\n') == [("a", "a", "x\ny")]
