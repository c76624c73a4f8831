"""A stand-in for the `uci` program over plain files, to the byte: `python3 -m tests.uci.uci_program`.

It stands where a test needs `uci` on a host without one, and is itself held to recordings of the real program.
A Shell holds what one process of `uci` holds: its context, where it prints, and the tail of its last error message,
which the real one carries on into later messages. The GNU library takes options behind the command too, musl
(OpenWrt's) stops at the first word: each host's own way. One deviation: a package name with a slash, which the real
one opens as a path, is an invalid argument.
Source: uci's cli.c; libuci.c, uci_get_errorstr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO

from oasis.uci import delta, disk, edit, libuci, parser
from oasis.uci.package import Package, Record, Section, changes_text, export_text, quote

_WITH_ARGUMENT = "cCdfpPt"
# L is known to getopt and to nothing else: it leads to the usage text like an unknown letter.
_KNOWN = _WITH_ARGUMENT + "LmnNqsSX"

_CONFIG_FOLDER = "/etc/config"
_OVERRIDE_FOLDER = "/var/run/uci"
_SAVE_FOLDER = "/tmp/.uci"


class Context(disk.Context):
    """libuci's context with what the options of the command line add to ours.

    `override_folder` holds files that win over those of the configuration folder in whole ("": none). `delta_folders`
    are read in order, the save folder last. Without `strict`, lines that do not parse are left out; `on_error` gets
    each. `name_all` writes the names of anonymous sections too. `lines` is the reader of the last text that did not
    parse, or of the one that commands come from.
    """

    def __init__(self) -> None:
        super().__init__(_CONFIG_FOLDER, _SAVE_FOLDER)
        self.override_folder = _OVERRIDE_FOLDER
        self.delta_folders = [_SAVE_FOLDER]
        self.name_all = False
        self.strict = True
        self.on_error: Callable[[libuci.Refused], None] | None = None
        self.lines: parser.LineBuffer | None = None

    def set_save_folder(self, path: str) -> None:
        """Take another save folder; the one before is still read."""
        if path in self.delta_folders:
            self.delta_folders.remove(path)
        self.delta_folders.append(path)
        self.save_folder = path

    def add_delta_folder(self, path: str) -> None:
        """Read one more folder of deltas, before the save folder; given twice it counts once."""
        if path not in self.delta_folders:
            self.delta_folders.insert(len(self.delta_folders) - 1, path)

    def look_up(self, text: str) -> edit.Pointer:
        """Find what `package[.section[.option]][=value]` names, loading its package when needed."""
        name, section, option, value = edit.parse_pointer(text)
        return edit.Pointer(self.packages.get(name) or self.load(name), section, option, value)

    def read(self, data: bytes, name: str | None, merge_into: Package | None = None) -> list[Package]:
        self.lines = None
        if name is not None and not libuci.is_package_name(name):
            raise libuci.Refused(libuci.INVALID)
        importer = parser.Importer(name, merge_into, None if self.strict else self._left_out)
        try:
            packages = importer.read(data)
        except libuci.Refused as error:
            self.lines = importer.lines
            if self.strict and self.on_error is not None:
                self.on_error(error)
            raise
        self.packages.update({package.name: package for package in packages})
        return packages

    def _left_out(self, error: libuci.Refused) -> None:
        if self.on_error is not None:
            self.on_error(error)

    def revert(self, name: str, section: str | None = None, option: str | None = None) -> Package:
        self.lines = None
        return super().revert(name, section, option)

    def named(self, package: Package) -> Package:
        """Return the package as it is written: with `name_all` no section of it is anonymous."""
        if not self.name_all:
            return package
        every = package.copy()
        for section in every.sections:
            section.become(section.type, section.name, False)
        return every

    def staged(self, name: str) -> list[Record]:
        """Return the records in all delta files of a package."""
        return [record for folder in self.delta_folders for record in self._records(folder, name)]

    def _records(self, folder: str, name: str) -> list[Record]:
        try:
            return delta.parse(disk.read(f"{folder}/{name}"), name)
        except libuci.Refused:
            return []

    def _path(self, name: str) -> str:
        path = super()._path(name)
        override = f"{self.override_folder}/{name}"
        return override if self.override_folder and os.path.exists(override) else path

    def _replay(self, package: Package, own: bytes | None = None) -> int:
        self.lines = None
        done = 0
        for folder in self.delta_folders:
            is_own = own is not None and folder == self.save_folder
            records = delta.parse(own, package.name) if is_own else self._records(folder, package.name)
            done += delta.replay(package, records)
        return done

    def _text(self, package: Package) -> bytes:
        return super()._text(self.named(package))


class Stop(Exception):
    """The command line ends here: a text for stderr, whether the usage text follows, and the exit status."""

    def __init__(self, text: str, usage: bool, status: int) -> None:
        super().__init__(text)
        self.text = text
        self.usage = usage
        self.status = status


class Settings:
    """What the options asked for; the defaults are libuci's."""

    def __init__(self, stdin: IO[bytes]) -> None:
        self.context = Context()
        self.input = stdin
        self.has_input_file = False
        self.delimiter = " "
        self.merge = self.quiet = self.no_commit = self.reports = False
        self.extended = True


def parse_options(arguments: list[str], settings: Settings) -> list[str]:
    """Read the options into the settings; return the command and its arguments. Raises Stop."""
    gnu = _is_gnu()
    anywhere = gnu and "POSIXLY_CORRECT" not in os.environ
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return words + rest
        if not word.startswith("-") or word == "-":
            words.append(word)
            if not anywhere:
                return words + rest
            continue
        _read_letters(libuci.encode(word[1:]), rest, settings, gnu)
    return words


def _read_letters(letters: bytes, rest: list[str], settings: Settings, gnu: bool) -> None:
    """Set what the letters of a word say; they are bytes: half a character is unknown by itself."""
    while letters:
        letter, letters = libuci.decode(letters[:1]), letters[1:]
        if letter not in _KNOWN:
            raise Stop(_complaint("unknown", letter, gnu), True, 0)
        if letter not in _WITH_ARGUMENT:
            _set_flag(letter, settings)
            continue
        if not letters and not rest:
            raise Stop(_complaint("missing", letter, gnu), True, 0)
        _set_argument(letter, libuci.decode(letters) or rest.pop(0), settings)
        return


def _set_flag(letter: str, settings: Settings) -> None:
    if letter == "m":
        settings.merge = True
    elif letter in "sS":
        settings.context.strict = letter == "s"
        settings.reports = settings.reports or letter == "S"
    elif letter in "nN":
        settings.context.name_all = letter == "n"
    elif letter == "q":
        settings.quiet = True
    elif letter == "X":
        settings.extended = False
    else:
        raise Stop("", True, 0)


def _set_argument(letter: str, argument: str, settings: Settings) -> None:
    context = settings.context
    if letter == "c":
        context.config_folder = argument
    elif letter == "C":
        context.override_folder = argument
    elif letter == "d":
        settings.delimiter = argument
    elif letter == "f":
        _open_input(argument, settings)
    elif letter == "p":
        context.add_delta_folder(argument)
    else:
        context.set_save_folder(argument)
        settings.no_commit = settings.no_commit or letter == "P"


def _open_input(path: str, settings: Settings) -> None:
    if settings.has_input_file:
        raise Stop("" if settings.quiet else "Too many input files.\n", False, 1)
    try:
        settings.input = open(path, "rb")  # noqa: SIM115 (read until the process ends)
    except OSError as error:
        raise Stop("" if settings.quiet else f"uci: {error.strerror}", False, 1)
    settings.has_input_file = True


def _complaint(kind: str, letter: str, gnu: bool) -> str:
    if kind == "unknown":
        return f"uci: invalid option -- '{letter}'\n" if gnu else f"uci: unrecognized option: {letter}\n"
    if gnu:
        return f"uci: option requires an argument -- '{letter}'\n"
    return f"uci: option requires an argument: {letter}\n"


def _is_gnu() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):
        return False


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

    def error(self, error: libuci.Refused, status: int = 1) -> int:
        """Print an error as the real one does, unless quiet; return the exit status."""
        if not self.settings.quiet:
            self._print_error("uci: ", error)
        return status

    def say(self, text: str) -> None:
        """Print a complaint of the command line itself, unless quiet."""
        if not self.settings.quiet:
            self._complain(text)

    def _print_error(self, prefix: str, error: libuci.Refused) -> None:
        place = error.place
        if place is None and self.context.lines is not None and error.status == libuci.PARSE:
            place = (self.context.lines.reason or "unknown", self.context.lines.line, self.context.lines.byte)
        if place is not None:
            reason, line, byte = place
            self._tail = f" ({reason}) at line {line}, byte {byte}"[:_TAIL_MAX]
        self._tail += "\n"
        self._complain(prefix + libuci.WORDS[error.status] + self._tail)

    # -- sections and options -----------------------------------------------------------------------------------------

    def _on_element(self, command: str, words: list[str]) -> int:
        if len(words) != 2:
            return USAGE_STATUS
        try:
            pointer = self.context.look_up(words[1])
            if pointer.value is not None and command in ("get", "revert"):
                return 1
            if command == "get":
                self._get(pointer)
            elif command == "revert":
                self._revert(pointer)
            else:
                return self._change(command, pointer)
        except libuci.Refused as error:
            return self.error(error)
        return 0

    def _get(self, pointer: edit.Pointer) -> None:
        if not pointer.complete:
            raise libuci.Refused(libuci.NOT_FOUND)
        if pointer.found and pointer.target is not None:
            self._write(self._value(pointer.target.options[pointer.option or ""], quoted=False))
        elif pointer.target is not None:
            self._write(pointer.target.type + "\n")

    def _revert(self, pointer: edit.Pointer) -> None:
        try:
            self.context.revert(pointer.package.name, pointer.section, pointer.option)
        except libuci.Refused:
            return  # the real one tells nobody either

    def _change(self, command: str, pointer: edit.Pointer) -> int:
        package = pointer.package
        if command == "reorder":
            if pointer.target is None or pointer.value is None:
                raise libuci.Refused(libuci.NOT_FOUND)
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
            section = edit.set_section(package, None, "", words[2])
            self.context.save(package)
        except libuci.Refused as error:
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
        except libuci.Refused as error:
            return self.error(error)
        for name in every:
            self._on_package(command, name)
        return 0

    def _on_package(self, command: str, text: str) -> int:
        try:
            pointer = self.context.look_up(text)
        except libuci.Refused as error:
            return self.error(error)
        package = pointer.package
        try:
            if command == "show":
                self._show(pointer)
            elif command == "changes":
                self._write(changes_text(package.name, self.context.staged(package.name)))
            elif command == "export":
                self._write(libuci.decode(export_text(self.context.named(package))))
            elif not self.settings.no_commit:
                self.context.commit(package)
        except libuci.Refused as error:
            return self.error(error)
        finally:
            self.context.packages.pop(package.name, None)
        return 0

    def _show(self, pointer: edit.Pointer) -> None:
        package, section = pointer.package, pointer.target
        if not pointer.complete:
            raise libuci.Refused(libuci.NOT_FOUND)
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
            return (quote(value) if quoted else value) + "\n"
        items = [quote(item) if quoted or set(item) & set(" \t\r\n") else item for item in value]
        return self.settings.delimiter.join(items) + "\n"

    # -- import -------------------------------------------------------------------------------------------------------

    def _import(self, words: list[str]) -> int:
        name = words[1] if len(words) == 2 else None
        if len(words) > 2 or (self.settings.merge and name is None):
            return USAGE_STATUS
        target = self._load_to_merge(name) if self.settings.merge and name is not None else None
        if name is not None and not libuci.is_package_name(name):
            self.context.lines = None
            return self.error(libuci.Refused(libuci.INVALID))  # before anything of the input is read
        text = self.settings.input.read()
        self.input_ended = True
        try:
            self.context.read(text, name, target)
            if target is not None:
                self.context.save(target)
            else:
                self._commit_imported()
        except libuci.Refused as error:
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
        except libuci.Refused:
            return None

    def _commit_imported(self) -> None:
        """Write every package; the last one's failure is the command's, as in the real one."""
        failure = None
        for package in list(self.context.packages.values()):
            failure = None
            try:
                self.context.commit(package)
            except libuci.Refused as error:
                failure = error
        if failure is not None:
            raise failure


# More words than this on a line of `batch` are too many.
_WORDS_MAX = 4

_USAGE = """Usage: uci [<options>] <command> [<arguments>]

Commands:
\tbatch
\texport     [<config>]
\timport     [<config>]
\tchanges    [<config>]
\tcommit     [<config>]
\tadd        <config> <section-type>
\tadd_list   <config>.<section>.<option>=<string>
\tdel_list   <config>.<section>.<option>=<string>
\tshow       [<config>[.<section>[.<option>]]]
\tget        <config>.<section>[.<option>]
\tset        <config>.<section>[.<option>]=<value>
\tdelete     <config>[.<section>[[.<option>][=<id>]]]
\trename     <config>.<section>[.<option>]=<name>
\trevert     <config>[.<section>[.<option>]]
\treorder    <config>.<section>=<position>

Options:
\t-c <path>  set the search path for config files (default: /etc/config)
\t-C <path>  set the search path for config override files (default: /var/run/uci)
\t-d <str>   set the delimiter for list values in uci show
\t-f <file>  use <file> as input instead of stdin
\t-m         when importing, merge data into an existing package
\t-n         name unnamed sections on export (default)
\t-N         don't name unnamed sections
\t-p <path>  add a search path for config change files
\t-P <path>  add a search path for config change files and use as default
\t-t <path>  set save path for config change files
\t-q         quiet mode (don't print error messages)
\t-s         force strict mode (stop on parser errors, default)
\t-S         disable strict mode
\t-X         do not use extended syntax on 'show'

"""


class _Streams:
    """Where the command line prints; both take bytes."""

    def __init__(self, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._stdout = stdout
        self._stderr = stderr

    def write(self, text: str) -> None:
        self._stdout.write(libuci.encode(text))

    def complain(self, text: str) -> None:
        self._stderr.write(libuci.encode(text))

    def flush(self) -> None:
        self._stdout.flush()
        self._stderr.flush()


def main(arguments: list[str], stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    """Run the command line; return the exit status."""
    streams = _Streams(stdout, stderr)
    settings = Settings(stdin)
    try:
        words = parse_options(arguments, settings)
    except Stop as stop:
        streams.complain(stop.text + (_USAGE if stop.usage else ""))
        return stop.status
    if not words:
        streams.complain(_USAGE)
        return 0
    shell = Shell(settings, streams.write, streams.complain)
    status = _batch(shell, streams) if words[0].lower() == "batch" else _run(shell, words, streams)
    if status == USAGE_STATUS:
        streams.complain(_USAGE)
    streams.flush()
    return status


def _run(shell: Shell, words: list[str], streams: _Streams) -> int:
    if words[0].lower() == "help":
        streams.complain(_USAGE)
        return 0
    return shell.run(words)


def _batch(shell: Shell, streams: _Streams) -> int:
    """Run the lines of the input; whatever they do, the status is 0."""
    while not shell.input_ended:
        lines = shell.context.lines
        # A command that parsed a file has thrown our place in the input away; the line numbers start again.
        if lines is None or lines.stream is not shell.settings.input:
            lines = shell.context.lines = parser.LineBuffer(shell.settings.input)
        words = _batch_words(shell, lines)
        shell.input_ended = shell.input_ended or lines.at_end
        if words and words[0].lower() == "exit":
            break
        if words and _run(shell, words, streams) == USAGE_STATUS:
            shell.say("Unknown command\n")
        shell.context.packages.clear()
        streams.flush()
    return 0


def _batch_words(shell: Shell, lines: parser.LineBuffer) -> list[str]:
    words: list[str] = []
    lines.read_line()
    try:
        while word := libuci.decode(lines.argument()):
            words.append(word)
            if len(words) == _WORDS_MAX:
                shell.say("Too many arguments\n")
                return []
    except libuci.Refused as error:
        shell.error(error)
        return []
    return words


if __name__ == "__main__":
    given = [libuci.decode(os.fsencode(word)) for word in sys.argv[1:]]
    sys.exit(main(given, sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer))
