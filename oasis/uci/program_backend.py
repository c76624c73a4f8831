"""The cursors over the `uci` program, and over pyuci where that is there.

Values go in by `uci batch` on stdin, never by argv, and the result is checked.

`uci batch` always exits 0, so after each one the export must equal what our own model makes of the operations; if not,
packages that had nothing staged are reverted. The program also reads the system's own save folder (/tmp/.uci) whatever
-t says: `commit` refuses while changes of others are staged there, for it would write them along.

pyuci 0.8, libuci's Python module, knows no `@type[n]`, cannot add, reorder, list changes, import or unload, and keeps
most errors to itself. So it is asked for plain names only, by a fresh handle each time (it has no way to read a package
again), what it wrote is read again, and whatever it refuses is done by the program, which tells why.
"""

from __future__ import annotations

from oasis.errors import OasisError, UciError
from oasis.uci import edit, libuci, model
from oasis.uci.backends import find_module
from oasis.uci.cursor import Cursor, unexpected
from oasis.uci.package import Package, Section, changes_text, file_text, quote

if False:  # annotations only
    from typing import Any

    from oasis.uci.backends import Run
    from oasis.uci.cursor import Value
    from oasis.uci.edit import Operation

_PLACE = r" \((.*)\) at line ([0-9]+), byte ([0-9]+)"
# Sections that our model adds while foreseeing get names behind any that a package can have.
_BEYOND = 1 << 20


class ProgramBackend(Cursor):
    """UCI by the real program; each change is staged as soon as it is made."""

    backend = "program"

    def __init__(self, confdir: str, savedir: str, run: Run, program: str) -> None:
        super().__init__(confdir, savedir)
        self._start = run
        self._program = program

    def save(self, package: str) -> None:
        return  # every change is staged when it is made

    def commit(self, package: str | None = None) -> None:
        for name in self.configs() if package is None else [package]:
            _check_name(name)
            if self._run(["changes", name]) != self._staged(name):
                raise UciError(
                    f"{name}: changes staged by others would be committed along",
                    f"see `uci changes {name}`, commit or revert",
                )
            self._run(["commit", name])
            self.unload(name)

    def revert(self, package: str, section: str | None = None, option: str | None = None) -> None:
        self._existing(package)
        words = [package, *[part for part in (section, option) if part is not None]]
        self._run(["revert", ".".join(words)])
        self.unload(package)

    def import_(self, data: bytes, package: str | None = None, merge: bool = False) -> None:
        if package is not None:
            _check_name(package)
        self._run([*(["-m"] if merge else []), "import", *([package] if package is not None else [])], data)
        self._context.packages.clear()

    def export(self, package: str | None = None) -> bytes:
        if package is not None:
            _check_name(package)
        return self._run(["export", *([package] if package is not None else [])])

    def stage(self, steps: list[Operation]) -> list[str | None]:
        return self._stage(steps, edit.apply_all(steps, self._fresh)[0])

    def write(self, steps: list[Operation], expected: dict[str, bytes]) -> None:
        """Do it in two processes: one that stages and shows what came of it, one that commits."""
        for operation in steps:
            edit.check(operation)
        # The program reads file and deltas again for each line of a batch: what it shows is what it will commit.
        lines = _each("revert", expected) + [edit.batch_line(operation) for operation in steps]
        lines += _each("changes", expected) + _each("export", expected)
        try:
            shown = self._run(["batch"], libuci.encode("".join(lines)))
            added = len([operation for operation in steps if operation["op"] == "add"])
            self._compare(shown.split(b"\n", added)[-1], expected)
        except UciError:
            for name in expected:
                self._run(["revert", name])
            raise
        finally:
            self._context.packages.clear()
        self._run(["batch"], libuci.encode("".join(_each("commit", expected))))

    def _compare(self, shown: bytes, expected: dict[str, bytes]) -> None:
        """Raise UciError unless a batch shows our own changes, no others, and then the packages as expected."""
        ours = {name: self._staged(name) for name in expected}
        for name, text in [*ours.items(), *expected.items()]:
            if not shown.startswith(text):
                raise unexpected(name)
            shown = shown[len(text) :]
        if shown:
            raise UciError("uci batch shows more than it was asked for", "nothing was written")

    def _operate(self, operation: Operation) -> str | None:
        package = self._fresh(operation["package"])
        edit.apply(operation, package)
        return self._stage([operation], {package.name: package})[0]

    def _stage(self, steps: list[Operation], foreseen: dict[str, Package]) -> list[str | None]:
        """Run the batch and compare; the packages in `foreseen` are how they must be after it."""
        was_clean = [name for name in foreseen if not self._context.staged(name)]
        text = "".join([edit.batch_line(operation) for operation in steps])
        try:
            added = iter(libuci.decode(self._run(["batch"], libuci.encode(text))).split("\n")[:-1])
            result = [next(added, None) if operation["op"] == "add" else None for operation in steps]
            for name, package in foreseen.items():
                # All but the order of options, which depends on lists that were emptied before and do not show.
                shown, wanted = model.parse(self.export(name), name), model.parse(file_text(package), name)
                if _content(shown) != _content(wanted):
                    raise UciError(f"{name}: uci batch staged something else than was asked", "nothing was committed")
        except UciError:
            for name in was_clean:
                self._run(["revert", name])
            raise
        return result

    def _package(self, name: str) -> Package | None:
        known = self._context.packages
        if name in known:
            return known[name]
        _check_name(name)
        try:
            plain = self.export(name)
            named = self._run(["-n", "export", name]) if b"\nconfig " in plain else plain
        except libuci.Refused as error:
            if error.status == libuci.NOT_FOUND:
                return None
            raise
        # One export shows which sections are anonymous, the other their names.
        anonymous = [section.anonymous for section in model.parse(plain, name).sections]
        package = model.parse(named, name)
        if len(anonymous) != len(package.sections):
            raise UciError(f"{name}: changed while it was read", "try again")
        pairs = zip(package.sections, anonymous)  # noqa: B905 (compared above)
        sections = [Section(one.type, one.name, is_anonymous, one.options) for one, is_anonymous in pairs]
        known[name] = Package(name, sections, _BEYOND).loaded(named)
        return known[name]

    def _staged(self, name: str) -> bytes:
        """Return what `uci changes` must print where nobody else has staged anything."""
        return libuci.encode(changes_text(name, self._context.staged(name)))

    def _run(self, words: list[str], stdin: bytes | None = None) -> bytes:
        """Run the program; raises Refused or UciError when it complains, whatever it exits with."""
        flags = words[:1] if words[0].startswith("-") else []
        argv = [self._program, "-c", self.confdir(), "-t", self.savedir(), *flags, "--", *words[len(flags) :]]
        try:
            status, stdout, stderr = self._start(argv, stdin=stdin)
        except OasisError as error:
            raise UciError(f"uci {words[-1]}: {error.message}", error.hint)
        if status != 0 or stderr:
            raise _refused(words, libuci.decode(stderr).partition("\n")[0])
        return stdout


class PyuciBackend(ProgramBackend):
    """UCI by libuci in this process, which reads and sets single values, and by the program."""

    backend = "pyuci"

    def __init__(self, confdir: str, savedir: str, run: Run, program: str) -> None:
        super().__init__(confdir, savedir, run, program)
        self._module: Any = find_module()

    def get(self, package: str, section: str, option: str | None = None) -> Value | None:
        if libuci.is_package_name(package) and libuci.is_name(section) and (option is None or libuci.is_name(option)):
            value = self._read(package, section, option)
            if value:
                return value
        return super().get(package, section, option)

    def _operate(self, operation: Operation) -> str | None:
        package, section = operation["package"], operation.get("section", "")
        option, value = operation.get("option", ""), operation.get("value", "")
        is_ours = operation["op"] == "set" and value and libuci.is_name(section) and libuci.is_name(option)
        if not is_ours or not _is_utf8(value) or self._read(package, section) is None:
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


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _each(word: str, packages: dict[str, bytes]) -> list[str]:
    return [f"{word} {quote(name)}\n" for name in packages]


def _check_name(package: str) -> None:
    if not libuci.is_package_name(package):
        raise libuci.Refused(libuci.INVALID, package, hint="a package is a file's name, without slashes")


def _refused(words: list[str], complaint: str) -> UciError:
    """Return the program's first complaint as our error."""
    about = words[-1] if len(words) > 1 else "uci batch"
    import re  # with the first complaint: it costs more than all of this

    place = re.search(_PLACE, complaint)
    for status, text in libuci.WORDS.items():
        if text in complaint:
            return libuci.Refused(status, about, (place[1], int(place[2]), int(place[3])) if place else None)
    return UciError(f"{about}: {complaint or 'uci failed without a word'}", "run it by hand to see why")


def _content(package: Package) -> list[tuple[str, str, dict[str, str | list[str]]]]:
    return [(each.type, "" if each.anonymous else each.name, each.options) for each in package.sections]
