"""Find what can be read in checkouts of OpenWrt: forms, scripts and default configurations, with their packages."""

from __future__ import annotations

import glob
import os
import re

import forms
import marks
import scripts
from facts import Book

from oasis.errors import UciError
from oasis.uci import model

_SCRIPT_BYTES = 400_000
_INSTALLED = re.compile(r"(\S+)\s+\$\(1\)/etc/(config|init\.d)/([\w$(){}.-]+)\s*$", re.M)
# options that are shown as examples
_COMMENTED = re.compile(
    rb"[ \t]*#+[ \t]*((?:option|list)[ \t]+\w+[ \t]+\S.*|config[ \t]+'?\w+'?(?:[ \t]+['\"]?\w+['\"]?)?[ \t]*$)"
)
_VARIABLE = re.compile(r"^(\w+)\s*:?=\s*([\w.-]+)\s*$", re.M)
# of applications' own pages, not of a package's configuration
_NOT_SCRIPTS = (
    ".js",
    ".lua",
    ".po",
    ".pot",
    ".json",
    ".md",
    ".css",
    ".htm",
    ".html",
    ".patch",
    ".uc",
    ".c",
    ".h",
    ".py",
)


def read_luci(folder: str, book: Book) -> list[str]:
    """Read the forms of all applications, protocols and modules of LuCI; return the names of what has a form."""
    found = []
    for app in sorted(
        glob.glob(folder + "/applications/*") + glob.glob(folder + "/protocols/*") + glob.glob(folder + "/modules/*")
    ):
        name = os.path.basename(app)
        own = name.removeprefix("luci-app-") if name.startswith("luci-app-") else ""
        before = _count(book)
        for path in sorted(glob.glob(app + "/htdocs/luci-static/resources/**/*.js", recursive=True)):
            with open(path, "rb") as file:
                data = file.read()
            if b"form." in data:
                forms.read(data, os.path.relpath(path, folder), own, book)
        found += [name] if _count(book) != before else []
        _read_package(app, folder, book)
    return found


def read_feed(folder: str, book: Book) -> None:
    """Read the default configurations and scripts of all packages of a feed, or of OpenWrt itself."""
    for makefile in sorted(glob.glob(folder + "/**/Makefile", recursive=True)):
        with open(makefile, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if "define Package/" in text or "luci.mk" in text:
            _read_package(os.path.dirname(makefile), folder, book)


def _read_package(package: str, folder: str, book: Book) -> None:
    configs, services = _configs(package), _services(package)
    for name, path in configs.items():
        _read_config(path, name, os.path.relpath(path, folder), book)
    for path in sorted(glob.glob(package + "/**/*", recursive=True)):
        shown = os.path.relpath(path, folder)
        if "/src/" in path[len(package) :] or path.endswith(_NOT_SCRIPTS) or not os.path.isfile(path):
            continue
        if os.path.getsize(path) > _SCRIPT_BYTES:
            continue
        with open(path, "rb") as file:
            data = file.read()
        is_script = re.match(rb"#!\s*(?:/usr)?/bin/(?:env )?(?:sh|ash|bash)", data) or path.endswith(
            (".sh", ".init", ".hotplug")
        )
        if not is_script or not re.search(rb"config_get|uci|proto_config_add|config_foreach", data):
            continue
        stem = os.path.basename(path).partition(".")[0]
        own = stem if stem in configs else next(iter(configs)) if len(configs) == 1 else ""
        loaded = scripts.read(data, shown, own, book)
        service = services.get(os.path.realpath(path), "")
        for name in loaded & set(configs) if service else ():
            book.services.setdefault(name, set()).add(service)


def _configs(package: str) -> dict[str, str]:
    """Return {UCI package: path} of a package's default configurations."""
    found = dict(_installed(package, "config"))
    for path in glob.glob(package + "/**/etc/config/*", recursive=True):
        if os.path.isfile(path) and "/src/" not in path[len(package) :]:
            found.setdefault(os.path.basename(path), path)
    return {name: path for name, path in found.items() if re.fullmatch(r"[\w-]+", name)}


def _services(package: str) -> dict[str, str]:
    """Return {path: service} of a package's init scripts."""
    found = {os.path.realpath(path): name for name, path in _installed(package, "init.d")}
    for path in glob.glob(package + "/**/etc/init.d/*", recursive=True):
        found.setdefault(os.path.realpath(path), os.path.basename(path))
    return found


def _installed(package: str, folder: str) -> list[tuple[str, str]]:
    """Return (name, path of the source) of what a Makefile puts into a folder of /etc."""
    makefile = package + "/Makefile"
    if not os.path.exists(makefile):
        return []
    with open(makefile, encoding="utf-8", errors="replace") as file:
        text = file.read().replace("\\\n", " ")
    variables = dict(_VARIABLE.findall(text))
    found = []
    for source, where, name in _INSTALLED.findall(text):
        for variable, value in variables.items():
            name, source = (one.replace(f"$({variable})", value) for one in (name, source))
        path = os.path.join(package, source)
        if where == folder and re.fullmatch(r"[\w-]+", name) and os.path.isfile(path):
            found.append((name, path))
    return found


def _read_config(path: str, package: str, shown: str, book: Book) -> None:
    with open(path, "rb") as file:
        data = file.read()
    try:
        parsed = _parsed(data, package)
    except UciError as error:
        book.miss(shown, 0, f"no configuration: {error}")
        return
    for section in parsed.sections:
        book.section(package, section.type)
        if not section.anonymous:
            book.names.setdefault(package, {}).setdefault(section.name, section.type)
        for name, value in section.options.items():
            facts = book.option(package, section.type, name, "default")
            facts.is_list |= isinstance(value, list)
            for one in value if isinstance(value, list) else [value]:
                if " " in one and all(map(marks.SAFE.fullmatch, one.split())):
                    facts.is_list, facts.defaults = True, [*facts.defaults, *one.split()]
                    continue
                facts.defaults += [one] if one not in facts.defaults else []


def _parsed(data: bytes, package: str) -> model.Package:
    """Return a default configuration with its examples: lines that are comments, each where it can be read.

    Raises: UciError.
    """
    parsed = model.parse(data, package)
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        example = _COMMENTED.match(line)
        if example:
            lines[at] = example[1]
            try:
                parsed = model.parse(b"\n".join(lines), package)
            except UciError:
                lines[at] = line
    return parsed


def _count(book: Book) -> int:
    return sum(
        len(facts.sources)
        for types in book.packages.values()
        for options in types.values()
        for facts in options.values()
    )
