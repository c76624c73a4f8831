"""All pages in the real LuCI: they are shown, fit a phone, hold no barrier, and survive the end of their session.

Needs OASIS_LUCI; see tests/bus/test_bus_luci.py, whose router this is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.bus.test_bus_luci import PROGRAM, port  # noqa: F401 - a fixture
from tests.luci.conftest import PAGES as PLACE
from tests.luci.expecting import expect
from tests.luci.test_accessible import PAGES, barriers

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PROGRAM, reason="no real LuCI: OASIS_LUCI names no program that starts one"),
]
SLOW_MS = 60000


@pytest.fixture
def luci(port: int, browser: Any) -> Iterator[Any]:  # noqa: F811
    """Give a page as narrow as a phone that is logged in and shows the changes; errors of ours fail the test."""
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.set_default_timeout(SLOW_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"http://127.0.0.1:{port}/{PLACE}changes")
    log_in(page)
    page.wait_for_selector(".oasis-page")
    yield page
    context.close()
    # LuCI's own login page asks for what nobody may read yet.
    assert [error for error in errors if "uci/get" not in error and "session" not in error] == []


def log_in(page: Any) -> None:
    page.locator("input[name=luci_username]").fill("root")
    page.locator("input[name=luci_password]").fill("admin")
    page.keyboard.press("Enter")


@pytest.mark.parametrize("where", PAGES)
def test_page_is_shown_fits_a_phone_and_holds_no_barrier(luci: Any, where: str) -> None:
    luci.goto(luci.url.replace("/changes", "/" + where))
    luci.wait_for_selector(".oasis-log" if where == "chat" else ".oasis-page-body > :not(.oasis-runs)")
    expect(luci.locator(".oasis-page-body .spinning")).to_have_count(0, timeout=SLOW_MS)
    expect(luci.locator(".oasis [role=alert]:not(:empty)")).to_have_count(0)
    ours = """[ ...document.querySelectorAll('.oasis, .oasis *') ].filter(node => node.checkVisibility()
        && node.getBoundingClientRect().right > 361 && !node.closest('pre')).map(node => node.className)"""
    assert luci.evaluate(ours) == []
    assert barriers(luci) == []


def test_page_is_there_again_after_the_session_ended(luci: Any) -> None:
    luci.evaluate("L.require('rpc').then(rpc => rpc.setSessionID('f'.repeat(32)))")
    luci.context.clear_cookies()
    luci.get_by_role("button", name="Look again").click()
    luci.get_by_role("heading", name="Session expired").wait_for()
    luci.get_by_text("Log in…").click()
    log_in(luci)
    expect(luci.get_by_role("heading", name="Changes")).to_be_visible(timeout=SLOW_MS)
