"""Cuts a text into chunks: at paragraphs, where one is too long at sentences, then at words. Pure.

Lengths are characters. A chunk begins with the end of the one before it, where that fits, so that what stands across a
border is found. Nothing of the text is lost or changed but the space between chunks; paragraphs stay paragraphs.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Piece = tuple[str, str]  # what stands between it and the piece before, and its text

# What models of embeddings read of a text is 256 tokens and more. tests/bench has what other lengths find.
CHARS = 1000
OVERLAP_CHARS = 100

_PARAGRAPH = re.compile(r"(\n[ \t]*\n[ \t\n]*)")
# Behind these a sentence may be over; where scripts have no spaces, it is.
_STOP = re.compile(r"[.!?…]+[\"'”’»)\]]*(\s+)|[。！？｡]+[」』”’）)]*(\s*)")
_SPACE = re.compile(r"(\s+)")


def chunks(text: str, most: int = CHARS, overlap: int = OVERLAP_CHARS) -> list[str]:
    """Return a text in chunks of at most `most` characters; none for a text without words."""
    text = text.strip()
    if len(text) <= most:
        return [text] if text else []
    found: list[str] = []
    here = ""
    for between, piece in _pieces(text, most):
        if not here:
            here = piece
        elif len(here) + len(between) + len(piece) <= most:
            here += between + piece
        else:
            found.append(here)
            tail = _tail(here, overlap)
            joined = tail + between + piece
            here = joined if tail and len(joined) <= most else piece
    return [*found, here]


def _pieces(text: str, most: int) -> Iterator[Piece]:
    """Yield paragraphs, and what the longer ones are made of, none longer than `most`."""
    parts = _PARAGRAPH.split(text)
    for at in range(0, len(parts), 2):
        before = "\n\n" if at else ""
        for between, piece in _of_paragraph(parts[at], most):
            yield before or between, piece
            before = ""


def _of_paragraph(text: str, most: int) -> Iterator[Piece]:
    if len(text) <= most:
        yield "", text
        return
    for before, sentence in _sentences(text):
        if len(sentence) <= most:
            yield before, sentence
            continue
        for between, word in _words(sentence):
            for at in range(0, len(word), most):
                yield before or ("" if at else between), word[at : at + most]
                before = ""


def _sentences(text: str) -> Iterator[Piece]:
    begins, between = 0, ""
    for stop in _STOP.finditer(text):
        space = stop.group(1) if stop.group(1) is not None else stop.group(2)
        if stop.end() < len(text) and _is_over(space, text[stop.end()], stop.group(2) is not None):
            yield between, text[begins : stop.end() - len(space)]
            begins, between = stop.end(), space
    yield between, text[begins:]


def _is_over(space: str, following: str, is_full: bool) -> bool:
    """Return whether a sentence ends before a character: one in small letters goes on, as behind `e.g.`."""
    return is_full or "\n" in space or not (following.islower() or following.isdigit())


def _words(text: str) -> Iterator[Piece]:
    parts = _SPACE.split(text)
    for at in range(0, len(parts), 2):
        if parts[at]:
            yield parts[at - 1] if at else "", parts[at]


def _tail(text: str, overlap: int) -> str:
    """Return the end of a chunk, from a space on; all of it where there is none."""
    if overlap <= 0:
        return ""
    tail = text[-overlap:]
    space = _SPACE.search(tail)
    return tail[space.end() :] if space else tail
