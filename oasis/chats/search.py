"""Search over all chats: words and "phrases in quotes", in any case, all of them in one message.

The bytes are searched first, in blocks; only lines that may hold every word are parsed, so that ten megabytes take the
time of reading them. JSON writes some characters in other ways, and some letters fold to others: bytes that could hold
such are parsed as well, nothing is missed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from oasis.chats.archive import whole_lines
from oasis.core import chat_line
from oasis.core.schema import blocks
from oasis.errors import StoreError, UsageError

if False:  # annotations only
    from oasis.chats.shapes import Result, Results, Term
    from oasis.core.shapes import Message

WORDS_CHARS = 256
RESULTS = 50
RESULTS_MAX = 200
# A search is a call that somebody waits for; chats on a disk may be more than that.
SEARCH_BYTES = 64 * 1024 * 1024
SNIPPET_CHARS = 160
_BEFORE_CHARS = 40
# Letters that fold to plain ones (ß ſ K ﬁ ŉ ǰ ẖ İ and their kin), and characters that are written as numbers.
_STRANGE = (b"\xc3\x9f", b"\xc5\xbf", b"\xe2\x84\xaa", b"\xef\xac", b"\xc5\x89", b"\xc7\xb0", b"\xe1\xba", b"\xc4\xb0")
_NUMBER = b"\\u"
# What JSON may write in another way than it is.
_ESCAPED = '"\\/'


def terms(text: str) -> list[Term]:
    """Return what is looked for.

    Raises: UsageError when there is nothing, or too much, to look for.
    """
    if len(text) > WORDS_CHARS:
        raise UsageError("a search of more than %d characters" % WORDS_CHARS, "a few words are enough")
    pieces = text.split('"')
    found = [word for piece in pieces[::2] for word in piece.split()]
    found += [" ".join(piece.split()) for piece in pieces[1::2] if piece.strip()]
    if not found:
        raise UsageError("there is no word to search for", 'words, or a "phrase in quotes"')
    wanted: list[Term] = []
    for word in map(str.casefold, found):
        # The longest piece of a word that stands in the bytes as it is, or in capitals.
        plain = "".join([char if " " < char < "\x7f" and char not in _ESCAPED else "\n" for char in word])
        wanted.append((word, max(plain.split("\n"), key=len).encode()))
    return wanted


def search(
    chats: Iterable[tuple[str, Iterator[bytes]]], wanted: list[Term], limit: int, hide: Callable[[str], str]
) -> Results:
    """Search chats, (id, blocks of lines); `hide(text)` gives a text without secrets, before anything is looked for."""
    found: list[Result] = []
    reports: list[str] = []
    room = SEARCH_BYTES
    for name, blocks_of_lines in chats:
        try:
            for block in blocks_of_lines:
                room -= len(block)
                for message in _messages(block, lambda raw: _may_hold(raw, wanted)):
                    snippet = _snippet(message, wanted, hide)
                    if not snippet:
                        continue
                    if len(found) == limit:
                        return {"results": found, "more": True, "reports": reports}
                    found.append({"chat": name, "message": message["id"], "role": message["role"], "snippet": snippet})
                if room < 0:
                    return {"results": found, "more": True, "reports": reports}
        except StoreError as error:
            reports.append(error.message)
    return {"results": found, "more": False, "reports": reports}


def _messages(block: bytes, may_hold: Callable[[bytes], bool]) -> Iterator[Message]:
    """Yield the messages of those lines that `may_hold`; the block is asked first."""
    for line in block.split(b"\n")[:-1] if may_hold(block) else []:
        message = chat_line.message(0, line, []) if may_hold(line) else None
        if message is not None:
            yield message


def _may_hold(raw: bytes, wanted: list[Term]) -> bool:
    low = raw.lower()
    for _, needle in wanted:
        if needle not in low:
            return _NUMBER in raw or not (raw.isascii() or all(mark not in raw for mark in _STRANGE))
    return True


def _snippet(message: Message, wanted: list[Term], hide: Callable[[str], str]) -> str:
    """Return the words around the first find, "" when the message does not hold all words."""
    texts = []
    for block in blocks(message):
        for item in block["content"] if block["type"] == "tool_result" else [block]:
            if item["type"] == "text":
                texts.append(item["text"])
            elif "name" in item and item["type"] in ("document", "image"):
                texts.append(item["name"])
    text = " ".join(hide("\n".join(texts)).split())
    folded = text.casefold()
    places = [folded.find(term) for term, _ in wanted]
    if min(places) < 0:
        return ""
    place = min(places)
    if len(folded) != len(text):  # some letters fold to two
        starts = itertools.accumulate((len(char.casefold()) for char in text), initial=0)
        place = sum(1 for start in starts if start < place)
    return around(text, place)


def around(text: str, place: int) -> str:
    """Return the words around a place of a text."""
    at = max(place - _BEFORE_CHARS, 0)
    return ("…" if at else "") + text[at : at + SNIPPET_CHARS] + ("…" if at + SNIPPET_CHARS < len(text) else "")


def has_message(pieces: Iterator[bytes], name: str) -> bool:
    """Return whether the bytes of a chat hold a message of this id."""
    mark = name.encode()
    found = (one for block in whole_lines(pieces) for one in _messages(block, lambda raw: mark in raw.lower()))
    return any(one["id"] == name for one in found)
