"""The page of usage with the real daemon behind it: months, services, a chat, the budget, and a file to save."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.pictures import month, say
from tests.luci.test_services_page import closed, dialog, press, row

pytestmark = pytest.mark.browser


def cells(place: Any) -> list[str]:
    return [text.strip() for text in place.locator("th, td").all_inner_texts()]


def test_months_and_services_have_counts_costs_and_sums(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="usage")
    months = page.get_by_role("table", name="Months")
    heads = ["Month", "Requests", "Tokens read", "of these cached", "Tokens written", "Cost (EUR)", "Compared"]
    expect(months.get_by_role("columnheader")).to_have_text(heads)
    expect(months.get_by_role("rowheader")).to_have_text([month(0), month(1), month(2)])
    assert cells(row(months, month(0)))[1:6] == ["276", "1,701,200", "830,400", "114,520", "1.88"]
    now = page.get_by_role("table", name=f"Usage of {month(0)}")
    assert cells(row(now, "openai"))[1:] == ["212", "1,480,300", "830,400", "96,120", "1.88"]
    assert cells(row(now, "ollama"))[-1] == "–"
    assert cells(now.locator("tfoot"))[1:] == ["276", "1,701,200", "830,400", "114,520", "1.88"]
    page.get_by_label("Month").select_option(month(1))
    expect(page.get_by_role("table", name=f"Usage of {month(1)}")).to_contain_text("gpt-5.6")
    expect(page.locator("tfoot")).to_have_count(0)
    assert "null" not in page.inner_text("#view")
    find_barriers(page)


def test_budget_is_shown_as_a_part_and_in_words(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="usage")
    expect(page.get_by_text("1.88 of 6.00 EUR")).to_be_visible()
    expect(page.get_by_role("img", name="31 percent")).to_be_visible()


def test_budget_is_changed_and_taken_away(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="usage")
    press(page, "Change the budget")
    expect(page.get_by_label("Cost in a month")).to_have_value("6.00")
    page.get_by_label("Cost in a month").fill("much")
    press(dialog(page), "Save")
    expect(dialog(page).get_by_role("alert")).to_contain_text("budget_cost is 'much'")
    page.get_by_label("Cost in a month").fill("")
    page.get_by_label("Tokens in a month").fill("2000000")
    press(dialog(page), "Save")
    closed(page)
    expect(page.get_by_text("1,576,420 of 2,000,000 tokens")).to_be_visible()
    assert daemon.call("usage.list")["budget"]["tokens"] == 2000000
    press(page, "Change the budget")
    page.get_by_label("Tokens in a month").fill("")
    press(dialog(page), "Save")
    closed(page)
    expect(page.get_by_text("There is no limit.")).to_be_visible()
    expect(page.get_by_role("button", name="Change the budget")).to_be_focused()


def test_prices_are_added_changed_and_deleted(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="usage")
    prices = page.get_by_role("table", name="Prices")
    assert cells(row(prices, "gpt-5.6"))[1:5] == ["OpenAI", "1.25", "10", "0.13"]
    press(page, "Add a price")
    page.get_by_label("Model", exact=True).fill("qwen3:8b")
    dialog(page).locator("label").filter(has_text="For a million").locator("input").fill("1")
    press(dialog(page), "Save")
    expect(dialog(page).get_by_role("alert")).to_contain_text("needs what is read and what is written")
    page.get_by_label("Written").fill("2")
    press(dialog(page), "Save")
    closed(page)
    assert cells(row(prices, "qwen3:8b"))[1:5] == ["any service", "1", "2", "1"]
    now = page.get_by_role("table", name=f"Usage of {month(0)}")
    expect(row(now, "ollama")).to_contain_text("0.25")
    press(row(prices, "gpt-5.6"), "Change")
    page.get_by_label("Written").fill("20")
    press(dialog(page), "Save")
    closed(page)
    expect(row(prices, "gpt-5.6")).to_contain_text("20")
    press(row(prices, "qwen3:8b"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    assert [one["output"] for one in daemon.call("usage.list")["prices"]] == ["20"]


def test_viewer_sees_costs_and_sets_none(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, user="viewer", where="usage")
    expect(page.get_by_role("table", name="Prices")).to_be_visible()
    expect(page.locator(".oasis button:not(:disabled)")).to_have_text(["Save all as CSV"])


def test_usage_of_one_chat(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    say(daemon, "call this router attic")
    page = visit(url, where="usage")
    page.get_by_label("Chat").select_option(index=1)
    expect(
        page.get_by_text("No model was asked in this chat.").or_(page.get_by_role("table", name="Usage of a chat"))
    ).to_be_visible()


def test_all_is_saved_for_a_spreadsheet_by_a_viewer_too(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, user="viewer", where="usage")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save all as CSV").click()
    assert saving.value.suggested_filename == "oasis-usage.csv"
    with open(saving.value.path(), encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(io.StringIO(file.read())))
    assert len(rows) == 5
    assert rows[1] == {
        "month": month(0), "service": "openai", "model": "gpt-5.6", "requests": "212", "input_tokens": "1480300",
        "cached_tokens": "830400", "output_tokens": "96120", "cost": "1.88", "currency": "EUR",
    }  # fmt: skip
    expect(page.get_by_role("status").filter(has_text="Saved as oasis-usage.csv")).to_be_visible()


def test_cell_of_the_file_is_no_formula(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="usage")
    text = page.evaluate("L.require('oasis.page').then(page => page.csv([['=1+1', '-5', '@x', 'a\"b', null]]))")
    assert text == '\ufeff"\'=1+1","-5","\'@x","a""b",""\r\n'
