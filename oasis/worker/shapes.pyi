"""The types of worker/, for the type checker alone; what the keys mean stands in lines.py."""

from collections.abc import Callable
from typing import TypedDict

from oasis.core.shapes import Json
from oasis.providers.shapes import Dict, Event, Options, Tool
from oasis.providers.shapes import Request as _Http
from oasis.worker.transport import Response

class Request(TypedDict, total=False):
    """A request to a worker, of any op."""

    op: str
    id: int
    profile: str
    vendor: str
    base_url: str
    key: str
    model: str
    service: str  # whose usage it is; taken out before it is sent
    options: Options
    messages: list[Dict]  # chat, show
    tools: list[Tool]
    texts: list[str]  # embed
    message: McpMessage  # mcp
    session: str
    version: str
    url: str  # fetch
    query: str  # search
    engine: str
    open: list[str]
    closed: list[str]
    chars: int
    pdf: bool
    ca_file: str
    html: str  # read
    places: list[str]  # find
    method: str  # telegram
    parameters: dict[str, Json]

class Limits(TypedDict):
    """How long an exchange may take, and which way it goes; see transport.py."""

    connect_s: float
    idle_s: float
    total_s: float
    ca_file: str
    proxy: str
    proxy_auth: str
    walled: bool

Emit = Callable[[Event], None]
Open = Callable[[_Http, Limits], Response]
Exchange = Callable[[_Http], Response]
Read = Callable[[Response], bytes]

class McpMessage(TypedDict, total=False):
    """A message of JSON-RPC, see parts/mcp."""

    jsonrpc: str
    id: str | int | None
    method: str
    params: Dict
    result: Json
    error: Json

# web.py

class Page(TypedDict, total=False):
    """`url`: where it came from at last; `pdf`: base64 of the file, in the place of a text."""

    url: str
    title: str
    text: str
    cut: bool
    pdf: str

class Hit(TypedDict, total=False):
    """What the search engine found; `text` when the page could be read."""

    url: str
    title: str
    snippet: str
    text: str

class Row(TypedDict):
    score: float
    text: str
    hit: Hit

class Passage(TypedDict):
    """`source` is the number of one."""

    score: float
    title: str
    text: str
    source: int

class Source(TypedDict):
    number: int
    title: str
    url: str

class Findings(TypedDict, total=False):
    query: str
    passages: list[Passage]
    sources: list[Source]
    note: str

class Server(TypedDict):
    """A model server; `models` are names."""

    host: str
    profile: str
    endpoint: str
    models: list[str]

class Found(TypedDict):
    """The servers in the order of the machines, and how many machines were asked."""

    servers: list[Server]
    asked: int

# workspace.py

class FileRequest(TypedDict, total=False):
    op: str
    path: str
    offset: int
    text: str
    append: bool

class FileAnswer(TypedDict, total=False):
    """The keys of one op; with `error` nothing was done."""

    text: str
    size_bytes: int
    next_offset: int
    name: str
    kind: str
    modified_unix_s: int
    entries: list[FileAnswer]
    more: int
    error: str
    hint: str

# telegram.py

class File(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int

class Update(TypedDict, total=False):
    """An update of the messenger; see telegram.update for which keys a kind has."""

    id: int
    kind: str
    chat: int
    name: str
    is_private: bool
    message: int
    text: str
    when_unix_s: int
    reply_to: int
    is_forwarded: bool
    file: File
    button: str
    data: str
