"""The service `hand`: a person answers, or a strong model that a person hands the requests to.

Each request of a task is three files in a folder, NN counting from 01:
    TASK-NN.request.json   its body, as a service would get it
    TASK-NN.request.txt    the same to read: the messages, and the tools with the schemas of their arguments
    TASK-NN.reply.json     what is awaited: {"text": words} or {"calls": [{"name", "arguments": {…}}], "text"?: words}
A reply is written under another name and renamed. One that is none is renamed to TASK-NN.reply.bad, the reason is in
TASK-NN.error.txt, and another is awaited. TASK.ended is there when a task is over, `ended` when all are.
Nothing in the folder says what a task is about or what is expected of it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

from tests.eval import relay, transcript

# A person has an hour for an answer; Oasis is given as long, see Service.install().
WAIT_S = 3600
_LOOK_S = 0.3


class Folder:
    """A folder in which somebody answers; `close()` lets go of whoever still waits."""

    def __init__(self, path: str, wait_s: float = WAIT_S) -> None:
        self._path = os.path.abspath(path)
        self._wait_s = wait_s
        self._closed = threading.Event()
        os.makedirs(self._path, exist_ok=True)
        left = [one for one in os.listdir(self._path) if ".request." in one or one == "ended"]
        if left:
            raise ValueError(f"{path} holds requests of another run: give an empty folder")

    def answerer(self, task: dict[str, Any]) -> relay.Answerer:
        """Return what answers in a task."""
        name, count = task["id"], 0

        def answer(path: str, headers: dict[str, str], body: bytes) -> relay.Answer:
            nonlocal count
            count += 1
            given = json.loads(body)
            here = f"{name}-{count:02d}"
            self._write(here + ".request.txt", transcript.readable(given))
            self._write(here + ".request.json", json.dumps(given, ensure_ascii=False, indent=1))
            offered = {one["name"] for one in transcript.functions(given)}
            reply = self._awaited(here, offered)
            return relay.failed("nobody answered") if reply is None else relay.said(*reply, number=count)

        return answer

    def ended(self, task: str) -> None:
        """Say that a task is over."""
        self._write(task + ".ended", "")

    def close(self) -> None:
        self._closed.set()
        self._write("ended", "")

    def _awaited(self, name: str, offered: set[str]) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
        path = f"{self._path}/{name}.reply.json"
        until_s = time.monotonic() + self._wait_s
        while time.monotonic() < until_s and not self._closed.is_set():
            if os.path.exists(path):
                try:
                    with open(path, encoding="utf-8") as handle:
                        return read(handle.read(), offered)
                except (ValueError, OSError) as error:
                    os.replace(path, f"{self._path}/{name}.reply.bad")
                    self._write(name + ".error.txt", f"{error}\n")
            time.sleep(_LOOK_S)
        return None

    def _write(self, name: str, text: str) -> None:
        path = f"{self._path}/{name}"
        with open(path + ".part", "w", encoding="utf-8") as handle:
            handle.write(text)
        os.replace(path + ".part", path)


def read(text: str, offered: set[str]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return (words, calls) of a reply. Raises: ValueError saying what is wrong with it.

    A tool that was not offered is the answerer's own mistake, which Oasis has to bear: it is let through.
    """
    try:
        reply = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(reply, dict) or not reply or not set(reply) <= {"text", "calls"}:
        raise ValueError('a reply is {"text": words} or {"calls": [{"name", "arguments"}], "text": words}')
    words, calls = reply.get("text", ""), reply.get("calls", [])
    if not isinstance(words, str) or not isinstance(calls, list):
        raise ValueError("text is a text, and calls a list")
    for one in calls:
        if not isinstance(one, dict) or set(one) != {"name", "arguments"}:
            raise ValueError('each call is {"name", "arguments"}')
        if not isinstance(one["name"], str) or not isinstance(one["arguments"], dict):
            raise ValueError("a name is a text, and arguments are an object")
    if calls and not offered:
        raise ValueError("this request offers no tools: answer in words")
    if not calls and not words.strip():
        raise ValueError("there is neither a word nor a call")
    return words, [(one["name"], one["arguments"]) for one in calls]
