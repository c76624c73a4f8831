"""A parsed package as plain tables, the form that tools and checks read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.uci.package import Package


def tables(package: Package) -> dict[str, dict[str, object]]:
    """Return the sections by name, in order: {".name", ".type", ".anonymous", ".index", option: str | [str]}."""
    found: dict[str, dict[str, object]] = {}
    for index, section in enumerate(package.sections):
        found[str(section.name)] = {
            ".name": str(section.name),
            ".type": section.type,
            ".anonymous": section.anonymous,
            ".index": index,
            **{str(name): value for name, value in section.options.items()},
        }
    return found
