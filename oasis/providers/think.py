"""Part the thoughts from the answer where a local model writes both into one text: <think>…</think> at its beginning.

Only the beginning counts: the same words later in an answer are the model's own. Pieces may be cut anywhere.
"""

from __future__ import annotations

from oasis.providers.events import Event, delta, thinking

_OPEN, _CLOSE = "<think>", "</think>"


class Splitter:
    """`feed` text, get delta and thinking events; `close` gives what was still held back."""

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, text: str) -> list[Event]:
        if self._state == "gap":  # white space between thoughts and answer
            text = text.lstrip()
            self._state = "answer" if text else "gap"
        if self._state in ("gap", "answer"):
            return [delta(text)] if text else []
        self._held += text
        out = self._start() if self._state == "start" else []
        return out + self._thoughts() if self._state == "thoughts" else out

    def close(self) -> list[Event]:
        held, self._held = self._held, ""
        if not held:
            return []
        return [thinking(held) if self._state == "thoughts" else delta(held)]

    def _start(self) -> list[Event]:
        head = self._held.lstrip()
        if head.startswith(_OPEN):
            self._state, self._held = "thoughts", head[len(_OPEN) :]
        elif not _OPEN.startswith(head):
            self._state = "answer"
            return self.close()
        return []

    def _thoughts(self) -> list[Event]:
        thoughts, mark, answer = self._held.partition(_CLOSE)
        if mark:
            self._state, self._held = "gap", ""
            return ([thinking(thoughts)] if thoughts else []) + self.feed(answer)
        sure = len(self._held) - _overlap(self._held)
        ready, self._held = self._held[:sure], self._held[sure:]
        return [thinking(ready)] if ready else []


def _overlap(text: str) -> int:
    """Return how many characters at the end of `text` may be the beginning of the closing mark."""
    for count in range(min(len(text), len(_CLOSE) - 1), 0, -1):
        if _CLOSE.startswith(text[-count:]):
            return count
    return 0
