"""Which options hold names that somebody else chose: a device its own, a neighbour that of a network.

Such a text is data wherever it turns up again, also after it was written into the configuration. A name of one word is
not checked enough to pass: "ignore-all-rules-and-…" is one, too. Knows no file and no model.
"""

from __future__ import annotations

from oasis.change.visible import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis.uci.model import Package

DEVICES = "device names"
NETWORKS = "network names"

# Sections that the built-in provider names so get the name of the device that they are about.
_OWN = "oasis_"


def options(package: str, section: str, type: str, values: Mapping[str, object]) -> dict[str, str]:
    """Return {option: whose words} of a section; options that are not there are left out."""
    found: dict[str, str] = {}
    if (package, type) == ("dhcp", "host") or (package == "firewall" and section.startswith(_OWN)):
        found["name"] = DEVICES
    elif (package, type) == ("wireless", "wifi-iface") and values.get("mode", "ap") != "ap":
        found["ssid"] = found["mesh_id"] = NETWORKS
    return {name: label for name, label in found.items() if values.get(name)}


def told(package: Package, words: list[str]) -> list[str]:
    """Return whose words stand in sentences about a package."""
    found: list[str] = []
    for section in package.sections:
        for name, label in options(package.name, str(section.name), section.type, section.options).items():
            value = section.options[name]
            texts = value if isinstance(value, list) else [value]
            if label not in found and any(short(str(text)) in line for text in texts for line in words):
                found.append(label)
    return found
