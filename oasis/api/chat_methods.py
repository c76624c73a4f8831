"""The methods about chats, apart from turns: threads, trees, bookmarks, files in and out, presets.

One object a daemon, made when a front-end first asks for any of it. Replies are cleared of secrets by methods.py; what
is cut into pieces here is cleared before it is cut. Knows no front-end.
"""

from __future__ import annotations

import binascii
import io

from oasis.agent.context import Elsewhere
from oasis.api.methods import piece, without_typed
from oasis.chats import lookup
from oasis.chats.collection import TAKEN
from oasis.chats.imports import bring
from oasis.chats.index import first_words
from oasis.chats.presets import Topics
from oasis.chats.uploads import Uploads
from oasis.core import bookmarks, export, jsonl, lua_chats, thread
from oasis.core.blobs import media_type, references
from oasis.core.schema import is_message
from oasis.errors import OasisError, SchemaError, UsageError

if False:  # annotations only
    from oasis.api.parts import Services
    from oasis.api.shapes import Done, ExportPart, Keyed, Upload
    from oasis.core.shapes import Any, Block, Callable, Document, Marker, Message
    from oasis.core.store import Chat

# One reply of the bus is below a megabyte; a page of a thread, or a part of an export, is far below that.
PAGE_BYTES = 192 * 1024
PAGE_MESSAGES = 200
PART_CHARS = 96 * 1024
# By these the kind of a file is known whose name does not tell it.
KIND_BYTES = 64 * 1024
# The words of siblings are read for switches, which nobody puts more of side by side.
SIBLINGS = 32
FORMS = ("oasis", "upstream", "markdown")
OLD_CHATS = "/etc/oasis/chat_data"
OLD_TOPICS = "/etc/oasis/oasis.conf"
# Where icons are, and which one the phone shows.
ICONS = "/luci-static/resources/oasis/"
ICON_FILE = "/icons.json"


class Conversations:
    """The chats and what belongs to them; `services` is the record of daemon/wiring.py."""

    def __init__(self, services: Services) -> None:
        self._chats = services.chats
        self._runs = services.runs
        self._disk = services.files
        self._state = services.root.state_folder
        self._new_id = services.new_message_id
        self._hide: Callable[[Any], Any] = lambda value: services.redactor.hide(without_typed(value))
        self._old = services.settings.sections
        self._path = services.root.path
        self.topics = Topics(services.files, self._state + "/topics.json")
        uploads = services.root.run_folder + "/uploads"
        self.uploads = Uploads(services.files, uploads, services.new_id, services.clock.now_s)

    # Reading

    def chat_load(self, id: str, head: str = "", before: str = "", limit: int = 0) -> dict[str, object]:
        """Return a part of a thread: what stands before a message, or its end; id "" is the chat that holds `head`."""
        if limit < 0:
            raise UsageError("chat.load: limit must not be negative", "without it a page is as long as a reply may be")
        if head and not id:
            id, head = self._chats.find(head)
        found: dict[str, object] = self._chats.look(id, lambda chat: self._thread(chat, head, before, limit))
        return {**self._chats.item(id), **found}

    def _thread(self, chat: Chat, head: str, before: str, limit: int) -> dict[str, object]:
        map_ = lookup.Map(chat)
        end = bookmarks.resolve(head, map_.bookmarks, map_.newest) if map_.newest or head else ""
        chat.read()
        shown = self._lineage(chat, [end] if end else [])
        at = [number for number, message in enumerate(shown) if message["id"] == before]
        if before and not at:
            shown = self._lineage(chat, map_.parents(before))
        messages = [message for message in (shown[: at[0]] if at else shown) if is_message(message)]
        page = _page(messages, limit)
        marks = [entry for entry in shown if not is_message(entry)]
        left = len(messages) - len(page)
        return {
            "head": end, "messages": page, "earlier": left,
            "more": left > 0 or any(mark["type"] == "older" for mark in marks),
            "siblings": self._siblings(chat, map_, page),
            "bookmarks": {name: map_.bookmarks[name] for name in bookmarks.names(map_.bookmarks)},
            "missing": [mark["id"] for mark in marks if mark["type"] == "missing"],
            "reports": map_.reports + [report for report in chat.reports if report not in map_.reports],
        }  # fmt: skip

    def _lineage(self, chat: Chat, ends: list[str]) -> list[Message | Marker]:
        elsewhere = Elsewhere(self._chats)
        elsewhere.load(chat, ends)
        return thread.lineage(chat.messages, ends, elsewhere, chat.left_out)

    def _siblings(self, chat: Chat, map_: lookup.Map, page: list[Message]) -> dict[str, object]:
        groups = {message["id"]: map_.siblings(message["id"]) for message in page}
        groups = {name: group[-SIBLINGS:] for name, group in groups.items() if len(group) > 1}
        words = self._words(chat, {one for group in groups.values() for one in group})
        return {
            name: [{"id": one, "leaf": map_.leaf(one), "text": words.get(one, "")} for one in group]
            for name, group in groups.items()
        }

    def _words(self, chat: Chat, wanted: set[str]) -> dict[str, str]:
        """Return the first words of some messages of a chat."""
        if not wanted:
            return {}
        found = (line for line in chat.entries() if line.get("id") in wanted and "role" in line)
        return {line["id"]: first_words(lookup.words(self._hide(line))) for line in found}

    def chat_tree(self, id: str) -> dict[str, object]:
        """Return the turns of a chat and how they continue each other."""
        found = self._chats.look(id, lambda chat: lookup.tree(chat, self._hide))
        return {**self._chats.item(id), **found}

    # Bookmarks

    def bookmark_list(self, chat: str = "") -> dict[str, object]:
        found: list[dict[str, str]] = []
        for name in [chat] if chat else [item["id"] for item in self._chats.items()]:
            found += self._chats.look(name, self._marks)
        return {"bookmarks": found}

    def _marks(self, chat: Chat) -> list[dict[str, str]]:
        table = bookmarks.table(chat.outline())
        words = self._words(chat, {table[name] for name in bookmarks.names(table)})
        return [
            {"name": name, "chat": chat.id, "message": table[name], "text": words.get(table[name], "")}
            for name in bookmarks.names(table)
        ]

    def bookmark_set(self, name: str, message: str, chat: str = "", move: bool = False) -> dict[str, object]:
        """Let a bookmark stand at a message; one that stands on another branch is moved only when that is asked for."""
        bookmarks.check_name(name)
        place, target = self._chats.find(message) if not chat else (chat, message)

        def move_there(opened: Chat) -> None:
            map_ = lookup.Map(opened)
            wanted = bookmarks.resolve(target, map_.bookmarks)
            if wanted not in map_:
                raise UsageError("chat %s has no message %r" % (place, wanted), "its messages: oasis show " + place)
            stands = map_.bookmarks.get(name)
            if stands and not move and not bookmarks.descends([wanted], stands, map_.parents):
                raise UsageError("the bookmark %r stands on another branch" % name, "move it there with: --move")
            opened.note(bookmarks.record(name, wanted))

        return self._written(place, move_there)

    def bookmark_delete(self, name: str, chat: str = "") -> dict[str, object]:
        def take_away(opened: Chat) -> None:
            bookmarks.resolve(name, bookmarks.table(opened.outline()))
            opened.note(bookmarks.record(name, ""))

        return self._written(chat or self._chats.find(name)[0], take_away)

    def _written(self, name: str, change: Callable[[Chat], None]) -> dict[str, object]:
        """Change a chat that nobody answers meanwhile, and put it on flash."""

        def write() -> None:
            opened = self._chats.open(name)
            change(opened)
            opened.flush()

        self._runs.alone(name, write)
        return {"status": "OK", "chat": name}

    # In and out

    def upload_part(self, data: str, upload: str = "", name: str = "", is_last: bool = False) -> Upload:
        upload, size = self.uploads.take(upload, name, data)
        reply: Upload = {"upload": upload, "size_bytes": size}
        if is_last:
            self._add_kind(reply)
        return reply

    def put(self, name: str, text: str) -> Upload:
        """Put a text of the router's own among the uploads; reply as for the last part of one."""
        upload, size = self.uploads.put(name, text.encode())
        reply: Upload = {"upload": upload, "name": name, "size_bytes": size}
        self._add_kind(reply)
        return reply

    def _add_kind(self, reply: Upload) -> None:
        with self.uploads.open(reply["upload"]) as handle:
            first = handle.read(KIND_BYTES) or b""
        reply["media_type"], note = media_type(self.uploads.name(reply["upload"]), first)
        if note:
            reply["note"] = note

    def upload_drop(self, upload: str) -> Done:
        """Forget an upload, a whole one or a part; one that is gone is fine."""
        self.uploads.drop([upload])
        return {"status": "OK"}

    def files(self, uploads: list[str]) -> list[Block]:
        """Keep uploads as attachments; return their blocks. The uploads stay until they are dropped."""
        self._chats.make_room(sum(self.uploads.size(upload) for upload in uploads))
        blobs = self._chats.blobs()
        return [blobs.put(*self.uploads.read(upload))[0] for upload in uploads]

    def chat_export(self, id: str, form: str = FORMS[0], head: str = "", part: int = 0) -> ExportPart:
        """Return a part of a chat's export; the whole is cleared of secrets before it is cut."""
        if form not in FORMS:
            raise UsageError("form is %r" % form, "one of " + ", ".join(FORMS))
        item = self._chats.item(id)
        text: str = self._chats.look(id, lambda chat: self._exported(chat, form, head, str(item["title"])))
        data, count = piece(text, part, PART_CHARS, "export")
        name = "chat-%s.%s" % (id, "md" if form == "markdown" else "json")
        kind = "text/markdown" if form == "markdown" else "application/json"
        return {"name": name, "media_type": kind, "data": data, "parts": count}

    def _exported(self, chat: Chat, form: str, head: str, title: str) -> str:
        if form == "oasis":
            return jsonl.dumps(self._document(chat, title))
        map_ = lookup.Map(chat)
        end = bookmarks.resolve(head, map_.bookmarks, map_.newest)
        chat.read()
        shown = self._lineage(chat, [end])
        if any(not is_message(entry) and entry["type"] == "older" for entry in shown):  # longer than a thread in memory
            everything = {message["id"]: message for message in chat.list()}
            shown = thread.lineage(everything, [end], Elsewhere(self._chats))
        messages = self._hide([message for message in shown if is_message(message)])
        return jsonl.dumps(lua_chats.write(messages)) if form == "upstream" else export.markdown(title, messages)

    def _document(self, chat: Chat, title: str) -> Document:
        lines = list(chat.entries())
        messages = self._hide(chat.list())
        blobs, found = self._chats.blobs(), {}
        for digest in references(messages):
            try:
                found[digest] = binascii.b2a_base64(blobs.get(digest)).decode().strip()
            except OasisError:
                continue  # gone before; the message still names it
        records = [line for line in lines if not is_message(line) and line.get("type") in ("bookmark", "forgotten")]
        return export.document(chat.id, title, messages, records, found)

    def chat_import(self, upload: str) -> dict[str, object]:
        """Make a new chat of an upload, which is gone then, also when it is none: nobody asks for it again."""
        name = self.uploads.name(upload)
        try:
            with self.uploads.open(upload) as handle:
                chat, reports = bring(self._chats, handle, self._new_id)
        finally:
            self.uploads.drop([upload])
        return {"chats": [chat], "reports": ["%s: %s" % (name, report) for report in reports]}

    def append(self, id: str, data: bytes) -> None:
        """Put the messages of a chat file of upstream's behind a chat, as words of an import."""
        found = export.read(io.BytesIO(data), self._new_id)

        def append(opened: Chat) -> None:
            opened.reports.extend(self._chats.make_room(len(data)))
            for message in found.messages():
                message.setdefault("continues", list(opened.heads))
                opened.add(message)

        self._written(id, append)

    # Of the Oasis that was here before

    def _old_folder(self) -> str:
        storage = [section for section in self._old() if section.type == "storage"]
        path = str(storage[0].options.get("path", OLD_CHATS)) if storage else OLD_CHATS
        return self._path(path if path.startswith("/") and ".." not in path.split("/") else OLD_CHATS)

    def upstream_import(self) -> dict[str, object]:
        """Take over upstream's chats, those without an index entry too, and its system messages; once each."""
        reports: list[str] = []
        data, chats = self._disk.read(self._state + TAKEN), []
        value: object = jsonl.loads(data) if data else {}
        done: dict[str, str] = value if isinstance(value, dict) else {}
        for name, title in self._old_names():
            if name in done:
                continue
            path = "%s/chat-%s" % (self._old_folder(), name)
            handle = self._disk.reader(path)
            if handle is None:
                reports.append("chat %s is in the index and has no file" % name)
                continue
            ended = self._disk.stamp(path) or (0, 0, 0)
            try:
                with handle:
                    chat, repaired = bring(self._chats, handle, self._new_id, title, ended[0] // 1_000_000)
            except SchemaError as error:
                reports.append("chat %s was left where it is: %s" % (name, error.message))
                continue
            done[name] = str(chat["id"])
            self._disk.replace(self._state + TAKEN, jsonl.line(done))
            chats.append(chat)
            reports += ["chat %s: %s" % (name, report) for report in repaired]
        text = (self._disk.read(self._path(OLD_TOPICS)) or b"").decode("utf-8", "replace")
        taken = self.topics.take_over(lua_chats.topics(text))
        topics = list(taken.values())
        told = "the system message %s of the earlier Oasis is %s here: the other name means another one"
        reports += [told % (key, taken[key]) for key in taken if taken[key] != key]
        icon = lua_chats.icon(text)
        is_there = icon in self._disk.names(self._path("/www" + ICONS))
        if is_there and self._disk.read(self._state + ICON_FILE) is None:  # no other was chosen since
            self._disk.replace(self._state + ICON_FILE, jsonl.line({"using": icon, "hidden": []}))
        self._disk.replace(self._state + TAKEN, jsonl.line(done))
        return {"chats": chats, "topics": topics, "reports": reports}

    def _old_names(self) -> list[tuple[str, str]]:
        """Return (id, title) of each old chat: those of the index in its order, then files without an entry."""
        index = lua_chats.index([section.options for section in self._old() if section.type == "chat"])
        known = [name for name, _ in index]
        files = [name[5:] for name in self._disk.names(self._old_folder()) if name.startswith("chat-")]
        return index + [(name, "") for name in sorted(files) if lua_chats.is_name(name) and name not in known]

    # Topics

    def topic_list(self) -> dict[str, object]:
        return {"topics": self.topics.list()}

    def topic_add(self, title: str, text: str) -> Keyed:
        return {"key": self.topics.add(title, text)}

    def topic_update(self, key: str, title: str, text: str) -> Done:
        self.topics.update(key, title, text)
        return {"status": "OK"}

    def topic_delete(self, key: str) -> Done:
        self.topics.delete(key)
        return {"status": "OK"}


def _page(messages: list[Message], limit: int) -> list[Message]:
    """Return the newest messages that a reply holds, at least one."""
    most = min(limit, PAGE_MESSAGES) if limit else PAGE_MESSAGES
    room, first = PAGE_BYTES, len(messages)
    while first > 0 and len(messages) - first < most:
        room -= len(jsonl.line(messages[first - 1]))
        if room < 0 and first < len(messages):
            break
        first -= 1
    return messages[first:]
