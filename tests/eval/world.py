"""What a router is after a task, as predicates look at it: UCI read by the stand-in's reader, logs, what was said."""

from __future__ import annotations

import os
from typing import Any

from tests.eval import roots

_UCI = roots.confread()
# Oasis's own package is out of every model's reach, and a test of its own sees to that.
OURS = ("oasis",)

Section = dict[str, Any]
Config = dict[str, list[Section]]


def read(folder: str) -> Config:
    """Return the sections of every package in a folder, in file order."""
    return {name: _UCI.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name not in OURS}


def images(folder: str) -> dict[str, bytes]:
    """Return the bytes of every package in a folder."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as handle:
            found[name] = handle.read()
    return found


def parse(data: bytes) -> list[Section]:
    """Return the sections of one file's bytes."""
    return _UCI.sections(data.decode("utf-8", "surrogateescape"))


def words(value: object) -> list[str]:
    """Return the words of an option or a list."""
    return _UCI.as_list(value)


def is_true(value: object) -> bool:
    return _UCI.is_true(value)


def is_on(section: Section) -> bool:
    """Tell whether a section counts: neither disabled nor not enabled."""
    return not is_true(section.get("disabled", "0")) and is_true(section.get("enabled", "1"))


def options(section: Section) -> dict[str, Any]:
    return {key: value for key, value in section.items() if not key.startswith(".")}


class World:
    """A router at one moment.

    `config` as read() gives it, `devices` {name: (mac, address)}, `said` what the owner was told, `services` and
    `programs` the lines that the stand-in wrote of what was done, `calls` [(tool, input)], `plans` the cards shown,
    `last` what answered the last sentence, `results` [(tool, input, what came of it, whether that is an error)].
    """

    def __init__(
        self, config: Config, devices: dict[str, tuple[str, str]], said: str = "", services: list[str] | None = None,
        programs: list[str] | None = None, calls: list[tuple[str, dict[str, Any]]] | None = None,
        plans: list[dict[str, Any]] | None = None, before: Config | None = None, last: str = "",
        results: list[tuple[str, dict[str, Any], str, bool]] | None = None,
    ) -> None:  # fmt: skip
        self.config = config
        self.devices = devices
        self.said = said
        self.services = services or []
        self.programs = programs or []
        self.calls = calls or []
        self.plans = plans or []
        self.before = before or {}
        self.last = last or said
        self.results = results or []

    def of_type(self, package: str, kind: str) -> list[Section]:
        return [one for one in self.config.get(package, []) if one[".type"] == kind]

    def find(self, package: str, name: str) -> Section | None:
        """Return a section by name or as @type[n]."""
        if name.startswith("@"):
            kind, _, index = name[1:].partition("[")
            found = self.of_type(package, kind)
            number = int(index.rstrip("]"))
            return found[number] if -len(found) <= number < len(found) else None
        return next((one for one in self.config.get(package, []) if one[".name"] == name), None)

    def radios(self, band: str) -> list[Section]:
        """Return the radios of 2g, 5g, 6g or both."""
        return [one for one in self.of_type("wireless", "wifi-device") if band in ("both", one.get("band"))]

    def networks(self, band: str, of: str = "lan") -> list[Section]:
        """Return the access points of a network on the radios of a band."""
        names = [one[".name"] for one in self.radios(band)]
        return [
            one
            for one in self.of_type("wireless", "wifi-iface")
            if one.get("device") in names and one.get("mode", "ap") == "ap" and of in words(one.get("network"))
        ]

    def zone_of(self, network: str) -> str:
        """Return the name of the firewall zone that a network is in, "" for none."""
        for zone in self.of_type("firewall", "zone"):
            if network in words(zone.get("network")) or (not zone.get("network") and zone.get("name") == network):
                return str(zone.get("name", ""))
        return ""

    def guests(self) -> list[Section]:
        """Return the access points of networks that are walled off from the home."""
        return [
            one
            for one in self.of_type("wireless", "wifi-iface")
            if one.get("mode", "ap") == "ap" and any(self._is_apart(name) for name in words(one.get("network")))
        ]

    def _is_apart(self, network: str) -> bool:
        zone = self.zone_of(network)
        if not zone or zone in ("lan", "wan"):
            return False
        leads = [
            one.get("dest") for one in self.of_type("firewall", "forwarding") if one.get("src") == zone and is_on(one)
        ]
        own = [one for one in self.of_type("firewall", "zone") if one.get("name") == zone]
        return "wan" in leads and "lan" not in leads and own[0].get("input", "REJECT").upper() != "ACCEPT"
