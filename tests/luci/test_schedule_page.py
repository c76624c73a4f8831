"""The page of standing orders with the real daemon behind it: made, changed, tried, approved ahead, deleted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.daemon.test_wiring import services
from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.test_services_page import closed, dialog, press, row

pytestmark = [pytest.mark.browser, pytest.mark.part("schedule")]

WISH = "What is to be done then"
RISKY = "change the wifi name to Attic"


def orders(daemon: Any) -> list[tuple[str, str, bool]]:
    return [(one["when"], one["wish"], one["enabled"]) for one in daemon.call("schedule.list")["entries"]]


def add(page: Any, when: str, wish: str) -> None:
    press(page, "Add a scheduled job")
    page.get_by_label("When", exact=True).fill(when)
    page.get_by_label(WISH).fill(wish)
    press(dialog(page), "Save")


def test_order_is_made_changed_switched_and_deleted(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="schedule")
    expect(page.get_by_text("There is no scheduled job yet.")).to_be_visible()
    add(page, "0 0 30 2 *", "call the router <b>attic</b>")
    expect(dialog(page).get_by_role("alert")).to_contain_text("never comes")
    page.get_by_label("When", exact=True).fill("at 10 pm")
    press(dialog(page), "Save")
    expect(dialog(page).get_by_role("alert")).to_contain_text("whether every day")
    page.get_by_label("When", exact=True).fill("jeden Tag um 22 Uhr")
    press(dialog(page), "Save")
    closed(page)
    order = row(page, "call the router <b>attic</b>")
    expect(order).to_contain_text("every day at 22:00")
    expect(order).to_contain_text(daemon.call("schedule.list")["entries"][0]["moments"][2])
    expect(order.locator(".oasis-badge")).to_have_text("on")
    find_barriers(page)
    press(order, "Change")
    expect(page.get_by_label(WISH)).to_have_value("call the router <b>attic</b>")
    page.get_by_label(WISH).fill("call the router attic")
    press(dialog(page), "Save")
    closed(page)
    expect(row(page, "call the router attic").get_by_role("button", name="Change")).to_be_focused()
    press(row(page, "call the router attic"), "Switch off")
    expect(row(page, "call the router attic").locator(".oasis-badge")).to_have_text("off")
    assert orders(daemon) == [("22:00 daily", "call the router attic", False)]
    press(row(page, "call the router attic"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    expect(page.get_by_text("There is no scheduled job yet.")).to_be_visible()
    assert orders(daemon) == []


def test_order_is_run_now_and_what_came_of_it_is_told(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("schedule.add", when="22:00 daily", wish="call this router attic")
    page = visit(url, where="schedule")
    press(row(page, "call this router attic"), "Run now")
    expect(page.locator(".oasis-run").get_by_role("status").last).to_have_text("Done")
    expect(row(page, "(22:00 daily): Done")).to_be_visible()


def test_plan_is_approved_ahead_and_nothing_is_done(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("schedule.add", when="03:00 daily", wish=RISKY)
    page = visit(url, where="schedule")
    press(row(page, RISKY), "Approve ahead")
    plan = page.locator(".oasis-plan")
    expect(plan).to_contain_text("ahead, for every run (03:00 daily)")
    word = plan.get_by_role("textbox")
    if word.count():
        word.fill("risky")
    press(plan, "Approve")
    expect(plan).to_contain_text("Approved ahead: nothing is changed now")
    expect(row(page, RISKY)).to_contain_text("1 plan is approved ahead")
    assert services(daemon.root) == []


def test_viewer_reads_orders_and_can_press_nothing(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("schedule.add", when="on wan_down", wish="tell me")
    page = visit(url, user="viewer", where="schedule")
    expect(row(page, "tell me")).to_be_visible()
    assert page.locator(".oasis button:not(:disabled)").count() == 0
