"""One skill as a text and as a value. Knows no file, no tool and no model.

Shape of a skill: {"name", "description", "words": [text], "tools": [name] or None for all, "model": "" for none,
"text": its instructions}
"""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Skill = dict[str, Any]

# Instructions of two pages; a small model has room for no more.
SKILL_BYTES = 8 * 1024
NAME_CHARS = 40
LINE_CHARS = 200
WORDS, WORD_CHARS = 64, 60
TOOLS = 16
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
_TOOL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_MODEL = _TOOL + "/:@+"
_KEYS = ("name", "description", "words", "tools", "model")
_FENCE = "---"
_HINT = "a skill begins with ---, lines `name: …` and `description: …`, and --- again; `oasis skills show NAME` has one"


def is_name(name: str) -> bool:
    """Return whether something can be the name of a skill, and so of its file."""
    return 0 < len(name) <= NAME_CHARS and not name.strip(_NAME) and name[0] != "-" and name[-1] != "-"


def parse(data: bytes | str, name: str) -> Skill:
    """Return the skill of that name from its text.

    Raises: UsageError naming what is wrong.
    """
    text = _text(data)
    head, body = _parts(text, name)
    if head.get("name", name) != name or not is_name(name):
        raise UsageError("the skill %r calls itself %r" % (name[:NAME_CHARS], head.get("name", "")[:NAME_CHARS]), _HINT)
    if not head.get("description") or not body:
        raise UsageError(
            "the skill %s has no %s" % (name, "instructions" if head.get("description") else "description"), _HINT
        )
    tools = _listed(head, "tools", name, TOOLS, NAME_CHARS * 2) if "tools" in head else None
    for word, allowed in [*[(tool, _TOOL) for tool in tools or []], (head.get("model", ""), _MODEL)]:
        if word.strip(allowed):
            raise UsageError("the skill %s has a head with %r in it" % (name, word[:LINE_CHARS]), _HINT)
    return {
        "name": name,
        "description": head["description"],
        "words": _listed(head, "words", name, WORDS, WORD_CHARS),
        "tools": tools,
        "model": head.get("model", ""),
        "text": body,
    }


def _text(data: bytes | str) -> str:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > SKILL_BYTES:
        raise UsageError("a skill has at most %d bytes, this one %d" % (SKILL_BYTES, len(raw)), "say it in fewer words")
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UsageError("a skill is a text in UTF-8")
    if clean.text(text) != text:
        raise UsageError("a skill has characters in it that nobody sees", "type it anew, or save it as plain text")
    return text


def _parts(text: str, name: str) -> tuple[dict[str, str], str]:
    lines = text.strip().split("\n")
    ends = [number for number, line in enumerate(lines) if line.strip() == _FENCE]
    if len(ends) < 2 or ends[0]:
        raise UsageError("the skill %s has no head" % name[:NAME_CHARS], _HINT)
    head: dict[str, str] = {}
    for line in lines[1 : ends[1]]:
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not line.strip():
            continue
        if not colon or key not in _KEYS or key in head:
            raise UsageError("the head of the skill %s has the line %r" % (name[:NAME_CHARS], line[:LINE_CHARS]),
                             "it has: " + ", ".join(_KEYS))  # fmt: skip
        head[key] = value.strip()
    if len(head.get("description", "")) > LINE_CHARS or len(head.get("model", "")) > LINE_CHARS:
        raise UsageError(
            "a line in the head of the skill %s is too long" % name[:NAME_CHARS], "at most %d" % LINE_CHARS
        )
    return head, "\n".join(lines[ends[1] + 1 :]).strip()


def _listed(head: dict[str, str], key: str, name: str, most: int, most_chars: int) -> list[str]:
    found = [word.strip() for word in head.get(key, "").split(",") if word.strip()]
    if len(found) > most or any(len(word) > most_chars for word in found):
        raise UsageError(
            "the skill %s has too many %s, or too long ones" % (name, key),
            "at most %d of %d characters" % (most, most_chars),
        )
    return found
