"""A time or a condition in a sentence that the plan does not carry: nothing is done before it was said back."""

import json
import os
import time

import pytest

from tests.parts.offline.stock import GUEST, HOME, NOW_S, Router, assistant, reply

FOLDER = os.path.dirname(os.path.abspath(__file__))
ACTING = ("configure", "service", "power", "undo", "packages", "backup")
with open(os.path.join(FOLDER, "moments.jsonl"), encoding="utf-8") as _handle:
    LINES = [json.loads(line) for line in _handle]
DROPPED = [(line["language"], line["text"], line["words"]) for line in LINES if line["words"]]
CARRIED = [(line["language"], line["text"]) for line in LINES if not line["words"]]


def answered(*texts):
    """Return the events of the answer to the last of some messages, each of them answered."""
    facts = Router(HOME + GUEST).facts
    messages, events = [], []
    for text in texts:
        messages.append({"role": "user", "content": text})
        events = reply(messages, facts, NOW_S)
        messages.append(assistant(events))
    return events


def calls(events):
    return [event["name"] for event in events if event["type"] == "tool_use" and event["name"] in ACTING]


def text_of(events):
    return "".join(event["text"] for event in events if event["type"] == "delta")


@pytest.mark.parametrize(("language", "text", "words"), DROPPED)
def test_a_time_or_a_condition_that_no_plan_carries_is_never_acted_on(language, text, words):
    events = answered(text)
    assert not calls(events)
    assert text_of(events)
    # Whoever says yes to a question has read which words are not kept.
    agreed = answered(text, {"en": "yes", "de": "ja", "es": "sí", "ja": "はい", "zh": "是"}[language])
    assert not calls(agreed) or words.casefold() in text_of(events).casefold()


@pytest.mark.parametrize(("language", "text"), CARRIED)
def test_a_time_that_the_plan_carries_and_a_name_in_quotes_hold_nothing_back(language, text):
    assert calls(answered(text))


def test_the_words_that_are_not_kept_are_named_and_a_yes_does_the_rest_at_once():
    events = answered("call this router bob next year")
    assert "“next year”" in text_of(events)
    assert "bob" in text_of(events)
    assert calls(answered("call this router bob next year", "yes")) == ["configure"]
    assert not calls(answered("call this router bob next year", "no"))


def test_a_missing_name_does_not_make_a_condition_forgotten():
    events = answered("rename the router next year", "bob")
    assert not calls(events)


def test_tomorrow_is_carried_only_by_an_end_that_comes_tomorrow():
    hour, minute = time.localtime(NOW_S)[3:5]
    early = f"{(hour - 1) % 24:02d}:{minute:02d}" if hour else "00:00"
    late = f"{min(hour + 1, 23):02d}:59"
    assert calls(answered(f"turn off the wifi until tomorrow {early}"))
    assert not calls(answered(f"turn off the wifi until tomorrow {late}"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("turn off the wifi until 25:00", "25:00"),
        ("turn off the wifi until 9:75", "9:75"),
        ("schalte das WLAN bis 25:00 Uhr aus", "25:00"),
        ("把wifi关掉到25:00", "25:00"),
    ],
)
def test_what_is_no_time_of_day_is_named_and_never_dropped(text, value):
    events = answered(text)
    assert not calls(events)
    assert text_of(events).startswith(value)
    assert not calls(answered(text, "yes"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("turn off the wifi until 21:50 for good", "for good"),
        ("turn off the wifi permanently until 22:00", "permanently"),
        ("schalte das WLAN dauerhaft bis 22:00 aus", "dauerhaft"),
    ],
)
def test_an_end_and_for_good_contradict_each_other_and_are_asked_about(text, words):
    events = answered(text)
    assert not calls(events)
    assert words in text_of(events) and ":" in text_of(events)
    assert calls(answered("turn off the wifi for good")) == ["configure"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("block the xbox tonight from 8pm to 9pm", "every day"),
        ("sperre johns-iphone heute abend von 20 bis 21 Uhr", "jeden Tag"),
    ],
)
def test_a_question_about_hours_says_that_the_rule_is_for_every_day(text, days):
    assert days in text_of(answered(text))


def test_the_summary_of_hours_says_on_which_days_they_are():
    [call] = [event for event in answered("block the xbox from 8pm to 9pm") if event["type"] == "tool_use"]
    assert call["input"]["summary"] == "no internet for xbox from 20:00 to 21:00, every day"
