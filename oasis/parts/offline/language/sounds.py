"""Words of Japanese and Chinese that were mistyped: other characters of the same sound, a letter too many or too few.

    Sounds(["密蜜秘", …], phrases).mended(tokens, longest)    the tokens, those of a mistyped phrase as they should be

The groups of characters that sound alike are in the language files. Only what is in no list of words is mended, and
only to a phrase of the lexicon of which at least one character stands there. `means(char)` tells whether a character
has a meaning of its own: it is not taken for another one.
"""

from __future__ import annotations

from oasis.parts.offline.language.tokens import Token, distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HIRAGANA, _KATAKANA = ("\u3041", "\u3096"), ("\u30a1", "\u30fc")
_SHIFT = 0x60  # from the one to the other
_LONGEST, _SPOKEN = 8, 3  # characters of a phrase; of one that is told by its sound alone
_RUN, _LONG_RUN = 4, 7  # letters of a word with one slip, with two
_LONG_MARKS = "一-－—"  # what people type for ー


class Sounds:
    """The phrases of a lexicon by how they sound."""

    def __init__(
        self, groups: list[str], phrases: Iterable[tuple[str, ...]], means: Callable[[str], bool] = lambda char: False
    ) -> None:
        self._means = means
        self._like = {char: group[0] for group in groups for char in group}
        self._heard: dict[str, tuple[str, ...]] = {}
        self._kana: dict[str, list[str]] = {}
        for phrase in phrases:
            if not 1 < len(phrase) <= _LONGEST or not all(len(one) == 1 and one >= "\u3040" for one in phrase):
                continue
            self._heard.setdefault(self._key(phrase), phrase)
            if len(phrase) >= _RUN and all(map(_is_katakana, phrase)):
                self._kana.setdefault(phrase[0], []).append("".join(phrase))

    def _key(self, words: Iterable[str]) -> str:
        return "".join(_katakana(self._like.get(word, word)) for word in words)

    def mended(self, tokens: list[Token], longest: Callable[[list[str], int], int]) -> list[Token]:
        """Return the tokens with mistyped phrases as they should be; `longest` tells the tokens of a known phrase."""
        words = [token.norm for token in tokens]
        found: list[Token] = []
        at = 0
        while at < len(tokens):
            if tokens[at].is_quoted or words[at] < "\u3040":
                found.append(tokens[at])
                at += 1
                continue
            size = longest(words, at)
            run = _run(tokens, at)
            better = self._near(words[at : at + run]) if size < run else ""
            length = run
            if not better and size < 2:
                better, length = self._alike(tokens, at, longest)
            if better:
                found += _spelled(tokens[at : at + length], better)
                at += length
            else:
                found += tokens[at : at + max(size, 1)]
                at += max(size, 1)
        return found

    def _alike(self, tokens: list[Token], at: int, longest: Callable[[list[str], int], int]) -> tuple[str, int]:
        """Return the longest phrase that sounds like the next tokens, and how many these are."""
        typed = [token.norm for token in tokens]
        end = at + 1
        while end < len(tokens) and end < at + _LONGEST and not tokens[end - 1].tail and tokens[end].norm >= "\u3040":
            end += 1
        for last in range(end, at + 1, -1):
            words = [token.norm for token in tokens[at:last]]
            phrase = self._heard.get(self._key(words), ())
            is_cut = last < len(tokens) and _is_katakana(tokens[last].norm) and _is_katakana(words[-1])
            if phrase and not is_cut and self._is_slip(words, phrase):
                others = [at + place for place, char in enumerate(words) if char != phrase[place]]
                if all(longest(typed, place) < 2 for place in others):  # 访 in 开访客 belongs to 访客
                    return "".join(phrase), last - at
        return "", 0

    def _is_slip(self, words: list[str], phrase: tuple[str, ...]) -> bool:
        """Tell whether words that sound like a phrase may be meant to be it."""
        others = [word for word, wanted in zip(words, phrase, strict=True) if word != wanted]
        if len(phrase) >= _SPOKEN and all(map(_is_kana, words)):
            return bool(others)
        is_kana = any(map(_is_kana, others))
        return 0 < len(others) < len(phrase) and not is_kana and not any(map(self._means, others))

    def _near(self, words: list[str]) -> str:
        """Return the word in katakana that these letters should be, "" when there is none."""
        word = "".join("ー" if letter in _LONG_MARKS else letter for letter in words)
        limit = 0 if len(word) < _RUN else 1 if len(word) < _LONG_RUN else 2
        near = [
            (distance(word, one), one) for one in self._kana.get(word[:1], ()) if abs(len(one) - len(word)) <= limit
        ]
        gap, best = min(near, default=(9, ""))
        return best if gap <= limit else ""


def _is_katakana(char: str) -> bool:
    return _KATAKANA[0] <= char <= _KATAKANA[1]


def _is_kana(char: str) -> bool:
    return _HIRAGANA[0] <= char <= _KATAKANA[1]


def _katakana(char: str) -> str:
    return chr(ord(char) + _SHIFT) if _HIRAGANA[0] <= char <= _HIRAGANA[1] else char


def _run(tokens: list[Token], at: int) -> int:
    """Return how many tokens from a place on are one word in katakana."""
    end = at
    while end < len(tokens) and not tokens[end].is_quoted:
        norm = tokens[end].norm
        is_mark = end > at and norm in _LONG_MARKS and end + 1 < len(tokens) and _is_katakana(tokens[end + 1].norm)
        if not (_is_katakana(norm) or is_mark):
            break
        end += 1
        if tokens[end - 1].tail:
            break
    return end - at


def _spelled(tokens: list[Token], phrase: str) -> list[Token]:
    """Return the letters of a phrase as tokens at the places of those that were typed."""
    made = []
    for number, char in enumerate(phrase):
        place = tokens[number * len(tokens) // len(phrase)]
        made.append(Token(char, place.raw_start, place.start, place.end, "", False))
    made[0].slip = 1
    made[-1].end, made[-1].tail = tokens[-1].end, tokens[-1].tail
    return made
