"""Zones by their rules alone, with Python's zoneinfo and its tables as the judge."""

import datetime
import json
import zoneinfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.errors import UsageError
from oasis.parts.schedule.zone import RULE_CHARS, Zone, day_number, month_days
from tests.oasisd import REPOSITORY

with open(REPOSITORY + "/oasis/system/time_zones.json", encoding="utf-8") as handle:
    RULES = json.load(handle)["zones"]
# Its clocks follow the moon, which no rule can say.
NAMES = sorted(name for name in RULES if name != "Africa/Casablanca" and name in zoneinfo.available_timezones())
# Rules hold for the future; what a country did before is in the tables only.
BEGIN, END = 1_830_000_000, 2_145_000_000
UTC = datetime.timezone.utc


def judged(name, day, minutes):
    """Return the moment of a wall time as zoneinfo has it: the first of two, the end of a gap for one that is none."""
    zone = zoneinfo.ZoneInfo(name)
    naive = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=day, minutes=minutes)
    found = [naive.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    real = [one for one in found if one.astimezone(zone).replace(tzinfo=None) == naive]
    if real:
        return int(min(real).timestamp())
    low, high = (int(one.timestamp()) for one in sorted(found))
    before = datetime.datetime.fromtimestamp(low, zone).utcoffset()
    while high - low > 1:  # the clocks change in between
        middle = (low + high) // 2
        if datetime.datetime.fromtimestamp(middle, zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), st.integers(BEGIN, END))
def test_offset_is_that_of_the_tables(name, unix_s):
    expected = datetime.datetime.fromtimestamp(unix_s, zoneinfo.ZoneInfo(name))
    zone = Zone(RULES[name])
    assert zone.offset_s(unix_s) == expected.utcoffset().total_seconds()
    assert zone.local(unix_s) == (*expected.timetuple()[:5], expected.weekday())


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), st.integers(BEGIN // 86400, END // 86400), st.integers(0, 1439))
def test_moment_is_that_of_the_tables(name, day, minutes):
    assert Zone(RULES[name]).moment(day, minutes) == judged(name, day, minutes)


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"])
def test_moments_around_every_change_of_the_clocks(name):
    rule = RULES.get(name) or {"Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"}[name]
    zone, changed = Zone(rule), 0
    for day in range(day_number(2030, 1, 1), day_number(2032, 1, 1)):
        if zone.offset_s(day * 86400 - 43200) != zone.offset_s(day * 86400 + 86400):
            changed += 1
            for minutes in range(0, 1440, 15):
                assert zone.moment(day, minutes) == judged(name, day, minutes), (day, minutes)
    assert changed >= 4, "the changes of two years"


@pytest.mark.parametrize(
    ("rule", "unix_s", "offset_s"),
    [
        ("UTC", BEGIN, 0),
        ("UTC0", BEGIN, 0),
        ("<+0545>-5:45", BEGIN, 20700),
        ("EST5EDT,0/0,J365/25", BEGIN, -14400),  # summer time all year
        ("IST-1GMT0,M10.5.0,M3.5.0/1", 1_800_000_000, 0),  # winter time is the exception
        ("IST-1GMT0,M10.5.0,M3.5.0/1", 1_815_000_000, 3600),
        ("EST5EDT", 1_815_000_000, -14400),  # when it does not say, as in New York
        ("AAA3BBB,J60/2,J300/2", 1_835_481_600 + 5 * 3600 - 1, -10800),  # a leap day is not counted: March 1
        ("AAA3BBB,J60/2,J300/2", 1_835_481_600 + 5 * 3600, -7200),
    ],
)
def test_rules_that_no_common_zone_has(rule, unix_s, offset_s):
    assert Zone(rule).offset_s(unix_s) == offset_s


@pytest.mark.parametrize(
    "rule",
    ["", "1", "CE", "CET", "Berlin", "CET-", "CET-25", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
     "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,J0,J366",
     "CET-1 CEST", "CET-1CEST,M3.5.0,M10.5.0x", "<+01-1", "Europe/Berlin", "CET-1:60", "x" * (RULE_CHARS + 1), "CET-١"],
)  # fmt: skip
def test_what_is_no_rule_is_refused_and_named(rule):
    with pytest.raises(UsageError) as caught:
        Zone(rule)
    assert "no time zone" in caught.value.message
    assert "CET-1CEST" in caught.value.hint


@given(st.text(max_size=RULE_CHARS + 20))
def test_any_text_is_a_zone_or_a_clear_error(text):
    try:
        zone = Zone(text)
    except UsageError:
        return
    assert abs(zone.offset_s(BEGIN)) < 200 * 3600


@given(st.dates(datetime.date(1970, 1, 1), datetime.date(2199, 12, 31)))
def test_days_and_months_are_those_of_the_calendar(date):
    assert day_number(date.year, date.month, date.day) == (date - datetime.date(1970, 1, 1)).days
    following = datetime.date(date.year + date.month // 12, date.month % 12 + 1, 1)
    assert month_days(date.year, date.month) == (following - datetime.timedelta(days=1)).day
