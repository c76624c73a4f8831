"""Secrets by their form: what looks like a key, a token, a session or a hash, whoever holds it.

    spans(text)    where secrets stand in a text of any kind: a log, a configuration, a page, a program's arguments
    said(text)     where a password stands in a sentence of the owner's own, as "set the wifi password to …"

Each rule has words without which it is not tried, and every pattern begins with something that is there to be found,
goes forward only, and is bounded: a text is read a constant number of times, however it is made. What is no secret is
left alone: paths, switches, masks and placeholders, public keys and certificates. Knows nothing of what the router
holds, and no chat. Source of the forms: RFC 7468 (PEM), RFC 7617 and 6750 (Authorization), wg(8), crypt(5),
htpasswd(1), OpenVPN's inline files, the documentations of the services named below.
"""

from __future__ import annotations

import os
import re

from oasis.core import jsonl
from oasis.errors import OasisError
from oasis.redaction import passphrases, secret_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int]

# A secret is no longer than this, except what stands between the marks of a file.
_MOST = 4096
# Words of a sentence; a password has eight, or a digit or sign in it.
_SAID_CHARS = 8
_QUOTED = r"""'[^'\n]{1,4096}'|"(?:\\.|[^"\\\n]){1,4096}"|\\"(?:\\\\.|[^"\\\n]){1,4096}\\\""""
_BARE = r"""[^\s"'`,;&<>(){}\[\]\\|]{1,4096}"""
_VALUE = "(%s|%s)" % (_QUOTED, _BARE)
# What a value may be that is no secret: a switch, a number of one digit, a path, a mask, a word for none.
_NONE = re.compile(
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

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms.json")
_rules: list[tuple[tuple[str, ...], re.Pattern[str]]] = []

_PEM = re.compile(
    r"-----BEGIN (?!CERTIFICATE|PUBLIC|RSA PUBLIC|X509|DH PARAM|EC PARAM|SSH2 PUBLIC)[A-Za-z0-9 ]{1,40}-----"
)
_PEM_BODY = re.compile(
    r"(?:(?:\s|\\[nrt]|#)+(?:[A-Za-z-]{3,16}: [^\n\\]{1,120}|[A-Za-z0-9+/=]{1,100})(?=[\s\\]|$|-----))*"
)
# The first or last line of a block, whatever stands before it: the mark of a quote, a program's name, a time.
_EDGE = re.compile(r"-----(?:BEGIN|(END)) ([A-Za-z0-9 ]{1,40})-----|Private-(?:Lines|(MAC)): ")
_OPEN = ("CERTIFICATE", "PUBLIC", "RSA PUBLIC", "X509", "DH PARAM", "EC PARAM", "SSH2 PUBLIC", "PGP PUBLIC",
         "PGP SIGN", "PGP MESS", "NEW CERTIFICATE", "TRUSTED CERT", "PKCS7", "CMS")  # fmt: skip
_LINE = re.compile(r"(?:[^\n\\]|\\(?![nr]))+")
_LAST = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_LONG = re.compile(r"[A-Za-z0-9+/=]{20,}")
_LONG_CHARS = 20
_STRANGE = 8  # lines of other programs between those of a block
_GENERATED = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")  # as wg genkey prints it
_INLINE = re.compile(r"<(key|tls-auth|tls-crypt|tls-crypt-v2|secret|pkcs12|auth-user-pass|extra-certs-key)>", re.I)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # letters and signs as wide as Chinese ones
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
# name=value, name: "value"; the name and the sign, then what stands behind one that is a secret's
_NAMED = re.compile(
    r"""(?<![\w.«-])([A-Za-z_][\w.-]{1,80})(?![\w.-])(?:\[[0-9]{1,4}\])?\\?["']?(\s{0,4}=\s{0,4}|\s{0,4}:\s{0,4})"""
)
_BEHIND = re.compile(_VALUE)
# UCI as in a file, and as `uci show` has it
_OPTION = re.compile(
    r"""(?:\b|^)(?:option|list)[ \t]{1,8}["']?(\w{1,80})["']?[ \t]{1,8}('[^'\n]{1,4096}'?|"[^"\n]{1,4096}"?)"""
    r"""|^[ \t]{0,8}(?:option|list)[ \t]{1,8}(\w{1,80})[ \t]{1,8}([^\s'"]{1,4096})""",
    re.M,
)
_SHOWN = re.compile(r"""(?<![\w-])[\w-]{1,64}\.[^\s.='"]{1,64}\.(\w{1,80})=""")


def spans(text: str) -> list[Span]:
    """Return where secrets stand in a text, in order, without overlaps."""
    if not text.isascii():
        text = text.translate(_WIDE)  # one character for one: the places stay
    plain = text.casefold() if text.isascii() else text.lower()
    found: list[Span] = []
    for words, pattern in _compiled():
        if any(word in plain for word in words):
            found += (match.span(1) for match in pattern.finditer(text) if _is_value(match.group(1)))
    if "-----begin " in plain:
        found += _armoured(text)
    if "-----" in text or "Private-" in text:
        found += blocks(text)
    if "<" in plain and ">" in plain:
        found += _inline(text)
    if "=" in plain or ":" in plain or "option" in plain or "list" in plain:
        found += _named(text)
    return _joined(found)


def _compiled() -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    if not _rules:
        with open(_FILE, "rb") as file:
            forms = jsonl.shipped(file.read())["forms"]
        made = []
        for words, pattern in forms:
            for name, part in (("{value}", _VALUE), ("{quoted}", _QUOTED), ("{bare}", _BARE)):
                pattern = pattern.replace(name, part)
            made.append((tuple(words), re.compile(pattern, re.I | re.M)))
        _rules[:] = made  # at once: another thread that looks meanwhile must not judge by half of them
    return _rules


def _armoured(text: str) -> Iterator[Span]:
    for match in _PEM.finditer(text):
        body = _PEM_BODY.match(text, match.end())
        if body and body.end() > match.end():
            yield match.end(), body.end()


def blocks(text: str, is_log: bool = False) -> list[Span]:
    """Return where the lines of private keys stand, behind the mark of a beginning or before that of an end.

    `is_log`: these are lines that programs wrote; a key that is all of a line is one that was made there.
    """
    found: list[Span] = []
    before: list[Span] = []  # what is a key when an end follows
    is_open, strange, prefix, last = False, 0, "", ""
    for match in _LINE.finditer(text):
        line = match.group(0)
        if edges := list(_EDGE.finditer(line)):
            if (edges[0].group(1) or edges[0].group(3)) and _is_private(edges[0]):
                found += [] if is_open else before
                found += [_moved(word.span(), match.start()) for word in _LONG.finditer(line, 0, edges[0].start())]
            is_open = not (edges[-1].group(1) or edges[-1].group(3)) and _is_private(edges[-1])
            before, strange, prefix = [], 0, line[: edges[-1].start()]
            continue
        start, end = _body(line, prefix)
        if start < end:
            strange, prefix = 0, line[:start]
            (found if is_open else before).append(_moved((start, end), match.start()))
        else:
            strange += 1
            is_open = is_open and strange <= _STRANGE
            before = before if strange <= _STRANGE else []
        if is_log and _GENERATED.fullmatch(line.strip()) and "pub" not in last:
            found.append(match.span())
        last = line.lower()
    return _joined(found + list(_closed(text)))


def _closed(text: str) -> Iterator[Span]:
    """Yield the lines of a file inside another one, between its two marks."""
    if "</" not in text:
        return
    for start, end in _inline(text, is_whole=True):
        for match in _LINE.finditer(text, start, end):
            yield match.span()


def _is_private(edge: re.Match[str]) -> bool:
    return not (edge.group(2) or "").startswith(_OPEN)


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _body(line: str, prefix: str) -> Span:
    """Return where a line of a block stands in a line: its last word, a short one where others have stood."""
    bare = line.rstrip(" \t\r\"',…")
    start = max(bare.rfind(" "), bare.rfind("\t"), bare.rfind(">"), bare.rfind('"')) + 1
    word = bare[start:]
    is_last = word.endswith("=") or not line[:start].strip("> \t\"'") or line[:start] == prefix
    is_body = _LAST.fullmatch(word.lstrip("=")) and (len(word) >= _LONG_CHARS or is_last)
    return (start, len(bare)) if is_body else (0, 0)


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
    for pattern, judge in ((_SHOWN, secret_options.is_named), (_NAMED, is_name)):
        at = 0
        while name := pattern.search(text, at):
            at = name.end()
            behind = _BEHIND.match(text, at) if judge(name.group(1)) else None
            if behind is None:
                continue
            at = behind.end()
            if name.group(0).rstrip()[-1] == "=" or behind.group(1)[0] in "'\"\\" or _is_odd(behind.group(1)):
                yield from _value(text, *behind.span(1))


def is_name(name: str) -> bool:
    """Tell whether what is called so is a secret wherever it stands: psk, wpa_passphrase, PrivateKey, api-key."""
    last = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).replace("-", "_").lower()
    return secret_options.is_named(last) and (last not in _WEAK or (last in _PLAIN and last == name.lower()))


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

# What the owner calls a secret, and what stands between that and the secret itself.
_CALLED = (
    r"(?:wi-?fi|wlan)?[ -]?(?:pass? ?words?|pass ?phrases?|passcode|pass ?key|psk|pre-?shared key|private key|secret|"
    r"(?:network|security|wpa2?|wifi|wi-fi|wlan)[ -]key|(?:wlan-?|wifi-?)?(?:passwort|kennwort|schlüssel|passphrase)|"
    r"zugangscode|contraseña|clave|mot de passe|senha|wachtwoord|parola|hasło(?: do wi-?fi)?|"
    r"пароль(?: от wi-?fi)?|şifresi|pincode|pin)"
)
_OF = (
    r"(?:\s{1,3}(?:of|for|on|für|von|vom|del?|du|do|da|della|van|voor|"
    r"pour|per|para|the|das|la|el|my|our|to)\b[^\n.:=!?\"'“„«]{0,60}?)?"
)
_TO = (
    r"(?:should|shall|must|will|soll|muss|wird|debe|sea)?\s{0,3}(?:be|is|to be|to|as|=|:|->|→|auf|zu|ist|lautet|sein|"
    r"in|a|à|por|es|est|è|é|op|is nu|naar|su|será|con|with|mit|called)"
)
_WORD = (
    r"""('[^'\n]{1,128}'|"[^"\n]{1,128}"|“[^”\n]{1,128}”|„[^“”\n]{1,128}[“”]|«[^»\n]{1,128}»|`[^`\n]{1,128}`|"""
    r"""[^\s"'`“„«]{4,128})"""
)
_SENTENCE = re.compile(
    r"\b%s%s\s{0,3}(?<![A-Za-z])%s\s{1,4}(?:be |sein )?%s" % (_CALLED, _OF, _TO, _WORD), re.I
)  # fmt: skip
_CJK = re.compile(
    r"(?:パスワード|暗号化?キー|パスフレーズ|密码|密碼|口令|密钥|비밀번호)[^\x21-\x7e\n]{0,16}?[\s「『“\"'`]{0,3}([\x21-\x7e]{4,128})"
)
_AT_ONCE = re.compile(r"\b%s:?[ \t]{1,4}([!-~]{6,128})" % _CALLED, re.I)  # "wifi password hunter2hunter2"
# These alone say less, so that what they hold must look like a password, or stand in quotes.
_ODD = (
    r"\b(?:use|make|take|set|nimm|nehme?|verwende|benutze|usa|utilise|mets|gebruik|imposta)\s{1,3}%s\s{1,3}"
    r"(?:as|als|como|comme|come|the new|to be)\s[^\n.]{0,40}?(?:%s|key)\b" % (_WORD, _CALLED),
    r"\b%s\.\s{1,3}(?:it is|it's|es ist|es lautet|es|c'est|è|é|het is)\s{1,3}%s" % (_CALLED, _WORD),
    r"\b%s%s\s{1,3}(?:from|von|de|da|van)\s{1,3}%s\s{1,3}(?:to|auf|zu|in|a|à|para|naar)\s" % (_CALLED, _OF, _WORD),
    r"\b%s%s\s{1,3}(?:from|von|de|da|van)\s{1,3}[^\s]{4,128}\s{1,3}(?:to|auf|zu|in|a|à|para|naar)\s{1,3}%s"
    % (_CALLED, _OF, _WORD),
    r"\b(?:pwd?|pass|passwd)[ \t]{0,2}(?:[:=]|is|ist|es)?[ \t]{1,4}%s" % _WORD,
    r"\b(?:log ?in|login|user(?:name)?|credentials|account|anmelden|zugang)\b[^\n/]{0,40}?"
    r"\b[\w.@-]{2,64}\s/\s%s" % _WORD,
)
_PIN = (
    r"\b(?:(?:pin|puk)(?:[ -]?(?:code|nummer))?|(?:sim|unlock|modem)[ -]?code|code(?=[^\n.]{1,16}\b(?:sim|modem)))"
    r"%s\s{0,3}(?:is|ist|to|=|:|es|est|è|é|auf|lautet)?\s{1,3}([0-9]{4,8})\b" % _OF
)
_odd: list[re.Pattern[str]] = []  # compiled with the first sentence
_CALLED_SHORT = ("pass", "wort", "schl", "psk", "key", "secret", "pin", "puk", "pw", "pas", "user", "log",
                 "account", "zugang", "code", "wacht", "parola", "has", "парол", "ifre", "contrase", "clave", "mot de",
                 "senha", "clé", "chiave", "codice", "código", "palavra", "parol", "sleutel",
                 "パス", "キー", "密", "口令", "비밀")  # fmt: skip
_AND = (",", "and ", "und ", "y ", "et ", "e ", "please", "bitte", "por favor")
_BESIDE = re.compile(r"\b%s\s{0,2}:?\s{0,3}('[^'\n]{1,128}'|\"[^\"\n]{1,128}\"|“[^”\n]{1,128}”)" % _CALLED, re.I)
_NAMES = re.compile(r"\b%s\b|パスワード|暗号化?キー|パスフレーズ|密码|密碼|口令|密钥|비밀번호" % _CALLED, re.I)
# What says that a password is over, or that somebody else is to choose one.
_OVER = re.compile(
    r"\b(?:old|former|previous|current|existing|leaked|stolen|compromised|hacked|no longer|not|never|don't|instead of|"
    r"choose|chosen|pick|invent|make up|think of|come up|suggest|generate|random|alte[nrs]?|bisherige[nrs]?|nicht|"
    r"geleakt|gestohlen|bekannt geworden|wähle?|such|erfinde?|ausdenken|denk|vieja|antigua|anterior|elige|ancien|"
    r"choisis|antiga|escolha)\b|古い|以前|漏|選|决|旧|泄|选|이전|유출",
    re.I,
)
# What ends such a sentence and is no password.
_WORDS = frozenset(
    (
        "something", "anything", "whatever", "random", "another", "different", "default", "required", "itself",
        "nothing", "everything", "password", "passphrase", "generated", "stronger", "complicated", "possible",
        "yourself", "someone", "changed", "disabled", "enabled", "protected", "encrypted", "wireless", "internet",
        "network", "settings", "zufällig", "zufälliges", "irgendwas", "irgendetwas", "sicheres", "sicherer", "anderes",
        "aleatoria", "aleatorio", "cualquiera", "segura",
    )
)  # fmt: skip


def said(text: str) -> list[Span]:
    """Return where passwords stand in a sentence of the owner's; also what spans finds."""
    plain = text.lower()
    found = spans(text)
    if any(word in plain for word in _CALLED_SHORT):
        for pattern in (_SENTENCE, _CJK):
            for match in pattern.finditer(text):
                found += _said(match)
        if not _odd:
            _odd[:] = [re.compile(pattern, re.I) for pattern in (*_ODD, _PIN)]  # at once, as _rules
        for pattern in (_AT_ONCE, *_odd[:-1]):
            found += [one for match in pattern.finditer(text) if _is_meant(match.group(1)) for one in _said(match)]
        found += [match.span(1) for match in _odd[-1].finditer(text)]
        found += passphrases.found(text)
    return _joined(found)


def _is_meant(word: str) -> bool:
    return _is_odd(word) or word[0] in "'\"“„«`"


def given(text: str) -> set[str]:
    """Return what the owner gave as a password in messages of their own, one below the other.

    What else they named is none: a network, an address, the password that leaked. A word for what is over, or for
    leaving the choice to somebody, counts for all that stands before it too: it may be said in the next message.
    """
    found = said(text)
    for match in _BESIDE.finditer(text):
        found.append((match.start(1) + 1, match.end(1) - 1))
    is_asked, at = False, 0
    for line in text.split("\n"):
        bare = line.strip()
        if is_asked and bare:
            start = at + line.index(bare)
            found.append((start, start + len(bare)))
            if bare[0] in "'\"“„«`":
                found.append((start + 1, start + len(bare) - 1))
        is_asked = bool(_NAMES.search(line)) if bare else is_asked
        at += len(line) + 1
    last = max([match.end() for match in _OVER.finditer(text)], default=0)
    behind = text.find("\n", last)  # the whole message counts
    over = 0 if not last else behind if behind >= 0 else len(text)
    return {text[start:end] for start, end in found if start >= over}


def _said(match: re.Match[str]) -> list[Span]:
    start, end = match.span(1)
    text = match.group(1)
    if text[0] in "'\"“„«`":
        return [(start + 1, end - 1)] if _is_value(text[1:-1]) and "secret:" not in text else []
    end -= len(text) - len(text.rstrip(".,;:!?)」』”\"'"))
    word = match.string[start:end]
    rest = match.string[end : end + 80].strip(".;:!?)」』”\"' \t").partition("\n")[0].strip()
    is_last = not rest or rest.startswith(_AND)
    is_meant = _is_odd(word) or (is_last and len(word) >= _SAID_CHARS and word.lower() not in _WORDS)
    return [(start, end)] if is_meant and _is_value(word) and "secret:" not in word else []
