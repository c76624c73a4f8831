"""What of a sentence its reading leaves out: values that no slot carries, and words that nothing used.

It looks at the sentence and at the slots alone, whoever filled them: an exact pattern, a frame, or the request before.
A value is accounted for when a slot has it, in whatever form; a word when it is in a slot, when the frames of the
request are about it, or when it says nothing of its own.
"""

from __future__ import annotations

from oasis.parts.offline.caution import CLOCK_SLOTS, FREE_SLOTS
from oasis.parts.offline.clause import FILLER, ORDINARY
from oasis.system.late import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.clause import Clause, Segment
    from oasis.parts.offline.frames import Frames
    from oasis.parts.offline.reading import Part

# Types of values that are said for a reason: with one of these left out nothing is done without a yes.
EXACT = {
    "quoted", "ip", "ip6", "mac", "domain", "number", "range", "clock", "hours", "duration", "days", "band", "width",
    "speed", "power", "device", "decimal", "app", "provider", "encryption", "proto", "country", "place",
    "service",
}  # fmt: skip
_TIMES = {"clock", "number"}
# Words that hold a sentence together, whatever it asks for.
_STRUCTURE = {
    FILLER, ORDINARY, "to", "called", "is_", "as_", "from_", "with_", "for_", "until", "on_band", "end_", "colon",
    "seam", "yes", "no", "greet", "thanks", "request", "and", "also", "instead", "follow", "other", "port", "need",
    "wish", "through", "between",
}  # fmt: skip
# Of the words that weigh little, those that say what a request is about.
_ABOUT = {"person", "everything", "server"}
# Types that a word of the request may have by chance, such as a place that is called like a thing.
_BY_CHANCE = {"provider", "encryption", "country", "place", "days", "proto", "service"}
_PIECES = late(r"[^\s,;/-]+")


def left(clause: Clause, parts: list[Part], frames: Frames) -> tuple[list[str], list[str]]:
    """Return what requests leave out of a sentence, as it was typed: (values, words)."""
    known = _STRUCTURE | (frames.light - _ABOUT) | frames.brakes
    for part in parts:
        for frame in frames.of(part.intent):
            known |= frame.meant | frames.allowed[frame.mood]
        known |= {"on", "off"} if "switch" in part.slots else set()
    has_name = any(FREE_SLOTS & set(part.slots) and not part.is_exact for part in parts)
    values: list[str] = []
    words: list[int] = []
    for at, one in enumerate(clause.segments):
        text, exact = clause.text(at, at), EXACT & set(one.values)
        is_known = bool(one.concepts & known)
        # A word of the request may be a value by chance: room, where a device is called so.
        is_chance = is_known and exact <= (_BY_CHANCE if "thing" in one.concepts else _BY_CHANCE | {"device"})
        if FILLER in one.concepts or is_chance or not any(map(str.isalnum, text)):
            continue
        if any(_is_carried(one, text.casefold(), part, frames) for part in parts):
            continue
        # A figure in any form, and what may be another name, counts as a value: nas .41, the other one Slow.
        is_name = has_name and (not one.is_known() or (at > 0 and text[:1].isupper() and not is_known))
        is_value = exact or is_name or (not one.is_known() and any(map(str.isdigit, text)))
        if is_value:
            values.append(text)
        elif not is_known and not any(part.is_exact for part in parts):
            words.append(at)
    return values, _joined(clause, words)


def _joined(clause: Clause, places: list[int]) -> list[str]:
    """Return words as they were typed, those that follow one another as one."""
    spans: list[list[int]] = []
    for at in places:
        if spans and spans[-1][1] == at - 1 and not clause.tail(at - 1):
            spans[-1][1] = at
        else:
            spans.append([at, at])
    texts = [clause.text(*span) for span in spans]
    # One wide character alone is a piece of a phrase that is understood: 打 of ピングを打って.
    return [text for text in texts if len(text) > 1 or text < "\u3000"]


def _is_carried(one: Segment, text: str, part: Part, frames: Frames) -> bool:
    """Tell whether a slot of a request has what a segment says."""
    said = {kind: value.casefold() for kind, value in one.values.items() if kind != "half"}
    for slot, (raw, _) in part.slots.items():
        raw = raw.casefold()
        pieces = {raw, *raw.split(", "), *_PIECES.findall(raw)}
        if text in pieces or pieces & set(said.values()):
            return True
        # A name in the words of the sentence; a number is never a part of something else.
        if not said.keys() & {"number", "range", "decimal"} and text in raw:
            return True
        if slot in CLOCK_SLOTS and any(_is_hour(value, pieces) for kind, value in said.items() if kind in _TIMES):
            return True
        if slot == "days" and "days" in said and set(said["days"].split()) <= pieces:
            return True
        # 20 for 20 Mbit/s, 24 for 24 hours: the question had the unit.
        number = said.get("number", "")
        if number.isdigit() and raw in {number + "000", *(f"{int(number) * unit}m" for unit in (1, 60, 1440, 10080))}:
            return True
        if raw == "mixed" and "encryption" in said:
            return True
        if (raw == "both" and "band" in said) or (slot == "service" and slot in said and raw in text):
            return True
    if {"range", "hours"} & set(said):  # the two ends of it are slots of their own
        raws = {raw for name, (raw, _) in part.slots.items() if name in CLOCK_SLOTS}
        ends = _PIECES.findall(said.get("hours") or said["range"])
        return len(raws) > 1 and all(_is_hour(end, raws) for end in ends)
    # What is shown is shown of all bands; both of them is what is meant without a word.
    return "band" in said and (said["band"] == "both" or not frames.is_change(part.intent))


def _is_hour(said: str, clocks: set[str]) -> bool:
    """Tell whether a time or a number is one of some times of day, in the morning or in the evening."""
    hour, _, minute = said.partition(":")
    same = [clock for clock in clocks if clock[2:] == ":" + (minute or "00") and hour.isdigit()]
    return any(int(clock[:2]) % 12 == int(hour) % 12 for clock in same if clock[:2].isdigit())
