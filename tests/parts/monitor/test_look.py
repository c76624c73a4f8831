"""The subjects of `look`: what each says of a router, which source it took, what it cannot tell, and its bounds."""

import json
import os
from types import SimpleNamespace

import pytest

from oasis.doctor.rounds import examine
from oasis.doctor.scene import Scene as Doctor
from oasis.errors import PolicyError, UsageError
from oasis.parts.monitor import traffic
from oasis.parts.monitor.look import WHATS
from oasis.tools.registry import class_of
from oasis.tools.router import Watch
from oasis.tools.specs import tokens
from tests.parts.monitor.kit import LAN, PHONE, TV, WAN, Router, fdb
from tests.tools.kit import Hands

HERE = os.path.dirname(os.path.abspath(__file__))


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


# traffic


def conntrack(*rows):
    line = (
        "ipv4     2 %s      6 300 ESTABLISHED src=%s dst=%s sport=%d dport=443 packets=1 bytes=%d "
        "src=%s dst=%s sport=443 dport=%d packets=1 bytes=%d [ASSURED] mark=0 use=1"
    )
    return "\n".join(
        line % (proto, a, b, port, up, b, "10.99.0.81", port, down) for proto, a, b, port, up, down in rows
    )


FIRST = conntrack(("tcp", "192.168.1.20", "1.1.1.1", 1000, 500, 9000), ("udp", "192.168.1.30", "9.9.9.9", 2000, 10, 20))
SECOND = conntrack(
    ("tcp", "192.168.1.20", "1.1.1.1", 1000, 750, 259000), ("tcp", "192.168.1.20", "8.8.8.8", 1001, 100, 1000)
)


def test_nlbwmon_comes_first_with_the_rate_of_open_connections():
    told = {"columns": ["mac", "conns", "rx_bytes", "rx_pkts", "tx_bytes", "tx_pkts"],
            "data": [[PHONE.upper(), 3, 1000, 2, 10, 2], [PHONE, 1, 500, 1, 5, 1], [TV, 1, 9000, 2, 30, 2],
                     ["x", 1, 2, 3, 4, 5]]}  # fmt: skip
    router = Router(programs={"nlbw": json.dumps(told)}, files={"/proc/net/nf_conntrack": [FIRST, SECOND]})
    found = router.look("traffic")
    assert found["source"] == "nlbwmon" and router.ran == [["/bin/nlbw", "-c", "json", "-g", "mac"]]
    tv, phone = found["devices"]
    assert (tv["received_bytes"], tv["sent_bytes"]) == (9000, 30) and "receives_kbit_s" not in tv
    assert (phone["received_bytes"], phone["sent_bytes"]) == (1500, 15)
    assert (phone["receives_kbit_s"], phone["sends_kbit_s"]) == (1004, 1)


def test_without_it_connections_are_counted_and_what_ended_is_said_to_be_missing():
    found = Router(files={"/proc/net/nf_conntrack": [FIRST, SECOND]}).look("traffic")
    assert found["source"] == "conntrack" and "what ended is not in the totals" in found["not_counted"]
    (phone,) = found["devices"]
    assert phone["ip"] == "192.168.1.20" and (phone["received_bytes"], phone["sent_bytes"]) == (260000, 850)


def test_a_connection_from_outside_counts_for_the_device_at_home():
    line = ("ipv4 2 tcp 6 300 ESTABLISHED src=5.5.5.5 dst=10.99.0.81 sport=7 dport=443 packets=1 bytes=70 "
            "src=192.168.1.20 dst=5.5.5.5 sport=443 dport=7 packets=1 bytes=9 [ASSURED]")  # fmt: skip
    (phone,) = Router(files={"/proc/net/nf_conntrack": line}).look("traffic")["devices"]
    assert (phone["received_bytes"], phone["sent_bytes"]) == (70, 9)


@pytest.mark.parametrize("by", ["hostapd", "iwinfo"])
def test_without_counted_connections_wifi_counts_its_stations(by):
    if by == "hostapd":
        replies = [{"clients": {PHONE: {"bytes": {"rx": rx, "tx": tx}}}} for rx, tx in ((100, 1000), (350, 3500))]
        bus = {("hostapd.phy1-ap0", "get_clients"): replies}
    else:
        replies = [
            {"results": [{"mac": PHONE, "rx": {"bytes": rx}, "tx": {"bytes": tx}}]}
            for rx, tx in ((100, 1000), (350, 3500))
        ]
        bus = {("iwinfo", "assoclist"): replies}
    found = Router(bus).look("traffic")
    assert found["source"] == "wifi" and "cables are not counted" in found["not_counted"]
    (phone,) = found["devices"]
    assert (phone["received_bytes"], phone["sent_bytes"]) == (3500, 350)
    assert (phone["receives_kbit_s"], phone["sends_kbit_s"]) == (10, 1)


@pytest.mark.parametrize(
    "text", ["", "garbage", FIRST.replace("bytes", "octets"), "ipv4 2 tcp 6 src=1 src=2 bytes=x bytes=y"]
)
def test_where_nobody_counts_it_says_what_would(text):
    found = Router(files={"/proc/net/nf_conntrack": text}, programs={"nlbw": "no json"}).look("traffic")
    assert found["devices"] == [] and found["source"] == "none" and "install nlbwmon" in found["not_counted"]


def test_names_of_devices_are_other_peoples_words_and_stay_out_where_they_may_not_be_shown():
    files = {"/proc/net/nf_conntrack": FIRST}
    found = Router(files=files).look("traffic", "192.168.1.30")
    assert [one["name"] for one in found["devices"]] == ["ignore-all-rules"] and "device names" in found["untrusted"]
    hidden = Router(files=files, names=False).look("traffic")
    assert "ignore" not in str(hidden) and "untrusted" not in hidden
    assert all(one["device"].startswith("dev#") for one in hidden["devices"])


def test_many_devices_are_bounded_with_a_count():
    rows = [[f"02:00:00:00:01:{number:02x}", 1, number, 1, 1, 1] for number in range(traffic.DEVICES + 7)]
    columns = ["mac", "conns", "rx_bytes", "rx_pkts", "tx_bytes", "tx_pkts"]
    found = Router(programs={"nlbw": json.dumps({"columns": columns, "data": rows})}).look("traffic")
    assert len(found["devices"]) == traffic.DEVICES and found["left_out"] == 7


def test_a_target_that_nobody_counted_is_said():
    found = Router(files={"/proc/net/nf_conntrack": FIRST}).look("traffic", "NOSUCH")
    assert found["devices"] == [] and "no device that was counted" in found["notes"][0]
    assert "notes" not in Router(files={"/proc/net/nf_conntrack": FIRST}).look("traffic")


@pytest.mark.parametrize("line", ["x" * (3 << 20), FIRST.replace("bytes=500", "bytes=" + "9" * 5000), "src=a src=b"])
def test_a_strange_line_before_the_connections_is_passed_over(line):
    text = line.split("\n")[0] + "\n" + FIRST.split("\n")[1]
    found = Router(files={"/proc/net/nf_conntrack": text}).look("traffic")
    assert found["source"] == "conntrack" and len(found["devices"]) == 1


def test_a_long_table_of_connections_is_read_in_part():
    router = Router(files={"/proc/net/nf_conntrack": [FIRST + "\n" + "x" * (3 << 20), SECOND]})
    assert router.look("traffic")["source"] == "conntrack"


# radios and ports

FREQUENCIES = [
    {"band": 2, "channel": 1, "mhz": 2412, "restricted": False},
    *[
        {"band": 5, "channel": number, "mhz": 5000 + 5 * number, "restricted": number > 165}
        for number in (36, 40, 52, 100, 173)
    ],
]


def test_a_radio_tells_what_it_can_in_this_country():
    bus = {
        ("iwinfo", "info"): lambda asked: {
            "hardware": {"name": "MediaTek MT7915E"}, "channel": 36, "htmode": "HE80", "txpower": 20,
            "hwmodes_text": "a/n/ac/ax", "htmodes": ["HT20", "HE80"],
        } if asked == {"device": "phy1-ap0"} else {},
        ("iwinfo", "freqlist"): {"results": FREQUENCIES},
        ("iwinfo", "txpowerlist"): {"results": [{"dbm": 0, "mw": 1}, {"dbm": 23, "mw": 199}]},
    }  # fmt: skip
    low, high = Router(bus).look("radios")["radios"]
    assert low["country"] == "DE" and low["channels"] == [1] and low["notes"]
    assert "not set" in high["country"] and high["hardware"] == "MediaTek MT7915E" and high["most_dbm"] == 23
    assert (
        high["channels"] == [36, 40, 52, 100] and high["wait_for_radar"] == [52, 100] and high["not_allowed"] == [173]
    )
    assert high["now"] == {"channel": 36, "htmode": "HE80", "txpower": 20} and high["widths"] == ["HT20", "HE80"]
    assert [one["radio"] for one in Router(bus).look("radios", "5g")["radios"]] == ["radio1"]
    assert Router(bus).look("radios", "radio7")["radios"] == []


def test_a_port_tells_link_network_vlans_and_a_cable_that_is_slower_than_its_ends():
    gigabit = ["10baseT-H", "100baseT-F", "1000baseT-F"]
    device = {"devtype": "dsa", "carrier": True, "speed": "100F", "link-supported": gigabit,
              "link-partner-advertising": gigabit, "statistics": {"rx_errors": 4, "rx_crc_errors": 0}}  # fmt: skip
    bus = {
        ("network.device", "status"): {
            "br-lan": {"devtype": "bridge", "bridge-members": ["lan1", "lan2"]}, "lan1": device, "lo": device,
            "lan2": {"devtype": "dsa", "carrier": False, "speed": "-1F"},
            "wan": {"devtype": "ethernet", "carrier": True},
        },
        ("network.interface", "dump"): {"interface": [{**LAN, "device": "br-lan.1"}, WAN]},
    }  # fmt: skip
    vlan = {".type": "bridge-vlan", "device": "br-lan", "vlan": "1", "ports": ["lan1:u*", "lan2:t"]}
    network = {"lan": {".type": "interface"}, "v1": vlan}
    found = {one["port"]: one for one in Router(bus, config={"network": network}).look("ports")["ports"]}
    assert found["lan1"] == {
        "port": "lan1", "plugged": True, "mbit": 100, "duplex": "full", "could_mbit": 1000, "errors": {"rx_errors": 4},
        "bridge": "br-lan", "networks": ["lan"], "vlans": ["1 untagged"],
    }  # fmt: skip
    assert found["lan2"]["vlans"] == ["1 tagged"] and not found["lan2"]["plugged"] and "mbit" not in found["lan2"]
    assert found["wan"]["networks"] == ["wan"] and "lo" not in found
    assert [one["port"] for one in Router(bus).look("ports", "lan2")["ports"]] == ["lan2"]


def test_a_switch_by_swconfig_is_read_from_the_board_and_luci():
    board = {"switch": {"switch0": {"ports": [{"num": 0, "role": "lan"}, {"num": 6, "device": "eth0"}]}}}
    state = {
        "result": [{"port": 0, "link": True, "speed": 1000, "duplex": True}, {"port": 6, "link": True, "speed": 1000}]
    }
    vlans = {"v": {".type": "switch_vlan", "device": "switch0", "vlan": "1", "ports": "0 6t"}}
    router = Router(
        {("luci", "getSwconfigPortState"): state}, {"/etc/board.json": json.dumps(board)}, config={"network": vlans}
    )
    first, second = router.look("ports")["ports"]
    assert first == {"port": "switch0 port 0", "plugged": True, "mbit": 1000, "duplex": "full", "networks": ["lan"],
                     "vlans": ["1 untagged"]}  # fmt: skip
    assert second["cpu"] == "eth0" and second["vlans"] == ["1 tagged"]


# rules


def nft(words):
    return (
        '{"nftables": [{"table": {"family": "ip", "name": "banip"}}, {"table": {"family": "inet", "name": "fw4"}}]}'
        if "tables" in words
        else read("fw4.json")
    )


def test_the_rules_that_run_are_said_in_words():
    found = Router(programs={"nft": nft}).look("rules")
    lan, wan = found["zones"]["lan"], found["zones"]["wan"]
    assert (lan["input"], lan["forward"], lan["output"], lan["leads_to"]) == ("reject", "accept", "accept", ["wan"])
    assert lan["devices"] == ["br-lan"] and lan["input_rules"][:2] == ["tcp port 80: drop", "udp port 80: drop"]
    assert lan["forward_rules"][0] == "tcp from fd00::/8 to fd00::1 from 02:00:00:00:00:13 at most 10 a minute: reject"
    assert wan["masquerades"] is True and wan["input"] == "reject"
    assert found["port_forwards"] == ["wan: ipv4 tcp port 443: sent to 192.168.1.10 port 80"]
    assert found["otherwise"] == {"input": "drop", "forward": "drop", "output": "accept"}
    assert found["other_tables"] == ["ip banip"]
    assert list(Router(programs={"nft": nft}).look("rules", "guest")["zones"]) == ["guest"]


def test_a_name_of_a_rule_is_shown_only_where_the_configuration_shows_it():
    told = json.loads(read("fw4.json"))
    rule = {
        "family": "inet",
        "table": "fw4",
        "chain": "input_wan",
        "comment": "!fw4: My rule",
        "expr": [{"drop": None}, {"xyz": 1}],
    }
    told["nftables"].insert(-1, {"rule": rule})
    programs = {"nft": lambda words: json.dumps(told)}
    firewall = {"r": {".type": "rule", "name": "My rule"}}
    assert (
        "and more: drop (My rule)"
        in Router(programs=programs, config={"firewall": firewall}).look("rules")["zones"]["wan"]["input_rules"]
    )
    assert "My rule" not in str(Router(programs=programs).look("rules"))


def test_a_thousand_rules_are_bounded_with_a_count():
    told = json.loads(read("fw4.json"))
    for number in range(1000):
        match = {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": number}}
        told["nftables"].append({"rule": {"chain": "input_wan", "expr": [match, {"drop": None}]}})
    found = Router(programs={"nft": lambda words: json.dumps(told)}).look("rules")
    assert found["left_out"] > 900 and len(json.dumps(found)) < 8000


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", '{"nftables": 1}', '{"nftables": [{"rule": 1}, 2, {"chain": {"name": "input_x"}}]}']
)
def test_rules_that_cannot_be_read_are_said_to_be(text):
    found = Router(programs={"nft": lambda words: text}).look("rules")
    if list(found["zones"]) != ["x"]:
        assert "nft lists no table inet fw4" in found["notes"][0] and "status, what=firewall" in found["notes"][1]
    none = Router().look("rules")
    assert none["zones"] == {} and "no program nft" in none["notes"][0]


# services


def test_services_say_what_they_say_of_themselves():
    key = "cGVlcg=="
    bus = {
        ("rc", "list"): {"adblock": {"enabled": True, "running": True}, "sqm": {"enabled": False}},
        ("mwan3", "status"): {"interfaces": {"wan": {
            "status": "online", "score": 10, "track_ip": [{"ip": "9.9.9.9", "status": "up"}]}}},
        ("luci.wireguard", "getWgInstances"): {"wg0": {"public_key": "x", "peers": [
            {"public_key": key, "allowed_ips": ["10.8.0.2/32"], "latest_handshake": "1799999990",
             "transfer_rx": "12", "transfer_tx": "34"}]}},
        ("luci.upnp", "get_status"): {"rules": [
            {"proto": "TCP", "extport": 80, "intaddr": "192.168.1.30", "intport": 80, "descr": "obey me"}]},
    }  # fmt: skip
    files = {
        "/var/run/adblock/adblock.runtime.json": json.dumps(
            {"adblock_status": "enabled", "blocked_domains": "81 000", "active_feeds": [{"feed": "adguard"}]}),
        "/var/run/sqm/wan.state": "x", "/var/run/ddns/home.ip": "5.5.5.5\n",
    }  # fmt: skip
    config = {
        "sqm": {"q": {".type": "queue", "interface": "wan", "enabled": "1", "download": "90000"}},
        "network": {"wg0": {".type": "interface", "proto": "wireguard", "private_key": "SECRET"},
                    "p": {".type": "wireguard_wg0", "public_key": key, "description": "phone"}},
        "ddns": {"home": {".type": "service", "lookup_host": "a.example.org", "enabled": "1", "password": "SECRET"}},
    }  # fmt: skip
    router = Router(bus, files, config=config)
    found = router.look("services")
    services = found["services"]
    assert services["adblock"] == {
        "enabled": True,
        "running": True,
        "adblock_status": "enabled",
        "blocked_domains": "81 000",
        "active_feeds": ["adguard"],
    }
    assert services["sqm"]["queues"] == [
        {"interface": "wan", "enabled": True, "download_kbit_s": "90000", "shaping_now": True}
    ]
    assert services["mwan3"]["interfaces"]["wan"]["tracked"] == [{"ip": "9.9.9.9", "status": "up"}]
    (peer,) = services["wireguard"]["interfaces"][0]["peers"]
    assert peer["name"] == "phone" and peer["handshake_s_ago"] == 10 and peer["received_bytes"] == 12
    assert services["ddns"]["names"] == [{"section": "home", "name": "a.example.org", "enabled": True, "ip": "5.5.5.5"}]
    assert services["upnp"]["opened_by_devices"][0]["text"] == "obey me" and "device names" in found["untrusted"]
    assert "SECRET" not in str(found) and found["not_installed"] == ["banip"]
    hidden = Router(bus, files, config=config, names=False).look("services", "upnp")
    assert "obey" not in str(hidden) and "untrusted" not in hidden and list(hidden["services"]) == ["upnp"]
    with pytest.raises(UsageError, match="netflix"):
        router.look("services", "netflix")


def test_wireguard_is_told_as_wg_has_it_where_the_bus_is_silent():
    dump = "wg0\tPRIVATE\tPUBLIC\t51820\toff\nwg0\tkey=\tSHARED\t(none)\t10.8.0.2/32\t1799989752\t12\t34\toff\n"
    config = {"network": {
        "wg0": {".type": "interface", "proto": "wireguard", "private_key": "PRIVATE"},
        "wg1": {".type": "interface", "proto": "wireguard"},
        "p": {".type": "wireguard_wg0", "public_key": "key=", "description": "phone", "allowed_ips": ["10.8.0.2/32"]},
    }}  # fmt: skip
    found = Router(programs={"wg": dump}, config=config).look("services", "wireguard")
    wg0, wg1 = found["services"]["wireguard"]["interfaces"]
    assert wg0["up"] is True and "notes" not in wg0 and wg1["up"] is False and "is down" in wg1["notes"][0]
    assert wg0["peers"][0]["name"] == "phone" and wg0["peers"][0]["handshake_s_ago"] == 10248
    assert wg0["peers"][0]["received_bytes"] == 12 and "PRIVATE" not in str(found) and "SHARED" not in str(found)


def test_what_is_not_installed_is_said_and_broken_files_count_for_nothing():
    found = Router(files={"/var/run/adblock/adblock.runtime.json": "{broken"}).look("services")
    assert found["services"] == {} and "adblock" in found["not_installed"]


# topology


def test_topology_tells_uplink_networks_access_points_and_devices():
    bus = {
        ("network.device", "status"): {"br-lan": {"bridge-members": ["lan1", "lan2"]}},
        ("iwinfo", "assoclist"): {"results": [{"mac": PHONE.upper()}]},
    }
    files = {
        "/sys/class/net/br-lan/brforward": fdb((TV, 2, 0), ("02:00:00:00:00:99", 1, 1)) + b"\0",
        "/sys/class/net/lan1/brport/port_no": "0x1\n", "/sys/class/net/lan2/brport/port_no": "0x2\n",
    }  # fmt: skip
    found = Router(bus, files).look("topology")
    (uplink,) = found["uplinks"]
    assert (
        uplink["double_nat"] is True
        and "the device in front translates addresses" in uplink["why"]
        and uplink["kind"] == "an address by DHCP"
    )
    (lan,) = found["networks"]
    assert lan["zone"] == "lan" and lan["members"] == ["lan1", "lan2"] and lan["devices"] == 2
    assert found["access_points"][0]["clients"] == 1 and found["access_points"][0]["ssid"] == "Home"
    phone, tv = found["devices"]
    assert phone["by"] == "Wi-Fi Home (radio1)" and tv["by"] == "port lan2" and tv["network"] == "lan"
    assert "device names" in found["untrusted"]


@pytest.mark.parametrize(
    ("address", "is_double", "why"),
    [("100.64.9.9", True, "carrier-grade NAT"), ("5.6.7.8", False, ""), ("192.168.0.2", True, "private")],
)
def test_double_nat_is_told_by_the_address(address, is_double, why):
    wan = {**WAN, "ipv4-address": [{"address": address, "mask": 24}]}
    (uplink,) = Router({("network.interface", "dump"): {"interface": [LAN, wan]}}).look("topology")["uplinks"]
    assert uplink["double_nat"] is is_double and why in uplink.get("why", "")


SAME, OUTSIDE = "lan and wan have overlapping networks (192.168.1.0/24)", "The gateway %s is not in the network of wan"


@pytest.mark.parametrize(
    ("address", "gateway", "faults"),
    [
        ("192.168.1.60", "192.168.1.254", [SAME]),
        ("10.99.0.81", "10.98.0.1", [OUTSIDE % "10.98.0.1"]),
        ("192.168.1.60", "10.0.0.1", [SAME, OUTSIDE % "10.0.0.1"]),
        ("10.99.0.81", "10.99.0.1", []),
    ],
)
def test_topology_and_the_doctor_say_the_same_of_the_addresses_of_an_uplink(address, gateway, faults):
    route = [{"target": "0.0.0.0", "mask": 0, "nexthop": gateway}]
    wan = {**WAN, "ipv4-address": [{"address": address, "mask": 24}], "route": route}
    router = Router({("network.interface", "dump"): {"interface": [LAN, wan]}})
    told = [one["title"] for one in router.look("topology").get("faults", [])]
    assert len(told) == len(faults) and all(one.startswith(words) for words, one in zip(faults, told, strict=True))
    scene = Doctor(router.facts, lambda _: [], SimpleNamespace(ping=lambda *_: None, lookup=lambda *_: None), bool)
    found = {one["title"] for one in examine(scene, lambda: 0.0)["findings"]}
    assert found >= {*told}


def test_a_router_that_says_nothing_has_an_answer_for_each_subject():
    for what in ("traffic", "radios", "ports", "rules", "services", "topology"):
        bus = {("network.interface", "dump"): None, ("network.wireless", "status"): None}
        assert Router(bus, config={"wireless": {}, "firewall": {}, "network": {}}).look(what)["what"] == what


# the tool, and speed


def test_a_speed_test_needs_an_address_that_the_owner_named():
    router, hands = Router(), Hands()
    hands.facts, hands.is_own = router.facts, lambda text: "example" in text
    watch = Watch(str, bool, lambda: 0.0, 60)
    call = lambda **given: router.monitor.call("look", given, hands, watch)  # noqa: E731
    for target in ("", "https://evil.org/x"):
        with pytest.raises(PolicyError, match="owner named"):
            call(what="speed", target=target)
    assert not router.asked
    assert call(what="speed", target="speed.example.org/f")["download"]["mbit_s"] == 9.5
    assert router.asked[0]["url"] == "https://speed.example.org/f" and router.asked[0]["op"] == "monitor"
    assert "192.168.1.1/24" in router.asked[0]["closed"], "hosts at home only where the owner opened them"
    assert call(what="ports")["what"] == "ports"


@pytest.mark.parametrize("target", ["ftp://x/y", "file:///etc/passwd", "a b", "https://x/\ny", "x" * 3000])
def test_what_is_no_address_is_refused_before_anything_starts(target):
    router = Router()
    with pytest.raises(UsageError):
        router.monitor.monitor_speed(target=target)
    assert not router.asked


def test_only_the_speed_test_reaches_others():
    with open(os.path.join(HERE, "../../../oasis/parts/monitor/tools.json"), encoding="utf-8") as file:
        (spec,) = json.load(file)["tools"]
    kinds = {what: class_of(spec, {"what": what}) for what in spec["input_schema"]["properties"]["what"]["enum"]}
    assert kinds.pop("speed") == "net" and set(kinds.values()) == {"read"} and set(kinds) == set(WHATS)
    assert tokens(spec) <= 130


def test_an_unknown_subject_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError) as told:
        Router().look("moon")
    assert "topology" in told.value.hint
