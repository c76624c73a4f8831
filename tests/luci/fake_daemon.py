"""A test double of the daemon: the method table over the unix socket, with runs that follow a script.

The words of a message choose the script (see SCRIPTS); everything else, plans, the confirm window, undo, is kept as
the real daemon keeps it, in memory only. For edge cases of the page, which the real one cannot be asked for.

    python tests/luci/fake_daemon.py --root ROUTERROOT [--confirm-s 90] [--expires-s 600] [--unconfined REASON]
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import signal
import socketserver
import sys
import threading
import time
from typing import TYPE_CHECKING

from fake_chats import Chats, Fault
from fake_records import Conflict, Records

if TYPE_CHECKING:
    from collections.abc import Callable

Value = dict[str, object]
PIECE_S = 0.15
OVER = ("done", "cancelled", "error")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_values.json"), encoding="utf-8") as _file:
    VALUES = json.load(_file)


class Run:
    """Events of one run and what it waits for."""

    def __init__(self, number: str, chat: str) -> None:
        self.number, self.chat, self.state = number, chat, "running"
        self.last: list[str] = []  # what its next message continues
        self.service = ""
        self.events: list[Value] = []
        self.news = threading.Condition()

    def add(self, kind: str, **values: object) -> None:
        """Append an event; raises Stopped when the run was cancelled."""
        with self.news:
            if self.state == "cancelled":
                raise Stopped
            self.events.append({"seq": len(self.events) + 1, "type": kind, **values})
            self.news.notify_all()

    def finish(self, state: str, reason: str) -> None:
        """End the run once."""
        with self.news:
            if self.events and self.events[-1]["type"] == "end":
                return
            self.state = state
            self.events.append({"seq": len(self.events) + 1, "type": "end", "state": state, "stop_reason": reason})
            self.news.notify_all()


class Stopped(Exception):
    """The run was cancelled."""


class Daemon(Records, Chats):
    """The method table. Names of methods are those of the real one, `.` written as `_`."""

    def __init__(self, confirm_s: float, expires_s: float, unconfined: str, new_address: str = "") -> None:
        self.new_address = {"new_address": new_address} if new_address else {}
        self.confirm_s, self.expires_s, self.unconfined = confirm_s, expires_s, unconfined
        self.lock = threading.RLock()
        self.numbers = itertools.count(1)
        self.runs: dict[str, Run] = {}
        self.plans: dict[str, Value] = {}
        self.refused: list[str] = []
        self.changes: list[Value] = []
        self.ends_s: dict[str, float] = {}
        self.service = "cloud"
        self.keep()
        self.begin_records()
        asked = self._message("user", "Is everything all right?", [])
        said = self._message("assistant", VALUES["answer"], [str(asked["id"])])
        self._chat("An earlier chat", 3600)["messages"] = [asked, {**said, "provider": "cloud", "model": "big-1"}]

    def call(self, method: str, params: Value) -> Value:
        """Call a method by its name."""
        function = getattr(self, "m_" + method.replace(".", "_"), None)
        if function is None:
            raise KeyError(method)
        params = {name: value for name, value in params.items() if name != "ubus_rpc_session"}
        return function(**params)

    # --- what there is
    def m_info(self) -> Value:
        return {
            "version": "0", "root": "/", "backend": "file", "approval": "risky",
            "unconfined": self.unconfined, "upstream": bool(self.old),
            "provider": {"identifier": self.service, "name": "Cloud", "model": "big-1"},
            "pending": self.m_change_pending()["change"],
            "runs": [{"run": run.number, "chat": run.chat} for run in self.runs.values() if run.state not in OVER],
            "waiting": [self._plan_now(plan) for plan in self.plans.values() if not plan["decision"]],
        }  # fmt: skip

    def m_service_list(self) -> Value:
        keys = ("identifier", "name", "model", "ready")
        rows = [dict(zip(keys, row, strict=True)) for row in VALUES["services"]]
        return {"service": [{**row, "active": row["identifier"] == self.service} for row in rows]}

    def m_service_select(self, identifier: str) -> Value:
        self.service = identifier
        return {"status": "OK"}

    def m_plan_list(self) -> Value:
        return {"plans": [self._plan_now(plan) for plan in self.plans.values() if not plan["decision"]]}

    def m_change_list(self) -> Value:
        return {"changes": [self._change_now(change) for change in reversed(self.changes)]}

    def m_change_pending(self) -> Value:
        waiting = [self._change_now(change) for change in self.changes if change["state"] == "applied"]
        return {"change": waiting[-1] if waiting else None}

    # --- runs

    def m_run_start(
        self, message: str, chat: str = "", continues: list[str] | None = None, options: Value | None = None,
        topic: str = "", attachments: list[str] | None = None, head: str = "",
    ) -> Value:  # fmt: skip
        with self.lock:
            entry, asked = self._asked(message, chat, continues, topic, attachments)
            if options:
                asked["options"] = options
            if head:
                self.bookmarks[head] = (str(entry["id"]), str(asked["id"]))
        kept = [one["options"] for one in self._thread(entry, str(asked["id"])) if "options" in one]
        reply = self._start(str(entry["id"]), lambda run: self._script(run, message), str(asked["id"]))
        chosen = str(kept[-1]["provider_ptr"]) if kept else ""  # type: ignore[index]
        self.runs[str(reply["run"])].service = chosen or self.service
        return {**reply, "message": asked["id"]}

    def m_run_poll(self, run: str, since: int = 0, wait_ms: int = 0) -> Value:
        if run not in self.runs:
            raise Fault("usage", f"no run {run}", "its events are kept for 10 minutes")
        one = self.runs[run]
        with one.news:
            one.news.wait_for(lambda: len(one.events) > since or one.state in OVER, min(wait_ms, 15000) / 1000)
            events = one.events[since:]
            return {"run": run, "chat": one.chat, "state": one.state, "events": events, "next": len(one.events)}

    def m_run_cancel(self, run: str) -> Value:
        one = self.runs[run]
        with one.news:
            one.state = "cancelled" if one.state not in OVER else one.state
        one.finish("cancelled", "other")
        return {"run": run, "state": one.state}

    # --- plans and changes

    def m_plan_approve(self, plan: str, hash: str, word: str = "") -> Value:
        if self.plans[plan]["hash"] != hash:
            raise Fault("policy", "the hash is not that of the plan", "reload the page and look at the plan again")
        if self.plans[plan].get("typed_word", "") != word:
            raise Fault("policy", "the plan needs a typed word", "type it into the field")
        return self._decide(plan, "approved")

    def m_plan_decline(self, plan: str, reason: str = "") -> Value:
        self.plans[plan]["reason"] = reason
        return self._decide(plan, "declined")

    def m_plan_force(self, refused: str, force: list[str]) -> Value:
        if refused not in self.refused or force != VALUES["refused"]["force"]:
            raise Fault("usage", "nothing refused is kept any more", "ask for the change again")
        return self._start("", lambda run: self._guest(run, **VALUES["forced"]))

    def m_change_extend(self, change: str) -> Value:
        found = next(item for item in self.changes if item["id"] == change)
        self.ends_s[change] = time.monotonic() + self.confirm_s
        return {"change": self._change_now(found)}

    def m_change_confirm(self, change: str, unproved: bool = False) -> Value:
        return self._settle(change, "confirmed")

    def m_change_rollback(self, change: str) -> Value:
        return self._settle(change, "rolled_back")

    def m_change_undo(self, change: str = "", skip_conflicts: bool = False) -> Value:
        old = next(item for item in self.changes if item["id"] == change)
        return self._start("", lambda run: self._undo(run, old, skip_conflicts))

    def m_doctor_fix(self, finding: str) -> Value:
        found = next(item for item in self.findings if item["id"] == finding)
        return self._start("", lambda run: self._fix(run, found))

    # --- scripts

    def _start(self, chat: str, script: Callable[[Run], None], message: str = "") -> Value:
        run = Run(f"r{next(self.numbers)}", chat)
        if message:
            run.last = [message]
            run.add("message", id=message, role="user")
        self.runs[run.number] = run
        threading.Thread(target=self._play, args=(run, script), daemon=True).start()
        return {"run": run.number, "chat": chat}

    def _play(self, run: Run, script: Callable[[Run], None]) -> None:
        try:
            script(run)
            run.finish("done", "end_turn")
        except Conflict as conflict:
            run.add("error", error=conflict.args[0])
            run.finish("error", "error")
        except Stopped:
            run.finish("cancelled", "other")

    def _script(self, run: Run, message: str) -> None:
        for word, script in SCRIPTS.items():
            if word in message.lower():
                script(self, run)
                return
        self._say(run, "You said: " + message)

    def _say(self, run: Run, text: str, size: int = 12) -> None:
        if not run.chat:
            return
        for at in range(0, len(text), size):
            time.sleep(PIECE_S)
            run.add("delta", text=text[at : at + size])
        stored = self._message("assistant", text, run.last)
        model = next(row[2] for row in VALUES["services"] if row[0] == (run.service or self.service))
        stored.update(provider=run.service or self.service, model=model)
        self._messages(self.chats[run.chat]).append(stored)
        run.last = [str(stored["id"])]
        run.add("message", id=stored["id"], role="assistant")

    def _answer(self, run: Run) -> None:
        self._say(run, VALUES["answer"])

    def _many(self, run: Run) -> None:
        for number in range(100):
            for role, text in (("user", f"question {number}"), ("assistant", f"reply {number}")):
                stored = self._message(role, text, run.last)
                self._messages(self.chats[run.chat]).append(stored)
                run.last = [str(stored["id"])]

    def _forgetful(self, run: Run) -> None:
        run.add("trimmed", messages=7, tokens=9000)
        run.add("note", text="the <b>clock</b> is wrong")
        self._say(run, "As far as I can see.", 30)
        self.chats[run.chat]["title"] = "A title <b>made</b> later"
        run.add("title", chat=run.chat, title=self.chats[run.chat]["title"])

    def _long(self, run: Run) -> None:
        for number in itertools.count(1):
            time.sleep(PIECE_S)
            run.add("delta", text=f"word{number} ")

    def _hostile(self, run: Run) -> None:
        run.add("tool_use", id="t1", name="<b>status</b>", input={"what": "<img src=x onerror=window.hacked=1>"})
        run.add("tool_result", tool_use_id="t1", name="status", text="<script>window.hacked=1</script>", is_error=True)
        self._say(run, VALUES["hostile"], 4000)

    def _error(self, run: Run) -> None:
        error = {"code": "authentication", "message": "the service openai refused the key", "hint": "set a new key"}
        run.add("error", error=error)
        run.finish("error", "error")

    def _reset(self, run: Run) -> None:
        run.add("reset", text="The whole text so far, ")
        self._say(run, "and its end.")

    def _refused(self, run: Run) -> None:
        self.refused.append(f"q{next(self.numbers)}")
        run.add("refused", refused=self.refused[-1], **VALUES["refused"])
        self._say(run, "The router refused that.", 30)

    def _script_refused(self, run: Run) -> None:
        run.add("refused", refused="", **VALUES["code"])
        self._say(run, "Only you can do that.", 30)

    def _loose(self, run: Run) -> None:
        self._guest(run, typed_word="risky", unconfined="nft is missing")

    def _either(self, run: Run) -> None:
        self._guest(run, choice={"say": "2", "text": "turn Wi-Fi off"})

    def _guest(self, run: Run, **more: object) -> None:
        tool = {"id": "t" + run.number, "name": "read_config"}
        time.sleep(PIECE_S)
        run.add("tool_use", **tool, input={"package": "wireless"})
        run.add(
            "tool_result", tool_use_id=tool["id"], name=tool["name"], text="wireless.radio0=wifi-device", is_error=False
        )
        self._say(run, "I would add a **guest network** that can reach the internet but not your devices.", 30)
        plan = self._plan(run)
        plan.update(more)
        run.add("plan", plan=self._plan_now(plan))
        self._wait(run, plan)
        run.add("approval", plan=plan["id"], decision=plan["decision"])
        if plan["decision"] != "approved":
            chosen = f" You chose {plan['reason']}." if plan.get("reason") else ""
            self._say(run, f"All right, I leave everything as it is.{chosen}", 30)
            return
        run.add("change", change=self._change_now(self._change(run.chat, "Turn on a guest Wi-Fi", "applied")))
        self._say(run, "The guest network is on. Please check it and keep the change.", 30)

    def _fix(self, run: Run, finding: Value) -> None:
        if finding["id"] != "dns.upstream":
            return self._guest(run, summary=finding["title"])
        run.add("note", text="another one was proposed before")
        run.add("refused", refused="", **VALUES["code"])
        return self._guest(run, **{**VALUES["forced"], "summary": finding["title"]})

    def _wait(self, run: Run, plan: Value) -> None:
        run.state = "waiting"
        while not plan["decision"]:
            if self._plan_now(plan)["expires_in_s"] == 0:
                plan["decision"] = "expired"
            if run.state == "cancelled":
                plan["decision"] = "declined"
                raise Stopped
            time.sleep(0.05)
        run.state = "running"

    def _low(self, run: Run) -> None:
        plan = self._plan(run)
        plan.update(risk="low", needs_approval=False, confirm_s=0, decision="automatic", reasons=[])
        run.add("plan", plan=self._plan_now(plan))
        run.add("approval", plan=plan["id"], decision="automatic")
        run.add("change", change=self._change(run.chat, "Rename the router", "confirmed"))
        self._say(run, "Done.")

    def _undo(self, run: Run, old: Value, skip_conflicts: bool) -> None:
        if "twice" in str(old["summary"]) and not skip_conflicts:
            self.refuse_conflict(old)
        change = self._change(str(old["chat"]), "Undo: " + str(old["summary"]), "confirmed")
        change["undoes"], old["undone_by"] = old["id"], change["id"]
        run.add("change", change=change)
        run.add("tool_result", tool_use_id="", name="undo", text='{"status": "applied"}', is_error=False)

    # --- values

    def _plan(self, run: Run) -> Value:
        number = f"p{next(self.numbers)}"
        digest = hashlib.sha256(number.encode()).hexdigest()
        plan: Value = {"id": number, "hash": digest, "short": digest[:8], "run": run.number, "chat": run.chat}
        plan.update(self.new_address)
        plan.update(VALUES["plan"], confirm_s=int(self.confirm_s), decision="", made_s=time.monotonic())
        self.plans[number] = plan
        return plan

    def _plan_now(self, plan: Value) -> Value:
        shown = {key: value for key, value in plan.items() if key not in ("made_s", "decision")}
        return {**shown, "expires_in_s": max(0, self.expires_s - (time.monotonic() - float(str(plan["made_s"]))))}

    def _decide(self, number: str, decision: str) -> Value:
        plan = self.plans[number]
        if plan["decision"]:
            raise Fault("policy", f"the plan is already {plan['decision']}", "ask again for a new plan")
        plan["decision"] = decision
        return {"plan": number, "decision": decision}

    def _change(self, chat: str, summary: str, state: str) -> Value:
        change: Value = {**VALUES["change"], "id": f"x{next(self.numbers)}", "state": state, "chat": chat}
        change.update(summary=summary, when_unix_s=time.time())
        self.changes.append(change)
        if state == "applied":
            change.update(self.new_address)
            self.ends_s[str(change["id"])] = time.monotonic() + self.confirm_s
        return change

    def _change_now(self, change: Value) -> Value:
        left_s = self.ends_s.get(str(change["id"]), 0) - time.monotonic()
        if change["state"] == "applied" and left_s <= 0:
            change["state"] = "rolled_back"
        return {**change, "confirm_in_s": left_s} if change["state"] == "applied" else dict(change)

    def _settle(self, number: str, state: str) -> Value:
        change = next(item for item in self.changes if item["id"] == number)
        if self._change_now(change)["state"] != "applied":
            raise Fault("apply", "the change no longer waits", "look at the list of changes")
        change["state"] = state
        return {"change": self._change_now(change)}


SCRIPTS: dict[str, Callable[[Daemon, Run], None]] = {
    "all right": Daemon._answer,
    "many words": Daemon._many,
    "forgetful": Daemon._forgetful,
    "long": Daemon._long,
    "hostile": Daemon._hostile,
    "error": Daemon._error,
    "reset": Daemon._reset,
    "shut": Daemon._refused,
    "script": Daemon._script_refused,
    "loose": Daemon._loose,
    "either": Daemon._either,
    "guest": Daemon._guest,
    "rename": Daemon._low,
}


class Handler(socketserver.StreamRequestHandler):
    """One caller: a line in, a line out."""

    server: Server

    def handle(self) -> None:
        """Answer requests until the caller leaves."""
        for line in self.rfile:
            self.wfile.write(json.dumps(self._answer(json.loads(line))).encode() + b"\n")

    def _answer(self, request: Value) -> Value:
        reply: Value = {"jsonrpc": "2.0", "id": request.get("id")}
        try:
            result = self.server.daemon.call(str(request["method"]), dict(request.get("params") or {}))
            return {**reply, "result": result}
        except Fault as fault:
            data = dict(zip(("code", "message", "hint"), fault.args, strict=True))
            return {**reply, "error": {"code": -32000, "message": data["message"], "data": data}}
        except KeyError:
            return {**reply, "error": {"code": -32601, "message": "method not found"}}
        except TypeError as error:
            return {**reply, "error": {"code": -32602, "message": str(error)}}


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens below a router root."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, root: str, daemon: Daemon) -> None:
        folder = os.path.join(root, "var/run/oasis")
        os.makedirs(folder, exist_ok=True)
        self.daemon = daemon
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        super().__init__(f"/proc/self/fd/{self._folder}/oasis.sock", Handler)


def main(arguments: list[str]) -> int:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(description="Play a daemon for tests of the page.")
    parser.add_argument("--root", required=True)
    parser.add_argument("--confirm-s", type=float, default=90)
    parser.add_argument("--expires-s", type=float, default=600)
    parser.add_argument("--unconfined", default="")
    parser.add_argument("--new-address", default="", help="where the router goes with a risky change")
    parser.add_argument("--decisions", type=int, help="begin with a history and as many decisions")
    options = parser.parse_args(arguments)
    path = os.path.join(options.root, "var/run/oasis/oasis.sock")
    if os.path.exists(path):
        os.unlink(path)
    daemon = Daemon(options.confirm_s, options.expires_s, options.unconfined, options.new_address)
    if options.decisions is not None:
        daemon.add_history(options.decisions)
    server = Server(options.root, daemon)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    print("ready", flush=True)
    server.serve_forever(poll_interval=0.1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
