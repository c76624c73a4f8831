"""The types of the part `lua`, for the type checker alone."""

from typing import TypedDict

from typing_extensions import NotRequired

from oasis.core.shapes import Json

Schema = dict[str, Json]

class Script(TypedDict):
    """The file of a tool server."""

    path: str  # on the router
    kind: str  # lua or ucode
    data: bytes

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
