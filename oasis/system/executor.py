"""Run a child process with limits: the one way in which the daemon starts a program.

argv only, never a shell string; absolute program paths; own session, so that the whole group can be ended; a timeout
in monotonic time; output capped; no inherited descriptors; an environment given whole.
"""

import os
import select
import signal
import subprocess
import time

from oasis.errors import ToolError

OUTPUT_BYTES = 256 * 1024  # rpcd's own limit for the output of a program
_DEFAULT_S = 30.0  # rpcd ends its scripts after the same time
_PIECE = 65536
# A service started by an init script may keep our pipe open for ever: once the script itself has ended, this long a
# silence ends the reading.
_SILENCE_S = 0.1


class Executor:
    """Start programs with one environment."""

    def __init__(self, env: "dict[str, str]") -> None:
        self._env = env

    def run(
        self, argv: "list[str]", stdin: "bytes | None" = None, timeout_s: float = _DEFAULT_S
    ) -> "tuple[int, bytes, bytes]":
        """Run a program to its end and return (exit status, stdout, stderr).

        Raises: ToolError when it cannot be started, runs too long or prints too much; its whole group is then ended.
        """
        child = self._start(argv, stdin is not None)
        try:
            out, err = _talk(child, stdin or b"", time.monotonic() + timeout_s)
        except ToolError as error:
            end_group(child)
            raise ToolError("%s %s" % (os.path.basename(argv[0]), error.message), error.hint)
        finally:
            _close(child)
        return child.returncode, out, err

    def detach(self, argv: "list[str]") -> "subprocess.Popen[bytes]":
        """Start a process that outlives this one: own session, no descriptors of ours."""
        return self._popen(argv, subprocess.DEVNULL, subprocess.DEVNULL)

    def _start(self, argv: "list[str]", has_input: bool) -> "subprocess.Popen[bytes]":
        return self._popen(argv, subprocess.PIPE if has_input else subprocess.DEVNULL, subprocess.PIPE)

    def _popen(self, argv: "list[str]", stdin: int, output: int) -> "subprocess.Popen[bytes]":
        if not os.path.isabs(argv[0]):
            raise ToolError("%r is not an absolute path" % argv[0], "programs are looked up once, at start")
        if any("\0" in word for word in argv):
            raise ToolError("an argument of %s holds a NUL byte" % argv[0], "leave it out")
        try:
            return subprocess.Popen(  # noqa: S603
                argv, stdin=stdin, stdout=output, stderr=output, env=self._env, cwd="/", start_new_session=True, bufsize=0
            )
        except OSError as error:
            raise ToolError("cannot start %s: %s" % (argv[0], error), "is the program installed?")


def end_group(child: "subprocess.Popen[bytes]") -> None:
    """End a child and all it started; harmless when they are gone. The child is reaped."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass  # the group is gone already
    child.wait()


def _close(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _talk(child: "subprocess.Popen[bytes]", data: bytes, deadline: float) -> "tuple[bytes, bytes]":
    out, err = bytearray(), bytearray()
    poll = select.poll()
    sinks: dict[int, bytearray] = {}
    for pipe, sink in ((child.stdout, out), (child.stderr, err)):
        if pipe is not None:
            sinks[pipe.fileno()] = sink
            poll.register(pipe.fileno(), select.POLLIN | select.POLLHUP)
    if child.stdin is not None:
        os.set_blocking(child.stdin.fileno(), False)
        poll.register(child.stdin.fileno(), select.POLLOUT)
    while sinks:
        wait_s = deadline - time.monotonic()
        ready = poll.poll(max(min(wait_s, _SILENCE_S), 0) * 1000)
        if not ready and child.poll() is not None:
            break
        if not ready and wait_s <= 0:
            raise ToolError("did not end in time and was stopped", "try again; look at its log if this repeats")
        for number, _ in ready:
            if number in sinks:
                _read(number, sinks, poll)
            elif child.stdin is not None:
                data = _feed(child, data, poll)
        if len(out) + len(err) > OUTPUT_BYTES:
            raise ToolError("printed more than %d bytes and was stopped" % OUTPUT_BYTES, "ask for less")
    _wait(child, deadline)
    return bytes(out), bytes(err)


def _read(number: int, sinks: "dict[int, bytearray]", poll: select.poll) -> None:
    piece = os.read(number, _PIECE)
    if piece:
        sinks[number] += piece
    else:
        poll.unregister(number)
        del sinks[number]


def _feed(child: "subprocess.Popen[bytes]", data: bytes, poll: select.poll) -> bytes:
    assert child.stdin is not None
    try:
        data = data[os.write(child.stdin.fileno(), data[:_PIECE]) :] if data else data
    except BrokenPipeError:
        data = b""  # the program reads no further; its exit status tells whether that was wrong
    if not data:
        poll.unregister(child.stdin.fileno())
        child.stdin.close()
        child.stdin = None
    return data


def _wait(child: "subprocess.Popen[bytes]", deadline: float) -> None:
    try:
        child.wait(max(deadline - time.monotonic(), 0.05))
    except subprocess.TimeoutExpired:
        raise ToolError("closed its output but did not end", "it was stopped")
