"""Skills: instructions for a task, shipped with Oasis or the owner's own; the one that fits a turn is added to it.

    skill.list, load, set, delete, set_enabled    for the owner only; no tool leads here
    added(turn, extras)   adds the chosen skill's instructions and its tools, and asks for its service

A skill is a Markdown file with a small head:

    ---
    name: guest-wifi                     small letters, digits and dashes; the name of the file
    description: what the task is, in one line
    words: what somebody says who wants this, in any language, with commas between     optional
    not: what somebody says who wants something else: with one of these the guide is none  optional
    tools: status, configure             offered then; of the owner's own skills only these    optional
    model: nano                          an alias or a service                         optional
    ---
    What to do, in Markdown.

The owner's file takes the place of a shipped one of the same name. Invalid files are reported and skipped; links,
devices and the like are not opened. A skill never adds rights: its tools are those that are enabled and not denied.

Choosing costs nothing for most messages, which have no candidate; otherwise a model is asked, only one that the owner
named for small questions (the aliases `intent` and `nano`). Without one, a clear message decides. A chat keeps its
skill until another is clearly meant: "yes, call it Guests" belongs to the task before.
"""

from __future__ import annotations

import functools
import os
import re
import stat
import threading

from oasis.config.settings import OFFLINE, write
from oasis.core import clean, jsonl
from oasis.errors import OasisError, StoreError, UsageError
from oasis.parts.memory.ranking import is_dense
from oasis.parts.memory.structured import ANSWER_CHARS, Structured, object_schema, small, value
from oasis.tools.specs import is_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Extras, Services
    from oasis.core.shapes import Message
    from oasis.parts.memory.shapes import Skill, SkillList, SkillRow, SkillText, Turn
    from oasis.system.files import Files


# The option of the section `main` with the names of those that are off.
OFF = "skills_off"
# How long the choice may keep a turn waiting.
CHOICE_S = 20.0


class Skills:
    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._shelf = Shelf(kit.files, kit.root.state_folder + "/skills")
        self._structured = Structured(kit)
        self._lock = threading.Lock()
        self._chats: dict[str, tuple[str, int]] = {}  # chat: (its skill, how many messages more)

    @functools.cached_property
    def _words(self) -> dict[str, str]:
        words: dict[str, str] = jsonl.table(__file__, "skills.json")
        return words

    # What front-ends call

    def skill_list(self) -> SkillList:
        """Return the skills, and notes about invalid files."""
        skills, notes = self._shelf.all()
        return {"skills": self._rows(skills), "notes": notes, "most": SKILLS}

    def skill_load(self, name: str) -> SkillText:
        """Return a skill with its whole text."""
        return {**self._rows([self._shelf.get(name)])[0], "text": self._shelf.text(name)}

    def skill_set(self, name: str, text: str) -> dict[str, SkillRow]:
        """Write a skill of the owner's. Raises: UsageError if it is invalid or asks for tools that cannot be used."""
        skill = parse(text, name)
        if self._kit.redactor.text(text) != text:
            what = "the skill %s holds a secret of this router" % name
            raise UsageError(what, "leave it out: the owner enters it with /secret")
        faults = _faults(skill, self._tools())
        if faults:
            raise UsageError("the skill %s asks for tools: %s" % (name, "; ".join(faults)), "list them: oasis tools")
        if skill["model"]:
            self._kit.settings.chain(skill["model"])
        self._shelf.set(skill, text)
        return {"skill": self._rows([{**skill, "is_shipped": False}])[0]}

    def skill_delete(self, name: str) -> dict[str, str]:
        """Delete a skill of the owner's; a shipped one of that name is there again."""
        self._shelf.delete(name)
        return {"status": "OK"}

    def skill_set_enabled(self, name: str, enabled: bool) -> dict[str, SkillRow]:
        """Switch a skill on or off."""
        skill = self._shelf.get(name)
        off = [one for one in self._off() if one != name] + ([] if enabled else [name])
        write(self._kit.cursor(), [{"op": "set", "section": "main", "option": OFF, "value": " ".join(off) or "-"}])
        return {"skill": self._rows([skill])[0]}

    def _rows(self, skills: list[Skill]) -> list[SkillRow]:
        off, tools = self._off(), self._tools()
        rows = []
        for skill in skills:
            row: SkillRow = {"name": skill["name"], "description": skill["description"],
                             "is_shipped": skill["is_shipped"], "enabled": skill["name"] not in off}  # fmt: skip
            more = {"tools": skill["tools"], "model": skill["model"], "note": "; ".join(_faults(skill, tools))}
            row.update({key: value for key, value in more.items() if value})  # type: ignore[typeddict-item]
            rows.append(row)
        return rows

    def _off(self) -> list[str]:
        return [name for name in self._kit.settings.main().get(OFF, "").split() if name != "-"]

    def _tools(self) -> dict[str, str]:
        """Return why each tool cannot be used, "" if it can."""
        faults = {}
        for tool in self._kit.turn_starter().registry.listed():
            faults[tool["name"]] = "" if tool["enabled"] else "is off"
            if tool["approval"] == "deny":
                faults[tool["name"]] = "was denied by the owner"
        return faults

    # What the tool knowledge_search calls

    def guide(self, query: str) -> str:
        """Return the text of the shipped guide that a query asks for by "guide NAME", "" for no such one."""
        names = {*_GUIDE.findall(query)}
        names -= {*self._off()} if names else names
        skills = self._shelf.all()[0] if names else []
        return next((one["text"] for one in skills if one["is_shipped"] and one["name"] in names), "")

    # What turns call

    def added(self, turn: Turn, extras: Extras) -> None:
        """Add the skill that a turn is about, if any; faults of skills do not stop the turn."""
        try:
            off = self._off()
            skills = [skill for skill in self._shelf.all()[0] if skill["name"] not in off]
            skill, is_new = self._chosen(turn, skills) if skills else (None, False)
            if skill is not None:
                self._add(turn, extras, skill, is_new)
        except OasisError as error:
            self._kit.log("a turn is answered without skills: " + error.message)

    def _add(self, turn: Turn, extras: Extras, skill: Skill, is_new: bool) -> None:
        tools = self._tools() if skill["tools"] is not None else {}
        wanted = skill["tools"] or []
        usable = [name for name in wanted if not tools.get(name, "-")]
        if len(usable) < len(wanted) and not skill["is_shipped"]:
            gone = ", ".join([name for name in wanted if name not in usable])
            note = "the skill %s is left out: it asks for tools that cannot be used: %s" % (skill["name"], gone)
            self._note(turn, note)
            return
        answering = turn.get("service")
        told = self._words["shipped" if skill["is_shipped"] else "own"] + "\n" + skill["text"]
        has_all = answering is not None and is_large(answering["context_tokens"])
        if skill["is_shipped"] and has_all and not self._tools().get(_SEARCH, "-"):
            told = self._words["named"] % (_SEARCH, skill["name"])  # there is no room for the guide itself
        extras.system.append(told)
        if skill["is_shipped"]:
            extras.also += usable
        elif skill["tools"] is not None:
            extras.allow(usable)
        extras.prefer(skill["model"])
        if is_new:
            self._note(turn, "this is done by the skill {0} (see: oasis skills show {0})".format(skill["name"]))

    def _note(self, turn: Turn, text: str) -> None:
        if turn["run"]:
            self._kit.runs.get(turn["run"]).emit("note", text=text)

    def _chosen(self, turn: Turn, skills: list[Skill]) -> tuple[Skill | None, bool]:
        """Return the skill for a turn, and whether it is new in this chat."""
        said, service, is_sent = turn["said"], turn.get("service"), bool(turn["run"])
        near, scores = None, [score(said, skill) for skill in skills]
        if is_sent:
            is_home, texts = service is not None and service["is_local"], [skill["description"] for skill in skills]
            # Of the part that keeps facts: one service for vectors is asked once about one message.
            near = self._kit.parts.part("memory").near.closeness(said, texts, is_home)
        if near is not None:
            meant = [not mentioned(said, skill["against"]) for skill in skills]
            rows = zip(scores, near, meant, strict=True)
            scores = [max(one, MAYBE if other >= NEAR and is_meant else 0) for one, other, is_meant in rows]
        order = sorted(range(len(skills)), key=lambda at: (-scores[at], -near[at] if near else 0))
        ranked = [(scores[at], skills[at]) for at in order[:CANDIDATES] if scores[at] >= MAYBE]
        with self._lock:
            before, left = self._chats.get(turn["chat"], ("", 0))
        kept = next((skill for skill in skills if skill["name"] == before), None) if left else None
        if kept is None or (ranked and ranked[0][1] is not kept):
            kept, left = self._decided(turn, ranked) if ranked else None, STAYS + 1
        elif ranked:
            left = STAYS + 1
        if is_sent:
            with self._lock:
                self._chats.pop(turn["chat"], None)
                if kept is not None and left > 1:
                    self._chats[turn["chat"]] = kept["name"], left - 1
                while len(self._chats) > CHATS:
                    del self._chats[next(iter(self._chats))]
        return kept, kept is not None and kept["name"] != before

    def _decided(self, turn: Turn, ranked: list[tuple[int, Skill]]) -> Skill | None:
        """Return which of some skills is meant: as a small model says, without one only what is clear."""
        best, first = ranked[0]
        answering = turn.get("service")
        # A guide adds to what a model gets: where there is much room, one word that no other guide has is enough.
        least = MAYBE if answering is not None and is_large(answering["context_tokens"]) else CLEAR
        clear = first if best >= least and (len(ranked) == 1 or ranked[1][0] < best) else None
        if not turn["run"] or answering is None:
            return clear
        lines = ["%s: %s" % (skill["name"], skill["description"]) for _, skill in ranked]
        messages: list[Message] = [
            {"role": "system", "content": "\n".join([self._words["prompt"], *lines])},
            {"role": "user", "content": turn["said"][: ANSWER_CHARS // 8]},
        ]
        form = object_schema({"skill": {"type": "string", "enum": [*[one["name"] for _, one in ranked], NONE]}})
        until_s = self._kit.clock.now_s() + CHOICE_S
        try:
            # The answering model is not asked as well: that takes time.
            service = small(self._kit.settings, {**answering, "vendor": OFFLINE}, ALIASES)
            if service is None:
                return clear
            run = self._kit.runs.get(turn["run"])
            is_over = lambda: bool(run.is_cancelled() or self._kit.clock.now_s() > until_s)  # noqa: E731
            found = value(self._structured.answer(service, messages, form, is_over), "{", "}")
        except OasisError as error:
            self._kit.log("no model chooses a skill: " + error.message)
            return clear
        name = found.get("skill") if isinstance(found, dict) else None
        return next((skill for _, skill in ranked if skill["name"] == name), None if name == NONE else clear)


def _faults(skill: Skill, tools: dict[str, str]) -> list[str]:
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
_SEARCH = "knowledge_search"
_GUIDE = re.compile(r"\bguide[ :]+([a-z0-9-]+)")
_PHRASE_CHARS = 3  # of a script without blanks: a word of two characters says little
_LONG_CHARS = 9  # of others: "wireguard" and "sicherheitscheck" mean one thing


def score(said: str, skill: Skill) -> int:
    """Return how much of a skill's words is in a message, 0 with one that speaks against it; its name is a phrase."""
    if mentioned(said, skill["against"]):
        return 0
    return mentioned(said, [skill["name"], skill["name"].replace("-", " "), *skill["words"]])


def mentioned(said: str, words: list[str]) -> int:
    """Return how much of some words and phrases is in a message: MAYBE for a word, CLEAR for what means one thing."""
    text = " ".join(said.casefold().split())
    # Words stand apart from what is around them, as in 关闭IPv6 too.
    spaced = "".join([" " if is_dense(char) else char for char in text]) if is_dense(text) else text
    padded = " %s " % " ".join("".join([char if char.isalnum() or char == "-" else " " for char in spaced]).split())
    found = 0
    for word in words:
        plain = word.casefold()
        if is_dense(plain):
            found += (CLEAR if len(plain) > _PHRASE_CHARS else MAYBE) if plain in text else 0
        elif " %s " % plain in padded:
            found += CLEAR if " " in plain or "-" in plain or len(plain) >= _LONG_CHARS else MAYBE
    return found


gather = Skills

SKILLS = 32  # of the owner's own; a model that chooses among more chooses wrongly
_SHIPPED = os.path.dirname(os.path.abspath(__file__)) + "/shipped_skills"
_END = ".md"


class Shelf:
    """`folder` is the owner's; it is made with their first skill."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._lock = threading.Lock()
        self._read: dict[str, tuple[object, Skill | str]] = {}  # path: (stamp, the skill, or its fault)

    def all(self) -> tuple[list[Skill], list[str]]:
        """Return the skills by name, each with "is_shipped", and notes about files that are none."""
        with self._lock:
            skills: dict[str, Skill] = {}
            notes: list[str] = []
            for folder, is_own in ((_SHIPPED, False), (self._folder, True)):
                # What an editor or a power cut left is passed over.
                files = [one for one in self._files.names(folder) if one.endswith(_END) and not one.startswith(".")]
                for number, file in enumerate(files):
                    name = file.removesuffix(_END)
                    found: Skill | str = "there are more than %d" % SKILLS
                    if number < SKILLS or not is_own:
                        found = self._one(folder + "/" + file, name)
                    if isinstance(found, str):
                        notes.append("%s is left out: %s" % (ascii(file)[1:-1][:80], found))
                    else:
                        skills[name] = {**found, "is_shipped": not is_own}
            return [skills[name] for name in sorted(skills)], notes

    def _one(self, path: str, name: str) -> Skill | str:
        """Return a skill, read again when its file changed; in its place what is wrong with the file."""
        try:
            found = os.lstat(path)
        except OSError as error:
            return str(error.strerror)
        if not is_name(name):
            return "small letters, digits and dashes make a name"
        if not stat.S_ISREG(found.st_mode):
            return "it is no file"
        if found.st_size > SKILL_BYTES:
            return "it has %d bytes, at most %d" % (found.st_size, SKILL_BYTES)
        stamp = found.st_mtime_ns, found.st_size, found.st_ino
        if path not in self._read or self._read[path][0] != stamp:
            try:
                self._read[path] = stamp, parse(self._files.read(path) or b"", name)
            except OasisError as error:
                self._read[path] = stamp, error.message
        return self._read[path][1]

    def get(self, name: str) -> Skill:
        """Return a skill. Raises: UsageError when there is none of that name."""
        found = next((skill for skill in self.all()[0] if skill["name"] == name), None)
        if found is None:
            raise UsageError("there is no skill %r" % name[:80], "list them: oasis skills")
        return found

    def text(self, name: str) -> str:
        """Return the file of a skill as it is. Raises: as get."""
        folder = _SHIPPED if self.get(name)["is_shipped"] else self._folder
        return (self._files.read("%s/%s%s" % (folder, name, _END)) or b"").decode("utf-8")

    def set(self, skill: Skill, text: str) -> None:
        """Write a skill that was judged before. Raises: StoreError when there are too many, or the flash refuses."""
        with self._lock:
            file = skill["name"] + _END
            there = [name for name in self._files.names(self._folder) if name.endswith(_END)]
            if file not in there and len(there) >= SKILLS:
                what = "there are %d skills of your own already" % SKILLS
                raise StoreError(what, "delete one: oasis skills delete NAME")
            self._files.folder(self._folder)
            self._files.replace("%s/%s" % (self._folder, file), text.encode("utf-8"))

    def delete(self, name: str) -> None:
        """Delete a skill of the owner's. Raises: UsageError for a shipped or unknown one."""
        if is_name(name) and name + _END in self._files.names(self._folder):
            self._files.forget("%s/%s%s" % (self._folder, name, _END))
        elif is_name(name) and name + _END in self._files.names(_SHIPPED):
            raise UsageError("%s is shipped with Oasis" % name, "switch it off: oasis skills disable " + name)
        else:
            raise UsageError("there is no skill %r of yours" % name[:80], "list them: oasis skills")


# Instructions of two pages; a small model has room for no more.
SKILL_BYTES = 8 * 1024
NAME_CHARS = 40
LINE_CHARS = 200
WORDS, WORD_CHARS = 64, 60
TOOLS = 16
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
_TOOL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_MODEL = _TOOL + "/:@+"
_KEYS = ("name", "description", "words", "not", "tools", "model")
_FENCE = "---"
_HINT = "a skill begins with ---, lines `name: …` and `description: …`, and --- again; `oasis skills show NAME` has one"


def is_name(name: str) -> bool:
    """Return whether something can be the name of a skill, and so of its file."""
    return 0 < len(name) <= NAME_CHARS and not name.strip(_NAME) and name[0] != "-" and name[-1] != "-"


def parse(data: bytes | str, name: str) -> Skill:
    """Return the skill of that name from its text. Raises: UsageError naming what is wrong."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > SKILL_BYTES:
        raise UsageError("a skill has at most %d bytes, this one %d" % (SKILL_BYTES, len(raw)), "say it in fewer words")
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UsageError("a skill is a text in UTF-8")
    if clean.text(text) != text:
        raise UsageError("a skill has characters in it that nobody sees", "type it anew, or save it as plain text")
    lines = text.strip().split("\n")
    ends = [number for number, line in enumerate(lines) if line.strip() == _FENCE]
    if len(ends) < 2 or ends[0]:
        raise UsageError("the skill %s has no head" % name[:NAME_CHARS], _HINT)
    head = _head(lines[1 : ends[1]], name[:NAME_CHARS])
    body = "\n".join(lines[ends[1] + 1 :]).strip()
    if head.get("name", name) != name or not is_name(name):
        raise UsageError("the skill %r calls itself %r" % (name[:NAME_CHARS], head.get("name", "")[:NAME_CHARS]), _HINT)
    if not head.get("description") or not body:
        missing = "instructions" if head.get("description") else "description"
        raise UsageError("the skill %s has no %s" % (name, missing), _HINT)
    tools = _listed(head, "tools", name, TOOLS, NAME_CHARS * 2) if "tools" in head else None
    for word, allowed in [*[(tool, _TOOL) for tool in tools or []], (head.get("model", ""), _MODEL)]:
        if word.strip(allowed):
            raise UsageError("the skill %s has a head with %r in it" % (name, word[:LINE_CHARS]), _HINT)
    words, against = [_listed(head, key, name, WORDS, WORD_CHARS) for key in ("words", "not")]
    return {"name": name, "description": head["description"], "words": words, "against": against, "tools": tools,
            "model": head.get("model", ""), "text": body}  # fmt: skip


def _head(lines: list[str], name: str) -> dict[str, str]:
    head: dict[str, str] = {}
    for line in filter(str.strip, lines):
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not colon or key not in _KEYS or key in head:
            what = "the head of the skill %s has the line %r" % (name, line[:LINE_CHARS])
            raise UsageError(what, "it has: " + ", ".join(_KEYS))
        head[key] = value.strip()
    if len(head.get("description", "")) > LINE_CHARS or len(head.get("model", "")) > LINE_CHARS:
        raise UsageError("a line in the head of the skill %s is too long" % name, "at most %d" % LINE_CHARS)
    return head


def _listed(head: dict[str, str], key: str, name: str, most: int, most_chars: int) -> list[str]:
    found = [word.strip() for word in head.get(key, "").split(",") if word.strip()]
    if len(found) > most or any(len(word) > most_chars for word in found):
        what = "the skill %s has too many %s, or too long ones" % (name, key)
        raise UsageError(what, "at most %d of %d characters" % (most, most_chars))
    return found
