"""`oasis knowledge`, `oasis memory` and `oasis skills`: documents, facts about the owner, and guides for tasks."""

from __future__ import annotations

import os
import shlex
import time

from oasis.cli.commands import DECLINED, OK
from oasis.cli.prompt import follow
from oasis.cli.request import send
from oasis.cli.terminal import Screen, is_meant, read_text
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
    from oasis.parts.memory.shapes import DocumentList, FactList, FoundAll, OptionTold, SkillList

    Lines = list[str | tuple[str, str]]


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
        described = call("knowledge.option", {"path": words})
        return screen.result(described, _option(described))
    if action == "list":
        known = call("knowledge.list", {})
        return screen.result(known, _documents(known))
    limit = arguments["--limit"]
    if limit and not limit.isdigit():
        raise UsageError(f"--limit {limit!r} is no number", "like: --limit 8")
    found = call("knowledge.search", {"query": words, **({"limit": int(limit)} if limit else {})})
    return screen.result(found, _found(found))


def _documents(reply: DocumentList) -> Lines:
    lines: Lines = []
    for one in reply["documents"]:
        more = [one["kind"], f"{one['chars']} characters", f"chunks: {one['chunks']}", _VECTORS[one["vectors"]],
                _day(one["added_unix_s"])]  # fmt: skip
        lines += [(clean.line(one["title"]), "bold"), f"  {one['id']}  " + ", ".join(filter(None, more))]
        lines += [f"  {one['url']}"] if one.get("url") else []
    lines += [(clean.line(report), "-") for report in reply["reports"]]
    room = f"{reply['used_bytes'] / 1024:.0f} of {reply['limit_bytes'] / 1024:.0f} kB"
    alias = reply["embedding"]
    model = f"vectors by {alias}" if alias else "found by words alone, no alias embedding is set"
    return [*lines, f"documents: {len(reply['documents'])}, {room}; {model}"]


def _found(reply: FoundAll) -> Lines:
    lines: Lines = []
    for one in reply["passages"]:
        lines += [(f"[{one['source']}]", "bold"), *[("  " + line, "") for line in clean.text(one["text"]).split("\n")]]
    for source in reply["sources"]:
        lines.append(f"[{source['number']}] {source['title']} ({source.get('url') or source['id']})")
    for option in reply["options"]:
        lines += _option(option)
    for recipe in reply.get("recipes", []):
        lines.append((f"recipe {recipe['name']}: {recipe['title']}", "bold"))
        if recipe.get("packages"):
            lines.append("  packages: " + " ".join(recipe["packages"]))
        lines += ["  " + line for line in (recipe["text"], *recipe.get("commands", [])) if isinstance(line, str)]
    lines += [(reply["recipes_note"], "-")] if reply.get("recipes") else []
    lines = lines or ["nothing was found"]
    return [*lines, (clean.line(reply["note"]), "-")] if reply.get("note") else lines


def _option(reply: OptionTold) -> Lines:
    title = f": {reply['title']}" if reply.get("title") else ""
    lines = [reply.get("what")]
    if reply.get("values"):
        lines.append("values: " + ", ".join(reply["values"]))
    elif reply.get("takes"):
        lines.append("takes " + reply["takes"] + ("; several" if reply.get("list") else ""))
    if reply.get("options"):
        lines.append("options: " + ", ".join(reply["options"]))
    lines += [*reply.get("when", []), reply.get("note"), *[f"see also {path}" for path in reply.get("also", [])]]
    lines += [f"({reply['source']})"] if reply.get("source") else []
    return [(clean.line(reply["path"] + title), "bold"), *["  " + line for line in lines if line]]


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
        known = call("memory.list", {})
        return screen.result(known, _facts(known))
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
        if rest == "all" and not is_meant(screen, "Forget everything that is remembered of you?"):
            return DECLINED
        gone = call("memory.forget", {"all": True} if rest == "all" else {"id": rest})
        return screen.result(gone, f"{gone['forgotten']} forgotten; what you said stands in its chat still")
    reply = call("memory.set", {"extract": action == "on"})
    words = "from now on facts are taken out of what you say, by a model: look at them with `oasis memory`"
    status = screen.result(reply, words if action == "on" else "nothing is taken out of what you say any more")
    if reply.get("note"):
        screen.notice(clean.line(reply["note"]))
    return status


def _facts(reply: FactList) -> Lines:
    lines: Lines = []
    for fact in reply["facts"]:
        whose = "  (holds " + ", ".join(fact["taint"]) + ")" if fact.get("taint") else ""
        sure, day = f"{fact['confidence']:4.0%}", _day(fact["updated_unix_s"])
        lines.append(f"{fact['id']}  {sure}  {day}  {fact['category']:<12}  {fact['fact']}{whose}")
    switch = "nothing is taken out of what you say; to have that: oasis memory on"
    if reply["extract"]:
        switch = "facts are taken out of what you say; no more: oasis memory off"
    return [*(lines or ["nothing is remembered"]), (switch, "-")]


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
        known = call("skill.list", {})
        return screen.result(known, _skills(known))
    if action == "show":
        skill = call("skill.load", {"name": name})
        return screen.result(skill, [(skill["text"].rstrip("\n"), "")])
    if action == "set":
        if screen.can_ask:
            screen.progress("the text of the skill, ended by Ctrl-D on a line of its own:")
        return _set_skill(call, name, read_text(), screen)
    if action == "edit":
        return _edit(call, name, screen)
    if action == "delete":
        if not is_meant(screen, f'Delete the skill "{clean.line(name)}"?'):
            return DECLINED
        return screen.result(call("skill.delete", {"name": name}), f"the skill {name} is deleted")
    reply = call("skill.set_enabled", {"name": name, "enabled": action == "enable"})
    return screen.result(reply, f"the skill {name} is {'on' if action == 'enable' else 'off'}")


def _skills(reply: SkillList) -> Lines:
    lines: Lines = []
    width = max((len(skill["name"]) for skill in reply["skills"]), default=0)
    for skill in reply["skills"]:
        marks = ["yours"] * (not skill["is_shipped"]) + ["off"] * (not skill["enabled"])
        mark = f"  ({', '.join(marks)})" if marks else ""
        lines.append(f"{skill['name']:{width}}  {skill['description']}{mark}")
        lines += [(f"    {clean.line(skill['note'])}", "-")] if skill.get("note") else []
    return [*lines, *[(clean.line(note), "-") for note in reply["notes"]]]


def _set_skill(call: Call, name: str, text: str, screen: Screen) -> int:
    return screen.result(call("skill.set", {"name": name, "text": text}), f"the skill {name} is set")


def _edit(call: Call, name: str, screen: Screen) -> int:
    """Open a skill, or a new one, in the owner's editor; set it if it changed. A refused text stays in a file."""
    import tempfile  # with the one action that needs it

    if not screen.can_ask:
        raise UsageError("there is no terminal to edit on", f"oasis skills set {name} < FILE")
    known = {skill["name"] for skill in call("skill.list", {})["skills"]}
    before = call("skill.load", {"name": name})["text"] if name in known else _NEW.format(name)
    number, path = tempfile.mkstemp(".md", f"oasis-{clean.name(name).replace('/', '')}-")
    with os.fdopen(number, "w", encoding="utf-8") as handle:
        handle.write(before)
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if os.spawnvp(os.P_WAIT, words[0], [*words, path]) != 0:  # noqa: S606  # the owner's own program
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
