"""The target `chat`: any bytes as the file of a chat, and their first line as a headish."""

import io

from oasis.chats import index
from oasis.chats.archive import whole_lines
from oasis.core import bookmarks, jsonl, thread
from oasis.core.ids import is_scru128, looks_like_id
from oasis.core.store import Store
from oasis.errors import UsageError
from tests.core.test_store import CHAT, FOLDER, PATH, Ids, Memory

NEW = {"id": "f5lxx1zz5pnorynqglhzmsp33", "role": "user", "content": "a new message"}


def chat(data):
    """Nothing is lost of any file, what can be read is read the same in every way, and the chat goes on."""
    _lines(data)
    files = Memory()
    files.data[PATH] = data
    opened = Store(files, FOLDER, Ids()).open(CHAT)
    before = opened.list()
    assert files.data[PATH] == data, "who reads does not write"
    assert {message["id"] for message in opened.messages.values()} <= {message["id"] for message in before}
    thread.resolve(opened.messages, opened.heads)
    _page(opened, before)
    _headish(data.partition(b"\n")[0].decode("utf-8", "replace"), opened)
    found = index.empty()
    index.fold(found, jsonl.forwards(io.BytesIO(data), 0, data.rfind(b"\n") + 1), lambda text, inputs: text)
    assert found["exchanges"] >= len({message["id"] for message in before if message["role"] == "user"})
    _goes_on(files, opened, data)
    _forgets(files, before)


def _lines(data):
    handle = io.BytesIO(data)
    end, rest = jsonl.whole_bytes(handle)
    assert end + rest == len(data) and b"\n" not in data[end:]
    found = list(jsonl.forwards(handle, 0, end))
    assert found == list(jsonl.backwards(handle, end))[::-1]
    assert all(data[place : place + len(line) + 1] == line + b"\n" for place, line in found)
    assert [line for _, line in found] == [line for line in data[:end].split(b"\n") if line.strip()]
    assert b"".join(whole_lines(iter([data[:7], data[7:9], data[9:]]))) == data + (b"\n" if rest else b"")


def _page(opened, before):
    page = opened.page()
    named = [message["id"] for message in page["messages"]]
    assert page["more"] or set(named) == {message["id"] for message in before}
    if len(named) > 1:
        one = opened.page(limit=1)
        assert one["messages"] == page["messages"][-1:]


def _headish(text, opened):
    table = bookmarks.table(list(opened.outline()))
    assert all(is_scru128(target) or target == "" for target in table.values())
    try:
        found = bookmarks.resolve(text, table, *opened.heads)
        assert looks_like_id(found) and found == found.lower()
    except UsageError as error:
        assert error.message and error.hint and len(error.message) < len(text) * 10 + 200
    try:
        bookmarks.check_name(text)
    except UsageError:
        return
    assert not is_scru128(text) and bookmarks.record(text, "") and bookmarks.resolve(text, {text: "0" * 25}) == "0" * 25


def _goes_on(files, opened, data):
    if any(message["id"] == NEW["id"] for message in opened.list()):
        return
    opened.add({**NEW, "continues": opened.heads})
    opened.flush()
    assert files.data[PATH].startswith(data), "no byte is lost"
    again = Store(files, FOLDER, Ids()).open(CHAT)
    assert again.heads == [NEW["id"]] and again.messages[NEW["id"]]["content"] == NEW["content"]
    assert {message["id"] for message in opened.list()} <= {message["id"] for message in again.list()}


def _forgets(files, before):
    if not before:
        return
    kept = {message["id"]: message for message in Store(files, FOLDER, Ids()).chat(CHAT).list()}
    name = before[0]["id"]
    Store(files, FOLDER, Ids()).chat(CHAT).forget(name)
    after = {message["id"]: message for message in Store(files, FOLDER, Ids()).chat(CHAT).list()}
    assert set(after) == set(kept)
    assert all(after[other] == kept[other] for other in kept if other != name)


def _line(number, **fields):
    return jsonl.line({"id": "%025d" % number, "role": "user", "content": "text", **fields})


_CALL = {"type": "tool_use", "id": "c", "name": "status", "input": {"what": "wifi"}}
_RESULT = {"type": "tool_result", "tool_use_id": "c", "name": "status", "content": [{"type": "text", "text": "on"}]}
_WHOLE = [
    _line(1, head="home"), _line(2, role="assistant", content=[_CALL], continues=["%025d" % 1]),
    _line(3, role="tool", content=[_RESULT], continues=["%025d" % 2]), _line(4, options={"servers": []}),
    jsonl.line({"type": "title", "title": "x"}), jsonl.line({"title": "old"}),
    jsonl.line({"type": "bookmark", "name": "home", "target": "%025d" % 2}),
    jsonl.line({"type": "archived", "archived": True, "unix_s": 5}),
    jsonl.line({"type": "forgotten", "id": "%025d" % 1}),
]  # fmt: skip

SEEDS = [
    b"".join(_WHOLE), b"".join(_WHOLE[:4]), b"".join(_WHOLE)[:-9], b"home\n" + _WHOLE[0], *_WHOLE, b"", b"\n\n", b"{",
    b"0" * 25 + b"\n" + _WHOLE[0] + _WHOLE[0], _WHOLE[0] + b"\0" * 200 + b"\n" + _WHOLE[1], b"[" * 100 + b"\n",
]  # fmt: skip
WORDS = [
    *b'{|}|[|]|"|:|,|\n|\0|\xff|\\ud800|1e999|null|"id":|"role":|"continues":["|"content":|"type":"|"head":"'.split(b"|"),
    b"0" * 24, b"1" * 25, b'"options":{', b"home", b"\xe2\x80\xa8", b"[" * 70, *_WHOLE,
]  # fmt: skip
