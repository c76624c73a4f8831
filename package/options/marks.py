"""Turn the facts of an option into its entry in the catalogue: a datatype that Oasis can check, and a mark by rule.

The rules err on the safe side. A text of which nothing is known becomes `scalar`: one word without a path, a quote or
anything that a shell reads. `exec` are options

- that a form shows as an upload, a folder, a text of several lines, a user or a group;
- whose datatype is a file or a folder, or whose default is a path or a line of arguments;
- whose name says code (script, command, hook …), for any datatype; a file, folder, user or arguments, for texts;
- whose value a script evaluates, runs, uses as a path or user, or passes on without quotes, for texts.

A number, a choice, an address, a host or a name of a network stays usable where it is passed on, and so does a scalar
that is one quoted argument: nothing in such a value means anything to a shell, and none is a path or an option.
"""

from __future__ import annotations

import re

from facts import Facts

from oasis.catalogue.installed import is_code, is_text, tokens
from oasis.catalogue.validators import FALSE, TRUE
from oasis.redaction import secret_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.catalogue.shapes import Entry

SCALAR = "scalar"
# Texts: what else than a closed set of harmless values an option may hold.
_TEXTS = (SCALAR, "url", "phrase")
# texts for people
_PHRASES = {"name", "description", "comment", "title", "label", "desc", "note", "remark", "alias"}
_SWITCHES = {"enabled", "disabled", "enable", "disable"}
_DEVICES = {"interface", "interfaces", "iface", "ifname", "network", "networks", "dev", "device", "devices", "zone"}
_OUTWARD = {
    "server", "servers", "host", "hosts", "remote", "peer", "peers", "gateway", "upstream", "upstreams", "dns", "proxy",
    "listen", "bind", "public", "wan", "forward", "forwarding", "target", "relay", "broker", "endpoint", "url", "uri",
    "mail", "email", "recipient", "resolver", "nameserver", "expose", "dest", "destination", "exit", "domain",
    "address",
}  # fmt: skip
_FORM_CODE = (
    "FileUpload", "DirectoryPicker", "FileBrowser", "TextValue", "UserSelect", "GroupSelect", "HiddenValue",
    "AbstractValue",
)  # fmt: skip
_USES = {"code", "path", "user", "raw"}
SAFE = re.compile("[A-Za-z0-9_.:,@%+=^!][A-Za-z0-9_.:,@%+=^!-]{0,255}")  # the datatype scalar
_CHOICES = 40  # longer lists of choices, like those of countries, are checked as words

# LuCI's and procd's datatypes whose names or arguments differ from ours; what is missing here is a scalar.
_SAME = {
    "bool", "uinteger", "integer", "port", "portrange", "macaddr", "hostname", "host", "ip4addr", "ip6addr", "ipaddr",
    "cidr4", "cidr6", "ip6hostid", "wpakey", "wepkey", "uciname", "netdevname", "timehhmmss", "hexstring", "ipaddrport",
}  # fmt: skip
_OTHER = {
    "boolean": "bool", "float": "float", "ufloat": "float", "network": "uciname", "ip4prefix": "range(0,32)",
    "ip6prefix": "range(0,128)", "cidr": "or(cidr4,cidr6)", "ipnet4": "cidr4", "ipnet6": "cidr6", "subnet": "ipaddr",
    "ipmask": "ipaddr", "ipmask4": "ip4addr", "ipmask6": "ip6addr", "ip6ll": "ip6addr", "ip6ula": "ip6addr",
    "netmask": "netmask4", "netmask4": "netmask4", "dateyyyymmdd": "date", "ucifw4zonename": "uciname",
    "hostport": "hostport", "ip4addrport": "hostport", "mac": "macaddr", "device": "netdevname",
    "file": "!", "directory": "!", "dir": "!",
}  # fmt: skip
_TOKEN = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([(),])|([^\s"'(),]+))""")


def entry(package: str, name: str, facts: Facts) -> Entry:
    """Return the entry of an option."""
    made: Entry = {}
    choices = _choices(facts)
    type_ = _datatype(facts)
    if type_ in (SCALAR, "integer") and name.lower() in _SWITCHES and not {*facts.defaults} - {*TRUE, *FALSE}:
        type_ = "bool"
    elif type_ == SCALAR and tokens(name) & _DEVICES and not facts.uses & {"code", "path", "user"}:
        type_ = "netdevname" if facts.uses & {"raw", "argument"} else type_
    elif type_ == SCALAR and _is_url_name(name, facts):
        type_ = "url"
    elif type_ == SCALAR and name.lower() in _PHRASES and not facts.uses & {*_USES, "argument"}:
        type_ = "phrase"
    if choices:
        made["values"] = choices
    else:
        made["type"] = "string" if type_ == "!" else type_
    if facts.is_list:
        made["list"] = True
    if not choices:
        ref = {"NetworkSelect": "interface", "ZoneSelect": "zone"}.get(next(iter(facts.kinds), ""))
        if ref:
            made["ref"] = ref
    takes_text = not choices and (type_ == "!" or any(one in re.split(r"\W", type_) for one in _TEXTS))
    runs = type_ == "!" or _runs_code(name, facts, takes_text)
    is_secret = facts.is_password or secret_options.looks_secret(package, "", name)
    if runs:
        made = {"type": "string", "mark": "exec", **({"secret": True} if is_secret else {})}
    elif is_secret:
        made["mark"] = f"secret:{package}-{name}"
    elif (
        (not choices and type_ not in ("bool", "uinteger", "integer", "float", "port") and tokens(name) & _OUTWARD)
        or "url" in type_
        or type_ in ("host", "hostport")
    ):
        made["mark"] = "outward"
    return made


def _runs_code(name: str, facts: Facts, takes_text: bool) -> bool:
    if is_code(name):
        return True
    if not takes_text:
        return False
    is_path = any(re.match("[/~.]|-[^0-9]", one) or re.search(r"[\"'`$;|<>]", one) for one in facts.defaults)
    is_path |= any(" " in one for one in facts.defaults) and name.lower() not in _PHRASES
    is_url = _is_url(facts) or _is_url_name(name, facts)
    is_used = bool(facts.uses & (_USES if not is_url else {"code", "user"}))
    is_chosen = any("/" in one and not one.startswith("http") for one in facts.values)
    return is_text(name) or is_path or is_used or is_chosen or bool(set(facts.kinds) & set(_FORM_CODE))


def is_code_again(name: str, made: Any) -> bool:
    """Tell whether an entry that was made before is code by its name now, and was not."""
    one = made if isinstance(made, dict) else {"type": made}
    words = re.split(r"\W", one.get("type", ""))
    is_free = "values" not in one and any(text in words for text in _TEXTS)
    return one.get("mark") != "exec" and (is_code(name) or (is_free and is_text(name)))


def _is_url(facts: Facts) -> bool:
    return bool(facts.defaults) and all(one.startswith(("http://", "https://")) for one in facts.defaults)


def _choices(facts: Facts) -> list[str]:
    """Return the choices where nothing else is a good value."""
    if ("bool" in facts.kinds and "Value" not in facts.kinds) or (facts.values and {*facts.values} <= {"0", "1"}):
        return []
    closed = {"ListValue", "RichListValue", "MultiValue", "Flag"}
    is_closed = not facts.is_open and facts.kinds and {*facts.kinds} <= closed | {"int", "array"}
    found = list(facts.values) if is_closed else []
    for datatype in facts.datatypes if not found else ():
        tokens = [match.groups() for match in _TOKEN.finditer(datatype)]
        texts = [one[0] if one[0] is not None else one[1] for one in tokens if one[0] is not None or one[1] is not None]
        if datatype.strip().startswith("or(") and len(texts) * 2 + 2 == len(tokens):
            found = [one for one in texts if one]
    for one in facts.defaults:
        if found and one and one not in found and SAFE.fullmatch(one):
            found.append(one)  # a default that the form does not offer
    good = all(SAFE.fullmatch(one) for one in found) and len(found) <= _CHOICES
    return list(dict.fromkeys(found)) if good and len(found) > 1 else []


def _datatype(facts: Facts) -> str:
    """Return the datatype, "!" for a file or folder."""
    kinds = set(facts.kinds)
    if kinds & {"Value", "DynamicList", "TextValue"}:
        kinds.discard("bool")  # a helper of the script reads all options so
    if "bool" in kinds or ("Flag" in kinds and not facts.values) or (facts.values and {*facts.values} <= {"0", "1"}):
        return (
            "bool"
            if not facts.datatypes or facts.datatypes == ["bool"] or "Flag" in kinds or "bool" in kinds
            else _first(facts)
        )
    if facts.datatypes:
        return _first(facts)
    if kinds & {"NetworkSelect"}:
        return "uciname"
    if kinds & {"ZoneSelect"}:
        return "name"
    if kinds & {"DeviceSelect"}:
        return "netdevname"
    if kinds & {"RangeSliderValue"}:
        return "float"
    if kinds & {"int"}:
        return "integer"
    if facts.defaults and all(re.fullmatch("-?[0-9]{1,9}", one) for one in facts.defaults) and not facts.values:
        return "integer"
    return "url" if _is_url(facts) else SCALAR


def _is_url_name(name: str, facts: Facts) -> bool:
    return bool(re.search("ur[il]$", name.lower())) and not facts.uses & {"code", "user"} and _has_no_path(facts)


def _has_no_path(facts: Facts) -> bool:
    return not any(re.match("[/~.]|file:|unix:", one) for one in facts.defaults)


def _first(facts: Facts) -> str:
    found = [datatype(one) for one in facts.datatypes]
    if "!" in found:
        return "!"
    named = [one for one in found if one != SCALAR]
    if facts.is_open or len(named) < len(found):
        return SCALAR if not named or SCALAR in found else named[0]
    return named[0] if named else "url" if _is_url(facts) else SCALAR


def datatype(expression: str) -> str:
    """Return a datatype of LuCI or procd in our words, SCALAR where there is none, "!" for a file or folder."""
    tokens = [match.groups() for match in _TOKEN.finditer(expression)]
    if not tokens:
        return SCALAR
    try:
        found, rest = _convert(tokens)
    except (IndexError, ValueError):
        return SCALAR
    return SCALAR if rest else found


def _convert(tokens: list[tuple[str | None, ...]]) -> tuple[str, list[tuple[str | None, ...]]]:
    double, single, _, word = tokens[0]
    rest = tokens[1:]
    literal = double if double is not None else single
    if literal is not None:
        return (f"'{literal}'" if SAFE.fullmatch(literal) else "''" if not literal else SCALAR), rest
    arguments: list[str] = []
    plain: list[str] = []
    if rest and rest[0][2] == "(":
        while rest[0][2] != ")":
            if rest[1][2] == ")":  # no arguments
                rest = rest[1:]
                break
            plain.append(next((one for one in rest[1] if one is not None), ""))
            argument, rest = _convert(rest[1:])
            arguments.append(argument)
        rest = rest[1:]
    return _joined(str(word), arguments, plain), rest


def _joined(word: str, arguments: list[str], plain: list[str]) -> str:
    """Return a function of a datatype with its arguments, which are given as datatypes and as they are written."""
    if word in ("or", "and", "neg", "list", "unique"):
        if "!" in arguments:
            return "!"
        kept = [one for one in arguments if one != "''"]
        if not kept or (SCALAR in kept and word != "and"):
            return SCALAR
        kept = list(dict.fromkeys(one for one in kept if one != SCALAR or word != "and")) or [SCALAR]
        if word in ("list", "unique") or len(kept) == 1:
            return kept[0] if word != "neg" else f"neg({kept[0]})"
        return f"{word}({','.join(kept)})"
    if word in ("range", "min", "max"):
        numbers = [int(one) for one in plain]
        if word == "max":
            return f"range(-2147483648,{numbers[0]})"
        return f"{word}({','.join(map(str, numbers))})"
    if word in ("maxlength", "rangelength"):
        return f"and({SCALAR},{word}({','.join(plain)}))"
    if re.fullmatch("-?[0-9]+", word):
        return f"'{word}'"
    if word in ("ip4addr", "ip6addr", "ipaddr") and plain and plain[0] in ("nomask", "1", "true"):
        return f"{word}(nomask)"
    return word if word in _SAME else _OTHER.get(word, SCALAR)
