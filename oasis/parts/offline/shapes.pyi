"""The types of the offline provider, for the type checker alone: intents/*.json, facts of the router, slots."""

from collections.abc import Callable as Callable
from collections.abc import Collection as Collection
from collections.abc import Iterable as Iterable
from collections.abc import Iterator as Iterator
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from typing import Literal, Protocol, TypedDict

from typing_extensions import Required

from oasis.core.shapes import Block as Block
from oasis.core.shapes import Json as Json
from oasis.core.shapes import Message as Message
from oasis.providers.shapes import Event as Event
from oasis.tools.shapes import Device as Device

Option = str | list[str] | bool | int  # only .anonymous and .index are no text
Section = dict[str, Option]

class Address(TypedDict, total=False):
    address: str
    mask: int

# As netifd reports it.
Interface = TypedDict("Interface", {"interface": str, "ipv4-address": list[Address]}, total=False)

class Facts(Protocol):
    """The part of the facts that the offline provider asks for; see oasis/tools/router.py."""

    def config(self, package: str) -> dict[str, Section]: ...
    def devices(self) -> list[Device]: ...
    def interfaces(self) -> list[Interface]: ...
    def services(self) -> Mapping[str, object]: ...
    def ending(self) -> list[str]: ...

class Request(TypedDict, total=False):
    """What the daemon asks, see child_process.py."""

    messages: list[Message]
    now_s: int
    only_sure: bool
    times: str

# intents.json

class SlotRule(TypedDict, total=False):
    type: Required[str]
    optional: bool
    unless: str  # another slot, with which this one need not be said
    strict: bool  # a text that is no value makes it another request
    otherwise: str  # what counts where nothing is said
    any: str  # what is taken for who leaves the choice to us

# An item of a command template, see sets.py.
Item = str | "Step"
Step = TypedDict("Step", {"each": str, "if": str, "unless": str, "do": Required[list[Item]]}, total=False)

class Call(TypedDict, total=False):
    tool: Required[str]
    input: Required[dict[str, Json]]
    each: str  # a set: one call for each of its rows

Intent = TypedDict(
    "Intent",
    {
        "slots": dict[str, SlotRule],
        "commands": list[Item],
        "notes": dict[str, str],  # name of a text -> set of sets.SETS; said with the plan where the set has a row
        "tool": str,
        "input": dict[str, Json],
        "check": str,  # a set that refuses what cannot be
        "as": str,  # the intent that does it
        "part": str,  # the optional part that has its tools
        "calls": list[Call],  # several tools
        "offers": str,  # the intent that is offered instead, of what cannot be done
    },
    total=False,
)

class IntentsData(TypedDict):
    languages: dict[
        str, list[str]
    ]  # common words of each that others lack, beginnings of words, prefixes; see reading.familiarity
    absent: dict[str, str]  # what is said in a language that is not installed, and to who speaks another one
    providers: dict[str, list[str]]  # of DNS
    services: list[str]
    intents: dict[str, Intent]

# The file of a language

class IntentTexts(TypedDict, total=False):
    """What people say for an intent, and what is said of it."""

    patterns: list[str]
    about: list[str]  # phrases of questions about it
    example: str
    summary: str  # of a change
    says: str  # of a call, said back
    explain: str
    text: str
    ask: dict[str, str]  # slot -> question

Texts = dict[str, str]  # sentences by name
WordList = Literal["stops", "vague", "joiners"]
PatternList = Literal["lead", "request", "trail", "questions", "answers", "only", "patterns", "about"]

class Language(TypedDict, total=False):
    language: str
    fold: dict[str, str]  # letters -> how they are compared
    compounds: bool
    real_words: list[str]  # never a mistyped keyword
    fillers: list[str]
    ordinary: list[str]
    words: dict[str, list[str]]  # concept -> phrases
    values: dict[str, dict[str, list[str]]]  # type -> value -> phrases
    sounds: list[str]  # characters that sound alike
    classes: dict[str, str]
    lists: dict[str, dict[str, list[str]]]  # type -> value -> patterns
    aliases: dict[str, dict[str, str]]
    labels: dict[str, dict[str, str]]  # type -> value -> words
    places: dict[str, str]
    articles: list[str]
    joiners: list[str]
    stops: list[str]
    vague: list[str]
    lead: list[str]
    request: list[str]
    trail: list[str]
    questions: list[str]
    question_ends: list[str]
    answers: list[str]
    only: list[str]
    asks: Texts
    intents: dict[str, IntentTexts]
    texts: Texts
    closing: Texts
    status: Texts

# The other files

class EvidenceData(TypedDict, total=False):
    classes: list[str]
    weights: dict[str, str]

Mood = Literal["read", "change", "talk"]

class FramesData(TypedDict):
    concepts: dict[str, str]
    always: list[str]
    asking: list[str]
    brakes: list[str]
    light: list[str]
    allowed: dict[Mood, list[str]]
    frames: dict[Mood, dict[str, list[str]]]

class Caution(TypedDict, total=False):
    """What holds a change back in one language."""

    words: dict[str, list[str]]
    before_span: list[str]
    behind_span: list[str]
    timed: str

class NamingData(TypedDict, total=False):
    """See clause.py."""

    edges: Required[list[str]]
    bounds: Required[list[str]]
    none: Required[list[str]]
    forms: Required[list[str]]
    articles: Required[list[str]]
    small: Required[list[str]]
    lead: list[str]

Kind = Literal["now", "forever", "never", "end", "tomorrow", "today", "daily", "day"]

class MomentsData(TypedDict, total=False):
    """Regular expressions of one language by what they say, and three sentences; see caution.py."""

    now: list[str]
    forever: list[str]
    never: list[str]
    end: list[str]
    tomorrow: list[str]
    today: list[str]
    daily: list[str]
    day: list[str]
    ask: Required[str]
    say: Required[str]
    both: Required[str]

# What derive.py makes of these

Blocks = dict[str, str]  # see tables.Texts
Sources = list[tuple[str, list[str]]]  # expressions, each with texts of which a fitting text has one

class PatternTables(TypedDict):
    rows: list[tuple[str, str, list[int]]]  # intent, pattern, what it needs by number
    needs: list[str]  # words of which a sentence has one, with blanks between them

class GrammarTables(TypedDict):
    language: Language  # without words and patterns
    patterns: dict[str, PatternTables]

class LexiconTables(TypedDict):
    has_compounds: bool
    meanings: list[str]
    phrases: Blocks
    open: dict[str, list[tuple[list[str], str]]]  # words, what they mean
    stems: dict[str, list[str]]
    real: list[str]
    light: list[str]
    sounds: list[str]

class NamingTables(TypedDict):
    edges: Sources
    bounds: Sources
    none: Sources
    forms: Sources
    articles: Sources
    small: Sources
    lead: list[str]

class WordsTables(TypedDict):
    lexicon: LexiconTables
    naming: NamingTables
    marks: Caution

class EvidenceTables(TypedDict):
    classes: list[str]
    weights: Blocks

class FramesTables(TypedDict):
    always: list[str]
    asking: list[str]
    brakes: list[str]
    light: list[str]
    allowed: dict[Mood, list[str]]
    rows: list[tuple[str, Mood, str]]  # intent, mood, frame
    needed: dict[str, list[int]]  # concept -> rows that need it first; "" -> those that need none

class MomentsTables(TypedDict):
    ask: str
    say: str
    both: str
    form: str
    kinds: dict[str, Sources]

# Slots

Raw = dict[str, tuple[str, bool]]  # slot -> its text, and whether it stood in quotes
IsValue = Callable[[str, str, bool], bool]  # type, text, is_quoted

class Named(Device):
    """A device in a slot."""

    label: str

class Place(TypedDict):
    label: str
    zonename: str
    timezone: str

Value = str | list[str] | Named | list[Named] | Place

# The checked slots of a request, those that were said.
Slots = TypedDict(
    "Slots",
    {
        "app": str,
        "address": str,
        "band": str,
        "chain": str,
        "channel": str,
        "country": str,
        "days": str,
        "device": Named,
        "devices": list[Named],
        "domain": str,
        "down": str,
        "duration": str,
        "encryption": str,
        "from": str,
        "from_ip": str,
        "gateway": str,
        "host": str,
        "inner": str,
        "ip": str,
        "key": str,
        "name": str,
        "network": str,
        "old": str,
        "open": str,
        "place": Place,
        "policy": str,
        "port": str | list[str],
        "power": str,
        "proto": str,
        "provider": str,
        "servers": list[str],
        "socket": str,
        "switch": str,
        "to": str,
        "to_ip": str,
        "until": str,
        "up": str,
        "user": str,
        "vlan": str,
        "width": str,
        "zone": str,
    },
    total=False,
)
Fields = Mapping[str, object]  # what templates are filled with
Rows = Sequence[Fields]  # one for each time that a part of a template is filled in

class AccessPoint(TypedDict):
    """The row of an access point; "1" or "" where something is so or not."""

    ap: str
    radio: str
    radio_off: str
    off: str
    encryption: str
    new_encryption: str  # "" where the present one takes passwords

class ToolResult(TypedDict):
    """A tool result at the end of a chat, with the call that it answers."""

    id: str
    name: str
    text: str
    input: dict[str, Json]
    is_error: bool
