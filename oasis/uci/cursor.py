"""The writer of configuration, over files or over the `uci` program, which write and stage the same.

    changes(package)         records of what is staged and not committed
    stage(operations)        do all and stage them, or none: see edit.py
    commit(package)          write what is staged to the file
    revert(package)          drop what is staged
    write(operations, expected)   drop what is staged, do all and commit, where every package then exports as expected

`expected` is {package: what `uci export` must print of it before the commit}, with each package of the operations. What
was committed before a package that fails stays so; UnwrittenError: nothing was written.
A file that does not parse, a refused name and a failed write raise UciError (message: package.section.option and
libuci's words; of a list of operations the number, from 1). After an I/O error the save folder may hold the changes of
some packages and not of others: revert them.
"""

from __future__ import annotations

from oasis.errors import UciError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.uci.file_backend import FileBackend
    from oasis.uci.program_backend import ProgramBackend

    Cursor = FileBackend | ProgramBackend
    Run = Callable[..., tuple[int, bytes, bytes]]

BACKENDS = ("auto", "pyuci", "program", "file")
# Names of the backends for the owner.
NAMES = {"pyuci": "the library pyuci", "program": "the program uci", "file": "files of its own reading"}


def open_cursor(
    confdir: str = "/etc/config",
    savedir: str = "/tmp/.uci",  # noqa: S108 (libuci's own default)
    backend: str = "auto",
    run: Run | None = None,
    program: str | None = None,
) -> Cursor:
    """Return a cursor on these folders.

    `backend` is one of BACKENDS, see `chosen`. `run(argv, stdin=None) -> (status, stdout, stderr)` starts a program;
    `program` is the path of `uci`. pyuci cannot add, reorder or tell what is staged: its lists of operations go by the
    program.
    """
    if chosen(backend, run is not None) == "file" or run is None:
        from oasis.uci.file_backend import FileBackend

        return FileBackend(confdir, savedir)
    from oasis.uci.program_backend import ProgramBackend

    return ProgramBackend(confdir, savedir, run, program or "uci")


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
    if backend == "program":
        return "program"
    try:
        module: object = __import__("uci")
    except ImportError:
        module = None
    if hasattr(module, "Uci") and hasattr(module, "UciExceptionNotFound"):
        return "pyuci"  # and no other module of that name
    if backend == "pyuci":
        raise UciError("uci_backend pyuci: the module does not import", "install it or choose another backend")
    return "program"
