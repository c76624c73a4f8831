"""Starts the service: by the command, or when another command found it absent and a person says yes.

Goes through the init script, so procd watches what was started. Loaded only then.
"""

from __future__ import annotations

import os
import time

from oasis.cli import input as cli_input
from oasis.cli.client import NoDaemon
from oasis.cli.commands import OK
from oasis.errors import OasisError, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

# A slow router needs some seconds for the interpreter; a change that waited is put back before anybody is served.
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
    answer = cli_input.line(screen, _QUESTION)
    if answer is None or answer.lower() not in ("", "y", "yes"):
        return False
    _start(call)
    return True


def _start(call: Call) -> None:
    script = _script()
    if not os.access(script, os.X_OK):
        raise SettingsError(f"there is no {script} to start the service with", "on a host that is no router: make run")
    from oasis.cli.without_daemon import is_switched_off

    if is_switched_off(_root()):
        raise SettingsError("the service is switched off", "uci set oasis.main.enabled=1; uci commit oasis")
    _, status = os.waitpid(os.posix_spawn(script, [script, "start"], os.environ), 0)
    until_s = time.monotonic() + (READY_S if status == 0 else 0)
    while not _answers(call):
        if time.monotonic() >= until_s:
            raise NoDaemon("the service does not come up", "the system log tells why: logread -e oasis")
        time.sleep(_LOOK_S)


def _answers(call: Call) -> bool:
    try:
        call("info", {})
    except NoDaemon:
        return False
    except OasisError:
        return True  # it says no, so it is there
    return True


def _script() -> str:
    return os.path.join(_root(), "etc/init.d/oasis")


def _root() -> str:
    return os.environ.get("OASIS_ROOT") or "/"
