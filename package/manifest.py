"""What the packages are: reads manifest.json and lists the files of a package. Writes nothing.

Contract: everything about a package stands in manifest.json; what depends on the tree (files, modes) is read from the
tree, in one order on every host.
"""

from __future__ import annotations

import fnmatch
import json
import os
import stat
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
PATH = os.path.join(HERE, "manifest.json")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Manifest = dict[str, Any]
    # path on the router -> (bytes, mode)
    Files = dict[str, tuple[bytes, int]]


class Package(NamedTuple):
    """A package as it is built: `about` is its entry of the manifest, `head` all of it."""

    name: str
    about: Manifest
    head: Manifest
    files: Files
    needs: list[tuple[str, str, str]]  # see needs()

    @property
    def version(self) -> str:
        """Version and release."""
        return version(self.head)

    @property
    def users(self) -> str:
        """The users that it needs, each with a group of its name, as OpenWrt's scripts read them."""
        return users(self.about)


def load(path: str = PATH) -> Manifest:
    """Return the manifest."""
    with open(path, encoding="utf-8") as file:
        manifest: Manifest = json.load(file)
    return manifest


def version(manifest: Manifest) -> str:
    """Return version and release as OpenWrt writes them, for ipk and apk alike."""
    return f"{manifest['version']}-r{manifest['release']}"


def needs(manifest: Manifest, package: Manifest, python: str = "") -> list[tuple[str, str, str]]:
    """Return (package, version, end) of what a package needs: "" any, no `end` just that one, else below it.

    `python` is the one that bytecode is for, like 3.11. Packages of ours need each other as they were built together.
    """
    ours = dict.fromkeys(manifest["packages"], (version(manifest), ""))
    major, _, minor = python.partition(".")
    known = {**ours, "python3-light": (python, f"{major}.{int(minor) + 1}")} if python else ours
    return [(name, *known.get(name, ("", ""))) for name in package.get("depends", [])]


def is_left_out(manifest: Manifest, name: str) -> bool:
    """Tell whether a file or folder of this name is in no package."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in manifest["leave_out"])


def others(manifest: Manifest, package: Manifest) -> set[str]:
    """Return the sources that other packages name, which are not in a folder of this one; copies (`only`) count not."""
    packages = [one for one in manifest["packages"].values() if one is not package and "only" not in one]
    return set() if "only" in package else {source for one in packages for source in one.get("files", {}).values()}


def sources(manifest: Manifest, package: Manifest, repository: str = REPOSITORY) -> dict[str, str]:
    """Return {path on the router: path of the source}; a folder stands for all in it that is in no other package."""
    found, theirs = {}, {os.path.join(repository, source) for source in others(manifest, package)}
    for target, source in package.get("files", {}).items():
        top = os.path.join(repository, source)
        if os.path.isfile(top):
            found[target] = top
        for folder, folders, names in os.walk(top):
            inside = [name for name in sorted(names) if fnmatch.fnmatchcase(name, package.get("only", "*"))]
            folders[:], inside = (
                [name for name in some if not is_left_out(manifest, name) and os.path.join(folder, name) not in theirs]
                for some in (sorted(folders), inside)
            )
            for name in inside:
                path = os.path.join(folder, name)
                found[target + "/" + os.path.relpath(path, top).replace(os.sep, "/")] = path
    return found


def mode(package: Manifest, target: str, source: str) -> int:
    """Return the mode of a file: the manifest's, else 0755 for what may be executed here and 0644 for the rest."""
    told = package.get("modes", {}).get(target)
    if told:
        return int(told, 8)
    return 0o755 if os.stat(source).st_mode & stat.S_IXUSR else 0o644


def files(manifest: Manifest, package: Manifest, repository: str = REPOSITORY) -> Files:
    """Return every file of a package that comes from the tree."""
    found: Files = {}
    for target, source in sorted(sources(manifest, package, repository).items()):
        with open(source, "rb") as file:
            found[target] = (file.read(), mode(package, target, source))
    return found


def scripts(package: Manifest) -> dict[str, str]:
    """Return {name: text} of the scripts of a package."""
    found = {}
    for name, file_name in package.get("scripts", {}).items():
        with open(os.path.join(HERE, "scripts", file_name), encoding="utf-8") as file:
            found[name] = file.read()
    return found


def users(package: Manifest) -> str:
    """Return the users that a package needs, each with a group of its name, as OpenWrt's scripts read them."""
    return " ".join(f"{name}:{name}" for name in package.get("users", []))
