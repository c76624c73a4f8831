"""Write the packages, their index and signatures: `python3 package/build.py`, prints what they weigh.

    build/packages/python3.11/    bytecode for that Python, without sources (OpenWrt 23.05 and 24.10)
    build/packages/python3.13/    the same for OpenWrt 25.12
    build/packages/any/           sources, which the router compiles: for every Python, larger

Each is a feed as it lies: *.ipk with Packages and Packages.gz for opkg, by the standard library alone; *.apk with
packages.adb for apk, where `apk mkpkg` is on PATH.

The same tree gives the same bytes: the time of all files is SOURCE_DATE_EPOCH, else that of the last commit, else that
of the newest dated entry in CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import apk
import catalogue
import ipk
import manifest as manifests
from archive import gzip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from manifest import Files, Manifest, Package

PART = "/usr/lib/oasis/oasis/parts"
LEAST = 10  # of Python 3, that Oasis runs with
LANGUAGES = ("en", "de", "es", "ja", "zh")
_FIRST = {"common": "intents"}  # tables -> the file by which they are known, where it has another name


class BuildError(Exception):
    """What keeps a package from being built, for the person at the shell."""


def epoch(repository: str, environment: dict[str, str]) -> int:
    """Return the time that every file gets."""
    told = environment.get("SOURCE_DATE_EPOCH", "")
    if told:
        return int(told)
    git = shutil.which("git")
    if git and os.path.exists(os.path.join(repository, ".git")):
        argv = [git, "-C", repository, "log", "-1", "--format=%ct"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip():
            return int(done.stdout)
    with open(os.path.join(repository, "CHANGELOG.md"), encoding="utf-8") as file:
        days = re.findall(r"^## .*(\d{4}-\d\d-\d\d)", file.read(), re.M)
    if not days:
        raise BuildError("no commit and no dated entry in CHANGELOG.md: set SOURCE_DATE_EPOCH")
    return int(datetime.datetime.fromisoformat(max(days) + "T00:00:00+00:00").timestamp())


def contents(manifest: Manifest, package: Manifest, repository: str) -> Files | None:
    """Return every file of a package, None when its catalogue is not there yet."""
    found = {
        path: (minified(path, data), mode)
        for path, (data, mode) in manifests.files(manifest, package, repository).items()
    }
    wanted = package.get("catalogue")
    if wanted:
        source = os.path.join(repository, wanted["po"])
        if not os.path.exists(source):
            return None
        with open(source, encoding="utf-8") as file:
            found.update(catalogue.files(wanted, file.read()))
    return found


def minified(path: str, data: bytes) -> bytes:
    """Return a script or style of the pages without comments and blanks, where rjsmin and rcssmin are here."""
    try:
        import rcssmin
        import rjsmin
    except ImportError:
        return data
    small = {".js": rjsmin.jsmin, ".css": rcssmin.cssmin}.get(os.path.splitext(path)[1])
    return small(data.decode()).encode() if small and path.startswith("/www/") else data


# At the head of JSON files: what explains them.
_HEADS = ("about", "source", "_keys")
_OPTIONS = ("/oasis/catalogue/generated/", "/oasis/catalogue/feed/", "/oasis/catalogue/packages/")


def dense(path: str, data: bytes) -> bytes:
    """Return a JSON text without what only people read; of the catalogue's options, those of one entry together."""
    whole = json.loads(data)
    if isinstance(whole, dict) and "/oasis/" in path:
        whole = {name: one for name, one in whole.items() if name not in _HEADS or isinstance(one, (list, int))}
    if any(folder in path for folder in _OPTIONS):
        whole["types"] = {name: {**one, "options": together(one["options"])} for name, one in whole["types"].items()}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def together(options: dict[str, object]) -> list[tuple[object, str]]:
    """Return options by what they are, in the form that oasis/catalogue/entries.py reads as well."""
    found: dict[str, tuple[object, list[str]]] = {}
    for name, entry in options.items():
        found.setdefault(json.dumps(entry, sort_keys=True), (entry, []))[1].append(name)
    return [(entry, " ".join(names)) for entry, names in found.values()]


def terse(path: str, data: bytes) -> bytes:
    """Return a shell script without the lines of comments, which only people read; they stay in the sources."""
    return re.sub(rb"(?m)^[ \t]*#(?!!).*\n", b"", data) if data.startswith(b"#!/bin/sh") else data


def packed(path: str, data: bytes) -> bytes:
    """Return the texts of a language in the form that oasis/texts/translation.py reads as well."""
    import zlib

    return zlib.compress(re.sub(rb"(?m)^#.*\n", b"", data), 9)


def compiled(files: Files, python: str) -> Files:
    """Return the files of a package with bytecode for `python`, like 3.11, in place of sources.

    Raises: BuildError where that Python is not here, or does not understand a source.
    """
    ways = {".json": dense, ".po": packed}
    files = {
        path: (ways.get(os.path.splitext(path)[1], terse)(path, data), what)
        for path, (data, what) in tabled(files).items()
    }
    sources = {path: data.decode() for path, (data, _) in files.items() if path.endswith(".py")}
    if not sources:
        return files
    argv = [interpreter(python), "-X", "no_debug_ranges", "-I", os.path.join(manifests.HERE, "bytecode.py")]
    done = subprocess.run(argv, input=json.dumps(sources), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"Python {python} cannot compile: {done.stderr.strip()}")
    made = {path + "c": (base64.b64decode(data), 0o644) for path, data in json.loads(done.stdout).items()}
    return dict(sorted({**{path: what for path, what in files.items() if path not in sources}, **made}.items()))


def tabled(files: Files) -> Files:
    """Return the files of a package with the built-in service's data in its final form; see parts/offline/tables.py."""
    folder = PART + "/offline/"
    names = {path[len(folder) :] for path in files if path.startswith(folder + "intents/")}
    made = [name for name in ("common", *LANGUAGES) if f"intents/{_FIRST.get(name, name)}.json" in names]
    if not made:
        return files
    if manifests.REPOSITORY not in sys.path:
        sys.path.insert(0, manifests.REPOSITORY)
    from oasis.parts.offline import derive

    tables = {f"{folder}intents/{name}.tables": (derive.packed(name), 0o644) for name in made}
    left_out = {folder + "derive.py", *(folder + name for name in names)}
    return dict(sorted({**{path: what for path, what in files.items() if path not in left_out}, **tables}.items()))


def sizes(files: Files) -> Files:
    """Return the file by which a router tells that a part is whole, {} where the files are no part; see oasis/parts."""
    folder = next((path.rpartition("/")[0] for path in files if re.fullmatch(PART + r"/\w+/manifest\.pyc?", path)), "")
    if not folder:
        return {}
    inside = {path[len(folder) + 1 :]: len(data) for path, (data, _) in files.items() if path.startswith(folder + "/")}
    return {folder + "/files.json": (json.dumps(inside, separators=(",", ":")).encode(), 0o644)}


def interpreter(python: str, find: Callable[[str], str | None] = shutil.which) -> str:
    """Return the path of a Python, by its version like 3.11. Raises: BuildError where it is not here."""
    name = "python" + python
    for path in (
        sys.executable,
        find(name),
        *glob.glob(os.path.expanduser(f"~/.pyenv/versions/{python}.*/bin/{name}")),
    ):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        if path and subprocess.run([path, "-IS", "-c", code], capture_output=True, text=True).stdout.strip() == python:
            return path
    raise BuildError(f"there is no {name} on PATH; packages with sources need none: make package PYTHON=any")


def packages(manifest: Manifest, repository: str, python: str = "") -> list[Package]:
    """Return what can be built from this tree: with bytecode for a Python like 3.11, "" with sources.

    Raises: BuildError.
    """
    found = []
    for name, about in manifest["packages"].items():
        files = contents(manifest, about, repository)
        if files is None:
            print(f"{name}: not built, there is no {about['catalogue']['po']}", file=sys.stderr)
            continue
        is_copy = "only" in about
        files = compiled(files, python) if python and not is_copy else files
        files = {**sizes(files), **files}
        found.append(manifests.Package(name, about, manifest, files, manifests.needs(manifest, about, python)))
    return found


def build(every: list[Package], time_s: int) -> dict[str, tuple[str, bytes, int]]:
    """Return {file name: (control text, bytes, installed bytes)} of every .ipk."""
    built = {}
    for one in every:
        size = ipk.installed_bytes(one.files)
        text = ipk.control(one, size, time_s)
        data = ipk.build(text, one.about.get("conffiles", []), manifests.scripts(one.about), one.files, time_s)
        built[f"{one.name}_{one.version}_all.ipk"] = (text, data, size)
    return built


def build_apk(every: list[Package], time_s: int, folder: str, key: str) -> list[str]:
    """Write every .apk and their index; return the paths of the packages, none where apk cannot make any."""
    program = shutil.which("apk")
    if not program:
        print("no .apk: there is no apk (apk-tools 3) on PATH", file=sys.stderr)
        return []
    written = []
    for one in every:
        path = os.path.join(folder, f"{one.name}-{one.version}.apk")
        texts = apk.scripts(one.name, manifests.scripts(one.about))
        apk.build(program, apk.info(one), texts, {**one.files, **apk.book(one)}, path, key, time_s)
        written.append(path)
    apk.index(program, written, os.path.join(folder, "packages.adb"), key, time_s)
    return written


def write_feed(folder: str, built: dict[str, tuple[str, bytes, int]], key: str) -> None:
    """Write the packages for opkg and their index, signed when there is a key."""
    for name, (_, data, _) in built.items():
        write(os.path.join(folder, name), data)
    listed = ipk.index({name: (text, data) for name, (text, data, _) in built.items()}).encode()
    path = os.path.join(folder, "Packages")
    write(path, listed)
    write(path + ".gz", gzip(listed))
    if key:
        sign(path, key)


def sign(path: str, key: str, find: Callable[[str], str | None] = shutil.which) -> None:
    """Write the signature beside a file, in signify's form, which opkg checks; `find` gives a program's path.

    Raises: BuildError.
    """
    signer = next((found for found in map(find, ("usign", "signify-openbsd", "signify")) if found), None)
    if not signer:
        raise BuildError("a key was given, but neither usign nor signify is on PATH")
    done = subprocess.run([signer, "-S", "-m", path, "-s", key, "-x", path + ".sig"], check=False)
    if done.returncode:
        raise BuildError(f"{signer} could not sign {path}")


def write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def main(words: list[str]) -> int:
    manifest, repository = manifests.load(), manifests.REPOSITORY
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(repository, "build", "packages"))
    parser.add_argument(
        "--python", default="", help="like 3.11, or any: packages with sources; else all that can be made"
    )
    add_keys(parser)
    parser.add_argument("--where", metavar="PYTHON", help="print where that Python, like 3.13, is here, and end")
    read = parser.parse_args(words)
    if read.where:
        try:
            print(interpreter(read.where))
        except BuildError as error:
            print(f"package: {error}", file=sys.stderr)
            return 1
        return 0
    try:
        time_s, pythons = epoch(repository, dict(os.environ)), wanted(manifest, read.python)
        feeds(manifest, read.output, pythons, time_s, read.ipk_key, read.apk_key)
    except (BuildError, apk.ApkError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    return 0


def add_keys(parser: argparse.ArgumentParser) -> None:
    """Add the options of the keys."""
    parser.add_argument("--ipk-key", default="", metavar="FILE", help="secret key of usign or signify for the index")
    parser.add_argument("--apk-key", default="", metavar="FILE", help="secret key (PEM, P-256) for apk's index")


def feeds(manifest: Manifest, output: str, pythons: list[str], time_s: int, ipk_key: str, apk_key: str) -> None:
    """Write a feed for each Python and print what is in it. Raises: BuildError, ApkError."""
    for python in pythons:
        every = packages(manifest, manifests.REPOSITORY, python)
        built = build(every, time_s)
        folder = os.path.join(output, f"python{python}" if python else "any")
        shutil.rmtree(folder, ignore_errors=True)  # those of other Pythons stay
        os.makedirs(folder)
        write_feed(folder, built, ipk_key)
        show(python, built, build_apk(every, time_s, folder, apk_key))


def wanted(manifest: Manifest, python: str) -> list[str]:
    """Return the Pythons to build for, "" for any: the one that was asked for, else all that are here."""
    if python:
        major, _, minor = python.partition(".")
        if python != "any" and (major != "3" or not minor.isdecimal() or int(minor) < LEAST):
            raise BuildError(f"PYTHON={python}: it is 3.{LEAST} or later, like 3.11, or any")
        return ["" if python == "any" else python]
    found = [""]
    for one in manifest["pythons"]:
        try:
            interpreter(one)
            found.insert(-1, one)
        except BuildError as error:
            print(f"not for Python {one}: {error}", file=sys.stderr)
    return found


def show(python: str, built: dict[str, tuple[str, bytes, int]], others: list[str]) -> None:
    print(
        f"for Python {python}" if python else "for any Python, with sources: the router compiles them, which is counted"
    )
    for name, (_, data, size) in built.items():
        print(f"  {name:43} {len(data):>9,} bytes, installed {size:>10,}")
    for path in others:
        print(f"  {os.path.basename(path):43} {os.path.getsize(path):>9,} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
