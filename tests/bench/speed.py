"""Rows of `make bench`: reading and writing UCI beside others, and what a change of 50 operations takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time

from oasis.change import difference
from oasis.change.difference import Pairing
from oasis.change.uci_commands import parse
from oasis.ubus.outgoing import Ubus
from oasis.uci import model
from oasis.uci.backends import open_cursor
from oasis.uci.program_backend import ProgramBackend
from tests.bench.measure import BARE, seconds
from tests.change.kit import Kit
from tests.oasisd import Daemon, copy_root, start_daemon

LINES = 2000
OPERATIONS = 50
HOSTS = 2000
FOURFOLD_GOAL = 6.0  # for four times the sections
FASTER_THAN_UCIPARSE = 1 / 5
# Besides one for each service: stage, commit, and the guard.
PROCESSES = 3
# What reads with pyuci, libuci's Python module, which is imported as `uci`.
PYUCI = """
import sys, time
from uci import Uci
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


def by_hand(text: str) -> str:
    """Return the package as people write it: comments, other blanks, double quotes, bare values."""
    text = text.replace("\toption src 'wan'", "    option  src\twan").replace("'ACCEPT'", "ACCEPT")
    text = text.replace("\toption proto 'udp'", '\toption proto "udp"  # as the camera wants it')
    text = re.sub(r"dest_port '(\d+)'", r"dest_port \1", text)
    return re.sub(r"name '([^']*)'", r'name "\1"', text).replace("\nconfig rule", "\n# one more\nconfig 'rule'")


def quoted_oddly(text: str) -> str:
    """Return the package with what uciparse does not read: values of several lines, escapes, pieces of a word."""
    text = text.replace("'echo-request'", r'"echo \"request\""').replace("'echo-reply'", "echo-'re'\"ply\"")
    return text.replace("\toption src 'wan'", "\toption src 'wan\nor lan'")


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
    _pairing(bench, times)
    bare_ms = min(seconds(BARE) for _ in range(times)) * 1000
    _change(bench, folder, bare_ms)
    _approval(bench, folder, bare_ms)


def hosts(count: int, is_edited: bool) -> model.Package:
    """Return a package of hosts; edited, each has another address, and its name tells which one it is."""
    section = "config host\n\toption name 'host-%d'\n\toption ip '10.%d.%d.%d'\n\n"
    texts = [section % (number, 1 + is_edited, number // 250, number % 250) for number in range(count)]
    return model.parse("".join(texts).encode(), "dhcp")


def _pairing(bench: object, times: int) -> None:
    """Add what a plan takes that is about many edited sections: which one is which, what differs, and in words."""

    def planned_ms(count: int) -> float:
        old, new = hosts(count, False), hosts(count, True)

        def work() -> None:
            found = difference.compare(old, new, "dhcp")
            if len(found) != count or Pairing(old, new).new_of(old.sections[-1]) is not new.sections[-1]:
                raise AssertionError("not every host is known again")
            difference.sentences(found)
            difference.diff_lines(old, new, "dhcp")

        return best_s(work, min(times, 3)) * 1000

    what = f"{HOSTS} edited hosts: which is which, and what differs"
    bench.row(what, planned_ms(HOSTS), planned_ms(HOSTS // 4), "a quarter of them", "ms", FOURFOLD_GOAL)


def _uci(bench: object, folder: str, times: int) -> None:
    text = package_text()
    if model.file_text(model.parse(text.encode(), "bench")) != text.encode():
        raise AssertionError("the package is not in the form of a commit")
    for form, one in (
        ("as committed", text),
        ("by hand", by_hand(text)),
        ("several lines, escapes", quoted_oddly(text)),
    ):
        data = one.encode()
        what = f"read and write a package of {LINES} lines, {form}"
        if form != "several lines, escapes":
            _uciparse(bench, what, one, times)
        ours = _ours_s(data, times) * 1000
        _programs(bench, f"{folder}/speed-{len(bench.rows)}", data, ours, what)


def _ours_s(data: bytes, times: int) -> float:
    return best_s(lambda: model.file_text(model.parse(data, "bench")), times)


def _uciparse(bench: object, what: str, text: str, times: int) -> None:
    try:
        from uciparse.uci import UciFile
    except ImportError:
        bench.row(what, _ours_s(text.encode(), times) * 1000, 0, "uciparse: not installed", "ms")
        bench.notes.append("uciparse is not installed (pip install uciparse): nothing to compare reading UCI with")
        return
    pairs = []
    for _ in range(times):  # in turn, so that both see the same machine
        theirs = best_s(lambda: "".join(UciFile.from_lines(text.splitlines(True)).normalized()), 1)
        pairs.append((_ours_s(text.encode(), 1), theirs))
    ours, theirs = (min(column) * 1000 for column in zip(*pairs, strict=True))
    bench.row(what, ours, theirs, "uciparse", "ms", FASTER_THAN_UCIPARSE)


def _programs(bench: object, confdir: str, data: bytes, ours: float, what: str) -> None:
    os.makedirs(confdir)
    with open(confdir + "/bench", "wb") as handle:
        handle.write(data)
    done = subprocess.run([sys.executable, "-c", PYUCI, confdir, "10"], capture_output=True, text=True, check=False)
    if done.returncode:
        bench.row(what + ": pyuci", ours, 0, "pyuci: not installed", "ms")
    else:
        bench.row(what + ": pyuci", ours, float(done.stdout) * 1000, "pyuci, which only reads", "ms")
    program = shutil.which("uci")
    if program:
        argv = [program, "-c", confdir, "export", "bench"]
        theirs = best_s(lambda: subprocess.run(argv, stdout=subprocess.DEVNULL, check=True), 10) * 1000
        bench.row(what + ": uci", ours, theirs, "the program uci, its start counted", "ms")
    else:
        bench.row(what + ": uci", ours, 0, "the program uci: not installed", "ms")


def fifty(number: int) -> str:
    """Return 50 operations of one package, of low risk and for one service."""
    lines = [f"uci set dhcp.bench{one}=host\nuci set dhcp.bench{one}.name='host{number}-{one}'" for one in range(25)]
    return "\n".join(lines)


def rules() -> str:
    """Return 50 operations that make rules of the firewall."""
    made = ["uci set firewall.bench%d=rule"] + [
        f"uci set firewall.bench%d.{one}" for one in ("name='Bench-%d'", "src='wan'", "proto='tcp'", "target='DROP'")
    ]
    return "\n".join(line.replace("%d", str(number)) for number in range(OPERATIONS // 5) for line in made)


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
    """A kit that counts processes.

    The stand-in for the bus is a program and is not counted: on a router the bus is asked over its socket.
    """

    def programs(self, executor: object) -> Counting:
        self.bus = Ubus(executor, self.root.program("ubus")).call
        return Counting(executor)


class ProgramKit(CountingKit):
    """One that writes with the program `uci`."""

    def cursor(self) -> ProgramBackend:
        return open_cursor(self.root.confdir, self.root.run_folder + "/uci", "program", self._uci, shutil.which("uci"))

    def _uci(self, argv: list[str], stdin: bytes | None = None) -> tuple[int, bytes, bytes]:
        self.executor.started.append(" ".join(argv))
        done = subprocess.run(argv, input=stdin or b"", capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr


def _change(bench: object, folder: str, bare_ms: float) -> None:
    _applied(bench, CountingKit(folder + "/change", approval="none"), bare_ms, "")
    if shutil.which("uci"):
        _applied(bench, ProgramKit(folder + "/change-by-uci", approval="none"), bare_ms, ", by the program uci")
    else:
        bench.notes.append("uci is not installed: processes are those of a change that is written without it")


def _applied(bench: object, kit: CountingKit, bare_ms: float, how: str) -> None:
    operations = parse(fifty(0))[0]
    if len(operations) != OPERATIONS:
        raise AssertionError("these are not 50 operations")
    planned = best_s(lambda: kit.planner.propose(parse(fifty(0))[0], "run1", "chat1", "bench"), 10)
    bench.row(f"parse, plan and check {OPERATIONS} operations{how}", planned * 1000, bare_ms, "bare start", "ms")
    for what, text in (("leases", fifty(0)), ("firewall rules", rules())):
        plan = kit.plan(text)
        kit.executor.started.clear()
        began = time.perf_counter()
        record = kit.transaction.apply(plan)
        passed = time.perf_counter() - began
        if record["state"] == "applied":
            kit.transaction.confirm(record["id"])
        allowed = PROCESSES + len(plan["services"])
        of = f"{PROCESSES}, and one for each service"
        about = f"{OPERATIONS} operations, {what}{how}: "
        bench.row(about + "processes started", len(kit.executor.started), allowed, of, "", 1.0)
        bench.row(about + "apply, services (stand-ins) counted", passed * 1000, bare_ms, "bare start", "ms")
    kit.transaction.stop()


def _approval(bench: object, folder: str, bare_ms: float) -> None:
    daemon = start_daemon(copy_root(folder + "/approval"))
    try:
        passed = approve_s(daemon) * 1000
        bench.row("from approval to applied, services (stand-ins) counted", passed, bare_ms, "bare start", "ms")
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
