"""Secrets by their form: what looks like a key, a token, a session or a hash, whoever holds it.

    spans(text)    where secrets stand in a text of any kind: a log, a configuration, a page, a program's arguments
    said(text)     where a password stands in a sentence of the owner's own, as "set the wifi password to …"
    hide_typed(…)  a JSON value without the secrets that commands in it set, what somebody typed and a model repeats,
                   before the router holds it: `package.section.option=value`, where such an option holds a secret

Each rule has words without which it is not tried, and every pattern begins with something that is there to be found,
goes forward only, and is bounded: a text is read a constant number of times, however it is made. What is no secret is
left alone: paths, switches, masks and placeholders, public keys and certificates.

Two rules are for sentences whose words nobody can list. Behind the name of a password, in the same clause, a word with
digits or signs in it is the password, unless it is named as something else: a network, a user, an address, a device.
And three or more plain words behind "is", "to" or ":" are a passphrase when none of them is one that sentences are made
of. Both go forward only and no further than a clause. Knows nothing of what the router holds, no file and no chat.
Source of the forms: RFC 7468 (PEM), RFC 7617 and 6750 (Authorization), wg(8), crypt(5), htpasswd(1), OpenVPN's inline
files, the documentations of the services named in forms.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from oasis.core import jsonl
from oasis.errors import OasisError, UsageError
from oasis.redaction import secret_options
from oasis.redaction.redactor import SECRET_CHARS, walk, written_forms
from oasis.redaction.secret_options import MASK
from oasis.system.late import late
from oasis.uci.shell_words import commands

if False:  # annotations only
    from typing import TypeVar

    T = TypeVar("T")
    Span = tuple[int, int]

# A secret is no longer than this, except what stands between the marks of a file.
_MOST = 4096
# Words of a sentence; a password has eight, or a digit or sign in it.
_SAID_CHARS = 8
_QUOTED = r"""'[^'\n]{1,4096}'|"(?:\\.|[^"\\\n]){1,4096}"|\\"(?:\\\\.|[^"\\\n]){1,4096}\\\""""
_BARE = r"""[^\s"'`,;&<>(){}\[\]\\|]{1,4096}"""
_VALUE = "(%s|%s)" % (_QUOTED, _BARE)
# What a value may be that is no secret: a switch, a number of one digit, a path, a mask, a word for none.
_NONE = late(
    r"[0-9]?|on|off|yes|no|true|false|none|null|nil|unset|set|empty|auto|default|generate|required|optional|disabled|"
    r"enabled|/[\w./@-]*|\$\w{0,40}|\$\{.*|\$p\$.*|%.{0,8}|<.*|\*+|\.+|…|[xX]+|«.*|\(.*|\[[A-Z_]+\]|your[_-]\w+|open|"
    r"wrong|invalid|unknown|missing|changed|ok|ask|prompt|file:.*|[Pp]assword|secret|hidden|redacted|String|Boolean|"
    r"Integer|Array|Table",
    re.S,
)
# Names of which a value is a secret wherever it stands; others only where UCI or an address holds them.
_WEAK = ("key", "key1", "key2", "key3", "key4", "pin", "otp", "token", "credential", "credentials", "community",
         "communityname", "bearer", "pass", "secret", "puk")  # fmt: skip
_PLAIN = ("pass", "secret", "token")  # of these, alone in a name

_rules: list[tuple[tuple[str, ...], re.Pattern[str]]] = []

_PEM = late(r"-----BEGIN (?!CERTIFICATE|PUBLIC|RSA PUBLIC|X509|DH PARAM|EC PARAM|SSH2 PUBLIC)[A-Za-z0-9 ]{1,40}-----")
_PEM_BODY = late(r"(?:(?:\s|\\[nrt]|#)+(?:[A-Za-z-]{3,16}: [^\n\\]{1,120}|[A-Za-z0-9+/=]{1,100})(?=[\s\\]|$|-----))*")
# The first or last line of a block, whatever stands before it: the mark of a quote, a program's name, a time.
_EDGE = late(r"-----(?:BEGIN|(END)) ([A-Za-z0-9 ]{1,40})-----|Private-(?:Lines|(MAC)): ")
_OPEN = ("CERTIFICATE", "PUBLIC", "RSA PUBLIC", "X509", "DH PARAM", "EC PARAM", "SSH2 PUBLIC", "PGP PUBLIC",
         "PGP SIGN", "PGP MESS", "NEW CERTIFICATE", "TRUSTED CERT", "PKCS7", "CMS")  # fmt: skip
_LINE = late(r"(?:[^\n\\]|\\(?![nr]))+")
_LAST = late(r"[A-Za-z0-9+/]+={0,2}")
_LONG = late(r"[A-Za-z0-9+/=]{20,}")
_LONG_CHARS = 20
_STRANGE = 8  # lines of other programs between those of a block
_GENERATED = late(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")  # as wg genkey prints it
_INLINE = late(r"<(key|tls-auth|tls-crypt|tls-crypt-v2|secret|pkcs12|auth-user-pass|extra-certs-key)>", re.I)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # letters and signs as wide as Chinese ones
_STRING = late(r'"(?:\\.|[^"\\])*"')
# name=value, name: "value"; the name and the sign, then what stands behind one that is a secret's
_NAMED = late(
    r"""(?<![\w.«-])([A-Za-z_][\w.-]{1,80})(?![\w.-])(?:\[[0-9]{1,4}\])?\\?["']?(\s{0,4}=\s{0,4}|\s{0,4}:\s{0,4})"""
)
_BEHIND = late(_VALUE)
# UCI as in a file, and as `uci show` has it
_OPTION = late(
    r"""(?:\b|^)(?:option|list)[ \t]{1,8}["']?(\w{1,80})["']?[ \t]{1,8}('[^'\n]{1,4096}'?|"[^"\n]{1,4096}"?)"""
    r"""|^[ \t]{0,8}(?:option|list)[ \t]{1,8}(\w{1,80})[ \t]{1,8}([^\s'"]{1,4096})""",
    re.M,
)
_SHOWN = late(r"""(?<![\w-])[\w-]{1,64}\.[^\s.='"]{1,64}\.(\w{1,80})=""")


def spans(text: str) -> list[Span]:
    """Return where secrets stand in a text, in order, without overlaps."""
    if not _rules:
        forms = jsonl.table(__file__, "forms.json")["forms"]
        made = []
        for words, pattern in forms:
            for name, part in (("{value}", _VALUE), ("{quoted}", _QUOTED), ("{bare}", _BARE)):
                pattern = pattern.replace(name, part)
            made.append((tuple(words), late(pattern, re.I | re.M)))
        _rules[:] = made  # at once: another thread that looks meanwhile must not judge by half of them
    if not text.isascii():
        text = text.translate(_WIDE)  # one character for one: the places stay
    plain = text.casefold() if text.isascii() else text.lower()
    found: list[Span] = []
    for words, pattern in _rules:
        if any(word in plain for word in words):
            found += (match.span(1) for match in pattern.finditer(text) if _is_value(match.group(1)))
    if "-----begin " in plain:
        for match in _PEM.finditer(text):
            body = _PEM_BODY.match(text, match.end())
            if body and body.end() > match.end():
                found.append((match.end(), body.end()))
    if "-----" in text or "Private-" in text:
        found += blocks(text)
    if "<" in plain and ">" in plain:
        found += _inline(text)
    if "=" in plain or ":" in plain or "option" in plain or "list" in plain:
        found += _named(text)
    return _joined(found)


def blocks(text: str, is_log: bool = False) -> list[Span]:
    """Return where the lines of private keys stand, behind the mark of a beginning or before that of an end.

    `is_log`: these are lines that programs wrote; a key that is all of a line is one that was made there.
    """
    found: list[Span] = []
    before: list[Span] = []  # what is a key when an end follows
    is_open, strange, prefix, last = False, 0, "", ""
    for match in _LINE.finditer(text):
        line, at = match.group(0), match.start()
        if edges := list(_EDGE.finditer(line)):
            first, final = edges[0], edges[-1]
            if (first.group(1) or first.group(3)) and not (first.group(2) or "").startswith(_OPEN):
                found += [] if is_open else before
                found += [(at + word.start(), at + word.end()) for word in _LONG.finditer(line, 0, first.start())]
            is_open = not (final.group(1) or final.group(3) or (final.group(2) or "").startswith(_OPEN))
            before, strange, prefix = [], 0, line[: final.start()]
            continue
        # Of a line of a block the last word is one, a short one where others have stood.
        bare = line.rstrip(" \t\r\"',…")
        start = max(bare.rfind(" "), bare.rfind("\t"), bare.rfind(">"), bare.rfind('"')) + 1
        word = bare[start:]
        is_last = word.endswith("=") or not line[:start].strip("> \t\"'") or line[:start] == prefix
        if _LAST.fullmatch(word.lstrip("=")) and (len(word) >= _LONG_CHARS or is_last):
            strange, prefix = 0, line[:start]
            (found if is_open else before).append((at + start, at + len(bare)))
        else:
            strange += 1
            is_open = is_open and strange <= _STRANGE
            before = before if strange <= _STRANGE else []
        if is_log and _GENERATED.fullmatch(line.strip()) and "pub" not in last:
            found.append(match.span())
        last = line.lower()
    # The lines of a file inside another one, between its two marks.
    for start, end in _inline(text, is_whole=True) if "</" in text else ():
        found += [match.span() for match in _LINE.finditer(text, start, end)]
    return _joined(found)


def within_json(text: str, found: list[Span]) -> list[Span]:
    """Return spans so that a text that is JSON stays so: each within the one of its strings where it begins."""
    if not found or not is_json(text):
        return found
    kept, at = [], 0
    strings = [(match.start() + 1, match.end() - 1) for match in _STRING.finditer(text)]
    for start, end in found:
        while at < len(strings) and strings[at][1] <= start:
            at += 1
        if at < len(strings) and strings[at][0] <= start:
            kept.append((start, min(end, strings[at][1])))
    return kept


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object or list."""
    if text[:1] not in ("{", "["):
        return False
    try:
        jsonl.loads(text.encode("utf-8", "surrogatepass"))
    except (OasisError, ValueError, RecursionError):
        return False
    return True


def _inline(text: str, is_whole: bool = False) -> Iterator[Span]:
    lower = text.lower()
    at = 0
    while match := _INLINE.search(text, at):
        end = lower.find("</%s>" % match.group(1).lower(), match.end())
        at = end if end >= 0 else len(text)
        if at > match.end() and (end >= 0 or not is_whole):
            yield match.end(), at


def _named(text: str) -> Iterator[Span]:
    for match in _OPTION.finditer(text):
        group = 2 if match.group(1) else 4
        if secret_options.is_named(match.group(group - 1)):
            yield from _value(text, *match.span(group))
    for pattern in (_SHOWN, _NAMED):
        at = 0
        while found := pattern.search(text, at):
            at, name = found.end(), found.group(1)
            if pattern is _NAMED:
                # A secret wherever it stands is what ends in such a name: psk, wpa_passphrase, PrivateKey, api-key.
                last = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).replace("-", "_").lower()
                name = last if last not in _WEAK or (last in _PLAIN and last == name.lower()) else ""
            behind = _BEHIND.match(text, at) if secret_options.is_named(name) else None
            if behind is None:
                continue
            at = behind.end()
            if found.group(0).rstrip()[-1] == "=" or behind.group(1)[0] in "'\"\\" or _is_odd(behind.group(1)):
                yield from _value(text, *behind.span(1))


def _value(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield where a value stands, without its quotes, unless it is none."""
    for quote in ('\\"', "'", '"'):
        if text.startswith(quote, start):
            is_closed = text.endswith(quote, start + len(quote), end)
            start, end = start + len(quote), end - len(quote) if is_closed else end
            break
    if _is_value(text[start:end]):
        yield start, end


def _is_value(text: str) -> bool:
    return bool(text) and not _NONE.fullmatch(text) and "«" not in text and "***" not in text


def _is_odd(text: str) -> bool:
    """Tell whether a word has digits among its letters, or signs, as passwords do and words of a sentence do not."""
    bare = text.strip(".,:;!?()[]\"'")
    has_letter, has_digit = any(map(str.isalpha, bare)), any(map(str.isdigit, bare))
    has_sign = any(char in "!#$%&*+=?@^_~" for char in bare)
    return len(bare) >= 6 and ((has_letter and has_digit) or (has_sign and has_letter))


def _joined(found: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def replaced(text: str, found: list[Span], shown: Callable[[str], str]) -> str:
    """Return a text with what stands in some places shown otherwise."""
    pieces, at = [], 0
    for start, end in found:
        pieces += [text[at:start], shown(text[start:end])]
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


# Sentences

# Of phrases.json, read with the first sentence about a password. One text a list: as sets the words are 85 kB for good.
_words: dict[str, str] = {}
_patterns: dict[str, re.Pattern[str]] = {}
# Without one of these a sentence is about no password.
_CALLED_SHORT = ("pass", "wort", "schl", "psk", "key", "secret", "pin", "puk", "pw", "pas", "user", "log",
                 "account", "zugang", "code", "wacht", "parola", "has", "парол", "ifre", "contrase", "clave", "mot de",
                 "senha", "clé", "chiave", "codice", "código", "palavra", "parol", "sleutel",
                 "パス", "キー", "密", "口令", "비밀")  # fmt: skip
_AND = (",", "and ", "und ", "y ", "et ", "e ", "please", "bitte", "por favor")
_QUOTES = "'\"“„«`"

_CLAUSE_CHARS = 120
_WORDS_MOST = 8
_WORDS_LEAST = 3
_LONG_WORD_CHARS = 6
_SHORT_CHARS = 5
_END = late(r"[\n;!?]|[.,]\s")
_IN_CLAUSE = late(r"[^\s\"'`“”„«»,;]+")
_LETTERS = late(r"[^\W\d_]{2,24}(?:'[^\W\d_]{1,3})?")
_CASED = late(
    r"[A-Z]\w*[a-z]\w*[0-9]{2,}|\w*[a-z][A-Z]\w*|[^\W\d_]+[0-9]{2,}[^\W_]*|[^\W\d_]{2,}[0-9][^\W_]{2,}|[A-Z][a-z]{5,}[0-9]"
)
_GIVEN = late(r"(?!radio|wlan|eth|default|openwrt|guest)[a-z]{4,}[0-9]")


def _load() -> None:
    if _patterns:
        return
    lists = jsonl.table(__file__, "phrases.json")
    made = {}
    for name, lines in lists["patterns"].items():
        pattern = "".join(lines)
        for part, text in lists["parts"].items():
            pattern = pattern.replace("{%s}" % part, "".join(text))
        made[name] = late(pattern, re.I)
    for name in lists:
        if isinstance(lists[name], list):
            _words[name] = "\0%s\0" % "\0".join(" ".join(lists[name]).split())
    _patterns.update(made)  # at once, as _rules


def _is_among(word: str, name: str) -> bool:
    return "\0%s\0" % word in _words[name]


def said(text: str) -> list[Span]:
    """Return where passwords stand in a sentence of the owner's; also what spans finds."""
    plain = text.lower()
    found = spans(text)
    if any(word in plain for word in _CALLED_SHORT):
        _load()
        for name, pattern in _patterns.items():
            if name in ("sentence", "cjk"):
                found += [one for match in pattern.finditer(text) for one in _said(match)]
            elif name.startswith("odd"):
                matches = [one for one in pattern.finditer(text) if _is_odd(one.group(1)) or one.group(1)[0] in _QUOTES]
                found += [one for match in matches for one in _said(match)]
        found += [match.span(1) for match in _patterns["pin"].finditer(text)]
        for match in _patterns["named"].finditer(text):
            end = _END.search(text, match.end(), match.end() + _CLAUSE_CHARS)
            clause = match.end(), end.start() if end else min(match.end() + _CLAUSE_CHARS, len(text))
            found += _strange(text, *clause)
            found += _phrase(text, match.start(), *clause)
    return _joined(found)


def _said(match: re.Match[str]) -> list[Span]:
    start, end = match.span(1)
    text = match.group(1)
    if text[0] in _QUOTES:
        return [(start + 1, end - 1)] if _is_value(text[1:-1]) and "secret:" not in text else []
    end -= len(text) - len(text.rstrip(".,;:!?)」』”\"'"))
    word = match.string[start:end]
    rest = match.string[end : end + 80].strip(".;:!?)」』”\"' \t").partition("\n")[0].strip()
    is_last = not rest or rest.startswith(_AND)
    is_meant = _is_odd(word) or (is_last and len(word) >= _SAID_CHARS and not _is_among(word.lower(), "choices"))
    return [(start, end)] if is_meant and _is_value(word) and "secret:" not in word else []


def _strange(text: str, start: int, end: int) -> list[Span]:
    """Return where the last word of a clause stands that no language has, unless it is named as something else."""
    before, last = "", []
    for match in _IN_CLAUSE.finditer(text, start, end):
        word = match.group(0).strip(".,:;!?()[]„“”")
        is_odd = any(map(str.isalpha, word)) and any(char.isdigit() or char in "!#$%&*+=?@^~" for char in word)
        if not _is_among(before, "of") and len(word) >= _LONG_WORD_CHARS and is_odd and "secret:" not in word:
            is_given = _is_among(before, "given") and _GIVEN.fullmatch(word)
            if _CASED.fullmatch(word) or not _patterns["known"].fullmatch(word) or is_given:
                begin = match.start() + match.group(0).index(word)
                last = [(begin, begin + len(word))]
        before = match.group(0).casefold()
    return last


def _phrase(text: str, name: int, start: int, end: int) -> list[Span]:
    """Return where three or more plain words stand that are no words of a sentence; one of them behind a colon."""
    sign = _patterns["is"].search(text, start, end)
    while sign:
        place = _patterns["is"].match(text, sign.end(), end)
        if place is None:
            break
        sign = place
    begins = [sign.end()] if sign else []
    if _patterns["verb"].search(text[max(0, name - 40) : name]):
        begins.append(start)
    for begin in begins:
        words, is_closed = _plain(text, begin, end)
        is_sure = sign is not None and begin == sign.end() and sign.group(0)[-1] in ":=>→"
        least = 1 if is_sure or begin == start else _WORDS_LEAST
        if not is_closed or len(words) < least:
            continue
        is_alone = (
            not _is_among(text[slice(*words[0])].casefold(), "states")
            and not text[words[-1][1] : end].strip(" .")
            and words[-1][1] - words[0][0] >= _SHORT_CHARS
        )
        if len(words) > 2 or is_alone:
            return [(words[0][0], words[-1][1])]
    return []


def _plain(text: str, start: int, end: int) -> tuple[list[Span], bool]:
    """Return where plain words stand, and whether what ends them lets them be a passphrase."""
    words: list[Span] = []
    for match in _IN_CLAUSE.finditer(text, start, end):
        word = match.group(0).rstrip(".")
        low = word.casefold()
        if _is_among(low, "ends"):
            return words, bool(words)
        if not _LETTERS.fullmatch(word) or _is_among(low, "spoken") or len(words) == _WORDS_MOST:
            return words, False
        words.append((match.start(), match.start() + len(word)))
    return words, text[end : end + 1] != "?"


def given(text: str) -> set[str]:
    """Return what the owner gave as a password in messages of their own, one below the other.

    What else they named is none: a network, an address, the password that leaked. A word for what is over, or for
    leaving the choice to somebody, counts for all that stands before it too: it may be said in the next message.
    """
    _load()
    found = said(text)
    for match in _patterns["beside"].finditer(text):
        found.append((match.start(1) + 1, match.end(1) - 1))
    is_asked, at = False, 0
    for line in text.split("\n"):
        bare = line.strip()
        if is_asked and bare:
            start = at + line.index(bare)
            found.append((start, start + len(bare)))
            if bare[0] in _QUOTES:
                found.append((start + 1, start + len(bare) - 1))
        is_asked = bool(_patterns["names"].search(line)) if bare else is_asked
        at += len(line) + 1
    last = max([match.end() for match in _patterns["over"].finditer(text)], default=0)
    behind = text.find("\n", last)  # the whole message counts
    over = 0 if not last else behind if behind >= 0 else len(text)
    return {text[start:end] for start, end in found if start >= over}


# Commands that were only proposed

# What stands before a value: a quote when the whole argument is in quotes, and the path. It is looked for at the
# beginning of a word only: elsewhere, a word of 70,000 letters would be read as often as it has letters.
_PATH = late(r"(['\"]?)(?<![\w-])([\w-]+)\.[^\s.='\"]+\.(\w+)=")
# A value as a shell reads one word: quoted, escaped or plain pieces; without an end of a quote, all that is left.
_SHELL_WORD = late(r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|[^\s;'"\\])*""", re.S)


def typed_values(given: object) -> list[str]:
    """Return the secrets that are set in the texts of a JSON value, long enough to be looked for elsewhere."""
    texts: list[str] = []
    walk(given, texts.append)  # type: ignore[arg-type]  # nothing is changed: what this returns is dropped
    values = [value for text in texts for _, _, value, *_ in places(text)]
    return list(dict.fromkeys(value for value in values if len(value) >= SECRET_CHARS))


def hide_typed(given: T) -> T:
    """Return a JSON value in whose texts the secrets that are set there are masked, wherever they stand again."""
    return walk(given, masker(typed_values(given), is_set_there=True))


def masker(values: list[str], is_set_there: bool = False) -> Callable[[str], str]:
    """Return what masks values in all their forms, in one pass over a text, however many they are.

    With `is_set_there` also what a text itself sets.
    """
    forms = {form for value in values for form in written_forms(value)}
    # What each begins with leads to the lengths to try, the longest first; a form may be shorter than that.
    head = min([len(form) for form in forms] + [SECRET_CHARS])
    lengths: dict[str, list[int]] = {}
    for length in sorted({len(form) for form in forms}, reverse=True):
        for begin in {form[:head] for form in forms if len(form) == length}:
            lengths.setdefault(begin, []).append(length)

    def hide(text: str) -> str:
        if is_set_there:
            text = replaced(text, [(start, end) for start, end, *_ in places(text)], lambda value: MASK)
        found: list[Span] = []
        for at in range(len(text) - head + 1) if forms else ():
            length = next((one for one in lengths.get(text[at : at + head], ()) if text[at : at + one] in forms), 0)
            if found and at < found[-1][1]:  # those that overlap go behind one mask
                found[-1] = found[-1][0], max(found[-1][1], at + length)
            elif length:
                found.append((at, at + length))
        return replaced(text, found, lambda value: MASK)

    return hide


def places(text: str) -> list[tuple[int, int, str, str, str]]:
    """Return where the values of secret options begin and end, each without its quotes, with package and option."""
    found: list[tuple[int, int, str, str, str]] = []
    at = 0
    while match := _PATH.search(text, at):
        quote, package, option = match.groups()
        word = _SHELL_WORD.match(text, match.end())
        end = text.find(quote, match.end()) if quote or word is None else word.end()
        at = end if end >= 0 else len(text)
        value = text[match.end() : at]
        try:
            plain = commands(value)[0][0]
        except (UsageError, IndexError):
            plain = re.sub(r"['\"\\]", "", value)
        if value and not secret_options.is_word(plain) and secret_options.may_hold(package, option):
            found.append((match.end(), at, value if quote else plain, package, option))
    return found
