"""What goes along with the owner's words, from the options of `prompt` and `chat`: parameters of run.start.

Shape: {"chat"?, "continues"?: [headish], "head"?, "options"?, "topic"?, "attachments"?: [upload]}; what was
not given is left out.
"""

from __future__ import annotations

from oasis.cli.named import chat_id, service_id
from oasis.core.ids import looks_like_id
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

NO_SERVICE = "off"  # the thread goes on with the service that is the active one


def params(call: Call, arguments: dict[str, str], screen: Screen) -> dict[str, Any]:
    """Return the parameters that the options ask for; files are sent now.

    Raises: UsageError for options that exclude each other, and what the daemon raises.
    """
    chat, continues = _where(arguments)
    found: dict[str, Any] = {}
    if chat:
        found["chat"] = chat_id(call, chat)
    if continues:
        found["continues"] = continues
    found.update(along(continues))
    for option in ("head", "topic"):
        if arguments["--" + option]:
            found[option] = arguments["--" + option]
    if arguments["--service"]:
        found.update(service(call, arguments["--service"]))
    if arguments["--search"]:
        found["options"] = {**found.get("options", {}), "search": _switch("--search", arguments["--search"])}
    if arguments.get("--attach"):
        from oasis.cli.upload import attach

        found["attachments"] = [attach(call, path, screen)["upload"] for path in arguments["--attach"].split("\n")]
    if "topic" in found and ("chat" in found or "continues" in found):
        raise UsageError("a chat has its topic from the start", "--topic is for a new chat")
    return found


def along(continues: list[str]) -> dict[str, Any]:
    """Return the parameters that let a bookmark go along with what continues it, like a branch."""
    is_bookmark = len(continues) == 1 and not looks_like_id(continues[0])
    return {"head": continues[0]} if is_bookmark else {}


def service(call: Call, name: str) -> dict[str, Any]:
    """Return the parameters that give a thread another service, or none of its own with `off`."""
    return {"options": {"provider_ptr": "" if name == NO_SERVICE else service_id(call, name)}}


def _switch(name: str, word: str) -> bool:
    if word not in ("on", "off"):
        raise UsageError(f"{name} is {word!r}", "on or off, for the thread from here on")
    return word == "on"


def _where(arguments: dict[str, str]) -> tuple[str, list[str]]:
    """Return the chat and the headishes that were named; --continue no=N is that chat, as it always was."""
    chat = arguments["--chat"] or arguments.get("CHAT", "")
    if arguments["--chat"] and arguments.get("CHAT"):
        raise UsageError("the chat is named twice", "oasis chat CHAT, or --chat CHAT")
    continues = arguments["--continue"].split("\n") if arguments["--continue"] else []
    if len(continues) == 1 and continues[0].startswith("no=") and not chat:
        return continues[0], []
    return chat, continues
