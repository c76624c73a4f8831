"""When, as people say it, in five languages: two lists, the second not written from the reader."""

import json
import os

import pytest

from oasis.errors import UsageError
from oasis.parts.schedule.phrases import moment, read
from oasis.parts.schedule.trigger import checked
from oasis.parts.schedule.zone import Zone, day_number

BERLIN = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
NOW = 1_795_335_000  # Sunday 2026-11-22 09:10 in Berlin
FOLDER = os.path.dirname(os.path.abspath(__file__))


def loaded(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as handle:
        return json.load(handle)


def said(name):
    return [tuple(one) for one in loaded(name)["said"]]


def outcome(text, now=NOW, zone=BERLIN):
    """Return the form that is read, or ! and the refusal with its hint."""
    try:
        form, _ = read(text, now, zone)
        checked(form, now, zone)
    except UsageError as error:
        return f"!{error.message}; {error.hint}"
    return form


def agrees(expected, found):
    return expected[1:] in found and found[0] == "!" if expected[0] == "!" else expected == found


@pytest.mark.parametrize(("text", "expected"), said("said_first.json"))
def test_what_people_say(text, expected):
    assert agrees(expected, outcome(text)), outcome(text)


MISSED = set(loaded("said_fresh.json")["missed"])


@pytest.mark.parametrize(("text", "expected"), said("said_fresh.json"))
def test_what_people_say_that_the_reader_was_not_written_with(text, expected):
    found = outcome(text)
    assert found[0] == "!" if text in MISSED else agrees(expected, found), found


def test_the_lists_have_what_their_score_is_told_of():
    assert (len(said("said_fresh.json")), len(MISSED)) == (53, 4)
    assert len(said("said_first.json")) >= 60


def at(text, zone=BERLIN):
    return zone.moment(day_number(*map(int, text[:10].split("-"))), int(text[11:13]) * 60 + int(text[14:]))


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        ("2026-11-24 09:00", "next friday at 8 pm", "!2026-11-27 20:00 or 2026-12-04 20:00"),
        ("2026-11-24 09:00", "nächsten Freitag um 20 Uhr", "!2026-11-27 20:00 or 2026-12-04 20:00"),
        ("2026-11-24 09:00", "次の金曜日の20時", "!2026-11-27 20:00 or 2026-12-04 20:00"),
        ("2026-11-24 09:00", "下周五晚上8点", "2026-12-04 20:00"),
        ("2026-11-24 09:00", "来週の金曜日20時", "2026-12-04 20:00"),
        ("2026-11-24 09:00", "el viernes que viene a las 20:00", "2026-11-27 20:00"),
        ("2026-11-27 09:00", "friday at 10:00", "2026-11-27 10:00"),
        ("2026-11-27 09:00", "friday at 8:00", "2026-12-04 08:00"),
        ("2026-11-22 23:00", "tonight at 2", "2026-11-23 02:00"),
        ("2026-11-22 23:00", "heute um Mitternacht", "2026-11-23 00:00"),
        ("2027-03-27 12:00", "tomorrow at 2:30", "2027-03-28 02:30"),  # when.py: comes as the clocks skip it
        ("2026-10-25 01:30", "in 1 hour", "2026-10-25 02:30"),
        ("2026-10-25 02:30", "in 1 hour", "!twice"),
        ("2027-01-31 09:00", "in 1 month", "!does not exist"),
        ("2027-01-10 09:00", "29 February at 8:00", "2028-02-29 08:00"),
        ("2026-12-31 23:50", "in 20 minutes", "2027-01-01 00:10"),
    ],
)
def test_what_a_time_means_depends_on_now_and_the_zone_alone(now, text, expected):
    assert agrees(expected, outcome(text, at(now))), outcome(text, at(now))


@pytest.mark.parametrize("text", ["every day at 8:00", "22:00 daily", "on wan_down", "every 2 hours"])
def test_what_comes_again_is_no_end(text):
    with pytest.raises(UsageError, match="is not one time"):
        moment(text, NOW, BERLIN)


def test_an_end_is_one_time():
    assert BERLIN.shown(moment("morgen um 20 Uhr", NOW, BERLIN)) == "2026-11-23 20:00"
    assert BERLIN.shown(moment("22:00 once", NOW, BERLIN)) == "2026-11-22 22:00"


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("when the internet goes", "wan_down"), ("Whenever the connection drops", "wan_down"),
        ("wenn das Internet ausfällt", "wan_down"), ("cuando se cae internet", "wan_down"),
        ("cuando internet se cae", "wan_down"),
        ("インターネットが切れたら", "wan_down"), ("网络断开时", "wan_down"),
        ("when the internet comes back", "wan_up"),
        ("sobald die Verbindung wieder da ist", "wan_up"), ("si vuelve la conexión", "wan_up"),
        ("网络恢复后", "wan_up"),
        ("when a new device joins the wifi", "new_device"), ("wenn sich ein neues Gerät anmeldet", "new_device"),
        ("有新设备接入时", "new_device"), ("when the disk is full", "disk_full"), ("when logins fail", "failed_logins"),
        ("when the internet goes on Sunday", None), ("when the internet is slow", None),
    ],
)  # fmt: skip
def test_events_may_be_said_in_words(text, event):
    found = outcome(text)
    assert found == "on " + event if event else found[0] == "!"
