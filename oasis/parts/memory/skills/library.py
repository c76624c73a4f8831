"""The skills of one daemon: what front-ends call, and what a turn gets of the one that it is about.

    skill.list, load, set, delete, set_enabled    the owner's alone; no tool leads here
    added(turn, told)     the instructions of the chosen skill, the tools that it narrows to, the service that it wants

A skill never gives more than there was: its tools are those that are on and that the owner did not deny.

The choice of a skill costs nothing and finds no candidate for most messages; only then a model is asked, and only one
that the owner named for small questions (the aliases `intent` and `nano`). Without one, a clear message decides. A chat
keeps its skill until another is clearly meant: "yes, call it Guests" belongs to the task before.
"""

from __future__ import annotations

import os
import threading

from oasis.config.settings import write
from oasis.core import jsonl
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import structured
from oasis.parts.memory.facts_near import is_dense
from oasis.parts.memory.skills.shelf import SKILLS, Shelf, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Skill = dict[str, Any]
    Turn = dict[str, Any]
    Closeness = Callable[[str, list[str], bool], "list[float] | None"]


# The option of the section `main` with the names of those that are off.
OFF = "skills_off"
# How long the choice may keep a turn waiting.
CHOICE_S = 20.0


def gather(kit: Any) -> Skills:
    """Return the part of a daemon; `kit` as in parts.py."""
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


ALIASES = ("intent", "nano")
CANDIDATES = 3
# One word of a skill makes it a candidate; a phrase, or two words, name it clearly (tests/parts/memory/wishes.jsonl).
MAYBE, CLEAR = 1, 2
# Of vectors (all-MiniLM-L6-v2): wishes that no skill is for lie below.
NEAR = 0.45
# Messages that a skill stays for when they say nothing of their own, and chats that are remembered.
STAYS, CHATS = 6, 32
NONE = "none"
_PHRASE_CHARS = 3  # of a script without blanks: a word of two characters says little
_LONG_CHARS = 9  # of others: "wireguard" and "sicherheitscheck" mean one thing


class Choice:
    """`ask(messages, schema)` asks the small model, and gives None where there is none; `log(text)` hears of faults."""

    def __init__(
        self, closeness: Closeness, ask: Callable[[dict[str, Any], list[dict[str, Any]], dict[str, Any]], str | None],
        prompt: str, log: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._closeness = closeness
        self._ask = ask
        self._prompt = prompt
        self._log = log
        self._lock = threading.Lock()
        self._chats: dict[str, tuple[str, int]] = {}  # chat: (its skill, how many messages more)

    def of(self, turn: dict[str, Any], skills: list[Skill]) -> tuple[Skill | None, bool]:
        """Return the skill for a turn, and whether it is new in this chat."""
        is_sent = bool(turn["run"])
        ranked = self._ranked(turn, skills, is_sent)
        with self._lock:
            before, left = self._chats.get(turn["chat"], ("", 0))
        kept = next((skill for skill in skills if skill["name"] == before), None) if left else None
        if kept is None or (ranked and ranked[0][1] is not kept):
            kept, left = self._chosen(turn, ranked, is_sent) if ranked else None, STAYS + 1
        elif ranked:
            left = STAYS + 1
        if is_sent:
            self._remember(turn["chat"], kept, left - 1)
        return kept, kept is not None and kept["name"] != before

    def _remember(self, chat: str, skill: Skill | None, left: int) -> None:
        with self._lock:
            self._chats.pop(chat, None)
            if skill is not None and left:
                self._chats[chat] = skill["name"], left
            while len(self._chats) > CHATS:
                del self._chats[next(iter(self._chats))]

    def _ranked(self, turn: dict[str, Any], skills: list[Skill], is_sent: bool) -> list[tuple[int, Skill]]:
        said, is_home = turn["said"], bool((turn.get("service") or {}).get("is_local"))
        scores = [score(said, skill) for skill in skills]
        texts = [skill["description"] for skill in skills]
        near = self._closeness(said, texts, is_home) if is_sent and skills else None
        if near is not None:
            scores = [max(one, MAYBE if other >= NEAR else 0) for one, other in zip(scores, near, strict=True)]
        order = sorted(range(len(skills)), key=lambda at: (-scores[at], -near[at] if near else 0))
        return [(scores[at], skills[at]) for at in order[:CANDIDATES] if scores[at] >= MAYBE]

    def _chosen(self, turn: dict[str, Any], ranked: list[tuple[int, Skill]], is_sent: bool) -> Skill | None:
        best, first = ranked[0]
        clear = first if best >= CLEAR and (len(ranked) == 1 or ranked[1][0] < best) else None
        if not is_sent:
            return clear
        lines = ["%s: %s" % (skill["name"], skill["description"]) for _, skill in ranked]
        messages = [
            {"role": "system", "content": "\n".join([self._prompt, *lines])},
            {"role": "user", "content": turn["said"][: structured.ANSWER_CHARS // 8]},
        ]
        names = [skill["name"] for _, skill in ranked]
        form = {
            "type": "object",
            "properties": {"skill": {"type": "string", "enum": [*names, NONE]}},
            "required": ["skill"],
            "additionalProperties": False,
        }
        try:
            answer = self._ask(turn, messages, form)
        except OasisError as error:
            self._log("no model chooses a skill: " + error.message)
            return clear
        if answer is None:
            return clear
        value = structured.value(answer, "{", "}")
        name = value.get("skill") if isinstance(value, dict) else None
        return next((skill for _, skill in ranked if skill["name"] == name), None if name == NONE else clear)


def score(said: str, skill: Skill) -> int:
    """Return how much of a skill's words is in a message; its name counts as a phrase."""
    text = " ".join(said.casefold().split())
    padded = " %s " % "".join([char if char.isalnum() or char == "-" else " " for char in text])
    padded = " %s " % " ".join(padded.split())
    found = 0
    for word in [skill["name"], skill["name"].replace("-", " "), *skill["words"]]:
        plain = word.casefold()
        if is_dense(plain):
            found += (CLEAR if len(plain) > _PHRASE_CHARS else MAYBE) if plain in text else 0
        elif " %s " % plain in padded:
            found += CLEAR if " " in plain or "-" in plain or len(plain) >= _LONG_CHARS else MAYBE
    return found
