"""Become a user without rights, then the program of somebody else's: `confined.py USER [@FOLDER] PROGRAM ARGUMENT…`.

Started by its path with -I. An empty USER stays who it is, which is for a router root in a folder only. The daemon's
limits hold on; new privileges are refused where the system can. It runs in /tmp; in a folder that is given it never
runs as root.
"""

from __future__ import annotations

import os
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from oasis.worker import rights


def main(words: list[str]) -> None:
    """Never returns: it becomes the program, or ends with a reason on stderr."""
    user, argv = words[0], words[1:]
    rights.forbid_new_privileges()
    if user and not rights.become(user):
        raise SystemExit(f"cannot become the user {user}")
    _enter(argv.pop(0)[1:] if argv[0].startswith("@") else "")
    os.umask(0o077)
    try:
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - the owner's own command, word by word
    except OSError as error:
        raise SystemExit(f"{argv[0]}: {error.strerror}")


def _enter(folder: str) -> None:
    if not folder:
        os.chdir("/tmp")  # noqa: S108
        return
    if os.geteuid() == 0:
        raise SystemExit("never as root")
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.fchdir(number)
    except OSError as error:
        raise SystemExit(f"{folder}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
