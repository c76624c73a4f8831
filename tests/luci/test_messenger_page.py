"""The page of the messenger with the real daemon and a strict Telegram behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers, furnished  # noqa: F401
from tests.luci.test_services_page import closed, dialog, press
from tests.oasisd import has_part

if has_part("telegram"):
    from oasis.parts.telegram.people import STEP_S, decoded, totp
    from tests.parts.telegram.bot_api import TOKEN, BotApi

pytestmark = [pytest.mark.browser, pytest.mark.part("telegram")]

OWNER = 1001


@pytest.fixture
def telegram() -> Iterator[BotApi]:
    api = BotApi()
    yield api
    api.close()


def part(page: Any, name: str) -> Any:
    return page.locator(".cbi-section").filter(has=page.get_by_role("heading", name=name, exact=True))


def served(furnished: Any, api: BotApi) -> tuple[Any, str]:  # noqa: F811
    daemon, url = furnished()
    with open(daemon.root + "/etc/config/oasis", "a") as settings:
        settings.write(f"\nconfig telegram 'telegram'\n\toption base_url '{api.url}'\n")
    return daemon, url


def test_owner_sets_it_up_pairs_and_forgets(furnished: Any, visit: Any, telegram: BotApi) -> None:  # noqa: F811
    daemon, url = served(furnished, telegram)
    page = visit(url, where="messenger")
    expect(part(page, "Bot")).to_contain_text("No token is set.")
    press(part(page, "Bot"), "Enter the token")
    dialog(page).get_by_label("Token").fill(TOKEN)
    press(dialog(page), "Save")
    closed(page)
    expect(part(page, "Bot")).to_contain_text("A token is set.")
    assert TOKEN not in page.content()
    press(part(page, "Bot"), "Switch on")
    expect(part(page, "Bot").get_by_role("button", name="Switch off")).to_be_focused()
    deadline = time.monotonic() + 60
    while daemon.call("telegram.list")["state"] != "on":
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.1)
    page.reload()
    expect(part(page, "Bot")).to_contain_text("@attic_router_bot")
    find_barriers(page)

    press(part(page, "Who may write"), "Pair your telephone")
    expect(dialog(page)).to_contain_text(
        "Send this to @attic_router_bot within 10 minutes; who sends it is owner there:"
    )
    telegram.says(OWNER, dialog(page).locator("code").inner_text())
    telegram.wait_text(OWNER, "Paired")
    press(dialog(page), "Close")
    expect(part(page, "Who may write").get_by_role("row").filter(has_text="Anna1001")).to_contain_text("owner")
    page.reload()
    expect(part(page, "What happened").get_by_role("listitem")).to_contain_text("Anna1001 may write to the bot now")
    press(part(page, "Who may write"), "Forget")
    press(dialog(page), "Forget")
    closed(page)
    expect(part(page, "Who may write")).to_contain_text("Nobody is paired yet.")
    assert daemon.call("telegram.list")["people"] == []


def test_approving_takes_an_authenticator_that_shows_its_code(furnished: Any, visit: Any, telegram: BotApi) -> None:  # noqa: F811
    daemon, url = served(furnished, telegram)
    page = visit(url, where="messenger")
    place = part(page, "Approving there")
    expect(place).to_contain_text("No authenticator is set up.")
    press(place, "Set up an authenticator")
    link = dialog(page).get_by_role("link")
    assert str(link.get_attribute("href")).startswith("otpauth://totp/Oasis:")
    secret = decoded(link.inner_text())
    dialog(page).get_by_label("Code that it shows now").fill("000000")
    press(dialog(page), "Keep it")
    expect(dialog(page).get_by_role("alert")).to_contain_text("this code is not good")
    find_barriers(page)
    dialog(page).get_by_label("Code that it shows now").fill(totp(secret, int(time.time()) // STEP_S))
    press(dialog(page), "Keep it")
    closed(page)
    expect(place).to_contain_text("An authenticator is set up.")
    press(place, "Switch on")
    expect(place.locator(".oasis-badge")).to_have_text("on")
    assert daemon.call("telegram.list")["approve"] is True
    assert link.count() == 0


def test_who_may_only_look_sees_nobody_and_sets_nothing(furnished: Any, visit: Any) -> None:  # noqa: F811
    _, url = furnished()
    page = visit(url, user="viewer", where="messenger")
    expect(page.get_by_role("alert")).to_contain_text("Log in again, as a user with write access to Oasis.")
    assert page.locator(".oasis-page button:enabled").all_inner_texts() == ["Try again"]
