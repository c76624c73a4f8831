"""The facts of one router: kept, merged, reinforced, let fade and forgotten.

Shape of a fact: {"id", "fact", "category", "confidence", "created_unix_s", "updated_unix_s", "day", "taint"?: [whose
words], "source"?: {"chat", "message"}}.

Fading is counted, not written: the file has one record with the days on which facts were used, each fact has the
number of the day on which it was last said, and how sure it is now follows from both. So a day costs one short line
however many facts there are, no day counts twice, and weeks in which the router was off take nothing away. Where the
clock is not trusted no day begins. Knows no model: whether two facts are the same, the caller's `alike` tells.
"""

from __future__ import annotations

import threading

from oasis.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from oasis.system.records import Records

    Fact = dict[str, Any]
    # (text, facts) -> how alike each is, and from where on two are the same
    Alike = Callable[[str, list[Fact]], tuple[list[float], float]]

# What a person keeps in order; each costs some 250 bytes of flash, and a listing of all stays below a reply of the bus.
MOST = 300
# The seed's numbers.
MORE = 0.1
FADE = 0.95
FADES_AFTER_DAYS = 7
SHOWN = 0.3
GONE_AFTER_DAYS = 30
DAY_S = 86400
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

    # Looking

    def all(self) -> list[Fact]:
        """Return all facts as they are now, those that faded too; the surest first, then the newest."""
        with self._lock:
            count = int(self._days().get("count", 0))
            facts = [
                {**record, "confidence": faded(record, count)} for record in self._records.all() if _is_fact(record)
            ]
            return sorted(facts, key=lambda fact: (-fact["confidence"], -fact["updated_unix_s"], fact["id"]))

    def sure(self) -> list[Fact]:
        """Return the facts that a model may be told."""
        return [fact for fact in self.all() if fact["confidence"] >= SHOWN]

    def get(self, name: str) -> Fact:
        """Return a fact. Raises: UsageError for an id that there is not."""
        for fact in self.all():
            if fact["id"] == name:
                return fact
        raise UsageError("there is no fact %r" % name, "list them: oasis memory")

    # Saying

    def say(
        self, text: str, category: str, alike: Alike, is_dropped: Callable[[], bool] = bool, taint: Sequence[str] = (),
        source: dict[str, str] | None = None, supersedes: str = "",
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
            self._records.put(fact)
            if meant and same and meant["id"] != same["id"]:
                self.forget([meant["id"]])
            return fact

    def _fact(self, text: str, category: str, same: Fact | None) -> Fact:
        now_s = self._now_s()
        return {
            "id": same["id"] if same else self._new_id(),
            "fact": text,
            "category": category,
            "confidence": min(round(same["confidence"] + MORE, 4), 1.0) if same else 1.0,
            "created_unix_s": same["created_unix_s"] if same else now_s,
            "updated_unix_s": now_s,
            "day": int(self._days().get("count", 0)),
        }

    def correct(self, name: str, text: str, category: str) -> Fact:
        """Put the owner's words in place of a fact's; it is sure again, and nobody else's words are in it."""
        with self._lock:
            old = self.get(name)
            fact = {**self._fact(text, category or old["category"], old), "confidence": 1.0}
            self._records.put(fact)
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

    # Days

    def begin_day(self) -> None:
        """Count today where that is not done yet, and let go what faded long ago; without facts nothing is written.

        Raises: StoreError when the flash refuses.
        """
        with self._lock:
            if not self._records.count():
                return
            days, today = self._days(), self._unix_s() // DAY_S
            last = int(days.get("last", 0))
            if today == last or not self._is_trusted(self._newest_s()):
                return
            # A day before the last one: the clock was ahead for a while, and goes on from here without counting.
            count = int(days.get("count", 0)) + (today > last)
            self._records.put({"id": _DAYS, "last": today, "count": count})
            oldest_s = self._unix_s() - GONE_AFTER_DAYS * DAY_S
            gone = [
                fact["id"] for fact in self.all() if fact["confidence"] < SHOWN and fact["updated_unix_s"] < oldest_s
            ]
            if gone:
                self._records.delete(gone, forget=True)

    def _living(self) -> list[Fact]:
        return [record for record in self._records.all() if _is_fact(record)]

    def _days(self) -> dict[str, Any]:
        found = self._records.get(_DAYS) or {}
        return found if all(type(found.get(key)) is int for key in ("last", "count")) else {}

    def _now_s(self) -> int:
        """Return the wall time, or the latest that is known where the clock is not trusted."""
        newest_s = self._newest_s()
        return self._unix_s() if self._is_trusted(newest_s) else newest_s

    def _newest_s(self) -> int:
        times = [record["updated_unix_s"] for record in self._living()]
        return max(times, default=0)


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


_KINDS = (("fact", str), ("category", str), ("created_unix_s", int), ("updated_unix_s", int), ("day", int))


def _is_fact(record: dict[str, Any]) -> bool:
    """Return whether a record can be used: the file is the owner's, who may have written into it."""
    sure = record.get("confidence")
    return isinstance(sure, (int, float)) and all(isinstance(record.get(key), kind) for key, kind in _KINDS)
