"""Nothing that a page shows becomes anything but text: a corpus of hostile texts in every place, in a real browser.

Each page is walked through, its dialogs and folded parts opened, with every text of every reply replaced. That the trap
is no empty one is shown by opening one place of each part to HTML.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.luci.conftest import PAGES, fill_login
from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401
from tests.luci.hostile import ROUNDS, TEXTS, TRAP, UNSEEN

pytestmark = pytest.mark.browser
PageError = pytest.importorskip("playwright.sync_api").Error

RESOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../files/www/luci-static/resources")

# What makes the page wider than a phone, unless it scrolls in itself.
WIDE = """document.documentElement.scrollWidth <= 360 ? [] : [ ...document.querySelectorAll('body *') ]
    .filter(node => node.checkVisibility() && node.getBoundingClientRect().right > 361)
    .map(node => node.tagName + ' ' + node.className + ' in ' + node.parentElement.className)
    .concat(document.documentElement.scrollWidth)"""


class Trapped:
    """A browser's page that notes what hostile texts do; `found()` says what."""

    def __init__(self, browser: Any, url: str) -> None:
        self._context = browser.new_context(viewport={"width": 360, "height": 800})
        self._context.add_init_script(TRAP)
        self._context.route(lambda url: "evil.invalid" in url, lambda route: route.abort())
        self.url, self.noted = url, []
        self.page = self._context.new_page()
        self.page.set_default_timeout(15000)
        self._context.on("request", self._requested)
        self._context.on("page", lambda other: self.noted.append(f"window: {other.url}"))
        self.page.on("dialog", lambda dialog: (self.noted.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.noted.append(f"error: {error}"))

    def _requested(self, request: Any) -> None:
        if not request.url.startswith((self.url, "blob:" + self.url, "data:,")):
            self.noted.append(f"request: {request.url[:200]}")

    def open_to_html(self, name: str, text: str, instead: str) -> None:
        """Let the browser have one part with another text in it."""
        with open(os.path.join(RESOURCES, name), encoding="utf-8") as file:
            source = file.read()
        assert source.count(text) == 1, f"{name} has no longer one {text}"
        body = source.replace(text, instead)
        self.page.route("**/luci-static/resources/" + name + "?v=*", lambda route: route.fulfill(body=body))

    def visit(self, where: str) -> Any:
        """Log in and open a page."""
        self.page.goto(self.url + PAGES + where)
        if self.page.locator("#luci_username").count():
            fill_login(self.page)
        self.page.wait_for_selector(".oasis-log" if where == "chat" else ".oasis-page")
        return self.page

    def found(self) -> list[str]:
        """Return everything that was noted, now."""
        return self.noted + list(self.page.evaluate("window.inspect()"))

    def wait_caught(self, where: str, act: Callable[[Any], object]) -> bool:
        """Do something on a page that hostile texts may have taken away by then; tell whether anything was noted."""
        self.page.set_default_timeout(4000)
        deadline = time.monotonic() + 30
        is_done = False
        while time.monotonic() < deadline:
            try:
                if not is_done:
                    act(self.visit(where))
                    is_done = True
                if self.found():
                    return True
            except (PageError, AssertionError):
                is_done = True
                if self.noted:
                    return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        """Close the browser's context."""
        self._context.close()


@pytest.fixture
def trapped(browser: Any) -> Iterator[Callable[[str], Trapped]]:
    """Make a page with a trap for an address."""
    made: list[Trapped] = []

    def make(url: str) -> Trapped:
        made.append(Trapped(browser, url))
        return made[-1]

    yield make
    for one in made:
        one.close()


def unfold(page: Any) -> None:
    """Open whatever is folded, but menus, which close each other."""
    page.evaluate("document.querySelectorAll('details:not(.oasis-menu)').forEach(node => { node.open = true; })")


def press(page: Any, name: str, at: int = 0) -> None:
    page.get_by_role("button", name=name, exact=True).nth(at).click()


def escape(page: Any) -> None:
    page.locator(".oasis-dialog").wait_for()
    unfold(page)
    page.keyboard.press("Escape")
    expect(page.locator(".oasis-dialog")).to_have_count(0)


def asked(page: Any, words: str) -> None:
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    page.fill("#oasis-input", words)
    page.keyboard.press("Enter")


# --- a walk through each page; what it waits for shows that the places were there


def walk_chat(page: Any) -> None:
    """What a run says while it goes on."""
    asked(page, "hostile")
    expect(page.locator(".oasis-tool.oasis-failed")).to_have_count(1)
    asked(page, "shut the lan")
    expect(page.locator(".oasis-refused")).to_have_count(1)
    press(page, "Propose anyway")
    press(page, "No")
    asked(page, "an error, please")
    expect(page.locator(".oasis-error, .oasis-log .alert-message")).not_to_have_count(0)
    asked(page, "be forgetful")
    expect(page.locator(".oasis-note")).not_to_have_count(0)
    asked(page, "a guest network")
    press(page, "Approve")
    page.locator(".oasis-pending:visible").wait_for()
    unfold(page)


def named(text: str) -> str:
    """A file may be called almost anything."""
    return text[:60].replace("/", "_").replace("\x00", "")


def walk_stored(page: Any) -> None:
    """What was said before, and all that hangs on it."""
    expect(page.locator(".oasis-assistant")).not_to_have_count(0)
    page.set_input_files(
        ".oasis-tools input[type=file]",
        [{"name": named(text), "mimeType": "text/plain", "buffer": b"x"} for text in TEXTS[:40:5]],
    )
    expect(page.locator(".oasis-chip")).not_to_have_count(0)
    page.get_by_label("More about this message").first.click()
    press(page, "Bookmark…")
    page.get_by_label("Name", exact=True).fill("<b x9>mark</b>")
    page.keyboard.press("Enter")
    page.locator(".oasis-rows strong").first.wait_for()
    escape(page)
    press(page, "Branches")
    page.get_by_role("treeitem").first.wait_for()
    escape(page)
    press(page, "Export")
    escape(page)
    unfold(page)
    page.get_by_label("Search all chats").fill("a")
    page.locator(".oasis-hit").first.wait_for()
    page.locator(".oasis-hit").first.click()
    press(page, "New chat")
    page.reload()
    expect(page.locator(".oasis-chats li")).not_to_have_count(0)


def walk_changes(page: Any) -> None:
    expect(page.locator(".oasis-entry")).to_have_count(8)
    unfold(page)
    expect(page.locator(".oasis-diff")).to_have_count(7)
    expect(page.locator(".oasis-entry .oasis-fault").first).to_be_visible()
    press(page, "Undo", at=0)
    expect(page.locator(".oasis-run .oasis-change, .oasis-run .oasis-fault")).not_to_have_count(0)
    page.locator(".oasis-entry[data-change=h4]").get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo the rest").wait_for()


def walk_audit(page: Any) -> None:
    expect(page.locator("tbody tr")).to_have_count(12)
    page.locator("select").first.select_option(index=1)


def walk_tools(page: Any) -> None:
    expect(page.locator("[data-tool]")).to_have_count(7)
    page.get_by_role("switch").nth(4).click()
    escape(page)
    page.get_by_role("switch").nth(4).click()
    press(page, "Switch on")
    page.locator(".oasis-shelf .oasis-fault").wait_for()
    page.locator(".oasis-shelf select").first.select_option("deny")
    expect(page.get_by_role("switch").first).to_be_enabled()


def walk_doctor(page: Any) -> None:
    expect(page.locator(".oasis-finding")).to_have_count(3)
    unfold(page)
    press(page, "Fix…", at=0)
    press(page, "Fix…", at=1)
    expect(page.locator(".oasis-run .oasis-plan")).to_have_count(2)
    expect(page.locator(".oasis-run .oasis-refused")).to_have_count(1)
    unfold(page)


def walk_services(page: Any) -> None:
    expect(page.locator("tbody tr")).not_to_have_count(0)
    for name in ("Change", "Key…", "Delete", "Add a service"):
        press(page, name)
        escape(page)


def walk_topics(page: Any) -> None:
    expect(page.locator("tbody tr")).not_to_have_count(0)
    unfold(page)
    for name in ("Change", "Delete"):
        press(page, name)
        escape(page)


def walk_usage(page: Any) -> None:
    expect(page.locator("tbody tr")).not_to_have_count(0)
    chats = page.get_by_label("Chat")
    if chats.count():
        chats.select_option(index=1)


WALKS = {
    "chat": walk_chat, "changes": walk_changes, "audit": walk_audit, "tools": walk_tools, "doctor": walk_doctor,
    "services": walk_services, "topics": walk_topics, "usage": walk_usage,
}  # fmt: skip
# Whose pages show what a real daemon keeps.
REAL = ("services", "topics", "usage")


@pytest.fixture
def hostile(router: Any, furnished: Any, trapped: Any) -> Callable[..., Trapped]:  # noqa: F811
    """Open the page of a name with the corpus in every reply, beginning with the group of a turn."""

    def make(where: str, turn: int) -> Trapped:
        if where in REAL:
            return trapped(furnished("--hostile", str(turn))[1])
        return trapped(router(hostile=turn, decisions=12, unconfined="x").url)

    return make


def test_corpus_is_large_and_varied() -> None:
    assert len(TEXTS) >= 60
    for word in (
        "<script", "onerror", "<svg", "javascript:", "data:text/html", "{{", "id=oasis-input", "\u202e", "\u200b",
        "\x1b", "A" * 2000, "](javascript:", "&lt;", "srcdoc", "<base",
    ):  # fmt: skip
        assert any(word in text for text in TEXTS), word


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("where", WALKS)
def test_hostile_text_stays_text(hostile: Any, where: str, turn: int) -> None:
    one = hostile(where, turn)
    page = one.visit(where)
    WALKS[where](page)
    assert one.found() == []
    if where == "chat":
        walk_stored(page)
        assert one.found() == []
    assert "x9" in page.inner_text("#view"), "the texts are shown"
    unseen = page.evaluate(UNSEEN)
    assert unseen == [], unseen
    # Cut off at the edge it is of no harm; but nothing is to be: whatever the fonts are.
    page.add_style_tag(content=".oasis, #maincontent { overflow-x: visible !important; }")
    wide = page.evaluate(WIDE)
    assert wide == [], wide[:12]


def ask_guest(page: Any) -> None:
    asked(page, "a guest network")


def approve_guest(page: Any) -> None:
    asked(page, "a guest network")
    press(page, "Approve")


def undo_twice(page: Any) -> None:
    page.locator(".oasis-entry[data-change=h4] > summary").click()
    page.locator(".oasis-entry[data-change=h4]").get_by_role("button", name="Undo").click()


# One place of each part, opened to HTML: page, what is done there, file, what stands in it, what LuCI takes for HTML.
OPENED: dict[str, tuple[str, Callable[[Any], object], str, str, str]] = {
    "plan": (
        "chat", ask_guest, "oasis/plan.js",
        "E('p', { 'class': 'oasis-summary' }, [ clean.whole(plan.summary) ])",
        "E('p', { 'class': 'oasis-summary' }, clean.whole(plan.summary))",
    ),
    "words of a plan": (
        "chat", ask_guest, "oasis/plan.js",
        "'tabindex': '0' }, [ text ])", "'tabindex': '0' }, text)",
    ),
    "refusal": (
        "chat", lambda page: asked(page, "shut the lan"), "oasis/plan.js",
        "[ clean.whole(refusal.summary) ]", "clean.whole(refusal.summary)",
    ),
    "tool": (
        "chat", lambda page: asked(page, "hostile"), "oasis/message.js",
        "E('code', [ clean.plain(name) ])", "E('code', clean.plain(name))",
    ),
    "answer": (
        "chat", lambda page: None, "oasis/markdown.js",
        "default: return E('p', inline(block.source));", "default: return E('p', block.source);",
    ),
    "change": (
        "chat", approve_guest, "oasis/change.js",
        "E('strong', [ clean.plain(change.summary) ])", "E('strong', clean.plain(change.summary))",
    ),
    "entry": (
        "changes", lambda page: None, "view/oasis/changes.js",
        "'oasis-entry-title' }, [ title(item) ]", "'oasis-entry-title' }, title(item)",
    ),
    "conflict": ("changes", undo_twice, "oasis/panel.js", "[ E('code', [ place ]) ]", "[ E('code', place) ]"),
    "audit": (
        "audit", lambda page: None, "view/oasis/audit.js",
        "[ clean.plain(String(line.plan_hash || '').slice(0, SHORT_CHARS)) ]", "clean.plain(line.plan_hash)",
    ),
    "tools": (
        "tools", lambda page: None, "view/oasis/tools.js",
        "E('p', [ clean.plain(tool.description) ])", "E('p', clean.plain(tool.description))",
    ),
    "question": (
        "tools", lambda page: page.get_by_role("switch").nth(4).click(), "view/oasis/tools.js",
        "[ E('p', [ question.format(clean.plain(this.tool.name)) ]) ]",
        "[ E('p', question.format(clean.plain(this.tool.name))) ]",
    ),
    "finding": (
        "doctor", lambda page: None, "view/oasis/doctor.js",
        "E('h3', [ clean.plain(finding.title) ])", "E('h3', clean.plain(finding.title))",
    ),
    "check": (
        "doctor", lambda page: None, "view/oasis/doctor.js",
        "{ 'class': 'oasis-small' }, [ ' \\u2013 ', clean.plain(check.why) ]",
        "{ 'class': 'oasis-small' }, clean.plain(check.why)",
    ),
    "cell": (
        "audit", lambda page: None, "oasis/page.js", "E('div', nodes(content))", "E('div', nodes(content).join(''))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPENED)
def test_one_text_that_becomes_html_is_trapped(hostile: Any, name: str) -> None:
    where, act, file, text, instead = OPENED[name]
    one = hostile(where, 0)
    one.open_to_html(file, text, instead)
    assert one.wait_caught(where, act)
