"""What a message would send, and where to: the very bytes of the first request, made as for an answer and not sent.

A part (api/parts.py). Secrets of the router are placeholders in it already, the key is no part of what is shown.
"""

from __future__ import annotations

import binascii

from oasis.config.settings import is_at_home
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.agent.start import TurnStarter
    from oasis.api.parts import Services

PART_BYTES = 96 * 1024  # as base64 below what a reply of the bus may hold
_BYTES_A_TOKEN = 4  # about, of English


def gather(kit: Services) -> Privacy:
    """Return the part of a daemon; `kit` is that of parts.py."""
    return Privacy(kit.turn_starter)


class Privacy:
    """Shows requests; `exchanges()` makes them."""

    def __init__(self, exchanges: Callable[[], TurnStarter]) -> None:
        self._turn_starter = exchanges

    def privacy_show(self, message: str, chat: str = "", service: str = "", part: int = 0) -> dict[str, object]:
        """Return what a message would send: the receiver, and a part of the bytes.

        Shape: {"service": {"identifier", "name", "model", "is_local"}, "method", "url", "headers", "bytes",
                "tokens": about, "data": base64 of this part, "parts"}; for the built-in service, which sends nothing,
                "url" is "" and "bytes" 0.
        Raises: UsageError, SettingsError and StoreError as run.start does.
        """
        found = self._turn_starter().show({"message": message, "chat": chat, "service": service})
        request = found["request"] or {"method": "", "url": "", "headers": {}, "text": ""}
        body = str(request["text"]).encode("utf-8")
        count = max((len(body) + PART_BYTES - 1) // PART_BYTES, 1)
        if not 0 <= part < count:
            raise UsageError("part is %d" % part, "this request has the parts 0 to %d" % (count - 1))
        data = binascii.b2a_base64(body[part * PART_BYTES : (part + 1) * PART_BYTES], newline=False).decode()
        service_shown = {key: found["service"][key] for key in ("identifier", "name", "model", "is_local")}
        if request["url"] and is_at_home(str(request["url"])):
            service_shown["is_local"] = True  # a server of any make, on this machine or in its network
        return {
            "service": service_shown,
            **{key: request[key] for key in ("method", "url", "headers")},
            "bytes": len(body),
            "tokens": len(body) // _BYTES_A_TOKEN,
            "data": data,
            "parts": count,
        }
