"""Times as people write them; the zone is the host's, so expectations are made with the same local time."""

import time

from oasis.core import when
from oasis.errors import UsageError


def local(year, month, day, hour=0, minute=0, second=0):
    return int(time.mktime((year, month, day, hour, minute, second, 0, 0, -1)))


NOW = local(2026, 11, 20, 15, 30)


def refused(read, text):
    try:
        read(text, NOW)
    except UsageError as error:
        return error.message
    raise AssertionError("%r was taken" % text)


def test_lengths_count_from_now():
    lengths = {"90s": 90, "30m": 1800, "30 min": 1800, "2h": 7200, "2 hours": 7200, "1 day": 86400, "3d": 259200}
    lengths.update({"1w": 604800, "1 week": 604800, " 2H ": 7200, "45 seconds": 45, "10 minutes": 600})
    for text in lengths:
        assert when.since(text, NOW) == NOW - lengths[text], text
        assert when.until(text, NOW) == NOW + lengths[text], text


def test_a_time_of_day_is_the_last_one_or_the_next_one():
    assert when.since("14:00", NOW) == local(2026, 11, 20, 14)
    assert when.since("22:00", NOW) == local(2026, 11, 19, 22)
    assert when.until("22:00", NOW) == local(2026, 11, 20, 22)
    assert when.until("14:00", NOW) == local(2026, 11, 21, 14)
    assert when.until("0:05", NOW) == local(2026, 11, 21, 0, 5)
    assert when.since("15:30", NOW) == NOW
    assert when.until("15:30", NOW) == local(2026, 11, 21, 15, 30)


def test_days_by_name():
    assert when.since("yesterday", NOW) == local(2026, 11, 19)
    assert when.since("Today", NOW) == local(2026, 11, 20)
    assert when.until("today", NOW) == local(2026, 11, 21)
    assert when.until("tomorrow", NOW) == local(2026, 11, 22)


def test_the_first_of_a_month_follows_the_last():
    now = local(2026, 10, 31, 23, 0)
    assert when.until("22:00", now) == local(2026, 11, 1, 22)
    assert when.since("yesterday", local(2026, 3, 1, 1)) == local(2026, 2, 28)


def test_dates():
    assert when.since("2026-11-19", NOW) == local(2026, 11, 19)
    assert when.since("2026-11-19 08:15", NOW) == local(2026, 11, 19, 8, 15)
    assert when.since("2026-11-19T08:15:30", NOW) == local(2026, 11, 19, 8, 15, 30)
    assert when.until("2026-12-24", NOW) == local(2026, 12, 25), "the day is included"
    assert when.until("2026-11-20", NOW) == local(2026, 11, 21)
    assert when.until("2026-12-24 18:00", NOW) == local(2026, 12, 24, 18)


def test_dates_with_a_z_are_utc():
    known = {"1970-01-01T00:00:00Z": 0, "2000-02-29 12:00Z": 951825600, "2026-11-20T22:00:00Z": 1795212000}
    known["2027-03-01T00:00z"] = 1803859200
    for text in known:
        assert when.since(text, NOW) == known[text], text


def test_what_is_no_time_is_refused():
    words = ["", "soon", "25:00", "12:60", "1:2", "12:345", "2h30", "h", "5", "-2h", "2y", "2026-13-01", "2026-02-30"]
    words += [
        "2026-11-20 25:00",
        "2026-11",
        "20261120",
        "9999999h",
        "2026-11-20 1:2:3:4",
        "2026-11-20 1:02",
        "2026-11-20T",
        "12:-1",
    ]
    words += ["2026-02-30T00:00Z", "2026-1-001", "+5-11-2012"]
    for text in words:
        assert "is no time" in refused(when.since, text), text
        assert "is no time" in refused(when.until, text), text


def test_an_end_lies_in_the_future():
    for text in ("0h", "2026-11-19", "2026-11-20 15:30", "2026-11-20 15:29"):
        assert "is over already" in refused(when.until, text), text


def test_a_shown_time_is_read_back():
    assert when.shown(NOW) == "2026-11-20 15:30"
    assert when.since(when.shown(NOW), NOW + 99) == NOW


def test_centuries_and_the_last_hour():
    assert when.since("2000-12-01T00:00Z", NOW) == 975628800
    try:
        time.gmtime(4107542400)
    except OverflowError:  # a C library whose times have 32 bits
        assert "is no time" in refused(when.until, "2100-03-01T00:00Z")
    else:
        assert when.until("2100-03-01T00:00Z", NOW) == 4107542400
    assert when.until("23:59", NOW) == local(2026, 11, 20, 23, 59)
    assert "is no time" in refused(when.until, "24:00")
