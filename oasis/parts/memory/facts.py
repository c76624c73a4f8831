"""What Oasis remembers of its owner: off until he says so, listed, corrected and forgotten by him alone.

    memory.list, add, change, forget, export, set    see table.py
    added(turn, told)    the facts that matter for a turn, as a few lines of the system message
    after(turn)          facts from what the owner said, taken out by a small model in a thread of its own

Only what the owner himself typed is read: no answer, no log, nothing that a device said; a message that may have words
of others in it, as all that came by a messenger, only where he set that too (`memory_tainted`), and what comes of it
carries their taint. Secrets are no facts
(facts_kept.py). Where the router holds no fact nothing is told to a model, and nothing is asked of one where the
owner did not turn it on. Vectors of facts are in memory alone, so that forgetting is one file.
"""

from __future__ import annotations

from oasis.config.settings import write
from oasis.errors import OasisError, StoreError, UsageError
from oasis.parts.memory import facts_near, facts_reading
from oasis.parts.memory.facts_kept import MOST, Facts
from oasis.parts.memory.facts_reading import Reading
from oasis.system.records import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.memory.facts_kept import Secrets

    Fact = dict[str, Any]
    Turn = dict[str, Any]

SWITCH = ("0", "1")
# The options of the section `main`: whether facts are taken out of what is said, also of what holds words of others.
EXTRACT, TAINTED = "memory_extract", "memory_tainted"
# What a turn pays for its notes: a small model has two thousand tokens for everything.
LARGE_CHARS, SMALL_CHARS = 2000, 500
_LARGE_TOKENS = 32_000


def gather(kit: Any) -> Memory:
    """Return the part of a daemon; `kit` as in parts.py."""
    return Memory(kit)


class Memory:
    """The facts of one daemon and what it does with them."""

    def __init__(self, kit: Any) -> None:
        self._kit = kit
        path = kit.root.state_folder + "/memory/facts.jsonl"
        records = Records(kit.files, path, MOST + 1, kit.free_bytes, kit.log)
        self.facts = Facts(records, kit.clock.unix_s, kit.is_clock_trusted, kit.new_id)
        self._made: tuple[facts_reading.Words, Secrets] | None = None
        self.near = facts_near.Near(lambda: _embedder(kit), lambda: self._data()[0].empty, kit.log)
        self._reading = Reading(kit, self.facts, self.near, self._data)

    def _data(self) -> tuple[facts_reading.Words, Secrets]:
        if self._made is None:
            from oasis.parts.memory.facts_kept import Secrets  # with the first fact

            words = facts_reading.Words()
            self._made = words, Secrets(words.secret, words.empty, self._kit.redactor)
        return self._made

    # What front-ends call

    def memory_list(self) -> dict[str, object]:
        """Return all facts, the surest first. Shape: {"facts": [as facts_kept.py], "extract", "tainted", "most"}."""
        self.daily()
        facts = [{key: fact[key] for key in fact if key != "day"} for fact in self.facts.all()]
        return {"facts": facts, "extract": self._is(EXTRACT), "tainted": self._is(TAINTED), "most": MOST}

    def memory_add(self, fact: str, category: str = "") -> dict[str, object]:
        """Keep what the owner writes."""
        text, category = self._checked(fact), _category(category)
        is_home = bool(self._kit.settings.services()[0]["is_local"])
        alike = lambda text, facts: self.near.alike(text, facts, is_home)  # noqa: E731
        kept = self.facts.say(text, category or facts_reading.CATEGORIES[0], alike)
        return {"fact": kept}

    def memory_change(self, id: str, fact: str, category: str = "") -> dict[str, object]:
        """Put other words in place of a fact's."""
        return {"fact": self.facts.correct(id, self._checked(fact), _category(category))}

    def memory_forget(self, id: str = "", all: bool = False) -> dict[str, object]:
        """Forget one fact or all of them; their words are off the flash when this returns."""
        if bool(id) == all:
            raise UsageError("either the id of a fact, or all of them", "list them: oasis memory")
        self._reading.drop()
        self.near.drop()
        if id:
            self.facts.get(id)
        return {"forgotten": self.facts.forget([id]) if id else self.facts.forget_all()}

    def memory_export(self) -> dict[str, object]:
        """Return everything that is kept about the owner."""
        return {"version": 1, "exported_unix_s": self._kit.clock.unix_s(), "facts": self.facts.all()}

    def memory_set(self, extract: bool | None = None, tainted: bool | None = None) -> dict[str, object]:
        """Let facts be taken out of what the owner says, or not any more."""
        given = {EXTRACT: extract, TAINTED: tainted}
        steps = [
            {"op": "set", "section": "main", "option": name, "value": SWITCH[value]}
            for name, value in given.items()
            if value is not None
        ]
        if steps:
            write(self._kit.cursor(), steps)
        if extract is False:
            self._reading.drop()
        reply: dict[str, object] = {"extract": self._is(EXTRACT), "tainted": self._is(TAINTED)}
        if extract and not self._reading.has_model():
            reply["note"] = "no model is set, so nothing is taken until one is: oasis setup"
        return reply

    def _is(self, option: str) -> bool:
        return bool(self._kit.settings.choice(option, SWITCH) == "1")

    def _checked(self, fact: str) -> str:
        text = facts_reading.line(fact)
        if not text:
            raise UsageError(
                "a fact is one sentence of 3 to %d characters" % facts_reading.FACT_CHARS, "like: I work at night"
            )
        reason = self._data()[1].reason(text)
        if reason:
            raise UsageError(
                "this is not remembered: " + reason, "secrets belong into no note: a model would be told it"
            )
        return text

    # What turns call

    def daily(self) -> None:
        """Do what is due once a day; whoever has a timer may call it as often as it likes."""
        try:
            self.facts.begin_day()
        except StoreError as error:
            self._kit.log("facts do not fade today: " + error.message)

    def added(self, turn: Turn, told: Any) -> None:
        """Tell a model the facts that matter for a turn; where they cannot be read, it is answered without."""
        try:
            self._add(turn, told)
        except OasisError as error:
            self._kit.log("a model is told no facts: " + error.message)

    def _add(self, turn: Turn, told: Any) -> None:
        is_sent = bool(turn["run"])
        if is_sent:
            self.daily()
        sure = self.facts.sure()
        if not sure:
            return
        service = turn.get("service") or {}
        is_small = _is_small(service)
        found = self.near.nearest(turn["said"], sure, is_small, is_sent, bool(service.get("is_local")))
        # What was no secret when it was said may have become one.
        told_of = [fact for fact in found if not self._data()[1].reason(fact["fact"])]
        lines, taint = _lines(told_of, SMALL_CHARS if is_small else LARGE_CHARS)
        if lines:
            told.system.append("\n".join([self._data()[0].context, *lines]))
            told.taint += [label for label in taint if label not in told.taint]

    def after(self, turn: Turn) -> None:
        """Take facts out of what the owner said, where he wants that and there may be one."""
        if not self._is(EXTRACT) or (turn.get("taint") and not self._is(TAINTED)):
            return
        words, secrets = self._data()
        if not words.is_talk(turn["said"]) and not secrets.speaks_of(turn["said"]):
            self._reading.read(turn)

    def close(self) -> None:
        """End the thread that reads."""
        self._reading.close()


def _category(given: str) -> str:
    if given and given not in facts_reading.CATEGORIES:
        raise UsageError("there is no category %r" % given[:40], "one of " + ", ".join(facts_reading.CATEGORIES))
    return given


def _is_small(service: dict[str, Any]) -> bool:
    tokens = int(service.get("context_tokens", 0))
    return tokens < _LARGE_TOKENS if tokens else bool(service.get("is_local", True))


def _lines(facts: list[Fact], most: int) -> tuple[list[str], list[str]]:
    """Return the lines of facts that have room, and whose words are in them."""
    lines: list[str] = []
    taint: list[str] = []
    for fact in facts:
        line = "- [%s] %s" % (fact["category"], fact["fact"])
        most -= len(line) + 1
        if most >= 0:
            lines.append(line)
            taint += [label for label in fact.get("taint", []) if label not in taint]
    return lines, taint


def _embedder(kit: Any) -> Any:
    from oasis.parts.memory.structured import embedder  # with the first fact

    return embedder(kit)
