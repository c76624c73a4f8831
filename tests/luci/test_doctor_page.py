"""The page of the doctor in a real browser: findings by severity, checks, and fixes that are plans first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def test_findings_stand_worst_first_with_their_evidence(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    cards = page.locator(".oasis-finding")
    expect(cards).to_have_count(3)
    expect(cards.locator("h3 + .oasis-badge")).to_have_text(["Fault", "Warning", "Note"])
    expect(page.get_by_text("1 fault, 1 warning, 1 note")).to_be_visible()
    for words in (
        'The Wi-Fi "Guests" has no password',
        "Everybody near the house",
        "3 devices are connected",
        "set a password",
    ):
        expect(cards.first).to_contain_text(words)
    expect(cards.nth(2).get_by_role("button")).to_have_count(0)
    assert "null" not in page.inner_text("#view")


def test_checks_are_told_with_those_left_out(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    page.get_by_text("5 checks in 1.3 s").click()
    expect(page.locator("[data-check]")).to_have_count(5)
    expect(page.locator("[data-check=usb]")).to_contain_text("nothing is plugged in")
    expect(page.locator("[data-check=usb]")).to_contain_text("left out")
    expect(page.locator("[data-check=wan]")).to_contain_text("in order")


def test_looking_proposes_nothing_and_a_fix_waits_for_the_owner(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    expect(page.locator(".oasis-finding")).to_have_count(3)
    expect(page.locator(".oasis-plan")).to_have_count(0)
    page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    box = page.get_by_role("region", name='Fix: The Wi-Fi "Guests" has no password')
    expect(box.locator(".oasis-plan .oasis-summary")).to_have_text('The Wi-Fi "Guests" has no password')
    expect(box.get_by_role("status")).to_have_text("Waiting for your decision")
    button(page, "Decline").click()
    expect(box.get_by_role("status")).to_have_text("Done")
    expect(page.locator(".oasis-change")).to_have_count(0)


def test_approved_fix_is_applied_and_kept_on_this_page(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    button(page, "Approve").click()
    button(page, "Keep").click()
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed")
    button(page, "Look again").click()
    expect(page.locator(".oasis-finding")).to_have_count(3)


def test_fix_that_waits_is_there_again_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    button(page, "Approve").wait_for()
    page.reload()
    button(page, "Approve").click()
    button(page, "Keep").wait_for()


def test_viewer_is_offered_no_fix(router: Any, visit: Any) -> None:
    page = visit(router(viewer="any").url, user="viewer", where="doctor")
    expect(page.locator(".oasis-finding")).to_have_count(3)
    expect(button(page, "Fix…")).to_have_count(0)


def test_doctor_that_does_not_answer_is_told_and_asked_again(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    expect(page.locator(".oasis-finding")).to_have_count(3)
    page.route("**/ubus/**", lambda route: route.abort())
    button(page, "Look again").click()
    expect(page.get_by_role("alert").first).to_contain_text("The router does not answer")
    page.unroute("**/ubus/**")
    button(page, "Look again").click()
    expect(page.locator(".oasis-verdict")).to_have_text("1 fault, 1 warning, 1 note")
