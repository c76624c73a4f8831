"""The types of cli/, for the type checker alone: `call` gives each method's reply its type (see api/shapes.pyi).

Methods whose reply is only printed give a plain dict.
"""

# mypy: disable-error-code="overload-overlap"
# Every overload is a case of the last one, for methods without a type of their own.

from collections.abc import Callable as Callable
from collections.abc import Iterator as Iterator
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import Literal, Protocol, TypedDict, overload

from typing_extensions import NotRequired

from oasis.api import shapes as api
from oasis.api.shapes import *  # noqa: F403
from oasis.change.shapes import Audited as Audited
from oasis.change.shapes import LineDiff as LineDiff
from oasis.core.shapes import Json as Json
from oasis.llm.shapes import AliasList, Made, ModelList, ProviderList
from oasis.llm.shapes import Provider as Provider
from oasis.llm.shapes import Trial as Trial
from oasis.parts.admin import shapes as admin
from oasis.parts.mcp import shapes as mcp
from oasis.parts.memory import shapes as memory
from oasis.parts.schedule import shapes as schedule
from oasis.parts.telegram import shapes as telegram
from oasis.tools.shapes import RefusalEvent as RefusalEvent
from oasis.tools.shapes import ToolRow as ToolRow

Params = dict[str, object]  # of a method

class CommandHelp(TypedDict):
    usage: str
    summary: str
    function: str
    more: list[str]

class SubjectHelp(TypedDict):
    summary: str
    text: list[str]

class SetupTexts(TypedDict):
    welcome: list[str]
    choices: list[str]
    looking: str
    online: list[str]
    last: list[str]
    built_in: str
    lacking: str
    nothing: str

class HelpTexts(TypedDict):
    """The file commands.json."""

    commands: dict[str, CommandHelp]
    groups: dict[str, list[str]]
    subjects: dict[str, SubjectHelp]
    introduction: list[str]
    options: list[str]
    exit_statuses: list[tuple[int, str]]
    chat_commands: dict[str, tuple[str, str]]
    chat_help: list[str]
    setup: SetupTexts

class ChangeParams(TypedDict, total=False):
    """Which changes are asked for, of change.list and change.load."""

    change: str
    since_unix_s: int
    package: str

class RunOptions(TypedDict, total=False):
    provider_ptr: str
    search: bool

class RunParams(TypedDict, total=False):
    """What a message may ask for, of run.start."""

    message: str
    chat: str
    continues: list[str]
    head: str
    topic: str
    options: RunOptions
    attachments: list[str]

class GoalEnding(TypedDict):
    state: str
    message: str
    turns: int
    tools: list[str]

class TextEvent(TypedDict):
    text: str

class ToolEvent(TypedDict):
    """A tool's progress or result."""

    name: str
    text: str
    is_error: NotRequired[bool]

class ToolUseEvent(TypedDict):
    name: str
    input: dict[str, Json]

class MessageEvent(TypedDict):
    id: NotRequired[str]

class PlanEvent(TypedDict):
    plan: api.PlanCard

class ChangeEvent(TypedDict):
    change: api.Change

class ErrorEvent(TypedDict):
    error: api.Fault

class TrimmedEvent(TypedDict):
    messages: int
    tokens: NotRequired[int]

class TitleEvent(TypedDict):
    title: str
    chat: str

class EndEvent(TypedDict):
    state: str

class Call(Protocol):
    """Calls a method of the daemon."""

    @overload
    def __call__(
        self,
        method: Literal["run.start", "agent.start", "plan.propose", "plan.force", "change.undo", "chat.summarise",
                        "doctor.fix", "tool.call", "knowledge.add", "knowledge.embed", "wireguard.change"],
        params: Mapping[str, object],
        /,
    ) -> api.Started: ...  # fmt: skip
    @overload
    def __call__(self, method: Literal["run.poll"], params: Mapping[str, object], /) -> api.Events: ...
    @overload
    def __call__(self, method: Literal["run.active"], params: Mapping[str, object], /) -> api.ActiveRuns: ...
    @overload
    def __call__(self, method: Literal["plan.list"], params: Mapping[str, object], /) -> api.Plans: ...
    @overload
    def __call__(self, method: Literal["plan.decline"], params: Mapping[str, object], /) -> api.Decision: ...
    @overload
    def __call__(self, method: Literal["change.pending"], params: Mapping[str, object], /) -> api.PendingChange: ...
    @overload
    def __call__(
        self, method: Literal["change.confirm", "change.extend", "change.rollback"], params: Mapping[str, object], /
    ) -> api.OneChange: ...
    @overload
    def __call__(self, method: Literal["change.list"], params: Mapping[str, object], /) -> api.Changes: ...
    @overload
    def __call__(self, method: Literal["change.load"], params: Mapping[str, object], /) -> api.LoadedChange: ...
    @overload
    def __call__(self, method: Literal["audit.list"], params: Mapping[str, object], /) -> api.AuditLines: ...
    @overload
    def __call__(self, method: Literal["audit.verify"], params: Mapping[str, object], /) -> Audited: ...
    @overload
    def __call__(self, method: Literal["chat.list"], params: Mapping[str, object], /) -> api.Chats: ...
    @overload
    def __call__(self, method: Literal["chat.load"], params: Mapping[str, object], /) -> api.Thread: ...
    @overload
    def __call__(self, method: Literal["chat.search"], params: Mapping[str, object], /) -> api.FoundMessages: ...
    @overload
    def __call__(self, method: Literal["chat.export"], params: Mapping[str, object], /) -> api.ExportPart: ...
    @overload
    def __call__(
        self, method: Literal["chat.import", "upstream.import"], params: Mapping[str, object], /
    ) -> api.Imported: ...
    @overload
    def __call__(self, method: Literal["chat.tree"], params: Mapping[str, object], /) -> api.Tree: ...
    @overload
    def __call__(self, method: Literal["bookmark.list"], params: Mapping[str, object], /) -> api.Bookmarks: ...
    @overload
    def __call__(self, method: Literal["bookmark.set"], params: Mapping[str, object], /) -> api.Bookmark: ...
    @overload
    def __call__(self, method: Literal["topic.list"], params: Mapping[str, object], /) -> api.Topics: ...
    @overload
    def __call__(self, method: Literal["topic.add"], params: Mapping[str, object], /) -> api.Keyed: ...
    @overload
    def __call__(self, method: Literal["service.list"], params: Mapping[str, object], /) -> api.Services: ...
    @overload
    def __call__(self, method: Literal["service.add"], params: Mapping[str, object], /) -> Made: ...
    @overload
    def __call__(self, method: Literal["service.providers"], params: Mapping[str, object], /) -> ProviderList: ...
    @overload
    def __call__(self, method: Literal["service.models"], params: Mapping[str, object], /) -> ModelList: ...
    @overload
    def __call__(self, method: Literal["service.test"], params: Mapping[str, object], /) -> Trial: ...
    @overload
    def __call__(self, method: Literal["alias.list"], params: Mapping[str, object], /) -> AliasList: ...
    @overload
    def __call__(
        self, method: Literal["usage.list", "usage.chat"], params: Mapping[str, object], /
    ) -> api.UsageSums: ...
    @overload
    def __call__(self, method: Literal["info"], params: Mapping[str, object], /) -> api.Info: ...
    @overload
    def __call__(self, method: Literal["setup.state"], params: Mapping[str, object], /) -> api.SetupState: ...
    @overload
    def __call__(self, method: Literal["setup.find"], params: Mapping[str, object], /) -> api.Servers: ...
    @overload
    def __call__(self, method: Literal["privacy.show"], params: Mapping[str, object], /) -> api.SentRequest: ...
    @overload
    def __call__(self, method: Literal["tool.list"], params: Mapping[str, object], /) -> api.Tools: ...
    @overload
    def __call__(self, method: Literal["tool.set"], params: Mapping[str, object], /) -> api.OneTool: ...
    @overload
    def __call__(self, method: Literal["upload.part"], params: Mapping[str, object], /) -> api.Upload: ...
    @overload
    def __call__(self, method: Literal["secret.keep"], params: Mapping[str, object], /) -> api.SecretKept: ...
    @overload
    def __call__(self, method: Literal["doctor.run"], params: Mapping[str, object], /) -> api.Round: ...
    # Of the optional parts.
    @overload
    def __call__(self, method: Literal["schedule.list"], params: Mapping[str, object], /) -> schedule.JobList: ...
    @overload
    def __call__(
        self, method: Literal["schedule.add", "schedule.change"], params: Mapping[str, object], /
    ) -> schedule.Made: ...
    @overload
    def __call__(
        self, method: Literal["schedule.run", "schedule.approve"], params: Mapping[str, object], /
    ) -> api.Started: ...
    @overload
    def __call__(self, method: Literal["schedule.delete"], params: Mapping[str, object], /) -> schedule.Deleted: ...
    @overload
    def __call__(
        self, method: Literal["telegram.list", "telegram.set"], params: Mapping[str, object], /
    ) -> telegram.Overview: ...
    @overload
    def __call__(self, method: Literal["telegram.pair"], params: Mapping[str, object], /) -> telegram.Opened: ...
    @overload
    def __call__(self, method: Literal["telegram.forget"], params: Mapping[str, object], /) -> telegram.Done: ...
    @overload
    def __call__(self, method: Literal["wireguard.list"], params: Mapping[str, object], /) -> admin.WireGuardList: ...
    @overload
    def __call__(self, method: Literal["mcp.list"], params: Mapping[str, object], /) -> mcp.ServerList: ...
    @overload
    def __call__(self, method: Literal["knowledge.list"], params: Mapping[str, object], /) -> memory.DocumentList: ...
    @overload
    def __call__(self, method: Literal["knowledge.search"], params: Mapping[str, object], /) -> memory.FoundAll: ...
    @overload
    def __call__(self, method: Literal["knowledge.option"], params: Mapping[str, object], /) -> memory.OptionTold: ...
    @overload
    def __call__(self, method: Literal["memory.list"], params: Mapping[str, object], /) -> memory.FactList: ...
    @overload
    def __call__(self, method: Literal["skill.list"], params: Mapping[str, object], /) -> memory.SkillList: ...
    @overload
    def __call__(self, method: Literal["skill.load"], params: Mapping[str, object], /) -> memory.SkillText: ...
    @overload
    def __call__(self, method: str, params: Mapping[str, object], /) -> dict[str, Any]: ...
