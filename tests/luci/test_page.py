"""The chat page in a real browser, against the test double of the daemon: talking, sessions, chats."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


def ask(page: Any, text: str) -> None:
    page.fill("#oasis-input", text)
    page.keyboard.press("Enter")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def grows(text: Any) -> None:
    """Wait until a text is longer than it is now."""
    expect(text).not_to_have_text(text.inner_text())


def settled(text: Any) -> int:
    """Wait until a text no longer grows; gives its length."""
    for _ in range(30):
        length = len(text.inner_text())
        text.page.wait_for_timeout(800)
        if len(text.inner_text()) == length:
            return length
    raise AssertionError("the text goes on growing")


def hold_all(page: Any) -> None:
    """No word `null`, the mark of LuCI's way with missing children, and no script of a model's text has run."""
    assert "null" not in page.inner_text("body")
    assert page.evaluate("window.hacked") is None


def test_last_chat_is_shown_with_its_markdown_as_nodes(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_text("Your router is").wait_for()
    expect(page.locator(".oasis-text strong")).to_have_text("fine")
    expect(page.locator(".oasis-text ol > li")).to_have_count(2)
    expect(page.locator(".oasis-text ol ul li")).to_have_text("none of them is new")
    expect(page.locator("pre.oasis-code")).to_have_text("uptime: 3 days")
    link = page.locator(".oasis-text a")
    expect(link).to_have_attribute("href", "https://openwrt.org/docs")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    hold_all(page)


def test_answer_appears_in_pieces(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    text = page.locator(".oasis-assistant .oasis-text")
    for _ in range(3):
        grows(text)
    expect(text).to_have_attribute("aria-busy", "true")
    button(page, "Stop").click()
    page.get_by_text("Stopped", exact=True).wait_for()
    expect(text).not_to_have_attribute("aria-busy", "true")
    length = len(text.inner_text())
    page.wait_for_timeout(600)
    assert len(text.inner_text()) == length
    expect(button(page, "Send")).to_be_visible()


def test_conversation_goes_on_in_the_same_chat_and_is_there_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "first words")
    page.get_by_text("You said: first words").wait_for()
    button(page, "Send").wait_for()
    ask(page, "second words")
    page.get_by_text("You said: second words").wait_for()
    button(page, "Send").wait_for()
    expect(page.locator(".oasis-open")).to_have_count(2)
    page.reload()
    page.get_by_text("You said: first words").wait_for()
    page.get_by_text("You said: second words").wait_for()
    expect(page.locator(".oasis-user")).to_have_count(2)


def test_running_run_is_rejoined_after_a_reload(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word5 ").wait_for()
    page.reload()
    page.get_by_text("word9 ").wait_for()
    expect(page.locator(".oasis-assistant")).to_have_count(1)
    expect(page.locator(".oasis-assistant .oasis-text")).to_have_text(re.compile("^word1 word2 word3"))
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


def test_hostile_text_stays_text(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "hostile")
    page.get_by_text("[click me]").wait_for()
    button(page, "Send").wait_for()
    page.locator(".oasis-tool summary").last.click()
    turn = page.locator(".oasis-assistant").last
    expect(turn.locator("img:not(.oasis-face), script, svg, b")).to_have_count(0)
    expect(turn).to_contain_text("[click me](javascript:window.hacked=1)")
    expect(turn.locator("a")).to_have_count(1)
    expect(turn.locator("a")).to_have_attribute("href", "https://openwrt.org/docs")
    hold_all(page)
    page.reload()
    page.get_by_text("[click me]").wait_for()
    expect(page.locator(".oasis-log img:not(.oasis-face), .oasis-log script")).to_have_count(0)
    hold_all(page)


def test_failure_shows_message_and_hint(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "an error please")
    error = page.locator(".oasis-error")
    expect(error).to_contain_text("refused the key")
    expect(error).to_contain_text("set a new key")
    expect(button(page, "Send")).to_be_visible()


def test_dropped_events_come_back_as_whole_text(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "reset")
    page.get_by_text("The whole text so far, and its end.").wait_for()


def test_expired_session_keeps_what_was_typed(router: Any, visit: Any, log_in: Any) -> None:
    page = visit(router(session_s=4).url)
    page.get_by_text("Your router is").wait_for()
    page.wait_for_timeout(4600)
    ask(page, "words that took time to write")
    page.get_by_text("Your session has ended.").wait_for()
    page.get_by_role("heading", name="Session expired").wait_for()
    expect(page.locator("#oasis-input")).to_have_value("words that took time to write")
    page.get_by_text("Log in…").click()
    log_in(page)
    page.wait_for_selector(".oasis-log")
    expect(page.locator("#oasis-input")).to_have_value("words that took time to write")
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
    expect(page.locator(".oasis-assistant .oasis-text")).to_have_text(re.compile("^word1 word2"))


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
    expect(button(page, "Send")).to_be_visible()
    expect(page.locator("#oasis-input")).to_have_value("hello")
    hold_all(page)


def test_an_upgrade_brings_sheets_and_scripts_of_one_version(router: Any, visit: Any) -> None:
    page = visit(router().url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector(".oasis-log")
    ours = [url for url in asked if re.search(r"/oasis/[^/]*\.(css|js)", url)]
    assert [url for url in ours if ".css" in url] and {url.partition("?")[2] for url in ours} == {"v=26.064-1"}


def test_worker_that_is_not_confined_is_said_and_stays(router: Any, visit: Any) -> None:
    page = visit(router(unconfined="root has no <b>password</b>").url)
    words = "The AI worker is not confined: root has no <b>password</b>"
    page.get_by_text(words).wait_for()
    ask(page, "hello")
    page.get_by_text("You said: hello").wait_for()
    expect(page.get_by_text(words)).to_have_count(1)
    button(page, "New chat").click()
    expect(page.get_by_text(words)).to_be_visible()
    hold_all(page)


def test_page_of_a_confined_worker_says_nothing(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_text("Your router is").wait_for()
    expect(page.get_by_text("not confined")).to_have_count(0)


def test_message_that_does_not_fit_is_refused_here(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "ä" * 40000)
    page.get_by_text("This message is too long").wait_for()
    expect(page.locator("#oasis-input")).to_have_value("ä" * 40000)
    ask(page, "x" * 60000)
    page.get_by_text("You said: xxx").wait_for(timeout=60000)


def test_service_for_every_chat_stays(router: Any, visit: Any) -> None:
    page = visit(router().url)
    choice = page.get_by_label("Answered by")
    choice.locator("option[value=cloud]").wait_for(state="attached")
    expect(choice).to_have_value("")
    expect(choice).to_contain_text("Cloud · big-1 (default)")
    expect(choice.locator("option[value=lan]")).to_be_disabled()
    expect(button(page, "Use in every chat")).to_be_hidden()
    choice.select_option("offline")
    button(page, "Use in every chat").click()
    page.wait_for_function("document.querySelector('.oasis-service option').textContent.startsWith('Built in')")
    expect(choice).to_have_value("")
    expect(button(page, "Use in every chat")).to_be_hidden()
    page.reload()
    page.wait_for_function("document.querySelector('.oasis-service option')?.textContent.startsWith('Built in')")


def test_chat_is_deleted_after_a_question(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_text("Your router is").wait_for()
    page.get_by_label('More about the chat "An earlier chat"').first.click()
    button(page, "Delete…").click()
    expect(button(page, "Cancel"), "Enter twice deletes nothing").to_be_focused()
    button(page, "Cancel").click()
    expect(page.locator(".oasis-open")).to_have_count(1)
    page.get_by_label('More about the chat "An earlier chat"').first.click()
    button(page, "Delete…").click()
    button(page, "Delete").click()
    page.locator(".oasis-open").wait_for(state="detached")
    page.get_by_text("Say it in your own words").wait_for()
    page.reload()
    page.get_by_text("Say it in your own words").wait_for()


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
    text = page.locator(".oasis-assistant .oasis-text")
    length = settled(text)
    page.wait_for_timeout(800)
    assert len(text.inner_text()) == length
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function(f"document.querySelector('.oasis-assistant .oasis-text').textContent.length > {length + 20}")
