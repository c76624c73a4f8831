"""Requests that no page of ours made: from another site, with the cookie alone, without a session or a proof.

The methods are reached through /ubus only, by a POST that names the session in its body; a browser that another site
drives can send neither that session nor a header of its own. Nothing is changed by a GET, whatever it carries.
"""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests.luci.conftest import PAGES, fill_login

CALLS = [("oasis.run", "start", {"message": "rename the router"}), ("oasis.change", "undo", {"change": "h6"}),
         ("oasis.tool", "set", {"name": "wol", "enabled": False}), ("oasis.doctor", "fix", {"finding": "wifi.open"}),
         ("oasis.change", "list", {}), ("oasis.audit", "list", {})]  # fmt: skip
NOBODY = "0" * 32


def send(url: str, method: str, path: str, body: str = "", headers: dict[str, str] | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=30)
    try:
        connection.request(method, path, body.encode(), headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read().decode("utf-8", "replace")
    finally:
        connection.close()


def log_in(url: str, user: str = "root") -> str:
    """Return the session of a new login, as the cookie names it."""
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=30)
    connection.request("POST", "/" + PAGES + "chat", f"luci_username={user}&luci_password=any")
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return str(reply.getheader("Set-Cookie")).partition("=")[2].partition(";")[0]


def asking(session: object, obj: str, method: str, arguments: dict[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "call", "params": [session, obj, method, arguments]})


def runs(url: str) -> object:
    """Return what a login sees of changes and tools, to tell whether anything was done."""
    session = log_in(url)
    seen = [send(url, "POST", "/ubus/", asking(session, obj, name, {}))[1]
            for obj, name in (("oasis.change", "list"), ("oasis.tool", "list"), ("oasis.plan", "list"))]  # fmt: skip
    return [json.loads(text)["result"][1] for text in seen]


@pytest.mark.parametrize(("obj", "method", "arguments"), CALLS)
def test_cookie_alone_calls_nothing(router: Any, obj: str, method: str, arguments: dict[str, object]) -> None:
    url = router(decisions=3).url
    before = runs(url)
    session = log_in(url)
    cookie = {"Cookie": f"sysauth_http={session}", "Origin": "http://evil.invalid", "Content-Type": "text/plain"}
    for named in (NOBODY, "", None, "f" * 32):
        for path in ("/ubus/", "/ubus", "/cgi-bin/luci/admin/ubus"):
            status, text = send(url, "POST", path, asking(named, obj, method, arguments), cookie)
            assert status == 200 and "error" in json.loads(text), (path, named, text)
    assert runs(url) == before


@pytest.mark.parametrize(("obj", "method", "arguments"), CALLS)
def test_get_calls_nothing(router: Any, obj: str, method: str, arguments: dict[str, object]) -> None:
    url = router(decisions=3).url
    before = runs(url)
    session = log_in(url)
    cookie = {"Cookie": f"sysauth_http={session}"}
    request = asking(session, obj, method, arguments)
    for path in ("/ubus/", f"/ubus/{session}/{obj}/{method}", "/cgi-bin/luci/admin/ubus", "/cgi-bin/oasis-alive"):
        status, text = send(url, "GET", path + "?" + request.replace(" ", "").replace('"', "%22"), request, cookie)
        assert status >= 400, (path, status, text)
    assert runs(url) == before


def test_viewer_is_refused_whatever_writes(router: Any) -> None:
    url = router(decisions=3, viewer="any").url
    session = log_in(url, "viewer")
    for obj, method, arguments in CALLS:
        reply = json.loads(send(url, "POST", "/ubus/", asking(session, obj, method, arguments))[1])
        if method == "list":
            assert reply["result"][0] == 0
        else:
            assert reply["error"]["code"] == -32002, (obj, method, reply)


@pytest.mark.parametrize(
    ("method", "body", "status"),
    [
        ("GET", "", 405),
        ("PUT", "", 501),
        ("POST", "", 400),
        ("POST", "{}", 400),
        ("POST", json.dumps({"change": "c"}), 400),
        ("POST", json.dumps({"session": "f" * 31}), 400),
        ("POST", json.dumps({"session": "g" * 32}), 400),
        ("POST", json.dumps({"session": "f" * 32, "change": "c", "nonce": "short"}), 400),
        ("POST", "change=c&nonce=" + "a" * 32 + "&session=" + "f" * 32, 400),
        ("POST", json.dumps({"session": "f" * 32, "padding": "x" * 400}), 413),
    ],
)
def test_proof_needs_session_and_word(router: Any, method: str, body: str, status: int) -> None:
    url = router().url
    cookie = {"Cookie": f"sysauth_http={log_in(url)}"}
    found, text = send(url, method, "/cgi-bin/oasis-alive", body, cookie)
    assert found == status, text


@pytest.mark.browser
def test_page_of_another_site_reaches_no_method(router: Any, browser: Any) -> None:
    url = router(decisions=3).url
    before = runs(url)
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(url + PAGES + "changes")
        fill_login(page)
        page.wait_for_selector(".oasis-page")
        session = page.evaluate("L.env.sessionid")
        # the same browser, cookies and all, on a page of another site
        other = context.new_page()
        other.route("**/*", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html"))
        other.goto("http://evil.invalid/")
        other.unroute("**/*")
        for named in (NOBODY, session[::-1]):
            for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
                other.evaluate(
                    """([ url, body, kind ]) => fetch(url + 'ubus/', { method: 'POST', mode: 'no-cors', body: body,
                        credentials: 'include', headers: { 'Content-Type': kind } }).then(() => true, () => false)""",
                    [url, asking(named, "oasis.tool", "set", {"name": "wol", "enabled": False}), kind],
                )
        assert (
            other.evaluate(f"fetch('{url}ubus/', {{ method: 'POST', body: '{{}}' }}).then(() => 'read', () => 'no')")
            == "no"
        )
        framed = other.evaluate("document.cookie")
        assert session not in framed
    finally:
        context.close()
    assert runs(url) == before
