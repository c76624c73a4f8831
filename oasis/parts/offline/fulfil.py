"""Parts of a request as tool calls: slots are checked, commands filled in, and all changes put into one plan.

SETS has the names by which command templates ask for rows of fields. World is what one reply works with: the facts, the
language, the notes made on the way, and the names already given out; it resolves devices, time zones and services.
"""

from __future__ import annotations

import re

from oasis.core.addresses import number4
from oasis.parts.offline import sets
from oasis.parts.offline.language.slots import Problem, value
from oasis.parts.offline.language.template import commands, fill, sentence
from oasis.system.clock import zone_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.reading import Part
    from oasis.parts.offline.shapes import (
        Callable,
        Device,
        Facts,
        Fields,
        Intent,
        IntentTexts,
        Json,
        Language,
        Named,
        Rows,
        Section,
        Slots,
        Value,
    )


class Fulfilment:
    """Turn parts into tool calls; `slot` names the value that is being checked."""

    def __init__(self, world: World, texts_of: Callable[[str], IntentTexts], intents: dict[str, Intent]) -> None:
        self._world = world
        self._texts_of = texts_of
        self._intents = intents
        self._commands: list[str] = []
        self._summaries: list[str] = []
        self._change: dict[str, Json] = {}
        self.slot = ("", "")
        self.words: list[str] = []
        self.calls: list[tuple[str, dict[str, Json]]] = []

    def add(self, part: Part) -> None:
        """Add one request. Raises: Problem."""
        slots, fields = self._checked(part)
        self.slot = (part.intent, "")
        name = self._intents[part.intent].get("as", part.intent)
        intent, texts = self._intents[name], self._texts_of(name)
        if "commands" in intent:
            # All changes of one message are one plan: approved, applied and undone together.
            found = commands(intent["commands"], fields, lambda one: SETS[one](self._world, slots))
            summary = sentence(texts["summary"], fields)
            until = slots.get("until", "")
            if self._commands and until != self._change.get("until", ""):
                raise Problem("two_ends")  # one plan has one end
            if not self._commands:
                self.calls.append(("configure", self._change))
            self._commands += [line for line in found if line not in self._commands]
            self._summaries.append(summary)
            self._change.update(commands=list(self._commands), summary="; ".join(self._summaries))
            if until:
                self._change["until"] = until
            for text, rows in intent.get("notes", {}).items():
                for row in SETS[rows](self._world, slots)[:1]:
                    self._world.note(text, {**row, **fields})
        elif "tool" in intent:
            self.calls.append((intent["tool"], {key: _filled(one, fields) for key, one in intent["input"].items()}))
        else:
            if "check" in intent:
                SETS[intent["check"]](self._world, slots)
            self.words.append(sentence(texts["text"], fields))

    def fields(self, part: Part) -> Fields:
        """Return the checked slots of a request, with the router's names for what was said. Raises: Problem."""
        return self._checked(part)[1]

    def _checked(self, part: Part) -> tuple[Slots, Fields]:
        """Return the slots that were said, and the fields of templates: "" for the others. Raises: Problem."""
        rules = self._intents[part.intent].get("slots", {})
        slots: Slots = {}
        fields: dict[str, Value] = dict.fromkeys(rules, "")
        for slot, rule in rules.items():
            self.slot = (part.intent, slot)
            kind = rule["type"]
            if slot in part.slots:
                fields[slot] = value(kind, *part.slots[slot], self._world)
                fields[slot + "_name"] = self._world.label(kind, fields[slot])
                slots[slot] = fields[slot]  # type: ignore[literal-required]
            elif "otherwise" in rule:  # the default, shown for all to read
                fields[slot + "_name"] = self._world.label(kind, rule["otherwise"])
            elif not rule.get("optional") and rule.get("unless") not in part.slots:
                raise Problem("missing", kind=kind)
        return slots, fields


def _filled(template: str | list[str], fields: Fields) -> Json:
    return [fill(one, fields) for one in template] if isinstance(template, list) else fill(template, fields)


CHOICES = 8  # devices named in a question; more would not fit a small screen


class World:
    """The facts and the language of one reply; `places` gives the names of places in time zones."""

    def __init__(
        self, facts: Facts, language: Language, providers: dict[str, list[str]], places: Callable[[], dict[str, str]]
    ) -> None:
        self.facts = facts
        self.language = language
        self.providers = providers
        self.notes: dict[str, Fields] = {}  # to say with the plan: name of a text -> what stands in it
        self._places = places
        self._given: set[str] = set()

    def note(self, text: str, values: Fields) -> None:
        """Remember something to say with the plan, once."""
        self.notes.setdefault(text, values)

    def sections(self, package: str, kind: str) -> list[Section]:
        """Return the sections of one type, in order."""
        return [section for section in self.facts.config(package).values() if section.get(".type") == kind]

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
        plain = _plain_words(text, self._articles())
        return self.language.get("aliases", {}).get("services", {}).get(plain, plain)

    def label(self, kind: str, value: Value) -> str:
        """Return the words for a listed value such as the band 2g, "" for other values."""
        labels = self.language.get("labels", {}).get(kind)
        if labels is None or not isinstance(value, str):
            return ""
        # Several days that have no common word are listed.
        return labels.get(value) or ", ".join(labels[word] for word in value.split() if word in labels)

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
        """Return the devices of a list such as `the tv, the xbox and 192.168.1.7`. Raises: Problem."""
        joining = "|".join(re.escape(word) for word in self.language.get("joiners", ["and"]))
        between = rf"\s*[,;]\s*(?:(?:{joining})\s+)?|\s+(?:{joining})\s+"
        found: list[Named] = []
        for part in re.split(between, text):
            device = self.device(part) if part.strip() else None
            if device and device not in found:
                found.append(device)
        return found

    def device(self, text: str) -> Named:
        """Return the device a name, part of a name, address or MAC means.

        Raises: Problem with the candidates when nothing or more than one fits.
        """
        known = self.facts.devices()
        text = text.strip()
        mac = _mac(text)
        if mac or number4(text) is not None:
            found = [one for one in known if (one["mac"] == mac if mac else one["ip"] == text)]
            new: Device = {"mac": mac, "ip": "" if mac else text, "name": "", "fixed": False, "present": False}
            return _labelled(found[0] if found else new)
        found = _by_name(known, text, self._articles())
        if len(found) == 1:
            return _labelled(found[0])
        if found:
            raise Problem("device_ambiguous", value=text[:40], choices=device_choices(found), devices=found)
        if re.match(r"(?:https?://)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/|\Z)", text.lower()):
            raise Problem("site", value=text[:40])
        if not known:
            raise Problem("device_none", value=text[:40])
        raise Problem("device_unknown", value=text[:40], choices=device_choices(known), devices=known)

    def _articles(self) -> set[str]:
        return set(self.language.get("articles", ()))


def device_choices(devices: list[Device]) -> list[str]:
    """Return one line for each device, at most CHOICES."""
    lines = []
    for device in devices[:CHOICES]:
        details = [one for one in (device["ip"], device["mac"]) if one]
        lines.append(f"{device['name']} ({', '.join(details)})" if device["name"] else ", ".join(details))
    return lines


def _labelled(device: Device) -> Named:
    return {**device, "label": device["name"] or device["ip"] or device["mac"]}


def _mac(text: str) -> str:
    digits = re.sub(r"[:.-]", "", text.lower())
    shape = r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\Z|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\Z|[0-9a-f]{12}\Z"
    if not re.match(shape, text.lower()) or int(digits[:2], 16) & 1:
        return ""  # a group address belongs to no device
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def _plain_words(text: str, articles: set[str]) -> str:
    words = [word for word in text.casefold().replace("’", "'").split() if word not in articles]
    return " ".join(words)


def _by_name(known: list[Device], text: str, articles: set[str]) -> list[Device]:
    plain = re.sub(r"'s\b", "", _plain_words(text, articles))
    words = [_letters(word) for word in re.split(r"[\s_-]+", plain)]
    words = [word for word in words if word]
    whole = "".join(words)
    if not whole:
        return []
    named = [(one, _letters(one["name"])) for one in known if one["name"]]
    exact = [one for one, name in named if name == whole]
    return exact or [one for one, name in named if all(word in name for word in words)]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


SETS: dict[str, Callable[[World, Slots], Rows]] = {
    "own_wifi": sets.own,
    "own_wifi_secured": sets.secured,
    "guest_wifi": sets.guest,
    "guest_wifi_secured": sets.guest_secured,
    "switched": sets.switched,
    "guest_switched": sets.guest_switched,
    "open_when_on": sets.open_when_on,
    "sleeping_wifi": sets.sleeping,
    "new_guest": sets.new,
    "new_guest_wifi": sets.guest_access_points,
    "guest_woken": sets.woken,
    "guest_wakes": sets.wakes,
    "guest_one_band": sets.one_band,
    "guest_left": sets.left,
    "lan": sets.address,
    "wan_dns": sets.wan_dns,
    "wan_dns_own": sets.wan_dns_own,
    "zone": sets.zone,
    "host": sets.host,
    "host_left": sets.host_left,
    "block": sets.block,
    "blocked": sets.blocked,
    "forward": sets.forward,
    "forwarded": sets.forwarded,
    "moving_target": sets.moving_target,
    "channels": sets.channels,
    "widths": sets.widths,
    "countries": sets.countries,
    "powers": sets.powers,
    "hidden": sets.hidden,
    "encrypted": sets.encrypted,
    "opened": sets.opened,
    "isolated": sets.isolated,
    "hours": sets.hours,
    "hours_left": sets.hours_left,
    "named_host": sets.named_host,
    "lease_time": sets.lease_time,
    "pool": sets.pool,
    "ipv6": sets.ipv6,
    "upnp": sets.upnp,
    "local_name": sets.local_name,
    "dns_blocked": sets.dns_blocked,
    "dns_unblocked": sets.dns_unblocked,
    "adblock": sets.adblock,
    "vpn": sets.vpn,
    "vpn_there": sets.vpn_there,
    "peer": sets.peer,
    "qos": sets.qos,
    "qos_switched": sets.qos_switched,
    "ntp": sets.ntp,
    "ntp_switched": sets.ntp_switched,
    "leds": sets.leds,
}
