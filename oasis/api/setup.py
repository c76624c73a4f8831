"""The first hour: what is set up already, and which model servers the home network has.

A part (api/parts.py). Looks only when it is asked to, at machines that the router knows, by a worker.
"""

from __future__ import annotations

from oasis.core.addresses import is_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services

# One packet to each port, and a question to who answers: see worker/finding.py.
_OPTIONS = {"idle_s": 60, "retries": 0}
_HERE = "127.0.0.1"


def gather(kit: Services) -> Setup:
    """Return the part of a daemon; `kit` is that of parts.py."""
    return Setup(kit)


class Setup:
    """Looks around for who sets up Oasis."""

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
        request: dict[str, object] = {
            "op": "find",
            "profile": "compatible",
            "options": dict(_OPTIONS),
            "places": list(names),
        }
        reply = self._kit.models.web(request, lambda: False)
        found = reply["servers"]
        assert isinstance(found, list)  # the protocol of workers saw to that
        taken = {str(one.get("base_url")).rstrip("/") for one in self._kit.settings.services()}
        servers = [{**one, "name": names.get(one["host"], "")} for one in found]
        for server in servers:
            server["is_set"] = server["endpoint"].rstrip("/") in taken
        return {"servers": servers, "asked": reply["asked"]}
