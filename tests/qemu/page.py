"""Steps over HTTP through the router's LAN, as the page does it: log in, talk, approve, prove, keep."""

from __future__ import annotations

import http.client
import json
import time

from tests.qemu.changes import assigned, state_is
from tests.qemu.machine import HTTP
from tests.qemu.router import Failed, Router, expect
from tests.qemu.suite import step

NOBODY = "0" * 32
PASSWORD = "only-for-this-guest"
REPLY_S = 60
RUN_S = 240


class Page:
    """One browser at the router; every request is a connection of its own."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self.session = NOBODY

    def post(self, path: str, body: dict) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._router.machine.ports[HTTP], timeout=REPLY_S)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            return connection.getresponse().read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise Failed("POST %s: %s" % (path, error))
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._router.machine.ports[HTTP], timeout=REPLY_S)
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            return reply.status, reply.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def ask(self, name: str, method: str, **arguments: object) -> dict:
        """Call an object of the bus; return {"status": ubus status} and the reply, or {"error": …}."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [self.session, name, method, arguments]}
        self._router.log.typed("http#", "%s %s %s" % (name, method, json.dumps(_told(arguments))))
        reply = json.loads(self.post("/ubus", body))
        self._router.log.said(json.dumps(_told(reply.get("result", reply)))[:400])
        if "error" in reply:
            return {"denied": reply["error"]}
        status, *data = reply["result"]
        return {"status": status, **(data[0] if data else {})}

    def login(self) -> None:
        reply = self.ask("session", "login", username="root", password=PASSWORD)
        expect("ubus_rpc_session" in reply, "no login as root: %s" % reply)
        self.session = str(reply["ubus_rpc_session"])

    def follow(self, run: str, wanted: str, since: int = 0) -> tuple[dict, int]:
        """Poll a run until an event of a type comes; return it and where to go on."""
        deadline_s = time.monotonic() + RUN_S
        while time.monotonic() < deadline_s:
            reply = self.ask("oasis.run", "poll", run=run, since=since, wait_ms=10000)
            for event in reply.get("events", []):
                if event["type"] == wanted:
                    return event, event["seq"] + 1
                expect(event["type"] != "error", "the run failed: %s" % event)
            expect("next" in reply, "no answer to a poll: %s" % reply)
            since = reply["next"]
        raise Failed("no event %r in %d s" % (wanted, RUN_S))


def _told(value: object) -> object:
    """Hide what a log must not hold: passwords, sessions, nonces."""
    if isinstance(value, dict):
        hidden = ("password", "ubus_rpc_session", "nonce", "acls", "data")
        return {key: "…" if key in hidden else _told(item) for key, item in value.items()}
    return [_told(item) for item in value] if isinstance(value, list) else value


@step("pages and bus are shut to who has no session", "rpcd", "uhttpd")
def shut(router: Router) -> None:
    page = Page(router)
    status, text = page.get("/luci-static/resources/view/oasis/chat.js")
    expect(status == 200 and "view" in text, "the chat page's script is not served (status %d)" % status)
    for name, method in (("oasis", "info"), ("oasis.run", "start"), ("oasis.change", "confirm")):
        expect("denied" in page.ask(name, method), "%s %s answers without a session" % (name, method))


@step("as the page: a risky change over HTTP, proved by a new connection through the LAN, and kept", "rpcd", "uhttpd")
def page_proof(router: Router) -> None:
    page = Page(router)
    page.login()
    page.ask("oasis", "info")
    started = page.ask("oasis.plan", "propose", commands=["uci set network.lan.ip6assign=59"])
    expect("run" in started, "no run: %s" % started)
    event, since = page.follow(started["run"], "plan")
    plan = event["plan"]
    word = {"word": plan["typed_word"]} if plan.get("typed_word") else {}
    page.ask("oasis.plan", "approve", plan=plan["id"], hash=plan["hash"], **word)
    event, since = page.follow(started["run"], "change", since)
    while event["change"]["state"] != "applied":
        event, since = page.follow(started["run"], "change", since)
    change = event["change"]
    early = page.ask("oasis.change", "confirm", change=change["id"])
    expect("error" in early, "it was kept without a proof: %s" % early)
    body = {"change": change["id"], "nonce": change["nonce"], "session": page.session}
    router.log.typed("http#", "POST /cgi-bin/oasis-alive")
    told = page.post("/cgi-bin/oasis-alive", body)
    router.log.said(told)
    expect(json.loads(told).get("alive") == "proved", "a new connection through the LAN is no proof: " + told)
    kept = page.ask("oasis.change", "confirm", change=change["id"])
    expect(kept.get("change", {}).get("state") == "confirmed", "not kept: %s" % kept)
    state_is(router, change["id"], "confirmed")
    expect(assigned(router) == "59", "the change is not on flash")
