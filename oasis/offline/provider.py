"""The provider that needs no model and no network: an intent grammar that behaves like a model.

`reply(messages, facts, now_s)` gives the normalized events of one answer: words, or calls of the tools `status`,
`read_config`, `configure`, `service` and `undo`; after tool results the closing words. Pure apart from the facts. What
it understands is data in intents/*.json. A Provider reads the file of a language when it is first spoken, and keeps it.
"""

from __future__ import annotations

import os

from oasis.core import jsonl
from oasis.offline import closing
from oasis.offline.pattern import Grammar
from oasis.offline.reading import Part, Reader, Reading, familiarity, kinds_of
from oasis.offline.sets import SETS
from oasis.offline.slots import Problem, value
from oasis.offline.template import commands, fill, sentence, text_of
from oasis.offline.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.offline.template import Rows
    from oasis.offline.world import FactsLike

    Message = dict[str, object]
    Event = dict[str, object]

MODEL = "intents"
CHAIN = 4  # questions in a row whose answers are put together
_CALL = "offline_"  # of the ids of our calls; then the language, in which their results are told

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

    def grammar(self, name: str) -> Grammar:
        """Return the grammar of a language."""
        if name not in self._grammars:
            kinds = {intent: kinds_of(action) for intent, action in self.intents.items()}
            self._grammars[name] = Grammar(load(name), kinds)
        return self._grammars[name]

    def reply(self, messages: list[Message], facts: FactsLike, now_s: int) -> list[Event]:
        """Return the events that answer the last message: words, or tool calls, and `done`."""
        session = _Session(self, facts)
        results = closing.results(messages)
        if results:
            session.resume(messages, str(results[0]["id"]))
            return _said(closing.words(results, session.texts("closing"), session.texts("status")))
        return session.follow(messages).events(session.language_name, len(messages))


def _said(text: str) -> list[Event]:
    return [{"type": "delta", "text": text}, {"type": "done", "stop_reason": "end_turn", "model": MODEL}]


def load(name: str) -> dict[str, object]:
    """Return one file of the folder intents."""
    with open(os.path.join(_FOLDER, name + ".json"), "rb") as handle:
        raw = handle.read()
    data = jsonl.loads(raw, max_depth=len(raw))  # ours: it needs no guard
    return data if isinstance(data, dict) else {}


class _Answer:
    """What one owner message leads to: words, or calls; `missing` names the slot that was asked for."""

    def __init__(self, text: str, calls: list[tuple[str, dict[str, object]]] | None = None) -> None:
        self.text = text
        self.calls = calls or []
        self.parts: list[Part] = []
        self.missing = ("", "")  # intent, slot
        self.choices: list[dict[str, object]] = []

    def events(self, language: str, turn: int) -> list[Event]:
        if not self.calls:
            return _said(self.text)
        events: list[Event] = [{"type": "delta", "text": self.text}] if self.text else []
        for at, (name, arguments) in enumerate(self.calls):
            identifier = f"{_CALL}{language}_{turn}_{at}"
            events.append({"type": "tool_use", "id": identifier, "name": name, "input": arguments})
        return [*events, {"type": "done", "stop_reason": "tool_use", "model": MODEL}]


class _Session:
    """One reply: the language in use, and the answers to the owner's last messages."""

    def __init__(self, provider: Provider, facts: FactsLike) -> None:
        self._provider = provider
        self._facts = facts
        self._intents = provider.intents
        self._order = list(provider.languages)
        self._kept = self._order[0]
        self._language: dict[str, object] = {}
        self.language_name = ""

    def _use(self, name: str) -> Reader:
        grammar = self._provider.grammar(name)
        self.language_name, self._language = name, grammar.language
        return Reader(grammar, self._intents, self._is_value)

    def _new_world(self) -> World:
        return World(self._facts, self._language, self._provider.data, load)

    def texts(self, name: str) -> dict[str, str]:
        """Return one table of sentences of the language in use."""
        found = self._language.get(name)
        return found if isinstance(found, dict) else {}

    def _is_value(self, kind: str, text: str, is_quoted: bool) -> bool:
        try:
            value(kind, text, is_quoted, self._new_world())
        except Problem:
            return False
        return True

    def resume(self, messages: list[Message], call: str) -> None:
        """Use the language that a call was made in; that of the owner's message when it is a model's call."""
        name = call[len(_CALL) :].partition("_")[0] if call.startswith(_CALL) else ""
        if name in self._order:
            self._use(name)
        else:
            self.follow(messages)

    def follow(self, messages: list[Message]) -> _Answer:
        """Return the answer to the last owner message, with the questions before it that it may answer."""
        chain = _chain(messages)
        self._order = self._by_familiarity(" ".join(said for said, _ in chain))
        self._use(self._kept)
        answer = _Answer("")
        for at, (said, replied) in enumerate(chain):
            answer = self._answer(said, answer)
            is_last = at == len(chain) - 1
            if not is_last and _first_line(replied) != _first_line(answer.text):
                answer = _Answer("")  # somebody else asked, or the router changed since
        return answer

    def _by_familiarity(self, said: str) -> list[str]:
        known = {name: familiarity(said, common) for name, common in self._provider.languages.items()}
        return sorted(self._order, key=lambda name: -known[name])

    def _answer(self, said: str, before: _Answer) -> _Answer:
        reading = self._read(said, keep=bool(before.missing[1]))
        if before.missing[1] and not reading.parts:
            return self._completed(said, before) or self._asked_again(reading.topic, before)
        if not reading.parts:
            return _Answer(self._explained(reading.topic))
        return self._fulfil(reading.parts)

    def _read(self, said: str, keep: bool) -> Reading:
        """Return the reading in the best language, which then is in use; with `keep` only a match changes it."""
        found: dict[str, Reading] = {}
        for name in self._order:
            found[name] = self._use(name).read(said)
            if found[name].is_clean():
                break
        name = max(found, key=lambda one: found[one].score())
        if not found[name].parts:
            name = self._kept if keep else self._by_familiarity(said)[0]
        self._kept = name
        self._use(name)
        return found[name]

    def _asked_again(self, topic: str, before: _Answer) -> _Answer:
        """Return an explanation and the open question once more."""
        explained = self._explained(topic or before.missing[0])
        answer = _Answer(explained if topic else explained + "\n" + before.text)
        if not topic:
            answer.parts, answer.missing, answer.choices = before.parts, before.missing, before.choices
        return answer

    def _completed(self, said: str, before: _Answer) -> _Answer | None:
        """Return the answer after a question for a slot was answered, None when this is no answer to it."""
        intent, slot = before.missing
        rule = self._rules(intent)[slot]
        reader = self._use(self._kept)
        other = str(rule.get("unless", ""))
        raw = reader.answer(said, str(self._rules(intent)[other]["type"])) if other else None
        slot = other if raw else slot
        raw = raw or reader.answer(said, str(rule["type"]))
        if raw is None:
            return None
        if before.choices and raw[0].isdigit() and 1 <= int(raw[0]) <= len(before.choices):
            chosen = before.choices[int(raw[0]) - 1]
            raw = (str(chosen["mac"] or chosen["ip"]), True)
        parts = [
            Part(part.intent, {**part.slots, slot: raw}, part.score) if part.intent == intent else part
            for part in before.parts
        ]
        return self._fulfil(parts)

    def _rules(self, intent: str) -> dict[str, dict[str, object]]:
        found = self._intents[intent].get("slots")
        return found if isinstance(found, dict) else {}

    def _explained(self, topic: str) -> str:
        texts = self._texts_of(topic) if topic else {}
        general = self.texts("texts")["example" if "example" in texts else "unknown"]
        return sentence(
            str(texts.get("explain") or texts.get("text") or general), {"example": texts.get("example", "")}
        )

    def _texts_of(self, intent: str) -> dict[str, object]:
        found = self._language["intents"]
        entry = found.get(intent) if isinstance(found, dict) else None
        return entry if isinstance(entry, dict) else {}

    def _fulfil(self, parts: list[Part]) -> _Answer:
        """Return the calls for all parts, or the question or refusal of the first that cannot be done."""
        world = self._new_world()
        fulfilment = _Fulfilment(world, self._texts_of, self._intents)
        for part in parts:
            try:
                fulfilment.add(part)
            except Problem as problem:
                return self._refused(problem, fulfilment.slot, parts)
        notes = [sentence(self.texts("texts")[name], fields) for name, fields in world.notes]
        words = [*fulfilment.words, *notes]
        return _Answer("\n".join(words) + ("\n" if fulfilment.calls and words else ""), fulfilment.calls)

    def _refused(self, problem: Problem, slot: tuple[str, str], parts: list[Part]) -> _Answer:
        texts = self._texts_of(slot[0])
        asked = texts.get("ask")
        template = asked.get(slot[1]) if isinstance(asked, dict) and problem.text == "missing" else None
        template = (
            template or self.texts("asks").get(str(problem.values.get("kind"))) or self.texts("texts")[problem.text]
        )
        fields = {"example": texts.get("example", ""), **problem.values}
        text = sentence(str(template), {**fields, "choices": _lines(problem.values.get("choices"))})
        answer = _Answer(text)
        if slot[1]:
            answer.parts, answer.missing = parts, slot
            devices = problem.values.get("devices")
            answer.choices = devices if isinstance(devices, list) else []
        return answer


class _Fulfilment:
    """Turn parts into tool calls; `slot` names the value that is being checked."""

    def __init__(self, world: World, texts_of: object, intents: dict[str, dict[str, object]]) -> None:
        self._world = world
        self._texts_of = texts_of
        self._intents = intents
        self._commands: list[str] = []
        self._summaries: list[str] = []
        self._change: dict[str, object] = {}
        self.slot = ("", "")
        self.words: list[str] = []
        self.calls: list[tuple[str, dict[str, object]]] = []

    def add(self, part: Part) -> None:
        """Add one request. Raises: Problem."""
        intent = self._intents[part.intent]
        fields = self._checked(part, intent)
        self.slot = (part.intent, "")
        name = str(intent.get("as", part.intent))
        intent = self._intents[name]
        texts = self._texts_of(name)  # type: ignore[operator]
        if "commands" in intent:
            items = intent["commands"]
            found = commands(items if isinstance(items, list) else [], fields, lambda one: self._rows(one, fields))
            self._plan(found, sentence(str(texts["summary"]), fields))
            self._note(intent, fields)
        elif "tool" in intent:
            template = intent["input"]
            items = template.items() if isinstance(template, dict) else []
            self.calls.append((str(intent["tool"]), {key: fill(str(one), fields) for key, one in items}))
        else:
            self.words.append(sentence(str(texts["text"]), fields))

    def _plan(self, found: list[str], summary: str) -> None:
        # All changes of one message are one plan: approved, applied and undone together.
        if not self._commands:
            self.calls.append(("configure", self._change))
        self._commands += [line for line in found if line not in self._commands]
        self._summaries.append(summary)
        self._change.update(commands=self._commands, summary="; ".join(self._summaries))

    def _checked(self, part: Part, intent: dict[str, object]) -> dict[str, object]:
        rules = intent.get("slots")
        fields: dict[str, object] = {}
        for slot, rule in rules.items() if isinstance(rules, dict) else []:
            self.slot = (part.intent, slot)
            kind = str(rule["type"])
            if slot in part.slots:
                fields[slot] = value(kind, *part.slots[slot], self._world)
                fields[slot + "_name"] = self._world.label(kind, fields[slot])
            elif not rule.get("optional") and str(rule.get("unless")) not in part.slots:
                raise Problem("missing", kind=kind)
        return fields

    def _rows(self, name: str, fields: dict[str, object]) -> Rows:
        return SETS[name](self._world, fields)

    def _note(self, intent: dict[str, object], fields: dict[str, object]) -> None:
        notes = intent.get("notes")
        for text, name in notes.items() if isinstance(notes, dict) else []:
            rows = self._rows(name, fields)
            if rows:
                self._world.note(text, **{**rows[0], **fields})


def _lines(choices: object) -> str:
    listed = choices if isinstance(choices, list) else []
    return "\n".join(f"{at}. {text_of(one)}" for at, one in enumerate(listed, 1))


def _chain(messages: list[Message]) -> list[tuple[str, str]]:
    """Return the last owner message, and before it those whose answers were only words: [(said, replied)]."""
    found: list[tuple[str, str]] = []
    replied: str | None = None
    for message in reversed(messages):
        if message.get("role") == "assistant":
            replied = _words_only(message)
            if found and replied is None:
                break
        elif message.get("role") == "user":
            found.append((_text(message), replied or ""))
            replied = ""
            if len(found) > CHAIN:
                break
    return found[::-1]


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def _words_only(message: Message) -> str | None:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return None if any(block.get("type") == "tool_use" for block in blocks) else _text(message)


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
