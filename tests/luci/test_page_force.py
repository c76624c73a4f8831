"""What only the owner decides, on the page: the verdict, whose words, what is forced, the typed word, the refusal."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page_changes import CONTRAST, ask, button, hold_all

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("OASIS_SHOTS", "")  # a folder for pictures to look at


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=os.path.join(SHOTS, name + ".png"))


def refusal(page: Any) -> Any:
    """Ask for what is refused and wait for its card, and for the end of that run."""
    button(page, "New chat").click()
    ask(page, "shut the lan")
    page.get_by_text("The router refused that.").wait_for()
    button(page, "Send").wait_for()
    return page.locator(".oasis-refused").last


def force(page: Any) -> Any:
    refusal(page)
    button(page, "Propose anyway").click()
    button(page, "Yes, propose it").click()
    button(page, "Approve").wait_for()
    return page.locator(".oasis-plan").last


def test_a_refusal_shows_what_and_why(router: Any, visit: Any) -> None:
    page = visit(router().url)
    card = refusal(page)
    for words in ("Refused change", "Shut the LAN for <b>guests</b>", "Why it was refused", "rejects 192.168.1.142",
                  "1 UCI command", "Words of others were in sight"):  # fmt: skip
        expect(card).to_contain_text(words)
    expect(button(page, "Approve")).to_have_count(0)
    shot(page, "refused")
    hold_all(page)


def test_forcing_takes_a_second_step_below_the_reasons(router: Any, visit: Any) -> None:
    page = visit(router().url)
    card = refusal(page)
    button(page, "Propose anyway").click()
    expect(card).to_contain_text("Propose it although you may not reach the router any more?")
    expect(card).to_contain_text("rejects 192.168.1.142")
    expect(button(page, "No"), "Enter twice forces nothing").to_be_focused()
    shot(page, "confirm")
    button(page, "No").click()
    expect(card).to_contain_text("Why it was refused")
    expect(page.locator(".oasis-plan")).to_have_count(0)
    button(page, "Propose anyway").click()
    button(page, "Yes, propose it").click()
    button(page, "Approve").wait_for()
    expect(card).to_contain_text("Proposed all the same")
    expect(card.get_by_role("button")).to_have_count(0)
    hold_all(page)


def test_the_card_of_a_forced_plan_says_all_that_the_owner_must_know(router: Any, visit: Any) -> None:
    page = visit(router().url, height=1200)
    card = force(page)
    for words in ("Will you still reach the router? No", "zone lan rejects 192.168.1.142 on port 80",
                  "Words of others are in it: device names", "Forced by you: reachability",
                  "Afterwards the router is at another address: http://192.168.7.1/",
                  "Type risky to approve it: the AI worker is not confined, nft is missing"):  # fmt: skip
        expect(card).to_contain_text(words)
    expect(card.locator(".oasis-reach")).to_have_attribute("data-verdict", "no")
    shot(page, "forced")
    hold_all(page)


@pytest.mark.parametrize("verdict, words", [("yes", "Yes"), ("cannot_tell", "Unknown")])
def test_a_verdict_is_told_in_words(router: Any, visit: Any, verdict: str, words: str) -> None:
    page = visit(router().url)
    told = page.evaluate(
        """verdict => L.require('oasis.plan').then(plan => plan.card({ id: 'p', hash: 'h', short: 's', summary: 'x',
            risk: 'risky', verdict: { verdict: verdict, reasons: [ 'a <i>reason</i>' ] } }, null).node.innerText)""",
        verdict,
    )
    assert f"Will you still reach the router? {words}" in told and "a <i>reason</i>" in told


def test_the_typed_word_enables_approving(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "a loose one")
    field = page.get_by_role("textbox", name="Type risky to approve it")
    field.wait_for()
    expect(button(page, "Approve")).to_be_disabled()
    expect(button(page, "Decline")).to_be_enabled()
    for typed in ("r", "Risky", "risky "):
        field.fill(typed)
        expect(button(page, "Approve"), typed).to_be_disabled()
        field.press("Enter")
    expect(page.locator(".oasis-plan[data-decision]")).to_have_count(0)
    field.fill("risky")
    expect(button(page, "Approve")).to_be_enabled()
    field.press("Enter")
    button(page, "Keep").wait_for()
    hold_all(page)


def test_without_the_word_a_plan_is_still_declined(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "a loose one")
    button(page, "Decline").click()
    page.get_by_text("I leave everything as it is").wait_for()


def test_code_is_told_and_cannot_be_forced_here(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "run a script")
    page.get_by_text("Only you can do that.").wait_for()
    card = page.locator(".oasis-refused")
    expect(card).to_contain_text("oasis apply --force exec")
    expect(card.get_by_role("button")).to_have_count(0)


def test_a_viewer_sees_the_refusal_and_forces_nothing(router: Any, visit: Any) -> None:
    one = router(viewer="any")
    owner = visit(one.url)
    force(owner)
    page = visit(one.url, user="viewer")
    page.locator(".oasis-plan").wait_for()
    expect(button(page, "Propose anyway").or_(button(page, "Approve"))).to_have_count(0)
    expect(page.locator(".oasis-word")).to_have_count(0)


def test_a_refusal_that_is_gone_says_so_and_can_be_tried_again(router: Any, visit: Any) -> None:
    page = visit(router().url)
    card = refusal(page)
    page.evaluate(
        "L.require('oasis.rpc').then(api => { api.call = () => Promise.reject(api.fault('usage', 'gone', '')); })"
    )
    button(page, "Propose anyway").click()
    button(page, "Yes, propose it").click()
    card.get_by_text("gone").wait_for()
    expect(button(page, "Propose anyway")).to_be_enabled()


def test_the_keyboard_alone_forces_and_approves(router: Any, visit: Any) -> None:
    page = visit(router().url)
    refusal(page)
    button(page, "Propose anyway").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    field = page.get_by_role("textbox", name="Type risky to approve it")
    field.focus()
    page.keyboard.type("risky")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(button(page, "Approve")).to_be_focused()
    page.keyboard.press("Enter")
    button(page, "Keep").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_it_fits_and_can_be_read(router: Any, visit: Any, scheme: str) -> None:
    page = visit(router().url, width=360, height=740, scheme=scheme)
    page.locator(".oasis-side > summary").click()
    card = refusal(page)
    shot(page, "phone-refused-" + scheme)
    button(page, "Propose anyway").click()
    shot(page, "phone-confirm-" + scheme)
    assert card.locator(".oasis-asked li").evaluate(CONTRAST) >= 4.5
    button(page, "Yes, propose it").click()
    button(page, "Approve").wait_for()
    shot(page, "phone-forced-" + scheme)
    for selector in (".oasis-reach li", ".oasis-others", ".oasis-forced strong", ".oasis-word span", ".oasis-no"):
        assert page.locator(selector).last.evaluate(CONTRAST) >= 4.5, selector
    page.locator(".oasis-reach").scroll_into_view_if_needed()
    shot(page, "phone-reach-" + scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(
        "document.querySelector('.oasis-log').scrollWidth <= document.querySelector('.oasis-log').clientWidth"
    )
