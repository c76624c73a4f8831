"""The program oasisd: a daemon in the foreground, as procd wants it, with the front-ends that live in it."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` names every number, which costs memory
import os
import select
import sys
import threading

from oasis import VERSION, parts
from oasis.daemon.wiring import Daemon, log
from oasis.errors import OasisError
from oasis.redaction.redactor import Masked
from oasis.system.child import give_way
from oasis.system.root import Root

# musl gives threads 128 KiB. With 512 KiB a Python 3.13 that recurses ends before it notices; 3.11 does with 128.
# Memory is taken only for what is used of it.
STACK_BYTES = 768 * 1024
_SIGNALS = 4096  # that are read at once


def main(argv: list[str]) -> int:
    """Run the daemon until SIGTERM or SIGINT; return the exit status."""
    if argv in (["--version"], ["-V"]):
        print("oasisd " + VERSION)
        return 0
    if argv:
        print("oasisd: error: unknown argument %s" % argv[0], file=sys.stderr)
        return 2
    threading.stack_size(STACK_BYTES)
    stopping = _stop_pipe()
    root = Root(os.environ.get("OASIS_ROOT", "/"), os.environ.get("PATH", "").split(":"))
    os.chdir("/")  # where every program that we start works
    note = give_way() if root.folder == "/" else ""
    if note:
        log(note)
    try:
        daemon = Daemon(root, os.environ)
        sys.stdout = Masked(sys.stdout, daemon.redactor.text)
        sys.stderr = Masked(sys.stderr, daemon.redactor.text)
        is_on_bus = daemon.settings.choice("bus", ("1", "0")) == "1"
        daemon.start()
    except OasisError as error:
        print("oasisd: error: %s" % error.message, file=sys.stderr)
        if error.hint:
            print("oasisd: hint: %s" % error.hint, file=sys.stderr)
        return error.exit_status
    if is_on_bus:
        daemon.join_bus()
    daemon.parts.settle()
    for part, why in parts.refused.items():
        log("the part %s is not used: %s" % (part, why), True)
    log("ready on %s" % root.socket)
    is_again = _serve(daemon, stopping)
    daemon.leave_bus()
    daemon.stop()
    if is_again:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the program that begins listens again; _serve looks itself
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 # the command that runs this
    return 0


def _serve(daemon: Daemon, stopping: int) -> bool:
    """Wait for the signal to stop; return whether the program is to begin again, since other parts are installed."""
    is_other = bool(parts.news())  # while this one began
    said = None
    while not (is_other and daemon.may_begin_again()):
        words = daemon.parts_wait() if is_other else ""
        if words != said:
            daemon.note_waiting(words, not said)
            said = words
        if is_other and not select.select([stopping], [], [], 1.0)[0]:
            continue
        # procd's word that the settings changed, once for all that came; at a terminal it is the terminal that goes.
        if {*os.read(stopping, _SIGNALS)} != {signal.SIGHUP} or os.isatty(2):
            return False
        daemon.reload()
        daemon.parts.settle()
        is_other = bool(parts.news())
    daemon.note_waiting("", False)
    return True


def _stop_pipe() -> int:
    """Return the end of a pipe that becomes readable with the first signal to stop.

    The interpreter writes to the pipe in the signal itself. A handler of ours would run only between two bytecodes: too
    late for a signal just before a blocking call, and locked for ever inside Event.wait.
    """
    stopping, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return stopping
