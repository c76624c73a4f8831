"""The tools that the owner sets up first, as a source of tools/registry.py: those of the workspace and of the web.

Specs are in seed.json. A tool that is not set up is listed with a note and cannot be called.

The workspace is a folder of a user without rights. A process of its own touches its files (worker/workspace.py). A
program is one of the owner's list, as words, never through a shell. Either child is confined (worker/rights.py), has
limits, an environment given whole and no descriptor of ours; a program ends with all it started: those that left its
group are found by a mark in their environment.

The web is reached by a worker, for the daemon opens no connection. The worker judges what may be reached
(worker/web.py), by the owner's list and by what it gets from here: this router's own addresses and the networks
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
import pwd
import threading
import time

from oasis import worker
from oasis.core import jsonl
from oasis.errors import OasisError, PolicyError, SettingsError, ToolError
from oasis.system import left_behind
from oasis.system.child import Child, Limits, talk
from oasis.tools.router import Facts, Watch, dicts
from oasis.uci import shell_words

if False:  # annotations only
    from oasis.core.shapes import Callable, Json
    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.tools.shapes import Arguments, GivenSpec, ProgramResult, Result
    from oasis.uci.model import Section

    Ask = Callable[[Result, Callable[[], bool]], Result]

_NO_COMMAND = "no command is listed: the owner adds them to oasis.workspace.command"
_FILE_S = 20.0
# Where Brave's key is in keys.json.
BRAVE = "brave"
# So long a silence of the worker is one: it reads several pages before it says a word.
_OPTIONS = {"idle_s": 90, "retries": 0}
_NO_WORKER = "this daemon has no worker"
_NO_ENGINE = "no search engine is set: the owner sets oasis.web.searxng to one, or Brave's key by `oasis key brave`"


class Seed:
    """The tools of one daemon.

    `user` is who works in the workspace, "" for who we are. `ask` has a worker reach the web, None where there is none;
    `key()` gives Brave's key, "" for none.
    """

    name = "seed"

    def __init__(
        self, root: Root, sections: Callable[[], list[Section]], user: str, ask: Ask | None = None,
        key: Callable[[], str] = str,
    ) -> None:  # fmt: skip
        self._root = root
        self._sections = sections
        self._user = user
        self._ask = ask
        self._brave_key = key
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
            key = (options, bool(self._brave_key()))
            if key != self._key:
                made = jsonl.table(__file__, "seed.json")["tools"]
                self._specs = [self._spec(spec, sections) for spec in made]
                self._key = key
            return self._specs

    def _spec(self, spec: GivenSpec, sections: list[Section]) -> GivenSpec:
        if spec.pop("kind") == "web":
            has_engine = spec["name"] != "web_search" or web(sections)[1] or self._brave_key()
            return {**spec, "fault": _NO_WORKER if self._ask is None else "" if has_engine else _NO_ENGINE}
        try:
            _, allowed, notes = workspace(sections)
        except SettingsError as error:
            return {**spec, "fault": error.message}
        if spec["name"] != "shell_exec":
            return spec
        described: GivenSpec = {**spec, "description": spec["description"] % _listed(allowed)}
        return {**described, "fault": "" if allowed else _NO_COMMAND, "note": "; ".join(notes)}

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call a tool; raises ToolError and what the settings are wrong in."""
        if name in ("http_fetch", "web_search"):
            return self._reach(name, arguments, operator, watch)
        path, allowed, _ = workspace(self._sections())
        folder = self._root.path(path)
        argv = _program(arguments["command"], allowed) if name == "shell_exec" else []
        _make_folder(folder, self._user)
        if not argv:
            request = {**arguments, "op": name.removeprefix("file_")}
            return _file_work(request, folder, self._user, watch.left_s(_FILE_S), watch)
        if not self._running.acquire(timeout=watch.left_s(_FILE_S)):
            raise ToolError("another program of the workspace still runs", "try again when it has ended")
        try:
            asked = arguments.get("timeout_s")
            seconds = float(asked) if isinstance(asked, (int, float)) else DEFAULT_S
            return _run(argv, folder, self._user, watch.left_s(seconds), watch)
        finally:
            self._running.release()

    def _reach(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Fetch a page, or search the web."""
        if self._ask is None:
            raise ToolError(_NO_WORKER)
        reach, searxng = web(self._sections())
        request: dict[str, object] = {"profile": "compatible", "options": dict(_OPTIONS)}
        request.update(open=reach, closed=closed(operator.facts))
        if name == "http_fetch":
            request.update(op="fetch", url=arguments["url"])
        elif searxng:
            # The owner set where it is: it may be in the home network.
            scheme, _, rest = searxng.partition("://")
            place = rest.partition("/")[0].partition("?")[0]
            has_port = ":" in place.rpartition("]")[2]
            place = place if has_port else "%s:%d" % (place, 443 if scheme == "https" else 80)
            request.update(op="search", engine="searxng", base_url=searxng, query=arguments["query"])
            request["open"] = [*reach, place]
        elif self._brave_key():
            request.update(op="search", engine="brave", key=self._brave_key(), query=arguments["query"])
        else:
            raise ToolError(_NO_ENGINE)
        return dict(self._ask(request, watch.is_cancelled))


def _make_folder(folder: str, user: str) -> None:
    """Make the workspace where there is none, and give it to its user; raise ToolError when that cannot be."""
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return  # whose it is, the user finds out
    except OSError as error:
        raise ToolError("the workspace %s cannot be made: %s" % (folder, error.strerror))
    if user and os.geteuid() == 0:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            entry = pwd.getpwnam(user)
            os.fchown(number, entry.pw_uid, entry.pw_gid)
        except KeyError:
            os.rmdir(folder)
            raise ToolError("there is no user %s" % user, "/etc/init.d/oasis restart makes it")
        finally:
            os.close(number)


# -- programs and files of the workspace ------------------------------------------------------------------------------

USER = "oasis-tool"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_S = 30.0
# What a model reads of each stream; and what a program may write before it is ended.
SHOWN_CHARS = 4000
OUTPUT_BYTES = 1024 * 1024
ANSWER_BYTES = 256 * 1024
# A program of somebody else's may reserve more addresses than it uses; a file of it stays small.
LIMITS: Limits = ("64", "8192", "524288", "300", "800")
_MARK = "OASIS_CALL="


def _program(command: Json, allowed: list[list[str]]) -> list[str]:
    """Return a command as words, with the path of its program, when the owner listed how it begins.

    A text is split as a shell would, and refused where a shell would do more.
    """
    hint = "give the program and its arguments as a list"
    if isinstance(command, list):
        found = [str(word) for word in command]
    else:
        assert isinstance(command, str)  # by the schema
        try:
            commands = shell_words.commands(command)
        except OasisError as error:
            raise ToolError("there is no shell: %s" % error.message, hint)
        if len(commands) != 1:
            raise ToolError("%d commands were given" % len(commands), "one program a call")
        found = commands[0]
    if not found or not found[0] or any("\0" in word for word in found):
        raise ToolError("the command is empty or holds a NUL character", hint)
    if not any(found[: len(one)] == one for one in allowed):
        hint = "they are listed in oasis.workspace.command: " + _listed(allowed)
        raise PolicyError("the owner did not list %r" % " ".join(found)[:200], hint)
    places = [found[0]] if "/" in found[0] else [place + "/" + found[0] for place in PATH.split(":")]
    for path in places:
        if os.path.isabs(path) and os.access(path, os.X_OK) and not os.path.isdir(path):
            return [path, *found[1:]]
    raise ToolError("this router has no program %r" % found[0][:200], "it is part of a package that is not installed")


def _listed(allowed: list[list[str]]) -> str:
    return ", ".join(" ".join(one) for one in allowed) or "none"


def _run(argv: list[str], folder: str, user: str, seconds: float, watch: Watch) -> ProgramResult:
    """Run a program in a folder; raise ToolError when it cannot be started."""
    mark = os.urandom(16).hex()
    env = {"PATH": PATH, "HOME": folder, "LC_ALL": "C.UTF-8", _MARK[:-1]: mark}
    out, err, why, status = _talk(worker.program("rights", user, "@" + folder, *argv), env, b"", seconds, watch)
    left_behind.end(None, set(), _MARK + mark, set())  # what it started and let go of
    result: ProgramResult = {"exit_status": status, "output": _shown(out) or "(no output)"}
    if err:
        result["errors"] = _shown(err)
    if max(len(out), len(err)) > SHOWN_CHARS:
        result["cut"] = "%d characters of each are shown" % SHOWN_CHARS
    if why:
        result["error"] = why
    return {**result, "is_error": True} if why or status else result


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")[:SHOWN_CHARS]


def _file_work(request: Result, folder: str, user: str, seconds: float, watch: Watch) -> dict[str, Json]:
    """Have something done with the workspace's files (worker/workspace.py); raise ToolError with what it says."""
    argv = worker.program("workspace", user, folder)
    out, err, why, status = _talk(argv, {"PATH": PATH, "LC_ALL": "C.UTF-8"}, jsonl.line(request), seconds, watch)
    if why or status:
        last = err.decode("utf-8", "replace").strip().split("\n")[-1][:300]
        raise ToolError(why or "the workspace cannot be used: %s" % last, "look at oasis.workspace.path")
    answer = jsonl.loads(out, ANSWER_BYTES)
    assert isinstance(answer, dict)
    if "error" in answer:
        raise ToolError(str(answer["error"]), str(answer.get("hint", "")))
    return answer


def _talk(
    argv: list[str], env: dict[str, str], data: bytes, seconds: float, watch: Watch
) -> tuple[bytes, bytes, str, int]:
    """Return what a child said on both streams, why it was ended or "", and its exit status."""
    try:
        child = Child(argv, env, LIMITS, bool(data), True)
    except OSError as error:
        raise ToolError("cannot start a process: %s" % error)
    try:
        out, err, fault = talk(child, data, time.monotonic() + seconds, OUTPUT_BYTES, watch.is_cancelled)
    finally:
        child.end_group()
        child.close()
    return out, err, "it " + fault.message if fault is not None else "", child.returncode or 0


def closed(facts: Facts) -> list[str]:
    """Return the router's own addresses, and the networks of all interfaces but those that lead to the internet."""
    found: list[str] = []
    for one in facts.interfaces():
        is_way_out = any(not route.get("mask") for route in dicts(one.get("route")))
        for entry in [*_addresses(one, "ipv4-address"), *_addresses(one, "ipv6-address")]:
            address, mask = str(entry.get("address")), entry.get("mask")
            found.append(address if is_way_out or not isinstance(mask, int) else "%s/%d" % (address, mask))
        for entry in [*_addresses(one, "ipv6-prefix"), *_addresses(one, "ipv6-prefix-assignment")]:
            found.append("%s/%s" % (entry.get("address"), entry.get("mask")))
    return list(dict.fromkeys(found))


def _addresses(interface: Result, key: str) -> list[Result]:
    return [one for one in dicts(interface.get(key)) if isinstance(one.get("address"), str)]


# -- the owner's settings ---------------------------------------------------------------------------------------------

WORKSPACE = "/tmp/oasis-work"  # noqa: S108 - in RAM, and made by us for the user alone
# Elsewhere lies what belongs to the system.
PLACES = ("tmp", "mnt", "opt", "srv", "home")
# Who may run one of these may run anything, or speaks to the router's own services.
SHELLS = frozenset(
    ["sh", "ash", "bash", "dash", "zsh", "ksh", "busybox", "env", "nohup", "setsid", "timeout", "time", "nice", "xargs",
     "find", "awk", "su", "sudo", "start-stop-daemon", "ubus", "oasis", "chroot", "unshare", "nsenter", "script"]
)  # fmt: skip


def workspace(sections: list[Section]) -> tuple[str, list[list[str]], list[str]]:
    """Return the folder, the commands as words, and what is wrong; raise SettingsError where the folder is none."""
    options = _options(sections, "workspace")
    folder = str(options.get("path") or WORKSPACE)
    parts = folder.split("/")[1:]
    is_plain = folder.startswith("/") and len(parts) > 1 and parts[0] in PLACES and all(parts)
    if not is_plain or ".." in parts or "." in parts or "\0" in folder:
        hint = "a folder below " + ", ".join("/" + one for one in PLACES)
        raise SettingsError("oasis.workspace.path is %r" % folder[:200], hint)
    allowed, notes = [], []
    for text in _texts(options.get("command")):
        try:
            commands, fault = shell_words.commands(text), ""
        except OasisError as error:
            commands, fault = [], error.message
        if not fault and len(commands) != 1:
            fault = "it is not one command"
        elif not fault and commands[0][0].rpartition("/")[2] in SHELLS:
            fault = "whoever may run %s may run anything" % commands[0][0]
        if fault:
            notes.append("command %r does not count: %s" % (text[:60], fault))
        else:
            allowed.append(commands[0])
    return folder, allowed, notes


def web(sections: list[Section]) -> tuple[list[str], str]:
    """Return the places at home that may be fetched, and the address of a SearXNG or ""."""
    options = _options(sections, "web")
    return _texts(options.get("reach")), str(options.get("searxng") or "")


def _options(sections: list[Section], kind: str) -> dict[str, str | list[str]]:
    return next((section.options for section in sections if section.type == kind), {})


def _texts(given: object) -> list[str]:
    return [str(one) for one in given if one] if isinstance(given, list) else [str(given)] if given else []
