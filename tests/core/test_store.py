"""The chat store on files in memory: what is kept, when it is written, what a failure or a damaged file leaves."""

import io
import sys

from oasis.core import jsonl, store, thread
from oasis.core.store import Store
from oasis.errors import SchemaError, StoreError, UsageError

FOLDER = "/chats"
CHAT = "9m4e2mr0ui3e8a215n4g"
PATH = FOLDER + "/" + CHAT + ".jsonl"


class Memory:
    """Files in memory that count what is done; the n-th step can fail, after half of the bytes if it is a write."""

    def __init__(self, fail_at=0, cut_fails=False):
        self.data = {}
        self.writes = 0
        self.syncs = 0
        self.fail_at = fail_at
        self.cut_fails = cut_fails
        self._steps = 0

    def _step(self):
        self._steps += 1
        return self._steps == self.fail_at

    def read(self, path):
        return self.data.get(path)

    def append(self, path, data, sync):
        before = self.data.get(path)
        self.writes += 1
        if self._step():
            self._fail(path, before, data[: len(data) // 2])
        self.data[path] = (before or b"") + data
        self.syncs += 1 if sync else 0
        if sync and self._step():
            self._fail(path, before, data)

    def _fail(self, path, before, data):
        if self.cut_fails:
            self.data[path] = (before or b"") + data
        elif before is None:
            self.data.pop(path, None)
        else:
            self.data[path] = before
        raise StoreError("cannot write " + path)

    def cut(self, path, size):
        if path in self.data:
            self.data[path] = self.data[path][:size]

    def reader(self, path):
        return io.BytesIO(self.data[path]) if path in self.data else None

    def stamp(self, path):
        return (0, len(self.data[path]), 0) if path in self.data else None

    def rewrite(self, path, pieces):
        new = b"".join(pieces)
        if self._step() or self._step():
            raise StoreError("cannot write " + path)
        self.data[path] = new

    def settle(self, path):
        self.syncs += 1
        if self._step():
            raise StoreError("cannot sync " + path)

    def forget(self, path):
        self.data.pop(path, None)

    def folder(self, path):
        pass

    def names(self, path):
        return sorted([name[len(path) + 1 :] for name in self.data if name.startswith(path + "/")])


class Ids:
    def __init__(self):
        self.last = 0

    def __call__(self):
        self.last += 1
        return "%020d" % self.last


def name(number):
    return "%025d" % number


def message(number, text="hello", role="user", **fields):
    value = {"id": name(number), "role": role, "content": text, "continues": [name(number - 1)] if number > 1 else []}
    value.update(fields)
    return value


def refusal(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return error.message
    raise AssertionError("it was taken")


def stored(files, *numbers):
    """Put a chat with messages into `files`; return its whole lines."""
    files.data[PATH] = b"".join([jsonl.line(message(number)) for number in numbers])
    return files.data[PATH]


def opened(files):
    return Store(files, FOLDER, Ids()).open(CHAT)


def ids(chat):
    return [int(value["id"]) for value in chat.list()]


def test_what_was_flushed_is_read_again():
    files = Memory()
    chat = Store(files, FOLDER, Ids()).create()
    chat.add(message(1, "Grüße\nund\u2028mehr"))
    chat.add(message(2, [{"type": "text", "text": "a"}], "assistant"))
    chat.flush()
    again = Store(files, FOLDER, Ids()).open(chat.id)
    assert again.list() == chat.list()
    assert again.heads == chat.heads == [name(2)]
    assert again.reports == []


def test_a_flush_is_one_write_and_one_sync_however_many_lines():
    files = Memory()
    chat = Store(files, FOLDER, Ids()).create()
    for number in range(1, 9):
        chat.add(message(number))
    assert (files.writes, files.syncs) == (0, 0)
    chat.flush()
    assert (files.writes, files.syncs) == (1, 1)
    chat.flush()
    assert (files.writes, files.syncs) == (1, 1)
    chat.add(message(9))
    chat.flush()
    assert (files.writes, files.syncs) == (2, 2)


def test_a_turn_costs_only_its_own_bytes():
    files = Memory()
    before = stored(files, 1, 2, 3)
    chat = opened(files)
    chat.add(message(4))
    chat.flush()
    assert files.data[PATH] == before + jsonl.line(message(4))


def test_a_torn_last_line_is_told_once_and_kept_as_a_line_of_its_own():
    whole = stored(Memory(), 1, 2)
    line = jsonl.line(message(3))
    for size in range(1, len(line) - 1):
        files = Memory()
        files.data[PATH] = whole + line[:size]
        chat = opened(files)
        assert ids(chat) == [1, 2]
        assert len(chat.reports) == 1 and "torn" in chat.reports[0] and str(size) in chat.reports[0]
        chat.add(message(3))
        chat.flush()
        assert files.data[PATH] == whole + line[:size] + b"\n" + line
        assert opened(files).reports == []
        assert ids(opened(files)) == ([1, 2, 3])


def test_a_whole_last_line_without_its_end_is_a_message_and_gets_its_end_with_the_next():
    whole = stored(Memory(), 1, 2)
    for before in (whole[:-1], stored(Memory(), 1)[:-1]):
        files = Memory()
        files.data[PATH] = before
        chat = opened(files)
        count = len(before.split(b"\n"))
        assert ids(chat) == list(range(1, count + 1))
        assert len(chat.reports) == 1 and "no line end" in chat.reports[0]
        assert len(list(chat.entries())) == count and chat.page()["reports"] == chat.reports
        chat.add(message(3))
        chat.flush()
        assert files.data[PATH] == before + b"\n" + jsonl.line(message(3))
        assert opened(files).page()["reports"] == []
    files = Memory()
    files.data[PATH] = whole[:-1]
    opened(files).forget(name(2))
    assert files.data[PATH].endswith(b"\n") and files.data[PATH].count(b"hello") == 1
    assert [one["id"] for one in opened(files).list()] == [name(1), name(2)]


def test_a_byte_order_mark_costs_no_message_and_is_told():
    files = Memory()
    files.data[PATH] = b"\xef\xbb\xbf" + stored(Memory(), 1, 2)
    chat = opened(files)
    assert ids(chat) == [1, 2]
    assert len(chat.page()["reports"]) == 1 and "byte order mark" in chat.page()["reports"][0]


def test_half_a_character_locks_no_chat():
    if sys.implementation.name == "micropython":
        return  # its parser makes bytes of it that no text may hold, and it writes them again
    files = Memory()
    line = jsonl.line(message(1, "fi!rst")).replace(b"!", b"\\uD800\\ud83d\\ude00")
    files.data[PATH] = line + jsonl.line(message(2, role="assistant"))
    chat = opened(files)
    assert ids(chat) == [1, 2]
    assert chat.messages[name(1)]["content"] == "fi\ufffd\U0001f600rst"
    assert len(chat.page()["reports"]) == 1 and "half a character" in chat.page()["reports"][0]
    for one in chat.entries():
        jsonl.line(one)
    chat.add(message(3))
    chat.flush()
    assert files.data[PATH].startswith(line), "what stands in the file stays as it is"


def test_who_only_reads_does_not_shorten_what_another_is_writing():
    files = Memory()
    files.data[PATH] = stored(files, 1) + b'{"id":"half of a wri'
    before = files.data[PATH]
    chats = Store(files, FOLDER, Ids())
    chats.open(CHAT)
    chats.names()
    assert files.data[PATH] == before


def test_a_damaged_line_in_the_middle_is_skipped_told_and_kept_in_the_file():
    damaged = (
        b"garbage\n", b"\xff\xfe\n", b"5\n", b'{"role":"user"}\n', b"[" * 5000 + b"\n", b'{"role":[],"id":{}}\n',
        jsonl.line({"id": "home", "role": "user", "content": "an id that is none"}),
    )  # fmt: skip
    for line in damaged:
        files = Memory()
        before = jsonl.line(message(1)) + line + jsonl.line(message(3, role="assistant"))
        files.data[PATH] = before
        chat = opened(files)
        assert ids(chat) == [1, 3], line
        assert chat.page()["reports"] == chat.reports
        assert len(chat.reports) == 1 and "byte %d" % len(jsonl.line(message(1))) in chat.reports[0]
        chat.add(message(4))
        chat.flush()
        assert files.data[PATH] == before + jsonl.line(message(4))
        assert opened(files).reports == [], "the exchange before told it"
        assert len(opened(files).page()["reports"]) == 1, "who reads it sees it"


def test_a_chat_goes_on_behind_a_missing_parent():
    files = Memory()
    files.data[PATH] = jsonl.line(message(1)) + b"garbage\n" + jsonl.line(message(3))
    chat = opened(files)
    ordered = thread.context(chat.messages, chat.heads)
    assert [int(value["id"]) for value in ordered] == [3]
    assert thread.resolve(chat.messages, chat.heads)["missing"] == [name(2)]


def test_after_a_failure_of_any_step_the_old_or_the_new_is_there_and_never_a_mix():
    for cut_fails in (False, True):
        for fail_at in range(1, 9):
            files = Memory(fail_at, cut_fails)
            before = stored(files, 1)
            chat = opened(files)
            acknowledged, failures = [1], 0
            for number in (2, 3, 4):
                chat.add(message(number))
                try:
                    chat.flush()
                except StoreError:
                    failures += 1
                    assert ids(opened(files))[:1] == [1]
                else:
                    acknowledged = ids(chat)
                assert set(acknowledged) <= set(ids(opened(files)))
            chat.flush()
            assert failures == (1 if fail_at <= 6 else 0)
            assert files.data[PATH].startswith(before)
            assert ids(opened(files)) == [1, 2, 3, 4]
            assert opened(files).page()["reports"] == [], "no half line is left"


def test_a_failed_flush_keeps_the_lines_for_the_next():
    files = Memory(fail_at=1)
    chat = Store(files, FOLDER, Ids()).create()
    chat.add(message(1))
    assert refusal(StoreError, chat.flush)
    assert files.data == {}
    chat.flush()
    assert ids(Store(files, FOLDER, Ids()).open(chat.id)) == [1]


def test_a_discarded_message_is_neither_in_the_chat_nor_in_the_file():
    files = Memory(fail_at=1, cut_fails=True)
    before = stored(files, 1)
    chat = opened(files)
    chat.add(message(2))
    assert refusal(StoreError, chat.flush)
    chat.discard()
    assert (ids(chat), chat.heads) == ([1], [name(1)])
    chat.add(message(3))
    chat.flush()
    assert files.data[PATH] == before + jsonl.line(message(3))


def test_a_first_message_that_is_discarded_leaves_an_empty_chat():
    chat = Store(Memory(), FOLDER, Ids()).create()
    chat.add(message(1))
    chat.discard()
    assert (chat.heads, chat.list(), chat.messages) == ([], [], {})


def test_what_could_not_be_read_again_is_refused_when_added():
    deep = {"type": "tool_use", "id": "c", "name": "status", "input": {}}
    for _ in range(64):
        deep["input"] = {"a": deep["input"]}
    chat = Store(Memory(), FOLDER, Ids()).create()
    chat.add(message(1))
    assert refusal(SchemaError, chat.add, message(2, "x" * jsonl.LINE_BYTES))
    assert refusal(SchemaError, chat.add, message(2, [deep]))
    assert refusal(SchemaError, chat.add, message(2, usage={"input_tokens": float("inf")}))
    assert refusal(SchemaError, chat.add, {"id": name(2), "role": "user"})
    assert refusal(SchemaError, chat.add, message(1))
    assert ids(chat) == [1]
    chat.flush()


def test_the_longest_message_is_read_again():
    files = Memory()
    chat = Store(files, FOLDER, Ids()).create()
    room = jsonl.LINE_BYTES - len(jsonl.line(message(1, "")))
    chat.add(message(1, "x" * room))
    assert refusal(SchemaError, chat.add, message(2, "x" * (room + 60)))
    chat.flush()
    assert ids(Store(files, FOLDER, Ids()).open(chat.id)) == [1]


def test_an_id_that_comes_twice_counts_once():
    files = Memory()
    files.data[PATH] = jsonl.line(message(1, "old")) + jsonl.line(message(1, "new"))
    assert [value["content"] for value in opened(files).list()] == ["new"]


def test_chats_are_listed_newest_first_and_strange_files_are_not_chats():
    files = Memory()
    for entry in ("a" * 20 + ".jsonl", "b" * 20 + ".jsonl", "notes.jsonl", "c" * 20, "d" * 20 + ".jsonl.new"):
        files.data[FOLDER + "/" + entry] = b""
    assert Store(files, FOLDER, Ids()).names() == ["b" * 20, "a" * 20]


def test_names_that_are_no_chat_open_nothing():
    files = Memory()
    stored(files, 1)
    chats = Store(files, FOLDER, Ids())
    for other in ("", "../" + CHAT, CHAT + ".jsonl", "z" * 20, CHAT.upper(), "0" * 20, None, 5, "../etc/passwd"):
        assert "there is no chat" in refusal(UsageError, chats.open, other)
        assert "there is no chat" in refusal(UsageError, chats.delete, other)
    assert files.data[PATH]


def test_a_deleted_chat_is_gone_also_when_it_was_damaged():
    files = Memory()
    stored(files, 1)
    files.data[PATH] += b"garbage"
    chats = Store(files, FOLDER, Ids())
    chats.delete(CHAT)
    assert files.data == {}
    assert chats.names() == []


def chain(files, count, **first):
    """Put a chat of `count` exchanges of two messages into `files`."""
    made = [message(1, "one", **first)]
    for number in range(2, 2 * count + 1):
        made.append(message(number, "text %d" % number, "user" if number % 2 else "assistant"))
    files.data[PATH] = b"".join([jsonl.line(value) for value in made])
    return files


def test_of_a_long_chat_the_newest_messages_are_kept_and_the_options_of_all():
    options = {"provider_ptr": "nano", "servers": ["a"]}
    chat = opened(chain(Memory(), 1000, options=options))
    assert store.THREAD_MESSAGES <= len(chat.messages) <= store.THREAD_MESSAGES + 1
    assert chat.heads == [name(2000)]
    oldest = min(chat.messages)
    assert chat.messages[oldest]["role"] == "user", "a thread begins with the owner"
    assert chat.left_out == [name(int(oldest) - 1)]
    assert chat.older_options == options
    assert opened(chain(Memory(), 1000)).older_options == {}


def test_of_huge_messages_fewer_are_kept():
    files = Memory()
    count = store.THREAD_BYTES // 200000 + 1
    # A few more than are kept: MicroPython has a small heap.
    files.data[PATH] = b"".join([jsonl.line(message(number, "x" * 200000)) for number in range(1, count + 3)])
    chat = opened(files)
    assert len(chat.messages) == count


def test_a_branch_is_loaded_when_it_is_continued_and_its_neighbours_are_not():
    files = Memory()
    values = [
        message(1),
        message(2, "a", "assistant"),
        message(3, "b"),
        message(4, "c", "assistant", continues=[name(3)]),
    ]
    values += [message(5, "other", continues=[name(2)]), message(6, "x", "assistant", continues=[name(5)])]
    files.data[PATH] = b"".join([jsonl.line(value) for value in values])
    chat = opened(files)
    assert sorted(chat.messages) == [name(number) for number in (1, 2, 5, 6)]
    chat.load([name(4)])
    assert sorted(chat.messages) == [name(number) for number in (1, 2, 3, 4, 5, 6)]
    assert chat.heads == [name(6)]
    assert "no message" in refusal(UsageError, chat.load, [name(9)])
    assert "no message" in refusal(UsageError, chat.load, ["x"])


def test_a_chat_may_be_opened_at_any_message_and_has_that_thread_alone():
    files = chain(Memory(), 3)
    chat = Store(files, FOLDER, Ids()).open(CHAT, [name(3)])
    assert chat.heads == [name(3)] and sorted(chat.messages) == [name(number) for number in (1, 2, 3)]
    chat.add(message(9, continues=chat.heads))
    chat.flush()
    assert opened(files).heads == [name(9)] and name(4) not in opened(files).messages
    assert "no message" in refusal(UsageError, Store(files, FOLDER, Ids()).open, CHAT, [name(8)])


def test_what_was_left_on_disk_is_not_missing_and_its_options_are_in_force():
    chat = opened(chain(Memory(), 1000, options={"search": False, "servers": ["a"]}))
    found = thread.resolve(chat.messages, chat.heads, None, chat.left_out, chat.older_options)
    assert found["missing"] == [] and found["options"] == {"search": False, "servers": ["a"]}
    assert found["messages"][-1]["id"] == name(2000)


def test_several_parents_are_all_loaded_each_once():
    files = Memory()
    values = [message(1), message(2, continues=[]), message(3, continues=[name(1), name(2), name(1)]), message(4)]
    files.data[PATH] = b"".join([jsonl.line(value) for value in values])
    assert sorted(opened(files).messages) == [name(number) for number in (1, 2, 3, 4)]


def test_only_damage_behind_the_newest_owners_message_is_told_to_an_exchange():
    files = Memory()
    files.data[PATH] = (
        b"old\n" + jsonl.line(message(1)) + b"new\n" + jsonl.line(message(2, "a", "assistant")) + b"newer\n"
    )
    assert len(opened(files).reports) == 2
    assert len(opened(files).page()["reports"]) == 3


def test_a_line_that_is_too_long_is_passed_over_and_stays():
    files = Memory()
    long = b'{"id":"' + b"x" * (jsonl.LINE_BYTES + 1) + b"\n"
    files.data[PATH] = jsonl.line(message(1)) + long + jsonl.line(message(2, "a", "assistant"))
    chat = opened(files)
    assert ids(chat) == [1, 2] and "more than" in chat.reports[0]
    chat.add(message(3))
    chat.flush()
    assert long in files.data[PATH]


def test_records_are_lines_too_and_the_outline_has_no_words():
    files = Memory()
    stored(files, 1, 2)
    chat = opened(files)
    chat.note({"type": "bookmark", "name": "home", "target": name(1)})
    chat.add(message(3))
    chat.flush()
    assert files.writes == 1
    assert list(opened(files).outline())[2:] == [
        {"type": "bookmark", "name": "home", "target": name(1)},
        {"id": name(3), "role": "user", "continues": [name(2)]},
    ]
    assert refusal(SchemaError, chat.note, {"type": "bookmark"})
    assert refusal(SchemaError, chat.note, {"type": "title", "title": 5})


def test_a_late_write_is_not_synced_until_it_must_be():
    files, heard = Memory(), []
    chat = Store(files, FOLDER, Ids(), heard.append).create()
    chat.add(message(1))
    chat.flush()
    assert (files.writes, files.syncs, len(heard)) == (1, 0, 1)
    chat.secure()
    assert (files.writes, files.syncs) == (1, 1)
    chat.add(message(2))
    chat.secure()
    chat.secure()
    assert (files.writes, files.syncs) == (2, 2)
    plain = Store(Memory(), FOLDER, Ids()).create()
    plain.add(message(1))
    plain.secure()
    assert plain._files.syncs == 1


def test_what_cannot_be_written_as_it_was_read_is_forgotten_all_the_same():
    files = Memory()
    line = b'{"id":"%s","role":"user","content":"hunter22","options":{"a\\ud800":1},"continues":["%s"]}\n'
    files.data[PATH] = line % (name(2).encode(), name(1).encode())
    opened(files).forget(name(2))
    assert b"hunter22" not in files.data[PATH]
    [kept] = opened(files).list()
    assert (kept["id"], kept["continues"]) == (name(2), [name(1)])


def test_a_chat_is_forgotten_in_whole_or_not_at_all():
    for fail_at in (1, 2):
        files = Memory(fail_at)
        before = stored(files, 1, 2)
        assert refusal(StoreError, opened(files).forget, name(1))
        assert files.data[PATH] == before
    opened(files).forget(name(1))
    assert [value["content"] for value in opened(files).list()] == ["[forgotten]", "hello"]
    assert files.data[PATH].endswith(before.split(b"\n")[1] + b"\n")
