"""Validators of values of UCI options: each tells "" or what the value must be, and never what it was.

Source of the names: LuCI's validation.js; of the firewall's: firewall4's fw4.uc; the rest are ours.

A datatype of the catalogue is an expression like `port`, `range(1,4094)`, `or(ip4addr,'ignore')`, `list(macaddr)` whose
words are the names of these validators. `error` says what is wrong with a value. Knows no package and no option.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from oasis.catalogue import address_text
from oasis.core import clean

TRUE = ("1", "on", "true", "yes", "enabled")
FALSE = ("0", "off", "false", "no", "disabled")
if False:  # annotations only
    from oasis.catalogue.shapes import Entry

# What ends a quoted text, or means something to nft, dnsmasq, a shell or JSON behind a quote that was ended.
_UNQUOTABLE = '"\\`$;{}'
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
_TIME_ZONE = f"{_ZONE_NAME}{_ZONE_OFFSET}(?:{_ZONE_NAME}(?:{_ZONE_OFFSET})?(?:,{_ZONE_CHANGE},{_ZONE_CHANGE})?)?"
# Names of the tz database, without those that it keeps for old settings.
_ZONES = os.path.dirname(os.path.abspath(__file__)) + "/zonenames.txt"


# Narrower than the kernel's rule: scripts of several packages put device names into a line that a shell reads.
_DEVICE = r"[A-Za-z0-9_@][A-Za-z0-9_.@+~-]{0,14}"
# (regular expression of the whole value, what it must be)
_PATTERNS = {
    "string": (r"[\s\S]*", ""),
    "text": (r"[\s\S]*", ""),
    "word": ("[!-~]+", "one word of printable ASCII without blanks"),
    # no path, no option of a program, no piece of shell
    "name": ("[A-Za-z0-9_][A-Za-z0-9_.:+-]*", "letters, digits and _ . : + - only"),
    "uciname": ("[A-Za-z0-9_]+", "letters, digits and underscores"),
    "netdevname": (_DEVICE, "the name of a network device, 15 characters at most"),
    # with or without an alias' @, which is no part of the name
    "device": ("(?:@|(?!@))" + _DEVICE, "the name of a network device, 15 characters at most"),
    "bridgeport": (_DEVICE + r"(?::[ut]?\*?)?", "a port like lan1:t or lan1:u*"),
    "hexstring": ("(?:[0-9A-Fa-f]{2})+", "pairs of hexadecimal digits"),
    "wepkey": (
        "(?:s:)?(?:.{5}|.{13}|[0-9A-Fa-f]{10}|[0-9A-Fa-f]{26})",
        "a WEP key: 5 or 13 characters, or 10 or 26 hexadecimal digits",
    ),
    "wgkey": ("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=", "a WireGuard key: 44 characters of base64"),
    # for what some package's script gives to a shell once more: nothing in it means anything there
    "shellword": (
        "[A-Za-z0-9_.:,/@%+=^!][A-Za-z0-9_.:,/@%+=^!-]{0,255}",
        "letters, digits and _ . : , / @ % + = ^ ! - only, since scripts of that package evaluate it",
    ),
    # for what nobody has looked at: one word that is no path, no option of a program and nothing to a shell
    "scalar": (
        "[A-Za-z0-9_.:,@%+=^!][A-Za-z0-9_.:,@%+=^!-]{0,255}",
        "one word of letters, digits and _ . : , @ % + = ^ ! - that does not begin with -",
    ),
    "phrase": ("[A-Za-z0-9_][A-Za-z0-9_ .:,@%+=-]{0,127}", "letters, digits, blanks and _ . : , @ % + = -"),
    "float": ("-?[0-9]{1,9}(?:[.][0-9]{1,6})?", "a number"),
    "url": (
        "https?://[A-Za-z0-9_.:/?@=%+,~-]{1,512}",
        "a web address like https://example.org/path, without quotes, blanks and &",
    ),
    "email": ("[A-Za-z0-9_.+][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]*", "an e-mail address"),
    "timehhmmss": ("(?:[01]?[0-9]|2[0-3])(?::[0-5]?[0-9]){0,2}", "a time like 21:30 or 21:30:00"),
    "date": (
        "(?:19[7-9][0-9]|20[0-2][0-9]|203[0-8])(?:-(?:0?[1-9]|1[0-2])(?:-(?:0?[1-9]|[12][0-9]|3[01])(?:T[0-9:]+)?)?)?",
        "a date like 2026-05-01, or with a time 2026-05-01T20:00:00",
    ),
    "duration": ("infinite|[1-9][0-9]*[smhdw]?", "a time like 30m, 12h or 7d, or infinite"),
    # the rule alone: a path is a time zone too for some programs, and so is the name of a zone
    "posixtz": ("UTC|GMT|" + _TIME_ZONE, "a POSIX time zone like CET-1CEST,M3.5.0,M10.5.0/3"),
}


def _say(is_good: bool, text: str) -> str:
    return "" if is_good else "must be " + text


def _is_integer(value: str) -> bool:
    return address_text.is_number(value[1:] if value.startswith("-") else value)


def label(value: str) -> str:
    """Validate a name or comment that a script writes between double quotes, as fw4 does for nft.

    nft knows no escape inside quotes, so a quote ends the text whatever stands before it, and what follows is a rule.
    """
    bad = next((char for char in value if char in _UNQUOTABLE or clean.line(char) != char), "")
    return _say(not bad, "a text without %s" % " ".join(_UNQUOTABLE) + " and invisible characters")


def ip4addr(value: str, nomask: str = "") -> str:
    good = address_text.is_ip4(value) or (not nomask and _is_ip4net(value))
    return _say(good, "an IPv4 address" if nomask else "an IPv4 address, with or without a prefix length")


def ip6addr(value: str, nomask: str = "") -> str:
    good = address_text.is_ip6(value) or (not nomask and address_text.is_cidr(value, 6))
    return _say(good, "an IPv6 address" if nomask else "an IPv6 address, with or without a prefix length")


def ipaddr(value: str, nomask: str = "") -> str:
    return _say(not ip4addr(value, nomask) or not ip6addr(value, nomask), "an IP address")


def oneof(value: str, *choices: str) -> str:
    return _say(value in choices, "one of: " + ", ".join(choices))


def pattern(value: str, expression: str, text: str) -> str:
    """Validate by a regular expression; `text` says to people what it means."""
    return _say(re.match(f"(?:{expression})\\Z", value) is not None, text)


def _is_ip4net(value: str) -> bool:
    address, _, mask = value.partition("/")
    is_masked = address_text.is_ip4(address) and address_text.is_netmask(mask)
    return address_text.is_cidr(value, 4) or is_masked


def _is_ipaddrport(value: str) -> bool:
    """Tell whether a server can listen on a value: PORT, ADDRESS:PORT, [ADDRESS]:PORT."""
    address, colon, number = value.rpartition(":")
    plain = address[1:-1] if address.startswith("[") and address.endswith("]") else ""
    is_host = not colon or address_text.is_ip4(address) or address_text.is_ip6(plain)
    return address_text.is_port(number) and is_host


def _is_wpakey(value: str) -> bool:
    size = len(value.encode("utf-8", "surrogateescape"))
    return re.match(r"[0-9A-Fa-f]{64}\Z", value) is not None if size == 64 else 8 <= size <= 63


def _is_zonename(value: str) -> bool:
    """Tell whether a value is a time zone of the tz database; LuCI writes blanks for its underscores."""
    with open(_ZONES, encoding="ascii") as handle:
        return value.replace(" ", "_") in handle.read().split()


def _is_fwnetwork(value: str) -> bool:
    """Tell whether firewall4 matches it: address, network, range FIRST-LAST, or the name of an interface."""
    first, dash, last = value.partition("-")
    if not ipaddr(value) or not error("uciname", value):
        return True
    return bool(dash) and not ipaddr(first, "nomask") and not ipaddr(last, "nomask")


def _is_dnsserver(value: str) -> bool:
    """Tell whether a value is dnsmasq's [/DOMAIN/…/]ADDRESS[#PORT][@INTERFACE]."""
    are_good, address = _domains(value)
    address, _, source = address.partition("@")
    address, hash_, number = address.partition("#")
    good = are_good and (not source or re.match(r"[A-Za-z0-9_.:-]+\Z", source) is not None)
    good = good and (not hash_ or address_text.is_port(number) or (not address and not number))
    return good and (address_text.is_host(address) or (not address and value.startswith("/")))


def _is_dnsaddress(value: str) -> bool:
    """Tell whether a value is dnsmasq's /DOMAIN/…/[ADDRESS]."""
    are_good, address = _domains(value)
    return are_good and value.startswith("/") and (address in ("", "#") or not ipaddr(address, "nomask"))


def _domains(value: str) -> tuple[bool, str]:
    """Split the domains off; tell whether all of them are good, and return what follows."""
    if not value.startswith("/"):
        return True, value
    domains, slash, rest = value[1:].rpartition("/")
    names = [item[2:] if item.startswith("*.") else item.lstrip(".") for item in domains.split("/") if item != "#"]
    return bool(slash) and all(not item or address_text.is_hostname(item) for item in names), rest


def _is_encryption(value: str) -> bool:
    """Tell whether a value is a wireless encryption: a mode, and its ciphers joined by plus."""
    mode, _, ciphers = value.partition("+")
    return mode in _ENCRYPTIONS and all(cipher in _CIPHERS for cipher in ciphers.split("+") if ciphers)


# (test of the value, what it must be)
_TESTS: dict[str, tuple[Callable[[str], bool], str]] = {
    "bool": (
        lambda value: value in TRUE + FALSE,
        "1 or 0 (on, off, yes, no, true, false, enabled, disabled are read too)",
    ),
    "uinteger": (address_text.is_number, "a whole number, 0 or more"),
    "integer": (_is_integer, "a whole number"),
    "ip4net": (_is_ip4net, "an IPv4 network like 192.168.2.0/24"),
    "cidr4": (lambda value: address_text.is_cidr(value, 4), "an IPv4 network like 192.168.2.0/24"),
    "cidr6": (lambda value: address_text.is_cidr(value, 6), "an IPv6 network like fd00:1234::/48"),
    "netmask4": (address_text.is_netmask, "an IPv4 netmask like 255.255.255.0"),
    "ip6hostid": (
        lambda value: value in ("eui64", "random") or address_text.is_ip6(value),
        "an IPv6 suffix like ::1, eui64 or random",
    ),
    "macaddr": (address_text.is_mac, "a MAC address like 00:11:22:aa:bb:cc"),
    "port": (address_text.is_port, "a port number, 0 to 65535"),
    "portrange": (address_text.is_port_range, "a port or a range of ports like 8000-8010"),
    "hostname": (address_text.is_hostname, "a host name: letters, digits, hyphens, parts joined by dots"),
    "host": (address_text.is_host, "a host name or an IP address"),
    "hostport": (
        lambda value: address_text.is_host(value.rpartition(":")[0]) and address_text.is_port(value.rpartition(":")[2]),
        "a host and a port like 192.168.1.1:80",
    ),
    "ipaddrport": (_is_ipaddrport, "a port, or an address and a port like 192.168.1.1:80 or [::]:80"),
    "wpakey": (_is_wpakey, "a passphrase of 8 to 63 characters, or 64 hexadecimal digits"),
    "zonename": (_is_zonename, "a time zone name like Europe/Berlin"),
    "fwnetwork": (_is_fwnetwork, "an address, a network, a range FIRST-LAST or the name of an interface"),
    "protocol": (
        lambda value: value.lower() in _PROTOCOLS or address_text.is_number(value, 0, 255),
        "a protocol: tcp, udp, icmp, all, … or a number from 0 to 255",
    ),
    "dnsserver": (_is_dnsserver, "an address, or /domain/address, with #port when it is not 53"),
    "dnsaddress": (_is_dnsaddress, "/domain/address"),
    "encryption": (_is_encryption, f"one of: {', '.join(_ENCRYPTIONS)} (psk2 and sae may have +ccmp)"),
}
# Those that take arguments or say more than one thing.
_FUNCTIONS: dict[str, Callable[..., str]] = {
    "range": lambda value, low, high: _say(
        _is_integer(value) and int(low) <= int(value) <= int(high), f"a whole number from {low} to {high}"
    ),
    "min": lambda value, low: _say(_is_integer(value) and int(value) >= int(low), f"a whole number, {low} or more"),
    # in bytes, which is what the programs count
    "maxlength": lambda value, size: _say(
        len(value.encode("utf-8", "surrogateescape")) <= int(size), f"{size} bytes long at most"
    ),
    "rangelength": lambda value, low, high: _say(
        int(low) <= len(value) <= int(high), f"{low} to {high} characters long"
    ),
    "anycase": lambda value, *choices: _say(
        value.lower() in [choice.lower() for choice in choices], "one of: " + ", ".join(choices)
    ),
    "ip4addr": ip4addr, "ip6addr": ip6addr, "ipaddr": ipaddr, "label": label, "oneof": oneof, "pattern": pattern,
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


def of_entry(entry: Entry, value: str) -> str:
    """Return what a value of an option must be, "" when it is one; what nobody reviewed is one harmless word."""
    wrong = oneof(value, *entry["values"]) if "values" in entry else error(entry["type"], value)
    is_plain = entry.get("generated") != "rules" or not ipaddr(value.removeprefix("!").strip())
    return wrong or ("" if is_plain else error("scalar", value))


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
        wanted = _literal(node)
        return "" if value == wanted else f"must be {wanted}"
    if name == "or":
        found = [_run(choice, value) for choice in arguments]
        return "" if "" in found else "must be " + ", or ".join(text.removeprefix("must be ") for text in found)
    if name == "neg":  # firewall4 takes "!x" and "! x"
        return _run(arguments[0], value[1:].strip() if value.startswith("!") else value)
    if name in ("and", "list"):
        pairs = [(one, value) for one in arguments] if name == "and" else [(arguments[0], one) for one in value.split()]
        return next(filter(None, (_run(*pair) for pair in pairs)), "")
    if name in _PATTERNS:
        return pattern(value, *_PATTERNS[name])
    if name in _TESTS:
        is_good, text = _TESTS[name]
        return _say(is_good(value), text)
    return _FUNCTIONS[name](value, *map(_literal, arguments))


def _literal(node: object) -> str:
    assert isinstance(node, tuple)
    return str(node[1][0] if node[0] == "'" else node[0])
