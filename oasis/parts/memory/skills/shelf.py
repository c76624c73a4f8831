"""The skills that there are: shipped ones, and the owner's own in a folder of files.

A file of his takes the place of a shipped one of that name. What in the folder is no skill is passed over and told, and
stops no other; links, devices and the like are not opened. Knows no model; what tools there are enters as an argument.
"""

from __future__ import annotations

import os
import stat
import threading

from oasis.errors import OasisError, StoreError, UsageError
from oasis.parts.memory.skills.skill import SKILL_BYTES, is_name, parse

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
