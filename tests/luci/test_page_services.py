"""Services on the page with the real daemon behind it: added, tried, changed, put in order, taken away; keys unseen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.test_page import button
from tests.luci.test_page_daemon import oasisd  # noqa: F401

pytestmark = pytest.mark.browser

KEY = "sk-page-0123456789"


def names(daemon: Any) -> list[str]:
    return [item["identifier"] for item in daemon.call("service.list")["service"]]


def more(page: Any, name: str) -> None:
    """Open what there is more about a service."""
    page.get_by_label(f"More about {name}").click()


def test_services_are_managed_on_the_page(oasisd: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = oasisd()
    page = visit(url)
    button(page, "Services…").click()
    button(page, "Add a service").click()
    page.get_by_label("Provider").select_option("openai")
    button(page, "Next").click()
    page.get_by_label("Model").fill("gpt-5")
    expect(page.get_by_label("Key")).to_have_attribute("type", "password")
    page.get_by_label("Address").fill("ftp://nowhere")
    button(page, "Add").click()
    page.get_by_role("alert").filter(has_text="ftp://nowhere").wait_for()
    page.get_by_label("Address").fill("http://127.0.0.1:1/v1")
    page.get_by_label("Key").fill(KEY)
    button(page, "Add").click()
    more(page, "OpenAI")
    assert names(daemon) == ["offline", "openai"]
    assert KEY not in page.content() and KEY not in json.dumps(daemon.call("service.list"))
    button(page, "Change").click()
    page.get_by_label("Model").fill("gpt-5-mini")
    page.get_by_label("Longest answer in tokens").fill("900")
    button(page, "Save").click()
    button(page, "Add a service").wait_for()
    changed = daemon.call("service.list")["service"][1]
    assert (changed["model"], changed["options"], changed["has_key"]) == ("gpt-5-mini", {"max_tokens": 900}, True)
    button(page, "Test").last.click()
    page.get_by_role("status").filter(has_text="127.0.0.1").wait_for()
    more(page, "OpenAI")
    button(page, "Move up").click()
    page.get_by_text("in use").wait_for()
    page.wait_for_function("document.querySelector('.oasis-rows li').textContent.includes('OpenAI')")
    assert names(daemon) == ["openai", "offline"]
    more(page, "OpenAI")
    button(page, "Delete").click()
    page.get_by_text("Delete the service").wait_for()
    button(page, "Delete").click()
    button(page, "Add a service").wait_for()
    assert names(daemon) == ["offline"]
