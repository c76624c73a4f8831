"""What is never remembered as a fact: secrets, in any form in which somebody may say one.

    reason(text, ...)     why a text is no fact, "" where nothing speaks against it
    speaks_of(text)       whether a message is about passwords or keys, so that nothing in it is read at all
    said(texts)           what in older messages stood near such a word, for it may come again without it

A fact that is lost costs little, one that holds a password is told to every model from then on: where both are
possible, it is refused. What the router itself holds is known to the redactor, which enters as an argument.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# A short secret that the router holds (a PIN) is looked for as a word; below this anything would be one.
_HELD_CHARS = 4
# From here on a word of secret talk is found inside others as well ("WLAN-Passwort"), shorter ones stand alone.
_INSIDE_CHARS = 6
# Words behind a word for a secret among which that secret is thought to be; how often that is looked for in a message.
_NEAR = 8
_NEAR_CHARS = 300
_SAID = 50
_MASKED = re.compile(r"«\s*\w+\s*:|\*{4,}|•{3,}|\[redacted\]|<(?:password|key|secret|token)>", re.I)
# Forms that keys have. Source: the documentations of their makers, RFC 7515 (JWT), RFC 7468 (PEM), WireGuard's keys.
_KEYS = re.compile(
    r"-----BEGIN|\bssh-(?:rsa|ed25519|dss)\s|\becdsa-sha2-|\bAAAA[A-Za-z0-9+/]{16,}"
    r"|\b(?:sk|rk|pk|gsk|xai|csk|hf|nvapi|pplx|ghp|gho|ghu|ghs|ghr|glpat|npm|pypi|xox[abprs]|shpat|dop_v1)[-_][\w-]{8,}"
    r"|\bgithub_pat_\w+|\bAKIA[0-9A-Z]{12,}|\bASIA[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w-]+"
    r"|\beyJ[\w-]{8,}\.[\w-]{4,}|\b[0-9]{6,}:[\w-]{25,}|\bBearer\s+\S{8,}|\bBasic\s+[A-Za-z0-9+/=]{8,}"
    r"|\botpauth://|\bWIFI:[^\s]*;P:|://[^/@\s:]*:[^/@\s]+@"
    r"|[?&](?:token|key|api_?key|pass|passwd|password|pwd|secret|auth)=[^&\s]"
    r"|\$(?:1|2[aby]|5|6|y|argon2\w*)\$\S+|\{SHA\}|\bLS0tLS1CRUdJTi",
    re.I,
)
# Long runs of letters and digits that are no words: hexadecimal, base 32, base 64.
_HEX = re.compile(r"\b[0-9a-f]{16,}\b", re.I)
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_GROUPS = re.compile(r"\b[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,}\b")
_CARD = re.compile(r"\b[0-9](?:[ -]?[0-9]){12,18}\b")
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_MAC = re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.I)
_WORD = re.compile(r"\S+")
_LATIN = re.compile(r"[!-~]+")
# A code of a door, a lock or a telephone; years are none.
_CODE = re.compile(r"(?<![\w.:/-])(?!(?:19|20)[0-9]{2}(?!\d))[0-9]{4,12}(?![\d:/-]|\.\d)")
_ASSIGNED = re.compile(r"(?<![\w@.-])[\w@-]+\.[^\s.='\"]+\.(?:key|sae_password|psk|password|passwd|secret|private_key|"
                       r"preshared_key|pincode|token|api_key|username)\s*[= ]", re.I)  # fmt: skip


class Secrets:
    """What counts as secret. `redactor` knows what the router holds.

    `words` stand before a secret, `empty` ones are none (facts.json).
    """

    def __init__(self, words: Iterable[str], empty: Iterable[str], redactor: Any) -> None:
        self._redactor = redactor
        self._empty = set(empty)
        inside = [word for word in words if len(word) >= _INSIDE_CHARS or not word.isascii()]
        alone = [word for word in words if word not in inside]
        self._talk = re.compile(
            "|".join([re.escape(word) for word in inside] + [r"(?<!\w)%s(?!\w)" % re.escape(word) for word in alone])
        )

    def speaks_of(self, text: str) -> bool:
        """Return whether a message is about secrets, or sets one."""
        plain = text.casefold()
        return bool(self._talk.search(plain) or _MASKED.search(text) or _ASSIGNED.search(plain))

    def said(self, texts: Iterable[str]) -> set[str]:
        """Return the words of messages that may have been secrets: what stands near a word for one, or looks odd."""
        found: set[str] = set()
        for text in texts:
            if self.speaks_of(text):
                plain = text.casefold()
                near = [
                    word
                    for place in islice(self._talk.finditer(plain), _SAID)
                    for word in _WORD.findall(plain[place.end() : place.end() + _NEAR_CHARS])[:_NEAR]
                ]
                odd = [word for word in map(_bare, _LATIN.findall(text)) if _is_odd(word)]
                found.update([*map(_bare, near), *odd[:_SAID]])
        return {word for word in found if len(word) >= _HELD_CHARS and word.casefold() not in self._empty}

    def reason(self, text: str, said: Iterable[str] = (), inputs: Any = ()) -> str:
        """Return why a text is not remembered; `said` as above, `inputs` what tools were called with beside it."""
        if self.speaks_of(text):
            return "it speaks of a password or key"
        if _KEYS.search(text) or _has_run(text):
            return "it holds what looks like a key"
        if _is_card(text) or _IBAN.search(text) or _CODE.search(text):
            return "it holds what looks like a code or an account"
        if self._redactor.first_words(text, list(inputs)) != text or self._holds(text):
            return "it holds a secret of this router"
        plain = text.casefold()
        words = _words(plain)
        if any(word.casefold() in words or (_is_odd(word) and word.casefold() in plain) for word in said):
            return "it holds what may be a password that was said before"
        return ""

    def _holds(self, text: str) -> bool:
        """Return whether a secret that is too short for the redactor stands in a text as a word."""
        words = _words(text)
        return any(
            len(secret[4]) >= _HELD_CHARS and (secret[4] in words or (" " in secret[4] and secret[4] in text))
            for secret in self._redactor.held()
        )


_MARKS = ".,;:!?()[]{}<>\"'`“”„«»‘’=、。"


def _bare(word: str) -> str:
    return word.strip(_MARKS)


def _words(text: str) -> set[str]:
    return {_bare(word) for word in _WORD.findall(text)} | set(re.split(r"\W+", text))


def _is_odd(word: str) -> bool:
    """Return whether a word has digits or signs, as passwords do."""
    has_digit, has_sign = any(map(str.isdigit, word)), any(not char.isalnum() and char not in "-_.'" for char in word)
    return len(word) >= _HELD_CHARS and (has_digit or has_sign)


def _has_run(text: str) -> bool:
    bare = _MAC.sub(" ", text)
    if _HEX.search(bare) or _GROUPS.search(bare):
        return True
    return any(_is_random(run) for run in _RUN.findall(bare))


def _is_random(run: str) -> bool:
    """Return whether a long run changes its kind of letter as often as no word or name with dashes does."""
    if run.endswith("="):
        return True
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" if char.islower() else "" for char in run]
    changes = len([1 for one, other in pairwise(kinds) if one and other and one != other])
    return changes * 4 >= len(run)


def _is_card(text: str) -> bool:
    """Return whether a text holds a number with the check digit of cards (Luhn, ISO/IEC 7812)."""
    for match in _CARD.findall(text):
        digits = [int(char) for char in match if char.isdigit()]
        total = sum(digit if at % 2 == 0 else (digit * 2 - 9 if digit > 4 else digit * 2)
                    for at, digit in enumerate(reversed(digits)))  # fmt: skip
        if total % 10 == 0:
            return True
    return False
