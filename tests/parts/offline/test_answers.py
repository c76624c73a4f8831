"""What the tools answer on the stock root, told to the owner in every language."""

import json
import re

import pytest

from oasis.core import jsonl
from oasis.parts.offline import provider, results
from oasis.tools.builtin import BuiltIn, diagnose
from tests.tools.scene import Scene

LANGUAGES = {name: provider.load(name) for name in provider.load("intents")["languages"]}
# (tool, arguments, pieces of the English words); texts beside words are the same in every language.
CALLS = (
    ("status", {}, ["up for 1 h 12 min", "Internet: up, address 10.99.0.81", "Wi-Fi OpenWrt, 2.4 GHz"]),
    ("status", {"what": "addresses"}, ["wan: 10.99.0.81/24, up, gateway 10.99.0.1"]),
    ("status", {"what": "devices"}, ["4 devices:", "192.168.1.120, 8a:3f:1c:52:07:b4"]),
    ("status", {"what": "wifi"}, ["Wi-Fi OpenWrt, 5 GHz, channel 36, no password, off"]),
    ("status", {"what": "services"}, ["Running: dnsmasq, dropbear"]),
    ("status", {"what": "storage"}, ["Flash: 54 MB of 60 MB free"]),
    ("status", {"what": "wan"}, ["Internet: up, DNS 10.99.0.1", "address 10.99.0.81/24, gateway", "wan6: down"]),
    ("status", {"what": "dhcp"}, ["lan: gives out addresses from .100, 150 of them, each for 12h", "Given out now: 4"]),
    ("status", {"what": "dns"}, ["DNS servers that are asked: 10.99.0.1"]),
    ("status", {"what": "firewall"}, ["No port is forwarded.", "Zones: lan (lan), wan (wan, wan6)", "Rules: 9"]),
    ("status", {"what": "traffic"}, ["wan (wan, wan6): 1.7 GB received, 205 MB sent", "lan3: 115 MB received"]),
    ("status", {"what": "ports"}, ["lan1: 10000 Mbit/s"]),
    ("status", {"what": "system"}, ["Demo Two-Radio AX", "kernel 6.6.119", "Up for 1 h 12 min", "cpu-thermal 51.3 °C"]),
    ("status", {"what": "changes"}, ["Nothing was changed here so far."]),
    ("logs", {"service": "dnsmasq", "lines": 2}, ["The newest lines of the log, 2 of 20:", "read /etc/ethers"]),
    ("logs", {"contains": "zzz"}, ["No line of the log is like that."]),
    ("probe", {"target": "openwrt.org"}, ["openwrt.org answers (64.226.122.113): 3 of 3, 21.7 ms on average"]),
    ("probe", {"target": "1.1.1.1", "what": "traceroute"}, ["The way to 1.1.1.1, 4 stations", "3. no answer"]),
    ("probe", {"target": "example.com", "what": "lookup"}, ["example.com: 93.184.215.14"]),
    ("probe", {"target": "no.invalid", "what": "lookup"}, ["No DNS server knows the name no.invalid."]),
    ("wifi_scan", {"radio": "radio0"}, ["5 networks around, yours is on channel 1.", "Channel 11 would be quieter."]),
    ("wifi_scan", {"names": True}, ["“Maple 7”, channel 1, -44 dBm", "(no name), channel 6"]),
    ("packages", {"action": "update"}, ["The lists of packages are fresh."]),
    ("packages", {"action": "search", "text": "sqm"}, ["2 packages:", "- sqm-scripts: A set of scripts"]),
    ("packages", {"action": "search", "text": "zzzz"}, ["No such package was found"]),
    ("packages", {"action": "installed"}, ["21 packages:", "- dnsmasq 2.90-r4", "… and 1 more"]),
    ("packages", {"action": "upgradable"}, ["- dnsmasq: 2.90-r4 -> 2.91-r1", "by a new image"]),
    ("packages", {"action": "install", "names": ["luci-app-sqm"]}, ["Done, installed: ", "sqm-scripts, luci-app-sqm"]),
    ("packages", {"action": "remove", "names": ["luci-app-sqm"]}, ["Done, removed: luci-app-sqm."]),
    ("power", {"action": "reboot"}, ["The router restarts in 8 s"]),
    ("power", {"action": "shutdown"}, ["The router switches off in 8 s"]),
    ("backup", {}, ["/var/run/oasis/backup/backup-2026", "holds all keys and passwords"]),
    ("diagnose", {}, ["I checked 4", "- Note: ", "the worst first"]),
)  # fmt: skip
ERRORS = (
    ("packages", {"action": "remove", "names": ["base-files"]}, "base-files is needed"),
    ("packages", {"action": "remove", "names": ["nmap"]}, "nmap is not installed"),
    ("packages", {"action": "install", "names": ["nonesuch"]}, "Unknown package 'nonesuch'"),
    ("probe", {"target": "192.168.2.77"}, "that this router does not have"),
    ("probe", {"target": "-c 5"}, "neither a name nor an address"),
)


def in_words(language, name, result, arguments=None, is_error=False):
    """Return what the owner is told of one result."""
    texts = LANGUAGES[language]
    found = {"id": "x", "name": name, "text": result if isinstance(result, str) else jsonl.dumps(result)}
    return results.words([{**found, "input": arguments or {}, "is_error": is_error}], texts["closing"], texts["status"])


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Return [(tool, arguments, result, is_error)] of all calls above, made once on the stock root."""
    scene = Scene(tmp_path_factory.mktemp("answers") / "router")
    found = []
    for name, arguments, _ in (*CALLS, *ERRORS):
        hands = scene.fresh()
        hands.examine = lambda: diagnose.examined(scene.root, scene.files, scene.executor.run, scene.facts)
        result, is_error, _ = scene.call(name, **arguments)
        found.append((name, arguments, result, is_error))
    return found


@pytest.mark.parametrize(
    "at", range(len(CALLS)), ids=lambda at: "%s %s" % (CALLS[at][0], *CALLS[at][1].values(), "")[:2]
)
def test_answer_is_told(answered, at):
    name, arguments, result, is_error = answered[at]
    assert not is_error, result
    told = in_words("en", name, result, arguments)
    for piece in CALLS[at][2]:
        assert piece in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_answer_has_its_own_words_in_every_language(answered, language):
    texts = LANGUAGES[language]
    nothing = {texts["status"]["nothing"], texts["closing"]["other"].partition("{")[0].strip()}
    for name, arguments, result, _ in answered[: len(CALLS)]:
        told = in_words(language, name, result, arguments)
        assert told and not [words for words in nothing if words in told], (name, arguments, told)
        assert not re.search(r"\{\w+\}|\[[,、，(（]|None|\bTrue\b", told), told
        if language != "en":
            assert told != in_words("en", name, result, arguments) or name == "probe" or "ports" in str(arguments)


@pytest.mark.parametrize("language", LANGUAGES)
def test_error_of_a_tool_is_told_as_what_it_is(answered, language):
    start = LANGUAGES[language]["closing"]["error"].partition("[")[0]
    for (name, arguments, result, is_error), (*_, piece) in zip(answered[len(CALLS) :], ERRORS, strict=True):
        told = in_words(language, name, result, arguments, is_error)
        assert is_error and told.startswith(start) and piece in told


def test_every_built_in_tool_and_every_part_of_status_is_told():
    specs = {spec["name"]: spec for spec in BuiltIn(None).specs()}
    others = {"configure", "service", "undo", "read_config"}  # told in test_conversation.py
    assert {name for name, *_ in CALLS} | others == set(specs)
    parts = set(specs["status"]["input_schema"]["properties"]["what"]["enum"])
    assert {str(arguments.get("what", "overview")) for name, arguments, _ in CALLS if name == "status"} == parts
    actions = set(specs["packages"]["input_schema"]["properties"]["action"]["enum"])
    assert {arguments["action"] for name, arguments, _ in CALLS if name == "packages"} == actions


@pytest.mark.parametrize("status", ["declined", "cancelled", "expired"])
@pytest.mark.parametrize("name", ["packages", "power", "backup"])
def test_call_that_the_owner_did_not_allow_is_told_so(name, status):
    told = in_words("en", name, {"status": status, "reason": "not now"}, {"action": "install"})
    assert told == in_words("en", "configure", {"status": status, "reason": "not now"})


@pytest.mark.parametrize(
    ("action", "verb"), [("start", "started"), ("stop", "stopped"), ("reload", "reloaded"), ("restart", "restarted")]
)
def test_service_is_told_by_what_was_done(action, verb):
    told = in_words("en", "service", {"status": "applied"}, {"name": "dnsmasq", "action": action})
    assert told == "Done: dnsmasq was %s." % verb


def test_log_lines_and_names_of_others_stay_quotations():
    line = {"when": "x", "level": "info", "text": "a\u202e```\x1b[31m\n# " + "y" * 500}
    told = in_words("en", "logs", {"lines": [line] * 90, "matching": 90})
    assert told.count("```") == 2 and told.endswith("```") and told.count("\n") == 22
    assert not set("\u202e\x1b") & set(told) and max(map(len, told.split("\n"))) <= 160
    network = {"ssid": "`{quieter}`\u200b[x]\n- Done", "channel": 1, "signal_dbm": -50}
    told = in_words("en", "wifi_scan", {"radios": [{"radio": "radio0", "networks": [network], "channels": []}]})
    assert "“'{quieter}'[x]- Done”" in told and told.count("\n") == 1


def test_result_that_was_too_long_is_shown_by_its_beginning():
    told = in_words("en", "logs", {"text": '{"lines": ' + "z" * 5000, "cut": "the first of 9 characters"})
    assert told.startswith("It was too much to show") and len(told) < 2200


@pytest.mark.parametrize(
    "data",
    [
        {"lines": "no list", "matching": None},
        {"findings": [{"title": 7, "evidence": "x"}]},
        {"radios": [{"networks": [{}], "channels": [3]}]},
        {"packages": [{}], "action": "search", "found": "many"},
        {"hops": [{}], "sent": 1},
        {"what": "traffic", "devices": [{"rx_bytes": "x"}], "connections": 4},
        {"what": "wan", "wan": [{"link": 3, "faults": 9}]},
    ],
)  # fmt: skip
def test_strange_result_never_breaks_the_words(data):
    for name in ("logs", "diagnose", "wifi_scan", "packages", "probe", "status", "backup", "power"):
        for language in LANGUAGES:
            assert isinstance(in_words(language, name, json.dumps(data)), str)


def test_way_that_is_down_says_why():
    ways = [{"interface": "wan", "up": False, "link": {"plugged": False}, "faults": ["NO_DEVICE"]}]
    told = in_words("en", "status", {"what": "wan", "wan": ways})
    assert "Internet: down" in told and "wan: down, no cable is plugged in, NO_DEVICE" in told


def test_changes_are_told_with_what_became_of_them():
    # fmt: off
    rows = [{"when": "2026-11-21 20:00", "summary": "rename the router", "state": "undone"},
            {"when": "2026-11-21 19:00", "summary": "turn Wi-Fi off", "state": "confirmed", "until": "22:00"}]
    # fmt: on
    told = in_words("en", "status", {"what": "changes", "changes": rows})
    assert "- 2026-11-21 20:00: rename the router (taken back)" in told
    assert "- 2026-11-21 19:00: turn Wi-Fi off, until 22:00" in told


@pytest.mark.parametrize(
    ("state", "words"),
    [("applied", "not confirmed yet"), ("rolled_back", "rolled back"), ("rollback_failed", "could not be rolled back")],
)
def test_change_that_does_not_stand_says_so(state, words):
    row = {"when": "x", "summary": "y", "state": state}
    assert "y (%s" % words in in_words("en", "status", {"what": "changes", "changes": [row]})
