"""What stands in for the built-in service in the core's tests proposes what that one proposes."""

import re

import pytest

from tests.parts.offline.stock import Router, calls_of
from tests.stand_in import QUESTIONS, SENTENCES, proposal

SAID = (
    "call this router attic",
    "set the hostname to attic",
    "set the wifi name to Attic and the password to correct-horse",
    "change the wifi name to Home",
    "set the wifi password to swordfish-2026",
    "set the LAN address to 192.168.7.1",
    "set the time zone to Europe/Berlin",
    "channel 11",
    "block aa:bb:cc:00:00:67 until 22:00",
    "block aa:bb:cc:00:00:67 for good",
    "call the router attic",
    "restart the network",
    "restart the firewall",
    *QUESTIONS,
)


@pytest.mark.parametrize("sentence", SAID)
def test_both_propose_the_same(sentence):
    assert calls_of(Router().ask(sentence)) == [proposal(sentence)]


def test_each_sentence_of_the_stand_in_is_tried():
    assert all(any(re.fullmatch(words, said, re.IGNORECASE) for said in SAID) for words, _, _ in SENTENCES)
    assert proposal("make it blue") is None
