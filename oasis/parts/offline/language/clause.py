"""One clause of a sentence with its segments: what frames are held against."""

from __future__ import annotations

from oasis.parts.offline.language.lexicon import FILLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.offline.language.lexicon import Segment
    from oasis.parts.offline.language.tokens import Token

ASKED = "asked"  # a sign of the whole clause: it is a question


class Clause:
    """The tokens and segments of one clause; `signs` are concepts of the clause as a whole.

    `is_value(kind, text)` tells whether a text can be a value of a type on this router.
    """

    def __init__(
        self,
        sentence: str,
        tokens: list[Token],
        segments: list[Segment],
        signs: set[str],
        is_value: Callable[[str, str, bool], bool],
    ) -> None:
        self.sentence = sentence
        self.tokens = tokens
        self.segments = segments
        self.signs = signs
        self.is_value = is_value
        self.concepts = set().union(*[one.concepts for one in segments]) | signs if segments else set(signs)

    def norm(self, segment: Segment) -> str:
        """Return the words of a segment as they are compared."""
        return " ".join(token.norm for token in self.tokens[segment.start : segment.end])

    def text(self, first: int, last: int) -> str:
        """Return the characters from one segment to another as they were typed."""
        tokens = self.tokens[self.segments[first].start : self.segments[last].end]
        return self.sentence[tokens[0].start : tokens[-1].end]

    def tail(self, at: int) -> str:
        """Return the punctuation after a segment."""
        return self.tokens[self.segments[at].end - 1].tail

    def of(self, *concepts: str) -> list[int]:
        """Return the segments of any of these concepts."""
        wanted = set(concepts)
        return [at for at, one in enumerate(self.segments) if one.concepts & wanted]

    def with_value(self, *kinds: str) -> list[int]:
        """Return the segments that have a value of any of these types."""
        return [at for at, one in enumerate(self.segments) if any(kind in one.values for kind in kinds)]

    def is_filler(self, at: int) -> bool:
        """Tell whether a segment means nothing of its own."""
        return self.segments[at].concepts == {FILLER} and not self.segments[at].values

    def before(self, at: int, *through: str) -> int:
        """Return the segment before one, past fillers and the concepts `through`; -1 when there is none."""
        at -= 1
        while at >= 0 and (self.is_filler(at) or self.segments[at].concepts & set(through)):
            at -= 1
        return at

    def after(self, at: int, *through: str) -> int:
        """Return the segment after one, past fillers and the concepts `through`; the count of them when none is."""
        at += 1
        while at < len(self.segments) and (self.is_filler(at) or self.segments[at].concepts & set(through)):
            at += 1
        return at


class Found:
    """A value: the raw slot, the segments it took, and how doubtful it is."""

    __slots__ = ("doubt", "raw", "taken")

    def __init__(self, text: str, taken: set[int], doubt: float = 0.0, is_exact: bool = True) -> None:
        self.raw = (text, is_exact)
        self.taken = taken
        self.doubt = doubt
