"""Values of slots: which texts are addresses."""

import pytest

from oasis.parts.offline import slots
from tests.parts.offline.stock import NOW_S, ONE, Router


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


@pytest.mark.parametrize("request_, answer", [
    ("change the wifi encryption", "Which one: WPA2, WPA3, mixed or none?"),
    ("change the wifi channel", "Which one should it be, for example 6, 36 or auto?"),
    ("set the wifi country", "Which country is it?"),
    ("change the transmit power", "Which should it be?"),
    ("change the channel width", "Which width should it be?"),
    ("set the time zone", "will do."),
    ("restart a service", "Which one do you mean?"),
])  # fmt: skip
def test_an_answer_that_is_no_value_gets_the_question_again(request_, answer):
    said = [{"role": "user", "content": request_}]
    for _ in range(2):
        events = ONE.reply(said, Router().facts, NOW_S)
        assert [event["type"] for event in events] == ["delta", "done"]
        said.append({"role": "assistant", "content": events[0]["text"]})
        said.append({"role": "user", "content": "xbox"})
    assert said[-2]["content"].endswith(answer) and "xbox" in said[-2]["content"]
