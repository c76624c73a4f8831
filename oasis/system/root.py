"""Where things are: every path below one router root, `/` on a router and a folder on any other host.

`Root` knows names of files and programs, and opens none of them. `Machine` is what a daemon works on, as one value.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from oasis.errors import UsageError
from oasis.system.child import PACKAGES, SERVICE, TOOL, Executor, Limits
from oasis.system.files import Files, KnownFiles, free_bytes

if False:  # annotations only
    from oasis.system.clock import Clock

_SERVICE_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
# What is looked up on PATH. `sh` is there for the scripts' sake: what they find must be what we found.
PROGRAMS = ("uci", "ubus", "nft", "sh")
# These act on the whole router, or look around from it: in a folder only those in its own bin/ count, for the host that
# it is on has programs of the same names.
TOOLS = (
    "ping", "traceroute", "nslookup", "opkg", "apk", "sysupgrade", "poweroff", "nlbw", "wg", "owut", "auc", "passwd",
)  # fmt: skip
# What the executor may start besides init scripts; everything else is refused.
_KINDS = {
    "uci": TOOL, "ubus": TOOL, "nft": TOOL, "ping": TOOL, "traceroute": TOOL, "nslookup": TOOL, "opkg": PACKAGES,
    "apk": PACKAGES, "sysupgrade": PACKAGES, "poweroff": SERVICE, "nlbw": TOOL, "wg": TOOL,
    "owut": PACKAGES, "auc": PACKAGES, "passwd": TOOL,
}  # fmt: skip
_SHELL = "/bin/sh"
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SCRIPTS = ("guard.sh", "restore.sh")


class Root:
    """The paths of one router root.

    `search` is the list of folders in which programs are looked up, once, at start.
    """

    def __init__(self, folder: str = "/", search: list[str] | None = None) -> None:
        self.folder = "/" if folder in ("", "/") else os.path.abspath(folder)
        self.confdir = self.path("/etc/config")
        self.run_folder = self.path("/var/run/oasis")  # private run state: on a router this is in RAM
        self.state_folder = self.path("/etc/oasis")  # what must survive a reboot: journal, history, keys
        self.bus_socket = self.path("/var/run/ubus/ubus.sock")  # where ubusd listens
        self.socket = self.run_folder + "/oasis.sock"
        self._programs: dict[str, str] = {}
        places = []
        for name in PROGRAMS + TOOLS:
            for place in search or []:
                path = place + "/" + name
                is_ours = name in PROGRAMS or self.folder == "/" or place == self.folder + "/bin"
                if place.startswith("/") and is_ours and os.access(path, os.X_OK):
                    self._programs[name] = path
                    places.append(place)
                    break
        # In the order of the search: what a script finds must be what we found.
        self._places = [place for place in search or [] if place in places]

    def path(self, name: str) -> str:
        """Return the host's path of an absolute path on the router."""
        return name if self.folder == "/" else self.folder + name

    def program(self, name: str) -> str:
        """Return the absolute path of an allowed program, "" when the host has none."""
        return self._programs.get(name, "")

    def init_script(self, service: str) -> str:
        """Return the path of a service's init script.

        Raises: UsageError for a name that cannot be one or that the router does not have.
        """
        if not self.is_service(service):
            raise UsageError("%r cannot be the name of a service" % service, "names are like dnsmasq or network")
        path = self.path("/etc/init.d/" + service)
        if not os.access(path, os.X_OK):
            raise UsageError("there is no service %r on this router" % service, "list them with: ls /etc/init.d")
        return path

    def is_service(self, name: str) -> bool:
        """Tell whether a word can be the name of a service."""
        return bool(name) and not name.strip(_SERVICE_NAME) and not name.startswith((".", "-"))

    def allowed(self, scripts: str) -> Callable[[list[str]], Limits | None]:
        """Return the executor's list: our programs, init scripts, and our own scripts in the folder `scripts`."""

        def kind(argv: list[str]) -> Limits | None:
            for name, limits in _KINDS.items():
                if argv[0] == self.program(name):
                    return limits
            if argv[0] == _SHELL:
                return SERVICE if argv[1:2] and argv[1] in [scripts + "/" + name for name in SCRIPTS] else None
            folder, _, name = argv[0].rpartition("/")
            return SERVICE if folder == self.path("/etc/init.d") and self.is_service(name) else None

        return kind

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a child process: nothing is inherited."""
        env = {"PATH": _PATH, "HOME": "/", "LANG": "C"}
        if self.folder != "/":
            env["OASIS_ROOT"] = self.folder
            env["PATH"] = ":".join([*self._places, _PATH])
        return env


class Machine:
    """Root, files, programs and clocks of one router, or of a folder on a host; `free_bytes(path)` looks at a disk."""

    def __init__(
        self, root: Root, files: Files, executor: Executor, clock: Clock, free: Callable[[str], int] = free_bytes
    ) -> None:
        self.root = root
        self.files = files
        self.known = KnownFiles(files)  # to look at; who writes or decides reads `files`
        self.executor = executor
        self.clock = clock
        self.free_bytes = free
