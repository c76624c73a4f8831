"""All pages for people with a keyboard, a screen reader, a phone, or no wish for motion.

Roles, names and contrast, light and dark, are axe-core's matter (colours of buttons are the theme's); the way of the
focus is looked at here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401

pytestmark = pytest.mark.browser

AXE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "node_modules/axe-core/axe.min.js")
# All pages in the order of their tabs; those of parts with the part.
PAGES = [
    pytest.param(where, marks=pytest.mark.part(*parts))
    for where, *parts in (
        ("chat",), ("services",), ("topics",), ("tools",), ("schedule", "schedule"), ("wireguard", "admin"),
        ("memory", "memory"), ("messenger", "telegram"), ("changes",), ("doctor",), ("usage",), ("audit",),
    )
]  # fmt: skip
REAL = ("services", "topics", "memory", "schedule", "wireguard", "messenger", "usage")
TUNNEL = """
config interface 'wg0'
	option proto 'wireguard'
	option listen_port '51820'
	list addresses '10.14.0.1/24'

config wireguard_wg0 'wg0_peer1'
	option description 'phone'
	list allowed_ips '10.14.0.2/32'
"""
VIOLATIONS = """place => axe.run(place, { resultTypes: [ 'violations' ] }).then(found => found.violations.map(one => {
    const isOurs = node => one.id != 'color-contrast' || !document.querySelector(node.target[0]).matches('.btn');
    const ours = one.nodes.filter(isOurs);
    return [ one.id ].concat(ours.slice(0, 3).map(node => node.html.slice(0, 200) + ' ' + (node.any[0] || {}).message));
}).filter(one => one.length > 1))"""


@pytest.fixture
def address(router: Any, furnished: Any) -> Callable[[str], str]:  # noqa: F811
    """Give the address of a stand-in that has something to show on a page."""

    def find(where: str) -> str:
        if where not in REAL:
            return str(router(decisions=12).url)
        daemon, url = furnished()
        if where == "schedule":
            daemon.call("schedule.add", when="30 22 * * mon-fri", wish="turn off the guest wifi")
        if where == "memory":
            daemon.call("memory.add", fact="The owner works at home and needs calls without gaps")
        if where == "wireguard":
            with open(daemon.root + "/etc/config/network", "a", encoding="utf-8") as file:
                file.write(TUNNEL)
        return str(url)

    return find


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def unfold(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")


def barriers(page: Any, place: str = ".oasis") -> Any:
    """Return what axe-core finds in a part of the page."""
    if not os.path.exists(AXE):
        pytest.skip("no axe-core: npm install --prefix tests")
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    return page.evaluate(VIOLATIONS, place)


def filled(page: Any, where: str) -> None:
    """Wait until a page shows something."""
    first = {"chat": ".oasis-message", "tools": "[data-tool]", "changes": ".oasis-entry", "doctor": ".oasis-finding",
             "messenger": ".oasis-badge"}  # fmt: skip
    page.locator(first.get(where, "tbody tr")).first.wait_for()


def fill_chat(page: Any) -> None:
    page.fill("#oasis-input", "shut the lan")
    page.keyboard.press("Enter")
    page.locator(".oasis-refused").wait_for()
    expect(button(page, "Send")).to_be_visible()
    page.fill("#oasis-input", "a guest network")
    page.keyboard.press("Enter")
    button(page, "Approve").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", PAGES)
def test_no_barrier_is_found(address: Any, visit: Any, where: str, scheme: str) -> None:
    page = visit(address(where), scheme=scheme, where=where)
    filled(page, where)
    if where == "chat":
        fill_chat(page)
    unfold(page)
    found = barriers(page)
    assert found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_is_found_while_a_change_waits(router: Any, visit: Any, scheme: str) -> None:
    page = visit(router(decisions=0).url, scheme=scheme, where="doctor")
    page.locator(".oasis-finding").first.get_by_role("button", name="Fix…").click()
    unfold(page)
    assert barriers(page) == []
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    assert barriers(page) == []


@pytest.mark.parametrize(
    ("where", "press"),
    [("services", "Add a service"), ("services", "Change"), ("topics", "Add a system message"), ("chat", "Branches"),
     ("chat", "Bookmarks"), ("chat", "Export"), ("chat", "Password…")],
)  # fmt: skip
def test_dialog_holds_the_focus_and_gives_it_back(address: Any, visit: Any, where: str, press: str) -> None:
    page = visit(address(where), where=where)
    opener = button(page, press).first
    opener.focus()
    page.keyboard.press("Enter")
    page.locator(".oasis-dialog").wait_for()
    assert barriers(page, ".oasis-dialog") == []
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("document.querySelector('#modal_overlay').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(page.locator(".oasis-dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def reach(page: Any, target: Any, key: str = "Tab") -> None:
    """Go to a control with the Tab key alone."""
    for _ in range(120):
        page.keyboard.press(key)
        if target.evaluate("node => node == document.activeElement"):
            return
    raise AssertionError(f"no way to {target}")


def test_change_is_found_read_and_undone_with_the_keyboard(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    reach(page, page.get_by_label("Look for"))
    page.keyboard.type("attic")
    expect(page.locator(".oasis-entry:visible")).to_have_count(2)
    entry = page.locator(".oasis-entry[data-change=h6]")
    reach(page, entry.locator("summary").first)
    page.keyboard.press("Enter")
    undo = entry.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    reach(page, undo)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Undo: Call this router attic").get_by_role("status")).to_have_text("Done")


def test_fix_is_approved_and_kept_with_the_keyboard(router: Any, visit: Any) -> None:
    page = visit(router().url, where="doctor")
    fix = page.locator(".oasis-finding").first.get_by_role("button", name="Fix…")
    reach(page, fix)
    page.keyboard.press("Enter")
    reach(page, button(page, "Approve"))
    page.keyboard.press("Enter")
    button(page, "Keep").wait_for()
    page.locator("h2").focus()
    reach(page, button(page, "Keep"))
    page.keyboard.press("Enter")
    expect(page.locator(".oasis-pending")).to_be_hidden()
    assert page.evaluate("document.activeElement != document.body"), "the focus is not lost with the banner"


def test_tool_is_switched_with_the_keyboard(router: Any, visit: Any) -> None:
    page = visit(router().url, where="tools")
    switch = page.get_by_role("switch", name="wol may be used")
    reach(page, switch)
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_focused()


def test_audit_is_filtered_with_the_keyboard(router: Any, visit: Any) -> None:
    page = visit(router(decisions=60).url, where="audit")
    reach(page, page.get_by_label("Decision"))
    page.keyboard.press("ArrowDown")
    expect(page.locator("tbody tr")).to_have_count(15)
    reach(page, button(page, "Check the chain"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The chain of 60 lines is whole.")).to_be_visible()


@pytest.mark.parametrize("where", PAGES)
def test_page_fits_a_phone_and_moves_nothing_for_who_wants_no_motion(address: Any, visit: Any, where: str) -> None:
    page = visit(address(where), width=360, height=740, where=where)
    page.emulate_media(reduced_motion="reduce")
    filled(page, where)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    moving = """[ ...document.querySelectorAll('.oasis *') ].filter(node => {
        const style = getComputedStyle(node), before = getComputedStyle(node, '::after');
        return [ style, before ].some(one => one.animationName != 'none' || parseFloat(one.transitionDuration) > 0);
    }).map(node => node.className)"""
    assert page.evaluate(moving) == []
