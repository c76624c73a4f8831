"""Which services a change turns off: their init scripts may refuse to reload what is to run no more.

Rules are data (services.json): `switch` is TYPE.OPTION of the package, where a service has one for all of it. Knows no
process; whether the service really ended is read back (readback.py).
"""

from __future__ import annotations

import os

from oasis.change import datatypes
from oasis.core import jsonl
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Any, Images
    from oasis.uci.model import Package

_DATA = os.path.dirname(os.path.abspath(__file__)) + "/services.json"


def turned_off(images: Images) -> list[str]:
    """Return the names of the services of which everything is switched off by a change, and was not before."""
    return [
        str(rule["name"])
        for rule in _rules()
        if rule["package"] in images and "switch" in rule and _turns(images[rule["package"]], rule)
    ]


def _rules() -> list[dict[str, Any]]:
    with open(_DATA, "rb") as handle:
        found: list[dict[str, Any]] = jsonl.loads(handle.read())["services"]
        return found


def _turns(images: tuple[bytes, bytes], rule: dict[str, Any]) -> bool:
    before, after = (_is_off(model.parse(data, str(rule["package"])), *rule["switch"].split(".")) for data in images)
    return after and not before


def _is_off(package: Package, kind: str, option: str) -> bool:
    """Return whether every section says so itself: what an option that is missing means is the script's own affair."""
    values = [section.options.get(option, "") for section in package.sections if section.type == kind]
    return bool(values) and all(datatypes.truth(str(value)) is False for value in values)
