"""Who may talk to the bot, and how somebody becomes one of them: by a code that the router shows and nobody else has.

Kept in one file on flash (0600), with what must outlive a power cut: the update handled last, and the codes used. A
file that is damaged knows nobody, so that everybody is a stranger. Knows no message of Telegram's.

Guests: a guest's run may look at the router's state with two tools and nothing else. Its words are words of others
wherever they are read again; it gets no facts, documents or skills of the owner, and every plan or call that has an
effect ends here.

Codes: six digits that a program on the owner's phone shows, as proof that a message is theirs. A code is valid for its
30 seconds and those before and after, once, also across a restart. After WRONG wrong ones there is a pause, each twice
the one before. The secret is the daemon's and the owner's: no worker, model or messenger ever has it.
Source: RFC 4226 section 5.3, RFC 6238 section 4 (SHA-1, 30 s, 6 digits: all that every authenticator knows).
"""

from __future__ import annotations

import base64
import os
import threading

from oasis.core import clean, jsonl
from oasis.errors import PolicyError, SchemaError, UsageError
from oasis.system.digest import hmac_sha1, is_equal
from oasis.tools.principal import Principal, tools_of

if False:  # annotations only
    from oasis.agent.shapes import Ask
    from oasis.change.shapes import Plan
    from oasis.config.shapes import Service
    from oasis.parts.telegram.shapes import Callable, CodesUsed, Person, TypeGuard
    from oasis.system.files import Files
    from oasis.tools.shapes import TurnExtras


ROLES = ("owner", "guest")
PEOPLE = 32
CODE_CHARS = 8
PAIR_S = 600
# Without the code a stranger has one chance in 2^37.
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
        data, kept = files.read(path), None
        try:
            kept = jsonl.loads(data) if data else {}
        except SchemaError:
            pass
        self.is_damaged = not isinstance(kept, dict)
        known = kept if isinstance(kept, dict) else {}
        people = known.get("people", [])
        self._people: list[Person] = [one for one in people if _is_person(one)] if isinstance(people, list) else []
        self.codes: CodesUsed = _whole_numbers(known.get("codes"))
        self._offset = _whole_numbers(known.get("offset"))

    def keep(self) -> None:
        """Put everything on flash. Raises: StoreError."""
        with self._lock:
            value = {"people": self._people, "codes": self.codes, "offset": self._offset}
            self._files.folder(os.path.dirname(self._path))
            self._files.replace(self._path, jsonl.line(value))

    def all(self) -> list[Person]:
        """Return everybody, in the order in which they came."""
        with self._lock:
            return [one.copy() for one in self._people]

    def owners(self) -> list[Person]:
        """Return the owners."""
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
            person: Person = {"id": self._new_id(), "role": role, "user": user, "chat": chat, "name": clean.name(name),
                              "paired_unix_s": self._unix_s()}  # fmt: skip
            self._people = [*others, person]
            self.keep()
            return person.copy()

    def forget(self, id: str) -> Person:
        """Make somebody a stranger again. Raises: UsageError when nobody is called so, StoreError."""
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

    def reads(self, id: str, language: str) -> None:
        """Note the language of somebody's program, for what is said to them unasked."""
        with self._lock:
            for one in self._people:
                if one["id"] == id and one.get("language", "") != language:
                    one["language"] = language
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


def _is_person(value: object) -> TypeGuard[Person]:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        return False
    numbers, texts = ("user", "chat", "paired_unix_s"), ("id", "name")
    return all(type(value.get(key)) is int for key in numbers) and all(isinstance(value.get(key), str) for key in texts)


def _whole_numbers(value: object) -> dict[str, int]:
    return {key: one for key, one in value.items() if type(one) is int} if isinstance(value, dict) else {}


WORDS = "words of a guest"
# The owner pays for what a model answers.
AN_HOUR = 30


class Guest(Principal):
    """A guest, who may look and change nothing; decides about plans by refusing them."""

    is_attended = False
    is_told = False
    rehearses = True  # every call with an effect becomes a plan, and judge() ends that

    def __init__(self) -> None:
        super().__init__("guest")
        self.approver = self

    def asking(self, services: list[Service], told: TurnExtras | None, ask: Ask) -> tuple[list[Service], Ask]:
        """Return who answers and how it is asked, with a guest's tools alone."""
        if told is not None:
            told.allow(tools_of(self.role))
        return services, ask

    def judge(self, plan: Plan) -> Plan:
        """Refuse a plan before anybody sees it."""
        raise PolicyError("guests look at the router and change nothing", "its owner can")

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Decline what came past judge() all the same."""
        return "declined", "asked for by a guest"


STEP_S = 30
DIGITS = 6
SECRET_BYTES = 20  # RFC 4226 section 4, R6: what HMAC-SHA1 can make use of
# Steps before and after that count: a telephone's clock, and the time it takes to type.
WINDOW = 1
WRONG = 5
# Five tries of three codes in a million, four times a day at most: a guess takes lifetimes.
PAUSE_S = 900
_LONGEST_PAUSE_S = 6 * 3600


class Codes:
    """The codes of one router.

    `secret()` gives the shared secret in base32, "" for none; `kept` holds "last" (the newest step that was used),
    "wrong", "pauses" and "until_unix_s", and `keep()` puts it on flash.
    """

    def __init__(
        self, secret: Callable[[], str], kept: CodesUsed, keep: Callable[[], object], unix_s: Callable[[], int],
        is_clock_trusted: Callable[[int], bool],
    ) -> None:  # fmt: skip
        self._secret = secret
        self._kept = kept
        self._keep = keep
        self._unix_s = unix_s
        self._is_clock_trusted = is_clock_trusted
        self._lock = threading.Lock()

    def has_secret(self) -> bool:
        """Tell whether codes can be checked at all."""
        return bool(self._secret())

    def use(self, code: str) -> None:
        """Take a code, which is good only this once.

        Raises: PolicyError for one that is not good, and while there is a pause; nothing in it tells how near it was.
        """
        with self._lock:
            secret = self._secret()
            if not secret:
                raise PolicyError("no secret for codes is set", "on the router: oasis telegram secret")
            now_s = self._unix_s()
            if not self._is_clock_trusted(0):
                raise PolicyError("the router's clock is not set, so no code can be judged", "try again in a minute")
            if now_s < self._kept.get("until_unix_s", 0):
                raise PolicyError("too many wrong codes", "wait, or approve on the router's page")
            key, given, used = decoded(secret), code.rjust(DIGITS, "x"), 0
            for step in range(now_s // STEP_S - WINDOW, now_s // STEP_S + WINDOW + 1):
                if is_equal(totp(key, step), given):  # every step is looked at, whatever the others are
                    used = step
            # Before it counts: whoever pulls the plug now has used it up.
            if used > self._kept.get("last", 0):
                self._kept.update(last=used, wrong=0, pauses=0)
                self._keep()
                return
            wrong = self._kept.get("wrong", 0) + 1
            if wrong >= WRONG:
                pauses, wrong = self._kept.get("pauses", 0), 0
                pause_s = min(PAUSE_S << min(pauses, 10), _LONGEST_PAUSE_S)
                self._kept.update(until_unix_s=now_s + pause_s, pauses=pauses + 1)
            self._kept["wrong"] = wrong
            self._keep()
        raise PolicyError("this code is not good, or was used already", "send the one that is shown now")


def is_code(text: str) -> bool:
    """Tell whether a message is a code and nothing else; people type it in two halves, too."""
    digits = plain(text)
    return len(digits) == DIGITS and digits.isascii() and digits.isdigit() and len(text.strip()) < 9


def plain(text: str) -> str:
    """Return a code without blanks."""
    return "".join(text.split())


def totp(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step, as RFC 4226 makes it of a counter."""
    mac = hmac_sha1(secret, step.to_bytes(8, "big"))
    at = mac[-1] & 15
    number = int.from_bytes(mac[at : at + 4], "big") & 0x7FFFFFFF
    return ("%0*d" % (digits, number % 10**digits))[-digits:]


def encoded(data: bytes) -> str:
    """Return bytes in base32 without padding, as authenticators take it; RFC 4648 section 6."""
    return base64.b32encode(data).decode("ascii").rstrip("=")


def decoded(text: str) -> bytes:
    """Return the bytes of a secret. Raises: UsageError for what is no base32."""
    digits = text.replace(" ", "").rstrip("=").upper()
    try:  # authenticators leave out the padding, and some the rest of a last byte
        return base64.b32decode(digits + "A" * (-len(digits) % 8))[: len(digits) * 5 // 8]
    except ValueError:
        raise UsageError("the secret is no base32", "make another one: oasis telegram secret")


def uri(secret: str, name: str) -> str:
    """Return a secret as authenticators read it from a picture or a link."""
    label = "".join(char if char.isalnum() and char.isascii() else "-" for char in name) or "router"
    return f"otpauth://totp/Oasis:{label}?secret={secret}&issuer=Oasis&algorithm=SHA1&digits={DIGITS}&period={STEP_S}"
