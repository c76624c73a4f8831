"""A child process: started with whole argv and environment, waited for, ended with its group.

`posix_spawn` instead of the subprocess module: that and what it imports are a tenth of an idle daemon's memory. The
child leads a session and group of its own, has default signals and the limits of its kind (limits.py), and inherits no
descriptor but the three given ones. It works in the folder that this process works in. Knows nothing of timeouts for
talking, or of what the program does.
"""

from __future__ import annotations

import errno
import os
import time

from oasis.system.limits import limited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.system.limits import Limits

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
        _check_program(argv[0])
        self.returncode: int | None = None
        pipes = [os.pipe() if wanted else None for wanted in (has_input, has_output, has_output)]
        inner = [pipe[number > 0] if pipe else -1 for number, pipe in enumerate(pipes)]
        outer = [pipe[number == 0] if pipe else -1 for number, pipe in enumerate(pipes)]
        self.stdin, self.stdout, self.stderr = outer
        try:
            actions = _actions(inner)
            words = limited(argv, limits)
            self.pid = os.posix_spawn(
                words[0], words, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=_IGNORED_SIGNALS
            )
        except (OSError, ValueError):
            self.close()
            raise
        finally:
            for number in inner:
                _close(number)

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
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
        _close(self.stdin)
        self.stdin = -1

    def close(self) -> None:
        """Close our ends of all pipes."""
        self.close_input()
        _close(self.stdout)
        _close(self.stderr)
        self.stdout = self.stderr = -1


def _check_program(path: str) -> None:
    """Raise what starting a missing program raises: the shell that takes the limits would only end with a status."""
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        number = errno.EACCES if os.path.exists(path) else errno.ENOENT
        raise OSError(number, os.strerror(number), path)


def _actions(inner: list[int]) -> list[tuple[object, ...]]:
    """Return what the new process does with descriptors before the program starts."""
    actions: list[tuple[object, ...]] = []
    for number, ours in enumerate(inner):
        if ours >= 0:
            actions.append((os.POSIX_SPAWN_DUP2, ours, number))
        else:
            actions.append((os.POSIX_SPAWN_OPEN, number, _NULL, os.O_RDWR, 0))
    # Python's own descriptors close themselves; those that we were started with may not.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and _is_inheritable(int(name)):
            actions.append((os.POSIX_SPAWN_CLOSE, int(name)))
    return actions


def _is_inheritable(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # closed meanwhile, as the one that read the folder


def _close(number: int) -> None:
    if number >= 0:
        os.close(number)
