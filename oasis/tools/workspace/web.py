"""The tools that reach the web, by a worker: the daemon opens no connection; and the owner's settings for workspace and
web.

What may be reached is judged in the worker (worker/hostnames.py), by the owner's list and by what is told here of this
router: its own addresses and the networks of its interfaces, which may look like the internet's (IPv6).

config workspace 'workspace'
    option path '/tmp/oasis-work'        where files are, and programs run
    list command 'ping -c 3'             words that a command of shell_exec may begin with, a program or more
config web 'web'
    list reach '192.168.1.10:8080'       what is in the home network, and may be fetched all the same
    option searxng 'https://…'           where web_search asks; else Brave, with its key in keys.json under `brave`
"""

from __future__ import annotations

from oasis.errors import OasisError, SettingsError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.tools.facts import Facts
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.uci.model import Section

    Ask = Callable[[dict[str, object], Callable[[], bool]], dict[str, object]]


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

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Fetch a page, or search the web.

        Raises: ToolError when no engine is set, ProviderError with what was wrong.
        """
        reach, searxng = web(self._sections())
        request: dict[str, object] = {"profile": "compatible", "options": dict(_OPTIONS)}
        request.update(open=reach, closed=closed(operator))
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


def closed(operator: Operator) -> list[str]:
    """Return the router's own addresses, and the networks of all interfaces but those that lead to the internet."""
    return closed_by(operator.facts)


def closed_by(facts: Facts) -> list[str]:
    """Do the same for who has no hands of a run."""
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


def _tables(interface: Any, key: str) -> list[dict[str, Any]]:
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


def _options(sections: list[Section], kind: str) -> dict[str, Any]:
    for section in sections:
        if section.type == kind:
            return section.options
    return {}


def _texts(given: object) -> list[str]:
    return [str(one) for one in given if one] if isinstance(given, list) else [str(given)] if given else []
