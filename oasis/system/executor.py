"""Run a child process with limits: the one way in which the daemon starts a program.

argv only, never a shell string; absolute paths of programs on a list; own session, so that the whole group can be
ended; a timeout in monotonic time; output capped; limits by kind of program; no inherited descriptors; an environment
given whole.
"""

import os
import select
import time

from oasis.errors import ToolError
from oasis.system.child import Child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.system.limits import Limits

OUTPUT_BYTES = 256 * 1024  # rpcd's own limit for the output of a program
_DEFAULT_S = 30.0  # rpcd ends its scripts after the same time
_PIECE = 65536
# A service started by an init script may keep our pipe open for ever: once the script itself has ended, this long a
# silence ends the reading, and so does this much time when the service goes on printing.
_SILENCE_S = 0.1
_AFTER_S = 1.0
# A program whose time is over when its output ends still gets this long to end itself.
_LAST_LOOK_S = 0.05


class Executor:
    """Start programs with one environment.

    `kind(argv)` is the allow-list: it returns the limits of a command that may be started, None for every other.
    """

    def __init__(self, env: "dict[str, str]", kind: "Callable[[list[str]], Limits | None]") -> None:
        self._env = env
        self._kind = kind

    def run(
        self, argv: "list[str]", stdin: "bytes | None" = None, timeout_s: float = _DEFAULT_S
    ) -> "tuple[int, bytes, bytes]":
        """Run a program to its end and return (exit status, stdout, stderr).

        Raises: ToolError when it cannot be started, runs too long or prints too much; its whole group is then ended.
        """
        child = self._start(argv, stdin is not None, True)
        is_done = False
        try:
            out, err = _talk(child, stdin or b"", time.monotonic() + timeout_s)
            is_done = True
        except ToolError as error:
            raise ToolError("%s %s" % (os.path.basename(argv[0]), error.message), error.hint)
        finally:
            if not is_done:
                child.end_group()
            child.close()
        return child.returncode or 0, out, err

    def detach(self, argv: "list[str]") -> Child:
        """Start a process that outlives this one: own session, no descriptors of ours."""
        return self._start(argv, False, False)

    def _start(self, argv: "list[str]", has_input: bool, has_output: bool) -> Child:
        if not os.path.isabs(argv[0]):
            raise ToolError("%r is not an absolute path" % argv[0], "programs are looked up once, at start")
        if any("\0" in word for word in argv):
            raise ToolError("an argument of %s holds a NUL byte" % argv[0], "leave it out")
        limits = self._kind(argv)
        if limits is None:
            raise ToolError(
                "%s is not on the list of what may be started" % argv[0], "oasis/system/root.py has the list"
            )
        try:
            return Child(argv, self._env, limits, has_input, has_output)
        except UnicodeError:
            raise ToolError("an argument of %s holds half a surrogate pair" % argv[0], "leave it out")
        except OSError as error:
            raise ToolError("cannot start %s: %s" % (argv[0], error), "is the program installed?")


def _talk(child: Child, data: bytes, deadline: float) -> "tuple[bytes, bytes]":
    out, err = bytearray(), bytearray()
    poll = select.poll()
    sinks = {child.stdout: out, child.stderr: err}
    for number in sinks:
        poll.register(number, select.POLLIN | select.POLLHUP)
    if child.stdin >= 0:
        os.set_blocking(child.stdin, False)
        poll.register(child.stdin, select.POLLOUT)
    ended_s = 0.0
    while sinks:
        now_s = time.monotonic()
        ready = poll.poll(max(min(deadline - now_s, _SILENCE_S), 0) * 1000)
        if child.poll() is not None:
            ended_s = ended_s or now_s
            if not ready or now_s - ended_s > _AFTER_S:
                break
        elif now_s >= deadline:
            raise ToolError("did not end in time and was stopped", "try again; look at its log if this repeats")
        for number, _ in ready:
            if number in sinks:
                _read(number, sinks, poll)
            elif child.stdin >= 0:
                data = _feed(child, data, poll)
        if len(out) + len(err) > OUTPUT_BYTES:
            raise ToolError("printed more than %d bytes and was stopped" % OUTPUT_BYTES, "ask for less")
    if child.wait(max(deadline - time.monotonic(), _LAST_LOOK_S)) is None:
        raise ToolError("closed its output but did not end", "it was stopped")
    return bytes(out), bytes(err)


def _read(number: int, sinks: "dict[int, bytearray]", poll: select.poll) -> None:
    piece = os.read(number, _PIECE)
    if piece:
        sinks[number] += piece
    else:
        poll.unregister(number)
        del sinks[number]


def _feed(child: Child, data: bytes, poll: select.poll) -> bytes:
    try:
        data = data[os.write(child.stdin, data[:_PIECE]) :] if data else data
    except BrokenPipeError:
        data = b""  # the program reads no further; its exit status tells whether that was wrong
    if not data:
        poll.unregister(child.stdin)
        child.close_input()
    return data
