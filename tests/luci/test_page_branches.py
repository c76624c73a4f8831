"""Threads on the page, against the test double of the daemon: versions, branches, bookmarks, the tree, forgetting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page import ask, button, hold_all

pytestmark = pytest.mark.browser


def say(page: Any, text: str) -> None:
    """Ask and wait for the end of the answer."""
    ask(page, text)
    page.get_by_text("You said: " + text).last.wait_for()
    button(page, "Send").wait_for()


def talk(router: Any, visit: Any, *texts: str) -> Any:
    """A new chat in which this was said."""
    page = visit(router().url)
    button(page, "New chat").click()
    for text in texts:
        say(page, text)
    return page


def words(page: Any) -> Any:
    """What the owner said, as it is shown."""
    return page.locator(".oasis-user .oasis-text")


def edit(page: Any, text: str, at: int = -1) -> None:
    """Ask again with other words, in place of one of the messages shown."""
    button(page, "Edit and ask again").nth(at).click()
    say(page, text)


def test_edited_message_is_a_version_and_the_switch_leads_back(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two", "three")
    button(page, "Edit and ask again").nth(1).click()
    expect(page.locator("#oasis-input")).to_have_value("two")
    expect(page.locator(".oasis-place")).to_contain_text("Asks again in place of: two")
    expect(page.locator(".oasis-user.oasis-after"), "what is replaced looks left out").to_have_count(2)
    say(page, "other two")
    expect(words(page)).to_have_text(["one", "other two"])
    expect(page.locator(".oasis-place")).to_have_text("")
    switch = page.get_by_role("group", name="Versions of this message")
    expect(switch).to_contain_text("2/2")
    expect(switch.get_by_role("button", name="Next version")).to_be_disabled()
    switch.get_by_role("button", name="Previous version").press("Enter")
    page.get_by_text("You said: three").wait_for()
    expect(words(page)).to_have_text(["one", "two", "three"])
    page.wait_for_function("document.activeElement.closest('.oasis-versions') != null")
    page.keyboard.press("Enter")
    page.get_by_text("You said: other two").wait_for()
    expect(words(page)).to_have_text(["one", "other two"])
    hold_all(page)


def test_what_is_shown_is_what_the_next_message_follows(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    edit(page, "other two")
    page.get_by_role("button", name="Previous version").click()
    page.get_by_text("You said: two").wait_for()
    say(page, "three")
    say(page, "four")
    expect(words(page)).to_have_text(["one", "two", "three", "four"])
    page.reload()
    page.get_by_text("You said: four").wait_for()
    expect(words(page)).to_have_text(["one", "two", "three", "four"])


def test_first_message_has_versions_too(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    edit(page, "another beginning", 0)
    expect(words(page)).to_have_text(["another beginning"])
    page.get_by_role("button", name="Previous version").click()
    page.get_by_text("You said: two").wait_for()
    expect(words(page)).to_have_text(["one", "two"])


def test_branch_begins_where_it_is_told_or_not_at_all(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    button(page, "Branch from here").first.click()
    chip = page.locator(".oasis-place")
    expect(chip).to_contain_text("Continues: You said: one")
    page.get_by_role("button", name="Go on at the end instead").click()
    expect(chip).to_have_text("")
    expect(page.locator(".oasis-after")).to_have_count(0)
    expect(page.locator("#oasis-input")).to_be_focused()
    say(page, "three")
    expect(words(page)).to_have_text(["one", "two", "three"])
    button(page, "Branch from here").first.click()
    say(page, "another way")
    expect(words(page)).to_have_text(["one", "another way"])
    page.reload()
    page.get_by_text("You said: another way").wait_for()
    expect(words(page)).to_have_text(["one", "another way"])


def test_cancelled_edit_leaves_no_words_behind(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one")
    button(page, "Edit and ask again").click()
    page.get_by_role("button", name="Go on at the end instead").click()
    expect(page.locator("#oasis-input")).to_have_value("")


def test_run_of_another_branch_is_not_shown_in_this_one(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    button(page, "Edit and ask again").last.click()
    ask(page, "long story")
    page.get_by_text("word2 ").wait_for()
    page.get_by_role("button", name="Previous version").click()
    page.get_by_text("Oasis is answering in another branch of this chat.").wait_for()
    page.wait_for_timeout(500)
    assert "word2" not in page.inner_text(".oasis-log")
    page.get_by_role("button", name="Next version").click()
    page.get_by_text("word5 ").wait_for()
    expect(words(page)).to_have_text(["one", "long story"])
    button(page, "Stop").click()
    page.get_by_text("Stopped", exact=True).wait_for()


def test_answer_that_streams_does_not_follow_into_another_chat(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word3 ").wait_for()
    page.locator(".oasis-open").filter(has_text="An earlier chat").click()
    page.get_by_text("Your router is").wait_for()
    page.wait_for_timeout(800)
    assert "word" not in page.inner_text(".oasis-log")
    expect(button(page, "Send")).to_be_visible()


def test_tree_shows_branches_and_opens_one_by_keyboard(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two", "three")
    edit(page, "other <b>two</b>", 1)
    button(page, "Branches").press("Enter")
    tree = page.get_by_role("tree", name="Branches of this chat")
    items = tree.get_by_role("treeitem")
    items.nth(3).wait_for()
    expect(items).to_have_count(4)
    assert [item.get_attribute("aria-level") for item in items.all()] == ["1", "2", "2", "2"]
    expect(page.locator(".oasis-tree-text")).to_have_text(["one", "two", "three", "other <b>two</b>"])
    expect(page.locator("[aria-selected=true] > .oasis-tree-line .oasis-tree-text")).to_have_text("other <b>two</b>")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(":focus .oasis-tree-text").first).to_have_text("one")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tree.wait_for(state="hidden")
    page.get_by_text("You said: three").wait_for()
    expect(words(page)).to_have_text(["one", "two", "three"])
    hold_all(page)


def test_branches_are_joined_by_one_message(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    edit(page, "other two")
    button(page, "Branches").click()
    page.get_by_role("treeitem").filter(has_text="You said: two").last.locator(".oasis-tree-line").click()
    button(page, "Join to the next message").click()
    expect(page.locator(".oasis-place")).to_contain_text("Continues what is shown, and: You said: two")
    say(page, "both")
    expect(words(page).last).to_have_text("both")
    shown = words(page).all_inner_texts()
    assert shown in (["one", "other two", "two", "both"], ["one", "two", "other two", "both"])
    button(page, "Branches").click()
    page.get_by_text("joins 2").wait_for()


def test_bookmark_is_set_opened_moved_and_removed(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two")
    page.get_by_label("More about this message").nth(1).click()
    button(page, "Bookmark…").click()
    page.get_by_text("Name this place: You said: one").wait_for()
    page.get_by_label("Name", exact=True).fill("home <b>wifi</b>")
    page.keyboard.press("Enter")
    row = page.locator(".oasis-rows li")
    row.get_by_text("home <b>wifi</b>").wait_for()
    row.get_by_role("button", name="Open").click()
    page.get_by_text("You said: two").wait_for(state="detached")
    expect(words(page)).to_have_text(["one"])
    say(page, "a branch")
    expect(words(page)).to_have_text(["one", "a branch"])
    button(page, "Bookmarks").click()
    row.get_by_role("button", name="Move here").click()
    row.get_by_text("You said: a branch").wait_for()
    row.get_by_role("button", name="Remove").click()
    page.get_by_text("Nothing has a name yet.").wait_for()
    page.keyboard.press("Escape")
    expect(button(page, "Bookmarks"), "the focus goes back").to_be_focused()


def test_bookmark_that_stands_elsewhere_is_said_in_the_dialog(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one")
    button(page, "Bookmarks").click()
    for _ in range(2):
        page.get_by_label("Name", exact=True).fill("home")
        button(page, "Add").click()
        page.locator(".oasis-rows strong").wait_for()
    page.get_by_role("alert").filter(has_text="stands on another branch").wait_for()


def test_forgotten_words_are_gone_and_the_rest_stays(router: Any, visit: Any) -> None:
    page = talk(router, visit, "my secret", "two")
    page.get_by_label("More about this message").first.click()
    button(page, "Forget this message…").click()
    expect(button(page, "Cancel")).to_be_focused()
    button(page, "Forget").click()
    page.get_by_text("Removed by you").wait_for()
    expect(words(page)).to_have_text(["two"])
    expect(page.locator(".oasis-message")).to_have_count(4)
    page.reload()
    page.get_by_text("Removed by you").wait_for()
    expect(page.locator(".oasis-user", has_text="my secret")).to_have_count(0)


def test_long_thread_is_paged_and_stays_in_place(router: Any, visit: Any) -> None:
    one = router()
    page = visit(one.url)
    button(page, "New chat").click()
    ask(page, "many words")
    button(page, "Send").wait_for()
    page.reload()
    page.get_by_text("question 99", exact=True).wait_for()
    expect(page.get_by_role("button", name="Show earlier messages")).to_be_visible()
    expect(page.get_by_text("question 9", exact=True)).to_have_count(0)
    top = page.get_by_text("question 71", exact=True)
    top.scroll_into_view_if_needed()
    before = top.bounding_box()["y"]
    page.get_by_role("button", name="Show earlier messages").press("Enter")
    page.get_by_text("question 41", exact=True).wait_for()
    assert abs(top.bounding_box()["y"] - before) < 60
    while page.get_by_role("button", name="Show earlier messages").count():
        count = page.locator(".oasis-user").count()
        page.get_by_role("button", name="Show earlier messages").click()
        page.wait_for_function(f"document.querySelectorAll('.oasis-user').length > {count}")
    expect(words(page)).to_have_text(["many words", *(f"question {number}" for number in range(100))])
