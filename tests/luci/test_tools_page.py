"""The page of tools in a real browser: what there is, the two switches, questions before what is dangerous."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


def row(page: Any, name: str) -> Any:
    return page.locator(f'[data-tool="{name}"]')


def use(page: Any, name: str) -> Any:
    return page.get_by_role("switch", name=f"{name} may be used", exact=True)


def approval(page: Any, name: str) -> Any:
    return page.get_by_label(f"Approval of {name}", exact=True)


def test_tools_are_listed_by_source_with_class_cost_and_note(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    expect(page.get_by_role("heading", level=3)).to_have_text(["Built in", "Plugin wake", "MCP server home"])
    expect(page.locator("[data-tool]")).to_have_count(7)
    for words in ("Fetch a page of the web.", "uses the network", "140 tokens", "what it brings is the word of others"):
        expect(row(page, "http_fetch")).to_contain_text(words)
    expect(use(page, "status")).to_be_checked()
    expect(use(page, "shell_exec")).not_to_be_checked()
    expect(approval(page, "configure")).to_have_value("ask")
    expect(approval(page, "shell_exec")).to_be_disabled()
    expect(page.get_by_text("5 tools are on; together they cost 696 tokens of each question.")).to_be_visible()
    assert "null" not in page.inner_text("#view")


def test_tool_is_switched_and_the_cost_follows(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    use(page, "wol").click()
    expect(use(page, "wol")).not_to_be_checked()
    expect(use(page, "wol")).to_be_focused()
    expect(page.get_by_text("4 tools are on; together they cost 622 tokens")).to_be_visible()
    page.reload()
    expect(use(page, "wol")).not_to_be_checked()


def test_what_the_router_refuses_is_told_in_the_row_and_not_shown_as_done(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    use(page, "shell_exec").click()
    page.get_by_role("button", name="Switch on").click()
    expect(row(page, "shell_exec").get_by_role("alert")).to_contain_text("shell_exec needs the user oasis-tool")
    expect(use(page, "shell_exec")).not_to_be_checked()
    expect(use(page, "shell_exec")).to_be_enabled()


def test_dangerous_tool_is_switched_on_only_after_a_question(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    use(page, "shell_exec").click()
    expect(page.get_by_role("dialog")).to_contain_text("Let the model use shell_exec?")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(use(page, "shell_exec")).not_to_be_checked()
    expect(use(page, "shell_exec")).to_be_focused()


def test_approval_is_chosen_and_allowing_a_change_takes_a_question(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    approval(page, "wol").select_option("Never")
    expect(approval(page, "wol")).to_be_enabled()
    approval(page, "wol").select_option("Allow")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Allow", exact=True)).to_be_hidden()
    expect(approval(page, "wol")).to_have_value("deny")
    expect(approval(page, "wol")).to_be_focused()
    approval(page, "wol").select_option("Allow")
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(approval(page, "wol")).to_have_value("allow")
    page.reload()
    expect(approval(page, "wol")).to_have_value("allow")


def test_filter_by_word_state_and_kind(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    shown = page.locator("[data-tool]:visible code")
    page.get_by_label("Show").select_option("Switched off")
    expect(shown).to_have_text(["http_fetch", "shell_exec"])
    page.get_by_label("Kind").select_option("dangerous")
    expect(shown).to_have_text(["shell_exec"])
    expect(page.get_by_text("1 of 7 tools")).to_be_visible()
    expect(page.get_by_role("heading", name="Plugin wake")).to_be_hidden()
    page.get_by_label("Show").select_option("All")
    page.get_by_label("Kind").select_option("All")
    page.get_by_label("Look for").fill("LIGHTS")
    expect(shown).to_have_text(["home___lights"])


def test_viewer_sees_and_switches_nothing(router: Any, visit: Any) -> None:
    page = visit(router(viewer="any").url, user="viewer", where="tools")
    expect(page.locator("[data-tool]")).to_have_count(7)
    expect(page.locator("[data-tool] input:enabled, [data-tool] select:enabled")).to_have_count(0)
