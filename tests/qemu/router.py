"""A running guest as the steps of the suite use it: commands at its console and over SSH, restarts, power cuts."""

from __future__ import annotations

import json
import subprocess
import time

from tests.qemu.console import COMMAND_S, ConsoleError, Result
from tests.qemu.machine import SSH, Machine
from tests.qemu.transcript import Transcript

# From nothing to a shell, on a busy machine without hardware virtualisation.
BOOT_S = 180
SSH_S = 60
# procd gives each service up to its own time to end, ours has 60 s.
OFF_S = 150
RECOVER_S = 20
RECOVERED_S = 180
# A new SSH connection at an emulated machine: key exchange alone takes a second.
CONNECT_S = 20


class Failed(Exception):
    """A step did not find what it must."""


class Router:
    """`kind` is openwrt or debian; `features` are words of what is there (bus, luci, uhttpd, opkg, apk, …)."""

    def __init__(self, kind: str, machine: Machine, key: str, transcript: Transcript) -> None:
        self.kind = kind
        self.machine = machine
        self.features: set[str] = set()
        self.numbers: list[tuple[str, str]] = []
        self.log = transcript
        self._key = key

    def boot(self) -> float:
        """Turn the machine on and log in; return the seconds that took. An emulator that hangs is started once more."""
        for left in (1, 0):
            self.machine.start()
            begin_s = time.monotonic()
            try:
                self.machine.console.login(BOOT_S)
                break
            except ConsoleError as error:
                self.machine.cut_power()
                if not left:
                    raise Failed("it does not boot: %s" % error)
                self.log.line("  (it did not boot and is started once more: %s)" % str(error).split("\n")[0])
        return time.monotonic() - begin_s

    def reboot(self) -> float:
        """Have the router start again in order; return the seconds from its start to a shell."""
        self.log.typed("console#", "reboot")
        self.machine.console.send("(sleep 1; reboot) </dev/null >/dev/null 2>&1 &\n")
        try:
            self.machine.wait_off(OFF_S)
        except subprocess.TimeoutExpired:
            raise Failed("the router has not ended in %d s" % OFF_S)
        return self.boot()

    def recover(self) -> None:
        """Make the router usable for the next step after one that failed: a dead console, a change that still waits."""
        try:
            self.machine.console.run("true", RECOVER_S)
        except ConsoleError:
            self.log.line("  (the console is dead: the emulator is started anew)")
            self.machine.cut_power()
            self.boot()
        self.run("logread 2>/dev/null | grep -iE 'oasis|python' | tail -n 25")
        waits = "n=0; until oasis status >/dev/null 2>&1 || [ $n -ge 30 ]; do sleep 1; n=$((n + 1)); done"
        self.run(waits + "; oasis rollback 2>/dev/null; rm -f /tmp/*.ipk /tmp/*.apk", RECOVERED_S, quiet=True)

    def run(self, command: str, timeout_s: float = COMMAND_S, quiet: bool = False) -> Result:
        """Run a command at the console, whatever comes of it."""
        if not quiet:
            self.log.typed("console#", command)
        try:
            result = self.machine.console.run(command, timeout_s)
        except ConsoleError as error:
            raise Failed(str(error))
        if not quiet:
            self._show(result)
        return result

    def ok(self, command: str, timeout_s: float = COMMAND_S, quiet: bool = False) -> str:
        """Run a command that must end well; return what it said."""
        result = self.run(command, timeout_s, quiet)
        if result.status:
            raise Failed("%s ended with %d: %s" % (command, result.status, result.text[-500:]))
        return result.text

    def ssh(self, command: str, timeout_s: float = SSH_S) -> Result:
        """Run a command over a new SSH connection through the LAN."""
        self.log.typed("ssh#", command)
        words = ["ssh", "-i", self._key, "-p", str(self.machine.ports[SSH]), "-o", "StrictHostKeyChecking=no",
                 "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes",
                 "-o", "ConnectTimeout=%d" % CONNECT_S, "root@127.0.0.1", command]  # fmt: skip
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=timeout_s, stdin=subprocess.DEVNULL, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed("over SSH %r took more than %d s" % (command, timeout_s))
        result = Result(done.returncode, (done.stdout + done.stderr).rstrip("\n"))
        self._show(result)
        return result

    def _show(self, result: Result) -> None:
        self.log.said(result.text)
        if result.status:
            self.log.line("  | (status %d)" % result.status)

    def until(self, command: str, timeout_s: float, what: str) -> float:
        """Wait until a command ends well; return the seconds that took."""
        begin_s = time.monotonic()
        while self.run(command, quiet=True).status:
            if time.monotonic() - begin_s > timeout_s:
                raise Failed("%s: not in %d s" % (what, timeout_s))
            time.sleep(0.5)
        took_s = time.monotonic() - begin_s
        self.log.line("  %s: after %.1f s" % (what, took_s))
        return took_s

    def is_reached(self) -> bool:
        """Tell whether this host gets an answer over a new connection through the LAN."""
        return self.machine.banner().startswith("SSH-")

    def number(self, name: str, value: str) -> None:
        """Keep a number for the table at the end."""
        self.numbers.append((name, value))
        self.log.line("  %s: %s" % (name, value))

    def oasis(self, words: str, over: str = "console", timeout_s: float = COMMAND_S) -> list[dict]:
        """Run `oasis -j WORDS`; return its JSON objects. The words `; status` are not checked here."""
        command = "oasis -j " + words
        result = self.ssh(command, timeout_s) if over == "ssh" else self.run(command, timeout_s)
        found = []
        for line in result.text.split("\n"):
            if line.startswith("{"):
                found.append(json.loads(line))
        return found


def expect(is_so: bool, what: str) -> None:
    """Fail the step unless something is so."""
    if not is_so:
        raise Failed(what)
