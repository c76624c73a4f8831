"""The tools that look around: `probe` asks one address, `wifi_scan` tells which wireless networks are near.

Of private networks only those that the router itself has are asked: at home, behind a VPN, by a route. Of the network
outside only what the router knows: the provider's other customers are none of its business. A name is looked up first,
and its address is judged like any other: a name must not lead where an address may not. Results are checked addresses
and numbers, so they taint nothing. The names of the neighbours' networks are shown only on request, cleaned and marked.
The rules for choosing a channel stand below; no model has to work it out.
"""

from __future__ import annotations

import re

from oasis.core import addresses, clean
from oasis.errors import ToolError, UsageError
from oasis.redaction import foreign
from oasis.tools.builtin.status import wireless
from oasis.tools.router import Facts, Router, Watch, dicts, is_mac

if False:  # annotations only
    from oasis.catalogue.shapes import Section
    from oasis.tools import shapes
    from oasis.tools.operator import Operator
    from oasis.tools.shapes import Result, Sequence

    Prefix = tuple[int, int, int]

COUNT, MOST = 3, 10
HOPS = 15
_WAIT_S = 2
_LOOKUP_S = 10.0
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME = re.compile(r"(?=.{1,253}\Z)(?:%s\.)*%s\.?\Z" % (_LABEL, _LABEL))
_DEVICE = re.compile(r"(dev#[0-9]+)(?:\.ip)?\Z")
_FOUND = re.compile(r"^(?:Address(?:es)?(?: \d+)?:)\s+([0-9a-fA-F:.]+)\s*$", re.M)
_COUNTS = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
# Nothing that answers alone: 0/8, 127/8, multicast and beyond; ::/128, ::1/128, multicast.
_NOBODY = ((4, 32, 0, 8), (4, 32, 127, 8), (4, 32, 7, 3), (6, 128, 0, 128), (6, 128, 1, 128), (6, 128, 0xFF, 8))
_TIMES = re.compile(r"= ([0-9.]+)/([0-9.]+)/([0-9.]+)")
_HOP = re.compile(r"^\s*(\d+)\s+(?:([0-9a-f.:]+)\s+([0-9.]+) ms|\*)", re.M)


def probe(arguments: shapes.ProbeArguments, router: Router, operator: Operator, watch: Watch) -> Result:
    """Return what was found; a target that does not answer is an answer.

    Raises: UsageError for a target that is none or may not be asked, ToolError when the router lacks the program.
    """
    asked = str(arguments["target"]).strip().lower()
    target = _target(asked, operator.facts)
    what = str(arguments.get("what") or "ping")
    names: dict[str, str | list[str]] = {}
    address = target
    if what == "lookup" and target != asked:
        return {"what": what, "name": asked, "addresses": [target]}
    if addresses.number(target) is None:
        _, out, _ = router.run(["nslookup", target], watch, _LOOKUP_S)
        answers = out.partition("\n\n")[2]  # the first part tells which server was asked
        told = dict.fromkeys(match.lower() for match in _FOUND.findall(answers))
        found = [one for one in told if addresses.number(one) is not None][:8]
        names = {"name": target, "addresses": found}
        if what == "lookup" or not found:
            return {"what": what, **names, **({} if found else {"notes": ["no server knows this name"]})}
        # Of the family that is wanted, else an IPv4 one, which every router has.
        family = str(arguments.get("family") or "")
        wanted = [one for one in found if (":" in one) == (family == "ipv6")]
        if family and not wanted:
            raise ToolError("it has no address of %s" % family, "it has: " + ", ".join(found))
        address = (wanted or found)[0]
    elif what == "lookup":
        raise UsageError("%s is an address already" % target, "give a name, or ping it")
    family_of, value = addresses.number(address) or (0, 0)
    own = networks(operator.facts)
    is_nobody = any(value >> (bits - length) == first for kind, bits, first, length in _NOBODY if kind == family_of)
    if is_nobody or any(_is_broadcast(family_of, value, one) for one in own):
        raise UsageError("%s is no machine that could be asked" % address, "give the address of one")
    # Behind a name is what its owner wants: it leads to machines that the router knows, and to no others at home.
    is_near = (not names and is_within(address, own)) or (family_of, value) in _known(operator.facts)
    if addresses.not_of_internet(address) and not is_near:
        why = "%s is in a private network that this router does not have" % address
        raise UsageError(why, "its own networks and what it knows: status addresses, status devices")
    work = _trace if what == "traceroute" else _ping
    return {"what": what, **names, "address": address, **work(address, arguments, router, watch)}


def _target(target: str, facts: Facts) -> str:
    """Return an address or a name; a device's handle becomes its address. Raises: UsageError for anything else."""
    device = _DEVICE.match(target)
    # A machine at home is found by its name here: most of them no server knows.
    known = facts.called(target) if addresses.number(target) is None else []
    if device or known:
        if len(known) != 1 or not known[0]["ip"]:
            raise UsageError("no address of %s is known now" % target, "read status devices again")
        return str(known[0]["ip"])
    if addresses.number(target) is not None:
        return target
    if not _NAME.match(target) or target.rstrip(".").rpartition(".")[2].isdigit():
        raise UsageError("%r is neither a name nor an address" % target[:80], "like openwrt.org or 1.1.1.1")
    return target.rstrip(".")


def _known(facts: Facts) -> set[tuple[int, int] | None]:
    """Return the addresses near this router that belong to somebody: devices, gateways, DNS servers, itself."""
    known = {str(one["ip"]) for one in facts.devices() if one["ip"]}
    for item in facts.interfaces():
        own = [*dicts(item.get("ipv4-address")), *dicts(item.get("ipv6-address"))]
        servers = item.get("dns-server")
        known |= {str(one.get("address")) for one in own}
        known |= {str(one.get("nexthop")) for one in dicts(item.get("route"))}
        known |= {str(one) for one in servers} if isinstance(servers, list) else set()
    return {addresses.number(one) for one in known}  # however it is written


# A network with fewer bits is no network but half the internet, as VPNs write a default route.
_LEAST_BITS = {4: 8, 6: 32}


def networks(facts: Facts) -> list[Prefix]:
    """Return the networks that the router has: of interfaces that do not lead outside, and their routes."""
    outside = (*(facts.masqueraded() or ["wan", "wan6"]), "loopback")
    return [one for item in facts.interfaces() if item.get("interface") not in outside for one in prefixes(item)]


def prefixes(item: Result) -> list[Prefix]:
    """Return the networks of an interface of netifd's, and those behind it: (4 or 6, first bits, how many)."""
    given = [one for key in ("ipv4-address", "ipv6-address", "ipv6-prefix-assignment") for one in dicts(item.get(key))]
    given += [{**one, "address": one.get("target")} for one in dicts(item.get("route"))]
    found = []
    for one in given:
        parsed, mask = addresses.number(str(one.get("address"))), one.get("mask")
        bits = 32 if parsed and parsed[0] == 4 else 128
        if parsed and isinstance(mask, int) and _LEAST_BITS[parsed[0]] <= mask <= bits:
            found.append((parsed[0], parsed[1] >> (bits - mask), mask))
    return found


def is_within(address: str, own: list[Prefix]) -> bool:
    """Tell whether an address lies in one of some networks."""
    parsed = addresses.number(address)
    bits = 32 if parsed and parsed[0] == 4 else 128
    return parsed is not None and any(
        family == parsed[0] and parsed[1] >> (bits - mask) == first for family, first, mask in own
    )


def _is_broadcast(family: int, value: int, network: Prefix) -> bool:
    """Tell whether an address means all machines of a network, or the network itself."""
    kind, first, mask = network
    rest = 32 - mask
    return (
        family == kind == 4
        and rest > 1
        and value >> rest == first
        and value & ((1 << rest) - 1) in (0, (1 << rest) - 1)
    )


def _ping(address: str, arguments: shapes.ProbeArguments, router: Router, watch: Watch) -> Result:
    count = min(int(arguments.get("count") or COUNT), MOST)
    words = ["ping", "-c", str(count), "-W", str(_WAIT_S), address]
    _, out, _ = router.run(words, watch, count * (_WAIT_S + 1.0) + 2)
    counts, times = _COUNTS.search(out), _TIMES.search(out)
    if counts is None:
        raise ToolError("the output of ping was not understood", "is there a route? status wan")
    sent, received = int(counts.group(1)), int(counts.group(2))
    answer: shapes.Pinged = {"sent": sent, "received": received, "answers": received > 0}
    if times:
        answer["ms"] = dict(zip(("least", "average", "most"), map(float, times.groups()), strict=True))
    return answer


def _trace(address: str, arguments: shapes.ProbeArguments, router: Router, watch: Watch) -> Result:
    words = ["traceroute", "-n", "-q", "1", "-w", str(_WAIT_S), "-m", str(HOPS), address]
    _, out, _ = router.run(words, watch, HOPS * (_WAIT_S + 0.5) + 2)
    hops = [
        {"hop": int(number), **({"address": place, "ms": float(ms)} if place and addresses.number(place) else {})}
        for number, place, ms in _HOP.findall(out)
    ]
    return {"hops": hops, "arrives": bool(hops) and hops[-1].get("address") == address}


# Networks of one radio, the strongest first: enough to tell what disturbs.
NETWORKS = 25
# Channels of 2.4 GHz that do not overlap each other, and how far a network of 20 MHz reaches to both sides.
_APART, _REACH = (1, 6, 11), 4
# Below this a network is hardly heard; each 10 dB more count as one network more.
_FAINT_DBM = -90
# A survey of less than that says nothing about a channel.
_MEASURED_MS = 50


def wifi_scan(arguments: shapes.ScanArguments, facts: Facts) -> Result:
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
    answer: Result = {"radios": found}
    is_named = any(network.get("ssid") for one in found for network in one.get("networks", []))
    return {**answer, "untrusted": [foreign.NETWORKS]} if is_named else answer


def _radio(facts: Facts, section: Section, shows_names: bool) -> shapes.ScannedRadio:
    name = str(section[".name"])
    entry: shapes.ScannedRadio = {"radio": name, "band": section.get("band", ""), "channel": section.get("channel", "")}
    # iwinfo takes a network device of the radio, else the radio itself.
    up = [str(one["ifname"]) for one in wireless(facts) if one["radio"] == name and isinstance(one.get("ifname"), str)]
    device = up[0] if up else name
    reply = facts.ubus("iwinfo", "scan", {"device": device})
    if "results" not in reply:
        return {**entry, "notes": ["it cannot look around"]}
    results = [one for one in dicts(reply["results"]) if isinstance(one.get("signal"), int)]
    heard = sorted(results, key=lambda one: -_int(one["signal"]))
    entry["networks"] = [_network(one, shows_names) for one in heard[:NETWORKS]]
    # How busy channels are, in percent of the time that was measured.
    busy: dict[int, int] = {}
    for one in dicts(facts.ubus("iwinfo", "survey", {"device": device}).get("results")):
        active_ms, busy_ms = _int(one.get("active_time")), _int(one.get("busy_time"))
        if active_ms >= _MEASURED_MS and 0 <= busy_ms <= active_ms:
            busy[_channel_of(_int(one.get("mhz")))] = 100 * busy_ms // active_ms
    entry["channels"] = _channels(heard, busy)
    # Outside of 2.4 GHz radar decides.
    apart = [one for one in entry["channels"] if section.get("band") == "2g" and one["channel"] in _APART]
    best = min(apart, key=lambda one: (one["disturbed"], one.get("busy_percent", 0)), default=None)
    return {**entry, "quieter": best["channel"]} if best else entry


def _network(told: Result, shows_names: bool) -> shapes.HeardNetwork:
    bssid = str(told.get("bssid", "")).lower()
    entry: shapes.HeardNetwork = {"bssid": bssid} if is_mac(bssid) else {}
    if shows_names:
        entry["ssid"] = clean.name(told.get("ssid"))
    entry["channel"], entry["signal_dbm"] = _int(told.get("channel")), _int(told.get("signal"))
    security = told.get("encryption")
    entry["open"] = isinstance(security, dict) and security.get("enabled") is False
    return entry


def _channel_of(mhz: int) -> int:
    if 2412 <= mhz <= 2472:
        return (mhz - 2407) // 5
    return 14 if mhz == 2484 else (mhz - 5950) // 5 if mhz >= 5955 else (mhz - 5000) // 5


def _channels(heard: Sequence[Result], busy: dict[int, int]) -> list[shapes.HeardChannel]:
    counts: dict[int, int] = dict.fromkeys(busy, 0)
    for one in heard:
        counts[_int(one.get("channel"))] = counts.get(_int(one.get("channel")), 0) + 1
    is_low = any(channel <= 14 for channel in counts)
    found: list[shapes.HeardChannel] = []
    for channel in sorted({*counts, *(_APART if is_low else ())} - {0}):
        load = 0  # each network that reaches into it counts, a loud one for more
        for one in heard:
            other = _int(one.get("channel"))
            if other == channel or (channel <= 14 and other <= 14 and abs(other - channel) < _REACH):
                load += 1 + max(_int(one.get("signal")) - _FAINT_DBM, 0) // 10
        row: shapes.HeardChannel = {"channel": channel, "networks": counts.get(channel, 0), "disturbed": load}
        found.append({**row, "busy_percent": busy[channel]} if channel in busy else row)
    return found


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
