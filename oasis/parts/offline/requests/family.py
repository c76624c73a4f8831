"""Sets about times without internet; rules of the firewall with hours and days.

Every function takes the world and the slots and returns rows of fields for the command templates.
"""

from __future__ import annotations

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.requests.firewall import rule_name, wan_zone, zone_of
from oasis.parts.offline.requests.lan import need, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

_OWN = "oasis_hours"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def hours(world: World, slots: dict[str, object]) -> Rows:
    """Return a rule for each device, two where the time goes past midnight: the second one belongs to the next day."""
    start, stop = str(slots["from"]), str(slots["to"])
    if start == stop:
        raise Problem("no_hours", clock=start)
    days = [day for day in _DAYS if day in str(slots.get("days") or "").split()]
    spans = [(start, stop, days)]
    if start > stop:
        spans = [(start, "23:59:59", days), ("00:00", stop, [_DAYS[(_DAYS.index(day) + 1) % 7] for day in days])]
        spans = [span for span in spans if span[0] != span[1]]
    devices = slots["devices"]
    rows: Rows = []
    for device in devices if isinstance(devices, list) else []:
        mac = need(device, "mac")
        for first, last, chosen in spans:
            named = " ".join(day.capitalize() for day in chosen) if 0 < len(chosen) < 7 else ""
            if _is_there(world, mac, first, last, named):
                continue
            row = {"rule": world.free_name("firewall", _OWN), "name": rule_name("Hours", device), "mac": mac}
            row.update(src=zone_of(world, str(device["ip"])), dest=wan_zone(world))
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


def hours_left(world: World, slots: dict[str, object]) -> Rows:
    """Return the rules of ours with times of these devices, to be deleted. Raises: Problem when there is none."""
    devices = slots["devices"]
    found: Rows = []
    for device in devices if isinstance(devices, list) else []:
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
        raise Problem("no_hours_set", devices=devices)
    return found
