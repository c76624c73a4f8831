"""What people see of a reply: secrets masked, also those that were only typed, and devices with their names.

The one place on the way to every front-end, for events, stored chats, plans, changes and titles alike.
"""

from __future__ import annotations

from oasis.change.redact import walk
from oasis.tools import handles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.change.redact import Redactor
    from oasis.tools.facts import Facts


def shown(reply: dict[str, object], redactor: Redactor, facts: Facts) -> dict[str, object]:
    """Return a method's reply as a front-end may have it."""
    found: dict[str, object] = walk(
        redactor.hide(without_typed(reply)), lambda text: handles.with_names(text, lambda: handles.listed(facts))
    )
    return found


def without_typed(value: Any) -> Any:
    """Mask what the calls of tools set, in stored blocks and in events: both have the type tool_use."""
    if isinstance(value, list):
        return [without_typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "tool_use" and "=" in str(value):
        from oasis.change import typed  # with the first call that sets something

        return typed.hide(value)
    return {key: without_typed(item) for key, item in value.items()}
