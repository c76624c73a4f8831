"""The types of errors.py, for the type checker alone."""

from collections.abc import Callable as Callable
from collections.abc import Sequence
from typing import Any as Any
from typing import TypedDict

class ErrorReply(TypedDict, total=False):
    """An OasisError as front ends and chat files hold it; the last three only where they apply."""

    code: str
    message: str
    hint: str
    repairable: bool  # other arguments may succeed
    force: list[str]  # of a refused plan: what the owner may force
    conflicts: Sequence[object]  # of a refused undo, see change/history/reverse.py
