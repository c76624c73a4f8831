"""The cursor over the `uci` program: values go in by `uci batch` on stdin, never by argv, and the result is checked.

`uci batch` always exits 0, so after each one the export must equal what our own model makes of the operations; if not,
packages that had nothing staged are reverted. The program also reads the system's own save folder (/tmp/.uci) whatever
-t says: `commit` refuses while changes of others are staged there, for it would write them along.
"""

from __future__ import annotations

from oasis.errors import OasisError, UciError
from oasis.uci import edit, model
from oasis.uci import package as names
from oasis.uci.file_backend import NO_PACKAGE, staged, unexpected
from oasis.uci.package import Package, Record, Refused, Section, changes_text, decode, encode, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.uci.cursor import Run
    from oasis.uci.edit import Operation

_PLACE = r" \((.*)\) at line ([0-9]+), byte ([0-9]+)"
# Sections that our model adds while foreseeing get names behind any that a package can have.
_BEYOND = 1 << 20


class ProgramBackend:
    """UCI by the real program."""

    def __init__(self, confdir: str, savedir: str, run: Run, program: str) -> None:
        self._start = run
        self._program = program
        self._confdir = confdir
        self._savedir = savedir

    def changes(self, package: str) -> list[Record]:
        """Return the records of what is staged for a package."""
        return staged(self._savedir, package)

    def revert(self, package: str) -> None:
        """Drop the staged changes of a package."""
        self._load(package)
        self._run(["revert", package])

    def commit(self, package: str) -> None:
        """Write the staged changes of a package to its file."""
        _check_name(package)
        if self._run(["changes", package]) != changes_text(package, self.changes(package)):
            raise UciError(
                f"{package}: changes staged by others would be committed along",
                f"see `uci changes {package}`, commit or revert",
            )
        self._run(["commit", package])

    def stage(self, steps: list[Operation]) -> None:
        """Do all operations in one batch, or none."""
        foreseen = edit.apply_all(steps, self._load)
        was_clean = [name for name in foreseen if not self.changes(name)]
        try:
            self._run(["batch"], encode("".join([edit.batch_line(operation) for operation in steps])))
            for name, package in foreseen.items():
                # All but the order of options, which depends on lists that were emptied before and do not show.
                if _content(self._export(name)) != _content(model.parse(model.file_text(package), name)):
                    raise UciError(f"{name}: uci batch staged something else than was asked", "nothing was committed")
        except UciError:
            for name in was_clean:
                self._run(["revert", name])
            raise

    def write(self, steps: list[Operation], expected: dict[str, bytes]) -> None:
        """Do it in two processes: one that stages and shows what came of it, one that commits."""
        for operation in steps:
            edit.check(operation)
        # The program reads file and deltas again for each line of a batch: what it shows is what it will commit.
        lines = _each("revert", expected) + [edit.batch_line(operation) for operation in steps]
        lines += _each("changes", expected) + _each("export", expected)
        try:
            shown = self._run(["batch"], encode("".join(lines)))
            added = len([operation for operation in steps if operation["op"] == "add"])
            self._compare(shown.split(b"\n", added)[-1], expected)
        except UciError:
            for name in expected:
                self._run(["revert", name])
            raise
        self._run(["batch"], encode("".join(_each("commit", expected))))

    def _compare(self, shown: bytes, expected: dict[str, bytes]) -> None:
        """Raise UciError unless a batch shows our own changes, no others, and then the packages as expected."""
        ours = {name: changes_text(name, self.changes(name)) for name in expected}
        for name, text in [*ours.items(), *expected.items()]:
            if not shown.startswith(text):
                raise unexpected(name)
            shown = shown[len(text) :]
        if shown:
            raise UciError("uci batch shows more than it was asked for", "nothing was written")

    def _load(self, name: str) -> Package:
        """Return a package from its two exports: one tells which sections are anonymous, the other their names."""
        _check_name(name)
        try:
            plain = self._export(name)
            package = model.parse(self._run(["-n", "export", name]), name) if plain.sections else plain
        except Refused as error:
            raise error.about(name, NO_PACKAGE) if error.status == names.NOT_FOUND else error
        if len(plain.sections) != len(package.sections):
            raise UciError(f"{name}: changed while it was read", "try again")
        pairs = zip(package.sections, plain.sections)  # noqa: B905 (compared above)
        sections = [Section(one.type, one.name, other.anonymous, one.options) for one, other in pairs]
        return Package(name, sections, _BEYOND)

    def _export(self, name: str) -> Package:
        return model.parse(self._run(["export", name]), name)

    def _run(self, words: list[str], stdin: bytes | None = None) -> bytes:
        """Run the program; raises Refused or UciError when it complains, whatever it exits with."""
        flags = words[:1] if words[0].startswith("-") else []
        argv = [self._program, "-c", self._confdir, "-t", self._savedir, *flags, "--", *words[len(flags) :]]
        try:
            status, stdout, stderr = self._start(argv, stdin=stdin)
        except OasisError as error:
            raise UciError(f"uci {words[-1]}: {error.message}", error.hint)
        if status != 0 or stderr:
            raise _refused(words, decode(stderr).partition("\n")[0])
        return stdout


def _each(word: str, packages: dict[str, bytes]) -> list[str]:
    return [f"{word} {quote(name)}\n" for name in packages]


def _check_name(package: str) -> None:
    if not names.is_package_name(package):
        raise Refused(names.INVALID, package, hint="a package is a file's name, without slashes")


def _refused(words: list[str], complaint: str) -> UciError:
    """Return the program's first complaint as our error."""
    about = words[-1] if len(words) > 1 else "uci batch"
    import re  # with the first complaint: it costs more than all of this

    place = re.search(_PLACE, complaint)
    for status, text in names.WORDS.items():
        if text in complaint:
            return Refused(status, about, (place[1], int(place[2]), int(place[3])) if place else None)
    return UciError(f"{about}: {complaint or 'uci failed without a word'}", "run it by hand to see why")


def _content(package: Package) -> list[tuple[str, str, dict[str, str | list[str]]]]:
    return [(each.type, "" if each.anonymous else each.name, each.options) for each in package.sections]
