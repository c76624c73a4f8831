"""Read the sections of UCI packages as netifd and the shell scripts of OpenWrt do, and options of the firewall as fw4
does.

The readers of sections know no meaning of any option. For the firewall, `Reader.parse(section, SPEC, names)` returns
{option: value} without the options that are not set, or None when fw4 skips the section: one table a section type, and
one bad value drops the whole section. Values of an option that fw4 warns about and ignores are checked, then left out.
Source: firewall4, fw4.uc, parse_options and the parse_* functions.

Shapes of values: device {"invert", "device", "any"} · port {"invert", "low", "high"} · mac {"invert", "mac"} · protocol
{"name", "any"} · zone "*" or a zone · setmatch {"invert", "name"} · subnets {"invert", "nets": [(family, low, high,
mask or -1)], "is_complete", "text"} · anything that only says "at some times" is True.
"""

from __future__ import annotations

import re

from oasis.catalogue import address_text
from oasis.uci import model
from oasis.uci.model import flag as flag
from oasis.uci.model import label as label
from oasis.uci.model import tables, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.change.reach.shapes import Config, Net, Networks, Table, Tables, Values, Zone


def read(files: dict[str, bytes]) -> Config:
    """Parse the packages; raises UciError for a broken file."""
    return {name: tables(model.parse(data, name)) for name, data in files.items()}


def typed(package: Tables, kind: str) -> list[Table]:
    """Return the sections of a type, in order."""
    return [section for section in package.values() if section[".type"] == kind]


def texts(section: Table, option: str) -> list[str]:
    """Return the words of an option, written as a list or as one text with blanks."""
    return words(section.get(option))


def text(section: Table, option: str, default: str = "") -> str:
    """Return an option as one text, the words of a list joined by blanks."""
    value = section.get(option)
    if value is None:
        return default
    return " ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def options(section: Table, without: tuple[str, ...] = ()) -> Table:
    """Return the options alone, without what is said of the section and the named ones."""
    return {key: value for key, value in section.items() if not key.startswith(".") and key not in without}


def differing(old: Table, new: Table, without: Sequence[str] = ()) -> str:
    """Return the name of an option that differs, "" when none does."""
    sides = [options(one, tuple(without)) for one in (old, new)]
    return next((key for key in {**sides[0], **sides[1]} if sides[0].get(key) != sides[1].get(key)), "")


def content(package: Tables) -> list[tuple[str, str, Table]]:
    """Return a package as a value to compare: sections in order, anonymous ones without their name."""
    return [
        ("" if section[".anonymous"] else str(section[".name"]), str(section[".type"]), options(section))
        for section in package.values()
    ]


# option:type[=default] and flags: * list, ! must not be inverted, - ignored by fw4, + mandatory
DEFAULTS = """input:policy=drop output:policy=drop forward:policy=drop drop_invalid:bool tcp_reject_code:reject_code
 any_reject_code:reject_code syn_flood:bool synflood_protect:bool synflood_rate:limit=25/second synflood_burst:int=50
 tcp_syncookies:bool tcp_ecn:int tcp_window_scaling:bool accept_redirects:bool accept_source_route:bool auto_helper:bool
 custom_chains-:bool disable_ipv6-:bool flow_offloading:bool flow_offloading_hw:bool auto_includes:bool"""
ZONE = """enabled:bool=1 name+:identifier family:family network*:device device*:device subnet*:network input:policy
 output:policy forward:policy masq:bool masq_allow_invalid:bool masq_src*:network masq_dest*:network masq6:bool
 extra-:string extra_src-:string extra_dest-:string mtu_fix:bool custom_chains-:bool log:int log_limit:limit
 auto_helper:bool helper*:helper counter:bool"""
_WHEN = """limit:limit limit_burst:int utc_time:bool start_date:date stop_date:date start_time:time stop_time:time
 weekdays:weekdays monthdays-:monthdays mark:mark counter:bool log:string log_limit:limit extra-:string"""
RULE = (
    """enabled:bool=1 name:string _name-:string family:family src:zone dest:zone device!:device direction:direction
 ipset:setmatch helper:helper set_helper!:helper proto*:protocol=tcpudp src_ip*:network src_mac*:mac src_port*:port
 dest_ip*:network dest_port*:port icmp_type*:icmptype set_mark!:mark set_xmark!:mark dscp:dscp set_dscp!:dscp
 target:target """
    + _WHEN
)
REDIRECT = (
    """enabled:bool=1 name:string _name-:string family:family src:zone dest:zone ipset:setmatch helper!:helper
 proto*:protocol=tcpudp src_ip:network src_mac*:mac src_port:port src_dip:network src_dport:port dest_ip:network
 dest_port:port reflection:bool=1 reflection_src:reflection reflection_zone*:zone target:target=dnat """
    + _WHEN
)
FORWARDING = "enabled:bool=1 name:string family:family src+:zone dest+:zone"
INCLUDE = """enabled:bool=1 path+:string type:includetype=script fw4_compatible:bool family-:family reload-:bool
 position:position chain:identifier"""
IPSET = """enabled:bool=1 reload_set:bool counters:bool comment:string name+:identifier family:family=4 storage-:string
 match*:settype iprange-:string portrange-:string netmask-:int maxelem:int hashsize-:int timeout:int external-:string
 entry*:string loadfile:string"""

# Kinds of values: words of which a beginning will do; words and what they mean; texts; what says "at some times".
_CHOICES = {
    "policy": ("accept", "reject", "drop"),
    "target": ("accept", "reject", "drop", "notrack", "helper", "mark", "dscp", "dnat", "snat", "masquerade"),
    "reject_code": ("tcp-reset", "port-unreachable", "admin-prohibited", "host-unreachable", "no-route"),
    "reflection": ("internal", "external"),
    "includetype": ("script", "nftables"),
}
_WORDS: dict[str, dict[str, object]] = {
    "bool": {"1": True, "on": True, "true": True, "yes": True, "0": False, "off": False, "false": False, "no": False},
    "direction": {"in": "in", "ingress": "in", "out": "out", "egress": "out"},
}
_TEXTS = {
    "string": r"[\s\S]*",
    "identifier": "[a-zA-Z_.][a-zA-Z0-9/_.-]*",
    "icmptype": "[a-zA-Z][a-zA-Z-]+|[0-9]+(?:/[0-9]+)?",
}
_INVERTIBLE = r"(?:[ \t]*!)?\s*(?:%s)\s*"
_MONTHDAY, _MARK = "0*(?:[1-9]|[12][0-9]|3[01])", "(?:0x[0-9a-fA-F]+|[0-9]+)"
_TIMES = {
    "date": "[0-9]{4}(?:-[0-9]{1,2}(?:-[0-9]{1,2}(?:T[0-9:]+)?)?)?",
    "time": "(?:[01]?[0-9]|2[0-3])(?::[0-5]?[0-9](?::[0-5]?[0-9])?)?",
    "monthdays": _INVERTIBLE % rf"{_MONTHDAY}(?:\s+{_MONTHDAY})*",
    "mark": _INVERTIBLE % f"{_MARK}(?:/{_MARK})?",
    "dscp": "(?i)" + _INVERTIBLE % "CS[0-7]|BE|LE|AF[1-4][1-3]|EF|0*(?:[0-9]|[1-5][0-9]|6[0-3])",
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_POSITIONS = tuple("%s-%s" % (a, b) for a in ("ruleset", "table", "chain") for b in ("prepend", "postpend", "append"))
_HELPERS = ("amanda", "ftp", "RAS", "Q.931", "irc", "netbios-ns", "pptp", "sane", "sip", "snmp", "tftp", "rtsp")
_NUMBERS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "ipv6-icmp", "icmpv6": "ipv6-icmp"}


class Reader:
    """The values of one firewall: what its zone names and network names stand for."""

    def __init__(self, networks: Networks) -> None:
        self.zones: list[Zone] = []
        self.broken = ""  # a value that fw4 takes and nft does not: then no rule of the new firewall is loaded
        self._networks = networks

    def parse(self, section: Table, spec: str) -> Values | None:
        """Return the values of a section, None when fw4 does not take it."""
        values: Values = {}
        for word in spec.split():
            head, _, kind = word.partition(":")
            kind, _, default = kind.partition("=")
            option = head.rstrip("*!-+")
            flags = head[len(option) :]
            raw = section.get(option, default)
            if raw == "" and option not in section:
                if "+" in flags:
                    return None
                continue
            if isinstance(raw, list) and "*" not in flags:
                return None
            words = raw if isinstance(raw, list) else str(raw).split() if "*" in flags else [raw]
            read: list[object] = []
            for one in words:
                value = self._read(kind, str(one))
                if value is None or ("!" in flags and isinstance(value, dict) and value.get("invert")):
                    return None
                read += value if "*" in flags and isinstance(value, list) else [value]
            if read and "-" not in flags:
                values[option] = read if "*" in flags else read[0]
        return values

    def _read(self, kind: str, text: str) -> object:
        """Return what one word says, None when it is wrong."""
        if kind in _CHOICES:
            return _begins(text, _CHOICES[kind])
        if kind in _WORDS:
            return _WORDS[kind].get(text)
        if kind in _TEXTS:
            return text if re.match(rf"(?:{_TEXTS[kind]})\Z", text) else None
        if kind in _TIMES:
            return True if re.match(rf"{_TIMES[kind]}\Z", text) else None
        if kind == "int":
            return int(text) if re.match(r"[ \t]*[-+]?[0-9]+[ \t]*\Z", text) else None
        if kind == "position":
            found = _begins(text, _POSITIONS)
            return found and found.replace("postpend", "append")
        if kind == "family":
            is_four = text == "inet" or "4" in text
            return 0 if text in ("any", "all", "*") else 4 if is_four else 6 if "6" in text else None
        if kind == "zone":
            return "*" if text == "*" else next((zone for zone in self.zones if zone["name"] == text), None)
        if kind == "settype":
            match = re.match(r"(?:src|dst|dest)_(.+)\Z", text)
            return _begins(match.group(1) if match else text, ("ip", "port", "mac", "net", "set"))
        stripped = text.lstrip(" \t")
        is_inverted = stripped.startswith("!")
        return self._invertible(kind, is_inverted, (stripped[1:] if is_inverted else stripped).strip())

    def _invertible(self, kind: str, invert: bool, value: str) -> object:
        """Return what a word says of a kind that may be inverted; limits and days forget that they are."""
        if kind == "limit":
            match = re.match(r"([0-9]+)(?:/([a-z]+))?\Z", value)
            unit = match and _begins(match.group(2) or "second", ("second", "minute", "hour", "day"))
            return [int(match.group(1)), unit] if match and unit else None
        if kind == "weekdays":
            return True if value and all(_begins(day, _DAYS) for day in value.split()) else None
        if kind == "protocol":
            value = value.lower()  # fw4 forgets the inversion when it writes the rule
            names = ["tcp", "udp"] if value == "tcpudp" else [_NUMBERS.get(value, value)] if value else []
            return [{"name": name, "any": name in ("all", "any", "*")} for name in names] or None
        if kind == "device":
            return {"invert": invert, "device": value, "any": value == "*"} if value else None
        if kind == "setmatch":
            return {"invert": invert, "name": value.split()[0]} if value else None
        if kind == "helper":
            return {"invert": invert, "name": value} if value in _HELPERS else None
        if kind == "mac":
            parts = re.split("[:-]", value)
            is_mac = len(parts) == 6 and all(re.match(r"[0-9a-fA-F]{1,2}\Z", part) for part in parts)
            return {"invert": invert, "mac": ":".join("%02x" % int(part, 16) for part in parts)} if is_mac else None
        if kind == "port":
            match = re.match(r"([0-9]{1,5})(?:[-:]([0-9]{1,5}))?\Z", value)
            low, high = (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (1, 0)
            return {"invert": invert, "low": low, "high": high} if low <= high <= 65535 else None
        network, is_complete = self._networks.get(value), True
        try:
            held = nets(value)
        except ValueError:
            self.broken = value
            held = [(0, 0, 0, -1)]  # of no family
        if held is None and network is not None:
            held = [prefix(*one) for one in network["addresses"]]
            is_complete = not network["unknown4"] and not network["unknown6"]
        return None if held is None else {"invert": invert, "nets": held, "is_complete": is_complete, "text": value}


def _begins(text: str, choices: tuple[str, ...]) -> str | None:
    return next((choice for choice in choices if choice.lower().startswith(text.lower())), None)


def prefix(family: int, value: int, bits: int) -> Net:
    """Return the network of an address as (family, low, high, -1)."""
    rest = (1 << ((32 if family == 4 else 128) - bits)) - 1
    return family, value & ~rest, value | rest, -1


def nets(text: str) -> list[Net] | None:
    """Return (family, low, high, -1), or (family, address, 0, mask) for a mask with holes; None when it is no address.

    Raises: ValueError for a prefix length that no address has.
    """
    head, slash, tail = text.partition("/")
    ends = [address_text.number(part) for part in ([head] if slash else text.split("-"))]
    first, last = ends[0], ends[-1]
    if len(ends) > 2 or first is None or last is None or first[0] != last[0]:
        return None
    family, value = first
    if not slash:
        return [(family, value, last[1], -1)]
    size, mask = 32 if family == 4 else 128, address_text.number(tail)
    if mask:
        bits = address_text.mask_bits(mask[1], family)
        found = prefix(family, value, bits) if bits >= 0 else (family, value & mask[1], 0, mask[1])
        return [found] if mask[0] == family else None
    if not re.match(r"-?[0-9]+\Z", tail):
        return None
    bits = int(tail)
    if abs(bits) > size:
        raise ValueError(tail)
    # below zero a suffix: the first -bits bits do not count
    return [prefix(family, value, bits) if bits >= 0 else (family, value, 0, (1 << (size + bits)) - 1)]
