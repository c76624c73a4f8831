"""The page of changes in a browser: list, filter, difference, undo and its conflicts, the change that waits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.luci.expecting import expect

pytestmark = pytest.mark.browser


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def entry(page: Any, words: str) -> Any:
    return page.locator(".oasis-entry", has=page.locator(".oasis-entry-title", has_text=words))


def unfold(page: Any, words: str) -> Any:
    found = entry(page, words)
    found.locator("summary").first.click()
    expect(found.locator(".oasis-entry-body")).not_to_be_empty()
    return found


def apply_guest(page: Any, url: str) -> Any:
    """Make a risky change in the chat and approve it; it waits to be kept."""
    page.fill("#oasis-input", "a guest network")
    page.keyboard.press("Enter")
    button(page, "Approve").click()
    button(page, "Keep").wait_for()
    page.goto(page.url.replace("/chat", "/changes"))
    return page


def test_newest_change_stands_first_with_state_risk_packages_and_time(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    expect(page.locator(".oasis-entry")).to_have_count(8)
    expect(page.get_by_text("8 changes")).to_be_visible()
    first, last = page.locator(".oasis-entry").first, page.locator(".oasis-entry").last
    expect(first).to_contain_text("Block adverts")
    expect(first.locator(".oasis-badge")).to_have_text(["The earlier settings could not be restored", "risky"])
    expect(first.locator(".oasis-entry-when")).to_contain_text("dhcp")
    expect(first.locator("time")).to_have_attribute("datetime", page.locator("time").first.get_attribute("datetime"))
    expect(last).to_contain_text("From the earlier Oasis")
    assert "null" not in page.inner_text("#view")


def test_unfolded_change_tells_what_it_did_and_how_it_came_out(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    moved = unfold(page, "Move the LAN")
    for words in (
        "nobody kept it in time",
        "192.168.77.1",
        "Edits of others that were put aside",
        "Difference in system",
    ):
        expect(moved).to_contain_text(words)
    expect(moved.locator(".oasis-removed")).to_have_text(["- \toption hostname 'OpenWrt'\n"])
    expect(moved.get_by_role("button", name="Undo")).to_have_count(0)
    expect(unfold(page, "Block adverts")).to_contain_text("Oasis tries again at each start")
    expect(unfold(page, "Guests may print")).to_contain_text("Kept by the owner, without a proof.")
    expect(entry(page, "Guests may print")).to_contain_text("Ends by itself")
    expect(unfold(page, "Changed twice")).to_contain_text("Verified: service network")


def test_difference_that_cannot_be_loaded_is_told_and_asked_for_again(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    page.route("**/ubus/**", lambda route: route.abort())
    attic = entry(page, "Call this router attic")
    attic.locator("summary").click()
    expect(attic.locator(".oasis-fault")).to_contain_text("The router does not answer")
    page.unroute("**/ubus/**")
    attic.locator("summary").click()
    attic.locator("summary").click()
    expect(attic.locator(".oasis-added")).to_have_count(1)


def test_filter_by_word_and_state(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    shown = page.locator(".oasis-entry:visible .oasis-entry-title")
    page.get_by_label("Look for").fill("FIREWALL")
    expect(shown).to_have_count(3)
    expect(page.get_by_text("3 of 8 changes")).to_be_visible()
    page.get_by_label("Show").select_option("Undone later")
    expect(shown).to_have_text(["Open port 22 for an hour"])
    page.get_by_label("Look for").fill("")
    page.get_by_label("Show").select_option("In force")
    expect(shown).to_have_count(5)
    page.get_by_label("Show").select_option("Rolled back")
    expect(shown).to_have_text(["Move the LAN to 192.168.77.1"])


def test_change_and_its_undo_lead_to_each_other(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    page.get_by_label("Show").select_option("Undone later")
    opened = page.locator(".oasis-entry[data-change=h1]")
    opened.locator("summary").first.click()
    opened.get_by_role("button", name="ended: Open port 22 for an hour").click()
    expect(page.locator(".oasis-entry[data-change=h2]")).to_have_attribute("open", "")
    expect(page.locator(".oasis-entry[data-change=h2] > summary")).to_be_focused()
    expect(page.get_by_label("Show")).to_have_value("all")


def test_undo_is_a_change_of_its_own(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    unfold(page, "Call this router attic").get_by_role("button", name="Undo").click()
    box = page.get_by_role("region", name="Undo: Call this router attic")
    expect(box.locator(".oasis-change")).to_have_attribute("data-state", "confirmed")
    expect(box.get_by_role("status")).to_have_text("Done")
    expect(page.locator(".oasis-entry")).to_have_count(9)
    expect(page.locator(".oasis-entry[data-change=h6] > summary")).to_contain_text("Undone later")
    expect(page.locator(".oasis-entry[data-change=h6]")).to_have_attribute("open", "")


def test_conflicts_are_listed_and_the_rest_can_be_undone(router: Any, visit: Any) -> None:
    page = visit(router(decisions=0).url, where="changes")
    unfold(page, "Changed twice").get_by_role("button", name="Undo").click()
    box = page.get_by_role("region", name="Undo: Changed twice")
    rows = box.get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_have_text("wireless.home.ssidGardenAttic")
    expect(rows.nth(2)).to_have_text("wireless.home.maclistaa:bb:cc:dd:ee:01, aa:bb:cc:dd:ee:02not set")
    expect(page.locator(".oasis-entry")).to_have_count(8)
    box.get_by_role("button", name="Undo the rest and leave these as they are").click()
    expect(box.locator(".oasis-change")).to_have_count(1)
    expect(page.locator(".oasis-entry")).to_have_count(9)


def test_change_that_waits_is_kept_here(router: Any, visit: Any) -> None:
    one = router(decisions=0)
    page = apply_guest(visit(one.url), one.url)
    expect(page.locator(".oasis-clock")).to_contain_text("1:")
    expect(page.locator(".oasis-entry").first.locator(".oasis-badge").first).to_have_text("Applied, waiting to be kept")
    button(page, "More time").click()
    button(page, "Keep").click()
    expect(page.locator(".oasis-pending")).to_be_hidden()
    expect(page.locator(".oasis-entry").first.locator(".oasis-badge").first).to_have_text("Kept")
    expect(page.locator(".oasis-said")).to_have_text("Kept")


def test_change_that_waits_is_put_back_here(router: Any, visit: Any) -> None:
    one = router(decisions=0)
    page = apply_guest(visit(one.url), one.url)
    button(page, "Roll back now").click()
    expect(page.locator(".oasis-pending")).to_be_hidden()
    expect(page.locator(".oasis-entry").first).to_have_attribute("data-state", "rolled_back")


def test_plan_that_waits_elsewhere_is_decided_here_after_a_reload_too(router: Any, visit: Any) -> None:
    one = router()
    page = visit(one.url)
    page.fill("#oasis-input", "a guest network")
    page.keyboard.press("Enter")
    button(page, "Approve").wait_for()
    page.wait_for_timeout(3000)
    page.goto(page.url.replace("/chat", "/changes"))
    expect(page.locator(".oasis-plan")).to_have_count(1)
    minutes, seconds = page.get_by_text("Expires in").inner_text().rpartition(" ")[2].split(":")
    assert 60 * int(minutes) + int(seconds) <= 597, "the clock began when the plan was made, not with this page"
    page.reload()
    button(page, "Approve").click()
    button(page, "Keep").click()
    expect(page.locator(".oasis-entry")).to_have_count(1)
    expect(page.locator(".oasis-run .oasis-change")).to_have_attribute("data-state", "confirmed")


def test_chat_of_a_change_is_opened(router: Any, visit: Any) -> None:
    one = router()
    page = apply_guest(visit(one.url), one.url)
    button(page, "Roll back now").click()
    unfold(page, "Turn on a guest Wi-Fi")
    button(page, "Open its chat").click()
    page.wait_for_selector(".oasis-log .oasis-change")
    expect(page.locator(".oasis-user .oasis-text").last).to_have_text("a guest network")


def test_viewer_reads_and_changes_nothing(router: Any, visit: Any) -> None:
    one = router(viewer="any", decisions=0)
    page = visit(one.url, user="viewer", where="changes")
    expect(unfold(page, "Call this router attic").locator(".oasis-added")).to_have_count(1)
    expect(button(page, "Undo")).to_have_count(0)


def test_without_the_daemon_the_page_says_so(router: Any, visit: Any) -> None:
    page = visit(router(with_daemon=False).url, where="changes")
    expect(page.get_by_role("alert").first).to_contain_text("Oasis is not running on this router.")
    expect(button(page, "Try again")).to_be_visible()
