"""Sentences with {fields}, and tool results in words: what became of a change, and what was read.

Knows the shapes of the results of oasis/tools and leaves out what is not there. What others wrote in them, such as log
lines, names of networks and descriptions, is cleaned, cut, and quoted.

A change answers with {"status", "summary"?, "confirm_in_s"?, "reason"?, "until"?}, where status is applied, unchanged,
waiting_confirm, declined, expired, cancelled, refused, failed or rolled_back; a failure with {"error": {"code",
"message", "hint"}}. An unknown status is shown as it is: nothing is claimed that the result does not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from oasis.core import clean, jsonl
from oasis.errors import SchemaError
from oasis.uci.package import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Block, Event, Fields, Json, Message, Texts, ToolResult
    from oasis.texts.translation import Translation

    Data = dict[str, Json]
    Lines = Callable[[Data], list[str]]


_FIELD = re.compile(r"\{(\w+)\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*\{[^\[\]]*)\]")
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz", "60g": "60 GHz"}
# A chat on a phone shows about so many lines before they are a heap; the page has the rest.
LINES, FINDINGS, LOG_LINES, NETWORKS, PACKAGES, DEVICES = 60, 8, 20, 10, 20, 12
# Of the owner's or a model's words, of explanations, of a line, of a result that was too long, of a foreign message.
WORDS_CHARS, TEXT_CHARS, LINE_CHARS, RAW_CHARS, ERROR_CHARS = 120, 200, 160, 2000, 400
RESULT_CHARS = 64 * 1024  # a larger result is not read; ours are a few kB
# Of a change; one that stands needs no word.
_STATES = {
    "undone": "state_undone",
    "prepared": "state_waiting",
    "applied": "state_waiting",
    "rolled_back": "state_rolled_back",
    "rollback_failed": "state_rollback_failed",
}
_RATES = (("down", "receives_kbit_s"), ("up", "sends_kbit_s"))
_FAULTS = {"policy": "refused", "apply": "failed", "rollback": "rollback_failed"}  # code of an error -> what it means


def fill(template: str, fields: Fields) -> str:
    """Put fields into a template, each once: braces in a value stay as they are. Raises: ValueError."""
    for name in _FIELD.findall(template):
        if name not in fields:
            raise ValueError(f"template {template}: no field {name}")
    return _FIELD.sub(lambda match: _text(fields[match[1]]), template)


def sentence(template: str, fields: Fields) -> str:
    """Return a sentence; parts in [brackets] with an empty field are left out, unknown fields are empty."""

    def optional(match: re.Match[str]) -> str:
        is_whole = all(_text(fields.get(name, "")) for name in _FIELD.findall(match[1]))
        return match[1] if is_whole else ""

    return _FIELD.sub(lambda match: _text(fields.get(match[1], "")), _OPTIONAL.sub(optional, template))


def _text(value: object) -> str:
    """Return a field as words: a device by its label, a list with commas."""
    if isinstance(value, dict):
        return str(value.get("label", ""))
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return "" if value is None else str(value)


def _size(number: object) -> str:
    if not isinstance(number, int):
        return ""
    value = float(number)
    units = ["TB", "GB", "MB", "kB", "B"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop()
    return f"{value:.{0 if value >= 10 else 1}f} {units[-1]}"


def _table(value: Json) -> Data:
    return value if isinstance(value, dict) else {}


def _rows(value: Json) -> list[Data]:
    return [item for item in _items(value) if isinstance(item, dict)]


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _bare(addresses: Json) -> list[str]:
    """Return addresses without the lengths of their networks."""
    return [str(one).partition("/")[0] for one in _items(addresses)]


def _quotation(lines: list[str]) -> str:
    # No line can end the block: it has no such marks left.
    return "```\n" + "\n".join(_plain(line) for line in lines) + "\n```"


def _plain(text: str) -> str:
    return text.replace("`", "'")


def _cut(value: object, most: int = LINE_CHARS) -> str:
    text = clean.line(value).strip()
    return text if len(text) <= most else text[: most - 1] + "…"


class Report:
    """Results of tools in words of one language: a method `tool_…` for a tool, `part_…` for what `status` was asked."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def _say(self, name: str, fields: Fields) -> str:
        return sentence(self._texts[name], fields)

    def _listed(self, name: str, names: list[Json] | list[str]) -> list[str]:
        return [self._say(name, {"names": names})] if names else []

    def _duration(self, seconds: object) -> str:
        """Return a span of time in its two largest units."""
        if not isinstance(seconds, int):
            return ""
        parts = ((seconds // 86400, "days"), (seconds // 3600 % 24, "hours"), (seconds // 60 % 60, "minutes"))
        shown = [f"{count} {self._texts[name]}" for count, name in parts if count][:2]
        return " ".join(shown) or "0 " + self._texts["minutes"]

    def part_overview(self, data: Data) -> list[str]:
        internet = _table(data.get("internet"))
        lines = [self._say("router", {**data, "up": self._duration(data.get("uptime_s"))})]
        state = {True: "internet_up", False: "internet_down"}.get(internet.get("up"), "internet_unknown")  # type: ignore[call-overload]
        lines.append(self._say(state, {**internet, "ipv4": _bare(internet.get("ipv4"))}))
        lines += [self._say("lan", {"ipv4": _bare(lan.get("ipv4"))}) for lan in _rows(data.get("lan"))]
        lines += [self._network(network) for network in _rows(data.get("wifi"))] or [self._texts["no_wifi"]]
        lines.append(self._say("device_count", _table(data.get("devices"))))
        return lines + self._memory(data)

    def _memory(self, data: Data) -> list[str]:
        memory = _table(data.get("memory_bytes"))
        return [self._say("memory", {key: _size(value) for key, value in memory.items()})] if memory else []

    def part_addresses(self, data: Data) -> list[str]:
        lines = []
        for one in _rows(data.get("interfaces")):
            addresses = [*_items(one.get("ipv4")), *_items(one.get("ipv6"))]
            state = self._texts["up" if one["up"] else "down"] if "up" in one else ""
            name = "interface" if addresses else "interface_empty"
            lines.append(self._say(name, {**one, "addresses": addresses, "state": state}))
        return lines

    def part_devices(self, data: Data) -> list[str]:
        found = _rows(data.get("devices"))
        if not found:
            return [self._texts["no_devices"]]
        lines = [self._say("devices", {"count": len(found)})] if len(found) > 1 else []
        for one in found:
            marks = [self._texts[name] for name in ("fixed", "blocked") if one.get(name)]
            marks += [self._texts["away"]] if not one.get("present") else []
            name = one.get("name") or self._texts["unnamed"]
            lines.append(self._say("device", {**one, "name": name, "marks": marks}))
        return lines

    def part_wifi(self, data: Data) -> list[str]:
        return [
            self._network({**network, "band": radio.get("band"), "channel": radio.get("channel")})
            for radio in _rows(data.get("radios"))
            for network in _rows(radio.get("networks"))
        ] or [self._texts["no_wifi"]]

    def _network(self, one: Data) -> str:
        heard = [one["signal_dbm"] for one in _rows(one.get("clients")) if isinstance(one.get("signal_dbm"), int)]
        if heard:  # the weakest one has the trouble
            one = {**one, "heard": len(heard), "weakest": min(heard)}  # type: ignore[type-var]
        is_open = str(one.get("encryption", "")) in ("", "none", "owe")
        band = _BANDS.get(str(one.get("band")), one.get("band"))
        state = self._texts["on" if one["on"] else "off"] if "on" in one else ""
        return self._say("wifi_open" if is_open else "wifi", {**one, "band": band, "state": state})

    def part_services(self, data: Data) -> list[str]:
        found = _rows(data.get("services"))
        running = [one.get("name") for one in found if one.get("running") is True]
        off = [one.get("name") for one in found if one.get("enabled") is False]
        return self._listed("running", running) + self._listed("disabled", off)

    def part_storage(self, data: Data) -> list[str]:
        lines = []
        for name in ("flash", "tmp", "memory"):
            sizes = _table(data.get(name + "_bytes"))
            free = sizes.get("avail", sizes.get("available", sizes.get("free")))
            if sizes:
                fields = {"what": self._texts["store_" + name], "free": _size(free), "total": _size(sizes.get("total"))}
                lines.append(self._say("store", fields))
        return lines

    def part_wan(self, data: Data) -> list[str]:
        """Return whether the internet can be reached, then each way to it."""
        ways = _rows(data.get("wan"))
        best = next((way for way in ways if way.get("up") and way.get("gateway")), None)
        if best is not None:
            lines = [self._say("internet_up", {"dns": best.get("dns")})]
        else:
            names = [way.get("interface") for way in ways]
            lines = [self._say("internet_unknown" if data.get("notes") else "internet_down", {"interfaces": names})]
        for way in ways:
            link = _table(way.get("link"))
            if way.get("up"):
                addresses = [*_items(way.get("ipv4")), *_items(way.get("ipv6"))]
                fields = {"addresses": addresses, "up": self._duration(way.get("uptime_s")), "mbit": link.get("mbit")}
                lines.append(self._say("way_up", {**way, **fields}))
                continue
            why = [self._texts["no_cable"]] if link.get("plugged") is False else []
            why += [clean.name(one) for one in _items(way.get("faults"))]
            lines.append(self._say("way_down", {**way, "why": why}))
        return lines if ways else [self._texts["no_way"]]

    def part_system(self, data: Data) -> list[str]:
        lines = [self._say("machine", data)] if data.get("model") else []
        up = self._duration(data.get("uptime_s"))
        if up:
            lines.append(self._say("uptime", {"up": up, "load": _items(data.get("load"))}))
        heat = [f"{one.get('sensor')} {one.get('celsius')} °C" for one in _rows(data.get("temperatures"))]
        lines += self._memory(data) + self._listed("temperatures", heat) + self._connections(data)
        return lines + ([self._say("clock", data)] if data.get("time") else [])

    def _connections(self, data: Data) -> list[str]:
        found = _table(data.get("connections"))
        return [self._say("connections", found)] if "followed" in found else []

    def part_firewall(self, data: Data) -> list[str]:
        """Return port forwards first, which is what people ask for, then zones and what may pass."""
        lines = []
        for one in _rows(data.get("port_forwards")):
            target, inner = str(one.get("dest_ip") or one.get("dest") or ""), one.get("dest_port")
            fields = {
                "port": one.get("src_dport") or "*",
                "proto": _items(one.get("proto")) or one.get("proto"),
                "target": f"{target}:{inner}" if inner and inner != one.get("src_dport") else target,
                "name": clean.name(one.get("name")),
                "state": self._texts["off"] if one.get("enabled") is False else "",
            }
            lines.append(self._say("forward", fields))
        lines.insert(0, self._texts["forwards" if lines else "no_forwards"])
        zones = [
            f"{one.get('name')} ({', '.join(map(str, _items(one.get('networks'))))})"
            for one in _rows(data.get("zones"))
        ]
        lines += self._listed("zones", zones) + self._listed("passes", _items(data.get("passes")))
        return [*lines, self._say("rules", {"count": len(_rows(data.get("rules")))})]

    def part_dhcp(self, data: Data) -> list[str]:
        """Return where addresses are given out, how many are, and which are fixed."""
        lines = [self._say("pool" if one.get("on") else "pool_off", one) for one in _rows(data.get("pools"))]
        lines.append(self._say("leases", data))
        fixed = _rows(data.get("fixed"))
        lines += [self._texts["reserved"]] if fixed else []
        return lines + ["- " + ", ".join([str(one.get("ip", "")), *map(str, _items(one.get("mac")))]) for one in fixed]

    def part_dns(self, data: Data) -> list[str]:
        """Return who is asked for names, and what is answered here."""
        upstream = [server for one in _rows(data.get("from_interfaces")) for server in _items(one.get("servers"))]
        asked = _items(data.get("configured_servers")) + [one for one in upstream if isinstance(one, str)]
        own = [f"{one.get('name')} ({one.get('ip')})" for one in _rows(data.get("own_names"))]
        lines = self._listed("dns_asked", asked) or [self._texts["dns_none"]]
        lines += self._listed("dns_names", own) + self._listed("dns_overrides", _items(data.get("overrides")))
        if data.get("rebind_protection") is False:
            lines.append(self._texts["no_rebind"])
        counts = _table(data.get("queries"))
        if counts:
            fields = {"local": counts.get("local_answered", 0), "asked": counts.get("queries_forwarded", 0)}
            lines.append(self._say("dns_counts", fields))
        return lines

    def part_traffic(self, data: Data) -> list[str]:
        """Return what each device of the network carried; those that carried nothing are left out."""
        lines = []
        for one in _rows(data.get("devices")):
            if one.get("rx_bytes") or one.get("tx_bytes"):
                errors = sum(count for key in ("rx_errors", "tx_errors") if isinstance(count := one.get(key, 0), int))
                fields = {**one, "received": _size(one.get("rx_bytes")), "sent": _size(one.get("tx_bytes"))}
                lines.append(self._say("carried", {**fields, "errors": errors or ""}))
        lines += self._connections(data)
        up = self._duration(data.get("since_s"))
        return lines + ([self._say("counted", {"up": up})] if lines and up else [])

    def part_ports(self, data: Data) -> list[str]:
        states = {(True, True): "port", (True, False): "port_plugged"}
        found = [((bool(one.get("plugged")), "mbit" in one), one) for one in _rows(data.get("ports"))]
        return [self._say(states.get(state, "port_empty"), one) for state, one in found]

    def part_changes(self, data: Data) -> list[str]:
        lines = []
        for one in _rows(data.get("changes")):
            state = self._texts.get(_STATES.get(str(one.get("state")), ""), "")
            summary = clean.line(one.get("summary", ""))[:WORDS_CHARS]
            lines.append(self._say("change", {**one, "summary": summary, "state": state}))
        return [self._texts["changes"], *lines] if lines else [self._texts["no_changes"]]

    def tool_diagnose(self, data: Data) -> list[str]:
        findings = _rows(data.get("findings"))
        lines = [self._say("findings" if findings else "healthy", data)]
        for one in findings[:FINDINGS]:
            fields: dict[str, object] = {
                name: _cut(one.get(name) or "", TEXT_CHARS).rstrip(".") for name in ("title", "explanation")
            }
            fields["severity"] = self._texts.get(f"severity_{one.get('severity')}", "")
            fields["evidence"] = [_cut(text) for text in _items(one.get("evidence"))[:1]]
            lines.append(self._say("finding", fields))
            if one.get("advice"):
                lines.append(self._say("finding_advice", {"advice": _cut(one["advice"], TEXT_CHARS)}))
        lines += self._more(len(findings) - FINDINGS)
        return lines + self._listed("not_checked", [_cut(name) for name in _table(data.get("not_checked"))])

    def tool_logs(self, data: Data) -> list[str]:
        found = _rows(data.get("lines"))
        if not found:
            return [self._texts["no_log"]]
        shown = found[-LOG_LINES:]
        matching = data.get("matching")
        is_part = isinstance(matching, int) and matching > len(shown)
        counts = {"shown": len(shown), "matching": matching} if is_part else {}
        lines = [_cut(f"{one.get('when')} {one.get('level')} {one.get('text')}") for one in shown]
        return [self._say("log", counts), _quotation(lines)]

    def tool_probe(self, data: Data) -> list[str]:
        named = {"target": data.get("name") or data.get("address")}
        if named["target"] != data.get("address"):
            named["address"] = data.get("address")
        if "hops" in data:
            hops = _rows(data.get("hops"))
            head = self._say("trace" if data.get("arrives") else "trace_lost", {**named, "count": len(hops)})
            return [head, *[self._say("hop" if "address" in one else "hop_silent", one) for one in hops]]
        if "sent" in data:
            average = _table(data.get("ms")).get("average")
            return [self._say("ping" if data.get("answers") else "ping_none", {**data, **named, "average": average})]
        addresses = _items(data.get("addresses"))
        return [self._say("lookup" if addresses else "lookup_none", {**named, "addresses": addresses})]

    def tool_wifi_scan(self, data: Data) -> list[str]:
        lines = []
        for radio in _rows(data.get("radios")):
            band = _BANDS.get(str(radio.get("band")), radio.get("band") or radio.get("radio"))
            if "networks" not in radio:
                lines.append(self._say("scan_none", {"band": band}))
                continue
            networks = _rows(radio.get("networks"))
            lines.append(self._say("scan", {**radio, "band": band, "count": len(networks)}))
            lines += [self._say("scan_channel", one) for one in _rows(radio.get("channels"))]
            for one in [one for one in networks if "ssid" in one][:NETWORKS]:
                # The name is the neighbour's: quoted, so that it is no sentence of this answer.
                ssid = f"“{_plain(clean.name(one['ssid'], 32))}”" if one["ssid"] else self._texts["unnamed"]
                is_open = self._texts["open"] if one.get("open") else ""
                lines.append(self._say("scan_network", {**one, "ssid": ssid, "open": is_open}))
            quieter = radio.get("quieter")
            if quieter:
                is_own = str(quieter) == str(radio.get("channel"))
                lines.append(self._say("quietest" if is_own else "quieter", {"quieter": quieter}))
        return lines or [self._texts["nothing"]]

    def tool_packages(self, data: Data) -> list[str]:
        action = str(data.get("action"))
        if action == "update":
            return [self._texts["packages_fresh"]]
        if action in ("install", "remove"):
            return [self._say("package_" + action, {"names": _items(data.get("changed"))})]
        is_newer = action == "upgradable"
        found = _rows(data.get("packages"))
        if not found:
            return [self._texts["packages_current" if is_newer else "packages_none"]]
        count = data.get("found")
        name = "package_newer" if is_newer else "package"
        lines = [self._say("packages", {"found": count})]
        lines += [self._say(name, {**one, "about": _cut(one.get("about", ""))}) for one in found[:PACKAGES]]
        lines += self._more((count if isinstance(count, int) else len(found)) - PACKAGES)
        return [*lines, self._texts["packages_image"]] if is_newer else lines

    def tool_look(self, data: Data) -> list[str]:
        """Return who sends and receives how much, or what a speed test measured; other subjects have no words here."""
        if data.get("what") == "speed":
            lines = [self._say("speed", data)]
            for name in ("download", "upload"):
                one = _table(data.get(name))
                if "mbit_s" in one:
                    lines.append(self._say("speed_" + name, one))
            return lines
        if data.get("what") != "traffic":
            return []
        found = _rows(data.get("devices"))
        lines = [self._texts["usage" if found else "usage_none"]]
        for one in found[:DEVICES]:
            rates = {name: round(rate / 1000, 1) for name, key in _RATES if isinstance(rate := one.get(key), int)}
            sizes = {"received": _size(one.get("received_bytes")), "sent": _size(one.get("sent_bytes"))}
            name = clean.name(one.get("name") or one.get("ip") or one.get("device"))
            lines.append(self._say("usage_device", {**rates, **sizes, "name": name}))
        left = data.get("left_out")
        lines += self._more(len(found) - DEVICES + (left if isinstance(left, int) else 0))
        source = self._texts.get(f"usage_{data.get('source')}", "")
        return [*lines, source] if found and source else lines

    def tool_schedule_create(self, data: Data) -> list[str]:
        """Return when a job comes, and whether it waits for the owner then."""
        if data.get("status") != "made":
            return []
        is_ahead = "approved for each run" in str(data.get("note"))
        wish = clean.line(data.get("wish", ""))[:WORDS_CHARS]
        lines = [self._say("scheduled", {**data, "wish": wish})]
        return lines if is_ahead else [*lines, self._texts["scheduled_waits"]]

    def tool_ssh_keys(self, data: Data) -> list[str]:
        return [self._texts["ssh_key_added"]] if data.get("status") == "done" else []

    def tool_power(self, data: Data) -> list[str]:
        return [self._say("shutdown" if data.get("action") == "shutdown" else "reboot", data)]

    def tool_backup(self, data: Data) -> list[str]:
        return [self._say("backup", {**data, "size": _size(data.get("size_bytes"))})]

    def _more(self, count: int) -> list[str]:
        return [self._say("more", {"count": count})] if count > 0 else []

    def status(self, data: Data) -> str:
        part: Lines | None = getattr(self, "part_" + str(data.get("what")), None)
        lines = (part(data) if part else []) or [self._texts["nothing"]]
        # Other notes are for models: what was left out, and where the rest is.
        if any("not available" in str(note) for note in _items(data.get("notes"))):
            lines.append(self._texts["config_only"])
        return "\n".join(lines[: LINES + 1])

    def answer(self, name: str, data: Data) -> str:
        """Return the answer of another tool in words, "" for one that has no words here."""
        if "cut" in data and isinstance(data.get("text"), str):
            lines = [_cut(one) for one in str(data["text"])[:RAW_CHARS].split("\n")]
            return self._texts["cut"] + "\n" + _quotation(lines)
        tool: Lines | None = getattr(self, "tool_" + name, None)
        return "\n".join(tool(data)) if tool else ""


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
                result: ToolResult = {
                    "id": call.get("id", ""),
                    "name": block.get("name") or call.get("name", ""),
                    "text": "".join(one.get("text", "") for one in block.get("content", [])),
                    "input": call.get("input", {}),
                    "is_error": block.get("is_error") is True,
                }
                found.append(result)
    return found


def is_choice(found: list[ToolResult], choice: str) -> bool:
    """Tell whether the owner declined what was proposed for the sake of another reading."""
    data = _data(found[0]["text"]) if len(found) == 1 else {}
    return data.get("status") == "declined" and data.get("reason") == choice


def applied(call: Event) -> ToolResult:
    """Return the result of a change that is applied just as it was asked for."""
    text = jsonl.dumps({"status": "applied", "summary": call["input"].get("summary", "")})
    return {"id": call["id"], "name": call["name"], "text": text, "input": call["input"], "is_error": False}


def words(found: list[ToolResult], closing: Texts, texts: Texts, language: str = "en") -> str:
    """Return what tool results say, each in a paragraph; the tools' own texts in the language, too."""
    report, spoken = Report(texts), None
    if language != "en":
        from oasis.texts.translation import translation  # English costs nothing

        spoken = translation(language)
    paragraphs = [_one(result, closing, report, spoken) for result in found]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _data(text: str) -> Data:
    """Return a result as an object; one that cannot be read is shown as it is."""
    try:
        return _table(jsonl.loads(text)) if text.startswith("{") and len(text) <= RESULT_CHARS else {}
    except SchemaError:
        return {}


def _one(result: ToolResult, closing: Texts, report: Report, spoken: Translation | None) -> str:
    name, text = result["name"], result["text"]
    data = _data(text)
    if spoken is not None and name not in ("status", "read_config", "logs", "wifi_scan"):  # what others wrote
        data, text = spoken.reply(data), spoken.text(text)
    if result["is_error"] or not data:
        error = data.get("error")
        fault = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
        reason = clean.line(fault.get("message") or text)[:ERROR_CHARS].rstrip(".")
        hint = clean.line(fault.get("hint") or "")[:ERROR_CHARS].rstrip(".")
        return sentence(closing[_FAULTS.get(str(fault.get("code")), "error")], {"reason": reason, "hint": hint})
    if name == "status" or (not name and "what" in data):
        return report.status(data)
    if name == "read_config":
        # Lines like those of `uci show`.
        lines = ["```"]
        for section, value in _table(data.get("sections")).items():
            path, options = f"{data.get('package')}.{section}", _table(value)
            lines.append(f"{path}={options.get('.type')}")
            for option, held in options.items():
                if not option.startswith("."):
                    listed = held if isinstance(held, list) else [held]
                    lines.append(f"{path}.{option}=" + " ".join(quote(str(item)) for item in listed))
        return "\n".join([*lines, "```"])
    # A call that the owner had to be asked about may have ended as a change does.
    answer = "" if str(data.get("status")) in closing else report.answer(name, data)
    return answer or _change(data, result, closing)


def _change(data: Data, result: ToolResult, closing: Texts) -> str:
    said = next((data[name] for name in ("status", "state") if isinstance(data.get(name), str)), "other")
    state = str(said).lower()
    if state in ("confirmed", "applied"):
        # An applied change that still counts down is not safe yet.
        state = "waiting_confirm" if data.get("confirm_in_s") else "applied"
    wished, name = result["input"], result["name"]
    fields = {
        "summary": data.get("summary") or wished.get("summary", ""),
        "reason": str(data.get("reason", "")).rstrip("."),
        "until": data.get("until", ""),
        "state": state,
    }
    own = closing.get(f"{name}_{wished.get('action', 'restart')}_{state}") or closing.get(f"{name}_{state}")
    return sentence(own or closing.get(state) or closing["other"], {**wished, **fields})
