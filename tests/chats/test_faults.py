"""Chats on bad flash: any step fails, the process is killed, the power is cut; what was acknowledged is there."""

import base64
import errno
import hashlib
import io
import os
import random
import signal

import pytest

from oasis.chats import imports
from oasis.core import export, jsonl
from oasis.core.chat_line import FORGOTTEN
from oasis.core.store import Store
from oasis.errors import OasisError, StoreError
from oasis.system.files import Files
from tests.change.kit import FailingFiles
from tests.chats.kit import Kit
from tests.system.test_power_cut import Careless, PowerCut

ROUNDS = 200


class Failing(FailingFiles):
    """Files whose n-th step on the flash fails, the disk of this host not waited for."""

    def sync(self, handle):
        self._step()

    def sync_folder(self, path):
        self._step()

    def rewrite(self, path, pieces, mode=0o600):
        if "/run/" in path:  # the index is in RAM
            return
        super().rewrite(path, pieces, mode)


def state(kit):
    """Return what a person sees of all chats, with nothing left over from before."""
    found = {}
    for item in kit.again(files=Files()).chats.items():
        page = kit.again().chats.page(item["id"])
        messages = [(message["id"], message["content"]) for message in page["messages"]]
        found[item["id"]] = (item["title"], item["archived"], messages, page["reports"])
    return found


def create(kit, chat, ids):
    kit.exchange(text="a new chat")


def append(kit, chat, ids):
    kit.exchange(chat, "more")


def rename(kit, chat, ids):
    kit.chats.rename(chat, "another title")


def delete(kit, chat, ids):
    kit.chats.delete(chat)


def put(kit, chat, ids):
    kit.chats.archive(chat, True)


def forget(kit, chat, ids):
    kit.chats.forget(ids[0], chat)


def take(kit, chat, ids):
    kit.chats.archive(chat, False)


def bring(kit, chat, ids):
    picture = b"\x89PNG\r\n\x1a\nnew"
    digest = hashlib.sha256(picture).hexdigest()
    block = {"type": "image", "media_type": "image/png", "sha256": digest, "name": "a.png", "size_bytes": len(picture)}
    said = [{"id": kit.ids.next(), "role": "user", "content": [{"type": "text", "text": "an import"}, block]}]
    blobs = {digest: base64.b64encode(picture).decode()}
    whole = export.document("x", "a title", said, [{"type": "bookmark", "name": "b", "target": said[0]["id"]}], blobs)
    imports.bring(kit.chats, io.BytesIO(jsonl.line(whole)), kit.ids.next)


OPERATIONS = [(work, 1, False) for work in (create, append, rename, delete, forget, bring)]
OPERATIONS += [(put, packs, False) for packs in (0, 1)]
OPERATIONS += [(work, packs, True) for work in (append, rename, delete, forget, take) for packs in (0, 1)]


@pytest.mark.parametrize("work, packs, is_archived", OPERATIONS)
def test_after_any_failing_step_the_chats_are_as_before_or_as_after(tmp_path, work, packs, is_archived):
    for fail_at in range(1, 60):
        kit = Kit(tmp_path / str(fail_at), archive_gzip=packs)
        chat, ids = kit.exchange(text="the first")
        kit.exchange()
        if is_archived:
            kit.chats.archive(chat, True)
        old = state(kit)
        files = Failing(fail_at)
        failing = kit.again(files=files)
        failing.now_ms = kit.now_ms
        try:
            work(failing, chat, ids)
        except StoreError as error:
            assert error.hint
            seen, files.fail_at = state(kit), 0
            assert is_step_of(old, seen, work)
            try:
                work(failing, chat, ids)  # it can be done again
            except OasisError:
                assert work is delete and chat not in state(kit), "it was deleted, only not for certain"
            continue
        assert fail_at > files.steps > 0
        assert state(kit) != old
        return
    raise AssertionError("this takes more steps than anybody thought")


def is_step_of(old, seen, work):
    """Return whether the chats are the old ones, or one has gone the whole step, or exchanges were stored so far."""
    changed = [name for name in set(old) | set(seen) if old.get(name) != seen.get(name)]
    if not changed:
        return True
    [name] = changed
    before, after = old.get(name), seen.get(name)
    if work is delete:
        return after is None
    if work is create:
        return (
            before is None and not after[3] and [text for _, text in after[2]] in (["a new chat"], ["a new chat", "hi"])
        )
    if work is bring:
        return before is None and after[0] == "a title" and len(after[2]) == 1 and not after[3]
    if after[3]:
        return False
    if work is append:
        return after[2][: len(before[2])] == before[2]
    if work is rename:
        return after[2] == before[2]
    if work is forget:
        return [text for _, text in after[2]] in ([FORGOTTEN, "hi"], ["the first", "hi"])
    return after[2] == before[2] and after[0] == before[0]


def test_a_full_flash_is_told_and_all_can_still_be_read(tmp_path):
    class Full(Files):
        def write(self, handle, data):
            if "/chats/" in handle.name:
                raise OSError(errno.ENOSPC, "No space left on device")
            super().write(handle, data)

    kit = Kit(tmp_path)
    chat, ids = kit.exchange(text="the first")
    packed, _ = kit.exchange(text="packed")
    kit.chats.archive(packed, True)
    full = kit.again(files=Full())
    for work in (create, append, rename, put, forget):
        with pytest.raises(StoreError, match="No space left") as caught:
            work(full, chat, ids)
        assert "flash is full" in caught.value.hint
    with pytest.raises(StoreError):
        full.chats.archive(packed, False)
    assert len(full.chats.items()) == 2
    assert full.texts(chat) == ["the first", "hi"] and full.texts(packed) == ["packed", "hi"]
    assert len(full.chats.search("first packed")["results"]) == 0
    assert len(full.chats.search("packed")["results"]) == 1
    full.chats.delete(chat)
    assert [item["id"] for item in full.chats.items()] == [packed], "deleting needs no room"


def everything(kit, chat):
    """Return all messages of a chat, wherever it lies."""
    page = kit.chats.page(chat)
    found = page["messages"]
    while page["more"]:
        page = kit.chats.page(chat, found[0]["id"])
        found = page["messages"] + found
    return found


class Ledger:
    """What was acknowledged: {chat: {message: texts it may have}}; of a chat with work in flight more may be true."""

    def __init__(self):
        self.chats = {}
        self.gone = set()
        self.acknowledged = 0
        self.doubtful = None  # the chat of the operation that the power cut met

    def check(self, kit):
        seen = {item["id"]: item for item in kit.chats.items()}
        for chat, messages in self.chats.items():
            if chat == self.doubtful and chat not in seen and not messages:
                continue
            assert chat in seen, "an acknowledged chat is lost"
            found = {message["id"]: message["content"] for message in everything(kit, chat)}
            for name, texts in messages.items():
                assert found.get(name) in texts, "an acknowledged message is lost or changed"
        assert not self.gone & set(seen), "a deleted chat is back"


def one_step(kit, ledger, chance):
    """Do something with the chats at random and note what was acknowledged."""
    chat = chance.choice(sorted(ledger.chats)) if ledger.chats and chance.random() < 0.8 else ""
    kind = chance.choice(("talk", "talk", "title", "put", "take", "forget", "delete", "delete"))
    if not chat or kind == "talk":
        opened = kit.chats.open(chat) if chat else kit.chats.store.create()
        ledger.doubtful = opened.id
        for role in ("user", "assistant"):
            message = kit.message(role + " " + "x" * chance.randint(1, 300), role, opened.heads)
            opened.add(message)
            opened.flush()
            ledger.chats.setdefault(opened.id, {})[message["id"]] = {message["content"]}
            ledger.acknowledged += 1
        return
    ledger.doubtful = chat
    messages = ledger.chats[chat]
    if kind == "title":
        kit.chats.rename(chat, "title")
    elif kind in ("put", "take"):
        kit.chats.archive(chat, kind == "put")
    elif kind == "forget":
        name = chance.choice(sorted(messages))
        messages[name] = messages[name] | {FORGOTTEN}
        kit.chats.forget(name, chat)
        messages[name] = {FORGOTTEN}
    elif len(ledger.chats) > 3:
        del ledger.chats[chat]  # from now on it may be there or not
        kit.chats.delete(chat)
        ledger.gone.add(chat)


def tell(folder, seed, syncs=("file", "folder")):
    """Write chats through power cuts; raise AssertionError when anything acknowledged is lost."""
    chance = random.Random(seed)
    ledger = Ledger()
    now_ms = 1_700_000_000_000
    for _ in range(ROUNDS):
        os.makedirs(str(folder) + "/chats", exist_ok=True)
        files = Careless(str(folder) + "/chats", chance, chance.randint(1, 60), syncs)
        kit = Kit(folder, files, archive_gzip=chance.randint(0, 1))
        kit.now_ms = now_ms
        try:
            kit.chats.settle()
            while True:
                one_step(kit, ledger, chance)
        except PowerCut:
            files.forget_power()
        now_ms = kit.now_ms + 5000
        files.cut_power()
        for name in os.listdir(kit.scratch):
            if name == "chats":
                os.remove(f"{kit.scratch}/{name}")  # RAM
        try:
            ledger.check(Kit(folder))
        except OasisError as error:
            raise AssertionError("an acknowledged chat cannot be read: " + error.message)
    return ledger


@pytest.mark.parametrize("seed", range(2))
def test_no_acknowledged_exchange_is_lost_to_a_disk_that_loses_tears_and_reorders(tmp_path, seed):
    ledger = tell(tmp_path, seed)
    assert ledger.acknowledged > ROUNDS and len(ledger.gone) > 20


@pytest.mark.parametrize("syncs", [(), ("file",), ("folder",)])
def test_without_the_syncs_the_same_rounds_lose_exchanges(tmp_path, syncs):
    with pytest.raises(AssertionError, match="acknowledged"):
        tell(tmp_path, 0, syncs)


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path):
    """200 rounds of kill -9 while messages are written, all into one chat and each time into a new one."""
    folder = str(tmp_path / "chats")
    Files().folder(folder)
    chance = random.Random(5)
    acknowledged, chat = [], ""
    kit = Kit(tmp_path, Files())
    for _ in range(ROUNDS):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            write_for_ever(Kit(tmp_path, Files()), chat, writer, kit.now_ms + len(acknowledged) * 1000)
        os.close(writer)
        acked = b""
        while acked.count(b"\n") < chance.randint(1, 4):
            acked += os.read(reader, 4096)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while piece := os.read(reader, 4096):
            acked += piece
        os.close(reader)
        acknowledged += [line.decode().split() for line in acked.split(b"\n")[:-1]]
        chat = chat or acknowledged[0][0]
    for name in {name for name, _ in acknowledged}:
        found = {message["id"] for message in Store(Files(), folder, str).chat(name).list()}
        assert {message for owner, message in acknowledged if owner == name} <= found
    assert len(acknowledged) > ROUNDS


def write_for_ever(kit, chat, writer, now_ms):
    kit.now_ms = now_ms
    while True:
        name, ids = kit.exchange(chat)
        new, more = kit.exchange("")
        acked = [f"{name} {one}\n" for one in ids] + [f"{new} {one}\n" for one in more]
        os.write(writer, "".join(acked).encode())
