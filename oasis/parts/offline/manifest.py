"""What the part `offline` offers: the built-in model service."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.child_process import Offline

VERSION = "0.2.0"


def offline(idle_s: int) -> Offline:
    """Return the built-in service; its process ends when nobody asks for `idle_s`."""
    from oasis.parts.offline.child_process import Offline, default_argv

    return Offline(default_argv(idle_s))
