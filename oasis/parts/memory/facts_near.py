"""Which facts are near to a sentence: by vectors where the owner has a service for them, else by their words.

Vectors are in memory alone, a byte a number; they are made when they are needed, all missing ones in one request. A
service that fails is left alone for a while, and words do meanwhile: no turn waits for it twice. `embedder()` gives
what makes vectors (embedding.py). `is_home`: who answers is at home, and then what is said goes to no service that is
not. Knows no file.
"""

from __future__ import annotations

import threading
import time

from oasis.errors import OasisError
from oasis.parts.memory import facts_likeness
from oasis.parts.memory.facts_likeness import likeness, touches, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Fact = dict[str, Any]

# The seed's: above it two facts are one.
COSINE = 0.85
# Of a question to all-MiniLM-L6-v2, most facts lie below 0.1, and those that matter above this.
RELATED = 0.25
NEAREST, SUREST = 10, 15
# A small model loses its way among notes that say nothing about its question.
SMALL = 5
REST_S = 300.0
_ONE = 127
# All facts, the skills, and some messages.
KEPT = 400


class Near:
    """`log(text)` hears of a service that fails."""

    def __init__(
        self, embedder: Callable[[], Any], empty: Callable[[], Iterable[str]], log: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._embedder = embedder
        self._empty = empty
        self._log = log
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, ...]] = {}  # text: its vector
        self._name = ""  # of the model that made them
        self._rests_until_s = 0.0

    def alike(self, text: str, facts: list[Fact], is_home: bool = True) -> tuple[list[float], float]:
        """Return how alike each fact is to a text, and from where on two are the same."""
        empty = self._empty()
        vectors = self._vectors([text, *[fact["fact"] for fact in facts]], is_home)
        if vectors is None:
            return [likeness(text, fact["fact"], empty) for fact in facts], facts_likeness.SAME
        are_two = facts_likeness.are_two
        return [
            0.0 if are_two(text, fact["fact"], empty) else _cosine(vectors[0], vector)
            for fact, vector in zip(facts, vectors[1:], strict=True)
        ], COSINE

    def nearest(self, text: str, facts: list[Fact], is_small: bool, may_ask: bool, is_home: bool = True) -> list[Fact]:
        """Return the facts that matter for a text, of `facts`, the surest first; `may_ask`: a service for vectors.

        A large model is told the nearest ones, and without vectors those of which something is said and then the
        surest; a small one only what has to do with the text.
        """
        vectors = self._vectors([text, *[fact["fact"] for fact in facts]], is_home) if may_ask else None
        if vectors is not None:
            scores, least, most = [_cosine(vectors[0], vector) for vector in vectors[1:]], RELATED, NEAREST
        else:
            empty = self._empty()
            said = words(text, empty)
            scores, least, most = [touches(said, words(fact["fact"], empty)) for fact in facts], 0.0, SUREST
        order = sorted(range(len(facts)), key=lambda at: -scores[at])
        if is_small:
            order = [at for at in order if scores[at] > least][:SMALL]
        return [facts[at] for at in order[:most]]

    def closeness(self, text: str, texts: list[str], is_home: bool = True) -> list[float] | None:
        """Return how near each of some texts is to one, None where there are no vectors."""
        vectors = self._vectors([text, *texts], is_home)
        return None if vectors is None else [_cosine(vectors[0], vector) for vector in vectors[1:]]

    def drop(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._known = {}

    def _vectors(self, texts: list[str], is_home: bool) -> list[tuple[int, ...]] | None:
        """Return a vector for each text, None where there is no service for it or it fails."""
        with self._lock:
            if self._now_s() < self._rests_until_s:
                return None
            try:
                embedder = self._embedder()
                name = embedder.name
                if not name or (is_home and not embedder.is_local):
                    return None
                if name != self._name:
                    self._known, self._name = {}, name
                missing = [text for text in dict.fromkeys(texts) if text not in self._known]
                made = embedder.embed(missing) if missing else []
            except OasisError as error:
                self._rests_until_s = self._now_s() + REST_S
                self._log("facts are compared by their words for a while: " + error.message)
                return None
            if made is None or len(made) != len(missing):
                return None
            self._known.update({text: _packed(vector) for text, vector in zip(missing, made, strict=True)})
            found = [self._known[text] for text in texts]
            for text in dict.fromkeys(texts):
                self._known[text] = self._known.pop(text)  # what was used last stays longest
            for text in list(self._known)[: -max(KEPT, len(texts))]:
                del self._known[text]
            return found


def _packed(vector: list[float]) -> Any:
    """Return a vector of length one as signed bytes."""
    from array import array

    length = sum(number * number for number in vector) ** 0.5 or 1.0
    return array("b", [round(_ONE * number / length) for number in vector])


def _cosine(one: Any, other: Any) -> float:
    if len(one) != len(other):
        return 0.0
    return float(sum(map(int.__mul__, one, other))) / (_ONE * _ONE)
