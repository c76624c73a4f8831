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

import catalogue
import ipk
import manifest as manifests
from archive import gzip

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    for name, package in manifest["packages"].items():
        found = contents(manifest, package, repository)
        if found is None:
            print(f"{name}: not built, there is no {package['catalogue']['po']}", file=sys.stderr)
            continue
        size = ipk.installed_bytes(package, found)
        text = ipk.control(name, package, manifest, version, manifests.users(package), size, time_s)
        scripts = manifests.scripts(package)
        data = ipk.build(text, package.get("conffiles", []), scripts, found, time_s)
        built[f"{name}_{version}_all.ipk"] = (text, data, size)
    return built


def write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(manifests.REPOSITORY, "build", "packages"))
    read = parser.parse_args(words)
    manifest = manifests.load()
    try:
        built = build(manifest, manifests.REPOSITORY, epoch(manifests.REPOSITORY, dict(os.environ)))
    except BuildError as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(read.output, ignore_errors=True)
    os.makedirs(read.output)
    for name, (_, data, _) in built.items():
        write(os.path.join(read.output, name), data)
    packages = ipk.index({name: (text, data) for name, (text, data, _) in built.items()}).encode()
    write(os.path.join(read.output, "Packages"), packages)
    write(os.path.join(read.output, "Packages.gz"), gzip(packages))
    for name, (_, data, size) in built.items():
        print(f"{name:45} {len(data):>9,} bytes, installed {size:>10,}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
