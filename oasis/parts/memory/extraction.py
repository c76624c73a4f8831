"""What of the owner's words can be a fact, and the small model that is asked for them.

A gate that costs nothing lets few messages through to a model: no small talk, no few letters, nothing about passwords.
The model is a small one and sees only the owner's own words, never an answer, a log or a device's name.

Secrets are never remembered, in any form in which somebody may write one:

    reason(text, ...)     why a text cannot be a fact, "" if nothing speaks against it
    speaks_of(text)       whether a message is about passwords or keys, so nothing of it is read
    said(texts)           what stood near such a word in older messages, because it may come again without it

A lost fact costs little; one that holds a password would go to every model from then on, so doubt means no. The
redactor, an argument, knows the secrets of the router itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice, pairwise

from oasis.core import clean, jsonl
from oasis.parts.memory.ranking import is_dense, touches, words
from oasis.parts.memory.structured import object_schema, value
from oasis.system.late import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.core.shapes import Json, Message
    from oasis.parts.memory.shapes import Said
    from oasis.redaction.redactor import Redactor

    Schema = dict[str, Json]


# Of a fact in a script without blanks, how many pairs of letters stand in what was said: endings and particles differ.
DENSE_GROUND = 0.5
# What a sentence falls into: each part is denied, or not, for itself.
_CLAUSE = late(
    r"[.,:](?=\s|$)|[;!?\n、。，；：！？]|\b(?:but|aber|sondern|pero|mais|ma|mas)\b"
    r"|\b(?:and|und|y|et)\b(?=\s+(?:i|my|we|our|ich|mein\w*|wir|unser\w*|yo|mi|mis|je|mon|ma|mes)\b)"
)
# Words that turn what is said into its opposite.
_NO = late(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|dont|doesnt|\w+n['’]t|kein\w*|nicht\w?|nie|niemals"
    r"|niemand|ohne|nunca|jam[aá]s|nadie|sin|non|ne|pas|jamais|aucune?|rien|não|geen|niet|nooit|не|нет|никогда|без)\b"
    r"|\bn['’]|ません|ない|なかった|不|没|沒|않|없"
)


def is_from(fact: str, said: str, data: Words) -> bool:
    """Return whether what a fact says of the owner was said: small models repeat what they were shown, and invent.

    Every word of it must stand in the owner's own, but for those that tie them to the owner.
    """
    own = words(said)
    claims = words(fact, data.relations)
    if not claims or _turns_round(fact, claims, said):
        return False
    if any(map(is_dense, claims)):
        return touches(own, claims) >= DENSE_GROUND
    return all(touches(own, [claim]) for claim in claims)


def _turns_round(fact: str, claims: list[str], said: str) -> bool:
    """Return whether a fact denies what was said, or says what was denied, in a clause that has the most of its words.

    Where several have as many, one that differs is enough: a lost fact costs less than its opposite.
    """
    clauses = [clause for clause in _CLAUSE.split(said.casefold()) if clause.strip()]
    shares = [sum(touches(words(clause), [claim]) > 0 for claim in claims) for clause in clauses]
    is_no = _NO.search(fact.casefold()) is not None
    most = [clause for clause, share in zip(clauses, shares, strict=True) if share == max(shares)]
    return any((_NO.search(clause) is not None) != is_no for clause in most)


CATEGORIES = ("personal", "preference", "work", "habit", "relationship")
# The seed's gate; a letter of a script without blanks says as much as two or three of others.
SAID_CHARS = 10
_DENSE_CHARS = 5
# A longer message is a paste; what its writer says about themselves stands at its beginning or nowhere.
READ_CHARS = 2000
FACT_CHARS = 200
FACTS = 5
_MARKS = " \t\r\n.,;:!?¡¿…~-–—)(\"'“”„«»。、！？，☺😀👍🙏"


_TEXT: Schema = {"type": "string"}
_FACT = object_schema({"fact": _TEXT, "category": {**_TEXT, "enum": list(CATEGORIES)}, "supersedes": _TEXT})
_SCHEMA = object_schema({"facts": {"type": "array", "maxItems": FACTS, "items": _FACT}})


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_MARKS).replace(",", " ").split())


class Words:
    """The data of facts.json."""

    def __init__(self) -> None:
        data = jsonl.table(__file__, "facts.json")
        self.prompt, self.known, self.form = str(data["prompt"]), str(data["known"]), str(data["form"])
        self.context = str(data["context"])
        self.examples: list[tuple[str, list[list[str]]]] = [(said, facts) for said, facts in data["examples"]]
        self.empty = frozenset(word for words in data["empty"].values() for word in words.split())
        self.relations = self.empty.union(*(words.split() for words in data["relations"].values()))
        self.secret = tuple(word for words in data["secret"].values() for word in words)
        self._talk = frozenset(_plain(one) for found in data["talk"].values() for one in found)

    def is_talk(self, text: str) -> bool:
        """Return whether a message is too little to hold a fact."""
        plain = _plain(text)
        return len(plain) < (_DENSE_CHARS if is_dense(plain) else SAID_CHARS) or plain in self._talk


def asked(words: Words, said: str, known: list[str]) -> tuple[list[Message], Schema]:
    """Return the messages that ask a model for facts, and the schema of the answer; `known` are facts nearby."""
    lines = [words.prompt, words.form]
    if known:
        lines += [words.known, *["- " + fact for fact in known]]
    messages: list[Message] = [{"role": "system", "content": "\n".join(lines)}]
    for example, facts in words.examples:
        found = [{"fact": fact, "category": category, "supersedes": ""} for fact, category in facts]
        messages.append({"role": "user", "content": example})
        messages.append({"role": "assistant", "content": jsonl.dumps({"facts": found})})
    return [*messages, {"role": "user", "content": said[:READ_CHARS]}], _SCHEMA


def read(answer: str) -> list[Said]:
    """Return the facts of an answer, each text one clean line; none of an answer that cannot be read."""
    found = value(answer, "[", "]")
    facts: list[Said] = []
    for one in found if isinstance(found, list) else []:
        given = one if isinstance(one, dict) else {"fact": one}
        fact = line(given.get("fact"))
        if fact and fact not in [known["fact"] for known in facts]:
            category = given.get("category")
            category = category if category in CATEGORIES else CATEGORIES[0]
            facts.append({"fact": fact, "category": category, "supersedes": line(given.get("supersedes"))})
    return facts[:FACTS]


def line(value: object) -> str:
    """Return a text as one clean line, "" for none and for one that is too long or says nothing."""
    text = " ".join(clean.line(value).split()) if isinstance(value, str) else ""
    return text if 3 <= len(text) <= FACT_CHARS and any(map(str.isalpha, text)) else ""


# A short secret that the router holds (a PIN) is looked for as a word; below this anything would be one.
_HELD_CHARS = 4
# From here on a word of secret talk is found inside others as well ("WLAN-Passwort"), shorter ones stand alone.
_INSIDE_CHARS = 6
# Words behind a word for a secret among which that secret is thought to be; how often that is looked for in a message.
_NEAR = 8
_NEAR_CHARS = 300
_SAID = 50
_MASKED = late(r"«\s*\w+\s*:|\*{4,}|•{3,}|\[redacted\]|<(?:password|key|secret|token)>", re.I)
# Forms that keys have. Source: the documentations of their makers, RFC 7515 (JWT), RFC 7468 (PEM), WireGuard's keys.
_KEYS = late(
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
_HEX = late(r"\b[0-9a-f]{16,}\b", re.I)
_RUN = late(r"[A-Za-z0-9+/_=-]{16,}")
_GROUPS = late(r"\b[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,}\b")
_CARD = late(r"\b[0-9](?:[ -]?[0-9]){12,18}\b")
_IBAN = late(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_MAC = late(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.I)
_LATIN = late(r"[!-~]+")
# A code of a door, a lock or a telephone; years are none.
_CODE = late(r"(?<![\w.:/-])(?!(?:19|20)[0-9]{2}(?!\d))[0-9]{4,12}(?![\d:/-]|\.\d)")
_ASSIGNED = late(r"(?<![\w@.-])[\w@-]+\.[^\s.='\"]+\.(?:key|sae_password|psk|password|passwd|secret|private_key|"
                       r"preshared_key|pincode|token|api_key|username)\s*[= ]", re.I)  # fmt: skip


class Secrets:
    """What counts as secret. `words` stand before a secret, `empty` ones are none (facts.json)."""

    def __init__(self, words: Iterable[str], empty: Iterable[str], redactor: Redactor) -> None:
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
                for place in islice(self._talk.finditer(plain), _SAID):
                    near = plain[place.end() : place.end() + _NEAR_CHARS].split()[:_NEAR]
                    found.update(word.strip(_BRACKETS) for word in near)
                latin = [word.strip(_BRACKETS) for word in _LATIN.findall(text)]
                found.update([word for word in latin if _is_odd(word)][:_SAID])
        return {word for word in found if len(word) >= _HELD_CHARS and word.casefold() not in self._empty}

    def reason(self, text: str, said: Iterable[str] = (), inputs: Iterable[Json] = ()) -> str:
        """Return why a text is not remembered; `said` as above, `inputs` the arguments of tool calls."""
        if self.speaks_of(text):
            return "it speaks of a password or key"
        if _KEYS.search(text) or _has_run(text):
            return "it holds what looks like a key"
        if _is_card(text) or _IBAN.search(text) or _CODE.search(text):
            return "it holds what looks like a code or an account"
        words = _words(text)
        # A secret that is too short for the redactor counts where it stands as a word.
        held = [secret[4] for secret in self._redactor.held() if len(secret[4]) >= _HELD_CHARS]
        is_held = any(secret in words or (" " in secret and secret in text) for secret in held)
        if is_held or self._redactor.first_words(text, list(inputs)) != text:
            return "it holds a secret of this router"
        plain = text.casefold()
        known = _words(plain)
        if any(word.casefold() in known or (_is_odd(word) and word.casefold() in plain) for word in said):
            return "it holds what may be a password that was said before"
        return ""


_BRACKETS = ".,;:!?()[]{}<>\"'`“”„«»‘’=、。"


def _words(text: str) -> set[str]:
    return {word.strip(_BRACKETS) for word in text.split()} | set(re.split(r"\W+", text))


def _is_odd(word: str) -> bool:
    has_digit, has_sign = any(map(str.isdigit, word)), any(not char.isalnum() and char not in "-_.'" for char in word)
    return len(word) >= _HELD_CHARS and (has_digit or has_sign)


def _has_run(text: str) -> bool:
    """Return whether a text holds a long run that changes its kind of letter as often as no word or name does."""
    bare = _MAC.sub(" ", text)
    if _HEX.search(bare) or _GROUPS.search(bare):
        return True
    for run in _RUN.findall(bare):
        kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" if char.islower() else "" for char in run]
        changes = sum(bool(one and other and one != other) for one, other in pairwise(kinds))
        if run.endswith("=") or changes * 4 >= len(run):
            return True
    return False


def _is_card(text: str) -> bool:
    """Return whether a text holds a number with the check digit of cards (Luhn, ISO/IEC 7812)."""
    for match in _CARD.findall(text):
        digits = [int(char) for char in reversed(match) if char.isdigit()]
        # Of every second one twice as much, and of that the sum of its digits.
        if sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0:
            return True
    return False
