"""The pages in looks of others, at 360 px: rules of themes that pages got wrong, and letters as wide as in any font.

The rules are those that matter of LuCI's bootstrap and material; their sheets are not ours to keep. Boxes are measured,
whatever is cut off at the edge.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.luci.furnished import furnished  # noqa: F401
from tests.luci.test_accessible import PAGES, address, fill_chat, filled, unfold  # noqa: F401

pytestmark = pytest.mark.browser

LOOKS = {
    "bootstrap": """input, select, textarea { width: 210px; padding: 4px; border: 1px solid; }
        input[type="search"] { box-sizing: content-box; } input[type=file] { width: auto !important; }""",
    "material": """* { box-sizing: border-box; }
        #maincontent { padding: 0; margin: 0 .5rem; } .tabs { margin: 0 -1rem; }
        input, select { min-width: 0; padding: .4rem; border: 0; border-bottom: 1px solid; }""",
    "wide letters": "* { letter-spacing: 3px !important; }",
}
# As openwrt2020 begins, and material with code.
CLEARED = """* { margin: 0; padding: 0; list-style: none; background: none; -webkit-appearance: none; }
    code { font-size-adjust: .35; }"""
# A theme's sheet stands before ours.
FIRST = """text => document.head.prepend(Object.assign(document.createElement('style'), { textContent: text }))"""
# Fields that are wider than their place, and what can be pressed or read and does not lie within the window.
BEYOND = """[ ...document.querySelectorAll('.oasis *, .oasis-dialog, .oasis-dialog *') ]
    .filter(node => node.checkVisibility())
    .filter(node => !node.closest('.oasis-wide, pre, .oasis-hidden, .oasis-bar, .oasis-clip, .oasis-chip'))
    .filter(node => {
        const box = node.getBoundingClientRect(), around = node.parentElement.getBoundingClientRect();
        const isField = node.matches('input, select, textarea') && node.type != 'checkbox';
        return box.width > 1 && (box.right > 360.5 || isField && box.right > around.right + .5);
    }).map(node => node.outerHTML.slice(0, 90))"""
DIALOGS = {
    "services": "Add a service",
    "memory": "Add a document",
    "schedule": "Add a scheduled job",
    "chat": "Password…",
}


def fits(page: Any) -> None:
    """Nothing lies beyond the edge, and the page does not scroll sideways."""
    assert page.evaluate(BEYOND) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("where", PAGES)
def test_page_fits_a_phone_in_every_look(
    address: Callable[[str], str],  # noqa: F811
    visit: Any,
    where: str,
    look: str,
) -> None:
    page = visit(address(where), width=360, height=740, where=where)
    page.evaluate(FIRST, LOOKS[look])
    filled(page, where)
    if where == "chat":
        fill_chat(page)
    unfold(page)
    fits(page)
    if where in DIALOGS:
        page.get_by_role("button", name=DIALOGS[where], exact=True).click()
        page.locator(".oasis-dialog").wait_for()
        fits(page)


@pytest.mark.parametrize("where", ["chat", "topics", "doctor"])
def test_what_folds_has_its_mark_where_a_theme_clears_all(
    address: Callable[[str], str],  # noqa: F811
    visit: Any,
    where: str,
) -> None:
    page = visit(address(where), width=360, height=740, where=where)
    page.evaluate(FIRST, CLEARED)
    filled(page, where)
    marks = page.evaluate("""[ ...document.querySelectorAll('.oasis summary') ]
        .filter(node => node.checkVisibility() && !node.matches('.oasis-menu > *, .oasis-entry > *'))
        .map(node => getComputedStyle(node)).map(style => style.display + ' ' + style.listStyleType)""")
    assert marks and set(marks) <= {"list-item disclosure-closed", "list-item disclosure-open"}
    sizes = page.evaluate("""[ ...document.querySelectorAll('.oasis code') ]
        .map(node => getComputedStyle(node).fontSizeAdjust)""")
    assert set(sizes) <= {"none"}


@pytest.mark.parametrize("where", ["chat", "usage"])
def test_nothing_is_shown_before_its_style(
    address: Callable[[str], str],  # noqa: F811
    visit: Any,
    where: str,
) -> None:
    page = visit(address(where), where=where)

    def late(route: Any) -> None:
        time.sleep(0.8)
        route.continue_()

    page.route("**/oasis/*.css?v=*", late)
    page.reload()
    page.wait_for_selector(".oasis", state="attached")
    assert page.evaluate("getComputedStyle(document.querySelector('.oasis')).overflowX") == "clip"
