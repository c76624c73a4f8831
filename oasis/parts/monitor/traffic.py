"""What each device sends and receives: by the best of three counters that this router has.

    nlbwmon     totals per device since its period began, also of devices that are gone
    conntrack   of the connections that the firewall follows now, where the kernel counts their bytes
    Wi-Fi       of what is in a wireless network, since it joined; cables are not counted

A rate is the difference of two readings, WAIT_S apart; nlbwmon itself refreshes more seldom than that.
"""

from __future__ import annotations

from oasis.core import addresses
from oasis.parts.monitor.look import is_about
from oasis.tools.builtin.probing import is_within, networks
from oasis.tools.builtin.status import wireless
from oasis.tools.router import dicts, handle, is_mac

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.monitor.look import Scene
    from oasis.tools.shapes import Result

    Bytes = tuple[int, int]  # received, sent: as the device sees it
    Counts = dict[str, Bytes]  # by MAC
    Reading = dict[tuple[str, ...], Bytes]  # by what is counted; its first word is the device's address or MAC

WAIT_S = 2.0
DEVICES = 40
_CONNTRACK = "/proc/net/nf_conntrack"
_NLBW = ["nlbw", "-c", "json", "-g", "mac"]
_NONE = (0, 0)
_SOURCES = {
    "nlbwmon": "totals since its period began; the rate is of the connections that the firewall follows",
    "conntrack": "only open connections, by IPv4: what ended is not in the totals; offloaded ones may be missing",
    "wifi": "since each device joined its Wi-Fi; devices on cables are not counted, nor where the bytes went",
    "": "nobody counts bytes per device here: install nlbwmon, or set net.netfilter.nf_conntrack_acct=1",
}


def traffic(scene: Scene, target: str) -> Result:
    """Return {"source", "not_counted", "devices": [{"device", "received_bytes", "sent_bytes", "…_kbit_s"}]}."""
    totals, source = _nlbwmon(scene), "nlbwmon"
    first, second, seconds = _twice(scene, _conntrack)
    if not totals:
        totals, source = _by_mac(scene, second), "conntrack"
    rates = _by_mac(scene, {key: _more(first.get(key, _NONE), now) for key, now in second.items()})
    if not totals:
        first, second, seconds = _twice(scene, _wifi)
        totals, source = _sum(second), "wifi"
        rates = _sum({key: _more(first.get(key, now), now) for key, now in second.items()})
    source = source if totals else ""
    known = {one["mac"]: one for one in scene.devices()}
    rows: list[dict[str, object]] = []
    for mac, (received, sent) in sorted(totals.items(), key=lambda item: -sum(item[1])):
        one = known.get(mac) or {"device": handle(scene.facts.key, mac), "mac": mac, "ip": ""}
        if not is_about(target, one["device"], mac, one["ip"], one.get("name")):
            continue
        row: dict[str, object] = {**scene.named(one), "received_bytes": received, "sent_bytes": sent}
        if mac in rates and seconds > 0:
            row["receives_kbit_s"], row["sends_kbit_s"] = [int(count * 8 / seconds / 1000) for count in rates[mac]]
        rows.append(row)
    answer: dict[str, object] = {"source": source or "none", "not_counted": _SOURCES[source], "devices": rows[:DEVICES]}
    if len(rows) > DEVICES:
        answer["left_out"] = len(rows) - DEVICES
    if target and totals and not rows:
        answer["notes"] = ["no device that was counted has this handle, address or name: look without a target"]
    return answer


def _more(before: Bytes, now: Bytes) -> Bytes:
    return max(now[0] - before[0], 0), max(now[1] - before[1], 0)


def _add(found: Counts, mac: str, more: Bytes) -> None:
    old = found.get(mac, _NONE)
    found[mac] = (old[0] + more[0], old[1] + more[1])


def _twice(scene: Scene, read: Callable[[Scene], Reading]) -> tuple[Reading, Reading, float]:
    """Return two readings and the seconds between them; where the first is empty, it is the only one."""
    begun_s = scene.now_s()
    first = read(scene)
    if not first:
        return first, first, 0.0
    scene.wait(WAIT_S)
    second = read(scene)
    return first, second, scene.now_s() - begun_s


def _nlbwmon(scene: Scene) -> Counts:
    told = scene.json(scene.run(_NLBW))
    columns, rows = told.get("columns"), told.get("data")
    names = [str(name) for name in columns] if isinstance(columns, list) else []
    found: Counts = {}
    for row in rows if isinstance(rows, list) else ():
        entry = dict(zip(names, row, strict=False)) if isinstance(row, list) else {}
        mac, counts = str(entry.get("mac", "")).lower(), (entry.get("rx_bytes"), entry.get("tx_bytes"))
        if is_mac(mac) and mac != "00:00:00:00:00:00" and isinstance(counts[0], int) and isinstance(counts[1], int):
            _add(found, mac, (counts[0], counts[1]))
    return found


def _conntrack(scene: Scene) -> Reading:
    """Return each connection between a device at home and another machine, by address, protocol and ends."""
    ours_at = networks(scene.facts)
    found: Reading = {}
    for line in scene.lines(_CONNTRACK):
        fields = [field.partition("=") for field in line.split() if "=" in field]
        sources = [value for key, _, value in fields if key == "src"]
        counts = [int(value) for key, _, value in fields if key == "bytes" and value.isdecimal() and len(value) < 20]
        if len(sources) != 2 or len(counts) != 2 or len(line.split()) < 3:
            continue  # not counted, or not answered yet
        ours = [is_within(one, ours_at) for one in sources]
        if ours[0] == ours[1]:
            continue  # the router's own, or between two at home
        ends = [value for key, _, value in fields if key in ("src", "dst", "sport", "dport")][:4]
        key = (sources[ours.index(True)], line.split()[2], *ends)
        found[key] = (counts[1], counts[0]) if ours[0] else (counts[0], counts[1])
    return found


def _by_mac(scene: Scene, counts: Reading) -> Counts:
    """Return the counts of connections by the MAC of the device whose address they have."""
    macs = {addresses.number(one["ip"]): one["mac"] for one in scene.devices() if one["ip"]}
    for line in scene.facts.read_text("/proc/net/arp").split("\n")[1:]:
        fields = line.split()
        if len(fields) >= 6 and is_mac(fields[3].lower()):
            macs.setdefault(addresses.number(fields[0]), fields[3].lower())
    found: Counts = {}
    for key, more in counts.items():
        mac = macs.get(addresses.number(key[0]))
        if mac:
            _add(found, mac, more)
    return found


def _wifi(scene: Scene) -> Reading:
    """Return each station, by MAC and wireless network: what the router sends, it receives."""
    found: Reading = {}
    for name in [str(one["ifname"]) for one in wireless(scene.facts) if isinstance(one.get("ifname"), str)]:
        known = scene.facts.ubus(f"hostapd.{name}", "get_clients").get("clients")
        told = known.items() if isinstance(known, dict) else ()
        pairs = [(str(mac), one.get("bytes")) for mac, one in told if isinstance(one, dict)]
        if not any(isinstance(count, dict) for _, count in pairs):
            heard = dicts(scene.facts.ubus("iwinfo", "assoclist", {"device": name}).get("results"))
            pairs = [(str(one.get("mac", "")), {way: _bytes(one.get(way)) for way in ("rx", "tx")}) for one in heard]
        for mac, count in pairs:
            if is_mac(mac.lower()) and isinstance(count, dict):
                received, sent = count.get("tx"), count.get("rx")
                if isinstance(received, int) and isinstance(sent, int):
                    found[(mac.lower(), name)] = (received, sent)
    return found


def _bytes(link: object) -> object:
    return link.get("bytes") if isinstance(link, dict) else None


def _sum(counts: Reading) -> Counts:
    found: Counts = {}
    for key, more in counts.items():
        _add(found, key[0], more)
    return found
