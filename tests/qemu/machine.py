"""One emulated machine: start it, cut its power, talk to it on its console and through its LAN.

Emulation (TCG) unless `ACCEL` says otherwise: /dev/kvm may be there and not work. The LAN of the guest is the host's
user network: 192.168.1.1 is the guest, 192.168.1.2 this host, and what is forwarded comes from there, not from
loopback. The first card is the LAN, the second one the WAN.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time

from tests.qemu.console import Console

ADDRESS = "192.168.1.1"
HOST_ADDRESS = "192.168.1.2"
SSH, HTTP = 22, 80
# How long the end of an emulator that was killed takes.
END_S = 10


class Machine:
    """A machine; `argv` starts the emulator but for console and network, `record(bytes)` is given the console."""

    def __init__(self, argv: list[str], card: str, wan: bool, record=lambda data: None) -> None:
        self._argv = argv
        self._card = card
        self._wan = wan
        self._record = record
        self._process: subprocess.Popen[bytes] | None = None
        self.ports = {port: _free_port() for port in (SSH, HTTP)}
        self.started_s = 0.0
        self.console: Console

    def start(self) -> None:
        """Turn it on."""
        self.started_s = time.monotonic()
        self._process = subprocess.Popen(
            [*self._argv, *self._network(), "-display", "none", "-monitor", "none", "-serial", "stdio",
             "-no-reboot"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.console = Console(self._process.stdout.fileno(), self._process.stdin.fileno(), self._record)

    def _network(self) -> list[str]:
        forwards = ",".join(
            "hostfwd=tcp:127.0.0.1:%d-%s:%d" % (here, ADDRESS, there) for there, here in self.ports.items()
        )
        lan = "user,id=lan,net=192.168.1.0/24,host=%s,%s" % (HOST_ADDRESS, forwards)
        words = ["-netdev", lan, "-device", self._card + ",netdev=lan"]
        if self._wan:
            words += ["-netdev", "user,id=wan", "-device", self._card + ",netdev=wan"]
        return words

    def cut_power(self) -> None:
        """Turn it off at once: what the guest had not written is lost."""
        if self._process is None:
            return
        self._process.kill()
        self._clear(END_S)

    def wait_off(self, timeout_s: float) -> None:
        """Wait until the guest has ended by itself: it was asked to turn off or to start again.

        The emulator ends at both, because its version 7.2 hangs when a kernel that it loaded itself starts again.
        Raises: subprocess.TimeoutExpired.
        """
        deadline_s = time.monotonic() + timeout_s
        while self._process.poll() is None and time.monotonic() < deadline_s:
            self.console.drain(1)
        self._clear(1)

    def _clear(self, timeout_s: float) -> None:
        self._process.wait(timeout_s)
        self._process.stdin.close()
        self._process.stdout.close()
        self._process = None

    def banner(self, port: int = SSH, timeout_s: float = 5) -> str:
        """Return the first words of an SSH server over a new connection through the LAN, "" when none come.

        The emulator takes every connection; only what the guest says shows that it is reached.
        """
        try:
            with socket.create_connection(("127.0.0.1", self.ports[port]), timeout_s) as connection:
                connection.settimeout(timeout_s)
                return connection.recv(256).decode("ascii", "replace").strip()
        except OSError:
            return ""


def accelerator() -> str:
    # Translated code is kept in 1 GiB otherwise: more than the guest has memory.
    return os.environ.get("ACCEL", "tcg,tb-size=128")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
