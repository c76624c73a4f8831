"""The chat page with the real daemon behind it, without a model: the offline provider answers."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cli import launcher
from tests.luci.expecting import expect

pytestmark = pytest.mark.browser

HELPER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "oasisd.py")

RISKY = "set the wifi password to correct-horse-9"


@pytest.fixture
def oasisd(tmp_path_factory: Any, start: Any) -> Iterator[Callable[[], Any]]:
    """Start oasisd on a stock router root with the stand-in in front; gives (daemon, address).

    `here`: connections from this very host prove that the router is reached, as `make run` allows it.
    """
    if not os.path.exists(HELPER):
        pytest.skip("tests/oasisd.py is not there: no daemon to start")
    spec = importlib.util.spec_from_file_location("page_daemon", HELPER)
    assert spec and spec.loader
    helper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helper)
    daemons: list[Any] = []

    def run(here: bool = True, confirm_s: int = 90) -> tuple[Any, str]:
        root = helper.copy_root(str(tmp_path_factory.mktemp("router")))
        helper.set_option(root, "confirm_s", str(confirm_s))
        helper.set_option(root, "alive_loopback", "1" if here else "0")
        daemons.append(helper.start_daemon(root))
        _, url = start("server.py", "--root", root, path=command(root))
        return daemons[0], url

    yield run
    for daemon in daemons:
        daemon.stop()


def command(root: str) -> str:
    """Put the command `oasis` where the web server's scripts find it; return that folder."""
    program = launcher.install(os.path.join(root, "bin"))
    os.chmod(program[-1], 0o755)
    with open(program[-1], encoding="utf-8") as file:
        text = file.read()
    with open(program[-1], "w", encoding="utf-8") as file:
        file.write(text.replace("#!/usr/bin/python3", "#!" + sys.executable, 1))
    return os.path.join(root, "bin")


def ask(page: Any, text: str) -> None:
    page.fill("#oasis-input", text)
    page.keyboard.press("Enter")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def config(daemon: Any, package: str) -> str:
    with open(os.path.join(daemon.root, "etc/config", package), encoding="utf-8") as file:
        return file.read()


def approve_without_a_proof(page: Any) -> None:
    """Have a risky change applied while nothing reaches the page that proves the way to the router."""
    page.route("**/cgi-bin/oasis-alive", lambda route: route.abort())
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)


def test_low_risk_change_from_words_to_file_and_back(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    before = config(daemon, "system")
    ask(page, "set the hostname to attic")
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=60000)
    assert "option hostname 'attic'" in config(daemon, "system")
    button(page, "Undo").first.click()
    page.locator(".oasis-change").nth(1).wait_for(timeout=60000)
    assert config(daemon, "system") == before
    assert "null" not in page.inner_text("body")


def test_risky_change_is_approved_and_kept(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    before = config(daemon, "wireless")
    ask(page, RISKY)
    button(page, "Approve").wait_for(timeout=60000)
    assert config(daemon, "wireless") == before
    button(page, "Approve").click()
    button(page, "Keep").wait_for(timeout=60000)
    assert config(daemon, "wireless") != before
    page.get_by_text("Reachable: proved over a new connection").wait_for(timeout=15000)
    page.reload()
    page.get_by_text("Reachable: proved over a new connection").wait_for(timeout=15000)
    button(page, "Keep").click(timeout=60000)
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=60000)
    assert config(daemon, "wireless") != before
    kept = daemon.call("change.list")["changes"][0]
    assert kept["proof"] == "connection"
    expect(page.locator(".oasis-change")).to_contain_text("Verified: service network")


def test_reloaded_before_its_proof_the_page_still_knows_its_word(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    approve_without_a_proof(page)
    page.get_by_text("does not answer over a new connection yet").wait_for(timeout=60000)
    assert "proof" not in daemon.call("change.pending")["change"]
    page.unroute("**/cgi-bin/oasis-alive")
    page.reload()
    page.get_by_text("Reachable: proved over a new connection").wait_for(timeout=30000)


def test_keep_that_was_pressed_before_the_proof_counts_when_it_comes(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    approve_without_a_proof(page)
    button(page, "Keep").click(timeout=60000)
    button(page, "Keep without a proof").wait_for(timeout=15000)
    page.unroute("**/cgi-bin/oasis-alive")
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=30000)
    assert daemon.call("change.list")["changes"][0]["proof"] == "connection"


def test_through_a_tunnel_nothing_is_proved_and_keeping_takes_a_second_step(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd(here=False)
    page = visit(url)
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)
    page.get_by_text("This page comes through a tunnel").wait_for(timeout=60000)
    button(page, "Keep").click()
    page.get_by_text("nothing shows yet that you still reach the router").wait_for()
    assert daemon.call("change.pending")["change"]["state"] == "applied"
    button(page, "Keep without a proof").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=15000)
    assert daemon.call("change.list")["changes"][0]["proof"] == "word"


def test_another_page_proves_its_own_login_and_says_that_it_did_not_make_the_change(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    approve_without_a_proof(page)
    button(page, "Keep").wait_for(timeout=60000)
    other = visit(url)
    other.get_by_text("This login reaches the router over a new connection. It did not make the change.").wait_for()
    assert "proof" not in daemon.call("change.pending")["change"], "it speaks for its own login alone"


def test_the_offer_to_keep_without_a_proof_stays_through_later_polls(oasisd: Any, visit: Any) -> None:
    _, url = oasisd(here=False)
    page = visit(url)
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)
    button(page, "Keep").click(timeout=60000)
    button(page, "Keep without a proof").wait_for()
    for _ in range(2):
        with page.expect_response(lambda reply: '"oasis.change"' in (reply.request.post_data or "")):
            pass
    page.wait_for_timeout(300)
    button(page, "Keep without a proof").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=15000)


def test_the_way_to_a_new_address_is_on_screen_before_the_old_one_is_gone(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url, width=360)
    gone: list[bool] = []

    def move(route: Any) -> None:
        """The router is gone from here as soon as it has taken the approval."""
        if gone:
            return route.abort()
        reply = route.fetch()
        if '"approve"' in (route.request.post_data or ""):
            gone.append(True)
        return route.fulfill(response=reply)

    ask(page, "change the lan address to 192.168.77.1")
    button(page, "Approve").wait_for(timeout=60000)
    page.route("**/ubus/**", move)
    page.route("**/cgi-bin/oasis-alive", lambda route: route.abort())
    button(page, "Approve").click()
    link = page.get_by_role("link", name="The router will be at 192.168.77.1: go on there")
    link.wait_for()
    page.get_by_text("Trying again in").wait_for(timeout=30000)
    page.get_by_text("The router does not answer at the moment").wait_for(timeout=30000)
    expect(link).to_be_visible()
    expect(page.get_by_text("Open the link, log in there and press Keep.")).to_be_visible()
    clock = page.locator(".oasis-clock")
    shown = clock.inner_text()
    expect(clock).not_to_have_text(shown)
    while not daemon.call("change.pending")["change"]:
        time.sleep(0.1)
    change = daemon.call("change.pending")["change"]["id"]
    assert f"?oasis-alive={change}." in link.get_attribute("href"), "it takes along what proves the change"
    fresh = visit(url)
    fresh.get_by_text("It did not make the change.").wait_for()
    expect(button(fresh, "Keep")).to_be_enabled()
    gone.clear()
    daemon.call("change.rollback")
    expect(page.locator(".oasis-pending")).to_be_hidden(timeout=30000)
    page.unroute_all(behavior="ignoreErrors")  # a poll is always on its way, and its page goes


def test_a_change_that_could_not_be_made_leaves_no_clock(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    ask(page, "change the lan address to 192.168.77.1")
    button(page, "Approve").wait_for(timeout=60000)
    with open(os.path.join(daemon.root, "etc/config/network"), "a", encoding="utf-8") as file:
        file.write("\nconfig interface 'other'\n\toption proto 'none'\n")
    button(page, "Approve").click()
    expect(button(page, "Send")).to_be_visible(timeout=60000)
    expect(page.locator(".oasis-pending")).to_be_hidden()


def test_more_time_begins_the_window_again(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd(confirm_s=20)
    page = visit(url)
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)
    button(page, "Keep").wait_for(timeout=60000)
    page.wait_for_timeout(4000)
    assert daemon.call("change.pending")["change"]["confirm_in_s"] <= 16
    button(page, "More time").click()
    page.wait_for_function("document.querySelector('.oasis-clock').textContent > '0:17'")
    assert daemon.call("change.pending")["change"]["confirm_in_s"] >= 17
    button(page, "Keep").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=15000)


def test_a_new_address_is_told_before_and_led_to_after(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url, height=1200)
    asked: list[str] = []
    page.route(url + "cgi-bin/oasis-alive", lambda route: route.abort())  # the old address is gone
    page.route("http://192.168.77.1*/**", lambda route: (asked.append(route.request.post_data), route.fulfill(body="")))
    ask(page, "change the lan address to 192.168.77.1")
    page.get_by_text("Afterwards the router is at another address: http://192.168.77.1/").wait_for(timeout=60000)
    button(page, "Approve").click()
    page.get_by_text("The router is now at 192.168.77.1").wait_for(timeout=60000)
    page.get_by_text("The router answers at its new address").wait_for(timeout=60000)
    change = daemon.call("change.pending")["change"]
    assert change["new_address"] == "192.168.77.1"
    link = page.get_by_role("link", name="The router is now at 192.168.77.1: go on there").get_attribute("href")
    port = url.rstrip("/").rpartition(":")[2]
    assert link.startswith(
        f"http://192.168.77.1:{port}/cgi-bin/luci/admin/network/oasis/chat?oasis-alive={change['id']}."
    )
    assert change["id"] in asked[0], "the proof goes to the new address"
    page.goto(link.replace("192.168.77.1", "127.0.0.1"))
    page.wait_for_selector(".oasis-pending:not([hidden])")
    assert "oasis-alive" not in page.url, "the word does not stay in the address bar"


def test_a_plan_of_another_program_is_kept_while_the_open_chat_waits(oasisd: Any, visit: Any) -> None:
    """The run of the open chat is followed already; the panel of the other plan's change must come all the same."""
    daemon, url = oasisd()
    daemon.call("plan.propose", commands=["uci set wireless.default_radio0.ssid='Other'"])
    for _ in range(100):  # a slow host plans for a while
        if daemon.call("plan.list")["plans"]:
            break
        time.sleep(0.1)
    (other,) = daemon.call("plan.list")["plans"]
    page = visit(url)
    card = page.locator(".oasis-plan").first
    card.wait_for()
    ask(page, RISKY)
    expect(button(page, "Approve")).to_have_count(2, timeout=60000)
    assert len(daemon.call("plan.list")["plans"]) == 2, "the open chat has a run that waits"
    card.get_by_role("button", name="Approve", exact=True).click()
    while not daemon.call("change.pending")["change"]:
        time.sleep(0.05)
    button(page, "Keep").wait_for(timeout=3000)
    page.get_by_text("Reachable: proved over a new connection").wait_for(timeout=30000)
    button(page, "Keep").click()
    page.locator(".oasis-change[data-state=confirmed]").wait_for(timeout=20000)
    assert "option ssid 'Other'" in config(daemon, "wireless")
    assert other["run"] and len(daemon.call("plan.list")["plans"]) == 1, "the chat's own plan waits on"


def test_risky_change_is_put_back(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    names = ("wireless", "network", "firewall", "dhcp")
    before = [config(daemon, name) for name in names]
    ask(page, RISKY)
    button(page, "Approve").click(timeout=60000)
    button(page, "Roll back now").click(timeout=60000)
    page.locator(".oasis-change[data-state=rolled_back]").wait_for(timeout=60000)
    assert [config(daemon, name) for name in names] == before


def test_what_the_owner_forced_elsewhere_is_judged_and_approved_here(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    script = "uci set dhcp.@dnsmasq[0].dhcpscript=/etc/hello.sh"
    daemon.call("plan.propose", commands=[script], force=["exec"], words="this runs code as root")
    for _ in range(100):  # a slow host plans for a while
        if daemon.call("plan.list")["plans"]:
            break
        time.sleep(0.1)
    page = visit(url)
    page.get_by_text("Forced by you: exec").wait_for()
    expect(page.locator(".oasis-reasons")).to_contain_text("this runs code as root")
    expect(page.locator(".oasis-reach")).to_contain_text("Will you still reach the router?")
    page.get_by_role("button", name="Approve", exact=True).click()
    page.get_by_role("button", name="Roll back now", exact=True).click()
    page.locator(".oasis-pending").wait_for(state="hidden")
    with open(os.path.join(daemon.root, "etc/config/dhcp"), encoding="utf-8") as file:
        assert "hello.sh" not in file.read()


def ended(page: Any, text: str) -> None:
    """Ask and wait for the end of the answer."""
    ask(page, text)
    page.wait_for_function(
        """text => {
            const own = [ ...document.querySelectorAll('.oasis-user .oasis-text') ].pop();
            const last = [ ...document.querySelectorAll('.oasis-message') ].pop();
            return own && own.textContent == text && last.querySelector(':scope.oasis-assistant > .oasis-foot-line');
        }""",
        arg=text,
        timeout=60000,
    )
    button(page, "Send").wait_for(timeout=60000)


def said(page: Any) -> Any:
    """What the owner said, as it is shown."""
    return page.locator(".oasis-user .oasis-text")


def test_branches_of_a_chat_are_made_and_switched(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    ended(page, "hello")
    ended(page, "how is the wifi")
    button(page, "Edit and ask again").last.click()
    ended(page, "which devices are here")
    expect(said(page)).to_have_text(["hello", "which devices are here"])
    page.get_by_role("button", name="Previous version").click()
    page.wait_for_function("document.querySelector('.oasis-log').textContent.includes('how is the wifi')")
    expect(said(page)).to_have_text(["hello", "how is the wifi"])
    button(page, "Edit and ask again").first.click()
    ended(page, "good morning")
    expect(said(page)).to_have_text(["good morning"])
    button(page, "Branches").click()
    page.get_by_role("treeitem").nth(3).wait_for()
    questions = ["hello", "how is the wifi", "which devices are here", "good morning"]
    expect(page.locator(".oasis-tree-text")).to_have_text(questions)
    page.locator(".oasis-tree-line", has_text="how is the wifi").click()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.oasis-log').textContent.includes('how is the wifi')")
    page.get_by_label("More about this message").last.click()
    button(page, "Bookmark…").click()
    page.get_by_label("Name", exact=True).fill("wifi")
    page.keyboard.press("Enter")
    page.locator(".oasis-rows strong", has_text="wifi").wait_for()
    page.keyboard.press("Escape")
    chat = daemon.call("chat.list")["item"][0]["id"]
    assert [mark["name"] for mark in daemon.call("bookmark.list", chat=chat)["bookmarks"]] == ["wifi"]
    ended(page, "go on")
    expect(said(page)).to_have_text(["hello", "how is the wifi", "go on"])


def test_files_passwords_topics_and_search_on_the_real_daemon(oasisd: Any, visit: Any, tmp_path: Any) -> None:
    daemon, url = oasisd()
    page = visit(url)
    page.get_by_label("This chat is about").select_option(label="Wi-Fi")
    page.set_input_files(
        ".oasis-tools input[type=file]", {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"word " * 20000}
    )
    expect(page.locator(".oasis-above .oasis-chip")).to_have_count(1)
    expect(page.locator("progress")).to_have_count(0)
    button(page, "Password…").click()
    page.get_by_label("Password or key", exact=True).fill("correct-horse-77")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#oasis-input').value.length > 3")
    ended(page, "hello " + page.input_value("#oasis-input"))
    page.reload()
    page.locator(".oasis-file").wait_for()
    expect(page.locator(".oasis-file")).to_contain_text("notes.txt")
    expect(page.locator(".oasis-file")).to_contain_text("98 KiB")
    page.get_by_text("What the model read first").wait_for()
    assert "correct-horse-77" not in page.content()
    page.get_by_label("Search all chats").fill("hello")
    page.locator(".oasis-hit").first.click()
    page.locator(".oasis-found").wait_for()
    button(page, "Export").click()
    with page.expect_download() as saved:
        button(page, "Whole chat (Oasis)").click()
    saved.value.save_as(tmp_path / "chat.json")
    button(page, "Import chats…").click()
    page.set_input_files("#modal_overlay input[type=file]", tmp_path / "chat.json")
    page.locator(".oasis-rows .oasis-link").click()
    page.locator(".oasis-message .oasis-badge", has_text="imported").first.wait_for()
    assert len(daemon.call("chat.list")["item"]) == 2
    page.get_by_label("More about this message").first.click()
    button(page, "Forget this message…").click()
    button(page, "Forget").click()
    page.get_by_text("Removed by you").wait_for()


def test_changes_approved_elsewhere_stand_below_the_messages_they_answer(oasisd: Any, visit: Any) -> None:
    daemon, url = oasisd()
    chat = ""
    for name in ("attic", "cellar", "porch"):
        started = daemon.call("run.start", message="call this router " + name, chat=chat)
        chat = started["chat"]
        while daemon.call("run.poll", run=started["run"], since=0, wait_ms=100)["state"] not in ("done", "error"):
            for plan in daemon.call("plan.list")["plans"]:
                daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    page = visit(url)
    expect(page.locator(".oasis-change")).to_have_count(3)
    for _ in range(2):
        order = page.evaluate("""[ ...document.querySelectorAll('.oasis-user, .oasis-change') ]
            .map(node => node.matches('.oasis-user') ? 'message' : 'change')""")
        assert order == ["message", "change"] * 3
        page.reload()
        expect(page.locator(".oasis-change")).to_have_count(3)
