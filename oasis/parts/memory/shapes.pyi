"""The types of the part `memory`, for the type checker alone."""

from collections.abc import Callable, Sequence
from typing import TypedDict

from typing_extensions import NotRequired, Required

from oasis.config.shapes import Service

IsCancelled = Callable[[], bool]
Progress = Callable[[int, int], object]  # done, total

class _Turn(TypedDict):
    run: str  # "" where nothing is sent
    chat: str
    message: str
    said: str

class Turn(_Turn):
    """A turn that begins, as api/parts.py gives it to a part."""

    service: NotRequired[Service]  # the first that is asked

class EndedTurn(_Turn):
    """A turn that a model ended well."""

    service: Service  # the one that answered
    taint: NotRequired[list[str]]

class Draft(TypedDict):
    """A document before it is kept."""

    title: str
    kind: str
    source: str
    chars: int
    url: NotRequired[str]
    taint: NotRequired[list[str]]

class Document(TypedDict):
    """The first line of a document's file."""

    id: str
    title: str
    kind: str
    source: str
    added_unix_s: int
    chars: int
    chunks: int
    taint: list[str]
    url: NotRequired[str]

class DocumentRow(Document):
    """A document in the list."""

    vectors: str  # current, other or none

class DocumentList(TypedDict):
    documents: list[DocumentRow]
    used_bytes: int
    limit_bytes: int
    embedding: str
    reports: list[str]

class DocumentText(Document):
    """A document with the texts of its chunks."""

    text: list[str]

class Passage(TypedDict):
    text: str
    score: float
    source: int

class DocumentSource(TypedDict):
    number: int
    id: str
    title: str
    kind: str
    url: NotRequired[str]
    taint: NotRequired[list[str]]

class OptionTold(TypedDict, total=False):
    """What an option or a section type is, see catalogue/described.py."""

    path: Required[str]
    asked: str  # as it was named
    title: str
    what: str
    takes: str
    values: list[str]
    list: bool  # it may have several
    names: str  # what it is the name of
    when: Sequence[str]
    note: str
    options: Sequence[str]  # of a section type
    also: Sequence[str]  # other paths of that name
    source: str

class Found(TypedDict):
    """Passages that answer a question."""

    query: str
    passages: list[Passage]
    sources: list[DocumentSource]
    note: NotRequired[str]

class FoundAll(Found):
    """What fits a question: also options, and what was said in chats."""

    options: list[OptionTold]
    recipes: NotRequired[list[dict[str, str | list[str]]]]  # of a Recipe what is not empty, without its words
    recipes_note: NotRequired[str]
    messages: NotRequired[list[SaidShort]]
    untrusted: NotRequired[list[str]]

class SaidShort(TypedDict):
    chat: str
    role: str
    snippet: str

class Note(TypedDict):
    id: str
    title: str
    chunks: int
    status: NotRequired[str]

class VectorHead(TypedDict):
    """The first line of a file of vectors, and where the rows begin."""

    label: str
    dims: int
    count: int
    begins: int

class Read(TypedDict, total=False):
    """What was read of a page or file."""

    url: str
    text: str
    kind: str
    title: str
    note: str
    cut: bool
    pdf: str  # base64, of a page that is a PDF file

class Place(TypedDict):
    """The message that a fact was taken from."""

    chat: str
    message: str

class Fact(TypedDict):
    """A fact; `day` counts days of use, and lists for people leave it out."""

    id: str
    fact: str
    category: str
    confidence: float
    created_unix_s: int
    updated_unix_s: int
    day: NotRequired[int]
    taint: NotRequired[list[str]]
    source: NotRequired[Place]

class FactList(TypedDict):
    facts: list[Fact]
    extract: bool
    tainted: bool
    most: int

class FactExport(TypedDict):
    version: int
    exported_unix_s: int
    facts: list[Fact]

class FactSwitches(TypedDict):
    extract: bool
    tainted: bool
    note: NotRequired[str]

class Said(TypedDict):
    """A fact as a model names it."""

    fact: str
    category: str
    supersedes: str

class Skill(TypedDict):
    name: str
    description: str
    words: list[str]
    against: list[str]  # with one of them it is not meant
    tools: list[str] | None  # None for all
    model: str
    text: str
    is_shipped: NotRequired[bool]

class Recipe(TypedDict):
    """How a job is done, see recipes.py."""

    name: str
    title: str
    words: list[str]
    packages: list[str]
    text: str
    commands: list[str]

class SkillRow(TypedDict):
    """A skill in the list."""

    name: str
    description: str
    is_shipped: bool
    enabled: bool
    tools: NotRequired[list[str]]
    model: NotRequired[str]
    note: NotRequired[str]

class SkillText(SkillRow):
    text: str

class SkillList(TypedDict):
    skills: list[SkillRow]
    notes: list[str]
    most: int

class SaidText(TypedDict):
    """A message that may be shown."""

    role: str
    text: str
    taint: NotRequired[list[str]]

class SaidRow(TypedDict):
    """A message that fits a question."""

    chat: str
    message: str
    role: str
    snippet: str
    score: float
    taint: NotRequired[list[str]]

class SaidFound(TypedDict):
    results: list[SaidRow]
    more: bool
    reports: list[str]
    note: NotRequired[str]
