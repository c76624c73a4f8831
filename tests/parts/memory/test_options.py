"""What an option of OpenWrt is: by path, by section of this router, by words; and that the index is the catalogue's."""

import json
import os

import pytest

from oasis.catalogue import described, entries
from oasis.errors import UsageError
from oasis.parts.memory import knowledge

HERE = {("network", "lan"): "interface", ("network", "wgpeer"): "wireguard_home", ("wireless", "cfg1"): "wifi-iface"}


def type_of(package, section):
    return HERE.get((package, section), "")


def named(path):
    return knowledge.named(path, type_of)


def found(query, most=4):
    return [one["path"] for one in knowledge.found_options(query, type_of, most)]


@pytest.mark.parametrize(
    "path, cited, words",
    [
        ("network.lan.proto", "network.interface.proto", "gets its address"),
        ("network.interface.proto", "network.interface.proto", "gets its address"),
        ("network.wan.proto", "network.interface.proto", "gets its address"),
        ("network.proto", "network.interface.proto", "gets its address"),
        ("wireless.@wifi-iface[0].encryption", "wireless.wifi-iface.encryption", "WPA3"),
        ("wireless.cfg1.key", "wireless.wifi-iface.key", "password"),
        ("network.wgpeer.allowed_ips", "network.wireguard_*.allowed_ips", "this peer"),
        ("network.wireguard_home.allowed_ips", "network.wireguard_*.allowed_ips", "this peer"),
        ("dhcp.lan.leasetime", "dhcp.dhcp.leasetime", "keeps its address"),
        ("dropbear.PasswordAuth", "dropbear.dropbear.PasswordAuth", "log in by password"),
    ],
)
def test_an_option_is_told_and_cited_by_its_path(path, cited, words):
    told = named(path)
    assert told["path"] == cited and words in told["what"] and told["asked"] == path
    assert told["takes"] and told["source"] == "option index 1 of OpenWrt 24.10 to 25.12"


def test_values_lists_marks_and_conditions_are_told():
    proto = named("network.lan.proto")
    assert {"static", "dhcp", "pppoe", "wireguard", "none"} <= set(proto["values"])
    assert (
        named("dhcp.dnsmasq.server")["list"] is True and "waits for the owner" in named("dhcp.dnsmasq.server")["note"]
    )
    assert "secret" in named("wireless.wifi-iface.key")["note"]
    assert named("network.lan.netmask")["when"] == ["it is read only with proto static or bonding"]
    assert named("network.lan.auto")["takes"] == "1 (on) or 0 (off)"
    assert named("wireless.radio0.channel")["takes"] == "a whole number from 1 to 233, or auto"


@pytest.mark.parametrize(
    "path, takes",
    [
        ("fstab.mount.target", "a folder under /mnt"),
        ("fstab.mount.uuid", "the UUID of a file system"),
        ("openvpn.openvpn.config", "/etc/openvpn/NAME.ovpn"),
        ("sqm.queue.script", "one of the scripts *.qos"),
        ("samba4.sambashare.path", "a folder under /mnt"),
    ],
)
def test_an_option_with_a_bound_says_what_may_be_proposed(path, takes):
    told = named(path)
    assert takes in told["takes"] and "waits for the owner" in told["note"]
    assert "only the owner changes it" not in told["note"]


def test_a_section_that_is_not_there_is_taken_for_one_of_the_packages_own_type():
    assert named("pbr.config.enabled")["path"] == "pbr.pbr.enabled"
    assert "pbr.dns_policy.enabled" in named("pbr.config.enabled")["also"]


def test_what_is_told_to_be_taken_is_what_is_taken():
    assert "only the owner sets" in named("u2pnpd.u2pnpd.modelURL")["takes"]  # nobody reviewed it


def test_a_section_type_tells_its_options():
    told = named("dhcp.host")
    assert told["path"] == "dhcp.host" and "fixed address" in told["what"] and {"mac", "ip"} <= set(told["options"])
    assert named("network.lan")["path"] == "network.interface"


@pytest.mark.parametrize(
    "path, hint",
    [
        ("network.lan.ipadr", "ipaddr"),
        ("netwrk.lan.proto", "network"),
        ("network.interfce", "interface"),
        ("network.lan.subnet_mask", ""),
        ("network", "like"),
        ("", "like"),
        ("..", "like"),
        ("../../etc/passwd.x.y", ""),
        ("a" * 5000 + ".b.c", ""),
    ],
)
def test_what_is_not_there_is_refused_with_what_is_near(path, hint):
    with pytest.raises(UsageError) as caught:
        named(path)
    assert hint in caught.value.hint and caught.value.hint


def test_a_question_finds_the_path_in_it_or_the_options_of_its_words():
    assert found("what does network.lan.proto do?") == ["network.interface.proto"]
    assert found("is wireless.radio0.htmode the width, or dhcp.lan.limit?") == [
        "wireless.wifi-device.htmode", "dhcp.dhcp.limit",
    ]  # fmt: skip
    assert "wireless.wifi-iface.hidden" in found("hidden wifi name in beacons")
    assert found("please read www.example.org and index.html") == []
    assert found("quantum chromodynamics") == []


@pytest.mark.parametrize(
    "query, first",
    [
        ("mosquitto allow_anonymous", "mosquitto.listener.allow_anonymous"),
        ("allow_anonymous", "mosquitto.listener.allow_anonymous"),
        ("lldpd enable_cdp install", "lldpd.lldpd.enable_cdp"),
        ("smartdns tls host verify", "smartdns.server.tls_host_verify"),
        ("adblock-fast allowed_domain", "adblock-fast.adblock-fast.allowed_domain"),
        ("ddns custom provider update_url", "ddns.service.update_url"),
        ("samba4 share read only guest", "samba4.sambashare.read_only"),
        ("hd-idle idle_time", "hd-idle.hd-idle.idle_time_interval"),
        ("chrony allow clients", "chrony.allow"),
        ("usteer", "usteer.usteer"),
        ("system log to file log_file", "system.system.log_file"),
    ],
)
def test_a_package_and_the_name_of_an_option_find_it_without_a_path(query, first):
    assert found(query)[0] == first and len(found(query)) <= 4


def test_a_date_of_a_rule_says_what_it_means_without_a_time():
    told = named("firewall.rule.stop_date")
    assert "00:00 of that day" in told["what"] and "2026-05-01T20:00:00" in told["takes"]


def test_a_package_that_only_this_router_has_tells_what_is_set():
    config = {"weatherd": {"main": {".type": "station", "interval": "60", "hook": "x"}}}
    (row,) = knowledge.found_options("weatherd turbo", type_of, 4, lambda package: config.get(package, {}))
    assert row["path"] == "weatherd" and "Not in the catalogue" in row["note"]
    assert row["options"] == ["interval", "hook"]
    assert found("weatherd turbo") == found("the network is down again") == []


# The index


def test_every_sentence_is_about_an_option_of_the_catalogue():
    sentences = described.index()["options"]
    for where, own in sentences.items():
        package, _, type_ = where.partition(".")
        assert type_ in entries.types(package), where
        for name, text in own.items():
            assert not name or entries.option(package, type_, name), f"{where}.{name}"
            assert text[0].isupper() or text[0].isdigit() or text.startswith(("ipv4", "tcp", "unicast", "ap ", "auto"))
            assert text.endswith((".", ":")) and len(text) <= 260 and "\n" not in text, text
    assert sum(bool(name) for own in sentences.values() for name in own) >= 250


def test_the_index_is_small_and_its_options_are_those_people_set_most():
    path = os.path.join(os.path.dirname(described.__file__), "described.json")
    assert os.path.getsize(path) < 60_000
    for where in ("network.interface", "network.device", "wireless.wifi-iface", "dhcp.dnsmasq", "firewall.rule"):
        assert len(described.index()["options"][where]) > 15


def test_every_option_of_the_catalogue_can_be_told():
    count = 0
    for path, text in described.texts():
        told = described.option(*path.split(".", 2))
        assert told and told["path"] == path and told["takes"], path
        assert "must" not in told["takes"] and json.dumps(told) and text
        count += 1
    assert count > 2500
