"""The types of change/ and of what uses it, for the type checker alone; the shapes stand in the modules' docstrings."""

from collections.abc import Callable as Callable
from collections.abc import Collection as Collection
from collections.abc import Iterable as Iterable
from typing import Any as Any
from typing import Protocol

Operation = dict[str, Any]  # see oasis.uci.cursor
Plan = dict[str, Any]  # see plan.py
Card = dict[str, Any]  # see plan.card
Record = dict[str, Any]  # see transaction.py
Difference = dict[str, Any]  # see difference.py
Conflict = dict[str, Any]  # see reverse.py
Fall = dict[str, Any]  # see reverse.falling
Touched = dict[str, Any]  # see journal.prepare
Action = dict[str, Any]  # {"name", "action", "ok"?, "status"? of a script that refused, its service turned off}
Role = dict[str, Any]  # {"name", "terminal"}
Images = dict[str, tuple[bytes, bytes]]  # package: (before, after)
NewId = Callable[[], str]
Seconds = Callable[[], float]

class Clock(Protocol):
    def now_s(self) -> float: ...
    def unix_s(self) -> int: ...
    def up_s(self) -> float: ...
