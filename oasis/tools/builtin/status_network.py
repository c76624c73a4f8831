"""What `status` tells of the network beyond addresses: WAN, DNS, DHCP, firewall, traffic, ports, Wi-Fi clients.

Each public part takes the Facts and returns a part of the answer, as in status.py. Configured names that a device chose
are left out for principals who may not read them. A malformed reply of the bus counts as empty.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.redaction.foreign import HIDDEN
from oasis.tools.router import Facts, handle, is_mac, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.catalogue.shapes import Section
    from oasis.tools.shapes import FirewallAnswer, Result, TrafficAnswer


# Of rules and forwards in one answer; the rest is counted, and read_config has it.
RULES = 40
NAMES = 20
CLIENTS = 64
_OF_FORWARDS = ("src", "src_dport", "src_ip", "dest", "dest_ip", "dest_port", "proto", "target")
_OF_RULES = ("src", "src_ip", "src_mac", "src_port", "dest", "dest_ip", "dest_port", "proto", "family", "target")
_COUNTERS = ("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped")
# Where these stand in a line of /proc/net/dev, behind the name.
_PLACES = (0, 1, 2, 3, 8, 9, 10, 11)


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
        entry = interface(item)
        entry["prefixes"] = cidr(item.get("ipv6-prefix"))
        entry["faults"] = [clean.name(one.get("code")) for one in dicts(item.get("errors"))]
        link = facts.ubus("network.device", "status", {"name": str(item.get("device") or "")})
        if link:
            entry["link"] = _link(link)
        found.append({key: value for key, value in entry.items() if value not in ([], "")})
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
    answer: dict[str, object] = {"from_interfaces": [] if server.get("noresolv") == "1" else upstream}
    answer["configured_servers"] = words(server.get("server"))
    answer["domain"] = facts.text("dhcp", server, "domain") or ""
    answer["rebind_protection"] = server.get("rebind_protection", "1") != "0"
    answer["own_names"] = [
        {"name": clean.name(facts.text("dhcp", one, "name")), "ip": one.get("ip", "")}
        for one in facts.sections("dhcp", "domain")[:NAMES]
    ]
    answer["overrides"] = words(facts.text("dhcp", server, "address"))[:NAMES]
    counts = facts.ubus("dnsmasq", "metrics")
    keys = ("dns_queries_forwarded", "dns_local_answered", "dns_unanswered")
    answer["queries"] = {key[4:]: counts[key] for key in keys if isinstance(counts.get(key), int)}
    return {key: value for key, value in answer.items() if value not in ([], "", {})}


def dhcp(facts: Facts) -> Result:
    """Return where addresses are given out, how many of them are taken, and which are fixed."""
    leases = facts.leases()
    pools = []
    for section in facts.sections("dhcp", "dhcp"):
        entry = {"interface": section.get("interface", section.get(".name"))}
        entry["on"] = section.get("ignore") != "1"
        if entry["on"]:
            entry.update(
                {key: section[key] for key in ("start", "limit", "leasetime", "ra", "dhcpv6") if key in section}
            )
        pools.append(entry)
    answer: dict[str, object] = {"pools": pools, "leases": len(leases)}
    answer["fixed"] = [
        {"mac": words(host.get("mac")), "ip": host.get("ip", "")} for host in facts.sections("dhcp", "host")[:NAMES]
    ]
    found = facts.ubus("dhcp", "ipv6leases").get("device")
    if isinstance(found, dict):
        counts = [len(dicts(one.get("leases"))) for one in found.values() if isinstance(one, dict)]
        answer["ipv6_leases"] = sum(counts)
    answer["notes"] = ["the machines that have them: status devices"]
    return {key: value for key, value in answer.items() if value != []}


def firewall(facts: Facts) -> Result:
    """Return zones, what may pass between them, port forwards and rules, as they are configured."""
    defaults = (facts.sections("firewall", "defaults") or [{}])[0]
    answer: FirewallAnswer = {"defaults": {key: defaults[key] for key in ("input", "forward") if key in defaults}}
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
        if name == "lo" or len(fields) < 12:
            continue
        counts = {key: int(fields[place]) for key, place in zip(_COUNTERS, _PLACES, strict=True)}
        entry: dict[str, str | list[str] | int] = {"device": name, "interfaces": interfaces.get(name, [])}
        entry.update({key: value for key, value in counts.items() if value or key.endswith("bytes")})
        found.append({key: value for key, value in entry.items() if value != []})
    answer: TrafficAnswer = {"devices": found, "connections": connections(facts)}
    uptime = facts.ubus("system", "info").get("uptime")
    if isinstance(uptime, int):
        answer["since_s"] = uptime
    answer["notes"] = ["bytes since the router started; nobody counts them for single machines unless nlbwmon does"]
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


def clients(facts: Facts) -> dict[str, list[dict[str, str | int]]]:
    """Return who is in each wireless network now, by the device's handle: {ifname: [{…}]}.

    Shape: {"device", "mac", "signal_dbm"?, "noise_dbm"?, "receives_mbit"?, "sends_mbit"?, "connected_s"?}
    """
    found: dict[str, list[dict[str, str | int]]] = {}
    for radio in facts.ubus("network.wireless", "status").values():
        for interface in dicts(radio.get("interfaces")) if isinstance(radio, dict) else []:
            name = interface.get("ifname")
            if isinstance(name, str):
                found[name] = _of_network(facts, name)[:CLIENTS]
    return found


def _of_network(facts: Facts, name: str) -> list[dict[str, str | int]]:
    told = dicts(facts.ubus("iwinfo", "assoclist", {"device": name}).get("results"))
    if told:
        return [entry for entry in [_client(facts, one) for one in told] if entry]
    known = facts.ubus("hostapd." + name, "get_clients").get("clients")
    pairs = known.items() if isinstance(known, dict) else []
    return [
        entry for entry in [_client(facts, {"mac": mac, **one}) for mac, one in pairs if isinstance(one, dict)] if entry
    ]


def _client(facts: Facts, told: Result) -> dict[str, str | int]:
    mac = str(told.get("mac", "")).lower()
    if not is_mac(mac):
        return {}
    entry: dict[str, str | int] = {"device": handle(facts.key, mac), "mac": mac}
    for key, name in (("signal", "signal_dbm"), ("noise", "noise_dbm"), ("connected_time", "connected_s")):
        value = told.get(key)
        if isinstance(value, int) and value:
            entry[name] = value
    # The router's receiving is the client's sending. iwinfo counts kbit.
    for key, name in (("rx", "sends_mbit"), ("tx", "receives_mbit")):
        one = told.get(key)
        rate = one.get("rate") if isinstance(one, dict) else None
        if isinstance(rate, int):
            entry[name] = rate // 1000
    return entry


def dicts(value: object) -> list[Result]:
    """Return the objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def cidr(value: object) -> list[str]:
    """Return netifd's addresses as people write them."""
    return [f"{item.get('address')}/{item.get('mask')}" for item in dicts(value)]


def interface(item: Result) -> dict[str, object]:
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
