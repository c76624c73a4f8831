"""The way back from a change: operations that take back what it did and keep everything done since.

Pure: three versions of a package go in (before the change, after it, now), operations and conflicts come out. Each
value goes back only where it still is what the change made of it; where it is as before already nothing is to be done;
any other value is a conflict:
    {"package", "section", "option", "now", "expected"}
`option` is "" for a whole section, `section` "" for the order of the package. `now` and `expected` are an option's text
or list of texts, None for an absent one, and for sections and order the words GONE, THERE and OTHER. Re-created
sections get their old place among those that are still there.

What goes back has a place, a text that means the same for as long as the change is kept, whatever is renamed or moved
since: a section that was added by its name after the change, `NAME.OPTION` for an option, `=NAME` for type and name of
a section, `-NAME` for one that was removed by its name before.
"""

from __future__ import annotations

from oasis.change.diff.difference import label
from oasis.change.diff.pairing import Pairing, fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Collection, Conflict, Fall, Operation, Value
    from oasis.uci.model import Package, Section

GONE, THERE, OTHER = "gone", "there", "another one"


def reverse(
    before: Package, after: Package, now: Package, stays: Collection[str] = ()
) -> tuple[list[Operation], list[Conflict]]:
    """Return the operations that take a change back, and what they leave out because somebody changed it since.

    What is at a place of `stays` is left as it is.
    """
    back = _Reverse(before, after, now, stays)
    back.look()
    return back.operations(), back.conflicts


def falling(before: Package, after: Package, now: Package) -> list[Fall]:
    """Return what a change's end would take back now.

    Shape: {"place", "section" (of `now`, of `before` for one that comes back), "option" or "", "wanted" (its value
    then), "is_gone": the section goes, "is_back": it comes back}
    """
    back = _Reverse(before, after, now, ())
    back.look()
    return back.falls


class _Reverse:
    """One reversal: `look` decides what is to be done to sections of `now`, `operations` says it in UCI."""

    def __init__(self, before: Package, after: Package, now: Package, stays: Collection[str]) -> None:
        self._before, self._after, self._now = before, after, now
        self._stays = stays
        self.falls: list[Fall] = []
        self._change = Pairing(before, after)
        self._since = Pairing(after, now)
        self.conflicts: list[Conflict] = []
        self._deletions: list[Section] = []
        self._renames: list[tuple[Section, str]] = []
        self._types: list[tuple[Section, str]] = []
        self._values: list[tuple[Section, str, Value | None]] = []  # None as value removes the option
        self._creations: list[Section] = []  # sections of `before`

    def look(self) -> None:
        """Decide section by section; deletions first, because they make room for names."""
        for after in self._after.sections:
            if self._change.old_of(after) is None:
                self._take_away(after)
        for before in self._before.sections:
            after_it = self._change.new_of(before)
            if after_it is None:
                self._bring_back(before)
            else:
                self._set_back(before, after_it)

    def _conflict(self, section: str, option: str, now: Value | None, expected: Value | None) -> None:
        self.conflicts.append(
            {"package": self._now.name, "section": section, "option": option, "now": now, "expected": expected}
        )

    def _fall(self, place: str, section: Section, option: str = "", wanted: Value | None = None, **kind: bool) -> None:
        fall: Fall = {"place": place, "section": section, "option": option, "wanted": wanted, **kind}  # type: ignore[typeddict-item]
        self.falls.append(fall)

    def _is_hidden(self, after: Section) -> bool:
        """Return whether a section that is not found may still be there, edited beyond recognition or renamed."""
        old = [fingerprint(one) for one in self._before.sections if self._change.new_of(one) is None]
        return any(fingerprint(one) not in old for one in self._since.strangers(after.type, after.anonymous))

    def _take_away(self, after: Section) -> None:
        """Delete a section that the change had added, when it still is what was added."""
        if str(after.name) in self._stays:
            return
        now = self._since.new_of(after)
        if now is None:
            if self._is_hidden(after):
                self._conflict(label(self._after, after), "", OTHER, THERE)
        elif id(after) in self._since.unsure or now.type != after.type or _is_renamed(after, now):
            self._conflict(label(self._now, now), "", OTHER, THERE)
        elif now.options != after.options:
            for option in _differing(now, after):
                self._conflict(label(self._now, now), option, now.options.get(option), after.options.get(option))
        else:
            self._deletions.append(now)
            self._fall(str(after.name), now, is_gone=True)

    def _bring_back(self, before: Section) -> None:
        """Create again what the change had removed, unless it is there again."""
        if "-%s" % before.name in self._stays:
            return
        if before.anonymous:
            strangers = self._since.strangers(before.type, True)
            there = [one for one in strangers if fingerprint(one) == fingerprint(before)]
        else:
            there = [one for one in self._taken() if one.name == before.name]
        if not there:
            self._creations.append(before)
            self._fall("-%s" % before.name, before, is_back=True)
        elif fingerprint(there[0]) != fingerprint(before):
            self._conflict(before.name, "", OTHER, GONE)

    def _taken(self) -> list[Section]:
        """Return the sections whose names are taken when the deletions are done."""
        return [one for one in self._now.sections if not one.anonymous and not _is_in(one, self._deletions)]

    def _set_back(self, before: Section, after: Section) -> None:
        """Give a section that the change had edited its old type, name and options."""
        options = _differing(before, after)
        if not options and before.type == after.type and not _is_renamed(before, after):
            return
        now = self._since.new_of(after)
        if now is not None and id(after) in self._since.unsure:
            self._conflict(label(self._now, now), "", OTHER, THERE)
            return
        for option in options:
            self._set_option_back(before, after, now, option)
        if now is None or "=%s" % after.name in self._stays:
            return
        if before.type != after.type and now.type != before.type:
            if now.type == after.type:
                self._types.append((now, before.type))
                self._fall("=%s" % after.name, now)
            else:
                self._conflict(label(self._now, now), "", now.type, after.type)
        if _is_renamed(before, after) and _is_renamed(before, now):
            self._rename_back(before, after, now)

    def _rename_back(self, before: Section, after: Section, now: Section) -> None:
        if now.name != after.name:
            self._conflict(now.name, "", now.name, after.name)
        elif any(one.name == before.name for one in self._taken()):
            self._conflict(before.name, "", OTHER, GONE)
        else:
            self._renames.append((now, before.name))
            self._fall("=%s" % after.name, now)

    def _set_option_back(self, before: Section, after: Section, now: Section | None, option: str) -> None:
        place = "%s.%s" % (after.name, option)
        if place in self._stays:
            return
        current = now.options.get(option) if now is not None else None
        wanted, expected = before.options.get(option), after.options.get(option)
        is_lost = now is None and self._is_hidden(after)
        if current == wanted and not is_lost:
            return
        if current != expected or now is None:
            where = label(self._now, now) if now is not None else label(self._after, after)
            self._conflict(where, option, current, expected)
        else:
            self._values.append((now, option, wanted))
            self._fall(place, now, option, wanted)

    def operations(self) -> list[Operation]:
        """Return the decisions as operations, in an order in which each name means what it should."""
        script = _Script(self._now)
        order = self._order()
        for now in self._deletions:
            script.delete(now)
        for now, name in self._renames:
            script.rename(now, name)
        for now, kind in self._types:
            script.retype(now, kind)
        for now, option, value in self._values:
            script.put(now, option, value)
        for before in self._creations:
            script.create(before)
        script.arrange(order)
        return script.steps

    def _order(self) -> list[Section]:
        """Return the sections as they will stand: those of now, and those of `before` that are created again."""
        order = [one for one in self._now.sections if not _is_in(one, self._deletions)]
        self._move_back(order)
        places: list[Section] = []  # what stands for the sections of `before`, in their order
        for before in self._before.sections:
            now = self._here(before)
            if now is None and not _is_in(before, self._creations):
                continue
            if now is None:
                _insert(order, before, places, self._followers(before))
            places.append(now or before)
        return order

    def _here(self, before: Section) -> Section | None:
        after = self._change.new_of(before)
        return self._since.new_of(after) if after is not None else None

    def _followers(self, before: Section) -> list[Section]:
        at = [one is before for one in self._before.sections].index(True)
        later = [self._here(one) for one in self._before.sections[at + 1 :]]
        return [one for one in later if one is not None]

    def _move_back(self, order: list[Section]) -> None:
        """Put the sections that all three versions have in the order of before, when the change moved any."""
        wanted = [one for one in map(self._here, self._before.sections) if one is not None]
        changed = [one for one in map(self._since.new_of, self._after.sections) if one and _is_in(one, wanted)]
        current = [one for one in order if _is_in(one, wanted)]
        if _is_same(wanted, changed) or _is_same(current, wanted):
            return
        if not _is_same(current, changed):
            self._conflict("", "", OTHER, THERE)
            return
        slots = [at for at, one in enumerate(order) if _is_in(one, wanted)]
        for at, one in zip(slots, wanted, strict=True):
            order[at] = one


class _Script:
    """Operations as they are written, with the package as they leave it: how a section is called depends on both."""

    def __init__(self, now: Package) -> None:
        self.steps: list[Operation] = []
        self._package = now.name
        self._stand: list[Section] = list(now.sections)
        self._names = {id(one): "" if one.anonymous else str(one.name) for one in now.sections}
        self._kinds = {id(one): one.type for one in now.sections}

    def _call(self, one: Section) -> str:
        name = self._names[id(one)]
        if name:
            return name
        kind = self._kinds[id(one)]
        same = [other is one for other in self._stand if self._kinds[id(other)] == kind]
        return "@%s[%d]" % (kind, same.index(True))

    def _step(self, op: str, one: Section) -> Operation:
        """Append an operation on a section and return it."""
        step: Operation = {"op": op, "package": self._package, "section": self._call(one)}
        self.steps.append(step)
        return step

    def _put(self, op: str, one: Section, option: str, value: str) -> None:
        step = self._step(op, one)
        step["option"], step["value"] = option, value

    def delete(self, one: Section) -> None:
        self._step("delete", one)
        self._stand = [other for other in self._stand if other is not one]

    def rename(self, one: Section, name: str) -> None:
        self._step("rename", one)["name"] = name
        self._names[id(one)] = name

    def retype(self, one: Section, kind: str) -> None:
        self._step("set", one)["type"] = kind
        self._kinds[id(one)] = kind

    def put(self, one: Section, option: str, value: Value | None) -> None:
        if value is None:
            self._step("delete", one)["option"] = option
        elif isinstance(value, list):
            if option in one.options:
                self._step("delete", one)["option"] = option
            for item in value:
                self._put("add_list", one, option, item)
        else:
            self._put("set", one, option, value)

    def create(self, old: Section) -> None:
        """Create a section of `before` at the end; it stands for itself from now on."""
        self._names[id(old)] = "" if old.anonymous else str(old.name)
        self._kinds[id(old)] = old.type
        self._stand.append(old)
        if old.anonymous:
            self.steps.append({"op": "add", "package": self._package, "type": old.type})
        else:
            self._step("set", old)["type"] = old.type
        for option, value in old.options.items():
            for item in value if isinstance(value, list) else [value]:
                self._put("add_list" if isinstance(value, list) else "set", old, str(option), item)

    def arrange(self, order: list[Section]) -> None:
        """Move sections until they stand in this order, one that was put in front in a single step."""
        for at, wanted in enumerate(order):
            if self._stand[at] is wanted:
                continue
            mover, place = wanted, at
            if self._stand[at + 1] is wanted:
                mover = self._stand[at]
                place = [one is mover for one in order].index(True)
            self._step("reorder", mover)["index"] = place
            self._stand.remove(mover)
            self._stand.insert(place, mover)


def _differing(one: Section, other: Section) -> list[str]:
    names = [str(name) for name in one.options] + [str(name) for name in other.options if name not in one.options]
    return [name for name in names if one.options.get(name) != other.options.get(name)]


def _is_renamed(one: Section, other: Section) -> bool:
    return not one.anonymous and one.name != other.name


def _is_in(one: Section, sections: list[Section]) -> bool:
    return any(other is one for other in sections)


def _is_same(one: list[Section], other: list[Section]) -> bool:
    return [id(section) for section in one] == [id(section) for section in other]


def _insert(order: list[Section], one: Section, before: list[Section], followers: list[Section]) -> None:
    """Put a section behind the nearest one that stood before it, else in front of the next one, else first."""
    for other in reversed(before):
        if _is_in(other, order):
            order.insert([here is other for here in order].index(True) + 1, one)
            return
    for other in followers:
        if _is_in(other, order):
            order.insert([here is other for here in order].index(True), one)
            return
    order.insert(0, one)  # what is new since was added at the end
