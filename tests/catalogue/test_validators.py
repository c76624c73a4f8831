"""Datatypes of UCI options: good and bad values of each, and what people are told."""

import glob
import json
import os

import pytest

from oasis.catalogue import address_text, entries, validators

CATALOGUE = os.path.dirname(validators.__file__)

GOOD = [
    ("bool", "0 1 on off yes no true false enabled disabled"),
    ("uinteger", "0 7 4294967295"),
    ("integer", "0 -7 7"),
    ("range(1,4094)", "1 4094"),
    ("range(-255,1)", "-255 1 0"),
    ("min(256)", "256 9999"),
    ("string", "x ünïcode"),
    ("ip4addr", "192.168.1.1 10.0.0.0/8 10.0.0.0/255.0.0.0 0.0.0.0"),
    ("ip4addr(nomask)", "192.168.1.1"),
    ("ip6addr", "fe80::1 :: ::1 1:2:3:4:5:6:7:8 1:2:3:4:5:6:1.2.3.4 ::ffff:1.2.3.4 2001:db8::/32 1:2:3:4:5:6:7::"),
    ("ipaddr(nomask)", "1.1.1.1 2606:4700:4700::1111"),
    ("cidr4", "192.168.0.0/24 0.0.0.0/0"),
    ("cidr6", "fd8c:fe35:ec99::/48 ::/0"),
    ("ip4net", "10.0.0.0/8 10.0.0.0/255.255.0.0"),
    ("netmask4", "255.255.255.0 0.0.0.0 255.255.255.255 255.255.254.0"),
    ("macaddr", "00:11:22:aa:BB:cc"),
    ("port", "0 1 65535"),
    ("portrange", "80 8000-8010 8000:8010 80-80"),
    ("hostname", "OpenWrt a.b-c.example _sip._tcp.example.com a1.example."),
    ("host", "example.com 1.2.3.4 ::1"),
    ("ipaddrport", "80 0.0.0.0:80 [::]:443 [fe80::1]:80"),
    ("uciname", "lan default_radio0 cfg01411c"),
    ("netdevname", "br-lan eth0.10 @lan wlan0-1"),
    ("device", "br-lan @lan"),
    ("bridgeport", "lan1 lan1:t lan1:u* lan1:*"),
    ("name", "echo-request 802.3ad"),
    ("hexstring", "00 deadBEEF"),
    ("timehhmmss", "21:30 7:05:09 23 00:00:00"),
    ("date", "2026 2026-05 2026-05-01 2026-05-01T21:30"),
    ("duration", "12h 30m 7d 3600 infinite 1w"),
    ("list(port)", "80"),
    ("oneof(ap,sta)", "ap sta"),
    ("anycase(ACCEPT,DROP)", "accept DROP Accept"),
    ("or(ip4addr(nomask),'ignore')", "1.2.3.4 ignore"),
    ("or(range(1,233),'auto')", "36 auto"),
    ("and(uciname,maxlength(3))", "lan"),
    ("neg(port)", "80 !80"),
    ("neg(fwnetwork)", "!10.0.0.0/8 lan 10.0.0.1-10.0.0.9 fe80::/10"),
    ("protocol", "tcp UDP 58 all tcpudp"),
    (
        "dnsserver",
        "1.1.1.1 1.1.1.1#53 /lan/192.168.1.1 /a.example/b.example/1.1.1.1#5353 ::1#53 /lan/ /x/# 9.9.9.9@wan",
    ),
    ("shellword", "correct-horse user@example.org a/b:c=d x"),
    ("url", "https://example.org/dns-query http://user@x.example:8443/a?b=c%20d"),
    ("email", "me@example.org first.last+tag@sub.example.org"),
    ("wgkey", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk= " + "A" * 43 + "="),
    ("dnsaddress", "/ads.example/ /ads.example/0.0.0.0 /a/b/::1 /.example/1.2.3.4"),
    ("encryption", "none psk2 psk2+ccmp sae sae-mixed psk-mixed+tkip+ccmp wpa2+aes owe"),
    ("wpakey", "12345678 " + "a" * 63 + " " + "0f" * 32),
    ("wepkey", "abcde s:abcde 0123456789 0123456789abcdef0123456789"),
    ("ip6hostid", "eui64 random ::1 ::1:2"),
    ("pattern('[A-Z]{2}','two capital letters')", "DE"),
]
BAD = [
    ("bool", "2 TRUE Y ja -1"),
    ("uinteger", "-1 x 1.5 01 4294967296 ٣"),
    ("integer", "1.0 -- -01"),
    ("range(1,4094)", "0 4095 x"),
    ("min(256)", "255"),
    ("ip4addr", "192.168.1 256.1.1.1 192.168.01.1 1.2.3.4/33 1.2.3.4/255.0.255.0 1.2.3.4.5 ١.2.3.4"),
    ("ip4addr(nomask)", "192.168.1.1/24"),
    (
        "ip6addr",
        "1::2::3 12345::1 ::1::  1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 : ::: 1: :1 fe80::1%eth0 1:2:3:4:5:6:7:8:: ::g",
    ),
    ("ip6addr", "1.2.3.4::1 ::1.2.3 1:2:3:4:5:6:7:1.2.3.4 fe80::/129"),
    ("cidr4", "192.168.0.0 192.168.0.0/33 192.168.0.0/ 192.168.0.0/024"),
    ("cidr6", "fd00:: fd00::/129"),
    ("netmask4", "255.0.255.0 255.255.255.253 24"),
    ("macaddr", "00:11:22:aa:bb 00-11-22-aa-bb-cc 00:11:22:aa:bb:gg 001122aabbcc"),
    ("port", "-1 65536 http"),
    ("portrange", "90-80 80- -80 80-90-100"),
    ("hostname", "-a a- a..b a,b ü.example 1.2.3.4 123 " + "a" * 64),
    ("host", "1.2.3.256 a_/b"),
    ("ipaddrport", "http 1.2.3.4 ::80 [::1] 0.0.0.0:99999 :80x"),
    ("uciname", "br-lan a.b"),
    ("netdevname", "a/b abcdefghijklmnop . .. $(x) `x` a;b a|b -x"),
    ("device", "@ $(x)"),
    ("bridgeport", "$(x) lan1;x"),
    ("shellword", "$HOME `id` a;b a|b a&b a'b a\"b a\\b -x a(b a<b a*b"),
    ("url", "ftp://x.example /etc/passwd https:// https://x.example/$(id) https://x.example/a'b https://x.example/a&b"),
    ("email", "me @example.org me@ -x@example.org me@example.org;x"),
    ("wgkey", "generate yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBml="),
    ("pattern('auto|[0-9]{1,3}','auto or a number')", "auto;x autox 1x x1 1000"),
    ("bridgeport", "lan1:x lan1:u*t a/b:t"),
    ("name", "../x /etc -x a;b $(x)"),
    ("hexstring", "abc 0x00 xy"),
    ("timehhmmss", "24:00 12:60 noon"),
    ("date", "1969 2026-13 2026-01-32 today"),
    ("duration", "12x 0h h forever -1"),
    ("oneof(ap,sta)", "AP mesh"),
    ("anycase(ACCEPT,DROP)", "ALLOW"),
    ("or(ip4addr(nomask),'ignore')", "skip 1.2.3.4/24"),
    ("and(uciname,maxlength(3))", "lan4 a-b"),
    ("neg(port)", "!!80 !x"),
    ("fwnetwork", "10.0.0.1-x a/b"),
    ("protocol", "256 htttp"),
    ("dnsserver", "1.1.1.1#x /lan 1.1.1.1#99999 /a;b/1.1.1.1 @eth0 #53"),
    ("dnsaddress", "ads.example /ads.example /ads.example/x"),
    ("encryption", "WPA2 psk2+des wpa2-psk psk2-ccmp"),
    ("wpakey", "1234567 " + "a" * 65 + " " + "g" * 64),
    ("wepkey", "abcd 012345678"),
    ("pattern('[A-Z]{2}','two capital letters')", "de DEU"),
]


@pytest.mark.parametrize(("datatype", "value"), [(kind, word) for kind, words in GOOD for word in words.split(" ")])
def test_good_values_pass(datatype, value):
    assert validators.error(datatype, value) == ""


@pytest.mark.parametrize(("datatype", "value"), [(kind, word) for kind, words in BAD for word in words.split()])
def test_bad_values_are_told_what_is_expected(datatype, value):
    text = validators.error(datatype, value)
    assert text
    assert not text.endswith(".")


@pytest.mark.parametrize("datatype", ["string", "maxlength(99)", "list(host)", "wpakey", "pattern('(?s:.*)','x')"])
@pytest.mark.parametrize("value", ["twelve chars\nconf-dir=/tmp", "twelve\rchars", "twelve\tchars", "twelve chars\x7f"])
def test_no_value_but_notes_has_control_characters(datatype, value):
    assert "one line" in validators.error(datatype, value)


@pytest.mark.parametrize(
    "datatype", ["uinteger", "range(1,9)", "min(1)", "port", "portrange", "protocol", "string", "email"]
)
@pytest.mark.parametrize("letter", ["9", "a", "a.", "1,"])
def test_a_value_of_any_length_is_judged(datatype, letter):
    assert "4096 characters" in validators.error(datatype, letter * 5000)


def test_notes_may_have_lines():
    assert validators.error("text", "one\ntwo") == ""


@pytest.mark.parametrize("datatype", ["port", "host", "name", "cidr4", "oneof(a)", "hexstring", "timehhmmss"])
def test_final_line_break_is_no_part_of_a_good_value(datatype):
    assert validators.error(datatype, "80\n")


def test_length_of_a_network_name_is_counted_in_bytes():
    assert validators.error("maxlength(32)", "ü" * 16) == ""
    assert validators.error("maxlength(32)", "ü" * 16 + "x")


def test_choices_are_joined_to_one_sentence():
    text = validators.error("or(range(1,233),'auto')", "x")
    assert text == "must be a whole number from 1 to 233, or auto"


def test_list_says_what_its_wrong_item_must_be():
    assert validators.error("list(port)", "80 443 http") == "must be a port number, 0 to 65535"


def test_unknown_datatype_is_a_fault():
    with pytest.raises(KeyError):
        validators.error("portt", "1")


def test_truth_is_read_as_openwrt_reads_it():
    assert {validators.truth(word) for word in ("1", "on", "true", "yes", "enabled")} == {True}
    assert {validators.truth(word) for word in ("0", "off", "false", "no", "disabled")} == {False}
    assert {validators.truth(word) for word in ("2", "", "ON")} == {None}


@pytest.mark.parametrize("path", sorted(glob.glob(CATALOGUE + "/[pf]*/*.json")), ids=os.path.basename)
def test_every_datatype_of_the_catalogue_exists(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    for whole in data["types"].values():
        for entry in whole["options"].values():
            entry = {"type": entry} if isinstance(entry, str) else entry
            if "type" in entry:
                assert isinstance(validators.error(entry["type"], "some value"), str)


def test_numbers_have_no_leading_zero_or_foreign_digit():
    assert address_text.is_number("10", 1, 10)
    assert not address_text.is_number("010")
    assert not address_text.is_number("१")
    assert not address_text.is_number("11", 1, 10)


# the nearest names


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("dest_prot", "dest_port"),
        ("dst_port", "dest_port"),
        ("Target", "target"),
        ("scr", "src"),
        ("port", "dest_port"),
    ],
)
def test_wrong_names_find_the_meant_one(wrong, meant):
    assert meant in entries.nearest(wrong, ["src", "dest_port", "target", "enabled", "src_port"])


def test_far_names_are_not_offered():
    assert entries.nearest("password", ["mtu", "device", "proto"]) == []


def test_hint_lists_the_names_when_none_is_near():
    assert entries.hint("zzz", ["lan", "wan"]) == "there are: lan, wan"
    assert entries.hint("wann", ["lan", "wan"]).startswith("did you mean wan")
    assert entries.hint("zzz", [chr(97 + at) * 9 for at in range(20)]).endswith(", …")
    assert entries.hint("zzz", []) == ""
