"""The init scripts of a change: how their services stood before, what it does with them, and which may fail.

Services that are turned off may refuse to reload what is to run no more. Those that the change is not about are
reloaded along with the rest of their package: what fails there failed before, or for a reason of its own. Rules are
data (services.json): `switch` is TYPE.OPTION of the package, where a service has one for all of it. verification.py
checks whether a service really ended.
"""

from __future__ import annotations

from oasis.catalogue import validators
from oasis.change import policy
from oasis.change.apply.guard import ACTION_S
from oasis.change.diff import difference
from oasis.errors import ToolError
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Action, Callable, Images, Init, Mapping, ServiceRule
    from oasis.system.child import Executor
    from oasis.system.root import Root
    from oasis.uci.model import Package

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


class Services:
    """Init scripts of one router. `names(folder)` lists a folder."""

    def __init__(self, root: Root, executor: Executor, names: Callable[[str], list[str]]) -> None:
        self._root = root
        self._executor = executor
        self._names = names

    def states(self, services: list[Action], known: Mapping[str, Mapping[str, int] | None]) -> list[Init]:
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
            status, _, err = self._executor.run([self._root.init_script(name), action], timeout_s=ACTION_S)
        except ToolError as error:
            return TIMED_OUT, error.message
        return status, _whole_lines(err.decode("utf-8", "replace").strip())


def turned_off(images: Images) -> list[str]:
    """Return the names of the services of which everything is switched off by a change, and was not before."""
    return [
        str(rule["name"])
        for rule in policy.services()["services"]
        if rule["package"] in images and "switch" in rule and _turns(images[rule["package"]], rule)
    ]


def bystanders(images: Images) -> list[str]:
    """Return the names of the services that a change reloads and is not about."""
    rules = [rule for rule in policy.services()["services"] if rule["package"] in images]
    changed: dict[str, list[str]] = {}
    for name in {str(rule["package"]) for rule in rules if "about" in rule}:
        before, after = (model.parse(data, name) for data in images[name])
        found = difference.compare(before, after, name)
        changed[name] = ["%s.%s" % (item["type"], item.get("option") or "") for item in found]
    concerned = {str(rule["name"]) for rule in rules if _concerns(rule, changed)}
    return sorted({str(rule["name"]) for rule in rules} - concerned)


def _concerns(rule: ServiceRule, changed: dict[str, list[str]]) -> bool:
    if "about" not in rule:
        return True
    for place in changed[rule["package"]]:
        for what in rule["about"]:
            kind, _, option = place.partition(".")
            # A section that comes or goes does so with all of its options.
            if what in (place, kind) or (what.startswith(kind + ".") and not option):
                return True
            if what.endswith("*") and place.startswith(what[:-1]):
                return True
    return False


def _turns(images: tuple[bytes, bytes], rule: ServiceRule) -> bool:
    before, after = (_is_off(model.parse(data, str(rule["package"])), *rule["switch"].split(".")) for data in images)
    return after and not before


def _is_off(package: Package, kind: str, option: str) -> bool:
    """Return whether every section says so itself: what an option that is missing means is the script's own affair."""
    values = [section.options.get(option, "") for section in package.sections if section.type == kind]
    return bool(values) and all(validators.truth(str(value)) is False for value in values)
