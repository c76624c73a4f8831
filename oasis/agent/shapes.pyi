"""The types of agent/, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Mapping
from collections.abc import Sequence as Sequence
from typing import Any
from typing import Protocol as Protocol

from typing_extensions import NotRequired, Required, TypedDict

from oasis.agent.loop_guard import CorrectionRounds
from oasis.config.shapes import Service
from oasis.core.shapes import Block, Message, Options
from oasis.core.store import Chat
from oasis.providers.shapes import Event
from oasis.providers.shapes import Failure as Failure
from oasis.system.connections import Connection as Connection
from oasis.tools.shapes import Arguments as Arguments
from oasis.tools.shapes import OfferedTool as OfferedTool
from oasis.tools.shapes import Source
from oasis.tools.shapes import ToolCaller as ToolCaller
from oasis.tools.shapes import TurnExtras as TurnExtras

class AnswerEvent(Event, total=False):
    """An event of an answer as the turn gets it, see turn.py."""

    taint: list[str]  # of type taint
    provider: str  # of type source

OnEvent = Callable[[AnswerEvent], None]
Ask = Callable[[Service, list[Message], list[OfferedTool], OnEvent], None]
MakeContext = Callable[[Service, Chat, str, list[OfferedTool]], list[Message]]
Came = Sequence[Connection]  # the connections by which the owner of a run is here, see change/apply/proof_of_life.py

class Emit(Protocol):
    """Adds an event to a run."""

    def __call__(self, kind: str, **fields: object) -> None: ...

class Asked(TypedDict, total=False):
    """What the owner asks, see context.py; `turns` of a goal, `moves_head` of a schedule."""

    message: Required[str]
    chat: str
    service: str
    continues: list[str] | None
    head: str
    options: Options | None
    topic: str
    files: list[Block]
    taint: list[str]
    turns: int
    moves_head: bool

class TurnAbout(TypedDict, total=False):
    """A turn, as the optional parts see it."""

    run: Required[str]
    chat: Required[str]
    message: Required[str]
    said: Required[str]
    service: Service
    taint: list[str]

class Parts(Protocol):
    """What turns ask of the optional parts (api/parts.py)."""

    def added(self, turn: TurnAbout | None) -> TurnExtras: ...
    def after(self, turn: TurnAbout) -> None: ...
    def outside(self) -> Sequence[Callable[[], Sequence[Source]]]: ...
    def sources(self) -> Sequence[Source]: ...

class Brief(TypedDict):
    """What a turn begins with, and what it may do."""

    tools: list[OfferedTool] | None  # None: whoever answers knows them by itself
    system: str  # the system prompt
    looking: NotRequired[list[OfferedTool]]  # of these what changes nothing: all that is left after refused proposals
    head: NotRequired[str]  # the bookmark that the owner's message carries, and all that answers it
    rounds: NotRequired[int]  # how many answers may call tools
    as_stored: NotRequired[Callable[[Message], Message]]  # of an answer what the chat keeps: without chosen secrets
    said: NotRequired[str]  # the owner's message
    outcome: NotRequired[Callable[[str, Arguments, str], str]]  # what a call that did not fail did, see TurnStarter
    correction: NotRequired[CorrectionRounds | None]  # bounds how often a refused proposal is corrected

class Preview(TypedDict):
    """The service that a message would go to first, and the request that it would make."""

    service: Service
    request: Mapping[str, object]  # as llm/pool.py has it, {} for the built-in service

class Outcome(TypedDict):
    """How the work on a goal ended, see goal.py."""

    state: str
    message: str
    turns: int
    tools: list[str]

class News(TypedDict):
    """What happened in a run since it was last asked for, see Run.poll."""

    run: str
    chat: str
    state: str
    events: list[dict[str, Any]]  # see Run.emit
    next: int
