"""Stops a model that makes the very same call over and over: it has said what it has to say.

Counted in a turn, by name and arguments. Knows no tool.
"""

from __future__ import annotations

from oasis.core import jsonl

if False:  # annotations only
    from oasis.agent.shapes import Arguments, ToolCaller
    from oasis.core.shapes import Json

# To look before, after a change, and after another one.
SAME = 3
_AGAIN = "not run: the very same call was made %d times already; do something else, or say what is missing"


class Repeats:
    """The calls of one turn; of each the first `most` are made. `stopped` is how many were not."""

    def __init__(self, most: int = SAME) -> None:
        self._most = most
        self._made: dict[str, int] = {}
        self.stopped = 0

    def watched(self, call: ToolCaller) -> ToolCaller:
        """Return a caller of tools that does not make the same call over and over."""

        def watch(name: str, arguments: Arguments, taint: list[str]) -> tuple[str, bool, list[str]]:
            key = name + " " + jsonl.dumps(_sorted(arguments))
            self._made[key] = self._made.get(key, 0) + 1
            if self._made[key] > self._most:
                self.stopped += 1
                return _AGAIN % self._most, True, []
            return call(name, arguments, taint)

        return watch


def _sorted(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
