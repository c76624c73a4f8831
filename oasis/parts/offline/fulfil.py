"""Parts of a request as tool calls: slots are checked, commands filled in, and all changes put into one plan.

SETS has the names by which command templates ask for rows of fields. World is what one reply works with: the facts, the
language, the notes made on the way, and the names already given out; it resolves devices, time zones and services.
"""

from __future__ import annotations

import re

from oasis.core.addresses import number4
from oasis.parts.offline import sets_firewall, sets_lan, sets_wifi
from oasis.parts.offline.language.slots import Problem, value
from oasis.parts.offline.language.template import commands, fill, sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.reading import Part

    Sections = dict[str, dict[str, object]]

    class FactsLike(Protocol):
        """The part of the facts that the offline provider asks for; see oasis/tools/facts.py."""

        def config(self, package: str) -> Sections: ...
        def devices(self) -> list[dict[str, object]]: ...
        def interfaces(self) -> list[dict[str, object]]: ...
        def services(self) -> dict[str, dict[str, object]]: ...
        def ending(self) -> list[str]: ...


class Fulfilment:
    """Turn parts into tool calls; `slot` names the value that is being checked."""

    def __init__(self, world: World, texts_of: object, intents: dict[str, dict[str, object]]) -> None:
        self._world = world
        self._texts_of = texts_of
        self._intents = intents
        self._commands: list[str] = []
        self._summaries: list[str] = []
        self._change: dict[str, object] = {}
        self.slot = ("", "")
        self.words: list[str] = []
        self.calls: list[tuple[str, dict[str, object]]] = []

    def add(self, part: Part) -> None:
        """Add one request. Raises: Problem."""
        intent = self._intents[part.intent]
        fields = self._checked(part, intent)
        self.slot = (part.intent, "")
        name = str(intent.get("as", part.intent))
        intent = self._intents[name]
        texts = self._texts_of(name)  # type: ignore[operator]
        if "commands" in intent:
            items = intent["commands"]
            found = commands(items if isinstance(items, list) else [], fields, lambda one: self._rows(one, fields))
            self._plan(found, sentence(str(texts["summary"]), fields), str(fields.get("until") or ""))
            self._note(intent, fields)
        elif "tool" in intent:
            template = intent["input"]
            items = template.items() if isinstance(template, dict) else []
            self.calls.append((str(intent["tool"]), {key: _filled(one, fields) for key, one in items}))
        else:
            if "check" in intent:
                self._rows(str(intent["check"]), fields)
            self.words.append(sentence(str(texts["text"]), fields))

    def fields(self, part: Part) -> dict[str, object]:
        """Return the checked slots of a request, with the router's names for what was said. Raises: Problem."""
        return self._checked(part, self._intents[part.intent])

    def _plan(self, found: list[str], summary: str, until: str) -> None:
        # All changes of one message are one plan: approved, applied and undone together.
        if self._commands and until != self._change.get("until", ""):
            raise Problem("two_ends")  # one plan has one end
        if not self._commands:
            self.calls.append(("configure", self._change))
        self._commands += [line for line in found if line not in self._commands]
        self._summaries.append(summary)
        self._change.update(commands=self._commands, summary="; ".join(self._summaries))
        if until:
            self._change["until"] = until

    def _checked(self, part: Part, intent: dict[str, object]) -> dict[str, object]:
        rules = intent.get("slots")
        fields: dict[str, object] = dict.fromkeys(rules, "") if isinstance(rules, dict) else {}
        for slot, rule in rules.items() if isinstance(rules, dict) else []:
            self.slot = (part.intent, slot)
            kind = str(rule["type"])
            if slot in part.slots:
                fields[slot] = value(kind, *part.slots[slot], self._world)
                fields[slot + "_name"] = self._world.label(kind, fields[slot])
            elif "otherwise" in rule:  # what it is where nobody says it, told for all to read
                fields[slot + "_name"] = self._world.label(kind, rule["otherwise"])
            elif not rule.get("optional") and str(rule.get("unless")) not in part.slots:
                raise Problem("missing", kind=kind)
        return fields

    def _rows(self, name: str, fields: dict[str, object]) -> Rows:
        return SETS[name](self._world, fields)

    def _note(self, intent: dict[str, object], fields: dict[str, object]) -> None:
        notes = intent.get("notes")
        for text, name in notes.items() if isinstance(notes, dict) else []:
            rows = self._rows(name, fields)
            if rows:
                self._world.note(text, **{**rows[0], **fields})


def _filled(template: object, fields: dict[str, object]) -> object:
    """Return an argument of a tool; a list of templates stays one."""
    if isinstance(template, list):
        return [fill(str(one), fields) for one in template]
    return fill(str(template), fields)


CHOICES = 8  # devices named in a question; more would not fit a small screen


class World:
    """The facts and the language of one reply."""

    def __init__(
        self,
        facts: FactsLike,
        language: dict[str, object],
        data: dict[str, object],
        load: Callable[[str], dict[str, object]],
    ) -> None:
        self.facts = facts
        self.language = language
        self.notes: list[tuple[str, dict[str, object]]] = []
        self._data = data
        self._load = load
        self._given: set[str] = set()

    def note(self, text: str, **values: object) -> None:
        """Remember something to tell beside the plan."""
        if all(text != noted for noted, _ in self.notes):
            self.notes.append((text, values))

    def ending(self) -> list[str]:
        """Return the places of the configuration that go back by themselves; see change/history/ends.py."""
        return self.facts.ending()

    def table(self, name: str) -> dict[str, object]:
        """Return a table of the intent file, {} when there is none."""
        found = self._data.get(name)
        return found if isinstance(found, dict) else {}

    def sections(self, package: str, kind: str) -> list[dict[str, object]]:
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

    def alias(self, table: str, text: str) -> str:
        """Return the router's word for an everyday one, the text itself when there is none."""
        tables = self.language.get("aliases")
        names = tables.get(table, {}) if isinstance(tables, dict) else {}
        plain = _plain_words(text, self._articles())
        return str(names.get(plain, plain))

    def label(self, kind: str, value: object) -> str:
        """Return the words for a listed value such as the band 2g, "" for other values."""
        tables = self.language.get("labels")
        labels = tables.get(kind) if isinstance(tables, dict) else None
        if not isinstance(labels, dict) or not isinstance(value, str):
            return ""
        # Several days that have no word together are told one by one.
        return str(labels.get(value) or ", ".join(labels[word] for word in value.split() if word in labels))

    def zone(self, text: str) -> tuple[str, str] | None:
        """Return zone name and POSIX TZ string for a city, country or zone name."""
        data = self._load("zones")
        names, places = data["zones"], data["places"]
        if not isinstance(names, dict) or not isinstance(places, dict):
            return None
        wanted = re.sub(r"[\s_,-]+", " ", text.casefold()).strip()
        own = self.language.get("places")
        place = (own if isinstance(own, dict) else {}).get(wanted) or places.get(wanted)
        for name, rule in names.items():
            spelled = name.casefold().replace("_", " ").replace("-", " ")
            if name == place or wanted in (spelled, spelled.rpartition("/")[2]):
                return name, str(rule)
        return None

    def devices(self, text: str) -> list[dict[str, object]]:
        """Return the devices of a list such as `the tv, the xbox and 192.168.1.7`. Raises: Problem."""
        joiners = self.language.get("joiners")
        joining = "|".join(re.escape(word) for word in joiners) if isinstance(joiners, list) else "and"
        between = rf"\s*[,;]\s*(?:(?:{joining})\s+)?|\s+(?:{joining})\s+"
        parts = [part for part in re.split(between, text) if part.strip()]
        found: list[dict[str, object]] = []
        for part in parts:
            device = self.device(part)
            if device not in found:
                found.append(device)
        return found

    def device(self, text: str) -> dict[str, object]:
        """Return the device a name, part of a name, address or MAC means, with its "label".

        Raises: Problem with the candidates when nothing or more than one fits.
        """
        known = self.facts.devices()
        text = text.strip()
        mac = _mac(text)
        if mac:
            return next(
                (_labelled(one) for one in known if one["mac"] == mac), {"mac": mac, "ip": "", "name": "", "label": mac}
            )
        if number4(text) is not None:
            return next(
                (_labelled(one) for one in known if one["ip"] == text),
                {"mac": "", "ip": text, "name": "", "label": text},
            )
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
        words = self.language.get("articles")
        return set(words) if isinstance(words, list) else set()


def device_choices(devices: list[dict[str, object]]) -> list[str]:
    """Return one line for each device, at most CHOICES."""
    lines = []
    for device in devices[:CHOICES]:
        details = [str(device[key]) for key in ("ip", "mac") if device[key]]
        lines.append(f"{device['name']} ({', '.join(details)})" if device["name"] else ", ".join(details))
    return lines


def _labelled(device: dict[str, object]) -> dict[str, object]:
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


def _by_name(known: list[dict[str, object]], text: str, articles: set[str]) -> list[dict[str, object]]:
    plain = re.sub(r"'s\b", "", _plain_words(text, articles))
    words = [_letters(word) for word in re.split(r"[\s_-]+", plain)]
    words = [word for word in words if word]
    whole = "".join(words)
    if not whole:
        return []
    named = [(one, _letters(str(one["name"]))) for one in known if one["name"]]
    exact = [one for one, name in named if name == whole]
    return exact or [one for one, name in named if all(word in name for word in words)]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


SETS: dict[str, Callable[[World, dict[str, object]], Rows]] = {
    "own_wifi": sets_wifi.own,
    "own_wifi_secured": sets_wifi.secured,
    "guest_wifi": sets_wifi.guest,
    "guest_wifi_secured": sets_wifi.guest_secured,
    "switched": sets_wifi.switched,
    "guest_switched": sets_wifi.guest_switched,
    "open_when_on": sets_wifi.open_when_on,
    "sleeping_wifi": sets_wifi.sleeping,
    "new_guest": sets_wifi.new,
    "new_guest_wifi": sets_wifi.guest_access_points,
    "guest_woken": sets_wifi.woken,
    "guest_wakes": sets_wifi.wakes,
    "guest_one_band": sets_wifi.one_band,
    "guest_left": sets_wifi.left,
    "lan": sets_lan.address,
    "wan_dns": sets_lan.wan_dns,
    "wan_dns_own": sets_lan.wan_dns_own,
    "zone": sets_lan.zone,
    "host": sets_lan.host,
    "host_left": sets_lan.host_left,
    "block": sets_firewall.block,
    "blocked": sets_firewall.blocked,
    "forward": sets_firewall.forward,
    "forwarded": sets_firewall.forwarded,
    "moving_target": sets_firewall.moving_target,
    "channels": sets_wifi.channels,
    "widths": sets_wifi.widths,
    "countries": sets_wifi.countries,
    "powers": sets_wifi.powers,
    "hidden": sets_wifi.hidden,
    "encrypted": sets_wifi.encrypted,
    "opened": sets_wifi.opened,
    "isolated": sets_wifi.isolated,
    "hours": sets_firewall.hours,
    "hours_left": sets_firewall.hours_left,
    "named_host": sets_lan.named_host,
    "lease_time": sets_lan.lease_time,
    "pool": sets_lan.pool,
    "ipv6": sets_lan.ipv6,
    "upnp": sets_lan.upnp,
    "local_name": sets_lan.local_name,
    "dns_blocked": sets_lan.dns_blocked,
    "dns_unblocked": sets_lan.dns_unblocked,
    "adblock": sets_lan.adblock,
    "vpn": sets_lan.vpn,
    "vpn_there": sets_lan.vpn_there,
    "peer": sets_lan.peer,
    "qos": sets_lan.qos,
    "qos_switched": sets_lan.qos_switched,
    "ntp": sets_lan.ntp,
    "ntp_switched": sets_lan.ntp_switched,
    "leds": sets_lan.leds,
}
