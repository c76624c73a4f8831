"""`make soak`: a household that talks to one router for an hour while everything around it breaks; then the account.

    python3 tests/soak/soak.py [--seconds 3600] [--seed N] [--json FILE]

Front-ends at work: two who talk (the built-in service, and a model that fails in many ways), one who makes changes,
keeps them, lets them go or undoes them, a page that polls, the command line, a program that speaks MCP. What breaks:
the daemon is killed or stopped, its workers are killed, the bus goes and comes, the flash is full, the clock jumps.

What was acknowledged must be there at the end: every message that got its id, every deletion, every change that was
told as made, kept or put back; after each break the router has the name of the last change that was told, or of the
one under way.
Exit status: 0 when the account is right, 1 when something is missing, 2 when it could not run.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [REPOSITORY, HERE]

import household  # noqa: E402
import weather  # noqa: E402

from tests.bench import measure  # noqa: E402
from tests.guards import guards, kill_guards  # noqa: E402
from tests.oasisd import copy_root, set_option  # noqa: E402
from tests.recorder import Recorder  # noqa: E402
from tests.router.busd import Busd  # noqa: E402

FLASH_BYTES = 24 * 1024 * 1024
# What a daemon may have grown by over all that: runs that it still tells of, threads that are about to end. The first
# figure is 19 to 21 MB, by what had been loaded until then, the last one 26 to 29 MB after two minutes as after twelve.
GROWN = 1.7
THREADS, DESCRIPTORS = 8, 12
LOG_BYTES_S = 400  # of its log, a second: a router's holds 128 KiB
_CLONE_NEWNS, _MS_PRIVATE, _MS_REC = 0x20000, 1 << 18, 1 << 14


def flash(folder: str) -> bool:
    """Mount a flash of its own size on a folder, seen by us alone; False where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(_CLONE_NEWNS) or libc.mount(b"none", b"/", None, _MS_PRIVATE | _MS_REC, None):
        return False
    options = f"size={FLASH_BYTES}".encode()
    return libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, options) == 0


def prepared(folder: str, model_url: str) -> str:
    """Return a router root with short windows and a model service beside the built-in one."""
    root = copy_root(folder + "/router")
    for name, value in (("confirm_s", "3"), ("management_confirm_s", "3"), ("titles", "words")):
        set_option(root, name, value)
    with open(root + "/etc/config/oasis") as handle:
        text = handle.read().replace("option quota '0'", "option quota '16384'")
    with open(root + "/etc/config/oasis", "w") as handle:
        handle.write(text.replace("option worker_idle_s '60'", "option worker_idle_s '5'"))
        handle.write(
            "\nconfig service\n\toption name 'openai'\n\toption identifier 'openai'\n\toption model 'scripted'\n"
        )
        handle.write(f"\toption endpoint '{model_url}'\n")
    os.makedirs(root + "/etc/oasis", 0o700, exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w") as handle:
        json.dump({"openai": "sk-soak-0123456789"}, handle)
    return root


def run(folder: str, seconds: float, seed: int) -> dict[str, object]:
    """Live for some seconds in a folder; return the account."""
    dice = random.Random(seed)
    model = Recorder()
    root = prepared(folder, model.url)
    with open(root + "/clock", "w") as handle:
        handle.write("0")
    bus_path = root + "/var/run/ubus/ubus.sock"
    os.makedirs(os.path.dirname(bus_path), exist_ok=True)
    house = household.House(root, model, dice.randrange(1 << 30))
    sky = weather.Sky(house, folder, bus_path, lambda: Busd(bus_path), dice.randrange(1 << 30))
    try:
        house.start()
        house.do_all_once()
        first = state(house)
        threads = [threading.Thread(target=work, name=name, daemon=True) for name, work in house.works()]
        until_s = time.monotonic() + seconds
        for thread in threads:
            thread.start()
        sky.rage(until_s)
        house.is_over.set()
        for thread in threads:
            thread.join(120)
        stuck = [house.why(thread) for thread in threads if thread.is_alive()]
        sky.clear()
        return account(house, sky, first, stuck, seconds)
    finally:
        house.is_over.set()
        house.stop()
        kill_guards(root)
        sky.close()
        model.close()


def state(house: household.House) -> dict[str, int]:
    """Return what the daemon takes now."""
    pid = house.daemon.process.pid
    return {
        **measure.memory_kib(pid),
        "threads": len(os.listdir(f"/proc/{pid}/task")),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
    }


def account(
    house: household.House, sky: weather.Sky, first: dict[str, int], stuck: list[str], seconds: float
) -> dict[str, object]:
    """Return counts, and `wrong`: a sentence for each thing that is not as it was told."""
    wrong = stuck + house.wrong
    house.settle()
    wrong += house.missing()
    audit = house.daemon.call("audit.verify")
    if not audit.get("is_whole"):
        wrong.append(f"the audit log does not verify: {audit}")
    if guards(house.root):
        wrong.append("a guard is left though no change waits")
    # The daemon of the last third was never ended: what it has more than after one of everything, it kept.
    last, log_bytes = state(house), os.path.getsize(house.root + household.LOG)
    for name, most in (("rss", GROWN * first["rss"]), ("threads", first["threads"] + THREADS),
                       ("descriptors", first["descriptors"] + DESCRIPTORS)):  # fmt: skip
        if last[name] > most:
            wrong.append(f"{name} went from {first[name]} to {last[name]}")
    if log_bytes > LOG_BYTES_S * max(seconds, 60):
        wrong.append(f"the log has {log_bytes} bytes after {seconds:.0f} s")
    return {"seconds": seconds, "said": house.counts, "broke": sky.counts, "first": first, "last": last,
            "log_bytes": log_bytes, "wrong": wrong}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--json")
    chosen = parser.parse_args()
    print(f"soak: {chosen.seconds:.0f} s, seed {chosen.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="oasis-soak-")
    is_flash = flash(folder)
    if not is_flash:
        print("soak: NOT HERE: a file system of its own, so the flash is never full; to have it: root")
    try:
        told = run(folder, chosen.seconds, chosen.seed)
    finally:
        if not is_flash:
            shutil.rmtree(folder, ignore_errors=True)
    if chosen.json:
        with open(chosen.json, "w") as handle:
            json.dump(told, handle, indent=1)
    for name in ("said", "broke", "first", "last"):
        print(f"{name:6} " + ", ".join(f"{key} {value}" for key, value in told[name].items()))
    print("log    %d bytes" % told["log_bytes"])
    for sentence in told["wrong"]:
        print("WRONG  " + sentence)
    print("soak: " + ("everything that was told is there" if not told["wrong"] else f"{len(told['wrong'])} wrong"))
    return 1 if told["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
