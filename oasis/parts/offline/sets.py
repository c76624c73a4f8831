"""Parts of a request as tool calls: slots are checked, commands filled in, and all changes put into one plan.

An item of a command template is a command line (values are always quoted here), or {"each": set, "do": [items]} (once
for each row of a set of SETS, whose fields then are known), or {"if": field, "do": […]}, or {"unless": …} the same way.

Every set takes the world and the slots and returns rows of fields. Where a package is missing or nothing has to change
it raises a Problem. The sections of the guest network have fixed names, so that it can be found again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oasis.catalogue.address_text import mask_bits, text_of
from oasis.core.addresses import number4
from oasis.parts import install, is_here
from oasis.parts.offline.results import fill, sentence
from oasis.parts.offline.slots import ENCRYPTION, Problem, World, host_label, is_host4
from oasis.system.late import late
from oasis.uci.package import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from oasis.parts.offline.reading import Part
    from oasis.parts.offline.shapes import (
        AccessPoint,
        Call,
        Fields,
        Intent,
        Item,
        Json,
        Named,
        Rows,
        Section,
        Slots,
        Value,
    )

    Row = TypeVar("Row")

_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.(?:[A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?\d+\])){0,2}\Z")


class Fulfilment:
    """Turn parts into tool calls; `slot` names the value that is being checked."""

    def __init__(self, world: World, intents: dict[str, Intent]) -> None:
        self._world = world
        self._intents = intents
        self._commands: list[str] = []
        self._summaries: list[str] = []
        self._change: dict[str, Json] = {}
        self.slot = ("", "")
        self.words: list[str] = []
        self.calls: list[tuple[str, dict[str, Json]]] = []

    def add(self, part: Part) -> None:
        check = self._intents[part.intent].get("check")
        if check:  # nobody is asked for values of what cannot be
            self.slot = (part.intent, "")
            Sets(self._world, {}).rows_of(check)
        slots, fields = self.checked(part)
        sets = Sets(self._world, slots)
        self.slot = (part.intent, "")
        name = self._intents[part.intent].get("as", part.intent)
        intent, texts = self._intents[name], self._world.language["intents"].get(name, {})
        if "commands" in intent:
            # All changes of one message are one plan: approved, applied and undone together.
            found = self._filled(intent["commands"], fields, sets)
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
        elif "part" in intent and not is_here(intent["part"]):
            raise Problem("needs_part", install=install("oasis-" + intent["part"]))
        alone: list[Call] = [{"tool": intent["tool"], "input": intent["input"]}] if "tool" in intent else []
        for call in intent.get("calls", alone):
            for row in sets.rows_of(call["each"]) if "each" in call else [{}]:
                given = {key: _given(one, {**fields, **row}) for key, one in call["input"].items()}
                self.calls.append((call["tool"], given))
        if "text" in texts:
            self.words.append(sentence(texts["text"], fields))
        for text, noted in intent.get("notes", {}).items():
            for row in sets.rows_of(noted)[:1]:
                self._world.note(text, {**fields, **row})

    def checked(self, part: Part) -> tuple[Slots, Fields]:
        """Return the slots that were said, and the fields of templates: "" for the others. Raises: Problem."""
        rules = self._intents[part.intent].get("slots", {})
        slots: Slots = {}
        fields: dict[str, Value] = dict.fromkeys(rules, "")
        for slot, rule in rules.items():
            self.slot = (part.intent, slot)
            kind = rule["type"]
            if slot in part.slots:
                fields[slot] = self._world.value(kind, *part.slots[slot])
                fields[slot + "_name"] = self._world.label(kind, fields[slot])
                slots[slot] = fields[slot]  # type: ignore[literal-required]
            elif "otherwise" in rule:  # the default, shown for all to read
                fields[slot + "_name"] = self._world.label(kind, rule["otherwise"])
            elif not rule.get("optional") and rule.get("unless") not in part.slots:
                raise Problem("missing", kind=kind)
        return slots, fields

    def _filled(self, items: list[Item], fields: Fields, sets: Sets) -> list[str]:
        """Return the uci command lines of a template. Raises: ValueError for a broken template, Problem from a set."""
        found: list[str] = []
        for item in items:
            if isinstance(item, str):
                verb, _, rest = item.partition(" ")
                path, equals, text = rest.partition("=")
                path, text = fill(path, fields), fill(text, fields)
                if not _PATH.match(path):
                    raise ValueError(f"template {item}: path {path}")
                is_type = path.count(".") == 1
                if verb == "delete" and path.count(".") == 1:
                    self._world.gone.add(path)
                found.append(f"uci {verb} {path}" + (f"={text if is_type else quote(text)}" if equals else ""))
                continue
            if "each" in item:
                rows = sets.rows_of(item["each"])
            else:
                is_wanted = bool(fields.get(item["if"])) if "if" in item else not fields.get(item["unless"])
                rows = [{}] if is_wanted else []
            for row in rows:
                found += self._filled(item["do"], {**fields, **row}, sets)
        return found


def _given(value: Json, fields: Fields) -> Json:
    """Return an argument of a tool with the fields in it; one that is a field alone is that field as it is."""
    if isinstance(value, list):
        return [_given(one, fields) for one in value]
    if isinstance(value, dict):
        return {key: _given(one, fields) for key, one in value.items()}
    whole = fields.get(value[1:-1]) if isinstance(value, str) and value[:1] == "{" else None
    if isinstance(whole, list) and all(isinstance(one, str) for one in whole):
        return whole
    return fill(value, fields) if isinstance(value, str) else value


_POOL_PREFIX = 24  # longer prefixes have no room for the usual pool of 150 addresses from .100
_PRIVATE = (("10.0.0.0", 8), ("172.16.0.0", 12), ("192.168.0.0", 16), ("100.64.0.0", 10))
_IPV6_PROTOS = ("dhcpv6", "6in4", "6rd", "6to4", "map")
_DIALED = ("pppoe", "pppoa", "ppp")  # these ask for IPv6 by themselves
_SLEEPING, _AWAKE = ("none", "0"), ("default-on", "1")
_OWN_BLOCK, _OWN_FORWARD, _OWN_HOURS = "oasis_block", "oasis_forward", "oasis_hours"
_OWN_OPEN, _OWN_DMZ = "oasis_open", "oasis_dmz"
_OF_LINE = ("ipaddr", "netmask", "gateway", "username", "password")  # options of how the router dials in
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_OPEN = ("", "none", "wep", "wep-open", "wep-shared", "wep+open", "wep+shared")
# Channels of the bands that any country allows; which of them this country does, the driver knows.
_CHANNELS = {
    "2g": range(1, 15),
    "5g": (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    "6g": range(1, 234, 4),
}
_WIDEST = {"2g": 40, "5g": 160, "6g": 160}
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}
_SECTIONS = (
    ("wireless", "guest"), ("wireless", "guest_2"), ("wireless", "guest_3"), ("dhcp", "guest"),
    ("firewall", "guest_dhcp"), ("firewall", "guest_dns"), ("firewall", "guest_wan"), ("firewall", "guest"),
    ("network", "guest"), ("network", "guest_bridge"),
)  # fmt: skip
_THIRD_BYTES = (3, 4, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 123, 150, 200)  # 192.168.x: away from what modems use


def _words(option: object) -> list[str]:
    """Return a UCI option as a list, however it was written."""
    if isinstance(option, list):
        return [str(item) for item in option]
    return str(option).split() if option else []


def _some(rows: Sequence[Row], problem: Problem) -> Sequence[Row]:
    if not rows:
        raise problem
    return rows


def _need(device: Named, what: Literal["mac", "ip"]) -> str:
    if not device[what]:
        raise Problem("device_no_" + what, device=device)
    return device[what]


def _has_mac(section: Section, mac: str, option: str = "mac") -> bool:
    return mac in [one.lower() for one in _words(section.get(option))]


def _prefixed(text: str, section: Section) -> tuple[str, int] | None:
    """Return ("192.168.1.1", 24) for an address of an interface, None when it or its netmask is unreadable."""
    address, slash, netmask = text.partition("/")
    if not slash:
        netmask = next(iter(_words(section.get("netmask"))), "") or "24"
    mask = number4(netmask)
    if netmask.isascii() and netmask.isdigit():
        length = int(netmask) if int(netmask) <= 32 else -1
    else:
        length = -1 if mask is None else mask_bits(mask, 4)
    return (address, length) if length >= 0 and number4(address) is not None else None


def _host_bits(prefix: int) -> int:
    return (1 << (32 - prefix)) - 1


def _is_edge(number: int, prefix: int) -> bool:
    """Tell whether an address is that of its whole network, or of all in it."""
    return number & _host_bits(prefix) in (0, _host_bits(prefix))


def _overlaps(left: str, left_prefix: int, right: str, right_prefix: int) -> bool:
    first, second = number4(left), number4(right)
    shift = 32 - min(left_prefix, right_prefix)
    return first is not None and second is not None and first >> shift == second >> shift


def _rule_name(verb: str, device: Named) -> str:
    """Return the name of a rule; a device's name is foreign text, so only plain letters of it are used."""
    return (verb + " " + re.sub(r"[^A-Za-z0-9:._-]+", " ", device["label"]).strip())[:60].strip()


def _own_rules(device: Named, rules: list[Section], prefix: str) -> list[Fields]:
    """Return those of some rules of a device that are ours, to be deleted; refuse where somebody else wrote them."""
    own: list[Fields] = [{"rule": rule[".name"]} for rule in rules if str(rule[".name"]).startswith(prefix)]
    if rules and not own:
        raise Problem("blocked_by_other", device=device, rule=rules[0].get("name") or rules[0][".name"])
    return own


def _span_of(rule: Section) -> tuple[object, object, list[str]]:
    """Return start, end and days of a rule for some hours."""
    return rule.get("start_time"), rule.get("stop_time"), _words(str(rule.get("weekdays") or "").lower())


def _band_of(radio: Section) -> str:
    """Return 2g, 5g or 6g of a wifi-device; releases before 21.02 wrote hwmode instead."""
    return str(radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g"))


_GUEST = late(r"guest|gast|gäst|besuch|visit|invitad|huésped|ゲスト|来客|お客|访客|客人", re.IGNORECASE)


def _is_guest(section: Section) -> bool:
    """Tell whether a network is one for guests by what it is called; by its SSID when it is none of the home."""
    networks = _words(section.get("network"))
    called = [*networks, str(section[".name"])]
    if networks and "lan" not in networks:
        called.append(str(section.get("ssid", "")))
    return any(_GUEST.search(word) for word in called)


def _row(radio: Section, section: Section) -> AccessPoint:
    encryption = str(section.get("encryption", ""))
    return {
        "ap": str(section[".name"]),
        "radio": str(radio.get(".name", "")),
        "radio_off": "1" if radio.get("disabled") == "1" else "",
        "off": "1" if section.get("disabled") == "1" else "",
        "encryption": encryption,
        "new_encryption": _new_encryption(encryption, _band_of(radio)),
    }


def _new_encryption(now: str, band: str) -> str:
    """Return the encryption a network needs for a password, "" when the present one takes passwords."""
    if now.startswith("owe"):
        return "sae-mixed"
    if now in _OPEN:
        return "sae" if band == "6g" else "psk2"  # 6 GHz allows WPA3 only
    return ""


def _with_passwords(rows: Sequence[AccessPoint]) -> Rows:
    for row in rows:
        if not row["new_encryption"] and not row["encryption"].startswith(("psk", "sae")):
            raise Problem("enterprise", encryption=row["encryption"])
    return rows


def _changed(option: str, wanted: list[tuple[Section, str]], same: Problem) -> Rows:
    changed = [(radio, text) for radio, text in wanted if radio.get(option) != text]
    return _some([{"radio": radio[".name"], option: text} for radio, text in changed], same)


class Sets:
    """The sets for the slots of one request."""

    def __init__(self, world: World, slots: Slots) -> None:
        self._world = world
        self._slots = slots
        self._is_on = slots.get("switch") == "on"
        self._wanted = "1" if self._is_on else "0"
        self._sections = world.sections
        self._config = world.facts.config

    def rows_of(self, name: str) -> Rows:
        """Return the rows of a set by its name, as templates say it."""
        rows: Rows = getattr(self, name)()
        return rows

    def _reference(self, section: Section, package: str) -> str:
        """Return how a command names a section: its name, or @type[index] when it has none."""
        if not section.get(".anonymous"):
            return str(section[".name"])
        names = [one[".name"] for one in self._sections(package, str(section[".type"]))]
        return f"@{section['.type']}[{names.index(section['.name'])}]"

    def _so_already(self, what: str) -> Problem:
        return Problem("is_on_already" if self._is_on else "is_off_already", what=what)

    def _installed(self, package: str, kind: str, name: str) -> Section:
        return _some(self._sections(package, kind), Problem("needs_package", package=name))[0]

    def _switched(self, section: Section, option: str, package: str) -> Rows:
        if str(section.get(option) or "0") == self._wanted:
            raise self._so_already(package)
        return [{"section": self._reference(section, package), "value": self._wanted}]

    def _networks(self) -> list[tuple[str, str, int]]:
        """Return (interface, address, prefix) of every IPv4 network the router is in, configured or live."""
        found = []
        for section in self._sections("network", "interface"):
            pairs = [_prefixed(text, section) for text in _words(section.get("ipaddr"))]
            found += [(str(section[".name"]), *pair) for pair in pairs if pair]
        for interface in self._world.facts.interfaces():
            for item in interface.get("ipv4-address", []):
                entry = (str(interface.get("interface")), str(item.get("address")), item.get("mask", 32))
                if entry not in found:
                    found.append(entry)
        return found

    def _check_inside(self, ip: str) -> None:
        """Raise Problem unless `ip` can belong to a machine in a network of the router's own."""
        static = {one[".name"] for one in self._sections("network", "interface") if one.get("proto") == "static"}
        every = [one[1:] for one in self._networks() if one[0] in static and one[0] != "loopback"]
        inside = [pair for pair in every if _overlaps(ip, 32, *pair)]
        if not inside:
            raise Problem("not_in_lan", ip=ip, networks=[f"{own}/{prefix}" for own, prefix in every])
        own, prefix = inside[0]
        if ip == own or _is_edge(number4(ip) or 0, prefix):
            raise Problem("ip_is_routers", ip=ip)

    def lan(self) -> Rows:
        section = self._config("network").get("lan")
        if section is None or section.get("proto") != "static":
            raise Problem("no_static_lan")
        old = _words(section.get("ipaddr"))
        if len(old) != 1:
            raise Problem("lan_many", count=len(old))
        present = _prefixed(old[0], section)
        text, slash, length = self._slots["address"].partition("/")
        old_prefix = present[1] if present else 24
        prefix = int(length) if slash else old_prefix
        named = self._slots.get("old", "").partition("/")[0]
        if named and present and named != present[0]:
            raise Problem("lan_other", address=present[0], old=named)
        if present == (text, prefix):
            raise Problem("lan_same", address=text)
        if not is_host4(text) or not any(_overlaps(text, 32, *network) for network in _PRIVATE):
            raise Problem("not_private", address=text)
        if _is_edge(number4(text) or 0, prefix):
            raise Problem("not_a_host", address=text, prefix=prefix)
        if prefix > _POOL_PREFIX and prefix != old_prefix:
            raise Problem("pool_too_small", prefix=prefix)
        for interface, other, other_prefix in self._networks():
            if interface not in ("lan", "loopback") and _overlaps(text, prefix, other, other_prefix):
                raise Problem("overlap", address=text, interface=interface, other=f"{other}/{other_prefix}")
        is_cidr = "/" in old[0]
        netmask = text_of(4, 0xFFFFFFFF ^ _host_bits(prefix)) if not is_cidr and prefix != old_prefix else ""
        row = {"old": old[0], "is_list": isinstance(section.get("ipaddr"), list), "netmask": netmask, "new": text}
        return [{**row, "ipaddr": f"{text}/{prefix}" if is_cidr else text}]

    def _outside(self) -> list[Section]:
        zones = [zone for zone in self._sections("firewall", "zone") if zone.get("masq") == "1"]
        names = [name for zone in zones for name in _words(zone.get("network"))] or ["wan", "wan6"]
        sections = self._config("network")
        found = [sections[name] for name in names if sections.get(name, {}).get(".type") == "interface"]
        return list(_some(found, Problem("no_wan")))

    def _line(self) -> Section:
        """Return the interface that leads to the internet by IPv4."""
        found = [one for one in self._outside() if one.get("proto") not in _IPV6_PROTOS]
        named = [one for one in found if one[".name"] == "wan"] or found
        if len(named) != 1:
            raise Problem("no_wan")
        return named[0]

    def _tagged(self, device: str) -> str:
        """Return the device of the line with the VLAN that was said, or with none."""
        if self._sections("network", "switch"):
            raise Problem("no_dsa")
        own = [one for one in self._sections("network", "device") if one.get("name") == device]
        base = own[0].get("ifname") if own and own[0].get("type") == "8021q" else re.sub(r"\.\d+\Z", "", device)
        vlan = self._slots["vlan"]
        return str(base) if vlan == "none" else f"{base}.{vlan}"

    def _dialing(self, options: dict[str, str], servers: list[str]) -> Rows:
        """Return what changes on the line to the internet: it has these options of _OF_LINE and no others."""
        section = self._line()
        path = f"network.{section['.name']}."
        device = str(section.get("device", ""))
        if "vlan" in self._slots:
            if not device:
                raise Problem("no_wan")
            options["device"] = self._tagged(device)
        gone = [name for name in _OF_LINE if section.get(name) and "proto" in options and name not in options]
        if section.get("dns") and (servers or (section.get("proto") == "static" != options.get("proto", "static"))):
            gone.append("dns")
        rows: list[Fields] = [{"path": path + name, "gone": "1"} for name in gone]
        rows += [{"path": path + name, "value": text} for name, text in options.items() if section.get(name) != text]
        rows += [{"path": path + "dns", "server": one} for one in servers]
        is_moved = any(section.get(name) != options.get(name, section.get(name)) for name in ("proto", "device"))
        for other in self._outside() if is_moved else ():
            # IPv6 comes by the same way, whatever its device is.
            if other.get("proto") == "dhcpv6" and other.get("device") == device:
                rows.append({"path": f"network.{other['.name']}.device", "value": f"@{section['.name']}"})
        return _some(rows, Problem("is_so_already"))

    def dialed(self) -> Rows:
        options = {"proto": "pppoe", "username": self._slots["user"], "password": self._slots["key"]}
        if self._line().get("ipv6") != "0":
            options["ipv6"] = "auto"
        return self._dialing(options, [])

    def addressed(self) -> Rows:
        text, _, length = self._slots["address"].partition("/")
        gateway = self._slots["gateway"]
        if not _overlaps(gateway, 32, text, int(length)) or gateway == text:
            raise Problem("bad_gateway", gateway=gateway, address=self._slots["address"])
        for interface, other, prefix in self._networks():
            if interface not in (self._line()[".name"], "loopback") and _overlaps(text, int(length), other, prefix):
                raise Problem("overlap", address=text, interface=interface, other=f"{other}/{prefix}")
        netmask = text_of(4, 0xFFFFFFFF ^ _host_bits(int(length)))
        options = {"proto": "static", "ipaddr": text, "netmask": netmask, "gateway": gateway}
        return self._dialing(options, self._slots.get("servers", []))

    def automatic(self) -> Rows:
        return self._dialing({"proto": "dhcp"}, [])

    def tagged(self) -> Rows:
        return self._dialing({}, [])

    def nameless(self) -> Rows:
        """Return a row when no DNS server is left that could be asked; for a note."""
        line = self._line()
        return (
            []
            if self._slots.get("servers") or (line.get("dns") and line.get("proto") == "static")
            else [{"servers": ""}]
        )

    def wan_dns(self) -> Rows:
        """Return rows that make the given servers the only ones asked."""
        listed = self._slots.get("servers") or self._world.providers.get(self._slots.get("provider", ""), [])
        interfaces = self._outside()
        has_ipv6 = any(one.get("proto") in _IPV6_PROTOS for one in interfaces)
        rows: list[Fields] = []
        for section in interfaces:
            is_ipv6 = section.get("proto") in _IPV6_PROTOS
            wanted = [one for one in listed if not has_ipv6 or (":" in one) == is_ipv6]
            present = _words(section.get("dns"))
            changes = [("delete", "dns")] if present and present != wanted else []
            if section.get("peerdns") != "0" and section.get("proto") != "static":
                changes.append(("peerdns", "0"))
            changes += [("server", one) for one in wanted] if present != wanted else []
            empty = {"wan": section[".name"], "delete": "", "peerdns": "", "server": ""}
            rows += [{**empty, name: value} for name, value in changes]
        return _some(rows, Problem("dns_same", servers=listed))

    def wan_dns_own(self) -> Rows:
        rows = [
            {"wan": section[".name"], "option": option}
            for section in self._outside()
            for option in ("dns", "peerdns")
            if section.get(option)
        ]
        return _some(rows, Problem("dns_is_own"))

    def zone(self) -> Rows:
        return [self._slots["place"]]

    def _own_host(self, mac: str, option: str, wanted: str, same: Problem) -> Fields:
        """Return the section of a device, or the name of a new one."""
        for section in self._sections("dhcp", "host"):
            if _has_mac(section, mac):
                if section.get(option) == wanted:
                    raise same
                return {"host": self._reference(section, "dhcp"), "is_new": ""}
        return {"host": self._world.free_name("dhcp", "oasis_host"), "is_new": "1", "mac": mac}

    def host(self) -> Rows:
        """Return the row of a fixed address for a device: its own section, changed, or a new one."""
        device = self._slots["device"]
        mac = _need(device, "mac")
        ip = self._slots.get("ip") or _need(device, "ip")
        self._check_inside(ip)
        for section in self._sections("dhcp", "host"):
            if section.get("ip") == ip and not _has_mac(section, mac):
                raise Problem("ip_taken", ip=ip, holder=section.get("name") or section.get("mac"))
        for other in self._world.facts.devices():
            if other["ip"] == ip and other["mac"] != mac and other["present"]:
                raise Problem("ip_taken", ip=ip, holder=other["name"] or other["mac"])
        name = re.sub(r"[^A-Za-z0-9]+", "-", device["name"]).strip("-")[:63]
        row = self._own_host(mac, "ip", ip, Problem("lease_same", device=device, ip=ip))
        return [{**row, "name": name, "ip": ip}]

    def host_left(self) -> Rows:
        mac = _need(self._slots["device"], "mac")
        found = [section for section in self._sections("dhcp", "host") if _has_mac(section, mac)]
        rows = [{"host": self._reference(section, "dhcp")} for section in reversed(found)]
        return _some(rows, Problem("no_lease", device=self._slots["device"]))

    def named_host(self) -> Rows:
        name = host_label(self._slots["name"])
        if not name:
            raise Problem("bad_name", value=self._slots["name"])
        mac = _need(self._slots["device"], "mac")
        row = self._own_host(mac, "name", name, Problem("name_same", device=self._slots["device"]))
        return [{**row, "host_name": name}]

    def _lan_pool(self) -> Section:
        for section in self._sections("dhcp", "dhcp"):
            if section.get("interface", section[".name"]) == "lan" and section.get("ignore") != "1":
                return section
        raise Problem("no_pool")

    def announced(self) -> Rows:
        """Return what makes the given servers, or none, those that devices of the LAN are given to ask."""
        listed = self._slots.get("servers") or self._world.providers.get(self._slots.get("provider", ""), [])
        section = self._lan_pool()
        path = f"dhcp.{self._reference(section, 'dhcp')}."
        four, six = ([one for one in listed if (":" in one) == is_six] for is_six in (False, True))
        options = [one for one in _words(section.get("dhcp_option")) if re.match(r"(?:option:dns-server|6),", one)]
        wanted = ["6," + ",".join(four)] if four else []
        rows: list[Fields] = []
        if options != wanted:
            rows += [{"path": path + "dhcp_option", "new": one} for one in wanted]
            rows += [{"path": path + "dhcp_option", "old": one} for one in options]
        present = _words(section.get("dns"))
        if present != six:
            rows += [{"path": path + "dns", "gone": "1"}] if present else []
            rows += [{"path": path + "dns", "new": one} for one in six]
        # Without a server for IPv6 the router itself must not offer to be one.
        is_silent = bool(listed) and not six
        if (section.get("dns_service") == "0") != is_silent:
            rows.append({"path": path + "dns_service", **({"value": "0"} if is_silent else {"gone": "1"})})
        return _some(rows, Problem("dns_same", servers=listed) if listed else Problem("is_so_already"))

    def lease_time(self) -> Rows:
        minutes = int(self._slots["duration"][:-1])
        if minutes < 2:
            raise Problem("lease_short")  # dnsmasq takes no less
        text = f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
        section = self._lan_pool()
        if section.get("leasetime") == text:
            raise Problem("is_so_already")
        return [{"pool": self._reference(section, "dhcp"), "leasetime": text}]

    def pool(self) -> Rows:
        """Return the pool of the LAN with other addresses, which must be inside and in order."""
        section = self._config("network").get("lan", {})
        own = _prefixed(next(iter(_words(section.get("ipaddr"))), ""), section)
        if own is None:
            raise Problem("no_static_lan")
        ends = (self._slots["from_ip"], self._slots["to_ip"])
        for ip in ends:
            self._check_inside(ip)
        outside = [ip for ip in ends if not _overlaps(ip, 32, *own)]
        if outside:
            raise Problem("not_in_lan", ip=outside[0], networks=[f"{own[0]}/{own[1]}"])
        first, last = ((number4(ip) or 0) & _host_bits(own[1]) for ip in ends)
        if first > last:
            raise Problem("pool_backwards", first=ends[0], last=ends[1])
        section = self._lan_pool()
        row = {"start": str(first), "limit": str(last - first + 1)}
        if all(section.get(name) == wanted for name, wanted in row.items()):
            raise Problem("is_so_already")
        return [{"pool": self._reference(section, "dhcp"), **row}]

    def ipv6(self) -> Rows:
        """Return what has to change so that IPv6 is used or not, to the internet and in the LAN."""
        rows: list[Fields] = []
        for section in self._sections("network", "interface"):
            path, proto = f"network.{section['.name']}", section.get("proto")
            if proto == "dhcpv6" and (section.get("disabled") == "1") == self._is_on:
                rows.append({"path": path + ".disabled", "value": "0" if self._is_on else "1"})
            if proto in _DIALED and (section.get("ipv6", "auto") == "0") == self._is_on:
                rows.append({"path": path + ".ipv6", "value": "auto" if self._is_on else "0"})
        section = self._lan_pool()
        for option in ("ra", "dhcpv6"):
            # A relay is IPv6 as well: it is only started where there is none.
            if (str(section.get(option) or "disabled") == "disabled") == self._is_on:
                path = f"dhcp.{self._reference(section, 'dhcp')}.{option}"
                rows.append({"path": path, "value": "server" if self._is_on else "disabled"})
        return _some(rows, self._so_already("IPv6"))

    def local_name(self) -> Rows:
        device = self._slots.get("device")
        address = self._slots.get("ip") or (_need(device, "ip") if device else "")
        own = next(iter(_words(self._config("network").get("lan", {}).get("ipaddr"))), "")
        if address != own.partition("/")[0]:
            self._check_inside(address)
        for section in self._sections("dhcp", "domain"):
            if str(section.get("name", "")).lower() == self._slots["host"]:
                if section.get("ip") == address:
                    raise Problem("is_so_already")
                raise Problem("name_taken", name=self._slots["host"], ip=section.get("ip", ""))
        return [{"section": self._world.free_name("dhcp", "oasis_name"), "address": address}]

    def _domain_entry(self, is_blocked: bool, wrong: Problem) -> Rows:
        section, entry = self._installed("dhcp", "dnsmasq", "dnsmasq"), f"/{self._slots['domain']}/"
        if (entry in _words(section.get("address"))) != is_blocked:
            raise wrong
        return [{"section": self._reference(section, "dhcp"), "entry": entry}]

    def dns_blocked(self) -> Rows:
        return self._domain_entry(False, Problem("domain_blocked", domain=self._slots["domain"]))

    def dns_unblocked(self) -> Rows:
        return self._domain_entry(True, Problem("domain_not_blocked", domain=self._slots["domain"]))

    def upnp(self) -> Rows:
        return self._switched(self._installed("upnpd", "upnpd", "miniupnpd-nftables"), "enabled", "upnpd")

    def ssh(self) -> Rows:
        """Return the one SSH server with what changes: its port, or both switches of logins by password."""
        every = [one for one in self._sections("dropbear", "dropbear") if str(one.get("enable") or "1") != "0"]
        if len(every) != 1:
            raise Problem("ssh_many", count=len(every))
        name, port = self._reference(every[0], "dropbear"), str(self._slots.get("port", ""))
        if not port:
            state = "on" if self._is_on else "off"
            options = ("PasswordAuth", "RootPasswordAuth")
            words = {"on": ("on", "1", "yes", "true", "enabled", ""), "off": ("off", "0", "no", "false", "disabled")}
            wrong = [one for one in options if str(every[0].get(one) or "") not in words[state]]
            rows: list[Fields] = [{"section": name, "option": one, "value": state} for one in wrong]
            return _some(rows, self._so_already("SSH"))
        if not port.isdigit():
            raise Problem("bad_port", value=port)
        if str(every[0].get("Port") or "22") == port:
            raise Problem("is_so_already")
        pages = self._sections("uhttpd", "uhttpd")
        used = [at for one in pages for name in ("listen_http", "listen_https") for at in _words(one.get(name))]
        if port == "53" or port in [at.rpartition(":")[2] for at in used]:
            raise Problem("port_used", port=port)
        return [{"section": name, "option": "Port", "value": port}]

    def new_ssh_port(self) -> Rows:
        """Return a row with where SSH is found afterwards; for a note."""
        own = next(iter(_words(self._config("network").get("lan", {}).get("ipaddr"))), "").partition("/")[0]
        return [{"address": own}] if own else []

    def redirect(self) -> Rows:
        """Return what sends visitors of the router's page to HTTPS, where it is served at all."""
        section = self._installed("uhttpd", "uhttpd", "uhttpd")
        if self._is_on and not section.get("listen_https"):
            raise Problem("needs_package", package="luci-ssl")
        return self._switched(section, "redirect_https", "HTTPS")

    def guest_ipv6(self) -> Rows:
        """Return what has to change so that the guests get IPv6 or not."""
        names = [str(one[".name"]) for one in self._sections("network", "interface") if _is_guest(one)]
        pools = [one for one in self._sections("dhcp", "dhcp") if str(one.get("interface", one[".name"])) in names]
        _some(pools, Problem("no_guest"))
        rows: list[Fields] = []
        for one in pools:
            for option in ("ra", "dhcpv6"):
                if (str(one.get(option) or "disabled") == "disabled") == self._is_on:
                    path = f"dhcp.{self._reference(one, 'dhcp')}.{option}"
                    rows.append({"path": path, "value": "server" if self._is_on else "disabled"})
        for name in names if self._is_on else ():
            if not self._config("network")[name].get("ip6assign"):
                rows.append({"path": f"network.{name}.ip6assign", "value": "64"})
        return _some(rows, self._so_already("IPv6"))

    def wifi_jobs(self) -> Rows:
        """Return the two jobs that turn the radios off and on again, with the words and commands of each."""
        start, stop = self._slots["from"], self._slots["to"]
        if start == stop:
            raise Problem("no_hours", clock=start)
        radios = [radio for radio in self._radios() if radio.get("disabled") != "1"]
        _some(radios, Problem("wifi_is_off"))
        days = [day for day in _DAYS if day in self._slots.get("days", " ".join(_DAYS)).split()]
        rows: list[Fields] = []
        for state, clock in (("off", start), ("on", stop)):
            if state == "on" and start > stop:
                days = [_DAYS[(_DAYS.index(day) + 1) % 7] for day in days]
            named = {"switch_name": self._world.label("switch", state)}
            named["band_name"] = self._world.label("band", self._slots.get("band", ""))
            summary = sentence(self._world.language["intents"]["wifi_switch"]["summary"], named)
            value = "1" if state == "off" else "0"
            commands = [f"uci set wireless.{radio['.name']}.disabled='{value}'" for radio in radios]
            when = clock + (" daily" if len(days) == 7 else f" custom({','.join(days)})")
            rows.append({"when": when, "wish": summary, "commands": commands})
        return rows

    def radios_asleep(self) -> Rows:
        """Return a row when no radio sends, so that nobody is on the Wi-Fi; for a note."""
        radios = self._sections("wireless", "wifi-device")
        return [{"wifi": ""}] if radios and all(one.get("disabled") == "1" for one in radios) else []

    def reached(self) -> Rows:
        """Return the address of the device, where one is known."""
        ip = self._slots["device"]["ip"]
        return [{"ip": ip}] if ip else []

    def held_back(self) -> Rows:
        """Return a rule of the firewall that keeps the device off the internet; for a note."""
        device = self._slots["device"]
        return [{"rule": one.get("name") or one[".name"]} for one in self._rejecting(device)] if device["mac"] else []

    def held_app(self) -> Rows:
        """Return the domain that is blocked here by DNS, where it is one of the application; for a note."""
        app = self._slots["app"]
        entries = [entry for one in self._sections("dhcp", "dnsmasq") for entry in _words(one.get("address"))]
        return [{"domain": entry.strip("/")} for entry in entries if app in entry.split("/")[1:-1]]

    def adblock(self) -> Rows:
        section = self._installed("adblock", "adblock", "adblock")
        return self._switched(section, "adb_enabled", "adblock") if "switch" in self._slots else []

    def qos(self) -> Rows:
        section = self._installed("sqm", "queue", "sqm-scripts")
        wake = "" if section.get("enabled") == "1" else "1"
        return [{"section": self._reference(section, "sqm"), "wake": wake}]

    def qos_switched(self) -> Rows:
        return self._switched(self._installed("sqm", "queue", "sqm-scripts"), "enabled", "sqm")

    def _tunnels(self) -> Sequence[Section]:
        found = [one for one in self._sections("network", "interface") if one.get("proto") in ("wireguard", "openvpn")]
        return _some(found, Problem("no_vpn"))

    def vpn_there(self) -> Rows:
        """Return nothing; refuse where there is no tunnel that could get a peer."""
        self._tunnels()
        return []

    def vpn(self) -> Rows:
        disabled = "0" if self._is_on else "1"
        meant = [one for one in self._tunnels() if str(one.get("disabled") or "0") != disabled]
        return _some([{"section": one[".name"], "value": disabled} for one in meant], self._so_already("VPN"))

    def peer(self) -> Rows:
        kinds = [f"wireguard_{tunnel['.name']}" for tunnel in self._tunnels()]
        peers = [section for kind in kinds for section in self._sections("network", kind)]
        names = [str(section.get("description") or section[".name"]) for section in peers]
        wanted = self._slots["name"]
        found = [one for one, name in zip(peers, names, strict=True) if name.casefold() == wanted.casefold()]
        _some(found, Problem("peer_unknown", slot="name", value=wanted, choices=names))
        return [{"section": self._reference(section, "network")} for section in found[::-1]]

    def ntp(self) -> Rows:
        """Return whether other time servers have to go first."""
        section = self._config("system").get("ntp")
        if section is None:
            raise Problem("no_ntp")
        present = _words(section.get("server"))
        if present == [self._slots["host"]]:
            raise Problem("is_so_already")
        return [{"clear": "1" if present else ""}]

    def ntp_switched(self) -> Rows:
        section = self._config("system").get("ntp")
        if section is None:
            raise Problem("no_ntp")
        if str(section.get("enabled") or "1") == self._wanted:
            raise self._so_already("NTP")
        return [{"value": self._wanted}]

    def leds(self) -> Rows:
        found = _some(self._sections("system", "led"), Problem("no_leds"))
        trigger, default = _AWAKE if self._is_on else _SLEEPING
        # One that shows something, as traffic, is on: it keeps what it shows.
        sleeping = [(str(one.get("trigger") or "none"), str(one.get("default") or "0")) == _SLEEPING for one in found]
        rows = [
            {"section": self._reference(one, "system"), "trigger": trigger, "default": default}
            for one, is_asleep in zip(found, sleeping, strict=True)
            if is_asleep == self._is_on
        ]
        return _some(rows, self._so_already("LED"))

    def _wan_zone(self) -> str:
        """Return the name of the zone that leads to the internet."""
        for zone in self._sections("firewall", "zone"):
            if zone.get("name") == "wan" or zone.get("masq") == "1":
                return str(zone.get("name"))
        raise Problem("no_wan")

    def _zone_of(self, ip: str) -> str:
        """Return the zone a machine is in by its address, that of the LAN when the address tells nothing."""
        inside = [name for name, own, prefix in self._networks() if ip and _overlaps(ip, 32, own, prefix)]
        for wanted in [*inside, "lan"]:
            for zone in self._sections("firewall", "zone"):
                if wanted in _words(zone.get("network")) and zone.get("name") != self._wan_zone():
                    return str(zone.get("name"))
        raise Problem("no_lan_zone")

    def _new_rule(self, prefix: str, verb: str, device: Named) -> Fields:
        rule, zone = self._world.free_name("firewall", prefix), self._zone_of(device["ip"])
        row = {"rule": rule, "mac": device["mac"], "name": _rule_name(verb, device)}
        return {**row, "src": zone, "dest": self._wan_zone()}

    def _rules_of(self, device: Named) -> list[Section]:
        mac = _need(device, "mac")
        return [rule for rule in self._sections("firewall", "rule") if _has_mac(rule, mac, "src_mac")]

    def _rejecting(self, device: Named) -> list[Section]:
        rules = self._rules_of(device)
        return [rule for rule in rules if rule.get("target") in ("REJECT", "DROP") and rule.get("enabled") != "0"]

    def _blocking(self, device: Named) -> list[Section]:
        return [rule for rule in self._rejecting(device) if rule.get("dest") and not rule.get("dest_port")]

    def block(self) -> Rows:
        """Return a row for each device that gets a rule, or whose rule ends by itself: said again, it gets that end."""
        rows: list[Fields] = []
        for device in self._slots["devices"]:
            held = self._blocking(device)
            for rule in held:
                if f"firewall.{rule['.name']}" in self._world.facts.ending():
                    row = {key: rule.get(key, "") for key in ("name", "src", "dest")}
                    rows.append({**row, "rule": rule[".name"], "mac": " ".join(_words(rule.get("src_mac")))})
            if not held:
                rows.append(self._new_rule(_OWN_BLOCK, "Block", device))
        return _some(rows, Problem("is_blocked", devices=self._slots["devices"]))

    def blocked(self) -> Rows:
        found: list[Fields] = []
        for device in self._slots["devices"]:
            rules = _some(self._blocking(device), Problem("is_not_blocked", device=device))
            found += _own_rules(device, list(rules), _OWN_BLOCK + "_")
        return found

    def forward(self) -> Rows:
        """Return a row for each port that is to be forwarded, unless one goes elsewhere already."""
        device = self._slots["device"]
        ip = _need(device, "ip")
        self._check_inside(ip)
        ports, inner = self._slots["port"], self._slots.get("inner", "")
        if inner and inner not in ports and (len(ports) > 1 or "-" in inner + ports[0]):
            raise Problem("range_moves", port=ports, inner=inner)
        protos = self._protos()
        rows: list[Fields] = []
        for port in ports:
            self._check_free(port, protos)
            rows.append(
                {
                    "forward": self._world.free_name("firewall", _OWN_FORWARD),
                    "name": _rule_name(f"Forward {port} to", device),
                    "ip": ip,
                    "port": port,
                    "inner": inner or port,
                    "src": self._wan_zone(),
                    "dest": self._zone_of(ip),
                    **{proto: proto in protos for proto in ("tcp", "udp")},
                }
            )
        return rows

    def forwarded(self) -> Rows:
        """Return the forwards of some ports, or what opens them on the router, last first, to be deleted."""
        found: list[Section] = []
        for port in self._slots["port"]:
            ours = self._redirects(port, ["tcp", "udp"])
            opened = [one for one in self._openings(port, ["tcp", "udp"]) if not ours]
            wider = [str(one.get("src_dport") or one.get("dest_port")) for one in [*ours, *opened]]
            _some(wider, Problem("no_forward", port=port))
            if any(re.sub(":", "-", text) != port for text in wider):
                raise Problem("forward_wider", port=port, ports=wider)
            device = self._slots.get("device")
            if device and any(section.get("dest_ip") != device["ip"] for section in ours):
                raise Problem("forward_elsewhere", port=port, device=device, ip=ours[0].get("dest_ip", ""))
            for one in opened:
                if not str(one[".name"]).startswith(_OWN_OPEN):
                    raise Problem("opened_by_other", port=port, rule=one.get("name") or one[".name"])
            found += [one for one in [*ours, *opened] if one not in found]
        found.sort(key=lambda one: -int(one[".index"]))  # type: ignore[arg-type]
        return [{"forward": self._reference(section, "firewall")} for section in found]

    def _protos(self) -> list[str]:
        return [proto for proto in ("tcp", "udp") if self._slots.get("proto", "both") in (proto, "both")]

    def _check_free(self, port: str, protos: list[str]) -> None:
        for taken in self._redirects(port, protos):
            rule = taken.get("name") or taken[".name"]
            raise Problem("port_taken", port=port, rule=rule, ip=taken.get("dest_ip", ""))

    def opening(self) -> Rows:
        """Return a row for each port of the router itself that is to answer to the internet."""
        protos = self._protos()
        rows: list[Fields] = []
        for port in self._slots["port"]:
            self._check_free(port, protos)
            held = [set(_words(one.get("proto")) or protos) for one in self._openings(port, protos)]
            if not any(set(protos) <= one for one in held):
                row = {"rule": self._world.free_name("firewall", _OWN_OPEN), "name": f"Open {port}", "port": port}
                rows.append({**row, "src": self._wan_zone(), **{proto: proto in protos for proto in ("tcp", "udp")}})
        return _some(rows, Problem("is_so_already"))

    def _openings(self, port: str, protos: list[str]) -> list[Section]:
        """Return the rules by which some ports of the router itself answer to the internet."""
        rules = [one for one in self._sections("firewall", "rule") if one.get("target") == "ACCEPT"]
        return self._of_port([one for one in rules if not one.get("dest")], "dest_port", port, protos)

    def dmz(self) -> Rows:
        """Return the forward of all ports, changed or new; others go before it, as the first that fits counts."""
        device = self._slots["device"]
        ip = _need(device, "ip")
        self._check_inside(ip)
        held = self._everything()
        if held and held[0].get("dest_ip") == ip:
            raise Problem("is_so_already")
        rule = self._reference(held[0], "firewall") if held else _OWN_DMZ
        return [{"rule": rule, "src": self._wan_zone(), "dest": self._zone_of(ip), "ip": ip}]

    def dmz_left(self) -> Rows:
        found = _some(self._everything(), Problem("no_dmz"))
        return [{"rule": self._reference(one, "firewall")} for one in reversed(found)]

    def _everything(self) -> list[Section]:
        """Return the forwards from the internet that name no port."""
        return [
            one
            for one in self._sections("firewall", "redirect")
            if one.get("target", "DNAT") == "DNAT" and one.get("src", "wan") == self._wan_zone()
            if not one.get("src_dport") and not one.get("src_ip") and one.get("enabled") != "0"
        ]

    def dmz_last(self) -> Rows:
        """Return the forward of all ports, which goes behind a new one: the first that fits counts."""
        last = len(self._config("firewall")) + 9
        return [{"rule": self._reference(one, "firewall"), "place": str(last)} for one in self._everything()]

    def moving_target(self) -> Rows:
        """Return a row when the address of the device may change; for a note."""
        device = self._slots["device"]
        return [] if device["fixed"] or not device["mac"] else [device]

    def _redirects(self, port: str, protos: list[str]) -> list[Section]:
        return self._of_port(self._sections("firewall", "redirect"), "src_dport", port, protos)

    def _of_port(self, sections: list[Section], option: str, port: str, protos: list[str]) -> list[Section]:
        """Return those of some sections that say something about these ports of the internet's side."""
        found = []
        for section in sections:
            listed = _words(section.get("proto")) or ["tcp", "udp"]
            is_same = any(proto in listed for proto in (*protos, "all", "any", "tcpudp"))
            is_in = section.get("src", "wan") == self._wan_zone() and section.get("enabled") != "0"
            texts = (port, str(section.get(option, "")))
            ours, theirs = ([int(end) for end in re.split("[-:]", text) if end.isdigit()] for text in texts)
            if is_same and is_in and ours and theirs and ours[0] <= theirs[-1] and theirs[0] <= ours[-1]:
                found.append(section)
        return found

    def hours(self) -> Rows:
        """Return a rule for each device, two where the time goes past midnight: the second is of the next day."""
        rows: list[Fields] = []
        for device in self._slots["devices"]:
            present = [_span_of(rule) for rule in self._rejecting(device)]
            for first, last, named in self._spans():
                if (first, last, named.lower().split()) not in present:
                    row = self._new_rule(_OWN_HOURS, "Hours", device)
                    rows.append({**row, "start": first, "stop": last, "days": named})
        return _some(rows, Problem("is_so_already"))

    def _spans(self) -> list[tuple[str, str, str]]:
        """Return start, end and days of each rule that some hours need."""
        start, stop = self._slots["from"], self._slots["to"]
        if start == stop:
            raise Problem("no_hours", clock=start)
        days = [day for day in _DAYS if day in self._slots.get("days", "").split()]
        spans = [(start, stop, days)]
        if start > stop:
            spans = [(start, "23:59:59", days), ("00:00", stop, [_DAYS[(_DAYS.index(day) + 1) % 7] for day in days])]
            spans = [span for span in spans if span[0] != span[1]]
        return [
            (first, last, " ".join(day.capitalize() for day in chosen) if 0 < len(chosen) < 7 else "")
            for first, last, chosen in spans
        ]

    def hours_left(self) -> Rows:
        found: list[Fields] = []
        for device in self._slots["devices"]:
            timed = [rule for rule in self._rules_of(device) if rule.get("start_time")]
            if "from" in self._slots:  # one of several spans
                meant = [(first, last, named.lower().split()) for first, last, named in self._spans()]
                timed = [rule for rule in timed if _span_of(rule) in meant]
            found += _own_rules(device, timed, _OWN_HOURS)
        return _some(found, Problem("no_hours_set", devices=self._slots["devices"]))

    def _radios(self, band: str = "") -> list[Section]:
        every = _some(self._sections("wireless", "wifi-device"), Problem("no_wifi"))
        band = band or self._slots.get("band", "both")
        found = [radio for radio in every if band in ("both", _band_of(radio))]
        return list(_some(found, Problem("no_band", band=_BANDS.get(band, band))))

    def _access_points(self) -> list[tuple[Section, Section]]:
        """Return (radio, wifi-iface) pairs of the owner's own networks: access points that are no guest network."""
        wanted = {str(radio[".name"]): radio for radio in self._radios()}
        return [
            (wanted[str(section.get("device"))], section)
            for section in self._sections("wireless", "wifi-iface")
            if str(section.get("device")) in wanted and section.get("mode", "ap") == "ap" and not _is_guest(section)
        ]

    def own_wifi(self) -> Sequence[AccessPoint]:
        """Return a row for each access point that gets a new name or password; one of several must be named."""
        pairs = self._access_points()
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        named = self._slots.get("network")
        if named:
            pairs = [pair for pair in pairs if str(pair[1].get("ssid", "")).casefold() == named.casefold()]
            _some(pairs, Problem("network_unknown", slot="network", value=named[:40], choices=names))
        _some(pairs, Problem("no_access_point"))
        if not named and len({str(radio[".name"]) for radio, _ in pairs}) < len(pairs):
            raise Problem("network_which", slot="network", choices=names, first=names[0])
        return [_row(radio, section) for radio, section in pairs]

    def own_wifi_secured(self) -> Rows:
        return _with_passwords(self.own_wifi())

    def guest_wifi(self) -> Sequence[AccessPoint]:
        devices = {str(radio[".name"]): radio for radio in self._sections("wireless", "wifi-device")}
        found = [section for section in self._sections("wireless", "wifi-iface") if _is_guest(section)]
        rows = [_row(devices.get(str(section.get("device")), {}), section) for section in found]
        return _some(rows, Problem("no_guest"))

    def guest_wifi_secured(self) -> Rows:
        return _with_passwords(self.guest_wifi())

    def switched(self) -> Rows:
        found = [one for one in self._radios() if (one.get("disabled") == "1") == self._is_on or self._gets_end(one)]
        if self._is_on:
            found += [section for _, section in self._access_points() if section.get("disabled") == "1"]
        rows = [{"section": section[".name"], "disabled": "0" if self._is_on else "1"} for section in found]
        return _some(rows, Problem("wifi_is_on" if self._is_on else "wifi_is_off"))

    def _gets_end(self, section: Section) -> bool:
        """Tell whether a state that ends by itself gets another end; said again without one, it stays as it is."""
        place = f"wireless.{section['.name']}.disabled"
        return "until" in self._slots and place in self._world.facts.ending()

    def guest_switched(self) -> Rows:
        rows: list[Fields] = []
        for row in self.guest_wifi():
            if bool(row["off"]) == self._is_on or self._gets_end({".name": row["ap"]}):
                rows.append({"section": row["ap"], "disabled": "0" if self._is_on else "1"})
            if self._is_on and row["radio_off"] and row["radio"]:
                rows.append({"section": row["radio"], "disabled": "0"})
                rows += self._silenced(row["radio"], row["ap"])
        return _some(rows, Problem("guest_is_on" if self._is_on else "guest_is_off"))

    def _silenced(self, radio: str, but: str = "") -> list[Fields]:
        """Return the networks of a sleeping radio that must stay off when the radio is woken for another one."""
        return [
            {"section": section[".name"], "disabled": "1"}
            for section in self._sections("wireless", "wifi-iface")
            if section.get("device") == radio and section.get("disabled") != "1" and section[".name"] != but
        ]

    def open_when_on(self) -> Rows:
        """Return the networks that anybody can join once Wi-Fi is turned on; for a warning."""
        pairs = self._access_points() if self._is_on else []
        return [{"ssid": section.get("ssid", "")} for _, section in pairs if section.get("encryption", "") in _OPEN]

    def sleeping_wifi(self) -> Rows:
        """Return the owner's networks that are off; for a note."""
        return [row for row in self.own_wifi() if row["off"] or row["radio_off"]]

    def channels(self) -> Rows:
        """Return the radios that get another channel, which their band must have."""
        channel = self._slots["channel"]
        chosen = self._radios()
        if channel != "auto":
            fitting = [radio for radio in chosen if int(channel) in _CHANNELS.get(_band_of(radio), ())]
            if not fitting or (self._slots.get("band", "both") != "both" and len(fitting) < len(chosen)):
                bands = [_BANDS.get(_band_of(radio), "") for radio in chosen]
                raise Problem("no_channel", channel=channel, bands=bands)
            # 1 to 13 are channels of 6 GHz too: a bare number means the band that everybody has.
            lowest = min(_band_of(radio) for radio in fitting)
            chosen = fitting if self._slots.get("band") else [radio for radio in fitting if _band_of(radio) == lowest]
        return _changed("channel", [(radio, channel) for radio in chosen], Problem("channel_same", channel=channel))

    def widths(self) -> Rows:
        """Return the radios that get another width, which their band must have."""
        width = int(self._slots["width"])
        chosen = self._radios()
        fitting = [radio for radio in chosen if width <= _WIDEST.get(_band_of(radio), 160)]
        if not fitting or (self._slots.get("band") and len(fitting) < len(chosen)):
            raise Problem("too_wide", width=width, band=_BANDS.get(_band_of(chosen[0]), ""))
        wanted = []
        for radio in fitting:
            kind = re.match("(?:VHT|EHT|HE|HT)(?![A-Z])", str(radio.get("htmode", "")))
            family = kind.group() if kind else "HT"
            if family == "HT" and width > 40:
                raise Problem("too_wide", width=width, band=_BANDS.get(_band_of(radio), ""))
            wanted.append((radio, f"{family}{width}"))
        return _changed("htmode", wanted, Problem("width_same", width=width))

    def countries(self) -> Rows:
        country = self._slots["country"]
        wanted = [(radio, country) for radio in self._radios("both")]
        return _changed("country", wanted, Problem("country_same", country=country))

    def powers(self) -> Rows:
        power = self._slots["power"]
        return _changed("txpower", [(radio, power) for radio in self._radios()], Problem("power_same", power=power))

    def _marked(self, option: str, same: Problem) -> Rows:
        pairs = _some(self._access_points(), Problem("no_access_point"))
        found = [section for _, section in pairs if str(section.get(option) or "0") != self._wanted]
        return _some([{"ap": section[".name"], "value": self._wanted} for section in found], same)

    def hidden(self) -> Rows:
        return self._marked("hidden", Problem("is_hidden" if self._is_on else "is_visible"))

    def isolated(self) -> Rows:
        return self._marked("isolate", Problem("is_isolated" if self._is_on else "is_not_isolated"))

    def encrypted(self) -> Rows:
        """Return the networks that get another encryption, where a password is there and 6 GHz allows it."""
        wanted = ENCRYPTION[self._slots["encryption"]]
        rows = []
        for radio, section in _some(self._access_points(), Problem("no_access_point")):
            now = str(section.get("encryption", "none"))
            if now.startswith(("wpa", "8021x")):
                raise Problem("enterprise", encryption=now)
            if wanted != "none" and not section.get("key"):
                raise Problem("needs_key", ssid=section.get("ssid", ""))
            if _band_of(radio) == "6g" and wanted != "sae":
                raise Problem("six_needs_wpa3")
            if now.partition("+")[0] != wanted:
                rows.append({"ap": section[".name"], "value": wanted})
        return _some(rows, Problem("encryption_same"))

    def opened(self) -> Rows:
        """Return a row when anybody can join afterwards; for a warning."""
        return [{"ssid": ""}] if self._slots["encryption"] == "none" else []

    def _existing(self) -> list[tuple[str, str]]:
        return [(package, name) for package, name in _SECTIONS if name in self._config(package)]

    def _guest_radios(self) -> list[Section]:
        # One radio needs no bridge. 2.4 GHz reaches farther and every device has it, so it is the first choice.
        found = self._radios()
        if self._slots.get("band"):
            return found
        awake = [radio for radio in found if radio.get("disabled") != "1"] or found
        return sorted(awake, key=lambda radio: _band_of(radio) != "2g")[:1]

    def new_guest(self) -> Rows:
        """Return the row of a new guest network, unless there is one or its names are in use."""
        for section in self._sections("wireless", "wifi-iface"):
            if section[".name"] == "guest":
                raise Problem("guest_exists", ssid=section.get("ssid", ""))
        used = [".".join(pair) for pair in self._existing()]
        if used or any(zone.get("name") == "guest" for zone in self._sections("firewall", "zone")):
            raise Problem("guest_in_use", names=used or ["firewall zone guest"])
        bridge = "1" if len(self._guest_radios()) > 1 else ""
        return [{"ip": self._free_address(), "bridge": bridge, "wan": self._wan_zone()}]

    def _free_address(self) -> str:
        taken = [network[1:] for network in self._networks()]
        free = [f"192.168.{byte}.1" for byte in _THIRD_BYTES]
        free = [ip for ip in free if not any(_overlaps(ip, 24, *network) for network in taken)]
        return str(_some(free, Problem("no_free_network"))[0])

    def socket_split(self) -> Rows:
        """Return a port of the switch that leaves its bridge, and the network that it gets."""
        socket = self._slots["socket"]
        if self._sections("network", "switch"):
            raise Problem("no_dsa")
        name = "net_" + socket
        if name in self._config("network"):
            raise Problem("is_so_already")
        bridges = [one for one in self._sections("network", "device") if one.get("type") == "bridge"]
        sockets = [port for one in bridges for port in _words(one.get("ports"))]
        found = _some([one for one in bridges if socket in _words(one.get("ports"))],
                      Problem("socket_unknown", value=socket, choices=sockets))[0]  # fmt: skip
        vlans = [one.get("device") for one in self._sections("network", "bridge-vlan")]
        if found.get("name") in vlans or len(_words(found["ports"])) < 2:
            raise Problem("socket_kept", socket=socket)
        address, _, length = self._slots.get("address", "").partition("/")
        address = address or self._free_address()
        prefix = int(length or 24)
        if not any(_overlaps(address, 32, *network) for network in _PRIVATE):
            raise Problem("not_private", address=address)
        if prefix > _POOL_PREFIX:
            raise Problem("pool_too_small", prefix=prefix)
        for interface, other, other_prefix in self._networks():
            if _overlaps(address, prefix, other, other_prefix):
                raise Problem("overlap", address=address, interface=interface, other=f"{other}/{other_prefix}")
        if _is_edge(number4(address) or 0, prefix):
            address = text_of(4, (number4(address) or 0) & ~_host_bits(prefix) | 1)  # of a whole network its first
        netmask = text_of(4, 0xFFFFFFFF ^ _host_bits(prefix))
        row = {"bridge": self._reference(found, "network"), "net": name, "ip": address, "netmask": netmask}
        return [{**row, "wan": self._wan_zone()}]

    def policies(self) -> Rows:
        zone = next(one for one in self._sections("firewall", "zone") if one.get("name") == self._slots["zone"])
        chain, policy = self._slots["chain"], self._slots["policy"]
        if str(zone.get(chain, "")).upper() == policy:
            raise Problem("is_so_already")
        return [{"section": self._reference(zone, "firewall")}]

    def new_guest_wifi(self) -> Rows:
        return [
            {
                "ap": f"guest_{at}" if at > 1 else "guest",
                "radio": radio[".name"],
                "encryption": _new_encryption("none", _band_of(radio)),
            }
            for at, radio in enumerate(self._guest_radios(), 1)
        ]

    def guest_woken(self) -> Rows:
        """Return what has to change so that the radios send, and nothing that was silent begins to."""
        rows: list[Fields] = []
        for radio in self._guest_radios():
            if radio.get("disabled") == "1":
                rows.append({"section": radio[".name"], "disabled": "0"})
                rows += self._silenced(str(radio[".name"]))
        return rows

    def guest_wakes(self) -> Rows:
        """Return a row when the owner's own Wi-Fi on the woken radio is kept off; for a note."""
        rows = self.guest_woken()
        return rows if any(row["disabled"] == "1" for row in rows) else []

    def guest_one_band(self) -> Rows:
        """Return a row with the band when the router could send the guest network on more than one; for a note."""
        chosen = self._guest_radios()
        every = {_band_of(radio) for radio in self._radios("both")}
        band = _band_of(chosen[0])
        is_one = len(chosen) == 1 and len(every) > 1 and not self._slots.get("band")
        return [{"band": _BANDS.get(band, band)}] if is_one else []

    def guest_left(self) -> Rows:
        rows = [{"package": package, "section": section} for package, section in self._existing()]
        return _some(rows, Problem("no_guest"))


# The names by which command templates ask for rows.
SETS = {name for name in vars(Sets) if not name.startswith("_")} - {"rows_of"}
