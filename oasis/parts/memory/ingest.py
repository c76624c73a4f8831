"""Makes documents out of what comes in: a text, a file, a page; cleaned, cut into chunks, bounded. Touches no file.

HTML and PDF are read elsewhere, by what is given: `read_html(text)` and `read_pdf(name, data)`, both returning
{"text", "title"?, "note"?, "cut"?}. What is given in is somebody's words; whose, the draft tells.

Shape of a draft: {"title", "kind", "source", "chars", "url"?, "taint"?}; see library.py.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import UsageError
from oasis.parts.memory import chunking, extract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Draft = dict[str, Any]
    Read = dict[str, Any]

# A book; what is longer has parts with names of their own.
CHARS = 2_000_000
TITLE_CHARS = 200
_FIRST_CHARS = 60


class Ingest:
    """`most` and `overlap` are those of chunking.py; `chars` is what one document may have."""

    def __init__(
        self, read_html: Callable[[str], Read], read_pdf: Callable[[str, bytes], Read], most: int = chunking.CHARS,
        overlap: int = chunking.OVERLAP_CHARS, chars: int = CHARS,
    ) -> None:  # fmt: skip
        self._read_html = read_html
        self._read_pdf = read_pdf
        self._most = most
        self._overlap = overlap
        self._chars = chars
        self.notes: list[str] = []  # what the owner should know of how it was read

    def text(self, text: str, title: str = "", source: str = "text") -> tuple[Draft, list[str]]:
        """Return draft and chunks of a text as it stands.

        Raises: UsageError for one without words, or too long.
        """
        return self._draft(text, title or _first_words(text), extract.TEXT, source)

    def file(self, name: str, data: bytes, title: str = "") -> tuple[Draft, list[str]]:
        """Return draft and chunks of a file, read as what it is.

        Raises: UsageError for what is no text, empty or too long; what reading HTML and PDF raises.
        """
        name = clean.name(name.rpartition("/")[2], TITLE_CHARS)
        kind = extract.kind(name, data)
        if kind == extract.PDF:
            return self._read(self._read_pdf(name, data), title or name, kind, name)
        text = extract.decoded(data, name)
        if kind == extract.HTML:
            found = self._read_html(text)
            return self._read(found, title or str(found.get("title") or "") or name, kind, name)
        if kind == extract.MARKDOWN:
            title = title or _heading(text)
            text = extract.markdown(text)
        return self._draft(text, title or name, kind, name)

    def page(self, found: Read, title: str = "") -> tuple[Draft, list[str]]:
        """Return draft and chunks of what was fetched: {"url", "text", "kind", "title"?, "note"?, "cut"?}."""
        url = str(found["url"])
        draft, chunks = self._read(found, title or str(found.get("title") or "") or url, str(found["kind"]), url)
        return {**draft, "url": url}, chunks

    def _read(self, found: Read, title: str, kind: str, source: str) -> tuple[Draft, list[str]]:
        if found.get("cut"):
            self.notes.append("only the first %d characters of it could be read" % len(str(found["text"])))
        if found.get("note"):
            self.notes.append(str(found["note"]))
        return self._draft(str(found["text"]), title, kind, source)

    def _draft(self, text: str, title: str, kind: str, source: str) -> tuple[Draft, list[str]]:
        text = extract.tidy(text)
        name = " ".join(clean.line(title).split())[:TITLE_CHARS] or "document"
        if not any(char.isalnum() for char in text):
            raise UsageError("there are no words in %s" % name, "add a text with words in it")
        if len(text) > self._chars:
            raise UsageError(
                "%s has %d characters, more than %d" % (name, len(text), self._chars),
                "add it in parts, each with a title",
            )
        chunks = chunking.chunks(text, self._most, self._overlap)
        return {"title": name, "kind": kind, "source": clean.line(source)[:500], "chars": len(text)}, chunks


def _heading(text: str) -> str:
    """Return the first heading of a Markdown text, "" for none near its begin."""
    for line in text[:4000].split("\n"):
        if line.startswith("# "):
            return extract.markdown(line).strip()
    return ""


def _first_words(text: str) -> str:
    line = " ".join(text.split())[: _FIRST_CHARS + 1]
    return line if len(line) <= _FIRST_CHARS else line[:_FIRST_CHARS].rpartition(" ")[0] + "…"
