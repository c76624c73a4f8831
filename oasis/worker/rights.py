"""Give away what is not needed: a worker once, after every import; and before a program of somebody else's is run.

Each step is taken where the system has it; none of them is the only wall (the router's own rules fence the user in,
system/confinement.py).

Started by its path with -I, as `rights.py USER [@FOLDER] PROGRAM ARGUMENT…`, it becomes a user without rights, then
that program. An empty USER stays who it is, which is for a router root in a folder only. The daemon's limits hold on;
new privileges are refused where the system can. It runs in /tmp; in a folder that is given it never runs as root.
"""

from __future__ import annotations

import os
import pwd
import sys

# Before the rights are gone: an interpreter may lie where the user cannot read.
try:
    import resource
except ImportError:  # a router's slim Python; the daemon sets most limits too (system/child.py)
    resource = None  # type: ignore[assignment]
try:
    import ctypes
except ImportError:  # is a package of its own there
    ctypes = None  # type: ignore[assignment]

USER = "oasis"

# Of addresses, not of memory: TLS, thread stacks and arenas reserve far more than used.
MEMORY_BYTES = 512 * 1024 * 1024
FILES = 64
PROCESSES = 64  # counts threads of every worker of this user, so only set for a user of its own


def drop(user: str, is_required: bool = False) -> None:
    """Limit resources, forbid new privileges and, as root, become `user`.

    Raises: SystemExit where that is not possible and `is_required`.
    """
    forbid_new_privileges()
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_NOFILE", FILES)
    _limit("RLIMIT_AS", MEMORY_BYTES)
    if not become(user) and is_required:
        raise SystemExit(f"cannot become the user {user}")


def become(user: str) -> bool:
    """Become `user` for good; False when not root or there is no such user."""
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        return False
    if os.geteuid() != 0 or 0 in (entry.pw_uid, entry.pw_gid):
        return False
    _limit("RLIMIT_NPROC", PROCESSES)
    os.setgroups([entry.pw_gid])
    os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    return True


def become_or_end(user: str) -> None:
    """Become `user`, "" for nobody else, before a program of somebody else's is run, or its files are touched."""
    forbid_new_privileges()
    if user and not become(user):
        raise SystemExit(f"cannot become the user {user}")
    os.umask(0o077)


def forbid_new_privileges() -> None:
    """Set no_new_privs, but where ctypes is missing, as in a router's slim Python.

    procd's own `no_new_privs` is only for services in a jail. What it keeps from: programs with the setuid bit, of
    which a stock router has none.
    """
    try:
        if ctypes is not None:
            ctypes.CDLL(None, use_errno=True).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, linux/prctl.h
    except (OSError, AttributeError):
        pass  # another kernel, or another libc


def _limit(name: str, value: int) -> None:
    if resource is None:
        return
    which = getattr(resource, name)
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def main(user: str, argv: list[str]) -> None:
    """Never returns: it becomes the program, or ends with a reason on stderr."""
    become_or_end(user)
    folder = argv.pop(0)[1:] if argv[0].startswith("@") else ""
    if folder and os.geteuid() == 0:
        raise SystemExit("never as root")
    try:
        if folder:
            os.fchdir(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
        else:
            os.chdir("/tmp")  # noqa: S108
    except OSError as error:
        raise SystemExit(f"{folder}: {error.strerror}")
    try:
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - the owner's own command, word by word
    except OSError as error:
        raise SystemExit(f"{argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
