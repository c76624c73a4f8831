"""What judges a change afterwards: the init scripts of its services, the verification, the proof of life.

Services that are turned off may refuse to reload what is to run no more. Those that the change is not about are
reloaded along with the rest of their package: what fails there failed before, or for a reason of its own. Rules are
data (services.json): `switch` is TYPE.OPTION of the package, where a service has one for all of it. verification.py
checks whether a service really ended. Loaded with the first change: an idle daemon does without.
"""

from __future__ import annotations

import functools
import os
import time

from oasis.catalogue import validators
from oasis.change import difference, policy
from oasis.change.apply.proof_of_life import Life, may_keep
from oasis.change.apply.transaction import ACTION_S
from oasis.change.apply.verification import SETTLE_S, Verification
from oasis.errors import ToolError
from oasis.system.connections import connections, login_of
from oasis.ubus.message import NO_DATA, NOT_FOUND
from oasis.ubus.outgoing import SESSION
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.verification import Bus
    from oasis.change.shapes import Action, Callable, Images, Init, Mapping, Plan
    from oasis.system.child import Executor
    from oasis.system.root import Machine, Root

# In a folder nothing goes on after an init script has returned.
_FOLDER_SETTLE_S = 0.1
_STATUS_S = 10
# What counts as the status of a script that could not be started or did not end in time, as timeout(1) has it.
TIMED_OUT = 124
# What `/etc/init.d/NAME status` of procd's rc.common says of a service that was never started or was stopped.
_INACTIVE = 3
# What is reported of a failed script's output.
_TOLD_CHARS = 200


class Evidence:
    """The parts that judge the changes of one router. `is_here_fine`: loopback proves as well, in a folder only."""

    def __init__(self, machine: Machine, bus: Bus, is_here_fine: bool) -> None:
        root, files, executor, clock = machine.root, machine.files, machine.executor, machine.clock
        is_folder = root.folder != "/"

        def ruleset() -> str | None:
            nft = root.program("nft")
            if not nft or not nft.startswith(root.folder):  # the rules of this host are not those of a folder
                return None
            status, out, _ = executor.run([nft, "list", "table", "inet", "fw4"])
            return None if status else out.decode("utf-8", "replace")

        self.services = Services(root, executor, files.names)
        self.verification = Verification(
            bus, ruleset, lambda path: files.read(root.path(path)), lambda folder: files.names(root.path(folder)),
            clock.now_s, time.sleep, settle_s=_FOLDER_SETTLE_S if is_folder else SETTLE_S,
        )  # fmt: skip
        can_keep = functools.partial(may_keep, bus)
        self.life = Life(connections, can_keep, login_of, clock.up_s, is_here_fine and is_folder)


def luci_waits(bus: Bus) -> bool:
    """Return whether rpcd waits for the confirmation of an apply; nothing is confirmed by asking.

    Source: rpcd's uci.c, rpc_uci_confirm: no data when nobody waits, permission denied when it waits for another
    session than the one that asks.
    """
    try:
        bus("uci", "confirm", {SESSION: os.urandom(16).hex()})
    except ToolError as error:
        return error.status not in (NO_DATA, NOT_FOUND)  # a new rpcd knows nothing of what waited in the old one
    return True


class ServiceError(ToolError):
    """The init script of a service failed; `failed` says which, and how."""

    def __init__(self, failed: Action, words: str) -> None:
        super().__init__(("service %(name)s %(action)s failed with status %(status)d " % failed + words).rstrip())
        self.failed = failed
        self.untrusted = ("output of services",) if words else ()


class Services:
    """Init scripts of one router. `names(folder)` lists a folder."""

    def __init__(self, root: Root, executor: Executor, names: Callable[[str], list[str]]) -> None:
        self._root, self._executor, self._names = root, executor, names

    def states(self, services: list[Action], known: Mapping[str, Mapping[str, int] | None]) -> list[Init]:
        """Return how services stand now; a script that gives no answer counts as running.

        `known` are instances that procd listed (verification.py), {} where it runs no process: no script calls that
        inactive. Scripts are asked about the others only.
        Shape: {"name", "enabled": bool (it starts at boot), "running": bool}.
        """
        started = [link[3:] for link in self._names(self._root.path("/etc/rc.d")) if link.startswith("S")]
        found: list[Init] = []
        for name in dict.fromkeys(str(item["name"]) for item in services):
            is_up = known.get(name) is not None
            if not is_up:
                try:
                    status, _, _ = self._executor.run([self._root.init_script(name), "status"], timeout_s=_STATUS_S)
                    is_up = status != _INACTIVE
                except ToolError:
                    is_up = True
            found.append({"name": name, "enabled": name in started, "running": is_up})
        return found

    def act(
        self, plan: Plan, init: list[Init], known: Mapping[str, Mapping[str, int] | None],
        is_excused: Callable[[Action], bool],
    ) -> list[Action]:  # fmt: skip
        """Reload or restart a plan's services, in order; return them with "ok", and "status" where that is not 0.

        `init` and `known` say how they stood before. A bystander that is switched off is left alone, and a script may
        complain when the plan turns its service off. A bystander that fails, or who `is_excused`, is not ok, and that
        is all. Raises: ServiceError for the one that failed otherwise.
        """
        off, aside = turned_off(plan["images"]), bystanders(plan["images"])
        asleep = {  # that neither run nor start at boot: a reload would start what somebody switched off
            one["name"] for one in init
            if not one["enabled"] and (not one["running"] or known.get(one["name"]) == {})
        }  # fmt: skip
        done: list[Action] = []
        for item in plan["services"]:
            name, action = str(item["name"]), str(item["action"])
            if name in aside and name in asleep:
                continue
            try:
                status, _, err = self._executor.run([self._root.init_script(name), action], timeout_s=ACTION_S)
                words = _whole_lines(err.decode("utf-8", "replace").strip())
            except ToolError as error:
                status, words = TIMED_OUT, error.message
            result: Action = {"name": name, "action": action, "ok": not status or name in off}
            if status:
                result["status"] = status
            if not result["ok"] and name not in aside and not is_excused(result):
                raise ServiceError(result, words)
            done.append(result)
        return done


def _whole_lines(text: str) -> str:
    """Return the first lines of a text; a line that is cut might end in half a secret, which nothing would find."""
    kept = ""
    for line in text.split("\n"):
        if len(kept) + len(line) >= _TOLD_CHARS:
            return kept + "…"
        kept += line + "\n"
    return kept.strip()


def turned_off(images: Images) -> list[str]:
    """Return the names of the services of which everything is switched off by a change, and was not before.

    Every section must say so itself: what an option that is missing means is the script's own affair.
    """
    found = []
    for rule in [one for one in policy.services()["services"] if one["package"] in images and "switch" in one]:
        kind, option = rule["switch"].split(".")
        sides = []
        for data in images[rule["package"]]:
            switched = [one for one in model.parse(data, rule["package"]).sections if one.type == kind]
            off = [validators.truth(str(one.options.get(option, ""))) is False for one in switched]
            sides.append(bool(off) and all(off))
        if sides == [False, True]:
            found.append(rule["name"])
    return found


def bystanders(images: Images) -> list[str]:
    """Return the names of the services that a change reloads and is not about."""
    rules = [rule for rule in policy.services()["services"] if rule["package"] in images]
    changed: dict[str, list[tuple[str, str]]] = {}
    for name in {rule["package"] for rule in rules if "about" in rule}:
        before, after = (model.parse(data, name) for data in images[name])
        found = difference.compare(before, after, name)
        changed[name] = [(item["type"], item.get("option") or "") for item in found]
    # A section that comes or goes does so with all of its options.
    concerned = {
        rule["name"] for rule in rules
        if "about" not in rule or any(
            what in (kind, "%s.%s" % (kind, option)) or (what.startswith(kind + ".") and not option)
            or (what.endswith("*") and ("%s.%s" % (kind, option)).startswith(what[:-1]))
            for kind, option in changed[rule["package"]] for what in rule["about"]
        )
    }  # fmt: skip
    return sorted({rule["name"] for rule in rules} - concerned)
