"""The skills of one daemon: what front-ends call, and what a turn gets of the one that it is about.

    skill.list, load, set, delete, set_enabled    the owner's alone; no tool leads here
    added(turn, told)     the instructions of the chosen skill, the tools that it narrows to, the service that it wants

A skill never gives more than there was: its tools are those that are on and that the owner did not deny.
"""

from __future__ import annotations

import os

from oasis.config.settings import write
from oasis.core import jsonl
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import structured
from oasis.parts.memory.skills.choice import ALIASES, Choice
from oasis.parts.memory.skills.shelf import SKILLS, Shelf
from oasis.parts.memory.skills.skill import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Skill = dict[str, Any]
    Turn = dict[str, Any]

# The option of the section `main` with the names of those that are off.
OFF = "skills_off"
# How long the choice may keep a turn waiting.
CHOICE_S = 20.0


def gather(kit: Any) -> Skills:
    """Return the part of a daemon; `kit` as in beside.py."""
    return Skills(kit)


class Skills:
    def __init__(self, kit: Any) -> None:
        self._kit = kit
        self._shelf = Shelf(kit.files, kit.root.state_folder + "/skills")
        self._made: tuple[dict[str, str], Choice] | None = None
        self._structured: structured.Structured | None = None

    def _choice(self) -> tuple[dict[str, str], Choice]:
        if self._made is None:
            with open(os.path.dirname(os.path.abspath(__file__)) + "/skills.json", "rb") as handle:
                words = jsonl.loads(handle.read())
            near = self._kit.beside.part("memory").near  # one service for vectors is asked once about one message
            self._made = words, Choice(near.closeness, self._ask, words["prompt"], self._kit.log)
        return self._made

    # What front-ends call

    def skill_list(self) -> dict[str, object]:
        """Return the skills. Shape: {"skills": [{"name", "description", "tools"?, "model"?, "is_shipped", "enabled",
        "note"?}], "notes": [text], "most"}."""
        off = self._off()
        tools = self._tools()
        skills, notes = self._shelf.all()
        return {"skills": [_shown(skill, skill["name"] not in off, tools) for skill in skills], "notes": notes,
                "most": SKILLS}  # fmt: skip

    def skill_load(self, name: str) -> dict[str, object]:
        """Return a skill with its whole text."""
        skill = self._shelf.get(name)
        return {**_shown(skill, name not in self._off(), self._tools()), "text": self._shelf.text(name)}

    def skill_set(self, name: str, text: str) -> dict[str, object]:
        """Write a skill of the owner's own, or change it.

        Raises: UsageError for what is none, and for tools that there are not, are off, or that he denied.
        """
        skill = parse(text, name)
        if self._kit.redactor.text(text) != text:
            raise UsageError(
                "the skill %s holds a secret of this router" % name, "leave it out: the owner enters it with /secret"
            )
        tools = self._tools()
        faults = _faults(skill, tools)
        if faults:
            raise UsageError("the skill %s asks for tools: %s" % (name, "; ".join(faults)), "list them: oasis tools")
        if skill["model"]:
            self._kit.settings.chain(skill["model"])
        self._shelf.set(skill, text)
        return {"skill": _shown({**skill, "is_shipped": False}, name not in self._off(), tools)}

    def skill_delete(self, name: str) -> dict[str, object]:
        """Delete a skill of the owner's; a shipped one of that name is there again."""
        self._shelf.delete(name)
        return {"status": "OK"}

    def skill_set_enabled(self, name: str, enabled: bool) -> dict[str, object]:
        """Switch a skill on or off."""
        skill = self._shelf.get(name)
        off = [one for one in self._off() if one != name] + ([] if enabled else [name])
        step = {"op": "set", "section": "main", "option": OFF, "value": " ".join(off) or "-"}
        write(self._kit.cursor(), [step])
        return {"skill": _shown(skill, enabled, self._tools())}

    def _off(self) -> list[str]:
        return [name for name in self._kit.settings.main().get(OFF, "").split() if name != "-"]

    def _tools(self) -> dict[str, str]:
        """Return what stands against each tool, "" for nothing."""
        listed = self._kit.exchanges().registry.listed()
        return {tool["name"]: _against(tool) for tool in listed}

    # What turns call

    def added(self, turn: Turn, told: Any) -> None:
        """Give a turn the skill that it is about, when there is one; what is wrong with skills stops no answer."""
        try:
            self._add(turn, told)
        except OasisError as error:
            self._kit.log("a turn is answered without skills: " + error.message)

    def _add(self, turn: Turn, told: Any) -> None:
        off = self._off()
        skills = [skill for skill in self._shelf.all()[0] if skill["name"] not in off]
        if not skills:
            return
        words, choice = self._choice()
        skill, is_new = choice.of(turn, skills)
        if skill is None:
            return
        tools = self._tools() if skill["tools"] is not None else {}
        usable = [name for name in skill["tools"] or [] if not tools.get(name, "-")]
        if skill["tools"] is not None and len(usable) < len(skill["tools"]) and not skill["is_shipped"]:
            gone = ", ".join([name for name in skill["tools"] if name not in usable])
            self._note(
                turn, "the skill %s is left out: it asks for tools that cannot be used: %s" % (skill["name"], gone)
            )
            return
        told.system.append(words["shipped" if skill["is_shipped"] else "own"] + "\n" + skill["text"])
        if skill["tools"] is not None:
            told.tools = usable if told.tools is None else [name for name in told.tools if name in usable]
        told.service = skill["model"] or told.service
        if is_new:
            self._note(
                turn, "this is done by the skill %s (see: oasis skills show %s)" % (skill["name"], skill["name"])
            )

    def _note(self, turn: Turn, text: str) -> None:
        if turn["run"]:
            self._kit.runs.get(turn["run"]).emit("note", text=text)

    def _ask(self, turn: Turn, messages: list[dict[str, Any]], form: dict[str, Any]) -> str | None:
        # Who answers is not asked beside it: that takes time.
        service = structured.small(self._kit.settings, {**turn["service"], "vendor": structured.OFFLINE}, ALIASES)
        if service is None:
            return None
        if self._structured is None:
            self._structured = structured.Structured.of(self._kit.exchanges().asking)
        return self._structured.answer(service, messages, form, self._end(turn))

    def _end(self, turn: Turn) -> Callable[[], bool]:
        until_s, run = self._kit.clock.now_s() + CHOICE_S, self._kit.runs.get(turn["run"])
        return lambda: bool(run.is_cancelled() or self._kit.clock.now_s() > until_s)


def _against(tool: dict[str, Any]) -> str:
    if tool["approval"] == "deny":
        return "was denied by the owner"
    return "" if tool["enabled"] else "is off"


def _shown(skill: Skill, is_on: bool, tools: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = {key: skill[key] for key in ("name", "description", "is_shipped")}
    found["enabled"] = is_on
    found.update({key: skill[key] for key in ("tools", "model") if skill[key]})
    faults = _faults(skill, tools)
    return {**found, "note": "; ".join(faults)} if faults else found


def _faults(skill: Skill, tools: dict[str, str]) -> list[str]:
    """Return what stands against the tools that a skill asks for."""
    return ["%s %s" % (tool, tools.get(tool, "is no tool")) for tool in skill["tools"] or [] if tools.get(tool, "-")]
