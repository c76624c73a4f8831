"""Makes the program `oasis` as it is installed, for this checkout: the two constants replaced as `make` does it."""

import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def install(folder, program=REPOSITORY + "/files/usr/bin/oasis", library=REPOSITORY):
    """Write the launcher into `folder` and return the argv that starts it."""
    with open(program, encoding="utf-8") as source:
        text = source.read()
    for line, replacement in (('LIB = "/usr/lib/oasis"', f"LIB = {library!r}"), ('ROOT = "/"', "ROOT = '/nowhere'")):
        assert text.count(f"\n{line}\n") == 1, f"{line} must stand on a line of its own"
        text = text.replace(f"\n{line}\n", f"\n{replacement}\n")
    path = os.path.join(str(folder), "oasis")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    return [sys.executable, "-IS", path]


def environment(root, **more):
    """Return the environment of a command that talks to the daemon of `root`."""
    plain = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "vt100"}
    return {**plain, "OASIS_ROOT": str(root), **more}
