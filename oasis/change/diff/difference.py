"""What differs between two versions of a UCI package: the one source of words, diff lines and risk.

Differences are dicts:
    {"kind": "set" | "added" | "removed" | "section_added" | "section_removed" | "section_renamed" | "section_moved",
     "package", "section", "type", "option"?, "old"?, "new"?}
`old` and `new` are the option's text, or list of texts. Sections are paired by name; anonymous ones by their content
first, then by order within their type (their cfg names depend on position and say nothing).
"""

from __future__ import annotations

from oasis.catalogue import check
from oasis.change.diff.pairing import fingerprint
from oasis.core.clean import shown as plain
from oasis.redaction import secret_options

MASK = "(secret)"
NEW_MASK = "(new secret)"
# Kinds of differences that are about a whole section.
WHOLE = ("section_added", "section_removed")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Difference, Line, Value
    from oasis.uci.model import Package, Section

    # (tag, from and to in the old lines, from and to in the new ones); tag is equal, delete, insert or replace
    Piece = tuple[str, int, int, int, int]


def compare(before: Package, after: Package, package: str) -> list[Difference]:
    """Return the differences from `before` to `after`, in the order of the sections."""
    pairs = _pair(before.sections, after.sections)
    was, is_now = _labels(before), _labels(after)
    found: list[Difference] = []
    for old, new in pairs:
        if new is None and old is not None:
            found.append(_item("section_removed", package, was[id(old)], old.type))
            found.extend(_options(package, was[id(old)], old.type, old.options, {}))
        elif old is None and new is not None:
            found.append(_item("section_added", package, is_now[id(new)], new.type))
            found.extend(_options(package, is_now[id(new)], new.type, {}, new.options))
        elif old is not None and new is not None:
            if (old.name, old.type) != (new.name, new.type) and not (old.anonymous and new.anonymous):
                found.append(_item("section_renamed", package, was[id(old)], new.type, new=is_now[id(new)]))
            found.extend(_options(package, is_now[id(new)], new.type, old.options, new.options))
    place = {id(section): number for number, section in enumerate(before.sections)}
    places = [place[id(old)] for old, new in pairs if old is not None and new is not None]
    if places != sorted(places):  # sections of both stand in another order
        found.append(_item("section_moved", package, is_now[id(after.sections[0])], after.sections[0].type))
    return found


def label(package: Package, section: Section) -> str:
    """Return how a section is called in commands: its name, or @type[n]."""
    return _labels(package)[id(section)]


def _labels(package: Package) -> dict[int, str]:
    """Return how all sections are called, by their id."""
    counts: dict[str, int] = {}
    found = {}
    for section in package.sections:
        at = counts.get(section.type, 0)
        counts[section.type] = at + 1
        found[id(section)] = "@%s[%d]" % (section.type, at) if section.anonymous else section.name
    return found


def _pair(before: list[Section], after: list[Section]) -> list[tuple[Section | None, Section | None]]:
    partner: dict[int, Section] = {}
    taken: set[int] = set()

    def join(key: Callable[[Section], object]) -> None:
        """Join what has equal keys, in the order of both; None joins nothing."""
        waiting: dict[object, list[Section]] = {}
        for old in reversed(before):
            if id(old) not in taken:
                waiting.setdefault(key(old), []).append(old)
        for new in after:
            name = key(new) if id(new) not in partner else None
            if name is not None and waiting.get(name):
                partner[id(new)] = waiting[name].pop()
                taken.add(id(partner[id(new)]))

    join(lambda one: None if one.anonymous else (one.name, one.type))
    join(lambda one: fingerprint(one) if one.anonymous else None)
    join(fingerprint)
    join(lambda one: one.type if one.anonymous else None)
    pairs: list[tuple[Section | None, Section | None]] = [(partner.get(id(new)), new) for new in after]
    return pairs + [(old, None) for old in before if id(old) not in taken]


def _item(kind: str, package: str, section: str, type_: str, **more: object) -> Difference:
    return {"kind": kind, "package": package, "section": section, "type": type_, **more}  # type: ignore[typeddict-item]


def _options(package: str, section: str, type_: str, old: dict[str, Value], new: dict[str, Value]) -> list[Difference]:
    found = []
    for option in [*new, *(name for name in old if name not in new)]:
        if old.get(option) == new.get(option):
            continue
        item = _item("set", package, section, type_, option=option)
        if option in old:
            item["old"] = old[option]
        else:
            item["kind"] = "added"
        if option in new:
            item["new"] = new[option]
        else:
            item["kind"] = "removed"
        found.append(item)
    return found


def sentences(differences: list[Difference]) -> list[str]:
    """Return the differences in words, secrets masked; the options of an added or removed section join its line."""
    lines: list[str] = []
    whole = {(item["package"], item["section"]) for item in differences if item["kind"] in WHOLE}
    for item in differences:
        package, section, kind = item["package"], item["section"], item["kind"]
        title = "%s %s" % (check.title(str(package), str(item["type"]), "") or item["type"], section)
        if kind in WHOLE:
            lines.append("%s: %s %s" % (package, "new" if kind == "section_added" else "removed", title))
        elif (package, section) in whole:
            if kind == "added":
                words = (", " if " with " in lines[-1] else " with ", item["option"], shown(item, "new"))
                lines[-1] += "%s%s %s" % words
        elif kind == "section_renamed":
            lines.append("%s: %s is renamed to %s" % (package, title, item["new"]))
        elif kind == "section_moved":
            lines.append("%s: %s and others change their order" % (package, title))
        else:
            title = check.title(str(package), str(item["type"]), str(item["option"]))
            where = "%s.%s.%s" % (package, section, item["option"])
            lines.append("%s: %s" % ("%s (%s)" % (title, where) if title else where, _from_to(item)))
    return lines


def _from_to(item: Difference) -> str:
    if item["kind"] == "added":
        return "set to %s" % shown(item, "new")
    if item["kind"] == "removed":
        return "removed, was %s" % shown(item, "old")
    old, new = item["old"], item["new"]
    if not isinstance(old, list) or not isinstance(new, list):
        return "%s → %s" % (shown(item, "old"), shown(item, "new"))
    words = ["+ %s" % plain(value) for value in new if value not in old]
    words += ["- %s" % plain(value) for value in old if value not in new]
    return ", ".join(words) or "in another order: " + ", ".join(map(plain, new))


def shown(item: Difference, side: str) -> str:
    """Return the old or new value of a difference for people: quoted, lists joined, secrets masked."""
    value, mask = (item["new"], NEW_MASK) if side == "new" else (item["old"], MASK)
    if secret_options.is_secret(str(item["package"]), str(item["type"]), str(item["option"])):
        return "'%s'" % value if isinstance(value, str) and secret_options.is_word(value) else mask
    return ", ".join("'%s'" % plain(one) for one in value) if isinstance(value, list) else "'%s'" % plain(value)


def diff_lines(before: Package, after: Package, package: str) -> list[Line]:
    """Return the line difference of two versions as {"op": " " | "-" | "+", "text"}; secrets masked, 2 lines around."""
    old, new = _lines(before, package, None), _lines(after, package, before)
    found: list[Line] = []
    for group in groups(old, new, 2):
        if found:
            found.append({"op": " ", "text": "…"})
        found += _section_line(old, new, group[0])
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                found += [{"op": " ", "text": text} for text in old[old_from:old_to]]
                continue
            found += [{"op": "-", "text": text} for text in old[old_from:old_to]]
            found += [{"op": "+", "text": text} for text in new[new_from:new_to]]
    return found


def _section_line(old: list[str], new: list[str], first: tuple[str, int, int, int, int]) -> list[Line]:
    """Return the section that a piece of the difference begins in, unless the piece begins with its line."""
    at = first[1] if first[0] != "insert" else first[3]
    lines = old if first[0] != "insert" else new
    if at >= len(lines) or lines[at].startswith("config "):
        return []
    heads = [text for text in lines[:at] if text.startswith("config ")]
    return [{"op": " ", "text": heads[-1]}] if heads else []


def _lines(version: Package, package: str, older: Package | None) -> list[str]:
    known = secret_values(older, package) if older is not None else None
    lines = []
    for section in version.sections:
        lines.append(
            "config %s" % section.type if section.anonymous else "config %s '%s'" % (section.type, section.name)
        )
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
    """Return the pieces that differ, each group with up to `around` equal lines before, between and after.

    Source: E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986, the greedy form; difflib would stay in
    the daemon with a quarter of a megabyte.
    """
    found: list[list[Piece]] = []
    group: list[Piece] = []
    pieces = differences(old, new)
    for at, (tag, old_from, old_to, new_from, new_to) in enumerate(pieces):
        if tag != "equal":
            group.append((tag, old_from, old_to, new_from, new_to))
            continue
        before = around if at else 0  # belongs to the piece before it
        after = around if at < len(pieces) - 1 else 0
        if at and old_to - old_from <= before + after:
            group.append((tag, old_from, old_to, new_from, new_to))
            continue
        if at:
            length = min(before, old_to - old_from)
            group.append((tag, old_from, old_from + length, new_from, new_from + length))
            found.append(group)
        length = min(after, old_to - old_from)
        group = [(tag, old_to - length, old_to, new_to - length, new_to)]
    if any(piece[0] != "equal" for piece in group):
        found.append(group)
    return found


def differences(old: list[str], new: list[str]) -> list[Piece]:
    """Return the pieces that lead from the old lines to the new ones, in order and without gaps."""
    head = tail = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    kept = [(at, at) for at in range(head)]  # the places of the lines that stay, and the end
    middle = _search(old[head : len(old) - tail], new[head : len(new) - tail])
    kept += [(one + head, other + head) for one, other in middle]
    kept += [(len(old) - at, len(new) - at) for at in range(tail, -1, -1)]
    found: list[Piece] = []
    at_old = at_new = 0
    for old_at, new_at in kept:
        if old_at > at_old or new_at > at_new:
            tag = "replace" if old_at > at_old and new_at > at_new else "delete" if old_at > at_old else "insert"
            found.append((tag, at_old, old_at, at_new, new_at))
        at_old, at_new = old_at + 1, new_at + 1
        if (old_at, new_at) == (len(old), len(new)):
            break
        first = found.pop() if found and found[-1][0] == "equal" else ("equal", old_at, at_old, new_at, at_new)
        found.append(("equal", first[1], at_old, first[3], at_new))
    return found


def _search(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of the shortest edit, none when it has more than EDITS."""
    furthest = {1: 0}  # by diagonal (place in old - place in new): how far in old
    history = []
    for edits in range(min(len(old) + len(new), EDITS) + 1):
        history.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            one = furthest[_step(furthest, diagonal, edits)]
            one += _step(furthest, diagonal, edits) < diagonal
            while one < len(old) and one - diagonal < len(new) and old[one] == new[one - diagonal]:
                one += 1
            furthest[diagonal] = one
            if one >= len(old) and one - diagonal >= len(new):
                return _walk_back(history, len(old), len(new))
    return []


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """Return the diagonal that is come from: above by adding a line, below by removing one."""
    is_added = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return diagonal + 1 if is_added else diagonal - 1


def _walk_back(history: list[dict[int, int]], one: int, other: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(history) - 1, -1, -1):
        source = _step(history[edits], one - other, edits)
        before = history[edits][source]
        while one > before and other > before - source:
            one, other = one - 1, other - 1
            pairs.append((one, other))
        one, other = before, before - source
    return pairs[::-1]
