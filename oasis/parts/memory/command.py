"""`oasis knowledge`, `oasis memory` and `oasis skills`: documents, facts about the owner, and guides for tasks."""

from __future__ import annotations

import os
import shlex
import time

from oasis.cli.commands import DECLINED, OK
from oasis.cli.prompt import follow
from oasis.cli.request import send
from oasis.cli.terminal import YES, ask, read_text
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.memory.shapes import DocumentList, FactList, FoundAll, OptionTold, SkillList

    T = TypeVar("T")


def _is_refused(screen: Screen, question: str) -> bool:
    """Ask at a terminal before something is deleted; without one nobody is asked."""
    return screen.can_ask and ask(screen, question, lambda: True) != YES


def _day(unix_s: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(unix_s))


# oasis knowledge

KNOWLEDGE_ACTIONS = ("list", "add", "note", "search", "delete", "option", "embed")
_VECTORS = {"current": "vectors", "other": "vectors of another model", "none": ""}


def knowledge(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the documents without one."""
    action, words = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in KNOWLEDGE_ACTIONS:
        raise UsageError(f"unknown action {action!r}", "one of " + ", ".join(KNOWLEDGE_ACTIONS))
    if not words and action not in ("list", "embed"):
        raise UsageError(f"`knowledge {action}` needs more words", "oasis help knowledge")
    if action == "embed":
        return follow(call, call("knowledge.embed", {}), screen)
    if action in ("add", "note"):
        given: dict[str, str] = {"title": arguments["--title"]} if arguments["--title"] else {}
        if action == "note":
            given["text"] = words
        elif words.startswith(("http://", "https://")):
            given["url"] = words
        else:
            given["upload"] = send(call, words)["upload"]
        return follow(call, call("knowledge.add", given), screen)
    if action == "delete":
        return screen.result(call("knowledge.delete", {"id": words}), "it is deleted")
    if action == "option":
        return _shown(_show_option, call("knowledge.option", {"path": words}), screen)
    if action == "list":
        return _shown(_show_documents, call("knowledge.list", {}), screen)
    limit = arguments["--limit"]
    if limit and not limit.isdigit():
        raise UsageError(f"--limit {limit!r} is no number", "like: --limit 8")
    found = call("knowledge.search", {"query": words, **({"limit": int(limit)} if limit else {})})
    return _shown(_show_found, found, screen)


def _shown(show: Callable[[T, Screen], object], reply: T, screen: Screen) -> int:
    """Print a reply: as JSON, or by `show` for people."""
    if screen.is_json:
        screen.json(reply)
    else:
        show(reply, screen)
    return OK


def _show_documents(reply: DocumentList, screen: Screen) -> None:
    for one in reply["documents"]:
        screen.line(clean.line(one["title"]), "bold")
        more = [one["kind"], f"{one['chars']} characters", f"chunks: {one['chunks']}", _VECTORS[one["vectors"]],
                _day(one["added_unix_s"])]  # fmt: skip
        screen.line(clean.line(f"  {one['id']}  " + ", ".join(filter(None, more))))
        if one.get("url"):
            screen.line(clean.line(f"  {one['url']}"))
    for report in reply["reports"]:
        screen.line(clean.line(report), "-")
    room = f"{reply['used_bytes'] / 1024:.0f} of {reply['limit_bytes'] / 1024:.0f} kB"
    alias = reply["embedding"]
    model = f"vectors by {alias}" if alias else "found by words alone, no alias embedding is set"
    screen.line(clean.line(f"documents: {len(reply['documents'])}, {room}; {model}"))


def _show_found(reply: FoundAll, screen: Screen) -> None:
    for one in reply["passages"]:
        screen.line(f"[{one['source']}]", "bold")
        for line in clean.text(one["text"]).split("\n"):
            screen.line("  " + line)
    for source in reply["sources"]:
        screen.line(clean.line(f"[{source['number']}] {source['title']} ({source.get('url') or source['id']})"))
    for option in reply["options"]:
        _show_option(option, screen)
    if not reply["passages"] and not reply["options"]:
        screen.line("nothing was found")
    if reply.get("note"):
        screen.line(clean.line(reply["note"]), "-")


def _show_option(reply: OptionTold, screen: Screen) -> None:
    screen.line(clean.line(reply["path"]) + (f": {clean.line(reply['title'])}" if reply.get("title") else ""), "bold")
    lines = [reply.get("what")]
    if reply.get("values"):
        lines.append("values: " + ", ".join(map(clean.line, reply["values"])))
    elif reply.get("takes"):
        lines.append("takes " + clean.line(reply["takes"]) + ("; several" if reply.get("list") else ""))
    if reply.get("options"):
        lines.append("options: " + ", ".join(map(clean.line, reply["options"])))
    lines += [*reply.get("when", []), reply.get("note"), *[f"see also {path}" for path in reply.get("also", [])]]
    lines += [f"({reply['source']})"] if reply.get("source") else []
    for line in filter(None, lines):
        screen.line("  " + clean.line(line))


# oasis memory

_USAGE = "usage: oasis memory [list|on|off|add FACT|change ID FACT|forget ID|forget all|export]"
# Each with how many words it needs.
MEMORY_ACTIONS = {"list": 0, "on": 0, "off": 0, "add": 1, "change": 2, "forget": 1, "export": 0}


def memory(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the facts without one."""
    action, rest = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in MEMORY_ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    needs = MEMORY_ACTIONS[action]
    if len(rest.split(" ", needs)) < needs or bool(rest) != bool(needs):
        raise UsageError(f"`memory {action}` needs {('nothing', 'a word', 'an id and a fact')[needs]} more", _USAGE)
    if action == "list":
        return _shown(_show_facts, call("memory.list", {}), screen)
    if action == "export":
        screen.json(call("memory.export", {}))
        return OK
    if action == "add":
        added = call("memory.add", {"fact": rest})
        return screen.result(added, f"{added['fact']['id']} is remembered")
    if action == "change":
        name, _, fact = rest.partition(" ")
        return screen.result(call("memory.change", {"id": name, "fact": fact}), f"{name} is changed")
    if action == "forget":
        if rest == "all" and _is_refused(screen, "Forget everything that is remembered of you? [y/N]"):
            return DECLINED
        gone = call("memory.forget", {"all": True} if rest == "all" else {"id": rest})
        return screen.result(gone, f"{gone['forgotten']} forgotten; what you said stands in its chat still")
    reply = call("memory.set", {"extract": action == "on"})
    words = "from now on facts are taken out of what you say, by a model: look at them with `oasis memory`"
    status = screen.result(reply, words if action == "on" else "nothing is taken out of what you say any more")
    if reply.get("note"):
        screen.notice(clean.line(reply["note"]))
    return status


def _show_facts(reply: FactList, screen: Screen) -> None:
    for fact in reply["facts"]:
        whose = "  (holds " + ", ".join(fact["taint"]) + ")" if fact.get("taint") else ""
        sure, day = f"{fact['confidence']:4.0%}", _day(fact["updated_unix_s"])
        screen.line(clean.line(f"{fact['id']}  {sure}  {day}  {fact['category']:<12}  {fact['fact']}{whose}"))
    if not reply["facts"]:
        screen.line("nothing is remembered")
    if reply["extract"]:
        screen.line("facts are taken out of what you say; no more: oasis memory off", "-")
    else:
        screen.line("nothing is taken out of what you say; to have that: oasis memory on", "-")


# oasis skills

_SKILLS_USAGE = "usage: oasis skills [list|show NAME|set NAME|edit NAME|delete NAME|enable NAME|disable NAME]"
SKILLS_ACTIONS = ("list", "show", "set", "edit", "delete", "enable", "disable")
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
    if action not in SKILLS_ACTIONS:
        raise UsageError(f"unknown word {action!r}", _SKILLS_USAGE)
    if bool(name) == (action == "list"):
        raise UsageError(f"`skills {action}` {'takes nothing' if name else 'needs a NAME'} more", _SKILLS_USAGE)
    if action == "list":
        return _shown(_show_skills, call("skill.list", {}), screen)
    if action == "show":
        skill = call("skill.load", {"name": name})
        return _shown(lambda reply, _: screen.line(reply["text"].rstrip("\n")), skill, screen)
    if action == "set":
        if screen.can_ask:
            screen.progress("the text of the skill, ended by Ctrl-D on a line of its own:")
        return _set_skill(call, name, read_text(), screen)
    if action == "edit":
        return _edit(call, name, screen)
    if action == "delete":
        if _is_refused(screen, f'Delete the skill "{clean.line(name)}"? [y/N]'):
            return DECLINED
        return screen.result(call("skill.delete", {"name": name}), f"the skill {name} is deleted")
    reply = call("skill.set_enabled", {"name": name, "enabled": action == "enable"})
    return screen.result(reply, f"the skill {name} is {'on' if action == 'enable' else 'off'}")


def _show_skills(reply: SkillList, screen: Screen) -> None:
    width = max((len(skill["name"]) for skill in reply["skills"]), default=0)
    for skill in reply["skills"]:
        marks = ["yours"] * (not skill["is_shipped"]) + ["off"] * (not skill["enabled"])
        mark = f"  ({', '.join(marks)})" if marks else ""
        screen.line(clean.line(f"{skill['name']:{width}}  {skill['description']}{mark}"))
        if skill.get("note"):
            screen.line(clean.line(f"    {skill['note']}"), "-")
    for note in reply["notes"]:
        screen.line(clean.line(note), "-")


def _set_skill(call: Call, name: str, text: str, screen: Screen) -> int:
    return screen.result(call("skill.set", {"name": name, "text": text}), f"the skill {name} is set")


def _edit(call: Call, name: str, screen: Screen) -> int:
    """Open a skill, or a new one, in the owner's editor, and set it if it was changed.

    Raises: UsageError without a terminal, and for what the daemon refuses; the text stays in a file that is named.
    """
    import tempfile  # with the one action that needs it

    if not screen.can_ask:
        raise UsageError("there is no terminal to edit on", f"oasis skills set {name} < FILE")
    known = {skill["name"] for skill in call("skill.list", {})["skills"]}
    before = call("skill.load", {"name": name})["text"] if name in known else _NEW.format(name)
    number, path = tempfile.mkstemp(".md", f"oasis-{clean.name(name).replace('/', '')}-")
    with os.fdopen(number, "w", encoding="utf-8") as handle:
        handle.write(before)
    if _editor(path) != 0:
        raise UsageError("the editor failed, nothing is set", f"set EDITOR; what was written is in {path}")
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if text == before:
        os.remove(path)
        screen.line("nothing was changed")
        return DECLINED
    try:
        status = _set_skill(call, name, text, screen)
    except Exception:
        screen.progress(f"what was written is in {path}")
        raise
    os.remove(path)
    return status


def _editor(path: str) -> int:
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        child = os.posix_spawnp(words[0], [*words, path], dict(os.environ))
    except OSError:
        return 127
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
