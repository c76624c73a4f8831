"""All chats: lists from the index, archive, quota, titles, forgetting, deleting with documents."""

import gzip
import os
import sys

import pytest

from oasis.core import jsonl
from oasis.core.chat_line import FORGOTTEN
from oasis.errors import StoreError, UsageError
from tests.chats.kit import SECRET, Kit, Quick


class Counting(Quick):
    """Files that note which chats were opened for reading."""

    def __init__(self):
        self.opened = []

    def reader(self, path):
        if ".jsonl" in path:  # the index is another file
            self.opened.append(path)
        return super().reader(path)


@pytest.fixture
def kit(tmp_path):
    return Kit(tmp_path, Counting())


def raw(kit, chat, where=""):
    with open(f"{kit.folder}{where}/{chat}.jsonl", "rb") as handle:
        return handle.read()


def test_a_list_tells_title_exchanges_time_and_size(kit):
    first, _ = kit.exchange(text="Set  up\nthe Wi-Fi")
    kit.exchange(first)
    second, _ = kit.exchange(text="word " * 40)
    listed = kit.chats.items()
    assert [item["id"] for item in listed] == [second, first], "the last used first"
    assert listed[1]["title"] == "Set up the Wi-Fi" and listed[1]["exchanges"] == 2
    assert listed[0]["title"].endswith("word…")
    assert listed[1]["size"] == len(raw(kit, first)) and not listed[1]["archived"]
    assert listed[1]["updated_unix_s"] == kit.now_ms // 1000 - 2


def test_a_list_opens_no_chat_that_has_not_changed(kit):
    chats = [kit.exchange()[0] for _ in range(20)]
    kit.chats.items()
    kit.files.opened.clear()
    assert len(kit.chats.items()) == 20
    assert kit.files.opened == []
    kit.exchange(chats[3])
    kit.files.opened.clear()
    assert kit.item(chats[3])["exchanges"] == 2
    assert kit.files.opened == [kit.chats.store.path(chats[3])]
    again = kit.again(files=Counting())
    assert again.chats.items() == kit.chats.items()
    assert again.files.opened == [], "a new daemon finds the index of the one before"


def test_of_a_chat_that_has_grown_only_the_new_lines_are_read(kit):
    chat, _ = kit.exchange(text="first")
    kit.chats.items()
    path = kit.chats.store.path(chat)
    with open(path, "r+b") as handle:
        handle.write(b"#")  # the old lines are not looked at again
    os.utime(path, ns=(1, 1))
    kit.exchange(chat)
    assert kit.item(chat)["title"] == "first" and kit.item(chat)["exchanges"] == 2


@pytest.mark.parametrize("damage", [b"", b"garbage\n", b'{"id":"x"}\n', b"\0" * 100])
def test_a_damaged_index_is_made_again(kit, damage):
    chat, _ = kit.exchange(text="first")
    wanted = kit.chats.items()
    with open(kit.scratch + "/chats", "wb") as handle:
        handle.write(damage)
    assert kit.chats.items() == wanted and wanted[0]["id"] == chat


def test_a_full_ram_disk_costs_the_index_and_not_the_list(tmp_path):
    class Full(Quick):
        def rewrite(self, path, pieces, mode=0o600):
            raise StoreError("no space left for " + path)

    kit = Kit(tmp_path, Full())
    chat, _ = kit.exchange()
    assert kit.item(chat)["exchanges"] == 1 and "no space" in kit.log[0]


def test_damage_is_logged_once_and_shown_in_the_list(kit):
    chat, _ = kit.exchange()
    with open(kit.chats.store.path(chat), "ab") as handle:
        handle.write(b"garbage\n\xff\n")
    assert [kit.item(chat)["damaged"] for _ in range(3)] == [2, 2, 2]
    assert len(kit.log) == 1 and chat in kit.log[0] and "1 more" in kit.log[0]


def test_a_title_stays_as_typed_and_the_last_one_counts(kit):
    chat, _ = kit.exchange(text="words")
    kit.chats.rename(chat, "  Home   Wi-Fi \t x ")
    assert kit.item(chat)["title"] == "Home   Wi-Fi \t x"
    assert jsonl.loads(raw(kit, chat).split(b"\n")[-2]) == {
        "type": "title",
        "title": "Home   Wi-Fi \t x",
        "by": "owner",
    }
    kit.chats.rename(chat, "Ü")
    assert (kit.item(chat)["title"], kit.chats.page(chat)["title"]) == ("Ü", "Ü")
    kit.chats.rename(chat, "")
    assert kit.item(chat)["title"] == "words"
    for title in ("x" * 201, "a\nb"):
        with pytest.raises(UsageError, match="one line"):
            kit.chats.rename(chat, title)
    with pytest.raises(UsageError, match="no chat"):
        kit.chats.rename("0" * 20, "x")


def test_a_secret_is_hidden_in_titles_before_they_are_cut(kit):
    chat, _ = kit.exchange(text="x" * 40 + " " + SECRET)
    assert SECRET[:5] not in kit.item(chat)["title"]
    with open(kit.scratch + "/chats") as handle:
        assert SECRET[:5] not in handle.read()
    kit.chats.rename(chat, "my " + SECRET)
    assert kit.item(chat)["title"] == "my ***"


@pytest.mark.parametrize("packs", [0, 1])
def test_an_archived_chat_is_read_as_before_and_comes_back_as_it_was(tmp_path, packs):
    kit = Kit(tmp_path, archive_gzip=packs)
    chat, _ = kit.exchange(text="first")
    before = raw(kit, chat)
    kit.chats.archive(chat, True)
    kit.chats.archive(chat, True)
    assert os.listdir(kit.folder + "/archive") == [chat + (".jsonl.gz" if packs else ".jsonl")]
    assert not os.path.exists(kit.chats.store.path(chat))
    assert kit.item(chat)["archived"] and kit.item(chat)["title"] == "first"
    page = kit.chats.page(chat)
    assert page["archived"] and [message["content"] for message in page["messages"]] == ["first", "hi"]
    assert [found["chat"] for found in kit.chats.search("first")["results"]] == [chat]
    kit.chats.archive(chat, False)
    kit.chats.archive(chat, False)
    assert os.listdir(kit.folder + "/archive") == []
    assert raw(kit, chat).startswith(before)
    assert [jsonl.loads(line)["archived"] for line in raw(kit, chat)[len(before) :].split(b"\n")[:-1]] == [True, False]
    assert not kit.item(chat)["archived"]


def test_writing_to_an_archived_chat_brings_it_back(kit):
    chat, _ = kit.exchange(text="first")
    kit.chats.archive(chat, True)
    kit.exchange(chat, "second")
    assert kit.texts(chat) == ["first", "hi", "second", "hi"] and not kit.item(chat)["archived"]


def test_an_archive_is_a_gzip_file_and_smaller(kit):
    chat, _ = kit.exchange(text="again and " * 500)
    before = raw(kit, chat)
    kit.chats.archive(chat, True)
    path = f"{kit.folder}/archive/{chat}.jsonl.gz"
    with gzip.open(path) as handle:
        assert handle.read().startswith(before)
    assert os.path.getsize(path) < len(before) / 5
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_without_zlib_chats_are_archived_as_they_are_and_packed_ones_say_why_not(kit):
    packed, _ = kit.exchange(text="packed")
    plain, _ = kit.exchange(text="plain")
    kit.chats.archive(packed, True)
    kept, sys.modules["zlib"] = sys.modules["zlib"], None  # what an interpreter without it looks like
    try:
        again = kit.again()
        again.chats.archive(plain, True)
        assert again.texts(plain) == ["plain", "hi"]
        with pytest.raises(StoreError, match="no zlib") as caught:
            again.chats.page(packed)
        assert "gunzip" in caught.value.hint
        assert len(again.chats.items()) == 2
        assert "no zlib" in again.chats.search("plain")["reports"][0]
    finally:
        sys.modules["zlib"] = kept
    assert kit.texts(packed) == ["packed", "hi"]


def test_a_damaged_archive_is_told_and_harms_no_other(kit):
    broken, _ = kit.exchange(text="broken " * 100)
    whole, _ = kit.exchange(text="whole")
    for chat in (broken, whole):
        kit.chats.archive(chat, True)
    path = f"{kit.folder}/archive/{broken}.jsonl.gz"
    with open(path, "r+b") as handle:
        handle.truncate(os.path.getsize(path) - 9)
    for ask in (kit.chats.page, kit.chats.open):
        with pytest.raises(StoreError, match="damaged"):
            ask(broken)
    assert {item["id"] for item in kit.chats.items()} == {broken, whole}
    assert kit.chats.search("whole")["results"][0]["chat"] == whole
    assert os.path.exists(path), "what is left of it stays"
    kit.chats.delete(broken)
    assert not os.path.exists(path)


def test_the_oldest_archived_chats_go_first_and_it_is_told(tmp_path):
    kit = Kit(tmp_path, quota=64, archive_gzip=0)
    big = "x" * 12000
    old, new, kept = [kit.exchange(text=big)[0] for _ in range(3)]
    kit.exchange(old)
    for chat in (old, new):
        kit.chats.archive(chat, True)
    assert kit.chats.make_room() == []
    told = kit.chats.make_room(14000)
    assert len(told) == 1 and new in told[0] and "no more room" in told[0], "the other was used later"
    assert kit.log == told
    assert {item["id"] for item in kit.chats.items()} == {old, kept}
    with pytest.raises(StoreError, match="64 KiB are allowed") as caught:
        kit.chats.make_room(64 * 1024)
    assert "archive" in caught.value.hint
    assert {item["id"] for item in kit.chats.items()} == {old, kept}, "nothing goes when it does not help"
    assert kit.texts(kept)[0] == big, "reading goes on"


def test_the_quota_is_a_tenth_of_the_room_and_never_more_than_two_mebibytes(tmp_path):
    from oasis.chats.collection import limit_bytes

    assert limit_bytes(0, 0, 1 << 30) == 2 << 20
    assert limit_bytes(0, 0, 10 << 20) == 1 << 20
    assert limit_bytes(0, 1 << 20, 9 << 20) == 1 << 20, "what the chats have counts as room"
    assert limit_bytes(50 * 1024, 0, 0) == 50 << 20
    kit = Kit(tmp_path, free=100_000)
    with pytest.raises(StoreError, match="the flash is full") as caught:
        kit.chats.make_room()
    assert "chat_path" in caught.value.hint
    with pytest.raises(StoreError, match="8 KiB are allowed") as caught:
        Kit(tmp_path, free=100_000, quota=8).chats.make_room()
    assert "raise the option quota" in caught.value.hint
    with pytest.raises(StoreError, match="no room for 2064 KiB: the chats take 0 KiB, and 1024 KiB are allowed"):
        Kit(tmp_path, quota=1024).chats.make_room(2 << 20)


def test_what_was_forgotten_is_on_flash_no_more_and_all_else_is(kit):
    chat, [question, answer] = kit.exchange(text="my password is hunter22")
    _, [later, _] = kit.exchange(chat)
    before = raw(kit, chat).split(b"\n")
    assert kit.chats.forget(question) == chat
    after = raw(kit, chat)
    assert b"hunter22" not in after and os.listdir(kit.folder) == [chat + ".jsonl"]
    assert [line for line in after.split(b"\n") if line in before] == before[1:]
    assert jsonl.loads(after.split(b"\n")[1]) == {"type": "forgotten", "id": question}
    assert kit.texts(chat) == [FORGOTTEN, "hi", "hello", "hi"]
    opened = kit.chats.open(chat)
    assert opened.messages[answer]["continues"] == [question] and question in opened.messages
    assert kit.item(chat)["title"] == "hello", "the title was of it"
    for name, words in ((later[:-1] + "!", "no chat has"), ("0" * 25, "no chat has")):
        with pytest.raises(UsageError, match=words):
            kit.chats.forget(name)
    with pytest.raises(UsageError, match="has no message"):
        kit.chats.forget("0" * 25, chat)


def test_of_a_forgotten_call_and_result_the_pair_stays(kit):
    chat, [question, _] = kit.exchange()
    opened = kit.chats.open(chat)
    call = {"type": "tool_use", "id": "c1", "name": "configure", "input": {"commands": ["hunter22"]}}
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "configure", "is_error": True,
              "content": [{"type": "text", "text": "hunter22"}]}  # fmt: skip
    asked = kit.message([{"type": "text", "text": "hunter22"}, call], "assistant", [question])
    told = kit.message([result], "tool", [asked["id"]])
    for message in (asked, told):
        opened.add(message)
    opened.flush()
    for message in (asked, told):
        kit.chats.forget(message["id"], chat)
    assert b"hunter22" not in raw(kit, chat)
    kept = [message["content"] for message in kit.chats.page(chat)["messages"]][-2:]
    assert kept[0] == [{"type": "tool_use", "id": "c1", "name": "configure", "input": {}}]
    assert kept[1][0]["tool_use_id"] == "c1" and kept[1][0]["content"] == [{"type": "text", "text": FORGOTTEN}]


def test_forgetting_takes_copies_and_torn_pieces_along_and_leaves_what_only_names_it(kit):
    chat, [question, _] = kit.exchange(text="hunter22")
    line = raw(kit, chat).split(b"\n")[0]
    other = b"x" * (jsonl.LINE_BYTES + 5) + b"\n"
    with open(kit.chats.store.path(chat), "ab") as handle:
        handle.write(line[:-2] + b"\n" + other + line + b"\n")
    kit.chats.forget(question)
    after = raw(kit, chat)
    assert b"hunter22" not in after and other in after
    assert [message["id"] for message in kit.chats.page(chat)["messages"]].count(question) == 1


def test_a_message_of_an_archived_chat_is_forgotten_there(kit):
    chat, [question, _] = kit.exchange(text="hunter22")
    kit.chats.archive(chat, True)
    kit.chats.forget(question)
    assert kit.item(chat)["archived"] and kit.texts(chat) == [FORGOTTEN, "hi"]


def test_documents_that_no_chat_names_any_more_go_with_the_last(kit):
    shas = ["%064x" % number for number in range(3)]
    for sha in shas:
        kit.files.folder(kit.folder + "/blobs")
        kit.files.replace(f"{kit.folder}/blobs/{sha}", b"data")
    chats = []
    for wanted in (shas[:2], shas[1:2]):
        chat, _ = kit.exchange()
        opened = kit.chats.open(chat)
        opened.add(kit.message([{"type": "image", "media_type": "image/png", "sha256": sha} for sha in wanted]))
        opened.flush()
        chats.append(chat)
    kit.chats.archive(chats[1], True)
    kit.chats.delete(chats[0])
    assert set(os.listdir(kit.folder + "/blobs")) == set(shas[1:]), "the last is for a message to come"
    kit.chats.delete(chats[1])
    assert os.listdir(kit.folder + "/blobs") == [shas[2]]
    assert kit.chats.items() == []


def test_a_chat_is_read_in_pages_from_its_end(kit):
    chat, ids = kit.exchange()
    for _ in range(20):
        ids += kit.exchange(chat)[1]
    found, before = [], ""
    while True:
        page = kit.chats.page(chat, before, 5)
        assert len(page["messages"]) <= 5
        found = [message["id"] for message in page["messages"]] + found
        before = found[0]
        if not page["more"]:
            break
    assert found == ids
    with pytest.raises(UsageError, match="has no message"):
        kit.chats.page(chat, "0" * 25)


def test_what_a_crash_left_beside_the_chats_is_cleared_away(kit):
    chat, _ = kit.exchange()
    with open(kit.chats.store.path(chat) + ".new", "wb") as handle:
        handle.write(b"half of it")
    kit.chats.settle()
    assert os.listdir(kit.folder) == [chat + ".jsonl"]


@pytest.mark.parametrize("mode", ["interval", "exit"])
def test_late_writes_are_readable_at_once_and_synced_together(tmp_path, mode):
    class Noting(Quick):
        synced = []  # noqa: RUF012

        def sync(self, handle):
            if "/chats/" in handle.name:
                self.synced.append(handle.name)

    kit = Kit(tmp_path, Noting(), mode=mode)
    Noting.synced.clear()
    chat, _ = kit.exchange()
    kit.exchange(chat)
    assert Noting.synced == [] and kit.texts(chat) == ["hello", "hi"] * 2
    kit.chats.close()
    assert Noting.synced == [kit.chats.store.path(chat)]
    opened = kit.chats.open(chat)
    opened.add(kit.message("change something", continues=opened.heads))
    opened.secure()
    assert len(Noting.synced) == 2, "before a plan it is on flash, whatever the mode"
    opened.secure()
    assert len(Noting.synced) == 2
    kit.chats.delete(chat)
    kit.chats.close()
    assert kit.log == []


def test_late_writes_are_synced_after_the_interval(tmp_path):
    import threading

    from oasis.chats.collection import Late

    done = threading.Event()

    class Noting(Quick):
        def settle(self, path):
            done.set()

    path = str(tmp_path / "file")
    open(path, "w").close()
    Late(Noting(), "interval", 0.05, print)(path)
    assert done.wait(10)
