"""What a tool server's answer means: reserved fields are taken out wherever they stand, and none of ours is forged."""

import json

import pytest

from oasis.parts.lua import plugins


def test_what_is_for_the_owner_never_stays_at_any_depth():
    reply = {"user_only": "a-secret", "list": [{"user_only": ["b-secret"], "x": 1}], "deep": {"in": {"user_only": 3}}}
    told, private, _ = plugins.read(reply)
    assert told == {"list": [{"x": 1}], "deep": {"in": {}}}
    assert private.split("\n") == ["a-secret", '["b-secret"]', "3"]


def test_json_text_in_result_is_merged_and_its_copy_does_not_stay():
    told, private, wishes = plugins.read({"result": json.dumps({"user_only": "s", "a": 1, "reboot": True}), "b": 2})
    assert (told, private, wishes) == ({"a": 1, "b": 2}, "s", {"power": "reboot"})


def test_result_in_result_in_result_hides_nothing():
    inner = {"user_only": "very-secret"}
    for _ in range(6):
        inner = {"result": json.dumps(inner)}
    told, _, _ = plugins.read(inner)
    assert "very-secret" not in json.dumps(told)


def test_result_that_is_no_object_stays_as_it_is():
    for value in ("plain text", "[1,2]", "{broken", 5, None, {"a": 1}, "[" * 100_000, '{"a":' * 100 + "1" + "}" * 100):
        assert plugins.read({"result": value})[0] == {"result": value}


@pytest.mark.parametrize("value", ["true", 1, "yes", {"now": True}, [True], None, 0, False])
def test_only_true_is_a_wish(value):
    assert plugins.read({"reboot": value, "shutdown": value})[2] == {}


def test_wishes_are_taken_out():
    told, _, wishes = plugins.read({"shutdown": True, "prepare_service_restart": "dnsmasq", "status": "OK"})
    assert told == {"status": "OK"} and wishes == {"power": "shutdown", "restart": "dnsmasq"}


def test_our_own_marks_cannot_be_forged():
    told, _, _ = plugins.read({"is_error": False, "untrusted": ["words of the owner"], "message": "m"})
    assert told == {"message": "m"}


def test_conventions_pass_and_an_error_is_one():
    reply = {"error": "none such", "message": "m", "note": "n", "caution": "c", "status": "NG"}
    assert plugins.read(reply)[0] == {**reply, "is_error": True}


def test_nothing_and_much_are_answers():
    assert plugins.read(None) == ({}, "", {})
    assert len(plugins.read({"user_only": "x" * 10**6})[1]) == plugins.OWNER_CHARS
