"""Takes facts out of what the owner said, after the turn, in a thread that is there while there is something to read.

One message after the other; what the owner forgets meanwhile is not written again by what is being read. A model that
fails costs the facts of one message and a line in the log. `data()` gives words and secrets (facts_reading.py,
facts_kept.py). Knows no front-end: that something was remembered, the run tells.

A gate that costs nothing passes few messages to a model: not small talk, a few letters, or anything about passwords.
The model is a small one and is shown the owner's own words alone, never an answer, a log or a device's name.
"""

from __future__ import annotations

import os
import re
import threading

from oasis.core import clean, jsonl, schema
from oasis.errors import OasisError, UsageError
from oasis.parts.memory import facts_near, structured
from oasis.parts.memory.facts_near import is_dense, touches, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.memory.facts_kept import Facts, Secrets
    from oasis.parts.memory.facts_near import Near

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

    def __init__(self, kit: Any, facts: Facts, near: Near, data: Callable[[], tuple[Words, Secrets]]) -> None:
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
        messages, form = asked(words_, turn["said"], known)
        found = read(self._asks().answer(service, messages, form, is_cancelled))
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


def _is_from(fact: str, said: str, data: Words) -> bool:
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


CATEGORIES = ("personal", "preference", "work", "habit", "relationship")
# The seed's gate; a letter of a script without blanks says as much as two or three of others.
SAID_CHARS = 10
_DENSE_CHARS = 5
# A longer message is a paste; what its writer says of himself stands at its beginning or nowhere.
READ_CHARS = 2000
FACT_CHARS = 200
FACTS = 5
_MARKS = " \t\r\n.,;:!?¡¿…~-–—)(\"'“”„«»。、！？，☺😀👍🙏"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": FACTS,
            "items": {
                "type": "object",
                "properties": {
                    "fact": {"type": "string"},
                    "category": {"type": "string", "enum": list(CATEGORIES)},
                    "supersedes": {"type": "string"},
                },
                "required": ["fact", "category", "supersedes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}


class Words:
    """The data of facts.json."""

    def __init__(self) -> None:
        with open(os.path.dirname(os.path.abspath(__file__)) + "/facts.json", "rb") as handle:
            data = jsonl.loads(handle.read())
        self.prompt, self.known, self.form = str(data["prompt"]), str(data["known"]), str(data["form"])
        self.context = str(data["context"])
        self.examples: list[tuple[str, list[list[str]]]] = [(said, facts) for said, facts in data["examples"]]
        self.empty = frozenset(word for words in data["empty"].values() for word in words.split())
        self.relations = self.empty.union(*(words.split() for words in data["relations"].values()))
        self.secret = tuple(word for words in data["secret"].values() for word in words)
        self._talk = frozenset(_plain(one) for found in data["talk"].values() for one in found)

    def is_talk(self, text: str) -> bool:
        """Return whether a message is too little to hold a fact."""
        plain = _plain(text)
        is_dense = facts_near.is_dense(plain)
        return len(plain) < (_DENSE_CHARS if is_dense else SAID_CHARS) or plain in self._talk


def asked(words: Words, said: str, known: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the messages that ask a model for facts, and the schema of the answer; `known` are facts nearby."""
    lines = [words.prompt, words.form]
    if known:
        lines += [words.known, *["- " + fact for fact in known]]
    messages = [{"role": "system", "content": "\n".join(lines)}]
    for example, facts in words.examples:
        found = [{"fact": fact, "category": category, "supersedes": ""} for fact, category in facts]
        messages.append({"role": "user", "content": example})
        messages.append({"role": "assistant", "content": jsonl.dumps({"facts": found})})
    return [*messages, {"role": "user", "content": said[:READ_CHARS]}], _SCHEMA


def read(answer: str) -> list[dict[str, str]]:
    """Return the facts of an answer; what is none of them is left out, and an answer that cannot be read holds none.

    Shape: [{"fact", "category", "supersedes"}], each one clean line.
    """
    found = structured.value(answer, "[", "]")
    facts: list[dict[str, str]] = []
    for one in found if isinstance(found, list) else []:
        given = one if isinstance(one, dict) else {"fact": one}
        fact = line(given.get("fact"))
        if fact and fact not in [known["fact"] for known in facts]:
            category = given.get("category")
            facts.append({
                "fact": fact,
                "category": category if category in CATEGORIES else CATEGORIES[0],
                "supersedes": line(given.get("supersedes")),
            })  # fmt: skip
    return facts[:FACTS]


def line(value: object) -> str:
    """Return a text as one clean line, "" for none and for one that is too long or says nothing."""
    text = " ".join(clean.line(value).split()) if isinstance(value, str) else ""
    return text if 3 <= len(text) <= FACT_CHARS and any(map(str.isalpha, text)) else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_MARKS).replace(",", " ").split())
