"""What the chat page can do beside talking: usage, details, branches, bookmarks that move, settings, notices."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.test_page import button, hold_all
from tests.luci.test_page_branches import edit, talk, words
from tests.oasisd import proposer

pytestmark = pytest.mark.browser


def dialog(page: Any) -> Any:
    return page.locator(".oasis-dialog")


def test_usage_of_the_chat_is_a_press_away(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url)
    button(page, "New chat").click()
    page.get_by_label("Answered by").select_option(proposer())
    page.fill("#oasis-input", "call this router attic")
    page.keyboard.press("Enter")
    button(page, "Undo").first.wait_for()
    button(page, "Usage").click()
    expect(dialog(page).get_by_role("table").or_(page.get_by_text("No model was asked in this chat."))).to_be_visible()
    expect(dialog(page).get_by_role("link", name="Usage of all chats")).to_be_visible()
    assert "null" not in dialog(page).inner_text()


def test_message_tells_when_it_was_and_who_said_it(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one")
    page.get_by_label("More about this message").last.click()
    page.get_by_role("button", name="About this message…").last.click()
    expect(dialog(page).locator("dt")).to_contain_text(["When", "Service", "Model", "Number"])
    expect(dialog(page).locator("dd")).to_contain_text(["", "cloud", "big-1", ""])
    page.keyboard.press("Escape")
    hold_all(page)


def test_viewer_may_look_at_a_message_and_change_nothing(router: Any, visit: Any) -> None:
    page = visit(router(viewer="any").url, user="viewer")
    expect(button(page, "Branch from here")).to_have_count(0)
    button(page, "About this message…").last.click()
    expect(dialog(page).locator("dt").first).to_have_text("When")


def test_branches_are_folded_by_keyboard_and_by_mouse(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one", "two", "three")
    edit(page, "other two", 1)
    button(page, "Branches").click()
    items = page.get_by_role("treeitem")
    expect(items).to_have_count(4)
    parting = page.locator("[aria-expanded]")
    expect(parting).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(":focus")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowLeft")
    expect(parting).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("treeitem")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.locator(":focus"), "what is folded is not walked through").to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(4)
    page.locator(".oasis-fold").click()
    expect(page.get_by_role("treeitem")).to_have_count(1)


def test_bookmark_moves_along_with_what_is_said_at_it(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url)
    button(page, "New chat").click()
    page.get_by_label("Answered by").select_option(proposer())

    def order(text: str, count: int) -> None:
        page.fill("#oasis-input", text)
        page.keyboard.press("Enter")
        expect(words(page)).to_have_count(count)
        expect(page.locator(".oasis-assistant .oasis-foot-line")).to_have_count(count)
        button(page, "Send").wait_for()

    order("call this router attic", 1)
    chat = daemon.call("chat.list")["item"][0]["id"]
    first = daemon.call("chat.load", id=chat)["messages"][0]["id"]
    daemon.call("bookmark.set", name="home", message=first, chat=chat)
    button(page, "Bookmarks").click()
    button(page, "Go on with it").click()
    expect(page.locator(".oasis-place")).to_contain_text('The bookmark "home" moves along')
    page.fill("#oasis-input", "call this router cellar")
    page.keyboard.press("Enter")
    page.get_by_text("call this router cellar").first.wait_for()
    expect(page.locator(".oasis-place")).to_have_text("")
    button(page, "Send").wait_for()
    page.wait_for_function("!document.querySelector('.oasis-busy')")
    marked = daemon.call("bookmark.list", chat=chat)["bookmarks"][0]
    assert marked["name"] == "home" and marked["message"] != first


def test_settings_go_along_as_a_file_without_passwords(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    with open(daemon.root + "/etc/config/wireless", "a", encoding="utf-8") as file:
        file.write("\nconfig wifi-iface 'attic'\n\toption key 'correct-horse-battery'\n")
    page = visit(url)
    button(page, "New chat").click()
    page.get_by_label("Answered by").select_option(proposer())
    button(page, "Attach settings…").click()
    packages = dialog(page).get_by_role("combobox", name="Package")
    packages.select_option("wireless")
    assert "oasis" not in packages.locator("option").all_inner_texts()
    dialog(page).get_by_role("button", name="Attach", exact=True).click()
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("wireless.txt")
    page.fill("#oasis-input", "is everything all right?")
    page.keyboard.press("Enter")
    expect(page.locator(".oasis-user .oasis-file")).to_contain_text("wireless.txt")
    button(page, "Send").wait_for()
    page.wait_for_function("!document.querySelector('.oasis-busy')")
    chat = daemon.call("chat.list")["item"][0]["id"]
    assert "correct-horse-battery" not in str(daemon.call("chat.export", id=chat, form="oasis"))


def test_file_that_is_dropped_early_is_gone_from_the_router(router: Any, visit: Any) -> None:
    page = visit(router().url)

    def dropped(request: Any) -> bool:
        return '"drop"' in (request.post_data or "")

    for name, sent in (("slow.txt", False), ("quick.txt", True)):
        files = page.get_by_role("list", name="Attached files")
        page.locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/plain", "buffer": b"x" * 100_000}
        )
        if sent:
            page.get_by_text(f"{name} is attached").wait_for()
        with page.expect_request(dropped) as asked:
            page.get_by_role("button", name=f"Remove {name}").click()
        assert asked.value.post_data_json["params"][1:3] == ["oasis.upload", "drop"]
        expect(files.get_by_role("listitem")).to_have_count(0)


def test_chat_page_tells_what_happened_behind_a_number(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url)
    expect(page.get_by_text("Notices", exact=True)).to_be_hidden()
    daemon.call("run.start", message="call this router <b>attic</b>-1", service=proposer())
    daemon.call("run.start", message="call this router attic", service=proposer())
    deadline = time.monotonic() + 60
    while not daemon.call("notice.list")["notices"]:
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.05)
    page.reload()
    page.wait_for_selector(".oasis-log")
    count = page.get_by_text("1 new notice", exact=True)
    expect(count).to_be_visible()
    count.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".oasis-notice-list li")).to_contain_text("rename the router to attic")
    expect(page.get_by_text("Notices", exact=True)).to_be_visible()
    find_barriers(page)
    page.reload()
    page.wait_for_selector(".oasis-log")
    expect(page.get_by_text("Notices", exact=True)).to_be_visible()
