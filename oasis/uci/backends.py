"""Which backend opens a cursor: pyuci, the program `uci`, or files of our own reading; loads the one that is meant."""

from __future__ import annotations

from collections.abc import Callable

from oasis.errors import UciError

if False:  # annotations only
    from types import ModuleType

    from oasis.uci.cursor import Cursor

    Run = Callable[..., tuple[int, bytes, bytes]]

BACKENDS = ("auto", "pyuci", "program", "file")
# Names of the backends for the owner.
NAMES = {"pyuci": "the library pyuci", "program": "the program uci", "file": "files of its own reading"}


def open_cursor(
    confdir: str, savedir: str, backend: str = "auto", run: Run | None = None, program: str | None = None
) -> Cursor:
    """Return a cursor on these folders.

    `backend` is "pyuci", "program", "file" or "auto": with `run`, pyuci when it imports, else the program; without it,
    files. `run(argv, stdin=None) -> (status, stdout, stderr)` starts a program; `program` is the path of `uci`.
    """
    kind = chosen(backend, run is not None)
    if kind == "file" or run is None:
        from oasis.uci.cursor import Cursor

        return Cursor(confdir, savedir)
    from oasis.uci.program_backend import ProgramBackend, PyuciBackend

    return (PyuciBackend if kind == "pyuci" else ProgramBackend)(confdir, savedir, run, program or "uci")


def chosen(backend: str, has_program: bool) -> str:
    """Return which of BACKENDS is meant; auto is pyuci when it imports, else the program, and files without one.

    Raises: UciError for one that cannot be had.
    """
    if backend not in BACKENDS:
        raise UciError(f"uci_backend {backend}: no such backend", "auto, pyuci, program or file")
    if backend == "file" or (backend == "auto" and not has_program):
        return "file"
    if not has_program:
        raise UciError(f"uci_backend {backend}: nothing to start programs with", "give run")
    if backend != "program" and find_module() is not None:
        return "pyuci"
    if backend == "pyuci":
        raise UciError("uci_backend pyuci: the module does not import", "install it or choose another backend")
    return "program"


def find_module() -> ModuleType | None:
    """Return pyuci's module, or None when it does not import or is another one of that name."""
    try:
        module = __import__("uci")
    except ImportError:
        return None
    return module if hasattr(module, "Uci") and hasattr(module, "UciExceptionNotFound") else None
