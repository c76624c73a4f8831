"""What a daemon is made to do while it is measured: questions, turns with a model that is scripted, plans."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator

from oasis.ubus.outgoing import opener
from oasis.ubus.peer import Peer
from tests.bench.measure import MeasureError
from tests.oasisd import Daemon
from tests.recorder import Recorder
from tests.router import ubus
from tests.router.busd import Busd

# Answered without asking the router anything: what is measured is ours, not the tests' stand-in for the bus.
WORDS = "what can you do?"
QUESTIONS = ("is the internet working?", "what is the address of this router?", "what is the wifi called?")
NAMES = ("attic", "cellar")
POLL_MS = 5000
# How long one answer of the offline provider may take on a slow machine under strace.
ANSWER_S = 60
SERVICE = "openai"


def follow(daemon: Daemon, started: dict[str, object]) -> list[dict[str, object]]:
    """Return the events of a run that must end well."""
    events: list[dict[str, object]] = []
    since, deadline = 0, time.monotonic() + ANSWER_S
    while "run" in started and time.monotonic() < deadline:
        reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=POLL_MS)
        since = reply["next"]
        events += reply["events"]
        if reply["state"] == "done":
            return events
        if reply["state"] != "running":
            break
    raise MeasureError(f"a run did not end well: {events or started}\n{daemon.log()[-2000:]}")


def ask(daemon: Daemon, question: str) -> None:
    """Have a question answered; it must not become a plan."""
    events = follow(daemon, daemon.call("run.start", message=question))
    if any(event["type"] == "plan" for event in events):
        raise MeasureError(f"{question!r} became a plan")


def ask_model(daemon: Daemon, chat: str = "") -> str:
    """Have a question answered by the model of with_model, in a new chat by default; return the chat."""
    started = daemon.call("run.start", message="hello", service=SERVICE, chat=chat)
    follow(daemon, started)
    return str(started["chat"])


def change(daemon: Daemon, name: str) -> None:
    """Have a plan of low risk applied."""
    events = follow(daemon, daemon.call("run.start", message=f"call this router {name}"))
    states = [event["change"]["state"] for event in events if event["type"] == "change"]
    if states[-1:] != ["confirmed"]:
        raise MeasureError(f"the plan was not applied: {events}")


def change_and_undo(daemon: Daemon, name: str) -> None:
    """Have a plan of low risk applied and taken back."""
    change(daemon, name)
    follow(daemon, daemon.call("change.undo"))


def work(daemon: Daemon, exchanges: int, plans: int) -> None:
    """Have questions answered, every second one by the model of with_model; have plans applied and taken back."""
    for number in range(exchanges):
        if number % 2:
            ask_model(daemon)
        else:
            ask(daemon, QUESTIONS[number // 2 % len(QUESTIONS)])
    for number in range(plans):
        change_and_undo(daemon, NAMES[number % len(NAMES)])


def begin_answer(daemon: Daemon) -> None:
    """Ask the model of with_model; return when the first words of its answer have arrived."""
    started = daemon.call("run.start", message="hello", service=SERVICE)
    since, deadline = 0, time.monotonic() + ANSWER_S
    while "run" in started and time.monotonic() < deadline:
        reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=POLL_MS)
        if any(event["type"] == "delta" for event in reply["events"]):
            return
        if reply["state"] != "running":
            break
        since = reply["next"]
    raise MeasureError(f"an answer did not begin: {started}\n{daemon.log()[-2000:]}")


def delete_old(daemon: Daemon, kept: int) -> None:
    """Delete all chats but the newest ones, as an owner does who looks at the list."""
    for chat in daemon.call("chat.list")["item"][kept:]:
        daemon.call("chat.delete", id=chat["id"])


@contextlib.contextmanager
def bus(root: str) -> Iterator[None]:
    """Let a bus of ours answer as the `ubus` of a router root does, without a program for each call."""
    path = root + "/var/run/ubus/ubus.sock"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    router = ubus.Router(root)
    names = {name: {method: {} for method in methods} for name, methods in router.objects().items()}
    with Busd(path):
        peer = Peer(
            opener(path), names, lambda call: ubus.call(router, call.object, call.method, call.arguments), print
        )
        peer.start()
        while peer.reason():
            time.sleep(0.01)
        try:
            yield
        finally:
            peer.stop()


@contextlib.contextmanager
def model() -> Iterator[str]:
    """Give the address of a model service that says "Done." to everything."""
    recorder = Recorder()
    try:
        yield recorder.url
    finally:
        recorder.close()


def with_model(root: str, url: str, ca_file: str = "") -> str:
    """Add a model service to a router root; return that."""
    with open(root + "/etc/config/oasis", "a", encoding="utf-8") as handle:
        handle.write(f"\nconfig service\n\toption name '{SERVICE}'\n\toption identifier '{SERVICE}'\n")
        handle.write(f"\toption model 'scripted'\n\toption endpoint '{url}'\n")
        if ca_file:
            handle.write(f"\toption ca_file '{ca_file}'\n")
    os.makedirs(root + "/etc/oasis", 0o700, exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w", encoding="utf-8") as handle:
        json.dump({SERVICE: "sk-bench-0123456789"}, handle)
    return root
