"""The types of config/, for the type checker alone."""

from typing import TypedDict

from typing_extensions import NotRequired

from oasis.providers.shapes import Options

class Rate(TypedDict):
    """How many requests a service is sent: a second, and at once."""

    per_s: float
    burst: int

class Service(TypedDict):
    """A model service, see Settings.services. `key` is required, optional or none; `note` says why it is not ready."""

    identifier: str
    name: str
    model: str
    profile: str
    vendor: str
    base_url: str
    tool_mode: str  # auto, or none for a model that cannot call tools and writes commands instead
    context_tokens: int  # what the model takes, 0 where nobody said it
    key: str
    is_local: bool
    pace: Rate
    options: Options
    is_wrong: bool
    ready: bool
    note: str
    active: NotRequired[bool]
