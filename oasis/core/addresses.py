"""IP addresses as numbers, and which of them are of the internet: the one judge of it for all that goes out.

Strict where programs on a router differ: an IPv4 part has no leading zero, since some read it as octal. No `ipaddress`,
which costs 400 kB; imports under MicroPython. Source: the IANA special-purpose registries for IPv4 and IPv6; RFC 4291
for the text, RFC 6052 and 8215 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), RFC 5214 (ISATAP), RFC 2765 (SIIT).
"""

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
    value = number4(text)
    if value is not None:
        return 4, value
    value = _number6(text)
    return None if value is None else (6, value)


def number4(text: str) -> "int | None":
    """Return a dotted IPv4 address as a number, None when it is none."""
    parts = text.split(".")
    if len(parts) != 4:
        return None
    value = 0
    for part in parts:
        if not part or len(part) > 3 or not _is_of(part, "0123456789") or (part[0] == "0" and part != "0"):
            return None
        if int(part) > 255:
            return None
        value = value << 8 | int(part)
    return value


def _number6(text: str) -> "int | None":
    """Return an IPv6 address without a zone as a number. Source: RFC 4291, section 2.2."""
    if len(text) > 45 or ":" not in text or text.count("::") > 1 or ":::" in text:
        return None
    head, gap, tail = text.partition("::") if "::" in text else (text, "", "")
    first, last = _groups(head, not gap), _groups(tail, True)
    if first is None or last is None or (len(first) + len(last) > 7 if gap else len(first) != 8):
        return None
    value = 0
    for group in first + [0] * (8 - len(first) - len(last)) + last:
        value = value << 16 | group
    return value


def _groups(text: str, may_end_in_ip4: bool) -> "list[int] | None":
    """Return the 16-bit groups of colon separated text, None when one of them is wrong."""
    parts = text.split(":") if text else []
    groups: "list[int]" = []
    for place, part in enumerate(parts):
        if "." in part and may_end_in_ip4 and place == len(parts) - 1:
            value = number4(part)
            if value is None:
                return None
            groups += [value >> 16, value & 0xFFFF]
        elif 0 < len(part) <= 4 and _is_of(part, "0123456789abcdefABCDEF"):
            groups.append(int(part, 16))
        else:
            return None
    return groups


def _is_of(text: str, chars: str) -> bool:
    return all([char in chars for char in text])


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
