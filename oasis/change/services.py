"""The services of a change: how they stood before it, and what it does with them. Knows nothing of configuration."""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Action, Callable
    from oasis.system.executor import Executor
    from oasis.system.root import Root

_ACTION_S = 60
_STATUS_S = 10
# What `/etc/init.d/NAME status` of procd's rc.common says of a service that was never started or was stopped.
_INACTIVE = 3
# What is told of a failed script's output.
_TOLD_CHARS = 200


def _whole_lines(text: str) -> str:
    """Return the first lines of a text; a line that is cut might end in half a secret, which nothing would find."""
    kept = ""
    for line in text.split("\n"):
        if len(kept) + len(line) >= _TOLD_CHARS:
            return kept + "…"
        kept += line + "\n"
    return kept.strip()


class Services:
    """Init scripts of one router. `names(folder)` lists a folder."""

    def __init__(self, root: Root, executor: Executor, names: Callable[[str], list[str]]) -> None:
        self._root = root
        self._executor = executor
        self._names = names

    def states(self, services: list[Action], known: dict[str, dict[str, object] | None]) -> list[dict[str, object]]:
        """Return how services stand now; a script that cannot tell counts as running.

        `known` are instances that procd told of (readback.py), {} where it runs no process: no script calls that
        inactive. Scripts are asked about the others only.
        Shape: {"name", "enabled": bool (it starts at boot), "running": bool}.
        """
        links = self._names(self._root.path("/etc/rc.d"))
        started = [link[3:] for link in links if link.startswith("S")]
        found = []
        for name in dict.fromkeys(str(item["name"]) for item in services):
            is_up = known.get(name) is not None or self._is_running(name)
            found.append({"name": name, "enabled": name in started, "running": is_up})
        return found

    def _is_running(self, name: str) -> bool:
        try:
            status, _, _ = self._executor.run([self._root.init_script(name), "status"], timeout_s=_STATUS_S)
        except ToolError:
            return True
        return status != _INACTIVE

    def act(self, services: list[Action], off: list[str]) -> list[Action]:
        """Reload or restart services, in order; return them with "ok", and "status" where that is not 0.

        A script may complain when its service is one of `off`, which shall not run any more.
        Raises: ToolError naming the one that failed.
        """
        done = []
        for item in services:
            name, action = str(item["name"]), str(item["action"])
            status, _, err = self._executor.run([self._root.init_script(name), action], timeout_s=_ACTION_S)
            if status and name not in off:
                words = _whole_lines(err.decode("utf-8", "replace").strip())
                told = "service %s %s failed with status %d %s" % (name, action, status, words)
                error = ToolError(told.rstrip())
                error.untrusted = ("output of services",) if words else ()
                raise error
            done.append({"name": name, "action": action, "ok": True, **({"status": status} if status else {})})
        return done
