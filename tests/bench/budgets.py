"""Rows without noise: modules, bytes, tokens, memory beside a bare interpreter; `make test` holds them to the baseline.

Memory is that of the packages, as a router runs them: bytecode without docstrings, every part.

rows(bench, folder)     all of them, some seconds
processes, weights      the two halves
"""

from __future__ import annotations

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import time
import venv
from typing import Any

from oasis.agent.client import prompts
from oasis.core import trim
from tests.bench import imports, measure, packages, tools, turns
from tests.oasisd import Daemon, copy_root, start_daemon
from tests.worker import certificates
from tests.worker.misbehaving import Server

RSS_GOAL = 1.45
# Of a daemon that has worked: what answers and plans is loaded then, and Python's regular expressions with it.
WORKED_GOAL = 2.1
OFFLINE_GOAL = 2.8
WORKER_GOAL = 3.2
TURNS = 10
# Every second of these is answered by a model, the others by the built-in service: both are loaded then.
EXCHANGES, PLANS = 100, 10
# The package ca-bundle of a router is the same list.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# A process that starts grows faster than that; one that waits for input does not grow at all.
SETTLED_S = 0.5


def rows(bench: Any, folder: str) -> None:
    """Add all rows of this kind; `folder` is ours."""
    processes(bench, folder)
    weights(bench)


def weights(bench: Any) -> None:
    """Add what a model is told before the owner's words, and what is installed and loaded by a page."""
    told = prompts()
    bench.row("tokens of the system prompt", trim.tokens(told["system"] + "\n" + told["tools"]), 0, "", "tokens")
    tools.catalogue(bench)
    packages.weights(bench)


def processes(bench: Any, folder: str) -> None:
    """Add what our processes import and hold, and what a turn adds to the flash."""
    for scene, imported in imports.scenes(folder).items():
        mine = imports.ours(imported)
        bench.row(f"{scene}: modules of ours", mine, 0, "", "modules")
        bench.row(f"{scene}: modules of Python", len(imported) - mine, 0, "", "modules of Python")
    bare = measure.bare_memory_kib()
    packages.install(folder + "/installed")
    lib = folder + "/installed/usr/lib/oasis"
    _living(bench, bare, folder, lib)
    _modelling(bench, bare, folder, lib)
    _answering(bench, bare, folder, lib)
    # Without site-packages: what `requests` takes where it is installed is not ours.
    argv = [sys.executable, "-I", "-S", "-B", lib + "/oasis/worker/__main__.pyc"]
    _memory(bench, "worker, idle", _settled(argv), bare)


def _living(bench: Any, bare: dict[str, int], folder: str, lib: str) -> None:
    daemon = start_daemon(copy_root(folder + "/budget"), library=lib)
    try:
        daemon.call("info")
        time.sleep(SETTLED_S)  # the thread of that call has ended then
        _daemon(bench, "oasisd, idle", daemon, bare, RSS_GOAL)
        before = measure.stored_bytes([daemon.root + "/etc"])
        for number in range(TURNS):
            turns.ask(daemon, turns.QUESTIONS[number % len(turns.QUESTIONS)])
        grown = measure.stored_bytes([daemon.root + "/etc"]) - before
        lines = sum(os.path.getsize(path) for path in glob.glob(daemon.root + "/etc/oasis/chats/*.jsonl"))
        bench.row("a turn: bytes more on flash", grown / TURNS, lines / TURNS, "its JSON lines", "bytes")
        _daemon(bench, f"oasisd, after {TURNS} turns", daemon, bare)
        for child in measure.children(daemon.process.pid):
            _memory(bench, "built-in service, after these turns", measure.memory_kib(child), bare, OFFLINE_GOAL)
    finally:
        daemon.stop()


def _modelling(bench: Any, bare: dict[str, int], folder: str, lib: str) -> None:
    with turns.model() as url:
        daemon = start_daemon(turns.with_model(copy_root(folder + "/budget-model"), url), library=lib)
        try:
            for _ in range(TURNS):
                turns.ask_model(daemon)
            _daemon(bench, f"oasisd, after {TURNS} turns with a model", daemon, bare)
            turns.work(daemon, EXCHANGES - TURNS, PLANS)
            time.sleep(SETTLED_S)
            _daemon(bench, f"oasisd, after {EXCHANGES} exchanges and {PLANS} plans", daemon, bare, WORKED_GOAL)
        finally:
            daemon.stop()


def _answering(bench: Any, bare: dict[str, int], folder: str, lib: str) -> None:
    """Measure workers in the middle of an answer, under a Python that has no `requests`, as a router without it."""
    venv.create(folder + "/plain", symlinks=True)
    tls: dict[str, tuple[str, ...]] = {"": ()}
    if shutil.which("openssl"):
        tls[" over TLS"] = certificates.make(pathlib.Path(folder + "/tls"), "good")
    for how, pair in tls.items():
        server = Server(*pair)
        root = turns.with_model(
            copy_root(f"{folder}/budget-answer{len(pair)}"), server.url("stalled", "https" if pair else "http"),
            _authorities(folder + "/authorities.pem", pair[0]) if pair else "",
        )  # fmt: skip
        daemon = start_daemon(root, folder + "/plain/bin/python3", library=lib)
        try:
            turns.begin_answer(daemon)
            (worker,) = measure.children(daemon.process.pid)
            _memory(bench, "worker, during an answer" + how, measure.memory_kib(worker), bare, WORKER_GOAL)
        finally:
            daemon.stop()
            server.close()


def _authorities(path: str, own: str) -> str:
    """Write a file of authorities that is as large as a router's and knows one more; return its path."""
    with open(path, "wb") as file:
        for one in filter(os.path.exists, (AUTHORITIES, own)):
            file.write(pathlib.Path(one).read_bytes())
    return path


def _daemon(bench: Any, name: str, daemon: Daemon, bare: dict[str, int], goal: float | None = None) -> None:
    _memory(bench, name, measure.memory_kib(daemon.process.pid), bare, goal)


def _memory(bench: Any, name: str, now: dict[str, int], bare: dict[str, int], goal: float | None = None) -> None:
    bench.row(name + ": RSS", now["rss"], bare["rss"], "bare, blocked", "KiB", goal)
    bench.row(name + ": private dirty", now["private_dirty"], bare["private_dirty"], "bare, blocked", "KiB")


def _settled(argv: list[str]) -> dict[str, int]:
    """Return the memory of a program that waits for input, once it grows no more."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        now, before = measure.memory_kib(process.pid), {}
        while now != before:
            time.sleep(SETTLED_S)
            before, now = now, measure.memory_kib(process.pid)
        return now
    finally:
        process.communicate(timeout=10)
