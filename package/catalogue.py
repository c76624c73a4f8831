"""Translations as LuCI reads them: the text of a .po file in, the bytes of an .lmo file out. Opens nothing.

Source: luci-base's po2lmo and lmo.c. An .lmo is the translations one after the other, each filled up to four bytes,
then an index (key, plural forms, offset, length; 32 bits each, most significant byte first, ordered by key), then the
offset of the index. A key is a hash of the message, with its context before and the number of the plural form behind
it. The rule for plural forms stands under key 0. What is translated to itself or not at all is left out; fuzzy entries
are not, because po2lmo takes them too.
"""

from __future__ import annotations

import re
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Message = dict[str, str]
    Catalogue = dict[str, str]

_CONTEXT, _FORM = b"\x01", b"\x02"
_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d)\])?) (?=")')
# po2lmo reads lines into a buffer of 4096 bytes, and cuts longer ones in two without a word.
LINE_BYTES = 4000
_MASK = 0xFFFFFFFF
_FOLDER = "/usr/lib/lua/luci/i18n/"


def sfh(data: bytes) -> int:
    """Return the hash of LuCI's keys: Paul Hsieh's SuperFastHash, seeded with the length, signed last bytes."""
    value = len(data)
    whole = len(data) - len(data) % 4
    for place in range(0, whole, 4):
        low, high = struct.unpack_from("<HH", data, place)
        value = (value + low) & _MASK
        value = ((value << 16) ^ (high << 11) ^ value) & _MASK
        value = (value + (value >> 11)) & _MASK
    value = _last(value, data[whole:])
    for left, right in ((3, 5), (4, 17), (25, 6)):
        value = (value ^ (value << left)) & _MASK
        value = (value + (value >> right)) & _MASK
    return value


def _last(value: int, rest: bytes) -> int:
    """Mix in what is left behind the last four bytes."""
    if not rest:
        return value
    signed = rest[-1] - 256 if rest[-1] > 127 else rest[-1]
    if len(rest) == 1:
        value = (value + signed) & _MASK
        value = (value ^ (value << 10)) & _MASK
        return (value + (value >> 1)) & _MASK
    value = (value + int.from_bytes(rest[:2], "little")) & _MASK
    if len(rest) == 2:
        value = (value ^ (value << 11)) & _MASK
        return (value + (value >> 17)) & _MASK
    value = (value ^ (value << 16) ^ (signed << 18)) & _MASK
    return (value + (value >> 11)) & _MASK


def messages(text: str) -> Iterator[Message]:
    """Yield the entries of a .po file; keys are msgctxt, msgid, msgid_plural, msgstr, msgstr[0] …

    Quotes and backslashes are freed of their backslash; every other escape stays as it is written, as LuCI has it in
    its keys.
    """
    message: Message = {}
    field = ""
    for line in text.split("\n"):
        if len(line.encode()) > LINE_BYTES:
            raise ValueError(f"a line of {len(line.encode())} bytes: break it")
        if line.startswith("#"):
            continue
        keyword = _KEYWORD.match(line)
        if keyword:
            field = keyword[1]
            if field == "msgctxt" or (field == "msgid" and set(message) - {"msgctxt"}):
                yield message
                message = {}
            message[field] = ""
        quoted = re.search(r'"((?:[^"\\]|\\.)*)"', line)
        if quoted and field:
            message[field] += re.sub(r'\\(["\\])', r"\1", quoted[1])
    yield message


def pairs(message: Message) -> Iterator[tuple[bytes, str]]:
    """Yield (what the key is the hash of, translation) of an entry."""
    context = message["msgctxt"].encode() + _CONTEXT if message.get("msgctxt") else b""
    name = context + message["msgid"].encode()
    if not message.get("msgid_plural"):
        yield name, message.get("msgstr") or message.get("msgstr[0]", "")
        return
    if message.get("msgstr[0]"):
        for form in range(10):
            yield name + _FORM + b"%d" % form, message.get(f"msgstr[{form}]", "")


def plural_rule(header: str) -> str:
    """Return the rule of a .po file's header, "" when it has none."""
    for line in header.split("\\n")[:-1]:
        if line.lower().startswith("plural-forms: "):
            return line[len("plural-forms: ") :]
    return ""


def lmo(text: str) -> bytes:
    """Return the .lmo file of a .po file, b"" when nothing is translated.

    Raises: ValueError for a line that is too long and for two messages with one key.
    """
    body, index = b"", {}
    for message in messages(text):
        if not message.get("msgid"):
            found = [(0, 0, plural_rule(message.get("msgstr", "")))]
        else:
            forms = max([int(field[7]) for field in message if field.startswith("msgstr[")], default=0) + 1
            found = [(sfh(key), forms, value) for key, value in pairs(message) if sfh(key) != sfh(value.encode())]
        for key_id, forms, value in found:
            if not value:
                continue
            if key_id in index:
                raise ValueError(f"two messages have the key of {message.get('msgid', '')!r}")
            data = value.encode()
            index[key_id] = (key_id, forms, len(body), len(data))
            body += data + b"\0" * (-len(data) % 4)
    table = b"".join(struct.pack(">4I", *index[key_id]) for key_id in sorted(index))
    return body + table + struct.pack(">I", len(body)) if body else b""


def files(wanted: Catalogue, text: str) -> dict[str, tuple[bytes, int]]:
    """Return the files of a translation package: the catalogue, and what makes LuCI offer the language."""
    language = wanted["language"]
    defaults = f"uci set luci.languages.{language}='{wanted['name']}'; uci commit luci\n"
    return {
        _FOLDER + wanted["lmo"]: (lmo(text), 0o644),
        "/etc/uci-defaults/luci-i18n-oasis-" + language: (defaults.encode(), 0o644),
    }
