"""Handles of devices: what they are made of, and where they are values."""

import pytest

from oasis.errors import UsageError
from oasis.tools import router
from tests.router.stock import HOME, Router

KEY = b"k" * 32
DEVICES = [
    {"device": "dev#1", "mac": "aa:bb:cc:00:00:01", "ip": "192.168.1.101", "name": "an\"na's\\"},
    {"device": "dev#12", "mac": "aa:bb:cc:00:00:02", "ip": "", "name": ""},
    {"device": "dev#3", "mac": "aa:bb:cc:00:00:03", "ip": "192.168.1.103", "name": "x"},
    {"device": "dev#3", "mac": "aa:bb:cc:00:00:04", "ip": "192.168.1.104", "name": "y"},
]


def resolved(value):
    step = {"op": "set", "package": "dhcp", "section": "a", "option": "mac", "value": value}
    return router.resolve_handles([step], lambda: DEVICES)[0]["value"]


def test_a_handle_is_the_same_every_time_and_tells_nothing_without_the_key():
    one = router.handle(KEY, "aa:bb:cc:00:00:01")
    assert one == router.handle(KEY, "aa:bb:cc:00:00:01") and one.startswith("dev#") and one[4:].isdigit()
    assert one != router.handle(b"o" * 32, "aa:bb:cc:00:00:01")
    found = [device["device"] for device in router.known_devices(Router(HOME).facts)]
    assert len(set(found)) == len(found) == 7


def test_a_handle_stands_for_checked_addresses_as_a_whole_value():
    assert resolved("dev#1.mac") == "aa:bb:cc:00:00:01"
    assert resolved("dev#1.ip") == "192.168.1.101"
    assert resolved("plain") == "plain"
    assert router.resolve_handles([{"op": "add", "package": "dhcp", "type": "host"}], lambda: DEVICES)[0]["op"] == "add"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("dev#1", "no value by itself"), ("dev#1.name", "no value by itself"), ("dev#1.mac,dev#3.mac", "no value"),
        ("x dev#1.ip", "no value by itself"), ("dev#9.mac", "no device"), ("dev#3.mac", "more than one"),
        ("dev#12.ip", "has no ip"), ("dev#1.mac\n", "no value"),
    ],
)  # fmt: skip
def test_any_other_handle_is_refused(value, reason):
    with pytest.raises(UsageError, match=reason):
        resolved(value)


def test_the_owner_reads_names_that_break_no_json():
    told = router.with_names('{"a": "dev#1, dev#12 and dev#77"}', lambda: DEVICES)
    assert told == '{"a": "anna\'s (dev#1), dev#12 and dev#77"}'


@pytest.mark.parametrize("text", ["AA:bb:cc:00:00:01", "aa:bb:cc:00:00", "aa:bb:cc:00:00:01 x", "x", "", None, 5])
def test_what_is_no_mac_address(text):
    assert not router.is_mac(text)


@pytest.mark.parametrize(
    "text", ["1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4 x", "1.2.3.٤", "a.b.c.d", "", None, "1.2.3.4\n"]
)
def test_what_is_no_ipv4_address(text):
    assert not router.is_ipv4(text)
    assert router.is_ipv4("192.168.1.9") and router.is_mac("aa:bb:cc:00:00:01")
