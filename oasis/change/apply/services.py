"""The services of a change: how they stood before it, and what it does with them. Knows nothing of configuration."""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Action, Callable, Init
    from oasis.system.child import Executor
    from oasis.system.root import Root

# What a script gets: a slow router restarts its network in 20 s, and ends a hung service after 5.
_ACTION_S = 60
_STATUS_S = 10
# What counts as the status of a script that could not be started or did not end in time, as timeout(1) has it.
TIMED_OUT = 124
# What `/etc/init.d/NAME status` of procd's rc.common says of a service that was never started or was stopped.
_INACTIVE = 3
# What is reported of a failed script's output.
_TOLD_CHARS = 200


def _whole_lines(text: str) -> str:
    """Return the first lines of a text; a line that is cut might end in half a secret, which nothing would find."""
    kept = ""
    for line in text.split("\n"):
        if len(kept) + len(line) >= _TOLD_CHARS:
            return kept + "…"
        kept += line + "\n"
    return kept.strip()


class ServiceError(ToolError):
    """The init script of a service failed; `failed` says which, and how."""

    def __init__(self, failed: Action, words: str) -> None:
        super().__init__("service %(name)s %(action)s failed with status %(status)d " % failed + words)
        self.message = self.message.rstrip()
        self.failed = failed
        self.untrusted = ("output of services",) if words else ()


def limit_s(services: list[Action]) -> int:
    """Return how long the actions of a plan may take in all, each at its limit."""
    return _ACTION_S * len(services)


class Services:
    """Init scripts of one router. `names(folder)` lists a folder."""

    def __init__(self, root: Root, executor: Executor, names: Callable[[str], list[str]]) -> None:
        self._root = root
        self._executor = executor
        self._names = names

    def states(self, services: list[Action], known: dict[str, dict[str, object] | None]) -> list[Init]:
        """Return how services stand now; a script that gives no answer counts as running.

        `known` are instances that procd listed (verification.py), {} where it runs no process: no script calls that
        inactive. Scripts are asked about the others only.
        Shape: {"name", "enabled": bool (it starts at boot), "running": bool}.
        """
        links = self._names(self._root.path("/etc/rc.d"))
        started = [link[3:] for link in links if link.startswith("S")]
        found: list[Init] = []
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

    def act(self, services: list[Action], off: list[str], is_excused: Callable[[Action], bool]) -> list[Action]:
        """Reload or restart services, in order; return them with "ok", and "status" where that is not 0.

        A script may complain when its service is one of `off`, which shall not run any more. One that fails and
        `is_excused` is not ok, and that is all.
        Raises: ServiceError for the one that failed otherwise.
        """
        done: list[Action] = []
        for item in services:
            name, action = str(item["name"]), str(item["action"])
            status, words = self._run(name, action)
            result: Action = {"name": name, "action": action, "ok": not status or name in off}
            if status:
                result["status"] = status
            if not result["ok"] and not is_excused(result):
                raise ServiceError(result, words)
            done.append(result)
        return done

    def _run(self, name: str, action: str) -> tuple[int, str]:
        try:
            status, _, err = self._executor.run([self._root.init_script(name), action], timeout_s=_ACTION_S)
        except ToolError as error:
            return TIMED_OUT, error.message
        return status, _whole_lines(err.decode("utf-8", "replace").strip())
