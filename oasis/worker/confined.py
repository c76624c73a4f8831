"""Become a user without rights, then the program of somebody else's: `confined.py USER PROGRAM ARGUMENT…`.

Started by its path with -I. An empty USER stays who it is, which is for a router root in a folder only. The daemon's
limits hold on; new privileges are refused where the system can.
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
    os.chdir("/tmp")  # noqa: S108
    os.umask(0o077)
    try:
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - the owner's own command, word by word
    except OSError as error:
        raise SystemExit(f"{argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
