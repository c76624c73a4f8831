"""Who sets up Oasis: which model servers the home network has, which tools are on, and what a message would send.

A part (api/parts.py). It looks around only when it is asked to, at machines that the router knows, by a worker. A
request that is shown is that of an answer to the last byte, and is not sent; secrets of the router are placeholders in
it already, and the key is no part of it.
"""

from __future__ import annotations

import binascii

from oasis.api.table import client_of
from oasis.change.audit import NO_PLAN
from oasis.change.plan import CLIENT
from oasis.config.settings import is_at_home
from oasis.core.addresses import is_home
from oasis.errors import UsageError
from oasis.tools.principal import may_use

if False:  # annotations only
    from oasis.api.parts import Services
    from oasis.api.shapes import Started
    from oasis.change.shapes import Role
    from oasis.tools.shapes import Arguments

# One packet to each port, and a question to who answers: see worker/web.py.
_OPTIONS = {"idle_s": 60, "retries": 0}
_HERE = "127.0.0.1"
PART_BYTES = 96 * 1024  # as base64 below what a reply of the bus may hold
_BYTES_A_TOKEN = 4  # about, of English


class Setup:
    """The methods of one daemon."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit

    def setup_state(self) -> dict[str, object]:
        """Return what is set up. Shape: {"models": services with a model that can be used, "unconfined": why or ""}."""
        offered = self._kit.settings.services()
        ready = [one["identifier"] for one in offered if one["ready"] and one["vendor"] != "offline"]
        return {"models": ready, "unconfined": self._kit.unconfined()}

    def setup_find(self) -> dict[str, object]:
        """Return the model servers at home.

        Shape: {"servers": [{"host", "name": of the machine, "profile", "endpoint", "models"}], "asked"}
        Raises: ProviderError when the worker cannot look.
        """
        names = {_HERE: ""}
        for device in self._kit.facts.devices():
            # A neighbour with another address may be the provider's, and the firewall need not tell.
            if device["present"] and is_home(str(device["ip"])):
                names[str(device["ip"])] = str(device["name"])
        asked = {"op": "find", "profile": "compatible", "options": dict(_OPTIONS), "places": list(names)}
        reply = self._kit.models.web({**asked}, lambda: False)
        found = reply["servers"]
        assert isinstance(found, list)  # the protocol of workers saw to that
        taken = {str(one.get("base_url")).rstrip("/") for one in self._kit.settings.services()}
        more = [{"name": names.get(one["host"], ""), "is_set": one["endpoint"].rstrip("/") in taken} for one in found]
        return {"servers": [{**one, **two} for one, two in zip(found, more, strict=True)], "asked": reply["asked"]}

    def tool_list(self) -> dict[str, object]:
        tools = self._kit.turn_starter().registry.listed()
        return {"tools": tools, "tokens": sum(tool["tokens"] for tool in tools if tool["enabled"])}

    def tool_specs(self, role: Role) -> dict[str, object]:
        registry = self._kit.turn_starter().registry
        classes = {tool["name"]: tool["class"] for tool in registry.listed()}
        specs = [spec for spec in registry.specs() if role["name"] != "client" or may_use("client", spec["name"])]
        return {"tools": [{**spec, "class": classes[spec["name"]]} for spec in specs]}

    def tool_call(self, role: Role, name: str, arguments: Arguments | None = None) -> Started:
        client = client_of(role)
        words = CLIENT + client if client else ""
        run = self._kit.turn_starter().use(name, arguments or {}, self._kit.came(role), words, client)
        return {"run": run.id, "chat": run.chat}

    def tool_set(self, role: Role, name: str, enabled: bool | None = None, approval: str = "") -> dict[str, object]:
        tool = self._kit.turn_starter().registry.set(name, enabled, approval)
        what = "tool " + (approval or ("on" if tool["enabled"] else "off"))
        self._kit.audit.write(what, {**NO_PLAN, "call": {"name": name}}, str(role["name"]))
        return {"tool": tool}

    def privacy_show(self, message: str, chat: str = "", service: str = "", part: int = 0) -> dict[str, object]:
        """Return what a message would send: the receiver, and a part of the bytes.

        Shape: {"service": {"identifier", "name", "model", "is_local"}, "method", "url", "headers", "bytes",
                "tokens": about, "data": base64 of this part, "parts"}; for the built-in service, which sends nothing,
                "url" is "" and "bytes" 0.
        Raises: UsageError, SettingsError and StoreError as run.start does.
        """
        found = self._kit.turn_starter().show({"message": message, "chat": chat, "service": service})
        request = found["request"] or {"method": "", "url": "", "headers": {}, "text": ""}
        body = str(request["text"]).encode("utf-8")
        count = max((len(body) + PART_BYTES - 1) // PART_BYTES, 1)
        if not 0 <= part < count:
            raise UsageError("part is %d" % part, "this request has the parts 0 to %d" % (count - 1))
        data = binascii.b2a_base64(body[part * PART_BYTES : (part + 1) * PART_BYTES], newline=False).decode()
        service_shown = {key: found["service"][key] for key in ("identifier", "name", "model", "is_local")}
        if request["url"] and is_at_home(str(request["url"])):
            service_shown["is_local"] = True  # a server of any make, on this machine or in its network
        return {
            "service": service_shown, **{key: request[key] for key in ("method", "url", "headers")},
            "bytes": len(body), "tokens": len(body) // _BYTES_A_TOKEN, "data": data, "parts": count,
        }  # fmt: skip


gather = Setup  # what api/parts.py calls
