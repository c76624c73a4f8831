"""The tools that the owner sets up first, as a source of tools/registry.py: those of the workspace and of the web.

Specs are in tools.json. A tool that is not set up is listed with a note and cannot be called.

The web is reached by a worker, for the daemon opens no connection. The worker judges what may be reached
(worker/hostnames.py), by the owner's list and by what it gets from here: this router's own addresses and the networks
of its interfaces, which may look like the internet's (IPv6).

config workspace 'workspace'
    option path '/tmp/oasis-work'        where files are, and programs run
    list command 'ping -c 3'             words that a command of shell_exec may begin with, a program or more
config web 'web'
    list reach '192.168.1.10:8080'       what is in the home network, and may be fetched all the same
    option searxng 'https://…'           where web_search asks; else Brave, with its key in keys.json under `brave`
"""

from __future__ import annotations

import os
import threading

from oasis.core import jsonl
from oasis.errors import OasisError, SettingsError, ToolError
from oasis.tools.workspace import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.tools.router import Facts, Watch
    from oasis.tools.shapes import Arguments, GivenSpec, Result
    from oasis.uci.model import Section

    Ask = Callable[[Result, Callable[[], bool]], Result]


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
        self._specs: list[GivenSpec] = []
        # One at a time: they share the limits of one user.
        self._running = threading.Lock()

    def specs(self) -> list[GivenSpec]:
        """Return the specs as the settings are now; the same list while they stay."""
        with self._lock:
            sections = self._sections()
            options = [sorted(one.options.items()) for one in sections if one.type in ("workspace", "web")]
            key = (options, self._net.has_brave() if self._net else False)
            if key != self._key:
                with open(_FILE, "rb") as handle:
                    made = jsonl.shipped(handle.read())["tools"]
                self._specs = [self._spec(spec, sections) for spec in made]
                self._key = key
            return self._specs

    def _spec(self, spec: GivenSpec, sections: list[Section]) -> GivenSpec:
        kind = spec.pop("kind")
        if kind == "web":
            fault = self._net.fault(spec["name"]) if self._net else "this daemon has no worker"
            return {**spec, "fault": fault}
        try:
            _, allowed, notes = workspace(sections)
        except SettingsError as error:
            return {**spec, "fault": error.message}
        if spec["name"] != "shell_exec":
            return spec
        described: GivenSpec = {**spec, "description": spec["description"] % programs.listed(allowed)}
        return {**described, "fault": "" if allowed else _NO_COMMAND, "note": "; ".join(notes)}

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call a tool; raises ToolError and what the settings are wrong in."""
        if name in ("http_fetch", "web_search"):
            if self._net is None:
                raise ToolError("this daemon has no worker")
            return self._net.call(name, arguments, operator, watch)
        folder, allowed, _ = workspace(self._sections())
        folder = self._root.path(folder)
        argv = programs.program(programs.words(arguments["command"]), allowed) if name == "shell_exec" else []
        make(folder, self._user)
        if not argv:
            request = {**arguments, "op": name.removeprefix("file_")}
            return programs.ask(request, folder, self._user, watch.left_s(_FILE_S), watch)
        if not self._running.acquire(timeout=watch.left_s(_FILE_S)):
            raise ToolError("another program of the workspace still runs", "try again when it has ended")
        try:
            asked = arguments.get("timeout_s")
            seconds = float(asked) if isinstance(asked, (int, float)) else programs.DEFAULT_S
            return programs.run(argv, folder, self._user, watch.left_s(seconds), watch)
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


# Where Brave's key is in keys.json.
BRAVE = "brave"
# So long a silence of the worker is one: it reads several pages before it says a word.
_OPTIONS = {"idle_s": 90, "retries": 0}
_NO_ENGINE = "no search engine is set: its address in oasis.web.searxng, or Brave's key by `oasis key brave`"


class Net:
    """Reaches the web by a worker; `key()` gives Brave's key, "" for none."""

    def __init__(self, ask: Ask, sections: Callable[[], list[Section]], key: Callable[[], str]) -> None:
        self._ask = ask
        self._sections = sections
        self._key = key

    def has_brave(self) -> bool:
        """Return whether there is a key for Brave."""
        return bool(self._key())

    def fault(self, name: str) -> str:
        """Return why a tool cannot be used, "" when it can."""
        if name == "web_search" and not web(self._sections())[1] and not self.has_brave():
            return _NO_ENGINE
        return ""

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Fetch a page, or search the web.

        Raises: ToolError when no engine is set, ProviderError with what was wrong.
        """
        reach, searxng = web(self._sections())
        request: dict[str, object] = {"profile": "compatible", "options": dict(_OPTIONS)}
        request.update(open=reach, closed=closed(operator.facts))
        if name == "http_fetch":
            request.update(op="fetch", url=arguments["url"])
        elif searxng:
            # The owner set where it is: it may be in the home network.
            request.update(op="search", engine="searxng", base_url=searxng, query=arguments["query"])
            request["open"] = [*reach, _place(searxng)]
        elif self.has_brave():
            request.update(op="search", engine="brave", key=self._key(), query=arguments["query"])
        else:
            raise ToolError(_NO_ENGINE)
        return dict(self._ask(request, watch.is_cancelled))


def closed(facts: Facts) -> list[str]:
    """Return the router's own addresses, and the networks of all interfaces but those that lead to the internet."""
    found: list[str] = []
    interfaces = facts.ubus("network.interface", "dump").get("interface")
    for one in interfaces if isinstance(interfaces, list) else []:
        is_way_out = any(not route.get("mask") for route in _tables(one, "route"))
        for entry in [*_tables(one, "ipv4-address"), *_tables(one, "ipv6-address")]:
            address, mask = str(entry.get("address")), entry.get("mask")
            found.append(address if is_way_out or not isinstance(mask, int) else "%s/%d" % (address, mask))
        for entry in [*_tables(one, "ipv6-prefix"), *_tables(one, "ipv6-prefix-assignment")]:
            found.append("%s/%s" % (entry.get("address"), entry.get("mask")))
    return list(dict.fromkeys(found))


def _tables(interface: object, key: str) -> list[Result]:
    items = interface.get(key) if isinstance(interface, dict) else None
    found = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    return [one for one in found if key == "route" or isinstance(one.get("address"), str)]


def _place(url: str) -> str:
    """Return HOST:PORT of an address."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("/")[0].partition("?")[0]
    has_port = place.rpartition("]")[2].count(":") > 0
    return place if has_port else "%s:%d" % (place, 443 if scheme == "https" else 80)


WORKSPACE = "/tmp/oasis-work"  # noqa: S108 - in RAM, and made by us for the user alone
# Elsewhere lies what belongs to the system.
PLACES = ("tmp", "mnt", "opt", "srv", "home")
# Who may run one of these may run anything, or speaks to the router's own services.
SHELLS = frozenset(
    ["sh", "ash", "bash", "dash", "zsh", "ksh", "busybox", "env", "nohup", "setsid", "timeout", "time", "nice", "xargs",
     "find", "awk", "su", "sudo", "start-stop-daemon", "ubus", "oasis", "chroot", "unshare", "nsenter", "script"]
)  # fmt: skip


def workspace(sections: list[Section]) -> tuple[str, list[list[str]], list[str]]:
    """Return the folder, the commands as words, and what is wrong with the settings.

    Raises: SettingsError when the folder cannot be one.
    """
    options = _options(sections, "workspace")
    folder = str(options.get("path") or WORKSPACE)
    parts = folder.split("/")[1:]
    is_plain = folder.startswith("/") and len(parts) > 1 and parts[0] in PLACES and all(parts)
    if not is_plain or ".." in parts or "." in parts or "\0" in folder:
        raise SettingsError(
            "oasis.workspace.path is %r" % folder[:200], "a folder below " + ", ".join("/" + one for one in PLACES)
        )
    allowed, notes = [], []
    for text in _texts(options.get("command")):
        words, fault = _command(text)
        if fault:
            notes.append("command %r does not count: %s" % (text[:60], fault))
        else:
            allowed.append(words)
    return folder, allowed, notes


def _command(text: str) -> tuple[list[str], str]:
    from oasis.uci import shell_words

    try:
        found = shell_words.commands(text)
    except OasisError as error:
        return [], error.message
    if len(found) != 1:
        return [], "it is not one command"
    if found[0][0].rpartition("/")[2] in SHELLS:
        return [], "whoever may run %s may run anything" % found[0][0]
    return found[0], ""


def web(sections: list[Section]) -> tuple[list[str], str]:
    """Return the places at home that may be fetched, and the address of a SearXNG or ""."""
    options = _options(sections, "web")
    return _texts(options.get("reach")), str(options.get("searxng") or "")


def _options(sections: list[Section], kind: str) -> dict[str, str | list[str]]:
    for section in sections:
        if section.type == kind:
            return section.options
    return {}


def _texts(given: object) -> list[str]:
    return [str(one) for one in given if one] if isinstance(given, list) else [str(given)] if given else []
