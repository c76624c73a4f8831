"""What is done with the files of the workspace: `workspace.py USER FOLDER`, one request on stdin, one answer on stdout.

Becomes the user first. Then every path is walked from the folder's own descriptor, name by name and without following
links, so that nothing that changes meanwhile leads out of it. Regular files and folders only.

Requests and answers are FileRequest and FileAnswer of shapes.pyi.
"""

from __future__ import annotations

import os
import stat
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from oasis.core import jsonl
from oasis.errors import OasisError, ToolError
from oasis.worker import rights

if False:  # annotations only
    from oasis.worker.shapes import FileAnswer, FileRequest

READ_CHARS = 8000
FILE_BYTES = 1024 * 1024
# A workspace in RAM must not take what the router runs on.
FREE_BYTES = 4 * 1024 * 1024
ENTRIES = 500
DEPTH = 32
REQUEST_BYTES = 2 * 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def main(user: str, folder: str) -> None:
    """Answer one request; ends with a reason on stderr when it cannot become the user."""
    rights.become_or_end(user)
    if os.geteuid() == 0:
        raise SystemExit("never as root")
    request: FileRequest = jsonl.loads(sys.stdin.buffer.read(REQUEST_BYTES), REQUEST_BYTES)  # type: ignore[assignment]
    sys.stdout.buffer.write(jsonl.line(answer(folder, request)))


def answer(folder: str, request: FileRequest) -> FileAnswer:
    """Return the answer to a request."""
    try:
        names, op = split(str(request.get("path") or "")), request["op"]
        if not names and op not in ("list", "stat"):
            raise ToolError("the path is empty", "like notes/a.txt")
        here = _walked(folder, names[:-1], op == "write")
        try:
            return _OPS[op](here, names[-1] if names else ".", request)
        finally:
            os.close(here)
    except OasisError as error:
        return {"error": error.message, "hint": error.hint}
    except OSError as error:
        path = "/".join(names) or "the workspace"
        return {"error": f"{path}: {'it is or leads over a link' if error.errno == 40 else error.strerror}"}


def split(path: str) -> list[str]:
    """Return the names of a path below the workspace; dots within names are harmless.

    Raises: ToolError for a path that leads elsewhere.
    """
    if path.startswith("/") or "\0" in path:
        raise ToolError(f"{path[:200]!r} is no path below the workspace", "like notes/a.txt")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise ToolError(f"{path[:200]!r} leads out of the workspace", "paths begin in the workspace, without ..")
    if len(names) > DEPTH:
        raise ToolError(f"the path is deeper than {DEPTH} folders")
    return names


def _walked(folder: str, names: list[str], is_made: bool) -> int:
    """Return a descriptor of the folder with these names below another; the caller closes it."""
    here = os.open(folder, _FOLDER)
    for name in names:
        try:
            if is_made:
                os.mkdir(name, 0o700, dir_fd=here)
        except FileExistsError:
            pass  # if it is no folder, opening it says so
        except OSError:
            os.close(here)
            raise
        try:
            there = os.open(name, _FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here


def _regular(number: int) -> int:
    """Return the size of a file that is open."""
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode):
        os.close(number)
        raise ToolError("it is no file")
    return found.st_size


def _read(folder: int, name: str, request: FileRequest) -> FileAnswer:
    number = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    size = _regular(number)
    with open(number, "rb") as handle:
        start = int(request.get("offset") or 0)
        handle.seek(start)
        data = handle.read(READ_CHARS * 4)
    text = data.decode("utf-8", "replace")[:READ_CHARS]
    end = start + len(text.encode("utf-8", "replace"))
    # What is not UTF-8 is longer as text than as stored: then offsets go by the bytes that were read.
    end = end if data.startswith(text.encode("utf-8")) else start + min(len(data), READ_CHARS)
    answer: FileAnswer = {"text": text, "size_bytes": size}
    return {**answer, "next_offset": end} if end < size else answer


def _write(folder: int, name: str, request: FileRequest) -> FileAnswer:
    data = request["text"].encode("utf-8", "replace")
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{name} is no file")
        old = found.st_size
    except FileNotFoundError:
        old = 0
    total = len(data) + (old if request.get("append") else 0)
    if total > FILE_BYTES:
        raise ToolError(f"{name} would have {total} bytes, {FILE_BYTES} are allowed")
    state = os.fstatvfs(folder)
    if state.f_bavail * state.f_frsize < len(data) + FREE_BYTES:
        raise ToolError("the workspace is full", "delete files that are not needed")
    if request.get("append"):
        _stored(os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FILE, 0o600, dir_fd=folder), data)
        return {"name": name, "size_bytes": total}
    temporary = f".{os.getpid()}.new"
    number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=folder)
    try:
        _stored(number, data)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise
    return {"name": name, "size_bytes": total}


def _stored(number: int, data: bytes) -> None:
    _regular(number)
    with open(number, "wb", buffering=0, closefd=True) as handle:
        view = memoryview(data)
        while len(view):
            view = view[handle.write(view) :]


def _list(folder: int, name: str, request: FileRequest) -> FileAnswer:
    number = os.open(name, _FOLDER, dir_fd=folder)
    entries: list[FileAnswer] = []
    try:
        found = sorted(os.listdir(number))
        for name in found[:ENTRIES]:
            try:
                entry = os.stat(name, dir_fd=number, follow_symlinks=False)
            except FileNotFoundError:
                continue  # gone meanwhile
            kind = _kind(entry)
            entries.append({"name": name.encode("utf-8", "replace").decode("utf-8"), "kind": kind})
            entries[-1].update({"size_bytes": entry.st_size} if kind == "file" else {})
    finally:
        os.close(number)
    answer: FileAnswer = {"entries": entries}
    return {**answer, "more": len(found) - ENTRIES} if len(found) > ENTRIES else answer


def _kind(found: os.stat_result) -> str:
    return {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}.get(stat.S_IFMT(found.st_mode), "other")


def _delete(folder: int, name: str, request: FileRequest) -> FileAnswer:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    remove = os.rmdir if stat.S_ISDIR(found.st_mode) else os.unlink
    remove(name, dir_fd=folder)
    return {"name": name}


def _stat(folder: int, name: str, request: FileRequest) -> FileAnswer:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    modified_unix_s = int(found.st_mtime)
    return {"name": name, "kind": _kind(found), "size_bytes": found.st_size, "modified_unix_s": modified_unix_s}


_OPS = {"read": _read, "write": _write, "list": _list, "delete": _delete, "stat": _stat}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
