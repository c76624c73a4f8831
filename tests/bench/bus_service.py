"""An object on the bus as oasisd has one, for the bench: tells its memory before and after it is there, then waits.

    python3 -IS bus_service.py SOCKET

Lines: memory before (KiB RSS and private dirty), memory after, the number of the thread that reads.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

import oasis.daemon.wiring  # noqa: E402, F401  # what an idle daemon has anyway
from oasis.api.table import TABLE  # noqa: E402
from oasis.ubus.outgoing import opener  # noqa: E402

SETTLE_S = 0.5


def memory() -> str:
    """Return RSS and private dirty memory of this process, KiB."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as lines:
        found = {line.split(":")[0]: line.split()[1] for line in lines if line.count("kB")}
    return f"{found['Rss']} {found['Private_Dirty']}"


def objects() -> dict[str, dict[str, dict[str, str]]]:
    """Return as many objects and methods as oasisd publishes."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name in TABLE:
        folder, _, method = ("oasis." + name).rpartition(".")
        found.setdefault(folder, {})[method] = {"some": "text", "more": "int"}
    return found


def main() -> None:
    published = objects()
    time.sleep(SETTLE_S)
    print(memory(), flush=True)
    from oasis.ubus.peer import Peer

    peer = Peer(opener(sys.argv[1]), published, lambda call: {"version": "1", "list": [1, 2]}, print)
    peer.start()
    while peer.reason():
        time.sleep(0.01)
    time.sleep(SETTLE_S)
    print(memory(), flush=True)
    print(peer._thread.native_id, flush=True)
    sys.stdin.read()


main()
