"""Sentences that nearly ask for a change and must not lead to one: to words, and now and then a question."""

import json
import os

import pytest

from oasis.parts.offline.provider import Session
from tests.parts.offline.stock import GUEST, HOME, NOW_S, ONE, Router, calls_of, reply, text_of

READS = {"status", "wifi_scan", "logs", "probe", "diagnose", "read_config", "history"}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nearly.jsonl"), encoding="utf-8") as handle:
    SENTENCES = [json.loads(line) for line in handle]


def heard(sentence, before=HOME + GUEST):
    """Return what was done, and whether it was asked about."""
    facts = Router(before).facts
    answer = Session(ONE, facts).follow([{"role": "user", "content": sentence}])
    done = [name for name, _ in answer.calls if name not in READS]
    if answer.is_sure and not answer.missing[1]:
        done += [part.intent for part in answer.parts if ONE.frames.is_change(part.intent)]
    return done, bool(answer.parts) and not answer.calls


def test_none_of_them_is_done():
    # Once on a router with guests and a blocked device, once as it comes: what is done already is no plan there.
    wrong = [
        (one["text"], heard(one["text"], before)[0])
        for before in (HOME + GUEST, "")
        for one in SENTENCES
        if heard(one["text"], before)[0]
    ]
    assert wrong == []


def test_there_are_enough_of_them_and_few_are_asked_about():
    assert len({one["text"] for one in SENTENCES}) == len(SENTENCES) >= 150
    assert {one["language"] for one in SENTENCES} == {"en", "de", "es", "ja", "zh"}
    asked = [one["text"] for one in SENTENCES if heard(one["text"])[1]]
    assert len(asked) * 3 <= len(SENTENCES), asked


LATER = {
    "turn off the wifi at 10pm": "only now",
    "turn off the wifi in an hour": "only now",
    "reboot the router every night": "only now",
    "block the xbox on friday": "only now",
    "schalte das wlan um 22 uhr aus": "nur jetzt",
    "schalte das wlan in einer stunde aus": "nur jetzt",
    "sperre die xbox am freitag": "nur jetzt",
    "apaga el wifi a las 22:00": "cambio cosas ahora",
    "apaga el wifi dentro de una hora": "cambio cosas ahora",
    "22時にwifiを切って": "今だけ",
    "1時間後にwifiを切って": "今だけ",
    "晚上十点关闭wifi": "现在更改",
    "一小时后关闭wifi": "现在更改",
}


@pytest.mark.parametrize("sentence", LATER)
def test_a_later_time_is_explained(sentence):
    events = reply([{"role": "user", "content": sentence}], Router(HOME).facts, NOW_S)
    assert calls_of(events) == []
    assert LATER[sentence] in text_of(events)


UNTIL = {
    "turn off the wifi until 22:00": "22:00",
    "turn off the wifi for two hours": "120m",
    "schalte das wlan bis 22 uhr aus": "22:00",
    "schalte das wlan für zwei stunden aus": "120m",
    "apaga el wifi hasta las 22:00": "22:00",
    "apaga el wifi durante dos horas": "120m",
    "22時までwifiを切って": "22:00",
    "2時間wifiを切って": "120m",
    "关闭wifi到22:00": "22:00",
    "关闭wifi两小时": "120m",
}


@pytest.mark.parametrize("sentence", UNTIL)
def test_an_end_is_an_end(sentence):
    ((name, arguments),) = calls_of(Router(HOME).ask(sentence))
    answer = Session(ONE, Router(HOME).facts).follow([{"role": "user", "content": sentence}])
    assert name == "configure" and arguments["until"]
    assert [part.slots["until"][0] for part in answer.parts] == [UNTIL[sentence]]


TWO = {
    "block the xbox and turn off the wifi": ["block", "wifi_switch"],
    "block the xbox and turn off the tv": ["block", "block"],
    "sperre die xbox und schalte das wlan aus": ["block", "wifi_switch"],
    "bloquea la xbox y apaga el wifi": ["block", "wifi_switch"],
    "bloquea la xbox y apaga la tele": ["block", "block"],
    "xboxをブロックしてwifiを切って": ["block", "wifi_switch"],
    "屏蔽xbox并关闭wifi": ["block", "wifi_switch"],
    "屏蔽xbox，关掉wifi": ["block", "wifi_switch"],
}


@pytest.mark.parametrize("sentence", TWO)
def test_a_second_verb_is_a_second_request(sentence):
    answer = Session(ONE, Router().facts).follow([{"role": "user", "content": sentence}])
    parts = [(part.intent, part.slots) for part in answer.parts]
    if answer.is_sure:
        assert [intent for intent, _ in parts] == TWO[sentence]
    assert "unblock" not in [intent for intent, _ in parts]
    assert parts and all("," not in slots.get("devices", ("",))[0] for _, slots in parts)


SWALLOWED = (
    "block the xbox and paint the fence",
    "turn off the wifi and water my plants",
    "sperre die xbox und streiche den zaun",
    "bloquea la xbox y pinta la valla",
    "xboxをブロックして柵を塗って",
    "屏蔽xbox，然后粉刷篱笆",
)


@pytest.mark.parametrize("sentence", SWALLOWED)
def test_what_is_half_understood_is_not_done(sentence):
    assert heard(sentence, "")[0] == []


def test_equal_requests_of_one_sentence_are_one():
    events = Router().ask("turn off the wifi, turn off the leds and turn off the wifi")
    answer = Session(ONE, Router().facts).follow(
        [{"role": "user", "content": "show the storage, show the memory and show the storage"}]
    )
    assert [part.intent for part in answer.parts] == ["storage", "memory"]
    assert len([name for name, _ in calls_of(events) if name == "configure"]) <= 1


EVENING = {
    "no internet for the nas from 8 to 10 in the evening": ("20:00", "22:00"),
    "no internet for the nas from 8 to 10pm": ("20:00", "22:00"),
    "no internet for the nas from 9 to 5pm": ("09:00", "17:00"),
    "no internet for the nas from 08:00 to 10pm": ("08:00", "22:00"),
    "no internet for the nas from 8am to 10pm": ("08:00", "22:00"),
    "bloquea el nas de 8 a 10 de la noche": ("20:00", "22:00"),
}


@pytest.mark.parametrize("sentence", EVENING)
def test_of_two_times_the_first_is_in_the_half_of_the_day_of_the_second(sentence):
    (part,) = Session(ONE, Router().facts).follow([{"role": "user", "content": sentence}]).parts
    assert (part.slots["from"][0], part.slots["to"][0]) == EVENING[sentence]


NAMES = {"rename the device xbox to game-tv": "game-tv", "llama al router tele-grande": "tele-grande"}


@pytest.mark.parametrize("sentence", NAMES)
def test_a_name_of_known_words_is_not_cut(sentence):
    (part,) = Session(ONE, Router().facts).follow([{"role": "user", "content": sentence}]).parts
    assert NAMES[sentence] in [text for text, _ in part.slots.values()]
