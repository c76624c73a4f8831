"""The facts of one router: kept, merged, reinforced, let fade and forgotten.

Shape of a fact: {"id", "fact", "category", "confidence", "created_unix_s", "updated_unix_s", "day", "taint"?: [whose
words], "source"?: {"chat", "message"}}.

Fading is counted, not written: the file has one record with the days on which facts were used, each fact has the
number of the day on which it was last said, and how sure it is now follows from both. So a day costs one short line
however many facts there are, no day counts twice, and weeks in which the router was off take nothing away. Where the
clock is not trusted no day begins. Knows no model: whether two facts are the same, the caller's `alike` tells.

Secrets are never remembered, in any form in which somebody may write one:

    reason(text, ...)     why a text is no fact, "" where nothing speaks against it
    speaks_of(text)       whether a message is about passwords or keys, so that nothing in it is read at all
    said(texts)           what in older messages stood near such a word, for it may come again without it

A lost fact costs little; one that holds a password goes to every model from then on: in doubt it is refused. What the
router itself holds is known to the redactor, which enters as an argument.
"""

from __future__ import annotations

import re
import threading
from itertools import islice, pairwise

from oasis.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from oasis.system.records import Records

    Fact = dict[str, Any]
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


# A short secret that the router holds (a PIN) is looked for as a word; below this anything would be one.
_HELD_CHARS = 4
# From here on a word of secret talk is found inside others as well ("WLAN-Passwort"), shorter ones stand alone.
_INSIDE_CHARS = 6
# Words behind a word for a secret among which that secret is thought to be; how often that is looked for in a message.
_NEAR = 8
_NEAR_CHARS = 300
_SAID = 50
_MASKED = re.compile(r"«\s*\w+\s*:|\*{4,}|•{3,}|\[redacted\]|<(?:password|key|secret|token)>", re.I)
# Forms that keys have. Source: the documentations of their makers, RFC 7515 (JWT), RFC 7468 (PEM), WireGuard's keys.
_KEYS = re.compile(
    r"-----BEGIN|\bssh-(?:rsa|ed25519|dss)\s|\becdsa-sha2-|\bAAAA[A-Za-z0-9+/]{16,}"
    r"|\b(?:sk|rk|pk|gsk|xai|csk|hf|nvapi|pplx|ghp|gho|ghu|ghs|ghr|glpat|npm|pypi|xox[abprs]|shpat|dop_v1)[-_][\w-]{8,}"
    r"|\bgithub_pat_\w+|\bAKIA[0-9A-Z]{12,}|\bASIA[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w-]+"
    r"|\beyJ[\w-]{8,}\.[\w-]{4,}|\b[0-9]{6,}:[\w-]{25,}|\bBearer\s+\S{8,}|\bBasic\s+[A-Za-z0-9+/=]{8,}"
    r"|\botpauth://|\bWIFI:[^\s]*;P:|://[^/@\s:]*:[^/@\s]+@"
    r"|[?&](?:token|key|api_?key|pass|passwd|password|pwd|secret|auth)=[^&\s]"
    r"|\$(?:1|2[aby]|5|6|y|argon2\w*)\$\S+|\{SHA\}|\bLS0tLS1CRUdJTi",
    re.I,
)
# Long runs of letters and digits that are no words: hexadecimal, base 32, base 64.
_HEX = re.compile(r"\b[0-9a-f]{16,}\b", re.I)
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_GROUPS = re.compile(r"\b[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,}\b")
_CARD = re.compile(r"\b[0-9](?:[ -]?[0-9]){12,18}\b")
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_MAC = re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.I)
_WORD = re.compile(r"\S+")
_LATIN = re.compile(r"[!-~]+")
# A code of a door, a lock or a telephone; years are none.
_CODE = re.compile(r"(?<![\w.:/-])(?!(?:19|20)[0-9]{2}(?!\d))[0-9]{4,12}(?![\d:/-]|\.\d)")
_ASSIGNED = re.compile(r"(?<![\w@.-])[\w@-]+\.[^\s.='\"]+\.(?:key|sae_password|psk|password|passwd|secret|private_key|"
                       r"preshared_key|pincode|token|api_key|username)\s*[= ]", re.I)  # fmt: skip


class Secrets:
    """What counts as secret. `redactor` knows what the router holds.

    `words` stand before a secret, `empty` ones are none (facts.json).
    """

    def __init__(self, words: Iterable[str], empty: Iterable[str], redactor: Any) -> None:
        self._redactor = redactor
        self._empty = set(empty)
        inside = [word for word in words if len(word) >= _INSIDE_CHARS or not word.isascii()]
        alone = [word for word in words if word not in inside]
        self._talk = re.compile(
            "|".join([re.escape(word) for word in inside] + [r"(?<!\w)%s(?!\w)" % re.escape(word) for word in alone])
        )

    def speaks_of(self, text: str) -> bool:
        """Return whether a message is about secrets, or sets one."""
        plain = text.casefold()
        return bool(self._talk.search(plain) or _MASKED.search(text) or _ASSIGNED.search(plain))

    def said(self, texts: Iterable[str]) -> set[str]:
        """Return the words of messages that may have been secrets: what stands near a word for one, or looks odd."""
        found: set[str] = set()
        for text in texts:
            if self.speaks_of(text):
                plain = text.casefold()
                near = [
                    word
                    for place in islice(self._talk.finditer(plain), _SAID)
                    for word in _WORD.findall(plain[place.end() : place.end() + _NEAR_CHARS])[:_NEAR]
                ]
                odd = [word for word in map(_bare, _LATIN.findall(text)) if _is_odd(word)]
                found.update([*map(_bare, near), *odd[:_SAID]])
        return {word for word in found if len(word) >= _HELD_CHARS and word.casefold() not in self._empty}

    def reason(self, text: str, said: Iterable[str] = (), inputs: Any = ()) -> str:
        """Return why a text is not remembered; `said` as above, `inputs` what tools were called with beside it."""
        if self.speaks_of(text):
            return "it speaks of a password or key"
        if _KEYS.search(text) or _has_run(text):
            return "it holds what looks like a key"
        if _is_card(text) or _IBAN.search(text) or _CODE.search(text):
            return "it holds what looks like a code or an account"
        if self._redactor.first_words(text, list(inputs)) != text or self._holds(text):
            return "it holds a secret of this router"
        plain = text.casefold()
        words = _words(plain)
        if any(word.casefold() in words or (_is_odd(word) and word.casefold() in plain) for word in said):
            return "it holds what may be a password that was said before"
        return ""

    def _holds(self, text: str) -> bool:
        """Return whether a secret that is too short for the redactor stands in a text as a word."""
        words = _words(text)
        return any(
            len(secret[4]) >= _HELD_CHARS and (secret[4] in words or (" " in secret[4] and secret[4] in text))
            for secret in self._redactor.held()
        )


_MARKS = ".,;:!?()[]{}<>\"'`“”„«»‘’=、。"


def _bare(word: str) -> str:
    return word.strip(_MARKS)


def _words(text: str) -> set[str]:
    return {_bare(word) for word in _WORD.findall(text)} | set(re.split(r"\W+", text))


def _is_odd(word: str) -> bool:
    """Return whether a word has digits or signs, as passwords do."""
    has_digit, has_sign = any(map(str.isdigit, word)), any(not char.isalnum() and char not in "-_.'" for char in word)
    return len(word) >= _HELD_CHARS and (has_digit or has_sign)


def _has_run(text: str) -> bool:
    bare = _MAC.sub(" ", text)
    if _HEX.search(bare) or _GROUPS.search(bare):
        return True
    return any(_is_random(run) for run in _RUN.findall(bare))


def _is_random(run: str) -> bool:
    """Return whether a long run changes its kind of letter as often as no word or name with dashes does."""
    if run.endswith("="):
        return True
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" if char.islower() else "" for char in run]
    changes = len([1 for one, other in pairwise(kinds) if one and other and one != other])
    return changes * 4 >= len(run)


def _is_card(text: str) -> bool:
    """Return whether a text holds a number with the check digit of cards (Luhn, ISO/IEC 7812)."""
    for match in _CARD.findall(text):
        digits = [int(char) for char in match if char.isdigit()]
        total = sum(digit if at % 2 == 0 else (digit * 2 - 9 if digit > 4 else digit * 2)
                    for at, digit in enumerate(reversed(digits)))  # fmt: skip
        if total % 10 == 0:
            return True
    return False
