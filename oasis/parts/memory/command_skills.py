"""`oasis skills`: guides for tasks, shipped and the owner's own, which he writes in an editor or gives as text."""

from __future__ import annotations

import os

from oasis.cli.commands import DECLINED, OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.terminal import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_USAGE = "usage: oasis skills [list|show NAME|set NAME|edit NAME|delete NAME|enable NAME|disable NAME]"
_NEW = """---
name: {0}
description: what this is for, in one line
words: what somebody says who wants it, with commas between
---
What to do, step by step.
"""


def skills(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the skills without one."""
    action, name = arguments["ACTION"] or "list", arguments["NAME"]
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    if bool(name) == (action == "list"):
        raise UsageError(f"`skills {action}` {'takes nothing' if name else 'needs a NAME'} more", _USAGE)
    return ACTIONS[action](call, name, screen)


def _list(call: Call, name: str, screen: Screen) -> int:
    reply = call("skill.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    width = max((len(skill["name"]) for skill in reply["skills"]), default=0)
    for skill in reply["skills"]:
        marks = ["yours"] * (not skill["is_shipped"]) + ["off"] * (not skill["enabled"])
        mark = f"  ({', '.join(marks)})" if marks else ""
        screen.line(clean.line(f"{skill['name']:{width}}  {skill['description']}{mark}"))
        if skill.get("note"):
            screen.line(clean.line(f"    {skill['note']}"), "-")
    for note in reply["notes"]:
        screen.line(clean.line(note), "-")
    return OK


def _show(call: Call, name: str, screen: Screen) -> int:
    reply = call("skill.load", {"name": name})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(reply["text"].rstrip("\n"))
    return OK


def _set(call: Call, name: str, screen: Screen) -> int:
    from oasis.cli.terminal import read_text

    if screen.can_ask:
        screen.progress("the text of the skill, ended by Ctrl-D on a line of its own:")
    return _write(call, name, read_text(), screen)


def _write(call: Call, name: str, text: str, screen: Screen) -> int:
    return _told(call("skill.set", {"name": name, "text": text}), f"the skill {name} is set", screen)


def _edit(call: Call, name: str, screen: Screen) -> int:
    """Open a skill, or a new one, in the owner's editor, and set it when it was changed.

    Raises: UsageError without a terminal, and for what the daemon refuses: the text is kept then, and told where.
    """
    if not screen.can_ask:
        raise UsageError("there is no terminal to edit on", f"oasis skills set {name} < FILE")
    known = {skill["name"] for skill in call("skill.list", {})["skills"]}
    before = call("skill.load", {"name": name})["text"] if name in known else _NEW.format(name)
    path = _file(name, before)
    if _editor(path) != 0:
        raise UsageError("the editor failed, nothing is set", f"set EDITOR; what was written is in {path}")
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if text == before:
        os.remove(path)
        screen.line("nothing was changed")
        return DECLINED
    try:
        status = _write(call, name, text, screen)
    except Exception:
        screen.progress(f"what was written is in {path}")
        raise
    os.remove(path)
    return status


def _file(name: str, text: str) -> str:
    import tempfile

    number, path = tempfile.mkstemp(".md", f"oasis-{clean.name(name).replace('/', '')}-")
    with os.fdopen(number, "w", encoding="utf-8") as handle:
        handle.write(text)
    return path


def _editor(path: str) -> int:
    import shlex

    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        child = os.posix_spawnp(words[0], [*words, path], dict(os.environ))
    except OSError:
        return 127
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _delete(call: Call, name: str, screen: Screen) -> int:
    if screen.can_ask:
        from oasis.cli.terminal import YES, ask

        if ask(screen, f'Delete the skill "{clean.line(name)}"? [y/N]', lambda: True) != YES:
            return DECLINED
    return _told(call("skill.delete", {"name": name}), f"the skill {name} is deleted", screen)


def _switch(is_on: bool) -> Callable[[Call, str, Screen], int]:
    def act(call: Call, name: str, screen: Screen) -> int:
        reply = call("skill.set_enabled", {"name": name, "enabled": is_on})
        return _told(reply, f"the skill {name} is {'on' if is_on else 'off'}", screen)

    return act


def _told(reply: dict[str, Any], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK


ACTIONS = {
    "list": _list,
    "show": _show,
    "set": _set,
    "edit": _edit,
    "delete": _delete,
    "enable": _switch(True),
    "disable": _switch(False),
}
