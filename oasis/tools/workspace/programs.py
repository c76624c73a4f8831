"""A program of the owner's list, run in the workspace as a user without rights; and what runs the workspace's files.

Words only, never a shell. The child is confined (worker/confined.py), has limits, an environment given whole and no
descriptor of ours; it ends with all it started: those that left its group are found by a mark in their environment.
"""

from __future__ import annotations

import os
import select
import sys
import time

from oasis.core import jsonl
from oasis.errors import OasisError, PolicyError, ToolError
from oasis.system.child import Child, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.core.shapes import Json
    from oasis.tools.router import Watch
    from oasis.tools.shapes import ProgramResult, Result

USER = "oasis-tool"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_S = 30
# What a model reads of each stream; and what a program may write before it is ended.
SHOWN_CHARS = 4000
OUTPUT_BYTES = 1024 * 1024
ANSWER_BYTES = 256 * 1024
_PIECE = 65536
_TICK_MS = 100
# A program of somebody else's may reserve more addresses than it uses; a file of it stays small.
LIMITS: Limits = ("64", "8192", "524288", "300", "800")
_MARK = "OASIS_CALL="


def words(command: Json) -> list[str]:
    """Return a command as words; a text is split as a shell would, and refused where a shell would do more.

    Raises: ToolError saying what.
    """
    if isinstance(command, list):
        found = [str(word) for word in command]
    else:
        assert isinstance(command, str)  # by the schema
        from oasis.uci import shell_words

        try:
            commands = shell_words.commands(command)
        except OasisError as error:
            raise ToolError("there is no shell: %s" % error.message, "give the program and its arguments as a list")
        if len(commands) != 1:
            raise ToolError("%d commands were given" % len(commands), "one program a call")
        found = commands[0]
    if not found or not found[0] or any("\0" in word for word in found):
        raise ToolError("the command is empty or holds a NUL character", "give the program and its arguments as a list")
    return found


def program(found: list[str], allowed: list[list[str]]) -> list[str]:
    """Return the words with the program's path, when the owner listed how they begin.

    Raises: PolicyError for others, ToolError when there is no such program.
    """
    if not any(found[: len(one)] == one for one in allowed):
        raise PolicyError(
            "the owner did not list %r" % " ".join(found)[:200],
            "they are listed in oasis.workspace.command: " + listed(allowed),
        )
    places = [found[0]] if "/" in found[0] else [place + "/" + found[0] for place in PATH.split(":")]
    for path in places:
        if os.path.isabs(path) and os.access(path, os.X_OK) and not os.path.isdir(path):
            return [path, *found[1:]]
    raise ToolError("this router has no program %r" % found[0][:200], "it is part of a package that is not installed")


def listed(allowed: list[list[str]]) -> str:
    """Return the owner's list as text."""
    return ", ".join(" ".join(one) for one in allowed) or "none"


def run(argv: list[str], folder: str, user: str, seconds: float, watch: Watch) -> ProgramResult:
    """Run a program in a folder; return {"exit_status", "output", "errors"?, "cut"?, "is_error"?}.

    Raises: ToolError when it cannot be started.
    """
    mark = os.urandom(16).hex()
    env = {"PATH": PATH, "HOME": folder, "LC_ALL": "C.UTF-8", _MARK[:-1]: mark}
    out, err, why, status = _talked(_confined("confined", [user, "@" + folder, *argv]), env, b"", seconds, watch)
    _sweep(mark)
    result: ProgramResult = {"exit_status": status, "output": _shown(out) or "(no output)"}
    if err:
        result["errors"] = _shown(err)
    if max(len(out), len(err)) > SHOWN_CHARS:
        result["cut"] = "%d characters of each are shown" % SHOWN_CHARS
    if why:
        result["error"] = why
    return {**result, "is_error": True} if why or status else result


def ask(request: Result, folder: str, user: str, seconds: float, watch: Watch) -> dict[str, Json]:
    """Have something done with the workspace's files by a process of its own; see worker/workspace.py.

    Raises: ToolError with what it says.
    """
    argv = _confined("workspace", [user, folder])
    out, err, why, status = _talked(argv, {"PATH": PATH, "LC_ALL": "C.UTF-8"}, jsonl.line(request), seconds, watch)
    if why or status:
        last = err.decode("utf-8", "replace").strip().split("\n")[-1][:300]
        raise ToolError(why or "the workspace cannot be used: %s" % last, "look at oasis.workspace.path")
    answer = jsonl.loads(out, ANSWER_BYTES)
    assert isinstance(answer, dict)
    if "error" in answer:
        raise ToolError(str(answer["error"]), str(answer.get("hint", "")))
    return answer


def _confined(name: str, rest: list[str]) -> list[str]:
    """Return how to start a program of worker/ that gives its rights away."""
    folder, _, own = __file__.rpartition("/")
    path = folder.rpartition("/")[0].rpartition("/")[0] + "/worker/" + name + own[own.index(".") :]
    return [sys.executable, "-I", "-B", path, *rest]


def _talked(
    argv: list[str], env: dict[str, str], data: bytes, seconds: float, watch: Watch
) -> tuple[bytes, bytes, str, int]:
    """Return what a child said on both streams, why it was ended or "", and its exit status."""
    try:
        child = Child(argv, env, LIMITS, bool(data), True)
    except OSError as error:
        raise ToolError("cannot start a process: %s" % error)
    sinks = {child.stdout: bytearray(), child.stderr: bytearray()}
    out, err = sinks.values()
    try:
        if data:
            _feed(child, data)
        why = _listen(child, sinks, time.monotonic() + seconds, seconds, watch)
    finally:
        child.end_group()
        child.close()
    return bytes(out), bytes(err), why, child.returncode or 0


def _feed(child: Child, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(child.stdin, data) :]
    except BrokenPipeError:
        pass  # it ended; its status tells why
    child.close_input()


def _listen(child: Child, sinks: dict[int, bytearray], until_s: float, seconds: float, watch: Watch) -> str:
    """Take what a child says until it ends; return why it must be ended, or ""."""
    poll = select.poll()
    for number in sinks:
        poll.register(number, select.POLLIN | select.POLLHUP)
    open_ones = set(sinks)
    while open_ones or child.poll() is None:
        ready = poll.poll(_TICK_MS)  # without a stream it waits all the same
        for number, _ in ready:
            piece = os.read(number, _PIECE)
            sinks[number] += piece
            if not piece:
                poll.unregister(number)
                open_ones.remove(number)
        if watch.is_cancelled():
            return "it was stopped by the owner"
        if sum(map(len, sinks.values())) > OUTPUT_BYTES:
            return "it wrote more than %d bytes and was ended" % OUTPUT_BYTES
        if time.monotonic() > until_s:
            return "it did not end within %g s and was ended" % seconds
        if child.poll() is not None and not ready:
            return ""  # what it left behind holds its output open
    return ""


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")[:SHOWN_CHARS]


def _sweep(mark: str) -> None:
    """End what a program started and let go of: it left the group, the mark of its environment stayed."""
    wanted = (_MARK + mark).encode()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/environ" % name, "rb") as handle:
                    is_ours = wanted in handle.read(_PIECE).split(b"\0")
                if is_ours:
                    os.kill(int(name), 9)
            except OSError:
                continue  # it ended meanwhile, or is somebody else's
