"""Markdown as Telegram can show it: cut into messages, and as the HTML of its Bot API. Pure; knows no message.

    split(markdown) -> [piece]   each short enough for a message, a code fence that is cut closed and opened again
    html(piece) -> str           no longer than the piece, as Telegram counts: what stands in tags does not count

All that is not ours is escaped, tags are closed in order and never nested in themselves, so Telegram always takes it.
A piece stays what it is when more text follows: a message that is full is not edited again.
Source: core.telegram.org/bots/api#html-style; a message has at most 4096 UTF-16 units after its entities are parsed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Below Telegram's 4096: a dot may take the place of a star, and nothing that is cut on the way grows.
LIMIT = 4000
# A reply that is longer is for the page.
PIECES = 8
_LANGUAGE_CHARS = 32
_PUNCTUATION = "\\`*_{}[]()#+-.!~|>"
# Marks of emphasis and their tags; the longer ones first.
_MARKS = (("**", "b"), ("__", "b"), ("~~", "s"), ("*", "i"), ("_", "i"))
# Behind a letter or a dot a mark is a star or a line of its own: 2*3*4, 192.168.*.*, some_name.
_BEFORE = "([{\"'*_~-:/>!?,;"
# What belongs to the character before it: joiner, colour of an emoji, skin tones.
_FOLLOWERS = ("\u200d", "\ufe0f", *(chr(code) for code in range(0x1F3FB, 0x1F400)))


def units(text: str) -> int:
    """Return how long Telegram finds a text: in UTF-16 units."""
    return len(text) + sum(char > "\uffff" for char in text)


def split(text: str, limit: int = LIMIT) -> list[str]:
    """Return a Markdown text in pieces of at most `limit` units."""
    pieces: list[str] = []
    rest, fence = text.strip("\n"), ""
    while rest:
        head = fence + "\n" if fence else ""
        piece, rest = _cut(rest, max(limit - units(head) - units("\n" + _mark(fence)) - 4, 1))
        fence = _fence_after(piece, fence)
        if rest or piece.strip():
            pieces.append(head + piece.rstrip("\n") + ("\n" + _mark(fence) if fence else ""))
    return [piece for piece in pieces if piece.strip()]


def _cut(text: str, room: int) -> tuple[str, str]:
    """Return what fits into so many units, and the rest: cut behind a line, else a word, else anywhere."""
    if units(text) <= room:
        return text, ""
    end = count = 0
    for char in text:
        count += 2 if char > "\uffff" else 1
        if count > room:
            break
        end += 1
    at = text.rfind("\n", 0, end) + 1 or text.rfind(" ", 0, end) + 1
    if at <= 0 or not text[:at].strip():
        at = end
        while at > 1 and (text[at] in _FOLLOWERS or text[at - 1] == "\u200d"):
            at -= 1
    at = max(at, 1)
    return text[:at], text[at:].lstrip("\n") if text[at - 1] == "\n" else text[at:]


def _mark(fence: str) -> str:
    """Return what closes a fence that such a line opens."""
    return fence[: len(fence) - len(fence.lstrip(fence[0]))] if fence else ""


def _fence_after(piece: str, fence: str) -> str:
    """Return the line of the fence that is open behind a piece, "" for none; `fence` is the one open before it."""
    for line in piece.split("\n"):
        fence = _next(fence, line)
    return fence


def _next(fence: str, line: str) -> str:
    """Return the fence that is open behind a line."""
    opened = _opens(line)
    if not fence:
        return opened
    mark = _mark(fence)
    is_end = opened and opened == _mark(opened) and opened.startswith(mark)
    return "" if is_end else fence


def _opens(line: str) -> str:
    """Return the line of a fence that one opens, or would close, "" for any other; the language is bounded."""
    text = line.strip()
    if len(line) - len(line.lstrip(" ")) > 3 or not text.startswith(("```", "~~~")):
        return ""
    mark = _mark(text)
    language = text[len(mark) :].strip()
    return "" if mark[0] == "`" and "`" in language else mark[:16] + language[:_LANGUAGE_CHARS]


# HTML


def html(piece: str) -> str:
    """Return a piece of Markdown as Telegram's HTML."""
    lines, out, at = piece.split("\n"), [], 0
    while at < len(lines):
        line = lines[at]
        fence = _opens(line)
        if fence:
            until = next((n for n in range(at + 1, len(lines)) if not _next(fence, lines[n])), len(lines))
            out.append(_code("\n".join(lines[at + 1 : until]), fence))
            at = until + 1
            continue
        for starts, make in _BLOCKS:
            until = at
            while until < len(lines) and starts(lines[until]):
                until += 1
            if until > at:
                out.append(make(lines[at:until]))
                at = until
                break
        else:
            out.append(_line(line))
            at += 1
    return "\n".join(out)


def _code(text: str, fence: str) -> str:
    language = fence.lstrip("`~").split(" ")[0]
    is_plain = language and all((char.isalnum() and char.isascii()) or char in "+#._-" for char in language)
    if not text.strip():
        return escape(text)
    if is_plain:
        return '<pre><code class="language-%s">%s</code></pre>' % (language, escape(text))
    return "<pre>%s</pre>" % escape(text)


def _quote(lines: list[str]) -> str:
    said = [inline(line.lstrip()[1:].removeprefix(" ")) for line in lines]
    return "<blockquote>%s</blockquote>" % "\n".join(said) if "".join(said).strip() else "\n".join(said)


def _table(lines: list[str]) -> str:
    return "<pre>%s</pre>" % escape("\n".join(lines))


_BLOCKS: tuple[tuple[Callable[[str], bool], Callable[[list[str]], str]], ...] = (
    (lambda line: line.lstrip().startswith(">"), _quote),
    (lambda line: line.startswith("|") and line.rstrip().endswith("|") and len(line) > 2, _table),
)


def _line(line: str) -> str:
    """Return one line that belongs to no block."""
    text = line.strip()
    level = len(text) - len(text.lstrip("#"))
    if 0 < level < 7 and text[level : level + 1] == " " and text.strip("# "):
        return "<b>%s</b>" % inline(text.strip("# "), ("b",))
    if len(text) >= 3 and text[0] in "-*_" and not text.strip(text[0] + " ") and text.count(text[0]) >= 3:
        return "———"
    indent = line[: len(line) - len(line.lstrip())]
    if text[:2] in ("- ", "* ", "+ "):
        return "%s• %s" % (indent, inline(text[2:].lstrip()))
    return indent + inline(text)


def inline(text: str, inside: tuple[str, ...] = ()) -> str:
    """Return the text of a line with its emphasis, code and links; `inside` are the tags around it."""
    out: list[str] = []
    at = 0
    while at < len(text):
        made, used = _taken(text, at, inside)
        out.append(made)
        at += used
    return "".join(out)


def _taken(text: str, at: int, inside: tuple[str, ...]) -> tuple[str, int]:
    """Return the next thing of a line as HTML, and how much of the text it is."""
    char = text[at]
    if char == "\\" and text[at + 1 : at + 2] and text[at + 1] in _PUNCTUATION:
        return escape(text[at + 1]), 2
    if char == "`":
        return _span(text, at)
    if char in "![" and "a" not in inside:
        found = _link(text, at, inside)
        if found:
            return found
    if char in "*_~":
        found = _emphasis(text, at, inside)
        if found:
            return found
        run = len(text) - at - len(text[at:].lstrip(char))  # what emphasises nothing stays as it is, whole
        return text[at : at + run], run
    return escape(char), 1


def _span(text: str, at: int) -> tuple[str, int]:
    run = len(text) - at - len(text[at:].lstrip("`"))
    end = at + run
    while True:
        end = text.find("`" * run, end)
        if end < 0:
            return text[at : at + run], run
        over = len(text) - end - len(text[end:].lstrip("`"))
        if over == run:
            break
        end += over
    inner = text[at + run : end]
    code = escape(inner.strip() or inner)
    return "<code>%s</code>" % code, end + run - at


def _link(text: str, at: int, inside: tuple[str, ...]) -> tuple[str, int] | None:
    """Return a link, or an image as one; None for what is none, or leads where no page is."""
    begin = at + 1 if text[at] == "[" else at + 2
    if text[begin - 1 : begin] != "[":
        return None
    middle = text.find("](", begin)
    end = text.find(")", middle) if middle >= 0 else -1
    if end < 0:
        return None
    label, target = text[begin:middle], text[middle + 2 : end].strip().split(" ")[0]
    if "[" in label or not target.startswith(("http://", "https://")) or not target.isprintable() or len(target) < 9:
        return None
    shown = inline(label, (*inside, "a")) if label.strip() else escape(target)
    return '<a href="%s">%s</a>' % (escape(target).replace('"', "&quot;"), shown), end + 1 - at


def _emphasis(text: str, at: int, inside: tuple[str, ...]) -> tuple[str, int] | None:
    for mark, tag in _MARKS:
        size = len(mark)
        if not text.startswith(mark, at) or tag in inside or text[at + size : at + size + 1].strip() == "":
            continue
        if at and not text[at - 1].isspace() and text[at - 1] not in _BEFORE:
            continue
        end = _closing(text, at + size, mark)
        if end > 0:
            return "<%s>%s</%s>" % (tag, inline(text[at + size : end], (*inside, tag)), tag), end + size - at
    return None


def _closing(text: str, at: int, mark: str) -> int:
    """Return where a mark of emphasis is closed, -1 for nowhere."""
    size = len(mark)
    end = text.find(mark, at + 1)
    while end > 0:
        run = len(text) - end - len(text[end:].lstrip(mark[0]))
        if size == 1 and run == 2:  # two of them are another mark
            end = text.find(mark, end + 2)
            continue
        if text[end - 1].strip() and text[end - 1] != "\\" and not text[end + run : end + run + 1].isalnum():
            return end + run - size
        end = text.find(mark, end + run)
    return -1


def escape(text: str) -> str:
    """Return a text that HTML shows as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
