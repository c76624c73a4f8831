"""The tool `status`: what the router is and does, in few words for a model, a page or the offline provider.

Live values come from the bus; where it says nothing the configuration answers and a note says so. A malformed reply
counts as empty. Every answer is {"what": …, …, "notes"?: [str], "untrusted"?: [whose words are in it]} of plain JSON
values. No secret is in it; names that a device chose are left out for principals who may not read them.
"""

from __future__ import annotations

from oasis.change.apply.journal import chosen
from oasis.core import clean, when
from oasis.errors import ToolError
from oasis.redaction.foreign import DEVICES, HIDDEN
from oasis.tools.router import Facts, dicts, handle, is_mac, known_devices, words

if False:  # annotations only
    from oasis.catalogue.shapes import Section
    from oasis.tools import shapes
    from oasis.tools.shapes import Any, Result, Sequence


# What an answer about changes may hold: newest ones first, and of each so much that a small model still reads them.
CHANGES = 15
WORDS = 6
WORDS_CHARS = 120
# Of rules and forwards in one answer; the rest is counted, and read_config has it.
RULES = 40
NAMES = 20
CLIENTS = 64
_UNCOUNTED = "nobody counts those of single machines: nlbwmon would"
# Ten years: none is so long, but one given while the clock stood in 1970 or far ahead.
LEASE_S = 10 * 365 * 86400
_MATCHES = ("", "name", "word", "part")
# Sensors are looked for by number; no router has more.
ZONES = 8
_KERNEL_CHARS = 80
_CONFIG_ONLY = "the live state is not available, this is from the configuration"
_OF_FORWARDS = ("src", "src_dport", "src_ip", "dest", "dest_ip", "dest_port", "proto", "target")
_OF_RULES = ("src", "src_ip", "src_mac", "src_port", "dest", "dest_ip", "dest_port", "proto", "family", "target")
# What stands in a line of /proc/net/dev, behind the name; "" is not shown.
_COUNTERS = ("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "", "", "", "",
             "tx_bytes", "tx_packets", "tx_errors", "tx_dropped")  # fmt: skip


def run(input: shapes.StatusArguments, facts: Facts) -> Result:
    """Return one part of the router's state; raise ToolError for an unknown part."""
    what = input.get("what") or "overview"
    facts = facts.asked(input.get("names"))
    if what == "devices":
        return {"what": what, **devices(facts, str(input.get("named") or ""))}
    if what == "changes":
        return {"what": what, **changes(facts, str(input.get("since") or ""))}
    if not isinstance(what, str) or what not in _PARTS:
        raise ToolError(f"status knows no part {what!r}", "one of " + ", ".join([*_PARTS, "changes"]))
    answer = _PARTS[what](facts)
    return {"what": what, **answer, **({"untrusted": sorted(facts.shown)} if facts.shown else {})}


def overview(facts: Facts) -> Result:
    """Return the whole router in a dozen values."""
    board, info = facts.ubus("system", "board"), facts.ubus("system", "info")
    release = board.get("release")
    system = (facts.sections("system", "system") or [{}])[0]
    # The bus tells the name that is configured.
    name = facts.text("system", {**system, "hostname": board.get("hostname") or system.get("hostname")}, "hostname")
    answer: dict[str, object] = {
        "hostname": clean.name(name), "model": clean.name(board.get("model")),
        "release": clean.name(release.get("description") if isinstance(release, dict) else ""),
        **_uptime(info, "uptime_s"),
    }  # fmt: skip
    if info:
        # netifd and procd report load averages as fixed point with 16 fractional bits.
        load = info.get("load")
        first = load[0] if isinstance(load, list) and load else 0
        answer["load_1min"] = round(first / 65536, 2) if isinstance(first, int) else 0.0
        answer["memory_bytes"] = _of(info.get("memory"), "total", "available")
    interfaces = _interfaces(facts)
    outside = [one for one in interfaces if one.get("interface") in wan_names(facts)]
    with_route = [one for one in outside if one.get("up") and one.get("gateway")]
    if with_route:
        keys = [key for key in ("interface", "ipv4", "gateway", "dns") if key in with_route[0]]
        answer["internet"] = {"up": True, **{key: with_route[0][key] for key in keys}}
    else:
        state = {"up": False} if any("up" in one for one in outside) else {}
        answer["internet"] = {**state, "interfaces": [one["interface"] for one in outside]}
    answer["lan"] = [one for one in interfaces if one["interface"] == "lan" and "lan" in facts.config("network")]
    answer["wifi"] = [
        {"ssid": network["ssid"], "band": radio["band"], "on": network["on"], "encryption": network["encryption"]}
        for radio in _radios(facts)
        for network in radio["networks"]
    ]
    known = facts.devices()
    answer["devices"] = {"known": len(known), "present": sum(1 for one in known if one["present"])}
    return _with_note(answer, board or info)


def addresses(facts: Facts) -> Result:
    """Return every interface but loopback with its addresses."""
    return _with_note({"interfaces": _interfaces(facts)}, facts.interfaces())


def devices(facts: Facts, named: str = "") -> Result:
    """Return the machines known to the router; a blocked one carries "blocked": true.

    Each has a handle, "device"; its own name only where it may be shown or the owner chose it. `named` filters: "match"
    tells whether that is the name, a word of it or a part, in this order, and what was asked for is shown as it is.
    """
    # The wireless network that each device is in, by MAC.
    stations: dict[str, dict[str, str | int]] = {}
    there = clients(facts)
    shown = [clean.name(facts.text("wireless", one, "ssid")) for one in facts.sections("wireless", "wifi-iface")]
    for one in wireless(facts):
        settings = one.get("config")
        ssid = clean.name(settings.get("ssid") if isinstance(settings, dict) else "")
        ssid = ssid if ssid in shown or facts.shows_names else HIDDEN
        for client in there.get(str(one.get("ifname")), []):
            signal = {"signal_dbm": client["signal_dbm"]} if "signal_dbm" in client else {}
            stations[str(client["mac"])] = {"wifi": ssid, **signal}
    blocked = {
        mac.lower()
        for rule in facts.sections("firewall", "rule")
        if rule.get("target") in ("REJECT", "DROP") and rule.get("enabled") != "0"
        for mac in words(rule.get("src_mac"))
    }
    found, now_s, is_foreign = [], facts.now_s(), False
    for device in known_devices(facts):
        match = _match(named, device["name"])
        if not match:
            continue
        left_out = ("name", "is_own")
        entry = {key: value for key, value in device.items() if key not in left_out and value not in ("", False)}
        if device.get("is_own") or facts.shows_names:
            entry["name"] = device["name"]
            is_foreign = is_foreign or bool(device["name"] and not device.get("is_own"))
        elif named and match == "name":
            entry["name"] = named  # whose letters these are: of who asks
        if named:
            entry["match"] = match
        entry["present"] = bool(device["present"]) or device["mac"] in stations
        expires = entry.pop("expires_unix_s", 0)
        if isinstance(expires, int) and expires > now_s:
            is_told = expires - now_s < LEASE_S
            entry.update({"lease_s": expires - now_s} if is_told else {"lease": "unknown: the clock was wrong then"})
        entry.update(stations.get(device["mac"], {}))
        if device["mac"] in blocked:
            entry["blocked"] = True
        found.append(entry)
    answer: Result = {"devices": sorted(found, key=lambda one: _MATCHES.index(str(one.get("match", ""))))}
    return {**answer, "untrusted": [DEVICES]} if is_foreign else answer


def _match(named: str, name: str) -> str:
    """Return how a name fits the words asked for, "" for not at all."""
    if _bare(named) == _bare(name):
        return "name"
    parts = [_bare(one) for one in named.split()]
    if not all(one in _bare(name) for one in parts):
        return ""
    spaced = "".join([char if char.isalnum() else " " for char in name.casefold()])
    return "word" if set(parts) <= {*spaced.split()} else "part"


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def wifi(facts: Facts) -> Result:
    """Return the radios, each with its networks and who is in them; no key is shown, only how a network is secured."""
    up = {str(one.get("section")): str(one.get("ifname", "")) for one in wireless(facts)}
    radios, stations = _radios(facts), clients(facts)
    for network in [network for radio in radios for network in radio["networks"]]:
        name = up.get(str(network["section"]))
        if name:
            network["device"], network["clients"] = name, stations.get(name, [])
    return _with_note({"radios": radios}, facts.ubus("network.wireless", "status") or not radios)


# What an init script starts a process with. Source: OpenWrt, rc.common and procd.sh.
_PROCESS = ("procd_open_instance", "start-stop-daemon", "service_start")


def services(facts: Facts) -> Result:
    """Return the init scripts with what is known about them."""
    found: list[dict[str, object]] = []
    for name, entry in sorted(facts.services().items()):
        row = {"name": name, **entry}
        if entry.get("running") is False and _has_no_process(facts.read_text("/etc/init.d/" + name)):
            del row["running"]
            row["kind"] = "sets things up when it starts and keeps no process"
        found.append(row)
    return {"services": found} if found else {"services": found, "notes": ["the list of services is not available"]}


def _has_no_process(script: str) -> bool:
    return bool(script) and not any(word in script for word in _PROCESS)


def storage(facts: Facts) -> Result:
    """Return flash, the temporary file system and memory, in bytes."""
    info = facts.ubus("system", "info")
    answer: dict[str, dict[str, int] | list[str]] = {}
    for name, key in (("flash", "root"), ("tmp", "tmp")):
        # system info counts file systems in KiB and memory in bytes.
        sizes = _of(info.get(key), "total", "used", "avail")
        if sizes:
            answer[name + "_bytes"] = {field: size * 1024 for field, size in sizes.items()}
    if info:
        answer["memory_bytes"] = _of(info.get("memory"), "total", "free", "available")
    else:
        answer["notes"] = ["the sizes are not available"]
    return answer


def changes(facts: Facts, since: str = "") -> Result:
    """Return what was changed here, newest first, since a time in words; raise UsageError for what names no time."""
    records = chosen(facts.history(), when.since(since, facts.now_s()) if since else 0)
    untrusted: set[str] = set()
    shown: list[Result] = []
    for record in records[:CHANGES]:
        untrusted.update(record.get("untrusted", []))
        entry: dict[str, object] = {"change": record["id"], "when": when.shown(record["when_unix_s"])}
        if facts.tells_summaries:
            entry["summary"] = clean.line(record["summary"])[:WORDS_CHARS]
        entry["words"] = [clean.line(word)[:WORDS_CHARS] for word in record["words"][:WORDS]]
        entry["state"] = "undone" if record.get("undone_by") else record["state"]
        if record.get("until_unix_s"):
            entry["until"] = when.shown(record["until_unix_s"])
        entry.update({key: record[key] for key in ("undoes", "expiry") if record.get(key)})
        shown.append(entry)
    answer: shapes.ChangesAnswer = {"changes": shown}
    if untrusted:
        answer["untrusted"] = sorted(untrusted)
    if len(records) > CHANGES:
        answer["notes"] = [f"{len(records) - CHANGES} older ones are left out"]
    return answer


def _interfaces(facts: Facts) -> Sequence[Result]:
    live = facts.interfaces()
    if live:
        return [interface(item) for item in live if item.get("interface") != "loopback"]
    found = []
    for section in [one for one in facts.sections("network", "interface") if one.get(".name") != "loopback"]:
        masks, own = words(section.get("netmask")), words(section.get("ipaddr"))
        found.append(_kept({
            "interface": section.get(".name", ""), "proto": section.get("proto", ""),
            "device": section.get("device", ""),
            "ipv4": [one if "/" in one or not masks else one + "/" + masks[0] for one in own],
            "ipv6": words(section.get("ip6addr")), "gateway": section.get("gateway", ""),
            "dns": words(section.get("dns")),
        }))  # fmt: skip
    return found


def interface(item: Result) -> dict[str, object]:
    """Return an interface of netifd's in few values."""
    local = [text for one in dicts(item.get("ipv6-prefix-assignment")) for text in _cidr([one.get("local-address")])]
    ways = [route.get("nexthop") for route in dicts(item.get("route")) if route.get("mask") == 0]
    answer = {
        "interface": str(item.get("interface", "")), "proto": item.get("proto", ""),
        "device": item.get("l3_device") or item.get("device", ""), "up": item.get("up") is True,
        "ipv4": _cidr(item.get("ipv4-address")), "ipv6": _cidr(item.get("ipv6-address")) + local,
        "gateway": ways[-1] if ways else "", "dns": item.get("dns-server") or "", **_uptime(item, "uptime_s"),
    }  # fmt: skip
    return _kept(answer)


def _cidr(value: object) -> list[str]:
    """Return netifd's addresses as people write them."""
    return [f"{item.get('address')}/{item.get('mask')}" for item in dicts(value)]


def wan_names(facts: Facts) -> list[str]:
    """Return the interfaces that lead outside: those of masqueraded zones."""
    return facts.masqueraded() or ["wan", "wan6"]


def _radios(facts: Facts) -> list[shapes.Radio]:
    live = facts.ubus("network.wireless", "status")
    radios: list[shapes.Radio] = []
    for radio in facts.sections("wireless", "wifi-device"):
        name = str(radio[".name"])
        state = live.get(name)
        on = radio.get("disabled") != "1"
        # Releases before 21.02 wrote hwmode instead of band.
        band = radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g")
        entry: shapes.Radio = {"radio": name, "band": band, "channel": radio.get("channel", ""), "on": on}
        if isinstance(state, dict):
            entry["up"] = state.get("up") is True
        entry["networks"] = [
            {"section": one[".name"], "ssid": clean.name(facts.text("wireless", one, "ssid")),
             "mode": one.get("mode", "ap"), "network": words(one.get("network")),
             "encryption": one.get("encryption", "none"), "on": on and one.get("disabled") != "1"}
            for one in facts.sections("wireless", "wifi-iface")
            if one.get("device") == name
        ]  # fmt: skip
        radios.append(entry)
    return radios


def wireless(facts: Facts) -> list[Result]:
    """Return the wireless interfaces that are up, of each radio in its order, with the radio's name as "radio"."""
    radios = [(name, one) for name, one in facts.ubus("network.wireless", "status").items() if isinstance(one, dict)]
    return [{**one, "radio": name} for name, radio in radios for one in dicts(radio.get("interfaces"))]


def clients(facts: Facts) -> dict[str, list[dict[str, str | int]]]:
    """Return who is in each wireless network now, by ifname.

    Shape: [{"device", "mac", "signal_dbm"?, "noise_dbm"?, "receives_mbit"?, "sends_mbit"?, "connected_s"?}]
    """
    found: dict[str, list[dict[str, str | int]]] = {}
    for name in [one["ifname"] for one in wireless(facts) if isinstance(one.get("ifname"), str)]:
        heard: Sequence[Result] = dicts(facts.ubus("iwinfo", "assoclist", {"device": name}).get("results"))
        if not heard:
            known = facts.ubus("hostapd.%s" % name, "get_clients").get("clients")
            pairs = known.items() if isinstance(known, dict) else []
            heard = [{"mac": mac, **one} for mac, one in pairs if isinstance(one, dict)]
        entries: list[dict[str, str | int]] = []
        for one in heard:
            mac = str(one.get("mac", "")).lower()
            if not is_mac(mac) or len(entries) >= CLIENTS:
                continue
            entry: dict[str, str | int] = {"device": handle(facts.key, mac), "mac": mac}
            told = {
                "signal_dbm": one.get("signal"),
                "noise_dbm": one.get("noise"),
                "connected_s": one.get("connected_time"),
            }
            entry.update({key: value for key, value in told.items() if isinstance(value, int) and value})
            # The router's receiving is the client's sending. iwinfo counts kbit.
            for key, name_of_rate in (("rx", "sends_mbit"), ("tx", "receives_mbit")):
                link = one.get(key)
                rate = link.get("rate") if isinstance(link, dict) else None
                if isinstance(rate, int):
                    entry[name_of_rate] = rate // 1000
            entries.append(entry)
        found[str(name)] = entries
    return found


def _with_note(answer: Result, live: object) -> Result:
    found = {key: value for key, value in answer.items() if value != ""}
    return found if live else {**found, "notes": [_CONFIG_ONLY]}


def _kept(answer: dict[str, object]) -> dict[str, object]:
    """Return an answer without what is empty."""
    return {key: value for key, value in answer.items() if value not in ("", [], {})}


def _uptime(told: Result, name: str) -> dict[str, int]:
    value = told.get("uptime")
    return {name: value} if isinstance(value, int) else {}


def _of(value: object, *fields: str) -> dict[str, int]:
    found = value if isinstance(value, dict) else {}
    return {field: found[field] for field in fields if isinstance(found.get(field), int)}


def system(facts: Facts) -> Result:
    """Return the machine in a dozen values."""
    board, info = facts.ubus("system", "board"), facts.ubus("system", "info")
    release, memory = board.get("release"), info.get("memory")
    settings = (facts.sections("system", "system") or [{}])[0]
    version, loads = facts.read_text("/proc/version").split(), facts.read_text("/proc/loadavg").split()[:3]
    release = release if isinstance(release, dict) else {}
    kernel = clean.name(version[2], _KERNEL_CHARS) if len(version) > 2 else ""
    answer = _kept({
        "model": clean.name(board.get("model")), "board": clean.name(board.get("board_name")),
        "kernel": clean.name(board.get("kernel")) or kernel, "release": clean.name(release.get("description")),
        "target": clean.name(release.get("target")), "processor": clean.name(board.get("system")),
        "cores": facts.read_text("/proc/cpuinfo").count("processor\t"),
        "load": [float(word) for word in loads if word.replace(".", "", 1).isdecimal()],
        "memory_bytes": _of(memory, "total", "free", "available", "cached"), "temperatures": temperatures(facts),
        "connections": connections(facts), **_uptime(info, "uptime_s"), "time": when.shown(facts.now_s()),
        "timezone": str(settings.get("zonename") or settings.get("timezone") or ""),
    })  # fmt: skip
    return {key: value for key, value in answer.items() if value != 0}  # of the cores


def temperatures(facts: Facts) -> list[shapes.Temperature]:
    """Return what the sensors say, in degrees Celsius."""
    found: list[shapes.Temperature] = []
    for number in range(ZONES):
        for name, value in (
            ("/sys/class/thermal/thermal_zone%d/type" % number, "/sys/class/thermal/thermal_zone%d/temp" % number),
            ("/sys/class/hwmon/hwmon%d/name" % number, "/sys/class/hwmon/hwmon%d/temp1_input" % number),
        ):
            text = facts.read_text(value).strip()
            if text.lstrip("-").isdecimal():
                found.append({"sensor": clean.name(facts.read_text(name)), "celsius": round(int(text) / 1000, 1)})
    return found


def wan(facts: Facts) -> Result:
    """Return the ways to the internet: state, addresses, gateway, DNS, delegated prefixes, link, faults."""
    live = {str(item.get("interface")): item for item in facts.interfaces()}
    # Zones name interfaces that a router need not have, as wan6.
    names = [name for name in wan_names(facts) if name in live or name in facts.config("network")]
    found = []
    for name in names:
        item = live.get(name)
        if item is None:
            found.append({"interface": name, "up": False, "notes": ["it is not there: look at its configuration"]})
            continue
        link = facts.ubus("network.device", "status", {"name": str(item.get("device") or "")})
        faults = [clean.name(one.get("code")) for one in dicts(item.get("errors"))]
        more = {"prefixes": _cidr(item.get("ipv6-prefix")), "faults": faults, "link": _link(link) if link else {}}
        found.append(_kept({**interface(item), **more}))
    answer: Result = {"wan": found}
    return answer if live else {**answer, "notes": ["the live state is not available"]}


def dns(facts: Facts) -> Result:
    """Return who is asked for names, what is answered here, and how much of that there was."""
    server = (facts.sections("dhcp", "dnsmasq") or [{}])[0]
    upstream = [
        {"interface": item.get("interface"), "servers": item["dns-server"]}
        for item in facts.interfaces()
        if item.get("dns-server")
    ]
    names = [
        {"name": clean.name(facts.text("dhcp", one, "name")), "ip": one.get("ip", "")}
        for one in facts.sections("dhcp", "domain")[:NAMES]
    ]
    counts = _of(facts.ubus("dnsmasq", "metrics"), "dns_queries_forwarded", "dns_local_answered", "dns_unanswered")
    return _kept({
        "from_interfaces": [] if server.get("noresolv") == "1" else upstream,
        "configured_servers": words(server.get("server")), "domain": facts.text("dhcp", server, "domain") or "",
        "rebind_protection": server.get("rebind_protection", "1") != "0", "own_names": names,
        "overrides": words(facts.text("dhcp", server, "address"))[:NAMES],
        "queries": {key[4:]: count for key, count in counts.items()},
    })  # fmt: skip


def dhcp(facts: Facts) -> Result:
    """Return where addresses are given out, how many of them are taken, and which are fixed."""
    pools = []
    for section in facts.sections("dhcp", "dhcp"):
        entry = {"interface": section.get("interface", section.get(".name")), "on": section.get("ignore") != "1"}
        keys = ("start", "limit", "leasetime", "ra", "dhcpv6") if entry["on"] else ()
        pools.append({**entry, **{key: section[key] for key in keys if key in section}})
    answer: dict[str, object] = {"pools": pools, "leases": len(facts.leases())}
    answer["fixed"] = [
        {"mac": words(host.get("mac")), "ip": host.get("ip", "")} for host in facts.sections("dhcp", "host")[:NAMES]
    ]
    found = facts.ubus("dhcp", "ipv6leases").get("device")
    if isinstance(found, dict):
        answer["ipv6_leases"] = sum(len(dicts(one.get("leases"))) for one in found.values() if isinstance(one, dict))
    answer["notes"] = ["the machines that have them: status devices"]
    return _kept(answer)


def firewall(facts: Facts) -> Result:
    """Return zones, what may pass between them, port forwards and rules, as they are configured."""
    defaults = (facts.sections("firewall", "defaults") or [{}])[0]
    given: Any = {key: defaults[key] for key in ("input", "forward") if key in defaults}
    answer: shapes.FirewallAnswer = {"defaults": given}
    answer["zones"] = [
        {"name": zone.get("name"), "networks": words(zone.get("network")), "input": zone.get("input"),
         "forward": zone.get("forward"), "masq": zone.get("masq") == "1"}
        for zone in facts.sections("firewall", "zone")
    ]  # fmt: skip
    answer["passes"] = [
        "%s to %s" % (one.get("src"), one.get("dest"))
        for one in facts.sections("firewall", "forwarding")
        if one.get("enabled") != "0"
    ]
    forwards, rules = facts.sections("firewall", "redirect"), facts.sections("firewall", "rule")
    answer["port_forwards"] = [_rule(one, _OF_FORWARDS, facts) for one in forwards[:RULES]]
    answer["rules"] = [_rule(one, _OF_RULES, facts) for one in rules[:RULES]]
    left = max(len(forwards) - RULES, 0) + max(len(rules) - RULES, 0)
    if left:
        answer["notes"] = ["%d more are left out: read_config firewall" % left]
    return answer


def _rule(section: Section, keys: tuple[str, ...], facts: Facts) -> Result:
    entry = {"section": section.get(".name")}
    name = clean.name(facts.text("firewall", section, "name"))
    if name != HIDDEN:
        entry["name"] = name
    entry.update({key: section[key] for key in keys if section.get(key)})
    if section.get("enabled") == "0":
        entry["enabled"] = False
    return entry


def traffic(facts: Facts) -> Result:
    """Return what every device of the network carried since the router started."""
    interfaces: dict[str, list[str]] = {}
    for item in facts.interfaces():
        name = str(item.get("l3_device") or item.get("device") or "")
        interfaces.setdefault(name, []).append(str(item.get("interface")))
    found = []
    for line in facts.read_text("/proc/net/dev").split("\n")[2:]:
        name, _, rest = line.partition(":")
        fields, name = rest.split(), name.strip()
        if name == "lo" or len(fields) < len(_COUNTERS):
            continue
        counts = {key: int(field) for key, field in zip(_COUNTERS, fields, strict=False) if key}
        entry: dict[str, str | list[str] | int] = {"device": name, "interfaces": interfaces.get(name, [])}
        entry.update({key: value for key, value in counts.items() if value or key.endswith("bytes")})
        found.append({key: value for key, value in entry.items() if value != []})
    answer: shapes.TrafficAnswer = {"devices": found, "connections": connections(facts)}
    answer = {**answer, **_uptime(facts.ubus("system", "info"), "since_s")}  # type: ignore[typeddict-item]
    is_counted = facts.services().get("nlbwmon", {}).get("running")
    machines = "nlbwmon counts those of single machines: look traffic" if is_counted else _UNCOUNTED
    answer["notes"] = ["bytes since the router started; " + machines]
    return {key: value for key, value in answer.items() if value != {}}


def connections(facts: Facts) -> dict[str, int]:
    """Return how many connections the firewall follows, and how many it can."""
    found = {}
    for key, name in (("followed", "nf_conntrack_count"), ("most", "nf_conntrack_max")):
        text = facts.read_text("/proc/sys/net/netfilter/" + name).strip()
        if text.isdigit():
            found[key] = int(text)
    return found


def ports(facts: Facts) -> Result:
    """Return the router's sockets: what is plugged in, and how fast the link is."""
    found = facts.ubus("network.device", "status")
    shown = [
        {"port": name, **_link(one)}
        for name, one in sorted(found.items())
        if isinstance(one, dict) and one.get("devtype") in ("ethernet", "dsa") and name != "lo"
    ]
    return {"ports": shown} if shown else {"ports": [], "notes": ["the state of the ports is not available"]}


def _link(device: Result) -> dict[str, bool | int | str]:
    entry: dict[str, bool | int | str] = {"plugged": device.get("carrier") is True}
    speed = str(device.get("speed") or "")
    if entry["plugged"] and speed.rstrip("FH").isdigit():  # "-1F" is a port that does not tell
        entry.update(mbit=int(speed.rstrip("FH")), duplex="half" if speed.endswith("H") else "full")
    return entry


_PARTS = {
    "overview": overview, "addresses": addresses, "devices": devices, "wifi": wifi, "services": services,
    "storage": storage, "system": system, "wan": wan, "dns": dns, "dhcp": dhcp, "firewall": firewall,
    "traffic": traffic, "ports": ports,
}  # fmt: skip
