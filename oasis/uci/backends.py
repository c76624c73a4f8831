"""Which backend opens the cursor, told without loading one: an idle daemon never opens it."""

from __future__ import annotations

from oasis.errors import UciError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

BACKENDS = ("auto", "pyuci", "program", "file")
# What the owner is told that a backend is.
NAMES = {"pyuci": "the library pyuci", "program": "the program uci", "file": "files of its own reading"}


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
    if find_module() is not None:
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
