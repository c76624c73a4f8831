"""Handles: how devices are called where their own names must not go, `dev#` and a number.

The number is made from the MAC address and the install key: the same after a restart, and it says nothing by itself. In
a command `dev#N.mac` and `dev#N.ip`, as a whole value, stand for the checked address of the device.
"""

from __future__ import annotations

from oasis.errors import UsageError
from oasis.system.digest import hmac_sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.change.shapes import Operation
    from oasis.tools.facts import Facts

    Device = dict[str, object]

# Five digits are easily told apart by people and models, and two of a home's devices hardly ever share them.
_NUMBERS = 100_000
_HANDLE = r"dev#[0-9]+"
_PART = r"(dev#[0-9]+)\.(mac|ip)\Z"
_HEX = frozenset("0123456789abcdef")


def is_mac(text: object) -> bool:
    """Tell whether a text is a MAC address in small letters."""
    parts = text.split(":") if isinstance(text, str) else []
    return len(parts) == 6 and all(len(part) == 2 and _HEX.issuperset(part) for part in parts)


def is_ipv4(text: object) -> bool:
    """Tell whether a text is an IPv4 address in the usual form."""
    parts = text.split(".") if isinstance(text, str) and text.isascii() else []
    return len(parts) == 4 and all(part.isdigit() and str(int(part)) == part and int(part) < 256 for part in parts)


def handle(key: bytes, mac: str) -> str:
    """Return what the device with a MAC address is called."""
    return "dev#%d" % (int(hmac_sha256(key, ("device " + mac).encode("utf-8"))[:12], 16) % _NUMBERS)


def listed(facts: Facts) -> list[Device]:
    """Return the devices of the router, each with its handle as "device"."""
    return [{"device": handle(facts.key, str(one["mac"])), **one} for one in facts.devices()]


def resolve(operations: list[Operation], devices: Callable[[], list[Device]]) -> list[Operation]:
    """Return the operations with addresses in the place of handles; `devices()` gives {"device", "mac", "ip", …}.

    Raises: UsageError for a handle that is none, names nothing, or stands where it cannot.
    """
    return [_resolve_one(operation, devices) for operation in operations]


def _resolve_one(operation: Operation, devices: Callable[[], list[Device]]) -> Operation:
    value = str(operation.get("value", ""))
    if "dev#" not in value:
        return operation
    import re  # with the first handle: an idle daemon does without

    if not re.search(_HANDLE, value):
        return operation
    match = re.match(_PART, value)
    if match is None:
        raise UsageError(
            "%r: a handle of a device is no value by itself" % value,
            "write its address as the whole value: dev#N.mac or dev#N.ip",
        )
    name, part = match.groups()
    known = [device for device in devices() if device["device"] == name]
    if len(known) != 1:
        raise UsageError(
            "%s means %s" % (name, "more than one device" if known else "no device that is known now"),
            "read status devices again, or write the address itself",
        )
    address = known[0][part]
    if not (is_mac(address) if part == "mac" else is_ipv4(address)):
        raise UsageError("%s has no %s that is known" % (name, part), "read status devices again")
    return {**operation, "value": address}


def with_names(text: str, devices: Callable[[], list[Device]]) -> str:
    """Return a text for the owner, in which a device's name stands before its handle."""
    if "dev#" not in text:
        return text
    import re

    # Quotes would end a text in JSON.
    names = {str(one["device"]): re.sub(r"[\"\\]", "", str(one["name"])) for one in devices() if one["name"]}
    return re.sub(
        _HANDLE,
        lambda found: "%s (%s)" % (names[found.group()], found.group()) if found.group() in names else found.group(),
        text,
    )
