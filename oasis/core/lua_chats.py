"""Upstream Oasis's chat files, chat index and system messages, read and written.

A chat file is {"messages": [{"role", "content"}]} and nothing more; the index is the `chat` sections of its UCI package
(`id`, `title`), the system messages stand in an INI file. Files of others are data: what is damaged is repaired and
reported, and nothing here decides what the words in them mean. They come from a handle, message by message. Imports
under MicroPython.

Source: the stored forms of the Lua program at 3.2.6 and its documented damage (a pair of question and answer that was
saved again with the next turn; messages without a role; error texts in place of answers, which look the same).
"""

from oasis.core import jsonl
from oasis.core.schema import blocks, text_of
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Callable, Handle, Iterator, Json, Message

    Span = tuple[int, int]

ROLES = ("system", "user", "assistant")
# Upstream writes what a chat holds without a limit; 30 questions with long answers stay below a tenth of this.
FILE_BYTES = 4 * 1024 * 1024
# As many as a thread may have (thread.WALK_MESSAGES); what is known of each has room in a small memory.
MESSAGES = 40000
# Values of one message of a file: the longest answer of a model that repeats itself has half as many.
VALUES = 64 * 1024
# Upstream's word for "no title yet".
NO_TITLE = "--"
# Names this program as the writer: what stands twice in such a file was said twice.
_MARK = "exported_by"
_OURS = "oasis"
# Sections of the INI file that are no system message.
_OTHER_SECTIONS = ("general", "title", "icons")


def messages(handle: "Handle", parts: "dict[str, Span]", report: "Callable[[str], None]") -> "Iterator[Message]":
    """Yield the messages of a chat file, each {"role", "content", "foreign_role"?}, and report what was repaired.

    `parts` tells where the members of its object stand (jsonl.py). A role that upstream does not have becomes an
    owner's text that remembers it. A pair of question and answer that stands twice in a row comes once.
    Raises: SchemaError when this is no chat file at all; the caller keeps the file.
    """
    plain = _all(handle, parts, report)
    if "exported_by" in parts and jsonl.part_value(handle, parts["exported_by"], jsonl.LINE_BYTES) == _OURS:
        yield from plain
        return
    last: list[tuple[str, str, bytes]] = []  # the two messages that were given on last, in their smallest form
    again: Message = {}  # a question that may be a repeat of the first of them
    for item in plain:
        # What two equal messages have in common, with the text in UTF-8: a Python text may take four times that.
        form = item["role"], item.get("foreign_role", ""), text_of(item).encode("utf-8")
        if again and form == last[1] and item["role"] == "assistant" and item["content"]:
            report("a question and its answer were saved twice and stand once now: %s" % text_of(again)[:60])
            again = item = {}
            continue
        if again:
            yield again
            last = [last[1], last[0]]
            again = {}
        if len(last) == 2 and item["role"] == "user" and form == last[0]:
            again = item
        else:
            yield item
            last.append(form)
            last = last[-2:]
        item = {}  # let go of it before the next one is made
    if again:
        yield again


def _all(handle: "Handle", parts: "dict[str, Span]", report: "Callable[[str], None]") -> "Iterator[Message]":
    place = parts.get("messages")
    opening = jsonl.first(handle, place) if place else ""
    if not place or (opening == "{" and not jsonl.members(handle, place)):  # an empty table of Lua
        return
    if opening != "[":
        raise SchemaError("messages must be a list", "this is not a chat file of upstream's")
    number = 0
    for span in jsonl.items(handle, place):
        if number == MESSAGES:
            raise SchemaError("more than %d messages" % MESSAGES, "import the chat in parts")
        path = "messages[%d]" % number
        repairs: list[str] = []
        value = item(handle, span, path, repairs)
        for repair in repairs:
            report(path + " was read" + repair[len(path) :])
        role = value.get("role") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(role, str):
            content: Json = value.get("content", "")
            if content is None:
                content = ""
            if not isinstance(content, str):
                content = jsonl.dumps(content)
                report("%s.content was no text; it is kept as JSON" % path)
            value = None  # let go of it before the next one is made
            if role in ROLES:
                yield {"role": role, "content": content}
            elif role:
                yield {"role": "user", "content": content, "foreign_role": role}
            elif content:
                report("%s has no role and was left out: %s" % (path, content[:60]))
            content = ""
        else:
            report("%s is no message and was left out" % path)
        number += 1


def item(handle: "Handle", span: "Span", path: str, repairs: "list[str]") -> "Json":
    """Return the value of one message of a file; what was repaired in it is added to `repairs`.

    Raises: SchemaError naming the path.
    """
    try:
        value = jsonl.part_value(handle, span, jsonl.LINE_BYTES, VALUES)
    except SchemaError as error:
        raise SchemaError("%s: %s" % (path, error.message), error.hint)
    whole = jsonl.mended(value)
    if whole is not value:
        repairs.append(path + " with U+FFFD for half a character")
    return whole


def write(ordered: "list[Message]") -> "dict[str, object]":
    """Return a thread in upstream's form: the words of system, owner and model, tool traffic left out.

    What a model said between its tool calls is one answer there, joined by empty lines.
    """
    messages: list[Message] = []
    for message in ordered:
        words: list[str] = []
        for block in blocks(message):
            if block["type"] == "text":
                words.append(str(block["text"]))
            elif block["type"] in ("document", "image"):
                words.append("[%s: %s]" % (block["type"], block.get("name", block.get("media_type", ""))))
        text = "\n\n".join([word for word in words if word])
        if message["role"] == "tool" or not text:
            continue
        foreign = message.get("foreign_role")
        role = foreign if isinstance(foreign, str) and foreign else str(message["role"])
        if role == "assistant" and messages and messages[-1]["role"] == "assistant":
            messages[-1]["content"] = text_of(messages[-1]) + "\n\n" + text
        else:
            messages.append({"role": role, "content": text})
    return {"messages": messages, _MARK: _OURS}


def index(sections: "list[dict[str, str | list[str]]]") -> "list[tuple[str, str]]":
    """Return (id, title) of each `chat` section in order, each id once; "" where there is no title yet."""
    found: list[tuple[str, str]] = []
    for section in sections:
        name, title = section.get("id", ""), section.get("title", "")
        if not isinstance(name, str) or not is_name(name) or name in [known for known, _ in found]:
            continue
        found.append((name, "" if not isinstance(title, str) or title == NO_TITLE else title))
    return found


def is_name(name: object) -> bool:
    """Return whether that can be the id of an upstream chat: digits, ten as upstream makes them."""
    return isinstance(name, str) and 0 < len(name) <= 20 and all([char in "0123456789" for char in name])


def topics(text: str) -> "list[tuple[str, str, str]]":
    """Return (key, title, text) of each system message of an `oasis.conf`, in order.

    A section without a `chat` text gives its `prompt` text, else nothing.
    """
    found: list[tuple[str, str, str]] = []
    for name, values in _sections(text):
        words = values.get("chat") or values.get("prompt") or ""
        if name not in _OTHER_SECTIONS and words:
            found.append((name, values.get("title", name), words))
    return found


def icon(text: str) -> str:
    """Return the file name of the icon that an `oasis.conf` chose, "" for none."""
    for name, values in _sections(text):
        if name == "icons":
            return values.get(values.get("using", ""), "").rpartition("/")[2]
    return ""


def _sections(text: str) -> "list[tuple[str, dict[str, str]]]":
    """Return the sections of the INI file in order with their values, escapes undone; one that comes twice is one."""
    found: list[tuple[str, dict[str, str]]] = []
    values: dict[str, str] = {}
    lines = text.replace("\r\n", "\n").split("\n")
    while lines:
        line = lines.pop(0).strip()
        if line[:1] == "[" and line[-1:] == "]":
            name = line[1:-1].strip()
            if name not in [known for known, _ in found]:
                found.append((name, {}))
            values = next(known for other, known in found if other == name)
        elif "=" in line and line[:1] not in ("#", ";"):
            key, value = [word.strip() for word in line.split("=", 1)]
            if value[:1] == '"':  # one whose quote stays open goes on over the next lines
                value = value[1:]
                while lines and not _is_closed(value):
                    value += "\n" + lines.pop(0)
                value = value.rstrip()
                value = value[:-1] if _is_closed(value) else value
            values[key] = value.replace("\\n", "\n").replace('\\"', '"')
    return found


def _is_closed(value: str) -> bool:
    value = value.rstrip()
    return value[-1:] == '"' and value[-2:] != '\\"'
