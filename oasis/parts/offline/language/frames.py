"""Frames: which concepts and slots make a request, the same in every language; and how well one covers a clause.

    "wifi password ?band|new {key?} !guest"    needs a word for wifi and one for password, may have some more words, may
                                               have a key, and is not meant where the word guest stands
    {slot} must be there, {slot?} may be, {slot=value} is always so; {slot:type} when only a value of that type will do

A frame covers a clause when every word of it is a concept of the frame, in a slot, or a filler. What is left over
costs: a word that no list knows or that means something else makes it less certain that this was meant.

    fillers(type)(clause, slot, frame, taken)   -> Found or None: the value of a slot; never the segments in `taken`

Ports and speeds are numbers whose meaning the words around them decide. Texts without a form of their own are chosen in
free.py.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.clause import Found
from oasis.parts.offline.language.free import FREE, LEADING, free_values
from oasis.parts.offline.language.lexicon import FILLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.lexicon import Segment
    from oasis.parts.offline.shapes import FramesData, Mood, Raw

    Filler = Callable[[Clause, str, "Frame", set[int]], Found | None]
    FrameSlot = tuple[str, str, bool]  # name, type, must


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
    found = [at for at in clause.of("software") if at not in taken]
    return Found(clause.text(found[0], found[0]), {found[0]}, 0.0, False) if len(found) == 1 else None


def _known(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
    """Return a device that the router knows, an address, or a word for a machine."""
    found = _device(clause, slot, frame, taken)
    return found if found and found.doubt < 0.5 else None


def _named(clause: Clause, slot: str, frame: Frame, taken: set[int]) -> Found | None:
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


NEED, WANT, SLOT = 1.0, 0.35, 1.1
UNKNOWN, OTHER, LIGHT, VALUE, HEAVY, SLIP = 1.0, 1.0, 0.4, 1.0, 2.2, 0.12
TOPICS = {
    "wifi", "guest", "password", "ssid", "router", "channel", "width", "country", "power", "encryption", "hide",
    "isolate", "lease", "fixed", "pool", "ipv6", "upnp", "port", "forward", "dns", "ads", "vpn", "peer", "qos",
    "timezone", "clock", "ntp", "led", "firmware", "package", "service", "logs", "schedule", "site",
}  # fmt: skip
SHORT_UNKNOWN = 0.5  # a word of one or two letters
CARRIED, CARRIED_GAIN = ("band", "device", "devices", "service"), 0.05  # slots that go on where they need not be said
INHERITED = 0.3  # a slot from the request before


class Frame:
    """One frame of an intent, read from its text."""

    def __init__(self, intent: str, mood: Mood, text: str, kinds: dict[str, str]) -> None:
        self.intent = intent
        self.mood = mood
        self.needs: list[set[str]] = []
        self.wants: set[str] = set()
        self.bars: set[str] = set()
        self.fixed: dict[str, str] = {}
        self.names = set(kinds)  # a value for no slot of the intent is understood, and left out
        slots: list[FrameSlot] = []
        for word in text.split():
            if word[0] == "?":
                self.wants |= set(word[1:].split("|"))
            elif word[0] == "!":
                self.bars |= set(word[1:].split("|"))
            elif word[0] != "{":
                self.needs.append(set(word.split("|")))
            elif "=" in word:
                name, _, value = word[1:-1].partition("=")
                self.fixed[name] = value
            else:
                name, _, kind = word[1:-1].partition(":")
                bare = name.rstrip("?")
                slots.append((bare, kind or kinds.get(bare, bare), not name.endswith("?")))
        self._take(slots)

    def _take(self, slots: list[FrameSlot]) -> None:
        self.slots = sorted(slots, key=lambda one: one[1] in FREE)  # values with a form of their own first
        self.free = [one for one in self.slots if one[1] in FREE]

    def waived(self) -> Frame:
        """Return the same frame for words that go on from a request like this: nothing must be said again."""
        return LooseFrame(
            [self], self.names, self.fixed, [(name, kind, False) for name, kind, _ in self.slots], self.bars
        )


class LooseFrame(Frame):
    """Some frames of one intent as one that needs nothing: what they need is only wanted."""

    def __init__(
        self, frames: Sequence[Frame], names: set[str], fixed: dict[str, str], slots: list[FrameSlot], bars: set[str]
    ) -> None:
        super().__init__(frames[0].intent, frames[0].mood, "", {})
        self.wants = set().union(*[frame.wants.union(*frame.needs) for frame in frames])
        self.names, self.fixed, self.bars = names, fixed, bars
        self._take(slots)


class Frames:
    """The frames of all intents, read once."""

    def __init__(self, data: FramesData, kinds: dict[str, dict[str, str]]) -> None:
        # A time of day that no hour belongs to (`until the morning`) is no end that could be set.
        self.brakes = {*data["brakes"], "u_am", "u_pm", "u_night"}
        self.light = set(data["light"])
        self.asking = set(data["asking"])
        self.always = set(data["always"])
        self.allowed = {mood: {*words, *self.always} for mood, words in data["allowed"].items()}
        self.frames = [
            Frame(intent, mood, text, kinds[intent])
            for mood, intents in data["frames"].items()
            for intent, texts in intents.items()
            for text in texts
        ]
        self.of: dict[str, list[Frame]] = {}
        self._kinds = kinds
        self._loose: dict[tuple[str, tuple[tuple[str, str], ...]], Frame] = {}
        self._changing = {frame.intent for frame in self.frames if frame.mood == "change"}
        for frame in self.frames:
            self.of.setdefault(frame.intent, []).append(frame)

    def needed(self, intent: str) -> set[str]:
        """Return the slots without which no frame of an intent is whole."""
        sets = [{name for name, _, must in frame.slots if must} | set(frame.fixed) for frame in self.of.get(intent, ())]
        return set.intersection(*sets) if sets else set()

    def topic(self, intent: str) -> set[str]:
        """Return the concepts that every frame of an intent may be recognised by: what it is about."""
        of = self.of.get(intent, ())
        needs = [set().union(*frame.needs) for frame in of if frame.needs]
        return {name for name in set().union(*needs) if sum(name in one for one in needs) * 2 >= len(needs)} & TOPICS

    def loose(self, intent: str, fixed: dict[str, str]) -> Frame | None:
        """Return a frame of an intent that needs nothing, has all its slots, and is for a clause without its words."""
        key = (intent, tuple(fixed.items()))
        frames = self.of.get(intent)
        if key not in self._loose and frames:
            kinds: dict[str, str] = {}
            for frame in frames:
                for name, kind, _ in frame.slots:
                    kinds.setdefault(name, kind)
            slots = [(name, kind, False) for name, kind in kinds.items() if name not in fixed]
            self._loose[key] = LooseFrame(frames, set(self._kinds[intent]), dict(fixed), slots, set())
        return self._loose.get(key)

    def is_change(self, intent: str) -> bool:
        """Tell whether an intent changes something."""
        return intent in self._changing


class Fit:
    """How a frame covers a clause: the slots, what it gains and what is left over."""

    __slots__ = ("frame", "gain", "loss", "slots")

    def __init__(self, frame: Frame, slots: Raw, gain: float, loss: float) -> None:
        self.frame = frame
        self.slots = slots
        self.gain = gain
        self.loss = loss

    def score(self) -> float:
        return self.gain - 1.3 * self.loss


def fit(frame: Frame, clause: Clause, allowed: set[str], light: set[str], given: Raw) -> Fit | None:
    """Return the best way in which a frame covers a clause, None when something it needs is missing.

    `allowed` are the concepts that are no loss in a sentence of this mood, `given` slots of the request before.
    """
    if any(not need & clause.concepts for need in frame.needs) or frame.bars & clause.concepts:
        return None
    if len(frame.needs) > 1 and not _has_needs(frame, clause, set()):
        return None
    slots: Raw = {name: (value, True) for name, value in frame.fixed.items()}
    taken: set[int] = set()
    gain, loss = float(len(frame.needs)) * NEED, 0.0
    for name, kind, must in frame.slots:
        if kind in FREE:
            continue
        found = fillers(kind)(clause, name, frame, taken)
        if found is not None:
            if name in frame.names:
                slots[name] = found.raw
            taken |= found.taken
            gain += SLOT
            loss += found.doubt
        elif name in given and (must or ("following" in clause.signs and name in CARRIED)):
            slots[name] = given[name]
            loss += INHERITED if must else 0.0
            gain += 0.0 if must else CARRIED_GAIN
        elif must:
            return None
    judge = _Judge(frame, clause, allowed, light)
    return (judge.freely if frame.free else judge.fit)(slots, taken, gain, loss)


class _Judge:
    """Scores the fits of one frame to one clause; see `fit`."""

    def __init__(self, frame: Frame, clause: Clause, allowed: set[str], light: set[str]) -> None:
        self._frame = frame
        self._clause = clause
        self._allowed = allowed
        self._light = light

    def freely(self, slots: Raw, taken: set[int], gain: float, loss: float) -> Fit | None:
        """Return the best fit over all ways to choose the free values."""
        best: Fit | None = None
        for values, used, worth in free_values(self._clause, self._frame, taken):
            if any(must and name not in values for name, _, must in self._frame.free):
                continue
            if not _has_needs(self._frame, self._clause, used):
                continue
            here = self.fit({**slots, **values}, taken | used, gain + SLOT * len(values) + worth, loss)
            if best is None or here.score() > best.score():
                best = here
        return best

    def fit(self, slots: Raw, taken: set[int], gain: float, loss: float) -> Fit:
        """Return the fit with these slots, less what the other segments say against it."""
        frame = self._frame
        meant = set().union(*frame.needs) | frame.wants if frame.needs else frame.wants
        wanted: set[str] = set()
        for at, segment in enumerate(self._clause.segments):
            loss += SLIP * segment.slips
            if at in taken:
                continue
            if segment.concepts & meant:
                wanted |= segment.concepts & frame.wants
            elif not segment.concepts & self._allowed and FILLER not in segment.concepts:
                loss += cost(segment, self._clause, self._light)
        return Fit(frame, slots, gain + WANT * min(len(wanted), 3), loss)


def _has_needs(frame: Frame, clause: Clause, used: set[int]) -> bool:
    """Tell whether each need has a word of its own."""
    left = [one.concepts for at, one in enumerate(clause.segments) if at not in used]
    left += [{sign} for sign in clause.signs]
    choices = [[at for at, concepts in enumerate(left) if concepts & need] for need in frame.needs]
    return _matched(sorted(choices, key=len), set())


def _matched(choices: list[list[int]], taken: set[int]) -> bool:
    if not choices:
        return True
    return any(_matched(choices[1:], taken | {at}) for at in choices[0] if at not in taken)


def cost(segment: Segment, clause: Clause, light: set[str]) -> float:
    """Return how much a segment says against a frame that has no place for it."""
    if segment.concepts:
        return LIGHT if segment.concepts & light else OTHER
    if segment.values:
        if set(segment.values) & {"clock", "hours", "days", "domain", "mac"}:
            return HEAVY  # what is said so exactly always matters
        return VALUE if set(segment.values) != {"package"} else LIGHT
    return SHORT_UNKNOWN if len(clause.norm(segment)) < 3 else UNKNOWN
