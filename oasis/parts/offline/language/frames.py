"""Frames: which concepts and slots make a request, the same in every language; and how well one covers a clause.

    "wifi password ?band|new {key?} !guest"    needs a word for wifi and one for password, may have some more words, may
                                               have a key, and is not meant where the word guest stands
    {slot} must be there, {slot?} may be, {slot=value} is always so; {slot:type} when only a value of that type will do

A frame covers a clause when every word of it is a concept of the frame, in a slot, or a filler. What is left over
costs: a word that no list knows or that means something else makes it less certain that this was meant.
"""

from __future__ import annotations

from oasis.parts.offline.language.fill import fillers
from oasis.parts.offline.language.free import FREE, free_values
from oasis.parts.offline.language.lexicon import FILLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.lexicon import Segment
    from oasis.parts.offline.shapes import FramesData, Mood, Raw

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
        self.slots: list[tuple[str, str, bool]] = []  # name, type, must
        self.fixed: dict[str, str] = {}
        for word in text.split():
            if word[0] == "{":
                self._slot(word[1:-1], kinds)
            elif word[0] == "?":
                self.wants |= set(word[1:].split("|"))
            elif word[0] == "!":
                self.bars |= set(word[1:].split("|"))
            else:
                self.needs.append(set(word.split("|")))
        self.slots.sort(key=lambda one: one[1] in FREE)  # values with a form of their own first
        self.names = set(kinds)  # a value for no slot of the intent is understood, and left out
        self.free = [(name, kind, must) for name, kind, must in self.slots if kind in FREE]

    def waived(self) -> Frame:
        """Return the same frame for words that go on from a request like this: nothing must be said again."""
        found = Frame(self.intent, self.mood, "", {})
        found.names = self.names
        found.wants = self.wants.union(*self.needs)
        found.bars, found.fixed = self.bars, self.fixed
        found.slots = [(name, kind, False) for name, kind, _ in self.slots]
        found.free = [(name, kind, False) for name, kind, _ in self.free]
        return found

    def _slot(self, word: str, kinds: dict[str, str]) -> None:
        name, equals, value = word.partition("=")
        if equals:
            self.fixed[name] = value
        else:
            bare, _, kind = name.partition(":")
            must = not bare.endswith("?")
            bare = bare.rstrip("?")
            self.slots.append((bare, kind or kinds.get(bare, bare), must))


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
            found = Frame(intent, frames[0].mood, "", self._kinds[intent])
            for frame in frames:
                found.wants |= frame.wants.union(*frame.needs)
                for name, kind, _ in frame.slots:
                    if name not in fixed and all(name != other for other, _, _ in found.slots):
                        found.slots.append((name, kind, False))
            found.slots.sort(key=lambda one: one[1] in FREE)
            found.free = [one for one in found.slots if one[1] in FREE]
            found.fixed = dict(fixed)
            self._loose[key] = found
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
    """Tell whether every need can have one of its words, none of them twice."""
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
