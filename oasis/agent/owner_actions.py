"""Owner actions that run without a model: undo, raw UCI commands, service actions, direct tool calls.

Each is a run of its own that a front-end follows as any other, acting through the same operator as a turn
(tools/operator.py). Knows no service and no chat.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import OWNER, Principal

if False:  # annotations only
    from oasis.agent.runs import Run, Runs
    from oasis.agent.shapes import Arguments, Came
    from oasis.core.shapes import Callable
    from oasis.tools.registry import Registry
    from oasis.tools.shapes import ChatContext, PlanResult, Refused, Workshop
    from oasis.uci.edit import Operation


class OwnerActions:
    """The owner actions of one daemon; `came` is as in runs.py."""

    def __init__(self, shop: Workshop, runs: Runs, registry: Registry) -> None:
        self._shop = shop
        self._runs = runs
        self._registry = registry

    def undo(self, change: str = "", skip_conflicts: bool = False, came: Came = ()) -> Run:
        """Start a run that undoes a change: the newest one without an id."""
        return self._start("undo", lambda operator: operator.undo(change, skip_conflicts), came)

    def propose(self, operations: list[Operation], summary: str, forces: tuple[str, ...], came: Came = ()) -> Run:
        """Start a run that proposes the owner's own operations; `forces` is what they let through."""
        return self._start("configure", lambda operator: operator.change(operations, summary), came, forces)

    def force(self, kept: Refused, forces: tuple[str, ...], came: Came = ()) -> Run:
        """Start a run that proposes again what another run was refused."""
        chat: ChatContext = {"id": kept["chat"], "message": kept["message"]}
        return self._start("configure", lambda operator: operator.force(kept), came, forces, chat)

    def act(self, service: str, action: str, came: Came = ()) -> Run:
        """Start a run that proposes an action on a service."""
        return self._start("configure", lambda operator: operator.act(service, action), came, ())

    def _start(
        self, name: str, propose: Callable[[Operator], PlanResult], came: Came, forces: tuple[str, ...] | None = None,
        chat: ChatContext | None = None,
    ) -> Run:  # fmt: skip
        def work(run: Run) -> tuple[str, str]:
            operator = Operator(self._shop, run, OWNER, chat, forces=forces)
            result = operator.masked(propose(operator))
            if result["status"] == "unchanged":
                run.emit("note", text="nothing to change: all of it is so already")
            run.emit("tool_result", tool_use_id="", name=name, text=jsonl.dumps(result), is_error=False)
            return ("cancelled" if result["status"] == "cancelled" else "done"), "end_turn"

        return self._runs.start("", work, None, came)

    def look(self, name: str, arguments: Arguments) -> str:
        """Return the result of a read-only tool as JSON, for the owner alone and outside any chat."""
        return self._registry.call(name, arguments, Operator(self._shop, NoRun(), OWNER))[0]

    def use(self, name: str, arguments: Arguments, came: Came = (), words: str = "", client: str = "") -> Run:
        """Start a run that makes one call of a tool, for the owner or, with `words`, for somebody else.

        What others ask for is treated as what a model asks for with their words in sight.
        """
        who = Principal("client" if client else OWNER.role)

        def work(run: Run) -> tuple[str, str]:
            operator = Operator(self._shop, run, who, is_model=bool(words))
            text, is_error, taint = self._registry.call(name, arguments, operator.seeing([words] if words else []))
            run.emit("tool_result", tool_use_id="", name=name, text=text, is_error=is_error, taint=taint)
            return ("cancelled" if run.is_cancelled() else "error" if is_error else "done"), "end_turn"

        return self._runs.start("", work, None, came, client)
