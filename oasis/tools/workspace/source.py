"""The source of the tools that the owner sets up first: the workspace's and the web's, as tools/registry.py wants it.

Specs are in tools.json. What is not set up is listed with a note and cannot be called.
"""

from __future__ import annotations

import os
import threading

from oasis.core import jsonl
from oasis.errors import SettingsError, ToolError
from oasis.tools.workspace import programs
from oasis.tools.workspace import web as wishes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.tools.workspace.web import Net
    from oasis.uci.model import Section

    Spec = dict[str, Any]

_FILE = os.path.dirname(os.path.abspath(__file__)) + "/tools.json"
_NO_COMMAND = "no command is listed: the owner adds them to oasis.workspace.command"
_FILE_S = 20.0


class Seed:
    """The tools of one daemon. `user` is who works in the workspace, "" for who we are; `net` reaches the web."""

    name = "seed"

    def __init__(self, root: Root, sections: Callable[[], list[Section]], user: str, net: Net | None = None) -> None:
        self._root = root
        self._sections = sections
        self._user = user
        self._net = net
        self._lock = threading.Lock()
        self._key: object = None
        self._specs: list[Spec] = []
        # One at a time: they share the limits of one user.
        self._running = threading.Lock()

    def specs(self) -> list[Spec]:
        """Return the specs as the settings are now; the same list while they stay."""
        with self._lock:
            sections = self._sections()
            options = [sorted(one.options.items()) for one in sections if one.type in ("workspace", "web")]
            key = (options, self._net.has_brave() if self._net else False)
            if key != self._key:
                with open(_FILE, "rb") as handle:
                    made = jsonl.loads(handle.read())["tools"]
                self._specs = [self._spec(spec, sections) for spec in made]
                self._key = key
            return self._specs

    def _spec(self, spec: Spec, sections: list[Section]) -> Spec:
        kind = spec.pop("kind")
        if kind == "web":
            fault = self._net.fault(spec["name"]) if self._net else "this daemon has no worker"
            return {**spec, "fault": fault}
        try:
            _, allowed, notes = wishes.workspace(sections)
        except SettingsError as error:
            return {**spec, "fault": error.message}
        if spec["name"] != "shell_exec":
            return spec
        described = {**spec, "description": spec["description"] % programs.listed(allowed)}
        return {**described, "fault": "" if allowed else _NO_COMMAND, "note": "; ".join(notes)}

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool; raises ToolError and what the settings are wrong in."""
        if name in ("http_fetch", "web_search"):
            if self._net is None:
                raise ToolError("this daemon has no worker")
            return self._net.call(name, arguments, operator, watch)
        folder, allowed, _ = wishes.workspace(self._sections())
        folder = self._root.path(folder)
        argv = programs.program(programs.words(arguments["command"]), allowed) if name == "shell_exec" else []
        make(folder, self._user)
        if not argv:
            request = {**arguments, "op": name.removeprefix("file_")}
            return programs.ask(request, folder, self._user, watch.left_s(_FILE_S), watch)
        if not self._running.acquire(timeout=watch.left_s(_FILE_S)):
            raise ToolError("another program of the workspace still runs", "try again when it has ended")
        try:
            seconds = watch.left_s(float(arguments.get("timeout_s", programs.DEFAULT_S)))
            return programs.run(argv, folder, self._user, seconds, watch)
        finally:
            self._running.release()


def make(folder: str, user: str) -> None:
    """Make the workspace where there is none, and give it to its user.

    Raises: ToolError when that cannot be.
    """
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return  # whose it is, the user finds out
    except OSError as error:
        raise ToolError("the workspace %s cannot be made: %s" % (folder, error.strerror))
    if user and os.geteuid() == 0:
        import pwd

        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            entry = pwd.getpwnam(user)
            os.fchown(number, entry.pw_uid, entry.pw_gid)
        except KeyError:
            os.rmdir(folder)
            raise ToolError("there is no user %s" % user, "/etc/init.d/oasis restart makes it")
        finally:
            os.close(number)
