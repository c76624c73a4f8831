"""What differs between two versions of a UCI package: the one source of words, diff lines and risk.

Differences are dicts:
    {"kind": "set" | "added" | "removed" | "section_added" | "section_removed" | "section_renamed" | "section_moved",
     "package", "section", "type", "option"?, "old"?, "new"?, "of_whole"?}
`old` and `new` are the option's text, or list of texts; `of_whole`: the section comes or goes with it, and its
difference stands before this one. What goes is called as it was, so another section may be called so now.

Which section is which: a section without a name is known by its type and fingerprint (its options), never by its cfg
name, which depends on the position. What is shown joins the rest by their order within their type (`compare`). What is
undone or judged must be sure (`Pairing`): a section that was edited is known by the option that tells it from its like
(`mac`, `name`), or by sharing more than half of its options, and only when no other fits as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from oasis.catalogue import check
from oasis.core.clean import shown as plain
from oasis.redaction import secret_options

MASK = "(secret)"
NEW_MASK = "(new secret)"
# The option that says which one a section is, in the order asked; what both carry decides.
IDENTITY = ("mac", "name")
# So many sections with the same value of an option are too many to pair by it: what is not sure is not paired.
ALIKE = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Any, Difference, Line, Mapping, Value
    from oasis.uci.model import Package, Section

    # (tag, from and to in the old lines, from and to in the new ones); tag is equal, delete, insert or replace
    Piece = tuple[str, int, int, int, int]
    Runs = tuple[Any, ...]


# Which section is which


class Pairing:
    """The sections of two versions joined; `unsure` holds the ids of old ones that one of several equal ones may be."""

    def __init__(self, old: Package, new: Package) -> None:
        self._old, self._new = old.sections, new.sections
        self._new_of: dict[int, Section] = {}
        self._old_of: dict[int, Section] = {}
        every = [*self._old, *self._new]
        prints = {id(one): fingerprint(one) for one in every}
        bare = {id(one): prints[id(one)] for one in every if one.anonymous}
        self._join({id(one): one.name for one in every if not one.anonymous})
        # Of several equal sections some are gone or edited: nobody can say which.
        were, there = (Counter(prints[id(one)] for one in side if one.anonymous) for side in (self._old, self._new))
        self.unsure = {id(one) for one in self._old if one.anonymous and 0 < there[bare[id(one)]] < were[bare[id(one)]]}
        # equal sections without a name; of several equals those that have kept their place first
        for step in (1, -1):
            place = {**_places(self._old[::step]), **_places(self._new[::step])}
            self._join({key: (found, place[key]) for key, found in bare.items()})
        self._join(bare)
        # renamed sections: the only new one with these options
        alike = Counter(prints[id(one)] for one in self._new if not one.anonymous and id(one) not in self._old_of)
        renamed = [one for one in every if not one.anonymous and one.options and alike[prints[id(one)]] == 1]
        self._join({id(one): prints[id(one)] for one in renamed})
        self._join_likely()

    def new_of(self, old: Section) -> Section | None:
        """Return what became of a section of the old version."""
        return self._new_of.get(id(old))

    def old_of(self, new: Section) -> Section | None:
        """Return what a section of the new version was."""
        return self._old_of.get(id(new))

    def strangers(self, kind: str, is_anonymous: bool) -> list[Section]:
        """Return the sections of a type that only the new version has."""
        found = [one for one in self._new if id(one) not in self._old_of]
        return [one for one in found if (one.type, one.anonymous) == (kind, is_anonymous)]

    def _join(self, keys: Mapping[int, object]) -> None:
        for new, old in _joined(self._old, self._new, keys, self._old_of):
            self._new_of[id(old)], self._old_of[id(new)] = new, old

    def _join_likely(self) -> None:
        """Join what was edited: each the best of the other, and no other as good."""
        olds = [one for one in self._old if one.anonymous and id(one) not in self._new_of]
        news = [one for one in self._new if one.anonymous and id(one) not in self._old_of]
        counts = [Counter(one.type for one in side) for side in (self._old, self._new)]
        by_value: dict[object, list[int]] = defaultdict(list)  # places in news
        for place, new in enumerate(news):
            for pair in fingerprint(new)[1]:
                by_value[new.type, pair].append(place)
        scored: list[tuple[int, int, int]] = []
        for at, old in enumerate(olds):
            is_sole = counts[0][old.type] == counts[1][old.type] == 1
            if is_sole:
                places = {place for place, new in enumerate(news) if new.type == old.type}
            else:
                pairs = fingerprint(old)[1]
                lists = sorted((by_value.get((old.type, pair), []) for pair in pairs), key=len)
                # One that shares more than half of the options has one of any half of them: of the rarest.
                lists = lists[: len(lists) // 2 + 1]
                lists += [by_value.get((old.type, pair), []) for pair in pairs if pair[0] in IDENTITY]
                places = {place for found in lists if len(found) <= ALIKE for place in found}
            scored += [(score, at, place) for place in places if (score := _score(old, news[place], is_sole))]
        by_old: dict[int, list[int]] = defaultdict(list)
        by_new: dict[int, list[int]] = defaultdict(list)
        for score, at, place in sorted(scored):
            by_old[at].append(score)
            by_new[place].append(score)
        for score, at, place in scored:
            # the one highest score of both: where two have the same, nobody can say which
            if all(held[-1] == score and held[-2:] != [score] * 2 for held in (by_old[at], by_new[place])):
                self._new_of[id(olds[at])], self._old_of[id(news[place])] = news[place], olds[at]


def _joined(
    olds: list[Section], news: list[Section], keys: Mapping[int, object], old_of: Mapping[int, Section]
) -> list[tuple[Section, Section]]:
    """Return (new, old) for sections with equal keys, those with several equals in their order.

    `keys` has the key of what may be joined, by id; `old_of` what is joined already.
    """
    taken = {id(one) for one in old_of.values()}
    waiting: dict[object, list[Section]] = defaultdict(list)
    for old in reversed(olds):
        if id(old) in keys and id(old) not in taken:
            waiting[keys[id(old)]].append(old)
    left = [one for one in news if id(one) in keys and id(one) not in old_of]
    return [(new, waiting[keys[id(new)]].pop()) for new in left if waiting[keys[id(new)]]]


def _score(old: Section, new: Section, is_sole: bool) -> int:
    """Return how surely a section is the other one edited, 0 when it may as well be another; types are equal."""
    shared = sum(1 for option, value in old.options.items() if new.options.get(option) == value)
    for option in IDENTITY:
        if option in old.options and option in new.options:
            return shared if old.options[option] == new.options[option] else 0
    is_most = 2 * shared > max(len(old.options), len(new.options))
    return shared + 1 if is_most or is_sole else 0


def fingerprint(section: Section) -> tuple[str, tuple[tuple[str, object], ...]]:
    """Return type and options of a section in a form that can be compared and looked up; the order says nothing."""
    values = [(name, tuple(value) if isinstance(value, list) else value) for name, value in section.options.items()]
    return (section.type, tuple(sorted(values)))


def _places(sections: list[Section]) -> dict[int, int]:
    """Return by id how many sections of the same type stand before each."""
    seen: Counter[str] = Counter()
    places = {}
    for one in sections:
        places[id(one)] = seen[one.type]
        seen[one.type] += 1
    return places


def labels(package: Package) -> dict[int, str]:
    """Return how commands call each section, by its id: its name, or @type[n]."""
    place, every = _places(package.sections), package.sections
    return {id(one): "@%s[%d]" % (one.type, place[id(one)]) if one.anonymous else one.name for one in every}


# What differs


def compare(before: Package, after: Package, package: str) -> list[Difference]:
    """Return the differences from `before` to `after`, in the order of the sections."""
    every = [*before.sections, *after.sections]
    prints = {id(one): fingerprint(one) for one in every}
    old_of: dict[int, Section] = {}
    ways: list[Mapping[int, object]] = [
        {id(one): (one.name, one.type) for one in every if not one.anonymous},
        {id(one): prints[id(one)] for one in every if one.anonymous},
        prints,
        {id(one): one.type for one in every if one.anonymous},
    ]
    for keys in ways:
        old_of.update((id(new), old) for new, old in _joined(before.sections, after.sections, keys, old_of))
    was, is_now = labels(before), labels(after)
    found: list[Difference] = []
    for new in after.sections:
        old = old_of.get(id(new))
        item: Difference = {"kind": "", "package": package, "section": is_now[id(new)], "type": new.type}
        if old is None:
            found.append({**item, "kind": "section_added"})
            item["of_whole"] = True
        elif (old.name, old.type) != (new.name, new.type) and not (old.anonymous and new.anonymous):
            found.append({**item, "kind": "section_renamed", "section": was[id(old)], "new": is_now[id(new)]})
        found += _options(item, old.options if old else {}, new.options)
    kept = {id(one) for one in old_of.values()}
    for old in [one for one in before.sections if id(one) not in kept]:
        item = {"kind": "section_removed", "package": package, "section": was[id(old)], "type": old.type}
        found += [item, *_options({**item, "of_whole": True}, old.options, {})]
    stands = [id(old_of[id(new)]) for new in after.sections if id(new) in old_of]
    if stands != [id(one) for one in before.sections if id(one) in kept]:  # sections of both, in another order
        first = after.sections[0]
        found.append({"kind": "section_moved", "package": package, "section": is_now[id(first)], "type": first.type})
    return found


def _options(whose: Difference, old: dict[str, Value], new: dict[str, Value]) -> list[Difference]:
    found: list[Difference] = []
    for option in [*new, *(name for name in old if name not in new)]:
        if option not in old:
            found.append({**whose, "kind": "added", "option": option, "new": new[option]})
        elif option not in new:
            found.append({**whose, "kind": "removed", "option": option, "old": old[option]})
        elif old[option] != new[option]:
            found.append({**whose, "kind": "set", "option": option, "old": old[option], "new": new[option]})
    return found


def sentences(differences: list[Difference]) -> list[str]:
    """Return the differences in words, secrets masked; the options of an added or removed section join its line."""
    lines: list[str] = []
    is_secret = secret_options.is_secret
    for item in differences:
        package, section, kind, option = item["package"], item["section"], item["kind"], item.get("option", "")
        about = check.title(package, item["type"], option)
        title = "%s %s" % (about or item["type"], section)
        if kind in ("section_added", "section_removed"):
            lines.append("%s: %s %s" % (package, "new" if kind == "section_added" else "removed", title))
        elif item.get("of_whole"):
            if kind == "added":
                words = (", " if " with " in lines[-1] else " with ", option, shown(item, "new"))
                lines[-1] += "%s%s %s" % words
        elif kind == "section_renamed":
            lines.append("%s: %s is renamed to %s" % (package, title, item["new"]))
        elif kind == "section_moved":
            lines.append("%s: %s and others change their order" % (package, title))
        else:
            old, new = item.get("old"), item.get("new")
            if kind == "added":
                change = "set to %s" % shown(item, "new")
            elif kind == "removed":
                change = "removed, was %s" % shown(item, "old")
            elif isinstance(old, list) and isinstance(new, list) and not is_secret(package, item["type"], option):
                came = ["+ %s" % plain(value) for value in new if value not in old]
                went = ["- %s" % plain(value) for value in old if value not in new]
                change = ", ".join(came + went) or "in another order: " + ", ".join(map(plain, new))
            else:
                change = "%s → %s" % (shown(item, "old"), shown(item, "new"))
            where = "%s.%s.%s" % (package, section, option)
            lines.append("%s: %s" % ("%s (%s)" % (about, where) if about else where, change))
    return lines


def shown(item: Difference, side: str) -> str:
    """Return the old or new value of a difference for people: quoted, lists joined, secrets masked."""
    value, mask = (item["new"], NEW_MASK) if side == "new" else (item["old"], MASK)
    if secret_options.is_secret(item["package"], item["type"], item["option"]):
        return "'%s'" % value if isinstance(value, str) and secret_options.is_word(value) else mask
    return ", ".join("'%s'" % plain(one) for one in value) if isinstance(value, list) else "'%s'" % plain(value)


def diff_lines(before: Package, after: Package, package: str) -> list[Line]:
    """Return the line difference of two versions as {"op": " " | "-" | "+", "text"}; secrets masked, 2 lines around."""
    old, new = _lines(before, package, None), _lines(after, package, before)
    found: list[Line] = []
    for group in groups(old, new, 2):
        if found:
            found.append({"op": " ", "text": "…"})
        # the section that the piece begins in, unless it begins with its line
        at, lines = (group[0][3], new) if group[0][0] == "insert" else (group[0][1], old)
        heads = [text for text in lines[: at + 1] if text.startswith("config ")]
        if heads and at < len(lines) and not lines[at].startswith("config "):
            found.append({"op": " ", "text": heads[-1]})
        for tag, old_from, old_to, new_from, new_to in group:
            op = " " if tag == "equal" else "-"
            found += [{"op": op, "text": text} for text in old[old_from:old_to]]
            found += [{"op": "+", "text": text} for text in new[new_from:new_to] if tag != "equal"]
    return found


def _lines(version: Package, package: str, older: Package | None) -> list[str]:
    known = secret_values(older, package) if older is not None else None
    lines = []
    for section in version.sections:
        lines.append("config " + section.type + ("" if section.anonymous else " '%s'" % section.name))
        for option, value in section.options.items():
            word = "list" if isinstance(value, list) else "option"
            for one in value if isinstance(value, list) else [value]:
                if secret_options.is_secret(package, section.type, option) and not secret_options.is_word(one):
                    one = MASK if known is None or one in known else NEW_MASK
                lines.append("\t%s %s '%s'" % (word, option, plain(one)))
    return lines


def secret_values(version: Package, package: str) -> set[str]:
    """Return the values of all options of a package that hold a secret."""
    found = set()
    for section in version.sections:
        for option, value in section.options.items():
            if secret_options.is_secret(package, section.type, option):
                found.update(value if isinstance(value, list) else [value])
    return {value for value in found if not secret_options.is_word(value)}


# Lines removed and added beyond which the middle is shown as replaced: nobody reads that line by line, and the search
# takes the square of it.
EDITS = 256


def groups(old: list[str], new: list[str], around: int) -> list[list[Piece]]:
    """Return the pieces that differ, each group with up to `around` equal lines before, between and after."""
    found: list[list[Piece]] = []
    group: list[Piece] = []
    pieces = differences(old, new)
    for at, (tag, old_from, old_to, new_from, new_to) in enumerate(pieces):
        before = around if at else 0  # belongs to the piece before it
        after = around if at < len(pieces) - 1 else 0
        if tag != "equal" or (at and old_to - old_from <= before + after):
            group.append((tag, old_from, old_to, new_from, new_to))
            continue
        if at:
            found.append([*group, (tag, old_from, old_from + before, new_from, new_from + before)])
        length = min(after, old_to - old_from)
        group = [(tag, old_to - length, old_to, new_to - length, new_to)]
    return [*found, group] if any(piece[0] != "equal" for piece in group) else found


def differences(old: list[str], new: list[str]) -> list[Piece]:
    """Return the pieces that lead from the old lines to the new ones, in order and without gaps."""
    head = tail = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = _search(old[head : len(old) - tail], new[head : len(new) - tail])
    runs = [(0, 0, head), *((one + head, other + head, length) for one, other, length in middle)]
    found: list[Piece] = []
    at_old = at_new = 0
    for old_at, new_at, length in [*runs, (len(old) - tail, len(new) - tail, tail)]:
        if old_at > at_old or new_at > at_new:
            tag = "replace" if old_at > at_old and new_at > at_new else "delete" if old_at > at_old else "insert"
            found.append((tag, at_old, old_at, at_new, new_at))
        at_old, at_new = old_at + length, new_at + length
        if length:
            found.append(("equal", old_at, at_old, new_at, at_new))
    return found


def _search(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """Return the equal runs (place in old, in new, length) of the shortest edit, none when it has more than EDITS.

    Source: E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986, the greedy form; difflib would stay in
    the daemon with a quarter of a megabyte.
    """
    # by diagonal (place in old - place in new): how far in old, and (runs before, the last run)
    furthest: dict[int, tuple[int, Runs]] = {1: (0, ())}
    for edits in range(min(len(old) + len(new), EDITS) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            # from the diagonal above by adding a line, from the one below by removing one
            is_added = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1][0] < furthest[diagonal + 1][0]
            )
            one, runs = furthest[diagonal + 1 if is_added else diagonal - 1]
            start = one = one if is_added else one + 1
            while one < len(old) and one - diagonal < len(new) and old[one] == new[one - diagonal]:
                one += 1
            if one > start:
                runs = (runs, (start, start - diagonal, one - start))
            furthest[diagonal] = one, runs
            if one >= len(old) and one - diagonal >= len(new):
                found = []
                while runs:
                    runs, last = runs
                    found.append(last)
                return found[::-1]
    return []
