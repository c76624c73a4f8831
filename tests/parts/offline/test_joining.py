"""Several things with one verb are several requests, and two clauses about one network are one."""

import pytest

from oasis.parts.offline import understanding
from oasis.parts.offline.reading import Part
from tests.parts.offline.stock import HOME, Router, calls_of, text_of

BOTH_OFF = {
    "ja": "IPv6と時刻同期を切って",
    "zh": "关闭IPv6和时间同步",
}


def test_a_name_and_a_password_of_one_network_are_one_request():
    name, key = (
        Part("wifi_name", {"ssid": ("Lily", True)}, 1.0),
        Part("wifi_password", {"key": ("12345678", True)}, 1.0),
    )
    found = [(one.intent, set(one.slots)) for one in understanding.merged([name, key])]
    assert found == [("wifi_both", {"ssid", "key"})]


def test_another_band_is_another_request():
    name = Part("wifi_name", {"ssid": ("Lily", True), "band": ("2g", True)}, 1.0)
    key = Part("wifi_password", {"key": ("12345678", True), "band": ("5g", True)}, 1.0)
    assert [one.intent for one in understanding.merged([name, key])] == ["wifi_name", "wifi_password"]


def test_what_is_said_once_more_with_less_is_said_once():
    parts = [Part("time_zone", {"place": ("London", True)}, 1.0), Part("time_zone", {}, 1.0)]
    assert [one.slots for one in understanding.merged(parts)] == [{"place": ("London", True)}]


@pytest.mark.parametrize("language", BOTH_OFF)
def test_one_verb_for_two_things_is_meant_for_both(language):
    events = Router(HOME).ask(BOTH_OFF[language])
    said = text_of(events) + str(calls_of(events))
    assert "IPv6" in said and any(word in said for word in ("時刻同期", "时间同步"))


@pytest.mark.parametrize("said", ["UPnPとLEDは切らないで", "关闭UPnP和LED灯了吗", "UPnP和LED灯是什么"])
def test_two_things_without_a_wish_are_no_request(said):
    assert not calls_of(Router(HOME).ask(said))
