"""The replies that the commands read, for the type checker alone: `call` gives each method's reply its type.

Keys that no command reads are left out. Methods whose reply is only printed give a plain dict.
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

from oasis.api.shapes import ActiveRuns as ActiveRuns
from oasis.api.shapes import Decision as Decision
from oasis.api.shapes import ExportPart as ExportPart
from oasis.api.shapes import Keyed as Keyed
from oasis.api.shapes import Started as Started
from oasis.api.shapes import Upload as Upload
from oasis.change.shapes import Action, Seen
from oasis.change.shapes import LineDiff as LineDiff
from oasis.change.shapes import Source as SecretSource
from oasis.core.shapes import Json as Json
from oasis.parts.mcp import shapes as mcp
from oasis.parts.memory import shapes as memory
from oasis.parts.schedule import shapes as schedule
from oasis.parts.telegram import shapes as telegram
from oasis.tools.shapes import OfferedTool as OfferedTool
from oasis.tools.shapes import ToolRow as ToolRow

Params = dict[str, object]  # of a method

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

class Fault(TypedDict):
    """An error as a reply or an event holds it."""

    code: str
    message: str
    hint: str
    force: NotRequired[list[str]]

class Verdict(TypedDict):
    verdict: str
    reasons: list[str]

class PlanCard(TypedDict):
    """A plan as it is shown, see change/plan.card."""

    id: str
    run: str
    chat: str
    short: str
    hash: str
    summary: str
    words: list[str]
    risk: str
    reasons: list[str]
    diff: list[LineDiff]
    services: list[Action]
    confirm_s: int
    needs_approval: bool
    expires_in_s: int
    secrets: NotRequired[list[SecretSource]]
    verdict: NotRequired[Verdict]
    untrusted: NotRequired[list[str]]
    tainted: NotRequired[bool]
    forces: NotRequired[list[str]]
    typed_word: NotRequired[str]
    unconfined: NotRequired[str]
    new_address: NotRequired[str]
    call: NotRequired[dict[str, Json]]

class Change(TypedDict):
    """A change as it stands now, see api/methods.shown."""

    id: str
    state: str
    summary: str
    risk: str
    words: list[str]
    services: list[Action]
    when_unix_s: int
    undoes: NotRequired[str]
    undone_by: NotRequired[str]
    reason: NotRequired[str]
    new_address: NotRequired[str]
    confirm_in_s: NotRequired[int]
    until_unix_s: NotRequired[int]
    expiry: NotRequired[str]
    source: NotRequired[str]
    verified: NotRequired[list[Seen]]
    proof: NotRequired[str]
    kept: NotRequired[list[str]]

class WholeChange(Change):
    diff: list[LineDiff]

class PendingChange(TypedDict):
    change: Change | None
    ending: NotRequired[list[Change]]

class OneChange(TypedDict):
    change: Change

class LoadedChange(TypedDict):
    change: WholeChange

class Changes(TypedDict):
    changes: list[Change]

class Plans(TypedDict):
    plans: list[PlanCard]

class RefusedEvent(TypedDict):
    """What a run was refused, see tools/operator.py."""

    refused: str
    summary: str
    uci: list[str]
    reasons: list[str]
    force: list[str]
    tainted: NotRequired[bool]
    hint: NotRequired[str]

class Events(TypedDict):
    """What happened in a run. An event's keys depend on its type: each handler in prompt.py names its own."""

    next: int
    state: str
    events: list[dict[str, Any]]

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
    plan: PlanCard

class ChangeEvent(TypedDict):
    change: Change

class ErrorEvent(TypedDict):
    error: Fault

class TrimmedEvent(TypedDict):
    messages: int
    tokens: NotRequired[int]

class TitleEvent(TypedDict):
    title: str
    chat: str

class EndEvent(TypedDict):
    state: str

class AuditLine(TypedDict, total=False):
    when_unix_s: int
    what: str
    role: str
    plan: str
    packages: list[str]
    services: list[str]
    tool: str
    forces: list[str]

class AuditLines(TypedDict):
    lines: list[AuditLine]

class BrokenLine(TypedDict):
    line: int
    file: str
    reason: str

class AuditVerdict(TypedDict):
    lines: int
    gone: NotRequired[int]
    torn: NotRequired[str]
    broken: NotRequired[BrokenLine | None]

class ChatRow(TypedDict):
    id: str
    title: str
    updated_unix_s: int
    archived: NotRequired[bool]
    damaged: NotRequired[int]

class Chats(TypedDict):
    item: list[ChatRow]

class StoredBlock(TypedDict, total=False):
    """A block of a stored message, see core/schema.py."""

    type: str
    text: str
    name: str
    input: dict[str, Json]
    is_error: bool
    content: str | list[TextEvent]

class StoredError(TypedDict, total=False):
    message: str

class StoredMessage(TypedDict):
    id: str
    role: str
    content: str | list[StoredBlock]
    error: NotRequired[StoredError]

class Sibling(TypedDict):
    id: str

class Thread(TypedDict):
    """A page of a thread, or with `more` added all of it."""

    id: str
    title: str
    messages: list[StoredMessage]
    head: NotRequired[str]
    earlier: NotRequired[int]
    more: NotRequired[bool]
    siblings: NotRequired[dict[str, list[Sibling]]]
    bookmarks: NotRequired[dict[str, str]]
    missing: NotRequired[list[str]]
    reports: NotRequired[list[str]]

class Found(TypedDict):
    chat: str
    message: str
    snippet: str
    title: NotRequired[str]
    archived: NotRequired[bool]

class FoundMessages(TypedDict):
    found: list[Found]
    more: NotRequired[bool]
    reports: NotRequired[list[str]]
    note: NotRequired[str]

class ImportedChat(TypedDict):
    id: str
    title: NotRequired[str]

class Imported(TypedDict):
    chats: list[ImportedChat]
    topics: NotRequired[list[str]]
    reports: NotRequired[list[str]]

class Node(TypedDict):
    """A turn in the tree of a chat."""

    id: str
    parent: str
    end: str
    text: str
    answer: NotRequired[str]
    heads: NotRequired[list[str]]
    parents: NotRequired[list[str]]
    state: NotRequired[str]

class Tree(TypedDict):
    id: str
    title: str
    nodes: list[Node]
    head: NotRequired[str]
    more: NotRequired[bool]

class Bookmark(TypedDict):
    name: str
    message: str
    chat: str
    title: NotRequired[str]

class Bookmarks(TypedDict):
    bookmarks: list[Bookmark]

class Topic(TypedDict):
    key: str
    title: str
    text: str
    is_shipped: bool

class Topics(TypedDict):
    topics: list[Topic]

class ServiceRow(TypedDict):
    identifier: str
    name: str
    model: str
    active: bool
    ready: bool
    note: NotRequired[str]

class Services(TypedDict):
    service: list[ServiceRow]

class Identified(TypedDict):
    identifier: str

class Provider(TypedDict):
    """A profile of a model service."""

    profile: str
    name: str
    key: str  # required, optional or none
    model: str
    endpoint: str
    local: bool

class Providers(TypedDict):
    providers: list[Provider]

class Model(TypedDict):
    id: str
    context_tokens: NotRequired[int]

class Models(TypedDict):
    models: list[Model]
    is_cut: bool

class Tested(TypedDict):
    ok: bool
    model: str
    ms: int
    fault: Fault

class AliasRow(TypedDict):
    name: str
    targets: list[str]
    ready: bool
    note: NotRequired[str]

class Aliases(TypedDict):
    alias: list[AliasRow]
    usual: list[str]

class UsageSum(TypedDict):
    service: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    month: NotRequired[str]
    cost: NotRequired[str]

class Budget(TypedDict):
    percent: int
    tokens: NotRequired[int]
    tokens_used: NotRequired[int]
    cost: NotRequired[str]
    cost_used: NotRequired[str]

class UsageSums(TypedDict):
    usage: list[UsageSum]
    currency: NotRequired[str]
    budget: NotRequired[Budget]

class ActiveService(TypedDict):
    identifier: str
    name: str
    model: str

class WaitingPlan(TypedDict):
    id: str
    summary: str

class Info(TypedDict):
    version: str
    root: str
    backend: str
    approval: str
    provider: ActiveService
    waiting: list[WaitingPlan]
    pending: Change | None
    unconfined: NotRequired[str]
    bus: NotRequired[list[str]]
    upstream: NotRequired[bool]
    ending: NotRequired[list[Change]]

class SetupState(TypedDict):
    models: list[str]
    unconfined: str

class Server(TypedDict):
    """A model server at home."""

    profile: str
    name: str
    host: str
    endpoint: str
    models: list[str]
    is_set: bool

class Servers(TypedDict):
    servers: list[Server]
    asked: int

class SentTo(TypedDict):
    name: str
    model: str
    vendor: str
    is_local: bool

class SentRequest(TypedDict):
    """What a message would send to a model."""

    service: SentTo
    method: str
    url: str
    headers: dict[str, str]
    bytes: int
    tokens: int
    data: str
    parts: int

class Tools(TypedDict):
    tools: list[ToolRow]
    tokens: int

class OneTool(TypedDict):
    tool: ToolRow

class Secret(TypedDict):
    secret: str

class ActiveRun(TypedDict):
    run: str
    chat: str
    state: NotRequired[str]

class Fix(TypedDict):
    words: list[str]
    commands: list[str]

class Finding(TypedDict):
    id: str
    severity: str
    title: str
    explanation: str
    evidence: list[str]
    advice: NotRequired[str]
    fix: NotRequired[Fix]

class Check(TypedDict):
    title: str
    state: str
    why: NotRequired[str]

class Round(TypedDict):
    """A round of the doctor."""

    findings: list[Finding]
    checks: list[Check]
    took_ms: int

class Call(Protocol):
    """Calls a method of the daemon."""

    @overload
    def __call__(
        self,
        method: Literal["run.start", "agent.start", "plan.propose", "plan.force", "change.undo", "chat.summarise",
                        "doctor.fix", "tool.call", "knowledge.add", "knowledge.embed"],
        params: Mapping[str, object],
        /,
    ) -> Started: ...  # fmt: skip
    @overload
    def __call__(self, method: Literal["run.poll"], params: Mapping[str, object], /) -> Events: ...
    @overload
    def __call__(self, method: Literal["run.active"], params: Mapping[str, object], /) -> ActiveRuns: ...
    @overload
    def __call__(self, method: Literal["plan.list"], params: Mapping[str, object], /) -> Plans: ...
    @overload
    def __call__(self, method: Literal["plan.decline"], params: Mapping[str, object], /) -> Decision: ...
    @overload
    def __call__(self, method: Literal["change.pending"], params: Mapping[str, object], /) -> PendingChange: ...
    @overload
    def __call__(
        self, method: Literal["change.confirm", "change.extend", "change.rollback"], params: Mapping[str, object], /
    ) -> OneChange: ...
    @overload
    def __call__(self, method: Literal["change.list"], params: Mapping[str, object], /) -> Changes: ...
    @overload
    def __call__(self, method: Literal["change.load"], params: Mapping[str, object], /) -> LoadedChange: ...
    @overload
    def __call__(self, method: Literal["audit.list"], params: Mapping[str, object], /) -> AuditLines: ...
    @overload
    def __call__(self, method: Literal["audit.verify"], params: Mapping[str, object], /) -> AuditVerdict: ...
    @overload
    def __call__(self, method: Literal["chat.list"], params: Mapping[str, object], /) -> Chats: ...
    @overload
    def __call__(self, method: Literal["chat.load"], params: Mapping[str, object], /) -> Thread: ...
    @overload
    def __call__(self, method: Literal["chat.search"], params: Mapping[str, object], /) -> FoundMessages: ...
    @overload
    def __call__(self, method: Literal["chat.export"], params: Mapping[str, object], /) -> ExportPart: ...
    @overload
    def __call__(
        self, method: Literal["chat.import", "upstream.import"], params: Mapping[str, object], /
    ) -> Imported: ...
    @overload
    def __call__(self, method: Literal["chat.tree"], params: Mapping[str, object], /) -> Tree: ...
    @overload
    def __call__(self, method: Literal["bookmark.list"], params: Mapping[str, object], /) -> Bookmarks: ...
    @overload
    def __call__(self, method: Literal["bookmark.set"], params: Mapping[str, object], /) -> Bookmark: ...
    @overload
    def __call__(self, method: Literal["topic.list"], params: Mapping[str, object], /) -> Topics: ...
    @overload
    def __call__(self, method: Literal["topic.add"], params: Mapping[str, object], /) -> Keyed: ...
    @overload
    def __call__(self, method: Literal["service.list"], params: Mapping[str, object], /) -> Services: ...
    @overload
    def __call__(self, method: Literal["service.add"], params: Mapping[str, object], /) -> Identified: ...
    @overload
    def __call__(self, method: Literal["service.providers"], params: Mapping[str, object], /) -> Providers: ...
    @overload
    def __call__(self, method: Literal["service.models"], params: Mapping[str, object], /) -> Models: ...
    @overload
    def __call__(self, method: Literal["service.test"], params: Mapping[str, object], /) -> Tested: ...
    @overload
    def __call__(self, method: Literal["alias.list"], params: Mapping[str, object], /) -> Aliases: ...
    @overload
    def __call__(self, method: Literal["usage.list", "usage.chat"], params: Mapping[str, object], /) -> UsageSums: ...
    @overload
    def __call__(self, method: Literal["info"], params: Mapping[str, object], /) -> Info: ...
    @overload
    def __call__(self, method: Literal["setup.state"], params: Mapping[str, object], /) -> SetupState: ...
    @overload
    def __call__(self, method: Literal["setup.find"], params: Mapping[str, object], /) -> Servers: ...
    @overload
    def __call__(self, method: Literal["privacy.show"], params: Mapping[str, object], /) -> SentRequest: ...
    @overload
    def __call__(self, method: Literal["tool.list"], params: Mapping[str, object], /) -> Tools: ...
    @overload
    def __call__(self, method: Literal["tool.set"], params: Mapping[str, object], /) -> OneTool: ...
    @overload
    def __call__(self, method: Literal["upload.part"], params: Mapping[str, object], /) -> Upload: ...
    @overload
    def __call__(self, method: Literal["secret.keep"], params: Mapping[str, object], /) -> Secret: ...
    @overload
    def __call__(self, method: Literal["doctor.run"], params: Mapping[str, object], /) -> Round: ...
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
    ) -> Started: ...
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
    def __call__(self, method: Literal["mcp.list"], params: Mapping[str, object], /) -> mcp.ServerList: ...
    @overload
    def __call__(self, method: Literal["memory.list"], params: Mapping[str, object], /) -> memory.FactList: ...
    @overload
    def __call__(self, method: Literal["skill.list"], params: Mapping[str, object], /) -> memory.SkillList: ...
    @overload
    def __call__(self, method: Literal["skill.load"], params: Mapping[str, object], /) -> memory.SkillText: ...
    @overload
    def __call__(self, method: str, params: Mapping[str, object], /) -> dict[str, Any]: ...
