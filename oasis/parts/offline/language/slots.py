"""Typed slots: which words can be a value of a type, and the checked value or the reason why not.

`fits(kind, tokens)` is asked while a pattern is matched and must be cheap; `Slots.value` checks one value for good.
Every refusal is a Problem: the name of a text of the language file with its values, never a silent change of the value.
"""

from __future__ import annotations

import re

from oasis.core.addresses import number, number4
from oasis.parts.offline.language.lexicon import SECRET, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.fulfil import World
    from oasis.parts.offline.shapes import Callable, Device, Named, Place, Sequence, Value

# Type -> most tokens an unquoted value may have. A longer one is a sentence, not a value.
WIDTHS = {
    "hostname": 4, "ssid": 8, "key": 8, "ip": 1, "address": 1, "servers": 8, "port": 1, "ports": 6, "device": 6,
    "devices": 12, "service": 3, "place": 4, "package": 1, "clock": 1, "network": 6, "text": 12,
}  # fmt: skip
SSID_WORDS = 3  # a longer name without quotes may be a sentence that was not understood
MOST_DBM = 36  # more is allowed nowhere
MOST_MINUTES = 366 * 24 * 60  # as far away as the end of a change may be
MOST_KBIT = 10_000_000
_SHAPES = {
    "ip": r"[\d.:a-f]*[.:][\d.:a-f]*\Z",
    "address": r"\d+\.[\d.]+(?:/\d+)?\Z",
    "port": r"\d+(?:-\d+)?\Z",
    "package": r"[a-z0-9_-]+\Z",
    "clock": r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)?\Z",
}
_ADDRESS = r"[\d.:a-f]*[.:][\d.:a-f]*\Z"
_LISTED = {"servers": _ADDRESS, "ports": r"\d+(?:-\d+)?\Z"}
# Letters of names as a host name has them; an apostrophe is left out: Johns-phone.
_PLAIN = str.maketrans(
    "áàâãåéèêëíìîïóòôõúùûñçÁÀÂÃÅÉÈÊËÍÌÎÏÓÒÔÕÚÙÛÑÇ", "aaaaaeeeeiiiioooouuuncAAAAAEEEEIIIIOOOOUUUNC", "'’"
) | {ord(one): two for one, two in zip("äöüßÄÖÜ", ("ae", "oe", "ue", "ss", "Ae", "Oe", "Ue"), strict=True)}
# Characters without a width and those that turn the text around.
_UNSEEN = "\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


class Problem(Exception):
    """A value or a wish that cannot be used: the name of a text and what stands in it.

    `choices` are offered, as lines; `devices` are what they mean. `kind` is the type of a slot that is missing.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: str = "",
        choices: Sequence[str] = (),
        devices: Sequence[Device] = (),
        **values: object,
    ) -> None:
        Exception.__init__(self, text)
        self.text = text
        self.kind = kind
        self.choices = choices
        self.devices = devices
        self.values = values


def fits(kind: str, tokens: list[Token], stops: set[str]) -> bool:
    """Tell whether tokens can be a value of a type; `stops` are words that end or turn a wish, such as `but`."""
    if len(tokens) > WIDTHS.get(kind, 4):
        return False
    if kind in _LISTED:
        shape = _LISTED[kind]
        numbers = [bool(re.match(shape, token.norm)) for token in tokens]
        return (
            numbers[0]
            and numbers[-1]
            and all(is_number or len(token.norm) < 4 for is_number, token in zip(numbers, tokens, strict=True))
        )
    if kind in _SHAPES:
        return tokens[0].is_quoted or bool(re.match(_SHAPES[kind], tokens[0].norm))
    if any(token.norm in stops for token in tokens if not token.is_quoted):
        return False
    # A full stop or a colon inside: two sentences, not one value.
    return not any(token.tail for token in tokens[:-1]) or kind == "devices"


def span_text(sentence: str, tokens: list[Token], kind: str) -> tuple[str, bool]:
    """Return the characters of a value as typed and whether they stood in quotes."""
    if len(tokens) == 1 and tokens[0].is_quoted:
        return sentence[tokens[0].start : tokens[0].end], True
    if kind in ("key", "ssid"):
        # Passwords may begin or end with punctuation: what may belong to the value is kept here, judged below.
        return sentence[tokens[0].raw_start : tokens[-1].end] + tokens[-1].tail, False
    return sentence[tokens[0].start : tokens[-1].end], False


def value(kind: str, text: str, is_quoted: bool, world: World) -> Value:
    """Return the checked value of a slot. Raises: Problem."""
    if any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in _UNSEEN for char in text):
        raise Problem("bad_control")
    check = _CHECKS.get(kind)
    return check(text, is_quoted, world) if check else text


def _hostname(text: str, is_quoted: bool, world: World) -> str:
    if re.match(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z", text) and not text.isdigit():
        return text
    suggestion = host_label(text)
    if suggestion and not suggestion.isdigit():
        raise Problem("bad_hostname_try", value=text[:80], suggestion=suggestion)
    raise Problem("bad_hostname", value=text[:80])


def host_label(text: str) -> str:
    """Return the host name that is nearest to a name in people's words, "" when it has no Latin letters or digits."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text.translate(_PLAIN)).strip("-")[:63].strip("-")


def _ssid(text: str, is_quoted: bool, world: World) -> str:
    if not is_quoted:
        text = _without_stop(text, world, "note_stop_ssid")
        if len(text.split()) > SSID_WORDS:
            raise Problem("quote_ssid")
    size = len(text.encode("utf-8", "replace"))
    if not 1 <= size <= 32:
        raise Problem("bad_ssid", size=size)
    return text


def _key(text: str, is_quoted: bool, world: World) -> str:
    if SECRET.fullmatch(text):
        return text  # what it stands for is judged where it is put in its place
    if not is_quoted:
        text = _without_stop(text, world, "note_stop_key")
        if re.search(r"\s", text):
            raise Problem("quote_key")
    if any(not 32 <= ord(char) <= 126 for char in text):
        raise Problem("bad_key_letters")
    if not 8 <= len(text) <= 63:
        raise Problem("bad_key", size=len(text))
    return text


def _without_stop(text: str, world: World, note: str) -> str:
    # A full stop, comma or question mark at the very end closes the sentence; the owner sees a note.
    bare = text.rstrip(".,;?。、？")
    if bare != text:
        world.note(note, {})
    return bare


def _ip(text: str, is_quoted: bool, world: World) -> str:
    if number4(text) is None or not is_host4(text):
        raise Problem("bad_ip", value=text[:45])
    return text


def _address(text: str, is_quoted: bool, world: World) -> str:
    address, slash, prefix = text.partition("/")
    _ip(address, is_quoted, world)
    if slash and not 8 <= int(prefix) <= 30:
        raise Problem("bad_prefix", value=prefix)
    return text


def _servers(text: str, is_quoted: bool, world: World) -> list[str]:
    found = []
    for word in re.split(r"[\s,;]+", text.lower()):
        if re.match(_ADDRESS, word):
            if number4(word) is None and not is_ipv6(word):
                raise Problem("bad_ip", value=word[:45])
            if word not in found:
                found.append(word)
    return found


def is_host4(text: str) -> bool:
    """Tell whether an IPv4 address can belong to one machine: not 0.x, loopback, multicast or reserved."""
    number = number4(text)
    return number is not None and 1 <= number >> 24 <= 223 and number >> 24 != 127


def is_ipv6(text: str) -> bool:
    """Tell whether `text` is the IPv6 address of a machine, without a zone."""
    found = number(text)
    return found is not None and found[0] == 6 and found[1] > 0


def _port(text: str, is_quoted: bool, world: World) -> str:
    ends = [int(part) for part in text.split("-") if part.isdigit() and len(part) < 6]
    if (
        not ends
        or len(ends) != text.count("-") + 1
        or not all(1 <= end <= 65535 for end in ends)
        or ends != sorted(ends)
    ):
        raise Problem("bad_port", value=text[:20])
    return "-".join(str(end) for end in ends)


def _ports(text: str, is_quoted: bool, world: World) -> list[str]:
    found = [_port(word, is_quoted, world) for word in re.split(r"[\s,;]+", text) if re.match(r"\d", word)]
    return list(dict.fromkeys(found))


def _service(text: str, is_quoted: bool, world: World) -> str:
    known = world.facts.services()
    name = world.service(text)
    if name in known:
        return name
    if not known and re.match(r"[a-z0-9_-]{1,32}\Z", name):
        return name  # nobody can list the services; the tool checks the name again
    raise Problem("service_unknown", value=text[:40], names=", ".join(sorted(known)[:30]))


def _place(text: str, is_quoted: bool, world: World) -> Place:
    found = world.zone(text)
    if found is None:
        raise Problem("zone_unknown", value=text[:40])
    return {"label": found[0], "zonename": found[0], "timezone": found[1]}


def _device(text: str, is_quoted: bool, world: World) -> Named:
    return world.device(text)


def _devices(text: str, is_quoted: bool, world: World) -> list[Named]:
    return world.devices(text)


def _channel(text: str, is_quoted: bool, world: World) -> str:
    if text != "auto" and not (text.isdigit() and 1 <= int(text) <= 233):
        raise Problem("bad_channel", value=text[:20])
    return text


def _width(text: str, is_quoted: bool, world: World) -> str:
    if text not in ("20", "40", "80", "160"):
        raise Problem("bad_width", value=text[:20])
    return text


def _power(text: str, is_quoted: bool, world: World) -> str:
    if not (text.isdigit() and 1 <= int(text) <= MOST_DBM):
        raise Problem("bad_power", value=text[:20])
    return text


def _country(text: str, is_quoted: bool, world: World) -> str:
    if not re.match(r"[A-Za-z]{2}\Z", text) or re.match(r"AA|X|ZZ|Q[M-Z]", text.upper()):  # no country has these
        raise Problem("bad_country", value=text[:40])
    return text.upper()


def _clock(text: str, is_quoted: bool, world: World) -> str:
    if not re.match(r"(?:[01]\d|2[0-3]):[0-5]\d\Z", text):
        raise Problem("bad_clock", value=text[:20])
    return text


def _until(text: str, is_quoted: bool, world: World) -> str:
    if not text.endswith("m"):
        return _clock(text, is_quoted, world)
    return _duration(text, is_quoted, world)


def _duration(text: str, is_quoted: bool, world: World) -> str:
    if not (re.match(r"\d+m\Z", text) and 1 <= int(text[:-1]) <= MOST_MINUTES):
        raise Problem("bad_duration", value=text.rstrip("m")[:20])
    return text


def _speed(text: str, is_quoted: bool, world: World) -> str:
    if not (text.isdigit() and 64 <= int(text) <= MOST_KBIT):
        raise Problem("bad_speed", value=text[:20])
    return text


def _hostlabel(text: str, is_quoted: bool, world: World) -> str:
    name = text.strip().rstrip(".").lower()
    if len(name) > 253 or not re.match(
        r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z", name
    ):
        raise Problem("bad_host", value=text[:60])
    return name


def _domain(text: str, is_quoted: bool, world: World) -> str:
    name = re.sub(r"\A(?:https?://)?(?:www\.)?|/.*\Z", "", text.strip().lower()).rstrip(".")
    if not re.match(r"(?=.{4,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,23}\Z", name):
        raise Problem("bad_domain", value=text[:60])
    return name


def _host(text: str, is_quoted: bool, world: World) -> str:
    name = text.strip().lower()
    if number4(name) is not None or is_ipv6(name) or re.match(r"(?=.{3,253}\Z)[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\Z", name):
        return name
    try:
        return world.device(text)["ip"] or name
    except Problem:
        return _hostlabel(text, is_quoted, world)


def _name(text: str, is_quoted: bool, world: World) -> str:
    bare = text if is_quoted else _without_stop(text, world, "note_stop_ssid")
    if not 1 <= len(bare) <= 63:
        raise Problem("bad_name", value=text[:63])
    if not bare.translate(_PLAIN).isascii():  # of another script nothing would be left
        suggestion = host_label(bare)
        raise Problem("bad_hostname_try" if suggestion else "bad_hostname", value=bare, suggestion=suggestion)
    return bare


def _package_name(text: str, is_quoted: bool, world: World) -> str:
    name = text.strip().rstrip(".,;!?")
    if not re.match(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}\Z", name):
        raise Problem("bad_name", value=text[:63])
    return name


def _words(text: str, is_quoted: bool, world: World) -> str:
    return text.strip()[:80]


_CHECKS: dict[str, Callable[[str, bool, World], Value]] = {
    "channel": _channel,
    "width": _width,
    "power": _power,
    "country": _country,
    "clock": _clock,
    "until": _until,
    "duration": _duration,
    "speed": _speed,
    "hostlabel": _hostlabel,
    "domain": _domain,
    "host": _host,
    "name": _name,
    "plainname": _package_name,
    "text": _words,
    "search": _words,
    "hostname": _hostname,
    "ssid": _ssid,
    "key": _key,
    "ip": _ip,
    "address": _address,
    "servers": _servers,
    "port": _port,
    "ports": _ports,
    "service": _service,
    "place": _place,
    "device": _device,
    "devices": _devices,
}
