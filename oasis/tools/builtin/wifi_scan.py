"""The tool `wifi_scan`: which networks are around, how busy each channel is, and which one would be quieter.

What the neighbours call their networks is theirs: told only when it is asked for, cleaned and marked. The choice of a
channel is counted here, by rules that stand below; no model has to work it out.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import ToolError
from oasis.redaction import foreign
from oasis.tools.builtin import status_network
from oasis.tools.facts import is_mac

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.facts import Facts

# Networks of one radio, the strongest first: enough to tell what disturbs.
NETWORKS = 25
# Channels of 2.4 GHz that do not overlap each other, and how far a network of 20 MHz reaches to both sides.
_APART, _REACH = (1, 6, 11), 4
# Below this a network is hardly heard; each 10 dB more count as one network more.
_FAINT_DBM = -90
# A survey of less than that says nothing about a channel.
_MEASURED_MS = 50


def run(arguments: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return {"radios": [{"radio", "band", "channel", "networks": […], "channels": […], "quieter"?}], …}.

    Raises: ToolError when there is no radio of that name, or none that can look around.
    """
    radios = facts.sections("wireless", "wifi-device")
    wanted = str(arguments.get("radio") or "")
    chosen = [one for one in radios if not wanted or one[".name"] == wanted]
    if not chosen:
        names = ", ".join(str(one[".name"]) for one in radios)
        raise ToolError("there is no radio %r" % wanted if wanted else "this router has no radio", names)
    shows_names = arguments.get("names") is True or facts.shows_names
    found = [_radio(facts, one, shows_names) for one in chosen]
    if not any("networks" in one for one in found):
        raise ToolError("no radio could look around", "is rpcd-mod-iwinfo installed, and is Wi-Fi on?")
    answer: dict[str, Any] = {"radios": found}
    is_named = any(network.get("ssid") for one in found for network in one.get("networks", []))
    return {**answer, "untrusted": [foreign.NETWORKS]} if is_named else answer


def _radio(facts: Facts, section: dict[str, object], shows_names: bool) -> dict[str, Any]:
    name = str(section[".name"])
    entry: dict[str, Any] = {"radio": name, "band": section.get("band", ""), "channel": section.get("channel", "")}
    device = _device(facts, name)
    reply = facts.ubus("iwinfo", "scan", {"device": device})
    if "results" not in reply:
        return {**entry, "notes": ["it cannot look around"]}
    results = [one for one in status_network.dicts(reply["results"]) if isinstance(one.get("signal"), int)]
    heard = sorted(results, key=lambda one: -_int(one["signal"]))
    entry["networks"] = [_network(one, shows_names) for one in heard[:NETWORKS]]
    entry["channels"] = _channels(heard, _survey(facts, device))
    quiet = _quieter(entry["channels"], str(section.get("band", "")))
    return {**entry, "quieter": quiet} if quiet else entry


def _device(facts: Facts, radio: str) -> str:
    """Return a network device of a radio that is up, else the radio itself, which iwinfo takes as well."""
    state = facts.ubus("network.wireless", "status").get(radio)
    for interface in status_network.dicts(state.get("interfaces")) if isinstance(state, dict) else []:
        if isinstance(interface.get("ifname"), str):
            return str(interface["ifname"])
    return radio


def _network(told: dict[str, Any], shows_names: bool) -> dict[str, Any]:
    bssid = str(told.get("bssid", "")).lower()
    entry: dict[str, Any] = {"bssid": bssid} if is_mac(bssid) else {}
    if shows_names:
        entry["ssid"] = clean.name(told.get("ssid"))
    entry.update(channel=_int(told.get("channel")), signal_dbm=_int(told.get("signal")))
    security = told.get("encryption")
    entry["open"] = isinstance(security, dict) and security.get("enabled") is False
    return entry


def _survey(facts: Facts, device: str) -> dict[int, int]:
    """Return how busy channels are, in percent of the time that was measured."""
    found = {}
    for one in status_network.dicts(facts.ubus("iwinfo", "survey", {"device": device}).get("results")):
        active, busy = _int(one.get("active_time")), _int(one.get("busy_time"))
        if active >= _MEASURED_MS and 0 <= busy <= active:
            found[_channel(_int(one.get("mhz")))] = 100 * busy // active
    return found


def _channel(mhz: int) -> int:
    if 2412 <= mhz <= 2472:
        return (mhz - 2407) // 5
    return 14 if mhz == 2484 else (mhz - 5950) // 5 if mhz >= 5955 else (mhz - 5000) // 5


def _channels(heard: list[dict[str, Any]], busy: dict[int, int]) -> list[dict[str, Any]]:
    counts: dict[int, int] = dict.fromkeys(busy, 0)
    for one in heard:
        counts[_int(one.get("channel"))] = counts.get(_int(one.get("channel")), 0) + 1
    loads = {channel: _load(channel, heard) for channel in [*counts, *_APART]}
    is_low = any(channel <= 14 for channel in counts)
    shown = sorted({*counts, *(_APART if is_low else ())} - {0})
    return [
        {"channel": channel, "networks": counts.get(channel, 0), "disturbed": loads[channel],
         **({"busy_percent": busy[channel]} if channel in busy else {})}
        for channel in shown
    ]  # fmt: skip


def _load(channel: int, heard: list[dict[str, Any]]) -> int:
    """Return how much a channel is disturbed: each network that reaches into it counts, a loud one for more."""
    load = 0
    for one in heard:
        other = _int(one.get("channel"))
        if other == channel or (channel <= 14 and other <= 14 and abs(other - channel) < _REACH):
            load += 1 + max(_int(one.get("signal")) - _FAINT_DBM, 0) // 10
    return load


def _quieter(channels: list[dict[str, Any]], band: str) -> int:
    """Return the channel apart from others with the least disturbance; 0 outside of 2.4 GHz, where radar decides."""
    able = [one for one in channels if band == "2g" and one["channel"] in _APART]
    best = min(able, key=lambda one: (one["disturbed"], one.get("busy_percent", 0)), default=None)
    return int(best["channel"]) if best else 0


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
