"""Slots that are numbers: ports and speeds, each told by the words around it. See fill.py for what they are given."""

from __future__ import annotations

from oasis.parts.offline.language.clause import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.frames import Frame


def ports(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("number", "range") if at not in taken]
    inner = _inner_place(clause, found) if any(name == "inner" for name, _, _ in frame.slots) else -1
    found = [at for at in found if at != inner]
    ranged = _spoken_range(clause, found)
    if ranged:
        return Found(ranged, set(found))
    texts = [clause.segments[at].values.get("range") or clause.segments[at].values["number"] for at in found]
    return Found(", ".join(texts), set(found)) if texts else None


def _spoken_range(clause: Clause, found: list[int]) -> str:
    """Return `8000 to 8010` as a range, "" when the numbers are no such thing."""
    if len(found) != 2 or clause.before(found[1], "to", "until", "port") != found[0]:
        return ""
    between = clause.segments[found[0] + 1 : found[1]]
    first, last = (clause.segments[at].values.get("number", "") for at in found)
    if any(one.concepts & {"to", "until"} for one in between) and first.isdigit() and last.isdigit():
        return f"{first}-{last}" if int(first) < int(last) else ""
    return ""


def _inner_place(clause: Clause, found: list[int]) -> int:
    """Return the place of the port inside, the last of two that are not joined by `and`; -1 for none."""
    if len(found) < 2:
        return -1
    last, first = found[-1], found[-2]
    between = clause.segments[first + 1 : last]
    is_apart = any("device" in one.values or "ip" in one.values for one in between)
    if (any("and" in one.concepts for one in between) and not is_apart) or clause.tail(first).startswith(
        (",", "、", "，")
    ):
        return -1
    if len(found) == 2 and any("until" in one.concepts for one in between) and _spoken_range(clause, found):
        return -1
    is_far = any("device" in one.values or "ip" in one.values or "port" in one.concepts for one in between)
    return last if is_far else -1


def port(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    if slot == "inner":
        every = clause.with_value("number", "range")
        place = _inner_place(clause, every)
        return Found(clause.segments[place].values.get("number", ""), {place}) if place >= 0 else None
    found = [at for at in clause.with_value("number", "range") if at not in taken]
    near = [at for at in found if clause.before(at) in clause.of("port")]
    chosen = near or found
    if not chosen:
        return None
    values = clause.segments[chosen[0]].values
    return Found(values.get("range") or values["number"], {chosen[0]})


def speed(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return the speed that a word for down or up stands at; a bare number has the unit of the other one."""
    speeds = clause.with_value("speed")
    if not speeds:
        return None
    places = clause.with_value("speed", "number")
    own, other = ("download", "upload") if slot == "down" else ("upload", "download")
    if not clause.of("download", "upload") and len(places) == 2 and abs(places[0] - places[1]) <= 2:
        at = places[0 if slot == "down" else 1]  # 100/20 mbit
        return Found(clause.segments[at].values.get("speed") or clause.segments[at].values["number"] + "000", {at})
    if not clause.of("download", "upload") and len(speeds) == 1:
        return Found(clause.segments[speeds[0]].values["speed"], set(speeds)) if slot == "down" else None
    for at in _by_word(clause, own, other, places):
        values = clause.segments[at].values
        if "speed" in values:
            return Found(values["speed"], {at})
        return Found(values["number"] + "000", {at}, 0.1)
    return None


def _by_word(clause: Clause, own: str, other: str, places: list[int]) -> list[int]:
    """Return the value that belongs to a word: words and values come in turns, whichever comes first."""
    marks = [(at, own if own in clause.segments[at].concepts else other) for at in clause.of(own, other)]
    if not marks or not places:
        return []
    order = sorted([*((at, name) for at, name in marks), *((at, "") for at in places)])
    names, values = [name for _, name in order if name], [at for at, name in order if not name]
    if len(set(names)) == 2 and len(values) == 1:
        return values
    if len(names) == len(values):
        return [value for name, value in zip(names, values, strict=True) if name == own][:1]
    return values[:1] if names[0] == own and len(set(names)) == 1 else []
