"""The methods of tools, of the MCP servers and of the plugins that give more of them: see table.py.

Loaded with the first of them. Like those of methods.py they get the role of who calls; their arguments are checked.
"""

from __future__ import annotations

from oasis.api.table import client_of
from oasis.change.audit import NO_PLAN
from oasis.change.plan import CLIENT
from oasis.tools.roles import may_use

if False:  # annotations only
    from oasis.agent.start import Exchanges
    from oasis.config.settings import Settings
    from oasis.core.shapes import Any, Callable
    from oasis.tools.operator import Workshop


class Toolset:
    """`came(role)` tells by which connections somebody is here; see change/origin.py. `part(name)` gives a part."""

    def __init__(
        self, exchanges: Callable[[], Exchanges], settings: Settings, shop: Workshop,
        came: Callable[[dict[str, object]], list[Any]], part: Callable[[str], Any],
    ) -> None:  # fmt: skip
        self._part = part
        self._exchanges = exchanges
        self._settings = settings
        self._shop = shop
        self._came = came

    def tool_list(self, role: dict[str, object]) -> dict[str, object]:
        tools = self._exchanges().registry.listed()
        return {"tools": tools, "tokens": sum(tool["tokens"] for tool in tools if tool["enabled"])}

    def tool_specs(self, role: dict[str, object]) -> dict[str, object]:
        registry = self._exchanges().registry
        classes = {tool["name"]: tool["class"] for tool in registry.listed()}
        specs = [spec for spec in registry.specs() if role["name"] != "client" or may_use("client", spec["name"])]
        return {"tools": [{**spec, "class": classes[spec["name"]]} for spec in specs]}

    def tool_call(
        self, role: dict[str, object], name: str, arguments: dict[str, object] | None = None
    ) -> dict[str, object]:
        client = client_of(role)
        words = CLIENT + client if client else ""
        run = self._exchanges().errands.use(name, arguments or {}, self._came(role), words, client)
        return {"run": run.id, "chat": run.chat}

    def tool_set(
        self, role: dict[str, object], name: str, enabled: bool | None = None, approval: str = ""
    ) -> dict[str, object]:
        tool = self._exchanges().registry.set(name, enabled, approval)
        what = "tool " + (approval or ("on" if tool["enabled"] else "off"))
        self._shop.audit.write(what, {**NO_PLAN, "call": {"name": name}}, str(role["name"]))
        return {"tool": tool}

    def mcp_list(self, role: dict[str, object]) -> dict[str, object]:
        return {"servers": self._part("mcp").listed(role["name"] == "owner")}

    def mcp_add(
        self, role: dict[str, object], name: str, command: list[str] | None = None, url: str = ""
    ) -> dict[str, object]:
        self._part("mcp").add(name, command or [], url)
        return {"status": "OK"}

    def mcp_delete(self, role: dict[str, object], name: str) -> dict[str, object]:
        self._part("mcp").delete(name)
        self._settings.set_key("mcp:" + name, "")
        return {"status": "OK"}

    def mcp_key(self, role: dict[str, object], name: str, key: str) -> dict[str, object]:
        self._part("mcp").check(name)
        self._settings.set_key("mcp:" + name, key)
        return {"status": "OK"}

    def mcp_refresh(self, role: dict[str, object], name: str) -> dict[str, object]:
        return {"tools": self._part("mcp").refresh(name)}

    def plugin_list(self, role: dict[str, object]) -> dict[str, object]:
        return dict(self._part("plugin").listed())

    def plugin_review(self, role: dict[str, object], server: str) -> dict[str, object]:
        return dict(self._part("plugin").review(server))

    def plugin_accept(self, role: dict[str, object], server: str, hash: str) -> dict[str, object]:
        self._part("plugin").accept(server, hash)
        call = {"name": "plugin " + server, "sha256": hash}
        self._shop.audit.write("plugin accepted", {**NO_PLAN, "call": call}, str(role["name"]))
        return {"status": "OK"}
