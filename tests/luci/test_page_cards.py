"""The card of a plan on the page, with the real daemon: all that is approved can be read, folded where it is long."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401

pytestmark = pytest.mark.browser

MARK = "quenepa"
LONG = "turn off the guest wifi " * 18 + MARK + " and then " + "say good night " * 20
MANY = [f"uci add_list dhcp.lan.dhcp_option='{number},192.168.1.{number}'" for number in range(1, 60)]
MANY.insert(30, f"uci add_list dhcp.lan.dhcp_option='119,{MARK}.example.org'")


def test_a_long_argument_of_a_tool_is_folded_and_whole(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("tool.set", name="logs", enabled=True, approval="ask")
    assert "run" in daemon.call("tool.call", name="logs", arguments={"contains": LONG + "\u202e\u00a0"})
    page = visit(url, where="changes")
    long = page.locator(".oasis-plan .oasis-long")
    expect(long).to_have_count(1, timeout=60000)
    expect(long.locator(".oasis-whole")).to_be_hidden()
    long.locator("summary").click()
    expect(long.locator(".oasis-whole")).to_contain_text(f"contains: {LONG}\\u202e\\u00a0")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()


def test_a_long_plan_is_whole(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    assert "run" in daemon.call("plan.propose", commands=MANY)
    page = visit(url, where="changes")
    card = page.locator(".oasis-plan")
    expect(card.locator("details.oasis-diff pre").last).to_contain_text(MARK, timeout=60000)
    assert card.evaluate("node => node.textContent").count(MARK) >= 3, "in words, difference and commands"


def test_a_secret_that_somebody_else_chose_stands_in_clear(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    assert "run" in daemon.call("plan.propose", commands=["uci set wireless.default_radio0.key=moonlight-harbor-77"])
    page = visit(url, where="changes")
    card = page.locator(".oasis-plan")
    expect(card).to_contain_text("wireless.default_radio0.key: as you wrote it", timeout=60000)
    assert "moonlight" not in page.content()
    secret = {"where": "wireless.x.key", "from": "chosen by the model", "value": "moon\u200blight"}
    card = {"id": "p", "hash": "h", "short": "h", "summary": "s", "words": [], "risk": "risky", "secrets": [secret]}
    shown = page.evaluate("card => L.require('oasis.plan').then(plan => plan.card(card, null).node.textContent)", card)
    assert "Secrets in clear" in shown and "wireless.x.key (chosen by the model): moon⟨U+200B⟩light" in shown
