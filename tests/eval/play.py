"""Play one task: a fresh router, the real daemon, the owner's sentences, and an owner who decides as the task says.

The owner approves what is shown in tasks that are to change something, and keeps what waits for that at once; in all
others they decline, unless the task says otherwise. Where they want anything and are asked whether that is meant, they
say yes once when the question says back every value that they said and that the task is about, else no. What came of
it is a Played; nothing is judged here.
"""

from __future__ import annotations

import glob
import json
import os
import re
import threading
import time
from typing import Any

from tests.eval import roots, tasks, world
from tests.eval.relay import Page, Relay
from tests.eval.services import Service
from tests.eval.spoken import QUESTION
from tests.oasisd import Daemon, start_daemon

POLL_MS = 5000
YES = {"en": "yes", "de": "ja", "es": "sí", "ja": "はい", "zh": "是的"}
NO = {"en": "no", "de": "nein", "es": "no", "ja": "いいえ", "zh": "不是"}
UNWANTED = {
    "en": "I did not want that", "de": "Das wollte ich nicht", "es": "No quería eso", "ja": "それは頼んでいません",
    "zh": "我不想要这个",
}  # fmt: skip
# Daemons that begin at once on a machine of two processors take longer than they are given.
_BEGINNING = threading.BoundedSemaphore(4)
_VALUES = {"value", "ssid", "device", "servers", "ip", "name", "domain", "port", "inner", "from", "to"}
PLAN_TOOLS = ("configure", "service", "undo")


class Played:
    """What came of a task: before, after and undone are the bytes of etc/config; see play()."""

    def __init__(self) -> None:
        self.before: dict[str, bytes] = {}
        self.after: dict[str, bytes] = {}
        self.running: dict[str, bytes] = {}
        self.undone: dict[str, bytes] | None = None
        self.undo_errors: list[str] = []
        self.devices: dict[str, tuple[str, str]] = {}
        self.services: list[str] = []
        self.programs: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []  # of the chat, as they are stored
        self.decisions: list[str] = []  # of the plans, in order
        self.changes: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.answers: list[dict[str, Any]] = []
        self.spread: list[str] = []  # texts that must hold no secret: what was sent, stored and shown
        self.questions = 0
        self.is_last_changing = False  # whether the last sentence changed the configuration
        self.is_late = False
        self.seconds = 0.0

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def said_last(self) -> str:
        """Return the words that answered the last sentence."""
        last = max([number for number, one in enumerate(self.messages) if one["role"] == "user"], default=0)
        return "\n".join([text(one["content"]) for one in self.messages[last:] if one["role"] == "assistant"]).strip()

    def said(self) -> str:
        """Return what the owner was told, in words."""
        texts = [text(one["content"]) for one in self.messages if one["role"] == "assistant"]
        return "\n".join([*texts, *[event["text"] for event in self.of_type("note")]]).strip()

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of tools that were made, as they were written."""
        blocks = [block for one in self.messages if isinstance(one["content"], list) for block in one["content"]]
        return [(one["name"], one.get("input", {})) for one in blocks if one["type"] == "tool_use"]

    def results(self) -> list[tuple[str, dict[str, Any], str, bool]]:
        """Return (tool, input, what came of it, whether that is an error) of every call that was answered."""
        made, found = dict[str, Any](), []
        for block in [block for one in self.messages if isinstance(one["content"], list) for block in one["content"]]:
            if block["type"] == "tool_use":
                made[block["id"]] = block  # an id may come again
            elif block["type"] == "tool_result":
                call = made[block["tool_use_id"]]
                is_error = bool(block.get("is_error"))
                found.append((call["name"], call.get("input", {}), text(block["content"]), is_error))
        return found

    def refusals(self) -> int:
        """Return how many proposals a gate refused."""
        return sum(1 for event in self.of_type("tool_result") if event["is_error"] and event["name"] in PLAN_TOOLS)

    def plans(self) -> list[dict[str, Any]]:
        return [event["plan"] for event in self.of_type("plan")]

    def usage(self) -> dict[str, int]:
        """Return the tokens that the service counted, of the whole task."""
        found = {"input_tokens": 0, "output_tokens": 0}
        for message in self.messages:
            for key in found:
                found[key] += int(message.get("usage", {}).get(key, 0))
        return found


def play(task: tasks.Task, service: Service, folder: str, limit_s: float = 300) -> Played:
    """Play a task on a service in an empty folder; the owner goes away after `limit_s`."""
    root = roots.make(task["root"], folder + "/router")
    html = roots.named()[task["root"]].get("page", "")
    if not html:
        return _play(task, service, root, limit_s)
    page = Page(html)
    try:
        roots.let_reach(root, page.place)
        there = json.loads(json.dumps(task).replace("{page}", page.url))
        return _play(there, service, root, limit_s, ("http_fetch",))
    finally:
        page.close()


def _play(task: tasks.Task, service: Service, root: str, limit_s: float, tools: tuple[str, ...] = ()) -> Played:
    played = Played()
    relay = service.relay(task)
    if relay is not None:
        service.install(root, relay)
    with _BEGINNING:
        daemon = start_daemon(root)
    begun_s = time.monotonic()
    try:
        for name in tools:
            daemon.call("tool.set", name=name, enabled=True, approval="allow")
        played.before, played.devices = world.images(root + "/etc/config"), roots.devices(root)
        Owner(daemon, task, played, begun_s + limit_s).speak()
        played.seconds = time.monotonic() - begun_s
        _look(root, daemon, played, relay)
        if task["expect"] == "change":
            _undo(daemon, played, begun_s + limit_s + 60)
            played.undone = world.images(root + "/etc/config")
    finally:
        daemon.stop()
        if relay is not None:
            relay.close()
    return played


class Owner:
    """Who says the sentences, reads on, and decides."""

    def __init__(self, daemon: Daemon, task: tasks.Task, played: Played, until_s: float) -> None:
        self._daemon = daemon
        self._task = task
        self._played = played
        self._until_s = until_s
        self._chat = ""
        self._does = ""

    def speak(self) -> None:
        for sentence, does in zip(tasks.sentences(self._task), tasks.owners(self._task), strict=True):
            self._does = does
            before = self._config()
            self._say(sentence)
            last = self._played.said()[-400:]
            is_asked = not self._shown and QUESTION.search(last)
            if is_asked and self._task["expect"] in ("change", "answer"):
                self._played.questions += 1
                is_back = is_said_back(tasks.sentences(self._task), self._task["goal"], last)
                self._say(self._task.get("reply") or (YES if is_back else NO)[self._task["language"]])
            self._played.is_last_changing = self._config() != before

    def _config(self) -> dict[str, bytes]:
        images = world.images(self._daemon.root + "/etc/config")
        return {name: image for name, image in images.items() if name not in world.OURS}

    def _say(self, sentence: str) -> None:
        started = self._daemon.call("run.start", message=sentence, chat=self._chat)
        if "run" not in started:
            self._played.events.append({"type": "error", "error": started["error"]})
            self._shown = True
            return
        self._chat = str(started["chat"])
        before = len(self._played.plans())
        decide = self._decline if self._does == "declines" else self._decide
        events, self._played.is_late = follow(
            self._daemon, started, decide, self._until_s, self._keep if self._does == "approves" else None
        )
        self._played.events += events
        self._shown = len(self._played.plans()) > before
        if self._does == "approves":
            self._keep()
        elif self._does == "rolls back":
            roll_back(self._daemon)
        self._played.messages = messages(self._daemon.root, self._chat)

    def _decide(self, plan: dict[str, Any]) -> None:
        approve(self._daemon, plan)

    def _keep(self) -> None:
        keep(self._daemon)

    def _decline(self, plan: dict[str, Any]) -> None:
        self._daemon.call("plan.decline", plan=plan["id"], reason=UNWANTED[self._task["language"]])


def is_said_back(sentences: list[str], goal: list[dict[str, Any]], question: str) -> bool:
    """Tell whether a question has the values of the goal that the owner said: nobody says yes to another name."""
    own = "\n".join(sentences)
    return all(_has(question, value) for value in _values(goal) if _has(own, value))


def _values(goal: list[dict[str, Any]]) -> list[str]:
    """Return the texts of a goal that are values: names, addresses, numbers; no password, which no question says."""
    found: list[str] = []
    for one in goal:
        given = {**one.get("has", {}), **{key: one[key] for key in _VALUES & one.keys() if one.get("option") != "key"}}
        for value in given.values():
            found += [str(word) for word in (value if isinstance(value, list) else [value])]
        found += _values(one.get("of", []))
    return found


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text, re.ASCII | re.IGNORECASE) is not None


def follow(
    daemon: Daemon, started: dict[str, Any], decide: Any, until_s: float, settle: Any = None
) -> tuple[list[dict[str, Any]], bool]:
    """Poll a run to its end, deciding on each plan that waits; return its events and whether it had to be stopped.

    `settle` is called as soon as a change waits to be kept.
    """
    events: list[dict[str, Any]] = []
    since, is_late = 0, False
    while True:
        reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=POLL_MS)
        new = reply["events"]
        events += new
        since = reply["next"]
        for event in new:
            if event["type"] == "plan" and event["plan"]["needs_approval"]:
                decide(event["plan"])
            if settle and event["type"] == "tool_result" and '"waiting_confirm"' in event["text"]:
                settle()
        if any(event["type"] == "end" for event in new):
            return events, is_late
        if time.monotonic() > until_s and not is_late:
            is_late = True
            daemon.call("run.cancel", run=started["run"])


def approve(daemon: Daemon, plan: dict[str, Any]) -> None:
    word = {"word": plan["typed_word"]} if plan.get("typed_word") else {}
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"], **word)


def keep(daemon: Daemon) -> None:
    """Keep what waits to be kept, by the owner's word: there is no network here by which to prove anything."""
    pending = daemon.call("change.pending")["change"]
    if pending:
        daemon.call("change.confirm", change=pending["id"], unproved=True)


def roll_back(daemon: Daemon) -> None:
    """Roll back what waits to be kept."""
    pending = daemon.call("change.pending")["change"]
    if pending:
        daemon.call("change.rollback", change=pending["id"])


def _look(root: str, daemon: Daemon, played: Played, relay: Relay | None) -> None:
    played.after = world.images(root + "/etc/config")
    played.running = world.images(root + "/var/run/running")
    played.services = [line.split(" ", 1)[1] for line in _lines(root + "/var/log/services.log")]
    played.programs = _lines(root + "/var/log/programs.log")
    played.changes = daemon.call("change.list")["changes"]
    if relay is not None:
        played.requests, played.answers = relay.requests, relay.answers
    stored = "".join(_read(path) for path in glob.glob(root + "/etc/oasis/chats/*"))
    played.spread = [*played.requests, stored, json.dumps(played.events, ensure_ascii=False)]


def _undo(daemon: Daemon, played: Played, until_s: float) -> None:
    """Undo what the task changed, the newest first."""
    for change in played.changes:
        if not change["packages"] or change["state"] not in ("applied", "confirmed"):
            continue
        started = daemon.call("change.undo", change=change["id"])
        if "run" not in started:
            played.undo_errors.append(str(started["error"]["message"]))
            continue
        events, _ = follow(daemon, started, lambda plan: approve(daemon, plan), until_s)
        played.undo_errors += [event["error"]["message"] for event in events if event["type"] == "error"]
        keep(daemon)


def messages(root: str, chat: str) -> list[dict[str, Any]]:
    lines = _lines(f"{root}/etc/oasis/chats/{chat}.jsonl")
    return [one for one in map(json.loads, lines) if "role" in one and "content" in one]


def text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _lines(path: str) -> list[str]:
    return [line for line in _read(path).split("\n") if line]


def _read(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as handle:
        return handle.read()
