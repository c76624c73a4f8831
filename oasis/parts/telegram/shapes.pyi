"""The types of the messenger, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Mapping as Mapping
from typing import Any as Any
from typing import Literal, Protocol
from typing import TypeGuard as TypeGuard
from typing import TypeVar as TypeVar

from typing_extensions import NotRequired, Required, TypedDict
from typing_extensions import TypeIs as TypeIs

from oasis.api.shapes import Change as Change
from oasis.api.shapes import Fault as Fault
from oasis.api.shapes import PlanCard
from oasis.change.shapes import Role as Role
from oasis.core.shapes import Json as Json
from oasis.providers.shapes import Event as _Told
from oasis.providers.shapes import Failure as Failure
from oasis.providers.shapes import Options as Limits

class Person(TypedDict):
    """Somebody paired. In a group `user` is 0 and the role is guest: nobody there is the owner."""

    id: str
    role: str  # owner or guest
    user: int  # Telegram's numbers
    chat: int
    name: str
    paired_unix_s: int
    talk: NotRequired[str]  # the chat here that they talk in
    language: NotRequired[str]  # of their program, like de or pt-br

CodesUsed = dict[str, int]  # "last": the newest step that was used, "wrong", "pauses" and "until_unix_s"

class File(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int

# What came from Telegram, see exchange.py and line.checked.
Update = TypedDict(
    "Update",
    {
        "id": Required[int],
        "kind": Required[str],  # message, button or other; the rest is missing in other
        "chat": int,
        "from": int,
        "is_private": bool,
        "name": str,
        "message": int,
        "text": str,  # of a message
        "when_unix_s": int,
        "reply_to": int,
        "is_forwarded": bool,
        "language": str,  # of the sender's program, like de or pt-br
        "file": File,
        "button": str,  # of a press
        "data": str,
    },
    total=False,
)

class Bot(TypedDict):
    id: int
    name: str

class Button(TypedDict):
    """As Telegram wants it."""

    text: str
    callback_data: str

class PlanName(TypedDict):
    """What is kept of a plan that waits."""

    id: str
    short: str
    summary: str

class Open(TypedDict, total=False):
    """What a chat waits for."""

    chat: Required[int]
    message: Required[int]  # its number, 0 for a press
    is_queued: bool
    plan: PlanName
    is_unsent: bool

class Service(TypedDict, total=False):
    """Where the bot's server is; `key` is its token."""

    key: Required[str]
    base_url: str
    ca_file: str
    proxy: str

class State(TypedDict):
    state: str  # on or waiting
    bot: str
    problem: str  # words, "" for none

class PersonRow(TypedDict):
    id: str
    role: str
    name: str
    paired_unix_s: int

class Overview(State):
    """What is set, how it goes, and who is paired."""

    enabled: bool
    approve: bool
    notices: bool
    has_token: bool
    has_secret: bool
    people: list[PersonRow]

class Opened(TypedDict):
    """A pairing code."""

    code: str
    role: str
    expires_in_s: int
    bot: str

class Done(TypedDict):
    status: str

class Offered(TypedDict):
    """A secret that is not kept yet."""

    uri: str
    secret: str
    expires_in_s: int

# Of the daemon

class Notice(TypedDict):
    """See api/notices.py."""

    id: str
    when_unix_s: int
    kind: str
    text: str
    chat: NotRequired[str]
    change: NotRequired[str]
    plan: NotRequired[str]
    schedule: NotRequired[str]

Call = Callable[[str, dict[str, object], Role], dict[str, Any]]  # calls a method by a role

class Asked(TypedDict, total=False):
    """A message as it begins a run."""

    message: str
    chat: str
    service: str
    attachments: list[str]

class Card(PlanCard):
    """A plan that waits, as plan.list has it."""

    uci: list[str]

class Meaning(TypedDict):
    """What a button means."""

    what: str  # approve, decline, choose, undo, or pressed: an undo that was done
    chat: int
    until_s: float
    card: NotRequired[Card]
    change: NotRequired[str]  # the id

class PlanEvent(TypedDict):
    type: Literal["plan"]
    plan: Card

class ApprovalEvent(TypedDict):
    type: Literal["approval"]
    plan: str
    decision: str

class ChangeEvent(TypedDict):
    type: Literal["change"]
    change: Change

class DeltaEvent(TypedDict):
    type: Literal["delta", "reset"]
    text: str

class ToolEvent(TypedDict):
    type: Literal["tool_use", "tool_progress"]
    name: str

class ResultEvent(TypedDict):
    type: Literal["tool_result"]
    name: str
    text: str
    tool_use_id: NotRequired[str]  # of a model's call

class NoteEvent(TypedDict):
    type: Literal["note"]
    text: str
    is_private: NotRequired[bool]

class ErrorEvent(TypedDict):
    type: Literal["error"]
    error: Fault

class EndEvent(TypedDict):
    type: Literal["end"]
    state: str

class MessageEvent(TypedDict):
    type: Literal["message"]

CardEvent = PlanEvent | ApprovalEvent | ChangeEvent
Event = CardEvent | DeltaEvent | ToolEvent | ResultEvent | NoteEvent | ErrorEvent | EndEvent | MessageEvent

# Of Telegram

class Parameters(TypedDict, total=False):
    """Of a call, as the Bot API names them; `file` is a call of the worker."""

    chat_id: int
    message_id: int
    text: str
    parse_mode: str
    link_preview_options: dict[str, bool]
    reply_parameters: Mapping[str, int | bool]
    reply_markup: dict[str, list[list[Button]]]
    callback_query_id: str
    action: str
    timeout: int
    limit: int
    allowed_updates: list[str]
    offset: int
    file_id: str
    most_bytes: int

class Result(TypedDict, total=False):
    """Of a call, as far as it is used."""

    message: int
    id: int
    name: str

Told = _Told  # what a worker says

class Request(TypedDict):
    """A call, as the worker gets it."""

    op: str
    profile: str
    base_url: str
    key: str
    method: str
    parameters: Parameters
    options: Limits

class Pool(Protocol):
    """The workers of one bot."""

    def post(self, request: Any, on_event: Callable[[Any], None], is_cancelled: Callable[[], bool], /) -> None: ...
    def close(self) -> None: ...
