"""What an image or document block is, so that each vendor can say it in its own form. Knows no vendor and no file.

A block is {"type": "image" | "document", "media_type", "sha256", "name"?, "data"?: base64}; `data` was read by the
caller, it is missing where the file is gone. What a vendor cannot take becomes a note, so that the model knows of it
and the chat goes on; `checked` makes it an error where the owner has just attached it and asks about it.
"""

from __future__ import annotations

import base64
import binascii

from oasis.errors import UsageError

Block = dict[str, object]

PDF = "application/pdf"

# What all services take that take images; others (TIFF, HEIC, BMP) some refuse and some misread.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")

# Written by people and programs as text, though their type does not begin with text/.
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
          "application/javascript", "application/x-sh")  # fmt: skip


def media_type_of(block: Block) -> str:
    """Return the media type in lower case, without parameters."""
    return str(block.get("media_type") or "").partition(";")[0].strip().lower()


def data_of(block: Block) -> str:
    """Return the content in base64; empty when it is not there or no base64."""
    data = block.get("data")
    return data if isinstance(data, str) and _decoded(data) is not None else ""


def is_text(block: Block) -> bool:
    kind = media_type_of(block)
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))


def kind_of(block: Block) -> str:
    """Return text, image or pdf; empty for what no service reads."""
    if is_text(block):
        return "text"
    kind = media_type_of(block)
    return "pdf" if kind == PDF else "image" if kind in IMAGES else ""


def data_url(block: Block) -> str:
    """Return the content as a URL. Source: RFC 2397."""
    return f"data:{media_type_of(block)};base64,{data_of(block)}"


def file_name(block: Block) -> str:
    """Return a name for a service that wants one, with the ending it expects."""
    return _name_of(block) or "document." + (media_type_of(block).rpartition("/")[2] or "bin")


def text_of(block: Block) -> str:
    """Return the content of a text document, its name on the first line."""
    raw = _decoded(str(block.get("data") or "")) or b""
    words = raw.decode("utf-8-sig", "replace")
    name = _name_of(block)
    return f"{name}:\n\n{words}" if name else words


def note_of(block: Block) -> str:
    """Return what stands in the place of a file that cannot be sent."""
    what = f"{block.get('type')} {_name_of(block)}".strip()
    if not data_of(block):
        return f"[{what}: no longer stored]"
    return f"[{what}: this model cannot read {media_type_of(block) or 'files without a type'}]"


def checked(messages: list[Block], takes: tuple[str, ...], label: str, in_results: tuple[str, ...] = ()) -> list[Block]:
    """Return the messages with only files of the kinds a service takes, a note in the place of every other one.

    `in_results` are the kinds it takes in the result of a tool.

    Raises: UsageError for a file in the newest message of the owner that it cannot take.
    """
    newest = [number for number, message in enumerate(messages) if _is_owners(message)][-1:]
    out: list[Block] = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            kept = [_checked(block, takes, label if number in newest else "", in_results) for block in content]
            message = {**message, "content": kept}
        out.append(message)
    return out


def _is_owners(message: Block) -> bool:
    """Tell whether the owner said something here: a user's message of results alone is a program's."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    is_said = any(isinstance(block, dict) and block.get("type") != "tool_result" for block in blocks)
    return message.get("role") == "user" and (is_said or not blocks)


def _checked(block: object, takes: tuple[str, ...], label: str, in_results: tuple[str, ...]) -> object:
    """Return the block, or a text in its place; `label` names the service when a refusal must be told."""
    if not isinstance(block, dict):
        return block
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        return {**block, "content": [_checked(part, in_results, "", ()) for part in content]}
    if block.get("type") not in ("image", "document") or (kind_of(block) in takes and data_of(block)):
        return block
    if label and data_of(block):
        what = f"{_name_of(block) or 'the attached file'} ({media_type_of(block) or 'of no known type'})"
        readable = " or ".join([_WORDS[kind] for kind in takes]) or "text in the message itself"
        raise UsageError(f"{label} cannot read {what}", f"attach it as {readable}, or choose another service")
    if kind_of(block) == "text" and data_of(block):
        return {"type": "text", "text": text_of(block)}
    return {"type": "text", "text": note_of(block)}


_WORDS = {"text": "a text file", "image": "an image (PNG, JPEG, GIF, WebP)", "pdf": "a PDF"}


def _name_of(block: Block) -> str:
    return " ".join(str(block.get("name") or "").split())


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
