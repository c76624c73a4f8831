"""The provider that needs no model and no network: an intent grammar that behaves like a model.

`reply(messages, facts, now_s)` gives the normalized events of one answer: words, or calls of the router's tools; after
tool results the closing words. With `only_sure` it gives no event where it is not certain what was meant, so that a
model is asked. Pure apart from the facts. What it understands is data in intents/*.json; a Provider reads the file of a
language when it is first spoken, and keeps it.

A Session reads the owner's last messages one after the other, each with what the one before left open: a slot that was
asked for, a guess that was said back ("Do you mean: … ?"), or the request itself, from which the next message may go on
("and the other band too").
"""

from __future__ import annotations

import os
import time

from oasis.core import jsonl
from oasis.parts.offline import caution
from oasis.parts.offline import results as report
from oasis.parts.offline.caution import Moments
from oasis.parts.offline.fulfil import Fulfilment, World
from oasis.parts.offline.language.clause import Names
from oasis.parts.offline.language.frames import Frames
from oasis.parts.offline.language.free import Naming
from oasis.parts.offline.language.lexicon import Lexicon, narrow
from oasis.parts.offline.language.slots import Problem, value
from oasis.parts.offline.language.template import sentence
from oasis.parts.offline.reading import Grammar, Part, Reader, Reading, familiarity, kinds_of
from oasis.parts.offline.understanding import NONE, SURE, UNSURE, Evidence, Guess, Understander, Words, merged, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import (
        Block,
        Caution,
        Device,
        Event,
        EvidenceData,
        Facts,
        IntentsData,
        IntentTexts,
        Json,
        Language,
        Message,
        Sequence,
        SlotRule,
        Texts,
        TextTable,
    )

_FOLDER = os.path.join(os.path.dirname(__file__), "intents")


def reply(messages: list[Message], facts: Facts, now_s: int) -> list[Event]:
    """Return the events that answer the last message: words, or tool calls, and `done`."""
    return Provider().reply(messages, facts, now_s)


class Provider:
    """What was read of the intents and languages; answers any number of chats, one after the other."""

    def __init__(self) -> None:
        data: IntentsData = load("intents")
        self.languages = data["languages"]
        self.intents = data["intents"]
        self.providers = data["providers"]
        self._services = data["services"]
        self._grammars: dict[str, Grammar] = {}
        self._lexicons: dict[str, Lexicon] = {}
        self._learned: dict[str, Evidence] = {}
        self._shared: EvidenceData | None = None
        self._frames: Frames | None = None
        self._cautions: dict[str, Caution] | None = None
        self._namings: dict[str, Naming] = {}
        self._moments: dict[str, Moments] = {}

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
            services = {service: [service] for service in self._services}
            for spoken, service in grammar.language.get("aliases", {}).get("services", {}).items():
                services.setdefault(service, []).append(spoken)
            words = caution.merged(grammar.language, self.caution(name))
            self._lexicons[name] = Lexicon(words, grammar.fold, services)
        return self._lexicons[name]

    def learned(self, name: str) -> Evidence:
        """Return what was learned of the words of a language."""
        if name not in self._learned:
            self._shared = self._shared or load("evidence")
            self._learned[name] = Evidence(self._shared, load("evidence_" + name))
        return self._learned[name]

    def caution(self, name: str) -> Caution:
        """Return what holds a change back in a language; see caution.py."""
        if self._cautions is None:
            self._cautions = load("cautions")
        return self._cautions[name]

    def naming(self, name: str) -> Naming:
        """Return the forms in which something gets a name in a language."""
        if name not in self._namings:
            self._namings[name] = Naming(load("naming")[name])
        return self._namings[name]

    def moments(self, name: str) -> Moments:
        """Return the words of a language that say when or under which condition."""
        if name not in self._moments:
            data = load("moments")
            self._moments[name] = Moments(data[name], data["parts"], name in _WIDE)
        return self._moments[name]

    def places(self) -> dict[str, str]:
        """Return everyday names of places in time zones."""
        places: dict[str, str] = load("places")["places"]
        return places

    def frames(self) -> Frames:
        """Return the frames of all intents."""
        if self._frames is None:
            self._frames = Frames(load("frames"), self.kinds())
        return self._frames

    def reply(self, messages: list[Message], facts: Facts, now_s: int, only_sure: bool = False) -> list[Event]:
        """Return the events that answer the last message: words, or tool calls, and `done`.

        Before changes comes {"type": "closing", "text": what is said when all of them are applied as they stand}.
        With `only_sure` no event where it is not certain what was meant, or where a model called the tools.
        """
        session = Session(self, facts, now_s)
        results = report.results(messages)
        if results:
            if only_sure and not results[0]["id"].startswith(CALL):
                return []
            session.resume(messages, results[0]["id"])
            return said(report.words(results, session.texts("closing"), session.texts("status")))
        answer = session.follow(messages)
        if only_sure and not answer.is_sure:
            return []
        events = answer.events(session.language_name, len(messages))
        if answer.calls and all(name == CHANGE for name, _ in answer.calls):
            done = [report.applied(event) for event in events if event["type"] == "tool_use"]
            words = report.words(done, session.texts("closing"), session.texts("status"))
            events.insert(0, {"type": "closing", "text": words})
        return events

    def times(self, text: str, facts: Facts) -> list[tuple[str, list[str]]]:
        """Return what of a sentence says when or under which condition; see Session.times."""
        return Session(self, facts).times(text)


def said(text: str) -> list[Event]:
    """Return the events of an answer in words."""
    return [{"type": "delta", "text": text}, {"type": "done", "stop_reason": "end_turn", "model": MODEL}]


def load(name: str) -> Any:
    """Return one file of the folder intents; its types are in shapes.pyi."""
    with open(os.path.join(_FOLDER, name + ".json"), "rb") as handle:
        return jsonl.shipped(handle.read())


_WIDE = ("ja", "zh")  # languages written without blanks
MODEL = "intents"
CHANGE = "configure"
CALL = "offline_"  # of the ids of our calls; then the language of their results
_NO_TOPIC = {"negation", "hearsay", "past", "condition"}  # what is said so asks for no explanation
CHAIN = 5  # messages of the owner that are looked at, the last one included


class Answer:
    """What one owner message leads to: words, or calls.

    `parts` is what was understood, `missing` the slot that was asked for, `is_guess` says that a yes is waited for, and
    `is_sure` that no model is needed.
    """

    def __init__(
        self,
        text: str,
        parts: Sequence[Part] = (),
        *,
        calls: Sequence[tuple[str, dict[str, Json]]] = (),
        missing: tuple[str, str] = ("", ""),  # intent, slot
        choices: Sequence[Device] = (),
        is_guess: bool = False,
        is_sure: bool = False,
    ) -> None:
        self.text = text
        self.calls = calls
        self.parts = list(parts)
        self.missing = missing
        self.choices = choices
        self.is_guess = is_guess
        self.is_sure = is_sure

    def closed(self) -> Answer:
        """Return what is left of an answer when somebody else said what was said: the request."""
        return Answer("", self.parts)

    def events(self, language: str, turn: int) -> list[Event]:
        """Return the events of a provider."""
        end: Event = {"type": "done", "stop_reason": "tool_use" if self.calls else "end_turn", "model": MODEL}
        events: list[Event] = [{"type": "delta", "text": self.text}] if self.text or not self.calls else []
        for at, (name, arguments) in enumerate(self.calls):
            identifier = f"{CALL}{language}_{turn}_{at}"
            events.append({"type": "tool_use", "id": identifier, "name": name, "input": arguments})
        return [*events, end]


class Session:
    """One reply: the language in use, and the answers to the owner's last messages."""

    def __init__(self, known: Provider, facts: Facts, now_s: int = 0) -> None:
        self._known = known
        self._clock = "%02d:%02d" % time.localtime(now_s)[3:5] if now_s else ""
        self._facts = facts
        self._intents = known.intents
        self._order = list(known.languages)
        self._kept = self._order[0]
        self._language: Language = {}
        self._names: Names | None = None
        self.language_name = ""

    def _use(self, name: str) -> Reader:
        grammar = self._known.grammar(name)
        self.language_name, self._language = name, grammar.language
        return Reader(grammar, self._intents, self._is_value)

    def _by_concepts(self, name: str) -> Understander:
        self._use(name)
        if self._names is None:
            self._names = Names(self._facts.devices())
        grammar = self._known.grammar(name)
        known = self._known
        words = Words(known.lexicon(name), grammar.fold, known.frames(), known.caution(name))
        return Understander(words, self._names, self._is_value, known.learned(name), known.naming(name))

    def _new_world(self) -> World:
        return World(self._facts, self._language, self._known.providers, self._known.places)

    def texts(self, name: TextTable) -> Texts:
        """Return one table of sentences of the language in use."""
        return self._language[name]

    def _is_value(self, kind: str, text: str, is_quoted: bool) -> bool:
        try:
            value(kind, text, is_quoted, self._new_world())
        except Problem:
            return False
        return True

    def resume(self, messages: list[Message], call: str) -> None:
        """Use the language that a call was made in; that of the owner's message when it is a model's call."""
        name = call[len(CALL) :].partition("_")[0] if call.startswith(CALL) else ""
        if name in self._order:
            self._use(name)
        else:
            self.follow(messages)

    def follow(self, messages: list[Message]) -> Answer:
        """Return the answer to the last owner message, with what the messages before it left open."""
        chain = owner_turns(messages)
        self._order = self._by_familiarity(" ".join(said for said, _ in chain))
        self._kept = self._order[0]
        self._use(self._kept)
        answer = Answer("")
        for at, (said, replied) in enumerate(chain):
            answer = self._answer(said, answer)
            is_last = at == len(chain) - 1
            if not is_last and (replied is None or _first_line(replied) != _first_line(answer.text)):
                answer = answer.closed()  # it was done, or somebody else asked, or the router changed since
        return answer

    def _by_familiarity(self, said: str) -> list[str]:
        known = {name: familiarity(said, common) for name, common in self._known.languages.items()}
        return sorted(self._order, key=lambda name: -known[name])

    def _answer(self, said: str, before: Answer) -> Answer:
        if before.is_guess and not before.missing[1]:
            confirmed = self._confirmed(said, before)
            if confirmed:
                return confirmed
        return self._timely(said, self._understood(said, before))

    def _timely(self, said: str, answer: Answer) -> Answer:
        """Return an answer that acts only when its requests carry every time and condition of the sentence."""
        if not any(self._changes(part) for part in answer.parts):
            return answer
        words = self._known.moments(self._kept)
        wrong, endless = caution.impossible(said, answer.parts), words.endless(narrow(said))
        if wrong:
            return Answer(sentence(self.texts("texts")["bad_clock"], {"value": wrong}))
        ends = [part.slots["until"][0] for part in answer.parts if "until" in part.slots]
        if endless and ends:
            return Answer(sentence(words.both, {"words": endless, "until": ends[0]}))
        outside, inside = caution.left(words, said, answer.parts, self._clock)
        outside += self._foreign_moments(said, answer.parts) + self._clocks_left(said, answer.parts)
        if not outside:
            return self._asked(answer.parts) if inside and answer.calls else answer
        fields = {"words": " … ".join(dict.fromkeys(outside))}
        if answer.missing[1]:
            return Answer(sentence(words.say, fields))
        try:
            wished = "; ".join(self._in_words(part) for part in answer.parts)
        except Problem:
            return Answer(sentence(words.say, fields))
        return Answer(sentence(words.ask, {**fields, "request": wished}), answer.parts, is_guess=True)

    def times(self, said: str) -> list[tuple[str, list[str]]]:
        """Return the words of a sentence that say when or under which condition, and what of a plan would carry them.

        Of a time of day or a length that is its value, as the language files give it; else the kind (caution.py).
        """
        self._kept = self._by_familiarity(said)[0]
        words = self._known.moments(self._kept)
        narrowed = narrow(said)
        found = [(narrowed[start:end].strip(), [kind]) for kind, (start, end) in words.found(narrowed)]
        found += [(one, []) for one in self._foreign_moments(said, [])]
        clause = self._by_concepts(self._kept).clause(said)
        found += caution.clocks(clause) if clause else []
        wrong = caution.impossible(said, [])
        return found + ([(wrong, [])] if wrong else [])

    def _changes(self, part: Part) -> bool:
        intent = self._intents[part.intent]
        return self._known.frames().is_change(part.intent) or "commands" in intent or "as" in intent

    def _foreign_moments(self, said: str, parts: list[Part]) -> list[str]:
        """Return the words of other languages that say when: each must be unknown in the language in use."""
        if not self._by_concepts(self._kept).unknown(said):
            return []
        lexicon = self._known.lexicon(self._kept)
        found = []
        for name in self._order:
            if name != self._kept:
                listed = caution.left(self._known.moments(name), said, parts, self._clock)[0]
                found += [one for one in listed if not any(lexicon.knows(word) for word in one.casefold().split())]
        return found

    def _clocks_left(self, said: str, parts: list[Part]) -> list[str]:
        clause = self._by_concepts(self._kept).clause(said)
        return caution.clocks_left(clause, parts) if clause else []

    def _understood(self, said: str, before: Answer) -> Answer:
        # The reading in the best language, which then is in use; with `keep` only a match changes it.
        keep = bool(before.missing[1])
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
        reading = found[name]
        if self._is_held_back(said, reading.parts) or self._is_contradicted(said, reading.parts):
            reading = Reading([], reading.topic)
        if reading.is_clean() and (not reading.is_loose() or before.missing[1]):
            return self._fulfil(reading.parts)
        kept = self._kept
        guess = self._guess(said, before)
        if guess.certainty < SURE and before.missing[1]:
            self._kept = kept  # an answer to a question is in the language of the question
        if reading.is_clean() and guess.certainty < SURE:
            return self._fulfil(reading.parts)
        if before.missing[1] and not reading.parts and guess.certainty < SURE:
            return self._completed(said, before) or self._asked_again(reading.topic, before)
        if guess.certainty == SURE or (guess.certainty and not reading.parts):
            return self._fulfil(guess.parts) if guess.certainty == SURE else self._asked(guess.parts)
        self._use(self._kept)
        concepts = self._by_concepts(self._kept)
        if concepts.is_later(said):
            return Answer(self._known.caution(self._kept)["timed"])
        is_asked = concepts.says(said, {"howto", "ask"}) and not concepts.says(said, _NO_TOPIC)
        return Answer(self._explained(reading.topic or (concepts.topic(said) if is_asked else "")))

    def _is_held_back(self, said: str, parts: list[Part]) -> bool:
        if not any(self._known.frames().is_change(part.intent) for part in parts):
            return False
        return bool(self._by_concepts(self._kept).held_back(said, parts))

    def _is_contradicted(self, said: str, parts: list[Part]) -> bool:
        # A pattern that left nothing open has said every word of the sentence itself.
        if len(parts) != 1 or not (parts[0].slots or parts[0].slips):
            return False
        return self._by_concepts(self._kept).speaks_against(said, parts[0])

    def _confirmed(self, said: str, before: Answer) -> Answer | None:
        reader = self._by_concepts(self._kept)
        if reader.is_said(said, "yes"):
            return self._fulfil(before.parts)
        if reader.is_said(said, "no") or reader.is_said(said, "cancel"):
            return Answer(self._texts_of("cancel")["text"], is_sure=True)
        return None

    def _guess(self, said: str, before: Answer) -> Guess:
        """Return what the words were taken for in the language that fits best, which then is in use."""
        kept, best = self._kept, Guess([], NONE)
        for name in self._by_vocabulary(said, kept):
            guess = self._by_concepts(name).read(said, [] if before.missing[1] else before.parts)
            if (guess.certainty, guess.score) > (best.certainty, best.score):
                best, self._kept = guess, name
            if guess.certainty == SURE or self._by_concepts(name).says(said, {"negation", "howto", "hearsay"}):
                break
        self._use(self._kept)
        parts = merged(best.parts)
        clause = self._by_concepts(self._kept).clause(said) if len(parts) < 2 else None
        several = together(clause) if clause else []
        return Guess(several, UNSURE) if several else Guess(parts, best.certainty, best.score, best.loss)

    def _by_vocabulary(self, said: str, kept: str) -> list[str]:
        """Return the languages that know most of the words, at most two: to others all of it could be a name."""
        order = self._by_familiarity(said)
        unknown = {name: self._by_concepts(name).unknown(said) for name in order}
        best = sorted(order, key=lambda name: (unknown[name], name != kept))
        least = unknown[best[0]]
        return [name for name in best[:2] if unknown[name] <= least + (name == kept)]  # a slip is no other language

    def _asked(self, parts: list[Part]) -> Answer:
        try:
            wished = "; ".join(self._in_words(part) for part in parts)
        except Problem:
            return self._fulfil(parts, is_sure=False)  # its own question tells what was understood
        return Answer(sentence(self.texts("texts")["confirm"], {"request": wished}), parts, is_guess=True)

    def _in_words(self, part: Part) -> str:
        fields = Fulfilment(self._new_world(), self._texts_of, self._intents).fields(part)
        texts = self._texts_of(self._intents[part.intent].get("as", part.intent))
        return sentence(texts.get("summary") or texts.get("says") or part.intent, fields)

    def _asked_again(self, topic: str, before: Answer) -> Answer:
        explained = self._explained(topic or before.missing[0])
        if topic:
            return Answer(explained)
        again = explained + "\n" + before.text
        return Answer(again, before.parts, missing=before.missing, choices=before.choices)

    def _completed(self, said: str, before: Answer) -> Answer | None:
        """Return the answer after a question for a slot was answered, None when this is no answer to it."""
        intent, slot = before.missing
        rule = self._rules(intent)[slot]
        reader = self._use(self._kept)
        other = rule.get("unless", "")
        raw = reader.answer(said, self._rules(intent)[other]["type"]) if other else None
        slot = other if raw else slot
        raw = raw or reader.answer(said, rule["type"])
        if raw is None:
            return None
        if before.choices and raw[0].isdigit() and 1 <= int(raw[0]) <= len(before.choices):
            chosen = before.choices[int(raw[0]) - 1]
            raw = (chosen["mac"] or chosen["ip"], True)
        parts = [
            Part(part.intent, {**part.slots, slot: raw}, part.score) if part.intent == intent else part
            for part in before.parts
        ]
        return self._fulfil(parts)

    def _rules(self, intent: str) -> dict[str, SlotRule]:
        return self._intents[intent].get("slots", {})

    def _explained(self, topic: str) -> str:
        texts = self._texts_of(topic)
        general = self.texts("texts")["example" if "example" in texts else "unknown"]
        template = texts.get("explain") or texts.get("text") or general
        return sentence(template, {"example": texts.get("example", "")})

    def _texts_of(self, intent: str) -> IntentTexts:
        return self._language["intents"].get(intent, {})

    def _fulfil(self, parts: list[Part], is_sure: bool = True) -> Answer:
        """Return the calls for all parts, or the question or refusal of the first that cannot be done."""
        world = self._new_world()
        fulfilment = Fulfilment(world, self._texts_of, self._intents)
        for part in parts:
            try:
                fulfilment.add(part)
            except Problem as problem:
                return self._refused(problem, fulfilment.slot, parts, is_sure)
        notes = [sentence(self.texts("texts")[name], fields) for name, fields in world.notes.items()]
        words = [*fulfilment.words, *notes]
        text = "\n".join(words) + ("\n" if fulfilment.calls and words else "")
        return Answer(text, parts, calls=fulfilment.calls, is_sure=is_sure)

    def _refused(self, problem: Problem, slot: tuple[str, str], parts: list[Part], is_sure: bool) -> Answer:
        texts = self._texts_of(slot[0])
        template = texts.get("ask", {}).get(slot[1]) if problem.text == "missing" else None
        template = template or self.texts("asks").get(problem.kind) or self.texts("texts")[problem.text]
        choices = "\n".join(f"{at}. {one}" for at, one in enumerate(problem.choices, 1))
        fields = {"example": texts.get("example", ""), "devices": list(problem.devices), **problem.values}
        may_be_other = problem.text.startswith(("device_", "site"))  # such a name may be no device at all
        return Answer(
            sentence(template, {**fields, "choices": choices}),
            parts,
            missing=slot if slot[1] else ("", ""),
            choices=problem.devices if slot[1] else (),
            is_sure=is_sure and not may_be_other,
        )


def owner_turns(messages: list[Message]) -> list[tuple[str, str | None]]:
    """Return the owner's last messages, each with the words it was answered with; None where tools were called."""
    found: list[tuple[str, str | None]] = []
    replied: str | None = ""
    for message in reversed(messages):
        if message.get("role") == "assistant":
            replied = _words_only(message) if replied is not None else None
        elif message.get("role") == "tool":
            replied = None
        elif message.get("role") == "user":
            found.append((_text(message), replied))
            replied = ""
            if len(found) == CHAIN:
                break
    return found[::-1]


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def _words_only(message: Message) -> str | None:
    return None if any(block.get("type") == "tool_use" for block in _blocks(message)) else _text(message)


def _text(message: Message) -> str:
    return "\n".join(block.get("text", "") for block in _blocks(message) if block.get("type") == "text")


def _blocks(message: Message) -> list[Block]:
    content = message.get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
