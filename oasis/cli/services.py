"""`oasis services`, `select` and `status`: which AI answers, and what is going on."""

from __future__ import annotations

from oasis.cli import cards
from oasis.cli.commands import OK
from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def show_list(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the services; a star marks the one in use."""
    reply = call("service.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for number, service in enumerate(reply["service"], 1):
        mark = "*" if service["active"] else " "
        note = "" if service["ready"] else f"  not ready: {service.get('note') or 'settings are missing'}"
        words = f"{number:3} {mark} {service['identifier']}  {service['name']}  {service['model']}"
        screen.line(clean.line(words).rstrip() + clean.line(note))
    if not reply["service"]:
        screen.line("no services are set up")
    return OK


def select(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Use another service from now on."""
    from oasis.cli.named import service_id

    identifier = service_id(call, arguments["SERVICE"])
    reply = call("service.select", {"identifier": identifier})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(f"{identifier} answers from now on"))
        if identifier != "offline" and "chat" not in [one["name"] for one in call("alias.list", {})["alias"]]:
            screen.notice("nothing stands in when it fails; to let the built-in service: oasis alias chat offline")
    return OK


def status(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what the daemon is and what waits in it."""
    info = call("info", {})
    if screen.is_json:
        screen.json(info)
        return OK
    provider = info["provider"]
    screen.line(clean.line(f"Oasis {info['version']} on {info['root']}, UCI by {info['backend']}"))
    screen.line(clean.line(f"AI service: {provider['name']} {provider['model']} ({provider['identifier']})"))
    screen.line(clean.line(f"approval: {info['approval']}"))
    if info.get("unconfined"):
        screen.line(clean.line(f"the AI worker is not confined: {info['unconfined']}"))
    for fault in info.get("bus", []):
        screen.line(clean.line(fault))
    if info.get("upstream"):
        screen.line("the older Oasis has chats here; to take them over: oasis import --upstream")
    for plan in info["waiting"]:
        screen.line(clean.line(f"plan {plan['id']} waits for approval: {plan['summary']} (oasis plans)"))
    if info["pending"]:
        cards.show(cards.change_card(info["pending"]), screen)
    for change in info.get("ending", []):
        screen.line(cards.ending_line(change))
    return OK
