"""What happens to a page in the middle of a run: the session ends, the daemon is killed, the network goes and comes
back, the router moves to another address. Each time the page says so and goes on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page_daemon import oasisd  # noqa: F401
from tests.luci.wire import Wire
from tests.oasisd import start_daemon

pytestmark = pytest.mark.browser

END_SESSION = """fetch('/ubus/', { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call',
    params: [ L.env.sessionid, 'session', 'destroy', {} ] }) })"""
# A daemon that starts again on a loaded machine, or a page that waits with its next try.
SLOW_MS = 60000


@pytest.fixture
def wire() -> Iterator[Callable[[str], Wire]]:
    """Put a network in front of an address; gives a Wire."""
    made: list[Wire] = []

    def make(url: str) -> Wire:
        made.append(Wire(int(url.rstrip("/").rpartition(":")[2])))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def ask(page: Any, text: str) -> None:
    page.fill("#oasis-input", text)
    page.keyboard.press("Enter")


def fix(page: Any) -> None:
    page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    button(page, "Approve").wait_for()


def proved(page: Any) -> None:
    page.get_by_text("Reachable: proved over a new connection").wait_for(timeout=SLOW_MS)


def log_in_again(page: Any, log_in: Any) -> None:
    page.get_by_role("heading", name="Session expired").wait_for()
    page.get_by_text("Log in…").click()
    log_in(page)


def test_session_that_ends_while_a_fix_waits_brings_back_its_plan(router: Any, visit: Any, log_in: Any) -> None:
    page = visit(router().url, where="doctor")
    fix(page)
    page.evaluate(END_SESSION)
    button(page, "Approve").click()
    log_in_again(page, log_in)
    button(page, "Approve").click()
    button(page, "Keep").click()
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed")


def test_session_that_ends_in_the_window_still_lets_the_owner_keep(router: Any, visit: Any, log_in: Any) -> None:
    page = visit(router(confirm_s=300).url, where="doctor")
    fix(page)
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    page.evaluate(END_SESSION)
    button(page, "Keep").click()
    log_in_again(page, log_in)
    button(page, "Keep").click()
    expect(page.locator(".oasis-pending")).to_be_hidden()


@pytest.mark.parametrize("where", ["tools", "audit", "changes"])
def test_session_that_ended_is_told_on_every_page(router: Any, visit: Any, log_in: Any, where: str) -> None:
    page = visit(router(decisions=60).url, where=where)
    page.evaluate(END_SESSION)
    press = {
        "tools": lambda: page.get_by_role("switch").first.click(),
        "audit": lambda: button(page, "Check the chain").click(),
    }
    press.get(where, lambda: button(page, "Look again").click())()
    log_in_again(page, log_in)
    expect(page.locator(".oasis-page")).to_be_visible()


def test_network_that_restarts_in_the_middle_of_an_answer_loses_no_word(router: Any, visit: Any, wire: Any) -> None:
    net = wire(router().url)
    page = visit(net.url)
    button(page, "New chat").click()
    ask(page, "long story")
    page.get_by_text("word3 ").wait_for()
    net.cut()
    page.get_by_text("The router does not answer.").wait_for()
    net.mend()
    expect(page.get_by_text("Trying again in")).to_be_hidden(timeout=SLOW_MS)
    said = page.locator(".oasis-assistant .oasis-text")
    expect(said).to_have_text(re.compile(r"word40 "), timeout=SLOW_MS)
    words = said.inner_text().split()
    assert words == [f"word{number}" for number in range(1, len(words) + 1)]
    button(page, "Stop").click()


def test_network_that_restarts_while_a_fix_waits_keeps_the_plan(router: Any, visit: Any, wire: Any) -> None:
    net = wire(router().url)
    page = visit(net.url, where="doctor")
    fix(page)
    net.cut()
    button(page, "Approve").click()
    expect(page.locator(".oasis-plan [role=alert]")).to_contain_text("The router does not answer.")
    net.mend()
    button(page, "Approve").click()
    button(page, "Keep").click()
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed", timeout=SLOW_MS)


def test_network_that_is_gone_in_the_window_is_told_and_the_banner_goes_on(router: Any, visit: Any, wire: Any) -> None:
    net = wire(router(confirm_s=300).url)
    page = visit(net.url, where="doctor")
    fix(page)
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    net.cut()
    page.get_by_text("If that lasts, the earlier settings come back by themselves.").wait_for(timeout=SLOW_MS)
    net.mend()
    expect(page.get_by_text("If that lasts")).to_be_hidden(timeout=SLOW_MS)
    button(page, "Keep").click()
    expect(page.locator(".oasis-pending")).to_be_hidden()


@pytest.mark.parametrize("where", ["chat", "doctor"])
def test_router_that_moves_is_followed_to_its_new_address(
    router: Any, visit: Any, wire: Any, log_in: Any, where: str
) -> None:
    net = wire(router(confirm_s=300, new_address="127.0.0.2").url)
    page = visit(net.url, where=where)
    if where == "chat":
        ask(page, "a guest network")
    else:
        page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    page.get_by_text("Afterwards the router is at another address: http://127.0.0.2/").wait_for()
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    net.move("127.0.0.2")
    link = page.get_by_role("link", name="The router is now at 127.0.0.2: go on there")
    link.click()
    log_in(page)
    assert page.url.startswith(net.url) and net.address == "127.0.0.2"
    button(page, "Keep").click()
    expect(page.locator(".oasis-pending")).to_be_hidden()
    page.goto(net.url + "cgi-bin/luci/admin/network/oasis/changes")
    expect(page.locator(".oasis-entry").first).to_have_attribute("data-state", "confirmed")


def test_daemon_killed_in_the_window_comes_back_and_the_page_tells_how_it_ended(oasisd: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = oasisd()
    page = visit(url)
    with open(os.path.join(daemon.root, "etc/config/wireless"), encoding="utf-8") as file:
        before = file.read()
    ask(page, "set the wifi password to correct-horse-9")
    button(page, "Approve").click(timeout=SLOW_MS)
    button(page, "Keep").wait_for(timeout=SLOW_MS)
    daemon.kill()
    page.get_by_text("The router does not answer at the moment.").wait_for(timeout=SLOW_MS)
    again = start_daemon(daemon.root)
    try:
        expect(page.get_by_text("The router does not answer at the moment.")).to_be_hidden(timeout=SLOW_MS)
        if button(page, "Roll back now").is_visible():
            button(page, "Roll back now").click()
        expect(page.locator(".oasis-pending")).to_be_hidden(timeout=SLOW_MS)
        assert again.call("change.list")["changes"][0]["state"] == "rolled_back"
        with open(os.path.join(daemon.root, "etc/config/wireless"), encoding="utf-8") as file:
            assert file.read() == before
    finally:
        again.stop()


def test_daemon_killed_while_an_undo_waits_leaves_no_button_that_does_nothing(oasisd: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = oasisd()
    page = visit(url)
    ask(page, "set the wifi password to correct-horse-9")
    button(page, "Approve").click(timeout=SLOW_MS)
    proved(page)
    button(page, "Keep").click(timeout=SLOW_MS)
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=SLOW_MS)
    page.goto(page.url.replace("/chat", "/changes"))
    page.locator(".oasis-entry > summary").first.click()
    button(page, "Undo").click()
    button(page, "Approve").wait_for(timeout=SLOW_MS)
    daemon.kill()
    page.get_by_text("Trying again in").wait_for(timeout=SLOW_MS)
    again = start_daemon(daemon.root)
    try:
        page.get_by_text("Oasis was restarted meanwhile.").wait_for(timeout=SLOW_MS)
        expect(button(page, "Approve")).to_have_count(0)
        expect(page.get_by_text("Expired: nothing was changed")).to_be_visible()
        button(page, "Undo").click()
        button(page, "Approve").click(timeout=SLOW_MS)
        proved(page)
        button(page, "Keep").click(timeout=SLOW_MS)
        expect(page.locator(".oasis-entry")).to_have_count(2, timeout=SLOW_MS)
    finally:
        again.stop()
