"""The predicates of tasks: small, typed, each a sentence about a router that came out of a task.

A predicate is {"is": name, …}; `check(world, predicate)` returns "" where it holds, else why it does not, in words.
"not": true turns it round. Values are texts or lists of texts of which one has to be there. Bands are 2g, 5g, both.
TABLE names what each needs, so that a task with a slip in it is no task (tasks.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.eval.spoken import asks, declines, honest, objects, said
from tests.eval.world import Section, World, is_on, is_true, words

Predicate = dict[str, Any]

ANY = "*"


def check(world: World, predicate: Predicate) -> str:
    """Return "" where a predicate holds, else why not."""
    function, _, _ = TABLE[predicate["is"]]
    why = function(world, predicate)
    if predicate.get("not"):
        return "" if why else f"{_shown(predicate)} holds"
    return why and f"{_shown(predicate)}: {why}"


def _shown(predicate: Predicate) -> str:
    return " ".join(str(value) for value in predicate.values())


def _is_one(value: object, wanted: object) -> bool:
    given = value if isinstance(value, str) else " ".join(words(value))
    return given in (wanted if isinstance(wanted, list) else [wanted])


# UCI as it stands


def option(world: World, task: Predicate) -> str:
    package, section, name = task["at"].split(".")
    found = world.find(package, section)
    if found is None:
        return "there is no such section"
    value = found.get(name, "")
    return "" if _is_one(value, task["value"]) else f"it is {value!r}"


def list_has(world: World, task: Predicate) -> str:
    package, section, name = task["at"].split(".")
    found = world.find(package, section) or {}
    items = words(found.get(name))
    return "" if task["value"] in items else f"it is {items}"


def section(world: World, task: Predicate) -> str:
    fits = [one for one in world.of_type(task["package"], task["type"]) if _has(one, task["has"])]
    return "" if fits else "there is none"


def _has(one: Section, wanted: dict[str, Any]) -> bool:
    return all(_fits(one.get(key, ""), value) for key, value in wanted.items())


def _fits(value: object, wanted: object) -> bool:
    options = wanted if isinstance(wanted, list) else [wanted]
    return any(str(one).lower() == str(value).lower() or one in words(value) for one in options)


# Wi-Fi


def wifi(world: World, task: Predicate) -> str:
    """Every network of the home on a band has an option with a value; networks that are off do not count."""
    found = world.networks(task["band"])
    if not found:
        return "there is no such network"
    wrong = [one for one in found if not _is_one(one.get(task["option"], task.get("default", "")), task["value"])]
    return f"it is {wrong[0].get(task['option'], '')!r} in {wrong[0]['.name']}" if wrong else ""


def radio(world: World, task: Predicate) -> str:
    found = world.radios(task["band"])
    wrong = [one for one in found if not _is_one(one.get(task["option"], ""), task["value"])]
    return "" if found and not wrong else f"it is {[one.get(task['option']) for one in found]}"


def width(world: World, task: Predicate) -> str:
    modes = [str(one.get("htmode", "")) for one in world.radios(task["band"])]
    return (
        "" if modes and all(re.fullmatch(rf"[A-Z]+{task['value']}[+-]?", mode) for mode in modes) else f"it is {modes}"
    )


def wifi_on(world: World, task: Predicate) -> str:
    """The home's Wi-Fi of a band sends, or with "on": false none of it does."""
    radios = {one[".name"]: one for one in world.radios(task["band"])}
    sends = [one for one in world.networks(task["band"]) if is_on(one) and is_on(radios[one["device"]])]
    if task["on"]:
        return "" if len({one["device"] for one in sends}) == len(radios) else "it is off"
    return f"{sends[0]['.name']} still sends" if sends else ""


def guest(world: World, task: Predicate) -> str:
    """There is a network for guests, walled off from the home, with that name, key, and switch."""
    radios = {one[".name"]: one for one in world.radios("both")}
    found = world.guests()
    if "ssid" in task:
        found = [one for one in found if one.get("ssid") == task["ssid"]]
    if "key" in task:
        found = [one for one in found if one.get("key") == task["key"] and one.get("encryption", "none") != "none"]
    if not found:
        return "there is none"
    sends = [one for one in found if is_on(one) and is_on(radios[one["device"]])]
    if task.get("on", True):
        return "" if sends else "it is off"
    return "it is on" if sends else ""


# Who may go where


def _macs_and_addresses(world: World, name: str) -> tuple[str, str]:
    return world.devices[name]


def _is_of(world: World, rule: Section, name: str) -> bool:
    mac, address = _macs_and_addresses(world, name)
    macs = [one.lower() for one in words(rule.get("src_mac"))]
    addresses = [one.split("/")[0] for one in words(rule.get("src_ip"))]
    fixed = [
        str(host.get("ip", "")) for host in world.of_type("dhcp", "host") if mac in str(host.get("mac", "")).lower()
    ]
    return mac in macs or address in addresses or any(one in addresses for one in fixed if one)


def _bars(world: World, name: str) -> list[Section]:
    """Return the rules that keep a device from the internet."""
    return [
        rule
        for rule in world.of_type("firewall", "rule")
        if is_on(rule) and rule.get("src") in ("lan", ANY) and rule.get("dest") in ("wan", ANY)
        and str(rule.get("target", "")).upper() in ("REJECT", "DROP") and _is_of(world, rule, name)
        and not rule.get("dest_port") and not rule.get("dest_ip")
        and str(rule.get("proto", "tcp udp")) in ("all", "any", ANY, "tcp udp", "tcpudp", "0")
    ]  # fmt: skip


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def blocked(world: World, task: Predicate) -> str:
    """A device cannot reach the internet: always, or from one time to another, on all days or some."""
    found = _bars(world, task["device"])
    if "from" not in task:
        always = [one for one in found if not any(one.get(key) for key in ("start_time", "stop_time", "weekdays"))]
        return "" if always else "no rule bars it" if not found else "only at some times"
    days = set(task.get("days", _DAYS))
    left = set(days)
    for rule in found:
        if _clock(rule.get("start_time")) == task["from"] and _clock(rule.get("stop_time")) == task["to"]:
            left -= _days(rule)
            if _days(rule) - days:
                return f"it is barred on {sorted(_days(rule) - days)} too"
    if left == days and _is_split(found, task, days):
        return ""
    return f"not barred on {sorted(left)}" if left else ""


def _is_split(rules: list[Section], task: Predicate, days: set[str]) -> bool:
    """Tell whether two rules, up to midnight and from it on, make a night; the second half may be of the next days."""
    late = [
        one for one in rules if _clock(one.get("start_time")) == task["from"] and _is_midnight(one.get("stop_time"))
    ]
    early = [one for one in rules if _is_midnight(one.get("start_time")) and _clock(one.get("stop_time")) == task["to"]]
    following = {_DAYS[(_DAYS.index(day) + 1) % len(_DAYS)] for day in days}
    return any(_days(one) == days for one in late) and any(_days(one) in (days, following) for one in early)


def _is_midnight(value: object) -> bool:
    return _clock(value) in ("", "00:00", "23:59", "24:00")


def _clock(value: object) -> str:
    return str(value or "")[:5]


def _days(rule: Section) -> set[str]:
    given = words(rule.get("weekdays"))
    named = {one[:3].lower() for one in given if one != "!"}
    return (set(_DAYS) - named if "!" in given else named) if named else set(_DAYS)


def forward(world: World, task: Predicate) -> str:
    """A port of the internet side leads to a device."""
    _, address = _macs_and_addresses(world, task["device"])
    fixed = [
        str(host.get("ip", ""))
        for host in world.of_type("dhcp", "host")
        if world.devices[task["device"]][0] in str(host.get("mac", "")).lower()
    ]
    found = [one for one in _forwards(world, task["port"]) if one.get("dest_ip") in (address, *fixed)]
    if "inner" in task:
        found = [one for one in found if str(one.get("dest_port") or one.get("src_dport")) == task["inner"]]
    protos = set()
    for one in found:
        protos |= _protos(one)
    wanted = {"tcp", "udp"} if task.get("proto") == "both" else {task["proto"]} if "proto" in task else set()
    if not found or not wanted <= protos:
        return "there is none" if not found else f"it is for {sorted(protos)}"
    return ""


def no_forward(world: World, task: Predicate) -> str:
    found = _forwards(world, task["port"])
    return f"{found[0].get('name', found[0]['.name'])} leads in" if found else ""


def _forwards(world: World, port: str) -> list[Section]:
    return [
        one
        for one in world.of_type("firewall", "redirect")
        if is_on(one) and one.get("src") == "wan" and str(one.get("target", "DNAT")).upper() == "DNAT"
        and port in (str(one.get("src_dport", "")), str(one.get("src_dport", "")).replace(":", "-"))
    ]  # fmt: skip


def _protos(one: Section) -> set[str]:
    given = {word.lower() for word in words(one.get("proto", "tcp udp"))}
    return {"tcp", "udp"} if given & {"all", "any", "tcpudp", ANY} else given


def opened(world: World, task: Predicate) -> str:
    """The internet side is let in: to a port, or with "port": "*" anywhere that was closed in a stock router."""
    port = task["port"]
    zones = {str(one.get("name")): one for one in world.of_type("firewall", "zone")}
    if str(zones.get("wan", {}).get("input", "REJECT")).upper() == "ACCEPT":
        return ""
    for rule in world.of_type("firewall", "rule"):
        is_in = is_on(rule) and rule.get("src") in ("wan", ANY) and str(rule.get("target", "")).upper() == "ACCEPT"
        ports = words(rule.get("dest_port"))
        is_wide = not ports and str(rule.get("proto", "tcp udp")) in ("all", "any", "tcp", "tcp udp", ANY)
        if is_in and (is_wide or port in ports):
            return ""
    if any(port in (ANY, str(one.get("src_dport"))) for one in world.of_type("firewall", "redirect") if is_on(one)):
        return ""
    return "it is closed"


# Addresses and names


def lease(world: World, task: Predicate) -> str:
    mac, address = _macs_and_addresses(world, task["device"])
    for host in world.of_type("dhcp", "host"):
        if mac in [one.lower() for one in words(host.get("mac"))] and host.get("ip") == task.get("ip", address):
            return ""
    return "there is none"


def dns(world: World, task: Predicate) -> str:
    """The router asks these servers for names, whatever way it was told so, and not the provider's."""
    servers = set(task["servers"])
    wan = world.find("network", "wan") or {}
    own = world.of_type("dhcp", "dnsmasq")[0]
    by_network = set(words(wan.get("dns")))
    by_server = {one for one in words(own.get("server")) if "/" not in one}
    if by_network and is_true(wan.get("peerdns", "1")) is False and by_network <= servers | _sixes(by_network):
        return "" if servers & by_network else "others"
    if by_server and is_true(own.get("noresolv", "0")) and by_server <= servers | _sixes(by_server):
        return "" if servers & by_server else "others"
    return f"it asks {sorted(by_network | by_server) or 'the provider'}"


def _sixes(given: set[str]) -> set[str]:
    return {one for one in given if ":" in one}


def dns_own(world: World, task: Predicate) -> str:
    """The router asks the provider's servers."""
    wan = world.find("network", "wan") or {}
    own = world.of_type("dhcp", "dnsmasq")[0]
    is_own = is_true(wan.get("peerdns", "1")) and not is_true(own.get("noresolv", "0"))
    return "" if is_own and not words(wan.get("dns")) else "others are set"


def name(world: World, task: Predicate) -> str:
    """A name of the home leads to an address."""
    wanted = task["name"].removesuffix(".lan")
    ends = (wanted, wanted + ".lan")
    for one in world.of_type("dhcp", "domain"):
        if one.get("name") in ends and one.get("ip") == task["ip"]:
            return ""
    own = world.of_type("dhcp", "dnsmasq")[0]
    if any(f"/{end}/{task['ip']}" in words(own.get("address")) for end in ends):
        return ""
    for one in world.of_type("dhcp", "hostrecord"):
        if one.get("ip") == task["ip"] and set(words(one.get("name"))) & set(ends):
            return ""
    hosts = [one for one in world.of_type("dhcp", "host") if one.get("ip") == task["ip"]]
    return "" if any(one.get("name") == wanted for one in hosts) else "it leads nowhere"


def sinks(world: World, task: Predicate) -> str:
    """A name of the internet leads nowhere in this home."""
    own = world.of_type("dhcp", "dnsmasq")[0]
    for key in ("address", "server"):
        for one in words(own.get(key)):
            parts = one.split("/")
            if task["domain"] in parts[1:-1] and parts[-1] in ("", "#", "0.0.0.0", "::", "127.0.0.1"):
                return ""
    return "it is answered"


def peer(world: World, task: Predicate) -> str:
    """A peer of the VPN has that description, a public key, an address of its own; "on": false: it is gone or off."""
    found = [
        one
        for one in world.config.get("network", [])
        if one[".type"].startswith("wireguard_") and one.get("description") == task["name"] and is_on(one)
    ]
    if not task.get("on", True):
        return "it is there" if found else ""
    return "" if found and found[0].get("public_key") and found[0].get("allowed_ips") else "there is none"


# What was done; for what was said, see spoken.py


def service(world: World, task: Predicate) -> str:
    actions = task["action"] if isinstance(task["action"], list) else [task["action"]]
    lines = [f"{task['name']} {action}" for action in actions]
    return "" if any(line in lines for line in world.services) else f"{world.services[-4:]}"


def program(world: World, task: Predicate) -> str:
    return "" if any(task["line"] in line for line in world.programs) else f"{world.programs[-4:]}"


def calls(world: World, task: Predicate) -> str:
    """A tool was called with these arguments, as texts."""
    for tool, given in world.calls:
        if tool == task["tool"] and all(
            str(given.get(key, "")) in (value if isinstance(value, list) else [value])
            for key, value in task.get("with", {}).items()
        ):
            return ""
    return f"only {[tool for tool, _ in world.calls]}"


def any_of(world: World, task: Predicate) -> str:
    """One of several holds: there is more than one way."""
    told = [check(world, one) for one in task["of"]]
    return "" if "" in told else "; ".join(told)


def planned(world: World, task: Predicate) -> str:
    """A plan was shown that tells when it ends by itself, or how risky it is."""
    for plan in world.plans:
        if "risk" in task and plan["risk"] == task["risk"]:
            return ""
        if "ends" in task and any(line.startswith("until ") for line in plan["words"]):
            return ""
    return f"{len(world.plans)} other plans"


def called(world: World, task: Predicate) -> str:
    """A tool was called with such an input, as words of its JSON, and something came of it, or with "ok": false not."""
    for tool, given, _, is_error in world.results:
        text = json.dumps(given, ensure_ascii=False)
        is_it = tool in _several(task["tool"]) and is_error is not task.get("ok", True)
        if is_it and all(_has_one(text, group) for group in task.get("words", [])):
            return ""
    return f"only {[(tool, is_error) for tool, _, _, is_error in world.results]}"


def card(world: World, task: Predicate) -> str:
    """A card was shown that waited for the owner, with a word of each group in what it says or why."""
    for plan in world.plans:
        text = json.dumps([plan.get(key) for key in ("summary", "words", "reasons")], ensure_ascii=False)
        if plan.get("needs_approval") and all(_has_one(text, group) for group in task.get("words", [])):
            return ""
    return f"{len(world.plans)} other cards"


def rounds(world: World, task: Predicate) -> str:
    """At least so many different calls looked at something."""
    looked = {(tool, json.dumps(given, sort_keys=True)) for tool, given, _, is_error in world.results if not is_error}
    return "" if len(looked) >= task["least"] else f"only {len(looked)}"


def _several(given: object) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _has_one(text: str, group: object) -> bool:
    return any(str(one).lower() in text.lower() for one in _several(group))


# name: (function, what it needs, what it may have)
TABLE: dict[str, tuple[Callable[[World, Predicate], str], tuple[str, ...], tuple[str, ...]]] = {
    "option": (option, ("at", "value"), ()),
    "list_has": (list_has, ("at", "value"), ()),
    "section": (section, ("package", "type", "has"), ()),
    "wifi": (wifi, ("band", "option", "value"), ("default",)),
    "radio": (radio, ("band", "option", "value"), ()),
    "width": (width, ("band", "value"), ()),
    "wifi_on": (wifi_on, ("band", "on"), ()),
    "guest": (guest, (), ("ssid", "key", "on")),
    "blocked": (blocked, ("device",), ("from", "to", "days")),
    "forward": (forward, ("port", "device"), ("inner", "proto")),
    "no_forward": (no_forward, ("port",), ()),
    "opened": (opened, ("port",), ()),
    "lease": (lease, ("device",), ("ip",)),
    "dns": (dns, ("servers",), ()),
    "dns_own": (dns_own, (), ()),
    "name": (name, ("name", "ip"), ()),
    "sinks": (sinks, ("domain",), ()),
    "peer": (peer, ("name",), ("on",)),
    "said": (said, ("all",), ("last",)),
    "asks": (asks, (), ("last",)),
    "declines": (declines, (), ("last",)),
    "objects": (objects, (), ("last",)),
    "honest": (honest, (), ("last",)),
    "called": (called, ("tool",), ("words", "ok")),
    "card": (card, (), ("words",)),
    "rounds": (rounds, ("least",), ()),
    "service": (service, ("name", "action"), ()),
    "program": (program, ("line",), ()),
    "calls": (calls, ("tool",), ("with",)),
    "any": (any_of, ("of",), ()),
    "planned": (planned, (), ("risk", "ends")),
}
