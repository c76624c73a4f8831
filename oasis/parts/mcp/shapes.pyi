"""The types of the part `mcp`, for the type checker alone."""

from collections.abc import Callable
from typing import Any, Protocol, TypedDict

from typing_extensions import NotRequired

Message = dict[str, Any]  # of a server or a client, as it was read; each key is checked where it is used
OnMessage = Callable[[Message], None]
IsCancelled = Callable[[], bool]

class Line(Protocol):
    """A transport to a server."""

    def is_alive(self) -> bool: ...
    def agree(self, version: str) -> None: ...
    def ask(self, message: Message, seconds: float, on_message: OnMessage, is_cancelled: IsCancelled) -> Message: ...
    def tell(self, message: Message) -> None: ...
    def close(self) -> None: ...

class Entry(TypedDict):
    """A server as the owner set it up."""

    name: str
    enabled: bool
    command: list[str]
    url: str
    timeout_s: int
    allowed: list[str]  # tools; [] for all
    note: str  # what is wrong, or ""

class Kept(TypedDict):
    """What a server had when it was last asked."""

    tools: list[Message]
    has: list[str]  # resources, prompts

class ServerList(TypedDict):
    servers: list[ServerRow]

class ServerRow(TypedDict):
    """A server in the list."""

    name: str
    enabled: bool
    where: str
    state: str
    tools: int
    has_token: bool
    note: NotRequired[str]
