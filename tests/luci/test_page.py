"""The chat page in a real browser, against the test double of the daemon."""

from __future__ import annotations

import time
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


def test_last_chat_is_shown_with_its_markdown_as_nodes(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_text("Your router is").wait_for()
    assert page.locator(".oasis-text strong").inner_text() == "fine"
    assert page.locator(".oasis-text ol > li").count() == 2
    assert page.locator(".oasis-text ol ul li").inner_text() == "none of them is new"
    assert page.locator("pre.oasis-code").inner_text() == "uptime: 3 days"
    link = page.locator(".oasis-text a")
    assert link.get_attribute("href") == "https://openwrt.org/docs"
    assert "noopener" in link.get_attribute("rel")
    hold_all(page)


def test_answer_appears_in_pieces(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    text = page.locator(".oasis-assistant .oasis-text")
    seen = []
    for number in (1, 4, 8):
        page.get_by_text(f"word{number} ").wait_for()
        seen.append(len(text.inner_text()))
    assert seen[0] < seen[1] < seen[2]
    assert text.get_attribute("aria-busy") == "true"
    button(page, "Stop").click()
    page.get_by_text("Stopped", exact=True).wait_for()
    assert text.get_attribute("aria-busy") is None
    length = len(text.inner_text())
    time.sleep(0.6)
    assert len(text.inner_text()) == length
    assert button(page, "Send").is_visible()


def test_conversation_goes_on_in_the_same_chat_and_is_there_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "first words")
    page.get_by_text("You said: first words").wait_for()
    button(page, "Send").wait_for()
    ask(page, "second words")
    page.get_by_text("You said: second words").wait_for()
    button(page, "Send").wait_for()
    assert page.locator(".oasis-open").count() == 2
    page.reload()
    page.get_by_text("You said: first words").wait_for()
    page.get_by_text("You said: second words").wait_for()
    assert page.locator(".oasis-user").count() == 2


def test_running_run_is_rejoined_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word5 ").wait_for()
    page.reload()
    page.get_by_text("word9 ").wait_for()
    assert page.locator(".oasis-assistant").count() == 1
    assert page.locator(".oasis-assistant .oasis-text").inner_text().startswith("word1 word2 word3")
    page.locator("#oasis-input").press("Escape")
    page.get_by_text("Stopped", exact=True).wait_for()


def test_running_run_is_joined_from_another_browser(router: Any, visit: Any) -> None:
    one = router()
    page = visit(one.url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word3 ").wait_for()
    other = visit(one.url)
    other.get_by_text("word6 ").wait_for()
    button(other, "Stop").click()
    page.get_by_text("Stopped", exact=True).wait_for()


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
    assert page.locator(".oasis-change").count() == 2


def test_low_risk_change_needs_no_press(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "rename the router")
    page.get_by_text("Low risk: applied without asking").wait_for()
    button(page, "Undo").wait_for()
    assert button(page, "Approve").count() == 0


def test_hostile_text_stays_text(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "hostile")
    page.get_by_text("[click me]").wait_for()
    button(page, "Send").wait_for()
    page.locator(".oasis-tool summary").last.click()
    turn = page.locator(".oasis-assistant").last
    assert turn.locator("img, script, svg, b").count() == 0
    assert "[click me](javascript:window.hacked=1)" in turn.inner_text()
    assert [link.get_attribute("href") for link in turn.locator("a").all()] == ["https://openwrt.org/docs"]
    hold_all(page)
    page.reload()
    page.get_by_text("[click me]").wait_for()
    assert page.locator(".oasis-log img, .oasis-log script").count() == 0
    hold_all(page)


def test_failure_shows_message_and_hint(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "an error please")
    error = page.locator(".oasis-error")
    error.wait_for()
    assert "refused the key" in error.inner_text() and "set a new key" in error.inner_text()
    assert button(page, "Send").is_visible()


def test_dropped_events_come_back_as_whole_text(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "reset")
    page.get_by_text("The whole text so far, and its end.").wait_for()


def test_expired_session_keeps_what_was_typed(router: Any, visit: Any, log_in: Any) -> None:
    page = visit(router(session_s=2).url)
    page.get_by_text("Your router is").wait_for()
    page.wait_for_timeout(2600)
    ask(page, "words that took time to write")
    page.get_by_text("Your session has ended.").wait_for()
    page.get_by_role("heading", name="Session expired").wait_for()
    assert page.input_value("#oasis-input") == "words that took time to write"
    page.get_by_text("Log in…").click()
    log_in(page)
    page.wait_for_selector(".oasis-log")
    assert page.input_value("#oasis-input") == "words that took time to write"
    page.locator("#oasis-input").press("Enter")
    page.get_by_text("You said: words that took time").wait_for()


def test_session_that_ends_during_a_run_is_said_and_the_run_rejoined(router: Any, visit: Any, log_in: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word3 ").wait_for()
    page.evaluate(
        """fetch('/ubus/', { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call',
            params: [ L.env.sessionid, 'session', 'destroy', {} ] }) })"""
    )
    page.get_by_role("heading", name="Session expired").wait_for()
    page.get_by_text("Log in…").click()
    log_in(page)
    page.get_by_text("word4 ").wait_for()
    assert page.locator(".oasis-assistant .oasis-text").inner_text().startswith("word1 word2")


def test_daemon_that_went_away_is_said_and_found_again(router: Any, visit: Any, start: Any) -> None:
    one = router()
    page = visit(one.url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word3 ").wait_for()
    one.daemon.terminate()
    one.daemon.wait(10)
    page.get_by_text("Trying again in").wait_for()
    start("fake_daemon.py", "--root", one.root)
    page.get_by_text("Trying again in").wait_for(state="hidden")
    ask(page, "are you back")
    page.get_by_text("You said: are you back").wait_for()


def test_page_without_daemon_says_so(router: Any, visit: Any) -> None:
    page = visit(router(with_daemon=False).url)
    page.get_by_text("Oasis is not running on this router.").wait_for()
    ask(page, "hello")
    page.wait_for_timeout(500)
    assert page.input_value("#oasis-input") == "hello"
    hold_all(page)


def test_message_that_does_not_fit_is_refused_here(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "ä" * 40000)
    page.get_by_text("This message is too long").wait_for()
    assert len(page.input_value("#oasis-input")) == 40000
    ask(page, "x" * 60000)
    page.get_by_text("You said: xxx").wait_for(timeout=60000)


def test_viewer_sees_everything_and_can_press_nothing(router: Any, visit: Any) -> None:
    one = router(viewer="any")
    owner = visit(one.url)
    plan(owner)
    page = visit(one.url, user="viewer")
    page.locator(".oasis-plan").wait_for()
    page.get_by_text("This login may look, but not write.").wait_for()
    names = set(page.locator(".oasis button:visible").all_inner_texts())
    assert not names & {"Approve", "Decline", "Send", "Stop", "Keep", "\u00d7"}


def test_service_is_chosen_and_stays(router: Any, visit: Any) -> None:
    page = visit(router().url)
    choice = page.get_by_label("Answered by")
    assert choice.input_value() == "cloud"
    assert page.locator("option[value=lan]").is_disabled()
    choice.select_option("offline")
    page.wait_for_function("!document.querySelector('.oasis-bar-top select').disabled")
    page.reload()
    page.wait_for_function("document.querySelector('.oasis-bar-top select')?.value == 'offline'")


def test_chat_is_deleted_after_a_question(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_text("Your router is").wait_for()
    page.get_by_label('Delete the chat "An earlier chat"').click()
    button(page, "Cancel").click()
    assert page.locator(".oasis-open").count() == 1
    page.get_by_label('Delete the chat "An earlier chat"').click()
    button(page, "Delete").click()
    page.locator(".oasis-open").wait_for(state="detached")
    page.get_by_text("Say it in your own words").wait_for()
    page.reload()
    page.get_by_text("Say it in your own words").wait_for()


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
    page.locator(".oasis-side summary").click()
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


def test_page_works_through_luci_where_ubus_is_not_served(router: Any, visit: Any) -> None:
    page = visit(router(no_ubus=True).url)
    button(page, "New chat").click()
    ask(page, "is all right")
    page.get_by_text("Your router is").wait_for()
    button(page, "Send").wait_for()


def test_hidden_tab_stops_asking(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word2 ").wait_for()
    page.evaluate(
        "Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true }); window.away = true"
    )
    page.wait_for_timeout(600)
    length = len(page.locator(".oasis-assistant .oasis-text").inner_text())
    page.wait_for_timeout(800)
    assert len(page.locator(".oasis-assistant .oasis-text").inner_text()) == length
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function(f"document.querySelector('.oasis-assistant .oasis-text').textContent.length > {length + 20}")
