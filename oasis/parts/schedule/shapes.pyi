"""The types of scheduled jobs, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Mapping as Mapping
from typing import Literal

from typing_extensions import NotRequired, Required, TypedDict

from oasis.api.shapes import Started as Started
from oasis.core.shapes import Json as Json

class ToolCall(TypedDict):
    tool: str
    params: dict[str, Json]

class Approval(TypedDict):
    """A plan that was approved ahead, see job_run.py."""

    key: str  # sha256
    read: dict[str, str]  # package: sum of what it held

class PlanNote(TypedDict):
    """The plan of the last run, where it waits or was not approved; see job_run.STATES."""

    state: str
    id: NotRequired[str]
    summary: NotRequired[str]
    until_unix_s: NotRequired[int]

class JobFields(TypedDict, total=False):
    """What somebody sets of a job."""

    when: str  # a form of trigger.py
    wish: str  # the message of the run
    timezone: str  # a POSIX rule where it is not the router's
    calls: list[ToolCall]  # instead of a model
    synthesis: str  # how a model words their results
    service: str
    pause_s: int  # between two events

class JobChanges(JobFields, total=False):
    enabled: bool

class Job(JobFields, total=False):
    """A record of schedule.jsonl."""

    id: Required[str]
    enabled: bool
    created_unix_s: int
    since_unix_s: int  # from when its moments count
    fired_unix_s: int  # the last firing
    chat: str
    approved: list[Approval]
    note: str  # why it was switched off
    plan: PlanNote

class PlanView(PlanNote):
    words: str

class JobView(TypedDict, total=False):
    """A job as front ends and models see it."""

    id: Required[str]
    when: Required[str]
    wish: Required[str]
    enabled: Required[bool]
    fired_unix_s: int
    calls: list[ToolCall]
    synthesis: str
    service: str
    timezone: str
    pause_s: int
    chat: str
    note: str
    ahead: int  # how many plans are approved ahead
    active: bool  # a run is at work or waits
    plan: PlanView
    understood: str  # its time in words
    next_unix_s: int
    next: str
    moments: list[str]  # the next three as its zone's clocks show them
    assumed: list[str]  # what its words left open, and how that was taken
    needs: str  # what its run will lack

class JobList(TypedDict):
    entries: list[JobView]  # what is next comes first
    now: str
    zone: str
    events: list[str]
    trusted: bool  # is the clock
    note: str  # what is wrong with the zone, or ""

class Made(TypedDict):
    """A job that was made or changed, and the run that shows its plans."""

    entry: JobView
    run: NotRequired[str]
    chat: NotRequired[str]

class Deleted(TypedDict):
    deleted: int

# Of tools.json

class UpdateArguments(JobChanges):
    order: Required[str]

class ToolJob(TypedDict, total=False):
    """A job as a model gets it; see JobView."""

    id: str
    when: str
    understood: str
    moments: list[str]
    assumed: list[str]
    wish: str
    enabled: bool
    next: str
    note: str
    needs: str
    plan: str
    approval: str  # how much of it is approved ahead
    status: str  # made, changed or deleted

ToolKey = Literal["id", "when", "understood", "moments", "assumed", "wish", "enabled", "next", "note", "needs"]

class ToolJobs(TypedDict):
    orders: list[ToolJob]
    now: str
    zone: str

class LanguageData(TypedDict):
    """A language of times.json, see phrases.py."""

    number: dict[str, int]
    day: dict[str, int]
    month: dict[str, int]
    unit: dict[str, str]
    part: dict[str, str]
    rules: list[tuple[str, str] | tuple[str, str, Mapping[str, str | int]]]  # kind, expression, what is always so
    fill: str
    wide: NotRequired[bool]

class Event(TypedDict):
    event: str
    text: str
    taint: list[str]  # whose words are in the text

class Item(TypedDict):
    """A run that waits to begin."""

    job: Job
    event: Event | None
    tries: int
    from_s: float

class Fact(TypedDict, total=False):
    """What an expression of times.json found in a sentence; numbers, or words of ours."""

    kind: Required[str]
    text: Required[str]
    h: int
    m: int
    half: str
    h2: int
    half2: str
    is_24: bool
    is_midnight: bool
    back: bool
    part: str
    n: int
    unit: str
    day: int
    to: int
    days: list[int]
    each: bool
    which: str
    of: str
    d: int
    e: int
    month: int
    y: int
    a: int
    b: int
    order: str
