"""Who may talk to the bot, and how somebody becomes one of them: by a code that the router shows and nobody else has.

Kept in one file on flash (0600), with what must outlive a power cut: the update handled last, and the codes used. A
file that is damaged knows nobody, so that everybody is a stranger. Knows no message of Telegram's.

Person: {"id": xid, "role": "owner"|"guest", "user", "chat": numbers of Telegram's, "name", "paired_unix_s", "talk"?:
the chat here that they talk in}; of a group `user` is 0, and its role is guest: nobody there is the owner
"""

from __future__ import annotations

import os
import threading

from oasis.core import clean, jsonl
from oasis.errors import SchemaError, UsageError
from oasis.system.digest import is_equal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.system.files import Files

    Person = dict[str, Any]

ROLES = ("owner", "guest")
PEOPLE = 32
CODE_CHARS = 8
PAIR_S = 600
# Whoever does not have the code in front of him has one chance in 2^37.
TRIES = 5
# Without letters and digits that look alike: 32 of them, so every byte gives one.
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
# Telegram counts updates on from anywhere after a week without one (Bot API, Update).
FORGET_S = 6 * 24 * 3600


class People:
    """The people of one router, and what is kept with them; `unix_s()` is the wall time."""

    def __init__(self, files: Files, path: str, new_id: Callable[[], str], unix_s: Callable[[], int]) -> None:
        self._files = files
        self._path = path
        self._new_id = new_id
        self._unix_s = unix_s
        self._lock = threading.RLock()
        self.is_damaged = False
        kept = self._read()
        people = kept.get("people", [])
        self._people: list[Person] = [one for one in people if _is_person(one)] if isinstance(people, list) else []
        self.codes: dict[str, Any] = _whole_numbers(kept.get("codes"))
        self._offset: dict[str, int] = _whole_numbers(kept.get("offset"))

    def _read(self) -> dict[str, Any]:
        data = self._files.read(self._path)
        try:
            value = jsonl.loads(data) if data else {}
        except SchemaError:
            value = None
        self.is_damaged = not isinstance(value, dict)
        return value if isinstance(value, dict) else {}

    def keep(self) -> None:
        """Put everything on flash.

        Raises: StoreError.
        """
        with self._lock:
            value = {"people": self._people, "codes": self.codes, "offset": self._offset}
            self._files.folder(os.path.dirname(self._path))
            self._files.replace(self._path, jsonl.line(value))

    def all(self) -> list[Person]:
        """Return everybody, in the order in which they came."""
        with self._lock:
            return [dict(one) for one in self._people]

    def owners(self) -> list[Person]:
        """Return who is the owner."""
        return [one for one in self.all() if one["role"] == "owner"]

    def find(self, chat: int, user: int, is_private: bool) -> Person | None:
        """Return who says something in a chat, None for a stranger; in a group nobody is more than a guest."""
        for one in self.all():
            if one["chat"] == chat and one["user"] == (user if is_private else 0):
                return one
        return None

    def add(self, role: str, chat: int, user: int, name: str) -> Person:
        """Let somebody in, user 0 for a group; who is there already gets the new role.

        Raises: UsageError when there are too many, StoreError.
        """
        assert role in ROLES and (user or role == "guest")
        with self._lock:
            others = [one for one in self._people if (one["chat"], one["user"]) != (chat, user)]
            if len(others) >= PEOPLE:
                raise UsageError("%d people are paired already" % PEOPLE, "forget one: oasis telegram list")
            person = {"id": self._new_id(), "role": role, "user": user, "chat": chat, "name": clean.name(name)}
            person["paired_unix_s"] = self._unix_s()
            self._people = [*others, person]
            self.keep()
            return dict(person)

    def forget(self, id: str) -> Person:
        """Make somebody a stranger again.

        Raises: UsageError when nobody is called so, StoreError.
        """
        with self._lock:
            found = next((one for one in self._people if one["id"] == id), None)
            if found is None:
                raise UsageError("nobody paired has the id %r" % id, "list them: oasis telegram list")
            self._people = [one for one in self._people if one is not found]
            self.keep()
            return found

    def talk(self, id: str, chat: str) -> None:
        """Note in which chat here somebody talks."""
        with self._lock:
            for one in self._people:
                if one["id"] == id and one.get("talk", "") != chat:
                    one["talk"] = chat
                    self.keep()

    # Updates

    def offset(self, bot: int) -> int:
        """Return the number of the update handled last for a bot, 0 where it says nothing any more."""
        with self._lock:
            is_old = self._unix_s() - self._offset.get("when_unix_s", 0) > FORGET_S
            return 0 if is_old or self._offset.get("bot") != bot else self._offset.get("update", 0)

    def handled(self, bot: int, update: int, is_kept: bool) -> None:
        """Note that an update is about to be handled; on flash where it will have an effect."""
        with self._lock:
            self._offset = {"bot": bot, "update": update, "when_unix_s": self._unix_s()}
            if is_kept:
                self.keep()


class Pairing:
    """The one code that is open, if any; in memory alone. `now_s()` is monotonic, `random(n)` gives bytes."""

    def __init__(self, now_s: Callable[[], float], random: Callable[[int], bytes]) -> None:
        self._now_s = now_s
        self._random = random
        self._lock = threading.Lock()
        self._code = ""
        self._role = ""
        self._until_s = 0.0
        self._tries = 0

    def open(self, role: str) -> tuple[str, int]:
        """Return a new code for a role and for how many seconds it is good; one before it is good no more."""
        with self._lock:
            self._code = "".join(_ALPHABET[byte & 31] for byte in self._random(CODE_CHARS))
            self._role, self._until_s, self._tries = role, self._now_s() + PAIR_S, TRIES
            return self._code, PAIR_S

    def is_open(self) -> bool:
        """Tell whether a code waits for somebody."""
        with self._lock:
            return bool(self._code) and self._now_s() < self._until_s

    def take(self, text: str, is_private: bool) -> str:
        """Return the role that a message gives who sent it, "wrong" for a code that is none, "" for what is no code.

        A code is good once, and an owner's in a private chat alone: in a group others have read it, and it is used up.
        After some wrong ones it is good for nobody.
        """
        given = text.strip().upper().replace("-", "").replace(" ", "")
        if len(given) != CODE_CHARS or given.strip(_ALPHABET) or not self.is_open():
            return ""
        with self._lock:
            if is_equal(self._code, given):
                self._code = ""
                return self._role if is_private or self._role != "owner" else "wrong"
            self._tries -= 1
            if self._tries <= 0:
                self._code = ""
            return "wrong"


def _is_person(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        return False
    numbers, texts = ("user", "chat", "paired_unix_s"), ("id", "name")
    return all(type(value.get(key)) is int for key in numbers) and all(isinstance(value.get(key), str) for key in texts)


def _whole_numbers(value: Any) -> dict[str, int]:
    return {key: one for key, one in value.items() if type(one) is int} if isinstance(value, dict) else {}
