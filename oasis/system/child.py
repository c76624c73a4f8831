"""Child processes: started with whole argv and environment, limited, talked to, ended with their group.

`posix_spawn` instead of the subprocess module: that and what it imports are a tenth of an idle daemon's memory. The
child leads a session and group of its own, has default signals and the limits of its kind, and inherits no
descriptor but the three given ones. It works in the folder that this process works in.
Knows nothing of what the program does.
"""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Callable

from oasis.errors import ToolError

_KILL = 9
# Ignored by Python itself; a child that inherited this would not end when its reader is gone.
_IGNORED_SIGNALS = (13, 25)  # SIGPIPE, SIGXFSZ
_NULL = "/dev/null"
# The pauses between two looks at a child that still runs, as long as it takes to notice its end in good time.
_FIRST_PAUSE_S = 0.0005
_LAST_PAUSE_S = 0.05


class Child:
    """A running program. `stdin`, `stdout`, `stderr` are descriptors of ours, -1 where there is no pipe.

    `returncode` is None while it runs, then its exit status, negative for a signal. For one thread at a time.
    """

    def __init__(self, argv: list[str], env: dict[str, str], limits: Limits, has_input: bool, has_output: bool) -> None:
        """Start `argv`; without a pipe the other end is /dev/null.

        Raises: OSError when the program cannot be started.
        """
        if not os.access(argv[0], os.X_OK) or os.path.isdir(argv[0]):  # the shell would only end with a status
            number = errno.EACCES if os.path.exists(argv[0]) else errno.ENOENT
            raise OSError(number, os.strerror(number), argv[0])
        self.returncode: int | None = None
        pipes = [os.pipe() if wanted else None for wanted in (has_input, has_output, has_output)]
        inner = [pipe[number > 0] if pipe else -1 for number, pipe in enumerate(pipes)]
        outer = [pipe[number == 0] if pipe else -1 for number, pipe in enumerate(pipes)]
        self.stdin, self.stdout, self.stderr = outer
        try:
            actions: list[tuple[object, ...]] = []
            for number, ours in enumerate(inner):
                if ours >= 0:
                    actions.append((os.POSIX_SPAWN_DUP2, ours, number))
                else:
                    actions.append((os.POSIX_SPAWN_OPEN, number, _NULL, os.O_RDWR, 0))
            # Python's own descriptors close themselves; those that we were started with may not.
            for name in os.listdir("/proc/self/fd"):
                try:
                    if int(name) > 2 and os.get_inheritable(int(name)):
                        actions.append((os.POSIX_SPAWN_CLOSE, int(name)))
                except OSError:
                    continue  # closed meanwhile, as the one that read the folder
            words = limited(argv, limits)
            self.pid = os.posix_spawn(
                words[0], words, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=_IGNORED_SIGNALS
            )
        except (OSError, ValueError):
            self.close()
            raise
        finally:
            for number in inner:
                if number >= 0:
                    os.close(number)

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0  # somebody else waited for it; how it ended is lost
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Wait for its end, at most so long; return the exit status, None when it still runs."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = _FIRST_PAUSE_S
        while self.poll() is None:
            left_s = _LAST_PAUSE_S if deadline is None else deadline - time.monotonic()
            if left_s <= 0:
                return None
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 2, _LAST_PAUSE_S)
        return self.returncode

    def end_group(self) -> None:
        """End it and all it started; harmless when they are gone. It is reaped."""
        try:
            os.killpg(self.pid, _KILL)
        except OSError:
            pass  # the group is gone already
        self.wait()

    def close_input(self) -> None:
        """Close its stdin: there is nothing more to read for it."""
        if self.stdin >= 0:
            os.close(self.stdin)
        self.stdin = -1

    def close(self) -> None:
        for number in (self.stdin, self.stdout, self.stderr):
            if number >= 0:
                os.close(number)
        self.stdin = self.stdout = self.stderr = -1


# -- limits: what a child may use up, by kind of program --------------------------------------------------------------
#
# `os.posix_spawn` sets none, a limit on ourselves would hold for every thread of the daemon, and prlimit(2) on a
# running child comes late. So the child begins as a shell that runs one constant script, which takes its limits and
# becomes the program: no process more, 0.7 ms more (1.3 to 2.0 ms for /bin/true on a small server), and no word of the
# script is data. A limit that the host already has lower stays as it is. Core dumps are off for all.
#
# The number of processes is not limited here: the kernel counts them a user, not a child, and root's not at all. The
# worker does it for its own user (worker/rights.py).

# Open files, KiB a file may grow to, KiB of addresses, seconds of CPU, oom_score_adj; "" leaves it as it is.
Limits = tuple[str, str, str, str, str]

# Who goes first where memory runs out: a worker, then the daemon (the guard rolls back what waits to be kept without
# it), and only then what a router is for. A thousand is all of its memory (proc(5)).
DAEMON_SCORE = 200

# `uci` and `ubus` write configuration and print answers. Their memory is what they read, and one reads 256 KiB at most.
TOOL: Limits = ("64", "8192", "131072", "30", "")
# The package manager unpacks what it installs and runs its scripts, a backup is as large as /etc.
PACKAGES: Limits = ("256", "131072", "", "600", *TOOL[4:])
# Init scripts and our own scripts that call them. What a script starts and leaves running inherits these, a whole
# daemon in the worst case: so only what no daemon of a router needs is taken, and the score of all others given.
SERVICE: Limits = ("4096", "", "", "", "0")
# The worker and the offline provider write to their pipes only. Addresses are not memory: TLS, thread stacks and arenas
# reserve far more than they use. An hour of CPU is the end of what spins, and no chat comes near it.
MODEL: Limits = ("64", "0", "524288", "3600", "500")
# An MCP server of somebody else's: engines like node's reserve gigabytes of addresses, so memory is left to the score.
SERVER: Limits = ("256", "32768", "", "3600", "800")

_SHELL = "/bin/sh"
# Sizes of files are in blocks of 512 bytes (POSIX). A shell adds variables of its own, which the program shall not see.
_SCRIPT = (
    '{ ulimit -c 0; [ -z "$1" ] || ulimit -n "$1"; [ -z "$2" ] || ulimit -f "$2"; [ -z "$3" ] || ulimit -v "$3"; '
    '[ -z "$4" ] || ulimit -t "$4"; [ -z "$5" ] || echo "$5" >/proc/self/oom_score_adj; } 2>/dev/null; '
    'shift 5; unset PWD OLDPWD SHLVL; exec "$@"'
)


def give_way() -> str:
    """Have the kernel, short of memory, end this process before a router's services; return why not, or ""."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as handle:
            handle.write("%d\n" % DAEMON_SCORE)
    except OSError as error:
        return "out of memory, services of the router may go before oasisd: %s" % error.strerror
    return ""


def limited(argv: list[str], limits: Limits) -> list[str]:
    files, size_kib, addresses_kib, cpu_s, score = limits
    blocks = str(int(size_kib) * 2) if size_kib else ""
    return [_SHELL, "-c", _SCRIPT, "limits", files, blocks, addresses_kib, cpu_s, score, *argv]


# -- the executor: the one way in which the daemon runs a program to its end ------------------------------------------
#
# argv only, never a shell string; absolute paths of programs on a list; own session, so that the whole group can be
# ended; a timeout in monotonic time; output capped; limits by kind of program; no inherited descriptors; an environment
# given whole.

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

    def __init__(self, env: dict[str, str], kind: Callable[[list[str]], Limits | None]) -> None:
        self._env = env
        self._kind = kind

    def run(
        self, argv: list[str], stdin: bytes | None = None, timeout_s: float = _DEFAULT_S
    ) -> tuple[int, bytes, bytes]:
        """Run a program to its end and return (exit status, stdout, stderr).

        Raises: ToolError when it cannot be started, runs too long or prints too much; its whole group is then ended.
        """
        child = self._start(argv, stdin is not None, True)
        is_done = False
        try:
            out, err, fault = talk(child, stdin or b"", time.monotonic() + timeout_s, OUTPUT_BYTES)
            is_done = fault is None
        finally:
            if not is_done:
                child.end_group()
            child.close()
        if fault is not None:
            raise ToolError("%s %s" % (os.path.basename(argv[0]), fault.message), fault.hint)
        return child.returncode or 0, out, err

    def detach(self, argv: list[str]) -> Child:
        """Start a process that outlives this one: own session, no descriptors of ours."""
        return self._start(argv, False, False)

    def _start(self, argv: list[str], has_input: bool, has_output: bool) -> Child:
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


def talk(
    child: Child, data: bytes, deadline_s: float, most_bytes: int, is_cancelled: Callable[[], bool] = bool
) -> tuple[bytes, bytes, ToolError | None]:
    """Write to a child and take what it says to its end; return both streams, and why it must be ended, or None."""
    out, err = bytearray(), bytearray()
    fault: ToolError | None = None
    poll = select.poll()
    sinks = {child.stdout: out, child.stderr: err}
    for number in sinks:
        poll.register(number, select.POLLIN | select.POLLHUP)
    if child.stdin >= 0:
        os.set_blocking(child.stdin, False)
        poll.register(child.stdin, select.POLLOUT)
    ended_s = 0.0
    while sinks and fault is None:
        now_s = time.monotonic()
        ready = poll.poll(max(min(deadline_s - now_s, _SILENCE_S), 0) * 1000)
        if child.poll() is not None:
            ended_s = ended_s or now_s
            if not ready or now_s - ended_s > _AFTER_S:
                break
        elif now_s >= deadline_s:
            fault = ToolError("did not end in time and was stopped", "try again; look at its log if this repeats")
        for number, _ in ready:
            if number == child.stdin:
                try:
                    data = data[os.write(number, data[:_PIECE]) :] if data else data
                except BrokenPipeError:
                    data = b""  # the program reads no further; its exit status tells whether that was wrong
                if not data:
                    poll.unregister(number)
                    child.close_input()
                continue
            piece = os.read(number, _PIECE)
            if piece:
                sinks[number] += piece
            else:
                poll.unregister(number)
                del sinks[number]
        if is_cancelled():
            fault = ToolError("was stopped by the owner")
        elif len(out) + len(err) > most_bytes:
            fault = ToolError("printed more than %d bytes and was stopped" % most_bytes, "ask for less")
    while fault is None and child.wait(min(max(deadline_s - time.monotonic(), _LAST_LOOK_S), _SILENCE_S)) is None:
        if is_cancelled():
            fault = ToolError("was stopped by the owner")
        elif time.monotonic() >= deadline_s:
            fault = ToolError("closed its output but did not end", "it was stopped")
    return bytes(out), bytes(err), fault
