"""The cursor over pyuci, libuci's Python module: reads and sets single values in this process, the rest by the program.

pyuci 0.8 knows no `@type[n]`, cannot add, reorder, list changes, import or unload, and keeps most errors to itself. So
it is asked for plain names only, by a fresh handle each time (it has no way to read a package again), what it wrote is
read again, and whatever it refuses is done by the program, which tells why.
"""

from __future__ import annotations

from oasis.errors import UciError
from oasis.uci import edit, libuci
from oasis.uci.backends import find_module
from oasis.uci.program_backend import ProgramBackend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.uci.backends import Run
    from oasis.uci.cursor import Value
    from oasis.uci.edit import Operation


class PyuciBackend(ProgramBackend):
    """UCI by libuci in this process, and by the program."""

    backend = "pyuci"

    def __init__(self, confdir: str, savedir: str, run: Run, program: str) -> None:
        super().__init__(confdir, savedir, run, program)
        self._module: Any = find_module()

    def get(self, package: str, section: str, option: str | None = None) -> Value | None:
        if _is_plain(package, section, option):
            value = self._read(package, section, option)
            if value:
                return value
        return super().get(package, section, option)

    def _operate(self, operation: Operation) -> str | None:
        value = operation.get("value")
        is_ours = operation["op"] == "set" and value and _is_utf8(value)
        if is_ours and _is_plain(operation["package"], operation["section"], operation["option"]):
            return self._set(operation)
        return super()._operate(operation)

    def _set(self, operation: Operation) -> str | None:
        package, section, option, value = (str(operation[key]) for key in ("package", "section", "option", "value"))
        if self._read(package, section) is None:
            return super()._operate(operation)
        self.unload(package)
        handle = self._open()
        try:
            handle.set(package, section, option, value)
            handle.save(package)
        except self._module.UciException as error:
            raise UciError(f"{edit.label(operation)}: {error}", "see what `uci` says to the same")
        if self._read(package, section, option) != value:
            raise UciError(f"{edit.label(operation)}: the value was not staged", "is the save folder full?")
        return None

    def _read(self, *parts: str | None) -> Value | None:
        """Return what is there, None when it is missing or unknown."""
        try:
            value = self._open().get(*[part for part in parts if part is not None])
        except (self._module.UciException, UnicodeError):
            return None
        return list(value) if isinstance(value, tuple) else str(value)

    def _open(self) -> Any:
        return self._module.Uci(savedir=self.savedir(), confdir=self.confdir())


def _is_plain(package: object, section: object, option: object) -> bool:
    return (
        isinstance(package, str)
        and libuci.is_package_name(package)
        and libuci.is_name(str(section))
        and (option is None or libuci.is_name(str(option)))
    )


def _is_utf8(value: object) -> bool:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True
