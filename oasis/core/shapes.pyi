"""The types of core/, for the type checker alone: MicroPython has no `typing`, so this file has no code beside it.

Modules import it under `if False:` and write these names in quotes. What the keys mean stands in schema.py. The
TypedDicts have every key that Oasis reads or writes, and none is required: chat files of other programs may lack any,
and may carry more, which are kept and never read.
"""

from collections.abc import Callable as Callable
from collections.abc import Iterator as Iterator
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from types import TracebackType
from typing import Any as Any
from typing import Protocol as Protocol
from typing import TypeAlias, TypedDict

from typing_extensions import TypeIs as TypeIs

from oasis.shapes import ErrorReply as ErrorReply

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

Clock = Callable[[], int]
Random = Callable[[int], bytes]
NewId = Callable[[], str]
Late = Callable[[str], None]  # hears of a path that was written and not synced

class Usage(TypedDict, total=False):
    """Tokens of one answer; what is not known is left out."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int

class Options(TypedDict, total=False):
    """What changes from a message on; false and [] switch off."""

    provider_ptr: str
    servers: list[str]
    search: bool
    tool_mode: str

class Block(TypedDict, total=False):
    """One content block of any type."""

    type: str
    taint: list[str]
    text: str  # text, thinking
    provider_metadata: dict[str, Json]
    id: str  # tool_use
    name: str  # tool_use, tool_result, document, image
    input: dict[str, Json]
    invalid: str
    tool_use_id: str  # tool_result
    content: list[Block]
    is_error: bool
    user_only: str
    media_type: str  # document, image
    sha256: str
    size_bytes: int
    data: str  # its bytes in base64, where a service is sent them
    unread: Json  # text: what stood here and could not be read

class Message(TypedDict, total=False):
    """One message of a chat."""

    id: str
    role: str
    content: str | list[Block]
    continues: list[str]
    head: str
    options: Options
    cache: bool
    provider: str
    model: str
    stop_reason: str
    usage: Usage
    taint: list[str]
    error: ErrorReply
    foreign_role: str
    summary_of: str  # of a summary that the owner asked for: the id of the last message in it
    stands_for: int  # of the text that tells a model what was left out: how many messages; never stored

class ChatRecord(TypedDict, total=False):
    """A line of a chat file that is about the chat."""

    type: str
    taint: list[str]
    unix_s: int
    title: str  # title
    by: str
    name: str  # bookmark
    target: str
    archived: bool  # archived
    id: str  # forgotten
    continues: list[str]

Entry: TypeAlias = Message | ChatRecord  # a line of a chat file

class Marker(TypedDict):
    """Stands in a shown thread for a parent that is "missing", or was not read ("older")."""

    type: str
    id: str

class Thread(TypedDict):
    """What a model is sent of a thread, and what could not be."""

    messages: list[Message]  # the newest ones
    options: Options  # of the whole thread
    missing: list[str]  # ids that are gone
    left_out: int  # how many messages were read and are older
    has_older: bool  # there are some that were not read

class Page(TypedDict):
    """Some messages of a chat, in file order."""

    messages: list[Message]
    more: bool  # there are older ones
    reports: list[str]

class Fitted(TypedDict):
    """The part of a context that fits into a budget."""

    messages: list[Message]
    tokens: int
    left_out: list[Message]
    left_out_tokens: int
    cut: int  # how many results were cut
    is_over: bool  # even the least is too much

class Document(TypedDict, total=False):
    """A whole chat as one JSON value."""

    format: str
    version: int
    id: str
    title: str
    messages: list[Message]
    records: list[ChatRecord]
    blobs: dict[str, str]  # sha256 -> base64

class Response(TypedDict):
    """A normalized answer of a service."""

    type: str
    role: str
    model: str
    content: list[Block]
    stop_reason: str
    usage: Usage

class Handle(Protocol):
    """An open file of bytes, for reading."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def read(self, size: int = -1, /) -> bytes | None: ...
    def __enter__(self) -> Handle: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

class Files(Protocol):
    """What stores need of a file system; system/files.py is the real one. `replace` is atomic and makes 0600."""

    def read(self, path: str) -> bytes | None: ...
    def replace(self, path: str, data: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def reader(self, path: str) -> Handle | None: ...
    def rewrite(self, path: str, pieces: Iterator[bytes]) -> None: ...
    def settle(self, path: str) -> None: ...
    def forget(self, path: str) -> None: ...
    def stamp(self, path: str) -> tuple[int, int, int] | None: ...
    def append(self, path: str, data: bytes, sync: bool) -> None: ...
    def cut(self, path: str, size: int) -> None: ...
    def folder(self, path: str) -> None: ...
    def names(self, path: str) -> list[str]: ...
