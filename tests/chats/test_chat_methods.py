"""The methods of chats on a whole daemon: pages, search, titles, archive, forgetting, a full quota, kinds of sync."""

import glob
import os
import time

import pytest

from oasis.daemon.wiring import Daemon
from oasis.errors import PolicyError, SettingsError, StoreError, UsageError
from oasis.system.root import Root
from tests.daemon.test_wiring import of_type
from tests.oasisd import copy_root, set_option

OWNER = {"name": "owner", "terminal": False}
VIEWER = {"name": "viewer", "terminal": True}


def started(tmp_path, **options):
    root = copy_root(str(tmp_path / "router"))
    path = root + "/etc/config/oasis"
    with open(path) as handle:
        lines = [line for line in handle if not set(line.split()) & {"sync", "quota", "chat_path", "archive_gzip"}]
    with open(path, "w") as handle:
        handle.writelines(lines)
    for name, value in options.items():
        set_option(root, name, value)
    return Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))


class Talk:
    """A daemon and what is said to it."""

    def __init__(self, daemon):
        self.daemon = daemon

    def __call__(self, name, role=OWNER, **params):
        return self.daemon.methods.call(name, params, role)

    def say(self, message, **params):
        """Have a message answered; return (chat, events)."""
        run = self("run.start", message=message, **params)
        events, since, deadline = [], 0, time.monotonic() + 30
        while not of_type(events, "end"):
            assert time.monotonic() < deadline
            reply = self("run.poll", run=run["run"], since=since, wait_ms=2000)
            events, since = events + reply["events"], reply["next"]
        return run["chat"], events

    def item(self, chat):
        return next(item for item in self("chat.list")["item"] if item["id"] == chat)


@pytest.fixture
def talk(tmp_path):
    daemon = started(tmp_path)
    yield Talk(daemon)
    daemon.stop()


def test_a_chat_is_loaded_in_pages(talk):
    chat, _ = talk.say("help")
    whole = talk("chat.load", VIEWER, id=chat)
    assert not whole["more"] and whole["exchanges"] == 1
    first = talk("chat.load", VIEWER, id=chat, limit=1)
    assert first["more"] and first["messages"] == whole["messages"][-1:]
    rest = talk("chat.load", VIEWER, id=chat, before=first["messages"][0]["id"])
    assert not rest["more"] and rest["messages"] + first["messages"] == whole["messages"]
    with pytest.raises(UsageError, match="limit"):
        talk("chat.load", id=chat, limit=-1)


def test_a_chat_is_renamed_searched_archived_forgotten_and_deleted(talk):
    chat, _ = talk.say("what can you do about bananas?")
    assert talk("chat.rename", id=chat, title="All  about fruit") == {"status": "OK"}
    assert talk.item(chat)["title"] == "All  about fruit"
    [result] = [one for one in talk("chat.search", VIEWER, text="BANANAS")["found"] if one["role"] == "user"]
    assert result["chat"] == chat and "bananas" in result["snippet"]
    assert result["title"] == "All  about fruit" and not result["archived"]
    talk("chat.archive", id=chat)
    assert talk.item(chat)["archived"]
    assert {**result, "archived": True} in talk("chat.search", text="bananas")["found"]
    assert talk("chat.forget", message=result["message"]) == {"status": "OK", "chat": chat}
    # An answer that says back what it left out is a message of its own.
    assert all(one["role"] != "user" for one in talk("chat.search", text="bananas")["found"])
    talk("chat.archive", id=chat, archived=False)
    _, events = talk.say("help", chat=chat)
    assert of_type(events, "end")[0]["state"] == "done" and talk.item(chat)["exchanges"] == 2
    talk("chat.delete", id=chat)
    assert talk("chat.list") == {"item": []}


def test_only_the_owner_changes_chats(talk):
    chat, _ = talk.say("help")
    for name, params in (
        ("chat.rename", {"id": chat, "title": "x"}), ("chat.archive", {"id": chat}), ("chat.delete", {"id": chat}),
        ("chat.forget", {"message": "0" * 25}),
    ):  # fmt: skip
        with pytest.raises(PolicyError):
            talk(name, VIEWER, **params)


def test_a_chat_that_is_being_answered_is_left_alone_by_all_of_them(talk):
    chat, _ = talk.say("help")
    message = talk("chat.load", id=chat)["messages"][0]["id"]
    run = talk.daemon.runs.start(chat, until_cancelled)
    try:
        for name, params in (
            ("chat.rename", {"id": chat, "title": "x"}), ("chat.archive", {"id": chat}),
            ("chat.forget", {"message": message}), ("chat.delete", {"id": chat}),
            ("run.start", {"chat": chat, "message": "x"}),
        ):  # fmt: skip
            with pytest.raises(UsageError, match="is being answered"):
                talk(name, **params)
    finally:
        run.cancel()
        talk.daemon.runs.wait_ended(5)
    with pytest.raises(UsageError, match="is being answered"):
        talk.daemon.runs.alone(chat, lambda: talk("run.start", chat=chat, message="x"))
    assert talk("chat.rename", id=chat, title="x") == {"status": "OK"}


def until_cancelled(run):
    while not run.is_cancelled():
        time.sleep(0.005)
    return "cancelled", "other"


@pytest.fixture
def archived(tmp_path):
    """Return (talk, an archived chat) of a daemon whose quota the next long message exceeds."""
    daemon = started(tmp_path, quota="40", archive_gzip="0")
    talk = Talk(daemon)
    try:
        old, _ = talk.say("help " + "x" * 14000)
        talk("chat.archive", id=old)
        yield talk, old
    finally:
        daemon.stop()


def notes(events):
    return [event["text"] for event in events if event["type"] == "note"]


def test_a_full_quota_takes_archived_chats_first_tells_it_and_then_refuses(archived):
    talk, old = archived
    chat, _ = talk.say("help " + "y" * 8000)
    _, events = talk.say("help " + "z" * 2000, chat=chat)
    assert any(old in text for text in notes(events))
    assert [item["id"] for item in talk("chat.list")["item"]] == [chat]
    with pytest.raises(StoreError, match="40 KiB are allowed") as caught:
        talk.say("help " + "a" * 25000)
    assert "quota" in caught.value.hint
    assert len(talk("chat.load", id=chat)["messages"]) == 4 and talk("run.active") == {"runs": []}
    assert len(glob.glob(talk.daemon.root.folder + "/etc/oasis/chats/*")) == 2, "one chat, and the empty archive"


def test_for_blanks_around_a_message_no_archived_chat_gives_way(archived):
    talk, old = archived
    _, events = talk.say("help" + " " * 20000)
    assert not any(old in text for text in notes(events))
    assert old in [item["id"] for item in talk("chat.list")["item"]]


@pytest.mark.parametrize("sync", ["interval", "exit"])
def test_other_kinds_of_sync_answer_as_well(tmp_path, sync):
    daemon = started(tmp_path, sync=sync)
    talk = Talk(daemon)
    try:
        chat, events = talk.say("call this router attic")
        assert of_type(events, "end")[0]["state"] == "done"
        assert any(event["type"] == "change" for event in events)
        assert len(talk("chat.load", id=chat)["messages"]) == 4
    finally:
        daemon.stop()
    assert daemon.chats._late is not None and not daemon.chats._late._paths


def test_an_unknown_kind_of_sync_is_told_at_the_start(tmp_path):
    with pytest.raises(SettingsError, match=r"oasis\.main\.sync is 'never'"):
        started(tmp_path, sync="never")


def test_chats_on_a_disk_elsewhere_are_all_there(tmp_path):
    daemon = started(tmp_path, chat_path="/mnt/usb/chats", quota="100000")
    talk = Talk(daemon)
    try:
        chat, _ = talk.say("help")
        talk("chat.archive", id=chat)
        assert os.listdir(daemon.root.folder + "/mnt/usb/chats/archive") == [chat + ".jsonl.gz"]
        assert talk("chat.load", id=chat)["exchanges"] == 1
    finally:
        daemon.stop()
