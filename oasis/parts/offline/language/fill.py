"""How the slots of a frame get their values from the segments of a clause, by the type of the slot.

    fillers(type)(clause, slot, frame, taken)   -> Found or None; never the segments in `taken`

Ports and speeds are numbers whose meaning the words around them decide. Texts without a form of their own are chosen in
free.py.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.clause import Found
from oasis.parts.offline.language.free import LEADING
from oasis.parts.offline.language.lexicon import FILLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.frames import Frame

    Filler = Callable[[Clause, str, Frame, set[int]], "Found | None"]


WEAK_SWITCH = 0.4
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CODE = re.compile(r"[A-Z]{2}\Z")


def fillers(kind: str) -> Filler:
    """Return what finds the values of a type."""
    return _FILLERS.get(kind) or (lambda clause, slot, frame, taken: _valued(clause, kind, taken))


def _valued(clause: Clause, kind: str, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value(kind) if at not in taken]
    if not found:
        return None
    values = {clause.segments[at].values[kind] for at in found}
    if len(values) > 1:
        if kind == "encryption" and values == {"wpa2", "wpa3"} and not clause.concepts & {"negation", "instead"}:
            return Found("mixed", set(found))
        return Found(clause.segments[found[-1]].values[kind], set(found))  # the last one is what is wished for
    return Found(values.pop(), set(found))


def _switch(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [(at, "on" if "on" in clause.segments[at].concepts else "off") for at in clause.of("on", "off")]
    strong = [pair for pair in found if FILLER not in clause.segments[pair[0]].concepts] or found
    states = {state for _, state in strong}
    if len(states) != 1:
        return None  # none, or both: what contradicts itself is not read
    # "on" may be a preposition, where no verb stands with it.
    is_weak = all(FILLER in clause.segments[at].concepts for at, _ in strong) and not clause.of("set")
    return Found(states.pop(), {at for at, _ in found}, WEAK_SWITCH if is_weak else 0.0)


def _band(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("band") if at not in taken]
    values = {clause.segments[at].values["band"] for at in found}
    if values >= {"2g", "5g"}:
        return Found("both", set(found))
    if len(values) > 1:
        return None
    return Found(values.pop(), set(found)) if values else None


def _until(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    spans = [at for at in clause.with_value("duration") if at not in taken]
    if len(spans) == 1:
        mark = clause.before(spans[0])
        marks = {mark} if mark >= 0 and clause.segments[mark].concepts & {"until", "for_"} else set()
        return Found(clause.segments[spans[0]].values["duration"], {spans[0]} | marks)
    for mark in clause.of("until"):
        for at in (clause.after(mark), clause.before(mark)):
            if 0 <= at < len(clause.segments) and at not in taken:
                clock = _hour_of(clause, at)
                if clock:
                    return Found(clock, {mark, at})
    return None


def _hour_of(clause: Clause, at: int) -> str:
    values = clause.segments[at].values
    if "clock" in values:
        return values["clock"]
    number = values.get("number", "")
    return f"{int(number):02d}:00" if number.isdigit() and int(number) < 24 else ""


def _clock(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return the first or second time of day of two."""
    spans = clause.with_value("hours")
    if len(spans) == 1:
        ends = clause.segments[spans[0]].values["hours"].split("-")
        return Found(ends[0 if slot == "from" else 1], {spans[0]})
    clocks = clause.with_value("clock")
    ranges = [at for at in clause.with_value("range") if not clocks]
    if ranges:
        ends = clause.segments[ranges[0]].values["range"].split("-")
        if all(int(end) <= 24 for end in ends):
            return Found(f"{int(ends[0 if slot == 'from' else 1]) % 24:02d}:00", {ranges[0]})
    if len(clocks) < 2:
        clocks = [at for at in clause.with_value("clock", "number") if _hour_of(clause, at)]
    if len(clocks) != 2:
        return None
    if slot == "to":
        return Found(_later_half(clause, *clocks), {clocks[1]})
    wanted = clocks[0]
    if clause.segments[clause.before(wanted)].concepts & {"until"} and clause.before(wanted) >= 0:
        return None
    return Found(_earlier_half(clause, *clocks), {wanted})


def _earlier_half(clause: Clause, first: int, last: int) -> str:
    """Return the first of two times of day; of `8 to 10 in the evening` it is in the evening too."""
    start, stop = _hour_of(clause, first), _hour_of(clause, last)
    is_bare = "half" not in clause.segments[first].values and not clause.text(first, first).startswith("0")
    is_evening = clause.segments[last].values.get("half") == "pm"
    later = f"{int(start[:2]) + 12:02d}{start[2:]}"
    return later if is_bare and is_evening and start < "12:00" and later < stop else start


def _later_half(clause: Clause, first: int, last: int) -> str:
    """Return the second of two times of day; of `8 in the evening to 10` it is in the evening too."""
    start, stop = _hour_of(clause, first), _hour_of(clause, last)
    hour = int(stop[:2])
    if (
        start == "12:00"
        and hour < 12
        and not {*clause.segments[first].values, *clause.segments[last].values} & {"half"}
    ):
        return f"{hour + 12:02d}{stop[2:]}"
    is_bare = "half" not in clause.segments[last].values and clause.segments[first].values.get("half") == "pm"
    if is_bare and hour < 12 and stop < start < f"{hour + 12:02d}{stop[2:]}":
        return f"{hour + 12:02d}{stop[2:]}"
    return stop


def _days(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("days") if at not in taken]
    if not found:
        return None
    if len({clause.segments[at].values["days"] for at in found}) > 1:  # each Saturday: not each day
        found = [at for at in found if len(clause.segments[at].values["days"].split()) < 7] or found
    days: list[str] = _row_of_days(clause, found)
    for at in found if not days else []:
        days += [day for day in clause.segments[at].values["days"].split() if day not in days]
    return Found(" ".join(days), set(found))


def _row_of_days(clause: Clause, found: list[int]) -> list[str]:
    """Return the days from one to another one (sunday to thursday), [] when they are said in no such way."""
    if len(found) < 2:
        return []
    first, last = found[-2:]
    between = clause.segments[first + 1 : last]
    ends = [clause.segments[at].values["days"].split() for at in (first, last)]
    if not any(one.concepts & {"to", "until"} for one in between) or any(len(end) > 1 for end in ends):
        return []
    start, stop = (_WEEK.index(end[0]) for end in ends)
    return [_WEEK[(start + at) % 7] for at in range((stop - start) % 7 + 1)]


def _number(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return a channel or a power: a bare number, or a listed value such as auto."""
    kind = "channel" if slot == "channel" else slot
    listed = _valued(clause, kind, taken)
    if listed:
        return listed
    found = [at for at in clause.with_value("number") if at not in taken]
    near = [at for at in found if clause.before(at, *LEADING) in clause.of(kind) or clause.after(at) in clause.of(kind)]
    chosen = near or found
    return Found(clause.segments[chosen[0]].values["number"], {chosen[0]}) if len(chosen) == 1 else None


def _width(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return a width in MHz; a bare number only where a width is talked about."""
    is_meant = bool(clause.of("width")) or not any(must for _, _, must in frame.slots)
    return _valued(clause, "width", taken) or (_number(clause, slot, frame, taken) if is_meant else None)


def _ip(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("ip") if at not in taken]
    if slot == "address" and len(found) == 2:
        found = [
            at for at in found if clause.before(at) < 0 or "from_" not in clause.segments[clause.before(at)].concepts
        ]
        return Found(clause.segments[found[-1]].values["cidr"], set(clause.with_value("ip")))
    kind = "cidr" if slot == "address" else "ip"
    return Found(clause.segments[found[0]].values[kind], {found[0]}) if found else None


def _servers(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("ip", "ip6") if at not in taken]
    texts = [clause.segments[at].values.get("ip") or clause.segments[at].values["ip6"] for at in found]
    return Found(", ".join(texts), set(found)) if found else None


def _device(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("device") if at not in taken]
    if found:
        return Found(clause.segments[found[0]].values["device"], {found[0]})
    ips = [at for at in clause.with_value("ip") if at not in taken]
    ip_slots = sum(kind in ("ip", "address") for _, kind, _ in frame.slots)
    if len(ips) > ip_slots:
        return Found(clause.segments[ips[0]].values["ip"], {ips[0]}, 0.4 if ip_slots else 0.1)
    return _unknown_device(clause, taken)


def _devices(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("device", "ip") if at not in taken]
    if not found:
        return _unknown_device(clause, taken)
    texts = [clause.segments[at].values.get("device") or clause.segments[at].values["ip"] for at in found]
    return Found(", ".join(texts), set(found))


def _unknown_device(clause: Clause, taken: set[int]) -> Found | None:
    """Return words that may be a device nobody knows: a word for a machine, or what is in no list."""
    things = [at for at in clause.of("thing") if at not in taken]
    runs = [run for run in _runs(clause, taken) if len(run) <= 3]
    if things:
        first = last = things[0]
        while first > 0 and not clause.segments[first - 1].is_known() and first - 1 not in taken:
            first -= 1
        return Found(clause.text(first, last), set(range(first, last + 1)), 0.1, False)
    if len(runs) == 1:
        return Found(clause.text(runs[0][0], runs[0][-1]), set(runs[0]), 0.6, False)
    quoted = [at for at in clause.with_value("quoted") if at not in taken]
    return Found(clause.text(quoted[0], quoted[0]), {quoted[0]}, 0.1, False) if len(quoted) == 1 else None


def _runs(clause: Clause, taken: set[int]) -> list[list[int]]:
    """Return the runs of segments that no list knows."""
    runs: list[list[int]] = []
    for at, segment in enumerate(clause.segments):
        if segment.is_known() or at in taken:
            continue
        if runs and runs[-1][-1] == at - 1 and not clause.tail(at - 1):
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _place(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return the longest words that are a place with a time zone."""
    listed = [at for at in clause.with_value("place") if at not in taken]
    if listed:
        return Found(clause.segments[listed[0]].values["place"], {listed[0]}, 0.0, False)
    for width in (4, 3, 2, 1):
        for first in range(len(clause.segments) - width + 1):
            last = first + width - 1
            if taken & set(range(first, last + 1)) or clause.is_filler(first) or clause.is_filler(last):
                continue
            if clause.segments[first].concepts and width == 1:
                continue
            text = clause.text(first, last)
            if len(text) < 40 and clause.is_value("place", text, False):
                return Found(text, set(range(first, last + 1)), 0.0, False)
    quoted = [at for at in clause.with_value("quoted") if at not in taken]
    if quoted:
        return Found(clause.text(quoted[0], quoted[0]), {quoted[0]}, 0.1, False)
    runs = _runs(clause, taken)
    return Found(clause.text(runs[0][0], runs[0][-1]), set(runs[0]), 0.6, False) if len(runs) == 1 else None


def _country(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    listed = _valued(clause, "country", taken)
    if listed:
        return listed
    for at in range(len(clause.segments)):
        text = clause.text(at, at)
        mark = clause.before(at)
        near = mark >= 0 and bool(clause.segments[mark].concepts & {"country", "to", "is_"})
        is_code = len(text) == 2 and text.isalpha() and text.isascii() and FILLER not in clause.segments[at].concepts
        if _CODE.match(text) or (is_code and near and at not in taken):
            return Found(text.upper(), {at})
    return None


def _service(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    logs = set(clause.of("logs"))  # the log itself is a service, too
    return _valued(clause, "service", taken | logs) or _lone(clause, taken, 0.5)


def _lone(clause: Clause, taken: set[int], doubt: float) -> Found | None:
    runs = _runs(clause, taken)
    if len(runs) == 1 and len(runs[0]) == 1:
        return Found(clause.text(runs[0][0], runs[0][0]), set(runs[0]), doubt, False)
    return None


def _host(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return a name or address on the network."""
    for kind in ("domain", "ip", "ip6", "device", "provider"):
        found = [at for at in clause.with_value(kind) if at not in taken]
        if found:
            return Found(clause.text(found[0], found[0]), {found[0]}, 0.0, False)
    quoted = [at for at in clause.with_value("quoted") if at not in taken]
    if len(quoted) == 1:
        return Found(clause.text(quoted[0], quoted[0]), {quoted[0]})
    return _lone(clause, taken, 0.3)


def _domain(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    found = [at for at in clause.with_value("domain") if at not in taken]
    if found:
        return Found(clause.segments[found[0]].values["domain"], {found[0]})
    quoted = [at for at in clause.with_value("quoted") if at not in taken]
    return Found(clause.text(quoted[0], quoted[0]), {quoted[0]}) if len(quoted) == 1 else None


def _text(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return words to look for: what stands in quotes, or is in no list."""
    quoted = [at for at in clause.with_value("quoted") if at not in taken]
    if quoted:
        return Found(clause.text(quoted[0], quoted[0]), {quoted[0]})
    wrong = [at for at in clause.of("error") if at not in taken] if clause.of("search") else []
    if wrong:
        return Found(clause.text(wrong[0], wrong[0]), {wrong[0]})
    runs = _runs(clause, taken)
    return Found(clause.text(runs[0][0], runs[0][-1]), set(runs[0]), 0.2, False) if len(runs) == 1 else None


def _software(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return the well-known name of a package."""
    found = [at for at in clause.of("software") if at not in taken]
    return Found(clause.text(found[0], found[0]), {found[0]}, 0.0, False) if len(found) == 1 else None


def _known(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return a device that the router knows, an address, or a word for a machine."""
    found = _device(clause, slot, frame, taken)
    return found if found and found.doubt < 0.5 else None


def _named(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return devices that the router knows by name."""
    found = [at for at in clause.with_value("device") if at not in taken]
    if not found:
        return None
    chosen = found if slot == "devices" else found[:1]
    return Found(", ".join(clause.segments[at].values["device"] for at in chosen), set(chosen))


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


_FILLERS: dict[str, Filler] = {
    "software": _software,
    "named": _named,
    "dbm": lambda clause, slot, frame, taken: _valued(clause, "power", taken),
    "listed": lambda clause, slot, frame, taken: _valued(clause, "service", taken | set(clause.of("logs"))),
    "known": _known,
    "switch": _switch,
    "band": _band,
    "until": _until,
    "clock": _clock,
    "days": _days,
    "channel": _number,
    "power": lambda clause, slot, frame, taken: _valued(clause, "power", taken) or _number(clause, slot, frame, taken),
    "width": _width,
    "ports": ports,
    "port": port,
    "ip": _ip,
    "address": _ip,
    "servers": _servers,
    "speed": speed,
    "device": _device,
    "devices": _devices,
    "place": _place,
    "country": _country,
    "service": _service,
    "host": _host,
    "domain": _domain,
    "text": _text,
}
