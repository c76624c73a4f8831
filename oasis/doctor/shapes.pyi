"""The types of doctor/, for the type checker alone; the shapes stand in the modules' docstrings."""

from collections.abc import Callable as Callable
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import Protocol

from oasis.doctor.scene import Scene as Scene
from oasis.errors import UsageError

Section = dict[str, Any]  # a section of UCI: options, and .name, .type, .anonymous, .index
Entry = dict[str, Any]  # one reply of the bus, or a part of one
Finding = dict[str, Any]  # see rounds.py
Text = dict[str, Any]  # an entry of findings.json
Values = Mapping[str, object]
Sight = tuple[str, str, Values, list[str], list[str]]  # see scene.seen
Found = Iterator[Sight]
Check = Callable[[Scene], Found]

class Router(Protocol):
    """What tools/router.py offers."""

    def config(self, package: str) -> dict[str, Section]: ...
    def sections(self, package: str, kind: str) -> list[Section]: ...
    def packages(self) -> list[str]: ...
    def ubus(self, name: str, method: str, arguments: dict[str, object] | None = None) -> Entry: ...
    def read_text(self, path: str) -> str: ...
    def leases(self) -> Sequence[Values]: ...
    def interfaces(self) -> list[Entry]: ...
    @property
    def history(self) -> Callable[[], Sequence[Values]]: ...
    @property
    def refused(self) -> Callable[[], dict[str, UsageError]]: ...
    @property
    def now_s(self) -> Callable[[], int]: ...

class Probe(Protocol):
    """Two questions to the network, each answered within its seconds by a program of the router."""

    def ping(self, address: str, seconds: int) -> bool | None: ...
    def lookup(self, name: str, server: str, seconds: int) -> bool | None: ...
