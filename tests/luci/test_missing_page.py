"""Where optional parts are missing, the pages say so, with the command, and everything else works."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.luci.conftest import PAGES
from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers
from tests.oasisd import PARTS, REPOSITORY, copy_root, has_part, start_daemon

pytestmark = pytest.mark.browser


def missing(*names: str) -> str:
    """Return what the page says of how many parts are missing, these among them."""
    count = len({name for name in PARTS if not has_part(name)} | set(names))
    return f"{count} part is not installed" if count == 1 else f"{count} parts are not installed"


@pytest.fixture
def without(tmp_path_factory: Any, start: Any) -> Iterator[Callable[..., Any]]:
    """Start oasisd without some parts, the stand-in in front; gives (daemon, address, folder of the parts)."""
    daemons: list[Any] = []

    def run(*names: str, language: str = "en") -> tuple[Any, str, Any]:
        library = tmp_path_factory.mktemp("lib")
        shutil.copytree(REPOSITORY + "/oasis", library / "oasis", ignore=shutil.ignore_patterns("__pycache__"))
        for name in filter(has_part, names):
            shutil.rmtree(library / "oasis/parts" / name)
        root = copy_root(str(tmp_path_factory.mktemp("router")))
        daemons.append(start_daemon(root, library=str(library)))
        _, url = start("server.py", "--root", root, "--library", str(library), "--language", language)
        return daemons[0], url, library / "oasis/parts"

    yield run
    for daemon in daemons:
        daemon.stop()


@pytest.mark.part(*PARTS)
def test_nothing_is_said_where_all_parts_are_installed(without: Any, visit: Any) -> None:
    _, url, _ = without()
    page = visit(url)
    expect(page.locator("#oasis-input")).to_be_enabled()
    expect(page.get_by_text("not installed")).to_be_hidden()


def test_chat_page_lists_folded_what_is_missing_with_the_command(without: Any, visit: Any) -> None:
    _, url, _ = without("telegram", "schedule")
    page = visit(url)
    count = page.get_by_text(missing("telegram", "schedule"))
    expect(count).to_be_visible()
    expect(page.get_by_text("opkg install oasis-telegram")).to_be_hidden()
    find_barriers(page)
    count.click()
    expect(page.locator(".oasis-side li", has_text="The messenger")).to_contain_text("opkg install oasis-telegram")
    expect(page.locator(".oasis-side li", has_text="The schedule")).to_contain_text("opkg install oasis-schedule")
    expect(page.locator(".tabs")).not_to_contain_text("Messenger")
    expect(page.locator(".tabs a", has_text="Memory")).to_have_count(int(has_part("memory")))
    find_barriers(page)


@pytest.mark.parametrize(("where", "part"), [("memory", "memory"), ("messenger", "telegram"), ("schedule", "schedule")])
def test_bookmarked_page_of_a_missing_part_shows_the_chat_and_what_installs_it(
    without: Any, visit: Any, where: str, part: str
) -> None:
    _, url, _ = without(*PARTS)
    page = visit(url)
    page.goto(url + PAGES + where)
    expect(page.locator(".oasis-notices")).to_contain_text("not installed. opkg install oasis-" + part)
    expect(page.locator("#oasis-input")).to_be_enabled()


@pytest.mark.part("schedule")
@pytest.mark.parametrize(("language", "said"), [("en", "The schedule: not installed."), ("ja", "スケジュール: イン")])
def test_open_page_of_a_part_that_goes_says_so(without: Any, visit: Any, language: str, said: str) -> None:
    daemon, url, parts = without(language=language)
    daemon.call("schedule.add", when="22:00 daily", wish="is the internet working?")
    page = visit(url, where="schedule")
    expect(page.locator("[data-key$='/run']")).to_be_visible()
    root = daemon.root
    daemon.stop()
    shutil.rmtree(parts / "schedule")
    again = start_daemon(root, library=str(parts.parent.parent))
    try:
        page.locator("[data-key$='/run']").click()
        expect(page.get_by_role("alert")).to_contain_text(said)
        expect(page.get_by_role("alert")).to_contain_text("opkg install oasis-schedule")
    finally:
        again.stop()


@pytest.mark.part("schedule")
def test_tab_of_a_part_that_was_added_shows_without_a_new_login(without: Any, visit: Any) -> None:
    daemon, url, parts = without("schedule")
    page = visit(url)
    expect(page.get_by_text(missing("schedule"))).to_be_visible()
    root = daemon.root
    daemon.stop()
    shutil.copytree(REPOSITORY + "/oasis/parts/schedule", parts / "schedule")
    again = start_daemon(root, library=str(parts.parent.parent))
    try:
        page.reload()
        expect(page.locator(".oasis-side")).to_be_visible()
        expect(page.get_by_text(missing("schedule"))).to_be_hidden()
        page.locator(".tabs").get_by_text("Services").click()
        expect(page.locator(".tabs")).to_contain_text("Schedule")
    finally:
        again.stop()


@pytest.mark.part("schedule")
def test_page_of_a_part_that_is_refused_names_the_reason(without: Any, visit: Any) -> None:
    daemon, url, parts = without()
    root = daemon.root
    daemon.stop()
    (parts / "schedule/manifest.py").write_text("VERSION = (")
    again = start_daemon(root, library=str(parts.parent.parent))
    try:
        page = visit(url, where="schedule")
        expect(page.get_by_role("alert")).to_contain_text("the package oasis-schedule cannot be used: ")
        expect(page.get_by_role("alert")).to_contain_text(
            "install it again: opkg install --force-reinstall oasis-schedule"
        )
        page.goto(url + PAGES + "chat")
        page.get_by_text(missing("schedule")).click()
        expect(page.locator(".oasis-side")).to_contain_text("the package oasis-schedule cannot be used: ")
    finally:
        again.stop()


@pytest.mark.part("schedule")
def test_notice_of_a_part_that_went_with_what_it_keeps_is_on_the_page(without: Any, visit: Any) -> None:
    daemon, url, parts = without()
    daemon.call("schedule.add", when="22:00 daily", wish="is the internet working?")
    root = daemon.root
    daemon.stop()
    shutil.rmtree(parts / "schedule")
    again = start_daemon(root, library=str(parts.parent.parent))
    try:
        page = visit(url)
        page.get_by_text("1 new notice").click()
        expect(page.locator(".oasis-notice-list")).to_contain_text("what it keeps for you waits for it")
    finally:
        again.stop()
