"""Principals: the person or program something runs for, with its role, its taint, its approver, and the tools of roles.

The owner, and the owner by a messenger, are here. Optional parts define the others (parts/schedule/job_run.py,
parts/telegram/people.py). The methods of each role are in api/table.py.
"""

from __future__ import annotations

from oasis import parts

if False:  # annotations only
    from oasis.config.shapes import Service
    from oasis.core.store import Chat
    from oasis.tools.shapes import Any, Approver, Callable, TurnExtras
# Named one by one; a new tool is the owner's alone until somebody decides otherwise. "*" is every tool, and "no NAME"
# takes one out again. The roles of programs and messengers stand in the manifests of their parts.
TOOLS: dict[str, tuple[str, ...]] = parts.joined("ROLE_TOOLS", {"owner": ("*",), "viewer": ()})


def may_use(role: str, tool: str) -> bool:
    """Return whether a role may use a tool."""
    named = TOOLS.get(role, ())
    return tool in named or ("*" in named and "no " + tool not in named)


def tools_of(role: str) -> list[str]:
    """Return the tools that are named for a role."""
    return [name for name in TOOLS[role] if name != "*" and not name.startswith("no ")]


class Principal:
    """A person or program that something runs for; these are the values of the owner at the page or a terminal.

    is_attended    somebody waits for the answer, and a chat is worth a title
    is_told        the model also gets what the owner keeps: facts, skills, documents
    needs_service  a model service answers; False: the principal does, in asking()
    has_teller     a model hears the results of tools, although none is asked which to call
    taint          whose words a message may be
    role           decides which tools and methods work
    approver       decides about plans in the owner's place, None: the owner does
    """

    is_attended = True
    is_told = True
    needs_service = True
    has_teller = False
    taint: tuple[str, ...] = ()
    approver: Approver | None = None

    def __init__(self, role: str = "owner") -> None:
        self.role = role

    def asking(self, services: list[Service], told: TurnExtras | None, ask: Any) -> tuple[list[Service], Any]:
        """Return the services of a turn and what asks them; `told` is None without a model."""
        return services, ask

    def began(self, cancel: Callable[[], None]) -> None:
        """Hear that the run has begun, and what ends it."""

    def ended(self, chat: Chat, state: str) -> None:
        """Hear how the run ended, whatever happened in it."""


class _Distant(Principal):
    """The owner by a messenger: the words come through a program that talks to the network, and may be anybody's."""

    taint = ("words that came by a messenger",)


OWNER, MESSENGER = Principal(), _Distant("messenger")
