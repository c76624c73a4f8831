"""Rows for the command templates about the firewall: blocked devices, forwarded ports, times without internet.

Every function takes the world and the slots and returns rows of fields.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.sets_lan import check_inside, need, networks, overlaps, reference, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.fulfil import World
    from oasis.parts.offline.shapes import Fields, Named, Rows, Section, Slots

_OWN_BLOCK = "oasis_block"
_OWN_FORWARD = "oasis_forward"


def wan_zone(world: World) -> str:
    """Return the name of the zone that leads to the internet. Raises: Problem when none is known."""
    zones = world.sections("firewall", "zone")
    for zone in zones:
        if zone.get("name") == "wan" or zone.get("masq") == "1":
            return str(zone.get("name"))
    raise Problem("no_wan")


def zone_of(world: World, ip: str) -> str:
    """Return the zone a machine is in by its address, that of the LAN when the address tells nothing."""
    inside = [name for name, own, prefix in networks(world) if ip and overlaps(ip, 32, own, prefix)]
    for wanted in [*inside, "lan"]:
        for zone in world.sections("firewall", "zone"):
            if wanted in words(zone.get("network")) and zone.get("name") != wan_zone(world):
                return str(zone.get("name"))
    raise Problem("no_lan_zone")


def block(world: World, slots: Slots) -> Rows:
    """Return a row for each device that gets a rule, or whose rule ends by itself: saying it again sets that end.

    Raises: Problem when all of them are blocked.
    """
    rows: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        held = _blocking(world, mac)
        rows += [_said_again(rule) for rule in held if "firewall.%s" % rule[".name"] in world.facts.ending()]
        if not held:
            row = {"rule": world.free_name("firewall", _OWN_BLOCK), "mac": mac, "name": rule_name("Block", device)}
            rows.append({**row, "src": zone_of(world, device["ip"]), "dest": wan_zone(world)})
    if not rows:
        raise Problem("is_blocked", devices=slots["devices"])
    return rows


def _said_again(rule: Section) -> Fields:
    """Return the row of a rule of ours as it is."""
    row = {key: rule.get(key, "") for key in ("name", "src", "dest")}
    return {**row, "rule": rule[".name"], "mac": " ".join(words(rule.get("src_mac")))}


def blocked(world: World, slots: Slots) -> Rows:
    """Return the rules of ours to delete, so that the devices may go out again.

    Raises: Problem when a device is not blocked, or by a rule that somebody else wrote.
    """
    found: list[str] = []
    for device in slots["devices"]:
        rules = _blocking(world, need(device, "mac"))
        own = [str(rule[".name"]) for rule in rules if str(rule[".name"]).startswith(_OWN_BLOCK + "_")]
        if rules and not own:
            raise Problem("blocked_by_other", device=device, rule=rules[0].get("name") or rules[0][".name"])
        if not rules:
            raise Problem("is_not_blocked", device=device)
        found += own
    return [{"rule": name} for name in found]


def _blocking(world: World, mac: str) -> list[Section]:
    return [
        rule
        for rule in world.sections("firewall", "rule")
        if rule.get("target") in ("REJECT", "DROP")
        and rule.get("dest")
        and not rule.get("dest_port")
        and rule.get("enabled") != "0"
        and mac in [one.lower() for one in words(rule.get("src_mac"))]
    ]


def rule_name(verb: str, device: Named) -> str:
    """Return the name of a rule; a device's name is foreign text, so only plain letters of it are used."""
    return (verb + " " + re.sub(r"[^A-Za-z0-9:._-]+", " ", device["label"]).strip())[:60].strip()


def forward(world: World, slots: Slots) -> Rows:
    """Return a row for each port that is to be forwarded. Raises: Problem when one goes elsewhere already."""
    check_inside(world, need(slots["device"], "ip"))
    ports, inner = slots["port"], slots.get("inner", "")
    if inner and inner not in ports and (len(ports) > 1 or "-" in inner + ports[0]):
        raise Problem("range_moves", port=ports, inner=inner)
    return [_forward(world, slots, port, inner or port) for port in ports]


def _forward(world: World, slots: Slots, port: str, inner: str) -> Fields:
    device = slots["device"]
    ip = need(device, "ip")
    protos = [proto for proto in ("tcp", "udp") if slots.get("proto", "both") in (proto, "both")]
    for taken in _redirects(world, port, protos):
        raise Problem("port_taken", port=port, rule=taken.get("name") or taken[".name"], ip=taken.get("dest_ip", ""))
    label = rule_name(f"Forward {port} to", device)
    zones = {"src": wan_zone(world), "dest": zone_of(world, ip)}
    row = {"forward": world.free_name("firewall", _OWN_FORWARD), "name": label, "ip": ip, "port": port, "inner": inner}
    return {**row, **zones, **{proto: proto in protos for proto in ("tcp", "udp")}}


def forwarded(world: World, slots: Slots) -> Rows:
    """Return the forwards of a port, last first, to be deleted. Raises: Problem when there is none."""
    port = str(slots["port"])
    found = _redirects(world, port, ["tcp", "udp"])
    if not found:
        raise Problem("no_forward", port=port)
    if any(section.get("src_dport") != port for section in found):
        raise Problem("forward_wider", port=port, ports=[section.get("src_dport") for section in found])
    device = slots.get("device")
    if device and any(section.get("dest_ip") != device["ip"] for section in found):
        raise Problem("forward_elsewhere", port=port, device=device, ip=found[0].get("dest_ip", ""))
    return [{"forward": reference(world, "firewall", section)} for section in reversed(found)]


def moving_target(world: World, slots: Slots) -> Rows:
    """Return a row when the address of the device may change; for a note."""
    device = slots["device"]
    return [] if device["fixed"] or not device["mac"] else [device]


def _redirects(world: World, port: str, protos: list[str]) -> list[Section]:
    found = []
    for section in world.sections("firewall", "redirect"):
        listed = words(section.get("proto")) or ["tcp", "udp"]
        same = any(proto in listed for proto in protos) or any(word in ("all", "any", "tcpudp") for word in listed)
        is_in = section.get("src", "wan") == wan_zone(world) and section.get("enabled") != "0"
        if same and is_in and _touch(port, str(section.get("src_dport", ""))):
            found.append(section)
    return found


def _touch(left: str, right: str) -> bool:
    ends = [[int(end) for end in re.split("[-:]", text) if end.isdigit()] for text in (left, right)]
    if not ends[0] or not ends[1]:
        return False
    return ends[0][0] <= ends[1][-1] and ends[1][0] <= ends[0][-1]


_OWN = "oasis_hours"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def hours(world: World, slots: Slots) -> Rows:
    """Return a rule for each device, two where the time goes past midnight: the second one belongs to the next day."""
    start, stop = slots["from"], slots["to"]
    if start == stop:
        raise Problem("no_hours", clock=start)
    days = [day for day in _DAYS if day in slots.get("days", "").split()]
    spans = [(start, stop, days)]
    if start > stop:
        spans = [(start, "23:59:59", days), ("00:00", stop, [_DAYS[(_DAYS.index(day) + 1) % 7] for day in days])]
        spans = [span for span in spans if span[0] != span[1]]
    rows: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        for first, last, chosen in spans:
            named = " ".join(day.capitalize() for day in chosen) if 0 < len(chosen) < 7 else ""
            if _is_there(world, mac, first, last, named):
                continue
            row = {"rule": world.free_name("firewall", _OWN), "name": rule_name("Hours", device), "mac": mac}
            row.update(src=zone_of(world, device["ip"]), dest=wan_zone(world))
            rows.append({**row, "start": first, "stop": last, "days": named})
    if not rows:
        raise Problem("is_so_already")
    return rows


def _is_there(world: World, mac: str, start: str, stop: str, days: str) -> bool:
    wanted = (start, stop, days.lower().split())
    return any(
        (rule.get("start_time"), rule.get("stop_time"), words(str(rule.get("weekdays") or "").lower())) == wanted
        for rule in world.sections("firewall", "rule")
        if mac in [one.lower() for one in words(rule.get("src_mac"))]
        and rule.get("enabled") != "0"
        and rule.get("target") in ("REJECT", "DROP")
    )


def hours_left(world: World, slots: Slots) -> Rows:
    """Return the rules of ours with times of these devices, to be deleted. Raises: Problem when there is none."""
    found: list[Fields] = []
    for device in slots["devices"]:
        mac = need(device, "mac")
        timed = [
            rule
            for rule in world.sections("firewall", "rule")
            if mac in [one.lower() for one in words(rule.get("src_mac"))] and rule.get("start_time")
        ]
        own = [rule for rule in timed if str(rule[".name"]).startswith(_OWN)]
        if timed and not own:
            raise Problem("blocked_by_other", device=device, rule=timed[0].get("name") or timed[0][".name"])
        found += [{"rule": rule[".name"]} for rule in own]
    if not found:
        raise Problem("no_hours_set", devices=slots["devices"])
    return found
