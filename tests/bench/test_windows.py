"""What a model is sent of one long task, by how much it takes: all of it, or the newest with a word on the rest."""

import json

import pytest

from tests.bench import windows

LEFT_OUT = "Left out for want of room: of this task the results of read_config("


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rows = {tokens: windows.measured(tokens, str(tmp_path_factory.mktemp("window"))) for tokens in windows.WINDOWS}
    print("\n" + windows.table(list(rows.values())))
    return rows


@pytest.mark.parametrize("tokens", windows.WINDOWS)
def test_no_request_is_longer_than_the_window_and_the_first_is_short(rows, tokens):
    row = rows[tokens]
    assert row["first"] <= row["most"] < tokens
    assert row["first"] <= (1500 if tokens < 32_000 else 3600)


def test_a_small_window_has_few_tools_and_few_rounds_and_a_large_one_all(rows):
    assert (rows[8192]["rounds"], rows[8192]["made"]) == (10, 10) and rows[8192]["tools"] < 8
    for tokens in (32_000, 200_000):
        assert (rows[tokens]["rounds"], rows[tokens]["made"]) == (40, 40) and rows[tokens]["tools"] > 11


@pytest.mark.parametrize(("tokens", "is_left"), [(8192, True), (32_000, True), (200_000, False)])
def test_what_does_not_fit_is_left_out_and_that_is_said_in_one_line(rows, tokens, is_left):
    row = rows[tokens]
    asked = len(windows.PACKAGES) + row["made"] - 2  # the last request that may call has all results but its own
    assert (row["results"] < asked) is is_left
    if is_left:
        assert row["left out"].startswith(LEFT_OUT) and row["left out"].endswith("for what you need of it.")
    else:
        assert row["left out"] == ""


def test_results_lose_whole_entries_with_a_count_and_only_where_they_must(rows):
    assert rows[8192]["cut"] > 0 and rows[32_000]["cut"] == rows[200_000]["cut"] == 0
    for row in rows.values():
        for text in {one for results in row["texts"] for one in results}:
            assert isinstance(json.loads(text), dict), "never cut in the middle"
