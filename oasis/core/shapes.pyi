"""The types of core/, for the type checker alone: MicroPython has no `typing`, so this file has no code beside it.

Modules import it under `if False:` and write these names in quotes.
"""

from collections.abc import Callable as Callable
from typing import Any as Any
from typing import Protocol as Protocol

Json = Any  # what json.loads returns
Message = dict[str, Any]  # see schema.py
Block = dict[str, Any]
Options = dict[str, Any]
Clock = Callable[[], int]
Random = Callable[[int], bytes]
NewId = Callable[[], str]

class Files(Protocol):
    """What the store needs of a file system; system/files.py is the real one."""

    def read(self, path: str) -> bytes | None: ...
    def append(self, path: str, data: bytes, sync: bool) -> None: ...
    def cut(self, path: str, size: int) -> None: ...
    def remove(self, path: str) -> None: ...
    def folder(self, path: str) -> None: ...
    def names(self, path: str) -> list[str]: ...
