"""IPv4 arithmetic on texts, without the ipaddress module: the daemon would keep it in memory."""

from __future__ import annotations


def parse_ipv4(text: str) -> int | None:
    """Return a dotted quad as a number, None when it is none (also 192.168.01.1: readers disagree about it)."""
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and str(int(part)) == part for part in parts):
        return None
    number = 0
    for part in parts:
        if int(part) > 255:
            return None
        number = number << 8 | int(part)
    return number


def ipv4_text(number: int) -> str:
    """Return a number as a dotted quad."""
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def prefix_of(netmask: str) -> int | None:
    """Return the prefix length of 255.255.255.0 or 24, None when it is no mask."""
    if netmask.isascii() and netmask.isdigit():
        return int(netmask) if int(netmask) <= 32 else None
    number = parse_ipv4(netmask)
    if number is None:
        return None
    length = bin(number).count("1")
    return length if number == mask(length) else None


def mask(prefix: int) -> int:
    """Return the netmask of a prefix length as a number."""
    return 0xFFFFFFFF << (32 - prefix) & 0xFFFFFFFF


def is_host(text: str) -> bool:
    """Tell whether an address can belong to one machine: not 0.x, loopback, multicast or reserved."""
    number = parse_ipv4(text)
    return number is not None and 1 <= number >> 24 <= 223 and number >> 24 != 127


def is_private(text: str) -> bool:
    """Tell whether an address is from the private ranges. Source: RFC 1918; RFC 6598 for 100.64/10."""
    number = parse_ipv4(text)
    ranges = ((0x0A000000, 8), (0xAC100000, 12), (0xC0A80000, 16), (0x64400000, 10))
    return number is not None and any(number & mask(prefix) == first for first, prefix in ranges)


def overlaps(left: str, left_prefix: int, right: str, right_prefix: int) -> bool:
    """Tell whether two networks share an address."""
    first, second = parse_ipv4(left), parse_ipv4(right)
    shared = mask(min(left_prefix, right_prefix))
    return first is not None and second is not None and first & shared == second & shared


def split_cidr(text: str, netmask: str = "") -> tuple[str, int] | None:
    """Return ("192.168.1.1", 24) for an address with prefix or with a separate netmask, None when unreadable."""
    address, slash, prefix = text.partition("/")
    length = prefix_of(prefix if slash else netmask or "24")
    return (address, length) if length is not None and parse_ipv4(address) is not None else None
