"""Files in and out on the page, and the password button, against the test double of the daemon."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page import ask, button, hold_all
from tests.luci.test_page_branches import say, talk

pytestmark = pytest.mark.browser


def file(name: str, size: int = 100, data: bytes = b"") -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data or b"x" * size}


def attach(page: Any, *files: dict[str, Any]) -> Any:
    """Pick files; gives their chips."""
    page.set_input_files(".oasis-tools input[type=file]", list(files))
    return page.locator(".oasis-above .oasis-chip")


def calls(page: Any, method: str) -> list[dict[str, Any]]:
    """Collect the arguments of a method's calls from now on."""
    found: list[dict[str, Any]] = []

    def look(request: Any) -> None:
        if "/ubus/" not in request.url or not request.post_data:
            return
        value = json.loads(request.post_data)
        for call in value if isinstance(value, list) else [value]:
            if call["method"] == "call" and ".".join(call["params"][1:3]) == method:
                found.append(call["params"][3])

    page.on("request", look)
    return found


def test_files_go_along_and_are_shown_with_name_and_size(router: Any, visit: Any) -> None:
    page = visit(router().url)
    parts = calls(page, "oasis.upload.part")
    chips = attach(page, file("picture <b>.png", 100000), file("notes.txt", 10))
    expect(chips).to_have_count(2)
    expect(page.locator("progress")).to_have_count(0)
    assert [len(part["data"]) <= 48 * 1024 for part in parts] == [True] * 4
    assert [bool(part["is_last"]) for part in parts if part["name"].startswith("picture")] == [False, False, True]
    starts = calls(page, "oasis.run.start")
    say(page, "look at these")
    expect(chips).to_have_count(0)
    assert len(starts[0]["attachments"]) == 2
    for _ in range(2):
        shown = page.locator(".oasis-user").last.locator(".oasis-file")
        expect(shown).to_have_text([re.compile(r"picture <b>\.png\s*·\s*98 KiB"), re.compile(r"notes\.txt\s*·\s*10 B")])
        page.reload()
        page.get_by_text("You said: look at these").wait_for()
    hold_all(page)


def test_message_waits_for_its_files_and_a_file_can_be_called_off(router: Any, visit: Any) -> None:
    page = visit(router().url)
    parts = calls(page, "oasis.upload.part")
    chips = attach(page, file("slow.txt", 400000))
    page.wait_for_function("document.querySelector('progress').value > 0")
    ask(page, "not yet")
    page.get_by_text("A file is still being sent.").wait_for()
    expect(page.locator("#oasis-input")).to_have_value("not yet")
    page.get_by_role("button", name="Remove slow.txt").click()
    expect(chips).to_have_count(0)
    page.wait_for_timeout(500)
    count = len(parts)
    page.wait_for_timeout(700)
    assert len(parts) == count < 12, "no more pieces are sent"
    starts = calls(page, "oasis.run.start")
    say(page, "now")
    assert "attachments" not in starts[0]


def test_file_that_is_too_large_or_refused_is_named(router: Any, visit: Any) -> None:
    page = visit(router().url)
    chips = attach(page, file("film.mp4", 1536 * 1024))
    page.get_by_text("film.mp4 has 1.5 MiB; a file may have 1.0 MiB.").wait_for()
    expect(chips).to_have_count(0)
    attach(page, file("refused.txt"))
    page.get_by_role("alert").filter(has_text="the router has no room for it").wait_for()
    ask(page, "hello")
    page.get_by_text("A file was not sent").wait_for()
    page.get_by_role("button", name="Remove refused.txt").click()
    say(page, "hello")


def test_files_are_pasted_and_dropped(router: Any, visit: Any) -> None:
    page = visit(router().url)
    give = """([ where, kind, key ]) => {
        const data = new DataTransfer();
        data.items.add(new File([ 'words' ], kind + '.txt', { type: 'text/plain' }));
        const event = new Event(kind, { bubbles: true, cancelable: true });
        event[key] = data;
        document.querySelector(where).dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    assert page.evaluate(give, ["#oasis-input", "paste", "clipboardData"])
    assert page.evaluate(give, [".oasis-log", "drop", "dataTransfer"])
    expect(page.locator(".oasis-above .oasis-chip-text")).to_have_text(["paste.txt", "drop.txt"])


def test_password_goes_to_the_router_and_its_name_into_the_message(router: Any, visit: Any) -> None:
    page = visit(router().url)
    kept = calls(page, "oasis.secret.keep")
    logged: list[str] = []
    page.on("console", lambda message: logged.append(message.text))
    page.fill("#oasis-input", "Set the Wi-Fi password to ")
    button(page, "Password…").click()
    field = page.get_by_label("Password or key", exact=True)
    expect(field).to_have_attribute("type", "password")
    expect(field).to_have_attribute("autocomplete", "off")
    field.fill("hunter-two-33")
    field.press("Enter")
    expect(page.locator("#oasis-input")).to_have_value("Set the Wi-Fi password to <secret:1>")
    assert [call["value"] for call in kept] == ["hunter-two-33"]
    assert "hunter-two-33" not in page.content() + "".join(logged)
    assert not page.evaluate(
        """[ ...document.querySelectorAll('input, textarea') ].some(node => node.value.includes('hunter'))
            || JSON.stringify([ { ...localStorage }, { ...sessionStorage } ]).includes('hunter')"""
    )


def test_password_that_is_not_used_is_gone_with_the_dialog(router: Any, visit: Any) -> None:
    page = visit(router().url)
    kept = calls(page, "oasis.secret.keep")
    button(page, "Password…").click()
    page.evaluate("window.field = document.querySelector('input[type=password]')")
    page.get_by_label("Password or key", exact=True).fill("hunter-two-33")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.wait_for_function("window.field.value == ''")
    assert not kept


@pytest.mark.parametrize(
    ("label", "name", "first"),
    [
        ("For reading (Markdown)", ".md", "markdown of "),
        ("Whole chat (Oasis)", ".json", "oasis of "),
        ("For the old Oasis", ".json", "upstream of "),
    ],
)
def test_chat_is_saved_as_a_file(router: Any, visit: Any, tmp_path: Any, label: str, name: str, first: str) -> None:
    page = talk(router, visit, "one ", "word " * 60)
    button(page, "Export").click()
    with page.expect_download() as saved:
        button(page, label).click()
    assert saved.value.suggested_filename.endswith(name)
    saved.value.save_as(tmp_path / "saved")
    text = (tmp_path / "saved").read_text()
    assert text.startswith(first) and text.count("word ") >= 120, "all parts in their order"


def test_thread_that_is_shown_is_the_one_that_is_saved(router: Any, visit: Any, tmp_path: Any) -> None:
    page = talk(router, visit, "one", "two")
    button(page, "Edit and ask again").last.click()
    say(page, "other two")
    page.get_by_role("button", name="Previous version").click()
    page.get_by_text("You said: two").wait_for()
    button(page, "Export").click()
    with page.expect_download() as saved:
        button(page, "For reading (Markdown)").click()
    saved.value.save_as(tmp_path / "saved")
    assert "other two" not in (tmp_path / "saved").read_text()


def test_chats_are_taken_in_and_marked(router: Any, visit: Any) -> None:
    page = talk(router, visit, "one")
    button(page, "Import chats…").click()
    page.set_input_files("#modal_overlay input[type=file]", [file("bad.json"), file("good.json", data=b"{}")])
    rows = page.locator(".oasis-rows > li")
    rows.nth(1).wait_for()
    expect(rows.first).to_contain_text("the file is no chat")
    expect(rows.nth(1)).to_contain_text("a damaged pair was repaired")
    button(rows, "good.json").click()
    page.get_by_text("An answer of an import").wait_for()
    expect(page.locator(".oasis-message .oasis-badge")).to_have_text(["imported", "imported"])
    expect(page.locator(".oasis-source"), "nobody knows who answered it").to_have_count(0)
    say(page, "my own words")
    expect(page.locator(".oasis-message .oasis-badge"), "what is said from here on is not").to_have_count(2)
    page.locator(".oasis-open", has_text="good.json").wait_for()


def test_chats_of_the_old_program_are_offered_while_there_are_some(router: Any, visit: Any) -> None:
    page = visit(router().url)
    button(page, "Import chats…").click()
    button(page, "Take them over").click()
    page.get_by_text("1 topic taken in").wait_for()
    button(page.get_by_role("dialog"), "From the old Oasis").click()
    page.get_by_text("An answer of an import").wait_for()
    page.reload()
    page.get_by_text("An answer of an import").wait_for()
    button(page, "Import chats…").click()
    page.get_by_text("Files of Oasis, old or new").wait_for()
    expect(button(page, "Take them over")).to_have_count(0)
