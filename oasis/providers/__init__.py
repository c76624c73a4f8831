"""Which vendors can be spoken to, and the data that tells their services apart.

A vendor is a module with the wire format of one API; a profile is a service that speaks it (address, key, quirks as
data). Every vendor module is a pure translator without socket, clock or settings:

    build_request(messages, tools, options) -> {"method", "url", "headers": {}, "body": bytes}
    Decoder(status, headers, options)       with feed(bytes) -> [event] and close() -> [event]
    models_request(options)                 -> request
    models_read(answer, options)            -> [{"id", "context_tokens"?, "tools"?}]

and, where the service has them, vectors of texts, one for each text in their order:

    embed_request(texts, options)           -> request
    embed_read(answer, options)             -> ([[float]], {"input_tokens": as reported})

A request raises SettingsError for a bad base_url, a missing model or a search that is not offered, SchemaError for a
tool whose schema is no object, UsageError for a file, or texts, that cannot be sent. `answer` is the JSON of a plain
answer (wire.answer_of); what reads it raises ProviderError.

`options` of all of them: {"base_url", "key", "model", "profile": {} (one entry of profiles.json), "stream": bool,
"max_tokens"?, "temperature"?, "tool_choice"?: auto, none, required or {"name": tool}, "strict"?: bool (arguments as
the schema says, where a service can; see wire.py), "extra"?: {} (body fields of the service, as it documents them),
"thinking"?: "off", "adaptive" (the model decides), "low", "medium", "high" or a number of tokens, "search"?: bool (the
service looks into the web), "cache"?: false (the service does not keep the prompt), "dimensions"? of a vector,
"input_type"? of texts to embed (Cohere)}.
Messages are those of the chat; an image or document block has its content as `data` (base64), see wire.py.
Events are the dicts made in events.py. A decoder's events end with exactly one `done` or `error`.

A new vendor is a new file, a line in VENDORS and a profile; docs/developer.md names what its tests must have.
"""

from __future__ import annotations

import functools
from types import ModuleType

from oasis.core import jsonl
from oasis.errors import SettingsError

if False:  # annotations only
    from oasis.providers.shapes import Profile

VENDORS = {
    "anthropic": "oasis.providers.anthropic",
    "gemini": "oasis.providers.gemini",
    "openai": "oasis.providers.openai_chat",
    "responses": "oasis.providers.responses",
    "cohere": "oasis.providers.cohere",
    "ollama": "oasis.providers.ollama",
}


def load(vendor: str) -> ModuleType:
    """Return the module of a vendor, imported when first asked for.

    Raises: SettingsError for a vendor that is not in the table.
    """
    if vendor not in VENDORS:
        raise SettingsError(f"vendor {vendor!r} is unknown", "use one of: " + ", ".join(sorted(VENDORS)))
    module: ModuleType = __import__(VENDORS[vendor], fromlist=(vendor,))
    return module


@functools.cache
def profiles() -> dict[str, Profile]:
    """Return every profile by its name, read once; profiles.json describes the keys of an entry. Not to be changed."""
    return {name: entry for name, entry in jsonl.table(__file__, "profiles.json").items() if not name.startswith("_")}
