"""What a child process may use up, by kind of program, and how the limits come to be.

`os.posix_spawn` sets none, a limit on ourselves would hold for every thread of the daemon, and prlimit(2) on a running
child comes late. So the child begins as a shell that runs one constant script, which takes its limits and becomes the
program: no process more, 0.7 ms more (1.3 to 2.0 ms for /bin/true on a small server), and no word of the script is
data. A limit that the host already has lower stays as it is. Core dumps are off for all.

The number of processes is not limited here: the kernel counts them a user, not a child, and root's not at all. The
worker does it for its own user (worker/rights.py).
"""

from __future__ import annotations

# Open files, KiB a file may grow to, KiB of addresses, seconds of CPU; "" leaves it as it is.
Limits = tuple[str, str, str, str]

# `uci` and `ubus` write configuration and print answers. Their memory is what they read, and one reads 256 KiB at most.
TOOL: Limits = ("64", "8192", "131072", "30")
# The package manager unpacks what it installs and runs its scripts, a backup is as large as /etc.
PACKAGES: Limits = ("256", "131072", "", "600", *TOOL[4:])
# Init scripts and our own scripts that call them. What a script starts and leaves running inherits these, a whole
# daemon in the worst case: so only what no daemon of a router needs is taken.
SERVICE: Limits = ("4096", "", "", "")
# The worker and the offline provider write to their pipes only. Addresses are not memory: TLS, thread stacks and arenas
# reserve far more than they use. An hour of CPU is the end of what spins, and no chat comes near it.
MODEL: Limits = ("64", "0", "524288", "3600")

_SHELL = "/bin/sh"
# Sizes of files are in blocks of 512 bytes (POSIX). A shell adds variables of its own, which the program shall not see.
_SCRIPT = (
    '{ ulimit -c 0; [ -z "$1" ] || ulimit -n "$1"; [ -z "$2" ] || ulimit -f "$2"; [ -z "$3" ] || ulimit -v "$3"; '
    '[ -z "$4" ] || ulimit -t "$4"; } 2>/dev/null; shift 4; unset PWD OLDPWD SHLVL; exec "$@"'
)


def limited(argv: list[str], limits: Limits) -> list[str]:
    """Return the words that start `argv` with limits."""
    files, size_kib, addresses_kib, cpu_s = limits
    blocks = str(int(size_kib) * 2) if size_kib else ""
    return [_SHELL, "-c", _SCRIPT, "limits", files, blocks, addresses_kib, cpu_s, *argv]
