"""The skills that there are: shipped ones, and the owner's own in a folder of files.

A file of his takes the place of a shipped one of that name. What in the folder is no skill is passed over and told, and
stops no other; links, devices and the like are not opened. Knows no model; what tools there are enters as an argument.

Shape of a skill: {"name", "description", "words": [text], "tools": [name] or None for all, "model": "" for none,
"text": its instructions}
"""

from __future__ import annotations

import os
import stat
import threading

from oasis.core import clean
from oasis.errors import OasisError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.system.files import Files

    Skill = dict[str, Any]


SKILLS = 32  # of the owner's own; a model that chooses among more chooses wrongly
_SHIPPED = os.path.dirname(os.path.abspath(__file__)) + "/shipped"
_END = ".md"


class Shelf:
    """`folder` is the owner's; it is made with the first skill of his."""

    def __init__(self, files: Files, folder: str, shipped: str = _SHIPPED) -> None:
        self._files = files
        self._folder = folder
        self._shipped = shipped
        self._lock = threading.Lock()
        self._read: dict[str, tuple[object, Skill | str]] = {}  # path: (stamp, the skill, or why it is none)

    def all(self) -> tuple[list[Skill], list[str]]:
        """Return the skills by name, each with "is_shipped", and notes about files that are none."""
        with self._lock:
            skills: dict[str, Skill] = {}
            notes: list[str] = []
            for folder in (self._shipped, self._folder):
                is_own, count = folder == self._folder, 0
                for file in self._files.names(folder):
                    name = file.removesuffix(_END)
                    if file == name or file.startswith("."):
                        continue  # what an editor or a power cut left
                    count += is_own
                    found = (
                        self._one(folder + "/" + file, name) if count <= SKILLS else "there are more than %d" % SKILLS
                    )
                    if isinstance(found, str):
                        notes.append("%s is left out: %s" % (ascii(file)[1:-1][:80], found))
                    else:
                        skills[name] = {**found, "is_shipped": not is_own}
            return [skills[name] for name in sorted(skills)], notes

    def _one(self, path: str, name: str) -> Skill | str:
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
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            try:
                known = stamp, parse(self._files.read(path) or b"", name)
            except OasisError as error:
                known = stamp, error.message
            self._read[path] = known
        return known[1]

    def get(self, name: str) -> Skill:
        """Return a skill. Raises: UsageError when there is none of that name."""
        for found in self.all()[0]:
            if found["name"] == name:
                return found
        raise UsageError("there is no skill %r" % name[:80], "list them: oasis skills")

    def text(self, name: str) -> str:
        """Return the file of a skill as it is. Raises: as get."""
        folder = self._shipped if self.get(name)["is_shipped"] else self._folder
        return (self._files.read("%s/%s%s" % (folder, name, _END)) or b"").decode("utf-8")

    def set(self, skill: Skill, text: str) -> None:
        """Write a skill of the owner's that was judged before.

        Raises: StoreError when there are too many, or the flash refuses.
        """
        with self._lock:
            file = skill["name"] + _END
            there = [name for name in self._files.names(self._folder) if name.endswith(_END)]
            if file not in there and len(there) >= SKILLS:
                raise StoreError(
                    "there are %d skills of your own already" % SKILLS, "delete one: oasis skills delete NAME"
                )
            self._files.folder(self._folder)
            self._files.replace("%s/%s" % (self._folder, file), text.encode("utf-8"))

    def delete(self, name: str) -> None:
        """Delete a skill of the owner's. Raises: UsageError for a shipped one, and one that there is not."""
        if not is_name(name) or name + _END not in self._files.names(self._folder):
            shipped = is_name(name) and name + _END in self._files.names(self._shipped)
            raise UsageError(
                "%s is shipped with Oasis" % name if shipped else "there is no skill %r of yours" % name[:80],
                "switch it off: oasis skills disable " + name if shipped else "list them: oasis skills",
            )
        self._files.forget("%s/%s%s" % (self._folder, name, _END))


# Instructions of two pages; a small model has room for no more.
SKILL_BYTES = 8 * 1024
NAME_CHARS = 40
LINE_CHARS = 200
WORDS, WORD_CHARS = 64, 60
TOOLS = 16
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
_TOOL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_MODEL = _TOOL + "/:@+"
_KEYS = ("name", "description", "words", "tools", "model")
_FENCE = "---"
_HINT = "a skill begins with ---, lines `name: …` and `description: …`, and --- again; `oasis skills show NAME` has one"


def is_name(name: str) -> bool:
    """Return whether something can be the name of a skill, and so of its file."""
    return 0 < len(name) <= NAME_CHARS and not name.strip(_NAME) and name[0] != "-" and name[-1] != "-"


def parse(data: bytes | str, name: str) -> Skill:
    """Return the skill of that name from its text.

    Raises: UsageError naming what is wrong.
    """
    text = _text(data)
    head, body = _parts(text, name)
    if head.get("name", name) != name or not is_name(name):
        raise UsageError("the skill %r calls itself %r" % (name[:NAME_CHARS], head.get("name", "")[:NAME_CHARS]), _HINT)
    if not head.get("description") or not body:
        raise UsageError(
            "the skill %s has no %s" % (name, "instructions" if head.get("description") else "description"), _HINT
        )
    tools = _listed(head, "tools", name, TOOLS, NAME_CHARS * 2) if "tools" in head else None
    for word, allowed in [*[(tool, _TOOL) for tool in tools or []], (head.get("model", ""), _MODEL)]:
        if word.strip(allowed):
            raise UsageError("the skill %s has a head with %r in it" % (name, word[:LINE_CHARS]), _HINT)
    return {
        "name": name,
        "description": head["description"],
        "words": _listed(head, "words", name, WORDS, WORD_CHARS),
        "tools": tools,
        "model": head.get("model", ""),
        "text": body,
    }


def _text(data: bytes | str) -> str:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > SKILL_BYTES:
        raise UsageError("a skill has at most %d bytes, this one %d" % (SKILL_BYTES, len(raw)), "say it in fewer words")
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UsageError("a skill is a text in UTF-8")
    if clean.text(text) != text:
        raise UsageError("a skill has characters in it that nobody sees", "type it anew, or save it as plain text")
    return text


def _parts(text: str, name: str) -> tuple[dict[str, str], str]:
    lines = text.strip().split("\n")
    ends = [number for number, line in enumerate(lines) if line.strip() == _FENCE]
    if len(ends) < 2 or ends[0]:
        raise UsageError("the skill %s has no head" % name[:NAME_CHARS], _HINT)
    head: dict[str, str] = {}
    for line in lines[1 : ends[1]]:
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not line.strip():
            continue
        if not colon or key not in _KEYS or key in head:
            raise UsageError("the head of the skill %s has the line %r" % (name[:NAME_CHARS], line[:LINE_CHARS]),
                             "it has: " + ", ".join(_KEYS))  # fmt: skip
        head[key] = value.strip()
    if len(head.get("description", "")) > LINE_CHARS or len(head.get("model", "")) > LINE_CHARS:
        raise UsageError(
            "a line in the head of the skill %s is too long" % name[:NAME_CHARS], "at most %d" % LINE_CHARS
        )
    return head, "\n".join(lines[ends[1] + 1 :]).strip()


def _listed(head: dict[str, str], key: str, name: str, most: int, most_chars: int) -> list[str]:
    found = [word.strip() for word in head.get(key, "").split(",") if word.strip()]
    if len(found) > most or any(len(word) > most_chars for word in found):
        raise UsageError(
            "the skill %s has too many %s, or too long ones" % (name, key),
            "at most %d of %d characters" % (most, most_chars),
        )
    return found
