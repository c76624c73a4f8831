"""What the parts of `status` that are asked for more seldom found, in words; see report.py.

Knows the shapes of status_network.py, hardware.py and the changes of status.py in tools/builtin.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.parts.offline.language.template import sentence
from oasis.parts.offline.language.values import duration, items, rows, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.values import Data, Texts

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
    return [head, *[_way(way, texts) for way in ways]]


def _way(way: Data, texts: Texts) -> str:
    link = table(way.get("link"))
    if way.get("up"):
        addresses = [*items(way.get("ipv4")), *items(way.get("ipv6"))]
        fields = {**way, "addresses": addresses, "up": duration(way.get("uptime_s"), texts), "mbit": link.get("mbit")}
        return sentence(texts["way_up"], fields)
    why: list[object] = [clean.name(one) for one in items(way.get("faults"))]
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
