"""The page of what is remembered with the real daemon behind it: facts, documents, the search over them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.test_services_page import closed, dialog, press, row

pytestmark = [pytest.mark.browser, pytest.mark.part("memory")]

LETTER = "The hotline is 0800 123.\n\nThe <b>VLAN</b> of the line is 7."


def add(page: Any, **given: str) -> None:
    press(page, "Add a document")
    for label, value in given.items():
        dialog(page).get_by_label(label.replace("_", " ")).first.fill(value)
    dialog(page).get_by_role("button", name="Add", exact=True).click()
    closed(page)


def find(page: Any, words: str) -> Any:
    page.get_by_label("Find in documents and OpenWrt's options").fill(words)
    page.get_by_role("button", name="Find", exact=True).click()
    return page.locator(".oasis-shelf")


def test_facts_are_written_corrected_and_forgotten(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="memory")
    expect(page.get_by_text("Nothing is remembered of you.")).to_be_visible()
    press(page, "Add a fact")
    page.get_by_label("One sentence about you").fill("The owner likes <i>tea</i>.")
    press(dialog(page), "Save")
    closed(page)
    fact = row(page, "The owner likes <i>tea</i>.")
    expect(fact).to_contain_text("100 %")
    find_barriers(page)
    press(fact, "Change")
    page.get_by_label("One sentence about you").fill("The owner likes coffee.")
    press(dialog(page), "Save")
    closed(page)
    expect(row(page, "The owner likes coffee.")).to_be_visible()
    assert [one["fact"] for one in daemon.call("memory.list")["facts"]] == ["The owner likes coffee."]
    press(row(page, "The owner likes coffee."), "Forget")
    press(dialog(page), "Forget")
    closed(page)
    expect(page.get_by_text("Nothing is remembered of you.")).to_be_visible()
    assert daemon.call("memory.list")["facts"] == []


def test_learning_is_off_until_it_is_switched_on(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="memory")
    switch = page.get_by_label("Let a model take facts out of what you say")
    expect(switch).not_to_be_checked()
    with page.expect_response(lambda reply: '"oasis.memory"' in (reply.request.post_data or "")):
        switch.check()
    page.reload()
    expect(switch).to_be_checked()
    assert daemon.call("memory.list")["extract"] is True


def test_document_is_added_found_and_deleted(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="memory")
    expect(page.get_by_text("There is no document yet.")).to_be_visible()
    add(page, or_a_text=LETTER, Title="Provider letter")
    expect(page.locator(".oasis-run").get_by_text("is added")).to_be_visible()
    expect(row(page, "Provider letter").locator(".oasis-badge")).to_have_text("by words")
    found = find(page, "which vlan does the line have")
    expect(found).to_contain_text("The <b>VLAN</b> of the line is 7.")
    expect(found).to_contain_text("Provider letter")
    find_barriers(page)
    press(row(page, "Provider letter"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    expect(page.get_by_text("There is no document yet.")).to_be_visible()
    assert daemon.call("knowledge.list")["documents"] == []


def test_file_is_sent_and_what_cannot_be_read_is_told(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="memory")
    for name, data in (
        ("mesh.md", b"# Mesh\n\nPress the **WPS** button."),
        ("pack.zip", b"PK\x03\x04" + b"\0" * 90_000),
    ):
        press(page, "Add a document")
        page.locator(".oasis-dialog input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/plain", "buffer": data}
        )
        dialog(page).get_by_role("button", name="Add", exact=True).click()
        closed(page)
    expect(row(page, "Mesh")).to_contain_text("mesh.md")
    expect(page.locator(".oasis-run").get_by_role("alert")).to_contain_text("pack.zip is an archive")


def test_an_option_is_explained(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, where="memory")
    found = find(page, "what does network.lan.proto do")
    expect(found).to_contain_text("network.interface.proto")
    expect(found).to_contain_text("How this network gets its address")


def test_who_may_only_look_sees_nothing_of_the_owner(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("memory.add", fact="My printer is in the attic.")
    page = visit(url, user="viewer", where="memory")
    expect(page.get_by_role("alert")).to_contain_text("Log in again, as a user with write access to Oasis.")
    expect(page.get_by_text("attic")).to_have_count(0)
    assert page.locator(".oasis button:enabled").all_inner_texts() == ["Try again"]
