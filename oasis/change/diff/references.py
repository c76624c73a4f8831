"""What still names a section that a change takes away or renames: looked for in every package that the router has.

The catalogue's references tell which options name an interface, a zone, a radio, a bridge and the like. What a
proposal leaves behind in the packages that it touches is refused by catalogue.py; this is for all others, and for an
undo.
"""

from __future__ import annotations

from oasis.catalogue import entries
from oasis.catalogue.check import TARGETS, plain_reference, target_names
from oasis.uci import model
from oasis.uci.model import tables
from oasis.uci.visible import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Images

# Sections that belong to an interface by the end of their type.
_BY_TYPE = ("wireguard_", "amneziawg_")
_MOST_TOLD = 5


def left_behind(images: Images, names: list[str], read: Callable[[str], bytes]) -> list[str]:
    """Return one sentence for all options that name what is gone, [] when none does.

    Shape: `images` {package: (before, after)}, `names` all packages of the router, `read(name)` their bytes.
    """
    gone = _gone(images)
    if not gone:
        return []
    known = entries.packages()
    found = []
    for package in sorted({*names, *images} & {*known}):
        data = images[package][1] if package in images else read(package)
        found += _dangling(package, tables(model.parse(data, package)), gone)
    if not found:
        return []
    more = ["and %d more" % (len(found) - _MOST_TOLD)] if len(found) > _MOST_TOLD else []
    return ["leaves behind names of what is gone: " + ", ".join(found[:_MOST_TOLD] + more)]


def _gone(images: Images) -> set[tuple[str, str]]:
    """Return the (kind, name) that the packages had before and have no more."""
    found = set()
    for kind, (package, _, _) in TARGETS.items():
        if package in images:
            old, new = (target_names(kind, tables(model.parse(data, package))) for data in images[package])
            found |= {(kind, name) for name in old if name not in new}
    if "network" in images:
        made = [_made_devices(tables(model.parse(data, "network"))) for data in images["network"]]
        found |= {("device", name) for name in made[0] - made[1]}
    return found


def _made_devices(sections: dict[str, dict[str, object]]) -> set[str]:
    """Return the devices that a package makes; a section without a type only sets up one that the hardware has."""
    return {str(one.get("name")) for one in sections.values() if one[".type"] == "device" and one.get("type")}


def _dangling(package: str, held: dict[str, dict[str, object]], gone: set[tuple[str, str]]) -> list[str]:
    found = []
    for name, section in held.items():
        kind = str(section[".type"])
        where = "%s.%s" % (package, _label(held, name))
        owner = next((kind[len(one) :] for one in _BY_TYPE if kind.startswith(one)), "")
        if package == "network" and ("interface", owner) in gone:
            found.append("%s (%s %s)" % (where, "interface", plain(owner)))
        for option, value in section.items():
            entry = entries.option(package, kind, option) if not option.startswith(".") else None
            if not entry or "ref" not in entry:
                continue
            for word in value if isinstance(value, list) else str(value).split():
                target = plain_reference(str(entry["ref"]), str(word))
                if target in gone:
                    found.append("%s.%s (%s %s)" % (where, option, target[0], plain(target[1])))
    return found


def _label(held: dict[str, dict[str, object]], name: str) -> str:
    section = held[name]
    if not section.get(".anonymous"):
        return name
    same = [key for key, one in held.items() if one[".type"] == section[".type"]]
    return "@%s[%d]" % (section[".type"], same.index(name))
