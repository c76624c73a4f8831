"""The part of the daemon's test double that keeps chats: threads with branches, bookmarks, topics, files in and out.

In memory only; what the real daemon checks and this one does not is no matter of the page. `PAGE` and texts that tests
rely on stand here.
"""

from __future__ import annotations

import base64
import itertools
import time

Value = dict[str, object]
FORGOTTEN = "[forgotten]"
IMPORTED = "an imported chat"
PIECE_CHARS = 48 * 1024
PART_CHARS = 200
OLD = {"id": "old", "title": "From the old Oasis"}


class Fault(Exception):
    """A failure told to the caller. Shape: args = (code, message, hint)."""


class Chats:
    """Chats as {"id", "title", "messages", ...}; messages in file order, each with what it `continues`."""

    numbers: itertools.count[int]

    def keep(self) -> None:
        """Begin with nothing but the shipped topics."""
        self.chats: dict[str, Value] = {}
        self.bookmarks: dict[str, tuple[str, str]] = {}
        self.topics = [
            {"key": "default", "title": "Router operator", "text": "", "is_shipped": True},
            {"key": "wifi", "title": "Wi-Fi", "text": "This chat is about Wi-Fi.", "is_shipped": True},
        ]
        self.uploads: dict[str, tuple[str, bytes]] = {}
        self.old: list[Value] = [dict(OLD)]
        self.secrets: list[str] = []

    def m_chat_list(self) -> Value:
        return {"item": [self._item(chat) for chat in self.chats.values()]}

    def m_chat_load(self, id: str, head: str = "", before: str = "", limit: int = 0) -> Value:
        chat = self._get(id)
        messages = self._messages(chat)
        end = self.bookmarks.get(head, ("", head or (str(messages[-1]["id"]) if messages else "")))[1]
        thread = self._thread(chat, end)
        names = [str(message["id"]) for message in thread]
        if before:
            thread = thread[: names.index(before)]
        page = thread[-limit:] if limit else thread
        marks = {name: target for name, (place, target) in self.bookmarks.items() if place == id}
        reply = {"head": end, "messages": page, "earlier": len(thread) - len(page), "bookmarks": marks}
        return {**self._item(chat), **reply, "siblings": self._siblings(chat, page), "missing": [], "reports": []}

    def m_chat_tree(self, id: str) -> Value:
        chat = self._get(id)
        messages = self._messages(chat)
        owners = {str(message["id"]): self._owner(chat, message) for message in messages}
        nodes = []
        for message in messages:
            if message["role"] != "user":
                continue
            mine = [one for one in messages if owners[str(one["id"])] == message["id"]]
            parents = [str(name) for name in message["continues"]]  # type: ignore[attr-defined]
            names = {str(one["id"]) for one in mine}
            node: Value = {"id": message["id"], "end": mine[-1]["id"], "parents": parents, "text": _text(message)[:60]}
            node["parent"] = owners.get(parents[0], "") if parents else ""
            node["answer"] = _text(mine[-1])[:60] if len(mine) > 1 else ""
            node["heads"] = [name for name, (_, target) in self.bookmarks.items() if target in names]
            nodes.append(node)
        return {**self._item(chat), "head": messages[-1]["id"] if messages else "", "nodes": nodes}

    def m_chat_rename(self, id: str, title: str) -> Value:
        self._get(id)["title"] = title
        return {"status": "OK"}

    def m_chat_archive(self, id: str, archived: bool = True) -> Value:
        self._get(id)["archived"] = archived
        return {"status": "OK"}

    def m_chat_delete(self, id: str) -> Value:
        self.chats.pop(id, None)
        return {"status": "OK"}

    def m_chat_forget(self, message: str, chat: str = "") -> Value:
        for one in self._messages(self._get(chat)):
            if one["id"] == message:
                one["content"] = FORGOTTEN
        return {"status": "OK"}

    def m_chat_search(self, text: str, limit: int = 0) -> Value:
        found = []
        for chat in self.chats.values():
            for message in self._messages(chat):
                words = _text(message)
                if text.lower() in words.lower():
                    hit = {"chat": chat["id"], "title": chat["title"], "message": message["id"], "snippet": words[:80]}
                    found.append({**hit, **({"archived": True} if chat.get("archived") else {})})
        return {"found": found[: limit or 50]}

    def m_chat_export(self, id: str, form: str = "oasis", head: str = "", part: int = 0) -> Value:
        chat = self._get(id)
        shown = self._thread(chat, head) if head else self._messages(chat)
        text = f"{form} of {id}\n" + "\n".join(_text(message) for message in shown)
        parts = [text[at : at + PART_CHARS] for at in range(0, len(text), PART_CHARS)]
        kind = "text/markdown" if form == "markdown" else "application/json"
        name = f"chat-{id}." + ("md" if form == "markdown" else "json")
        return {"name": name, "media_type": kind, "data": parts[part], "parts": len(parts)}

    def m_chat_import(self, upload: str) -> Value:
        name, data = self.uploads.pop(upload)
        if not data.startswith(b"{"):
            raise Fault("schema", "the file is no chat", "export it again")
        chat = self._taken(name)
        return {"chats": [chat], "reports": [f"{name}: a damaged pair was repaired"]}

    def m_upstream_import(self) -> Value:
        chats = [self._taken(str(chat["title"])) for chat in self.old]
        self.old = []
        return {"chats": chats, "topics": ["custom_1"], "reports": []}

    def m_bookmark_list(self, chat: str = "") -> Value:
        rows = []
        for name, (place, target) in self.bookmarks.items():
            text = next(_text(one) for one in self._messages(self._get(place)) if one["id"] == target)
            rows.append({"name": name, "chat": place, "message": target, "text": text[:60]})
        return {"bookmarks": rows}

    def m_bookmark_set(self, name: str, message: str, chat: str = "", move: bool = False) -> Value:
        if name in self.bookmarks and not move:
            raise Fault("usage", f"the bookmark {name!r} stands on another branch", "move it there")
        self.bookmarks[name] = (chat, message)
        return {"status": "OK"}

    def m_bookmark_delete(self, name: str, chat: str = "") -> Value:
        del self.bookmarks[name]
        return {"status": "OK"}

    def m_topic_list(self) -> Value:
        return {"topics": self.topics}

    def m_topic_add(self, title: str, text: str) -> Value:
        if not title:
            raise Fault("usage", "a topic needs a title", "give it one")
        key = f"custom_{next(self.numbers)}"
        self.topics.append({"key": key, "title": title, "text": text, "is_shipped": False})
        return {"key": key}

    def m_topic_update(self, key: str, title: str, text: str) -> Value:
        next(topic for topic in self.topics if topic["key"] == key).update(title=title, text=text)
        return {"status": "OK"}

    def m_topic_delete(self, key: str) -> Value:
        self.topics = [topic for topic in self.topics if topic["key"] != key]
        return {"status": "OK"}

    def m_upload_part(self, name: str, data: str, upload: str = "", is_last: bool = False) -> Value:
        if len(data) > PIECE_CHARS:
            raise Fault("usage", "the piece is too long", "send less at once")
        time.sleep(0.3 if "slow" in name else 0)
        if "refused" in name:
            raise Fault("usage", "the router has no room for it", "remove another one")
        upload = upload or f"u{next(self.numbers)}"
        whole = self.uploads.get(upload, ("", b""))[1] + base64.b64decode(data)
        self.uploads[upload] = (name, whole)
        reply: Value = {"upload": upload, "size_bytes": len(whole)}
        return {**reply, "media_type": "image/png" if name.endswith(".png") else "text/plain"} if is_last else reply

    def m_upload_drop(self, upload: str) -> Value:
        self.uploads.pop(upload, None)
        return {"status": "OK"}

    def m_config_list(self) -> Value:
        return {"packages": ["network", "wireless"]}

    def m_config_attach(self, package: str) -> Value:
        upload = f"u{next(self.numbers)}"
        self.uploads[upload] = (package + ".txt", b"x" * 20)
        return {"upload": upload, "name": package + ".txt", "size_bytes": 20, "media_type": "text/plain"}

    def m_secret_keep(self, value: str) -> Value:
        self.secrets.append(value)
        return {"secret": f"<secret:{len(self.secrets)}>"}

    # --- what run.start needs

    def _asked(
        self, message: str, chat: str, continues: list[str] | None, topic: str, attachments: list[str] | None
    ) -> tuple[Value, Value]:
        """Store the owner's message; return its chat and itself."""
        entry = self.chats[chat] if chat in self.chats else self._chat(message[:40], 0)
        messages = self._messages(entry)
        if topic and not messages:
            text = next(str(one["text"]) for one in self.topics if one["key"] == topic)
            messages.append(self._message("system", text, []))
        newest = [str(messages[-1]["id"])] if messages else []
        known = {one["id"] for one in messages}
        parents = newest if continues is None else [name for name in continues if name in known]
        asked = self._message("user", message, parents)
        files = [self._block(upload) for upload in attachments or []]
        if files:
            asked["content"] = [{"type": "text", "text": message}, *files]
        messages.append(asked)
        entry["updated_unix_s"] = int(time.time())
        return entry, asked

    def _block(self, upload: str) -> Value:
        name, data = self.uploads.pop(upload)
        kind = "image" if name.endswith(".png") else "document"
        return {"type": kind, "media_type": "x/y", "sha256": "0" * 64, "name": name, "size_bytes": len(data)}

    # --- values

    def _get(self, id: str) -> Value:
        if id not in self.chats:
            raise Fault("store", f"no chat {id}", "list the chats")
        return self.chats[id]

    def _item(self, chat: Value) -> Value:
        keys = ("id", "title", "updated_unix_s", "exchanges", "archived")
        return {key: chat[key] for key in keys if key in chat}

    def _messages(self, chat: Value) -> list[Value]:
        found: list[Value] = chat["messages"]  # type: ignore[assignment]
        return found

    def _thread(self, chat: Value, end: str) -> list[Value]:
        known = {str(message["id"]): message for message in self._messages(chat)}
        found: dict[str, Value] = {}

        def walk(name: str) -> None:
            if name in known and name not in found:
                for parent in known[name]["continues"]:  # type: ignore[attr-defined]
                    walk(parent)
                found[name] = known[name]

        walk(end)
        return list(found.values())

    def _siblings(self, chat: Value, page: list[Value]) -> Value:
        found: Value = {}
        for message in page:
            group = [one for one in self._messages(chat) if one["continues"] == message["continues"]]
            if len(group) > 1:
                found[str(message["id"])] = [
                    {"id": one["id"], "leaf": self._leaf(chat, str(one["id"])), "text": _text(one)[:40]}
                    for one in group
                ]
        return found

    def _leaf(self, chat: Value, name: str) -> str:
        for message in self._messages(chat):
            if name in message["continues"]:  # type: ignore[operator]
                name = str(message["id"])
        return name

    def _owner(self, chat: Value, message: Value) -> object:
        thread = self._thread(chat, str(message["id"]))
        return next((one["id"] for one in reversed(thread) if one["role"] == "user"), "")

    def _taken(self, title: str) -> Value:
        chat = self._chat(title, 60)
        asked = self._message("user", "Words of an import", [])
        said = self._message("assistant", "An answer of an import", [str(asked["id"])])
        for message in (asked, said):
            message["taint"] = [IMPORTED]
            self._messages(chat).append(message)
        return {"id": chat["id"], "title": title}

    def _chat(self, title: str, age_s: int) -> Value:
        made: Value = {"id": f"c{next(self.numbers)}", "title": title, "messages": [], "exchanges": 1}
        made["updated_unix_s"] = int(time.time()) - age_s
        self.chats[str(made["id"])] = made
        return made

    def _message(self, role: str, text: str, continues: list[str]) -> Value:
        value = (int(time.time() * 1000) << 80) + next(self.numbers)
        digits = ""
        while value:
            value, digit = divmod(value, 36)
            digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        return {"id": digits.rjust(25, "0"), "role": role, "content": text, "continues": continues}


def _text(message: Value) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content)  # type: ignore[attr-defined]
