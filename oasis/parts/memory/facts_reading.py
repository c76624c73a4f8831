"""Takes facts out of what the owner said, after the turn, in a thread that is there while there is something to read.

One message after the other; what the owner forgets meanwhile is not written again by what is being read. A model that
fails costs the facts of one message and a line in the log. `data()` gives words and secrets (facts_heard.py,
facts_secrets.py). Knows no front-end: that something was remembered, the run tells.
"""

from __future__ import annotations

import re
import threading

from oasis.core import schema
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import facts_heard, structured
from oasis.parts.memory.facts_likeness import is_dense, touches, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.memory.facts_kept import Facts
    from oasis.parts.memory.facts_near import Near
    from oasis.parts.memory.facts_secrets import Secrets

    Turn = dict[str, Any]

# Who takes facts out of a message: the alias of the smallest model, that of titles, or who answered.
ALIASES = ("nano", "title")
# Messages that wait; more at once are a script's, and the oldest of them is left out.
WAITING = 8
# Older messages of the chat in which a password may have been said, and what tools were called with.
BEFORE = 12
# Of a fact in a script without blanks, how many pairs of letters stand in what was said: endings and particles differ.
DENSE_GROUND = 0.5
_CLOSE_S = 0.5
# What a sentence falls into: each part is denied, or not, for itself.
_CLAUSE = re.compile(
    r"[.,:](?=\s|$)|[;!?\n、。，；：！？]|\b(?:but|aber|sondern|pero|mais|ma|mas)\b"
    r"|\b(?:and|und|y|et)\b(?=\s+(?:i|my|we|our|ich|mein\w*|wir|unser\w*|yo|mi|mis|je|mon|ma|mes)\b)"
)
# Words that turn what is said into its opposite.
_NO = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|dont|doesnt|\w+n['’]t|kein\w*|nicht\w?|nie|niemals"
    r"|niemand|ohne|nunca|jam[aá]s|nadie|sin|non|ne|pas|jamais|aucune?|rien|não|geen|niet|nooit|не|нет|никогда|без)\b"
    r"|\bn['’]|ません|ない|なかった|不|没|沒|않|없"
)


class Reading:
    """What waits to be read. `near` compares facts."""

    def __init__(
        self, kit: Any, facts: Facts, near: Near, data: Callable[[], tuple[facts_heard.Words, Secrets]]
    ) -> None:
        self._kit = kit
        self._facts = facts
        self._near = near
        self._data = data
        self._lock = threading.Lock()
        self._waiting: list[Turn] = []
        self._thread: threading.Thread | None = None
        self._age = 0  # grows when everything that was read until then counts no more
        self._structured: structured.Structured | None = None

    def read(self, turn: Turn) -> None:
        """Let a turn be read, soon."""
        with self._lock:
            self._waiting = [*self._waiting, turn][-WAITING:]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="facts", daemon=True)
                self._thread.start()

    def has_model(self) -> bool:
        """Return whether anybody could take a fact out of what is said as things are set now."""
        return self._reader(self._kit.settings.services()[0]) is not None

    def _reader(self, answering: Any) -> Any:
        return structured.small(self._kit.settings, answering, ALIASES)

    def drop(self) -> None:
        """Leave out what waits, and what is being read."""
        with self._lock:
            self._waiting = []
            self._age += 1

    def close(self) -> None:
        """End the thread."""
        self.drop()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSE_S)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                turn, age = self._waiting.pop(0), self._age
            try:
                kept = self._heard(turn, lambda age=age: self._age != age)  # type: ignore[misc]
                if kept:
                    self._tell(turn, kept)
            except OasisError as error:
                self._kit.log("no facts are taken out of a message: " + error.message)
            except Exception as bug:  # a thread of nobody's: its end would be silent
                self._kit.log("a fault while facts were read: %s: %s" % (type(bug).__name__, bug))

    def _heard(self, turn: Turn, is_cancelled: Callable[[], bool]) -> list[str]:
        """Ask a model for the facts in what was said and keep them; return them."""
        words_, secrets = self._data()
        service = self._reader(turn["service"])
        if service is None:
            return []
        is_home = bool(turn["service"].get("is_local"))
        # What is shown taints what comes of it: facts with words of others are for messages that have them, too.
        whose = set(turn.get("taint") or [])
        sure = [fact for fact in self._facts.sure() if set(fact.get("taint", [])) <= whose]
        known = [fact["fact"] for fact in self._near.nearest(turn["said"], sure, True, True, is_home)]
        messages, form = facts_heard.asked(words_, turn["said"], known)
        found = facts_heard.read(self._asks().answer(service, messages, form, is_cancelled))
        before, inputs = self._before(turn) if found else ([], [])
        said = secrets.said(before)
        alike = lambda text, facts: self._near.alike(text, facts, is_home)  # noqa: E731
        kept = []
        for one in found:
            if not _is_from(one["fact"], turn["said"], words_) or secrets.reason(one["fact"], said, inputs):
                continue
            source = {"chat": turn["chat"], "message": turn["message"]}
            if self._facts.say(
                one["fact"], one["category"], alike, is_cancelled, turn.get("taint") or [], source,
                one["supersedes"],
            ):  # fmt: skip
                kept.append(one["fact"])
        return kept

    def _asks(self) -> structured.Structured:
        if self._structured is None:
            self._structured = structured.Structured.of(self._kit.exchanges().asking)
        return self._structured

    def _before(self, turn: Turn) -> tuple[list[str], list[Any]]:
        """Return what the owner said in the chat, and what tools were called with: secrets are looked for in both."""
        try:
            messages = self._kit.chats.page(turn["chat"], limit=BEFORE)["messages"]
        except UsageError:
            return [turn["said"]], []  # the chat was deleted meanwhile
        texts = [schema.text_of(message) for message in messages if message["role"] == "user"]
        return texts, [call["input"] for message in messages for call in schema.tool_uses(message)]

    def _tell(self, turn: Turn, kept: list[str]) -> None:
        try:
            run = self._kit.runs.get(turn["run"])
        except UsageError:
            return  # nobody follows it any more
        run.emit("note", text="remembered: %s (see: oasis memory)" % "; ".join(kept))


def _is_from(fact: str, said: str, data: facts_heard.Words) -> bool:
    """Return whether what a fact says of the owner was said: small models repeat what they were shown, and invent.

    Every word of it must stand in the owner's own, but for those that tie them to the owner.
    """
    own = words(said)
    claims = words(fact, data.relations)
    if not claims or _turns_round(fact, claims, said):
        return False
    if any(map(is_dense, claims)):
        return touches(own, claims) >= DENSE_GROUND
    return all(touches(own, [claim]) for claim in claims)


def _turns_round(fact: str, claims: list[str], said: str) -> bool:
    """Return whether a fact denies what was said, or says what was denied, in a clause that has the most of its words.

    Where several have as many, one that differs is enough: a lost fact costs less than its opposite.
    """
    clauses = [clause for clause in _CLAUSE.split(said.casefold()) if clause.strip()]
    shares = [sum(touches(words(clause), [claim]) > 0 for claim in claims) for clause in clauses]
    is_no = _NO.search(fact.casefold()) is not None
    return any(
        share == max(shares) and (_NO.search(clause) is not None) != is_no
        for clause, share in zip(clauses, shares, strict=True)
    )
