"""What a child process may use up, by kind of program, and how the limits come to be.

`os.posix_spawn` sets none, a limit on ourselves would hold for every thread of the daemon, and prlimit(2) on a running
child comes late. So the child begins as a shell that runs one constant script, which takes its limits and becomes the
program: no process more, 0.7 ms more (1.3 to 2.0 ms for /bin/true on a small server), and no word of the script is
data. A limit that the host already has lower stays as it is. Core dumps are off for all.

The number of processes is not limited here: the kernel counts them a user, not a child, and root's not at all. The
worker does it for its own user (worker/rights.py).
"""

from __future__ import annotations

# Open files, KiB a file may grow to, KiB of addresses, seconds of CPU, oom_score_adj; "" leaves it as it is.
Limits = tuple[str, str, str, str, str]

# Who goes first where memory runs out: a worker, then the daemon (what waits to be kept is put back without it, by the
# guard), and only then what a router is for. A thousand is all of its memory (proc(5)).
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
    """Return the words that start `argv` with limits."""
    files, size_kib, addresses_kib, cpu_s, score = limits
    blocks = str(int(size_kib) * 2) if size_kib else ""
    return [_SHELL, "-c", _SCRIPT, "limits", files, blocks, addresses_kib, cpu_s, score, *argv]
