"""The chat page in a real browser, against the test double of the daemon: plans, changes, keyboard, phone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


PLAN_WORDS = (
    'Turn on a guest Wi-Fi named "Guests"',
    "add an interface guest",
    "Why this is risky",
    "loses its connection",
    "network (reload)",
    "90 seconds to keep it",
    "Expires in",
    "6 UCI commands",
)


# The contrast of a node's text with the layers of colour behind it, as WCAG counts it.
CONTRAST = """node => {
    const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [ ...n, 1 ] : n; };
    const over = (top, under) => [ 0, 1, 2 ].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
    const light = c => { const [ r, g, b ] = c.slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const layers = [];
    for (let n = node; n; n = n.parentElement) layers.unshift(parse(getComputedStyle(n).backgroundColor));
    const back = layers.reduce((under, top) => over(top, under), [ 255, 255, 255, 1 ]);
    const a = light(over(parse(getComputedStyle(node).color), back)), b = light(back);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


def ask(page: Any, text: str) -> None:
    page.fill("#oasis-input", text)
    page.keyboard.press("Enter")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def plan(page: Any) -> Any:
    """Ask for a risky change and wait for its card."""
    button(page, "New chat").click()
    ask(page, "Please make a guest Wi-Fi")
    button(page, "Approve").wait_for()
    return page.locator(".oasis-plan").last


def apply(page: Any) -> None:
    plan(page)
    button(page, "Approve").click()
    button(page, "Keep").wait_for()


def hold_all(page: Any) -> None:
    """No word `null`, the mark of LuCI's way with missing children, and no script of a model's text has run."""
    assert "null" not in page.inner_text("body")
    assert page.evaluate("window.hacked") is None


def test_plan_card_shows_what_why_and_how(router: Any, visit: Any) -> None:
    page = visit(router().url, height=1200)
    card = plan(page)
    for words in PLAN_WORDS:
        expect(card).to_contain_text(words)
    expect(card.locator(".oasis-removed")).to_have_text(["- option disabled '1'"])
    expect(card.locator(".oasis-added")).to_have_count(5)
    expect(card.get_by_text("set wireless.guest=wifi-iface")).to_be_hidden()
    card.get_by_text("6 UCI commands").click()
    expect(card.get_by_text("set wireless.guest=wifi-iface")).to_be_visible()
    page.get_by_text("Waiting for your decision").wait_for()
    hold_all(page)


def test_tool_call_is_a_folded_card(router: Any, visit: Any) -> None:
    page = visit(router().url)
    plan(page)
    tool = page.locator(".oasis-tool").last
    expect(tool).to_contain_text("read_config")
    expect(tool).to_contain_text("done")
    expect(tool.get_by_text("wireless.radio0=wifi-device")).to_be_hidden()
    tool.locator("summary").click()
    expect(tool.get_by_text("wireless.radio0=wifi-device")).to_be_visible()
    expect(tool.get_by_text("package: wireless")).to_be_visible()


def test_declined_plan_changes_nothing(router: Any, visit: Any) -> None:
    page = visit(router().url)
    card = plan(page)
    button(page, "Decline").click()
    page.get_by_text("I leave everything as it is").wait_for()
    expect(card).to_have_attribute("data-decision", "declined")
    expect(card).to_contain_text("Declined")
    expect(button(page, "Approve")).to_have_count(0)
    expect(page.locator(".oasis-change")).to_have_count(0)


def test_the_other_reading_is_a_button_that_declines_for_it(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "Either of two")
    button(page, "2: turn Wi-Fi off").click()
    page.get_by_text("I leave everything as it is. You chose 2.").wait_for()
    expect(page.locator(".oasis-plan").last).to_have_attribute("data-decision", "declined")


def test_plan_expires(router: Any, visit: Any) -> None:
    page = visit(router(expires_s=1.5).url)
    card = plan(page)
    page.get_by_text("Expired: nothing was changed").wait_for()
    expect(card.get_by_role("button")).to_have_count(0)


def test_approved_change_counts_down_and_is_kept(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    clock = page.locator(".oasis-clock")
    expect(clock).to_have_text(re.compile("^[01]:"))
    expect(clock).not_to_have_text(clock.inner_text())
    button(page, "Keep").click()
    page.locator(".oasis-pending").wait_for(state="hidden")
    change = page.locator(".oasis-change")
    expect(change).to_have_attribute("data-state", "confirmed")
    expect(change).to_contain_text("Kept")
    hold_all(page)


def test_put_back_now(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    button(page, "Roll back now").click()
    page.locator(".oasis-pending").wait_for(state="hidden")
    change = page.locator(".oasis-change")
    expect(change).to_have_attribute("data-state", "rolled_back")
    expect(change).to_contain_text("earlier settings are active")
    expect(button(page, "Undo")).to_have_count(0)


def test_change_nobody_keeps_is_put_back_and_said_so(router: Any, visit: Any) -> None:
    page = visit(router(confirm_s=2).url)
    apply(page)
    page.get_by_text("are being restored").wait_for()
    page.locator(".oasis-pending").wait_for(state="hidden")
    expect(page.locator(".oasis-change")).to_have_attribute("data-state", "rolled_back")


def test_countdown_goes_on_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router(confirm_s=60).url)
    apply(page)
    page.wait_for_timeout(2500)
    page.reload()
    button(page, "Keep").wait_for()
    minutes, seconds = page.locator(".oasis-clock").inner_text().split(":")
    assert minutes == "0" and 5 < int(seconds) < 59
    button(page, "Keep").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for()


def test_waiting_plan_is_decided_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    plan(page)
    page.evaluate("localStorage.clear()")
    page.reload()
    button(page, "Approve").wait_for()
    expect(page.locator(".oasis-plan")).to_have_count(1)
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    expect(page.locator(".oasis-assistant")).to_have_count(1)


def test_undo_of_a_kept_change_is_a_run_of_its_own(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    button(page, "Keep").click()
    button(page, "Send").wait_for()
    button(page, "Undo").click()
    page.get_by_text("Undone later").wait_for()
    page.get_by_text("Undo applied").wait_for()
    page.reload()
    page.get_by_text("Undone later").wait_for()
    page.get_by_text("Undo applied").wait_for()
    expect(page.locator(".oasis-change")).to_have_count(2)


def test_changes_of_other_runs_stay_when_a_run_is_rejoined(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "rename the router")
    page.get_by_text("Done.").wait_for()
    button(page, "Send").wait_for()
    ask(page, "Please make a guest Wi-Fi")
    button(page, "Approve").wait_for()
    button(page, "Undo").click()
    page.get_by_text("Undo applied").wait_for()
    for _ in range(2):
        page.reload()
        button(page, "Approve").wait_for()
        page.get_by_text("Waiting for your decision").wait_for()
        expect(page.locator(".oasis-change .oasis-badge")).to_have_text(["Undone later", "Undo applied"])


def test_low_risk_change_needs_no_press(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "rename the router")
    page.get_by_text("Low risk: applied without asking").wait_for()
    button(page, "Undo").wait_for()
    expect(button(page, "Approve")).to_have_count(0)


def test_viewer_sees_everything_and_can_press_nothing(router: Any, visit: Any) -> None:
    one = router(viewer="any")
    owner = visit(one.url)
    plan(owner)
    page = visit(one.url, user="viewer")
    page.locator(".oasis-plan").wait_for()
    page.get_by_text("This login may look, but not write.").wait_for()
    names = set(page.locator(".oasis button:visible").all_inner_texts())
    assert not names & {"Approve", "Decline", "Send", "Stop", "Keep", "\u00d7"}


def test_keyboard_alone_is_enough(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.locator("#oasis-input").focus()
    page.keyboard.type("a guest")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("network")
    expect(page.locator("#oasis-input")).to_have_value("a guest\nnetwork")
    page.keyboard.press("Enter")
    button(page, "Approve").wait_for()
    press(page, "Approve", "Shift+Tab")
    button(page, "Keep").wait_for()
    page.locator("#oasis-input").focus()
    press(page, "Keep", "Shift+Tab")
    page.locator(".oasis-change[data-state=confirmed]").wait_for()
    expect(page.locator("#oasis-input")).to_be_focused()


def press(page: Any, name: str, key: str) -> None:
    """Go to a button with the Tab key and press it."""
    for _ in range(30):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.textContent") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"no way to {name}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_has_no_horizontal_scroll_and_readable_text(router: Any, visit: Any, scheme: str) -> None:
    page = visit(router().url, width=360, height=700, scheme=scheme)
    page.locator(".oasis-side > summary").click()
    apply(page)
    button(page, "Send").wait_for()
    ask(page, "hostile")
    page.get_by_text("[click me]").wait_for()
    page.locator(".oasis-plan-details > summary").click()
    for part in page.locator(".oasis-diff > summary").all():
        part.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(
        "document.querySelector('.oasis-log').scrollWidth <= document.querySelector('.oasis-log').clientWidth"
    )
    for selector in (".oasis-user .oasis-text", ".oasis-words li", ".oasis-added", ".oasis-badge", ".oasis-tool code"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
