"""What a file is, and its text: plain text and Markdown. HTML is read by a worker, PDF by a model; see ingest.py.

Pure. What is no text is refused by its first bytes and never unpacked: an archive cannot become larger here than it is.
"""

from __future__ import annotations

import re

from oasis.core import clean
from oasis.errors import UsageError

TEXT, MARKDOWN, HTML, PDF = "text", "markdown", "html", "pdf"

_BY_EXTENSION = {"md": MARKDOWN, "markdown": MARKDOWN, "htm": HTML, "html": HTML, "xhtml": HTML, "pdf": PDF}
_PACKED = "unpack it first, and add the texts that are in it"
_AS_PDF = "save it as PDF or as text, and add that"
# First bytes of what people send that is no text: what it is, and what to do.
_NOT_TEXT = (
    (b"PK\x03\x04", "an archive, or a document of an office program", _AS_PDF),
    (b"\x1f\x8b", "packed", _PACKED),
    (b"BZh", "packed", _PACKED),
    (b"\xfd7zXZ\x00", "packed", _PACKED),
    (b"\x28\xb5\x2f\xfd", "packed", _PACKED),
    (b"7z\xbc\xaf\x27\x1c", "an archive", _PACKED),
    (b"Rar!", "an archive", _PACKED),
    (b"\xd0\xcf\x11\xe0", "a document of an office program", _AS_PDF),
    (b"{\\rtf", "a document of an office program", _AS_PDF),
    (b"\x89PNG", "a picture", "attach it to a message: oasis prompt --attach FILE"),
    (b"\xff\xd8\xff", "a picture", "attach it to a message: oasis prompt --attach FILE"),
    (b"GIF8", "a picture", "attach it to a message: oasis prompt --attach FILE"),
    (b"\x7fELF", "a program", "add a text"),
)
_LOOKED_AT = 64 * 1024
# Texts of people hold some odd bytes; data of programs many.
_ODD_SHARE = 0.02

_FENCE = re.compile(r"^\s*(```|~~~)")
_MARKS = re.compile(r"^\s{0,3}(#{1,6}\s+|(?:>\s?)+|[-*+]\s+(?:\[[ xX]\]\s+)?)")
_RULE = re.compile(r"^\s{0,3}([-*_=])(\s*\1){2,}\s*$")
# What is between two marks is bounded, and ends where another mark of its kind begins: a line may be a megabyte long.
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\[\]\s]{0,1000}(?:\s[^()\[\]\n]{0,200})?\)")
_REFERENCE = re.compile(r"!?\[([^\[\]\n]{1,300})\]\[[^\[\]\n]{0,100}\]")
_PAIRS = re.compile(
    r"(\*\*|__|~~|`)(?=\S)([^\n]{1,120}?)(?<=\S)\1|(?<![\w*])\*(?=[^\s*])([^*\n]{1,120}?)(?<=\S)\*(?!\w)"
)


def kind(name: str, data: bytes) -> str:
    """Return TEXT, MARKDOWN, HTML or PDF for a file.

    Raises: UsageError for an empty one, and for what is no text.
    """
    if not data.strip():
        raise UsageError("%s is empty" % (name or "the document"), "add a text with words in it")
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return PDF
    for magic, what, hint in _NOT_TEXT:
        if data.startswith(magic):
            raise UsageError("%s is %s, which cannot be read" % (name or "the document", what), hint)
    by_name = _BY_EXTENSION.get(name.rpartition(".")[2].lower(), "")
    if by_name == PDF:
        raise UsageError("%s is no PDF, whatever it is called" % name, "does it open elsewhere?")
    if by_name:
        return by_name
    begin = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return HTML if begin.startswith((b"<!doctype html", b"<html")) else TEXT


def decoded(data: bytes, name: str = "") -> str:
    """Return bytes as text, by their mark, as UTF-8, or as the letters of western Europe.

    Raises: UsageError for what is no text.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    begin = text[:_LOOKED_AT]
    odd = sum([begin.count(char) for char in set(begin) if char < " " and char not in "\t\n\r\f\x1b"])
    if "\0" in begin or odd > len(begin) * _ODD_SHARE:
        raise UsageError("%s is no text" % (name or "the document"), "add a text, Markdown, HTML or PDF file")
    return text


def tidy(text: str) -> str:
    """Return text without hidden characters, with plain line ends and at most one empty line at a time."""
    kept: list[str] = []
    for line in clean.text(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n"):
        bare = line.rstrip()
        if bare or (kept and kept[-1]):
            kept.append(bare)
    return "\n".join(kept).strip()


def markdown(text: str) -> str:
    """Return the words of Markdown: without its marks, with the text of links, with its code as it stands."""
    kept: list[str] = []
    is_code = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code:
            kept.append(line)
        elif _RULE.match(line):
            kept.append("")
        else:
            kept.append(_plain(line))
    return "\n".join(kept)


def _plain(line: str) -> str:
    line = _MARKS.sub("", line)
    if "[" in line:
        line = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", line))
    if "*" in line or "_" in line or "`" in line or "~" in line:
        line = _PAIRS.sub(_inner, _PAIRS.sub(_inner, line))
    return line


def _inner(found: re.Match[str]) -> str:
    return found.group(2) or found.group(3) or ""
