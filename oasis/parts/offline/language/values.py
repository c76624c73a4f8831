"""Values of tool results as people read them, and results read without trust in their shape."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Data = dict[str, object]
    Texts = dict[str, str]


def duration(seconds: object, texts: Texts) -> str:
    """Return a span of time in its two largest units."""
    if not isinstance(seconds, int):
        return ""
    parts = ((seconds // 86400, "days"), (seconds // 3600 % 24, "hours"), (seconds // 60 % 60, "minutes"))
    shown = [f"{count} {texts[name]}" for count, name in parts if count][:2]
    return " ".join(shown) or "0 " + texts["minutes"]


def size(number: object) -> str:
    """Return bytes with a unit."""
    if not isinstance(number, int):
        return ""
    value = float(number)
    units = ["TB", "GB", "MB", "kB", "B"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop()
    return f"{value:.{0 if value >= 10 else 1}f} {units[-1]}"


def bare(addresses: object) -> list[str]:
    """Return addresses without the lengths of their networks."""
    return [str(one).partition("/")[0] for one in items(addresses)]


def table(value: object) -> Data:
    """Return what should be an object, {} for anything else."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Data]:
    """Return the objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def items(value: object) -> list[object]:
    """Return what should be a list, [] for anything else."""
    return value if isinstance(value, list) else []
