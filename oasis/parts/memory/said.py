"""Search by meaning over what was said in all chats: by its words, and by vectors where a model is set for them.

    CHATS/vectors/ID.jsonl      {"id": of a message, "label": whose model, "row": base64}, one a line

A part (api/parts.py). The words are read where they stand, so nothing is kept twice. A vector is made once, after
the turn of a message of the owner's, and kept next to the chat: Collection removes it with the message or the
chat. What was said to a service at home goes to no model elsewhere, neither for vectors nor as a find.
"""

from __future__ import annotations

import binascii
import threading
from collections.abc import Iterator

from oasis.chats.search import SEARCH_BYTES, around
from oasis.core import chat_line, jsonl
from oasis.core.schema import taint_of, text_of
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.documents import DEPTH, HALF, QUERY_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.api.parts import Services
    from oasis.core.shapes import Message
    from oasis.parts.memory.shapes import EndedTurn, SaidFound, SaidText

    Key = tuple[str, str]  # chat, message

LIMIT, MOST = 10, 50
# All vectors together: five hundred messages with the usual model. The oldest chats lose theirs first.
VECTORS_BYTES = 1024 * 1024


class Said:
    """What was said in all chats."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._writing = threading.Lock()

    def after(self, turn: EndedTurn) -> None:
        """Make the vector of what the owner said, where a model is set for it that may hear it."""
        if ranking.ALIAS in self._kit.settings.aliases() and turn["said"].strip():
            threading.Thread(target=self._keep, args=(turn,), daemon=True).start()

    def _keep(self, turn: EndedTurn) -> None:
        files, chats = self._kit.files, self._kit.chats
        chat, message = turn["chat"], turn["message"]
        try:
            model = ranking.Embedder(self._kit)
            if not model.name or (turn["service"]["is_local"] and not model.is_local):
                return
            rows = model.rows([turn["said"]])
            if not rows:
                return
            row = binascii.b2a_base64(rows[0], newline=False).decode()
            with self._writing:
                found = chats.thread_of(message, chat).get(message)
                if found is None or found["content"] == chat_line.FORGOTTEN:
                    return  # forgotten meanwhile
                files.folder(chats.vectors)
                if self._kit.free_bytes(chats.vectors) < VECTORS_BYTES:
                    return
                line = jsonl.line({"id": message, "label": model.name, "row": row})
                files.append(chats.vectors_of(chat), line, False)
                paths = [chats.vectors + "/" + name for name in files.names(chats.vectors)]
                sizes = {path: files.size(path) for path in paths}
                over = sum(sizes.values()) - VECTORS_BYTES
                for path, size in sizes.items():
                    if over > 0:
                        over -= size
                        files.remove(path)
        except OasisError as error:
            self._kit.log("message %s has no vector: %s" % (message, error.message))

    def _near(self, row: bytes, label: str) -> list[Key]:
        near = ranking.nearness(row)
        found: list[tuple[float, Key]] = []
        folder = self._kit.chats.vectors
        for file in self._kit.files.names(folder):
            for raw in (self._kit.files.read(folder + "/" + file) or b"").split(b"\n"):
                try:
                    line: Any = jsonl.loads(raw)
                    score = near(binascii.a2b_base64(line["row"])) if line["label"] == label else 0.0
                    key = file.partition(".")[0], str(line["id"])
                except (OasisError, ValueError, TypeError, KeyError):
                    continue  # damaged
                if score > 0:
                    found.append((score, key))
            found = ranking.best(found, DEPTH)
        return [key for _, key in found]

    def search(self, query: str, limit: int = 0, is_home: bool = True, goes_elsewhere: bool = False) -> SaidFound:
        """Return the messages that fit a question best. `is_home`: no model elsewhere may hear the question;
        `goes_elsewhere`: what is found goes to one, so what was said to a service at home is left out.

        Raises: UsageError for nothing to look for.
        """
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("there is nothing to search for", "a question, or a few words")
        notes: list[str] = []
        model = ranking.Embedder(self._kit)
        label = model.name
        row = ranking.asked(model, query, is_home, notes) if label else None
        near = self._near(row, label) if row is not None else []
        words = ranking.Words(query)
        texts, has_more, reports = self._look(words, set(near), goes_elsewhere)
        orders = [[key for _, key in words.order(DEPTH, HALF if near else 0.0)], [key for key in near if key in texts]]
        found: SaidFound = {"results": [], "more": has_more, "reports": reports}
        for score, key in ranking.fused(orders, min(limit or LIMIT, MOST)):
            message, text = texts[key], " ".join(texts[key]["text"].split())
            found["results"].append({"chat": key[0], "message": key[1], "role": message["role"],
                                     "snippet": around(text, words.place(text)), "score": round(score, 4)})  # fmt: skip
            if "taint" in message:
                found["results"][-1]["taint"] = message["taint"]
        if notes:
            found["note"] = "; ".join(notes)
        return found

    def _look(
        self, words: ranking.Words, near: set[Key], goes_elsewhere: bool
    ) -> tuple[dict[Key, SaidText], bool, list[str]]:
        """Give all messages to `words`; return those that may be shown, whether there are more, and reports."""
        elsewhere = {one["identifier"] for one in self._kit.settings.services() if not one["is_local"]}
        found: dict[Key, SaidText] = {}
        reports: list[str] = []
        room = SEARCH_BYTES
        for chat, blocks in self._kit.chats.blocks():
            try:
                for turn, size in _turns(blocks):
                    room -= size
                    answered = [one.get("provider") in elsewhere for one in turn if one["role"] == "assistant"]
                    # Without answers it counts as said at home.
                    if goes_elsewhere and not (answered and all(answered)):
                        continue
                    for message in turn:
                        if message["role"] in ("user", "assistant") and message["content"] != chat_line.FORGOTTEN:
                            self._take((chat, message["id"]), message, words, near, found)
            except OasisError as error:
                reports.append(error.message)
            if room < 0:
                return found, True, reports
        return found, False, reports

    def _take(
        self, key: Key, message: Message, words: ranking.Words, near: set[Key], found: dict[Key, SaidText]
    ) -> None:
        text = text_of(message)
        if text and key not in near and not words.may_have(text):
            words.skip(len(text))
        elif text:
            text = str(self._kit.redactor.hide(text, ""))
            words.take(key, text)
            if key in near or words.counts(text):
                found[key] = {"role": message["role"], "text": text}
                if taint_of(message):
                    found[key]["taint"] = taint_of(message)


gather = Said


def _turns(blocks: Iterator[bytes]) -> Iterator[tuple[list[Message], int]]:
    """Yield the messages of a chat by turns, each begun by the owner, and how many bytes they take."""
    waiting: list[Message] = []
    size = 0
    for block in blocks:
        for raw in block.split(b"\n"):
            message = chat_line.message(0, raw, []) if raw.strip() else None
            if message is None:
                continue
            if message["role"] == "user" and waiting:
                yield waiting, size
                waiting, size = [], 0
            waiting.append(message)
            size += len(raw)
    if waiting:
        yield waiting, size
