"""From what the owner said to facts about him: whether to ask a model at all, what to ask it, what its answer holds.

The gate costs nothing and lets most messages through to nobody: small talk, a few letters, and everything that speaks
of passwords. The model is a small one and is shown the owner's own words alone, never an answer, a log or a device's
name. Pure but for the data; knows no service and no file.
"""

from __future__ import annotations

import os

from oasis.core import clean, jsonl
from oasis.parts.memory import facts_likeness, structured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
        is_dense = facts_likeness.is_dense(plain)
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
