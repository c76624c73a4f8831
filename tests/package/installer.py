"""What of opkg the install tests need, for hosts without it: unpack, call the scripts, remove, keep what was edited.

Knows no dependencies. Source: opkg's own order of unpacking, conffiles and scripts.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile

INFO = "/usr/lib/opkg/info/"


def call(root: str, run, *words: str) -> dict[str, object]:
    """Do `install FILE…` or `remove NAME…`; return what the scripts said, as a program would."""
    said = []
    for word in words[1:]:
        if not word.startswith("-"):
            said += install(root, run, word) if words[0] == "install" else remove(root, run, word)
    return {
        "status": max([one["status"] for one in said], default=0),
        "out": "".join(one["out"] for one in said),
        "err": "".join(one["err"] for one in said),
    }


def members(data: bytes) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Return {path without "./": (entry, bytes)} of a gzipped tar."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {
            info.name.removeprefix("./"): (info, archive.extractfile(info).read() if info.isfile() else b"")
            for info in archive
        }


def install(root: str, run, package: str) -> list[dict[str, object]]:
    with open(root + package, "rb") as file:
        outer = members(file.read())
    control = {name: data for name, (info, data) in members(outer["control.tar.gz"][1]).items() if info.isfile()}
    name = control["control"].decode().split("\n")[0].removeprefix("Package: ")
    upgrade = {"PKG_UPGRADE": "1" if os.path.exists(root + INFO + name + ".control") else "0"}
    said = []
    old = listed(root, name)
    if upgrade["PKG_UPGRADE"] == "1":
        said.append(run("/bin/sh", INFO + name + ".prerm", "upgrade", env=upgrade))
    conffiles = control.get("conffiles", b"").decode().split()
    data = members(outer["data.tar.gz"][1])
    new = unpack(root, data, conffiles)
    for path in set(old) - set(new):
        delete(root, path)
    for part, text in control.items():
        put(root + INFO + name + "." + part, text, 0o755 if text.startswith(b"#!") else 0o644)
    sums = "".join(f"{path} {sha(data[path[1:]][1])}\n" for path in conffiles)
    put(root + INFO + name + ".conffiles-sums", sums.encode(), 0o644)
    put(root + INFO + name + ".list", "".join(path + "\n" for path in new).encode(), 0o644)
    return [*said, run("/bin/sh", INFO + name + ".postinst", "configure", env=upgrade)]


def unpack(root: str, data: dict[str, tuple[tarfile.TarInfo, bytes]], conffiles: list[str]) -> list[str]:
    new = []
    for inside, (info, what) in data.items():
        path = "/" + inside
        if info.isdir():
            os.makedirs(root + path, exist_ok=True)
            continue
        new.append(path)
        is_edited = path in conffiles and os.path.exists(root + path) and digest(root + path) != sha(what)
        place = root + path + ("-opkg" if is_edited else "")
        put(place, what, info.mode)
        os.utime(place, (info.mtime, info.mtime))
    return new


def remove(root: str, run, name: str) -> list[dict[str, object]]:
    env = {"PKG_UPGRADE": "0"}
    said = [run("/bin/sh", INFO + name + ".prerm", "remove", env=env)]
    with open(root + INFO + name + ".conffiles-sums", encoding="ascii") as file:
        sums = dict(line.split() for line in file)
    for path in listed(root, name):
        if path not in sums or digest(root + path) == sums[path]:
            delete(root, path)
    if os.path.exists(root + INFO + name + ".postrm"):
        said.append(run("/bin/sh", INFO + name + ".postrm", "remove", env=env))
    for file in os.listdir(root + INFO):
        if file.rpartition(".")[0] == name:
            os.remove(root + INFO + file)
    return said


def listed(root: str, name: str) -> list[str]:
    path = root + INFO + name + ".list"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def delete(root: str, path: str) -> None:
    """Remove a file; like opkg, leave the folder that it was in."""
    if os.path.lexists(root + path):
        os.remove(root + path)


def put(path: str, data: bytes, mode: int) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def digest(path: str) -> str:
    with open(path, "rb") as file:
        return sha(file.read())


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
