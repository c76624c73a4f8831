"""The chat page in a real browser, against the test double of the daemon: plans, changes, keyboard, phone."""

from __future__ import annotations

from typing import Any

import pytest

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
    text = card.inner_text()
    for words in PLAN_WORDS:
        assert words in text
    assert [line.strip() for line in card.locator(".oasis-removed").all_inner_texts()] == ["- \toption disabled '1'"]
    assert card.locator(".oasis-added").count() == 5
    assert not card.get_by_text("set wireless.guest=wifi-iface").is_visible()
    card.get_by_text("6 UCI commands").click()
    assert card.get_by_text("set wireless.guest=wifi-iface").is_visible()
    page.get_by_text("Waiting for your decision").wait_for()
    hold_all(page)


def test_tool_call_is_a_folded_card(router: Any, visit: Any) -> None:
    page = visit(router().url)
    plan(page)
    tool = page.locator(".oasis-tool").last
    assert "read_config" in tool.inner_text() and "done" in tool.inner_text()
    assert not tool.get_by_text("wireless.radio0=wifi-device").is_visible()
    tool.locator("summary").click()
    assert tool.get_by_text("wireless.radio0=wifi-device").is_visible()
    assert tool.get_by_text("package: wireless").is_visible()


def test_declined_plan_changes_nothing(router: Any, visit: Any) -> None:
    page = visit(router().url)
    card = plan(page)
    button(page, "Decline").click()
    page.get_by_text("I leave everything as it is").wait_for()
    assert card.get_attribute("data-decision") == "declined"
    assert "Declined" in card.inner_text()
    assert button(page, "Approve").count() == 0
    assert page.locator(".oasis-change").count() == 0


def test_plan_expires(router: Any, visit: Any) -> None:
    page = visit(router(expires_s=1.5).url)
    card = plan(page)
    page.get_by_text("Expired: nothing was changed").wait_for()
    assert card.get_by_role("button").count() == 0


def test_approved_change_counts_down_and_is_kept(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    clock = page.locator(".oasis-clock")
    first = clock.inner_text()
    assert first.startswith("1:")
    page.wait_for_function(f"document.querySelector('.oasis-clock').textContent != '{first}'")
    button(page, "Keep").click()
    page.locator(".oasis-pending").wait_for(state="hidden")
    change = page.locator(".oasis-change")
    assert change.get_attribute("data-state") == "confirmed"
    assert "Kept" in change.inner_text()
    hold_all(page)


def test_put_back_now(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    button(page, "Put back now").click()
    page.locator(".oasis-pending").wait_for(state="hidden")
    change = page.locator(".oasis-change")
    assert change.get_attribute("data-state") == "rolled_back"
    assert "earlier settings are active" in change.inner_text()
    assert button(page, "Undo").count() == 0


def test_change_nobody_keeps_is_put_back_and_said_so(router: Any, visit: Any) -> None:
    page = visit(router(confirm_s=2).url)
    apply(page)
    page.get_by_text("are being put back").wait_for()
    page.locator(".oasis-pending").wait_for(state="hidden")
    assert page.locator(".oasis-change").get_attribute("data-state") == "rolled_back"


def test_countdown_goes_on_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router(confirm_s=60).url)
    apply(page)
    page.wait_for_timeout(2500)
    page.reload()
    button(page, "Keep").wait_for()
    minutes, seconds = page.locator(".oasis-clock").inner_text().split(":")
    assert minutes == "0" and 30 < int(seconds) < 59
    button(page, "Keep").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for()


def test_waiting_plan_is_decided_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    plan(page)
    page.evaluate("localStorage.clear()")
    page.reload()
    button(page, "Approve").wait_for()
    assert page.locator(".oasis-plan").count() == 1
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    assert page.locator(".oasis-assistant").count() == 1


def test_undo_of_a_kept_change_is_a_run_of_its_own(router: Any, visit: Any) -> None:
    page = visit(router().url)
    apply(page)
    button(page, "Keep").click()
    button(page, "Undo").click()
    page.get_by_text("The earlier settings are back.").wait_for()
    page.get_by_text("Undone later").wait_for()
    page.get_by_text("Undo applied").wait_for()
    page.reload()
    page.get_by_text("Undone later").wait_for()
    page.locator(".oasis-change").nth(1).wait_for()
    assert page.locator(".oasis-change").count() == 2


def test_low_risk_change_needs_no_press(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "rename the router")
    page.get_by_text("Low risk: applied without asking").wait_for()
    button(page, "Undo").wait_for()
    assert button(page, "Approve").count() == 0


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
    assert page.input_value("#oasis-input") == "a guest\nnetwork"
    page.keyboard.press("Enter")
    button(page, "Approve").wait_for()
    press(page, "Approve", "Shift+Tab")
    button(page, "Keep").wait_for()
    page.locator("#oasis-input").focus()
    press(page, "Keep", "Shift+Tab")
    page.locator(".oasis-change[data-state=confirmed]").wait_for()
    assert page.evaluate("document.activeElement.id") == "oasis-input"


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
