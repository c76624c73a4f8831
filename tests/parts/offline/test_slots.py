"""Values of slots: which texts are addresses."""

import pytest

from oasis.parts.offline import slots
from tests.parts.offline.stock import Router


@pytest.mark.parametrize("text", [
    "2606:4700:4700::1111", "::1", "fe80::1", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8",
    "::ffff:1.2.3.4", "64:ff9b::1.2.3.4",
])  # fmt: skip
def test_ipv6_addresses(text):
    assert slots.is_ipv6(text)


@pytest.mark.parametrize("text", [
    "", "::", "0:0:0:0:0:0:0:0", ":", ":1", "1:", "1::2::3", ":::1", "1:2:3", "1:2:3:4:5:6:7:8:9", "12345::",
    "fe80::1%lan", "1.2.3.4", "::1.2.3", "12:30", "dead:beef", "g::1",
])  # fmt: skip
def test_no_ipv6_addresses(text):
    assert not slots.is_ipv6(text)


@pytest.mark.parametrize("address", ["1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "::ffff:1.2.3.4"])
def test_every_written_form_of_an_ipv6_address_can_be_a_dns_server(address):
    router = Router()
    assert router.changes(router.ask(f"use 1.1.1.1 and {address} as dns servers"))["network.wan6.dns"] == [address]
