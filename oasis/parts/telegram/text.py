"""Markdown as Telegram can show it: cut into messages, and as the HTML of its Bot API. Pure; knows no message.

    split(markdown) -> [piece]   each short enough for a message, a code fence that is cut closed and opened again
    html(piece) -> str           no longer than the piece, as Telegram counts: what stands in tags does not count

All that is not ours is escaped, tags are closed in order and never nested in themselves, so Telegram always takes it.
The host of a link is shown behind it, because its text may name another one. An address whose host a person
cannot read as what it is (a user name before it, letters of other scripts, odd numbers) is shown as code, which
Telegram does not make a link of. Twice the text takes twice the time: no place that was passed is read again.
A piece stays what it is when more text follows: a message that is full is not edited again.
Source: core.telegram.org/bots/api#html-style; a message has at most 4096 UTF-16 units after its entities are parsed.

An Answer is a text that grows in a chat: sent when there is something to show, edited as more arrives, complete at the
end. What is too long for one message continues in the next; a full piece is not edited again. HTML that Telegram
rejects is sent as plain text. A RunText makes that text of the events of a run.
"""

from __future__ import annotations

import re

from oasis.core import clean, jsonl
from oasis.errors import SchemaError
from oasis.parts.telegram.line import LASTING, TRIES, RefusedError, is_passing

if False:  # annotations only
    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.shapes import Button, Event, Fault, Parameters


# Below Telegram's 4096: a dot may take the place of a star, and nothing that is cut on the way grows.
LIMIT = 4000
_LANGUAGE_CHARS = 32
# Of a link; browsers take more, people do not read more.
_ADDRESS_CHARS = 2000
# The host as it stands there, where nothing in it means something else: no user name, no other script, no backslash.
_HOST = re.compile(r"https?://([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(:[0-9]{1,5})?(?:[/?#]|\Z)")
_DOTTED = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})\Z")
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
        for line in piece.split("\n"):
            fence = _next(fence, line)
        if rest or piece.strip():
            pieces.append(head + piece.rstrip("\n") + ("\n" + _mark(fence) if fence else ""))
    return [piece for piece in pieces if piece.strip()]


def _cut(text: str, room: int) -> tuple[str, str]:
    """Return what fits into so many units, and the rest: cut behind a line, else a word, else anywhere."""
    if len(text) <= room and units(text) <= room:
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
    return fence[: len(fence) - len(fence.lstrip(fence[0]))] if fence else ""


def _next(fence: str, line: str) -> str:
    """Return the fence that is open behind a line."""
    opened = _opens(line)
    is_end = fence and opened == _mark(opened) and opened.startswith(_mark(fence))
    return opened if not fence else "" if is_end else fence


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
        begin, fence = at, _opens(lines[at])
        if fence:
            at = next((n for n in range(begin + 1, len(lines)) if not _next(fence, lines[n])), len(lines)) + 1
            text = escape("\n".join(lines[begin + 1 : at - 1]))
            language = fence.lstrip("`~").split(" ")[0]
            is_plain = language and all((char.isalnum() and char.isascii()) or char in "+#._-" for char in language)
            code = '<code class="language-%s">%s</code>' % (language, text) if is_plain else text
            out.append("<pre>%s</pre>" % code if text.strip() else text)
        elif lines[at].lstrip().startswith(">"):
            while at < len(lines) and lines[at].lstrip().startswith(">"):
                at += 1
            said = "\n".join([inline(line.lstrip()[1:].removeprefix(" ")) for line in lines[begin:at]])
            out.append("<blockquote>%s</blockquote>" % said if said.strip() else said)
        elif _is_row(lines[at]):
            while at < len(lines) and _is_row(lines[at]):
                at += 1
            out.append("<pre>%s</pre>" % escape("\n".join(lines[begin:at])))
        else:
            out.append(_line(lines[at]))
            at += 1
    return "\n".join(out)


def _is_row(line: str) -> bool:
    """Tell whether a line is one of a table."""
    return line.startswith("|") and line.rstrip().endswith("|") and len(line) > 2


def _line(line: str) -> str:
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
    closings: dict[str, int] = {}
    at = 0
    while at < len(text):
        made, used = _taken(text, at, inside, closings)
        out.append(made)
        at += used
    return "".join(out)


def _taken(text: str, at: int, inside: tuple[str, ...], closings: dict[str, int]) -> tuple[str, int]:
    """Return the next thing of a line as HTML, and how much of the text it is."""
    char = text[at]
    if char == "\\" and text[at + 1 : at + 2] and text[at + 1] in _PUNCTUATION:
        return escape(text[at + 1]), 2
    if char == "`":
        run = _run(text, at)
        end = text.find("`" * run, at + run)
        while end >= 0 and _run(text, end) != run:
            end = text.find("`" * run, end + _run(text, end))
        if end < 0:
            return text[at : at + run], run
        inner = text[at + run : end]
        return "<code>%s</code>" % escape(inner.strip() or inner), end + run - at
    if char in "![" and "a" not in inside:
        found = _link(text, at, inside)
        if found:
            return found
    if char == "h" and "a" not in inside and text.startswith(("http://", "https://"), at):
        # An address that stands for itself: Telegram makes a link of it, unless it is code.
        end = at
        while end < len(text) and text[end].isprintable() and text[end] not in " <>()[]`\"'":
            end += 1
        target = text[at:end].rstrip(".,:;!?*_~")
        return escape(target) if host(target) else "<code>%s</code>" % escape(target), len(target)
    if char in "*_~":
        found = _emphasis(text, at, inside, closings)
        if found:
            return found
        run = _run(text, at)  # what emphasises nothing stays as it is, whole
        return text[at : at + run], run
    return escape(char), 1


def _run(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] == text[at]:
        end += 1
    return end - at


def host(address: str) -> str:
    """Return the host (and port) of an address as a person reads it, "" where that is not where a browser goes."""
    found = _HOST.match(address)
    name = found.group(1).rpartition(".")[2] if found else ""
    is_number = name[:1].isdigit() and not _DOTTED.match(found.group(1) if found else "")
    return "" if not found or is_number or len(address) > _ADDRESS_CHARS else found.group(1) + (found.group(2) or "")


def _link(text: str, at: int, inside: tuple[str, ...]) -> tuple[str, int] | None:
    """Return a link, or an image as one; None for what is none, or leads where no page is."""
    begin = at + 1 if text[at] == "[" else at + 2
    if text[begin - 1 : begin] != "[":
        return None
    inner = text.find("[", begin)
    middle = text.find("](", begin, inner if inner >= 0 else len(text))
    end = text.find(")", middle, middle + _ADDRESS_CHARS) if middle >= 0 else -1
    if end < 0:
        return None
    label, target = text[begin:middle], text[middle + 2 : end].strip().split(" ")[0]
    if not target.startswith(("http://", "https://")) or not target.isprintable() or len(target) < 9:
        return None
    where = host(target)
    if not where:
        return "%s <code>%s</code>" % (inline(label, inside), escape(target)), end + 1 - at
    anchor = '<a href="%s">%%s</a>' % escape(target).replace('"', "&quot;").replace("%", "%%")
    if not label.strip():
        return anchor % escape(target), end + 1 - at
    return "%s (%s)" % (anchor % inline(label, (*inside, "a")), where), end + 1 - at


def _emphasis(text: str, at: int, inside: tuple[str, ...], closings: dict[str, int]) -> tuple[str, int] | None:
    """Return emphasised text; `closings` keeps where each mark is closed next, until that is passed."""
    may_begin = not at or text[at - 1].isspace() or text[at - 1] in _BEFORE
    for mark, tag in _MARKS if may_begin else ():
        size = len(mark)
        if not text.startswith(mark, at) or tag in inside or text[at + size : at + size + 1].strip() == "":
            continue
        end = closings.get(mark, 0)
        if 0 <= end <= at + size:
            end = closings[mark] = _closing(text, at + size, mark)
        if end > 0:
            return "<%s>%s</%s>" % (tag, inline(text[at + size : end], (*inside, tag)), tag), end + size - at
    return None


def _closing(text: str, at: int, mark: str) -> int:
    size = len(mark)
    end = text.find(mark, at + 1)
    while end > 0:
        run = _run(text, end)
        is_closing = text[end - 1].strip() and text[end - 1] != "\\" and not text[end + run : end + run + 1].isalnum()
        if is_closing and not (size == 1 and run == 2):  # two of them are another mark
            return end + run - size
        end = text.find(mark, end + run)
    return -1


def escape(text: str) -> str:
    """Return a text that HTML shows as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# More of one answer than fits into so many messages is on the router's page.
SENT_PIECES = 8
_MORE = "\n\n(the rest is on the router's page)"


class Answer:
    """One answer in a chat, to a message there or to none (0)."""

    def __init__(self, line: Line, chat: int, reply_to: int = 0) -> None:
        self._line = line
        self._chat = chat
        self._reply_to = reply_to
        self._shown: list[str] = []
        self.messages: list[int] = []

    def show(self, markdown: str, is_final: bool) -> None:
        """Show what there is of the text; what is not final is left out where it cannot be said now.

        Raises: RefusedError, for what is final alone, after minutes.
        """
        pieces = split(markdown)
        if len(pieces) > SENT_PIECES:
            pieces = [*pieces[: SENT_PIECES - 1], split(pieces[SENT_PIECES - 1], 3900)[0] + _MORE]
        for number, piece in enumerate(pieces):
            if self._shown[number : number + 1] == [piece]:
                continue
            try:
                tries = 1 if number < len(pieces) - 1 else 0
                is_said = self._say(number, piece, LASTING if is_final else tries)
            except RefusedError as refused:
                if is_final or not is_passing(refused):
                    raise
                is_said = False  # the end of the answer says all of it
            if not is_said and number == len(self.messages):
                return

    def _say(self, number: int, piece: str, tries: int) -> bool:
        """Put a piece in its message, or send it where it has none; return whether that was done."""
        edits = self.messages[number] if number < len(self.messages) else 0
        reply_to = 0 if number or edits else self._reply_to
        sent = put(self._line, self._chat, piece, edits=edits, reply_to=reply_to, tries=tries)
        if sent:
            self.messages[number : number + 1] = [sent]
            self._shown[number : number + 1] = [piece]
        return bool(sent)


def put(
    line: Line, chat: int, markdown: str, *, edits: int = 0, buttons: list[list[Button]] | None = None,
    reply_to: int = 0, tries: int = TRIES,
) -> int:  # fmt: skip
    """Send a message, or put the text in the one that it `edits`, without buttons unless there are some.

    Returns its id, 0 when it was left out, see Line.send. Raises: RefusedError.
    """
    more: Parameters = {"link_preview_options": {"is_disabled": True}}
    if edits:
        more["message_id"] = edits
    if reply_to:
        more["reply_parameters"] = {"message_id": reply_to, "allow_sending_without_reply": True}
    if buttons is not None:
        rows: list[list[Button]] = [
            [{"text": line.spoken(chat, one["text"]), "callback_data": one["callback_data"]} for one in row]
            for row in buttons
        ]
        more["reply_markup"] = {"inline_keyboard": rows}
    method = "editMessageText" if edits else "sendMessage"
    piece = clean.text(markdown)  # nothing that is there without being seen, or turns the reading direction
    piece = piece if piece.strip() else "…"
    spoken = line.spoken(chat, piece)
    piece = spoken if units(spoken) <= LIMIT else piece  # a card stays whole
    try:
        result = line.send(method, chat, {**more, "text": html(piece), "parse_mode": "HTML"}, tries)
    except RefusedError as refused:
        if refused.code != "invalid_request":
            raise
        result = line.send(method, chat, {**more, "text": piece}, tries)
    return 0 if result is None else edits or result.get("message", 0)


# What a tool shows to the owner alone may be a key of the router's, and Telegram reads everything.
_PRIVATE = "(a part of the result is on the router's page alone)"
# What an undoing comes to, in words.
_UNDONE = {"unchanged": "There was nothing to undo.", "declined": "Not undone.", "expired": "Not undone."}


class RunText:
    """The events of a run as Markdown."""

    def __init__(self) -> None:
        self._said = [""]
        self._notes: list[str] = []
        self._working = ""
        self._error: Fault | None = None
        self._state = "running"

    def take(self, event: Event) -> None:
        """Take the next event of the run."""
        if event["type"] == "delta":
            self._said[-1] += event["text"]
            self._working = ""
        elif event["type"] == "reset":
            self._said = [event["text"]]
        elif event["type"] == "message":
            self._said.append("")
        elif event["type"] == "tool_use" or event["type"] == "tool_progress":
            self._working = event["name"]
        elif event["type"] == "tool_result":
            self._working = ""
            if event["name"] == "undo" and not event.get("tool_use_id"):  # a model tells of its own calls
                try:
                    reply = jsonl.loads(event["text"])
                except SchemaError:
                    reply = None
                if isinstance(reply, dict):
                    self._notes.append(_UNDONE.get(str(reply.get("status")), ""))
        elif event["type"] == "note":
            self._notes.append(_PRIVATE if event.get("is_private") else event["text"][:2000])
        elif event["type"] == "error":
            self._error = event["error"]
        elif event["type"] == "end":
            self._state = event["state"]

    def note(self, words: str) -> None:
        """Add words of our own, once."""
        if words not in self._notes:
            self._notes.append(words)

    def text(self, is_working: bool) -> str:
        """Return what there is to show now; `is_working`: with the tool that is at work, where nothing else is said."""
        parts = [text.strip() for text in self._said if text.strip()]
        parts += [note for note in self._notes[-8:] if note]
        if self._working and is_working:
            parts.append("_using %s …_" % self._working.replace("_", " "))
        if self._error is not None:
            parts.append("\n".join(filter(None, (self._error["message"], self._error["hint"]))))
        elif self._state == "cancelled":
            parts.append("Stopped.")
        return "\n\n".join(parts)
