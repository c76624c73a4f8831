"""The types of worker/, for the type checker alone; what the keys mean stands in lines.py."""

from typing import TypedDict

from oasis.core.shapes import Json, Message
from oasis.providers.shapes import Options, Tool

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
    messages: list[Message]  # chat, show
    tools: list[Tool]
    texts: list[str]  # embed
    message: dict[str, Json]  # mcp
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

class Limits(TypedDict, total=False):
    """How long an exchange may take, and which way it goes; see transport.py."""

    connect_s: float
    idle_s: float
    total_s: float
    retries: int
    ca_file: str
    proxy: str
    proxy_auth: str
    walled: bool
