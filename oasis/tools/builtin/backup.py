"""The tool `backup`: the router's settings in one archive, kept in RAM for the owner to fetch.

The archive holds every key and password, so only root may read it, it leaves the router by nothing of ours, and there
is one at a time. Made by sysupgrade, it is what LuCI and `sysupgrade -r` restore.
"""

from __future__ import annotations

import os
import time

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch

_FOLDER = "/var/run/oasis/backup"
# An archive of settings is some hundred kB; a full /tmp stops the router.
SPARE_BYTES = 4 * 1024 * 1024


def run(arguments: dict[str, Any], router: Router, operator: Operator, watch: Watch) -> dict[str, Any]:
    """Return {"file", "size_bytes", "notes"}.

    Raises: ToolError when there is no room or sysupgrade fails.
    """
    tmp = operator.facts.ubus("system", "info").get("tmp")
    free = tmp.get("avail", tmp.get("free")) if isinstance(tmp, dict) else None
    if isinstance(free, int) and free * 1024 < SPARE_BYTES:
        raise ToolError("memory for files has only %d kB free" % free, "an archive needs room there")
    folder = router.root.path(_FOLDER)
    _clear(router, folder)
    router.files.folder(folder)
    name = "%s/backup-%s.tar.gz" % (_FOLDER, time.strftime("%Y-%m-%d-%H%M%S", time.localtime(operator.facts.now_s())))
    path = router.root.path(name)
    # Made before, so that nobody else can read it while it is written.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    status, _, err = router.run(["sysupgrade", "-b", path], watch, 60.0)
    size = router.files.size(path)
    if status or not size:
        _clear(router, folder)
        raise ToolError("sysupgrade made no archive: status %d %s" % (status, err.strip()[:200]), "is /tmp full?")
    os.chmod(path, 0o600)
    note = "it holds all keys and passwords, and is gone with the next restart: fetch it with scp, or make one in LuCI"
    return {"file": name, "size_bytes": size, "notes": [note]}


def _clear(router: Router, folder: str) -> None:
    for name in router.files.names(folder):
        router.files.remove(folder + "/" + name)
