"""IP addresses as numbers, and which of them are of the internet: the one judge of it for all that goes out.

Strict where programs on a router differ, as inet_pton is: an IPv4 part has no leading zero, since some read it as
octal. No `ipaddress`, which costs 400 kB; runs under MicroPython where its socket has inet_pton.
Source: the IANA special-purpose registries for IPv4 and IPv6; RFC 6052 and 8215 (NAT64), RFC 3056 (6to4), RFC 4380
(Teredo), RFC 5214 (ISATAP), RFC 2765 (SIIT).
"""

try:
    import _socket  # what CPython's socket is made of, without what that imports
except ImportError:
    import socket as _socket  # type: ignore[no-redef]

# (first bits, how many, what is there); the first that fits counts.
_HERE, _LINK, _ELSEWHERE = "this router itself", "of the local link", "not of the internet"
_SPECIAL4 = (
    (127, 8, _HERE), (0xA9FE, 16, _LINK), (0, 8, _ELSEWHERE), (10, 8, _ELSEWHERE), (0x191, 10, _ELSEWHERE),
    (0xAC1, 12, _ELSEWHERE), (0xC0A8, 16, _ELSEWHERE), (0xC00000, 24, _ELSEWHERE), (0xC00002, 24, _ELSEWHERE),
    (0xC05863, 24, _ELSEWHERE), (0x6309, 15, _ELSEWHERE), (0xC63364, 24, _ELSEWHERE), (0xCB0071, 24, _ELSEWHERE),
    (7, 3, _ELSEWHERE),
)  # fmt: skip
_SPECIAL6 = (
    (1, 128, _HERE), (0x3FA, 10, _LINK), (0x20010000 >> 9, 23, _ELSEWHERE), (0x20010DB8, 32, _ELSEWHERE),
    (0x3FFF0, 20, _ELSEWHERE),
)  # fmt: skip
_NAT64 = 0x0064FF9B << 64  # the upper 96 bits of 64:ff9b::/96
_6TO4 = 0x2002
_ISATAP = (0x00005EFE, 0x02005EFE)


def number(text: str) -> "tuple[int, int] | None":
    """Return (4 or 6, the address as a whole number), None when the text is no address."""
    family, kind = (6, _socket.AF_INET6) if ":" in text else (4, _socket.AF_INET)
    try:
        return family, int.from_bytes(_socket.inet_pton(kind, text), "big")
    except (OSError, ValueError):
        return None


def number4(text: str) -> "int | None":
    """Return a dotted IPv4 address as a number, None when it is none."""
    found = number(text)
    return found[1] if found and found[0] == 4 else None


def not_of_internet(text: str) -> str:
    """Return why an address is none of the internet, "" when it is one; what is wrapped in it counts as well."""
    found = number(text.split("%")[0])
    if found is None:
        return "no address"
    family, value = found
    if family == 4:
        return _special(value, 32, _SPECIAL4)
    for inner in wrapped(value):
        reason = _special(inner, 32, _SPECIAL4)
        if reason:
            return reason
    reason = _special(value, 128, _SPECIAL6)
    # Only 2000::/3 is given out; an IPv4 address of the internet may be behind the well-known prefix of NAT64.
    return reason or ("" if value >> 125 == 1 or value >> 32 == _NAT64 else _ELSEWHERE)


# RFC 1918, 3927, 4193, 4291 and 1122: (family, bits that all of a network have, how many).
_HOME = ((4, 10, 8), (4, 127, 8), (4, 0xAC1, 12), (4, 0xC0A8, 16), (4, 0xA9FE, 16), (6, 0x7E, 7), (6, 0x3FA, 10),
         (6, 1, 128))  # fmt: skip


def is_home(text: str) -> bool:
    """Tell whether a text is an address that no network outside has: private, link-local or loopback."""
    family, value = number(text) or (0, 0)
    bits = {4: 32, 6: 128}.get(family, 0)
    return any(value >> (bits - length) == first for kind, first, length in _HOME if kind == family)


def wrapped(value: int) -> "list[int]":
    """Return the IPv4 addresses that an IPv6 address may stand for: mapped, SIIT, NAT64, 6to4, Teredo, ISATAP."""
    found: "list[int]" = []
    low = value & 0xFFFFFFFF
    if value >> 32 in (0, 0xFFFF, 0xFFFF0000, _NAT64) and value > 1:
        found.append(low)
    if value >> 112 == _6TO4:
        found.append(value >> 80 & 0xFFFFFFFF)
    if value >> 96 == 0x20010000:
        found += [value >> 64 & 0xFFFFFFFF, low ^ 0xFFFFFFFF]
    if value >> 32 & 0xFFFFFFFF in _ISATAP:
        found.append(low)
    return found


def _special(value: int, bits: int, table: "tuple[tuple[int, int, str], ...]") -> str:
    for first, length, what in table:
        if value >> (bits - length) == first:
            return what
    return ""
