"""`oasis knowledge`: the owner's documents and notes, what is found in them, and what an option of OpenWrt is."""

from __future__ import annotations

import time

from oasis.cli.commands import OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.terminal import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

ACTIONS = ("list", "add", "note", "search", "delete", "option", "embed")
_VECTORS = {"current": "vectors", "other": "vectors of another model", "none": ""}


def knowledge(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the documents without one."""
    action, words = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in ACTIONS:
        raise UsageError(f"unknown action {action!r}", "one of " + ", ".join(ACTIONS))
    if not words and action not in ("list", "embed"):
        raise UsageError(f"`knowledge {action}` needs more words", "oasis help knowledge")
    if action in ("add", "note", "embed"):
        return _keep(call, action, words, arguments["--title"], screen)
    given: dict[str, dict[str, object]] = {
        "list": {},
        "search": {"query": words, **_limit(arguments["--limit"])},
        "delete": {"id": words},
        "option": {"path": words},
    }
    reply = call("knowledge." + action, given[action])
    if screen.is_json:
        screen.json(reply)
    else:
        _SHOWN[action](reply, screen)
    return OK


def _limit(text: str) -> dict[str, object]:
    if not text:
        return {}
    if not text.isdigit():
        raise UsageError(f"--limit {text!r} is no number", "like: --limit 8")
    return {"limit": int(text)}


def _keep(call: Call, action: str, words: str, title: str, screen: Screen) -> int:
    """Add a file, a page or a note, or make vectors; and follow it."""
    from oasis.cli.prompt import follow

    if action == "embed":
        return follow(call, call("knowledge.embed", {}), screen)
    given: dict[str, object] = {"title": title} if title else {}
    if action == "note":
        given["text"] = words
    elif words.startswith(("http://", "https://")):
        given["url"] = words
    else:
        from oasis.cli.request import send

        given["upload"] = send(call, words)["upload"]
    return follow(call, call("knowledge.add", given), screen)


def _show_list(reply: dict[str, Any], screen: Screen) -> None:
    for one in reply["documents"]:
        screen.line(clean.line(one["title"]), "bold")
        day = time.strftime("%Y-%m-%d", time.localtime(one["added_unix_s"]))
        more = [one["kind"], f"{one['chars']} characters", f"chunks: {one['chunks']}", _VECTORS[one["vectors"]], day]
        screen.line(clean.line(f"  {one['id']}  " + ", ".join([word for word in more if word])))
        if one.get("url"):
            screen.line(clean.line(f"  {one['url']}"))
    for report in reply["reports"]:
        screen.line(clean.line(report), "-")
    room = f"{reply['used_bytes'] / 1024:.0f} of {reply['limit_bytes'] / 1024:.0f} kB"
    model = (
        f"vectors by {reply['embedding']}" if reply["embedding"] else "found by words alone, no alias embedding is set"
    )
    screen.line(clean.line(f"documents: {len(reply['documents'])}, {room}; {model}"))


def _show_found(reply: dict[str, Any], screen: Screen) -> None:
    for one in reply["passages"]:
        screen.line(f"[{one['source']}]", "bold")
        for line in clean.text(one["text"]).split("\n"):
            screen.line("  " + line)
    for one in reply["sources"]:
        screen.line(clean.line(f"[{one['number']}] {one['title']} ({one.get('url') or one['id']})"))
    for one in reply["options"]:
        _show_option(one, screen)
    if not reply["passages"] and not reply["options"]:
        screen.line("nothing was found")
    if reply.get("note"):
        screen.line(clean.line(reply["note"]), "-")


def _show_option(reply: dict[str, Any], screen: Screen) -> None:
    screen.line(clean.line(reply["path"]) + (f": {clean.line(reply['title'])}" if reply.get("title") else ""), "bold")
    if reply.get("what"):
        screen.line("  " + clean.line(reply["what"]))
    if reply.get("values"):
        screen.line("  values: " + ", ".join(clean.line(value) for value in reply["values"]))
    elif reply.get("takes"):
        screen.line("  takes " + clean.line(reply["takes"]) + ("; several" if reply.get("list") else ""))
    if reply.get("options"):
        screen.line("  options: " + ", ".join(clean.line(name) for name in reply["options"]))
    for line in [*reply.get("when", []), reply.get("note"), *[f"see also {path}" for path in reply.get("also", [])]]:
        if line:
            screen.line("  " + clean.line(line))
    if reply.get("source"):
        screen.line(clean.line(f"  ({reply['source']})"))


def _show_deleted(reply: dict[str, Any], screen: Screen) -> None:
    screen.line("it is deleted")


_SHOWN = {"list": _show_list, "search": _show_found, "delete": _show_deleted, "option": _show_option}
