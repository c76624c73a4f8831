"""Where the router will be found after a change, when that changes the way to it."""

from __future__ import annotations

from oasis.uci import model
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Images

PACKAGE, _INTERFACE = "network", "lan"


def new_address(images: Images) -> str:
    """Return the address that the router will have on its own network, "" when that stays or cannot be known."""
    old, new = [_address(data) for data in images[PACKAGE]]
    return new if new != old else ""


def _address(data: bytes) -> str:
    section = tables(model.parse(data, PACKAGE)).get(_INTERFACE, {})
    value = section.get("ipaddr")
    first = value[0] if isinstance(value, list) and value else value
    if section.get("proto") != "static" or not isinstance(first, str):
        return ""
    return (first.split() or [""])[0].partition("/")[0]
