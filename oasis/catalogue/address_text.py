"""Is this text an address, a network, a host name? Pure tests of strings, without `ipaddress`, which costs 400 kB.

Strict where programs on the router differ: an IPv4 part has no leading zero, since some read it as octal.
"""

from __future__ import annotations

import re

from oasis.core.addresses import is_home as is_home
from oasis.core.addresses import number as number
from oasis.core.addresses import number4

_MAC = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\Z")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\Z")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)\Z")
_DOMAIN_CHARS = 253  # RFC 1035, without the final dot
_LABEL_CHARS = 63


def is_number(text: str, low: int = 0, high: int = 0xFFFFFFFF) -> bool:
    """Tell whether the text is a whole decimal number within bounds, written without leading zeros."""
    return _NUMBER.match(text) is not None and low <= int(text) <= high


def is_ip4(text: str) -> bool:
    """Tell whether the text is a dotted IPv4 address."""
    return number4(text) is not None


def is_ip6(text: str) -> bool:
    """Tell whether the text is an IPv6 address without a zone."""
    return (number(text) or (0, 0))[0] == 6


def is_private4(value: int) -> bool:
    """Tell whether a number is an IPv4 address of RFC 1918."""
    return value >> 24 == 10 or value >> 20 == 0xAC1 or value >> 16 == 0xC0A8


def text_of(family: int, value: int) -> str:
    """Return the usual text of an address; for IPv6 see RFC 5952, section 4."""
    if family == 4:
        return ".".join(str(value >> shift & 0xFF) for shift in (24, 16, 8, 0))
    groups = [value >> shift & 0xFFFF for shift in range(112, -1, -16)]
    text = ":".join("%x" % group for group in groups)
    runs = list(re.finditer(r"(?:(?<=:)|^)0(?::0)+(?=:|$)", text))
    if not runs:
        return text
    longest = max(runs, key=lambda run: len(run[0]))  # the first of equal ones
    return text[: longest.start()].rstrip(":") + "::" + text[longest.end() :].lstrip(":")


def mask_bits(mask: int, family: int) -> int:
    """Return how many ones a mask begins with, -1 when zeros stand among them."""
    size = 32 if family == 4 else 128
    zeros = ~mask & ((1 << size) - 1)
    return size - zeros.bit_length() if zeros & (zeros + 1) == 0 else -1


def is_netmask(text: str) -> bool:
    """Tell whether the text is a dotted IPv4 mask: ones, then zeros."""
    value = number4(text)
    return value is not None and mask_bits(value, 4) >= 0


def is_cidr(text: str, family: int) -> bool:
    """Tell whether the text is ADDRESS/BITS of the family 4 or 6."""
    address, slash, bits = text.partition("/")
    return bool(slash) and (number(address) or (0, 0))[0] == family and is_number(bits, 0, 32 if family == 4 else 128)


def is_mac(text: str) -> bool:
    """Tell whether the text is a MAC address with colons."""
    return _MAC.match(text) is not None


def is_hostname(text: str) -> bool:
    """Tell whether the text is a host or domain name; underscores pass, as services have them."""
    name = text[:-1] if text.endswith(".") else text
    if not name or len(name) > _DOMAIN_CHARS or is_number(name.replace(".", "")):
        return False
    return all(len(label) <= _LABEL_CHARS and _LABEL.match(label) for label in name.split("."))


def is_host(text: str) -> bool:
    """Tell whether the text is an address or a host name."""
    return is_ip4(text) or is_ip6(text) or is_hostname(text)


def is_port(text: str) -> bool:
    """Tell whether the text is a port number."""
    return is_number(text, 0, 65535)


def is_port_range(text: str) -> bool:
    """Tell whether the text is a port or FIRST-LAST (or FIRST:LAST)."""
    first, dash, last = text.replace(":", "-").partition("-")
    if not dash:
        return is_port(first)
    return is_port(first) and is_port(last) and int(first) <= int(last)
