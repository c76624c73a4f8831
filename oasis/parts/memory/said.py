"""Search by meaning over what was said in all chats: by its words, and by vectors where a model is set for them.

    CHATS/vectors/ID.jsonl      {"id": of a message, "label": whose model, "row": base64}, one a line

A part (api/parts.py). The words are read where they stand, so nothing is kept twice. A vector is made once, after
the turn of a message of the owner's, and kept next to the chat: Collection removes it with the message or the
chat. What was said to a service at home goes to no model elsewhere, neither for vectors nor as a find.
"""

from __future__ import annotations

import binascii
import threading

from oasis.core import chat_line, jsonl
from oasis.core.schema import taint_of, text_of
from oasis.errors import OasisError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oasis.api.parts import Services
    from oasis.core.shapes import Message
    from oasis.parts.memory.ranking import Words
    from oasis.parts.memory.shapes import EndedTurn, SaidFound, SaidRow, SaidText

    Key = tuple[str, str]  # chat, message

ALIAS = "embedding"
LIMIT, MOST = 10, 50
QUERY_CHARS = 1000
# So many of each order are looked at before they are fused, and what words need next to vectors: see knowledge.py.
DEPTH, HALF = 50, 0.5
# All vectors together: five hundred messages with the usual model. The oldest chats lose theirs first.
VECTORS_BYTES = 1024 * 1024
SNIPPET_CHARS, BEFORE_CHARS = 160, 40
_SAYING = ("user", "assistant")


def gather(kit: Services) -> Said:
    """Return the part of a daemon."""
    return Said(kit)


class Said:
    """What was said in all chats."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._writing = threading.Lock()

    # Vectors

    def after(self, turn: EndedTurn) -> None:
        """Make the vector of what the owner said, where a model is set for it that may hear it."""
        if ALIAS in self._kit.settings.aliases() and turn["said"].strip():
            threading.Thread(target=self._keep, args=(turn,), daemon=True).start()

    def _keep(self, turn: EndedTurn) -> None:
        from oasis.parts.memory.documents import packed
        from oasis.parts.memory.structured import embedder

        try:
            model = embedder(self._kit)
            if not model.name or (turn["service"]["is_local"] and not model.is_local):
                return
            made = model.embed([turn["said"]])
            if made:
                row = binascii.b2a_base64(packed(made)[0], newline=False).decode()
                self._write(turn["chat"], {"id": turn["message"], "label": model.name, "row": row})
        except OasisError as error:
            self._kit.log("message %s has no vector: %s" % (turn["message"], error.message))

    def _write(self, chat: str, line: dict[str, str]) -> None:
        data = jsonl.line(line)
        folder = self._kit.chats.vectors
        with self._writing:
            if self._message(chat, line["id"]) is None:
                return  # forgotten meanwhile
            self._kit.files.folder(folder)
            if self._kit.free_bytes(folder) < VECTORS_BYTES:
                return
            self._kit.files.append(self._kit.chats.vectors_of(chat), data, False)
            self._make_room(folder)

    def _make_room(self, folder: str) -> None:
        names = self._kit.files.names(folder)
        used = sum(self._kit.files.size(folder + "/" + name) for name in names)
        for name in names:
            if used <= VECTORS_BYTES:
                return
            used -= self._kit.files.size(folder + "/" + name)
            self._kit.files.remove(folder + "/" + name)

    def _message(self, chat: str, name: str) -> Message | None:
        try:
            found: Message | None = self._kit.chats.thread_of(name, chat).get(name)
        except OasisError:
            return None
        return None if found is None or found["content"] == chat_line.FORGOTTEN else found

    def _near(self, vector: list[float], label: str) -> list[Key]:
        """Return the messages that are nearest, the nearest first."""
        from oasis.parts.memory.documents import nearness

        near = nearness(vector)
        found: list[tuple[float, Key]] = []
        folder = self._kit.chats.vectors
        for file in self._kit.files.names(folder):
            for raw in (self._kit.files.read(folder + "/" + file) or b"").split(b"\n"):
                score = _scored(raw, label, near)
                if score[0] > 0:
                    found.append((score[0], (file.partition(".")[0], score[1])))
            found = sorted(found, key=lambda row: -row[0])[:DEPTH]
        return [key for _, key in found]

    # Searching

    def search(self, query: str, limit: int = 0, is_home: bool = True, goes_elsewhere: bool = False) -> SaidFound:
        """Return the messages that fit a question best. `is_home`: no model elsewhere may hear the question;
        `goes_elsewhere`: what is found goes to one, so what was said to a service at home is left out.

        Raises: UsageError for nothing to look for.
        """
        from oasis.parts.memory import ranking

        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("there is nothing to search for", "a question, or a few words")
        notes: list[str] = []
        near = self._asked(query, is_home, notes)
        words = ranking.Words(query)
        texts, has_more, reports = self._look(words, set(near), goes_elsewhere)
        orders = [[key for _, key in words.order(DEPTH, HALF if near else 0.0)], [key for key in near if key in texts]]
        rows = ranking.fused(orders, min(limit or LIMIT, MOST))
        results = [_row(key, score, texts[key], words) for score, key in rows]
        found: SaidFound = {"results": results, "more": has_more, "reports": reports}
        if notes:
            found["note"] = "; ".join(notes)
        return found

    def _asked(self, query: str, is_home: bool, notes: list[str]) -> list[Key]:
        from oasis.parts.memory.structured import embedder

        model = embedder(self._kit)
        label = model.name
        if not label:
            return []
        if is_home and not model.is_local:
            notes.append("looked for by words alone: the model for vectors is not at home, and who asks is")
            return []
        try:
            made = model.embed([query])
        except OasisError as error:
            notes.append("looked for by words alone: %s" % error.message)
            return []
        return self._near(made[0], label) if made else []

    def _look(self, words: Words, near: set[Key], goes_elsewhere: bool) -> tuple[dict[Key, SaidText], bool, list[str]]:
        """Give all messages to `words`; return those that may be shown, whether there are more, and reports."""
        from oasis.chats.search import SEARCH_BYTES

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
                        self._take((chat, message["id"]), message, words, near, found)
            except OasisError as error:
                reports.append(error.message)
            if room < 0:
                return found, True, reports
        return found, False, reports

    def _take(self, key: Key, message: Message, words: Words, near: set[Key], found: dict[Key, SaidText]) -> None:
        text = text_of(message) if message["role"] in _SAYING and message["content"] != chat_line.FORGOTTEN else ""
        if not text:
            return
        if key not in near and not words.may_have(text):
            words.skip(len(text))
            return
        text = str(self._kit.redactor.hide(text, ""))
        words.take(key, text)
        if key in near or words.counts(text):
            taint = taint_of(message)
            found[key] = {"role": message["role"], "text": text}
            if taint:
                found[key]["taint"] = taint


def _row(key: Key, score: float, message: SaidText, words: Words) -> SaidRow:
    text = " ".join(message["text"].split())
    at = max(words.place(text) - BEFORE_CHARS, 0)
    snippet = ("…" if at else "") + text[at : at + SNIPPET_CHARS] + ("…" if at + SNIPPET_CHARS < len(text) else "")
    row: SaidRow = {
        "chat": key[0],
        "message": key[1],
        "role": message["role"],
        "snippet": snippet,
        "score": round(score, 4),
    }
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
