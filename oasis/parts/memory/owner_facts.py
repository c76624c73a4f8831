"""What Oasis remembers of its owner: off until they turn it on; only they list, correct and forget it.

    memory.list, add, change, forget, export, set
    added(turn, extras)  the facts that matter for a turn, as a few lines of the system prompt
    after(turn)          a small model takes facts out of what the owner wrote, in a thread of its own

Messages are read one by one, in a thread that lives while some wait; what the owner forgets meanwhile is not written
again by the message being read. A failing model costs the facts of one message and a line in the log.

Only what the owner typed is read: no answer, no log, nothing that a device said. A message that may hold words of
others, as all do that come by a messenger, is read only with `memory_tainted`, and its facts carry the taint. Secrets
are never facts (extraction.py). Without facts nothing is added to a prompt, and no model is asked unless the owner
turned that on. Vectors of facts stay in memory, so forgetting means one file.

Fading is counted, not written: the file has one record that counts the days on which facts were used, each fact has
the number of the day on which it was last said, and its confidence now follows from both. So a day costs one short
line however many facts there are, no day counts twice, and weeks in which the router was off take nothing away. While
the clock is not trusted no day begins.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence

from oasis.config.settings import write
from oasis.core import schema
from oasis.errors import OasisError, StoreError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.ranking import Embedder
from oasis.parts.memory.structured import Structured, small
from oasis.system.records import Records
from oasis.tools.specs import is_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Extras, Services
    from oasis.parts.memory import extraction
    from oasis.parts.memory.shapes import EndedTurn, Fact, FactExport, FactList, FactSwitches, Place, Turn
    from oasis.uci.edit import Step

    Alike = Callable[[str, list[Fact]], tuple[list[float], float]]


# Who takes facts out of a message: the alias of the smallest model, that of titles, or who answered.
ALIASES = ("nano", "title")
# Messages that wait; more at once are a script's, and the oldest of them is left out.
WAITING = 8
# Older messages of the chat in which a password may have been said, and what tools were called with.
BEFORE = 12
_CLOSE_S = 0.5
SWITCH = ("0", "1")
# The options of the section `main`: whether facts are taken out of what is said, also of what holds words of others.
EXTRACT, TAINTED = "memory_extract", "memory_tainted"
# What a turn pays for its notes: a small model has two thousand tokens for everything.
LARGE_CHARS, SMALL_CHARS = 2000, 500


class Memory:
    """The facts of one daemon and what it does with them."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        path = kit.root.state_folder + "/memory/facts.jsonl"
        records = Records(kit.files, path, MOST + 1, kit.free_bytes, kit.log)
        self.facts = Facts(records, kit.clock.unix_s, kit.is_clock_trusted, kit.new_id)
        self.near = ranking.Near(lambda: Embedder(kit), lambda: self._data[0].empty, kit.log)
        self._structured = Structured(kit)
        self._lock = threading.Lock()
        self._waiting: list[EndedTurn] = []  # to be read
        self._thread: threading.Thread | None = None
        self._age = 0  # grows when everything that was read until then counts no more

    @functools.cached_property
    def _data(self) -> tuple[extraction.Words, extraction.Secrets]:
        from oasis.parts.memory import extraction  # a turn from which nothing is remembered does without

        words = extraction.Words()
        return words, extraction.Secrets(words.secret, words.empty, self._kit.redactor)

    # What front-ends call

    def memory_list(self) -> FactList:
        """Return all facts, the surest first."""
        self._begin_day()
        facts = self.facts.all()
        for fact in facts:
            del fact["day"]
        return {"facts": facts, "extract": self._is(EXTRACT), "tainted": self._is(TAINTED), "most": MOST}

    def memory_add(self, fact: str, category: str = "") -> dict[str, Fact | None]:
        """Keep what the owner writes."""
        from oasis.parts.memory import extraction

        text, category = self._checked(fact, category), category or extraction.CATEGORIES[0]
        is_home = bool(self._kit.settings.services()[0]["is_local"])
        alike = functools.partial(self.near.alike, is_home=is_home)
        return {"fact": self.facts.say(text, category, alike)}

    def memory_change(self, id: str, fact: str, category: str = "") -> dict[str, Fact]:
        """Put other words in place of a fact's."""
        return {"fact": self.facts.correct(id, self._checked(fact, category), category)}

    def memory_forget(self, id: str = "", all: bool = False) -> dict[str, int]:
        """Forget one fact or all of them; their words are off the flash when this returns."""
        if bool(id) == all:
            raise UsageError("either the id of a fact, or all of them", "list them: oasis memory")
        self._drop()
        self.near.drop()
        return {"forgotten": self.facts.forget([self.facts.get(id)["id"]]) if id else self.facts.forget_all()}

    def memory_export(self) -> FactExport:
        """Return everything that is kept about the owner."""
        return {"version": 1, "exported_unix_s": self._kit.clock.unix_s(), "facts": self.facts.all()}

    def memory_set(self, extract: bool | None = None, tainted: bool | None = None) -> FactSwitches:
        """Let facts be taken out of what the owner says, or not any more."""
        given = [(name, SWITCH[is_on]) for name, is_on in ((EXTRACT, extract), (TAINTED, tainted)) if is_on is not None]
        steps: list[Step] = [{"op": "set", "section": "main", "option": name, "value": value} for name, value in given]
        if steps:
            write(self._kit.cursor(), steps)
        if extract is False:
            self._drop()
        reply: FactSwitches = {"extract": self._is(EXTRACT), "tainted": self._is(TAINTED)}
        settings = self._kit.settings
        if extract and small(settings, settings.services()[0], ALIASES) is None:
            reply["note"] = "no model is set, so nothing is taken until one is: oasis setup"
        return reply

    def _is(self, option: str) -> bool:
        return bool(self._kit.settings.choice(option, SWITCH) == "1")

    def _checked(self, fact: str, category: str) -> str:
        from oasis.parts.memory import extraction

        text = extraction.line(fact)
        if not text:
            what = "a fact is one sentence of 3 to %d characters" % extraction.FACT_CHARS
            raise UsageError(what, "like: I work at night")
        reason = self._data[1].reason(text)
        if reason:
            raise UsageError("this is not remembered: " + reason, "secrets belong in no note: a model would see it")
        if category and category not in extraction.CATEGORIES:
            raise UsageError("there is no category %r" % category[:40], "one of " + ", ".join(extraction.CATEGORIES))
        return text

    # What turns call

    def _begin_day(self) -> None:
        try:
            self.facts.begin_day()
        except StoreError as error:
            self._kit.log("facts do not fade today: " + error.message)

    def added(self, turn: Turn, extras: Extras) -> None:
        """Add the facts that matter for a turn; unreadable facts do not stop it."""
        is_sent, service = bool(turn["run"]), turn.get("service")
        is_home, tokens = (service["is_local"], service["context_tokens"]) if service else (False, 0)
        is_small = service is None or (not is_large(tokens) if tokens else is_home)
        try:
            if is_sent:
                self._begin_day()
            sure = self.facts.sure()
            found = self.near.nearest(turn["said"], sure, is_small, is_sent, is_home) if sure else []
            # What was no secret when it was said may have become one.
            found = [fact for fact in found if not self._data[1].reason(fact["fact"])]
        except OasisError as error:
            self._kit.log("a model gets no facts: " + error.message)
            return
        lines: list[str] = []
        room = SMALL_CHARS if is_small else LARGE_CHARS
        for fact in found:
            line = "- [%s] %s" % (fact["category"], fact["fact"])
            room -= len(line) + 1
            if room >= 0:
                lines.append(line)
                extras.taint.extend(label for label in fact.get("taint", []) if label not in extras.taint)
        if lines:
            extras.system.append("\n".join([self._data[0].context, *lines]))

    def after(self, turn: EndedTurn) -> None:
        """Take facts out of what the owner wrote, if that is on and there may be one."""
        if not self._is(EXTRACT) or (turn.get("taint") and not self._is(TAINTED)):
            return
        words, secrets = self._data
        if words.is_talk(turn["said"]) or secrets.speaks_of(turn["said"]):
            return
        with self._lock:
            self._waiting = [*self._waiting, turn][-WAITING:]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="facts", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the thread that reads."""
        self._drop()
        thread = self._thread
        if thread is not None:
            thread.join(_CLOSE_S)

    def _drop(self) -> None:
        """Leave out what waits, and what is being read."""
        with self._lock:
            self._waiting = []
            self._age += 1

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                turn, age = self._waiting.pop(0), self._age
            try:
                self._read(turn, lambda age=age: self._age != age)  # type: ignore[misc]
            except OasisError as error:
                self._kit.log("no facts are taken out of a message: " + error.message)
            except Exception as bug:  # a thread of nobody's: its end would be silent
                self._kit.log("a fault while facts were read: %s: %s" % (type(bug).__name__, bug))

    def _read(self, turn: EndedTurn, is_cancelled: Callable[[], bool]) -> None:
        """Ask a model for the facts in what was said, keep them, and tell whoever follows the run."""
        from oasis.parts.memory import extraction

        words, secrets = self._data
        service = small(self._kit.settings, turn["service"], ALIASES)
        if service is None:
            return
        is_home = bool(turn["service"].get("is_local"))
        # What is shown taints what comes of it: facts with words of others are for messages that have them, too.
        whose = turn.get("taint") or []
        sure = [fact for fact in self.facts.sure() if set(fact.get("taint", [])) <= set(whose)]
        known = [fact["fact"] for fact in self.near.nearest(turn["said"], sure, True, True, is_home)]
        messages, form = extraction.asked(words, turn["said"], known)
        found = extraction.read(self._structured.answer(service, messages, form, is_cancelled))
        # Secrets are looked for in what the owner said in the chat, and in what tools were called with.
        before, inputs = [turn["said"]], []
        try:
            page = self._kit.chats.page(turn["chat"], limit=BEFORE)["messages"] if found else []
            before = [schema.text_of(message) for message in page if message["role"] == "user"]
            inputs = [call["input"] for message in page for call in schema.tool_uses(message)]
        except UsageError:
            pass  # the chat was deleted meanwhile
        said = secrets.said(before)
        alike = functools.partial(self.near.alike, is_home=is_home)
        source: Place = {"chat": turn["chat"], "message": turn["message"]}
        kept = []
        for one in found:
            if not extraction.is_from(one["fact"], turn["said"], words) or secrets.reason(one["fact"], said, inputs):
                continue
            if self.facts.say(
                one["fact"], one["category"], alike, is_cancelled, taint=whose, source=source,
                supersedes=one["supersedes"],
            ):  # fmt: skip
                kept.append(one["fact"])
        try:
            if kept:
                note = "remembered: %s (see: oasis memory)" % "; ".join(kept)
                self._kit.runs.get(turn["run"]).emit("note", text=note)
        except UsageError:
            pass  # nobody follows it any more


gather = Memory

# What a person keeps in order; each costs some 250 bytes of flash, and a listing of all stays below a reply of the bus.
MOST = 300
# The seed's numbers.
MORE = 0.1
FADE = 0.95
FADES_AFTER_DAYS = 7
SHOWN = 0.3
GONE_AFTER_DAYS = 30
DAY_S = 86400
_KINDS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("fact", str), ("category", str), ("created_unix_s", int), ("updated_unix_s", int), ("day", int),
    ("confidence", (int, float)),
)  # fmt: skip
_DAYS = "days"  # the id of the record that counts them; no xid has four letters


class Facts:
    """`is_trusted(newest_unix_s)` tells whether the wall clock is believed; `new_id()` gives ids."""

    def __init__(
        self, records: Records, unix_s: Callable[[], int], is_trusted: Callable[[int], bool], new_id: Callable[[], str]
    ) -> None:
        self._records = records
        self._unix_s = unix_s
        self._is_trusted = is_trusted
        self._new_id = new_id
        self._lock = threading.RLock()

    def all(self) -> list[Fact]:
        """Return all facts as they are now, those that faded too; the surest first, then the newest."""
        with self._lock:
            _, count = self._days()
            facts: list[Fact] = [{**fact, "confidence": faded(fact, count)} for fact in self._living()]
            return sorted(facts, key=lambda fact: (-fact["confidence"], -fact["updated_unix_s"], fact["id"]))

    def sure(self) -> list[Fact]:
        """Return the facts that a model may see."""
        return [fact for fact in self.all() if fact["confidence"] >= SHOWN]

    def get(self, name: str) -> Fact:
        """Return a fact. Raises: UsageError for an unknown id."""
        found = next((fact for fact in self.all() if fact["id"] == name), None)
        if found is None:
            raise UsageError("there is no fact %r" % name, "list them: oasis memory")
        return found

    def say(
        self, text: str, category: str, alike: Alike, is_dropped: Callable[[], bool] = bool, *,
        taint: Sequence[str] = (), source: Place | None = None, supersedes: str = "",
    ) -> Fact | None:  # fmt: skip
        """Keep a fact: a new one, or in place of the one that says the same, which becomes surer; return it.

        `supersedes` names a fact that this one takes the place of. What others' words are in never touches a fact
        without them. When `is_dropped` at the time of writing, nothing is kept.
        Raises: StoreError when there are too many, or the flash refuses.
        """
        facts = [fact for fact in self.sure() if set(taint) <= set(fact.get("taint", []))]
        same = _same(text, facts, alike)  # which may ask a service, so nobody waits for it meanwhile
        meant = _same(supersedes, facts, alike) if supersedes else None
        with self._lock:
            if is_dropped():
                return None
            living = {fact["id"] for fact in self.all()}
            same, meant = [one if one and one["id"] in living else None for one in (same, meant)]
            if not same and not meant and len(living) >= MOST:
                raise StoreError("there are %d facts already" % MOST, "forget some: oasis memory forget ID")
            fact = self._fact(text, category, same)
            if meant and not same:
                fact["id"] = meant["id"]
            fact.update({"taint": list(taint)} if taint else {}, **({"source": source} if source else {}))
            self._records.put({**fact})
            if meant and same and meant["id"] != same["id"]:
                self.forget([meant["id"]])
            return fact

    def _fact(self, text: str, category: str, same: Fact | None) -> Fact:
        newest_s = self._newest_s()
        now_s = self._unix_s()
        if not self._is_trusted(newest_s):
            now_s = max(now_s, newest_s)  # a router wakes up in the past, seldom in the future
        return {
            "id": same["id"] if same else self._new_id(), "fact": text, "category": category,
            "confidence": min(round(same["confidence"] + MORE, 4), 1.0) if same else 1.0,
            "created_unix_s": same["created_unix_s"] if same else now_s, "updated_unix_s": now_s,
            "day": self._days()[1],
        }  # fmt: skip

    def correct(self, name: str, text: str, category: str) -> Fact:
        """Put the owner's words in place of a fact's; it is sure again, and nobody else's words are in it."""
        with self._lock:
            old = self.get(name)
            fact = self._fact(text, category or old["category"], old)
            fact["confidence"] = 1.0
            self._records.put({**fact})
            self._records.compact()  # what it said before is gone from the flash as well
            return fact

    def forget(self, names: list[str]) -> int:
        """Forget facts for good; return how many there were."""
        with self._lock:
            count = self._records.delete(names, forget=True)
            if count and not self._living():
                self._records.delete([_DAYS], forget=True)  # without facts nothing is left at all
            return count

    def forget_all(self) -> int:
        """Forget everything; return how many facts there were."""
        with self._lock:
            count = len(self.all())
            self._records.delete([record["id"] for record in self._records.all()], forget=True)
            return count

    def begin_day(self) -> None:
        """Count today where that is not done yet, and let go what faded long ago. Raises: StoreError."""
        with self._lock:
            if not self._records.count():
                return
            (last, count), today = self._days(), self._unix_s() // DAY_S
            if today == last or not self._is_trusted(self._newest_s()):
                return
            # A day before the last one: the clock was ahead for a while, and goes on from here without counting.
            self._records.put({"id": _DAYS, "last": today, "count": count + (today > last)})
            oldest_s = self._unix_s() - GONE_AFTER_DAYS * DAY_S
            faint = [fact for fact in self.all() if fact["confidence"] < SHOWN]
            gone = [fact["id"] for fact in faint if fact["updated_unix_s"] < oldest_s]
            if gone:
                self._records.delete(gone, forget=True)

    def _living(self) -> list[Fact]:
        """Return the records that can be used: the file is the owner's, who may have written into it."""
        return [
            record  # type: ignore[misc]  # checked
            for record in self._records.all()
            if all(isinstance(record.get(key), kind) for key, kind in _KINDS)
        ]

    def _days(self) -> tuple[int, int]:
        """Return the last day that was counted, and how many were."""
        found = self._records.get(_DAYS) or {}
        last, count = found.get("last"), found.get("count")
        return (last, count) if type(last) is int and type(count) is int else (0, 0)

    def _newest_s(self) -> int:
        return max([record["updated_unix_s"] for record in self._living()], default=0)


def faded(fact: Fact, count: int) -> float:
    """Return how sure a fact is after so many days of use; one that is not shown any more fades no further."""
    sure = float(fact["confidence"])
    for _ in range(count - int(fact.get("day", 0)) - FADES_AFTER_DAYS):
        if sure <= SHOWN:
            break
        sure *= FADE
    return round(sure, 4)


def _same(text: str, facts: list[Fact], alike: Alike) -> Fact | None:
    """Return the fact of these very words, else the nearest that says the same."""
    for fact in facts:
        if fact["fact"].casefold() == text.casefold():
            return fact
    scores, least = alike(text, facts) if facts else ([], 1.0)
    best = max(scores, default=0.0)
    return facts[scores.index(best)] if best > least else None
