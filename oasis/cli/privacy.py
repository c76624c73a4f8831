"""`oasis privacy`: what a message would send to a model, byte for byte, before anything is sent."""

from __future__ import annotations

import binascii

from oasis.cli.commands import OK
from oasis.core import clean, jsonl
from oasis.errors import OasisError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_STEP = "  "


def privacy(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print where a message would go, and all that would go there."""
    params: dict[str, object] = {"message": arguments["TEXT"]}
    if arguments["--chat"]:
        from oasis.cli.named import chat_id

        params["chat"] = chat_id(call, arguments["--chat"])
    if arguments["--service"]:
        params["service"] = arguments["--service"]
    reply = call("privacy.show", params)
    body = binascii.a2b_base64(reply["data"])
    for part in range(1, reply["parts"]):
        body += binascii.a2b_base64(call("privacy.show", {**params, "part": part})["data"])
    text = body.decode("utf-8")
    if screen.is_json:
        screen.json({**reply, "data": text, "parts": 1})
    elif arguments["--raw"]:
        screen.document(text)
    else:
        _show(reply, text, screen)
    return OK


def _show(reply: dict[str, Any], text: str, screen: Screen) -> None:
    service = reply["service"]
    if not reply["url"]:
        screen.line(clean.line(f"Nothing: {service['name']} answers on the router itself."))
        return
    where = "a server of your own" if service["is_local"] else "a service outside your home"
    screen.line(clean.line(f"To {service['name']} ({service['model']}), {where}:"), "bold")
    screen.line(clean.line(f"{reply['method']} {reply['url']}"))
    for name, value in reply["headers"].items():
        screen.line(clean.line(f"{name}: {value}"))
    screen.line(f"{reply['bytes']} bytes, about {reply['tokens']} tokens:")
    screen.text(_pretty(text) + "\n")
    screen.notice("nothing was sent; the router's secrets are placeholders, the key is shown as ***")
    screen.notice("these lines are drawn for reading; the bytes as they would go: oasis privacy --raw TEXT")


def _pretty(text: str) -> str:
    """Return JSON in lines for people; what is none as it is."""
    try:
        return "\n".join(_lines(jsonl.loads(text, max_bytes=4 * len(text) + 1), ""))
    except OasisError:
        return text


def _lines(value: Any, indent: str) -> list[str]:
    if not isinstance(value, (dict, list)) or not value:
        return [jsonl.dumps(value)]
    is_table = isinstance(value, dict)
    found = ["{" if is_table else "["]
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        first, *rest = _lines(item, indent + _STEP)
        found += [f"{indent}{_STEP}{jsonl.dumps(key) + ': ' if is_table else ''}{first}", *rest]
    return [*found, indent + ("}" if is_table else "]")]
