"""Frames: which concepts and slots make a request, the same in every language; and how well one covers a clause.

    "wifi password ?band|new {key?} !guest"    needs a word for wifi and one for password, may have some more words, may
                                               have a key, and is not meant where the word guest stands
    {slot} must be there, {slot?} may be, {slot??} is asked for where it is not, {slot=value} is always so; {slot:type}
    when only a value of that type will do

A frame covers a clause when every word of it is a concept of the frame, in a slot, or a filler. What is left over
costs: a word that no list knows or that means something else makes it less certain that this was meant.

A Filling finds the value of a slot, never in the segments that are taken. Ports and speeds are numbers
whose meaning the words around them decide. Names and passwords have no form of their own: such a free text is in
quotes, follows a marking word (to, called, is …), or is in no list of words; up to a bound. The word nearest to it
decides which slot it fills. Every way to choose them is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

from oasis.parts.offline.clause import FILLER, NAMED, ORDINARY, VERBS
from oasis.parts.offline.slots import MOST_PORTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.clause import Clause
    from oasis.parts.offline.shapes import FramesTables, Mood, Raw

    FrameSlot = tuple[str, str, bool]  # name, type, must
    Span = tuple[int, int]  # the first and the last segment


# Of free texts
FREE = ("ssid", "key", "hostname", "name", "search", "plainname", "hostlabel", "account")
ONE_WORD = {"plainname", "hostlabel", "account"}  # types whose values have no blanks
_LATIN = {*ONE_WORD, "search"}  # types of names that are written in Latin letters everywhere
_NOUNS = {"thing", "works", "vpn", "software", "person"}  # words of the lists that are also names of things
_BEFORE_VALUE = ("to", "called", "is_", "colon")
_MARKING = {*_BEFORE_VALUE, "password", "ssid", "name", "package", "peer", "install", "uninstall", "hostname", "user"}
_MARK_WORDS = {
    *_BEFORE_VALUE,
    "as_",
    "with_",
    "from_",
    "for_",
    "on_band",
    "password",
    "ssid",
    "set",
    "request",
    "ask",
    "user",
}
_BOUNDS = {"and", "with_", "as_", "end_", "until", "password", "on_band", "user", "vlan"}
_ANCHORS = {
    "key": {"password"},
    "ssid": {"name", "ssid", "called"},
    "hostname": {"name", "called"},
    "account": {"user"},
}
_SOUGHT = {"dns", "ads", "ntp", "qos", "speed", "wifi", "ipv6", "upnp"}  # what packages are looked for
_SETTING = {"set", "new", "use", "add", "protect", "to", "rename", "called", "following", "with_"}
_NOT_NAMES = {"wifi", "guest", "password", "name", "ssid", "router", "network", "internet", "vpn", "peer", "device"}
_OWN_WORDS = {"wifi", "led", "ssid", "router", "lan", "wan", "internet", "ipv6", "upnp", "qos", "port", "band", "dns"}
# Small words inside of names.
_LINKS = {
    "de", "del", "la", "las", "los", "el", "y", "am", "an", "im", "in", "zum", "zur", "der", "die", "das", "dem",
    "von", "vom", "und", "of", "the", "and", "at", "by",
}  # fmt: skip
_OPPOSING = {"on", "off", "allow", "stop", "remove", "close", "unblock", "undo"}
WIDTH = 6  # segments of an unquoted text
CANDIDATES = 14
# How doubtful a value is that is found by what stands around it, or because nothing else is left.
WEAK_SWITCH = 0.4  # "on" with no verb
ADDRESS_DOUBT = 0.4  # an address as the device, where the request has another address
LITTLE_DOUBT = 0.1  # a word for a machine, a text in quotes, a speed without a direction
UNKNOWN_DOUBT = 0.6  # words that no list knows, as a device or a place
SERVICE_DOUBT, HOST_DOUBT, TEXT_DOUBT = 0.5, 0.3, 0.2  # the same as a service, a machine to reach, words to look for
KNOWN_DOUBT = 0.5  # from this on a device is not one that the router knows
# What speaks for and against some words as a name or a password.
QUOTED, LED_TO, ODD_LETTERS, CAPITALS, MARKED, ANCHORED = 0.5, 0.5, 0.3, 0.35, 0.25, 0.4
NEVER = -2.0
MIXED_SCRIPTS = 0.8  # two scripts in one name: where it begins nobody can tell
WIDE_WORD = 1.6  # 用意 in 用意して is no name
FILLER_WORD, LISTED_WORD = 0.12, 0.3  # words that are in the lists
CUT_NAME = 0.5  # a part of a run of words with capitals
PLAIN_KEY = 0.8  # of words like all others nobody makes a password without quotes
SEVERAL_WORDS = 0.5  # where a value has one word
ACCOUNT, NO_KEY = 0.6, 0.3  # a text with an @ is an account, and hardly a password
_SPANNING = {"to", "until", "through"}
_DASHES = ("-", "–", "~", "〜")
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LEADING = ("to", "called", "is_", "as_", "from_", "with_", "set", "make", "use", "new")


class Found:
    """A value: the raw slot, the segments it took, and how doubtful it is."""

    __slots__ = ("doubt", "raw", "taken")

    def __init__(self, text: str, taken: set[int], doubt: float = 0.0, is_exact: bool = True) -> None:
        self.raw = (text, is_exact)
        self.taken = taken
        self.doubt = doubt


class Filling:
    """Finds the values of a frame's slots in a clause: a method for each type that is more than a listed value.

    `taken` are the segments that the values found so far have.
    """

    def __init__(self, clause: Clause, frame: Frame) -> None:
        self._clause = clause
        self._segments = clause.segments
        self._concepts = clause.concepts_at
        self._text = clause.text
        self._tail = clause.tail
        self._of = clause.of
        self._frame = frame
        self._slot = ""
        self._runs: list[Span] = []  # words with capitals, see _capitals
        self.taken: set[int] = set()

    def find(self, slot: str, kind: str) -> Found | None:
        self._slot = slot
        method: Callable[[], Found | None] | None = getattr(self, kind, None)
        return method() if method else self._valued(kind)

    def _with_value(self, *kinds: str) -> list[int]:
        return self._clause.with_value(*kinds, but=self.taken)

    def _value(self, at: int, kind: str) -> str:
        return self._segments[at].values[kind]

    def _valued(self, kind: str, but: Sequence[int] = ()) -> Found | None:
        found = [at for at in self._with_value(kind) if at not in but]
        values = {self._value(at, kind) for at in found}
        if values == {"wpa2", "wpa3"} and not self._clause.concepts & {"negation", "instead"}:
            return Found("mixed", set(found))
        # Of several the last one is what is wished for.
        return Found(self._value(found[-1], kind), set(found)) if found else None

    def _one_of(self, kind: str, at: int) -> Found:
        return Found(self._value(at, kind), {at})

    def _typed(self, places: Sequence[int], doubt: float = 0.0, is_exact: bool = True) -> Found:
        """Return the words from the first to the last of some places as they were typed."""
        return Found(self._text(places[0], places[-1]), set(places), doubt, is_exact)

    def _quoted(self, doubt: float = 0.0, is_exact: bool = True) -> Found | None:
        found = self._with_value("quoted")
        return self._typed(found, doubt, is_exact) if len(found) == 1 else None

    def _run(self, doubt: float, most: int = 80) -> Found | None:
        """Return the one run of words that are in no list."""
        runs: list[list[int]] = []
        for at, segment in enumerate(self._segments):
            if not segment.is_known() and at not in self.taken:
                if runs and runs[-1][-1] == at - 1 and not self._tail(at - 1):
                    runs[-1].append(at)
                else:
                    runs.append([at])
        runs = [run for run in runs if len(run) <= most]
        return self._typed(runs[0], doubt, False) if len(runs) == 1 else None

    def switch(self) -> Found | None:
        found = self._of("on", "off")
        strong = [at for at in found if FILLER not in self._segments[at].concepts]
        states = {"on" if "on" in self._segments[at].concepts else "off" for at in strong or found}
        if len(states) != 1:
            return None  # none, or both: what contradicts itself is not read
        # "on" may be a preposition, where no verb stands with it.
        return Found(states.pop(), set(found), 0.0 if strong or self._of("set") else WEAK_SWITCH)

    def band(self) -> Found | None:
        found = self._with_value("band")
        values = {self._value(at, "band") for at in found}
        if values >= {"2g", "5g"}:
            values = {"both"}
        return Found(values.pop(), set(found)) if len(values) == 1 else None

    def until(self) -> Found | None:
        spans = self._with_value("duration")
        if len(spans) == 1:
            mark = self._clause.before(spans[0])
            marks = {mark} if self._concepts(mark) & {"until", "for_"} else set()
            return Found(self._value(spans[0], "duration"), {spans[0]} | marks)
        for mark in self._of("until"):
            for at in (self._clause.after(mark), self._clause.before(mark)):
                if 0 <= at < len(self._segments) and at not in self.taken and self._hour_of(at):
                    return Found(self._hour_of(at), {mark, at})
        return None

    def _hour_of(self, at: int) -> str:
        values = self._segments[at].values
        number = values.get("number", "")
        return values.get("clock") or (f"{int(number):02d}:00" if number.isdigit() and int(number) < 24 else "")

    def clock(self) -> Found | None:
        """Return the first or second time of day of two."""
        which = 0 if self._slot == "from" else 1
        spans = self._clause.with_value("hours")
        if len(spans) == 1:
            return Found(self._value(spans[0], "hours").split("-")[which], {spans[0]})
        clocks = self._clause.with_value("clock")
        ranges = self._clause.with_value("range") if not clocks else []
        if ranges:
            ends = [int(end) for end in self._value(ranges[0], "range").split("-")]
            if max(ends) <= 24:
                return Found(f"{ends[which] % 24:02d}:00", {ranges[0]})
        if len(clocks) < 2:
            clocks = [at for at in self._clause.with_value("clock", "number") if self._hour_of(at)]
        if len(clocks) != 2 or (self._slot != "to" and "until" in self._concepts(self._clause.before(clocks[0]))):
            return None
        return Found(self._in_the_evening(*clocks)[self._slot == "to"], {clocks[self._slot == "to"]})

    def _in_the_evening(self, first: int, last: int) -> tuple[str, str]:
        """Return two times of day; of `8 to 10 in the evening` and `8 in the evening to 10` both are in the evening."""
        start, stop = self._hour_of(first), self._hour_of(last)
        halves = [self._segments[at].values.get("half") for at in (first, last)]
        start_later, stop_later = (f"{int(clock[:2]) + 12:02d}{clock[2:]}" for clock in (start, stop))
        if halves[1] == "pm" and not halves[0] and "12:00" <= stop < start:
            stop = f"{int(stop[:2]) - 12:02d}{stop[2:]}"  # from 23:00 to 6:00 at night: it passes midnight
        is_bare = not halves[0] and not self._text(first, first).startswith("0")
        if is_bare and halves[1] != "pm" and stop < start < "12:00":
            start = start_later  # off at half past ten, on at six: no night lasts twenty hours
        is_stop_later = start == "12:00" and halves == [None, None]
        is_stop_later = is_stop_later or (halves == ["pm", None] and stop < start < stop_later)
        if is_bare and halves[1] == "pm" and start < "12:00" and start_later < stop:
            start = start_later
        return start, stop_later if is_stop_later and stop < "12:00" else stop

    def days(self) -> Found | None:
        found = self._with_value("days")
        days = {at: self._value(at, "days").split() for at in found}
        if len({tuple(one) for one in days.values()}) > 1:  # each Saturday: not each day
            found = [at for at in found if len(days[at]) < 7] or found
        listed: list[str] = []
        taken = set(found)
        while found:
            at, *found = found
            span = self._span_of_days(at, found[0], days) if found else []
            if span is None:
                return None  # friday 21:00 to monday 07:00: no times of each day
            listed += span or days[at]
            found = found[1:] if span else found
        return Found(" ".join(dict.fromkeys(listed)), taken) if taken else None

    def _span_of_days(self, first: int, last: int, days: dict[int, list[str]]) -> list[str] | None:
        """Return the days from one to another, [] when these two are no span, None for a span of the clock as well."""
        between = range(first + 1, last)
        ends = (
            self._clause.tokens[self._segments[first].end - 1].end,
            self._clause.tokens[self._segments[last].start].start,
        )
        is_span = any(self._concepts(at) & _SPANNING for at in between)
        is_span = is_span or self._clause.sentence[slice(*ends)].strip() in _DASHES
        if not is_span or len(days[first]) > 1 or len(days[last]) > 1:
            return []
        if any(self._segments[at].values.keys() & {"clock", "hours", "number"} for at in between):
            return None
        start, stop = (_WEEK.index(days[at][0]) for at in (first, last))
        return [_WEEK[(start + at) % 7] for at in range((stop - start) % 7 + 1)]

    def channel(self) -> Found | None:
        """Return a channel or a power: a listed value such as auto, or a bare number."""
        listed = self._valued(self._slot)
        if listed:
            return listed
        found, words = self._with_value("number"), self._of(self._slot)
        near = [at for at in found if self._clause.before(at, *LEADING) in words or self._clause.after(at) in words]
        chosen = near or found
        return self._one_of("number", chosen[0]) if len(chosen) == 1 else None

    power = channel

    def width(self) -> Found | None:
        is_meant = bool(self._of("width")) or not any(must for _, _, must in self._frame.slots)
        return self._valued("width") or (self.channel() if is_meant else None)

    def ip(self) -> Found | None:
        found = self._with_value("ip")
        every = self._clause.with_value("ip")
        old = [at for at in every if len(every) == 2 and "from_" in self._concepts(self._clause.before(at))][:1]
        if self._slot == "old":
            return self._one_of("ip", old[0]) if old else None
        if self._slot == "address" and len(found) == 2:
            return Found(self._value([at for at in found if at not in old][-1], "cidr"), set(found) - set(old))
        return self._one_of("cidr" if self._slot == "address" else "ip", found[0]) if found else None

    def servers(self) -> Found | None:
        return self._listed("ip", "ip6")

    def _listed(self, *kinds: str) -> Found | None:
        """Return all values of some types, with commas between them."""
        found = self._with_value(*kinds)
        values = [self._segments[at].values for at in found]
        texts = [next(one[kind] for kind in kinds if one.get(kind)) for one in values]
        return Found(", ".join(texts), set(found)) if found else None

    def device(self) -> Found | None:
        found = self._with_value("device")
        if found:
            return self._one_of("device", found[0])
        ips = self._with_value("ip")
        ip_slots = sum(kind in ("ip", "address") for _, kind, _ in self._frame.slots)
        if len(ips) > ip_slots:
            return Found(self._value(ips[0], "ip"), {ips[0]}, ADDRESS_DOUBT if ip_slots else LITTLE_DOUBT)
        return self._unknown_device()

    def devices(self) -> Found | None:
        return self._listed("device", "ip") or self._unknown_device()

    def _unknown_device(self) -> Found | None:
        """Return words that may be a device nobody knows: a word for a machine, or what is in no list."""
        last = next((at for at in self._of("thing") if at not in self.taken), -1)
        if last >= 0:
            first = last
            while first > 0 and not self._segments[first - 1].is_known() and first - 1 not in self.taken:
                first -= 1
            return self._typed(range(first, last + 1), LITTLE_DOUBT, False)
        return self._run(UNKNOWN_DOUBT, 3) or self._quoted(LITTLE_DOUBT, False)

    def place(self) -> Found | None:
        listed = self._with_value("place")
        if listed:
            return Found(self._value(listed[0], "place"), {listed[0]}, 0.0, False)
        for width in (4, 3, 2, 1):
            for first in range(len(self._segments) - width + 1):
                span = range(first, first + width)
                if self.taken & set(span) or self._clause.is_filler(first) or self._clause.is_filler(span[-1]):
                    continue
                if self._segments[first].concepts and width == 1:
                    continue
                text = self._text(first, span[-1])
                if len(text) < 40 and self._clause.is_value("place", text, False):
                    return self._typed(span, 0.0, False)
        quoted = self._with_value("quoted")
        return self._typed(quoted[:1], LITTLE_DOUBT, False) if quoted else self._run(UNKNOWN_DOUBT)

    def country(self) -> Found | None:
        listed = self._valued("country")
        if listed:
            return listed
        for at, one in enumerate(self._segments):
            text = self._text(at, at)
            if not re.match(r"[A-Za-z]{2}\Z", text):
                continue
            is_near = self._concepts(self._clause.before(at)) & {"country", "to", "is_"}
            if text.isupper() or (is_near and FILLER not in one.concepts and at not in self.taken):
                return Found(text.upper(), {at})
        return None

    def service(self) -> Found | None:
        return self.listed() or self._lone(SERVICE_DOUBT)

    def listed(self) -> Found | None:
        return self._valued("service", self._of("logs"))  # the log itself is a service, too

    def dbm(self) -> Found | None:
        return self._valued("power")

    def _lone(self, doubt: float) -> Found | None:
        found = self._run(doubt)
        return found if found and len(found.taken) == 1 else None

    def host(self) -> Found | None:
        for kind in ("domain", "ip", "ip6", "device", "provider"):
            found = self._with_value(kind)
            if found:
                return self._typed(found[:1], 0.0, False)
        return self._quoted() or self._lone(HOST_DOUBT)

    def domain(self) -> Found | None:
        found = self._with_value("domain")
        return self._one_of("domain", found[0]) if found else self._valued("app") or self._quoted()

    def url(self) -> Found | None:
        found = self._with_value("domain")
        return self._typed(found[:1]) if found else None

    def sshkey(self) -> Found | None:
        found = self._with_value("sshkey")
        return self._typed(found) if len(found) == 1 else None

    def room(self) -> Found | None:
        """Return a place in the house as it was typed."""
        found = self._of("room")
        return self._typed(found[:1], 0.0, False) if found else None

    def text(self) -> Found | None:
        """Return words to look for: what stands in quotes, or is in no list."""
        found = self._with_value("quoted")
        found = found or [at for at in self._of("error") if at not in self.taken and self._of("search")]
        return self._typed(found[:1]) if found else self._run(TEXT_DOUBT)

    def software(self) -> Found | None:
        found = [at for at in self._of("software") if at not in self.taken]
        return self._typed(found, 0.0, False) if len(found) == 1 else None

    def known(self) -> Found | None:
        """Return a device that the router knows, an address, or a word for a machine."""
        found = self.device()
        return found if found and found.doubt < KNOWN_DOUBT else None

    def named(self) -> Found | None:
        found = self._with_value("device")
        return self._listed("device") if self._slot == "devices" or not found else self._one_of("device", found[0])

    def _port_text(self, at: int) -> str:
        values = self._segments[at].values
        return values.get("range") or values["number"]

    def ports(self) -> Found | None:
        found = self._with_value("number", "range")
        inner = self._inner_place(found) if any(name == "inner" for name, _, _ in self._frame.slots) else -1
        found = [at for at in found if at != inner]
        texts, rest = [], found
        while rest:
            span = self._spoken_range(rest[:2])
            texts.append(span or self._port_text(rest[0]))
            rest = rest[2 if span else 1 :]
        return Found(", ".join(texts), set(found)) if found else None

    def _spoken_range(self, found: list[int]) -> str:
        """Return `8000 to 8010` or `between 8000 and 8010` as a range, "" when the numbers are no such thing."""
        joining = {*_SPANNING, "and"} if self._of("between") else _SPANNING
        if len(found) != 2 or self._clause.before(found[1], "port", *joining) != found[0]:
            return ""
        between = self._segments[found[0] + 1 : found[1]]
        first, last = (self._segments[at].values.get("number", "") for at in found)
        marks = set[str]().union(*[one.concepts & joining for one in between])
        if not marks or not (first.isdigit() and last.isdigit()):
            return ""
        # `80 to 8080` leads from one port to another.
        most = 65535 if marks - {"to"} else MOST_PORTS
        return f"{first}-{last}" if 0 < int(last) - int(first) <= most else ""

    def _inner_place(self, found: list[int]) -> int:
        """Return the place of the port inside, the last of two that are not joined by `and`; -1 for none."""
        if len(found) < 2:
            return -1
        first, last = found[-2:]
        between = self._segments[first + 1 : last]
        is_apart = any("device" in one.values or "ip" in one.values for one in between)
        is_joined = any("and" in one.concepts for one in between) and not is_apart
        if is_joined or self._tail(first).startswith((",", "、", "，")):
            return -1
        is_range = bool(self._spoken_range(found[-2:]))
        if is_range and any(one.concepts & {"until", "through"} for one in between):
            return -1
        ways = {"port", "forward"} | (set() if is_range else {"to"})
        leads = any(one.concepts & ways for one in between)
        return last if is_apart or leads else -1

    def port(self) -> Found | None:
        if self._slot == "inner":
            place = self._inner_place(self._clause.with_value("number", "range"))
            return Found(self._segments[place].values.get("number", ""), {place}) if place >= 0 else None
        found = self._with_value("number", "range")
        chosen = [at for at in found if self._clause.before(at) in self._of("port")] or found
        return Found(self._port_text(chosen[0]), {chosen[0]}) if chosen else None

    def newport(self) -> Found | None:
        """Return the one number that a port becomes: what it was before is named, too, by people who are careful."""
        found = self._with_value("number")
        new = [at for at in found if not self._concepts(self._clause.before(at, "port")) & {"from_", "instead", "no"}]
        behind = [at for at in new if not self._concepts(self._clause.after(at)) & {"from_", "instead", "no"}]
        named = [at for at in (behind or new) if self._value(at, "number") != "22" or len(new) == 1]
        return self._one_of("number", named[0]) if len(named) == 1 else None

    def oldport(self) -> Found | None:
        """Return the number that is left of two: the port that there was."""
        found = self._with_value("number")
        return self._one_of("number", found[0]) if len(found) == 1 else None

    def speed(self) -> Found | None:
        """Return the speed that a word for down or up stands at; a bare number has the unit of the other one.

        Words and values come in turns, whichever comes first.
        """
        speeds, places = self._clause.with_value("speed"), self._clause.with_value("speed", "number")
        if not speeds:
            return None
        own, other = ("download", "upload") if self._slot == "down" else ("upload", "download")
        marks = self._of(own, other)
        names = [own if own in self._segments[at].concepts else other for at in marks]
        doubt = LITTLE_DOUBT
        if not marks and len(places) == 2 and abs(places[0] - places[1]) <= 2:
            chosen, doubt = [places[self._slot != "down"]], 0.0  # 100/20 mbit
        elif not marks:
            chosen = speeds if len(speeds) == 1 and self._slot == "down" else []
        elif len(set(names)) == 2 and len(places) == 1:
            chosen = places
        elif len(names) == len(places):
            chosen = [place for name, place in zip(names, places, strict=True) if name == own]
        else:
            chosen = places if set(names) == {own} else []
        if not chosen:
            return None
        values = self._segments[chosen[0]].values
        if "speed" in values:
            return self._one_of("speed", chosen[0])
        return Found(values["number"] + "000", {chosen[0]}, doubt)

    address = ip

    # The line to the internet, its port and its zone

    def _roles(self) -> dict[str, list[int]]:
        """Return the addresses of a line by what they are for: the words for that stand before them, or behind."""
        marks: list[tuple[int, str]] = []
        places = self._clause.with_value("ip", "ip6")
        masks = [at for at in places if self._segments[at].values.get("ip", "").startswith("255.")]
        places = [at for at in places if at not in masks]
        for at in self._of("gateway", "dns", "address", "fixed"):
            concepts = self._concepts(at)
            role = next((one for one in ("gateway", "dns") if one in concepts), "address")
            if role == "address" and marks and not set(range(marks[-1][0], at)) & set(places):
                continue  # gateway address
            marks.append((at, role))
        is_behind = bool(marks and places) and places[0] < marks[0][0] and marks[-1][0] > places[-1]
        found: dict[str, list[int]] = {"mask": masks}
        for place in places:
            beyond = [role for at, role in marks if at > place]
            before = [role for at, role in marks if at < place]
            near = beyond[:1] if is_behind else before[-1:]
            # A word behind several addresses is about the last of them; only of DNS servers there are many.
            is_other = (
                is_behind
                and near != ["dns"]
                and any(place < other < next(at for at, _ in marks if at > place) for other in places)
            )
            found.setdefault(near[0] if near and not is_other else "address", []).append(place)
        return found

    def uplink(self) -> Found | None:
        """Return the address of the router at its provider, with the netmask behind a slash."""
        roles = self._roles()
        own, masks = roles.get("address", []), roles["mask"]
        if len(own) != 1 or len(masks) > 1:
            return None
        text = self._segments[own[0]].values.get("cidr", "")
        text += "/" + self._value(masks[0], "ip") if masks and "/" not in text else ""
        return Found(text, {own[0], *masks}) if text else None

    def gateway(self) -> Found | None:
        found = self._roles().get("gateway", [])
        return self._one_of("ip", found[0]) if len(found) == 1 and "ip" in self._segments[found[0]].values else None

    def resolvers(self) -> Found | None:
        found = self._roles().get("dns", [])
        texts = [self._segments[at].values.get("ip") or self._value(at, "ip6") for at in found]
        return Found(", ".join(texts), set(found)) if found else None

    def _meant(self, places: list[int]) -> list[int]:
        """Return those of several values that stand behind no `instead of`, `from` or `not`."""
        edges = [-1, *places]
        held = [
            set().union(*[self._concepts(at) for at in range(edge + 1, place)]) & {"negation", "instead", "from_"}
            for edge, place in pairwise(edges)
        ]
        meant = [place for place, words in zip(places, held, strict=True) if not words or len(places) < 2]
        # In Japanese the mark stands behind: 7からVLAN 100に.
        return [at for at in meant if "から" not in self._text(at, min(at + 1, len(self._segments) - 1))]

    def vlan(self) -> Found | None:
        """Return the number at the word for a VLAN; "none" where it is to go."""
        marks, found = self._of("vlan"), self._with_value("number")
        near = [at for at in found if {self._clause.before(at, *LEADING), self._clause.after(at)} & set(marks)]
        near = self._meant(near or (found if marks else []))
        gone = self._of("off", "remove", "without", "negation")
        if self._frame.intent == "wan_vlan" and gone and not (found and self._of("use", "set", "add", "to")):
            return Found("none", {*gone, *found}) if len(found) < 2 else None
        if len(near) != 1 or (len(found) < 2 and gone and self._of("negation")):
            return None
        return Found(
            self._value(near[0], "number"), {near[0], *(found if gone or self._of("instead", "from_") else ())}
        )

    def policy(self) -> Found | None:
        found = self._meant(self._with_value("policy"))
        if found:
            return Found(self._value(found[-1], "policy"), set(self._with_value("policy")))
        allowed = self._of("allow")
        return Found("ACCEPT", set(allowed)) if allowed else None

    def proto(self) -> Found | None:
        """Return TCP, UDP or both; each of them for ports of its own is too much for one request."""
        found = self._with_value("proto")
        if len({self._value(at, "proto") for at in found}) < 2:
            return self._valued("proto")
        ports = self._clause.with_value("number", "range")
        return Found("both" if len(ports) < 2 or found[-1] - found[0] < 3 else "each", set(found))

    def socket(self) -> Found | None:
        """Return a port of the switch: lan3, port 3."""
        found = self._valued("socket")
        if found:
            return found
        marks = self._of("port", "lan", "jack")
        near = [
            at for at in self._with_value("number") if {self._clause.before(at), self._clause.after(at)} & set(marks)
        ]
        return self._one_of("number", near[0]) if len(near) == 1 else None

    def zone(self) -> Found | None:
        found = [(name, at) for name in ("lan", "wan", "guest") for at in self._of(name)]
        return Found(found[0][0], {at for _, at in found}) if len({name for name, _ in found}) == 1 else None

    # Free texts

    def choices(self) -> Iterator[tuple[Raw, set[int], float]]:
        """Yield (slots, segments, how good the choice looks) for every way to choose the free texts of the frame."""

        def chosen(slot: FrameSlot, span: Span) -> tuple[Raw, set[int], float]:
            name, kind, _ = slot
            return {name: self._raw(*span, kind)}, set(range(span[0], span[1] + 1)), self._worth(*span, kind)

        yield {}, set(), 0.0
        self._runs = self._capitals()
        kinds = {kind for _, kind, _ in self._frame.free}
        spans = self._candidates()
        if kinds & _LATIN:
            spans += self._foreign()
        if kinds & ONE_WORD:
            may_be_quoted = "key" in kinds  # which then has blanks
            spans = [
                span
                for span in spans
                if " " not in self._text(*span)
                or self._is_named(*span)
                or (may_be_quoted and "quoted" in self._segments[span[0]].values)
            ]
            spans += self._single(_NOUNS)
        elif "search" in kinds:
            spans += self._single(_NOUNS | _SOUGHT)
        sentence = self._clause.sentence
        for first, last in list(spans):  # no part of a word with a hyphen is a name
            start = self._clause.tokens[self._segments[first].start].start
            end = self._clause.tokens[self._segments[last].end - 1].end
            if re.match(r"\w-\Z", sentence[max(start - 2, 0) : start]) or re.match(r"-\w", sentence[end : end + 2]):
                spans.remove((first, last))
        seconds = [chosen(self._frame.free[1], span) for span in spans] if len(self._frame.free) == 2 else []
        for span in spans:
            # "the password is wrong" sets none
            is_set = self._clause.concepts & (_SETTING if self._frame.intent != "wan_pppoe" else {"password"})
            may_be_key = bool(is_set) or "quoted" in self._segments[span[0]].values
            may_be_key = may_be_key or bool(re.search(r"\d|[^\w\s.,?!-]|[A-Z]|[^\x00-\x7f]", self._text(*span)))
            for slot in self._frame.free:
                if slot[1] != "key" or may_be_key:
                    yield chosen(slot, span)
            if seconds:
                slots, used, worth = chosen(self._frame.free[0], span)
                for more, others, another in seconds:
                    if not used & others:
                        yield {**slots, **more}, used | others, worth + another

    def _is_named(self, first: int, last: int) -> bool:
        """Tell whether a span is the one name that a sentence gives, of one word or more."""
        return first == last and self._segments[first].values.get("quoted") == NAMED

    def _single(self, nouns: set[str]) -> list[Span]:
        """Return known words that a frame has no other use for: a name may be any word."""
        meant = self._frame.meant | _MARK_WORDS | {FILLER}
        return [
            (at, at)
            for at, one in enumerate(self._segments)
            if one.end == one.start + 1 and at not in self.taken and not one.concepts & meant
            if one.concepts & nouns or set(one.values) & {"service", "device"}
        ]

    def _foreign(self) -> list[Span]:
        """Return the Latin words in a Japanese or Chinese sentence that may be names though the lexicon knows them."""
        if not any(token.norm[:1] >= "\u3040" for token in self._clause.tokens):
            return []
        return [
            (at, at)
            for at, one in enumerate(self._segments)
            if at not in self.taken and one.is_known() and not one.concepts & (self._frame.meant | _OWN_WORDS)
            if re.match(r"[A-Za-z][\w.-]*\Z", self._text(at, at), re.ASCII)
        ]

    def _raw(self, first: int, last: int, kind: str) -> tuple[str, bool]:
        if first == last and "quoted" in self._segments[first].values:
            # Of a name without quotes more may be in it than the value.
            return self._text(first, first), not self._is_named(first, last)
        if kind not in ("key", "ssid"):
            return self._text(first, last), False
        # What may belong to a password is kept here and judged where its type is known.
        tokens = self._clause.tokens[self._segments[first].start : self._segments[last].end]
        tail = re.match(r"[!-~]*", tokens[-1].tail)  # a wide comma is none of it
        return self._clause.sentence[tokens[0].raw_start : tokens[-1].end] + (tail.group() if tail else ""), False

    def _candidates(self) -> list[Span]:
        """Return the spans of segments that can be a free text."""
        found = [run for run in self._runs if not self.taken & set(range(run[0], run[1] + 1))]
        for at, segment in enumerate(self._segments):
            if at in self.taken:
                continue
            if "quoted" in segment.values:
                found.append((at, at))
            elif self._is_mark_word(at) or (segment.concepts - {FILLER, "room"} and self._text(at, at) >= "\u3040"):
                continue  # a wide word that means something is no name without quotes
            elif not segment.is_known() or segment.slips or self._is_marked(at):
                found += [(at, end) for end in self._ends(at)]
        return list(dict.fromkeys(found))[:CANDIDATES]

    def _capitals(self) -> list[Span]:
        """Return the runs of two or more words with capitals, which are names: Haus am See, Los Pérez."""
        runs: list[Span] = []
        first = 0
        while first < len(self._segments):
            last = first
            while self._is_capital(first) and not self._tail(last):
                following = last + 1
                while following < len(self._segments) and self._clause.norm(self._segments[following]) in _LINKS:
                    if self._tail(following):
                        break
                    following += 1
                if following >= len(self._segments) or not self._is_capital(following):
                    break
                last = following
            if last > first:
                runs.append((first, last))
            first = last + 1
        return runs

    def _is_capital(self, at: int) -> bool:
        segment = self._segments[at]
        is_begun = segment.start == 0 or self._clause.tokens[segment.start - 1].tail[-1:] in (".", "!", "?")
        text = self._text(at, at)
        return text[:1].isupper() and text.upper() != text and not is_begun and not segment.concepts & _NOT_NAMES

    def _is_mark_word(self, at: int) -> bool:
        """Tell whether a word in small letters only leads to a value, or means nothing: no value has it at an end."""
        segment = self._segments[at]
        if segment.slips or "package" in segment.concepts or any(char.isupper() for char in self._text(at, at)):
            return False
        return bool(segment.concepts & {*_MARK_WORDS, FILLER, ORDINARY})

    def _is_named_behind(self, at: int) -> bool:
        """Tell whether a word that follows says that this is a name: in Japanese such a mark stands behind."""
        return {"called", "as_"} <= self._concepts(at + 1)

    def _is_marked(self, at: int) -> bool:
        is_behind = at > 0 and (self._concepts(at - 1) & _MARKING or self._tail(at - 1).startswith((":", "：")))
        return bool(is_behind) or self._is_named_behind(at)

    def _ends(self, first: int) -> list[int]:
        """Return where a text that begins at a segment may end: after each word that no list knows, and at a bound."""
        ends: list[int] = []
        for at in range(first, min(first + WIDTH, len(self._segments))):
            segment = self._segments[at]
            is_bound = at > first and bool(segment.concepts & _BOUNDS)
            if is_bound and "and" in segment.concepts and at + 1 < len(self._segments):
                is_bound = not all(self._text(one, one)[:1].isupper() for one in (at - 1, at + 1))
            if at in self.taken or "quoted" in segment.values or is_bound:
                break
            is_last = at + 1 >= len(self._segments) or bool(self._concepts(at + 1) & _BOUNDS)
            is_end = not segment.is_known() or is_last or bool(self._tail(at)) or at == first
            if is_end and not (at > first and self._is_mark_word(at)):
                ends.append(at)
            if at + 1 < len(self._segments) and all(FILLER in one.concepts for one in self._segments[at + 1 :]):
                ends.append(at)
            if self._tail(at):
                break
        return ends

    def _worth(self, first: int, last: int, kind: str) -> float:
        """Return how good a span looks as a free text of a type."""
        inside = self._segments[first : last + 1]
        raw = self._raw(first, last, kind)[0]
        if first == last and "quoted" in inside[0].values:
            # The new one is behind the word for it: the password of "Home" to "secret".
            worth = QUOTED + (LED_TO if "to" in self._concepts(first - 1) else 0.0)
            if kind == "key" and self._is_named(first, last):
                return NEVER
        elif kind == "key" and not raw.isascii():
            return NEVER  # no password: others than ASCII are typed differently on every device
        else:
            worth = ODD_LETTERS if re.search(r"\d|[^\w\s.,?!-]|[A-Z]", raw) else 0.0
            if last > first and not raw.isascii() and re.search("[a-z0-9]", raw.casefold()):
                worth -= MIXED_SCRIPTS
            if not raw.isascii():
                worth -= sum(WIDE_WORD for one in inside if one.concepts - {FILLER})
            # What it costs that words of a span are in the lists; a run of words with capitals is one name.
            small = [FILLER in one.concepts and not one.values for one in inside if one.is_known()]
            known = sum(FILLER_WORD if is_small else LISTED_WORD for is_small in small)
            cut = sum(CUT_NAME for start, end in self._runs if start <= last and first <= end)
            worth -= -CAPITALS if (first, last) in self._runs else cut + known
            if kind == "key" and all(one.is_known() and not one.slips for one in inside) and not re.search(r"\d", raw):
                worth -= PLAIN_KEY
            if kind in ("key", *_LATIN) and last > first:
                worth -= SEVERAL_WORDS
            worth += MARKED if self._is_marked(first) or self._is_named_behind(last) else 0.0
        if kind in ("account", "key") and "@" in raw:
            worth += ACCOUNT if kind == "account" else -NO_KEY
        elif kind == "account" and not self._is_marked(first):
            return NEVER
        anchors = _ANCHORS.get(kind, set())
        after = self._clause.after(last)
        near = [self._concepts(first - 1), self._concepts(self._clause.before(first, *LEADING[:4]))]
        if "as_" in self._concepts(after):
            near.append(self._concepts(self._clause.after(after)))
            near.append({"called"} if self._is_named_behind(last) else set())
        others = set().union(*[words for name, words in _ANCHORS.items() if name != kind]) - anchors
        if any(one & anchors for one in near):
            return worth + ANCHORED
        is_of_other = any(one & others & {"password", "ssid", "name", "user"} for one in near[:2])
        return worth - ANCHORED if is_of_other and kind in _ANCHORS else worth


# Frames

NEED, WANT, SLOT = 1.0, 0.35, 1.1
UNKNOWN, OTHER, LIGHT, VALUE, HEAVY, SLIP = 1.0, 1.0, 0.4, 1.0, 2.2, 0.12
SHORT_UNKNOWN = 0.5  # a word of one or two letters
CARRIED, CARRIED_GAIN = ("band", "device", "devices", "service"), 0.05  # slots that go on where they need not be said
LOSS_WEIGHT = 1.3  # what is left over weighs more than what is covered
INHERITED = 0.3  # a slot from the request before
TOPICS = {
    "wifi", "guest", "password", "ssid", "router", "channel", "width", "country", "power", "encryption", "hide",
    "isolate", "lease", "fixed", "pool", "ipv6", "upnp", "port", "forward", "dns", "ads", "vpn", "peer", "qos",
    "timezone", "clock", "ntp", "led", "firmware", "package", "service", "logs", "schedule", "site",
}  # fmt: skip


class Frame:
    """One frame of an intent, read from its text; `meant` are all words that it needs or wants."""

    def __init__(self, intent: str, mood: Mood, text: str, kinds: dict[str, str]) -> None:
        self.intent = intent
        self.mood = mood
        self.needs: list[set[str]] = []
        self.wants: set[str] = set()
        self.bars: set[str] = set()
        self.asked: set[str] = set()  # slots that are asked for when they are not said
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
                self.asked |= {bare} if name.endswith("??") else set()
                slots.append((bare, kind or kinds.get(bare, bare), not name.endswith("?")))
        self.meant = self.wants.union(*self.needs)
        self.slots = sorted(slots, key=lambda one: one[1] in FREE)  # values with a form of their own first
        self.free = [one for one in self.slots if one[1] in FREE]

    def loose(self, others: Sequence[Frame], fixed: dict[str, str], bars: set[str]) -> Frame:
        """Return some frames of the intent as one that needs nothing: what they need is only wanted."""
        kinds: dict[str, str] = {}
        for frame in others:
            for name, kind, _ in frame.slots:
                kinds.setdefault(name, kind)
        wants = set().union(*[frame.meant for frame in others])
        words = ["?" + "|".join(wants)] if wants else []
        words += ["!" + "|".join(bars)] if bars else []
        words += [f"{{{name}={value}}}" for name, value in fixed.items()]
        words += [f"{{{name}?:{kind}}}" for name, kind in kinds.items() if name not in fixed]
        return Frame(self.intent, self.mood, " ".join(words), dict.fromkeys(self.names, ""))


class Fit:
    """How a frame covers a clause: the slots, what it gains and what is left over."""

    __slots__ = ("frame", "gain", "intent", "loss", "slots")

    def __init__(self, frame: Frame, slots: Raw, gain: float, loss: float) -> None:
        self.frame = frame
        self.intent = frame.intent
        self.slots = slots
        self.gain = gain
        self.loss = loss

    def score(self) -> float:
        return self.gain - LOSS_WEIGHT * self.loss


class Frames:
    """The frames of all intents, each read when a sentence has what it needs first."""

    def __init__(self, tables: FramesTables, kinds: Callable[[str], dict[str, str]]) -> None:
        # A time of day that no hour belongs to (`until the morning`) is no end that could be set.
        self.brakes = {*tables["brakes"], "u_am", "u_pm", "u_night"}
        self.asking = set(tables["asking"])
        self.always = set(tables["always"])
        self.light = set(tables["light"])
        self.allowed = {mood: {*words, *self.always} for mood, words in tables["allowed"].items()}
        self._rows = tables["rows"]
        self._needed = tables["needed"]
        self._kinds = kinds
        self._read: dict[int, Frame] = {}
        self._of: dict[str, list[int]] = {}
        for at, (intent, _, _) in enumerate(self._rows):
            self._of.setdefault(intent, []).append(at)
        self._loose: dict[tuple[str, tuple[tuple[str, str], ...]], Frame] = {}

    def _frame(self, at: int) -> Frame:
        if at not in self._read:
            intent, mood, text = self._rows[at]
            self._read[at] = Frame(intent, mood, text, self._kinds(intent))
        return self._read[at]

    def needing(self, concepts: set[str]) -> list[Frame]:
        """Return the frames that may cover a clause with some concepts, in their order."""
        places = {at for name in ("", *concepts) for at in self._needed.get(name, ())}
        return [self._frame(at) for at in sorted(places)]

    def of(self, intent: str) -> list[Frame]:
        """Return the frames of an intent."""
        return [self._frame(at) for at in self._of.get(intent, ())]

    def needed(self, intent: str) -> set[str]:
        """Return the slots without which no frame of an intent is whole."""
        frames = self.of(intent)
        sets = [{name for name, _, must in frame.slots if must} | {*frame.fixed, *frame.asked} for frame in frames]
        return set.intersection(*sets) if sets else set()

    def verbs(self, intent: str) -> set[str]:
        """Return the verbs that an intent needs, those left out that also say the opposite."""
        if intent.endswith("_remove"):
            return set()
        return set().union(*[need for frame in self.of(intent) for need in frame.needs]) & VERBS - _OPPOSING

    def topic(self, intent: str) -> set[str]:
        """Return the concepts that every frame of an intent may be recognised by: what it is about."""
        needs = [set().union(*frame.needs) for frame in self.of(intent) if frame.needs]
        return {name for name in set().union(*needs) if sum(name in one for one in needs) * 2 >= len(needs)} & TOPICS

    def loose(self, intent: str, fixed: dict[str, str]) -> Frame | None:
        """Return a frame of an intent that needs nothing, has all its slots, and is for a clause without its words."""
        key = (intent, tuple(fixed.items()))
        if key not in self._loose and (frames := self.of(intent)):
            self._loose[key] = frames[0].loose(frames, dict(fixed), set())
        return self._loose.get(key)

    def is_change(self, intent: str) -> bool:
        return any(self._rows[at][1] == "change" for at in self._of.get(intent, ()))

    def fit(self, frame: Frame, clause: Clause, given: Raw, more: set[str] | None = None) -> Fit | None:
        """Return the best way in which a frame covers a clause, None when something it needs is missing.

        `given` are slots of the request before, `more` concepts that are no loss besides those of the mood.
        """
        if any(not need & clause.concepts for need in frame.needs) or frame.bars & clause.concepts:
            return None
        if len(frame.needs) > 1 and not _has_needs(frame, clause, set()):
            return None
        slots: Raw = {name: (value, True) for name, value in frame.fixed.items()}
        filling = Filling(clause, frame)
        gain, loss = float(len(frame.needs)) * NEED, 0.0
        for name, kind, must in frame.slots:
            if kind in FREE:
                continue
            found = filling.find(name, kind)
            if found is not None:
                if name in frame.names:
                    slots[name] = found.raw
                filling.taken.update(found.taken)
                gain += SLOT
                loss += found.doubt
            elif name in given and (must or ("following" in clause.signs and name in CARRIED)):
                slots[name] = given[name]
                loss += INHERITED if must else 0.0
                gain += 0.0 if must else CARRIED_GAIN
            elif must:
                return None
        allowed = self.allowed[frame.mood] | more if more else self.allowed[frame.mood]
        if not frame.free:
            return self._judged(Fit(frame, slots, gain, loss), clause, filling.taken, allowed)
        best: Fit | None = None
        for values, used, worth in filling.choices():
            is_whole = all(name in values for name, _, must in frame.free if must)
            if is_whole and _has_needs(frame, clause, used):
                one = Fit(frame, {**slots, **values}, gain + SLOT * len(values) + worth, loss)
                one = self._judged(one, clause, filling.taken | used, allowed)
                if best is None or one.score() > best.score():
                    best = one
        return best

    def _judged(self, one: Fit, clause: Clause, taken: set[int], allowed: set[str]) -> Fit:
        """Return a fit with what the other segments say for and against it."""
        loss = one.loss
        wanted: set[str] = set()
        for at, segment in enumerate(clause.segments):
            loss += SLIP * segment.slips
            if at in taken:
                continue
            if segment.concepts & one.frame.meant:
                wanted |= segment.concepts & one.frame.wants
            elif segment.concepts:
                if not segment.concepts & allowed and FILLER not in segment.concepts:
                    loss += LIGHT if segment.concepts & self.light else OTHER
            elif set(segment.values) & {"clock", "hours", "days", "domain", "mac"}:
                loss += HEAVY  # what is said so exactly always matters
            elif segment.values:
                loss += VALUE if set(segment.values) != {"package"} else LIGHT
            else:
                loss += SHORT_UNKNOWN if len(clause.norm(segment)) < 3 else UNKNOWN
        return Fit(one.frame, one.slots, one.gain + WANT * min(len(wanted), 3), loss)


def _has_needs(frame: Frame, clause: Clause, used: set[int]) -> bool:
    """Tell whether each need has a word of its own."""

    left = [one.concepts for at, one in enumerate(clause.segments) if at not in used]
    left += [{sign} for sign in clause.signs]
    choices = [[at for at, concepts in enumerate(left) if concepts & need] for need in frame.needs]
    return any(len(set(way)) == len(way) for way in product(*sorted(choices, key=len)))
