"""Sentences of two or three words: in which language they are, and that a word behind a thing is not its new name."""

import json
import os

import pytest

from oasis.parts.offline import provider
from tests.parts.offline.stock import NOW_S, Router, assistant, calls_of, reply, text_of

with open(os.path.dirname(__file__) + "/short.jsonl", encoding="utf-8") as file:
    SHORT = [json.loads(line) for line in file]
OTHER = provider.load("intents")["absent"]["other"]
NAMES = (".hostname=", ".ssid=", ".key=")
# What is done or said in English, whatever is installed.
ENGLISH = {
    "call this router attic": ".hostname='attic'",
    "set hostname to attic": ".hostname='attic'",
    "set hostname anzeigen-1": ".hostname='anzeigen-1'",
    "hostname: attic": ".hostname='attic'",
    "hostname = attic": ".hostname='attic'",
    "hostname is attic": ".hostname='attic'",
    "rename the router to haus": ".hostname='haus'",
    "rename the router to ocultar": ".hostname='ocultar'",
    "name the router garten": ".hostname='garten'",
    "give the router the name nadir": ".hostname='nadir'",
    "call this router el-capitan": ".hostname='el-capitan'",
    "set the ssid to Casa Verde": ".ssid='Casa Verde'",
    "call the wifi Haus am See": ".ssid='Haus am See'",
    "the wifi should be called Apagar": ".ssid='Apagar'",
    'ssid "verstecken"': ".ssid='verstecken'",
    'change the wifi password to "vergessen 77"': ".key='vergessen 77'",
    "hostname attic": "Do you mean: rename the router to attic?",
    "router name cellar": "I read this as: rename the router to cellar.",
    "ssid Fritz": "I read this as: set the Wi-Fi name to Fritz.",
    "wifi name Casa": "I read this as: set the Wi-Fi name to Casa.",
    "show hostname": '"what": "overview"',
    "what is the hostname": '"what": "overview"',
    "show ssid": '"what": "wifi"',
    "hide the ssid": ".hidden='1'",
    "wifi off": "The Wi-Fi is off already.",
    "wifi on": ".disabled='0'",
    "wifi password": "I do not show passwords.",
    "disable ipv6": "network.wan6.disabled='1'",
    "turn IPv6 off": "network.wan6.disabled='1'",
    "LEDs off": "No LED is named in the configuration",
    "block la tele": "no device called “la tele”",
    "change channel to 11": ".channel='11'",
    "timezone Europe/Berlin": "zonename='Europe/Berlin'",
    "dns 1.1.1.1": "dns='1.1.1.1'",
    "which devices are online": '"what": "devices"',
    "reboot": '"reboot"',
    "logs": '"logs"',
}  # fmt: skip


@pytest.fixture(scope="module")
def speaking():
    """Return what answers a sentence where only some languages are installed."""
    made = {}

    def ask(languages, text):
        if languages not in made:
            made[languages] = provider.Provider()
            for name in set(made[languages].languages) - set(languages):
                del made[languages].languages[name]
        return made[languages].reply([{"role": "user", "content": text}], Router().facts, NOW_S)

    return ask


@pytest.mark.parametrize("languages", [("en",), ("en", "ja", "zh"), ("en", "es", "ja", "zh"), ("en", "de", "ja", "zh")])
def test_a_short_sentence_of_a_missing_language_names_its_package(speaking, languages):
    asked = [one for one in SHORT if one["language"] not in languages]
    answers = {one["text"]: speaking(languages, one["text"]) for one in asked}
    wrong = {
        one["text"]: text_of(answers[one["text"]])
        for one in asked
        if calls_of(answers[one["text"]]) or f"oasis-offline-{one['language']}" not in text_of(answers[one["text"]])
    }
    assert wrong == {}


@pytest.mark.parametrize("languages", [("en",), ("en", "de", "es", "ja", "zh")])
def test_short_english_is_done_as_it_was_said(speaking, languages):
    answers = {text: json.dumps(speaking(languages, text), ensure_ascii=False) for text in ENGLISH}
    assert {text: answers[text] for text, wanted in ENGLISH.items() if wanted not in answers[text]} == {}


@pytest.mark.parametrize("text", [one["text"] for one in SHORT])
def test_a_word_behind_a_thing_is_no_new_name(text):
    commands = json.dumps(calls_of(Router().ask(text)))
    assert not [name for name in NAMES if name in commands]


def test_a_name_that_was_asked_about_is_set_after_a_yes():
    talk = []
    for said in ("hostname attic", "yes"):
        talk.append({"role": "user", "content": said})
        events = reply(talk, Router().facts, NOW_S)
        talk.append(assistant(events))
    assert ".hostname='attic'" in json.dumps(calls_of(events))


@pytest.mark.parametrize("languages", [("en",), ("en", "es", "ja", "zh"), ("en", "de", "es", "ja", "zh")])
@pytest.mark.parametrize(
    "text",
    ["éteins le wifi", "spegni la rete wifi", "zet wifi uit", "toon de apparaten", "wyłącz wifi", "выключи wifi"],
)
def test_who_speaks_another_language_hears_which_are_known(speaking, languages, text):
    assert text_of(speaking(languages, text)).endswith(OTHER)


@pytest.mark.parametrize("text", ["IPv6 foobar", "LED foobar", "wifi foobar", "UPnP désactiver"])
def test_a_switch_that_was_not_said_is_not_offered(speaking, text):
    events = speaking(("en",), text)
    assert not calls_of(events)
    assert "turn" not in text_of(events)


def test_what_is_open_is_not_offered_to_be_closed():
    assert "dejar de" not in text_of(Router().ask("abrir puerto 80"))


@pytest.mark.parametrize("text", ["SSID 表示", "ホスト名表示", "主机名显示", "WiFi 关闭"])
def test_japanese_and_chinese_go_by_their_script(speaking, text):
    events = speaking(("en", "de", "es"), text)
    assert "oasis-offline-" in text_of(events)
    assert not calls_of(events)


def test_no_sign_of_a_language_is_an_english_word():
    known = provider.Provider()
    lexicon = known.words("en").lexicon
    with open(provider.__file__.replace("provider.py", "intents/en.json"), encoding="utf-8") as file:
        words = {word for word in file.read().casefold().replace('"', " ").split() if lexicon.knows(word)}
    assert len(words) > 1000
    assert [word for word in sorted(words) if known.is_foreign(word)] == []
