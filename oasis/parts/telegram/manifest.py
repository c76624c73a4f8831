"""What the part `telegram` offers: talking with the router by a messenger, and being told by it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Kit

METHODS = {"telegram": "parts.telegram.telegram"}


def _is_enabled(kit: Kit) -> bool:
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
    "notices": ("", "list what happened while nobody looked", "parts.telegram.command:notices", ""),
}
