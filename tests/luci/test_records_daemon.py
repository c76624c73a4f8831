"""The pages of changes, audit, tools and doctor with the real daemon behind them."""

from __future__ import annotations

import glob
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401
from tests.luci.pictures import say, settle

pytestmark = pytest.mark.browser

# A daemon that plans and reloads on a loaded machine.
SLOW_MS = 60000


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def config(daemon: Any, package: str, text: str | None = None) -> str:
    path = f"{daemon.root}/etc/config/{package}"
    if text is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_change_is_undone_from_the_list(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    before = config(daemon, "system")
    say(daemon, "call this router attic")
    page = visit(url, where="changes")
    page.locator(".oasis-entry > summary").click()
    expect(page.locator(".oasis-entry .oasis-added")).to_contain_text("attic")
    button(page, "Undo").click()
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed", timeout=SLOW_MS)
    assert config(daemon, "system") == before
    expect(page.locator(".oasis-entry")).to_have_count(2)
    expect(page.locator(".oasis-entry > summary").last).to_contain_text("Undone later")


def test_what_somebody_else_changed_since_is_a_conflict_and_stays(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    settle(daemon, "set the time zone to Europe/Berlin", "change.confirm", unproved=True)
    page = visit(url, where="changes")
    mine = config(daemon, "system", config(daemon, "system").replace("Europe/Berlin", "Europe/Paris"))
    page.locator(".oasis-entry > summary").click()
    button(page, "Undo").click()
    row = page.locator(".oasis-run tbody tr")
    expect(row).to_have_count(1, timeout=SLOW_MS)
    expect(row).to_contain_text("zonename")
    expect(row).to_contain_text("Europe/Paris")
    assert config(daemon, "system") == mine
    button(page, "Undo the rest and leave these as they are").click()
    button(page, "Approve").click()
    button(page, "Keep").click(timeout=SLOW_MS)
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed", timeout=SLOW_MS)
    assert "option timezone 'UTC'" in config(daemon, "system")
    assert "Europe/Paris" in config(daemon, "system")


def test_saved_audit_log_is_the_log_to_the_byte(furnished: Any, visit: Any, tmp_path: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    say(daemon, "call this router attic")
    say(daemon, "call this router cellar")
    page = visit(url, where="audit")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_text("The chain of 2 lines is whole.")).to_be_visible()
    with page.expect_download() as saved:
        button(page, "Download").click()
    saved.value.save_as(tmp_path / "saved")
    (path,) = glob.glob(daemon.root + "/etc/oasis/**/audit.jsonl", recursive=True)
    with open(path, "rb") as file:
        whole = file.read()
    assert (tmp_path / "saved").read_bytes() == whole
    with open(path, "wb") as file:
        file.write(whole.replace(b"automatic", b"approved!", 1))
    button(page, "Check the chain").click()
    expect(page.locator(".alert-message.danger")).to_contain_text("The chain is broken at line")


def test_tool_that_is_switched_off_is_off(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="tools")
    page.get_by_role("switch", name="probe may be used").click()
    expect(page.get_by_role("switch", name="probe may be used")).not_to_be_checked()
    page.get_by_label("Approval of logs").select_option("Ask me")
    expect(page.get_by_label("Approval of logs")).to_be_enabled()
    tools = {tool["name"]: tool for tool in daemon.call("tool.list")["tools"]}
    assert not tools["probe"]["enabled"] and tools["logs"]["approval"] == "ask"
    page.reload()
    expect(page.get_by_role("switch", name="probe may be used")).not_to_be_checked()
    expect(page.get_by_label("Approval of logs")).to_have_value("ask")


def test_fix_is_a_plan_until_it_is_approved_and_can_be_put_back(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    before = config(daemon, "system")
    page = visit(url, where="doctor")
    button(page, "Fix…").click(timeout=SLOW_MS)
    expect(page.locator(".oasis-plan .oasis-added")).to_contain_text("option enabled '1'", timeout=SLOW_MS)
    assert config(daemon, "system") == before
    button(page, "Approve").click()
    button(page, "Roll back now").click(timeout=SLOW_MS)
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "rolled_back", timeout=SLOW_MS)
    assert config(daemon, "system") == before
