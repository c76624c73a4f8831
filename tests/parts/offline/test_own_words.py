"""A device that calls itself by words of the router changes the reading of no sentence."""

import json
import os

import pytest

from oasis.parts.offline import provider
from oasis.parts.offline.provider import Session
from tests.parts.offline.stock import GUEST, HOME, LEASES, ONE, Router, calls_of, text_of

LANGUAGES = {name: provider.load(name) for name in provider.load("intents")["languages"]}
FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "eval", "offline")
EVERY = 60  # of the training sentences
NAMED = {"thing", "person", "software"}  # concepts whose words name devices too


def own_words(language):
    """Return the words of a language that mean something of the router's, or nothing at all."""
    words = LANGUAGES[language]["words"]
    found = {one for concept, many in words.items() if concept not in NAMED for one in many}
    found |= set(LANGUAGES[language]["fillers"])
    for kind in ("band", "days", "clock", "duration", "number", "encryption", "channel", "package", "proto"):
        found |= {one for many in LANGUAGES[language]["values"].get(kind, {}).values() for one in many}
    things = {one for concept in NAMED for one in words.get(concept, ())} | {*LANGUAGES[language].get("ordinary", ())}
    return sorted(one for one in found - things if "*" not in one)


def hostile(languages):
    """Return the leases of devices that call themselves by all these words, each and two of them together."""
    names = [word.replace(" ", "-") for language in languages for word in own_words(language)]
    names += [f"{one}-{other}" for one, other in zip(names[::7], names[3::7], strict=False)]
    macs = [f"aa:bb:{at // 256:02x}:{at % 256:02x}:00:01" for at in range(len(names))]
    lines = (f"1795300000 {mac} 192.168.1.9 {name} *\n" for mac, name in zip(macs, names, strict=True))
    return LEASES + "".join(lines)


def sentences(language):
    with open(os.path.join(FOLDER, f"training_{language}.jsonl"), encoding="utf-8") as handle:
        lines = [json.loads(line) for line in handle]
    examples = [one["example"] for one in LANGUAGES[language]["intents"].values() if "example" in one]
    return [one["text"] for one in lines[::EVERY] if "before" not in one] + examples


@pytest.mark.parametrize("language", LANGUAGES)
def test_devices_that_are_called_like_words_of_the_router_change_no_reading(language):
    usual, crowded = Router(HOME + GUEST), Router(HOME + GUEST, leases=hostile(dict.fromkeys((language, "en"))))
    wrong = []
    for said in sentences(language):
        found = []
        for router in (usual, crowded):
            answer = Session(ONE, router.facts).follow([{"role": "user", "content": said}])
            found.append([(part.intent, part.slots) for part in answer.parts])
        if found[0] != found[1]:
            wrong.append((said, *found))
    assert not wrong


def test_device_with_a_name_of_its_own_is_meant_though_a_part_is_a_word_of_the_router():
    leases = LEASES + "1795300000 aa:bb:cc:00:00:08 192.168.1.108 guest-printer *\n"
    router = Router(HOME + GUEST, leases=leases)
    for said in ("block guest-printer", "block the guest printer", "sperre guest-printer", "bloquea guest-printer"):
        assert router.changes(router.ask(said))["firewall.oasis_block_2.src_mac"] == "aa:bb:cc:00:00:08"
    assert router.changes(router.ask('block "guest-printer"'))


@pytest.mark.parametrize("name", ["ssh", "dns", "firewall", "dnsmasq", "guest", "wifi", "vpn", "led", "router"])
def test_wish_about_the_router_is_never_one_about_a_device_of_that_name(name):
    leases = LEASES + f"1795300000 aa:bb:cc:00:00:08 192.168.1.108 {name} *\n"
    wishes = ("open port 22 for ssh", "restart dns", "turn off the guest wifi", "turn off the vpn", "block the wifi")
    for said in wishes:
        with_it, without = (Router(HOME + GUEST, leases=one).ask(said) for one in (leases, LEASES))
        assert (text_of(with_it), calls_of(with_it)) == (text_of(without), calls_of(without)), said
