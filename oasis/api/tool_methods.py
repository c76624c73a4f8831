"""The methods of tools, loaded with the first call of one; their arguments are checked."""

from __future__ import annotations

from oasis.api.table import client_of
from oasis.change.audit import NO_PLAN
from oasis.change.plan import CLIENT
from oasis.tools.principal import may_use

if False:  # annotations only
    from oasis.api.parts import Services
    from oasis.api.shapes import Started
    from oasis.change.shapes import Role
    from oasis.tools.shapes import Arguments


class Toolset:
    """`services` is the record of daemon/wiring.py."""

    def __init__(self, services: Services) -> None:
        self._turn_starter = services.turn_starter
        self._audit = services.audit
        self._origins = services.origins

    def tool_list(self) -> dict[str, object]:
        tools = self._turn_starter().registry.listed()
        return {"tools": tools, "tokens": sum(tool["tokens"] for tool in tools if tool["enabled"])}

    def tool_specs(self, role: Role) -> dict[str, object]:
        registry = self._turn_starter().registry
        classes = {tool["name"]: tool["class"] for tool in registry.listed()}
        specs = [spec for spec in registry.specs() if role["name"] != "client" or may_use("client", spec["name"])]
        return {"tools": [{**spec, "class": classes[spec["name"]]} for spec in specs]}

    def tool_call(self, role: Role, name: str, arguments: Arguments | None = None) -> Started:
        client = client_of(role)
        words = CLIENT + client if client else ""
        run = self._turn_starter().owner_actions.use(name, arguments or {}, self._origins().of(role), words, client)
        return {"run": run.id, "chat": run.chat}

    def tool_set(self, role: Role, name: str, enabled: bool | None = None, approval: str = "") -> dict[str, object]:
        tool = self._turn_starter().registry.set(name, enabled, approval)
        what = "tool " + (approval or ("on" if tool["enabled"] else "off"))
        self._audit.write(what, {**NO_PLAN, "call": {"name": name}}, str(role["name"]))
        return {"tool": tool}
