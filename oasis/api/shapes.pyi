"""The replies of methods and other values of api/, for the type checker alone."""

from typing_extensions import NotRequired, Required, TypedDict

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
