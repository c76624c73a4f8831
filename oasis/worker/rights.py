"""Give away what the worker does not need; called once, after every import.

Each step is taken where the system has it; none of them is the only wall (the router's own rules fence the user in).
"""

from __future__ import annotations

import os

USER = "oasis"

MEMORY_BYTES = (
    512 * 1024 * 1024
)  # of addresses, not of memory: TLS, thread stacks and arenas reserve far more than used
FILES = 64
PROCESSES = 64  # counts threads of every worker of this user, so only set once it is a user of its own


def drop(user: str) -> None:
    """Limit resources, forbid new privileges and, as root, become `user` where that user exists."""
    forbid_new_privileges()
    if become(user):
        _limit("RLIMIT_NPROC", PROCESSES)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_NOFILE", FILES)
    _limit("RLIMIT_AS", MEMORY_BYTES)


def become(user: str) -> bool:
    """Become `user` for good; False when not root or there is no such user."""
    try:
        import pwd

        entry = pwd.getpwnam(user)
    except (ImportError, KeyError):
        return False
    if os.geteuid() != 0:
        return False
    os.setgroups([entry.pw_gid])
    os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    return True


def forbid_new_privileges() -> bool:
    """Set no_new_privs; False where ctypes is missing (there procd sets it for the whole tree)."""
    try:
        import ctypes
    except ImportError:
        return False
    no_new_privs = 38  # PR_SET_NO_NEW_PRIVS, linux/prctl.h
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return False
    return bool(prctl(no_new_privs, 1, 0, 0, 0) == 0)


def _limit(name: str, value: int) -> None:
    try:
        import resource
    except ImportError:  # a router's slim Python
        return
    which = getattr(resource, name)
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
