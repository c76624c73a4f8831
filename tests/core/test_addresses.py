"""Addresses as numbers, and which of them are of the internet; compared with ipaddress where that is here."""

from oasis.core.addresses import not_of_internet, number, wrapped


def test_texts_that_are_addresses():
    for text, found in (
        ("1.2.3.4", (4, 0x01020304)), ("255.255.255.255", (4, 0xFFFFFFFF)), ("::", (6, 0)), ("::1", (6, 1)),
        ("fe80::1", (6, 0xFE80 << 112 | 1)), ("::FFFF:1.2.3.4", (6, 0xFFFF01020304)), ("1::", (6, 1 << 112)),
        ("1:2:3:4:5:6:7:8", (6, 0x00010002000300040005000600070008)),
        ("1:2:3:4:5:6:1.2.3.4", (6, 0x00010002000300040005000601020304)),
    ):  # fmt: skip
        assert number(text) == found, text


def test_texts_that_are_none():
    for text in (
        "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "1.2.3.+4", "1.2.3.\u0664", ":", ":::",
        "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1.2.3.4::", "::1.2.3", "::1.2.3.4:1",
        ":1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:8::", "fe80::1%br-lan",
    ):  # fmt: skip
        assert number(text) is None, text


def test_every_wrapping_shows_what_is_in_it():
    inside = 0xC0A80101
    for text in (
        "::ffff:192.168.1.1", "::ffff:0:192.168.1.1", "::192.168.1.1", "64:ff9b::192.168.1.1", "2002:c0a8:101::1",
        "2001:0:c0a8:101::1", "2001:0:1:1:0:0:3f57:fefe", "2606:4700::5efe:192.168.1.1", "2606::200:5efe:c0a8:101",
    ):  # fmt: skip
        assert inside in wrapped(number(text)[1]), text
        assert not_of_internet(text), text
    assert wrapped(number("2606:4700:4700::1111")[1]) == []


def test_the_internet_is_open():
    for text in ("1.1.1.1", "198.17.255.255", "198.20.0.1", "192.0.1.1", "223.255.255.255", "2606:4700:4700::1111",
                 "2a00::1", "64:ff9b::8.8.8.8", "2002:808:808::1"):  # fmt: skip
        assert not_of_internet(text) == "", text


def test_nothing_is_open_that_the_standard_library_calls_private():
    try:
        import ipaddress
    except ImportError:
        return  # MicroPython
    for high in range(0, 1 << 16, 37):
        for low in (0, 0x0001, 0x7F7F, 0xFFFF):
            four = ipaddress.ip_address(high << 16 | low)
            assert four.is_global or not_of_internet(str(four)), four
            six = ipaddress.ip_address(high << 112 | low << 96 | 0x1234567)
            assert six.is_global or not_of_internet(str(six)), six
