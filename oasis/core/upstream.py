"""Upstream Oasis's chat files, chat index and system messages, read and written.

A chat file is {"messages": [{"role", "content"}]} and nothing more; the index is the `chat` sections of its UCI package
(`id`, `title`), the system messages stand in an INI file. Files of others are data: what is damaged is repaired and
reported, and nothing here decides what the words in them mean. Imports under MicroPython; touches no file.

Source: the stored forms of the Lua program at 3.2.6 and its documented damage (a pair of question and answer that was
saved again with the next turn; messages without a role; error texts in place of answers, which cannot be told apart).
"""

from oasis.core import jsonl
from oasis.core.schema import blocks
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Json, Message

    Plain = dict[str, str]

ROLES = ("system", "user", "assistant")
# Upstream writes what a chat holds without a limit; 30 questions with long answers stay below a tenth of this.
FILE_BYTES = 4 * 1024 * 1024
# Upstream's word for "no title yet".
NO_TITLE = "--"
# Names this program as the writer: what stands twice in such a file was said twice.
_MARK = "exported_by"
_OURS = "oasis"
# Sections of the INI file that are no system message.
_OTHER_SECTIONS = ("general", "title", "icons")


def read(data: bytes) -> "tuple[list[Plain], list[str]]":
    """Return the messages of a chat file, each {"role", "content", "foreign_role"?}, and what was repaired.

    A role that upstream does not have becomes an owner's text that remembers it.
    Raises: SchemaError when this is no chat file at all; the caller keeps the file.
    """
    value = jsonl.loads(data, FILE_BYTES)
    if not isinstance(value, dict):
        raise SchemaError(
            "a chat file must hold an object", 'like {"messages": [{"role": "user", "content": "Hello"}]}'
        )
    items = value.get("messages", [])
    if items == {}:  # an empty table of Lua
        items = []
    if not isinstance(items, list):
        raise SchemaError("messages must be a list", "this is not a chat file of upstream's")
    reports: list[str] = []
    found = [_plain(item, "messages[%d]" % number, reports) for number, item in enumerate(items)]
    plain = [item for item in found if item]
    return (plain if value.get(_MARK) == _OURS else _without_repeats(plain, reports)), reports


def _plain(item: "Json", path: str, reports: "list[str]") -> "Plain":
    """Return one message as read, {} for none."""
    role = item.get("role") if isinstance(item, dict) else None
    if not isinstance(role, str):
        reports.append("%s is no message and was left out" % path)
        return {}
    content: Json = item.get("content", "")
    if content is None:
        content = ""
    if not isinstance(content, str):
        content = jsonl.dumps(content)
        reports.append("%s.content was no text; it is kept as JSON" % path)
    if not role:
        if content:
            reports.append("%s has no role and was left out: %s" % (path, content[:60]))
        return {}
    if role in ROLES:
        return {"role": role, "content": content}
    return {"role": "user", "content": content, "foreign_role": role}


def _without_repeats(plain: "list[Plain]", reports: "list[str]") -> "list[Plain]":
    """Return messages where a pair of question and answer that stands twice in a row stands once."""
    kept: list[Plain] = []
    for item in plain:
        kept.append(item)
        while _ends_with_repeat(kept):
            reports.append(
                "a question and its answer were saved twice and stand once now: %s" % kept[-2]["content"][:60]
            )
            del kept[-2:]
    return kept


def _ends_with_repeat(kept: "list[Plain]") -> bool:
    return (
        len(kept) >= 4
        and kept[-1]["role"] == "assistant"
        and kept[-2]["role"] == "user"
        and bool(kept[-1]["content"])
        and kept[-2:] == kept[-4:-2]
    )


def write(ordered: "list[Message]") -> "dict[str, object]":
    """Return a thread in upstream's form: the words of system, owner and model, tool traffic left out.

    What a model said between its tool calls is one answer there, joined by empty lines.
    """
    messages: list[Plain] = []
    for message in ordered:
        text = "\n\n".join([word for word in [_words(block) for block in blocks(message)] if word])
        if message["role"] == "tool" or not text:
            continue
        foreign = message.get("foreign_role")
        role = foreign if isinstance(foreign, str) and foreign else str(message["role"])
        if role == "assistant" and messages and messages[-1]["role"] == "assistant":
            messages[-1]["content"] += "\n\n" + text
        else:
            messages.append({"role": role, "content": text})
    return {"messages": messages, _MARK: _OURS}


def _words(block: "Json") -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] in ("document", "image"):
        return "[%s: %s]" % (block["type"], block.get("name", block.get("media_type", "")))
    return ""


def index(sections: "list[dict[str, Json]]") -> "list[tuple[str, str]]":
    """Return (id, title) of each `chat` section in order, each id once; "" where there is no title yet."""
    found: list[tuple[str, str]] = []
    for section in sections:
        name, title = section.get("id", ""), section.get("title", "")
        if not is_name(name) or name in [known for known, _ in found]:
            continue
        found.append((name, "" if not isinstance(title, str) or title == NO_TITLE else title))
    return found


def is_name(name: "Json") -> bool:
    """Return whether that can be the id of an upstream chat: digits, ten as upstream makes them."""
    return isinstance(name, str) and 0 < len(name) <= 20 and all([char in "0123456789" for char in name])


def topics(text: str) -> "list[tuple[str, str, str]]":
    """Return (key, title, text) of each system message of an `oasis.conf`, in order.

    A section without a `chat` text gives its `prompt` text, else nothing.
    """
    found: list[tuple[str, str, str]] = []
    for name, pairs in _sections(text):
        values = dict(pairs)
        words = values.get("chat") or values.get("prompt") or ""
        if name not in _OTHER_SECTIONS and words:
            found.append((name, values.get("title", name), words))
    return found


def _sections(text: str) -> "list[tuple[str, list[tuple[str, str]]]]":
    """Return the sections of the INI file in order with their values, escapes undone; one that comes twice is one."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    pairs: list[tuple[str, str]] = []
    lines = text.replace("\r\n", "\n").split("\n")
    while lines:
        line = lines.pop(0).strip()
        if line[:1] == "[" and line[-1:] == "]":
            pairs = _section(found, line[1:-1].strip())
        elif "=" in line and line[:1] not in ("#", ";"):
            key, value = line.split("=", 1)
            pairs.append((key.strip(), _value(value.strip(), lines)))
    return found


def _section(found: "list[tuple[str, list[tuple[str, str]]]]", name: str) -> "list[tuple[str, str]]":
    for known, pairs in found:
        if known == name:
            return pairs
    found.append((name, []))
    return found[-1][1]


def _value(value: str, lines: "list[str]") -> str:
    """Return a value; one whose quote stays open goes on over the next lines, which are taken from `lines`."""
    if value[:1] != '"':
        return _unescaped(value)
    value = value[1:]
    while not _is_closed(value) and lines:
        value += "\n" + lines.pop(0)
    value = value.rstrip()
    return _unescaped(value[:-1] if _is_closed(value) else value)


def _is_closed(value: str) -> bool:
    value = value.rstrip()
    return value[-1:] == '"' and value[-2:] != '\\"'


def _unescaped(value: str) -> str:
    return value.replace("\\n", "\n").replace('\\"', '"')
