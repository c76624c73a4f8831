"""Expressions that are compiled when they are first used: compiling takes time and memory, and a turn needs few."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` does, as far as its methods and attributes go. Raises: re.error at the first of them."""
    return _Late(source, flags)  # type: ignore[return-value]


class _Late:
    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the expression, which is one of this object's from then on."""
        found = re.compile(*self._given) if name == "_made" else getattr(self._made, name)
        setattr(self, name, found)
        return found
