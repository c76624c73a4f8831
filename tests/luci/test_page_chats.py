"""The list of chats on the page, topics, services, and quiet events, against the test double of the daemon."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page import ask, button, hold_all
from tests.luci.test_page_branches import say, talk

pytestmark = pytest.mark.browser


def more(page: Any, title: str, action: str) -> None:
    """Press something in the menu of a chat."""
    page.get_by_label(f'More about the chat "{title}"').click()
    page.locator(".oasis-side").get_by_role("button", name=action, exact=True).click()


def test_search_opens_the_chat_at_the_message(router: Any, visit: Any) -> None:
    page = talk(router, visit, "a needle in here", *(f"hay {number}" for number in range(6)))
    button(page, "New chat").click()
    page.get_by_label("Search all chats").fill("needle")
    page.get_by_text("2 messages found").wait_for()
    hits = page.locator(".oasis-hit")
    expect(hits.first).to_contain_text("a needle in here")
    hits.first.press("Enter")
    found = page.locator(".oasis-found")
    found.wait_for()
    expect(found).to_contain_text("a needle in here")
    expect(found, "it is in sight").to_be_in_viewport()
    page.get_by_label("Search all chats").press("Escape")
    page.get_by_text("2 messages found").wait_for(state="hidden")
    expect(page.locator("nav .oasis-open").first).to_be_visible()
    hold_all(page)


def test_search_finds_what_is_on_another_branch(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "a needle")
    button(page, "Edit and ask again").last.click()
    say(page, "something else")
    page.get_by_label("Search all chats").fill("a needle")
    page.locator(".oasis-hit").first.click()
    page.locator(".oasis-found").get_by_text("a needle").wait_for()
    say(page, "on from there")
    expect(page.locator(".oasis-user .oasis-text")).to_have_text(["one", "a needle", "on from there"])


def test_search_that_finds_nothing_says_so(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_label("Search all chats").fill("<b>nowhere</b>")
    page.get_by_text("Nothing found").wait_for()


def test_chat_is_renamed_archived_and_brought_back(router: Any, visit: Any) -> None:
    page = visit(router().url)
    more(page, "An earlier chat", "Rename…")
    title = page.get_by_label("Title")
    expect(title).to_have_value("An earlier chat")
    title.fill("My <i>home</i> " + "long " * 30)
    title.press("Enter")
    page.locator(".oasis-open", has_text="My <i>home</i>").wait_for()
    expect(page.locator(".oasis-title")).to_contain_text("My <i>home</i>")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
    page.locator(".oasis-side .oasis-menu summary").first.click()
    button(page, "Archive").click()
    shelf = page.locator(".oasis-shelf", has_text="Archived")
    shelf.wait_for()
    expect(page.locator("nav > .oasis-chats .oasis-open")).to_have_count(0)
    shelf.locator("summary").first.click()
    shelf.locator(".oasis-menu summary").click()
    button(page, "Bring back").click()
    page.locator("nav > .oasis-chats .oasis-open").wait_for()
    expect(shelf).to_be_hidden()


def test_rename_that_fails_says_so_and_keeps_the_words(router: Any, visit: Any) -> None:
    one = router()
    page = visit(one.url)
    more(page, "An earlier chat", "Rename…")
    one.daemon.terminate()
    one.daemon.wait(10)
    page.get_by_label("Title").fill("Other words")
    button(page, "Save").click()
    page.get_by_role("alert").filter(has_text="Oasis is not running").wait_for()
    expect(page.get_by_label("Title")).to_have_value("Other words")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")


def test_an_open_menu_stays_open_when_the_list_is_drawn_anew(router: Any, visit: Any) -> None:
    page = visit(router().url)
    page.get_by_label('More about the chat "An earlier chat"').click()
    rename = page.locator(".oasis-side").get_by_role("button", name="Rename…", exact=True)
    rename.focus()
    page.evaluate("document.querySelector('.oasis-chats li').dataset.old = '1'")
    page.fill("#oasis-input", "hello", force=True)
    page.evaluate("document.querySelector('#oasis-input').form?.requestSubmit()")
    page.get_by_text("You said: hello").wait_for()
    expect(page.locator(".oasis-chats li[data-old]")).to_have_count(0)
    expect(rename).to_be_visible()


def test_escape_in_a_dialog_stops_no_run(router: Any, visit: Any) -> None:
    page = visit(router().url)
    ask(page, "long story")
    page.get_by_text("word2 ").wait_for()
    button(page, "Bookmarks").click()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.get_by_text("word8 ").wait_for()


def test_tab_stays_in_the_dialog(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "Export").click()
    for _ in range(9):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.oasis-dialog') != null")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.closest('.oasis-dialog') != null")


def test_what_was_left_out_and_a_title_are_told_as_they_come(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "forgetful")
    page.get_by_text("7 earlier messages were left out of what the model sees").wait_for()
    page.get_by_text("the <b>clock</b> is wrong").wait_for()
    page.locator(".oasis-current .oasis-open", has_text="A title <b>made</b> later").wait_for()
    expect(page.locator(".oasis-title")).to_have_text("A title <b>made</b> later")
    hold_all(page)


def test_new_chat_begins_with_a_topic(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    page.get_by_label("This chat is about").select_option(label="Wi-Fi")
    say(page, "one")
    page.reload()
    page.get_by_text("What the model read first").click()
    page.get_by_text("This chat is about Wi-Fi.").wait_for()
    say(page, "two")
    expect(page.get_by_text("What the model read first")).to_have_count(1)


def test_service_is_chosen_for_what_follows_and_named_below_each_answer(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one")
    choice = page.get_by_label("Answered by")
    choice.select_option("offline")
    say(page, "two")
    say(page, "three")
    page.reload()
    page.get_by_text("You said: three").wait_for()
    expect(page.locator(".oasis-source")).to_have_text(["Cloud · big-1"] + ["Built in · offline"] * 2)
    expect(choice, "a thread keeps its service").to_have_value("offline")
    choice.select_option("")
    say(page, "four")
    expect(page.locator(".oasis-source").last).to_have_text("Cloud · big-1")
    page.reload()
    page.get_by_text("You said: four").wait_for()
    expect(page.locator(".oasis-source").last).to_have_text("Cloud · big-1")
    expect(choice).to_have_value("")
    page.locator(".oasis-open", has_text="An earlier chat").click()
    page.get_by_text("Your router is").wait_for()
    expect(choice).to_have_value("")


def test_who_may_only_look_is_offered_nothing_to_change(router: Any, visit: Any) -> None:
    page = visit(router(viewer="any").url, user="viewer")
    page.get_by_text("Your router is").wait_for()
    text = page.inner_text("body")
    for words in ("Edit and ask again", "Branch from here", "Import chats", "Attach", "Password"):
        assert words not in text
    expect(page.locator(".oasis-menu")).to_have_count(0)
    button(page, "Branches").click()
    page.get_by_role("treeitem").first.wait_for()
    expect(button(page, "Branch from here")).to_have_count(0)
    page.keyboard.press("Escape")
    button(page, "Bookmarks").click()
    page.get_by_text("Nothing has a name yet.").wait_for()
    expect(page.get_by_label("Name", exact=True)).to_have_count(0)
