"""What the bus tells of the network, in few values; a reply that is none counts as empty."""

from __future__ import annotations

from oasis.tools.facts import Facts, words


def dicts(value: object) -> list[dict[str, object]]:
    """Return the objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def cidr(value: object) -> list[str]:
    """Return netifd's addresses as people write them."""
    return [f"{item.get('address')}/{item.get('mask')}" for item in dicts(value)]


def interface(item: dict[str, object]) -> dict[str, object]:
    """Return an interface of netifd's in few values."""
    answer: dict[str, object] = {"interface": str(item.get("interface", ""))}
    answer.update(proto=item.get("proto", ""), device=item.get("l3_device") or item.get("device", ""))
    answer["up"] = item.get("up") is True
    answer["ipv4"] = cidr(item.get("ipv4-address"))
    answer["ipv6"] = cidr(item.get("ipv6-address")) + [
        text for one in dicts(item.get("ipv6-prefix-assignment")) for text in cidr([one.get("local-address")])
    ]
    for route in dicts(item.get("route")):
        if route.get("mask") == 0:
            answer["gateway"] = route.get("nexthop")
    if item.get("dns-server"):
        answer["dns"] = item["dns-server"]
    if isinstance(item.get("uptime"), int):
        answer["uptime_s"] = item["uptime"]
    return {key: value for key, value in answer.items() if value not in ([], "")}


def wan_names(facts: Facts) -> list[str]:
    """Return the interfaces that lead outside: those of masqueraded zones."""
    zones = facts.sections("firewall", "zone")
    return [name for zone in zones if zone.get("masq") == "1" for name in words(zone.get("network"))] or ["wan", "wan6"]
