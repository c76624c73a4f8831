"""The provider that needs no model and no network: an intent grammar that behaves like a model.

`reply(messages, facts, now_s)` gives the normalized events of one answer: words, or calls of the router's tools; after
tool results the closing words. With `only_sure` it gives no event at all where a model should be asked: where it is not
certain what was meant. Pure apart from the facts. What it understands is data in intents/*.json. A Provider reads the
file of a language when it is first spoken, and keeps it.
"""

from __future__ import annotations

import os

from oasis.core import jsonl
from oasis.parts.offline import caution, closing
from oasis.parts.offline.evidence import Evidence
from oasis.parts.offline.language.lexicon import Lexicon
from oasis.parts.offline.language.naming import Naming
from oasis.parts.offline.language.pattern import Grammar
from oasis.parts.offline.moments import Moments
from oasis.parts.offline.reading import kinds_of
from oasis.parts.offline.session import CALL, MODEL, Session
from oasis.parts.offline.understanding import Frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.world import FactsLike

    Message = dict[str, object]
    Event = dict[str, object]

_FOLDER = os.path.join(os.path.dirname(__file__), "intents")


def reply(messages: list[Message], facts: FactsLike, now_s: int) -> list[Event]:
    """Return the events that answer the last message: words, or tool calls, and `done`."""
    return Provider().reply(messages, facts, now_s)


class Provider:
    """What was read of the intents and languages; answers any number of chats, one after the other."""

    def __init__(self) -> None:
        self.data = load("intents")
        self.languages: dict[str, list[str]] = self.data["languages"]  # type: ignore[assignment]
        self.intents: dict[str, dict[str, object]] = self.data["intents"]  # type: ignore[assignment]
        self._grammars: dict[str, Grammar] = {}
        self._lexicons: dict[str, Lexicon] = {}
        self._learned: dict[str, Evidence] = {}
        self._shared: dict[str, object] = {}
        self._frames: Frames | None = None
        self._cautions: dict[str, object] | None = None
        self._namings: dict[str, Naming] = {}
        self._moments: dict[str, Moments] = {}

    def load(self, name: str) -> dict[str, object]:
        """Return one file of the folder intents."""
        return load(name)

    def kinds(self) -> dict[str, dict[str, str]]:
        """Return {intent: {slot: type}}."""
        return {intent: kinds_of(action) for intent, action in self.intents.items()}

    def grammar(self, name: str) -> Grammar:
        """Return the patterns of a language."""
        if name not in self._grammars:
            self._grammars[name] = Grammar(load(name), self.kinds())
        return self._grammars[name]

    def lexicon(self, name: str) -> Lexicon:
        """Return the words of a language."""
        if name not in self._lexicons:
            grammar = self.grammar(name)
            words = caution.merged(grammar.language, self.caution(name))
            self._lexicons[name] = Lexicon(words, grammar.fold, self._services(grammar.language))
        return self._lexicons[name]

    def learned(self, name: str) -> Evidence:
        """Return what was learned of the words of a language."""
        if name not in self._learned:
            if not self._shared:
                self._shared = load("evidence")
            self._learned[name] = Evidence(self._shared, load("evidence_" + name))
        return self._learned[name]

    def caution(self, name: str) -> dict[str, object]:
        """Return what holds a change back in a language; see caution.py."""
        if self._cautions is None:
            self._cautions = load("cautions")
        found = self._cautions.get(name)
        return found if isinstance(found, dict) else {}

    def naming(self, name: str) -> Naming:
        """Return the forms in which something gets a name in a language."""
        if name not in self._namings:
            data = load("naming").get(name)
            self._namings[name] = Naming(data if isinstance(data, dict) else {})
        return self._namings[name]

    def moments(self, name: str) -> Moments:
        """Return the words of a language that say when or under which condition."""
        if name not in self._moments:
            self._moments[name] = Moments(load("moments"), name)
        return self._moments[name]

    def _services(self, language: dict[str, object]) -> dict[str, list[str]]:
        """Return the names of services with what people of a language call them."""
        named: dict[str, list[str]] = {name: [name] for name in self.data["services"]}  # type: ignore[attr-defined]
        aliases = language.get("aliases")
        for spoken, name in (aliases["services"] if isinstance(aliases, dict) else {}).items():
            named.setdefault(name, []).append(spoken)
        return named

    def frames(self) -> Frames:
        """Return the frames of all intents."""
        if self._frames is None:
            self._frames = Frames(load("frames"), self.kinds())
        return self._frames

    def reply(self, messages: list[Message], facts: FactsLike, now_s: int, only_sure: bool = False) -> list[Event]:
        """Return the events that answer the last message: words, or tool calls, and `done`.

        With `only_sure` no event where it is not certain what was meant, or where a model called the tools.
        """
        session = Session(self, facts, now_s)
        results = closing.results(messages)
        if results:
            if only_sure and not str(results[0]["id"]).startswith(CALL):
                return []
            session.resume(messages, str(results[0]["id"]))
            return said(closing.words(results, session.texts("closing"), session.texts("status")))
        answer = session.follow(messages)
        if only_sure and not answer.is_sure:
            return []
        return answer.events(session.language_name, len(messages))

    def times(self, text: str, facts: FactsLike) -> list[tuple[str, list[str]]]:
        """Return what of a sentence says when or under which condition; see Session.times."""
        return Session(self, facts).times(text)


def said(text: str) -> list[Event]:
    """Return the events of an answer in words."""
    return [{"type": "delta", "text": text}, {"type": "done", "stop_reason": "end_turn", "model": MODEL}]


def load(name: str) -> dict[str, object]:
    """Return one file of the folder intents."""
    with open(os.path.join(_FOLDER, name + ".json"), "rb") as handle:
        raw = handle.read()
    data = jsonl.loads(raw, max_depth=len(raw))  # ours: it needs no guard
    return data if isinstance(data, dict) else {}
