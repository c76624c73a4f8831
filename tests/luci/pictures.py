"""Take the pictures in docs/: every page on a router root that has something to show; light, dark and on a phone.

    make pictures            all of them; `python tests/luci/pictures.py services usage` takes those of some pages

A stock root gets services, system messages, counts and some chats; daemon and stand-in are those of `make run`.
Pictures are reduced to a palette, so that the repository stays small. Needs Playwright, Chromium and Pillow.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, REPOSITORY)

from tests.luci.conftest import CHROMIUM, FLAGS, fill_login  # noqa: E402
from tests.oasisd import Daemon, copy_root, proposer, start_daemon  # noqa: E402

DOCS = os.path.join(REPOSITORY, "docs")
COLORS = 64
# What a picture may weigh; more colours than this leaves are no help to a reader.
MOST_BYTES = 60 * 1000
# Styles, masks and what follows a press are drawn by then.
SETTLE_MS = 500
SIZES = {"": (1180, 820, "light"), "-dark": (1180, 820, "dark"), "-phone": (360, 760, "light")}

SETTINGS = """
config service 'openai'
	option name 'OpenAI'
	option identifier 'openai'
	option model 'gpt-5.6'

config service 'ollama'
	option name 'Ollama'
	option identifier 'ollama'
	option endpoint 'http://192.168.1.20:11434'
	option model 'qwen3:8b'

config service 'anthropic'
	option name 'Anthropic'
	option identifier 'anthropic'

config alias
	option name 'chat'
	list target 'openai/gpt-5.6'
	list target 'ollama'
	list target '%s'

config alias
	option name 'title'
	list target 'ollama'

config price
	option service 'openai'
	option model 'gpt-5.6'
	option input '1.25'
	option output '10'
	option cached '0.13'
"""
TOPICS = {
    "custom_1": {"title": "Guests at home", "text": "Guests get the network \"Attic guests\" and nothing else.\n"
                 "Never tell them the password of the home network."},
}  # fmt: skip
USED = {  # months before the present one: service: model: [requests, read, written, cached, kept]
    0: {"openai": {"gpt-5.6": [212, 1480300, 96120, 830400, 0]}, "ollama": {"qwen3:8b": [64, 220900, 18400, 0, 0]}},
    1: {"openai": {"gpt-5.6": [340, 2310700, 141800, 1402000, 0]}},
    2: {"openai": {"gpt-5.6": [118, 804100, 60700, 391000, 0]}, "ollama": {"qwen3:8b": [12, 31400, 2800, 0, 0]}},
}
ORDERS = ("call this router attic",)
FACTS = ("The owner's children go to bed at nine", "The owner works at home and needs calls without gaps")
LETTER = "Your line is a VDSL line with PPPoE; the VLAN is 7.\n\nThe hotline is 12345."
ORDERED = (("22:00 daily", "turn off the guest wifi"), ("on wan_down", "why is the internet down?"))
# Said in one chat for the picture of it; the last waits for approval.
CHAT = ("how is the router?", "set the wifi password to blue-lantern-7")


def month(before: int) -> str:
    """Return a month as the counts name it, this one for 0."""
    now = time.gmtime()
    count = now.tm_year * 12 + now.tm_mon - 1 - before
    return "%04d-%02d" % (count // 12, count % 12 + 1)


def furnish(root: str) -> None:
    """Put services, system messages and counts into a router root that has no daemon yet."""
    path = root + "/etc/config/oasis"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    main = "config oasis 'main'\n"
    given = "\toption budget_cost '6'\n\toption currency 'EUR'\n\toption alive_loopback '1'\n"
    first = text.index("config service ")
    with open(path, "w", encoding="utf-8") as file:
        services = SETTINGS.lstrip() % proposer()
        file.write(text[:first].replace(main, main + given, 1) + services + "\n" + text[first:])
    os.makedirs(root + "/etc/oasis", exist_ok=True)
    with open(root + "/etc/config/system", encoding="utf-8") as file:
        text = file.read()
    with open(root + "/etc/config/system", "w", encoding="utf-8") as file:  # something that the doctor can mend
        file.write(text.replace("option enabled '1'", "option enabled '0'", 1))
    months = {month(before): services for before, services in USED.items()}
    _write(root + "/etc/oasis/usage.json", {"months": months})
    _write(root + "/etc/oasis/topics.json", TOPICS)


def converse(daemon: Daemon) -> None:
    """Give it a key of a service, which is none, and some chats whose low-risk changes are made."""
    daemon.call("service.key", identifier="openai", key="not-a-key-of-anybody")
    for order in ORDERS:
        say(daemon, order)
    for fact in FACTS:
        daemon.call("memory.add", fact=fact)
    run: Any = daemon.call("knowledge.add", title="Letter of the provider", text=LETTER)
    follow(daemon, run["run"])
    for when, wish in ORDERED:
        daemon.call("schedule.add", when=when, wish=wish)
    settle(daemon, "set the time zone to Europe/Berlin", "change.confirm", unproved=True)
    settle(daemon, "change the lan address to 192.168.77.1", "change.rollback")
    settle(daemon, "set the wifi name to Attic and the password to correct-horse", "change.confirm", unproved=True)


def settle(daemon: Daemon, order: str, verb: str, **words: object) -> None:
    """Have a risky change approved, and then kept or rolled back."""
    run = daemon.call("run.start", message=order, service=proposer())["run"]
    plans: list[Any] = []
    while not plans:
        daemon.call("run.poll", run=run, since=0, wait_ms=200)
        listed: Any = daemon.call("plan.list")["plans"]
        plans = [plan for plan in listed if plan["run"] == run]
    plan = plans[0]
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    while not daemon.call("change.pending")["change"]:
        daemon.call("run.poll", run=run, since=0, wait_ms=200)
    daemon.call(verb, **words)
    follow(daemon, str(run))


def follow(daemon: Daemon, run: str) -> None:
    """Wait until a run is over."""
    state: dict[str, Any] = {"next": 0, "state": "running"}
    while state["state"] == "running":
        state = daemon.call("run.poll", run=run, since=state["next"], wait_ms=10000)


def say(daemon: Daemon, message: str, chat: str = "") -> str:
    """Say something to the service that needs no network, and wait; return the chat."""
    reply = daemon.call("run.start", message=message, chat=chat, service=proposer())
    assert "run" in reply, reply
    follow(daemon, str(reply["run"]))
    return str(reply["chat"])


def _write(path: str, value: object) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


# --- what is done on a page before its picture is taken: page name -> steps


def show_change(page: Any) -> None:
    """Unfold the newest change and its differences."""
    page.locator(".oasis-entry > summary").first.click()
    page.locator(".oasis-entry .oasis-diff").first.wait_for()
    page.locator(".oasis-entry .oasis-diff").first.evaluate("node => { node.open = true; }")
    page.locator(".oasis-entry .oasis-line").first.wait_for()


def show_fix(page: Any) -> None:
    """Have the doctor propose a fix; it waits for the next picture, too."""
    page.locator(".oasis-verdict:not(.spinning)").wait_for()
    if not page.locator(".oasis-run").count():
        page.get_by_role("button", name="Fix…").first.click()
    page.locator(".oasis-run .oasis-plan").wait_for()


def wait_for(selector: str) -> Callable[[Any], None]:
    """Give steps that wait until something is there."""
    return lambda page: page.locator(selector).first.wait_for()


PAGES: dict[str, Callable[[Any], None]] = {
    "services": wait_for(".oasis-table"),
    "topics": wait_for(".oasis-table"),
    "tools": wait_for("[data-tool]"),
    "memory": wait_for(".oasis-table"),
    "schedule": wait_for(".oasis-table"),
    "messenger": wait_for(".cbi-section"),
    "changes": show_change,
    "doctor": show_fix,
    "usage": wait_for(".oasis-table"),
    "audit": wait_for(".oasis-page-body table"),
    "chat": wait_for(".oasis-plan"),
}
NAMES = {"chat": "page"}


@contextmanager
def router(root: str) -> Iterator[tuple[Daemon, str]]:
    """Run the daemon and the stand-in on a furnished root; gives it and the address."""
    furnish(root)
    daemon = start_daemon(root)
    command = [sys.executable, HERE + "/server.py", "--root", root]
    page = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        converse(daemon)
        assert page.stdout is not None
        yield daemon, page.stdout.readline().strip()
    finally:
        page.terminate()
        page.wait(10)
        daemon.stop()


def reduced(data: bytes) -> bytes:
    """Return a PNG with a palette that is small enough."""
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    colors = COLORS
    while True:
        out = io.BytesIO()
        image.quantize(colors, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            out, "PNG", optimize=True
        )
        if out.tell() <= MOST_BYTES or colors <= 8:
            return out.getvalue()
        colors //= 2


def shoot(browser: Any, url: str, name: str, target: str) -> None:
    """Take the pictures of one page."""
    for suffix, (width, height, scheme) in SIZES.items():
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, timezone_id="UTC", locale="en-GB"
        )
        page = context.new_page()
        page.goto(f"{url}cgi-bin/luci/admin/network/oasis/{name}")
        fill_login(page)
        page.locator(".oasis").first.wait_for()
        PAGES[name](page)
        page.wait_for_function("Array.from(document.images).every(one => one.complete)")
        page.wait_for_timeout(SETTLE_MS)
        data = reduced(page.screenshot(animations="disabled", caret="hide"))
        path = os.path.join(target, NAMES.get(name, name) + suffix + ".png")
        with open(path, "wb") as file:
            file.write(data)
        print(f"{os.path.relpath(path)}: {len(data)} bytes")
        context.close()


def main() -> int:
    """Take the pictures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", help="of these pages only: " + ", ".join(PAGES))
    parser.add_argument("--to", default=DOCS, help="folder (default: docs)")
    options = parser.parse_args()
    wrong = [name for name in options.pages if name not in PAGES]
    if wrong:
        parser.error("no page is called " + ", ".join(wrong))
    if CHROMIUM is None:
        print("pictures: no Chromium: apt-get install -y chromium", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    folder = tempfile.mkdtemp(prefix="oasis-pictures-")
    try:
        os.makedirs(options.to, exist_ok=True)
        with router(copy_root(folder + "/router")) as (daemon, url), sync_playwright() as made:
            browser = made.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name in options.pages or PAGES:
                if name == "chat":  # a plan that waits is shown on other pages too, so it is made when they are done
                    for plan in daemon.call("plan.list")["plans"]:  # the doctor's
                        daemon.call("plan.decline", plan=plan["id"])
                    say(daemon, CHAT[1], say(daemon, CHAT[0]))
                shoot(browser, url, name, options.to)
            browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
