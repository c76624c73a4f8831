"""Which tools a model is told of in a turn: as few as will do, for each costs a small model context and sense.

The core always; of the others those whose words the owner says, those that the thread used before, and all of them
where the service's context is large. No model decides it, and one that is not told of a tool may still call it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Spec = dict[str, Any]

# The owner's setting: as above, everything, or the core alone.
MODES = ("fitting", "all", "core")
# A context in which a hundred tools of 150 tokens are no more than a third.
LARGE_TOKENS = 32_000
# What a model of a billion parameters still tells apart.
FITTING = 12
# The owner's messages that count: "and install it" says little by itself.
MESSAGES = 3
_WORD_CHARS = 4
# Of tools that have no words of their own the names and descriptions are looked through; these say nothing.
_EMPTY = (
    " about also argument arguments call data each from given have into list name names need only optional return "
    "returned returns some text that their them then these this tool type used user uses using value values want when "
    "where which will with your "
)


def is_large(context_tokens: int, is_local: bool) -> bool:
    """Return whether a service takes all tools; where nobody said its context, one in the cloud does."""
    return context_tokens >= LARGE_TOKENS or (not context_tokens and not is_local)


def chosen(specs: list[Spec], texts: list[str], used: set[str], mode: str, large: bool) -> list[Spec]:
    """Return the specs to tell a model of, in their order; `texts` are the owner's newest messages."""
    if mode == "all" or (mode == "fitting" and large):
        return specs
    core = [spec for spec in specs if spec.get("core")]
    if mode == "core":
        return core
    text = " ".join(texts).casefold()
    words = _words(text)
    ranked = []
    for at, spec in enumerate(specs):
        count = 100 if spec["name"] in used else _matches(spec, text, words)
        if count and spec not in core:
            ranked.append((-count, at, spec))
    ranked.sort(key=lambda item: item[:2])
    found = core + [spec for _, _, spec in ranked[: max(FITTING - len(core), 0)]]
    return [spec for spec in specs if spec in found]


def _matches(spec: Spec, text: str, words: list[str]) -> int:
    if "words" in spec:
        return sum(_says(word, text, words) for word in spec["words"])
    own = set(_words((spec["name"] + " " + spec["description"]).casefold()))
    return len([word for word in own.intersection(words) if _means_something(word)])


def _means_something(word: str) -> bool:
    return len(word) >= _WORD_CHARS and " %s " % word not in _EMPTY


def _says(word: str, text: str, words: list[str]) -> bool:
    """Return whether a word, or one that begins with it, is said; phrases and scripts without blanks are looked for."""
    if word.isascii() and " " not in word:
        return any(one.startswith(word) for one in words)
    return word in text


def _words(text: str) -> list[str]:
    return "".join([char if char.isalnum() else " " for char in text]).split()
