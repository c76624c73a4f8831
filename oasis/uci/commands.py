"""The commands of the `uci` program: words in, text and an exit status out, as the real one to the byte.

A Shell holds what one process of `uci` holds: its context, where it prints, and the tail of its last error message,
which the real one carries on into later messages. One deviation, for safety: a package name with a slash, which the
real one opens as a path, is an invalid argument.
Source: uci's cli.c; libuci.c, uci_get_errorstr.
"""

from __future__ import annotations

from oasis.uci import edit, names, refusal, writer
from oasis.uci.options import Settings
from oasis.uci.package import Package, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGE_STATUS = 255

_SECTION_COMMANDS = {
    "get": "get",
    "set": "set",
    "ren": "rename",
    "rename": "rename",
    "revert": "revert",
    "reorder": "reorder",
    "del": "delete",
    "delete": "delete",
    "add_list": "add_list",
    "del_list": "del_list",
}
_PACKAGE_COMMANDS = ("show", "changes", "export", "commit")
_CHANGES = {
    "set": edit.set_value,
    "rename": edit.rename,
    "add_list": edit.add_list,
    "del_list": edit.del_list,
    "delete": edit.delete,
}
# The message's tail stands in a buffer of 128 bytes, of which snprintf is given one less.
_TAIL_MAX = 126


class Shell:
    """The state of one run of `uci`. `write` takes stdout's text, `complain` stderr's."""

    def __init__(self, settings: Settings, write: Callable[[str], None], complain: Callable[[str], None]) -> None:
        self.settings = settings
        self.context = settings.context
        self.input_ended = False
        self._write = write
        self._complain = complain
        self._tail = ""
        if settings.reports:
            self.context.on_error = lambda error: self._print_error("", error)

    def run(self, words: list[str]) -> int:
        """Run a command but `batch`; return its exit status, USAGE_STATUS when there is none such."""
        word = words[0].lower()
        if word in _SECTION_COMMANDS:
            return self._on_element(_SECTION_COMMANDS[word], words)
        if word in _PACKAGE_COMMANDS:
            return self._on_packages(word, words)
        if word == "import":
            return self._import(words)
        if word == "add":
            return self._add(words)
        return USAGE_STATUS

    def error(self, error: refusal.Refused, status: int = 1) -> int:
        """Print an error as the real one does, unless quiet; return the exit status."""
        if not self.settings.quiet:
            self._print_error("uci: ", error)
        return status

    def say(self, text: str) -> None:
        """Print a complaint of the command line itself, unless quiet."""
        if not self.settings.quiet:
            self._complain(text)

    def _print_error(self, prefix: str, error: refusal.Refused) -> None:
        place = error.place
        if place is None and self.context.lines is not None and error.status == refusal.PARSE:
            place = (self.context.lines.reason or "unknown", self.context.lines.line, self.context.lines.byte)
        if place is not None:
            reason, line, byte = place
            self._tail = f" ({reason}) at line {line}, byte {byte}"[:_TAIL_MAX]
        self._tail += "\n"
        self._complain(prefix + refusal.WORDS[error.status] + self._tail)

    # -- sections and options -----------------------------------------------------------------------------------------

    def _on_element(self, command: str, words: list[str]) -> int:
        if len(words) != 2:
            return USAGE_STATUS
        try:
            pointer = self.context.look_up(edit.parse_pointer(words[1]))
            if pointer.value is not None and command in ("get", "revert"):
                return 1
            if command == "get":
                self._get(pointer)
            elif command == "revert":
                self._revert(pointer)
            else:
                return self._change(command, pointer)
        except refusal.Refused as error:
            return self.error(error)
        return 0

    def _get(self, pointer: edit.Pointer) -> None:
        if not pointer.complete:
            raise refusal.Refused(refusal.NOT_FOUND)
        if pointer.found and pointer.target is not None:
            self._write(self._value(pointer.target.options[pointer.option or ""], quoted=False))
        elif pointer.target is not None:
            self._write(pointer.target.type + "\n")

    def _revert(self, pointer: edit.Pointer) -> None:
        try:
            self.context.revert(pointer.package, pointer.section, pointer.option)
        except refusal.Refused:
            return  # the real one tells nobody either

    def _change(self, command: str, pointer: edit.Pointer) -> int:
        package = pointer.owner()
        if command == "reorder":
            if pointer.target is None or pointer.value is None:
                raise refusal.Refused(refusal.NOT_FOUND)
            edit.reorder(package, pointer.target, edit.position(pointer.value))
        else:
            text = (pointer.value or "").strip(" \t\n\r\v\f")
            if command == "delete" and text and edit.leading_number(text) is None:
                return 1
            _CHANGES[command](pointer)
        self.context.save(package)
        return 0

    def _add(self, words: list[str]) -> int:
        if len(words) != 3:
            return USAGE_STATUS
        try:
            package = self.context.load(words[1])
            section = edit.add_section(package, words[2])
            self.context.save(package)
        except refusal.Refused as error:
            return self.error(error, error.status)
        self._write(section.name + "\n")
        return 0

    # -- packages -----------------------------------------------------------------------------------------------------

    def _on_packages(self, command: str, words: list[str]) -> int:
        if len(words) > 2:
            return USAGE_STATUS
        if len(words) == 2:
            return self._on_package(command, words[1])
        try:
            every = self.context.list_packages()
        except refusal.Refused as error:
            return self.error(error)
        for name in every:
            self._on_package(command, name)
        return 0

    def _on_package(self, command: str, text: str) -> int:
        try:
            pointer = self.context.look_up(edit.parse_pointer(text))
        except refusal.Refused as error:
            return self.error(error)
        package = pointer.owner()
        try:
            if command == "show":
                self._show(pointer)
            elif command == "changes":
                self._write(writer.changes_text(package.name, package.saved_delta))
            elif command == "export":
                self._write(names.decode(writer.export_text(package, self.context.name_all)))
            elif not self.settings.no_commit:
                self.context.commit(package)
        except refusal.Refused as error:
            return self.error(error)
        finally:
            self.context.packages.pop(package.name, None)
        return 0

    def _show(self, pointer: edit.Pointer) -> None:
        package, section = pointer.owner(), pointer.target
        if not pointer.complete:
            raise refusal.Refused(refusal.NOT_FOUND)
        if section is None:
            self._write(self._package(package))
        elif pointer.found:
            value = section.options[pointer.option or ""]
            self._write(f"{package.name}.{section.name}.{pointer.option}={self._value(value)}")
        else:
            self._write(self._section(f"{package.name}.{section.name}", section))

    def _package(self, package: Package) -> str:
        counts: dict[str, int] = {}
        lines = []
        for section in package.sections:
            index = counts.get(section.type, 0)
            counts[section.type] = index + 1
            is_indexed = section.anonymous and self.settings.extended
            name = f"@{section.type}[{index}]" if is_indexed else section.name
            lines.append(self._section(f"{package.name}.{name}", section))
        return "".join(lines)

    def _section(self, head: str, section: Section) -> str:
        lines = [f"{head}={section.type}\n"]
        lines += [f"{head}.{option}={self._value(value)}" for option, value in section.options.items()]
        return "".join(lines)

    def _value(self, value: str | list[str], quoted: bool = True) -> str:
        if isinstance(value, str):
            return (writer.quote(value) if quoted else value) + "\n"
        items = [writer.quote(item) if quoted or set(item) & set(" \t\r\n") else item for item in value]
        return self.settings.delimiter.join(items) + "\n"

    # -- import -------------------------------------------------------------------------------------------------------

    def _import(self, words: list[str]) -> int:
        name = words[1] if len(words) == 2 else None
        if len(words) > 2 or (self.settings.merge and name is None):
            return USAGE_STATUS
        target = self._load_to_merge(name) if self.settings.merge and name is not None else None
        if name is not None and not names.is_package_name(name):
            self.context.lines = None
            return self.error(refusal.Refused(refusal.INVALID))  # before anything of the input is read
        text = self.settings.input.read()
        self.input_ended = True
        try:
            self.context.read(text, name, target)
            if target is not None:
                self.context.save(target)
            else:
                self._commit_imported()
        except refusal.Refused as error:
            self._go_on_behind_error()
            return self.error(error)
        return 0

    def _go_on_behind_error(self) -> None:
        """Leave what a failed import did not read to the next line of `batch`, as the real one does."""
        lines = self.context.lines
        if lines is not None:
            self.settings.input = lines.stream
            self.input_ended = lines.at_end

    def _load_to_merge(self, name: str) -> Package | None:
        try:
            return self.context.load(name)
        except refusal.Refused:
            return None

    def _commit_imported(self) -> None:
        """Write every package; the last one's failure is the command's, as in the real one."""
        failure = None
        for package in list(self.context.packages.values()):
            failure = None
            try:
                self.context.commit(package, overwrite=True)
            except refusal.Refused as error:
                failure = error
        if failure is not None:
            raise failure
