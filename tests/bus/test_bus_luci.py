"""The chat page in the real LuCI: real uhttpd, rpcd, ubusd and procd, our init script, our daemon, and nothing between.

OASIS_LUCI names a program that starts OpenWrt's user space with LuCI as `PROGRAM -p PORT -s STATE -x TREE -e SERVICE`:
root's password is admin, the tree is laid over the router's, the service is enabled and started, a line with "ready" on
stderr says that it is up, SIGTERM ends all of it.
"""

import http.client
import json
import os
import re
import shutil
import subprocess
import urllib.parse

import pytest

from tests.cli.web import free_port
from tests.luci.conftest import browser  # noqa: F401 - a fixture
from tests.oasisd import REPOSITORY
from tests.ubus.buskit import until

PROGRAM = os.environ.get("OASIS_LUCI", "")
CHAT = "/cgi-bin/luci/admin/network/oasis/chat"
pytestmark = pytest.mark.skipif(not PROGRAM, reason="no real LuCI: OASIS_LUCI names no program that starts one")


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("luci")
    tree = shutil.copytree(REPOSITORY + "/files", folder / "tree")
    (tree / "usr/lib/oasis").mkdir(parents=True, exist_ok=True)
    shutil.copytree(REPOSITORY + "/oasis", tree / "usr/lib/oasis/oasis", ignore=shutil.ignore_patterns("__pycache__"))
    number = free_port()
    command = [PROGRAM, "-p", str(number), "-s", str(folder / "state"), "-x", str(tree), "-e", "oasis"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        lines = []
        while not (lines and "ready" in lines[-1]):
            lines.append(process.stderr.readline())
            assert lines[-1], "".join(lines)
        # From sources alone the daemon takes its time.
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "list", "params": ["oasis.chat"]})
        until(lambda: json.loads(ask(number, "POST", "/ubus/", request)[1]).get("result"), 90)
        yield number
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


def ask(port, method, path, body="", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        return reply, reply.read().decode("utf-8", "replace")
    finally:
        connection.close()


@pytest.fixture(scope="module")
def session(port):
    form = urllib.parse.urlencode({"luci_username": "root", "luci_password": "admin"})
    reply, _ = ask(port, "POST", CHAT, form, {"Content-Type": "application/x-www-form-urlencoded"})
    return re.search(r"sysauth[a-z_]*=([0-9a-f]{32})", reply.headers["Set-Cookie"]).group(1)


def call(port, session, name, method, **arguments):
    request = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [session, name, method, arguments]}
    reply = json.loads(ask(port, "POST", "/ubus/", json.dumps(request), {"Content-Type": "application/json"})[1])
    assert reply["result"][0] == 0, reply
    return reply["result"][1]


def test_a_page_s_calls_reach_the_daemon_without_anybody_between(port, session):
    info = call(port, session, "oasis", "info")
    assert info["root"] == "/"
    assert info["bus"] == []
    run = call(port, session, "oasis.run", "start", message="what is my lan address?")
    events, since = [], 0
    while not any(event["type"] == "end" for event in events):
        reply = call(port, session, "oasis.run", "poll", run=run["run"], since=since, wait_ms=15000)
        events, since = events + reply["events"], reply["next"]
    assert "192.168.1.1" in "".join(event.get("text", "") for event in events)


def test_the_proof_of_life_knows_the_session_and_refuses_another(port, session):
    for one, word in ((session, "loopback"), ("f" * 32, "loopback")):
        reply, text = ask(port, "POST", "/cgi-bin/oasis-alive", json.dumps({"session": one}, separators=(",", ":")))
        assert reply.status == 200
        assert json.loads(text)["path"] == word, "it comes from this very machine, whoever asks"
    request = {"change": "c", "nonce": "0" * 32, "session": session}
    reply, text = ask(port, "POST", "/cgi-bin/oasis-alive", json.dumps(request, separators=(",", ":")))
    assert json.loads(text)["alive"] == "stranger"


def test_a_session_without_a_login_reaches_nothing(port):
    for session in ("0" * 32, "f" * 32):
        request = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [session, "oasis", "info", {}]}
        reply = json.loads(ask(port, "POST", "/ubus/", json.dumps(request))[1])
        assert reply["error"]["code"] == -32002


def logged_in(port, context):
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"http://127.0.0.1:{port}{CHAT}")
    page.fill("#luci_username", "root")
    page.fill("#luci_password", "admin")
    page.keyboard.press("Enter")
    page.wait_for_selector(".oasis-log")
    return page


def has_parts(node):
    return all(os.path.isdir(one.replace("/usr/lib/oasis", REPOSITORY, 1)) for one in node["depends"].get("fs", ()))


def test_every_page_opens_without_a_fault(port, browser):  # noqa: F811
    with open(REPOSITORY + "/files/usr/share/luci/menu.d/luci-app-oasis.json", encoding="utf-8") as file:
        nodes = json.load(file)
    views = [path for path, node in nodes.items() if node["action"]["type"] == "view" and has_parts(node)]
    context = browser.new_context()
    try:
        page = logged_in(port, context)
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
        for path in views:
            page.goto(f"http://127.0.0.1:{port}/cgi-bin/luci/{path}")
            page.wait_for_selector(".oasis")
            page.wait_for_load_state("networkidle")
            assert page.locator("#tabmenu a").count() == len(views)
            assert page.locator("link[href*='/oasis/page.css?v=']").count() == 1, "with the version of LuCI's scripts"
            assert not page.locator("#maincontent > .alert-message, .oasis-notices .alert-message").count(), path
        assert not faults
    finally:
        context.close()


def test_the_chat_page_asks_and_shows_the_answer(port, browser):  # noqa: F811
    context = browser.new_context()
    try:
        page = logged_in(port, context)
        box = page.locator("textarea").first
        box.wait_for()
        box.fill("what is my lan address?")
        box.press("Enter")
        page.wait_for_function("document.querySelector('.oasis-log').innerText.includes('lan: 192.168.1.1')")
    finally:
        context.close()
