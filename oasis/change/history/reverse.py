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

from oasis.change.difference import Pairing, fingerprint, labels
from oasis.uci import edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Collection, Conflict, Fall, Operation, Value
    from oasis.uci.model import Package, Section

GONE, THERE, OTHER = "gone", "there", "another one"


def reverse(
    before: Package, after: Package, now: Package, stays: Collection[str] = ()
) -> tuple[list[Operation], list[Conflict]]:
    """Return the operations that take a change back but for the places of `stays`, and what somebody changed since."""
    back = _Reverse(before, after, now, stays)
    return back.operations(), back.conflicts


def falling(before: Package, after: Package, now: Package) -> list[Fall]:
    """Return what a change's end would take back now.

    Shape: {"place", "section" (of `now`, of `before` for one that comes back), "option" or "", "wanted" (its value
    then), "is_gone": the section goes, "is_back": it comes back}
    """
    return _Reverse(before, after, now, ()).falls


class _Reverse:
    """One reversal: what is to be done to sections of `now`; `operations` says it in UCI."""

    def __init__(self, before: Package, after: Package, now: Package, stays: Collection[str]) -> None:
        self._before, self._after, self._now, self._stays = before, after, now, stays
        self._change, self._since = Pairing(before, after), Pairing(after, now)
        self._called = {**labels(after), **labels(now)}
        self.falls: list[Fall] = []
        self.conflicts: list[Conflict] = []
        self._deletions: list[Section] = []
        self._renames: list[tuple[Section, str]] = []
        self._types: list[tuple[Section, str]] = []
        self._values: list[tuple[Section, str, Value | None]] = []  # None as value removes the option
        self._creations: list[Section] = []  # sections of `before`
        for added in after.sections:  # first, because deletions make room for names
            if self._change.old_of(added) is None:
                self._take_away(added)
        for old in before.sections:
            edited = self._change.new_of(old)
            if edited is None:
                self._bring_back(old)
            else:
                self._set_back(old, edited)

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
                self._conflict(self._called[id(after)], "", OTHER, THERE)
        elif id(after) in self._since.unsure or now.type != after.type or _is_renamed(after, now):
            self._conflict(self._called[id(now)], "", OTHER, THERE)
        elif now.options != after.options:
            for option in _differing(now, after):
                self._conflict(self._called[id(now)], option, now.options.get(option), after.options.get(option))
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
        return [one for one in self._now.sections if not one.anonymous and one not in self._deletions]

    def _set_back(self, before: Section, after: Section) -> None:
        """Give a section that the change had edited its old type, name and options."""
        options = _differing(before, after)
        if not options and before.type == after.type and not _is_renamed(before, after):
            return
        now = self._since.new_of(after)
        if now is not None and id(after) in self._since.unsure:
            self._conflict(self._called[id(now)], "", OTHER, THERE)
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
                self._conflict(self._called[id(now)], "", now.type, after.type)
        if not _is_renamed(before, after) or not _is_renamed(before, now):
            return
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
            self._conflict(self._called[id(after if now is None else now)], option, current, expected)
        else:
            self._values.append((now, option, wanted))
            self._fall(place, now, option, wanted)

    def operations(self) -> list[Operation]:
        """Return the decisions as operations, in an order in which each name means what it should."""
        draft, order = self._now.copy(), self._order()  # each step is done: how a section is called depends on it
        twins = dict(zip(self._now.sections, draft.sections, strict=True))
        steps: list[Operation] = []

        def step(op: str, one: Section | None, **fields: str | int) -> None:
            if one is not None:
                twin = twins.get(one, one)  # a new section has none yet
                same = [other for other in draft.sections if other.type == twin.type]
                fields["section"] = "@%s[%d]" % (twin.type, same.index(twin)) if one.anonymous else twin.name
            operation: Operation = {"op": op, "package": draft.name, **fields}  # type: ignore[typeddict-item]
            edit.apply(operation, draft)
            steps.append(operation)

        def put(one: Section, option: str, value: Value) -> None:
            for item in value if isinstance(value, list) else [value]:
                step("add_list" if isinstance(value, list) else "set", one, option=option, value=item)

        for now in self._deletions:
            step("delete", now)
        for now, name in self._renames:
            step("rename", now, name=name)
        for now, kind in self._types:
            step("set", now, type=kind)
        for now, option, value in self._values:
            if value is None or (isinstance(value, list) and option in now.options):
                step("delete", now, option=option)
            if value is not None:
                put(now, option, value)
        for before in self._creations:
            step("add" if before.anonymous else "set", None if before.anonymous else before, type=before.type)
            twins[before] = draft.sections[-1]
            for option, value in before.options.items():
                put(before, str(option), value)
        for at, wanted in enumerate(order):
            if draft.sections[at] is twins[wanted]:
                continue
            mover, place = wanted, at
            if draft.sections[at + 1] is twins[wanted]:  # one that was put in front goes back in a single step
                mover = next(one for one in order if twins[one] is draft.sections[at])
                place = order.index(mover)
            step("reorder", mover, index=place)
        return steps

    def _order(self) -> list[Section]:
        """Return the sections as they will stand: those of now, and those of `before` that are created again."""
        order = [one for one in self._now.sections if one not in self._deletions]
        self._move_back(order)
        places: list[Section] = []  # what stands for the sections of `before`, in their order
        for at, before in enumerate(self._before.sections):
            now = self._here(before)
            if now is None and before not in self._creations:
                continue
            if now is None:
                # Behind the nearest one that stood before it, else in front of the next one, else first: what is new
                # since was added at the end.
                ahead = [one for one in reversed(places) if one in order]
                later = [one for one in map(self._here, self._before.sections[at + 1 :]) if one in order]
                order.insert(order.index(ahead[0]) + 1 if ahead else order.index(later[0]) if later else 0, before)
            places.append(now or before)
        return order

    def _here(self, before: Section) -> Section | None:
        after = self._change.new_of(before)
        return self._since.new_of(after) if after is not None else None

    def _move_back(self, order: list[Section]) -> None:
        """Put the sections that all three versions have in the order of before, when the change moved any."""
        wanted = [one for one in map(self._here, self._before.sections) if one is not None]
        changed = [one for one in map(self._since.new_of, self._after.sections) if one in wanted]
        current = [one for one in order if one in wanted]
        if changed == wanted or current == wanted:
            return
        if current != changed:
            self._conflict("", "", OTHER, THERE)
            return
        slots = [at for at, one in enumerate(order) if one in wanted]
        for at, one in zip(slots, wanted, strict=True):
            order[at] = one


def _differing(one: Section, other: Section) -> list[str]:
    names = [str(name) for name in one.options] + [str(name) for name in other.options if name not in one.options]
    return [name for name in names if one.options.get(name) != other.options.get(name)]


def _is_renamed(one: Section, other: Section) -> bool:
    return not one.anonymous and one.name != other.name
