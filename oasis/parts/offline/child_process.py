"""The daemon's side of the offline provider: a process that is started when it is asked, and ends when nobody asks.

What understands sentences is a third as big as the whole daemon and is needed for moments. The process reads no file of
the router: it asks for facts, and the daemon answers.

    to it      {"messages", "now_s", "only_sure"}       one request at a time
    from it    {"ask": one of FACTS, "arguments"}       answered by {"answer"}
               {"events": [...]}                        the end of the request
    to it      {"times": text}                          what of it is a time or a condition (Session.times)
    from it    {"times": [[words, carriers], ...]}      the end of that request
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time

from oasis import parts
from oasis.core import jsonl
from oasis.errors import OasisError, ProviderError, SchemaError
from oasis.system.child import MODEL, Child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import Event, Message, Request


# What the process may ask for: methods of the facts (oasis/tools/router.py), whose answers are passed on as JSON.
FACTS = ("config", "devices", "interfaces", "services", "ending")
# A whole chat on one line, as a worker takes it.
REQUEST_BYTES = 16 * 1024 * 1024
# Between two lines of it; a slow router takes a second for a long sentence in several languages.
SILENCE_S = 30.0
_WORDS_BYTES = 4096
# What a pipe takes without blocking when it says that it takes something.
_PIECE_BYTES = 4096
_READ_BYTES = 65536
_HINT = "try again; when it happens again, the system log has more"
# How its last line begins when files of it are missing or cut off.
_HALF = ("ImportError", "ModuleNotFoundError", "EOFError", "SyntaxError")


class _Gone(ProviderError):
    """The process ended before it said anything: it was just going because nobody asked."""


def default_argv(idle_s: int) -> list[str]:
    """Return how to start the process; without requests it ends after `idle_s`."""
    folder, _, own = __file__.rpartition("/")
    suffix = own[own.index(".") :]  # .py, or .pyc where only bytecode is installed
    return [sys.executable, "-I", "-S", "-B", f"{folder}/__main__{suffix}", str(idle_s)]


class Offline:
    """The offline provider, for any number of threads."""

    def __init__(self, argv: list[str], env: dict[str, str] | None = None, silence_s: float = SILENCE_S) -> None:
        self._argv = argv
        self._silence_s = silence_s
        self._env = env or {"LC_ALL": "C.UTF-8"}
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._rest = b""

    def reply(self, messages: list[Message], facts: object, now_s: int, only_sure: bool = False) -> list[Event]:
        """Return the events that answer the last message; with `only_sure` none where it is not certain what was meant.

        Raises: ProviderError when the process fails, SchemaError when the chat is too long for a line.
        """
        events: list[Event]
        events = self._answer({"messages": messages, "now_s": now_s, "only_sure": only_sure}, "events", facts)
        return events

    def times(self, text: str, facts: object) -> list[tuple[str, list[str]]]:
        """Return what of a sentence says when or under which condition; see Session.times. Raises: as `reply`."""
        return [(words, carriers) for words, carriers in self._answer({"times": text}, "times", facts)]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _answer(self, request: Request, wanted: str, facts: object) -> Any:
        line = jsonl.line(request)
        with self._lock:
            try:
                return self._asked(line, wanted, facts)
            except _Gone:
                return self._asked(line, wanted, facts)

    def _asked(self, line: bytes, wanted: str, facts: object) -> Any:
        try:
            if self._child is None:
                self._child, self._rest = Child(self._argv, self._env, MODEL, True, True), b""
            while True:
                said = jsonl.loads(self._exchange(self._child, line), REQUEST_BYTES)
                if not isinstance(said, dict):
                    raise SchemaError("the offline provider wrote no object")
                if wanted in said:
                    return said[wanted]
                name, arguments = said.get("ask"), said.get("arguments")
                if name not in FACTS or not isinstance(arguments, list):
                    raise OasisError("the offline provider asked for %r" % name, _HINT)
                line = jsonl.line({"answer": getattr(facts, sys.intern(str(name)))(*arguments)})
        except BaseException as error:
            self._end()
            if isinstance(error, OSError):
                raise ProviderError("the offline provider cannot be started: %s" % error, "check free memory")
            raise

    def _exchange(self, child: Child, data: bytes) -> bytes:
        """Write a line to the process and return the next one of it."""
        poll = select.poll()
        poll.register(child.stdin, select.POLLOUT)
        deadline = time.monotonic() + self._silence_s
        view = memoryview(data)
        while len(view):
            if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
                raise ProviderError("the offline provider takes no request", _HINT)
            try:
                view = view[os.write(child.stdin, view[:_PIECE_BYTES]) :]
            except BrokenPipeError:
                raise self._obituary(child)
        poll.unregister(child.stdin)
        poll.register(child.stdout, select.POLLIN)
        deadline = time.monotonic() + self._silence_s
        while b"\n" not in self._rest:
            if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
                raise ProviderError("the offline provider was silent for %g s" % self._silence_s, _HINT)
            piece = os.read(child.stdout, _READ_BYTES)
            if not piece:
                raise self._obituary(child)
            self._rest += piece
            if len(self._rest) > REQUEST_BYTES:
                raise ProviderError("the offline provider said more than %d bytes" % REQUEST_BYTES, _HINT)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _obituary(self, child: Child) -> ProviderError:
        """Return the error for a process that ended; _Gone when it had nothing to complain about."""
        status = child.wait(1.0)
        if status is None:
            child.end_group()
        if status == 0:
            return _Gone("the offline provider was just ending", _HINT)
        if not parts.is_here("offline"):  # removed since the daemon began
            absent = parts.absent("offline")
            return ProviderError(absent.message, absent.hint)
        words = os.read(child.stderr, _WORDS_BYTES * 16)[-_WORDS_BYTES:].decode("utf-8", "replace").strip()
        sys.stderr.write(words + "\n")
        last = words.rpartition("\n")[2]
        if last.startswith(_HALF):
            absent = parts.broken("offline", ImportError(last[:200]))
            return ProviderError(absent.message, absent.hint)
        return ProviderError("the offline provider ended (%s): %s" % (status, last[:200]), _HINT)

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end_group()
            child.close()
