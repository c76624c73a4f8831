"""What a guest's run may do: look at the router's state with two tools, and nothing else.

Whom a run is for, as presence.py has it. A guest's words are words of others wherever they are read again; no facts,
documents or skills of the owner's are told for them, and every plan and every call that has an effect ends here.
"""

from __future__ import annotations

from oasis.agent.principal import Present
from oasis.errors import PolicyError
from oasis.tools.roles import tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = "words of a guest"
# The owner pays for what a model answers.
AN_HOUR = 30


class Guest(Present):
    """Whom the answer is for, and who stands at the desk."""

    is_attended = False
    is_told = False
    role = "guest"
    rehearses = True  # every call with an effect becomes a plan, and judge() ends that

    def __init__(self) -> None:
        self.desk = self

    def asking(self, services: list[Any], told: Any, asker: Any) -> tuple[list[Any], Any]:
        """Return who answers and how it is asked, with a guest's tools alone."""
        if told is not None:
            told.tools = tools_of(self.role)
        return services, asker

    def judge(self, plan: dict[str, Any]) -> None:
        """Refuse a plan before anybody sees it."""
        raise PolicyError("guests look at the router and change nothing", "its owner can")

    def wait(self, plan: dict[str, Any], is_cancelled: Any) -> tuple[str, str]:
        """Decline what came past judge() all the same."""
        return "declined", "asked for by a guest"
