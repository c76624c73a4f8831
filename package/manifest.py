"""What the packages are: reads manifest.json and lists the files of a package. Writes nothing.

Contract: everything about a package stands in manifest.json; what depends on the tree (files, modes) is read from the
tree, in one order on every host.
"""

from __future__ import annotations

import fnmatch
import json
import os
import stat

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
PATH = os.path.join(HERE, "manifest.json")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Manifest = dict[str, Any]
    # path on the router -> (bytes, mode)
    Files = dict[str, tuple[bytes, int]]


def load(path: str = PATH) -> Manifest:
    """Return the manifest."""
    with open(path, encoding="utf-8") as file:
        manifest: Manifest = json.load(file)
    return manifest


def version(manifest: Manifest) -> str:
    """Return version and release as OpenWrt writes them, for ipk and apk alike."""
    return f"{manifest['version']}-r{manifest['release']}"


def is_left_out(manifest: Manifest, name: str) -> bool:
    """Tell whether a file or folder of this name is in no package."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in manifest["leave_out"])


def sources(manifest: Manifest, package: Manifest, repository: str = REPOSITORY) -> dict[str, str]:
    """Return {path on the router: path of the source}; a folder stands for all that is in it."""
    found = {}
    for target, source in package.get("files", {}).items():
        top = os.path.join(repository, source)
        if os.path.isfile(top):
            found[target] = top
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if not is_left_out(manifest, name))
            for name in sorted(names):
                if not is_left_out(manifest, name):
                    inside = os.path.relpath(os.path.join(folder, name), top)
                    found[target + "/" + inside.replace(os.sep, "/")] = os.path.join(folder, name)
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
