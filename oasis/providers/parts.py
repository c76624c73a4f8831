"""The owner's message as OpenAI's form has it, and Cohere's: a text, or a list of parts when there are files."""

from __future__ import annotations

from oasis.providers import documents, gate

Dict = dict[str, object]


def content_of(message: gate.Message) -> object:
    """Return a text, or the list of parts when there are files: not all servers know parts."""
    content = message["content"]
    assert isinstance(content, list)
    if all(block["type"] not in ("image", "document") for block in content):
        return gate.text_of(message)
    return [_part(block) for block in content if block["type"] in ("text", "image", "document")]


def _part(block: gate.Block) -> Dict:
    kind = "words" if block["type"] == "text" else documents.kind_of(block)
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": documents.data_url(block)}}
    if kind == "pdf":
        file = {"filename": documents.file_name(block), "file_data": documents.data_url(block)}
        return {"type": "file", "file": file}
    return {"type": "text", "text": block["text"] if kind == "words" else documents.text_of(block)}
