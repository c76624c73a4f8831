"""What OpenAI-class services offer beside chats: the list of their models, and embeddings.

Pure translation, see the package's contract. Source: OpenAI API reference, "Models" and "Embeddings".
"""

from __future__ import annotations

from oasis.providers import events, vectors, wire
from oasis.providers.wire import Options, Request

Dict = dict[str, object]

TEXTS = 2048  # at once

# What people copy from a service's pages as its address, and what of it is no part of the address.
_TAILS = ("/chat/completions", "/responses", "/embeddings", "/models")


def url(options: Options, path: str) -> str:
    """Return the address of a method.

    Raises: SettingsError when base_url is missing or no http address.
    """
    base = wire.base_url_of(options)
    for tail in _TAILS:
        base = base[: -len(tail)] if base.endswith(tail) else base
    return base + path


def models_request(options: Options) -> Request:
    """Return the request for the list of models."""
    return wire.get(options, url(options, "/models"))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models: {"id", "context_tokens"?, "tools"?}.

    Raises: ProviderError with the kind of failure.
    """
    return [_model(entry) for entry in wire.models_of(status, headers, body, options, "data", "id", is_bare=True)]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["dimensions"] shortens them where a model can.

    Raises: UsageError for texts that cannot be sent, SettingsError for a bad base_url or missing model.
    """
    body: Dict = {
        "model": wire.model_of(options),
        "input": vectors.asked(texts, TEXTS, options),
        "encoding_format": "float",
    }
    if options.get("dimensions") is not None:
        body["dimensions"] = options["dimensions"]
    return wire.post({**options, "stream": False}, url(options, "/embeddings"), body)


def embed_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> vectors.Made:
    """Return the embeddings in the order of the texts, and the tokens that they took.

    Raises: ProviderError with the kind of failure.
    """
    answer = wire.answer_of(status, headers, body, options)
    listed = answer.get("data") if isinstance(answer, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    places = [entry.get("index") for entry in entries]
    if all(type(place) is int for place in places):  # they are only compared
        entries.sort(key=lambda entry: int(entry["index"]))
    usage = vectors.part(answer, "usage")
    tokens = usage.get("prompt_tokens", usage.get("total_tokens"))
    return vectors.read([entry.get("embedding") for entry in entries], options), {"input_tokens": tokens}


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["id"]))}
    for name in ("context_length", "context_window", "max_context_length", "max_model_len"):
        room = events.count(entry.get(name))
        if room is not None:
            model["context_tokens"] = room
    abilities, parameters = entry.get("capabilities"), entry.get("supported_parameters")
    if isinstance(abilities, dict) and isinstance(abilities.get("function_calling"), bool):
        model["tools"] = abilities["function_calling"]
    elif isinstance(parameters, list):
        model["tools"] = "tools" in parameters
    return model
