"""Names without quotes, in five languages: of several words, of words that mean something elsewhere, in any script."""

import json
import os

import pytest

from oasis.parts.offline.clause import Names
from oasis.parts.offline.provider import Provider, Session
from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of

with open(os.path.join(os.path.dirname(__file__), "names.jsonl"), encoding="utf-8") as handle:
    SENTENCES = [json.loads(line) for line in handle]
NAMES = ("name", "hostname", "ssid", "key")
NOT_YET = {"nenne das WLAN Haus am See und das Gäste-WLAN Steg"}  # asked about, as something else
LEASES = "1795300000 aa:bb:cc:00:01:00 192.168.1.110 pixel-7 *\n"
DEVICES = (
    "pixel-7", "office-printer", "anna-laptop", "living-room-tv", "annas-iphone", "johns-iphone", "xbox", "nas",
    "kids-tablet", "garage-camera",
)  # fmt: skip
PROVIDER = Provider()


@pytest.fixture(scope="module")
def facts():
    macs = {"nas": "00:05", "xbox": "00:04"}
    leases = "".join(
        f"1795300000 aa:bb:cc:00:{macs.get(name, f'01:{at:02x}')} 192.168.1.{110 + at} {name} *\n"
        for at, name in enumerate(DEVICES)
    )
    return Router(HOME + GUEST, leases=leases).facts


def said(parts):
    """Return the intents with the names as they were said."""
    return sorted(
        (intent, sorted((slot, one) for slot, one in slots.items() if slot in NAMES)) for intent, slots in parts
    )


@pytest.mark.parametrize("line", SENTENCES, ids=lambda line: line["text"])
def test_a_name_is_kept_as_it_was_said(facts, line):
    found = Session(PROVIDER, facts).follow([{"role": "user", "content": line["text"]}])
    if line["text"] in NOT_YET:
        assert not found.calls
        return
    read = [(part.intent, {slot: raw for slot, (raw, _) in part.slots.items()}) for part in found.parts]
    assert said(read) == said((part["intent"], part["slots"]) for part in line["parts"])


def test_blanks_accents_and_apostrophes_are_put_as_a_host_name_has_them():
    router = Router(HOME, leases=LEASES)
    for sentence, name in {
        "rename pixel-7 to Dad phone": "Dad-phone",
        "rename pixel-7 to Dad's phone": "Dads-phone",
        "pixel-7 heißt ab jetzt Büro Handy": "Buero-Handy",
        "renombra pixel-7 a teléfono de papá": "telefono-de-papa",
    }.items():
        commands = calls_of(router.ask(sentence))[0][1]["commands"]
        assert commands[-1] == f"uci set dhcp.oasis_host_1.name='{name}'"


def test_a_name_in_another_script_is_asked_for_in_letters_and_the_answer_is_taken():
    router = Router(HOME, leases=LEASES)
    events = router.ask("pixel-7をパパのスマホという名前で表示して")
    assert not calls_of(events)
    assert "パパのスマホ" in text_of(events)


@pytest.mark.parametrize(
    "sentence",
    [
        "don't call the xbox Gaming Box",
        "how do I rename the xbox to Gaming Box?",
        "nenn die xbox nicht Spiele Kiste",
        "xboxの名前をゲーム機にしないで",
        "不要把xbox改名为游戏机",
        "no llames Consola de Leo a la xbox",
    ],
)
def test_a_name_that_is_not_wished_for_is_not_given(facts, sentence):
    found = Session(PROVIDER, facts).follow([{"role": "user", "content": sentence}])
    assert not found.calls


def test_a_long_name_is_said_back_before_it_is_given(facts):
    asked = Session(PROVIDER, facts).follow([{"role": "user", "content": "please list the xbox as Box of Tom Senior"}])
    assert asked.is_guess and asked.parts[0].slots["name"] == ("Box of Tom Senior", False)


def test_short_word_is_no_mistyped_name():
    names = Names([{"name": "fine"}, {"name": "xboxen"}])
    assert names.part("finn", False) == "" and names.part("fine", False) == "fine"
    assert names.part("xboxem", False) == "xboxen"
