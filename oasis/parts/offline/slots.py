"""Typed slots: which words can be a value of a type, and the checked value or the reason why not.

`fits(kind, tokens)` is asked while a pattern is matched and must be cheap; `value` checks one value for good. Every
refusal is a Problem: the name of a text of the language file with its values, never a silent change of the value.

World is what one reply works with: the facts, the language, the notes made on the way, and the names already given out;
it resolves devices, time zones and services.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from oasis.catalogue.address_text import mask_bits
from oasis.core.addresses import number4
from oasis.parts.offline.clause import SECRET, Token, is_ipv6
from oasis.system.clock import zone_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Device, Facts, Fields, Language, Named, Place, Section, Value

# Type -> most tokens an unquoted value may have. A longer one is a sentence, not a value.
WIDTHS = {
    "hostname": 4, "ssid": 8, "key": 8, "ip": 1, "address": 1, "servers": 8, "port": 1, "ports": 6, "device": 6,
    "devices": 12, "service": 3, "place": 4, "package": 1, "clock": 1, "network": 6, "text": 12,
    "uplink": 1, "vlan": 1, "account": 1,
}  # fmt: skip
CHOICES = 8  # devices named in a question; more would not fit a small screen
MOST_PORTS = 1000  # of a range that is said in words
SSID_WORDS = 3  # a longer name without quotes may be a sentence that was not understood
MOST_DBM = 36  # more is allowed nowhere
MOST_MINUTES = 366 * 24 * 60  # as far away as the end of a change may be
MOST_KBIT = 10_000_000
_ADDRESS = r"[\d.:a-f]*[.:][\d.:a-f]*\Z"
_PORTS = r"\d+(?:-\d+)?\Z"
_SHAPES = {
    "ip": _ADDRESS,
    "address": r"\d+\.[\d.]+(?:/\d+)?\Z",
    "port": _PORTS,
    "package": r"[a-z0-9_-]+\Z",
    "clock": r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)?\Z",
}
_LISTED = {"servers": _ADDRESS, "ports": _PORTS}
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z"
_DOTTED = r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)"
# Letters of names as a host name has them; an apostrophe is left out: Johns-phone.
_PLAIN = str.maketrans(
    "áàâãåéèêëíìîïóòôõúùûñçÁÀÂÃÅÉÈÊËÍÌÎÏÓÒÔÕÚÙÛÑÇ", "aaaaaeeeeiiiioooouuuncAAAAAEEEEIIIIOOOOUUUNC", "'’"
) | {ord(one): two for one, two in zip("äöüßÄÖÜ", ("ae", "oe", "ue", "ss", "Ae", "Oe", "Ue"), strict=True)}
# Characters without a width and those that turn the text around.
_UNSEEN = "\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


# An encryption as it is called, and as UCI writes it.
ENCRYPTION = {"wpa2": "psk2", "wpa3": "sae", "mixed": "sae-mixed", "none": "none"}
# Type -> what is right, the name of the text that says what is wrong, and how much of the value stands in it.
SIMPLE: dict[str, tuple[Callable[[str], bool], str, int]] = {
    "channel": (lambda text: text == "auto" or _is_within(text, 1, 233), "bad_channel", 20),
    "width": (lambda text: text in ("20", "40", "80", "160"), "bad_width", 20),
    "power": (lambda text: _is_within(text, 1, MOST_DBM), "bad_power", 20),
    "encryption": (lambda text: text in ENCRYPTION, "bad_encryption", 20),
    "speed": (lambda text: _is_within(text, 64, MOST_KBIT), "bad_speed", 20),
    "clock": (lambda text: bool(re.match(r"(?:[01]\d|2[0-3]):[0-5]\d\Z", text)), "bad_clock", 20),
    "ip": (lambda text: is_host4(text), "bad_ip", 45),
    "vlan": (lambda text: text == "none" or _is_within(text, 1, 4094), "bad_vlan", 20),
}


class Problem(Exception):
    """A value or a wish that cannot be used: the name of a text and what stands in it.

    `choices` are offered, as lines; `devices` are what they mean. `kind` is the type of a slot that is missing, `slot`
    the one that one of the choices would fill when it is not the one that was being checked.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: str = "",
        slot: str = "",
        choices: Sequence[str] = (),
        devices: Sequence[Device] = (),
        **values: object,
    ) -> None:
        Exception.__init__(self, text)
        self.text = text
        self.kind = kind
        self.slot = slot
        self.choices = choices
        self.devices = devices
        self.values = values

    def offered(self) -> list[tuple[str, bool]]:
        """Return the values that were offered, as a slot holds them."""
        suggestion = str(self.values.get("suggestion", ""))
        texts = [one["mac"] or one["ip"] for one in self.devices] or list(self.choices) or [suggestion]
        return [(text, True) for text in texts if text]


class World:
    """The facts and the language of one reply; `places` gives the names of places in time zones."""

    def __init__(
        self, facts: Facts, language: Language, providers: dict[str, list[str]], places: Callable[[], dict[str, str]]
    ) -> None:
        self.facts = facts
        self.language = language
        self.providers = providers
        self.notes: dict[str, Fields] = {}  # to say with the plan: name of a text -> what stands in it
        self.gone: set[str] = set()  # sections that an earlier request of this reply deletes
        self._places = places
        self._given: set[str] = set()
        self._articles = set(language.get("articles", ()))
        self._joiners = set(language.get("joiners", ()))

    def note(self, text: str, values: Fields) -> None:
        """Remember something to say with the plan, once."""
        self.notes.setdefault(text, values)

    def sections(self, package: str, kind: str) -> list[Section]:
        found = [section for section in self.facts.config(package).values() if section.get(".type") == kind]
        return [section for section in found if f"{package}.{section['.name']}" not in self.gone]

    def free_name(self, package: str, prefix: str) -> str:
        """Return the first unused section name prefix_1, prefix_2, … and keep it for this reply."""
        sections = self.facts.config(package)
        number = 1
        while f"{prefix}_{number}" in sections or f"{package}.{prefix}_{number}" in self._given:
            number += 1
        self._given.add(f"{package}.{prefix}_{number}")
        return f"{prefix}_{number}"

    def service(self, text: str) -> str:
        """Return the name of a service for an everyday one, the text itself when there is none."""
        plain = self._without_articles(text)
        return self.language.get("aliases", {}).get("services", {}).get(plain, plain)

    def _without_articles(self, text: str) -> str:
        return " ".join(word for word in text.casefold().replace("’", "'").split() if word not in self._articles)

    def label(self, kind: str, value: Value) -> str:
        """Return the words for a listed value such as the band 2g, "" for other values."""
        labels = self.language.get("labels", {}).get(kind)
        if labels is None or not isinstance(value, str):
            return ""
        # Several days that have no common word are listed; a number stays what it is.
        return labels.get(value) or ", ".join(labels[word] for word in value.split() if word in labels) or value

    def zone(self, text: str) -> tuple[str, str] | None:
        """Return zone name and POSIX TZ string for a city, country or zone name."""
        wanted = re.sub(r"[\s_,-]+", " ", text.casefold()).strip()
        place = self.language.get("places", {}).get(wanted) or self._places().get(wanted)
        for name, rule in zone_rules().items():
            spelled = name.casefold().replace("_", " ").replace("-", " ")
            if name == place or wanted in (spelled, spelled.rpartition("/")[2]):
                return name, rule
        return None

    def devices(self, text: str) -> list[Named]:
        joining = "|".join(re.escape(word) for word in self.language.get("joiners", ["and"]))
        between = rf"\s*[,;]\s*(?:(?:{joining})\s+)?|\s+(?:{joining})\s+"
        found: list[Named] = []
        for part in re.split(between, text):
            device = self.device(part) if part.strip() else None
            if device and device not in found:
                found.append(device)
        return found

    def is_same_device(self, one: str, other: str) -> bool:
        """Tell whether two names mean one device."""
        try:
            return self.device(one) == self.device(other)
        except Problem:
            return _letters(one) == _letters(other)

    def device(self, text: str) -> Named:
        """Return the device a name, part of a name, address or MAC means.

        Raises: Problem with the candidates when nothing or more than one fits.
        """
        known, text = self.facts.devices(), text.strip()
        mac = _mac(text)
        if mac or number4(text) is not None:
            new: Device = {"mac": mac, "ip": "" if mac else text, "name": "", "fixed": False, "present": False}
            found = [*(one for one in known if (one["mac"] == mac if mac else one["ip"] == text)), new][:1]
        else:
            plain = re.sub(r"'s\b", "", self._without_articles(text))
            words = [word for word in map(_letters, re.split(r"[\s_-]+", plain)) if word]
            named = [(one, _letters(one["name"])) for one in known if one["name"] and words]
            exact = [one for one, name in named if name == "".join(words)]
            found = exact or [one for one, name in named if all(word in name for word in words)]
        if len(found) == 1:
            one = found[0]
            return {**one, "label": one["name"] or one["ip"] or one["mac"]}
        if found:
            raise Problem("device_ambiguous", value=text[:40], choices=_choices(found), devices=found)
        if re.match(r"(?:https?://)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/|\Z)", text.lower()):
            raise Problem("site", value=text[:253])
        if not known:
            raise Problem("device_none", value=text[:40])
        raise Problem("device_unknown", value=text[:40], choices=_choices(known), devices=known)

    def value(self, kind: str, text: str, is_quoted: bool) -> Value:
        """Return the checked value of a slot. Raises: Problem."""
        if any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in _UNSEEN for char in text):
            raise Problem("bad_control")
        if kind in SIMPLE:
            is_right, problem, most = SIMPLE[kind]
            if not is_right(text):
                raise Problem(problem, value=text[:most])
            return text
        check: Callable[[str, bool], Value] | None = getattr(self, "check_" + kind, None)
        return check(text, is_quoted) if check else text

    def is_checked(self, kind: str) -> bool:
        """Tell whether values of a type are checked, and not only texts of the language files."""
        return kind in SIMPLE or hasattr(self, "check_" + kind)

    def check_hostname(self, text: str, is_quoted: bool) -> str:
        if re.match(_LABEL, text, re.IGNORECASE | re.ASCII) and not text.isdigit():
            return text
        suggestion = host_label(text)
        if suggestion and not suggestion.isdigit():
            raise Problem("bad_hostname_try", value=text[:80], suggestion=suggestion)
        raise Problem("bad_hostname", value=text[:80])

    def _without_stop(self, text: str, is_quoted: bool, note: str = "note_stop_ssid") -> str:
        # A full stop, comma or question mark at the very end closes the sentence; the owner sees a note.
        bare = text if is_quoted else text.rstrip(".,;?。、？")
        if bare != text:
            self.note(note, {})
        return bare

    def check_ssid(self, text: str, is_quoted: bool) -> str:
        text = self._without_stop(text, is_quoted)
        if not is_quoted and len(text.split()) > SSID_WORDS:
            raise Problem("quote_ssid")
        size = len(text.encode("utf-8", "replace"))
        if not 1 <= size <= 32:
            raise Problem("bad_ssid", size=size)
        return text

    def check_key(self, text: str, is_quoted: bool) -> str:
        if SECRET.fullmatch(text):
            return text  # what it stands for is judged where it is put in its place
        text = self._without_stop(text, is_quoted, "note_stop_key")
        if not is_quoted and re.search(r"\s", text):
            raise Problem("quote_key")
        if any(not 32 <= ord(char) <= 126 for char in text):
            raise Problem("bad_key_letters")
        if not 8 <= len(text) <= 63:
            raise Problem("bad_key", size=len(text))
        return text

    def check_address(self, text: str, is_quoted: bool) -> str:
        address, slash, prefix = text.partition("/")
        self.value("ip", address, is_quoted)
        if slash and not 8 <= int(prefix) <= 30:
            raise Problem("bad_prefix", value=prefix)
        return text

    def check_uplink(self, text: str, is_quoted: bool) -> str:
        """Return an address with its prefix; the netmask behind the slash may be a prefix or written in four parts."""
        address, _, mask = text.partition("/")
        self.value("ip", address, is_quoted)
        number = number4(mask)
        length = mask_bits(number, 4) if number is not None else int(mask) if mask.isdigit() else -1
        if not 8 <= length <= 32:
            raise Problem("bad_uplink", address=address)
        return f"{address}/{length}"

    def check_account(self, text: str, is_quoted: bool) -> str:
        if not re.match(r"[!-~]{1,128}\Z", text):
            raise Problem("bad_account", value=text[:40])
        return text

    def check_dialkey(self, text: str, is_quoted: bool) -> str:
        """Return the password of a provider, which may be of any length."""
        if not SECRET.fullmatch(text):
            text = self._without_stop(text, is_quoted, "note_stop_key")
            if not re.match(r"[ -~]{1,128}\Z" if is_quoted else r"[!-~]{1,128}\Z", text):
                raise Problem("missing", kind="dialkey")
        return text

    def check_proto(self, text: str, is_quoted: bool) -> str:
        if text not in ("tcp", "udp", "both"):
            raise Problem("two_protos")
        return text

    def check_chain(self, text: str, is_quoted: bool) -> str:
        if text.casefold() not in ("input", "output", "forward"):
            raise Problem("missing", kind="chain")
        return text.casefold()

    def check_policy(self, text: str, is_quoted: bool) -> str:
        if text.upper() not in ("ACCEPT", "REJECT", "DROP"):
            raise Problem("missing", kind="policy")
        return text.upper()

    def check_socket(self, text: str, is_quoted: bool) -> str:
        number = re.search(r"\d+", text)
        return "lan" + number[0] if number else text

    def check_zone(self, text: str, is_quoted: bool) -> str:
        names = [str(one.get("name")) for one in self.sections("firewall", "zone")]
        if text.casefold() not in names:
            raise Problem("fwzone_unknown", value=text[:40], choices=names)
        return text.casefold()

    def check_servers(self, text: str, is_quoted: bool) -> list[str]:
        found = [word for word in re.split(r"[\s,;]+", text.lower()) if re.match(_ADDRESS, word)]
        for word in found:
            if number4(word) is None and not is_ipv6(word):
                raise Problem("bad_ip", value=word[:45])
        return list(dict.fromkeys(found))

    def check_port(self, text: str, is_quoted: bool) -> str:
        ends = [int(part) for part in text.split("-") if part.isdigit() and len(part) < 6]
        is_in_range = all(1 <= end <= 65535 for end in ends) and ends == sorted(ends)
        if not ends or len(ends) != text.count("-") + 1 or not is_in_range:
            raise Problem("bad_port", value=text[:20])
        return "-".join(str(end) for end in ends)

    def check_ports(self, text: str, is_quoted: bool) -> list[str]:
        # What stands between two numbers and joins nothing makes a range of them: 8000 to 8010.
        words = [word for word in re.findall(r"[^\s,;&+]+", text.casefold()) if word not in self._joiners]
        spans = re.sub(r"(\d) (?!\d)\S+ (?=\d+(?: |$))", r"\1-", " ".join(words)).split()
        found = [self.check_port(word, is_quoted) for word in spans if word[0].isdigit()]
        for word in set(found) - set(words):
            first, last = word.split("-")
            if int(last) - int(first) > MOST_PORTS:  # 80 to 8080: from one port to another?
                raise Problem("bad_port", value=word)
        return list(dict.fromkeys(found))

    def check_service(self, text: str, is_quoted: bool) -> str:
        known = self.facts.services()
        name = self.service(text)
        # Where nobody can list the services, the tool checks the name again.
        if name in known or (not known and re.match(r"[a-z0-9_-]{1,32}\Z", name)):
            return name
        raise Problem("service_unknown", value=text[:40], names=", ".join(sorted(known)[:30]))

    def check_place(self, text: str, is_quoted: bool) -> Place:
        found = self.zone(text)
        if found is None:
            raise Problem("zone_unknown", value=text[:40])
        return {"label": found[0], "zonename": found[0], "timezone": found[1]}

    def check_country(self, text: str, is_quoted: bool) -> str:
        if not re.match(r"[A-Za-z]{2}\Z", text) or re.match(r"AA|X|ZZ|Q[M-Z]", text.upper()):  # no country has these
            raise Problem("bad_country", value=text[:40])
        return text.upper()

    def check_duration(self, text: str, is_quoted: bool) -> str:
        if not (re.match(r"\d+m\Z", text) and 1 <= int(text[:-1]) <= MOST_MINUTES):
            raise Problem("bad_duration", value=text.rstrip("m")[:20])
        return text

    def check_until(self, text: str, is_quoted: bool) -> Value:
        if not text.endswith("m"):
            return self.value("clock", text, is_quoted)
        return self.check_duration(text, is_quoted)

    def check_hostlabel(self, text: str, is_quoted: bool) -> str:
        name = text.strip().rstrip(".").lower()
        if len(name) > 253 or not re.match(f"{_DOTTED}*{_LABEL}", name):
            raise Problem("bad_host", value=text[:60])
        return name

    def check_domain(self, text: str, is_quoted: bool) -> str:
        name = re.sub(r"\A(?:https?://)?(?:www\.)?|/.*\Z", "", text.strip().lower()).rstrip(".")
        if not re.match(rf"(?=.{{4,253}}\Z){_DOTTED}+[a-z][a-z0-9-]{{1,23}}\Z", name):
            raise Problem("bad_domain", value=text[:60])
        return name

    def check_host(self, text: str, is_quoted: bool) -> str:
        name = text.strip().lower()
        if (
            number4(name) is not None
            or is_ipv6(name)
            or re.match(r"(?=.{3,253}\Z)[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\Z", name)
        ):
            return name
        try:
            return self.device(text)["ip"] or name
        except Problem:
            return self.check_hostlabel(text, is_quoted)

    def check_url(self, text: str, is_quoted: bool) -> str:
        if not re.match(r"(?:https?://)?[\w.-]+\.[a-z]{2,24}(?::\d+)?(?:/\S*)?\Z", text, re.IGNORECASE | re.ASCII):
            raise Problem("bad_domain", value=text[:60])
        return text

    def check_name(self, text: str, is_quoted: bool) -> str:
        bare = self._without_stop(text, is_quoted)
        if not 1 <= len(bare) <= 63:
            raise Problem("bad_name", value=text[:63])
        if not bare.translate(_PLAIN).isascii():  # of another script nothing would be left
            suggestion = host_label(bare)
            raise Problem("bad_hostname_try" if suggestion else "bad_hostname", value=bare, suggestion=suggestion)
        return bare

    def check_plainname(self, text: str, is_quoted: bool) -> str:
        name = text.strip().rstrip(".,;!?")
        if not re.match(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}\Z", name):
            raise Problem("bad_name", value=text[:63])
        return name

    def check_device(self, text: str, is_quoted: bool) -> Named:
        return self.device(text)

    def check_devices(self, text: str, is_quoted: bool) -> list[Named]:
        return self.devices(text)

    def check_text(self, text: str, is_quoted: bool) -> str:
        return text.strip()[:80]

    check_search = check_text


def _mac(text: str) -> str:
    digits = re.sub(r"[:.-]", "", text.lower())
    shape = r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\Z|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\Z|[0-9a-f]{12}\Z"
    if not re.match(shape, text.lower()) or int(digits[:2], 16) & 1:
        return ""  # a group address belongs to no device
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _choices(devices: list[Device]) -> list[str]:
    lines = []
    for device in devices[:CHOICES]:
        details = ", ".join(one for one in (device["ip"], device["mac"]) if one)
        lines.append(f"{device['name']} ({details})" if device["name"] else details)
    return lines


def fits(kind: str, tokens: list[Token], stops: set[str]) -> bool:
    """Tell whether tokens can be a value of a type; `stops` are words that end or turn a wish, such as `but`."""
    if len(tokens) > WIDTHS.get(kind, 4):
        return False
    if kind in _LISTED:
        numbers = [bool(re.match(_LISTED[kind], token.norm)) for token in tokens]
        is_joined = all(
            is_number or (len(token.norm) < 4 and token.norm not in ("tcp", "udp"))
            for is_number, token in zip(numbers, tokens, strict=True)
        )
        return numbers[0] and numbers[-1] and is_joined
    if kind in _SHAPES:
        return tokens[0].is_quoted or bool(re.match(_SHAPES[kind], tokens[0].norm))
    if any(token.norm in stops for token in tokens if not token.is_quoted):
        return False
    if len(tokens) > 1 and kind != "devices" and any(token.is_quoted for token in tokens):
        return False  # what stands in quotes is a value of its own
    # A full stop or a colon inside: two sentences, not one value.
    return not any(token.tail for token in tokens[:-1]) or kind == "devices"


def _is_within(text: str, least: int, most: int) -> bool:
    return text.isdigit() and least <= int(text) <= most


def host_label(text: str) -> str:
    """Return the host name that is nearest to a name in people's words, "" when it has no Latin letters or digits."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text.translate(_PLAIN)).strip("-")[:63].strip("-")


def is_host4(text: str) -> bool:
    """Tell whether an IPv4 address can belong to one machine: not 0.x, loopback, multicast or reserved."""
    number = number4(text)
    return number is not None and 1 <= number >> 24 <= 223 and number >> 24 != 127
