"""Rows of `make bench`: reading and writing UCI beside others, and what a change of 50 operations takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from oasis.change.commands import parse
from oasis.uci import model
from tests.change.kit import Kit
from tests.daemon import Daemon, copy_root, start_daemon

LINES = 2000
OPERATIONS = 50
FASTER_THAN_UCIPARSE = 1 / 5
# Besides one for each service: stage, commit, and the guard.
PROCESSES = 3
# Where the pyuci that builds against a router's libuci would be, and what reads with it.
PYUCI = """
import sys, time
from pyuci import Uci
best = 9.0
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    with Uci(confdir=sys.argv[1]) as uci:
        uci.get("bench")
    best = min(best, time.perf_counter() - began)
print(best)
"""


def package_text() -> str:
    """Return a package of about 2,000 lines as a commit writes it."""
    section = ["\nconfig rule", "\toption name 'Allow-%d'", "\toption src 'wan'", "\toption proto 'udp'"]
    section += ["\toption dest_port '%d'", "\toption target 'ACCEPT'", "\toption family 'ipv4'"]
    section += ["\tlist icmp_type 'echo-request'", "\tlist icmp_type 'echo-reply'"]
    text = "\n".join(section) + "\n"
    return "".join(text % (number, number + 1) for number in range(LINES // 10)) + "\n"


def best_s(call: object, times: int) -> float:
    """Return the shortest of some calls."""
    best = 9.0
    for _ in range(times):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def measure(bench: object, folder: str, times: int) -> None:
    """Add the rows to a Bench."""
    _uci(bench, folder, times)
    _change(bench, folder)
    _approval(bench, folder)


def _uci(bench: object, folder: str, times: int) -> None:
    text = package_text()
    data = text.encode()
    if model.file_text(model.parse(data, "bench")) != data:
        raise AssertionError("the package is not in the form of a commit")
    ours = best_s(lambda: model.file_text(model.parse(data, "bench")), times) * 1000
    what = f"read and write a package of {LINES} lines"
    try:
        from uciparse.uci import UciFile
    except ImportError:
        bench.row(what, ours, 0, "", "ms")
        bench.notes.append("uciparse is not installed (pip install uciparse): nothing to compare reading UCI with")
    else:
        theirs = best_s(lambda: "".join(UciFile.from_lines(text.splitlines(True)).normalized()), times) * 1000
        bench.row(what, ours, theirs, "uciparse", "ms", FASTER_THAN_UCIPARSE)
    _programs(bench, folder, data, ours, what)


def _programs(bench: object, folder: str, data: bytes, ours: float, what: str) -> None:
    confdir = folder + "/speed"
    os.makedirs(confdir)
    with open(confdir + "/bench", "wb") as handle:
        handle.write(data)
    done = subprocess.run([sys.executable, "-c", PYUCI, confdir, "10"], capture_output=True, text=True, check=False)
    if not done.returncode:
        bench.row(what, ours, float(done.stdout) * 1000, "pyuci, reading only", "ms")
    program = shutil.which("uci")
    if program:
        argv = [program, "-c", confdir, "export", "bench"]
        theirs = best_s(lambda: subprocess.run(argv, stdout=subprocess.DEVNULL, check=True), 10) * 1000
        bench.row(what, ours, theirs, "the program uci, its start counted", "ms")
    else:
        bench.notes.append("the program uci is not on PATH: nothing to compare it with")


def fifty(number: int) -> str:
    """Return 50 operations of one package, of low risk and for one service."""
    lines = [f"uci set dhcp.bench{one}=host\nuci set dhcp.bench{one}.name='host{number}-{one}'" for one in range(25)]
    return "\n".join(lines)


class Counting:
    """An executor that counts what it starts."""

    def __init__(self, executor: object) -> None:
        self._executor = executor
        self.started: list[str] = []

    def run(self, argv: list[str], **options: object) -> object:
        self.started.append(" ".join(argv))
        return self._executor.run(argv, **options)

    def detach(self, argv: list[str]) -> object:
        self.started.append(" ".join(argv))
        return self._executor.detach(argv)


class CountingKit(Kit):
    """A kit that counts processes."""

    def programs(self, executor: object) -> Counting:
        return Counting(executor)


def _change(bench: object, folder: str) -> None:
    kit = CountingKit(folder + "/change", approval="none")
    operations = parse(fifty(0))[0]
    if len(operations) != OPERATIONS:
        raise AssertionError("these are not 50 operations")
    seconds = best_s(lambda: kit.planner.propose(operations, "run1", "chat1", "bench"), 10)
    bench.row(f"parse, plan and check {OPERATIONS} operations", seconds * 1000, 0, "", "ms")
    plan = kit.plan(fifty(0))
    kit.executor.started.clear()
    began = time.perf_counter()
    record = kit.transaction.apply(plan)
    seconds = time.perf_counter() - began
    if record["state"] == "applied":
        kit.transaction.confirm(record["id"])
    allowed = PROCESSES + len(plan["services"])
    of = f"allowed: {PROCESSES}, and one for each service"
    bench.row(f"{OPERATIONS} operations: processes started", len(kit.executor.started), allowed, of, "", 1.0)
    bench.row(f"{OPERATIONS} operations: apply, services (stand-ins) counted", seconds * 1000, 0, "", "ms")
    kit.transaction.stop()


def _approval(bench: object, folder: str) -> None:
    daemon = start_daemon(copy_root(folder + "/approval"))
    try:
        bench.row("from approval to applied, services (stand-ins) counted", approve_s(daemon) * 1000, 0, "", "ms")
    finally:
        daemon.stop()


def approve_s(daemon: Daemon) -> float:
    """Return the seconds between the owner's word and the applied change."""
    daemon.call("run.start", message="set the wifi name to Attic and the password to correct-horse")
    deadline = time.monotonic() + 60
    while not (plans := daemon.call("plan.list")["plans"]):
        if time.monotonic() > deadline:
            raise AssertionError("no plan came:\n" + daemon.log()[-2000:])
        time.sleep(0.01)
    began = time.perf_counter()
    daemon.call("plan.approve", plan=plans[0]["id"], hash=plans[0]["hash"])
    while daemon.call("change.pending")["change"] is None:
        if time.monotonic() > deadline:
            raise AssertionError("it was not applied:\n" + daemon.log()[-2000:])
        time.sleep(0.002)
    return time.perf_counter() - began
