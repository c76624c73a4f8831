"""The tool `status`: what the router is and does, in few words for a model, a page or the offline provider.

Live values come from the bus; where it says nothing the configuration answers and a note says so. Every answer is
{"what": …, …, "notes"?: [str], "untrusted"?: [whose words are in it]} of plain JSON values. No secret is in it.
"""

from __future__ import annotations

from oasis.change.history.listing import chosen
from oasis.core import clean, when
from oasis.errors import ToolError
from oasis.redaction import foreign
from oasis.tools.builtin import status_network
from oasis.tools.router import Facts, known_devices, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.catalogue.shapes import Section
    from oasis.change.shapes import Record
    from oasis.tools.shapes import ChangesAnswer, Network, Radio, Result, StatusArguments, Temperature


# What an answer about changes may hold: newest ones first, and of each so much that a small model still reads them.
CHANGES = 15
WORDS = 6
WORDS_CHARS = 120

_CONFIG_ONLY = "the live state is not available, this is from the configuration"


def run(input: StatusArguments, facts: Facts) -> Result:
    """Return one part of the router's state.

    Raises: ToolError for an unknown part.
    """
    what = input.get("what") or "overview"
    facts = facts.asked(input.get("names"))
    part = _PARTS.get(what) if isinstance(what, str) else None
    if what == "devices":
        return {"what": what, **devices(facts, str(input.get("named") or ""))}
    if what == "changes":
        return {"what": what, **changes(facts, str(input.get("since") or ""))}
    if part is None:
        raise ToolError(f"status knows no part {what!r}", "one of " + ", ".join([*_PARTS, "changes"]))
    answer = part(facts)
    return {"what": what, **answer, **({"untrusted": sorted(facts.shown)} if facts.shown else {})}


def overview(facts: Facts) -> Result:
    """Return the whole router in a dozen values."""
    board, info = facts.ubus("system", "board"), facts.ubus("system", "info")
    release = board.get("release")
    system = (facts.sections("system", "system") or [{}])[0]
    # The bus tells the name that is configured.
    name = facts.text("system", {**system, "hostname": board.get("hostname") or system.get("hostname")}, "hostname")
    answer: dict[str, object] = {"hostname": clean.name(name)}
    answer["model"] = clean.name(board.get("model"))
    answer["release"] = clean.name(release.get("description") if isinstance(release, dict) else "")
    if isinstance(info.get("uptime"), int):
        answer["uptime_s"] = info["uptime"]
    if info:
        answer["load_1min"] = _load(info.get("load"))
        answer["memory_bytes"] = _of(info.get("memory"), "total", "available")
    interfaces = _interfaces(facts)
    answer["internet"] = _internet(facts, interfaces)
    answer["lan"] = [item for item in interfaces if item["interface"] in _lan_names(facts)]
    answer["wifi"] = _networks(facts)
    devices = facts.devices()
    answer["devices"] = {"known": len(devices), "present": sum(1 for one in devices if one["present"])}
    return _with_note(answer, board or info)


def addresses(facts: Facts) -> Result:
    """Return every interface but loopback with its addresses."""
    return _with_note({"interfaces": _interfaces(facts)}, facts.interfaces())


def devices(facts: Facts, named: str = "") -> Result:
    """Return the machines known to the router; a blocked one carries "blocked": true.

    Each has a handle, "device"; its own name only where it may be shown or the owner chose it. `named` filters.
    """
    stations = _stations(facts)
    blocked = {
        mac.lower()
        for rule in facts.sections("firewall", "rule")
        if rule.get("target") in ("REJECT", "DROP") and rule.get("enabled") != "0"
        for mac in words(rule.get("src_mac"))
    }
    found, now_s, is_foreign = [], facts.now_s(), False
    for device in known_devices(facts):
        if not _is_named(str(device["name"]), named):
            continue
        left_out = ("name", "is_own")
        entry = {key: value for key, value in device.items() if key not in left_out and value not in ("", False)}
        if device.get("is_own") or facts.shows_names:
            entry["name"] = device["name"]
            is_foreign = is_foreign or bool(device["name"] and not device.get("is_own"))
        entry["present"] = bool(device["present"]) or device["mac"] in stations
        expires = entry.pop("expires_unix_s", 0)
        if isinstance(expires, int) and expires > now_s:
            entry["lease_s"] = expires - now_s
        if device["mac"] in stations:
            entry.update(stations[str(device["mac"])])
        if device["mac"] in blocked:
            entry["blocked"] = True
        found.append(entry)
    answer: Result = {"devices": found}
    return {**answer, "untrusted": [foreign.DEVICES]} if is_foreign else answer


def _is_named(name: str, words: str) -> bool:
    plain = "".join(char for char in name.casefold() if char.isalnum())
    return all("".join(char for char in word if char.isalnum()) in plain for word in words.casefold().split())


def wifi(facts: Facts) -> Result:
    """Return the radios, each with its networks and who is in them; no key is shown, only how a network is secured."""
    live = facts.ubus("network.wireless", "status")
    radios, clients = _radios(facts), status_network.clients(facts)
    for network in [network for radio in radios for network in radio["networks"]]:
        name = _ifname(live, str(network["section"]))
        if name:
            network["device"], network["clients"] = name, clients.get(name, [])
    return _with_note({"radios": radios}, live or not radios)


def _ifname(live: Result, section: str) -> str:
    """Return the network device of a section of the package wireless, "" when it is not up."""
    for radio in live.values():
        for interface in status_network.dicts(radio.get("interfaces")) if isinstance(radio, dict) else []:
            if interface.get("section") == section:
                return str(interface.get("ifname", ""))
    return ""


def services(facts: Facts) -> Result:
    """Return the init scripts with what is known about them."""
    found = [{"name": name, **entry} for name, entry in sorted(facts.services().items())]
    return {"services": found} if found else {"services": found, "notes": ["the list of services is not available"]}


def storage(facts: Facts) -> Result:
    """Return flash, the temporary file system and memory, in bytes."""
    info = facts.ubus("system", "info")
    answer: dict[str, dict[str, int] | list[str]] = {}
    for name, key in (("flash", "root"), ("tmp", "tmp")):
        # system info counts file systems in KiB and memory in bytes.
        sizes = _of(info.get(key), "total", "used", "avail")
        if sizes:
            answer[name + "_bytes"] = {field: size * 1024 for field, size in sizes.items()}
    if info:
        answer["memory_bytes"] = _of(info.get("memory"), "total", "free", "available")
    else:
        answer["notes"] = ["the sizes are not available"]
    return answer


def changes(facts: Facts, since: str = "") -> Result:
    """Return what was changed here, newest first, since a time in words.

    Raises: UsageError when the words name no time.
    """
    found = chosen(facts.history(), when.since(since, facts.now_s()) if since else 0)
    answer: ChangesAnswer = {"changes": [_change(record, facts.tells_summaries) for record in found[:CHANGES]]}
    untrusted = {label for record in found[:CHANGES] for label in _labels(record)}
    if untrusted:
        answer["untrusted"] = sorted(untrusted)
    if len(found) > CHANGES:
        answer["notes"] = [f"{len(found) - CHANGES} older ones are left out"]
    return answer


def _labels(record: Record) -> list[str]:
    return list(record.get("untrusted", []))


def _change(record: Record, has_summary: bool) -> Result:
    entry: dict[str, object] = {"change": record["id"], "when": when.shown(record["when_unix_s"])}
    if has_summary:
        entry["summary"] = clean.line(record["summary"])[:WORDS_CHARS]
    entry["words"] = [clean.line(word)[:WORDS_CHARS] for word in record["words"][:WORDS]]
    entry["state"] = "undone" if record.get("undone_by") else record["state"]
    if record.get("until_unix_s"):
        entry["until"] = when.shown(record["until_unix_s"])
    entry.update({key: record[key] for key in ("undoes", "expiry") if record.get(key)})
    return entry


def _interfaces(facts: Facts) -> Sequence[Result]:
    live = facts.interfaces()
    if live:
        return [status_network.interface(item) for item in live if item.get("interface") != "loopback"]
    found = facts.sections("network", "interface")
    return [_configured(section) for section in found if section.get(".name") != "loopback"]


def _configured(section: Section) -> Result:
    answer = {"interface": section.get(".name", ""), "proto": section.get("proto", "")}
    answer["device"] = section.get("device", "")
    masks = words(section.get("netmask"))
    answer["ipv4"] = [one if "/" in one or not masks else one + "/" + masks[0] for one in words(section.get("ipaddr"))]
    answer["ipv6"] = words(section.get("ip6addr"))
    answer["gateway"] = section.get("gateway", "")
    answer["dns"] = words(section.get("dns"))
    return {key: value for key, value in answer.items() if value not in ([], "")}


def _internet(facts: Facts, interfaces: Sequence[Result]) -> Result:
    outside = [item for item in interfaces if item.get("interface") in status_network.wan_names(facts)]
    with_route = [item for item in outside if item.get("up") and item.get("gateway")]
    if with_route:
        return {
            "up": True,
            **{key: with_route[0][key] for key in ("interface", "ipv4", "gateway", "dns") if key in with_route[0]},
        }
    if any("up" in item for item in outside):
        return {"up": False, "interfaces": [item["interface"] for item in outside]}
    return {"interfaces": [item["interface"] for item in outside]}


def _lan_names(facts: Facts) -> list[str]:
    return ["lan"] if "lan" in facts.config("network") else []


def _networks(facts: Facts) -> Sequence[Result]:
    return [
        {"ssid": network["ssid"], "band": radio["band"], "on": network["on"], "encryption": network["encryption"]}
        for radio in _radios(facts)
        for network in radio["networks"]
    ]


def _radios(facts: Facts) -> list[Radio]:
    live = facts.ubus("network.wireless", "status")
    networks = facts.sections("wireless", "wifi-iface")
    radios = []
    for radio in facts.sections("wireless", "wifi-device"):
        name = str(radio[".name"])
        state = live.get(name)
        on = radio.get("disabled") != "1"
        mine = [_network(one, on, facts) for one in networks if one.get("device") == name]
        entry: Radio = {"radio": name, "band": _band(radio), "channel": radio.get("channel", ""), "on": on}
        if isinstance(state, dict):
            entry["up"] = state.get("up") is True
        entry["networks"] = mine
        radios.append(entry)
    return radios


def _network(section: Section, radio_on: bool, facts: Facts) -> Network:
    return {
        "section": section[".name"],
        "ssid": clean.name(facts.text("wireless", section, "ssid")),
        "mode": section.get("mode", "ap"),
        "network": words(section.get("network")),
        "encryption": section.get("encryption", "none"),
        "on": radio_on and section.get("disabled") != "1",
    }


def _band(radio: Section) -> object:
    # Releases before 21.02 wrote hwmode instead of band.
    return radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g")


def _stations(facts: Facts) -> dict[str, dict[str, str | int]]:
    """Return the wireless network that each device is in, by MAC: {"wifi": ssid, "signal_dbm"?}."""
    from oasis.tools.builtin import status_network

    found: dict[str, dict[str, str | int]] = {}
    clients = status_network.clients(facts)
    shown = [clean.name(facts.text("wireless", one, "ssid")) for one in facts.sections("wireless", "wifi-iface")]
    for radio in facts.ubus("network.wireless", "status").values():
        for interface in status_network.dicts(radio.get("interfaces")) if isinstance(radio, dict) else []:
            settings = interface.get("config")
            ssid = clean.name(settings.get("ssid") if isinstance(settings, dict) else "")
            ssid = ssid if ssid in shown or facts.shows_names else foreign.HIDDEN
            for client in clients.get(str(interface.get("ifname")), []):
                signal = {"signal_dbm": client["signal_dbm"]} if "signal_dbm" in client else {}
                found[str(client["mac"])] = {"wifi": ssid, **signal}
    return found


def _with_note(answer: Result, live: object) -> Result:
    found = {key: value for key, value in answer.items() if value != ""}
    return found if live else {**found, "notes": [_CONFIG_ONLY]}


def _of(value: object, *fields: str) -> dict[str, int]:
    found = value if isinstance(value, dict) else {}
    return {field: found[field] for field in fields if isinstance(found.get(field), int)}


def _load(value: object) -> float:
    # netifd and procd report load averages as fixed point with 16 fractional bits.
    first = value[0] if isinstance(value, list) and value else 0
    return round(first / 65536, 2) if isinstance(first, int) else 0.0


# Sensors are looked for by number; no router has more.
ZONES = 8
_KERNEL_CHARS = 80


def system(facts: Facts) -> Result:
    """Return the machine in a dozen values."""
    board, info = facts.ubus("system", "board"), facts.ubus("system", "info")
    release, memory = board.get("release"), info.get("memory")
    settings = (facts.sections("system", "system") or [{}])[0]
    answer: dict[str, object] = {"model": clean.name(board.get("model")), "board": clean.name(board.get("board_name"))}
    answer["kernel"] = clean.name(board.get("kernel")) or _kernel(facts)
    if isinstance(release, dict):
        answer["release"] = clean.name(release.get("description"))
        answer["target"] = clean.name(release.get("target"))
    answer["processor"] = clean.name(board.get("system"))
    answer["cores"] = facts.read_text("/proc/cpuinfo").count("processor\t")
    answer["load"] = _loads(facts)
    if isinstance(memory, dict):
        keys = ("total", "free", "available", "cached")
        answer["memory_bytes"] = {key: memory[key] for key in keys if isinstance(memory.get(key), int)}
    answer["temperatures"] = temperatures(facts)
    answer["connections"] = status_network.connections(facts)
    if isinstance(info.get("uptime"), int):
        answer["uptime_s"] = info["uptime"]
    answer["time"] = when.shown(facts.now_s())
    answer["timezone"] = str(settings.get("zonename") or settings.get("timezone") or "")
    return {key: value for key, value in answer.items() if value not in ("", [], {}, 0)}


def temperatures(facts: Facts) -> list[Temperature]:
    """Return what the sensors say, in degrees Celsius."""
    found: list[Temperature] = []
    for number in range(ZONES):
        for name, value in (
            ("/sys/class/thermal/thermal_zone%d/type" % number, "/sys/class/thermal/thermal_zone%d/temp" % number),
            ("/sys/class/hwmon/hwmon%d/name" % number, "/sys/class/hwmon/hwmon%d/temp1_input" % number),
        ):
            text = facts.read_text(value).strip()
            if text.lstrip("-").isdigit():
                found.append({"sensor": clean.name(facts.read_text(name)), "celsius": round(int(text) / 1000, 1)})
    return found


def _loads(facts: Facts) -> list[float]:
    words = facts.read_text("/proc/loadavg").split()[:3]
    return [float(word) for word in words if word.replace(".", "", 1).isdigit()]


def _kernel(facts: Facts) -> str:
    words = facts.read_text("/proc/version").split()
    return clean.name(words[2], _KERNEL_CHARS) if len(words) > 2 else ""


_PARTS = {
    "overview": overview, "addresses": addresses, "devices": devices, "wifi": wifi, "services": services,
    "storage": storage, "system": system, "wan": status_network.wan, "dns": status_network.dns,
    "dhcp": status_network.dhcp, "firewall": status_network.firewall, "traffic": status_network.traffic,
    "ports": status_network.ports,
}  # fmt: skip
