"""The types of the part `monitor`, for the type checker alone."""

from typing import TypedDict

from typing_extensions import NotRequired

class Device(TypedDict):
    """A machine that the router knows, as far as it may be shown."""

    device: str
    mac: str
    ip: str
    name: NotRequired[str]
    is_own: NotRequired[bool]  # the owner chose the name

class Way(TypedDict, total=False):
    """One way of a speed test: what was measured, or `why` nothing was."""

    bytes: int
    seconds: float
    mbit_s: float
    why: str

class Speed(TypedDict):
    host: str
    download: Way
    upload: Way
