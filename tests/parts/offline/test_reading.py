"""A likely reading is a plan that waits: its line says how the sentence was read, and the next reading is a choice."""

import json

import pytest

from oasis.parts.offline.reading import Part
from oasis.parts.offline.understanding import merged
from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import copy_root, start_daemon
from tests.parts.offline.stock import GUEST, HOME, NOW_S, ONE, Router, assistant, calls_of, text_of

# A sentence of which the guest network is the likely wish, and another one is near.
LIKELY = "kick the guests out of here"
GUESTS = """
config wifi-iface 'guest'
	option device 'radio0'
	option mode 'ap'
	option ssid 'Visitors'
	option network 'guest'
	option encryption 'psk2'
	option key 'Hello-12345'
"""
READ = {
    "en": ("ssid Fritz", "I read this as: set the Wi-Fi name to Fritz."),
    "zh": ("无线叫Fritz", "我的理解是：把Wi-Fi名称改为Fritz。"),
    "ja": ("寝室のWi-Fiオフ", "次のように理解しました: Wi-Fiをオフにする。"),
}


def router():
    return Router(HOME + GUEST)


def of(events, kind):
    return [event for event in events if event["type"] == kind]


def declined(events, reason):
    """Return the chat after a plan was declined with a reason."""
    call = of(events, "tool_use")[0]
    result = {"status": "declined", "reason": reason, "summary": call["input"]["summary"]}
    content = [{"type": "text", "text": json.dumps(result)}]
    block = {"type": "tool_result", "tool_use_id": call["id"], "name": call["name"], "content": content}
    return [
        {"role": "user", "content": LIKELY}, assistant(events), {"role": "tool", "content": [block]},
    ]  # fmt: skip


@pytest.mark.parametrize("language", READ)
def test_a_likely_reading_is_proposed_with_a_line_that_says_it(language):
    text, line = READ[language]
    events = router().ask(text)
    assert text_of(events).startswith(line)
    assert of(events, "reading") and [name for name, _ in calls_of(events)] == ["configure"]
    kinds = [event["type"] for event in events]
    assert kinds.index("reading") < kinds.index("tool_use")  # it is known before the plan is made


def test_what_is_certain_has_no_such_line():
    events = router().ask("turn the guest wifi off")
    assert not of(events, "reading") and not text_of(events)


def test_a_model_is_asked_in_its_place_where_there_is_one():
    messages = [{"role": "user", "content": LIKELY}]
    assert ONE.reply(messages, router().facts, NOW_S, only_sure=True) == []


def test_the_next_reading_is_a_choice_by_a_decline_and_in_words():
    events = router().ask(LIKELY)
    (reading,) = of(events, "reading")
    assert reading["choice"] == {"say": "2", "text": "remove the guest network"}
    assert "choose 2: remove the guest network" in text_of(events)
    for again in (ONE.reply(declined(events, "2"), router().facts, NOW_S), router().ask(LIKELY, "2")):
        ((_, given),) = calls_of(again)
        assert given["summary"] == "remove the guest network"
        assert text_of(again).startswith("I read this as: remove the guest network.") and of(again, "reading")


def test_a_mere_decline_proposes_nothing():
    events = router().ask(LIKELY)
    for reason in ("", "no", "22"):
        assert not calls_of(ONE.reply(declined(events, reason), router().facts, NOW_S))
    assert not calls_of(router().ask(LIKELY, "no"))


def test_a_number_chooses_nothing_where_nothing_was_offered():
    assert not calls_of(router().ask("call this router attic", "2"))


@pytest.mark.parametrize(
    "text",
    [
        "don't kick the guests out of here",
        "if it rains kick the guests out of here",
        "bloquea la xbox y pinta la valla",
    ],
)
def test_what_is_held_back_is_never_proposed(text):
    assert not calls_of(router().ask(text))


def test_its_plan_waits_under_every_setting_and_the_choice_is_proposed_in_the_same_run(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    with open(root + "/etc/config/wireless", "a", encoding="utf-8") as handle:
        handle.write(GUESTS)
    with open(root + "/etc/config/oasis", "a", encoding="utf-8") as handle:
        handle.write("\nconfig oasis 'main'\n\toption approval 'none'\n")
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message=LIKELY, service="offline")
        events = follow(daemon, started, until=("plan",))
        plan = of_type(events, "plan")[0]["plan"]
        assert plan["needs_approval"] and plan["choice"]["say"] == "2"
        assert daemon.call("plan.list")["plans"][0]["choice"] == plan["choice"]
        daemon.call("plan.decline", plan=plan["id"], reason="2")
        events, since = [], 0
        while len(of_type(events, "plan")) < 2:
            reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=5000)
            events, since = events + reply["events"], reply["next"]
            assert not of_type(events, "end"), events
        other = of_type(events, "plan")[-1]["plan"]
        assert other["summary"] == plan["choice"]["text"] and other["needs_approval"]
    finally:
        daemon.stop()


@pytest.mark.parametrize(
    ("said", "barred"),
    [
        ("xbox only from 3pm to 6pm", "18:00-15:00"), ("xbox nur von 15 bis 18 uhr", "18:00-15:00"),
        ("la xbox solo de 15 a 18", "18:00-15:00"), ("xboxは15時から18時だけ", "18:00-15:00"),
        ("block the xbox only from 3pm to 6pm", "15:00-18:00"),
        ("kein internet für die xbox nur von 15 bis 18 uhr", "15:00-18:00"),
    ],
)  # fmt: skip
def test_hours_that_alone_are_allowed_are_turned_round(said, barred):
    changes = Router(HOME).changes(Router(HOME).ask(said))
    rules = {path.rpartition(".")[0] for path in changes if path.endswith(".start_time")}
    hours = {f"{changes[one + '.start_time'][:5]}-{changes[one + '.stop_time'][:5]}" for one in rules}
    assert hours == ({"18:00-23:59", "00:00-15:00"} if barred == "18:00-15:00" else {barred})


@pytest.mark.parametrize(
    "said",
    [
        "turn the 5 GHz wifi off, leave the other one as it is", "el de 5 GHz apágalo, el otro déjalo",
        "5 GHz aus, 2,4 bleibt wie es ist", "把5G关了，2.4G不动", "5ギガのWi-Fiを切って、2.4ギガは今のまま",
    ],
)  # fmt: skip
def test_what_is_to_stay_as_it_is_is_not_changed(said):
    changes = Router(HOME).changes(Router(HOME).ask(said))
    assert changes == {"wireless.radio1.disabled": "1"}


def test_what_is_undone_is_asked_about_when_another_change_may_be_meant():
    events = Router(HOME).ask("block the xbox", "ssh on port 2022", "undo only the second one")
    assert not calls_of(events) and "second" in text_of(events)


def test_network_for_guests_is_known_by_its_ssid():
    away = GUEST.replace("network.guest", "network.extra").replace("wireless.guest", "wireless.wifinet3")
    away = away.replace("network='guest'", "network='extra'").replace("=guest\n", "=extra\n")
    events = Router(HOME + away).ask("turn the guest wifi off")
    assert [call["summary"] for _, call in calls_of(events)] == ["turn the guest Wi-Fi off"]


def test_servers_that_are_said_with_whose_they_are_are_set_once():
    parts = [
        Part("dns_servers", {"provider": ("quad9", True)}, 1.0),
        Part("dns_servers", {"servers": ("9.9.9.9", True), "provider": ("quad9", True)}, 1.0),
        Part("dns_servers", {"servers": ("8.8.8.8", True)}, 1.0),
    ]
    assert [(one.intent, one.slots) for one in merged(parts)] == [
        ("dns_servers", {"servers": ("9.9.9.9, 8.8.8.8", True)})
    ]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I do beg your pardon, but the lights in the hallway keep my wife awake. Please turn them off.", "LEDs off"),
        ("Der Herr von der Hotline meinte, ein Neustart würde helfen. Dann machen Sie das bitte.", "neu starten"),
    ],
)
def test_sentence_is_a_wish_as_far_as_a_piece_of_it_is(said, asked):
    assert asked in text_of(Router(HOME).ask(said))
