"""What a plan says about changes that end by themselves: what is said again stays for good, or gets another end.

A record that ends has `until_unix_s` and, where parts of it end at other times, `ends`: {place: Unix time, 0 for
never}, a place being one of reverse.py with the package before it. These two are its state. A plan has `ends`:
    [{"change", "before": state, "after": state}]
bound by its hash. When the plan is kept, `after` becomes the state of that record; an undo of the plan brings `before`
back. What nobody says anything about ends as it was approved.
"""

from __future__ import annotations

from oasis.change.apply.journal import is_standing as is_standing
from oasis.change.history import reverse
from oasis.core import when
from oasis.errors import UciError, UsageError
from oasis.uci import edit, model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.journal import Journal
    from oasis.change.shapes import Callable, Collection, Draft, End, Ends, Fall, Mention, Moved, Operation, Record
    from oasis.uci.model import Package, Section

REASON = "changes when an earlier change ends"
# Places named in a sentence; the commands on the card name them all.
_NAMED = 4
_FOR_GOOD = "stays for good; it would have ended at %s"


def state(record: Record) -> End:
    """Return when a change ends."""
    return {"until_unix_s": record.get("until_unix_s", 0), "ends": record.get("ends_at", {})}


def fields(kept: End) -> dict[str, int | str | dict[str, int]]:
    """Return a state as the fields of a record."""
    return {"until_unix_s": kept["until_unix_s"] or "", "ends_at": kept["ends"] or ""}


def stays(record: Record, now_s: float) -> dict[str, int]:
    """Return the places of a change that stay when it ends now, and until when."""
    return {place: end for place, end in record.get("ends_at", {}).items() if end == 0 or end > now_s}


def within(places: Collection[str], package: str) -> list[str]:
    """Return the places of a package, as reverse.py calls them."""
    return [place.partition(".")[2] for place in places if place.partition(".")[0] == package]


def places(journal: Journal, record: Record, read: Callable[[str], bytes]) -> list[str]:
    """Return all places of a change where its end would take something back now."""
    found = []
    for name in map(str, record["packages"]):
        try:
            falls = _falls(journal, record, name, model.parse(read(name), name))
        except (UciError, UsageError):
            continue  # its program or its images are gone: it cannot end, and that is reported then
        found += ["%s.%s" % (name, fall["place"]) for fall in falls]
    return found


def ending(journal: Journal, read: Callable[[str], bytes]) -> list[str]:
    """Return the places on this router that will go back by themselves."""
    found = []
    for record in journal.ending():
        kept = record.get("ends_at", {})
        found += [place for place in places(journal, record, read) if kept.get(place, 1)]
    return found


def _falls(journal: Journal, record: Record, name: str, now: Package) -> list[Fall]:
    before, after = (model.parse(data, name) for data in journal.images(record["id"], name))
    return reverse.falling(before, after, now)


def _settled(until_unix_s: int, ends: dict[str, int], standing: Collection[str]) -> End:
    """Return a state whose `until_unix_s` is the next end of what stands: that is what people are shown."""
    times = {place: ends.get(place, until_unix_s) for place in {*ends, *standing}}
    coming = [times[place] for place in standing if times[place]]
    if not coming:
        return {"until_unix_s": 0, "ends": {}}
    first = min(coming)
    return {"until_unix_s": first, "ends": {place: times[place] for place in sorted(times) if times[place] != first}}


def after_end(record: Record, standing: Collection[str], now_s: float) -> End:
    """Return the state of a change of which a part has ended now."""
    later = stays(record, now_s)
    return _settled(0, {**dict.fromkeys(standing, 0), **later}, [place for place in standing if place in later])


class Said:
    """What operations say about one router's changes that end.

    `entries` go into the plan, `words` onto the card; `is_risky`: one of these changes was; `until_unix_s`: all that
    the plan changes stands in what ends then, so it ends with it.
    """

    def __init__(self, journal: Journal, steps: list[Operation], until_unix_s: int, read: Callable[[str], bytes]):
        self.entries: list[Ends] = []
        self.words: list[str] = []
        self.untrusted: list[str] = []
        self.is_risky = False
        self.until_unix_s = until_unix_s
        self._journal, self._read = journal, read
        records = journal.ending()
        if not records:
            return
        looks = {name: _Look(name, read(name), steps) for name in {str(one["package"]) for one in steps}}
        found = [(record, self._mentions(record, looks)) for record in records]
        if not until_unix_s:
            every = [one for _, some in found for one in some]
            parts = {one["section"]: one["end"] for one in every if one["how"] == "part"}
            changed = [one for look in looks.values() for one in look.changed()]
            if changed and set(changed) <= set(parts) and not any(one["how"] == "same" for one in every):
                self.until_unix_s = min(parts.values())
        for record, mentions in found:
            if mentions:
                self._tell(record, mentions)

    def _mentions(self, record: Record, looks: dict[str, _Look]) -> list[Mention]:
        """Return what is said about places of a change. Shape: {"place", "end", "how", "section": id}"""
        kept = state(record)
        found: list[Mention] = []
        for name in record["packages"]:
            if name not in looks:
                continue
            look = looks[name]
            try:
                falls = [(fall, look.how(fall)) for fall in _falls(self._journal, record, name, look.now)]
                known = [fall["place"] for fall, _ in falls]
                falls += [
                    (fall, look.how_made(fall))
                    for fall in _falls(self._journal, record, name, look.then)
                    if fall["place"] not in known
                ]
            except UsageError:
                continue
            for fall, how in falls:
                place = "%s.%s" % (name, fall["place"])
                end = int(kept["ends"].get(place, kept["until_unix_s"]))
                if end and how:
                    found.append({"place": place, "end": end, "how": how, "section": id(fall["section"])})
        return found

    def _tell(self, record: Record, mentions: list[Mention]) -> None:
        until, before = self.until_unix_s, state(record)
        # What the plan changes for a shorter time falls back to what stands there until its own end.
        moved = [
            one for one in mentions
            if one["end"] != until and (one["how"] == "same" or not until or until > one["end"])
        ]  # fmt: skip
        new = {one["place"]: until for one in moved}
        standing = list({*places(self._journal, record, self._read), *new})
        after = _settled(int(before["until_unix_s"]), {**before["ends"], **new}, standing)
        if after == before:
            return
        self.entries.append({"change": record["id"], "before": before, "after": after})
        told = [one for one in mentions if one["place"] in new and one["how"] != "over"]
        if not told:
            return
        self.is_risky = self.is_risky or record["risk"] != "low"
        self.untrusted += record.get("untrusted", [])
        same = [one for one in told if one["how"] != "other"]
        if same:
            subject = ", ".join([one["place"] for one in same[:_NAMED]])
            subject += ", and %d more" % (len(same) - _NAMED) if len(same) > _NAMED else ""
            if not set(standing) - {one["place"] for one in same} and record["summary"]:
                subject = record["summary"]
            was = when.shown(min(one["end"] for one in same))
            how = "ends at %s instead of %s" % (when.shown(until), was) if until else _FOR_GOOD % was
            self.words.append("%s: %s" % (subject, how))
        other = [one for one in told if one["how"] == "other"]
        if other:
            subject = ", ".join(one["place"] for one in other[:_NAMED])
            how = "comes back at %s instead of %s" % (when.shown(until), when.shown(other[0]["end"]))
            how = how if until else "does not come back at %s any more" % when.shown(other[0]["end"])
            self.words.append("what was there before %s, at %s, %s" % (record["summary"], subject, how))


class _Look:
    """One package before and after operations, its sections followed one by one, and what the operations name."""

    def __init__(self, name: str, data: bytes, steps: list[Operation]) -> None:
        self.now, self.then = model.parse(data, name), model.parse(data, name)
        self._twins = dict(zip(self.now.sections, self.then.sections, strict=True))
        self._named: dict[Section, set[str]] = {}
        for step in steps:
            if step["package"] == name:
                found = edit.find(self.then, str(step["section"])) if "section" in step else None
                if found is not None:
                    self._named.setdefault(found, set()).add(str(step.get("option", "")))
                edit.apply(step, self.then)

    def how_made(self, fall: Fall) -> str:
        """Return what operations say about what would fall after them only: "same" for what they made so again."""
        named = self._named.get(fall["section"], set())
        return "same" if fall["option"] in named else ""

    def changed(self) -> list[int]:
        """Return the ids of the sections of before that are changed, 0 for a new one or another order."""
        found = [id(one) for one in self.now.sections if not self._is_same(one)]
        left = [twin for twin in self._twins.values() if twin in self.then.sections]
        return [*found, 0] if left != self.then.sections else found

    def _is_same(self, one: Section) -> bool:
        twin = self._twins[one]
        return twin in self.then.sections and all(
            getattr(one, key) == getattr(twin, key) for key in ("name", "type", "options")
        )

    def how(self, fall: Fall) -> str:
        """Return what the operations say about what would fall: "" nothing, "same" that it is so, "over" that it is as
        it would be then, "other" that it is another way, "part" that something in it is."""
        if fall.get("is_back"):
            back = fall["section"]
            found = None if back.anonymous else self.then.find(str(back.name))
            return "" if found is None else "over" if found.options == back.options else "other"
        twin = self._twins[fall["section"]]
        if twin not in self.then.sections:
            return "over"
        named = self._named.get(twin, set())
        if fall["option"]:
            value = twin.options.get(fall["option"])
            if value != fall["section"].options.get(fall["option"]):
                return "over" if value == fall["wanted"] else "other"
            return "same" if fall["option"] in named else ""
        if "" in named or (named and self._is_same(fall["section"])):
            return "same"
        return "part" if named and fall.get("is_gone") else ""


def changes(plan: Draft, entries: list[Ends], words: list[str], is_risky: bool) -> Moved:
    """Return what changes in a plan that sets ends of earlier changes."""
    found: Moved = {"ends": entries, "words": [*plan["words"], *words]}
    return {**found, "risk": "risky", "reasons": [*plan["reasons"], REASON]} if is_risky else found


def back(journal: Journal, record: Record) -> tuple[list[Ends], list[str], bool]:
    """Return entries, words and risk of undoing what a change did to the ends of others."""
    entries: list[Ends] = []
    words: list[str] = []
    is_risky = False
    for entry in record.get("ends", []):
        try:
            other = journal.read(str(entry["change"]))
        except UsageError:
            continue  # too old to be in the history
        if not is_standing(other):
            continue
        subject = str(other["summary"] or other["id"])
        if state(other) != entry["after"]:
            words.append("%s: its end was changed since and stays as it is" % subject)
            continue
        entries.append({"change": entry["change"], "before": entry["after"], "after": entry["before"]})
        is_risky = is_risky or other["risk"] != "low"
        until = entry["before"]["until_unix_s"]
        again = "ends at %s again" % when.shown(until) if until else "stays for good again"
        words.append("%s: %s" % (subject, again))
    return entries, words, is_risky
