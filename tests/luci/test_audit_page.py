"""The page of the audit log in a real browser: lines, filter, chain, and the log as a file."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


def rows(page: Any) -> Any:
    return page.locator("tbody tr")


def test_decisions_stand_newest_first_with_who_and_what(router: Any, visit: Any) -> None:
    page = visit(router(decisions=7).url, where="audit")
    expect(rows(page)).to_have_count(7)
    first = rows(page).first
    for words in ("declined", "owner", "wireless, network", "forced: reachability"):
        expect(first).to_contain_text(words)
    digest = hashlib.sha256(b"6").hexdigest()
    expect(first.locator("code")).to_have_text(digest[:8])
    expect(first.locator("code")).to_have_attribute("title", digest)
    expect(rows(page).nth(1)).to_contain_text("low risk, not asked")
    assert "null" not in page.inner_text("#view")


def test_long_log_is_shown_by_the_screenful(router: Any, visit: Any) -> None:
    page = visit(router(decisions=230).url, where="audit")
    older = page.get_by_role("button", name="Show older lines")
    expect(rows(page)).to_have_count(50)
    for count in (100, 150, 200, 230):
        older.click()
        expect(rows(page)).to_have_count(count)
    expect(older).to_be_hidden()
    expect(page.get_by_text("230 lines", exact=True)).to_be_visible()


def test_filter_by_word_decision_and_role(router: Any, visit: Any) -> None:
    page = visit(router(decisions=40).url, where="audit")
    page.get_by_label("Decision").select_option("declined")
    expect(rows(page)).to_have_count(10)
    page.get_by_label("Look for").fill("reachability")
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_text("2 of 40 lines")).to_be_visible()
    page.get_by_label("By").select_option("policy")
    expect(page.get_by_text("No line fits.")).to_be_visible()


def test_whole_chain_is_said_to_be_whole(router: Any, visit: Any) -> None:
    page = visit(router(decisions=9).url, where="audit")
    expect(page.get_by_text("The chain of 9 lines is whole.")).to_be_visible()
    page.get_by_role("button", name="Check the chain").click()
    expect(page.get_by_text("The chain of 9 lines is whole.")).to_be_visible()


def test_broken_chain_is_told_with_its_place(router: Any, visit: Any) -> None:
    page = visit(router(decisions=9).url)
    reply = {
        "lines": 3,
        "is_whole": False,
        "torn": "/var/b",
        "broken": {"file": "/var/a", "line": 4, "reason": "altered"},
    }
    answer_verify(page, reply)
    page.goto(page.url.replace("/chat", "/audit"))
    alert = page.locator(".alert-message.danger")
    expect(alert).to_contain_text("The chain is broken at line 4 of /var/a. altered")
    expect(page.get_by_text("The last line of /var/b was torn")).to_be_visible()
    assert "is whole" not in page.inner_text("#view")


def answer_verify(page: Any, reply: dict[str, object]) -> None:
    """Put an answer of our own in the place of the daemon's."""

    def handle(route: Any) -> None:
        asked = json.loads(route.request.post_data or "{}")
        if isinstance(asked, dict) and asked.get("params", ["", "", ""])[2] == "verify":
            route.fulfill(json={"jsonrpc": "2.0", "id": asked["id"], "result": [0, reply]})
        else:
            route.fallback()

    page.route("**/ubus/**", handle)


def test_saved_log_is_whole_and_its_chain_can_be_followed(router: Any, visit: Any, tmp_path: Any) -> None:
    page = visit(router(decisions=430).url, where="audit")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    saved.value.save_as(tmp_path / "audit.jsonl")
    lines = (tmp_path / "audit.jsonl").read_bytes().split(b"\n")
    assert saved.value.suggested_filename == "oasis-audit.jsonl"
    assert lines.pop() == b"" and len(lines) == 430
    for before, line in itertools.pairwise(lines):
        assert json.loads(line)["previous"] == hashlib.sha256(before).hexdigest()
    expect(page.locator(".oasis-said")).to_have_text("430 lines were saved.")


def test_empty_log_is_no_fault(router: Any, visit: Any) -> None:
    page = visit(router().url, where="audit")
    expect(page.get_by_text("Nothing was decided yet.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
