"""The programs and files of the router, for the tools of this part."""

from __future__ import annotations

from oasis.errors import ToolError
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


def fed(kit: Services, words: list[str], data: bytes, timeout_s: float) -> int:
    """Run a program that reads a secret from its standard input; return its status. What it prints is for nobody."""
    path = kit.root.program(words[0])
    if not path:
        raise ToolError("this router has no program %s" % words[0], "it is part of a package that is not installed")
    return kit.executor.run([path, *words[1:]], data, timeout_s)[0]
