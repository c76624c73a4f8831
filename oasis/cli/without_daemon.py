"""What works while the daemon does not run: `oasis start`, `oasis doctor`, and the history on flash.

The service is started through its init script, so that procd watches it. Looking changes nothing; a fix is a plan like
any other, by the daemon. This is the only place where the command line reads the router itself; most of what that takes
is imported only then.
"""

from __future__ import annotations

import os
import time

from oasis.cli.commands import FAILED, OK
from oasis.cli.rpc_client import NoDaemon
from oasis.cli.terminal import read_line
from oasis.core import clean
from oasis.errors import OasisError, SettingsError
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Any, Call, Iterator, Round
    from oasis.cli.terminal import Screen

# A slow router needs some seconds for the interpreter; an unconfirmed change is rolled back before anything is served.
READY_S = 40.0
_LOOK_S = 0.2
_QUESTION = "The oasis service is not running. Start it now? [Y/n] "


def start(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Start the service and wait until it answers.

    Raises: SettingsError when it cannot be started here or is switched off, NoDaemon when it does not come.
    """
    if _answers(call):
        screen.notice("the service runs already")
        return OK
    _start(call)
    screen.notice("the service runs")
    return OK


def offer(call: Call, screen: Screen) -> bool:
    """Ask whether to start the service; return whether it runs now.

    Raises: as `start`.
    """
    if not screen.can_ask or not os.access(_script(), os.X_OK):
        return False
    answer = read_line(screen, _QUESTION)
    if answer is None or answer.lower() not in ("", "y", "yes"):
        return False
    _start(call)
    return True


def explained(error: OasisError) -> None:
    """Raise what says why the service does not run, where its settings are the reason."""
    fault = _fault()
    if fault:
        raise NoDaemon(error.message, f"a setting is wrong: {fault}; then start it", True)


def _fault() -> str:
    from oasis.config.settings import fault_of  # only where something is wrong

    try:
        return fault_of(model.stored(Files().read, Root(_root()).confdir, "oasis") or {})
    except OasisError as error:
        return error.message


def _start(call: Call) -> None:
    script = _script()
    if not os.access(script, os.X_OK):
        raise SettingsError(f"there is no {script} to start the service with", "on a host that is no router: make run")
    try:
        sections = model.stored(Files().read, Root(_root()).confdir, "oasis") or {}
    except OasisError:
        sections = {}  # then the service itself says what is wrong
    if not model.flag(sections.get("main", {}), "enabled", True):
        raise SettingsError("the service is switched off", "uci set oasis.main.enabled=1; uci commit oasis")
    _, status = os.waitpid(os.posix_spawn(script, [script, "start"], os.environ), 0)
    until_s = time.monotonic() + (READY_S if status == 0 else 0)
    while not _answers(call):
        if time.monotonic() >= until_s:
            raise NoDaemon("the service does not come up", _fault() or "the system log tells why: logread -e oasis")
        time.sleep(_LOOK_S)


def _answers(call: Call) -> bool:
    try:
        call("info", {})
    except NoDaemon:
        return False
    except OasisError:
        return True  # it says no, so it is there
    return True


def _root() -> str:
    return os.environ.get("OASIS_ROOT") or "/"


def _script() -> str:
    return os.path.join(_root(), "etc/init.d/oasis")


def changes(change: str = "", since_unix_s: int = 0, package: str = "") -> dict[str, object]:
    """Return what change.list and change.load answer, read from the history on flash.

    Raises: UsageError for a change that is not there, StoreError for a history that cannot be read.
    """
    from oasis.api.methods import shown
    from oasis.change.apply.journal import Journal, chosen

    journal = Journal(Files(), Root(_root()).state_folder, lambda path: 0)
    if change:
        record = journal.read(change)
        return {"change": {**shown(record), "diff": journal.diff(record)}}
    found = chosen(journal.records(), since_unix_s, "", package)
    return {"changes": [shown(record) for record in found]}


_LOOKS = {"error": "-", "warning": "bold", "info": ""}


def doctor(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what was found, worst first; or propose the fix of one finding and follow it.

    The status is 1 when something needs care.
    """
    if arguments["--fix"]:
        from oasis.cli.prompt import follow

        started = call("doctor.fix", {"finding": arguments["--fix"]})
        return follow(call, started, screen, waits=not arguments["--no-wait"])
    try:
        found = call("doctor.run", {})
    except NoDaemon as reason:
        screen.notice(f"{reason.message}; the doctor looks by itself")
        found = _examined()
    screen.result(found, _findings(found, bool(arguments["--all"])))
    return FAILED if any(one["severity"] != "info" for one in found["findings"]) else OK


def _examined() -> Round:
    """Return a round of the doctor over the router root, without a daemon."""
    from oasis.system.child import Executor
    from oasis.tools.builtin.diagnose import examined
    from oasis.tools.router import Facts
    from oasis.ubus.outgoing import Ubus, opener

    root, files = Root(_root(), os.environ.get("PATH", "").split(":")), Files()
    executor = Executor(root.environment(), root.allowed(os.sep))
    ubus = Ubus(executor, root.program("ubus"), opener(root.bus_socket), root.folder == "/")

    facts = Facts(
        lambda package: model.stored(files.read, root.confdir, package), ubus.call,
        lambda path: files.read(root.path(path)), lambda: int(time.time()),
        lambda: model.listed(files.names(root.confdir)),
    )  # fmt: skip
    found: Any = examined(root, files, executor.run, facts)
    checked: Round = found
    return checked


def _findings(found: Round, is_whole: bool) -> Iterator[str | tuple[str, str]]:
    for finding in found["findings"]:
        yield clean.line(f"{finding['severity']}: {finding['title']}"), _LOOKS[finding["severity"]]
        yield "  " + finding["explanation"]
        if "advice" in finding:
            yield "  " + finding["advice"]
        for line in finding["evidence"]:
            yield "  seen: " + line
        if "fix" in finding:
            yield f"  oasis doctor --fix '{finding['id']}': {'; '.join(finding['fix']['words'])}"
        yield ""
    checks = found["checks"]
    for check in checks if is_whole else []:
        why = f" ({check['why']})" if check.get("why") else ""
        yield f"  {check['state']:8} {check['title']}{why}"
    if not found["findings"]:
        yield "nothing wrong was found"
    skipped = len([check for check in checks if check["state"] == "skipped"])
    took = f"{found['took_ms'] / 1000:.1f}"
    if skipped:
        why = "" if is_whole else " (why: oasis doctor --all)"
        yield f"{len(checks)} checks, {skipped} of them not possible here{why}, {took} s"
    else:
        yield f"{len(checks)} checks, {took} s"
