"""Which addresses no network outside has."""

import pytest

from oasis.catalogue import address_text


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.1",
        "127.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.1.1",
        "fd00::1",
        "fe80::1",
        "::1",
    ],
)
def test_home(text):
    assert address_text.is_home(text)


@pytest.mark.parametrize(
    "text",
    ["", "x", "9.255.255.255", "11.0.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "100.64.0.1", "8.8.8.8", "::2",
     "2001:db8::1", "192.168.1", "fd00::1/8"],
)  # fmt: skip
def test_elsewhere(text):
    assert not address_text.is_home(text)
