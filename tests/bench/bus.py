"""What being on the bus costs: a call of ours beside one of a C program on the same bus, memory, time while idle."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from typing import IO

from oasis.ubus import message, outgoing
from oasis.ubus.outgoing import opener
from tests.bench.measure import MeasureError

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 200
IDLE_S = 2.0
START_S = 10.0
# rpcd keeps files in /var/run: it gets one of its own.
RPCD = 'mount -t tmpfs none "$(readlink -f /var/run)" && exec rpcd -s "$0"'


def measure(bench: object, folder: str, times: int) -> None:
    """Add the rows to a Bench; without the real ubusd there are none, and a note says so."""
    if not shutil.which("ubusd"):
        bench.notes.append("ubusd is not installed (build ubus from OpenWrt's sources): the bus is not measured")
        return
    path = folder + "/bus.sock"
    started = [subprocess.Popen(["ubusd", "-s", path])]
    try:
        _until(lambda: os.path.exists(path))
        argv = [sys.executable, "-IS", HERE + "/bus_service.py", path]
        env = {**os.environ, "MALLOC_ARENA_MAX": "1"}  # as oasisd is started
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env))
        _idle(bench, started[-1].stdout, started[-1].pid)
        ours = _calls_us(path, "oasis", "info", CALLS * times // 5)
        theirs = 0.0
        if shutil.which("rpcd") and os.geteuid() == 0:
            argv = ["unshare", "-m", "sh", "-c", RPCD, path]
            started.append(subprocess.Popen(argv, stderr=subprocess.DEVNULL))
            _until(lambda: _is_there(path, "session"))
            theirs = _calls_us(path, "session", "list", CALLS * times // 5)
        else:
            bench.notes.append("rpcd is not installed, or we are not root: no C program to compare a call with")
        bench.row("a call of our object over the bus, median", ours, theirs, "rpcd's session list", "µs")
    finally:
        for process in started:
            process.kill()
            process.wait()


def _idle(bench: object, lines: IO[str], pid: int) -> None:
    before, after = ([int(word) for word in lines.readline().split()] for _ in range(2))
    bench.row("being on the bus, idle: RSS", after[0] - before[0], before[0], "without it", "KiB")
    bench.row("being on the bus, idle: private dirty", after[1] - before[1], before[1], "without it", "KiB")
    status = f"/proc/{pid}/task/{int(lines.readline())}/status"
    first = _switches(status)
    time.sleep(IDLE_S)
    bench.row(f"being on the bus: wake-ups in {IDLE_S:g} s", _switches(status) - first, 0, "", "calls")


def _switches(path: str) -> int:
    with open(path, encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


def _calls_us(path: str, name: str, method: str, times: int) -> float:
    """Return the median time of a call over a connection that is open."""
    connection = opener(path)(START_S)
    try:
        message.receive(connection)
        number = outgoing.look_up(connection, name)
        words = message.invocation(number, method, b"")
        found = []
        for _ in range(times):
            began = time.perf_counter()
            outgoing._ask(connection, message.INVOKE, 2, number, words)
            found.append(time.perf_counter() - began)
        return statistics.median(found) * 1e6
    finally:
        connection.close()


def _is_there(path: str, name: str) -> bool:
    connection = opener(path)(START_S)
    try:
        message.receive(connection)
        return bool(outgoing.look_up(connection, name))
    except outgoing.Failed:
        return False
    finally:
        connection.close()


def _until(is_so: object) -> None:
    deadline = time.monotonic() + START_S
    while not is_so():
        if time.monotonic() > deadline:
            raise MeasureError("a program of the bus did not start")
        time.sleep(0.02)
