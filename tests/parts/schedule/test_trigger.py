"""When: the seed's words, cron's fields, events; in zones whose clocks change, judged day by day."""

import datetime
import itertools
import zoneinfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.errors import UsageError
from oasis.parts.schedule.trigger import EVENTS, checked, parse
from oasis.parts.schedule.zone import Zone
from tests.parts.schedule.test_zone import BEGIN, END, NAMES, RULES, judged

BERLIN = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
NOW = 1_795_335_000  # Sunday 2026-11-22 09:10 in Berlin


def shown(text, now=NOW, zone=BERLIN):
    return zone.shown(checked(text, now, zone).next(now, zone))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("22:00 daily", "2026-11-22 22:00"),
        ("09:10 daily", "2026-11-23 09:10"),  # exactly now is over
        ("09:11 once", "2026-11-22 09:11"),
        ("8:5 once", "2026-11-23 08:05"),
        ("0:0 DAILY", "2026-11-23 00:00"),
        ("  07:00   daily ", "2026-11-23 07:00"),
        ("08:30 weekly(friday)", "2026-11-27 08:30"),
        ("08:30 weekly( fri )", "2026-11-27 08:30"),  # the seed refused inner blanks here
        ("08:30 weekly(sunday)", "2026-11-29 08:30"),
        ("10:30 weekly(sunday)", "2026-11-22 10:30"),
        ("08:30 custom(mon,wed,fri)", "2026-11-23 08:30"),
        ("08:30 custom( Wed , thurs )", "2026-11-25 08:30"),
        ("08:30 custom (selasa)", "2026-11-24 08:30"),
        ("08:30 weekly(minggu)", "2026-11-29 08:30"),
        ("07:00 monthly(1)", "2026-12-01 07:00"),
        ("07:00 monthly(22)", "2026-12-22 07:00"),
        ("07:00 monthly(31)", "2026-11-30 07:00"),  # the seed made it the first of December
        ("2026-12-24 18:00", "2026-12-24 18:00"),
        ("2028-02-29 18:00 once", "2028-02-29 18:00"),
        ("30 22 * * mon-fri", "2026-11-23 22:30"),
        ("*/15 9 * * *", "2026-11-22 09:15"),
        ("0 8-18/5 * * *", "2026-11-22 13:00"),
        ("0 0 1 JAN *", "2027-01-01 00:00"),
        ("0 12 * * 7", "2026-11-22 12:00"),
        ("0 12 * * 0", "2026-11-22 12:00"),
        ("0 12 24 * mon", "2026-11-23 12:00"),  # either of both kinds of days
        ("0 12 */2 * mon", "2026-11-23 12:00"),  # both, for one begins with *
        ("0 12 */5 * tue", "2026-12-01 12:00"),
        ("5,35 10-11,20 * * *", "2026-11-22 10:05"),
        ("0 0 * * fri-sun", "2026-11-27 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("@daily", "2026-11-23 00:00"),
        ("@weekly", "2026-11-29 00:00"),
        ("@monthly", "2026-12-01 00:00"),
        ("@Yearly", "2027-01-01 00:00"),
        ("@hourly", "2026-11-22 10:00"),
    ],
)  # fmt: skip
def test_next_moment(text, expected):
    assert shown(text) == expected


def test_last_day_of_every_month_in_a_leap_year():
    found, at = [], BERLIN.moment((datetime.date(2028, 1, 1) - datetime.date(1970, 1, 1)).days, 0)
    meant = parse("12:00 monthly(31)")
    for _ in range(12):
        at = meant.next(at, BERLIN)
        found.append(BERLIN.shown(at)[5:10])
    assert found == ["01-31", "02-29", "03-31", "04-30", "05-31", "06-30", "07-31", "08-31", "09-30", "10-31", "11-30",
                     "12-31"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin with a time"),
        ("soon", "does not begin with a time"),
        ("22:00", "how often"),
        ("22:00 sometimes", "how often"),
        ("24:00 daily", "time of day"),
        ("12:60 daily", "time of day"),
        ("-1:00 daily", "no time"),
        ("１２:00 daily", "no time"),
        ("12:00:00 daily", "time of day"),
        ("08:30 weekly()", "day of the week"),
        ("08:30 weekly(mon,tue)", "how often"),
        ("08:30 weekly(someday)", "someday"),
        ("08:30 custom", "how often"),
        ("08:30 custom(mon", "bracket"),
        ("08:30 daily(mon)", "how often"),
        ("07:00 monthly(0)", "day of a month"),
        ("07:00 monthly(32)", "day of a month"),
        ("07:00 monthly(-1)", "day of a month"),
        ("2026-02-30 08:00", "there is no day 2026-02-30"),
        ("2026-13-01 08:00", "there is no day"),
        ("2026-12-24", "no time"),
        ("2025-12-24 18:00", "is over already"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6,9,11 *", "never comes"),
        ("60 0 * * *", "minutes: '60'"),
        ("0 24 * * *", "hours: '24'"),
        ("0 0 0 * *", "days of the month: '0'"),
        ("0 0 * 13 *", "months: '13'"),
        ("0 0 * * 8", "weekdays: '8'"),
        ("0 0 * * moon", "weekdays: 'moon'"),
        ("0 0 * * fri-mon", "backwards"),
        ("5/15 * * * *", "step needs a range"),
        ("*/0 * * * *", "'0'"),
        ("0 0 * *", "time of day"),
        ("0, 0 * * *", "minutes: ''"),
        ("*/4 * * * *", "every 4 minute"),
        ("59,0 * * * *", "every 1 minute"),
        ("* * * * *", "every 1 minute"),
        ("@reboot", "@reboot"),
        ("on fire", "no event 'fire'"),
        ("on", "no event"),
        ("0 0 * * " + ",".join(["1"] * 200), "no time"),
    ],
)  # fmt: skip
def test_what_never_comes_or_is_no_time_is_refused_with_a_hint(text, said):
    with pytest.raises(UsageError) as caught:
        checked(text, NOW, BERLIN)
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("event", EVENTS)
def test_events_have_no_moment(event):
    for text in ("on " + event, "ON  " + event.replace("_", "-")):
        assert checked(text, NOW, BERLIN).event == event
    assert parse("on " + event).next(NOW, BERLIN) is None


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 1439), st.integers(BEGIN, END))
def test_daily_is_once_a_day_whatever_the_clocks_do(name, minutes, begin):
    zone, meant = Zone(RULES[name]), parse("%d:%d daily" % divmod(minutes, 60))
    at, found = begin, []
    for _ in range(370):  # both changes of a year
        at = meant.next(at, zone)
        found.append(at)
    days = [one // 86400 for one in found]
    first = (datetime.datetime.fromtimestamp(found[0], zoneinfo.ZoneInfo(name)).date() - datetime.date(1970, 1, 1)).days
    assert found == [judged(name, first + number, minutes) for number in range(370)]
    assert len(set(found)) == 370
    assert max(later - earlier for earlier, later in itertools.pairwise(days)) <= 2


def moments(text, begin, hours):
    meant, at, found = parse(text), begin, []
    while True:
        at = meant.next(at, BERLIN)
        if at is None or at > begin + hours * 3600:
            return [BERLIN.shown(one)[11:] for one in found]
        found.append(at)


def test_time_that_is_skipped_comes_once_just_after():
    march = BERLIN.moment((datetime.date(2027, 3, 28) - datetime.date(1970, 1, 1)).days, 0)
    assert moments("02:30 daily", march, 12) == ["03:00"]
    assert moments("*/20 1-3 * * *", march, 12) == ["01:00", "01:20", "01:40", "03:00", "03:20", "03:40"]


def test_time_that_comes_twice_comes_once():
    october = BERLIN.moment((datetime.date(2027, 10, 31) - datetime.date(1970, 1, 1)).days, 0)
    assert moments("02:30 daily", october, 12) == ["02:30"]
    assert moments("*/30 1-3 * * *", october, 12) == ["01:00", "01:30", "02:00", "02:30", "03:00", "03:30"]
    second = BERLIN.moment((datetime.date(2027, 10, 31) - datetime.date(1970, 1, 1)).days, 180) - 1800
    assert BERLIN.shown(second)[11:] == "02:30", "the second one"
    assert moments("02:45 daily", second, 12) == []


FIELD = st.sampled_from(["*", "*/2", "*/7", "1", "3-5", "2,4", "1-6/2", "0", "6"])


@settings(max_examples=70, deadline=None)
@given(st.sampled_from(["0", "30", "*/20", "5,45"]), FIELD, FIELD, FIELD, FIELD, st.integers(BEGIN, END))
def test_cron_is_what_a_look_at_every_minute_finds(minute, hour, day, month, weekday, now):
    text = " ".join([minute, hour, "1-5" if day == "0" else day, "2" if month == "0" else month, weekday])
    found = checked(text, now, Zone("UTC")).next(now, Zone("UTC")) if _comes(text, now) else None
    if found is None:
        return
    assert found > now
    assert _fits(text, found)
    step = now - now % 60 + 60
    assert not any(_fits(text, at) for at in range(step, min(found, step + 3 * 86400), 60))


def _comes(text, now):
    try:
        return checked(text, now, Zone("UTC")) is not None
    except UsageError:
        return False


def _fits(text, at):
    """Judge one minute, read anew from the definition of cron's fields."""
    when = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    words = text.split()
    values = [when.minute, when.hour, when.day, when.month, when.isoweekday() % 7]
    lows = [0, 0, 1, 1, 0]
    fits = [_has(word, value, low) for word, value, low in zip(words, values, lows, strict=True)]
    is_either = words[2][0] != "*" and words[4][0] != "*"
    return when.second == 0 and all(fits[:2]) and fits[3] and (any if is_either else all)([fits[2], fits[4]])


def _has(word, value, low):
    for part in word.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        begin, end = (low, 99) if span == "*" else (int(first), int(last or first))
        if begin <= value <= end and (value - begin) % int(step or 1) == 0:
            return True
    return False


@given(st.text(max_size=60) | st.from_regex(r"[0-9*/,: -]{1,30}", fullmatch=True))
def test_any_text_is_a_time_or_a_clear_error(text):
    try:
        found = checked(text, NOW, BERLIN)
    except UsageError as error:
        assert error.hint
        return
    assert found.event or found.next(NOW, BERLIN) > NOW
