"""Which addresses a page may be fetched from, however they are written, and what the owner lets through."""

import pytest

from oasis.errors import PolicyError, ProviderError
from oasis.worker import web

PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::5db8:d822"]
CLOSED = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "169.254.169.254", "169.254.1.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.251", "239.255.255.250",
    "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%br-lan", "fc00::1", "fd12:3456::1", "fec0::1",
    "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:192.168.1.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1",
    "64:ff9b::c0a8:101", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:101::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "::ffff:0:192.168.1.1", "::ffff:0:8.8.8.8", "2606:4700::5efe:192.168.1.1", "2606:4700::200:5efe:10.0.0.1",
    "64:ff9b::198.18.0.1", "64:ff9b:1:a00:1::", "64:ff9b::192.0.0.8", "2002:c612:1::1", "3fff::1", "5f00::1",
    "2001:10::1", "192.88.99.1", "::127.0.0.1", "fd00:ec2::254", "100.100.100.200", "nonsense", "",
]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_addresses_of_the_internet_are_open(text):
    assert web.reason(text, []) == ""


@pytest.mark.parametrize("text", CLOSED)
def test_all_others_are_closed_also_wrapped_in_ipv6(text):
    assert web.reason(text, []) != ""


def test_networks_of_this_home_are_closed_although_they_look_global():
    closed = ["2a02:810d:1::/64", "93.184.216.34", "broken"]
    assert web.reason("2a02:810d:1::5", closed) and web.reason("93.184.216.34", closed)
    assert web.reason("::ffff:93.184.216.34", closed) and not web.reason("2a02:810d:2::5", closed)


def checked(found, opened=(), closed=(), host="example.org", port=80):
    return web.checked(host, port, list(opened), list(closed), lambda *_: list(found))


def test_what_was_judged_is_what_is_connected_to():
    assert checked(["93.184.216.34", "1.1.1.1"]) == ["93.184.216.34", "1.1.1.1"]


def test_one_closed_address_among_others_closes_the_name():
    for found in (["93.184.216.34", "127.0.0.1"], ["192.168.1.1", "1.1.1.1"], ["::1", "1.1.1.1"]):
        with pytest.raises(PolicyError, match="is not fetched"):
            checked(found)


def test_a_name_without_an_address_is_an_error():
    with pytest.raises(ProviderError):
        checked([])
    with pytest.raises(ProviderError):
        web.resolve("does-not-exist.invalid", 80)


@pytest.mark.parametrize(
    "entry, port, is_open",
    [("192.168.1.10", 80, True), ("192.168.1.10:8080", 8080, True), ("192.168.1.10:8080", 80, False),
     ("192.168.1.0/24", 443, True), ("192.168.2.0/24", 80, False), ("nas.lan", 80, True), ("NAS.LAN:80", 80, True),
     ("nas.lan:81", 80, False), ("other.lan", 80, False), ("", 80, False), ("as.lan", 80, False),
     ("0.0.0.0/0", 80, True)],
)  # fmt: skip
def test_the_owners_list_opens_a_place_and_nothing_else(entry, port, is_open):
    try:
        found = checked(["192.168.1.10"], [entry], host="nas.lan", port=port)
    except PolicyError:
        found = []
    assert bool(found) is is_open


def test_ipv6_places_can_be_listed():
    for entry in ("[fd00::5]:8080", "fd00::5", "fd00::/64"):
        assert checked(["fd00::5"], [entry], host="fd00::5", port=8080) == ["fd00::5"]
    with pytest.raises(PolicyError):
        checked(["fd00::5"], ["[fd00::5]:8080"], host="fd00::5", port=80)


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "017700000001", "localhost"])
def test_odd_ways_to_write_an_address_are_judged_by_what_they_mean(host):
    with pytest.raises((PolicyError, ProviderError)):
        web.checked(host, 80, [], [], web.resolve)
