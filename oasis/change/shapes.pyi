"""The types of a change, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Collection as Collection
from collections.abc import Iterable as Iterable
from collections.abc import Mapping as Mapping
from typing import Any as Any
from typing import Protocol

from typing_extensions import NotRequired, Required, TypedDict

from oasis.change.reach.shapes import Answer
from oasis.core.shapes import Json
from oasis.uci.edit import Operation as Operation
from oasis.uci.model import Section

Card = dict[str, object]  # what people and programs are shown of a plan, see plan.card
Images = dict[str, tuple[bytes, bytes]]  # package: (before, after)
NewId = Callable[[], str]
Seconds = Callable[[], float]
Value = str | list[str]

class Role(TypedDict, total=False):
    """Who calls a method, as the kernel or the session says: set when the connection opens, never by an argument."""

    name: Required[str]  # one of api/table.py's ROLES
    terminal: bool
    pid: int
    session: str  # of rpcd
    peer: dict[str, object]  # the connection on the socket, see system/connections.py
    client: str  # how an MCP client calls itself
    way: str  # by which an approval came, where that is not the role
    room: int  # how many characters are shown there

class Clock(Protocol):
    def now_s(self) -> float: ...
    def unix_s(self) -> int: ...
    def up_s(self) -> float: ...

class Action(TypedDict):
    """What is done to a service; afterwards with how it went."""

    name: str
    action: str
    ok: NotRequired[bool]  # False: it failed for a reason of its own
    status: NotRequired[int]  # of a script that complained

class Init(TypedDict):
    """How a service stood before a change."""

    name: str
    enabled: bool
    running: bool

# Of a tool; {} for none.
Call = TypedDict("Call", {"name": str, "source": str, "class": str, "arguments": dict[str, Json]}, total=False)

CalledTool = TypedDict("CalledTool", {"name": str, "source": str, "class": str})

class Broken(TypedDict):
    """Where the chain of the audit log does not fit."""

    file: str
    line: int  # from 1
    reason: str

class Audited(TypedDict, total=False):
    """What following the chain of the audit log found, see audit.py."""

    lines: Required[int]
    is_whole: Required[bool]
    broken: Broken
    torn: str
    gone: int

class Moved(TypedDict, total=False):
    """What takes the place of keys of a plan before it is bound."""

    ends: list[Ends]
    secrets: list[Source]
    words: list[str]
    risk: str
    reasons: list[str]

class OwnTexts(TypedDict):
    """Keys of texts that the owner wrote, and by change those that it took away, see text_origin.py."""

    own: dict[str, None]
    gone: dict[str, list[str]]

class FencedItem(TypedDict, total=False):
    """What one command in an answer is, see uci_commands.py."""

    kind: str  # "change", "read", "offer" or "refused"
    command: Required[str]
    input: dict[str, Json]  # of a tool: package and section, or name and action
    words: str
    reason: str
    hint: str
    stops: bool
    implied: bool

class Line(TypedDict):
    op: str  # " ", "-" or "+"
    text: str

class LineDiff(TypedDict):
    package: str
    lines: list[Line]

Source = TypedDict("Source", {"where": str, "from": str, "value": NotRequired[str]})  # see text_origin.py

class End(TypedDict):
    """When a change ends: the next end of what stands, and the places that end at another time, 0 for never."""

    until_unix_s: int
    ends: dict[str, int]

class Ends(TypedDict):
    change: str
    before: End
    after: End

class Difference(TypedDict, total=False):
    """See difference.py."""

    kind: Required[str]
    package: Required[str]
    section: Required[str]
    type: Required[str]
    option: str
    old: Value
    new: Value
    of_whole: bool

class PlaceRule(TypedDict, total=False):
    """What policy.json says of a place, package.type or package.type.option."""

    path: Required[str]
    check: str  # the name of what looks at the router, see harmless.CHECKS
    reason: str  # why it is risky
    why: str
    refused: list[str]  # names
    values: list[str]
    most: int
    low_s: int
    high_s: int

class SectionRule(TypedDict):
    """A kind of section by which somebody comes in, or is kept out; the values of its options are alternatives."""

    package: str
    type: str
    has: dict[str, list[str]]
    unless: dict[str, list[str]]

class PolicyRules(TypedDict):
    """policy.json."""

    forbidden: dict[str, str]  # why, by package or package.type
    places: list[PlaceRule]
    management: list[str]  # packages on the way to the router
    confirm_s: int
    management_s: int
    openings: list[SectionRule]
    barriers: list[SectionRule]
    switches: dict[str, list[str]]  # see harmless.py
    forbidden_services: dict[str, str]
    stops: dict[str, str]
    restarts: dict[str, str]

class ServiceRule(TypedDict):
    """What a change of a package reloads."""

    package: str
    name: str
    action: str
    about: NotRequired[list[str]]  # a type, TYPE.OPTION or a beginning of it with *
    switch: NotRequired[str]  # TYPE.OPTION
    source: NotRequired[str]

class ServiceRules(TypedDict, total=False):
    """services.json; empty until it is read."""

    about: str
    services: list[ServiceRule]
    none: dict[str, str]  # packages that reload nothing, and why

class Mention(TypedDict):
    """What operations say about a place of an earlier change that ends."""

    place: str
    end: int  # Unix time
    how: str  # see ends.py
    section: int  # id() of the section

class Choice(TypedDict, total=False):
    """Another reading of the owner's words; a decline with `say` as its reason proposes it instead."""

    say: str
    text: str

class Draft(TypedDict):
    """What a change would do, while it is worked out."""

    id: str
    run: str
    chat: str
    summary: str
    operations: list[Operation]
    services: list[Action]
    before: dict[str, str]  # sha256 of each package that the plan rests on
    after: dict[str, str]  # sha256 of each package that it writes
    images: Images
    is_restore: bool  # the images are written as they are
    undoes: str  # id of a change, or ""
    until_unix_s: int  # when the change is undone by itself, or 0
    ends: list[Ends]  # what becomes of the ends of earlier changes
    forces: list[str]  # what the owner lets through (plan.py)
    call: Call  # of a tool, {} for a plan of another kind
    risk: str  # low, risky or forbidden
    reasons: list[str]
    words: list[str]
    uci: list[str]
    diff: list[LineDiff]
    secrets: list[Source]
    verdict: Answer  # whether the owner still reaches the router, {} where nothing says so
    new_address: str  # where the router will be on its own network, "" when that stays
    is_asked: bool  # the owner is asked under every setting
    is_automatic: bool  # nobody approves it, and the owner did not say it themselves
    tainted: bool  # words of others were in sight of its maker
    untrusted: list[str]  # whose words are in it, where they are not the owner's
    nonce: str  # proves life for this change; on no card
    choice: Choice  # what else the owner may have meant, {} for nothing

class Plan(Draft):
    """A bound plan: frozen."""

    confirm_s: int
    unconfined: str  # why nothing keeps the worker away from the router, "" when something does
    typed_word: str  # what an approval must carry, or ""
    needs_approval: bool
    expires_s: float  # monotonic
    hash: str

class Conflict(TypedDict):
    """What keeps a change from being undone, see reverse.py."""

    package: str
    section: str
    option: str
    now: Value | None
    expected: Value | None

class Fall(TypedDict, total=False):
    """What would fall at the end of a change, see reverse.falling."""

    place: Required[str]
    section: Required[Section]
    option: Required[str]
    wanted: Value | None
    is_back: bool
    is_gone: bool

class Seen(TypedDict):
    """What was looked at after the reload."""

    what: str
    result: str  # "seen" or "not read back"

class Before(TypedDict):
    """What was looked at before a change, see verification.py."""

    services: dict[str, dict[str, int] | None]  # process by instance, by service
    bus: bool  # it answered
    interfaces: NotRequired[Mapping[str, object] | None]  # network.interface dump, as netifd replies
    radios: NotRequired[Mapping[str, object] | None]  # network.wireless status

class Record(TypedDict, total=False):
    """A change on flash. Optional keys stand only where they say something."""

    id: Required[str]
    state: Required[str]
    packages: Required[list[str]]
    services: Required[list[Action]]
    words: Required[list[str]]
    run: str
    chat: str
    message: str
    plan_hash: str
    summary: str
    risk: str
    when_unix_s: int
    before: dict[str, str]  # sha256 by package
    after: dict[str, str]
    undoes: str
    undone_by: str
    until_unix_s: int
    ends_at: dict[str, int]  # places that end at another time
    ends: list[Ends]  # what it does to the ends of others
    expiry: str  # why it could not end
    new_address: str
    tainted: bool
    untrusted: list[str]
    own: list[str]  # keys of texts that the owner wrote
    automatic: bool
    installed: list[str]  # packages that it installed, which go with it
    replaced: dict[str, list[str]]  # those that had to go for one of them
    init: list[Init]
    verified: list[Seen]
    failed_after: list[Action]
    proof: str
    reason: str
    kept: list[str]  # copies of edits of others
    confirm_in_s: int
    source: str  # "lua": taken over from the Lua Oasis
