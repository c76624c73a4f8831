"""The types of tools/, for the type checker alone; registry.py says what the keys of a spec mean."""

from collections.abc import Callable as Callable
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import Literal, Protocol

from typing_extensions import NotRequired, Required, TypedDict

from oasis.change.apply.journal import Journal
from oasis.change.apply.proof_of_life import Origins
from oasis.change.apply.transaction import Transaction
from oasis.change.approval import Allowance, ApprovalQueue
from oasis.change.audit import Audit
from oasis.change.plan import Planner
from oasis.change.shapes import Operation, Plan, Record
from oasis.change.text_origin import Texts
from oasis.core.shapes import Json as Json
from oasis.redaction.redactor import Redactor
from oasis.tools.operator import Operator
from oasis.tools.router import Facts, Watch

Schema = dict[str, Json]  # a JSON Schema
Arguments = dict[str, Json]  # of a call, as the model gave them; checked against the tool's schema
Result = Mapping[str, object]  # what a tool answers: each tool has a type of its own
Class = Literal["read", "change", "danger", "net"]

_Spec = TypedDict(
    "_Spec",
    {
        "name": str,
        "description": str,
        "input_schema": Schema,
        "class": str,
        "timeout_s": NotRequired[float],
        "enabled": NotRequired[bool],
        "approval": NotRequired[str],
        "untrusted": NotRequired[str],
        "near": NotRequired[str],
        "safe": NotRequired[dict[str, list[Json]]],
        "plans": NotRequired[bool],
        "previews": NotRequired[bool],
        "core": NotRequired[bool],
        "spoken": NotRequired[bool],
        "words": NotRequired[list[str]],
        "note": NotRequired[str],
        "reason": NotRequired[str],
        "module": NotRequired[str],  # of a built-in tool: where it is, and with a colon its function
        "hands": NotRequired[Literal["facts", "operator", "router"]],  # and what it gets beside its arguments
        "kind": NotRequired[Literal["web", "workspace"]],  # of a tool of the workspace
    },
)

class GivenSpec(_Spec):
    """What a source gives of a tool."""

    fault: NotRequired[str]

class ToolSpec(_Spec):
    """A checked spec, as the registry has it."""

    source: str
    fault: str  # why the tool cannot be used, or ""

class OfferedTool(TypedDict):
    """What a model is sent of a tool."""

    name: str
    description: str
    input_schema: Schema

# A tool as the owner sees it.
ToolRow = TypedDict(
    "ToolRow",
    {
        "name": str,
        "description": str,
        "class": str,
        "source": str,
        "enabled": bool,
        "approval": str,
        "tokens": int,
        "note": NotRequired[str],
    },
)

class Permit(TypedDict):
    """What the owner set for a tool, see registry.py."""

    enabled: bool
    approval: str  # ask, allow or deny
    note: str  # why the setting does not count, or ""

class Source(Protocol):
    """Where tools come from, see registry.py."""

    name: str

    def specs(self) -> Sequence[GivenSpec]: ...
    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result: ...

Answered = tuple[str, bool, list[str]]  # the result as text, whether it is an error, whose words it holds
ToolCaller = Callable[[str, Arguments, list[str]], Answered]  # name, arguments, taint in sight

class RunHandle(Protocol):
    """A run, as tools see it; agent/runs.py has the real one."""

    @property
    def id(self) -> str: ...
    @property
    def ended_by(self) -> str: ...  # who cancelled it
    def emit(self, kind: str, **fields: object) -> None: ...
    def is_cancelled(self) -> bool: ...

class ChatContext(TypedDict, total=False):
    """The chat that a run belongs to."""

    id: str
    message: str  # the id of the owner's message that the run answers
    flush: Callable[[], object]  # puts the chat on flash
    said: Callable[[], str]  # the owner's own words in the chat; absent without a turn
    turn: Callable[[], str]  # the latest of them
    others: tuple[str, ...]  # whose words a sentence of the owner's may be: a guest's, forwarded or imported ones
    is_home: Callable[[], bool]  # whether the model service that answers is at home

class OwnRecords(TypedDict, total=False):
    """What Oasis itself knows of a router."""

    key: bytes  # makes handles of devices
    texts: Callable[[], Texts]  # knows whose words the texts of the configuration are
    history: Callable[[], list[Record]]  # the records of the changes made here, newest first
    ending: Callable[[], list[str]]  # places that are undone by themselves (change/history/ends.py)

class Workshop(Protocol):
    """What every run shares, of the daemon's services (daemon/wiring.py)."""

    approvals: ApprovalQueue
    transaction: Transaction
    journal: Journal
    audit: Audit
    allowance: Allowance
    redactor: Redactor
    refused: list[Refused]  # what the owner may still force, see operator.py

    @property
    def facts(self) -> Facts: ...
    @property
    def planner(self) -> Planner: ...
    def now_s(self) -> float: ...
    def moment(self, words: str, /) -> int:
        """Return the Unix time of an end that somebody asked for, 0 for no words."""

    def unconfined(self) -> str:
        """Return why the workers are not kept from the router, "" when they are."""

    def origins(self) -> Origins:
        """Return what knows by which connection somebody came."""

    def times(self, said: str, /) -> list[tuple[str, list[str]]]:
        """Return what of a sentence is a time or a condition; see operator.py."""

    def examine(self) -> dict[str, Any]:
        """Return a round of the doctor; see builtin/diagnose.py."""

class Retold(TypedDict):
    """What a model gets of a plan."""

    summary: str
    words: list[str]
    untrusted: list[str]  # whose words are in it, other than the owner's

class Approver(Protocol):
    """Decides about plans in the owner's place."""

    @property
    def rehearses(self) -> bool: ...  # whether every call with an effect becomes a plan that is only shown
    def judge(self, plan: Plan) -> Plan: ...  # before the plan is shown
    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]: ...  # decision, words

class TurnExtras(Protocol):
    """What the optional parts add to a turn."""

    system: list[str]
    taint: list[str]
    tools: list[str] | None
    also: list[str]
    service: str

    def allow(self, tools: list[str]) -> None: ...
    def prefer(self, service: str) -> None: ...

class PlanResult(TypedDict, total=False):
    """What became of a plan, as a tool's result; see operator.py."""

    status: Required[str]
    plan: str
    approval: str
    summary: str
    words: list[str]
    services: list[str]
    change: str
    confirm_in_s: int
    keep: str  # where and until when the owner keeps it, for a model
    until: str
    reason: str
    notes: list[str]
    untrusted: list[str]

class Order(TypedDict):
    """A proposal that was refused, and where it came from."""

    operations: list[Operation]
    summary: str
    until_unix_s: int
    known: dict[str, str]  # where the values of secrets come from
    chat: str
    message: str
    taint: list[str]

class Refused(Order):
    """A refused proposal that is kept for the owner, see operator.py."""

    id: str
    until_s: float  # monotonic
    forces: list[str]
    revisions: dict[str, str]  # sha256 by package

class Device(TypedDict):
    """A machine that the router knows; `device` is its handle, where known_devices() gives it."""

    device: NotRequired[str]
    name: str
    mac: str
    ip: str  # "" unknown
    fixed: bool
    present: bool
    expires_unix_s: NotRequired[int]
    is_own: NotRequired[bool]  # the owner chose the name

class Lease(TypedDict):
    mac: str
    ip: str
    name: str
    expires_unix_s: int  # 0: never

class ConfigureArguments(TypedDict):
    commands: list[str]
    install: NotRequired[list[str]]
    summary: NotRequired[str]
    until: NotRequired[str]

class ServiceArguments(TypedDict):
    name: str
    action: NotRequired[str]

class UndoArguments(TypedDict):
    change: NotRequired[str]

class PowerArguments(TypedDict):
    action: str

class PackagesArguments(TypedDict):
    action: str
    names: NotRequired[list[str]]
    text: NotRequired[str]

class ListedPackage(TypedDict, total=False):
    name: Required[str]
    about: str
    version: str
    installed: str
    newer: str

class ProbeArguments(TypedDict):
    target: str
    what: NotRequired[str]
    family: NotRequired[str]
    count: NotRequired[int]

class ScanArguments(TypedDict):
    radio: NotRequired[str]
    names: NotRequired[bool]

class LogArguments(TypedDict):
    service: NotRequired[str]
    contains: NotRequired[str]
    level: NotRequired[str]
    since: NotRequired[str]
    lines: NotRequired[int]

class StatusArguments(TypedDict):
    what: NotRequired[str]
    named: NotRequired[str]
    names: NotRequired[bool]
    since: NotRequired[str]

class Network(TypedDict):
    """A wireless network as it is configured, and who is in it while it is up."""

    section: object
    ssid: str
    mode: object
    network: list[str]
    encryption: object
    on: bool
    device: NotRequired[str]
    clients: NotRequired[list[dict[str, str | int]]]

class Radio(TypedDict, total=False):
    radio: Required[str]
    band: Required[object]
    channel: Required[object]
    on: Required[bool]
    up: bool
    networks: list[Network]

class Temperature(TypedDict):
    sensor: str
    celsius: float

class HeardNetwork(TypedDict, total=False):
    """A network of the neighbourhood."""

    bssid: str
    ssid: str
    channel: int
    signal_dbm: int
    open: bool

class HeardChannel(TypedDict):
    channel: int
    networks: int
    disturbed: int
    busy_percent: NotRequired[int]

class ScannedRadio(TypedDict, total=False):
    """What a radio hears, see probing.py."""

    radio: Required[str]
    band: Required[object]
    channel: Required[object]
    networks: list[HeardNetwork]
    channels: list[HeardChannel]
    quieter: int
    notes: list[str]

class LogLine(TypedDict):
    when: str
    level: str
    text: str

class LogAnswer(TypedDict):
    lines: list[LogLine]
    matching: int
    notes: NotRequired[list[str]]
    untrusted: NotRequired[list[str]]

class ProgramResult(TypedDict, total=False):
    """What a program said, see seed.py."""

    exit_status: Required[int]
    output: Required[str]
    errors: str
    cut: str
    error: str
    is_error: bool

class RefusalEvent(TypedDict):
    """The fields of the event that tells of a refusal."""

    refused: str  # its id, "" where it is not kept
    summary: str
    uci: list[str]
    reasons: list[str]
    force: list[str]
    tainted: bool
    hint: NotRequired[str]

class Pinged(TypedDict):
    sent: int
    received: int
    answers: bool
    ms: NotRequired[dict[str, float]]

class Diagnosis(TypedDict):
    """What a round of the doctor found, for a model."""

    findings: list[Result]
    checked: int
    not_checked: NotRequired[dict[str, str]]  # why, by title
    notes: NotRequired[list[str]]
    untrusted: NotRequired[list[str]]

class PackagesAnswer(TypedDict):
    action: str
    packages: list[ListedPackage]
    found: int
    notes: NotRequired[list[str]]
    untrusted: NotRequired[list[str]]

class ChangesAnswer(TypedDict):
    changes: list[Result]
    untrusted: NotRequired[list[str]]
    notes: NotRequired[list[str]]

class TrafficAnswer(TypedDict):
    devices: Sequence[Result]
    connections: dict[str, int]
    since_s: NotRequired[int]
    notes: NotRequired[list[str]]

class FirewallAnswer(TypedDict):
    """The firewall as it is configured."""

    defaults: dict[str, object]
    zones: NotRequired[list[dict[str, object]]]
    passes: NotRequired[list[str]]
    port_forwards: NotRequired[list[Result]]
    rules: NotRequired[list[Result]]
    notes: NotRequired[list[str]]
