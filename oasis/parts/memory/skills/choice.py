"""Which skill a message is about, if any: by nearness first, then by a small model where there is one for it.

Nearness costs nothing and finds no candidate for most messages; only then a model is asked, and only one that the owner
named for small questions (the aliases `intent` and `nano`). Without one, what is clearly said decides. A chat goes on
with its skill while nothing else is said: "yes, call it Guests" belongs to the task before. Knows no file.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError
from oasis.parts.memory import structured
from oasis.parts.memory.facts_likeness import is_dense

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Skill = dict[str, Any]
    # (text, texts, is who answers at home) -> how near each is to it, or None where there are no vectors
    Closeness = Callable[[str, list[str], bool], "list[float] | None"]

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
