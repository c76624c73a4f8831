"""What an image or document block is, so that each vendor can say it in its own form. Knows no vendor and no file.

A block is {"type": "image" | "document", "media_type", "sha256", "name"?, "data"?: base64}; `data` was read by the
caller, it is missing where the file is gone. What a vendor cannot take becomes a note, so that the model knows of it
and the chat goes on.
"""

from __future__ import annotations

import base64
import binascii

Block = dict[str, object]

PDF = "application/pdf"

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


def _name_of(block: Block) -> str:
    return " ".join(str(block.get("name") or "").split())


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
