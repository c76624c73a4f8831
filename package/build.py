"""Write the packages, their index and signatures: `python3 package/build.py`, prints what they weigh.

    build/packages/*.ipk, Packages, Packages.gz      for opkg, by the standard library alone
    build/packages/*.apk, packages.adb               for apk, where `apk mkpkg` is on PATH

The same tree gives the same bytes: the time of all files is SOURCE_DATE_EPOCH, else that of the last commit, else that
of the newest dated entry in CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import datetime
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
    from collections.abc import Callable, Iterator

    from manifest import Files, Manifest


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
    found = manifests.files(manifest, package, repository)
    wanted = package.get("catalogue")
    if wanted:
        source = os.path.join(repository, wanted["po"])
        if not os.path.exists(source):
            return None
        with open(source, encoding="utf-8") as file:
            found.update(catalogue.files(wanted, file.read()))
    return found


def build(manifest: Manifest, repository: str, time_s: int) -> dict[str, tuple[str, bytes, int]]:
    """Return {file name: (control text, bytes, installed bytes)} of every .ipk."""
    built = {}
    version = manifests.version(manifest)
    for name, package, found in packages(manifest, repository):
        size = ipk.installed_bytes(package, found)
        text = ipk.control(name, package, manifest, version, manifests.users(package), size, time_s)
        data = ipk.build(text, package.get("conffiles", []), manifests.scripts(package), found, time_s)
        built[f"{name}_{version}_all.ipk"] = (text, data, size)
    return built


def packages(manifest: Manifest, repository: str) -> Iterator[tuple[str, Manifest, Files]]:
    """Yield (name, package, files) of what can be built from this tree."""
    for name, package in manifest["packages"].items():
        found = contents(manifest, package, repository)
        if found is None:
            print(f"{name}: not built, there is no {package['catalogue']['po']}", file=sys.stderr)
        else:
            yield name, package, found


def build_apk(manifest: Manifest, repository: str, time_s: int, folder: str, key: str) -> list[str]:
    """Write every .apk and their index; return the paths of the packages, none where apk cannot make any."""
    program = shutil.which("apk")
    if not program:
        print("no .apk: there is no apk (apk-tools 3) on PATH", file=sys.stderr)
        return []
    version, written = manifests.version(manifest), []
    for name, package, found in packages(manifest, repository):
        path = os.path.join(folder, f"{name}-{version}.apk")
        book = apk.book(name, package, manifests.users(package), found)
        texts = apk.scripts(name, manifests.scripts(package))
        apk.build(program, apk.info(name, package, manifest, version), texts, {**found, **book}, path, key, time_s)
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(manifests.REPOSITORY, "build", "packages"))
    parser.add_argument("--ipk-key", default="", metavar="FILE", help="secret key of usign or signify for the index")
    parser.add_argument("--apk-key", default="", metavar="FILE", help="secret key (PEM, P-256) for apk's index")
    read = parser.parse_args(words)
    manifest, repository = manifests.load(), manifests.REPOSITORY
    shutil.rmtree(read.output, ignore_errors=True)
    os.makedirs(read.output)
    try:
        time_s = epoch(repository, dict(os.environ))
        built = build(manifest, repository, time_s)
        write_feed(read.output, built, read.ipk_key)
        others = build_apk(manifest, repository, time_s, read.output, read.apk_key)
    except (BuildError, apk.ApkError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    for name, (_, data, size) in built.items():
        print(f"{name:45} {len(data):>9,} bytes, installed {size:>10,}")
    for path in others:
        print(f"{os.path.basename(path):45} {os.path.getsize(path):>9,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
