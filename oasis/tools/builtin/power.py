"""The tool `power`: restart the router, or switch it off; the owner approves each time.

It happens a moment later, so that the answer is still told and the chat is on flash.
"""

from __future__ import annotations

import time

from oasis.errors import ToolError
from oasis.tools.router import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator
    from oasis.tools.router import Router

# A model still has to say its last words.
DELAY_S = 8.0
_PROGRAM_S = 20.0


def preview(arguments: dict[str, Any], router: Router, operator: Operator, watch: Watch) -> list[str]:
    """Return what happens, in words for the owner's card."""
    if arguments["action"] == "shutdown":
        if not router.has("poweroff"):
            raise ToolError("this router has no program poweroff", "cut its power instead")
        return ["the router switches off; somebody has to switch it on again by hand"]
    return ["the router restarts; everybody is without network for a minute or two"]


def run(arguments: dict[str, Any], router: Router, operator: Operator, watch: Watch) -> dict[str, Any]:
    """Let it happen in a moment; return {"action", "in_s"}."""
    action = str(arguments["action"])
    router.later(DELAY_S, lambda: _now(action, router, operator))
    return {"action": action, "in_s": int(DELAY_S), "notes": ["tell the owner now: the connection is about to end"]}


def _now(action: str, router: Router, operator: Operator) -> None:
    if action == "shutdown":
        router.run(["poweroff"], Watch(str, bool, time.monotonic, _PROGRAM_S))
    else:
        operator.facts.ubus("system", "reboot")
