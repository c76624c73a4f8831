"""Tool results in words: what became of a change, and what was read; the words come from the language file.

Knows the shapes of the results of oasis/tools and leaves out what is not there. What others wrote in them, such as log
lines, names of networks and descriptions, is cleaned, cut, and quoted.

A change answers with {"status", "summary"?, "confirm_in_s"?, "reason"?, "until"?}, where status is applied, unchanged,
waiting_confirm, declined, expired, cancelled, refused, failed or rolled_back; a failure with {"error": {"code",
"message", "hint"}}. An unknown status is shown as it is: nothing is claimed that the result does not say.
"""

from __future__ import annotations

from oasis.core import clean, jsonl
from oasis.errors import SchemaError
from oasis.parts.offline.language.template import bare, duration, items, quoted, rows, sentence, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Data
    from oasis.parts.offline.shapes import Block, Event, Message, Texts, ToolResult


LINES = 60  # devices, services or options shown; the page has the rest
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz", "60g": "60 GHz"}


def status(data: Data, texts: Texts) -> str:
    """Return the answer of the tool `status` as lines of words."""
    part = _PARTS.get(str(data.get("what")))
    lines = part(data, texts) if part else []
    if not lines:
        lines = [texts["nothing"]]
    # Other notes are for models: what was left out, and where the rest is.
    if any("not available" in str(note) for note in items(data.get("notes"))):
        lines.append(texts["config_only"])
    return "\n".join(lines[: LINES + 1])


def config(data: Data) -> str:
    """Return the answer of the tool `read_config` as lines like those of `uci show`."""
    lines = []
    package = data.get("package")
    for name, section in table(data.get("sections")).items():
        options = table(section)
        lines.append(f"{package}.{name}={options.get('.type')}")
        for option, value in options.items():
            if not option.startswith("."):
                listed = value if isinstance(value, list) else [value]
                shown = " ".join(quoted(str(item)) for item in listed)
                lines.append(f"{package}.{name}.{option}={shown}")
    return "```\n" + "\n".join(lines) + "\n```"


def _overview(data: Data, texts: Texts) -> list[str]:
    internet = table(data.get("internet"))
    memory = table(data.get("memory_bytes"))
    devices = table(data.get("devices"))
    lines = [sentence(texts["router"], {**data, "up": duration(data.get("uptime_s"), texts)})]
    state = {True: "internet_up", False: "internet_down"}.get(internet.get("up"), "internet_unknown")  # type: ignore[call-overload]
    lines.append(sentence(texts[state], {**internet, "ipv4": bare(internet.get("ipv4"))}))
    for lan in rows(data.get("lan")):
        lines.append(sentence(texts["lan"], {"ipv4": bare(lan.get("ipv4"))}))
    lines += [_network(network, texts) for network in rows(data.get("wifi"))] or [texts["no_wifi"]]
    lines.append(sentence(texts["device_count"], devices))
    if memory:
        lines.append(sentence(texts["memory"], {key: size(value) for key, value in memory.items()}))
    return lines


def _addresses(data: Data, texts: Texts) -> list[str]:
    lines = []
    for one in rows(data.get("interfaces")):
        fields = {
            **one,
            "addresses": [*items(one.get("ipv4")), *items(one.get("ipv6"))],
            "state": _on(one, "up", texts, "up", "down"),
        }
        lines.append(sentence(texts["interface"] if fields["addresses"] else texts["interface_empty"], fields))
    return lines


def _devices(data: Data, texts: Texts) -> list[str]:
    found = rows(data.get("devices"))
    if not found:
        return [texts["no_devices"]]
    lines = [sentence(texts["devices"], {"count": len(found)})] if len(found) > 1 else []
    for one in found:
        marks = [texts[name] for name in ("fixed", "blocked") if one.get(name)]
        marks += [texts["away"]] if not one.get("present") else []
        lines.append(sentence(texts["device"], {**one, "name": one.get("name") or texts["unnamed"], "marks": marks}))
    return lines


def _wifi(data: Data, texts: Texts) -> list[str]:
    lines = []
    for radio in rows(data.get("radios")):
        for network in rows(radio.get("networks")):
            lines.append(_network({**network, "band": radio.get("band"), "channel": radio.get("channel")}, texts))
    return lines or [texts["no_wifi"]]


def _network(one: Data, texts: Texts) -> str:
    encryption = str(one.get("encryption", ""))
    is_open = encryption in ("", "none", "owe")
    band = _BANDS.get(str(one.get("band")), one.get("band"))
    return sentence(texts["wifi_open" if is_open else "wifi"], {**one, "band": band, "state": _on(one, "on", texts)})


def _services(data: Data, texts: Texts) -> list[str]:
    found = rows(data.get("services"))
    running = [one.get("name") for one in found if one.get("running") is True]
    off = [one.get("name") for one in found if one.get("enabled") is False]
    lines = [sentence(texts["running"], {"names": running})] if running else []
    return lines + ([sentence(texts["disabled"], {"names": off})] if off else [])


def _storage(data: Data, texts: Texts) -> list[str]:
    lines = []
    for name in ("flash", "tmp", "memory"):
        sizes = table(data.get(name + "_bytes"))
        free = sizes.get("avail", sizes.get("available", sizes.get("free")))
        if sizes:
            fields = {"what": texts["store_" + name], "free": size(free), "total": size(sizes.get("total"))}
            lines.append(sentence(texts["store"], dict(fields)))
    return lines


def _on(one: Data, key: str, texts: Texts, yes: str = "on", no: str = "off") -> str:
    return texts[yes if one[key] else no] if key in one else ""


# A line of the owner's or a model's words is cut here.
WORDS_CHARS = 120
# Of a change; one that stands needs no word.
_STATES = {
    "undone": "state_undone",
    "prepared": "state_waiting",
    "applied": "state_waiting",
    "rolled_back": "state_rolled_back",
    "rollback_failed": "state_rollback_failed",
}


def wan(data: Data, texts: Texts) -> list[str]:
    """Return whether the internet can be reached, then each way to it."""
    ways = rows(data.get("wan"))
    if not ways:
        return [texts["no_way"]]
    best = next((way for way in ways if way.get("up") and way.get("gateway")), None)
    if best is not None:
        head = sentence(texts["internet_up"], {"dns": best.get("dns")})
    else:
        is_known = not data.get("notes")
        head = sentence(
            texts["internet_down" if is_known else "internet_unknown"],
            {"interfaces": [way.get("interface") for way in ways]},
        )
    return [head, *[_uplink(way, texts) for way in ways]]


def _uplink(way: Data, texts: Texts) -> str:
    link = table(way.get("link"))
    if way.get("up"):
        addresses = [*items(way.get("ipv4")), *items(way.get("ipv6"))]
        fields = {**way, "addresses": addresses, "up": duration(way.get("uptime_s"), texts), "mbit": link.get("mbit")}
        return sentence(texts["way_up"], fields)
    why = [clean.name(one) for one in items(way.get("faults"))]
    if link.get("plugged") is False:
        why.insert(0, texts["no_cable"])
    return sentence(texts["way_down"], {**way, "why": why})


def system(data: Data, texts: Texts) -> list[str]:
    """Return the machine: model, time it is up, load, memory, temperatures, clock."""
    lines = [sentence(texts["machine"], data)] if data.get("model") else []
    up = duration(data.get("uptime_s"), texts)
    if up:
        lines.append(sentence(texts["uptime"], {"up": up, "load": items(data.get("load"))}))
    memory = table(data.get("memory_bytes"))
    if memory:
        lines.append(sentence(texts["memory"], {key: size(value) for key, value in memory.items()}))
    heat = [f"{one.get('sensor')} {one.get('celsius')} °C" for one in rows(data.get("temperatures"))]
    lines += [sentence(texts["temperatures"], {"names": heat})] if heat else []
    lines += _connections(data, texts)
    return lines + ([sentence(texts["clock"], data)] if data.get("time") else [])


def _connections(data: Data, texts: Texts) -> list[str]:
    found = table(data.get("connections"))
    return [sentence(texts["connections"], found)] if "followed" in found else []


def firewall(data: Data, texts: Texts) -> list[str]:
    """Return port forwards first, which is what people ask for, then zones and what may pass."""
    forwards = rows(data.get("port_forwards"))
    lines = [texts["forwards"], *[_forward(one, texts) for one in forwards]] if forwards else [texts["no_forwards"]]
    zones = [
        "%s (%s)" % (one.get("name"), ", ".join(map(str, items(one.get("networks")))))
        for one in rows(data.get("zones"))
    ]
    for key, names in (("zones", zones), ("passes", items(data.get("passes")))):
        lines += [sentence(texts[key], {"names": names})] if names else []
    return [*lines, sentence(texts["rules"], {"count": len(rows(data.get("rules")))})]


def _forward(one: Data, texts: Texts) -> str:
    target = str(one.get("dest_ip") or one.get("dest") or "")
    inner = one.get("dest_port")
    fields = {
        "port": one.get("src_dport") or "*",
        "proto": items(one.get("proto")) or one.get("proto"),
        "target": f"{target}:{inner}" if inner and inner != one.get("src_dport") else target,
        "name": clean.name(one.get("name")),
        "state": texts["off"] if one.get("enabled") is False else "",
    }
    return sentence(texts["forward"], fields)


def dhcp(data: Data, texts: Texts) -> list[str]:
    """Return where addresses are given out, how many are, and which are fixed."""
    lines = [sentence(texts["pool" if one.get("on") else "pool_off"], one) for one in rows(data.get("pools"))]
    lines.append(sentence(texts["leases"], data))
    fixed = rows(data.get("fixed"))
    lines += [texts["reserved"]] if fixed else []
    return lines + ["- " + ", ".join([str(one.get("ip", "")), *map(str, items(one.get("mac")))]) for one in fixed]


def dns(data: Data, texts: Texts) -> list[str]:
    """Return who is asked for names, and what is answered here."""
    upstream = [server for one in rows(data.get("from_interfaces")) for server in items(one.get("servers"))]
    asked = items(data.get("configured_servers")) + [one for one in upstream if isinstance(one, str)]
    lines = [sentence(texts["dns_asked"], {"names": asked})] if asked else [texts["dns_none"]]
    own = [f"{one.get('name')} ({one.get('ip')})" for one in rows(data.get("own_names"))]
    for key, names in (("dns_names", own), ("dns_overrides", items(data.get("overrides")))):
        lines += [sentence(texts[key], {"names": names})] if names else []
    if data.get("rebind_protection") is False:
        lines.append(texts["no_rebind"])
    counts = table(data.get("queries"))
    if counts:
        fields = {"local": counts.get("local_answered", 0), "asked": counts.get("queries_forwarded", 0)}
        lines.append(sentence(texts["dns_counts"], fields))
    return lines


def traffic(data: Data, texts: Texts) -> list[str]:
    """Return what each device of the network carried; those that carried nothing are left out."""
    lines = []
    for one in rows(data.get("devices")):
        if one.get("rx_bytes") or one.get("tx_bytes"):
            errors = sum(count for key in ("rx_errors", "tx_errors") if isinstance(count := one.get(key, 0), int))
            fields = {**one, "received": size(one.get("rx_bytes")), "sent": size(one.get("tx_bytes"))}
            lines.append(sentence(texts["carried"], {**fields, "errors": errors or ""}))
    lines += _connections(data, texts)
    up = duration(data.get("since_s"), texts)
    return lines + ([sentence(texts["counted"], {"up": up})] if lines and up else [])


def ports(data: Data, texts: Texts) -> list[str]:
    """Return what is plugged into each socket."""
    return [
        sentence(texts["port_empty" if not one.get("plugged") else "port" if "mbit" in one else "port_plugged"], one)
        for one in rows(data.get("ports"))
    ]


def changes(data: Data, texts: Texts) -> list[str]:
    """Return what was changed, newest first."""
    found = rows(data.get("changes"))
    if not found:
        return [texts["no_changes"]]
    lines = [texts["changes"]]
    for one in found:
        state = _STATES.get(str(one.get("state")))
        summary = clean.line(one.get("summary", ""))[:WORDS_CHARS]
        lines.append(sentence(texts["change"], {**one, "summary": summary, "state": texts[state] if state else ""}))
    return lines


# A chat on a phone shows about so many lines before they are a heap.
FINDINGS, LOG_LINES, NETWORKS, PACKAGES = 8, 20, 10, 20
TEXT_CHARS, LINE_CHARS, RAW_CHARS = 200, 160, 2000


def answer(name: str, data: Data, texts: Texts) -> str:
    """Return the answer of a tool in words, "" for one that has no words here."""
    if "cut" in data and isinstance(data.get("text"), str):
        return texts["cut"] + "\n" + _quotation([_cut(one) for one in str(data["text"])[:RAW_CHARS].split("\n")])
    words = _TOOLS.get(name)
    return "\n".join(words(data, texts)) if words else ""


def _diagnose(data: Data, texts: Texts) -> list[str]:
    findings = rows(data.get("findings"))
    lines = [sentence(texts["findings" if findings else "healthy"], data)]
    for one in findings[:FINDINGS]:
        severity = texts.get(f"severity_{one.get('severity')}", "")
        evidence = [_cut(text) for text in items(one.get("evidence"))[:1]]
        fields = {"title": _bare(one.get("title")), "explanation": _bare(one.get("explanation"))}
        lines.append(sentence(texts["finding"], {"severity": severity, "evidence": evidence, **fields}))
        if one.get("advice"):
            lines.append(sentence(texts["finding_advice"], {"advice": _cut(one["advice"], TEXT_CHARS)}))
    lines += _more(len(findings) - FINDINGS, texts)
    skipped = [_cut(name) for name in table(data.get("not_checked"))]
    return lines + ([sentence(texts["not_checked"], {"names": list(skipped)})] if skipped else [])


def _logs(data: Data, texts: Texts) -> list[str]:
    found = rows(data.get("lines"))
    if not found:
        return [texts["no_log"]]
    shown = found[-LOG_LINES:]
    matching = data.get("matching")
    is_part = isinstance(matching, int) and matching > len(shown)
    counts = {"shown": len(shown), "matching": matching} if is_part else {}
    lines = [_cut(f"{one.get('when')} {one.get('level')} {one.get('text')}") for one in shown]
    return [sentence(texts["log"], counts), _quotation(lines)]


def _probe(data: Data, texts: Texts) -> list[str]:
    named = {"target": data.get("name") or data.get("address")}
    if named["target"] != data.get("address"):
        named["address"] = data.get("address")
    if "hops" in data:
        hops = rows(data.get("hops"))
        head = sentence(texts["trace" if data.get("arrives") else "trace_lost"], {**named, "count": len(hops)})
        return [head, *[sentence(texts["hop" if "address" in one else "hop_silent"], one) for one in hops]]
    if "sent" in data:
        average = table(data.get("ms")).get("average")
        return [sentence(texts["ping" if data.get("answers") else "ping_none"], {**data, **named, "average": average})]
    addresses = items(data.get("addresses"))
    return [sentence(texts["lookup" if addresses else "lookup_none"], {**named, "addresses": addresses})]


def _wifi_scan(data: Data, texts: Texts) -> list[str]:
    return [line for radio in rows(data.get("radios")) for line in _radio(radio, texts)] or [texts["nothing"]]


def _radio(radio: Data, texts: Texts) -> list[str]:
    band = _BANDS.get(str(radio.get("band")), radio.get("band") or radio.get("radio"))
    if "networks" not in radio:
        return [sentence(texts["scan_none"], {"band": band})]
    networks = rows(radio.get("networks"))
    lines = [sentence(texts["scan"], {**radio, "band": band, "count": len(networks)})]
    lines += [sentence(texts["scan_channel"], one) for one in rows(radio.get("channels"))]
    for one in [one for one in networks if "ssid" in one][:NETWORKS]:
        # The name is the neighbour's: quoted, so that it is no sentence of this answer.
        ssid = f"“{_plain(clean.name(one['ssid'], 32))}”" if one["ssid"] else texts["unnamed"]
        lines.append(
            sentence(texts["scan_network"], {**one, "ssid": ssid, "open": texts["open"] if one.get("open") else ""})
        )
    quieter = radio.get("quieter")
    if quieter:
        is_own = str(quieter) == str(radio.get("channel"))
        lines.append(sentence(texts["quietest" if is_own else "quieter"], {"quieter": quieter}))
    return lines


def _packages(data: Data, texts: Texts) -> list[str]:
    action = str(data.get("action"))
    if action == "update":
        return [texts["packages_fresh"]]
    if action in ("install", "remove"):
        return [sentence(texts["package_" + action], {"names": items(data.get("changed"))})]
    found = rows(data.get("packages"))
    if not found:
        return [texts["packages_current" if action == "upgradable" else "packages_none"]]
    count = data.get("found")
    lines = [sentence(texts["packages"], {"found": count})]
    template = texts["package_newer" if action == "upgradable" else "package"]
    lines += [sentence(template, {**one, "about": _cut(one.get("about", ""))}) for one in found[:PACKAGES]]
    lines += _more((count if isinstance(count, int) else len(found)) - PACKAGES, texts)
    return [*lines, texts["packages_image"]] if action == "upgradable" else lines


def _power(data: Data, texts: Texts) -> list[str]:
    return [sentence(texts["shutdown" if data.get("action") == "shutdown" else "reboot"], data)]


def _backup(data: Data, texts: Texts) -> list[str]:
    return [sentence(texts["backup"], {**data, "size": size(data.get("size_bytes"))})]


def _more(count: int, texts: Texts) -> list[str]:
    return [sentence(texts["more"], {"count": count})] if count > 0 else []


def _quotation(lines: list[str]) -> str:
    # No line can end the block: it has no such marks left.
    return "```\n" + "\n".join(_plain(line) for line in lines) + "\n```"


def _plain(text: str) -> str:
    return text.replace("`", "'")


def _cut(value: object, most: int = LINE_CHARS) -> str:
    text = clean.line(value).strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def _bare(value: object) -> str:
    return _cut(value or "", TEXT_CHARS).rstrip(".")


RESULT_CHARS = 64 * 1024  # a larger result is not read; ours are a few kB
ERROR_CHARS = 400  # of a foreign message that is shown
_STATE_NAMES = {"confirmed": "applied"}
_FAULTS = {"policy": "refused", "apply": "failed", "rollback": "rollback_failed"}  # code of an error -> what it means


def results(messages: list[Message]) -> list[ToolResult]:
    """Return the tool results that end the chat, in order; [] when the last message is no tool result."""
    calls: dict[str, Block] = {}
    found: list[ToolResult] = []
    for message in messages:
        if message.get("role") != "tool":
            found = []
        content = message.get("content", [])
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result":
                call = calls.get(block["tool_use_id"], {})
                found.append(
                    {
                        "id": call.get("id", ""),
                        "name": block.get("name") or call.get("name", ""),
                        "text": "".join(one.get("text", "") for one in block.get("content", [])),
                        "input": call.get("input", {}),
                        "is_error": block.get("is_error") is True,
                    }
                )
    return found


def applied(call: Event) -> ToolResult:
    """Return the result of a change that is applied just as it was asked for."""
    text = jsonl.dumps({"status": "applied", "summary": call["input"].get("summary", "")})
    return {"id": call["id"], "name": call["name"], "text": text, "input": call["input"], "is_error": False}


def words(found: list[ToolResult], closing: Texts, texts: Texts) -> str:
    """Return what to say about all results."""
    paragraphs = [_one(result, closing, texts) for result in found]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _one(result: ToolResult, closing: Texts, texts: Texts) -> str:
    data = _json(result["text"])
    if result["is_error"] or not data:
        error = _error(data)
        message = clean.line(error.get("message") or result["text"])[:ERROR_CHARS].rstrip(".")
        template = closing[_FAULTS.get(str(error.get("code")), "error")]
        return sentence(template, {"reason": message, "hint": _hint(error)})
    if result["name"] == "status" or (not result["name"] and "what" in data):
        return status(data, texts)
    if result["name"] == "read_config":
        return config(data)
    # A call that the owner had to be asked about may have ended as a change does.
    told = "" if str(data.get("status")) in closing else answer(result["name"], data, texts)
    return told or _change(data, result, closing)


def _hint(error: Data) -> str:
    return clean.line(error.get("hint") or "")[:ERROR_CHARS].rstrip(".")


def _change(data: Data, result: ToolResult, closing: Texts) -> str:
    state = _state(data)
    wished, name = result["input"], result["name"]
    fields = {
        "summary": data.get("summary") or wished.get("summary", ""),
        "seconds": data.get("confirm_in_s", ""),
        "reason": str(data.get("reason", "")).rstrip("."),
        "until": data.get("until", ""),
        "state": state,
    }
    own = closing.get(f"{name}_{wished.get('action', 'restart')}_{state}") or closing.get(f"{name}_{state}")
    return sentence(own or closing.get(state) or closing["other"], {**wished, **fields})


def _state(data: Data) -> str:
    for name in ("status", "state"):
        if isinstance(data.get(name), str):
            state = str(data[name]).lower()
            state = _STATE_NAMES.get(state, state)
            # An applied change that still counts down is not safe yet.
            return "waiting_confirm" if state == "applied" and data.get("confirm_in_s") else state
    return "other"


def _error(data: Data) -> Data:
    error = data.get("error")
    if isinstance(error, dict):
        return error
    return {"message": error} if isinstance(error, str) else {}


def _json(text: str) -> Data:
    if not text.startswith("{") or len(text) > RESULT_CHARS:
        return {}
    try:
        data = jsonl.loads(text)
    except SchemaError:
        return {}
    return data if isinstance(data, dict) else {}


_TOOLS = {
    "diagnose": _diagnose,
    "logs": _logs,
    "probe": _probe,
    "wifi_scan": _wifi_scan,
    "packages": _packages,
    "power": _power,
    "backup": _backup,
}


PARTS = {
    "wan": wan,
    "system": system,
    "firewall": firewall,
    "dhcp": dhcp,
    "dns": dns,
    "traffic": traffic,
    "ports": ports,
    "changes": changes,
}


_PARTS = {
    "overview": _overview,
    "addresses": _addresses,
    "devices": _devices,
    "wifi": _wifi,
    "services": _services,
    "storage": _storage,
    **PARTS,
}
