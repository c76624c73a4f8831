"""The chat page with the real daemon behind it, without a model: the offline provider answers."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser

HELPER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "daemon.py")

RISKY = "set the wifi password to correct-horse-9"


@pytest.fixture
def oasisd(tmp_path_factory: Any, start: Any) -> Iterator[Callable[[], Any]]:
    """Start oasisd on a stock router root with the stand-in in front; gives (daemon, address)."""
    if not os.path.exists(HELPER):
        pytest.skip("tests/daemon.py is not there: no daemon to start")
    spec = importlib.util.spec_from_file_location("page_daemon", HELPER)
    assert spec and spec.loader
    helper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helper)
    daemons: list[Any] = []

    def run() -> tuple[Any, str]:
        root = helper.copy_root(str(tmp_path_factory.mktemp("router")))
        daemons.append(helper.start_daemon(root))
        _, url = start("server.py", "--root", root)
        return daemons[0], url

    yield run
    for daemon in daemons:
        daemon.stop()


def ask(page: Any, text: str) -> None:
    page.fill("#oasis-input", text)
    page.keyboard.press("Enter")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def config(daemon: Any, package: str) -> str:
    with open(os.path.join(daemon.root, "etc/config", package), encoding="utf-8") as file:
        return file.read()


def test_low_risk_change_from_words_to_file_and_back(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    before = config(daemon, "system")
    ask(page, "set the hostname to attic")
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=60000)
    assert "option hostname 'attic'" in config(daemon, "system")
    button(page, "Undo").first.click()
    page.locator(".oasis-change").nth(1).wait_for(timeout=60000)
    assert config(daemon, "system") == before
    assert "null" not in page.inner_text("body")


def test_risky_change_is_approved_and_kept(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    before = config(daemon, "wireless")
    ask(page, RISKY)
    button(page, "Approve").wait_for(timeout=60000)
    assert config(daemon, "wireless") == before
    button(page, "Approve").click()
    button(page, "Keep").wait_for(timeout=60000)
    assert config(daemon, "wireless") != before
    page.reload()
    button(page, "Keep").click(timeout=60000)
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=60000)
    assert config(daemon, "wireless") != before


def test_risky_change_is_put_back(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    names = ("wireless", "network", "firewall", "dhcp")
    before = [config(daemon, name) for name in names]
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)
    button(page, "Put back now").click(timeout=60000)
    page.locator(".oasis-change[data-state=rolled_back]").wait_for(timeout=60000)
    assert [config(daemon, name) for name in names] == before
