"""The tools that reach the web, by a worker: the daemon itself opens no connection.

What may be reached is judged in the worker (worker/hostnames.py), by the owner's list and by what is said here of this
router: its own addresses and the networks of its interfaces, which may look like the internet's (IPv6).
"""

from __future__ import annotations

from oasis.errors import ToolError
from oasis.tools.workspace import wishes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.tools.facts import Facts
    from oasis.tools.operator import Operator
    from oasis.tools.watch import Watch
    from oasis.uci.model import Section

    # One request of a worker (worker/lines.py, ops fetch and search), and what tells that it is not wanted any more
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
        if name == "web_search" and not wishes.web(self._sections())[1] and not self.has_brave():
            return _NO_ENGINE
        return ""

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Fetch a page, or search the web.

        Raises: ToolError when no engine is set, ProviderError with what was wrong.
        """
        reach, searxng = wishes.web(self._sections())
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
