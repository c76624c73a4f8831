"""What the tools beside `status` and `read_config` answered, in words; the words come from the language file.

Knows the shapes of tools/{diagnose,logs,probing,wifi_scan,packages,power,backup}.py. What is in them of others, as log
lines, names of networks and descriptions, is cleaned, cut, and stands as a quotation.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.parts.offline.language.template import sentence
from oasis.parts.offline.language.values import items, rows, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.values import Data, Texts

# A chat on a phone shows about so many lines before they are a heap.
FINDINGS, LOG_LINES, NETWORKS, PACKAGES = 8, 20, 10, 20
TEXT_CHARS, LINE_CHARS, RAW_CHARS = 200, 160, 2000
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz", "60g": "60 GHz"}


def told(name: str, data: Data, texts: Texts) -> str:
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
        return _way(data, named, texts)
    if "sent" in data:
        average = table(data.get("ms")).get("average")
        return [sentence(texts["ping" if data.get("answers") else "ping_none"], {**data, **named, "average": average})]
    addresses = items(data.get("addresses"))
    return [sentence(texts["lookup" if addresses else "lookup_none"], {**named, "addresses": addresses})]


def _way(data: Data, named: Data, texts: Texts) -> list[str]:
    hops = rows(data.get("hops"))
    head = sentence(texts["trace" if data.get("arrives") else "trace_lost"], {**named, "count": len(hops)})
    return [head, *[sentence(texts["hop" if "address" in one else "hop_silent"], one) for one in hops]]


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


_TOOLS = {
    "diagnose": _diagnose,
    "logs": _logs,
    "probe": _probe,
    "wifi_scan": _wifi_scan,
    "packages": _packages,
    "power": _power,
    "backup": _backup,
}
