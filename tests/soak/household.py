"""Who talks to the router in the soak, and what each was told: messages, deletions, changes.

`House.wrong` collects what was not as it had been told while it went on; `missing()` is the account at the end. A call
that broke off was not acknowledged: then the old and the new state are both right, and which one it is is looked up.
"""

from __future__ import annotations

import collections
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

from tests.cli import launcher
from tests.oasisd import Daemon, connected, proposer, read_line

TALKS = 6  # chats that go on; more are begun and deleted
CHATS = 150  # that are kept
KEPT_CHANGES = 30  # what the journal keeps (change/journal.py)
WAIT_S = 90
END_S = 60  # as files/etc/init.d/oasis has procd wait
LOG = "/var/log/oasisd.log"
HOME = "set the wifi name to %s and the password to correct-horse-9"
_CODE = """
import faulthandler, signal, sys
faulthandler.register(signal.SIGUSR1)
sys.path.insert(0, %r)
import oasis.daemon.wiring as daemon
class Jumping(daemon.Clock):
    def unix_s(self):
        with open(%r) as handle:
            return super().unix_s() + int(handle.read() or 0)
daemon.Clock = Jumping
from oasis.daemon.main import main
sys.exit(main([]))
"""
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUESTIONS = ("status", "which devices are here?", "what is the wifi called?", "show storage", "help", "好", "x" * 3000)
# What is an answer to being busy, full, or on the way down, and no fault.
FAIR = (
    "store",
    "apply",
    "usage",
    "policy",
    "worker",
    "cancelled",
    "tool",
    "connection",
    "unproved",
    "provider",
    "settings",
)


_NO_OPTION = {"commands": ["uci set system.@system[0].nothing='1'"]}


class Gone(Exception):
    """The daemon did not answer: it was killed, or is not up yet."""


class House:
    """The people and programs of one router root."""

    def __init__(self, root, model, seed):
        self.root = root
        self.model = model
        self.daemon = None
        self.is_over = threading.Event()
        self.wrong = []
        self.counts = {}
        self._seed = seed
        self._lock = threading.RLock()  # of the daemon's life
        self._ledger = threading.Lock()
        self.messages = {}  # id -> chat, as acknowledged
        self.deleted = set()
        self.changes = {}  # id -> the last state that was told
        self.names = {""}  # what the host name may be now
        self._trail = collections.deque(maxlen=40)  # what was said of the name, for who reads a wrong account
        self._followed = {}  # name of a thread -> the run that it looks at
        self.program = launcher.install(root)

    # Life of the daemon

    def start(self):
        code = _CODE % (REPOSITORY, self.root + "/clock")
        env = {"MALLOC_ARENA_MAX": "1", "OASIS_ROOT": self.root, "PATH": f"{self.root}/bin:/usr/bin:/bin", "HOME": "/"}
        with open(self.root + LOG, "ab") as log:
            process = subprocess.Popen([sys.executable, "-IS", "-c", code], env=env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)  # fmt: skip
        self.daemon = Daemon(self.root, process)
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                return self.call("info")
            except Gone:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError("oasisd did not start:\n" + self.daemon.log()[-3000:])
                time.sleep(0.02)

    def restart(self, end):
        with self._lock:
            end(self.daemon)
            self.start()

    def stop(self):
        if self.daemon is not None and self.daemon.process.poll() is None:
            self.daemon.stop()

    def call(self, method, **params):
        """Call a method. Raises: Gone when nobody answers."""
        try:
            with connected(self.daemon.socket) as connection:
                line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
                connection.sendall(line.encode() + b"\n")
                reply = json.loads(read_line(connection))
        except (OSError, AssertionError):
            raise Gone(method)
        return reply["result"] if "result" in reply else {"error": reply["error"].get("data", reply["error"])}

    def count(self, name):
        with self._ledger:
            self.counts[name] = self.counts.get(name, 0) + 1

    def fair(self, reply, what):
        """Return a reply that is no error; note one that is none of those that may come."""
        if "error" not in reply:
            return reply
        self.count("refused")
        if reply["error"].get("code") not in FAIR:
            self.wrong.append(f"{what}: {reply['error']}")
        return None

    def works(self):
        """Return (name, what a thread does)."""
        jobs = {"talker": self._talk, "asker": self._ask_model, "changer": self._change, "page": self._look,
                "shell": self._command, "client": self._client}  # fmt: skip
        return [(name, lambda work=work, name=name: self._forever(work, name)) for name, work in jobs.items()]

    def do_all_once(self):
        """Have the daemon load what all this needs."""
        dice = random.Random(0)
        for work in (self._talk, self._ask_model, self._change, self._look, self._command, self._client):
            work(dice, {})

    def _forever(self, work, name):
        dice = random.Random(f"{self._seed} {name}")
        memory = {}
        while not self.is_over.is_set():
            try:
                work(dice, memory)
            except Gone:
                self.count("broke off")
                self.is_over.wait(0.1)
            except Exception as bug:
                self.wrong.append(f"{name}: {type(bug).__name__}: {bug}")
                return

    def follow(self, started, until=("end",)):
        """Return the events of a run, those so far where the daemon that had it is gone."""
        events, since = [], 0
        self._followed[threading.current_thread().name] = started["run"]
        while True:
            reply = self.call("run.poll", run=started["run"], since=since, wait_ms=1000)
            if "error" in reply:
                if reply["error"].get("code") != "usage":
                    self.wrong.append(f"run.poll: {reply['error']}")
                return events  # it is of a daemon that was
            events += reply["events"]
            since = reply["next"]
            if any(event["type"] in (*until, "end") for event in events):
                return events

    def why(self, thread):
        """Return what a thread that does not end is at."""
        run = self._followed.get(thread.name, "")
        where = traceback.format_stack(sys._current_frames()[thread.ident], 8) if thread.is_alive() else []
        try:
            reply = self.call("run.poll", run=run, since=0, wait_ms=0)
        except Gone:
            reply = {"error": "no daemon"}
        told = json.dumps({**reply, "events": reply.get("events", [])[-4:]})[-1500:]
        return f"{thread.name} did not end: {' '.join(where[-1:]).strip()}; run {run}: {told}\n{self.stacks()}"

    def stacks(self):
        """Return where the threads of the daemon are."""
        size = os.path.getsize(self.root + LOG)
        self.daemon.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + 5
        while os.path.getsize(self.root + LOG) == size and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)  # they are written a line at a time
        with open(self.root + LOG) as handle:
            handle.seek(size)
            return handle.read()

    def end(self, daemon):
        """Stop a daemon as procd does; note one that does not."""
        daemon.process.terminate()
        try:
            daemon.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"oasisd did not stop within {END_S} s:\n{self.stacks()}")
            daemon.kill()

    # Who talks

    def _talk(self, dice, memory, service="", text=""):
        chats = memory.setdefault("chats", [])
        chat = dice.choice(chats) if len(chats) >= TALKS or (chats and dice.random() < 0.7) else ""
        params = {"message": text or dice.choice(QUESTIONS), "service": service or proposer()}
        started = self.fair(self.call("run.start", **params, **({"chat": chat} if chat else {})), "run.start")
        if not started:
            if chat in self.deleted:
                chats.remove(chat)
            self.is_over.wait(0.2)
            return
        with self._ledger:
            self.messages[started["message"]] = started["chat"]
        if started["chat"] not in chats:
            chats.append(started["chat"])
        self.count("messages")
        events = self.follow(started)
        if any(event["type"] == "end" for event in events):
            self.count("answers")
        if len(chats) > 2 and dice.random() < 0.05:
            gone = chats.pop(dice.randrange(len(chats)))
            if self.fair(self.call("chat.delete", id=gone), "chat.delete"):
                with self._ledger:
                    self.deleted.add(gone)
                self.count("deletions")

    def _ask_model(self, dice, memory):
        """Talk with a model that answers, calls tools, fails and says nonsense."""
        answers = ("All is well.", [("status", {"what": "overview"})], (500, "overloaded"), (429, "slow down"),
                   [("read_config", "{not json")], [("configure", _NO_OPTION)],
                   [("no_such_tool", {})], "", (400, "bad"), [("status", {"what": "devices"})] * 9)  # fmt: skip
        self.model.script[:] = [dice.choice(answers) for _ in range(dice.randrange(1, 4))]
        self._talk(dice, memory, "openai", dice.choice(QUESTIONS[:4]))

    def _change(self, dice, memory):
        """Give the router another name, or its Wi-Fi; keep it, let it go, undo it."""
        if dice.random() < 0.7:
            self._rename(dice, f"home{dice.randrange(10**6)}")
        else:
            self._risky(dice, f"Net{dice.randrange(10**6)}")
        self.is_over.wait(dice.uniform(0, 0.5))

    def _rename(self, dice, name):
        now = self._look_at_name()
        # Until an end is told, it may be any of them: a daemon that is gone leaves it to the next to put back.
        self.names |= {now, name}
        self._trail.append((round(time.monotonic(), 1), self.daemon.process.pid, now, name))
        started = self.fair(self.call("run.start", message=f"call this router {name}", service=proposer()), "rename")
        if not started:
            return
        with self._ledger:
            self.messages[started["message"]] = started["chat"]
        events = self._followed_rename(started)
        if any(event["type"] == "change" and event["change"]["state"] == "confirmed" for event in events):
            self.names = {name}
            self.count("renames")
            if dice.random() < 0.3:
                self.names |= {now}
                self._followed_rename(self.call("change.undo"))
                self.count("undos")
        if dice.random() < 0.5:
            self.fair(self.call("chat.delete", id=started["chat"]), "chat.delete")
            with self._ledger:
                self.deleted.add(started["chat"])

    def _look_at_name(self):
        """Return the name that the router has; note one that it cannot have."""
        now = self.hostname()
        if now not in self.names and self.names != {""}:
            self.wrong.append(f"the router is called {now!r} and not one of {sorted(self.names)}: {list(self._trail)}")
        return now

    def _followed_rename(self, started):
        """Return the events of a run that may give another name; what it has at the end is its name."""
        events = self.follow(started)
        self._trail.append([json.dumps(event)[:200] for event in events if event["type"] in ("change", "end", "error")])
        self._told(events)
        if any(event["type"] == "end" for event in events):
            self.names = {self._look_at_name()}
        return events

    def _risky(self, dice, name):
        started = self.fair(self.call("run.start", message=HOME % name, service=proposer()), "wifi")
        if not started:
            return
        with self._ledger:
            self.messages[started["message"]] = started["chat"]
        events = self.follow(started, ("plan",))
        plans = [event["plan"] for event in events if event["type"] == "plan"]
        if not plans or not self.fair(self.call("plan.approve", plan=plans[0]["id"], hash=plans[0]["hash"]), "approve"):
            return
        events = self.follow(started)
        self._told(events)
        made = [event["change"] for event in events if event["type"] == "change"]
        if made and dice.random() < 0.5:
            reply = self.fair(self.call("change.confirm", change=made[-1]["id"], unproved=True), "confirm")
            if reply:
                with self._ledger:
                    self.changes[reply["change"]["id"]] = reply["change"]["state"]
                self.count("kept")
        elif made:
            self.count("let go")

    def _told(self, events):
        with self._ledger:
            for event in events:
                if event["type"] == "change":
                    self.changes[event["change"]["id"]] = event["change"]["state"]

    def _look(self, dice, memory):
        """Do what an open page does."""
        for method in ("info", "chat.list", "change.list", "plan.list", "run.active", "service.list"):
            self.fair(self.call(method), method)
        if dice.random() < 0.1:
            self.fair(self.call("doctor.run"), "doctor.run")
        self._tidy_up()
        self.count("looks")
        self.is_over.wait(0.5)

    def _tidy_up(self):
        """Delete the oldest chats: what a list of all takes grows with them, and nobody keeps thousands."""
        listed = (self.fair(self.call("chat.list"), "chat.list") or {"item": []})["item"]
        listed.sort(key=lambda one: one["updated_unix_s"])
        for one in listed[: max(len(listed) - CHATS, 0)]:
            if self.fair(self.call("chat.delete", id=one["id"]), "chat.delete"):
                with self._ledger:
                    self.deleted.add(one["id"])
                self.count("deletions")

    def _command(self, dice, memory):
        words = dice.choice((["status"], ["list"], ["changes"], ["prompt", "status"], ["plans"]))
        done = subprocess.run([*self.program, *words], env=launcher.environment(self.root), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=WAIT_S)  # fmt: skip
        if "Traceback" in done.stderr:
            self.wrong.append(f"oasis {words}: {done.stderr[-500:]}")
        self.count("commands")
        self.is_over.wait(1)

    def _client(self, dice, memory):
        """Speak MCP: look at the tools, call one."""
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
                "name": "status", "arguments": {"what": "wan"}}},
        ]  # fmt: skip
        lines = "".join(json.dumps(one) + "\n" for one in asked)
        done = subprocess.run([*self.program, "mcp"], env=launcher.environment(self.root), input=lines,
                              capture_output=True, text=True, timeout=WAIT_S)  # fmt: skip
        if "Traceback" in done.stderr:
            self.wrong.append(f"oasis mcp: {done.stderr[-500:]}")
        self.count("mcp sessions")
        self.is_over.wait(2)

    # The account

    def hostname(self):
        with open(self.root + "/etc/config/system") as handle:
            return next(line.split("'")[1] for line in handle if "option hostname" in line)

    def settle(self):
        """Wait until nothing waits any more."""
        deadline = time.monotonic() + WAIT_S
        while self.call("change.pending")["change"] or self.call("run.active")["runs"]:
            for plan in self.call("plan.list")["plans"]:
                self.call("plan.decline", plan=plan["id"])
            if time.monotonic() > deadline:
                self.wrong.append("something still waits")
                return
            time.sleep(0.2)

    def missing(self):
        """Return a sentence for everything that was acknowledged and is not there."""
        found = []
        if self.names != {""} and self.hostname() not in self.names:
            found.append(f"the router is called {self.hostname()!r} and not one of {sorted(self.names)}")
        chats = {item["id"]: item for item in self.call("chat.list")["item"]}
        for chat in sorted(set(self.messages.values()) - self.deleted):
            own = {name for name, where in self.messages.items() if where == chat}
            there = self._stored(chat) if chat in chats else set()
            if own - there:
                found.append(f"{len(own - there)} of {len(own)} messages of chat {chat} are gone")
        back = self.deleted & set(chats)
        if back:
            found.append(f"{len(back)} deleted chats are there again")
        listed = {one["id"]: one["state"] for one in self.call("change.list")["changes"]}
        for change, told in list(self.changes.items())[-KEPT_CHANGES // 2 :]:
            now = listed.get(change)
            if now is None or (told in ("confirmed", "rolled_back") and now != told):
                found.append(f"change {change} was told as {told} and is {now}")
        for change, now in listed.items():
            if now == "rollback_failed":
                found.append(f"change {change} could not be put back")
        return found

    def _stored(self, chat):
        """Return the ids of all messages of a chat."""
        document = self.call("chat.export", id=chat)
        text = document["data"]
        for part in range(1, document["parts"]):
            text += self.call("chat.export", id=chat, part=part)["data"]
        return {message["id"] for message in json.loads(text)["messages"]}
