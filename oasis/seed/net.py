"""The tools that reach the web, by a worker: the daemon itself opens no connection."""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator
    from oasis.tools.watch import Watch


class Net:
    """Reaches the web by a worker."""

    def has_brave(self) -> bool:
        """Return whether there is a key for Brave."""
        return False

    def fault(self, name: str) -> str:
        """Return why a tool cannot be used, "" when it can."""
        return "not there yet"

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool."""
        raise ToolError("not there yet")
