"""The programs and files of the router, for the tools of this part."""

from __future__ import annotations

from oasis.tools.router import Router, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services


def router(kit: Services) -> Router:
    """Return the router that the tools work on."""
    return Router(kit.root, kit.executor.run, kit.files)


def watch(kit: Services, seconds: float) -> Watch:
    """Return a watch over what no tool calls: nobody can stop it."""
    return Watch(str, bool, kit.now_s, seconds)
