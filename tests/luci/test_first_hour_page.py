"""The first hour on the page: a model server at home is found and put into use, and what would be sent can be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.test_terminal_setup import Home
from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.oasisd import copy_root, has_part, start_daemon

pytestmark = pytest.mark.browser

WIFI = "planted wifi key 4711"


@pytest.fixture
def home() -> Iterator[Home]:
    made = Home()
    yield made
    made.close()


def know(daemon: Any, host: str) -> None:
    """Let the router know a machine; the worker then asks it."""
    with open(daemon.root + "/tmp/dhcp.leases", "w", encoding="utf-8") as handle:
        handle.write(f"0 00:1e:8f:4a:c2:11 {host} big-pc *\n")


def in_use(daemon: Any) -> str:
    return next(one["identifier"] for one in daemon.call("service.list")["service"] if one["active"])


def test_server_at_home_is_found_when_somebody_presses_and_put_into_use(furnished: Any, visit: Any, home: Home) -> None:  # noqa: F811
    daemon, url = furnished()
    know(daemon, home.host)
    page = visit(url, where="services")
    expect(page.get_by_role("heading", name="At home")).to_be_visible()
    assert home.paths == []
    page.get_by_role("button", name="Look for servers at home").click()
    table = page.get_by_role("table", name="Servers at home")
    expect(table.get_by_role("rowheader").filter(has_text="big-pc")).to_be_visible()
    expect(table).to_contain_text("small-model")
    find_barriers(page)
    table.get_by_role("button", name="Use").click()
    services = page.get_by_role("table", name="Services")
    expect(services.get_by_role("rowheader").filter(has_text="llama.cpp")).to_contain_text("in use")
    assert in_use(daemon) == "llamacpp"


def test_server_that_does_not_answer_is_kept_and_not_used(furnished: Any, visit: Any, home: Home) -> None:  # noqa: F811
    daemon, url = furnished()
    know(daemon, home.host)
    before = in_use(daemon)
    home.recorder.script[:] = [(500, "out of memory")] * 5
    page = visit(url, where="services")
    page.get_by_role("button", name="Look for servers at home").click()
    page.get_by_role("table", name="Servers at home").get_by_role("button", name="Use").click()
    expect(page.get_by_role("alert")).to_contain_text("out of memory")
    assert in_use(daemon) == before


def test_home_without_a_server_is_told_what_one_needs(furnished: Any, visit: Any, home: Home) -> None:  # noqa: F811
    daemon, url = furnished()
    know(daemon, home.host)
    home.models = lambda: {"what": "another program"}  # type: ignore[method-assign]
    page = visit(url, where="services")
    page.get_by_role("button", name="Look for servers at home").click()
    expect(page.get_by_text("None answered, of")).to_be_visible()


def test_what_would_be_sent_is_shown_and_nothing_is_sent(furnished: Any, visit: Any, home: Home) -> None:  # noqa: F811
    daemon, url = furnished()
    with open(daemon.root + "/etc/config/wireless", "a", encoding="utf-8") as handle:
        handle.write(f"\nconfig wifi-iface 'planted'\n\toption ssid 'Attic'\n\toption key '{WIFI}'\n")
    added = daemon.call("service.add", name="compatible", endpoint=f"http://{home.host}:8080/v1", model="small-model")
    daemon.call("service.select", identifier=added["identifier"])
    page = visit(url)
    page.locator("#oasis-input").fill(f"is {WIFI} a good password?")
    page.get_by_role("button", name="What would be sent?").click()
    shown = page.locator(".oasis-sent")
    expect(shown).to_contain_text('"model": "small-model"')
    body = json.loads(shown.inner_text())
    assert body["messages"][-1]["role"] == "user"
    assert WIFI not in shown.inner_text()
    assert home.paths == []
    find_barriers(page)
    page.keyboard.press("Escape")
    expect(page.locator(".oasis-sent")).to_have_count(0)
    assert page.locator("#oasis-input").input_value() == f"is {WIFI} a good password?"


@pytest.mark.part("offline")
def test_built_in_service_sends_nothing_and_says_so(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("service.select", identifier="offline")
    page = visit(url)
    page.get_by_role("button", name="What would be sent?").click()
    expect(page.locator(".oasis-dialog")).to_contain_text("Nothing: offline answers on the router itself.")


def test_page_without_a_model_says_where_to_set_one_up(visit: Any, start: Any, tmp_path: Any) -> None:
    root = copy_root(str(tmp_path / "router"), is_stock=True)
    daemon = start_daemon(root)
    try:
        _, url = start("server.py", "--root", root, "--viewer", "any")
        page = visit(url)
        said = (
            "Common requests are understood without any AI model." if has_part("offline") else "Nothing here can answer"
        )
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.get_by_role("log").get_by_role("link", name="Services")).to_be_visible()
    finally:
        daemon.stop()
