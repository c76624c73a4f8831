"""What breaks around the daemon: kills, stops, a full flash, a bus that goes, a clock that jumps. One at a time."""

from __future__ import annotations

import os
import random
import signal
import time

PAUSE_S = (2.0, 7.0)
FULL_S = 2.0
JUMPS_S = (-3600, 7200, 86400 * 3, -60)


class Sky:
    """Breaks things of a house; `make_bus()` gives the stand-in of ubusd, `folder` is the flash."""

    def __init__(self, house, folder, bus_path, make_bus, seed):
        self._house = house
        self._folder = folder
        self._bus_path = bus_path
        self._make_bus = make_bus
        self._dice = random.Random(seed)
        self._bus = make_bus().__enter__()
        self.counts = {}
        self._kinds = [self._kill, self._kill, self._stop, self._workers, self._bus_goes, self._full, self._clock]

    def rage(self, until_s):
        """Break something every few seconds until a time; in the last third the daemon is not ended any more."""
        began_s = time.monotonic()
        while time.monotonic() < until_s:
            self._house.is_over.wait(min(self._dice.uniform(*PAUSE_S), max(until_s - time.monotonic(), 0)))
            if time.monotonic() < until_s:
                is_late = time.monotonic() - began_s > (until_s - began_s) * 2 / 3
                ends = (self._kill, self._stop) if is_late else ()
                kind = self._dice.choice([one for one in self._kinds if one not in ends])
                name = kind.__name__.strip("_")
                self.counts[name] = self.counts.get(name, 0) + 1
                kind()

    def clear(self):
        """Let everything be there again."""
        if self._bus is None:
            self._bus = self._make_bus().__enter__()

    def close(self):
        if self._bus is not None:
            self._bus.kill()

    def _kill(self):
        self._house.restart(lambda daemon: daemon.kill())

    def _stop(self):
        self._house.restart(self._house.end)

    def _workers(self):
        """Kill what the daemon started to talk to the network."""
        for pid in _children(self._house.daemon.process.pid):
            if "worker" in _words(pid):
                _end(pid)

    def _bus_goes(self):
        self._bus.kill()
        self._bus = None
        time.sleep(self._dice.uniform(0.5, 3))
        self._bus = self._make_bus().__enter__()

    def _full(self):
        """Fill the flash for a while."""
        path = self._folder + "/filler"
        with open(path, "wb", buffering=0) as handle:
            try:
                for size in (65536, 4096, 1):
                    while os.statvfs(self._folder).f_bfree and handle.tell() < 64 << 20:
                        handle.write(b"\0" * size)
            except OSError:
                pass  # that it is full
        time.sleep(FULL_S)
        os.unlink(path)

    def _clock(self):
        with open(self._house.root + "/clock", "w") as handle:
            handle.write(str(self._dice.choice(JUMPS_S)))


def _children(parent):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as handle:
                if int(handle.read().rpartition(")")[2].split()[1]) == parent:
                    found.append(int(name))
        except OSError:
            continue
    return found


def _words(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as handle:
            return handle.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
