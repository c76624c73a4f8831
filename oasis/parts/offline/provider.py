"""The provider that needs no model and no network: an intent grammar that behaves like a model.

`reply(messages, facts, now_s)` gives the normalized events of one answer: words, or calls of the router's tools; after
tool results the closing words. With `only_sure` it gives no event where it is not certain what was meant, so that a
model is asked. Pure apart from the facts. What it understands is data in intents/*.json; a Provider reads the file of a
language when it is first spoken, and keeps it.

A Session reads the owner's last messages one after the other, each with what the one before left open: a slot that was
asked for, a guess that was said back ("Do you mean: … ?"), or the request itself, from which the next message may go on
("and the other band too").

A likely reading is no question: it is proposed at once, after a line that says how the sentence was read, and with a
`reading` event, by which its plan waits for the owner under every setting. The next reading is a choice: CHOICE, said
or as the reason of a decline, proposes that one in its place.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

from oasis.parts import install, is_here
from oasis.parts.offline import accounting, amending, caution, results, tables
from oasis.parts.offline.caution import Moments
from oasis.parts.offline.clause import VERBS, Lexicon, Names, Naming, narrow, spaced
from oasis.parts.offline.frames import FREE, Frames
from oasis.parts.offline.reading import Grammar, Part, familiarity, kinds_of
from oasis.parts.offline.results import sentence
from oasis.parts.offline.sets import Fulfilment
from oasis.parts.offline.slots import Problem, World
from oasis.parts.offline.tables import COMMON
from oasis.parts.offline.understanding import NONE, SURE, UNSURE, Evidence, Guess, Understander, Words, merged, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.change.shapes import Choice
    from oasis.parts.offline.shapes import (
        Event,
        EvidenceTables,
        Facts,
        IntentsData,
        Json,
        Language,
        Message,
        MomentsTables,
        Raw,
        ToolResult,
        WordsTables,
    )

MODEL = "intents"
CHANGE = "configure"
CALL = "offline_"  # of the ids of our calls; then the language of their results
_OF_SITES = {"block": "dns_block", "unblock": "dns_unblock"}
_NO_TOPIC = {"negation", "hearsay", "past", "condition"}  # what is said so asks for no explanation
CHOICE = "2"  # what chooses the next reading
_COURTESY = {"thanks", "greet"}
_CORRECTS = {"no", "instead"}
_NAME_WORDS = 3  # a longer text behind "no" is hardly a name
_SPOKEN_OF = ("device", "devices")  # slots that a pronoun may stand for, also after other requests
_TAKES_BACK = {"undo", "negation", "without", "remove", "no"}
_OBJECTS = {"device", "devices", "domain", "port", "band", "proto"}  # slots that name what a change is made to
_BARRING = {"block", "off", "forbid", "negation", "no", "stop"}
CHAIN = 5  # messages of the owner that are looked at, the last one included


load = tables.load  # what people write, by the name of the file


class _Broken(Exception):
    """The files of a language cannot be read: it is as if not installed, and the request is looked at again."""


class Provider:
    """What was read of the intents and languages; answers any number of chats, one after the other."""

    def __init__(self, read: Callable[[str], Any] | None = None) -> None:
        """`read` gives the files of intents/ by their names, in place of those that are installed."""
        self._read = read
        self.languages: dict[str, list[str]] = {}
        data: IntentsData = self._table(COMMON, "intents")
        # English is part of this one; each other language is a package of its own.
        self._common = data["languages"]
        self.languages = {name: common for name, common in self._common.items() if tables.is_here(name)}
        if "en" not in self.languages:
            raise ImportError("the files of English are missing")
        self.texts = data["absent"]
        self.intents = data["intents"]
        self.providers = data["providers"]
        self._grammars: dict[str, Grammar] = {}
        self._words: dict[str, Words] = {}
        self._moments: dict[str, Moments] = {}

    def absent(self, said: str) -> str:
        """Return what to say to who speaks a language that is not installed, in that language; "" to all others."""
        if len(self.languages) == len(self._common):
            return ""
        known = self.spoken(said)
        # In a tie it is not English: "Updates suchen" begins with a word that both have.
        spoken = max(known, key=lambda name: (known[name], name not in self.languages))
        if spoken in self.languages or not known[spoken]:
            return ""
        return sentence(self.texts[spoken], {"install": install("oasis-offline-" + spoken, tables.is_here(spoken))})

    def spoken(self, said: str) -> dict[str, int]:
        """Return how many words speak for each language; characters that no list has are Chinese."""
        known = {name: familiarity(said, common) for name, common in self._common.items()}
        if not any(known.values()):
            known["zh"] = int(spaced(said) != said)
        return known

    def is_foreign(self, said: str) -> bool:
        """Tell whether a text has a word of another language than English, which is hardly a name."""
        known = self.spoken(said)
        return sum(known.values()) > known["en"]

    def _table(self, name: str, part: str) -> Any:
        """Return a section of the tables of a language. Raises: _Broken; ImportError for English and what all share."""
        try:
            return tables.section(name, part, self._read)
        except Exception as error:  # whatever stands in that file
            if name in ("en", COMMON):
                raise ImportError("the files of English cannot be read: %s" % error) from error
            self.languages.pop(name, None)
            raise _Broken(name) from error

    def grammar(self, name: str) -> Grammar:
        if name not in self._grammars:
            self._grammars[name] = Grammar(self._table(name, "grammar"), self.intents)
        return self._grammars[name]

    def words(self, name: str) -> Words:
        """Return what is known of the words of a language."""
        if name not in self._words:
            made: WordsTables = self._table(name, "words")
            lexicon, naming = Lexicon(made["lexicon"], self.grammar(name).fold), Naming(made["naming"])
            self._words[name] = Words(lexicon, naming, made["marks"], lambda: self._learned(name))
        return self._words[name]

    def _learned(self, name: str) -> Evidence:
        return Evidence(self._evidence, self._table(name, "evidence"))

    @functools.cached_property
    def _evidence(self) -> EvidenceTables:
        """What all languages share of what was learned."""
        found: EvidenceTables = self._table(COMMON, "evidence")
        return found

    @functools.cached_property
    def _all_moments(self) -> dict[str, MomentsTables]:
        found: dict[str, MomentsTables] = self._table(COMMON, "moments")
        return found

    def moments(self, name: str) -> Moments:
        """Return the words of a language that say when or under which condition."""
        if name not in self._moments:
            self._moments[name] = Moments(self._all_moments[name])
        return self._moments[name]

    @functools.cached_property
    def frames(self) -> Frames:
        return Frames(self._table(COMMON, "frames"), lambda intent: kinds_of(self.intents[intent]))

    def places(self) -> dict[str, str]:
        places: dict[str, str] = self._table(COMMON, "places")["places"]
        return places

    def reply(self, messages: list[Message], facts: Facts, now_s: int, only_sure: bool = False) -> list[Event]:
        """Return the events that answer the last message: words, or tool calls, and `done`.

        Before changes comes {"type": "closing", "text": what is said when all of them are applied as they stand}.
        With `only_sure` no event where it is not certain what was meant, or where a model called the tools.
        """
        try:
            return self._reply(messages, facts, now_s, only_sure)
        except _Broken:
            return self.reply(messages, facts, now_s, only_sure)

    def _reply(self, messages: list[Message], facts: Facts, now_s: int, only_sure: bool) -> list[Event]:
        session = Session(self, facts, now_s)
        found = results.results(messages)
        if not found:
            answer = session.follow(messages)
        elif only_sure and not found[0]["id"].startswith(CALL):
            return []
        else:
            # In the language that a call was made in; that of the owner's message when it is a model's call.
            name = found[0]["id"].removeprefix(CALL).partition("_")[0] if found[0]["id"].startswith(CALL) else ""
            if name in self.languages:
                session.use(name)
            else:
                session.follow(messages)
            chosen = session.instead(messages) if not only_sure and results.is_choice(found, CHOICE) else None
            answer = chosen or Answer(session.report(found), is_sure=True)
        if only_sure and not answer.is_sure:
            return []
        events = answer.events(session.language_name, len(messages))
        if answer.calls and all(name == CHANGE for name, _ in answer.calls):
            done = [results.applied(event) for event in events if event["type"] == "tool_use"]
            words = session.report(done)
            events.insert(0, {"type": "closing", "text": words})
        return events

    def times(self, text: str, facts: Facts) -> list[tuple[str, list[str]]]:
        """Return what of a sentence says when or under which condition; see Session.times."""
        try:
            return Session(self, facts).times(text)
        except _Broken:
            return self.times(text, facts)


class Answer:
    """What one owner message leads to: words, or calls.

    `parts` is what was understood, or what is offered `instead_of` it, `missing` the slot that was asked for and
    `choices` the values that were offered for it, `is_guess` says that a yes is waited for, by a word or on a card, and
    `is_sure` that no model is needed. `other` is the next reading, `other_words` says it. `is_whole`: the sentence
    answered a question and said nothing else.
    `is_done`: tools were called; `is_offer`: it was only explained.
    """

    def __init__(
        self,
        text: str,
        parts: Sequence[Part] = (),
        *,
        calls: Sequence[tuple[str, dict[str, Json]]] = (),
        missing: tuple[str, str] = ("", ""),  # intent, slot
        choices: Sequence[tuple[str, bool]] = (),
        is_guess: bool = False,
        is_sure: bool = False,
        other: Sequence[Part] = (),
        other_words: str = "",
        is_done: bool = False,
        is_offer: bool = False,
        instead_of: Sequence[Part] = (),
    ) -> None:
        self.other = list(other)
        self.other_words = other_words
        self.is_whole = False
        self.text = text
        self.calls = calls
        self.parts = list(parts)
        self.missing = missing
        self.choices = choices
        self.is_guess = is_guess
        self.is_sure = is_sure
        self.is_done = is_done
        self.is_offer = is_offer
        self.instead_of = list(instead_of)

    def events(self, language: str, turn: int) -> list[Event]:
        end: Event = {"type": "done", "stop_reason": "tool_use" if self.calls else "end_turn", "model": MODEL}
        events: list[Event] = [{"type": "delta", "text": self.text}] if self.text or not self.calls else []
        if self.calls and self.is_guess:
            choice: Choice = {"say": CHOICE, "text": self.other_words} if self.other else {}
            events.append({"type": "reading", "choice": choice})
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
        self._names: Names | None = None
        self._spoken_of: Raw = {}
        self._offered: Sequence[tuple[str, bool]] = ()  # what was last to be chosen from
        self._done: list[Part] = []  # the requests of the messages before, that tools were called for
        self._understanders: dict[str, Understander] = {}
        self.language: Language = {}
        self.language_name = ""

    def use(self, name: str) -> Grammar:
        """Use a language from now on."""
        grammar = self._known.grammar(name)
        self.language_name, self.language = name, grammar.language
        return grammar

    def report(self, found: list[ToolResult]) -> str:
        """Return what tool results say in the language in use."""
        return results.words(found, self.language["closing"], self.language["status"], self.language_name)

    def by_concepts(self, name: str) -> Understander:
        """Use a language from now on, and return what understands it."""
        self.use(name)
        if self._names is None:
            self._names = Names(self._facts.devices())
        if name not in self._understanders:
            words = self._known.words(name)
            self._understanders[name] = Understander(words, self._known.frames, self._names, self._is_value)
        return self._understanders[name]

    def _new_world(self) -> World:
        return World(self._facts, self.language, self._known.providers, self._known.places)

    def _is_value(self, kind: str, text: str, is_quoted: bool) -> bool:
        try:
            self._new_world().value(kind, text, is_quoted)
        except Problem:
            return False
        return True

    def follow(self, messages: list[Message]) -> Answer:
        """Return the answer to the last owner message, with what the messages before it left open."""
        chain = _owner_turns(messages)
        self._order = self._by_familiarity(" ".join(said for said, _ in chain))
        self._kept = self._order[0]
        self.use(self._kept)
        answer = Answer("")
        for at, (said, replied) in enumerate(chain):
            foreign = self._known.absent(said) if at == len(chain) - 1 else ""
            # A name may be of another language: in a request that is understood, and as what was asked for.
            if foreign and not answer.missing[1] and not self._is_request(said):
                return Answer(foreign)
            before, answer = answer, self._answer(said, answer)
            self._offered = answer.choices or self._offered
            # What was not understood ends no dialogue, nor does a word of thanks.
            if not answer.missing[1] and {part.intent for part in answer.parts} <= _COURTESY:
                answer.parts, answer.is_done = before.parts, before.is_done
            lines = [text.strip().split("\n")[0] for text in (replied or "", answer.text)]
            if at < len(chain) - 1 and (replied is None or lines[0] != lines[1]):
                # It was done, or somebody else asked, or the router changed since: what is left is the request.
                is_done = replied is None or (answer.is_done and answer.parts == before.parts)
                answer = Answer("", answer.parts, is_done=is_done, other=() if replied else answer.other)
                self._done += answer.parts if replied is None else []
            for part in answer.parts:
                said_now = {slot: raw for slot, raw in part.slots.items() if slot in _SPOKEN_OF}
                self._spoken_of = said_now or self._spoken_of
        return answer

    def instead(self, messages: list[Message]) -> Answer | None:
        """Return the answer by the next reading of the last owner message, None where it has none."""
        answer = self.follow(messages)
        return self._read_as(answer.other) if answer.other else None

    def _is_request(self, said: str) -> bool:
        """Tell whether a sentence is a request, with more than the word for a thing in front of a foreign one."""
        for name in self._order:
            parts = self._known.grammar(name).read(said, self._is_value)[0]
            if parts:
                return not any(self._known.is_foreign(self.by_concepts(name).bare(said, part)) for part in parts)
        return False

    def _by_familiarity(self, said: str) -> list[str]:
        known = self._known.spoken(said)
        return sorted(self._order, key=lambda name: -known[name])

    def _doubt(self, said: str, parts: list[Part]) -> int:
        """Return how certain requests can be: a name needs a word that assigns it, and is no word for what to do."""
        most = SURE
        for part in parts:
            reader = self.by_concepts(self._kept)
            value = reader.bare(said, part)
            if value:
                is_verb = value[:1].islower() and (
                    self._known.is_foreign(value) or reader.clause(value).concepts & VERBS
                )
                most = min(most, NONE if is_verb else SURE if "key" in part.slots else UNSURE)
        return most

    def _answer(self, said: str, before: Answer) -> Answer:
        if before.is_guess and not before.missing[1]:
            reader = self.by_concepts(self._kept)
            if reader.is_said(said, "yes") or reader.is_said(said, "it", {"yes", "set", "make"}):
                return self._fulfil(before.parts)
            if reader.is_said(said, "no") or reader.is_said(said, "cancel"):
                return self._dropped()
        if before.other and (said.strip() == CHOICE or self.by_concepts(self._kept).is_said(said, "other")):
            return self._read_as(before.other)
        answer = self._replied(said, before) if before.missing[1] else None
        answer = answer or self._partly(said, before)
        if answer is None:
            nth = None if before.missing[1] else self._nth(said)
            back = amending.taken_back(nth) if nth else None
            if back and self.by_concepts(self._kept).clause(said).concepts & amending.ENDING:
                return self._fulfil([back])
            before = Answer("", [nth], is_done=True) if nth else before
            answer = self._amended(said, before)
        return answer or self._checked(said, self._understood(said, before))

    def _checked(self, said: str, answer: Answer) -> Answer:
        """Return an answer that acts only on all that a sentence says."""
        held = self._timely(said, answer)
        return held if held is not answer or answer.is_offer else self._whole(said, answer)

    def _partly(self, said: str, before: Answer) -> Answer | None:
        """Return the answer to "only the first" or "undo the second" after several requests, None without."""
        patterns, reader = self.use(self._kept), self.by_concepts(self._kept)
        bare = patterns.without(said, "only")
        is_only = bare != said
        if len(before.parts) < 2 or not (is_only or reader.clause(said).concepts & _TAKES_BACK):
            return None
        reply = (patterns.answer(reader.within(bare, _TAKES_BACK), "reply") or ("", True))[0]
        at = len(before.parts) - 1 if reply == "last" else int(reply) - 1 if reply.isdigit() else -1
        if not 0 <= at < len(before.parts):
            return None
        is_kept = is_only and not reader.clause(said).concepts & _TAKES_BACK
        gone = [one for place, one in enumerate(before.parts) if (place == at) != is_kept]
        left = [one for one in before.parts if one not in gone]
        if not before.is_done:
            return self._fulfil(left)
        back = [amending.taken_back(one) for one in gone]
        parts = [one for one in [*back, *(left if is_kept else ())] if one and self._can(one)]
        answer = self._fulfil(parts) if parts else Answer(self.language["texts"]["undo_part"])
        answer.parts = left
        return answer

    def _nth(self, said: str) -> Part | None:
        """Return the request that a word such as "the first one" means among those of several messages."""
        patterns, reader = self.use(self._kept), self.by_concepts(self._kept)
        reply = (patterns.answer(reader.within(said, {*VERBS, "back"}), "reply") or ("", True))[0]
        at = int(reply) - 1 if reply.isdigit() else -1
        return self._done[at] if len(self._done) > 1 and 0 <= at < len(self._done) else None

    def _amended(self, said: str, before: Answer) -> Answer | None:
        """Return the answer to a message that only changes a value of a request before; None for other messages."""
        reader = self.by_concepts(self._kept)
        said = self.use(self._kept).without(said, "only")
        for part in before.parts[::-1]:
            back = amending.taken_back(part) if "switch" not in part.slots else None
            if back and reader.is_reversed(said, part) and self._can(back):
                return self._fulfil([back])
            found = reader.amended(said, part, self._new_world())
            found = found or self._renamed(said, part) or self._other(said, part)
            if found is None:
                continue
            slots, is_added = found
            changed = {name for name, raw in slots.items() if part.slots.get(name) != raw}
            for name, rule in self._intents[part.intent].get("slots", {}).items():
                if changed & {name, rule.get("unless", "")} == {name}:
                    slots.pop(rule.get("unless", ""), None)
                elif rule.get("unless") in changed:
                    slots.pop(name, None)
            if is_added and not before.is_done and changed & {"devices"} and "devices" in part.slots:
                slots["devices"] = (part.slots["devices"][0] + ", " + slots["devices"][0], True)
            new = Part(part.intent, slots, part.score)
            if not before.is_done:
                return self._timely(said, self._fulfil([new if one is part else one for one in before.parts]))
            # What was meant for another one is taken back there, where the router says that it was done.
            is_other = changed & _OBJECTS or part.intent == "parental_times"
            mistake = amending.taken_back(part) if not is_added and is_other else None
            wanted: Part | None = new
            if mistake and changed == {"devices"}:  # the devices that stay are left as they are
                less, more = amending.differences(part.slots["devices"][0], slots["devices"][0])
                mistake = Part(mistake.intent, {**mistake.slots, "devices": (less, True)}, 0) if less else None
                wanted = Part(new.intent, {**slots, "devices": (more, True)}, 0) if more else None
            if changed & {"band"} and slots.get("band", ("both", True))[0] == "both":
                mistake = None
            if mistake and changed == {"band"} and part.slots.get("band", ("both", True))[0] == "both":
                band = {"2g": "5g", "5g": "2g"}.get(slots["band"][0], "")  # what is left of it
                mistake = Part(mistake.intent, {**mistake.slots, "band": (band, True)}, 0) if band else None
            if changed == {"until"} and not self._can(new) and not self._can(_lasting(part)):
                return Answer(self.language["texts"]["no_end"], [new])
            tried = [[one for one in many if one] for many in ((mistake, wanted), (wanted,), (mistake,))]
            if mistake and wanted and "until" in slots:
                tried = [[new]]  # one plan has one end
            parts = next((many for many in tried if many and self._can(*many)), [new])
            answer = self._timely(said, self._fulfil(parts))
            answer.parts = [new]  # whatever had to be done for it, this is what was asked
            return answer
        return None

    def _other(self, said: str, part: Part) -> tuple[Raw, bool] | None:
        """Return the slots of a request with the other one of two devices that were offered."""
        concepts = self.by_concepts(self._kept).clause(said).concepts
        verbs = VERBS - self._known.frames.verbs(part.intent)
        slot = next((name for name in _SPOKEN_OF if name in part.slots), "")
        same = self._new_world().is_same_device
        others = [one for one in self._offered if slot and not same(one[0], part.slots[slot][0])]
        if not slot or "other" not in concepts or concepts & verbs or len(self._offered) != 2 or len(others) != 1:
            return None
        return {**part.slots, slot: others[0]}, bool(concepts & {"and", "also"})

    def _renamed(self, said: str, part: Part) -> tuple[Raw, bool] | None:
        """Return the slots of a request with another name, as "no, cellar" says one."""
        reader, patterns = self.by_concepts(self._kept), self.use(self._kept)
        named = [(slot, rule["type"]) for slot, rule in self._intents[part.intent].get("slots", {}).items()]
        named = [(slot, kind) for slot, kind in named if slot in part.slots and kind in FREE]
        said = narrow(said)
        bare = reader.within(said, _CORRECTS) if reader.clause(said).concepts_at(0) & _CORRECTS else ""
        rest = said[said.rfind(bare) :] if bare else ""  # with its quotes, and nothing behind it
        is_last = bool(bare) and len(rest) <= len(bare) + 1 and bare != said
        if len(named) != 1 or not is_last or len(bare.split()) > _NAME_WORDS:
            return None
        raw = (bare, True) if rest != bare else patterns.answer(bare, named[0][1])
        return ({**part.slots, named[0][0]: raw}, False) if raw and not self._is_request(bare) else None

    def _can(self, *parts: Part) -> bool:
        fulfilment = Fulfilment(self._new_world(), self._intents)
        try:
            for part in parts:
                fulfilment.add(part)
        except Problem:
            return False
        return True

    def _dropped(self) -> Answer:
        return Answer(self.language["intents"]["cancel"]["text"], [Part("cancel", {}, 0)], is_sure=True)

    def _replied(self, said: str, before: Answer) -> Answer | None:
        """Return the answer to usual words after a question for a value: the second, both, you choose, until seven.

        None when they hold no value of its type: they may be a text such as a name, or another request.
        """
        intent, slot = before.missing
        rule = self._intents[intent]["slots"][slot]
        reader = self.by_concepts(self._kept)
        patterns = self.use(self._kept)
        number = patterns.answer(said, "port") if before.choices else None
        reply = (patterns.answer(said, "reply") or number or ("", True))[0]
        if not reply and reader.is_said(said, "yes"):
            reply = "1" if len(before.choices) == 1 else "yes"
        picked = [*before.choices] if reply == "every" else [*before.choices][-1:] if reply == "last" else []
        if reply.isdigit():
            picked = [*before.choices][int(reply) - 1 : int(reply)]
        if reply == "any" and "any" in rule:
            picked = [(rule["any"], True)]
        if reply == "none" and rule["type"] == "encryption":
            picked = [(reply, True)]
        if reply == "none" and rule.get("unless") == "open":  # a network without a password
            slot, picked = "open", [("1", True)]
        if picked:
            return self._fulfil(_with(before.parts, intent, slot, picked, rule["type"] == "devices"))
        if reply in ("any", "yes"):
            text = self.language["texts"]["choose" if reply == "any" else "yes_what"] + "\n" + before.text
            return Answer(text, before.parts, missing=before.missing, choices=before.choices)
        if reply == "same" and intent == "wifi_both":  # of a name and a password one stays
            other = {"ssid": "wifi_password", "key": "wifi_name"}[slot]
            return self._fulfil(
                [Part(other if one.intent == intent else one.intent, one.slots, one.score) for one in before.parts]
            )
        if reply == "same" or (reply == "none" and before.choices):
            return self._dropped()
        if reply in ("every", "last") or (reply.isdigit() and rule["type"] in FREE):
            return Answer(before.text, before.parts, missing=before.missing, choices=before.choices)
        part = next(one for one in before.parts if one.intent == intent)
        names = [name for name in (rule.get("unless", ""), slot) if name]
        tried = [reader.answered(said, part, name, self._intents[intent]["slots"][name]["type"]) for name in names]
        slots = next((one for one in tried if one), None)
        if slots is None:
            # One word after a question for a name is the name, whatever it is put together of.
            is_word = rule["type"] in FREE and said.isascii() and len(said.split()) == 1
            return self._completed(said, before) if is_word and not patterns.read(said, self._is_value)[0] else None
        parts = [Part(one.intent, {**one.slots, **slots}, one.score) if one is part else one for one in before.parts]
        return self._checked(said, self._fulfil(parts))

    def _whole(self, said: str, answer: Answer) -> Answer:
        """Return an answer that names what its requests leave out; a change leaves a value out only after a yes."""
        frames, texts = self._known.frames, self.language["texts"]
        if answer.is_whole or not (answer.calls or answer.missing[1] or answer.is_guess):
            return answer
        clause, understood = self.by_concepts(self._kept).clause(said), answer.instead_of or answer.parts
        values, words = accounting.left(clause, understood, frames)
        if any(part.intent == "undo" for part in answer.parts):  # the last change, which may be another one
            values += words + [clause.text(at, at) for at in clause.of("other")]
            words = []
        if not values and not words:
            return answer
        fields = {"words": " … ".join(values + words)}
        is_change = any(frames.is_change(part.intent) for part in answer.parts)
        wished = self._in_words(answer.parts) if values and is_change and not answer.missing[1] else ""
        if wished:
            return Answer(sentence(texts["left_ask"], {**fields, "request": wished}), answer.parts, is_guess=True)
        named = sentence(texts["left_out"], fields)
        answer.text = "\n".join(filter(None, (answer.text.rstrip("\n"), named))) + ("\n" if answer.calls else "")
        answer.is_sure = False  # a model may know what they mean
        return answer

    def _timely(self, said: str, answer: Answer) -> Answer:
        """Return an answer that acts only when its requests carry every time and condition of the sentence."""
        is_change = self._known.frames.is_change
        acts = [is_change(one.intent) or self._intents[one.intent].keys() & {"commands", "as"} for one in answer.parts]
        is_asked = answer.missing[0] in caution.NIGHTLY  # that question is about the times
        if answer.is_offer or is_asked or not any(acts):
            return answer
        words = self._known.moments(self._kept)
        wrong, endless = caution.impossible(said, answer.parts), words.endless(narrow(said))
        if wrong:
            return Answer(sentence(self.language["texts"]["bad_clock"], {"value": wrong}))
        ends = [part.slots["until"][0] for part in answer.parts if "until" in part.slots]
        if endless and ends:
            return Answer(sentence(words.both, {"words": endless, "until": ends[0]}))
        outside, inside = caution.left(words, said, answer.parts, self._clock)
        outside += self._foreign_moments(said, answer.parts)
        outside += caution.clocks_left(self.by_concepts(self._kept).clause(said), answer.parts)
        if not outside:
            return self._asked(answer.parts) if inside and answer.calls else answer
        fields = {"words": " … ".join(dict.fromkeys(outside))}
        wished = "" if answer.missing[1] else self._in_words(answer.parts)
        if not wished:
            return Answer(sentence(words.say, fields), answer.parts)
        return Answer(sentence(words.ask, {**fields, "request": wished}), answer.parts, is_guess=True)

    def times(self, said: str) -> list[tuple[str, list[str]]]:
        """Return the words of a sentence that say when or under which condition, and what of a plan would carry them.

        Of a time of day or a length that is its value, as the language files give it; else the kind (caution.py).
        """
        self._kept = self._by_familiarity(said)[0]
        narrowed = narrow(said)
        spans = self._known.moments(self._kept).found(narrowed)
        found: list[tuple[str, list[str]]]
        found = [(narrowed[start:end].strip(), [kind]) for kind, (start, end) in spans]
        found += [(one, []) for one in self._foreign_moments(said, [])]
        found += caution.clocks(self.by_concepts(self._kept).clause(said))
        wrong = caution.impossible(said, [])
        return found + ([(wrong, [])] if wrong else [])

    def _foreign_moments(self, said: str, parts: list[Part]) -> list[str]:
        """Return the words of other languages that say when: each must be unknown in the language in use."""
        if not self.by_concepts(self._kept).unknown(said):
            return []
        lexicon = self._known.words(self._kept).lexicon
        found = []
        for name in self._order:
            if name != self._kept:
                listed = caution.left(self._known.moments(name), said, parts, self._clock)[0]
                found += [one for one in listed if not any(lexicon.knows(word) for word in one.casefold().split())]
        return found

    def _understood(self, said: str, before: Answer) -> Answer:
        # The reading in the best language, which then is in use; with `keep` only a match changes it.
        keep = bool(before.missing[1])
        parts: list[Part] = []
        topics: dict[str, str] = {}
        for name in self._order:
            parts, topics[name] = self.use(name).read(said, self._is_value)
            parts = self._turned(said, parts, name)
            if parts:
                break
        else:
            name = self._kept if keep else self._by_familiarity(said)[0]
        self._kept = name
        self.use(name)
        topic = topics[name]
        # The words of a sentence may keep what a pattern found from being meant. A pattern that left nothing open has
        # said every word of the sentence itself.
        is_held = False
        if any(self._known.frames.is_change(part.intent) for part in parts):
            is_held = bool(caution.stopped(self.by_concepts(name).clause(said), parts[0]))
        # A word of the router's own is no device, whatever devices call themselves.
        named = [part for part in parts for slot in _SPOKEN_OF if self._is_own(name, part, slot)]
        is_held = is_held or bool(named)
        is_open = len(parts) == 1 and bool(parts[0].slots)
        if is_held or (is_open and self.by_concepts(name).speaks_against(said, parts[0])):
            parts = []
        most = self._doubt(said, parts)
        if most == UNSURE:
            return self._asked(parts, said)
        if most == NONE:
            parts, topic = [], topic or parts[0].intent
            self._kept = name = self._by_familiarity(said)[0]
        if parts and (keep or not any(part.is_loose() for part in parts)):
            return self._fulfil([self._referred(said, part) for part in parts])
        guess = self._guess(said, before)
        most = self._doubt(said, guess.parts)
        topic = topic or ("" if most else guess.parts[0].intent)
        guess = guess.at_most(most)
        # Nothing speaks for any language, and none that is here knows all words.
        is_strange = guess.certainty < SURE == most and not (keep or parts or before.parts or said.split()[4:])
        is_strange = is_strange and not any(self._known.spoken(said).values())
        if is_strange and min([self.by_concepts(name).unknown(said) for name in self._order]) > 1:
            self.use("en")
            return Answer(self._explained("") + "\n" + self._known.texts["other"])
        self.use(self._kept)
        if guess.certainty < SURE and keep:
            self._kept = name  # an answer to a question is in the language of the question
        if parts and guess.certainty < SURE:
            return self._fulfil(parts)
        if keep and guess.certainty < SURE:
            answer = self._completed(said, before)
            if answer or topic:
                return answer or Answer(self._explained(topic))
            again = self._explained(before.missing[0]) + "\n" + before.text
            return Answer(again, before.parts, missing=before.missing, choices=before.choices)
        if guess.certainty == SURE:
            return self._fulfil(guess.parts)
        if guess.certainty:
            return self._asked(guess.parts, said)
        if named:
            slots = {slot: raw for slot, raw in named[0].slots.items() if slot not in _SPOKEN_OF}
            return self._fulfil([Part(named[0].intent, slots, named[0].score)], is_sure=False)
        concepts = self.by_concepts(self._kept)
        if caution.is_later(concepts.clause(said)):
            words = self._known.words(self._kept).marks["timed"]
            return Answer(words if is_here("schedule") else words.replace("oasis schedule", install("oasis-schedule")))
        heard = concepts.clause(said).concepts
        is_asked = heard & {"howto", "ask"} and not heard & _NO_TOPIC
        topic = topic or (concepts.topic(said) if is_asked else "")
        # An owner who reads how it is done may say: then do it.
        offered = [Part(topic, {}, 0)] if topic and self._known.frames.is_change(topic) else []
        return Answer(self._explained(topic), offered, is_guess=bool(offered), is_offer=True)

    def _is_own(self, language: str, part: Part, slot: str) -> bool:
        raw, is_quoted = part.slots.get(slot, ("", True))
        return not is_quoted and self.by_concepts(language).is_own(raw)

    def _referred(self, said: str, part: Part) -> Part:
        """Return a request with the device that "it" means where it names none."""
        rules = self._intents[part.intent].get("slots", {})
        open_ = [
            name for name in _SPOKEN_OF if name in rules and not rules[name].get("optional") and name not in part.slots
        ]
        raws = [self._spoken_of[name] for name in _SPOKEN_OF if name in self._spoken_of]
        if not open_ or not raws or "it" not in self.by_concepts(self._kept).clause(said).concepts:
            return part
        return Part(part.intent, {**part.slots, open_[0]: raws[-1]}, part.score)

    def _guess(self, said: str, before: Answer) -> Guess:
        """Return what the words were taken for in the language that fits best, which then is in use.

        Tried are the languages that know most of the words, at most two: to others all of it could be a name.
        """
        kept, best, known = self._kept, Guess(), self._known.spoken(said)
        order = self._by_familiarity(said)
        unknown = {name: self.by_concepts(name).unknown(said) for name in order}
        order = sorted(order, key=lambda name: (unknown[name], name != kept))
        for name in order[:2]:
            if unknown[name] > unknown[order[0]] + (name == kept):
                continue  # a slip is no other language
            is_like = known[name] > known[kept] or unknown[name] < unknown[kept] + (not best.certainty)
            if name != kept and not (is_like and (known[name] >= max(known[kept], 1) or not before.parts)):
                continue  # one dialogue is in one language, until words of another one are said
            reader = self.by_concepts(name)
            guess = reader.read(said, [] if before.missing[1] else before.parts, self._spoken_of)
            if (guess.certainty, guess.score) > (best.certainty, best.score):
                best, self._kept = guess, name
            if guess.certainty == SURE or reader.clause(said).concepts & {"negation", "howto", "hearsay"}:
                break
        if best.certainty < SURE and self._is_far(said, best, before):
            return Guess()
        parts = self._turned(said, merged(best.parts))
        several = together(self.by_concepts(self._kept).clause(said)) if len(parts) < 2 else []
        return Guess(several, UNSURE) if several else Guess(parts, best.certainty, best.score, best.loss)

    def _is_far(self, said: str, guess: Guess, before: Answer) -> bool:
        """Tell whether nobody would ask about a guess: mere courtesy, or something new in a few words of a dialogue."""
        names, earlier = guess.names(), {part.intent for part in before.parts}
        if names & {*_COURTESY, "cancel"}:
            return True
        is_change = self._known.frames.is_change
        is_question = said.rstrip().endswith(("?", "？")) and not any(map(is_change, earlier))
        is_new = bool(earlier) and not names & earlier
        return is_new and (
            self.by_concepts(self._kept).is_fragment(said) or (is_question and any(map(is_change, names)))
        )

    def _turned(self, said: str, parts: list[Part], name: str = "") -> list[Part]:
        """Return requests with the hours turned round where a sentence says when alone there is internet."""
        if not any({"from", "to"} <= set(part.slots) and part.intent == "parental_times" for part in parts):
            return parts
        name = name or self._kept
        is_only = self._known.grammar(name).without(said, "only") != said
        if not is_only or self.by_concepts(name).clause(said).concepts & _BARRING:
            return parts
        turned = []
        for part in parts:
            if part.intent == "parental_times" and {"from", "to"} <= set(part.slots):
                if "days" in part.slots:
                    return []  # a night that begins on a day and ends on the next one: nobody said which
                slots = {**part.slots, "from": part.slots["to"], "to": part.slots["from"]}
                part = Part(part.intent, slots, part.score)
            turned.append(part)
        return turned

    def _asked(self, parts: list[Part], said: str = "") -> Answer:
        """Return requests that are not certain: what is likely in a sentence as calls, else said back as a question."""
        wished = self._in_words(parts)
        if not wished:
            return self._fulfil(parts, is_sure=False)  # its own question tells what was understood
        is_likely, other = self.by_concepts(self._kept).likely(said, parts) if said else (False, [])
        frames = self._known.frames
        is_change = any(frames.is_change(part.intent) for part in parts)
        # What shows something has no card: with a word left out it is asked about.
        if is_likely and (
            is_change or not any(accounting.left(self.by_concepts(self._kept).clause(said), parts, frames))
        ):
            return self._read_as(parts, other)
        return Answer(sentence(self.language["texts"]["confirm"], {"request": wished}), parts, is_guess=True)

    def _read_as(self, parts: list[Part], other: Sequence[Part] = ()) -> Answer:
        """Return the calls for requests with a line that says how the owner was understood, and the next reading."""
        answer = self._fulfil(parts, is_sure=False)
        wished = self._in_words(parts)
        if not answer.calls or not wished:
            return answer
        is_change = any(self._known.frames.is_change(part.intent) for part in parts)
        # The next reading may take a password for a name: it is in no words.
        has_key = any("key" in part.slots for part in parts)
        words = self._in_words(list(other)) if is_change and not has_key else ""
        fields = {"request": wished, "other": words, "number": CHOICE}
        text = f"{sentence(self.language['texts']['read_as'], fields)}\n{answer.text}"
        return Answer(
            text, parts, calls=answer.calls, is_guess=is_change, other=other if words else (), other_words=words
        )

    def _in_words(self, parts: list[Part]) -> str:
        """Return requests as they are said back, "" when one of them cannot be done, or is only explained."""
        wished = []
        for part in parts:
            try:
                fields = Fulfilment(self._new_world(), self._intents).checked(part)[1]
            except Problem:
                return ""
            texts = self.language["intents"].get(self._intents[part.intent].get("as", part.intent), {})
            wished.append(sentence(texts.get("summary") or texts.get("says") or "", fields))
        return "; ".join(wished) if all(wished) else ""

    def _completed(self, said: str, before: Answer) -> Answer | None:
        """Return the answer after a question for a slot was answered, None when this is no answer to it."""
        intent, slot = before.missing
        kind = self._intents[intent]["slots"][slot]["type"]
        reader = self.use(self._kept)
        is_listed = kind in self.language.get("lists", {})
        # Nobody would check a text of other types: they have their words, which _replied knows.
        raw = reader.answer(said, kind) if is_listed or self._new_world().is_checked(kind) else None
        if raw is None or (slot in _SPOKEN_OF and not raw[1] and self.by_concepts(self._kept).is_own(raw[0])):
            return None
        answer = self._fulfil(_with(before.parts, intent, slot, [raw], is_list=True))
        answer.is_whole = True
        return answer

    def _explained(self, topic: str) -> str:
        texts = self.language["intents"].get(topic, {})
        general = self.language["texts"]["example" if "example" in texts else "unknown"]
        template = texts.get("explain") or texts.get("text") or general
        return sentence(template, {"example": texts.get("example", "")})

    def _fulfil(self, parts: list[Part], is_sure: bool = True) -> Answer:
        """Return the calls for all parts, or the question or refusal of the first that cannot be done."""
        world = self._new_world()
        fulfilment = Fulfilment(world, self._intents)
        for part in parts:
            try:
                fulfilment.add(part)
            except Problem as problem:
                setup = _new_guest(part) if problem.text == "no_guest" else None
                if setup:
                    return self._fulfil([setup if one is part else one for one in parts], is_sure)
                return self._refused(problem, fulfilment.slot, parts, is_sure)
        notes = [sentence(self.language["texts"][name], fields) for name, fields in world.notes.items()]
        words = [*fulfilment.words, *notes]
        text = "\n".join(words) + ("\n" if fulfilment.calls and words else "")
        offered = self._intents[parts[0].intent].get("offers", "") if len(parts) == 1 else ""
        if offered:  # what is possible instead, for a yes
            slots = self._intents[offered].get("slots", {})
            instead = [Part(offered, {name: raw for name, raw in parts[0].slots.items() if name in slots}, 0.0)]
            question = self._in_words(instead)
            if question:
                asked = sentence(self.language["texts"]["instead"], {"request": question})
                return Answer(text + "\n" + asked, instead, is_guess=True, instead_of=parts)
        return Answer(text, parts, calls=fulfilment.calls, is_sure=is_sure)

    def _refused(self, problem: Problem, slot: tuple[str, str], parts: list[Part], is_sure: bool) -> Answer:
        meant = _OF_SITES.get(slot[0]) if problem.text == "site" else None
        if meant:  # what is to be blocked is no device: it is asked about, as it is for everybody then
            return self._asked([Part(meant, {"domain": (str(problem.values["value"]), True)}, 0.0)])
        slot = (slot[0], slot[1] or problem.slot)
        texts = self.language["intents"].get(slot[0], {})
        template = texts.get("ask", {}).get(slot[1]) if problem.text == "missing" else None
        template = template or self.language["asks"].get(problem.kind) or self.language["texts"][problem.text]
        choices = "\n".join(f"{at}. {one}" for at, one in enumerate(problem.choices, 1))
        fields = {"example": texts.get("example", ""), "devices": list(problem.devices), **problem.values}
        may_be_other = problem.text.startswith(("device_", "site"))  # such a name may be no device at all
        return Answer(
            sentence(template, {**fields, "choices": choices}),
            parts,
            missing=slot if slot[1] else ("", ""),
            choices=problem.offered() if slot[1] else (),
            is_sure=is_sure and not may_be_other,
        )


def _lasting(part: Part) -> Part:
    """Return a request without its end."""
    return Part(part.intent, {name: raw for name, raw in part.slots.items() if name != "until"}, part.score)


def _new_guest(part: Part) -> Part | None:
    """Return the request for a guest Wi-Fi that a request about it comes to where there is none yet."""
    is_wish = part.intent in ("guest_name", "guest_password") or part.slots.get("switch") == ("on", True)
    slots = {name: raw for name, raw in part.slots.items() if name != "switch"}
    return Part("guest_setup", slots, part.score) if is_wish and "until" not in slots else None


def _with(parts: list[Part], intent: str, slot: str, values: list[tuple[str, bool]], is_list: bool) -> list[Part]:
    """Return requests with the values that were asked for: all in one slot, or a request for each."""
    if is_list and len(values) > 1:
        values = [(", ".join(text for text, _ in values), True)]
    return [
        Part(part.intent, {**part.slots, slot: value} if part.intent == intent else part.slots, part.score)
        for part in parts
        for value in (values if part.intent == intent else values[:1])
    ]


def _owner_turns(messages: list[Message]) -> list[tuple[str, str | None]]:
    """Return the owner's last messages, each with the words it was answered with; None where tools were called."""
    found: list[tuple[str, str | None]] = []
    replied: str | None = ""
    for message in reversed(messages):
        role, content = message.get("role"), message.get("content", [])
        blocks = [] if isinstance(content, str) else content
        texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
        text = content if isinstance(content, str) else "\n".join(texts)
        if role == "assistant":
            is_call = any(block.get("type") == "tool_use" for block in blocks)
            replied = None if is_call or replied is None else text
        elif role == "tool":
            replied = None
        elif role == "user":
            found.append((text, replied))
            replied = ""
            if len(found) == CHAIN:
                break
    return found[::-1]
