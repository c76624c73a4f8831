"""Which services a change turns off, and which it is not about: their init scripts may fail.

Those that are turned off may refuse to reload what is to run no more. Those that it is not about are reloaded along
with the rest of their package: what fails there failed before, or for a reason of its own. Rules are data
(services.json): `switch` is TYPE.OPTION of the package, where a service has one for all of it. Knows no process;
verification.py checks whether the service really ended.
"""

from __future__ import annotations

import os

from oasis.catalogue import validators
from oasis.core import jsonl
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Any, Images
    from oasis.uci.model import Package

_DATA = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/services.json"


def turned_off(images: Images) -> list[str]:
    """Return the names of the services of which everything is switched off by a change, and was not before."""
    return [
        str(rule["name"])
        for rule in _rules()
        if rule["package"] in images and "switch" in rule and _turns(images[rule["package"]], rule)
    ]


def bystanders(images: Images) -> list[str]:
    """Return the names of the services that a change reloads and is not about."""
    from oasis.change.diff import difference

    rules = [rule for rule in _rules() if rule["package"] in images]
    changed: dict[str, list[str]] = {}
    for name in {str(rule["package"]) for rule in rules if "about" in rule}:
        before, after = (model.parse(data, name) for data in images[name])
        found = difference.compare(before, after, name)
        changed[name] = ["%s.%s" % (item["type"], item.get("option") or "") for item in found]
    concerned = {str(rule["name"]) for rule in rules if _concerns(rule, changed)}
    return sorted({str(rule["name"]) for rule in rules} - concerned)


def _concerns(rule: dict[str, Any], changed: dict[str, list[str]]) -> bool:
    if "about" not in rule:
        return True
    for place in changed[rule["package"]]:
        for what in rule["about"]:
            kind, _, option = place.partition(".")
            # A section that comes or goes does so with all of its options.
            if what in (place, kind) or (what.startswith(kind + ".") and not option):
                return True
            if what.endswith("*") and place.startswith(what[:-1]):
                return True
    return False


def _rules() -> list[dict[str, Any]]:
    with open(_DATA, "rb") as handle:
        found: list[dict[str, Any]] = jsonl.shipped(handle.read())["services"]
        return found


def _turns(images: tuple[bytes, bytes], rule: dict[str, Any]) -> bool:
    before, after = (_is_off(model.parse(data, str(rule["package"])), *rule["switch"].split(".")) for data in images)
    return after and not before


def _is_off(package: Package, kind: str, option: str) -> bool:
    """Return whether every section says so itself: what an option that is missing means is the script's own affair."""
    values = [section.options.get(option, "") for section in package.sections if section.type == kind]
    return bool(values) and all(validators.truth(str(value)) is False for value in values)
