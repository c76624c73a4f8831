"""`oasis knowledge`, `oasis memory` and `oasis skills`: documents, facts about the owner, and guides for tasks."""

from __future__ import annotations

import os
import shlex
import time

from oasis.cli.commands import DECLINED, OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.memory.shapes import DocumentList, FoundAll, OptionTold

    Act = Callable[[Call, str, Screen], int]
    Show = Callable[[Any, Screen], None]  # each says what it is given


def _done(reply: Mapping[str, object], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK


def _is_refused(screen: Screen, question: str) -> bool:
    """Ask at a terminal before something is deleted; without one nobody is asked."""
    from oasis.cli.terminal import YES, ask

    return screen.can_ask and ask(screen, question, lambda: True) != YES


def _day(unix_s: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(unix_s))


# oasis knowledge

_VECTORS = {"current": "vectors", "other": "vectors of another model", "none": ""}


def knowledge(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the documents without one."""
    action, words = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in KNOWLEDGE_ACTIONS:
        raise UsageError(f"unknown action {action!r}", "one of " + ", ".join(KNOWLEDGE_ACTIONS))
    if not words and action not in ("list", "embed"):
        raise UsageError(f"`knowledge {action}` needs more words", "oasis help knowledge")
    show = KNOWLEDGE_ACTIONS[action]
    if show is None:
        return _keep(call, action, words, arguments["--title"], screen)
    given: dict[str, Mapping[str, object]] = {
        "search": {"query": words, **_limit(arguments["--limit"])},
        "delete": {"id": words},
        "option": {"path": words},
    }
    reply = call("knowledge." + action, given.get(action, {}))
    if screen.is_json:
        screen.json(reply)
    else:
        show(reply, screen)
    return OK


def _limit(text: str) -> dict[str, int]:
    if not text:
        return {}
    if not text.isdigit():
        raise UsageError(f"--limit {text!r} is no number", "like: --limit 8")
    return {"limit": int(text)}


def _keep(call: Call, action: str, words: str, title: str, screen: Screen) -> int:
    """Start adding a file, page or note, or making vectors, and follow the run."""
    from oasis.cli.prompt import follow
    from oasis.cli.request import send

    if action == "embed":
        return follow(call, call("knowledge.embed", {}), screen)
    given: dict[str, str] = {"title": title} if title else {}
    if action == "note":
        given["text"] = words
    elif words.startswith(("http://", "https://")):
        given["url"] = words
    else:
        given["upload"] = send(call, words)["upload"]
    return follow(call, call("knowledge.add", given), screen)


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
    model = (
        f"vectors by {reply['embedding']}" if reply["embedding"] else "found by words alone, no alias embedding is set"
    )
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
    if reply.get("what"):
        screen.line("  " + clean.line(reply["what"]))
    if reply.get("values"):
        screen.line("  values: " + ", ".join(map(clean.line, reply["values"])))
    elif reply.get("takes"):
        screen.line("  takes " + clean.line(reply["takes"]) + ("; several" if reply.get("list") else ""))
    if reply.get("options"):
        screen.line("  options: " + ", ".join(map(clean.line, reply["options"])))
    for line in [*reply.get("when", []), reply.get("note"), *[f"see also {path}" for path in reply.get("also", [])]]:
        if line:
            screen.line("  " + clean.line(line))
    if reply.get("source"):
        screen.line(clean.line(f"  ({reply['source']})"))


# What shows the reply of an action; None: it starts a run, which is followed.
KNOWLEDGE_ACTIONS: dict[str, Show | None] = {
    "list": _show_documents,
    "add": None,
    "note": None,
    "search": _show_found,
    "delete": lambda reply, screen: screen.line("it is deleted"),
    "option": _show_option,
    "embed": None,
}

# oasis memory

_USAGE = "usage: oasis memory [list|on|off|add FACT|change ID FACT|forget ID|forget all|export]"
_ALL = "all"


def memory(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the facts without one."""
    action, rest = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in MEMORY_ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    function, needs = MEMORY_ACTIONS[action]
    if len(rest.split(" ", needs)) < needs or bool(rest) != bool(needs):
        raise UsageError(f"`memory {action}` needs {('nothing', 'a word', 'an id and a fact')[needs]} more", _USAGE)
    return function(call, rest, screen)


def _list_facts(call: Call, rest: str, screen: Screen) -> int:
    reply = call("memory.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
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
    return OK


def _extract(is_on: bool) -> Act:
    def act(call: Call, rest: str, screen: Screen) -> int:
        reply = call("memory.set", {"extract": is_on})
        words = "from now on facts are taken out of what you say, by a model: look at them with `oasis memory`"
        status = _done(reply, words if is_on else "nothing is taken out of what you say any more", screen)
        if reply.get("note"):
            screen.notice(clean.line(reply["note"]))
        return status

    return act


def _add(call: Call, rest: str, screen: Screen) -> int:
    reply = call("memory.add", {"fact": rest})
    return _done(reply, f"{reply['fact']['id']} is remembered", screen)


def _change(call: Call, rest: str, screen: Screen) -> int:
    name, _, fact = rest.partition(" ")
    return _done(call("memory.change", {"id": name, "fact": fact}), f"{name} is changed", screen)


def _forget(call: Call, rest: str, screen: Screen) -> int:
    if rest == _ALL and _is_refused(screen, "Forget everything that is remembered of you? [y/N]"):
        return DECLINED
    reply = call("memory.forget", {"all": True} if rest == _ALL else {"id": rest})
    return _done(reply, f"{reply['forgotten']} forgotten; what you said stands in its chat still", screen)


def _export(call: Call, rest: str, screen: Screen) -> int:
    screen.json(call("memory.export", {}))
    return OK


# Each with how many words it needs.
MEMORY_ACTIONS: dict[str, tuple[Act, int]] = {
    "list": (_list_facts, 0),
    "on": (_extract(True), 0),
    "off": (_extract(False), 0),
    "add": (_add, 1),
    "change": (_change, 2),
    "forget": (_forget, 1),
    "export": (_export, 0),
}

# oasis skills

_SKILLS_USAGE = "usage: oasis skills [list|show NAME|set NAME|edit NAME|delete NAME|enable NAME|disable NAME]"
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
    return SKILLS_ACTIONS[action](call, name, screen)


def _list_skills(call: Call, name: str, screen: Screen) -> int:
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


def _show_skill(call: Call, name: str, screen: Screen) -> int:
    reply = call("skill.load", {"name": name})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(reply["text"].rstrip("\n"))
    return OK


def _set_skill(call: Call, name: str, screen: Screen) -> int:
    from oasis.cli.terminal import read_text

    if screen.can_ask:
        screen.progress("the text of the skill, ended by Ctrl-D on a line of its own:")
    return _write(call, name, read_text(), screen)


def _write(call: Call, name: str, text: str, screen: Screen) -> int:
    return _done(call("skill.set", {"name": name, "text": text}), f"the skill {name} is set", screen)


def _edit(call: Call, name: str, screen: Screen) -> int:
    """Open a skill, or a new one, in the owner's editor, and set it if it was changed.

    Raises: UsageError without a terminal, and for what the daemon refuses; the text stays in a file that is named.
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
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        child = os.posix_spawnp(words[0], [*words, path], dict(os.environ))
    except OSError:
        return 127
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _delete_skill(call: Call, name: str, screen: Screen) -> int:
    if _is_refused(screen, f'Delete the skill "{clean.line(name)}"? [y/N]'):
        return DECLINED
    return _done(call("skill.delete", {"name": name}), f"the skill {name} is deleted", screen)


def _enable(is_on: bool) -> Act:
    def act(call: Call, name: str, screen: Screen) -> int:
        reply = call("skill.set_enabled", {"name": name, "enabled": is_on})
        return _done(reply, f"the skill {name} is {'on' if is_on else 'off'}", screen)

    return act


SKILLS_ACTIONS: dict[str, Act] = {
    "list": _list_skills,
    "show": _show_skill,
    "set": _set_skill,
    "edit": _edit,
    "delete": _delete_skill,
    "enable": _enable(True),
    "disable": _enable(False),
}
