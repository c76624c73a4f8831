"""The types of llm/, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Iterable as Iterable
from collections.abc import Mapping as Mapping
from typing import Literal
from typing import Protocol as Protocol

from typing_extensions import NotRequired, TypedDict
from typing_extensions import TypeIs as TypeIs

from oasis.core.shapes import Entry as Entry
from oasis.core.store import Chat
from oasis.llm.usage import Usage
from oasis.llm.workers import Cancelled, OnEvent, Plain
from oasis.providers.shapes import Event as Event
from oasis.providers.shapes import Failure as Failure
from oasis.providers.shapes import Model as Model

Value = str | list[str]  # of an option

class Made(TypedDict):
    """A service that was added."""

    identifier: str

class Done(TypedDict):
    status: Literal["OK"]

class Shown(TypedDict):
    """The HTTP request that a service would be sent, without the key."""

    method: str
    url: str
    headers: dict[str, str]
    text: str

class Provider(TypedDict):
    """What a service can be of."""

    profile: str
    name: str
    endpoint: str
    model: str
    key: str
    local: bool

class ProviderList(TypedDict):
    providers: list[Provider]

class Fault(TypedDict):
    """What failed, as a person reads it."""

    code: str
    message: str
    hint: str

class Trial(TypedDict):
    """What came of trying a service."""

    ok: bool
    ms: int
    model: str
    fault: NotRequired[Fault]

class ModelList(TypedDict):
    models: list[Model]
    is_cut: bool

class Alias(TypedDict):
    name: str
    targets: list[str]
    ready: bool
    note: str

class AliasList(TypedDict):
    alias: list[Alias]
    usual: list[str]

class ModelUsage(TypedDict):
    """What one model of a service used."""

    month: NotRequired[str]  # absent for a chat
    service: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: NotRequired[str]  # where a price is known

class Budget(TypedDict):
    """How much of this month's budget is used."""

    tokens_used: int
    cost_used: str
    percent: int
    tokens: NotRequired[int]
    cost: NotRequired[str]

class ChatUsage(TypedDict):
    """What one chat used."""

    usage: list[ModelUsage]
    currency: str

class UsageList(ChatUsage):
    """What was used in all months, or in one."""

    month: str  # the present one
    budget: NotRequired[Budget]
    prices: NotRequired[list[dict[str, Value]]]  # service, model, input, output, cached

Look = Callable[[str, Callable[[Chat], list[ModelUsage]]], list[ModelUsage]]  # reads a chat by its name

class Models(Protocol):
    """Who asks the services."""

    def chat(self, request: Plain, on_event: OnEvent, cancelled: Cancelled) -> None: ...
    def models(self, request: Plain, cancelled: Cancelled) -> list[Model]: ...
    def usage(self) -> Usage: ...
