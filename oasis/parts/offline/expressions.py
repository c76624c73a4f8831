"""Regular expressions that are compiled only for a text that they may fit: compiling takes most of a first answer.

What an expression needs is read off its source (derive.py): texts of which a fitting text has one. It is a hint and no
more: what it leaves out could not fit, and what it lets through is decided by the expression itself.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Sources


def may_fit(wanted: list[str], text: str) -> bool:
    return not wanted or any(one in text for one in wanted)


class Alternatives:
    """Expressions of which the first that fits counts, as if `|` stood between them; `form` % them is the whole.

    `sources` are pairs of an expression and what it needs.
    """

    def __init__(self, sources: Sources, form: str) -> None:
        self._sources = sources
        self._form = form

    def on(self, text: str) -> re.Pattern[str] | None:
        """Return the expression as far as it may fit a text, None when it does not."""
        some = [source for source, wanted in self._sources if may_fit(wanted, text)]
        return re.compile(self._form % "|".join(some)) if some else None
