"""The replies of methods and other values of api/, for the type checker alone."""

from typing import Any

from typing_extensions import NotRequired, Required, TypedDict

from oasis.change.shapes import Action, LineDiff, Seen, Source
from oasis.core.shapes import Json
from oasis.llm.shapes import Budget, ChatUsage
from oasis.tools.shapes import ToolRow

class Started(TypedDict):
    """A run that begins."""

    run: str
    chat: str
    message: NotRequired[str]  # the owner's

class RunState(TypedDict):
    run: str
    state: str
    chat: NotRequired[str]

class ActiveRuns(TypedDict):
    runs: list[RunState]

class Done(TypedDict):
    """Something was done; "OK" is what the Lua Oasis answers."""

    status: str
    chat: NotRequired[str]

class Decision(TypedDict):
    plan: str
    decision: str
    reason: NotRequired[str]  # of an event: why it was declined, or has expired
    applying: NotRequired[
        object
    ]  # what a front end must know before the router may be elsewhere, see change/plan.ahead

class Ending(TypedDict):
    """A change that will be undone by itself."""

    id: str
    summary: str
    until_unix_s: int

class Alive(TypedDict):
    alive: str  # see change/apply/proof_of_life.py

class Joined(TypedDict):
    version: str

class PackageNames(TypedDict):
    packages: list[str]

class SecretKept(TypedDict):
    secret: str  # its placeholder

class Upload(TypedDict, total=False):
    upload: Required[str]
    size_bytes: Required[int]
    name: str
    media_type: str  # of a whole one
    note: str

class ExportPart(TypedDict):
    name: str
    media_type: str
    data: str
    parts: int

class Keyed(TypedDict):
    key: str

class Notice(TypedDict, total=False):
    """What happened while nobody looked."""

    id: Required[str]
    when_unix_s: Required[int]
    kind: Required[str]  # one of notices.KINDS
    text: Required[str]
    chat: str
    change: str
    plan: str
    schedule: str

class Notices(TypedDict):
    notices: list[Notice]
    newest: str  # id, "" for none

class Fault(TypedDict):
    """An error as a reply or an event holds it."""

    code: str
    message: str
    hint: str
    force: NotRequired[list[str]]

class Verdict(TypedDict):
    verdict: str
    reasons: list[str]

class Choice(TypedDict):
    """Another reading of the owner's words; a decline with `say` as its reason proposes it instead."""

    say: str
    text: str

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
    secrets: NotRequired[list[Source]]
    verdict: NotRequired[Verdict]
    untrusted: NotRequired[list[str]]
    tainted: NotRequired[bool]
    forces: NotRequired[list[str]]
    typed_word: NotRequired[str]
    unconfined: NotRequired[str]
    new_address: NotRequired[str]
    call: NotRequired[dict[str, Json]]
    choice: NotRequired[Choice]

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

class Events(TypedDict):
    """What happened in a run. An event's keys depend on its type: each handler of a front end names its own."""

    next: int
    state: str
    events: list[dict[str, Any]]

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

class ChatRow(TypedDict):
    id: str
    title: str
    updated_unix_s: int
    archived: NotRequired[bool]
    damaged: NotRequired[int]

class Chats(TypedDict):
    item: list[ChatRow]

class StoredText(TypedDict):
    text: str

class StoredBlock(TypedDict, total=False):
    """A block of a stored message, see core/schema.py."""

    type: str
    text: str
    name: str
    input: dict[str, Json]
    is_error: bool
    content: str | list[StoredText]

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

class UsageSums(ChatUsage):
    """Of usage.list and usage.chat."""

    month: NotRequired[str]
    budget: NotRequired[Budget]

class ActiveService(TypedDict):
    identifier: str
    name: str
    model: str
    note: str

class WaitingPlan(TypedDict):
    id: str
    summary: str

class MissingPart(TypedDict):
    part: str
    message: str
    hint: str
    refused: bool

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
    parts_wait: NotRequired[str]  # what other parts wait for that are installed now
    upstream: NotRequired[bool]
    ending: NotRequired[list[Change]]
    missing: NotRequired[list[MissingPart]]
    refused: NotRequired[list[str]]
    settings_wrong: NotRequired[str]

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
