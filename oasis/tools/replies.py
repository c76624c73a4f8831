"""What people see of a reply: secrets masked, also those that were only typed, and devices with their names.

The one place on the way to every front-end: events pass it when they enter a run, stored chats, plans, changes and
titles when a method replies.
"""

from __future__ import annotations

from oasis.redaction.redactor import walk
from oasis.tools.router import known_devices, with_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from oasis.redaction.redactor import Redactor
    from oasis.tools.router import Facts

    T = TypeVar("T")

    class Services(Protocol):
        redactor: Redactor
        facts: Facts


class Mask:
    """Masks what front-ends get of one daemon.

    The secrets on cards that somebody chose are still in clear, also one that the owner typed for something else: they
    are for the owner's eyes, and `without_chosen` takes them out for all others.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self.open_end = services.redactor.open_end

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event of a run as front-ends may have it."""
        return masked(event, self._services)


def masked(reply: T, services: Services) -> T:
    """Return a method's reply as front-ends may have it; see Mask."""
    devices = lambda: known_devices(services.facts)  # noqa: E731
    found: Any = walk(services.redactor.hide(without_typed(reply)), lambda text: with_names(text, devices))
    if isinstance(reply, dict):
        plans, plan = reply.get("plans"), reply.get("plan")
        if isinstance(plans, list):
            found = {**found, "plans": [_clear(*pair) for pair in zip(found["plans"], plans, strict=True)]}
        elif isinstance(plan, dict):
            found = {**found, "plan": _clear(found["plan"], plan)}
    shown: T = found  # only its texts are others
    return shown


def _clear(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    chosen = old.get("secrets") if isinstance(old, dict) else None
    if not chosen:
        return new
    pairs = zip(new["secrets"], chosen, strict=True)
    return {**new, "secrets": [{**one, "value": given["value"]} if "value" in given else one for one, given in pairs]}


def without_chosen(value: T) -> T:
    """Return a reply without the values of chosen secrets (change/text_origin.py) on cards of plans."""
    found: Any = value
    if isinstance(value, (list, tuple)):
        found = [without_chosen(item) for item in value]
    elif isinstance(value, dict):
        left_out = "value" if {"where", "from", "value"} == set(value) else ""
        found = {key: without_chosen(item) for key, item in value.items() if key != left_out}
    left: T = found
    return left


def without_typed(value: object) -> object:
    """Mask what the calls of tools set, in stored blocks and in events: both have the type tool_use."""
    if isinstance(value, list):
        return [without_typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "tool_use" and "=" in str(value):
        from oasis.redaction.secret_forms import hide_typed  # with the first call that sets something

        hidden: object = hide_typed(value)
        return hidden
    return {key: without_typed(item) for key, item in value.items()}
