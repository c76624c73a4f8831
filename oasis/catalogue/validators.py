"""Validators of values of UCI options: each tells "" or what the value must be, and never what it was.

Plain functions of a value and of arguments that are texts. Source of the names: LuCI's validation.js; of the
firewall's: firewall4's fw4.uc; the rest are ours.

A datatype of the catalogue is an expression like `port`, `range(1,4094)`, `or(ip4addr,'ignore')`, `list(macaddr)` whose
words are the names of these validators. `error` says what is wrong with a value. Knows no package and no option.
"""

from __future__ import annotations

import os
import re

from oasis.catalogue import address_text
from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


TRUE = ("1", "on", "true", "yes", "enabled")
FALSE = ("0", "off", "false", "no", "disabled")
# What ends a quoted text, or means something to nft, dnsmasq, a shell or JSON behind a quote that was ended.
_UNQUOTABLE = '"\\`$;{}'
_DEVICE = r"[A-Za-z0-9_@][A-Za-z0-9_.@+~-]{0,14}"


def _say(is_good: bool, text: str) -> str:
    return "" if is_good else "must be " + text


def boolean(value: str) -> str:
    """Validate what OpenWrt takes for yes or no."""
    return _say(value in TRUE + FALSE, "1 or 0 (on, off, yes, no, true, false, enabled, disabled are read too)")


def uinteger(value: str) -> str:
    return _say(address_text.is_number(value), "a whole number, 0 or more")


def integer(value: str) -> str:
    return _say(address_text.is_number(value[1:] if value.startswith("-") else value), "a whole number")


def in_range(value: str, low: str, high: str) -> str:
    text = f"a whole number from {low} to {high}"
    return _say(not integer(value) and int(low) <= int(value) <= int(high), text)


def at_least(value: str, low: str) -> str:
    return _say(not integer(value) and int(value) >= int(low), f"a whole number, {low} or more")


def at_most(value: str, high: str) -> str:
    return _say(not integer(value) and int(value) <= int(high), f"a whole number, {high} or less")


def max_length(value: str, size: str) -> str:
    """Validate a length in bytes, which is what the programs count."""
    return _say(len(value.encode("utf-8", "surrogateescape")) <= int(size), f"{size} bytes long at most")


def range_length(value: str, low: str, high: str) -> str:
    return _say(int(low) <= len(value) <= int(high), f"{low} to {high} characters long")


def anything(value: str) -> str:
    return ""


def label(value: str) -> str:
    """Validate a name or comment that a script writes between double quotes, as fw4 does for nft.

    nft knows no escape inside quotes, so a quote ends the text whatever stands before it, and what follows is a rule.
    """
    bad = next((char for char in value if char in _UNQUOTABLE or clean.line(char) != char), "")
    return _say(not bad, "a text without %s" % " ".join(_UNQUOTABLE) + " and invisible characters")


def word(value: str) -> str:
    return _say(re.match(r"[!-~]+\Z", value) is not None, "one word of printable ASCII without blanks")


def name(value: str) -> str:
    """Validate a word that cannot be a path, an option of a program or a piece of shell."""
    return _say(re.match(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]*\Z", value) is not None, "letters, digits and _ . : + - only")


def uciname(value: str) -> str:
    return _say(re.match(r"[A-Za-z0-9_]+\Z", value) is not None, "letters, digits and underscores")


def netdevname(value: str) -> str:
    # narrower than the kernel's rule: scripts of several packages put device names into a line that a shell reads
    good = re.match(_DEVICE + r"\Z", value) is not None
    return _say(good, "the name of a network device, 15 characters at most")


def device(value: str) -> str:
    """Validate a device, with or without an alias' @ or a VLAN's number."""
    return netdevname(value[1:] if value.startswith("@") else value)


def bridge_port(value: str) -> str:
    """Validate a port of a bridge VLAN: lan1, lan1:u, lan1:t, lan1:u*."""
    return _say(re.match(_DEVICE + r"(?::[ut]?\*?)?\Z", value) is not None, "a port like lan1:t or lan1:u*")


def hexstring(value: str) -> str:
    return _say(re.match(r"(?:[0-9A-Fa-f]{2})+\Z", value) is not None, "pairs of hexadecimal digits")


def ipaddr(value: str, nomask: str = "") -> str:
    return _say(not ip4addr(value, nomask) or not ip6addr(value, nomask), "an IP address")


def ip4addr(value: str, nomask: str = "") -> str:
    good = address_text.is_ip4(value) or (not nomask and not ip4net(value))
    return _say(good, "an IPv4 address" if nomask else "an IPv4 address, with or without a prefix length")


def ip6addr(value: str, nomask: str = "") -> str:
    good = address_text.is_ip6(value) or (not nomask and address_text.is_cidr(value, 6))
    return _say(good, "an IPv6 address" if nomask else "an IPv6 address, with or without a prefix length")


def ip4net(value: str) -> str:
    address, _, mask = value.partition("/")
    good = address_text.is_cidr(value, 4) or (address_text.is_ip4(address) and address_text.is_netmask(mask))
    return _say(good, "an IPv4 network like 192.168.2.0/24")


def cidr4(value: str) -> str:
    return _say(address_text.is_cidr(value, 4), "an IPv4 network like 192.168.2.0/24")


def cidr6(value: str) -> str:
    return _say(address_text.is_cidr(value, 6), "an IPv6 network like fd00:1234::/48")


def cidr(value: str) -> str:
    return _say(not cidr4(value) or not cidr6(value), "a network like 192.168.2.0/24 or fd00:1234::/48")


def netmask4(value: str) -> str:
    return _say(address_text.is_netmask(value), "an IPv4 netmask like 255.255.255.0")


def ip6hostid(value: str) -> str:
    good = value in ("eui64", "random") or address_text.is_ip6(value)
    return _say(good, "an IPv6 suffix like ::1, eui64 or random")


def macaddr(value: str) -> str:
    return _say(address_text.is_mac(value), "a MAC address like 00:11:22:aa:bb:cc")


def port(value: str) -> str:
    return _say(address_text.is_port(value), "a port number, 0 to 65535")


def portrange(value: str) -> str:
    return _say(address_text.is_port_range(value), "a port or a range of ports like 8000-8010")


def hostname(value: str) -> str:
    return _say(address_text.is_hostname(value), "a host name: letters, digits, hyphens, parts joined by dots")


def host(value: str) -> str:
    return _say(address_text.is_host(value), "a host name or an IP address")


def ipaddrport(value: str) -> str:
    """Validate what a server listens on: PORT, ADDRESS:PORT, [ADDRESS]:PORT."""
    address, colon, number = value.rpartition(":")
    plain = address[1:-1] if address.startswith("[") and address.endswith("]") else ""
    good = address_text.is_port(number) and (not colon or address_text.is_ip4(address) or address_text.is_ip6(plain))
    return _say(good, "a port, or an address and a port like 192.168.1.1:80 or [::]:80")


def network(value: str) -> str:
    return _say(not uciname(value) or address_text.is_host(value), "the name of a network, a host name or an address")


def wpakey(value: str) -> str:
    """Validate a WPA passphrase; what the value was is never said."""
    size = len(value.encode("utf-8", "surrogateescape"))
    good = re.match(r"[0-9A-Fa-f]{64}\Z", value) is not None if size == 64 else 8 <= size <= 63
    return _say(good, "a passphrase of 8 to 63 characters, or 64 hexadecimal digits")


def wepkey(value: str) -> str:
    good = re.match(r"(?:s:)?(?:.{5}|.{13}|[0-9A-Fa-f]{10}|[0-9A-Fa-f]{26})\Z", value) is not None
    return _say(good, "a WEP key: 5 or 13 characters, or 10 or 26 hexadecimal digits")


def wgkey(value: str) -> str:
    """Validate a WireGuard key; what the value was is never said."""
    good = re.match(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=\Z", value) is not None
    return _say(good, "a WireGuard key: 44 characters of base64")


def shellword(value: str) -> str:
    """Validate a text that some package's script gives to a shell once more: nothing in it means anything there."""
    good = re.match(r"[A-Za-z0-9_.:,/@%+=^!][A-Za-z0-9_.:,/@%+=^!-]{0,255}\Z", value) is not None
    return _say(good, "letters, digits and _ . : , / @ % + = ^ ! - only, since scripts of that package evaluate it")


def url(value: str) -> str:
    """Validate a web address in which nothing means anything to a shell."""
    good = re.match(r"https?://[A-Za-z0-9_.:/?@=%+,~-]{1,512}\Z", value) is not None
    return _say(good, "a web address like https://example.org/path, without quotes, blanks and &")


def email(value: str) -> str:
    good = re.match(r"[A-Za-z0-9_.+][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]*\Z", value) is not None
    return _say(good, "an e-mail address")


def timehhmmss(value: str) -> str:
    good = re.match(r"(?:[01]?[0-9]|2[0-3])(?::[0-5]?[0-9]){0,2}\Z", value) is not None
    return _say(good, "a time like 21:30 or 21:30:00")


def posixtz(value: str) -> str:
    """Validate the rule of a time zone; a path is one too for some programs, and so is the name of a zone."""
    good = value in ("UTC", "GMT") or _TIME_ZONE.match(value) is not None
    return _say(good, "a POSIX time zone like CET-1CEST,M3.5.0,M10.5.0/3")


def zonename(value: str) -> str:
    """Validate the name of a time zone, as the tz database has it; LuCI writes blanks for its underscores."""
    with open(_ZONES, encoding="ascii") as handle:
        names = handle.read().split()
    return _say(value.replace(" ", "_") in names, "a time zone name like Europe/Berlin")


def date(value: str) -> str:
    parts = re.match(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:T([0-9:]+))?)?)?\Z", value)
    good = parts is not None and 1970 <= int(parts[1]) <= 2038
    good = good and parts is not None and int(parts[2] or 1) in range(1, 13) and int(parts[3] or 1) in range(1, 32)
    return _say(good, "a date like 2026-05-01")


def duration(value: str) -> str:
    """Validate a lease time: seconds, or with s, m, h, d or w."""
    good = value == "infinite" or re.match(r"[1-9][0-9]*[smhdw]?\Z", value) is not None
    return _say(good, "a time like 30m, 12h or 7d, or infinite")


def oneof(value: str, *choices: str) -> str:
    return _say(value in choices, "one of: " + ", ".join(choices))


def anycase(value: str, *choices: str) -> str:
    return _say(value.lower() in [choice.lower() for choice in choices], "one of: " + ", ".join(choices))


def pattern(value: str, expression: str, text: str) -> str:
    """Validate by a regular expression; `text` says to people what it means."""
    return _say(re.match(f"(?:{expression})\\Z", value) is not None, text)


def fwnetwork(value: str) -> str:
    """Validate what firewall4 matches: address, network, range FIRST-LAST, or the name of an interface."""
    first, dash, last = value.partition("-")
    good = not ipaddr(value) or not uciname(value)
    if dash and not good:
        good = not ipaddr(first, "nomask") and not ipaddr(last, "nomask")
    return _say(good, "an address, a network, a range FIRST-LAST or the name of an interface")


def protocol(value: str) -> str:
    """Validate an IP protocol by name or number."""
    good = value.lower() in _PROTOCOLS or address_text.is_number(value, 0, 255)
    return _say(good, "a protocol: tcp, udp, icmp, all, … or a number from 0 to 255")


def dnsserver(value: str) -> str:
    """Validate dnsmasq's [/DOMAIN/…/]ADDRESS[#PORT][@INTERFACE]."""
    domains, address = _domains(value)
    address, _, source = address.partition("@")
    address, hash_, number = address.partition("#")
    good = domains and (not source or re.match(r"[A-Za-z0-9_.:-]+\Z", source) is not None)
    good = good and (not hash_ or address_text.is_port(number) or (not address and not number))
    good = good and (address_text.is_host(address) or (not address and value.startswith("/")))
    return _say(good, "an address, or /domain/address, with #port when it is not 53")


def dnsaddress(value: str) -> str:
    """Validate dnsmasq's /DOMAIN/…/[ADDRESS]."""
    domains, address = _domains(value)
    good = domains and value.startswith("/") and (address in ("", "#") or not ipaddr(address, "nomask"))
    return _say(good, "/domain/address")


def _domains(value: str) -> tuple[bool, str]:
    """Split the domains off; tell whether all of them are good, and return what follows."""
    if not value.startswith("/"):
        return True, value
    domains, slash, rest = value[1:].rpartition("/")
    names = [item[2:] if item.startswith("*.") else item.lstrip(".") for item in domains.split("/") if item != "#"]
    return bool(slash) and all(not item or address_text.is_hostname(item) for item in names), rest


def encryption(value: str) -> str:
    """Validate a wireless encryption: a mode, and its ciphers joined by plus."""
    mode, _, ciphers = value.partition("+")
    good = mode in _ENCRYPTIONS and all(cipher in _CIPHERS for cipher in ciphers.split("+") if ciphers)
    return _say(good, "one of: {} (psk2 and sae may have +ccmp)".format(", ".join(_ENCRYPTIONS)))


_ENCRYPTIONS = (
    "none", "owe", "psk2", "sae", "sae-mixed", "psk-mixed", "psk", "wpa2", "wpa3", "wpa3-mixed", "wpa3-192",
    "wpa-mixed", "wpa", "wep", "wep-open", "wep-shared", "8021x", "dpp",
)  # fmt: skip
_CIPHERS = ("tkip", "ccmp", "aes", "ccmp256", "gcmp", "gcmp256", "open", "shared", "mixed")
_PROTOCOLS = (
    "all", "any", "*", "tcp", "udp", "tcpudp", "icmp", "icmpv6", "ipv6-icmp", "igmp", "esp", "ah", "gre",
    "sctp", "udplite", "dccp", "ipcomp", "ospf", "ipip", "ipv6", "l2tp", "pim", "vrrp", "eigrp",
)  # fmt: skip

# Source: POSIX.1-2017, chapter 8.3; hours of a change up to 167 either way, as the tz database uses them.
_ZONE_NAME, _ZONE_OFFSET = "(?:[A-Za-z]{3,10}|<[A-Za-z0-9+-]{3,10}>)", "[+-]?(?:[01]?[0-9]|2[0-4])(?::[0-5][0-9]){0,2}"
_ZONE_CHANGE = (
    "(?:J?[0-9]{1,3}|M(?:1[0-2]|[1-9])[.][1-5][.][0-6])(?:/[+-]?(?:1[0-6]?|[0-9])?[0-9](?::[0-5][0-9]){0,2})?"
)
_TIME_ZONE = re.compile(
    f"{_ZONE_NAME}{_ZONE_OFFSET}(?:{_ZONE_NAME}(?:{_ZONE_OFFSET})?(?:,{_ZONE_CHANGE},{_ZONE_CHANGE})?)?\\Z"
)
# Names of the tz database, without those that it keeps for old settings.
_ZONES = os.path.dirname(os.path.abspath(__file__)) + "/zonenames.txt"

# By their names in expressions.
PLAIN: dict[str, Callable[..., str]] = {
    "anycase": anycase, "bool": boolean, "bridgeport": bridge_port, "cidr": cidr, "cidr4": cidr4,
    "cidr6": cidr6, "date": date, "device": device, "dnsaddress": dnsaddress, "dnsserver": dnsserver,
    "duration": duration, "email": email, "encryption": encryption, "fwnetwork": fwnetwork, "hexstring": hexstring,
    "host": host, "hostname": hostname, "integer": integer, "ip4addr": ip4addr, "ip4net": ip4net,
    "ip6addr": ip6addr, "ip6hostid": ip6hostid, "ipaddr": ipaddr, "ipaddrport": ipaddrport, "label": label,
    "macaddr": macaddr, "max": at_most, "maxlength": max_length, "min": at_least, "name": name,
    "netdevname": netdevname, "netmask4": netmask4, "network": network, "oneof": oneof, "pattern": pattern,
    "port": port, "portrange": portrange, "posixtz": posixtz, "protocol": protocol, "range": in_range,
    "rangelength": range_length, "shellword": shellword, "string": anything, "text": anything, "timehhmmss": timehhmmss,
    "uciname": uciname, "uinteger": uinteger, "url": url, "wepkey": wepkey, "wgkey": wgkey, "word": word,
    "wpakey": wpakey, "zonename": zonename,
}  # fmt: skip


_LONGEST = 4096  # no option of a router is longer; Python makes no number of more than 4300 digits
_TOKEN = re.compile(r"\s*(?:'([^']*)'|([(),])|([^\s'(),]+))")


def error(expression: str, value: str) -> str:
    """Return what a value of that datatype must be, "" when it is one.

    Raises: KeyError for a datatype that does not exist, which is a fault of the catalogue.
    """
    control = any(char < " " or char == "\x7f" for char in value)
    if control and expression != "text":
        # init scripts write values into configuration files line by line: a line break adds a line of its own
        return "must be one line without control characters"
    if len(value) > _LONGEST and expression != "text":
        return f"must be {_LONGEST} characters long at most"
    tokens = [match.groups() for match in _TOKEN.finditer(expression)]
    node, rest = _node(tokens)
    if rest:
        raise KeyError(expression)
    return _run(node, value)


def truth(value: object) -> bool | None:
    """Tell what a UCI boolean means; None when it is none."""
    return value in TRUE if value in TRUE + FALSE else None


# Expressions: a node is (name, [argument nodes]); a literal is ("'", its text).


def _node(tokens: list[tuple[str | None, ...]]) -> tuple[tuple[str, list[object]], list[tuple[str | None, ...]]]:
    literal, _, word = tokens[0]
    rest = tokens[1:]
    if literal is not None:
        return ("'", [literal]), rest
    arguments: list[object] = []
    if rest and rest[0][1] == "(":
        while rest[0][1] != ")":
            argument, rest = _node(rest[1:])
            arguments.append(argument)
        rest = rest[1:]
    return (str(word), arguments), rest


def _run(node: object, value: str) -> str:
    assert isinstance(node, tuple)
    name, arguments = node
    if name == "'" or address_text.is_number(name):
        wanted = arguments[0] if name == "'" else name
        return "" if value == wanted else f"must be {wanted}"
    if name in _COMBINED:
        return _COMBINED[name](value, arguments)
    return PLAIN[name](value, *[_literal(argument) for argument in arguments])


def _literal(node: object) -> str:
    assert isinstance(node, tuple)
    return str(node[1][0] if node[0] == "'" else node[0])


def _or(value: str, choices: list[object]) -> str:
    found = [_run(choice, value) for choice in choices]
    if "" in found:
        return ""
    return "must be " + ", or ".join(text[8:] if text.startswith("must be ") else text for text in found)


def _and(value: str, choices: list[object]) -> str:
    return next((text for text in (_run(choice, value) for choice in choices) if text), "")


def _neg(value: str, choices: list[object]) -> str:
    # firewall4 takes "!x" and "! x"
    return _run(choices[0], value[1:].strip() if value.startswith("!") else value)


def _list(value: str, choices: list[object]) -> str:
    return next((text for text in (_run(choices[0], word) for word in value.split()) if text), "")


_COMBINED: dict[str, Callable[[str, list[object]], str]] = {"or": _or, "and": _and, "neg": _neg, "list": _list}
