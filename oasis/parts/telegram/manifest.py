"""The manifest of the part `telegram`: talking with the router by a messenger, and notices from it."""

from __future__ import annotations

if False:  # annotations only
    from oasis.api.parts import Services

VERSION = "0.2.0"

METHODS = {"telegram": "parts.telegram.messenger"}
ROWS = {
    "telegram.list": ("read", "telegram.telegram_list", {}),
    "telegram.pair": ("write", "telegram.telegram_pair", {}, {"who": str}),
    "telegram.forget": ("write", "telegram.telegram_forget", {"id": str}),
    "telegram.secret": ("write", "telegram.telegram_secret", {}, {"code": str}),
    "telegram.set": ("write", "telegram.telegram_set", {}, {"enabled": bool, "approve": bool, "notices": bool}),
}
# The owner by a messenger, whose words come through a program that talks to the network: what they say is a run, but
# it approves no plan that waits for their approval on the page (card.py). A guest may only ask
# (people.py).
ROLE_METHODS = {
    "messenger": (
        "info", "run.start", "run.poll", "run.cancel", "plan.list", "plan.decline", "change.pending", "change.undo",
    ),
    "guest": ("run.poll", "run.cancel"),
}  # fmt: skip
# A guest's tools show no configuration, no log and no package: what the router is doing, and what is wrong with it.
ROLE_TOOLS = {"messenger": ("*",), "guest": ("status", "diagnose")}


def _is_enabled(kit: Services) -> bool:
    sections = [one for one in kit.settings.uci_sections() if one.type == "telegram"]
    return any(one.options.get("enabled") == "1" for one in sections)


SETTLING = {"telegram": _is_enabled}

COMMANDS = {
    "telegram": (
        "[ACTION] [WORD]",
        "talk with the router by Telegram: turn it on or off, pair, see how it goes",
        "parts.telegram.command:telegram",
        "ACTION is list, on, off, pair [guest], forget ID, secret, approve on|off or notices on|off; guests only ask.\n"
        "With `approve on` plans can be approved there; `secret` sets up the codes that risky ones need.",
    ),
}
