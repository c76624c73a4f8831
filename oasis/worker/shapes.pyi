"""The types of worker/, for the type checker alone, and what a request to a worker may say."""

from collections.abc import Callable
from typing import TypedDict

from oasis.core.shapes import Json
from oasis.providers.shapes import Dict, Event, Options, Tool
from oasis.providers.shapes import Request as _Http
from oasis.worker.transport import Response

class Request(TypedDict, total=False):
    """A request to a worker. Its ending is `done`, but for models, mcp, telegram, and web of all that reads pages."""

    op: str  # chat, show, models, embed, fetch, search, read, find; or a part with a module `exchange`
    id: int
    profile: str
    vendor: str
    base_url: str
    key: str  # of the service, the MCP server, the bot or the search engine
    model: str
    only: bool  # models: of the model of the request alone
    service: str  # whose usage it is; taken out before it is sent
    options: Options
    messages: list[Dict]  # chat; show, which sends nothing: the HTTP request comes back
    tools: list[Tool]
    texts: list[str]  # embed
    message: McpMessage  # mcp, for the server at base_url
    session: str
    version: str
    url: str  # fetch, monitor
    query: str  # search
    engine: str  # brave or searxng, which is at base_url
    open: list[str]  # fetch, search, monitor: places and networks, see web.py
    closed: list[str]
    chars: int  # of text at most
    pdf: bool  # fetch: a PDF comes as it is
    ca_file: str
    html: str  # read: the text of a page that is here already
    places: list[str]  # find: addresses of machines
    method: str  # telegram, see parts/telegram/exchange.py
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
    op: str  # read, write, list, delete, stat
    path: str
    offset: int  # read
    text: str  # write
    append: bool

class FileAnswer(TypedDict, total=False):
    """The keys of one op; with `error` nothing was done."""

    text: str  # read
    size_bytes: int  # read, write, stat, and of the files in a list
    next_offset: int  # read: where to go on
    name: str  # write, delete, stat
    kind: str  # stat
    modified_unix_s: int
    entries: list[FileAnswer]  # list: name and kind
    more: int  # how many are left out
    error: str
    hint: str

# parts/telegram/exchange.py

class File(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int

class Update(TypedDict, total=False):
    """An update of the messenger; one of the kind "other" has no more than these two, others a sender ("from"), too."""

    id: int
    kind: str  # message, button, other
    chat: int
    name: str  # of the sender
    is_private: bool
    message: int
    text: str  # message
    when_unix_s: int
    reply_to: int
    is_forwarded: bool
    language: str  # of the sender's program, like de or pt-br
    file: File
    button: str  # button: the id of the press
    data: str
