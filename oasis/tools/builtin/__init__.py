"""The tools that Oasis brings: listed in builtin.json, their modules loaded with the first call.

A tool is `run(arguments, …) -> result` of its module, or the function that its entry names ("changes:undo"). Where the
spec has "previews", a function of that name with `_preview` gets the same arguments. What else it gets is its entry's
"hands": `facts` (the router as this run may see it), `operator` (acts with the principal's permissions), or `router`:
(router, operator, watch).
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.tools.registry import BUILT_IN

if False:  # annotations only
    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch
    from oasis.tools.shapes import Any, Arguments, GivenSpec


class BuiltIn:
    """The source of the built-in tools of one router."""

    name = BUILT_IN

    def __init__(self, router: Router | None) -> None:
        self._router = router
        self._specs: list[GivenSpec] = []

    def specs(self) -> list[GivenSpec]:
        """Return the specs of registry.py."""
        if not self._specs:
            self._specs = jsonl.table(__file__, "builtin.json")["tools"]
        return self._specs

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch, suffix: str = "") -> Any:
        """Run a tool; raises what it raises."""
        spec = next(one for one in self.specs() if one["name"] == name)
        module, _, function = spec["module"].partition(":")
        function = (function or "run") + suffix
        given: dict[str, tuple[object, ...]] = {
            "facts": (operator.facts,), "operator": (operator,), "router": (self._router, operator, watch),
        }  # fmt: skip
        work = getattr(__import__(f"oasis.tools.builtin.{module}", fromlist=(function,)), function)
        return work(arguments, *given[spec["hands"]])

    def preview(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> list[str]:
        """Return what a call would do, in words; raises what makes it impossible."""
        words: list[str] = self.call(name, arguments, operator, watch, "_preview")
        return words
