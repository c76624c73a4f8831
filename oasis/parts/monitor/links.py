"""What the radios can do in this country, and the sockets of the router: link, speed, and in which network each is.

Sources: `iwinfo` of rpcd for radios; netifd's `network.device status`, /etc/board.json and, on a switch that is no DSA
one, `luci getSwconfigPortState` for ports.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.parts.monitor.look import is_about
from oasis.tools.builtin.status import wireless
from oasis.tools.router import dicts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.monitor.look import Scene
    from oasis.tools.shapes import Result

PORTS = 48
BOARD = "/etc/board.json"
# Channels of 5 GHz on which radar goes first in Europe, America and Japan alike.
_RADAR = range(52, 145)
_BANDS = {"2g": (2400, 2500), "5g": (4900, 5900), "6g": (5925, 7200)}


def radios(scene: Scene, target: str) -> Result:
    """Return {"radios": [{"radio", "band", "country", "now", "widths", "channels", "most_dbm", …}]}."""
    found = []
    up = [(one["radio"], str(one["ifname"])) for one in wireless(scene.facts) if isinstance(one.get("ifname"), str)]
    for section in scene.facts.sections("wireless", "wifi-device"):
        name, band = str(section[".name"]), str(section.get("band") or "")
        if not is_about(target, name, band):
            continue
        device = next((ifname for radio, ifname in up if radio == name), name)
        told = scene.facts.ubus("iwinfo", "info", {"device": device})
        row: dict[str, object] = {"radio": name, "band": band, "on": section.get("disabled") != "1"}
        country = str(section.get("country") or "")
        row["country"] = country or "not set: the world's strictest rules, with little power and few channels"
        hardware = told.get("hardware")
        if isinstance(hardware, dict) and hardware.get("name"):
            row["hardware"] = clean.name(hardware["name"])
        now = {key: told[key] for key in ("channel", "htmode", "txpower") if isinstance(told.get(key), (int, str))}
        if now:
            row["now"] = now
        for key, shown in (("hwmodes_text", "standards"), ("htmodes", "widths")):
            if told.get(key):
                row[shown] = told[key] if isinstance(told[key], (str, list)) else ""
        row.update(_channels(dicts(scene.facts.ubus("iwinfo", "freqlist", {"device": device}).get("results")), band))
        powers = dicts(scene.facts.ubus("iwinfo", "txpowerlist", {"device": device}).get("results"))
        most = max([dbm for one in powers if isinstance(dbm := one.get("dbm"), int)], default=None)
        if most is not None:
            row["most_dbm"] = most
        if not told:
            row["notes"] = ["it tells nothing: is rpcd-mod-iwinfo installed, and the radio on?"]
        found.append(row)
    return {"radios": found} if found else {"radios": [], "notes": ["this router has no such radio"]}


def _channels(told: list[dict[str, object]], band: str) -> dict[str, object]:
    """Return the channels of a band that are allowed, those with radar, and those that nobody may begin to use."""
    low, high = _BANDS.get(band, (0, 100_000))
    here = [one for one in told if isinstance(one.get("mhz"), int) and low <= int(str(one["mhz"])) <= high]
    free = [one["channel"] for one in here if one.get("restricted") is not True]
    answer: dict[str, object] = {"channels": free} if here else {}
    radar = [number for number in free if band == "5g" and isinstance(number, int) and number in _RADAR]
    if radar:
        answer["wait_for_radar"] = radar
    barred = [one["channel"] for one in here if one.get("restricted") is True]
    return {**answer, "not_allowed": barred} if barred else answer


def ports(scene: Scene, target: str) -> Result:
    """Return {"ports": [{"port", "plugged", "mbit"?, "duplex"?, "bridge"?, "networks", "vlans"?, "errors"?, …}]}."""
    told = scene.facts.ubus("network.device", "status")
    bridges = {
        member: name
        for name, one in told.items()
        if isinstance(one, dict)
        for member in words(one.get("bridge-members"))
    }
    rows = []
    for name, one in sorted(told.items()):
        if not isinstance(one, dict) or one.get("devtype") not in ("ethernet", "dsa") or name == "lo":
            continue
        row = {"port": name, **link(one)}
        bridge = bridges.get(name, "")
        if bridge:
            row["bridge"] = bridge
        row["networks"], tags = networks_of(scene, name, bridge)
        if tags:
            row["vlans"] = tags
        rows.append(row)
    rows += _switches(scene)
    rows = [row for row in rows if is_about(target, row["port"], *words(row.get("networks")))]
    answer: dict[str, object] = {"ports": rows[:PORTS]}
    if len(rows) > PORTS:
        answer["left_out"] = len(rows) - PORTS
    if not rows:
        answer["notes"] = ["no such port" if target else "the state of the ports is not available"]
    return answer


def link(device: dict[str, object]) -> dict[str, object]:
    """Return whether something is plugged in, how fast the link is and could be, and what went wrong on it."""
    row: dict[str, object] = {"plugged": device.get("carrier") is True}
    speed = str(device.get("speed") or "")
    if row["plugged"] and speed.rstrip("FH").isdigit():  # "-1F" is a port that does not tell
        row.update(mbit=int(speed.rstrip("FH")), duplex="half" if speed.endswith("H") else "full")
        ends = (_most(device.get("link-supported")), _most(device.get("link-partner-advertising")))
        both = [most for most in ends if most]
        if len(both) == 2 and min(both) > int(speed.rstrip("FH")):
            row["could_mbit"] = min(both)  # both ends offer it: the cable is the first suspect
    counts = device.get("statistics")
    counts = counts if isinstance(counts, dict) else {}
    errors = {key: counts[key] for key in ("rx_errors", "rx_crc_errors", "tx_errors") if counts.get(key)}
    return {**row, "errors": errors} if errors else row


def _most(modes: object) -> int:
    """Return the fastest of modes like 1000baseT-F."""
    speeds = [str(mode).partition("base")[0] for mode in modes] if isinstance(modes, list) else []
    return max([int(speed) for speed in speeds if speed.isdecimal()], default=0)


def networks_of(scene: Scene, port: str, bridge: str) -> tuple[list[str], list[str]]:
    """Return the networks that a port is in, and its VLANs as bridge-vlan writes them."""
    tags, devices = [], {port, bridge} - {""}
    for section in scene.facts.sections("network", "bridge-vlan") if bridge else ():
        if section.get("device") != bridge:
            continue
        for entry in words(section.get("ports")):
            member, _, flags = entry.partition(":")
            if member == port:
                number = str(section.get("vlan"))
                tags.append(f"{number} {'untagged' if 'u' in flags or not flags else 'tagged'}")
                devices.add(f"{bridge}.{number}")
    if tags:
        devices.discard(bridge)
    networks = [str(item.get("interface")) for item in scene.facts.interfaces()
                if str(item.get("device") or "") in devices or str(item.get("l3_device") or "") in devices
                or str(item.get("device") or "").partition(".")[0] == port]  # fmt: skip
    return list(dict.fromkeys(networks)), tags


def _switches(scene: Scene) -> list[dict[str, object]]:
    """Return the ports of switches that the kernel knows by swconfig, as the board names them."""
    switches = scene.json(scene.read(BOARD)).get("switch")
    rows: list[dict[str, object]] = []
    for name, switch in switches.items() if isinstance(switches, dict) else ():
        state = dicts(scene.facts.ubus("luci", "getSwconfigPortState", {"switch": str(name)}).get("result"))
        by_number = {one.get("port"): one for one in state}
        vlans = [(str(one.get("vlan")), words(one.get("ports")))
                 for one in scene.facts.sections("network", "switch_vlan") if one.get("device") == name]  # fmt: skip
        for port in dicts(switch.get("ports")) if isinstance(switch, dict) else ():
            number = port.get("num")
            now = by_number.get(number, {})
            row: dict[str, object] = {"port": f"{name} port {number}", "plugged": now.get("link") is True}
            if row["plugged"] and isinstance(now.get("speed"), int):
                row.update(mbit=now["speed"], duplex="full" if now.get("duplex") is True else "half")
            row["networks"] = [str(port["role"])] if port.get("role") else []
            if port.get("device"):
                row["cpu"] = str(port["device"])
            tags = [f"{vlan} {'tagged' if entry.endswith('t') else 'untagged'}"
                    for vlan, entries in vlans for entry in entries if entry.rstrip("t*u") == str(number)]  # fmt: skip
            rows.append({**row, "vlans": tags} if tags else row)
    return rows
