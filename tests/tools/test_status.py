"""The tool `status` over a stock router's answers, and over a router whose bus is silent."""

import json

import pytest

from oasis.core import when
from oasis.errors import ToolError, UsageError
from oasis.tools.builtin import status
from oasis.tools.registry import RESULT_BYTES
from tests.router.stock import GUEST, HOME, NOW_S, Router

PARTS = ("overview", "addresses", "devices", "wifi", "services", "storage")


def test_overview_has_the_router_in_a_dozen_values():
    found = status.run({}, Router(HOME).facts)
    assert found["what"] == "overview"
    assert (found["hostname"], found["model"], found["uptime_s"]) == ("OpenWrt", "Demo Two-Radio AX", 4371)
    assert found["internet"] == {
        "up": True, "interface": "wan", "ipv4": ["10.99.0.81/24"], "gateway": "10.99.0.1", "dns": ["10.99.0.1"],
    }  # fmt: skip
    assert found["lan"][0]["ipv4"] == ["192.168.1.1/24"]
    assert found["wifi"][0] == {"ssid": "Home", "band": "2g", "on": True, "encryption": "sae-mixed"}
    assert found["devices"] == {"known": 7, "present": 7}
    assert found["load_1min"] == 0.09 and "notes" not in found


def test_internet_is_down_without_a_route():
    router = Router()
    for interface in router.bus["network.interface dump"]["interface"]:
        interface["route"] = []
    assert status.run({}, router.facts)["internet"] == {"up": False, "interfaces": ["wan", "wan6"]}


def test_addresses_of_every_interface_but_loopback():
    found = {one["interface"]: one for one in status.run({"what": "addresses"}, Router().facts)["interfaces"]}
    assert list(found) == ["lan", "wan", "wan6"]
    assert found["lan"]["ipv6"] == ["fd8c:fe35:ec99::1/60"]
    assert found["wan"]["gateway"] == "10.99.0.1" and found["wan"]["up"]


def test_devices_tell_lease_block_and_wifi():
    router = Router(HOME)
    router.bus["network.wireless status"] = {
        "radio0": {"interfaces": [{"ifname": "phy0-ap0", "config": {"ssid": "Ho\u202eme"}}]}
    }
    router.bus["hostapd.phy0-ap0 get_clients"] = {"clients": {"AA:BB:CC:00:00:01": {}}}
    found = {one["mac"]: one for one in status.run({"what": "devices"}, router.facts)["devices"]}
    phone, xbox = found["aa:bb:cc:00:00:01"], found["aa:bb:cc:00:00:04"]
    assert (phone["wifi"], phone["lease_s"]) == ("Home", 4880)
    assert xbox["blocked"] is True and "lease_s" not in xbox
    assert found["aa:bb:cc:00:00:05"]["fixed"] is True


def test_wifi_names_radios_and_networks_but_no_key():
    found = status.run({"what": "wifi"}, Router(HOME + GUEST).facts)
    assert [radio["radio"] for radio in found["radios"]] == ["radio0", "radio1"]
    assert [network["section"] for network in found["radios"][0]["networks"]] == ["default_radio0", "guest"]
    assert found["radios"][1] == {
        "radio": "radio1", "band": "5g", "channel": "36", "on": True,
        "networks": [
            {
                "section": "default_radio1", "ssid": "Home", "mode": "ap", "network": ["lan"], "encryption": "psk2",
                "on": True,
            }
        ],
    }  # fmt: skip


def test_sizes_are_bytes():
    router = Router()
    info = {
        "root": {"total": 100, "used": 40, "avail": 60},
        "tmp": {"total": 8},
        "memory": {"total": 4096, "available": 1},
    }
    router.bus["system info"] = info
    found = status.run({"what": "storage"}, router.facts)
    assert found["flash_bytes"] == {"total": 102400, "used": 40960, "avail": 61440}
    assert found["memory_bytes"] == {"total": 4096, "available": 1}


@pytest.mark.parametrize("what", PARTS)
def test_silent_bus_falls_back_to_the_configuration_and_says_so(what):
    router = Router(HOME, ubus=False)
    found = status.run({"what": what}, router.facts)
    assert json.loads(json.dumps(found)) == found
    if what != "devices":
        assert found["notes"]


def test_configured_addresses_stand_in_for_live_ones():
    found = status.run({"what": "addresses"}, Router(HOME, ubus=False).facts)
    assert found["interfaces"][0] == {
        "interface": "lan", "proto": "static", "device": "br-lan", "ipv4": ["192.168.1.1/255.255.255.0"],
    }  # fmt: skip
    assert found["interfaces"][1]["dns"] == ["9.9.9.9"] and "up" not in found["interfaces"][1]


def test_devices_have_handles_and_their_own_names_only_when_they_are_asked_for():
    router = Router(HOME)
    plain = router.facts.seen(lambda *_: "", False)
    found = status.run({"what": "devices"}, plain)
    assert "untrusted" not in found and not any("name" in one for one in found["devices"])
    assert all(one["device"].startswith("dev#") and one["mac"] for one in found["devices"])
    named = status.run({"what": "devices", "names": True}, plain)
    assert named["untrusted"] == ["device names"]
    assert "xbox" in [one["name"] for one in named["devices"]]
    assert [one["device"] for one in named["devices"]] == [one["device"] for one in found["devices"]]


@pytest.mark.parametrize(
    ("words", "count"),
    [("xbox", 1), ("XBox", 1), ("iphone", 2), ("anna iphone", 1), ("living-room tv", 1), ("nobody", 0), ("", 7)],
)
def test_devices_are_chosen_by_words_of_their_names(words, count):
    plain = Router(HOME).facts.seen(lambda *_: "", False)
    found = status.run({"what": "devices", "named": words}, plain)
    assert len(found["devices"]) == count and "untrusted" not in found
    # Whoever asks by a whole name gets their own letters back, nobody else's.
    assert {one.get("name", words) for one in found["devices"]} <= {words}


def test_a_whole_name_comes_first_and_is_marked_and_a_lease_of_decades_is_unknown():
    router = Router(HOME)
    leases = "".join(
        f"{NOW_S + left_s} 02:00:00:00:00:0{number} 192.168.1.20{number} {name} *\n"
        for number, (name, left_s) in enumerate([("lampson", 600), ("old-LAMP", 600), ("LAMP", 2_306_634_550)])
    )
    router.host_files["/tmp/dhcp.leases"] = leases.encode()
    found = status.run({"what": "devices", "named": "lamp"}, router.facts.seen(lambda *_: "", False))["devices"]
    assert [(one["match"], one.get("name")) for one in found] == [("name", "lamp"), ("word", None), ("part", None)]
    assert "clock was wrong" in found[0]["lease"] and "lease_s" not in found[0] and found[1]["lease_s"] == 600


def test_traffic_says_who_counts_for_single_machines():
    router = Router(HOME)
    assert "nlbwmon would" in status.run({"what": "traffic"}, router.facts)["notes"][0]
    router.bus["rc list"] = {"nlbwmon": {"enabled": True, "running": True}}
    assert "look traffic" in status.run({"what": "traffic"}, router.facts)["notes"][0]


def test_a_network_of_others_is_marked():
    router = Router(HOME + "uci set wireless.default_radio1.mode=sta\n")
    for what in ("overview", "wifi"):
        assert "network names" in status.run({"what": what}, router.facts)["untrusted"]
        assert status.run({"what": what}, Router(HOME).facts)["untrusted"] == ["texts of the configuration"]
        found = status.run({"what": what}, router.facts.seen(lambda *place: "", False))
        assert "untrusted" not in found and "Home" not in json.dumps(found)


@pytest.mark.parametrize("what", PARTS)
def test_no_secret_and_no_control_character_leaves(what):
    router = Router(HOME + GUEST + "uci set wireless.default_radio0.ssid='a-b'\n")
    router.files["wireless"] = router.files["wireless"].replace(b"'a-b'", "'a\u202eb'".encode())
    text = json.dumps(status.run({"what": what}, router.facts), ensure_ascii=False)
    assert "the-old-key" not in text and "\u202e" not in text
    assert len(text) < 4096


@pytest.mark.parametrize("what", ["secrets", 7, ["wifi"]])
def test_unknown_part_is_a_tool_error(what):
    with pytest.raises(ToolError, match="knows no part"):
        status.run({"what": what}, Router().facts)


def test_nonsense_from_the_bus_is_survived():
    router = Router()
    router.bus = {
        "system board": {"release": "x", "hostname": 5},
        "system info": {"load": "x", "memory": [], "uptime": "x", "root": 3},
        "network.interface dump": {"interface": [1, {"interface": "wan", "up": 1, "ipv4-address": "x", "route": [0]}]},
        "network.wireless status": {"radio0": 3}, "rc list": {"x": 1},
    }  # fmt: skip
    for what in PARTS:
        assert status.run({"what": what}, router.facts)["what"] == what


def record(number, **more):
    return {
        "id": f"c{number}", "when_unix_s": NOW_S - 3600 * number, "summary": f"change {number}", "words": ["a", "b"],
        "state": "confirmed", "packages": ["system"], "chat": "", **more,
    }  # fmt: skip


def test_changes_are_told_newest_first_and_since_a_time():
    facts = Router().facts
    assert status.run({"what": "changes"}, facts) == {"what": "changes", "changes": []}
    facts.history = lambda: [
        record(1, undone_by="c0", until_unix_s=NOW_S), record(2, undoes="c9", expiry="could not expire: x"), record(30),
    ]  # fmt: skip
    found = status.run({"what": "changes"}, facts)["changes"]
    assert [one["change"] for one in found] == ["c1", "c2", "c30"]
    assert found[0] == {
        "change": "c1", "when": when.shown(NOW_S - 3600), "summary": "change 1", "words": ["a", "b"], "state": "undone",
        "until": when.shown(NOW_S),
    }  # fmt: skip
    assert (found[1]["undoes"], found[1]["expiry"], found[1]["state"]) == ("c9", "could not expire: x", "confirmed")
    since = status.run({"what": "changes", "since": "3h"}, facts)["changes"]
    assert [one["change"] for one in since] == ["c1", "c2"]
    with pytest.raises(UsageError, match="'soon' is no time"):
        status.run({"what": "changes", "since": "soon"}, facts)


def test_many_changes_stay_small():
    facts = Router().facts
    facts.history = lambda: [record(n, summary="s" * 300, words=["w\x1b[2J" + "w" * 300] * 40) for n in range(40)]
    found = status.run({"what": "changes"}, facts)
    assert len(found["changes"]) == status.CHANGES
    assert found["notes"] == [f"{40 - status.CHANGES} older ones are left out"]
    text = json.dumps(found)
    assert len(text) < RESULT_BYTES
    assert "\\u001b" not in text


def test_a_service_that_keeps_no_process_is_not_called_one_that_does_not_run():
    router = Router()
    router.bus["rc list"] = {name: {"enabled": True, "running": False} for name in ("dnsmasq", "firewall", "gone")}
    router.host_files["/etc/init.d/dnsmasq"] = b"USE_PROCD=1\nstart_service() { procd_open_instance; }\n"
    router.host_files["/etc/init.d/firewall"] = b"USE_PROCD=1\nstart_service() { fw4 start; }\n"
    found = {one["name"]: one for one in status.run({"what": "services"}, router.facts)["services"]}
    assert found["dnsmasq"]["running"] is False and found["gone"]["running"] is False
    assert "running" not in found["firewall"] and "no process" in found["firewall"]["kind"]
