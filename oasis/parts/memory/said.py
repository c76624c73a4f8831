"""Search by meaning over what was said in all chats: by its words, and by vectors where a model is set for them.

    CHATS/vectors/ID.jsonl      {"id": of a message, "label": whose model, "row": base64}, one a line

A part (api/parts.py). The words are read where they stand, so nothing is kept twice. A vector is made once, after
the turn of a message of the owner's, and kept next to the chat: Collection removes it with the message or the
chat. What was said to a service at home goes to no model elsewhere, neither for vectors nor as a find.
"""

from __future__ import annotations

import binascii
import threading

from oasis.chats.search import SEARCH_BYTES
from oasis.core import chat_line, jsonl
from oasis.core.schema import taint_of, text_of
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import documents, ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oasis.api.parts import Services
    from oasis.core.shapes import Message
    from oasis.parts.memory.shapes import EndedTurn, SaidFound, SaidRow, SaidText

    Key = tuple[str, str]  # chat, message

LIMIT, MOST = 10, 50
QUERY_CHARS = 1000
# So many of each order are looked at before they are fused, and what words need next to vectors: see knowledge.py.
DEPTH, HALF = 50, 0.5
# All vectors together: five hundred messages with the usual model. The oldest chats lose theirs first.
VECTORS_BYTES = 1024 * 1024
SNIPPET_CHARS, BEFORE_CHARS = 160, 40


class Said:
    """What was said in all chats."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._writing = threading.Lock()

    # Vectors

    def after(self, turn: EndedTurn) -> None:
        """Make the vector of what the owner said, where a model is set for it that may hear it."""
        if ranking.ALIAS in self._kit.settings.aliases() and turn["said"].strip():
            threading.Thread(target=self._keep, args=(turn,), daemon=True).start()

    def _keep(self, turn: EndedTurn) -> None:
        try:
            model = ranking.embedder(self._kit)
            if not model.name or (turn["service"]["is_local"] and not model.is_local):
                return
            made = model.embed([turn["said"]])
            if made:
                row = binascii.b2a_base64(documents.packed(made)[0], newline=False).decode()
                self._write(turn["chat"], turn["message"], {"id": turn["message"], "label": model.name, "row": row})
        except OasisError as error:
            self._kit.log("message %s has no vector: %s" % (turn["message"], error.message))

    def _write(self, chat: str, message: str, line: dict[str, str]) -> None:
        files, folder = self._kit.files, self._kit.chats.vectors
        with self._writing:
            try:
                found: Message | None = self._kit.chats.thread_of(message, chat).get(message)
            except OasisError:
                found = None
            if found is None or found["content"] == chat_line.FORGOTTEN:
                return  # forgotten meanwhile
            files.folder(folder)
            if self._kit.free_bytes(folder) < VECTORS_BYTES:
                return
            files.append(self._kit.chats.vectors_of(chat), jsonl.line(line), False)
            self._make_room(folder)

    def _make_room(self, folder: str) -> None:
        files = self._kit.files
        sizes = {folder + "/" + name: files.size(folder + "/" + name) for name in files.names(folder)}
        over = sum(sizes.values()) - VECTORS_BYTES
        for path, size in sizes.items():
            if over > 0:
                over -= size
                files.remove(path)

    def _near(self, vector: list[float], label: str) -> list[Key]:
        near = documents.nearness(vector)
        found: list[tuple[float, Key]] = []
        folder = self._kit.chats.vectors
        for file in self._kit.files.names(folder):
            for raw in (self._kit.files.read(folder + "/" + file) or b"").split(b"\n"):
                score, message = _scored(raw, label, near)
                if score > 0:
                    found.append((score, (file.partition(".")[0], message)))
            found = ranking.best(found, DEPTH)
        return [key for _, key in found]

    # Searching

    def search(self, query: str, limit: int = 0, is_home: bool = True, goes_elsewhere: bool = False) -> SaidFound:
        """Return the messages that fit a question best. `is_home`: no model elsewhere may hear the question;
        `goes_elsewhere`: what is found goes to one, so what was said to a service at home is left out.

        Raises: UsageError for nothing to look for.
        """
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("there is nothing to search for", "a question, or a few words")
        notes: list[str] = []
        model = ranking.embedder(self._kit)
        label = model.name
        vector = ranking.asked(model, query, is_home, notes) if label else None
        near = self._near(vector, label) if vector is not None else []
        words = ranking.Words(query)
        texts, has_more, reports = self._look(words, set(near), goes_elsewhere)
        orders = [[key for _, key in words.order(DEPTH, HALF if near else 0.0)], [key for key in near if key in texts]]
        rows = ranking.fused(orders, min(limit or LIMIT, MOST))
        results = [_row(key, score, texts[key], words) for score, key in rows]
        found: SaidFound = {"results": results, "more": has_more, "reports": reports}
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
                    if goes_elsewhere and not _was_said_elsewhere(turn, elsewhere):
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
        if not text:
            return
        if key not in near and not words.may_have(text):
            words.skip(len(text))
            return
        text = str(self._kit.redactor.hide(text, ""))
        words.take(key, text)
        if key in near or words.counts(text):
            found[key] = {"role": message["role"], "text": text}
            if taint_of(message):
                found[key]["taint"] = taint_of(message)


gather = Said


def _row(key: Key, score: float, message: SaidText, words: ranking.Words) -> SaidRow:
    text = " ".join(message["text"].split())
    at = max(words.place(text) - BEFORE_CHARS, 0)
    snippet = ("…" if at else "") + text[at : at + SNIPPET_CHARS] + ("…" if at + SNIPPET_CHARS < len(text) else "")
    row: SaidRow = {"chat": key[0], "message": key[1], "role": message["role"], "snippet": snippet,
                    "score": round(score, 4)}  # fmt: skip
    if "taint" in message:
        row["taint"] = message["taint"]
    return row


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


def _was_said_elsewhere(turn: list[Message], elsewhere: set[str]) -> bool:
    """Return whether all answers of a turn came from services elsewhere; without answers it counts as at home."""
    answered = [message.get("provider") for message in turn if message["role"] == "assistant"]
    return bool(answered) and all(provider in elsewhere for provider in answered)


def _scored(raw: bytes, label: str, near: Callable[[bytes], float]) -> tuple[float, str]:
    """Return the nearness and the message of a line of vectors; (0, "") for one of another model, or damaged."""
    try:
        line = jsonl.loads(raw)
        if isinstance(line, dict) and line["label"] == label:
            return near(binascii.a2b_base64(str(line["row"]))), str(line["id"])
    except (OasisError, ValueError, TypeError, KeyError):
        pass
    return 0.0, ""
