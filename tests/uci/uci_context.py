"""What one process of `uci` holds, for the stand-in: folders, loaded packages, what is staged, what a word points at.

The product reads one package from one folder and one delta; here is what only the program can: override and further
delta folders, texts of several packages and merging ones, lenient reading, records of one section taken back.
Source: libuci file.c, delta.c; util.c, uci_lookup_ptr.
"""

from __future__ import annotations

import io
import os
import re

from oasis.uci import edit, parser
from oasis.uci import package as names
from oasis.uci.file_backend import _mode, open_to_write, read, replace
from oasis.uci.package import INVALID, NOT_FOUND, PARSE, Package, Refused


class Loaded(Package):
    """A package, where it came from and what deltas said of it; `has_delta` is False for what was imported whole."""

    def __init__(self, name):
        super().__init__(name)
        self.path = ""
        self.has_delta = False
        self.saved_delta = []

    def do(self, record):
        """Do what a record says, and keep it."""
        done = edit.perform(self, record)
        if done is not None and self.has_delta:
            self.delta.append(done)


class Lines(parser.LineBuffer):
    """The line being parsed, and where the last error in it was."""

    reason = ""
    byte = 0

    def error(self, reason):
        self.reason, self.byte = reason, self.position
        return super().error(reason)


class Importer(parser.Importer):
    """One reading of a text, possibly of several packages, or into one that is loaded, as its changes."""

    def __init__(self, context, name, merge_into):
        self.finished = []
        self.lines = None
        self._context = context
        self._name = name
        self._is_merging = merge_into is not None
        self._package = merge_into
        self._section = None

    def read(self, data):
        self.lines = Lines(io.BytesIO(data))
        self._read_exactly(self.lines)
        if self._package is None and self._name is not None:
            self._open(self._name)
        self._close()
        return self.finished

    def _read_line(self, lines):
        try:
            super()._read_line(lines)
        except Refused as error:
            if self._context.on_error is not None:
                self._context.on_error(error)
            if self._context.strict or error.status != PARSE:
                raise

    def _read_package(self, lines):
        name = super()._read_package(lines)
        if self._name is None:
            self._open(name)
        return name

    def _read_config(self, lines):
        if self._package is None:
            if self._name is None:
                raise lines.error("attempting to import a file without a package name")
            self._open(self._name)
        super()._read_config(lines)

    def _begin(self, type, name, lines):
        found = self._package.find(name) if name else None
        if found is None:
            found = self._package.append(type, name)
            self._note((edit.CHANGE if name else edit.ADD, found.name, None, type))
        elif self._context.strict:
            super()._begin(type, name, lines)
        elif found.retype(type):
            self._note((edit.CHANGE, name, None, type))
        return found

    def _set(self, name, value, is_list):
        before = self._section.options.get(name)
        super()._set(name, value, is_list)
        if is_list or (value and value != before):
            self._note((edit.LIST_ADD if is_list else edit.CHANGE, self._section.name, name, value))

    def _note(self, record):
        if self._is_merging:
            self._package.delta.append(record)

    def _end_command(self, lines):
        if self._context.strict:
            super()._end_command(lines)
        else:
            lines.argument()

    def _open(self, name):
        self._close()
        if name in self._context.packages or any(package.name == name for package in self.finished):
            raise Refused(names.DUPLICATE)
        self._package = Loaded(name)

    def _close(self):
        if self._package is not None:
            self.finished.append(self._package)
        self._package = self._section = None


class Pointer:
    """The names of an element and, once looked up, what of it exists: libuci's uci_ptr."""

    def __init__(self, text):
        self.package, self.section, self.option, self.value = parser.split(text)
        self.complete = self.found = False
        self.owner = self.target = None

    def look_up(self, package):
        """Find the section and option in the package; raises Refused for a malformed `@type[n]`."""
        self.owner = package
        if self.section is None:
            self.complete = True
            return
        self.target = package.find(self.section) if names.is_name(self.section) else self._extended(package)
        if self.target is not None:
            self.found = self.option is not None and self.option in self.target.options
            self.complete = self.option is None or self.found

    def _extended(self, package):
        """Find `@type[n]`, `@[n]`, n may be negative; the pointer takes the section's real name."""
        found = re.fullmatch(r"@([^\[]*)\[[ \t\n\r\v\f]*([+-]?[0-9]+)?\]", self.section)
        if (
            found is None
            or (found[1] and not names.is_type(found[1]))
            or re.search(r"\[[ \t\n\r\v\f]+\]", self.section)
        ):
            raise Refused(INVALID)
        sections = [section for section in package.sections if not found[1] or section.type == found[1]]
        number = edit.leading_number(found[2] or "0") or 0
        number += len(sections) if number < 0 else 0
        if not 0 <= number < len(sections):
            return None
        self.section = sections[number].name
        return sections[number]


class Context:
    """The state of one user of a UCI folder.

    `override_folder` holds files that win over those of the configuration folder in whole ("": none). Without
    `strict`, lines that do not parse are left out; `on_error` gets each. `name_all` writes the names of anonymous
    sections too. `lines` is the reader of the last text that did not parse, or of the one that commands come from.
    `delta_folders` are read in order, the save folder last.
    """

    def __init__(self, config_folder, save_folder, override_folder):
        self.config_folder = config_folder
        self.override_folder = override_folder
        self.save_folder = save_folder
        self.delta_folders = [save_folder]
        self.packages = {}
        self.name_all = False
        self.strict = True
        self.on_error = None
        self.lines = None

    def set_save_folder(self, path):
        """Take another save folder; the one before is still read."""
        if path in self.delta_folders:
            self.delta_folders.remove(path)
        self.delta_folders.append(path)
        self.save_folder = path

    def add_delta_folder(self, path):
        """Read one more folder of deltas, before the save folder; given twice it counts once."""
        if path not in self.delta_folders:
            self.delta_folders.insert(len(self.delta_folders) - 1, path)

    def point(self, text):
        """Return what a word points at, loading its package when needed."""
        pointer = Pointer(text)
        pointer.look_up(self.packages.get(pointer.package) or self.load(pointer.package))
        return pointer

    def list_packages(self):
        """Return the names of the configuration folder's packages, sorted by bytes."""
        try:
            found = sorted(name for name in os.listdir(os.fsencode(self.config_folder + "/")) if name[:1] != b".")
        except OSError:
            found = []
        if not found:
            raise Refused(NOT_FOUND, self.config_folder)
        files = [os.fsdecode(name) for name in found if not os.path.isdir(os.fsencode(self.config_folder + "/") + name)]
        return [name for name in files if "." not in name and names.is_package_name(name)]

    def load(self, name):
        """Read a package from its file and the deltas; raises Refused."""
        path = self._path(name)
        package = self.read(read(path), name)[0]
        package.path = path
        package.has_delta = True
        self._replay(package)
        return package

    def read(self, data, name, merge_into=None):
        """Parse a text as `uci import` does; the packages count as loaded."""
        self.lines = None
        if name is not None and not names.is_package_name(name):
            raise Refused(INVALID)
        importer = Importer(self, name, merge_into)
        try:
            packages = importer.read(data)
        except Refused:
            self.lines = importer.lines
            raise
        for package in packages:
            self.packages[package.name] = package
        return packages

    def save(self, package):
        """Append the package's records to its delta file."""
        if not package.delta:
            return
        try:
            os.mkdir(self.save_folder, _mode(self.config_folder))
        except OSError:
            pass  # it is there, or opening the file in it tells what is wrong
        with open_to_write(f"{self.save_folder}/{package.name}", _mode(f"{self.config_folder}/{package.name}")) as file:
            file.append(names.delta_text(package.name, package.delta))
        package.saved_delta += package.delta
        package.delta = []

    def commit(self, package, overwrite=False):
        """Write the package's file, when anything changed; with `overwrite` as it stands, else read again."""
        path = package.path or f"{self.config_folder}/{package.name}"
        with open_to_write(path, _mode(f"{self.config_folder}/{package.name}")) as file:
            if not package.has_delta:
                replace(path, names.file_text(package, self.name_all))
                return
            if not overwrite:
                self.save(package)
                self.packages.pop(package.name, None)
                package = self.read(file.read(), package.name)[0]
                package.path = path
                package.has_delta = True
            self._commit_delta(package, path)

    def _commit_delta(self, package, path):
        try:
            file = open_to_write(f"{self.save_folder}/{package.name}")
        except Refused:
            if self._replay(package):
                replace(path, names.file_text(package, self.name_all))
            return
        with file:
            if self._replay(package, file.read()):
                replace(path, names.file_text(package, self.name_all))
                file.rewrite(b"")

    def revert(self, name, section=None, option=None):
        """Take the records of a package, section or option out of the delta, and load again."""
        package = self.packages.pop(name, None)
        if package is not None:
            self.save(package)
        try:
            file = open_to_write(f"{self.save_folder}/{name}")
        except Refused:
            file = None  # what is not there, or no file, holds nothing to take out
        if file is not None:
            with file:
                records = _others(file.read(), section, option)
                if records is not None:
                    file.rewrite(names.delta_text(name, records))
        self.lines = None
        self.load(name)

    def _path(self, name):
        if not names.is_package_name(name):
            raise Refused(INVALID, name)
        if name.startswith("."):
            raise Refused(NOT_FOUND, name)
        override = f"{self.override_folder}/{name}"
        return override if self.override_folder and os.path.exists(override) else f"{self.config_folder}/{name}"

    def _replay(self, package, own=None):
        """Replay each folder's delta (`own`: the save folder's, already read); return how many records fitted."""
        done = 0
        self.lines = None
        for folder in self.delta_folders:
            data = own if own is not None and folder == self.save_folder else _read(f"{folder}/{package.name}")
            records = parser.delta(data, package.name)
            package.saved_delta += records
            done += edit.replay(package, records)
        return done


def _read(path):
    try:
        return read(path)
    except Refused:
        return b""


def _others(data, section, option):
    """Return the records of a delta that do not belong to the section and option; None stands for all of them.

    The answer is None when a line is not well formed: libuci then leaves the file as it is.
    """
    found = []
    lines = parser.LineBuffer(io.BytesIO(data))
    while not lines.at_end:
        if lines.read_line():
            try:
                record = parser.delta_line(lines)[1]
            except Refused:
                return None
            if (section is not None and record[1] != section) or (option is not None and record[2] != option):
                found.append(record)
    return found
