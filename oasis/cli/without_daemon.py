"""What the command line can do while the daemon does not run: look, never write.

The only module of the command line that knows the router itself; loaded when the daemon was asked and is not there.
"""

from __future__ import annotations

import os
import time

from oasis.errors import OasisError, StoreError
from oasis.system.executor import Executor
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.tools.builtin.diagnose import examined
from oasis.tools.facts import Facts
from oasis.ubus.objects import Ubus, opener
from oasis.uci import model
from oasis.uci.tables import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Source: config_get_bool of OpenWrt's lib/functions.sh.
_OFF = ("0", "off", "false", "no", "disabled")


def is_switched_off(folder: str) -> bool:
    """Return whether the settings say that the service is not to run."""
    root = Root(folder)
    try:
        sections = model.parse(Files().read(root.confdir + "/oasis") or b"", "oasis").sections
    except OasisError:
        return False  # then the service itself says what is wrong
    return any(one.name == "main" and one.options.get("enabled") in _OFF for one in sections)


def changes(folder: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return what change.list and change.load answer (methods.py), read from the history on flash.

    Raises: UsageError for a change that is not there, StoreError for a history that cannot be read.
    """
    from oasis.api.methods import shown
    from oasis.change.apply.journal import Journal
    from oasis.change.history import records

    journal = Journal(Files(), Root(folder).state_folder, lambda path: 0)
    if "change" in params:
        record = journal.read(params["change"])
        return {"change": {**shown(record), "diff": records.diff(journal, record)}}
    chosen = records.chosen(journal.records(), params.get("since_unix_s", 0), "", params.get("package", ""))
    return {"changes": [shown(record) for record in chosen]}


def doctor(folder: str, search: str) -> dict[str, Any]:
    """Return a round of the doctor (doctor/rounds.py) over a router root; `search` is where programs are looked for."""
    root, files = Root(folder, search.split(":")), Files()
    executor = Executor(root.environment(), root.allowed(os.sep))
    ubus = Ubus(executor, root.program("ubus"), opener(root.bus_socket), root.folder == "/")

    def config(package: str) -> dict[str, dict[str, object]] | None:
        try:
            data = files.read(root.confdir + "/" + package) if "/" not in package else None
        except StoreError:
            return None  # a folder, a FIFO, a device: UCI has no such package either
        return None if data is None else tables(model.parse(data, package))

    def packages() -> list[str]:
        return model.listed(files.names(root.confdir))

    facts = Facts(config, ubus.call, lambda path: files.read(root.path(path)), lambda: int(time.time()), packages)
    return examined(root, files, executor.run, facts)
