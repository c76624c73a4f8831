"""What the tools `status` and `read_config` found, in words; the words come from the language file.

Knows the shapes of tools/builtin/status.py and leaves out what is not there.
"""

from __future__ import annotations

from oasis.parts.offline.language.template import quoted, sentence
from oasis.parts.offline.language.values import bare, duration, items, rows, size, table
from oasis.parts.offline.requests import aspects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.values import Data, Texts

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
    package, sections = data.get("package"), data.get("sections")
    for name, section in sections.items() if isinstance(sections, dict) else []:
        lines.append(f"{package}.{name}={section.get('.type')}")
        for option, value in section.items():
            if not option.startswith("."):
                items = value if isinstance(value, list) else [value]
                shown = " ".join(quoted(str(item)) for item in items)
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


_PARTS = {
    "overview": _overview,
    "addresses": _addresses,
    "devices": _devices,
    "wifi": _wifi,
    "services": _services,
    "storage": _storage,
    **aspects.PARTS,
}
