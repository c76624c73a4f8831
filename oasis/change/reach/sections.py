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
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.change.reach.shapes import Callable, Config, Networks, Table, Tables, Values, Zone


def read(files: dict[str, bytes]) -> Config:
    """Parse the packages; raises UciError for a broken file."""
    return {name: tables(model.parse(data, name)) for name, data in files.items()}


def typed(package: Tables, kind: str) -> list[Table]:
    """Return the sections of a type, in order."""
    return [section for section in package.values() if section[".type"] == kind]


def label(package: Tables, section: Table) -> str:
    """Return how commands call a section: its name, or @type[n]."""
    if not section[".anonymous"]:
        return str(section[".name"])
    same = [other[".name"] for other in typed(package, section[".type"])]
    return "@%s[%d]" % (section[".type"], same.index(section[".name"]))


def texts(section: Table, option: str) -> list[str]:
    """Return the words of an option, written as a list or as one text with blanks."""
    value = section.get(option)
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else str(value).split()


def text(section: Table, option: str, default: str = "") -> str:
    """Return an option as one text, the words of a list joined by blanks."""
    value = section.get(option)
    if value is None:
        return default
    return " ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def flag(section: Table, option: str, default: bool) -> bool:
    """Return a boolean option; a word that is none of UCI's is the default. Source: OpenWrt's lib/functions.sh."""
    value = text(section, option)
    if value in ("1", "on", "true", "yes", "enabled"):
        return True
    if value in ("0", "off", "false", "no", "disabled"):
        return False
    return default


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
            found = self._value(section.get(option), head[len(option) :], kind, default)
            if found is None:
                return None
            if found != () and "-" not in head[len(option) :]:
                values[option] = found
        return values

    def _value(self, raw: object, flags: str, kind: str, default: str) -> object:
        """Return what an option says, () when it is not set, None when it is wrong."""
        if raw is None:
            if "+" in flags:
                return None
            raw = default
            if not default:
                return ()
        if "*" in flags:
            words = raw if isinstance(raw, list) else str(raw).split()
            found: list[object] = []
            for one in words:
                value = self._read(kind, str(one))
                if value is None:
                    return None
                found += value if isinstance(value, list) else [value]
            return found or ()
        if isinstance(raw, list):
            return None
        value = self._read(kind, str(raw))
        return None if isinstance(value, dict) and value.get("invert") and "!" in flags else value

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
        parse: Callable[[str], object] = getattr(self, "_" + kind)
        return parse(text)

    def _int(self, text: str) -> int | None:
        return int(text) if re.match(r"[ \t]*[-+]?[0-9]+[ \t]*\Z", text) else None

    def _position(self, text: str) -> str | None:
        found = _begins(text, _POSITIONS)
        return found and found.replace("postpend", "append")

    def _family(self, text: str) -> int | None:
        if text in ("any", "all", "*"):
            return 0
        if text == "inet" or "4" in text:
            return 4
        return 6 if "6" in text else None

    def _zone(self, text: str) -> Zone | str | None:
        if text == "*":
            return "*"
        return next((zone for zone in self.zones if zone["name"] == text), None)

    def _device(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        return {"invert": invert, "device": value, "any": value == "*"} if value else None

    def _setmatch(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        return {"invert": invert, "name": value.split()[0]} if value else None

    def _helper(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        return {"invert": invert, "name": value} if value in _HELPERS else None

    def _protocol(self, text: str) -> Values | list[Values] | None:
        value = _inverted(text)[1].lower()  # fw4 forgets the inversion when it writes the rule
        if value == "tcpudp":
            return [{"name": "tcp", "any": False}, {"name": "udp", "any": False}]
        if not value:
            return None
        return {"name": _NUMBERS.get(value, value), "any": value in ("all", "any", "*")}

    def _mac(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        parts = re.split("[:-]", value)
        if len(parts) != 6 or not all(re.match(r"[0-9a-fA-F]{1,2}\Z", part) for part in parts):
            return None
        return {"invert": invert, "mac": ":".join("%02x" % int(part, 16) for part in parts)}

    def _port(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        match = re.match(r"([0-9]{1,5})(?:[-:]([0-9]{1,5}))?\Z", value)
        if not match:
            return None
        low, high = int(match.group(1)), int(match.group(2) or match.group(1))
        return {"invert": invert, "low": low, "high": high} if low <= high <= 65535 else None

    def _network(self, text: str) -> Values | None:
        invert, value = _inverted(text)
        try:
            held = nets(value)
        except ValueError:
            self.broken = value
            held = []
        if held is not None:
            return {"invert": invert, "nets": held, "is_complete": True, "text": value}
        network = self._networks.get(value)
        if network is None:
            return None
        held = [_prefix(*one) for one in network["addresses"]]
        return {"invert": invert, "nets": held, "is_complete": not network["unknown4"] and not network["unknown6"],
                "text": value}  # fmt: skip

    def _settype(self, text: str) -> str | None:
        match = re.match(r"(?:src|dst|dest)_(.+)\Z", text)
        return _begins(match.group(1) if match else text, ("ip", "port", "mac", "net", "set"))

    def _limit(self, text: str) -> list[int | str] | None:
        match = re.match(r"([0-9]+)(?:/([a-z]+))?\Z", _inverted(text)[1])
        unit = match and _begins(match.group(2) or "second", ("second", "minute", "hour", "day"))
        return [int(match.group(1)), unit] if match and unit else None

    def _weekdays(self, text: str) -> bool | None:
        days = _inverted(text)[1].split()
        return True if days and all(_begins(day, _DAYS) for day in days) else None


def _begins(text: str, choices: tuple[str, ...]) -> str | None:
    return next((choice for choice in choices if choice.lower().startswith(text.lower())), None)


def _inverted(text: str) -> tuple[bool, str]:
    stripped = text.lstrip(" \t")
    return (True, stripped[1:].strip()) if stripped.startswith("!") else (False, stripped.strip())


def _prefix(family: int, value: int, bits: int) -> tuple[int, int, int, int]:
    size = 32 if family == 4 else 128
    rest = (1 << (size - bits)) - 1
    return family, value & ~rest, value | rest, -1


def nets(text: str) -> list[tuple[int, int, int, int]] | None:
    """Return (family, low, high, -1), or (family, address, 0, mask) for a mask with holes; None when it is no address.

    Raises: ValueError for a prefix length that no address has.
    """
    head, slash, tail = text.partition("/")
    number = address_text.number(head)
    if slash:
        return _with_mask(number, tail) if number else None
    if number:
        return [(number[0], number[1], number[1], -1)]
    ends = [address_text.number(part) for part in text.split("-")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0][0] != ends[1][0]:
        return None
    return [(ends[0][0], ends[0][1], ends[1][1], -1)]


def _with_mask(number: tuple[int, int], tail: str) -> list[tuple[int, int, int, int]] | None:
    family, value = number
    size = 32 if family == 4 else 128
    mask = address_text.number(tail)
    if mask:
        if mask[0] != family:
            return None
        bits = address_text.mask_bits(mask[1], family)
        return [_prefix(family, value, bits)] if bits >= 0 else [(family, value & mask[1], 0, mask[1])]
    if not re.match(r"-?[0-9]+\Z", tail):
        return None
    bits = int(tail)
    if abs(bits) > size:
        raise ValueError(tail)
    if bits >= 0:
        return [_prefix(family, value, bits)]
    low_mask = (1 << (size + bits)) - 1  # a suffix: the first -bits bits do not count
    return [(family, value, 0, low_mask)]
