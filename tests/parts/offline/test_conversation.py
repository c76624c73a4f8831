"""Several messages: a question and its answer, and the words after tool results."""

import json

import pytest

from oasis.tools.builtin import read_config, status
from tests.parts.offline.stock import GUEST, HOME, NOW_S, Router, assistant, calls_of, reply, text_of

KEYS = {"wireless.default_radio0.key": "hunter2hunter", "wireless.default_radio1.key": "hunter2hunter"}


@pytest.mark.parametrize(
    "answer",
    [
        "hunter2hunter",
        "it is hunter2hunter",
        "It's hunter2hunter",
        "use hunter2hunter please",
        "the password is hunter2hunter",
    ],
)
def test_answer_completes_the_request(answer):
    router = Router(HOME)
    assert router.changes(router.ask("set the wifi password", answer)) == KEYS


def test_wrong_answer_is_asked_again_and_the_next_one_counts():
    router = Router(HOME)
    assert "this one has 5" in text_of(router.ask("set the wifi password", "short"))
    assert router.changes(router.ask("set the wifi password", "short", "hunter2hunter")) == KEYS


def test_question_in_between_is_explained_and_the_question_stays_open():
    router = Router(HOME)
    events = router.ask("set the wifi password", "why?")
    assert not calls_of(events) and "What should the new password be?" in text_of(events)
    assert router.changes(router.ask("set the wifi password", "why?", "hunter2hunter")) == KEYS


def test_several_missing_values_are_asked_one_after_another():
    router = Router()
    lines = ("set up a guest wifi", "Visitors", "welcome123")
    assert "Which password" in text_of(router.ask(*lines[:2]))
    changes = router.changes(router.ask(*lines))
    assert (changes["wireless.guest.ssid"], changes["wireless.guest.key"]) == ("Visitors", "welcome123")


def test_guests_may_do_without_a_password():
    router = Router()
    changes = router.changes(router.ask("set up a guest wifi", "Visitors", "without password"))
    assert changes["wireless.guest.encryption"] == "none" and "wireless.guest.key" not in changes


@pytest.mark.parametrize("answer", ["2", "number 2", "john's", "johns-iphone", "192.168.1.103", "the one with 103"])
def test_device_is_chosen_from_the_list(answer):
    router = Router()
    events = router.ask("block the iphone", answer)
    if answer.startswith("the one"):
        assert not calls_of(events)
    else:
        assert router.changes(events)["firewall.oasis_block_1.src_mac"] == "aa:bb:cc:00:00:03"


@pytest.mark.parametrize("answer", ["never mind", "cancel", "no"])
def test_request_can_be_dropped(answer):
    events = Router().ask("set the wifi password", answer)
    assert not calls_of(events) and "nothing was changed" in text_of(events)


def test_another_request_is_no_answer():
    assert calls_of(Router().ask("set the wifi name", "show status")) == [("status", {"what": "overview"})]
    events = Router().ask("set the wifi name", "show status", "hunter2hunter")
    assert not calls_of(events)


def test_rest_of_a_joined_request_is_kept():
    events = Router().ask("rename the router and restart dnsmasq", "attic")
    assert [name for name, _ in calls_of(events)] == ["configure", "service"]


def test_answer_to_somebody_elses_question_is_not_taken():
    messages = [
        {"role": "user", "content": "set the wifi password"},
        {"role": "assistant", "content": "Which provider do you use?"},
        {"role": "user", "content": "hunter2hunter"},
    ]
    assert not calls_of(reply(messages, Router(HOME).facts, NOW_S))


def test_password_from_long_ago_is_not_taken():
    events = Router(HOME).ask("set the wifi password", "thanks", "hunter2hunter")
    assert not calls_of(events)


def test_same_chat_gives_the_same_events():
    lines = ("block the iphone", "2")
    assert Router().ask(*lines) == Router().ask(*lines)


def test_calls_have_their_own_ids_and_events_are_of_the_contract():
    events = Router().ask("call this router attic and restart dnsmasq")
    ids = [event["id"] for event in events if event["type"] == "tool_use"]
    assert len(set(ids)) == 2
    assert {event["type"] for event in events} <= {"delta", "tool_use", "done"}
    assert events[-1] == {"type": "done", "stop_reason": "tool_use", "model": "intents"}


def test_message_in_blocks_is_read_like_text():
    messages = [
        {"role": "system", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "show status"}]},
    ]
    assert calls_of(reply(messages, Router().facts, NOW_S)) == [("status", {"what": "overview"})]


def closing(router, sentence, *answers, is_error=False):
    """Return the words after the tools answered."""
    asked = {"role": "user", "content": sentence}
    called = assistant(router.ask(sentence))
    blocks = []
    for block, answer in zip([one for one in called["content"] if one["type"] == "tool_use"], answers, strict=True):
        text = answer if isinstance(answer, str) else json.dumps(answer)
        result = {"type": "tool_result", "tool_use_id": block["id"], "name": block["name"]}
        blocks.append(
            {**result, "content": [{"type": "text", "text": text}], **({"is_error": True} if is_error else {})}
        )
    events = reply([asked, called, {"role": "tool", "content": blocks}], router.facts, NOW_S)
    assert not calls_of(events) and events[-1]["stop_reason"] == "end_turn"
    return text_of(events)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": "applied", "summary": "rename the router"}, "Done: rename the router."),
        ({"status": "applied"}, "Done: rename the router to attic."),
        ({"status": "unchanged"}, "set like that already"),
        ({"status": "waiting_confirm", "confirm_in_s": 90, "summary": "x"}, "Applied: x."),
        ({"status": "applied", "confirm_in_s": 90, "summary": "x"}, "Applied: x."),
        ({"status": "declined", "reason": "not today"}, "nothing was changed. Reason: not today"),
        ({"status": "declined"}, "All right, nothing was changed."),
        ({"status": "expired"}, "Nobody approved the plan in time"),
        ({"status": "cancelled"}, "Stopped, nothing was changed."),
        ({"status": "rolled_back", "reason": "no answer"}, "everything is as before. Reason: no answer"),
        ({"status": "something new"}, "something new"),
        ("no JSON at all", "That did not work. Reason: no JSON at all"),
        ("{" * 100_000, "That did not work."),
    ],
)
def test_closing_words_say_what_became_of_it(answer, words):
    assert words in closing(Router(), "call this router attic", answer)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("policy", "That was refused, nothing was changed. Reason: not allowed (ask the owner)"),
        ("apply", "everything is as before. Reason: not allowed"),
        ("rollback", "could not be rolled back completely"),
        ("uci", "That did not work. Reason: not allowed"),
    ],
)
def test_failed_call_is_told_by_its_code(code, words):
    error = {"error": {"code": code, "message": "not allowed", "hint": "ask the owner"}}
    assert words in closing(Router(), "call this router attic", error, is_error=True)


def test_undo_and_service_have_their_own_words():
    assert "taken back" in closing(Router(), "undo", {"status": "applied", "summary": "undo: x"})
    assert "Done: dnsmasq was restarted" in closing(Router(), "restart dnsmasq", {"status": "applied", "summary": "y"})


def test_every_result_is_told():
    told = closing(
        Router(), "call this router attic and restart dnsmasq", {"status": "applied"}, {"status": "declined"}
    )
    assert "Done: rename the router to attic." in told and "nothing was changed" in told


def read(router, sentence):
    name, arguments = calls_of(router.ask(sentence))[0]
    tool = status if name == "status" else read_config
    return closing(router, sentence, tool.run(arguments, router.facts))


def test_overview_in_words():
    told = read(Router(HOME), "show status")
    for words in (
        "OpenWrt",
        "up for 1 h 12 min",
        "Internet: up, address 10.99.0.81",
        "LAN: 192.168.1.1",
        "Wi-Fi Home",
        "Devices: 7",
    ):
        assert words in told


def test_devices_in_words():
    told = read(Router(HOME), "list devices")
    assert "- annas-iphone, 192.168.1.101, aa:bb:cc:00:00:01" in told
    assert "xbox, 192.168.1.104, aa:bb:cc:00:00:04 (blocked)" in told
    assert "nas, 192.168.1.105, aa:bb:cc:00:00:05 (fixed address)" in told
    assert "(no name), 192.168.1.106" in told


def test_other_parts_in_words():
    router = Router(HOME + GUEST)
    assert "wan: 10.99.0.81/24, up, gateway 10.99.0.1" in read(router, "show addresses")
    assert "Wi-Fi Visitors, 2.4 GHz, channel 1, psk2, on" in read(router, "show wifi status")
    assert "Running: dnsmasq, dropbear" in read(router, "show services")
    assert "Flash: " in read(router, "show storage")


def test_without_a_bus_it_says_where_the_words_come_from():
    told = read(Router(ubus=False), "show status")
    assert "Internet: not known" in told and "this is from the configuration" in told


def test_configuration_is_shown_without_secrets():
    told = read(Router(HOME), "show the wireless configuration")
    assert "wireless.default_radio0.ssid='Home'" in told
    assert "the-old-key" not in told and "wireless.default_radio0.key='********'" in told


def test_hostile_device_names_stay_data():
    leases = "1795300000 aa:bb:cc:00:00:01 192.168.1.101 '\\\\;reboot{summary}[{ip}]\u202e\x1b[31m *\n"
    router = Router(leases=leases)
    events = router.ask("block 192.168.1.101")
    assert router.changes(events)["firewall.oasis_block_1.name"] == "Block reboot summary ip 31m"
    told = text_of(router.ask("block the fridge"))
    assert "\x1b" not in told and "\u202e" not in told and "{summary}" in told


@pytest.mark.parametrize(("identifier", "words"), [("offline_de_1_0", "Erledigt"), ("call_7", "Done"), ("", "Done")])
def test_result_is_told_in_the_language_of_its_call(identifier, words):
    # A call of a model says no language: then the owner's words do.
    called = {"type": "tool_use", "id": identifier, "name": "configure", "input": {"summary": "x"}}
    told = [{"type": "text", "text": '{"status": "applied"}'}]
    messages = [
        {"role": "user", "content": "call this router attic"},
        {"role": "assistant", "content": [called]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": identifier, "content": told}]},
    ]
    assert words in text_of(reply(messages, Router().facts, NOW_S))
