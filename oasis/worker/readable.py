"""The text of a web page: HTML without its tags, scripts and what stands around an article. Knows no network."""

from __future__ import annotations

import html.parser
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Attributes = list[tuple[str, str | None]]

_HIDDEN = frozenset(["script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "select",
                     "textarea", "button", "head"])  # fmt: skip
# Around an article, where the page says which part that is.
_AROUND = frozenset(["nav", "header", "footer", "aside", "form"])
_BLOCKS = _AROUND | frozenset(["p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "main", "h1",
                               "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "dt", "dd", "hr"])  # fmt: skip
_MAIN = ("article", "main")
# An article with less is a frame around something else.
_ARTICLE_CHARS = 200
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
TITLE_CHARS = 300
_STYLE_CHARS = 2000


# What a browser shows nowhere: text for a model alone, that whoever reads the page never sees.
_INVISIBLE = re.compile(
    r"display:none|visibility:(hidden|collapse)|(opacity|font-size):0+(\.0*)?(px|em|rem|%|pt)?(;|$|!)"
    r"|(^|;)(max-)?(width|height):0(px)?(;|$|!)"
    r"|text-indent:-\d{3}|(^|;)(left|top|right|bottom):-\d{3}|clip:rect\(0|clip-path:inset\((50|100)%"
    r"|transform:scale\(0\)|color:transparent"
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
# Whose end tag may be left out, and which hold none of their own kind: the next of them ends one that is hidden.
_ENDS_ITSELF = frozenset(["p", "dt", "dd", "option"])


def _is_invisible(attrs: Attributes) -> bool:
    """Tell whether an element is hidden by its own attributes; rules in style sheets are not read."""
    values = {name: value or "" for name, value in attrs}
    if "hidden" in values or values.get("aria-hidden", "").strip().lower() == "true":
        return True
    style = re.sub(r"/\*.*?\*/|\s", "", values.get("style", "").lower()[:_STYLE_CHARS])
    return bool(style and _INVISIBLE.search(style))


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.whole: list[str] = []
        self.article: list[str] = []
        self._hidden: dict[str, int] = {}
        self._around = self._main = 0
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "body":
            self._hidden.pop("head", None)  # whose end tag may be left out
        if tag in _ENDS_ITSELF and self._hidden.get(tag):
            self._hidden[tag] -= 1
        # Elements of the same name within a hidden one are counted, so that its own end tag is told from theirs.
        if tag in _HIDDEN or (tag not in _VOID and (self._hidden.get(tag) or _is_invisible(attrs))):
            self._hidden[tag] = self._hidden.get(tag, 0) + 1
        self._is_title = tag == "title" and not self.title
        self._around += tag in _AROUND
        self._main += tag in _MAIN
        self._add("\n" if tag in _BLOCKS else "")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden.get(tag):
            self._hidden[tag] -= 1
        self._is_title = False
        self._add("\n" if tag in _BLOCKS else "")
        self._around = max(self._around - (tag in _AROUND), 0)
        self._main = max(self._main - (tag in _MAIN), 0)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self._add("\n" if tag in _BLOCKS else "")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title.append(data)
        elif not any(self._hidden.values()):
            self._add(data)

    def _add(self, text: str) -> None:
        if not text or (text != "\n" and any(self._hidden.values())):
            return
        self.whole.append(text)
        if self._main and not self._around:
            self.article.append(text)


def of_html(text: str) -> tuple[str, str]:
    """Return the title and the text of a page: of its article where it has one."""
    page = _Page()
    page.feed(calmed(text))
    page.close()
    article = tidy("".join(page.article))
    title = " ".join("".join(page.title).split())[:TITLE_CHARS]
    return title, article if len(article) >= _ARTICLE_CHARS else tidy("".join(page.whole))


def calmed(text: str) -> str:
    """Return a page without comments, and with every `<` that opens no tag as text.

    The parser looks for the end of each of those through all that follows: a minute for a page of nothing else.
    """
    first, *others = "".join(_without_comments(text)).split("<")
    return first + "".join(("<" if ">" in part else "&lt;") + part for part in others)


def _without_comments(text: str) -> Iterator[str]:
    at = 0
    while True:
        start = text.find("<!--", at)
        end = text.find("-->", start + 4) if start >= 0 else -1
        if end < 0:  # none, or one without an end: then what follows is text
            yield text[at:]
            return
        yield text[at:start]
        at = end + 3


def tidy(text: str) -> str:
    """Return text with single spaces and at most one empty line at a time."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip()


def decoded(body: bytes, kind: str) -> str:
    """Return a body as text, by the charset of the content type or of the page's own head."""
    named = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", kind, re.IGNORECASE)
    found = _CHARSET.search(body[:2048])
    name = named.group(1) if named else found.group(1).decode("ascii") if found else "utf-8"
    try:
        return body.decode(name, "replace")
    except (LookupError, UnicodeError):  # a codec that there is not, or that is none for text
        return body.decode("utf-8", "replace")
