"""Requests to a model outside any turn: a title for a new chat, a summary of a long thread to go on from.

Both are the model's words about words of others: they carry the taint of what it was shown, and nothing in them is ever
a call. Knows no front-end.
"""

from __future__ import annotations

import sys
import time

from oasis.agent.client import prompts
from oasis.agent.context import Elsewhere
from oasis.chats.index import TITLE_CHARS, first_words
from oasis.core import clean, schema, thread, trim
from oasis.errors import BusyError, OasisError, UsageError

if False:  # annotations only
    from oasis.agent.client import Asking
    from oasis.agent.runs import Run, Runs
    from oasis.chats.collection import Collection
    from oasis.config.shapes import Service
    from oasis.core.shapes import Callable, ChatRecord, Message

# A title is worth waiting for while somebody reads the answer, and no longer.
TITLE_S = 60
# A title needs the beginning of what was said.
_TITLE_TOKENS = 1000
# While the chat is being answered again, its title waits.
_TRIES, _PAUSE_S = 40, 0.5
SUMMARY = "[Summary of what was said before; a model wrote it, not the owner:]\n"


class SideRequests:
    """`new_id()` gives message ids."""

    def __init__(self, chats: Collection, runs: Runs, asking: Asking, new_id: Callable[[], str]) -> None:
        self._chats = chats
        self._runs = runs
        self._asking = asking
        self._new_id = new_id

    def title(self, run: Run, chat: str, service: Service, messages: list[Message]) -> None:
        """Have a title made for a chat, for a thread of its own; when it fails the first words stay."""
        until_s = time.monotonic() + TITLE_S
        said = trim.fit([message for message in messages if message["content"]], _TITLE_TOKENS)["messages"]
        order: Message = {"role": "user", "content": prompts()["title"]}
        try:
            answer = self._asking.side_request(service, chat, [*said, order], lambda: time.monotonic() > until_s)
            # Its first line of words, without the marks that models put around it.
            lines = [clean.line(line).strip(" \t#*_`\"'“”„«»「」.") for line in answer.split("\n")]
            title = first_words(next(filter(None, lines), ""))[: TITLE_CHARS + 1]
            if title:
                self._note(chat, {"type": "title", "title": title, "by": "model"})
                run.emit("title", chat=chat, title=title)
        except OasisError as error:
            print("oasisd: no title for chat %s: %s" % (chat, error.message), file=sys.stderr)

    def _note(self, name: str, record: ChatRecord) -> None:
        """Write a record once nobody answers the chat.

        Raises: UsageError when that takes too long, or the chat is gone; StoreError.
        """

        def write() -> None:
            opened = self._chats.store.open(name)
            opened.note(record)
            opened.flush()

        for _ in range(_TRIES):
            try:
                return self._runs.alone(name, write)
            except UsageError:
                if not self._chats.store.has(name):
                    raise
                time.sleep(_PAUSE_S)
        raise BusyError("chat %s is being answered" % name, "wait for the answer, or stop it")

    def summarise(self, run: Run, name: str, head: str, service: Service) -> tuple[str, str]:
        """Put a summary of a thread into its chat, as a message to go on from: the work of a run.

        Raises: UsageError for a chat without a message.
        """
        elsewhere = Elsewhere(self._chats)
        chat = self._chats.open(name)
        end = head or (chat.heads or [""])[0]
        if not end:
            raise UsageError("chat %s is empty" % name, "say something first")
        chat.load([end])
        found = thread.resolve(chat.messages, [end], elsewhere, chat.left_out, chat.older_options)
        order: Message = {"role": "user", "content": prompts()["summary"]}
        room = trim.budget(int(service["context_tokens"])) - trim.message_tokens(order)
        fit = trim.fit([message for message in found["messages"] if message["content"]], room)
        words = self._asking.side_request(service, name, [*fit["messages"], order], run.is_cancelled)
        message: Message = {"id": self._new_id(), "role": "user", "content": SUMMARY + words.strip(), "summary_of": end}
        message["provider"], message["model"] = str(service["identifier"]), str(service["model"])
        taint = thread.taint(found["messages"])
        if taint:
            message["taint"] = taint
        schema.check_message(message)
        chat.add(message)
        chat.flush()
        run.emit("delta", text=words.strip())
        run.emit("message", id=message["id"], role="user")
        return "done", "end_turn"
