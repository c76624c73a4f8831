"""A speed test: bounded bytes from one host that the owner named, and to it, by a worker without rights."""

from __future__ import annotations

from oasis.errors import UsageError
from oasis.tools import seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.api.parts import Services
    from oasis.tools.shapes import Result

_OPTIONS = {"idle_s": 60, "retries": 0}
_URL_CHARS = 2000
NOTE = "by one connection, and with https by this router's own processor: a computer behind it may get more"


def checked(target: str) -> str:
    """Return a target as an address. Raises: UsageError for what is none."""
    url = target if "://" in target else "https://" + target
    is_plain = all(char > " " for char in url) and len(url) <= _URL_CHARS
    if not is_plain or not url.startswith(("http://", "https://")):
        raise UsageError(f"{target[:80]!r} is no address for a speed test", "like https://speed.example.org/100MB.bin")
    return url


def measured(kit: Services, target: str, is_cancelled: Callable[[], bool]) -> Result:
    """Return what was measured. Raises: UsageError, and ProviderError where the host cannot be reached."""
    reach, _ = seed.web(kit.settings.uci_sections())
    request: dict[str, object] = {
        "op": "monitor", "url": checked(target), "open": reach, "closed": seed.closed(kit.facts),
        "profile": "compatible", "options": dict(_OPTIONS),
    }  # fmt: skip
    return {"what": "speed", **kit.models.web(request, is_cancelled), "notes": [NOTE]}


def words(found: Result) -> list[str]:
    """Return a measurement for people."""
    lines = [f"measured with {found['host']}"]
    for way in ("download", "upload"):
        one = found.get(way)
        if isinstance(one, dict):
            text = str(one.get("why"))
            if "mbit_s" in one:
                text = f"{one['mbit_s']} Mbit/s ({one['bytes']} bytes in {one['seconds']} s)"
            lines.append(f"{way}: {text}")
    return [*lines, NOTE]
