"""The types of providers/, for the type checker alone; what the keys mean stands in __init__.py and events.py."""

from collections.abc import Mapping
from typing import TypedDict

from typing_extensions import NotRequired, Required

from oasis.change.shapes import Choice
from oasis.core.shapes import Json

Dict = dict[str, object]  # an object of a body or an answer
Headers = dict[str, str]  # lower-case names in answers
Embedded = tuple[list[list[float]], Dict]  # vectors, and the counts of tokens as events.usage takes them

class Failure(TypedDict):
    """What an error event says."""

    code: str
    message: str
    hint: str
    retryable: bool
    status: NotRequired[int]
    retry_after_s: NotRequired[float]
    parameter: NotRequired[str]  # the one that the model does not take, see events.py

class Kind(TypedDict, total=False):
    """One kind of failure, see failures.json."""

    hint: Required[str]
    retry: bool
    status: list[int]
    words: list[str]

class Usage(TypedDict, total=False):
    """Tokens of one answer; what is not known is left out."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int

class Model(TypedDict):
    """One of the models that a service lists."""

    id: str
    context_tokens: NotRequired[int]
    tools: NotRequired[bool]

class Event(TypedDict, total=False):
    """One event of an answer, see events.py; the others are those of a worker."""

    type: Required[str]
    text: str  # delta, thinking; retry, refused; a piece of the body of shown
    provider_metadata: dict[str, dict[str, Json]]
    id: str  # tool_use
    name: str
    input: dict[str, Json]
    invalid: str
    usage: Usage
    stop_reason: str  # done
    model: str
    error: Failure
    models: list[Model]
    embedding: list[float]  # of the next text; usage and done come after the last
    method: str  # shown
    url: str
    headers: Headers  # without the key
    wait_s: float  # retry: it failed before a word came, and is asked again
    parameter: str  # refused: what the model does not take; it is asked again without
    message: Mapping[str, object]  # of an MCP server
    session: str  # mcp, the end of that; status is the one of HTTP
    status: int
    result: dict[str, Json]  # web, telegram
    update: dict[str, Json]  # of the messenger
    data: str  # piece of a file, in base64
    choice: Choice  # reading, of the built-in service: what else may be meant

class Request(TypedDict):
    """An HTTP request."""

    method: str
    url: str
    headers: Headers
    body: bytes

class Tool(TypedDict, total=False):
    """A tool as a service is told of it."""

    name: str
    description: str
    input_schema: dict[str, Json]

class Block(TypedDict, total=False):
    """One content block of any type, as the gate leaves it; see core/shapes.pyi."""

    type: str
    text: str
    provider_metadata: dict[str, dict[str, Json]]
    cache: bool
    id: str
    name: str
    input: dict[str, Json]
    tool_use_id: str
    content: list[Block]
    is_error: bool
    media_type: str
    data: str

class Turn(TypedDict):
    """One message that the gate prepared."""

    role: str
    content: list[Block]

class Sent(TypedDict):
    """One message in the form of an API."""

    role: str
    content: list[Dict]

class Rule(TypedDict, total=False):
    """What the models with one of the prefixes differ in; see `_keys` of profiles.json."""

    prefix: list[str]
    max_tokens: int
    most_tokens: int
    thinking: str
    least: int | str
    levels: list[str]
    temperature: bool
    forced: bool
    search: bool | str
    signed: bool
    takes: list[str]

class Profile(TypedDict, total=False):
    """A service that speaks a vendor's API; `_keys` of profiles.json describes the keys."""

    id: str  # its name in the table
    name: str
    vendor: str
    base_url: str
    key: str
    key_env: str
    model: str
    local: bool
    idle_s: int
    context_tokens: int
    max_tokens_field: str
    schemas: str
    stream_options: bool
    alternate: bool
    drop_empty: bool
    end_with_user: bool
    bridge: bool
    null_content: bool
    call_ids: str
    echo: str
    usage_adds_reasoning: bool
    headers: Headers
    num_ctx: int
    window: str
    per_s: float
    burst: int
    takes: list[str]
    thinking: str
    forced: str
    one_tool: str
    search: dict[str, Json]
    encrypted: bool
    models: list[Rule]

class Options(TypedDict, total=False):
    """How a service is asked; see __init__.py, and below what only the worker reads."""

    base_url: str
    key: str
    model: str
    profile: Profile
    stream: bool
    max_tokens: int
    temperature: float
    tool_choice: str | dict[str, str]
    strict: bool
    extra: dict[str, Json]
    thinking: str | int
    search: bool
    context_tokens: int
    cache: bool
    dimensions: int
    input_type: str
    idle_s: float
    connect_s: float
    total_s: float
    retries: int
    ca_file: str
    proxy: str
    proxy_auth: str
    walled: bool
    without: list[str]
