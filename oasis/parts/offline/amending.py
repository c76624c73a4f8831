"""What a message makes of the request before it: "no, the tv", "only on weekdays", "and 9.9.9.9 too", "make it three".

Such a message has values and small words alone. Its values take the place of those that the request had; what it takes
out ("not the printer", "but not on Saturdays") is left out of a list; what it adds to a list of servers joins it.

    amended(clause, part, frame, frames, world) -> (its slots as they are now, is_added); None for other messages
    differences(old, new) -> what of a list is gone, and what is new
    taken_back(part) -> the request that undoes one which was a mistake; None where there is none
"""

from __future__ import annotations

import re

from oasis.parts.offline.clause import FILLER, VERBS, Clause
from oasis.parts.offline.frames import TOPICS
from oasis.parts.offline.reading import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.clause import Segment
    from oasis.parts.offline.frames import Frame, Frames
    from oasis.parts.offline.shapes import Raw
    from oasis.parts.offline.slots import World


_ADDING = {"and", "also", "follow"}
_CORRECTING = {"no", "instead", "other"}
_TAKING = {"negation", "without", "less"}
_MARKS = {*_ADDING, *_CORRECTING, *_TAKING, "seam", "it", "yes", "greet", "need", "undo"}
_SMALL = {"set", "make", "give", "use", "show"}  # verbs that are said with any value
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_BAND_OF = {"2": "2g", "5": "5g", "6": "6g"}
_NUMBERS = {"channel", "width", "power", "port"}  # slots that a bare number may be for
_OTHER_BAND = {"2g": "5g", "5g": "2g"}
_LISTED = {
    "devices": "device",
    "servers": "ip",
    "ports": "number",
    "device": "device",
}  # type of a slot -> of its values
_EDGES = {"until", "to", "from_"}
_LIGHT = {*_SMALL, *_EDGES, "for_", "last", "band", "on", "live", "start"}  # words that cost nothing in such a message
LOSS = 0.62  # what may be left over of a message, as for carrying out a request at once
_LAST_BYTE = re.compile(r"\.?(\d{1,3})\Z")
# Verbs by which most requests are taken back.
ENDING = {"close", "remove", "stop", "unblock", "allow"}
_OPPOSITE = {
    "block": "unblock", "unblock": "block", "dns_block": "dns_unblock", "dns_unblock": "dns_block",
    "port_forward": "port_forward_remove", "parental_times": "parental_remove",
}  # fmt: skip


def _is_kana(text: str) -> bool:
    return any("\u3040" <= char <= "\u30ff" for char in text)


def _is_one(clause: Clause, at: int) -> bool:
    """Tell whether a number word stands for a thing: the 5 GHz one."""
    one = clause.segments[at]
    is_small = FILLER in one.concepts and set(one.values) == {"number"} and not clause.text(at, at).isdigit()
    return is_small and at > 0 and bool(clause.segments[at - 1].values)


def _is_kept(clause: Clause, at: int) -> bool:
    """Tell whether a segment is no mere word for going on."""
    one = clause.segments[at]
    is_mark = one.concepts & _MARKS and not one.concepts & _EDGES
    return not _is_one(clause, at) and bool(one.values or not is_mark)


def _taken_out(clause: Clause) -> set[int]:
    """Return the segments whose values are not wanted: behind "not", in Japanese before it."""
    found: set[int] = set()
    for at, one in enumerate(clause.segments):
        following = next((one for one in clause.segments[at + 1 :] if FILLER not in one.concepts or one.values), None)
        is_ahead = following is not None and bool(following.values)
        step = 1 if is_ahead and not _is_kana(clause.text(at, at)) else -1
        is_no = not one.values and one.concepts & {*_TAKING, "no"} and "seam" not in one.concepts
        if not is_no or (clause.tail(at) and step > 0):
            continue
        place = at + step
        while 0 <= place < len(clause.segments):
            segment = clause.segments[place]
            if segment.values:
                found |= set() if _is_one(clause, place) else {place}
                if clause.tail(place if step > 0 else place - 1):
                    break
            elif not (FILLER in segment.concepts or segment.concepts & {"and", "on_band", "band"}):
                break
            place += step
    return found


def _only(clause: Clause, segments: list[Segment]) -> Clause:
    return Clause(clause.sentence, clause.tokens, segments, {"following"}, clause.is_value)


def amended(clause: Clause, part: Part, frame: Frame, frames: Frames, world: World) -> tuple[Raw, bool] | None:
    """Return the slots of a request with what a message changes in them, and whether it is one more.

    `frame` is one of the request that needs nothing; `world` tells which devices are the same one.
    """
    out = _taken_out(clause)
    found = _amended(clause, part, frame, frames, world, out)
    is_correction = bool(out) and found is None and "no" in clause.concepts_at(0)
    return _amended(clause, part, frame, frames, world, set()) if is_correction else found


def _amended(
    clause: Clause, part: Part, frame: Frame, frames: Frames, world: World, out: set[int]
) -> tuple[Raw, bool] | None:
    said = set().union(*[one.concepts & _MARKS for one in clause.segments if not one.values])
    kept = [one for at, one in enumerate(clause.segments) if at not in out and _is_kept(clause, at)]
    rest = _only(clause, kept)
    own = {*_SMALL, *frames.verbs(part.intent), part.slots.get("switch", ("", True))[0]}
    own |= {"start"} if rest.with_value("clock") else set()
    for one in kept:
        verbs, topics = one.concepts & VERBS, one.concepts & TOPICS - frame.meant
        # With a verb of its own it is a request by itself; "start" says when.
        if not one.values and FILLER not in one.concepts and (topics or (verbs and not verbs & own)):
            return None
    is_added = bool(said & _ADDING) and not said & {"no", "instead"}
    slots: Raw = {}
    if any(one.values or _LAST_BYTE.match(clause.norm(one)) for one in kept):
        slots = _own_values(rest, part, frame)
        found = None if slots else frames.fit(frame, rest, {}, _LIGHT)
        if found and found.loss <= LOSS:
            slots = {name: raw for name, raw in found.slots.items() if name not in frame.fixed}
        if not slots or any(not raw[1] for raw in slots.values()):
            return None  # a text of any words: others read names
    other = _OTHER_BAND.get(part.slots.get("band", ("", True))[0], "")
    if "other" in said and other and "band" not in slots:
        slots["band"] = (other, True)
    for at in out:
        less = _without(clause.segments[at], part, frame, slots, world)
        if less is None:
            return None
        slots |= less
    if is_added and "servers" in slots and "servers" in part.slots:
        slots["servers"] = (part.slots["servers"][0] + ", " + slots["servers"][0], True)
    new = {**part.slots, **slots}
    return (new, is_added) if slots and new != part.slots else None


def _own_values(rest: Clause, part: Part, frame: Frame) -> Raw:
    """Return a single time of day, a bare number or the end of an address as the value of the slot that it changes."""
    names = {name for name, _, _ in frame.slots} | set(part.slots)
    valued = [at for at, one in enumerate(rest.segments) if one.values]
    clocks = [at for at in rest.with_value("clock", "number") if "clock" in rest.segments[at].values or valued == [at]]
    others: Raw = {}
    if len(valued) == 2 and "devices" in names:  # the same for the xbox but from 20:00
        device = next((at for at in valued if "device" in rest.segments[at].values), -1)
        clocks = [at for at in valued if at != device and rest.segments[at].values.keys() & {"clock", "number"}]
        if device < 0:
            return {}
        others = {"devices": (rest.segments[device].values["device"], True)}
    elif len(valued) > 1 and "ip" not in part.slots:
        return {}
    if len(clocks) == 1:
        at = clocks[0]
        values = rest.segments[at].values
        near = rest.concepts_at(rest.before(at)) | set().union(*[rest.concepts_at(at + step) for step in (-1, 0, 1)])
        if "from" in part.slots and "to" in part.slots:
            is_start = "from_" in near or _is_from(rest, at)
            slot = "from" if is_start else "to" if near & {"until", "to"} else ""
            clock = _clock(values, part.slots[slot][0], rest.text(at, at)) if slot else ""
            return {**others, slot: (clock, True)} if clock else {}
        old = part.slots.get("until", ("", True))[0]
        if "clock" in values and "until" in names and ("u_clock" in values or old or near & {"until"}):
            return {**others, "until": (_clock(values, old, rest.text(at, at)), True)}
        if "number" in values and old.endswith("m"):
            unit = 60 if int(old[:-1]) % 60 == 0 else 1
            return {**others, "until": (f"{int(values['number']) * unit}m", True)}
        if "number" in values and old and near & {"until"}:
            return {**others, "until": (_clock(values, old, rest.text(at, at)), True)}
    number = rest.segments[valued[0]].values.get("number", "") if len(valued) == 1 else ""
    if number in _BAND_OF and "band" in names and not names & _NUMBERS:
        return {"band": (_BAND_OF[number], True)}
    devices = [one.values["device"] for one in rest.segments if "device" in one.values]
    others_said = [at for at in valued if not rest.segments[at].values.keys() & {"number", "device"}]
    for one in rest.segments if not others_said else ():
        text = _LAST_BYTE.match(rest.norm(one))
        if text and "ip" in part.slots and int(text[1]) < 255:
            ip = part.slots["ip"][0].rpartition(".")[0] + "." + text[1]
            return {"ip": (ip, True), **({"device": (devices[0], True)} if devices and "device" in part.slots else {})}
    return {}


def _is_from(rest: Clause, at: int) -> bool:
    """Tell whether から stands behind a time."""
    return at + 1 < len(rest.segments) and rest.text(at + 1, at + 1).startswith("から")


def _clock(values: dict[str, str], old: str, text: str) -> str:
    """Return a time of day; a bare hour is in the half of the day of the one that it takes the place of."""
    clock = values.get("clock") or (f"{int(values['number']):02d}:00" if int(values.get("number", "99")) < 24 else "")
    is_bare = "half" not in values and bool(re.match(r"[1-9]\D*\Z|1[01]\D*\Z", text))
    if clock and is_bare and old >= "12:00" and clock < "12:00" and ":" in old:
        clock = f"{int(clock[:2]) + 12:02d}{clock[2:]}"
    return clock


def _without(segment: Segment, part: Part, frame: Frame, new: Raw, world: World) -> Raw | None:
    """Return a slot of a request without a value; None where it does not have it, or nothing would be left."""
    kinds = {name: kind for name, kind, _ in frame.slots}
    if "days" in segment.values and "days" in kinds:
        days = part.slots.get("days", (" ".join(_WEEK), True))[0].split()
        left = [day for day in days if day not in segment.values["days"].split()]
        return {"days": (" ".join(left), True)} if left and left != days else None
    if "band" in segment.values and "band" in kinds:
        band = _OTHER_BAND.get(segment.values["band"], "")
        return {"band": (band, True)} if band and new.get("band", (band, True))[0] == band else None
    for name, kind in kinds.items():
        value = segment.values.get(_LISTED.get(kind, ""), "")
        if not value or name not in part.slots:
            continue
        if name in new:
            return {}  # another one is said in its place
        rows = [one for one in re.split(r"\s*,\s*", part.slots[name][0]) if one]
        same = world.is_same_device if kind in ("device", "devices") else str.__eq__
        left = [one for one in rows if not same(one, value)]
        return {name: (", ".join(left), True)} if left and left != rows else None
    return None


def is_reversed(clause: Clause, part: Part) -> bool:
    """Tell whether a message says nothing but the opposite of a request: close it again."""
    verbs = {"unblock": {"block", "forbid"}, "dns_unblock": {"block", "forbid"}}.get(part.intent, ENDING)
    said = [one.concepts for one in clause.segments if FILLER not in one.concepts or "it" in one.concepts]
    is_said = any(one & verbs for one in said) and all(one & {*verbs, "it", "back", "also", "request"} for one in said)
    return is_said and not clause.of("negation") and not any(one.values for one in clause.segments)


def taken_back(part: Part) -> Part | None:
    """Return the request that undoes another one; None where only the undo of its whole change does."""
    slots = {name: raw for name, raw in part.slots.items() if name not in ("until", "inner", "proto")}
    if "switch" in slots:
        flipped = {"on": "off", "off": "on"}[slots["switch"][0]]
        return Part(part.intent, {**slots, "switch": (flipped, True)}, part.score)
    return Part(_OPPOSITE[part.intent], slots, part.score) if part.intent in _OPPOSITE else None


def differences(old: str, new: str) -> tuple[str, str]:
    """Return what of a list is gone and what is new in it, each as a list."""
    before, after = (re.split(r"\s*,\s*", text) for text in (old, new))
    return ", ".join(one for one in before if one not in after), ", ".join(one for one in after if one not in before)
