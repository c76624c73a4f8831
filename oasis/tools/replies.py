"""What people see of a reply: secrets masked, also those that were only typed, and devices with their names.

The one place on the way to every front-end, for events, stored chats, plans, changes and titles alike.
"""

from __future__ import annotations

import functools

from oasis.redaction.redactor import walk
from oasis.tools.router import known_devices, with_names

if False:  # annotations only
    from typing import Any

    from oasis.redaction.redactor import Redactor
    from oasis.tools.router import Facts


def shown(reply: dict[str, Any], redactor: Redactor, facts: Facts, is_owner: bool = False) -> dict[str, Any]:
    """Return a method's reply as a front-end may have it; secrets that somebody chose are for the owner's eyes."""
    kept = reply if is_owner else _without_chosen(reply)
    devices = functools.partial(known_devices, facts)
    found = walk(redactor.hide(without_typed(kept)), functools.partial(with_names, devices=devices))
    assert isinstance(found, dict)  # as the reply is
    if not is_owner:
        return found
    # The cards hold the chosen secrets in clear, also one that the owner typed for something else.
    plans, events = reply.get("plans"), reply.get("events")
    pairs = list(zip(found["plans"], plans, strict=True)) if isinstance(plans, list) else []
    # Other methods call other lists by these names: schedule.list has the events that an order can wait for.
    if isinstance(events, list) and any(isinstance(one, dict) and one.get("type") == "plan" for one in events):
        told = zip(found["events"], events, strict=True)
        pairs += [(new["plan"], old["plan"]) for new, old in told if old["type"] == "plan"]
    for new, old in pairs:
        for one, given in zip(new.get("secrets") or [], old.get("secrets") or [], strict=True):
            if one.get("value") != given.get("value"):  # masked on the way, and so an object of this reply alone
                one["value"] = given["value"]
    return found


def _without_chosen(value: object) -> object:
    """Take the values of chosen secrets (change/text_origin.py) from the cards of plans."""
    if isinstance(value, (list, tuple)):
        return [_without_chosen(item) for item in value]
    if not isinstance(value, dict):
        return value
    left_out = "value" if {"where", "from", "value"} == set(value) else ""
    return {key: _without_chosen(item) for key, item in value.items() if key != left_out}


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
