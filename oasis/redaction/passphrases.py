"""Passwords in sentences whose words nobody can list: a word no language has behind a password's name, and passphrases.

    found(text)    where they stand, also in sentences whose verb is of no language that secret_forms.py knows

Two rules. Behind the name of a password, in the same clause, a word with digits or signs in it is the password, unless
it is named as something else: a network, a user, an address, a device. And three or more plain words behind "is", "to"
or ":" are a passphrase when none of them is one that sentences are made of. Both go forward only and no further than a
clause. Knows no file, no chat and no router.
"""

from __future__ import annotations

import os
import re

from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "phrases.json")
_words: dict[str, frozenset[str]] = {}  # read with the first sentence about a password

_CLAUSE_CHARS = 120
_WORDS_MOST = 8
_WORDS_LEAST = 3
_LONG_CHARS = 6
_SHORT_CHARS = 5

_NAME = (
    r"pass? ?words?|pass ?phrases?|passcode|passwd|pass ?key|psk|pre-?shared key|pa?ss?wort|kennwort|schlüssel|"
    r"zugangscode|contraseñ\w{1,2}|claves?|mots? de passe|clé|senhas?|palavras?-passe|wachtwoord\w{0,2}|sleutel|chiave|"
    r"parol[aei]\w{0,6}|hasł[oaeu]m?|парол\w{1,3}|şifre\w{0,8}|codice|código|"
    r"(?<!public )(?<!host )(?<!ssh )(?<!gpg )(?<!peer )(?<!private )key(?=\s(?:of|for|is|to|should|will|must)\b)|"
    r"(?:wi-?fi|wlan|wpa[23]?|network|security)[ -]key"
)
_NAMED = re.compile(r"(?<![\w?&/.=-])(?:wi-?fi-?|wlan-?)?(?:%s)(?![\w+&%%/-])" % _NAME, re.I)
_END = re.compile(r"[\n;!?]|[.,]\s")
_WORD = re.compile(r"[^\s\"'`“”„«»,;]+")
_LETTERS = re.compile(r"[^\W\d_]{2,24}(?:'[^\W\d_]{1,3})?")
# What a word with digits in it is that is no password: an interface, a standard, a unit, an address, a name of UCI.
_KNOWN = re.compile(
    r"[a-z]+[-_.]?[a-z]*[0-9]?|[a-z0-9_.]+_[a-z0-9_.]*|(?:wlan|radio|eth|lan|wan|br|phy|wg|tun|usb|wpa|sae|psk|ipv?|wi-?fi|"
    r"ieee|802|owe|eap|aes|sha|md|vlan|openwrt|ssid|http|https|v)[-_.]?[0-9.]+\S{0,8}|[0-9.,-]+[a-z%]{1,8}|[0-9]\S*ghz\S*|"
    r"[0-9]g\S*|[0-9./]+|[0-9a-f]{0,4}(?:[:-][0-9a-f]{0,4}){2,16}|\S+@\S+\.\w+|\w+://\S+|/\S*|\S*[:«»<>()]\S*|\*+|"
    r"(?=\S*\.)[\w.-]+\.[a-z]{2,12}|[0-9]+-?\S{1,12}",
    re.I,
)
_CASED = re.compile(
    r"[A-Z]\w*[a-z]\w*[0-9]{2,}|\w*[a-z][A-Z]\w*|[^\W\d_]+[0-9]{2,}[^\W_]*|[^\W\d_]{2,}[0-9][^\W_]{2,}|[A-Z][a-z]{5,}[0-9]"
)
_WEAK = re.compile(r"(?!radio|wlan|eth|default|openwrt|guest)[a-z]{4,}[0-9]")
_IS = re.compile(
    r"\b(?:is|be|to|as|ist|auf|in|zu|soll|lautet|heißt|heisst|es|a|en|por|sea|será|ser|est|sera|être|à|par|è|sia|su|"
    r"com|como|come|comme|é|para|wordt|naar|op|to jest|na|ma być|będzie|будет|это|сделай|should|must|will)\b\s{0,3}:?"
    r"|[:=]|->|→",
    re.I,
)
_VERB = re.compile(
    r"\b(?:use|make|take|set|with|nimm|verwende|benutze|usa|utilise|gebruik|mit|con|avec)\s[^\n.,;:]{0,20}$", re.I
)


def found(text: str) -> Iterator[Span]:
    """Yield where passwords and passphrases stand in a sentence."""
    for name in _NAMED.finditer(text):
        if not _words:
            _words.update(_load())
        end = _END.search(text, name.end(), name.end() + _CLAUSE_CHARS)
        clause = name.end(), end.start() if end else min(name.end() + _CLAUSE_CHARS, len(text))
        yield from _strange(text, *clause)
        yield from _phrase(text, name.start(), *clause)


def _load() -> dict[str, frozenset[str]]:
    with open(_FILE, "rb") as file:
        lists = jsonl.shipped(file.read())
    return {name: frozenset(" ".join(lists[name]).split()) for name in lists if name != "about"}


def _strange(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the last word of a clause that no language has, unless it is named as something else."""
    before, last = "", None
    for match in _WORD.finditer(text, start, end):
        word = match.group(0).strip(".,:;!?()[]„“”")
        if before not in _words["of"] and _is_strange(word, before in _words["given"]):
            begin = match.start() + match.group(0).index(word)
            last = begin, begin + len(word)
        before = match.group(0).casefold()
    if last:
        yield last


def _is_strange(word: str, is_given: bool) -> bool:
    if len(word) < _LONG_CHARS or not any(map(str.isalpha, word)) or "secret:" in word:
        return False
    if not any(char.isdigit() or char in "!#$%&*+=?@^~" for char in word):
        return False
    return (
        bool(_CASED.fullmatch(word)) or not _KNOWN.fullmatch(word) or (is_given and _WEAK.fullmatch(word) is not None)
    )


def _phrase(text: str, name: int, start: int, end: int) -> Iterator[Span]:
    """Yield three or more plain words that are no words of a sentence; one of them behind a colon."""
    sign = _IS.search(text, start, end)
    while sign:
        place = _IS.match(text, sign.end(), end)
        if place is None:
            break
        sign = place
    begins = [sign.end()] if sign else []
    if _VERB.search(text[max(0, name - 40) : name]):
        begins.append(start)
    for begin in begins:
        words, is_closed = _plain(text, begin, end)
        is_sure = sign is not None and begin == sign.end() and sign.group(0)[-1] in ":=>→"
        least = 1 if is_sure or begin == start else _WORDS_LEAST
        if is_closed and len(words) >= least and (least > 1 or len(words) > 2 or _is_alone(text, words, end)):
            yield words[0][0], words[-1][1]
            return


def _is_alone(text: str, words: list[Span], end: int) -> bool:
    word = text[slice(*words[0])].casefold()
    return (
        word not in _words["states"]
        and not text[words[-1][1] : end].strip(" .")
        and words[-1][1] - words[0][0] >= _SHORT_CHARS
    )


def _plain(text: str, start: int, end: int) -> tuple[list[Span], bool]:
    """Return where plain words stand, and whether what ends them lets them be a passphrase."""
    words: list[Span] = []
    for match in _WORD.finditer(text, start, end):
        word = match.group(0).rstrip(".")
        low = word.casefold()
        if words and low in _words["ends"]:
            return words, True
        if (
            not _LETTERS.fullmatch(word)
            or low in _words["spoken"]
            or low in _words["ends"]
            or len(words) == _WORDS_MOST
        ):
            return words, False
        words.append((match.start(), match.start() + len(word)))
    return words, text[end : end + 1] != "?"
