"""A thread as Markdown, for people to keep and to print. Imports under MicroPython; touches no file."""

from oasis.core import jsonl, when
from oasis.core.ids import scru128_ms
from oasis.core.schema import blocks

if False:  # annotations only
    from oasis.core.shapes import Block, Message

_WHO = {"user": "You", "assistant": "Oasis", "system": "System message", "tool": "Results"}
# Results of tools are for looking up; whole logs would bury the conversation.
_RESULT_CHARS = 2000


def thread(title: str, ordered: "list[Message]") -> str:
    """Return the messages of a thread as one Markdown text."""
    parts = ["# " + _line(title or "Chat")]
    for message in ordered:
        words = [word for word in [_block(block) for block in blocks(message)] if word]
        if message.get("error"):
            words.append("*The turn ended: %s*" % _line(message["error"].get("message", "")))
        if words:
            parts.append("## " + _heading(message))
            parts += words
    return "\n\n".join(parts) + "\n"


def _heading(message: "Message") -> str:
    who = _WHO[message["role"]]
    if message["role"] == "assistant" and message.get("model"):
        who += " (%s)" % _line(message["model"])
    return "%s · %s" % (who, when.shown(scru128_ms(message["id"]) // 1000))


def _block(block: "Block") -> str:
    kind = block["type"]
    if kind == "text":
        return str(block["text"]).strip("\n")
    if kind == "tool_use":
        return "Tool `%s`:\n\n%s" % (_line(block["name"]), _fenced(jsonl.dumps(block["input"]), "json"))
    if kind == "tool_result":
        text = "\n".join([str(item.get("text", "")) for item in block["content"]])
        if len(text) > _RESULT_CHARS:
            text = text[:_RESULT_CHARS] + "\n(%d more characters)" % (len(text) - _RESULT_CHARS)
        return "%s of `%s`:\n\n%s" % (
            "Error" if block.get("is_error") else "Result",
            _line(block["name"]),
            _fenced(text),
        )
    if kind in ("document", "image"):
        return "*%s: %s*" % (kind, _line(block.get("name", block.get("media_type", ""))))
    return ""  # thinking, and what a service made for itself


def _fenced(text: str, language: str = "") -> str:
    """Return a text between fences longer than any in it."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return "%s%s\n%s\n%s" % (fence, language, text, fence)


def _line(text: object) -> str:
    return " ".join(str(text).split())
