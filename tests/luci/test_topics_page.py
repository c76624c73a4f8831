"""The page of system messages with the real daemon behind it: added, read from a file, changed, deleted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.test_services_page import closed, dialog, press, row

pytestmark = pytest.mark.browser

WORDS = "What the model reads first"


def topics(daemon: Any) -> dict[str, str]:
    return {item["title"]: item["text"] for item in daemon.call("topic.list")["topics"]}


def load(page: Any, name: str, data: bytes) -> None:
    page.locator(".oasis-dialog input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": data}
    )


def test_messages_are_listed_and_the_default_stays(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="topics")
    expect(row(page, "Router operator").get_by_role("button", name="Delete")).to_have_count(0)
    expect(row(page, "Router operator")).to_contain_text("default")
    expect(row(page, "Guests at home")).to_contain_text("yours")
    row(page, "Guests at home").locator("summary").click()
    expect(row(page, "Guests at home").get_by_text("Never tell them the password")).to_be_visible()
    assert "null" not in page.inner_text("#view")
    find_barriers(page)


def test_message_is_added_changed_and_deleted(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="topics")
    press(page, "Add a system message")
    press(dialog(page), "Save")
    expect(dialog(page).get_by_role("alert")).to_contain_text("title")
    page.get_by_label("Title").fill("My <b>cellar</b>")
    page.get_by_label(WORDS).fill("Two routers & a switch")
    expect(dialog(page).get_by_text("22 of 4096 characters")).to_be_visible()
    press(dialog(page), "Save")
    closed(page)
    expect(row(page, "My <b>cellar</b>")).to_contain_text("Two routers & a switch")
    press(row(page, "My <b>cellar</b>"), "Change")
    expect(page.get_by_label(WORDS)).to_have_value("Two routers & a switch")
    page.get_by_label("Title").fill("My attic")
    press(dialog(page), "Save")
    closed(page)
    assert topics(daemon)["My attic"] == "Two routers & a switch"
    expect(row(page, "My attic").get_by_role("button", name="Change")).to_be_focused()
    press(row(page, "My attic"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    expect(page.get_by_role("rowheader").filter(has_text="My attic")).to_have_count(0)
    assert "My attic" not in topics(daemon)


def test_message_is_read_from_a_file_in_the_browser(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="topics")
    press(page, "Add a system message")
    expect(page.locator(".oasis-dialog input[type=file]")).to_be_hidden()
    load(page, "cellar.md", "Zwei Räume\r\nein Router".encode())
    expect(page.get_by_label(WORDS)).to_have_value("Zwei Räume\nein Router")
    expect(page.get_by_label("Title")).to_have_value("cellar")
    load(page, "broken.txt", b"\xff\xfe\x00")
    expect(dialog(page).get_by_role("alert")).to_contain_text("no text in UTF-8")
    load(page, "long.txt", b"x" * 4097)
    expect(dialog(page).get_by_role("alert")).to_contain_text("too long")
    expect(page.get_by_label(WORDS)).to_have_value("Zwei Räume\nein Router")
    press(dialog(page), "Save")
    closed(page)
    assert topics(daemon)["cellar"] == "Zwei Räume\nein Router"


def test_viewer_reads_messages_and_can_press_nothing(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, user="viewer", where="topics")
    expect(row(page, "Guests at home")).to_be_visible()
    assert page.locator(".oasis button:not(:disabled)").count() == 0
