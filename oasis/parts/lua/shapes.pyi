"""The types of the part `lua`, for the type checker alone."""

from typing import TypedDict

from typing_extensions import NotRequired, Required

from oasis.change.shapes import Role as Role
from oasis.core.shapes import Json

Schema = dict[str, Json]

class Tool(TypedDict):
    """A tool as a manifest or a section describes it."""

    server: str
    name: str
    description: str
    input_schema: Schema
    says: list[str]  # for the owner, while it runs
    timeout_s: int
    kind: str  # lua, ucode or manual
    path: str  # of its script, or ""

class ShownTool(TypedDict):
    """What the owner reviews of a tool."""

    name: str
    description: str
    input_schema: Schema
    kind: str

class Wishes(TypedDict, total=False):
    """What a result asks for; the owner decides."""

    power: str  # reboot or shutdown
    restart: str  # name of a service

class PluginRow(TypedDict):
    """A tool server in the list."""

    server: str
    state: str  # accepted, new, changed or refused
    path: str
    tools: list[str]
    note: NotRequired[str]

class PluginList(TypedDict):
    """Every tool server that is described, and what is wrong with descriptions."""

    plugins: list[PluginRow]
    notes: list[str]

class Review(TypedDict):
    """What the owner looks at before they accept a server."""

    server: str
    state: str
    path: str
    sha256: str
    words: str
    lines: list[str]
    more: int  # lines that are left out
    tools: list[ShownTool]

# What the phone app's methods read of our replies (phone.py)

Reply = dict[str, object]
Params = dict[str, object]

class DiffLine(TypedDict):
    op: str  # "+", "-" or " "
    text: str

class PackageDiff(TypedDict):
    package: str
    lines: list[DiffLine]

class StoredIcons(TypedDict):
    """What the owner chose of the icons."""

    using: str
    hidden: list[str]

class IconFolder(TypedDict):
    path: str
    using: str  # a key of the list

class Icons(TypedDict):
    ctrl: IconFolder
    list: dict[str, str]  # key -> file

class Param(TypedDict):
    param: str

class Proposal(TypedDict):
    """UCI commands as the Lua Oasis shows a proposal."""

    uci_notify: bool
    uci_list: dict[str, list[Param]]  # verb -> commands

class WaitingPlan(TypedDict):
    id: str
    summary: str
    words: list[str]
    uci: list[str]

class AppliedChange(TypedDict):
    state: str
    confirm_in_s: NotRequired[int]

class Failure(TypedDict):
    message: str
    hint: str

class RunEvent(TypedDict, total=False):
    """An event of a run; which keys there are depends on the type."""

    type: Required[str]
    text: str
    tool_use_id: str
    name: str
    plan: WaitingPlan
    change: AppliedChange
    error: Failure

class Poll(TypedDict):
    """The next part of a run."""

    state: str
    events: list[RunEvent]
    next: int

class ToolOutput(TypedDict):
    tool_call_id: str
    name: str
    output: str
