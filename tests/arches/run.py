"""`make arches`: the tests of what must run on every router, and the packages, on the machines that routers have.

    tests/arches/run.py                all machines
    tests/arches/run.py mipsel musl    some of them
    tests/arches/run.py mipsel -- tests/core -x      other tests: words for pytest

    mipsel      MIPS, 32 bits, little-endian, 32-bit times; Debian's Python, emulated by qemu's user mode
    s390x       64 bits, big-endian; likewise
    musl        OpenWrt's C library; a Python that is built here with musl-gcc
    python3.14  the newest Python, of Debian's newest suite

All of it is fetched from Debian, below build/arches, once. Exit status: 0 all passed, 1 something failed, 2 nothing
failed but a machine cannot be had on this host, which is told.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, REPOSITORY)

from tests.arches.debian import Absent, Archive  # noqa: E402
from tests.arches.machines import ENVIRONMENT, Chroot, Machine, Musl  # noqa: E402

WORK = os.path.join(REPOSITORY, "build", "arches")
# What reads and writes bytes, times and files of the machine, starts processes of it, or is a user's day with it.
ROOMS = (
    "tests/package/test_course.py", "tests/system/test_machine.py", "tests/core", "tests/uci", "tests/ubus",
    "tests/config",
    "tests/change/test_plan.py", "tests/change/test_uci_commands.py", "tests/change/test_approval.py",
    "tests/change/test_audit.py", "tests/change/apply/test_journal.py", "tests/chats/test_index.py",
    "tests/chats/test_collection.py", "tests/system/test_files.py", "tests/system/test_children.py",
    "tests/system/test_connections_socket.py", "tests/system/test_digest.py", "tests/system/test_records.py",
    "tests/parts/test_manifests.py", "tests/worker/test_transport.py", "tests/worker/test_proxies.py",
    "tests/worker/test_web.py",
)  # fmt: skip
# Tests that an emulated machine cannot run, and why; each run tells them.
_TIMES = "it measures time, of which an emulated machine has none to tell"
EMULATED = {
    "tests/uci/test_model.py::test_a_long_package_is_read_and_written_at_once": _TIMES,
    "tests/uci/test_model.py::test_a_hostile_package_takes_no_longer_than_its_length": _TIMES,
    "tests/worker/test_web.py::test_broken_pages_are_read_in_time": _TIMES,
    "tests/system/test_children.py::test_every_child_has_its_limits_and_nothing_of_ours": (
        "the emulator takes no notice of the limits of memory that a process sets itself"
    ),
}
_ERRORS = "the emulator gives an error of a connection, SO_ERROR, the number that it has on this host"
MIPSEL = {
    "tests/worker/test_transport.py::test_a_wall_of_our_own_is_not_taken_for_a_server_that_does_not_run": _ERRORS,
    "tests/worker/test_transport.py::test_nobody_listens": _ERRORS,
    "tests/worker/test_proxies.py::test_a_proxy_that_is_not_there_is_blamed_and_not_the_service": _ERRORS,
}
# What the tests need besides the standard library: pure Python, copied from where this runs,
MODULES = (
    "py.py",
    "pytest_timeout.py",
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "xdist",
    "execnet",
)
# and of Debian, because hypothesis has become partly native.
DEBIAN = ("python3-hypothesis", "python3-attr", "python3-sortedcontainers")
PYTEST = (
    "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "pytest_timeout", "-n", "2", "--dist",
    "loadfile", "--durations=5",
)  # fmt: skip
# Seconds for one test on this host; an emulated machine gets so many times more.
TEST_S = 300


def machines() -> list[Machine]:
    return [
        Chroot("mipsel", WORK, "bookworm", "3.11", slower=10),
        Chroot("s390x", WORK, "bookworm", "3.11", slower=10),
        Musl(WORK),
        Chroot("python3.14", WORK, "sid", "3.14"),
    ]


def checkout() -> dict[str, str]:
    """Return {path: where it is} of every file of this checkout that git knows or would take."""
    words = ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = {path: os.path.join(REPOSITORY, path) for path in told.split("\0") if path}
    return {path: place for path, place in found.items() if os.path.isfile(place)}


def modules() -> dict[str, str]:
    """Return {path: where it is} of what the tests import. Raises: Absent where it is not installed here."""
    pure = WORK + "/pure"
    if not os.path.isdir(pure):
        Archive(WORK, "trixie", "amd64").unpack_alone(pure + ".new", *DEBIAN)
        os.rename(pure + ".new", pure)
    found = files(pure + "/usr/lib/python3/dist-packages")
    for name in MODULES:
        folder = next((folder for folder in sys.path if os.path.exists(f"{folder}/{name}")), "")
        if not folder:
            raise Absent(f"{name} is not installed for {sys.executable}")
        found.update(files(folder, name))
    return found


def files(folder: str, below: str = "") -> dict[str, str]:
    """Return {path: where it is} of a file or of all below a folder, without caches."""
    place = os.path.join(folder, below)
    paths = [place] if os.path.isfile(place) else []
    for above, _, names in os.walk(place):
        if not above.endswith("__pycache__"):
            paths += [os.path.join(above, name) for name in names]
    return {os.path.relpath(path, folder): path for path in paths}


def packages(output: str) -> dict[str, str]:
    """Build the packages on this host; return {path: where it is}."""
    words = [sys.executable, REPOSITORY + "/package/build.py", "--output", output]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return files(output)


def tests(machine: Machine, chosen: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return (the words for the machine's Python, the environment) of its tests."""
    told, timeout_s = machine.place("told") + "/told.xml", TEST_S * machine.slower
    words = [*PYTEST]
    words += ["--timeout", str(timeout_s), "--rootdir", machine.tree, "--junitxml=" + told]
    left_out = {**(EMULATED if machine.slower > 1 else {}), **(MIPSEL if machine.name == "mipsel" else {})}
    words += [word for name in left_out for word in ("--deselect", name)]
    words += chosen or ROOMS
    print("tests:", " ".join(chosen or ROOMS))
    for name, why in left_out.items():
        if name.startswith(tuple(chosen or ROOMS)):
            print(f"left out: {name}: {why}", flush=True)
    env = {
        **ENVIRONMENT,
        "PYTHONPATH": machine.place("modules"),
        "OASIS_PACKAGES": machine.place("packages"),
        "OASIS_SLOWER": str(machine.slower),
        "CI": "1",  # hypothesis has no time limits then
    }
    return words, env


def test(machine: Machine, chosen: list[str]) -> dict[str, int]:
    """Run the tests on a machine that is set up; return how many passed, failed and were skipped. Raises: Absent."""
    for name, files in (
        ("oasis", checkout()),
        ("modules", modules()),
        ("packages", packages(machine.folder + "/packages")),
    ):
        machine.bring(name, files)
    machine.bring("told", {})
    os.makedirs(machine.root + "/told")
    words, env = tests(machine, chosen)
    start = (
        f"import os, sys; os.chdir({machine.tree!r}); os.execve(sys.executable, [sys.executable, *{words!r}], {env!r})"
    )
    machine.start()
    try:
        with open(machine.folder + "/tests.txt", "wb") as log:
            path = {"PATH": os.environ.get("PATH", ENVIRONMENT["PATH"])}
            subprocess.run(
                machine.command(["-c", start]), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=path, check=False
            )
    finally:
        machine.stop()
    return counts(machine.root + "/told/told.xml", machine.folder + "/tests.txt")


def counts(path: str, log: str) -> dict[str, int]:
    """Read pytest's account, and print what failed."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip() for line in file]
    print("\n".join(line for line in lines if line.startswith(("FAILED ", "ERROR "))) or "nothing failed")
    try:
        suite = ET.parse(path).getroot().find("testsuite")
        total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
        failed = int(suite.get("failures")) + int(suite.get("errors"))
    except (OSError, ET.ParseError):
        print("\n".join(lines[-15:]))
        return {"passed": 0, "failed": 1, "skipped": 0}
    return {"passed": total - failed - skipped, "failed": failed, "skipped": skipped}


def main(words: list[str], every: list[Machine]) -> int:
    """Run what the words name on the machines; return the exit status."""
    own, _, chosen = " ".join(words).partition("--")
    known = {machine.name: machine for machine in every}
    unknown = set(own.split()) - set(known)
    if unknown:
        print(f"arches: no machine {', '.join(sorted(unknown))}: there are {', '.join(known)}", file=sys.stderr)
        return 1
    rows = []
    for name in own.split() or known:
        began = time.monotonic()
        print(f"--- arches: {name}", flush=True)
        try:
            known[name].set_up()
            ready_s = time.monotonic() - began
            told = test(known[name], chosen.split())
            rows.append((name, told, ready_s, time.monotonic() - began - ready_s, ""))
        except Absent as error:
            rows.append((name, {}, 0.0, 0.0, str(error)))
            print(f"arches: NOT HERE: {error}")
    print(f"\n{'machine':10} {'passed':>7} {'failed':>7} {'skipped':>8} {'set up':>9} {'tests':>9}")
    for name, told, ready_s, tests_s, why in rows:
        if why:
            print(f"{name:10} not here: {why}")
        else:
            numbers = [told[key] for key in ("passed", "failed", "skipped")]
            print("%-10s %7d %7d %8d %7.0f s %7.0f s" % (name, *numbers, ready_s, tests_s))
    if any(told.get("failed") for _, told, *_ in rows):
        return 1
    return 2 if any(why for *_, why in rows) else 0


if __name__ == "__main__":
    os.umask(0o022)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine did to this host is taken back
    sys.exit(main(sys.argv[1:], machines()))
