"""The page of services with the real daemon behind it: added, tried, changed, put in order, deleted; keys unseen."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.oasisd import proposer

pytestmark = pytest.mark.browser

KEY = "sk-page-0123456789"
# The one that a test adds.
ADDED = "OpenAI-compatible server"


class Models(http.server.BaseHTTPRequestHandler):
    """A server that has two models."""

    def do_GET(self) -> None:
        body = json.dumps({"data": [{"id": "attic-small"}, {"id": "attic-big"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def models() -> Iterator[str]:
    """Serve a list of models; gives the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def row(place: Any, name: str) -> Any:
    """The row with a name in a page or a table."""
    page = getattr(place, "page", place)
    return place.get_by_role("row").filter(has=page.get_by_role("rowheader").filter(has_text=name))


def press(place: Any, name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def dialog(page: Any) -> Any:
    return page.locator(".oasis-dialog")


def closed(page: Any) -> None:
    """Wait until the dialog is gone, which it is when what it did was done."""
    expect(dialog(page)).to_have_count(0)


def names(daemon: Any) -> list[str]:
    return [item["identifier"] for item in daemon.call("service.list")["service"]]


def test_services_are_listed_in_order_with_state_and_key_unseen(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("service.key", identifier="openai", key=KEY)
    page = visit(url, where="services")
    services = page.get_by_role("table", name="Services")
    expect(services.get_by_role("rowheader")).to_contain_text(["OpenAI", "Ollama", "Anthropic", "offline"])
    expect(row(services, "OpenAI")).to_contain_text("in use")
    expect(row(services, "OpenAI")).to_contain_text("key set")
    expect(row(services, "Anthropic")).to_contain_text("no key is set")
    expect(row(services, "Anthropic").get_by_role("button", name="Test")).to_be_disabled()
    expect(row(services, "offline").get_by_role("button", name="Delete")).to_have_count(0)
    assert KEY not in page.content()
    assert "null" not in page.inner_text("#view")
    find_barriers(page)


def test_service_is_added_with_key_and_address(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="services")
    press(page, "Add a service")
    expect(page.get_by_text("Leave it empty for the usual one.")).to_be_visible()
    page.get_by_label("Provider").select_option("compatible")
    expect(page.get_by_text("Like http://192.168.1.20:8000/v1")).to_be_visible()
    expect(page.get_by_label("Key")).to_have_attribute("type", "password")
    page.get_by_label("Address").fill("ftp://nowhere")
    press(dialog(page), "Add")
    expect(dialog(page).get_by_role("alert")).to_contain_text("ftp://nowhere")
    page.get_by_label("Address").fill("http://127.0.0.1:1/v1")
    page.get_by_label("Model").fill("attic")
    page.get_by_label("Key").fill(KEY)
    press(dialog(page), "Add")
    closed(page)
    expect(page.get_by_role("rowheader").filter(has_text=ADDED)).to_have_count(1)
    assert names(daemon)[-1] == "compatible"
    added = daemon.call("service.list")["service"][-1]
    assert (added["model"], added["has_key"]) == ("attic", True)
    assert KEY not in page.content()
    expect(page.get_by_role("button", name="Add a service")).to_be_focused()


def test_service_is_changed_with_a_model_that_was_looked_up(furnished: Any, visit: Any, models: str) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("service.change", identifier="ollama", endpoint="")
    reply = daemon.call("service.add", name="compatible", endpoint=models, model="none")
    page = visit(url, where="services")
    press(row(page, ADDED), "Change")
    press(dialog(page), "Look up its models")
    expect(dialog(page).get_by_role("status")).to_contain_text("2 models")
    assert page.locator("datalist option").evaluate_all("all => all.map(one => one.value)") == [
        "attic-small",
        "attic-big",
    ]
    page.get_by_label("Model", exact=True).fill("attic-big")
    page.get_by_label("Thinking").select_option("low")
    dialog(page).locator("summary").click()
    page.get_by_label("Longest answer in tokens").fill("900")
    page.get_by_label("Temperature").fill("3")
    press(dialog(page), "Save")
    expect(dialog(page).get_by_role("alert")).to_contain_text("temperature")
    page.get_by_label("Temperature").fill("0.5")
    press(dialog(page), "Save")
    closed(page)
    changed = next(one for one in daemon.call("service.list")["service"] if one["identifier"] == reply["identifier"])
    assert changed["model"] == "attic-big"
    assert changed["options"] == {"thinking": "low", "max_tokens": 900, "temperature": 0.5}
    assert changed["base_url"] == models


def test_untouched_service_is_saved_as_it_was(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    before = daemon.call("service.list")
    with open(daemon.root + "/etc/config/oasis", encoding="utf-8") as file:
        text = file.read()
    page = visit(url, where="services")
    for name in ("OpenAI", "Ollama"):
        press(row(page.get_by_role("table", name="Services"), name), "Change")
        press(dialog(page), "Save")
        closed(page)
    assert daemon.call("service.list") == before
    with open(daemon.root + "/etc/config/oasis", encoding="utf-8") as file:
        assert file.read().replace("\toption tool_mode 'auto'\n", "") == text


def test_key_is_set_and_forgotten_and_never_kept_in_the_page(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="services")
    services = page.get_by_role("table", name="Services")
    press(row(services, "Anthropic"), "Key…")
    page.locator(".oasis-dialog input").fill(KEY)
    page.keyboard.press("Enter")
    closed(page)
    expect(row(services, "Anthropic")).to_contain_text("key set")
    assert page.evaluate("Array.from(document.querySelectorAll('input')).every(one => !one.value.startsWith('sk-'))")
    expect(row(services, "Anthropic").get_by_role("button", name="Key…")).to_be_focused()
    press(row(services, "Anthropic"), "Key…")
    press(dialog(page), "Forget the key")
    closed(page)
    expect(row(services, "Anthropic")).to_contain_text("no key is set")
    assert not daemon.call("service.list")["service"][2]["has_key"]


def test_service_moves_and_the_keyboard_moves_along(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    proposes = proposer()
    page = visit(url, where="services")
    heads = page.get_by_role("table", name="Services").get_by_role("rowheader")
    up = page.get_by_role("button", name="Move Ollama up")
    up.press("Enter")
    expect(heads).to_contain_text(["Ollama", "OpenAI", "Anthropic", proposes])
    expect(heads.first).to_contain_text("in use")
    expect(page.get_by_role("button", name="Move Ollama down")).to_be_focused()
    last_up = page.locator(f"[data-key='{proposes}/up']")
    last_up.press("Enter")
    expect(heads).to_contain_text(["Ollama", "OpenAI", proposes, "Anthropic"])
    expect(last_up).to_be_focused()
    assert names(daemon)[:4] == ["ollama", "openai", proposes, "anthropic"]


def test_service_is_tried_and_says_what_is_wrong(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("service.change", identifier="ollama", endpoint="http://127.0.0.1:1")
    page = visit(url, where="services")
    services = page.get_by_role("table", name="Services")
    press(row(services, proposer()), "Test")
    expect(row(services, proposer()).get_by_role("status")).to_contain_text("answered after")
    press(row(services, "Ollama"), "Test")
    expect(row(services, "Ollama").get_by_role("status")).to_contain_text("127.0.0.1", timeout=30000)


def test_service_is_deleted_after_a_question(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="services")
    press(row(page, "Anthropic"), "Delete")
    press(dialog(page), "Cancel")
    closed(page)
    assert "anthropic" in names(daemon)
    press(row(page, "Anthropic"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    expect(page.get_by_role("rowheader").filter(has_text="Anthropic")).to_have_count(0)
    assert "anthropic" not in names(daemon)


def test_alias_gets_services_in_an_order(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    (name,) = (one["name"] for one in daemon.call("service.list")["service"] if one["identifier"] == proposer())
    page = visit(url, where="services")
    aliases = page.get_by_role("table", name="Aliases")
    expect(row(aliases, "answers in chats").get_by_role("listitem")).to_have_text(["OpenAI · gpt-5.6", "Ollama", name])
    expect(row(aliases, "giga")).to_contain_text("the service in use")
    press(row(aliases, "giga"), "Change")
    page.get_by_label("Model", exact=True).fill("gpt-5.6-pro")
    press(dialog(page), "Add another one")
    page.get_by_label("Service").nth(1).select_option("ollama")
    press(dialog(page).get_by_role("listitem").nth(1), "Move up")
    press(dialog(page), "Save")
    closed(page)
    expect(row(aliases, "giga").get_by_role("listitem")).to_have_text(["Ollama", "OpenAI · gpt-5.6-pro"])
    found = {item["name"]: item["targets"] for item in daemon.call("alias.list")["alias"]}
    assert found["giga"] == ["ollama", "openai/gpt-5.6-pro"]
    press(row(aliases, "giga"), "Delete")
    press(dialog(page), "Delete")
    closed(page)
    expect(row(aliases, "giga")).to_contain_text("the service in use")


def test_alias_of_a_deleted_service_is_shown_and_put_right(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    daemon.call("alias.set", name="home", targets=["anthropic"])
    daemon.call("service.delete", identifier="anthropic")
    page = visit(url, where="services")
    expect(row(page, "home")).to_contain_text("cannot be used")
    press(row(page, "home"), "Change")
    expect(page.get_by_label("Service")).to_have_value("anthropic")
    page.get_by_label("Service").select_option(proposer())
    press(dialog(page), "Save")
    closed(page)
    expect(row(page, "home")).not_to_contain_text("cannot be used")


def test_viewer_sees_services_and_can_press_nothing(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, user="viewer", where="services")
    expect(row(page.get_by_role("table", name="Services"), "OpenAI")).to_be_visible()
    buttons = page.locator(".oasis button")
    assert buttons.count() > 10
    assert page.locator(".oasis button:not(:disabled)").count() == 0


def test_page_fits_a_phone(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    for where in ("services", "topics", "usage"):
        page = visit(url, width=360, height=700, where=where)
        page.locator(".oasis-table").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("where", ["services", "topics", "usage"])
def test_page_without_a_daemon_says_so_and_how_to_go_on(router: Any, visit: Any, where: str) -> None:
    page = visit(router(with_daemon=False).url, where=where)
    expect(page.get_by_role("alert")).to_contain_text("Oasis is not running on this router.")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_fault_of_an_action_is_told_and_the_page_stays(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    page = visit(url, where="services")
    daemon.stop()
    press(page, "Add a service")
    expect(page.get_by_role("alert")).to_contain_text("Oasis is not running on this router.")
    expect(row(page.get_by_role("table", name="Services"), "OpenAI")).to_be_visible()
    expect(page.get_by_role("button", name="Add a service")).to_be_enabled()
