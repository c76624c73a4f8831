"""Fixtures of the page's tests: the stand-in and a daemon as processes, and a browser in front of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.luci.expecting import TIMEOUT_MS

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = "cgi-bin/luci/admin/network/oasis/"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# How many times slower the browser is made, to find tests that race.
SLOW = int(os.environ.get("OASIS_SLOW", "1"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Router(NamedTuple):
    """A stand-in with a daemon behind it. `daemon` is its process, `url` ends in a slash."""

    url: str
    root: str
    daemon: subprocess.Popen[str] | None


Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program of this folder; gives its process and the first line that it prints. Ended after the test.

    `path` stands before the host's PATH.
    """
    running: list[subprocess.Popen[str]] = []

    def run(program: str, *arguments: str, path: str = "") -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, os.path.join(HERE, program), *arguments]
        env = {**os.environ, "PATH": os.pathsep.join(filter(None, (path, os.environ.get("PATH", ""))))}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        running.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield run
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        finally:
            process.kill()
            if process.stdout:
                process.stdout.close()


@pytest.fixture
def router(start: Start, tmp_path: Any) -> Callable[..., Router]:
    """Start the stand-in with the daemon's test double; keywords are options of either program."""

    def run(
        confirm_s: float = 90, expires_s: float = 600, with_daemon: bool = True, unconfined: str = "",
        decisions: int | None = None, new_address: str = "", **options: object,
    ) -> Router:  # fmt: skip
        root = str(tmp_path)
        daemon = None
        if with_daemon:
            words = ("--confirm-s", str(confirm_s), "--expires-s", str(expires_s), "--unconfined", unconfined)
            words += ("--new-address", new_address)
            history = () if decisions is None else ("--decisions", str(decisions))
            daemon, line = start("fake_daemon.py", "--root", root, *words, *history)
            assert line == "ready"
        extra: list[str] = []
        for name, value in options.items():
            extra += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
        _, url = start("server.py", "--root", root, *extra)
        return Router(url, root, daemon)

    return run


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser with a profile folder of its own, or a skip that says how to get what is missing."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install -y chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("no playwright: pip install playwright (and apt-get install -y chromium)")
    with sync_playwright() as made:
        browser = made.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page (`where`) without cookies of before and log in; gives it. Errors of scripts fail the test."""
    contexts: list[Any] = []
    errors: list[str] = []

    def run(
        url: str, width: int = 1000, height: int = 800, scheme: str = "light", user: str = "root", where: str = "chat"
    ) -> Any:
        size = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(TIMEOUT_MS)
        if SLOW > 1:
            contexts[-1].new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url + PAGES + where)
        fill_login(page, user)
        page.wait_for_selector(".oasis-log" if where == "chat" else ".oasis-page")
        return page

    yield run
    for context in contexts:
        context.close()
    assert not [error for error in errors if "session" not in error], errors


@pytest.fixture
def log_in() -> Callable[..., None]:
    """Fill the login page that is shown: log_in(page)."""
    return fill_login


def fill_login(page: Any, user: str = "root", password: str = "any") -> None:
    page.fill("#luci_username", user)
    page.fill("#luci_password", password)
    page.keyboard.press("Enter")
