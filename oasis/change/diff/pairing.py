"""Which section of one version of a package is which of another: by name, or for sections without one by content.

A section without a name is known by its type and fingerprint (its options), never by its cfg name, which depends on
the position. One that was edited is known by the option that tells it from its like (`mac`, `name`), or by sharing more
than half of its options, and only when no other fits as well. What is not sure is not paired.
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Iterable
    from oasis.uci.model import Package, Section

# The option that says which one a section is, in the order asked; what both carry decides.
IDENTITY = ("mac", "name")
# So many sections with the same value of an option are too many to pair by it: what is not sure is not paired.
ALIKE = 64


class Pairing:
    """The sections of two versions joined; `unsure` holds the ids of old ones that one of several equal ones may be."""

    def __init__(self, old: Package, new: Package) -> None:
        self._new_of: dict[int, Section] = {}
        self._old_of: dict[int, Section] = {}
        self.unsure: set[int] = set()
        self._old, self._new = old.sections, new.sections
        self._join_equal(lambda one: one.name if not one.anonymous else None)
        self._find_unsure()
        # equal sections without a name; of several equals those that have kept their place first
        from_start = {**_places(self._old), **_places(self._new)}
        from_end = {**_places(self._old[::-1]), **_places(self._new[::-1])}
        self._join_equal(lambda one: (fingerprint(one), from_start[id(one)]) if one.anonymous else None)
        self._join_equal(lambda one: (fingerprint(one), from_end[id(one)]) if one.anonymous else None)
        self._join_equal(lambda one: fingerprint(one) if one.anonymous else None)
        self._join_renamed()
        self._join_likely()

    def new_of(self, old: Section) -> Section | None:
        """Return what became of a section of the old version."""
        return self._new_of.get(id(old))

    def old_of(self, new: Section) -> Section | None:
        """Return what a section of the new version was."""
        return self._old_of.get(id(new))

    def strangers(self, kind: str, is_anonymous: bool) -> list[Section]:
        """Return the sections of a type that only the new version has."""
        return [one for one in self._left(self._new, self._old_of) if (one.type, one.anonymous) == (kind, is_anonymous)]

    def _left(self, sections: list[Section], joined: dict[int, Section]) -> list[Section]:
        return [one for one in sections if id(one) not in joined]

    def _join(self, old: Section, new: Section) -> None:
        self._new_of[id(old)] = new
        self._old_of[id(new)] = old

    def _join_equal(self, key: Callable[[Section], object]) -> None:
        """Join sections with equal keys, those with several equals in their order."""
        waiting: dict[object, list[Section]] = {}
        for new in self._left(self._new, self._old_of):
            waiting.setdefault(key(new), []).append(new)
        for old in self._left(self._old, self._new_of):
            name = key(old)
            if name is not None and waiting.get(name):
                self._join(old, waiting[name].pop(0))

    def _find_unsure(self) -> None:
        """Of several equal sections some are gone or edited: nobody can say which."""
        counts = Counter(fingerprint(new) for new in self._new if new.anonymous)
        groups: dict[tuple[object, ...], list[Section]] = {}
        for old in self._old:
            if old.anonymous:
                groups.setdefault(fingerprint(old), []).append(old)
        for name, equals in groups.items():
            if 0 < counts[name] < len(equals):
                self.unsure.update(id(old) for old in equals)

    def _join_renamed(self) -> None:
        waiting: dict[object, list[Section]] = {}
        for new in self._left(self._new, self._old_of):
            if not new.anonymous:
                waiting.setdefault(fingerprint(new), []).append(new)
        for old in self._left(self._old, self._new_of):
            same = waiting.get(fingerprint(old), []) if not old.anonymous and old.options else []
            if len(same) == 1:
                self._join(old, same.pop())

    def _join_likely(self) -> None:
        olds = [one for one in self._left(self._old, self._new_of) if one.anonymous]
        news = [one for one in self._left(self._new, self._old_of) if one.anonymous]
        alike = _Alike(news)
        sole = _sole_types(self._old) & _sole_types(self._new)
        scored: list[tuple[int, int, int]] = []
        for at, old in enumerate(olds):
            for place in alike.candidates(old, old.type in sole):
                score = _score(old, news[place], old.type in sole)
                if score:
                    scored.append((score, at, place))
        new_of = _bests((score, at, place) for score, at, place in scored)
        old_of = _bests((score, place, at) for score, at, place in scored)
        for at, old in enumerate(olds):
            best = new_of.get(at)
            if best is not None and old_of.get(best) == at:
                self._join(old, news[best])


class _Alike:
    """Sections by the values of their options, so that one that shares more than half of its options is found."""

    def __init__(self, sections: list[Section]) -> None:
        self._by_value: dict[tuple[object, ...], list[int]] = {}
        self._by_type: dict[str, list[int]] = {}
        for place, section in enumerate(sections):
            self._by_type.setdefault(section.type, []).append(place)
            for key in _values(section):
                self._by_value.setdefault(key, []).append(place)

    def candidates(self, section: Section, is_sole: bool) -> list[int]:
        """Return the places of the sections that may be another version of this one."""
        if is_sole:
            return self._by_type.get(section.type, [])
        lists = sorted((self._by_value.get(key, []) for key in _values(section)), key=len)
        # One that shares more than half of the options has one of any half of them; the rarest halve lists least.
        found = {place for places in lists[: len(lists) // 2 + 1] if len(places) <= ALIKE for place in places}
        for option in IDENTITY:
            if option in section.options:
                same = self._by_value.get((section.type, option, _value(section, option)), [])
                found.update(same if len(same) <= ALIKE else [])
        return sorted(found)


def _values(section: Section) -> list[tuple[object, ...]]:
    return [(section.type, option, _value(section, option)) for option in section.options]


def _value(section: Section, option: str) -> object:
    value = section.options[option]
    return tuple(value) if isinstance(value, list) else value


def _score(old: Section, new: Section, is_sole: bool) -> int:
    """Return how surely a section is the other one edited, 0 when it may as well be another."""
    if old.type != new.type:
        return 0
    shared = sum(1 for option, value in old.options.items() if new.options.get(option) == value)
    for option in IDENTITY:
        if option in old.options and option in new.options:
            return shared if old.options[option] == new.options[option] else 0
    is_most = 2 * shared > max(len(old.options), len(new.options))
    return shared + 1 if is_most or is_sole else 0


def _bests(scored: Iterable[tuple[int, int, int]]) -> dict[int, int | None]:
    """Return for each place which other has its highest score, None where two have the same."""
    best: dict[int, tuple[int, int | None]] = {}
    for score, one, other in scored:
        known = best.get(one, (0, None))
        if score > known[0]:
            best[one] = score, other
        elif score == known[0]:
            best[one] = score, None
    return {one: other for one, (_, other) in best.items()}


def _sole_types(sections: list[Section]) -> set[str]:
    return {kind for kind, count in Counter(one.type for one in sections).items() if count == 1}


def fingerprint(section: Section) -> tuple[object, ...]:
    """Return type and options of a section in a form that can be compared and looked up; the order says nothing."""
    values = [(name, tuple(value) if isinstance(value, list) else value) for name, value in section.options.items()]
    return (section.type, tuple(sorted(values, key=lambda item: item[0])))


def _places(sections: list[Section]) -> dict[int, int]:
    """Return by id how many sections of the same type stand before each."""
    counts: dict[str, int] = {}
    places = {}
    for one in sections:
        places[id(one)] = counts[one.type] = counts.get(one.type, -1) + 1
    return places
