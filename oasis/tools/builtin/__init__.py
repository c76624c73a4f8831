"""The tools that Oasis brings: listed in builtin.json, their modules loaded with the first call.

A tool is `run(arguments, …) -> result` of its module, or the function that its entry names ("changes:undo"), and
perhaps `preview` with the same arguments. What else it gets is its entry's "hands": `facts` (the router as this run may
see it), `operator` (acts with the principal's permissions), or `router`: (router, operator, watch).
"""

from __future__ import annotations

import os

from oasis.core import jsonl
from oasis.tools.permissions import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch

_FILE = os.path.dirname(os.path.abspath(__file__)) + "/builtin.json"


class BuiltIn:
    """The source of the built-in tools of one router."""

    name = BUILT_IN

    def __init__(self, router: Router | None) -> None:
        self._router = router
        self._specs: list[dict[str, Any]] = []

    def specs(self) -> list[dict[str, Any]]:
        """Return the specs of registry.py."""
        if not self._specs:
            with open(_FILE, "rb") as handle:
                self._specs = jsonl.loads(handle.read())["tools"]
        return self._specs

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Run a tool; raises what it raises."""
        result: dict[str, Any] = self._ask("run", name, arguments, operator, watch)
        return result

    def preview(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> list[str]:
        """Return what a call would do, in words; raises what makes it impossible."""
        words: list[str] = self._ask("preview", name, arguments, operator, watch)
        return words

    def _ask(self, what: str, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> Any:
        entry = next(one for one in self.specs() if one["name"] == name)
        name, _, function = entry["module"].partition(":")
        module: Any = __import__("oasis.tools.builtin." + name, fromlist=(what,))
        given: tuple[Any, ...] = (operator,)
        if entry["hands"] == "facts":
            given = (operator.facts,)
        elif entry["hands"] == "router":
            given = (self._router, operator, watch)
        return getattr(module, function if function and what == "run" else what)(arguments, *given)
