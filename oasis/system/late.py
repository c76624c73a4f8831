"""Expressions that are compiled when they are first used: compiling takes time and memory, and a turn needs few."""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Late:
    """What `re.compile` returns, as far as it is used here. Raises: re.error when it is used first."""

    __slots__ = ("_flags", "_made", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._made: re.Pattern[str] | None = None

    def _compiled(self) -> re.Pattern[str]:
        if self._made is None:
            self._made = re.compile(self._source, self._flags)
        return self._made

    def match(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled().match(text, at, end)

    def fullmatch(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled().fullmatch(text, at, end)

    def search(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled().search(text, at, end)

    def finditer(self, text: str, at: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self._compiled().finditer(text, at, end)

    def findall(self, text: str) -> list[str]:
        return self._compiled().findall(text)

    def split(self, text: str, most: int = 0) -> list[str]:
        return self._compiled().split(text, most)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self._compiled().sub(new, text, count)
