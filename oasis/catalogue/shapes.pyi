"""The types of catalogue/, for the type checker alone; entries.py, check.py and described.py say what the keys mean."""

import builtins
from collections.abc import Callable, Mapping

from typing_extensions import NotRequired, TypedDict

# A section, {".type", option: str | [str]}, as whoever asks has it; a package, its sections by name in file order.
Section = Mapping[str, object]
Sections = Mapping[str, Section]
ReadPackage = Callable[[str], Sections]

class Entry(TypedDict, total=False):
    """An option, in its long form."""

    type: str
    values: builtins.list[str]
    title: str
    list: bool
    mark: str
    bound: str
    ref: str
    aka: builtins.list[str]
    secret: bool
    generated: str
    awaited: bool

class Rule(TypedDict):
    """Options that depend on each other; `when` gives a pattern for each option."""

    when: dict[str, str]
    hint: NotRequired[str]
    one_of: NotRequired[list[str]]  # of needs
    options: NotRequired[list[str]]  # of only

class SectionType(TypedDict):
    """A section type; an entry may be its datatype alone."""

    title: NotRequired[str]
    options: dict[str, str | Entry]
    mark: NotRequired[str]
    bound: NotRequired[str]
    opens: NotRequired[dict[str, str]]
    needs: NotRequired[list[Rule]]
    only: NotRequired[list[Rule]]
    never: NotRequired[list[Rule]]

class Generated(TypedDict):
    """A file of generated/."""

    types: dict[str, SectionType]
    reviewed: NotRequired[bool]
    services: NotRequired[list[str]]  # to be reloaded after a change

class Finding(TypedDict):
    """What is wrong with an operation."""

    number: int  # the index of the operation
    kind: str
    where: str
    message: str
    hint: str

class Sentences(TypedDict):
    """The sentences about section types and options."""

    version: int
    openwrt: str
    options: dict[str, dict[str, str]]
