"""A small model that is asked for JSON of a given schema, outside any turn.

Where a service can be held to a schema it is; one that does not take that is asked again without, and from then on.
Answers are read leniently: small models put fences and words around it.
"""

from __future__ import annotations

from oasis.config.settings import OFFLINE, Settings
from oasis.core import jsonl
from oasis.errors import OasisError, ProviderError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.config.shapes import Service
    from oasis.core.shapes import Json, Message
    from oasis.parts.memory.shapes import IsCancelled

    Schema = dict[str, Json]

# The fault of a request that a service does not understand; others say nothing about the schema.
_REFUSED = "invalid_request"
# An answer for a program is short; a model that rambles is stopped.
MOST_TOKENS = 1000
ANSWER_CHARS = 16 * 1024


def object_schema(properties: dict[str, Json]) -> Schema:
    """Return the schema of an object that has all of some properties and nothing else."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


class Structured:
    """Asks a model outside any chat; remembers which services take no schema."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._without: set[tuple[str, str]] = set()

    def answer(self, service: Service, messages: list[Message], schema: Schema, is_cancelled: IsCancelled) -> str:
        """Return a model's words: JSON where the service can be held to it. Raises: ProviderError when it fails."""
        plain: Service = {**service, "options": {**service["options"], "temperature": 0, "max_tokens": MOST_TOKENS}}
        plain["options"].pop("thinking", None)
        ask = self._kit.turn_starter().asking.side_request
        place = str(service["identifier"]), str(service["model"])
        fields = {} if place in self._without else _fields(str(service["vendor"]), schema)
        if fields:
            extra = plain["options"].get("extra")
            held = {**(extra if isinstance(extra, dict) else {}), **fields}
            try:
                return ask({**plain, "options": {**plain["options"], "extra": held}}, "", messages, is_cancelled)
            except ProviderError as error:
                if error.code != _REFUSED:
                    raise
                self._without.add(place)
        return ask(plain, "", messages, is_cancelled)


def value(words: str, first: str, last: str) -> Json:
    """Return the JSON from the first bracket of a kind to the last one, whatever stands around it, or None."""
    cut = words[:ANSWER_CHARS]
    start, end = cut.find(first), cut.rfind(last)
    if start < 0 or end < start:
        return None
    try:
        return jsonl.loads(cut[start : end + 1])
    except SchemaError:
        return None


def small(settings: Settings, answering: Service, names: tuple[str, ...]) -> Service | None:
    """Return the service of the first alias that there is of `names`, else the one that answered; None for no model.

    What was said at home stays there: where a service of this house answered, none elsewhere is asked.
    """
    known = settings.aliases()
    for name in names:
        if name in known:
            try:
                found = settings.service(name)
            except OasisError:
                continue  # its list tells what is wrong with it
            if found["vendor"] != OFFLINE and (found["is_local"] or not answering.get("is_local")):
                return found
    return answering if answering.get("vendor", OFFLINE) not in ("", OFFLINE) else None


def _fields(vendor: str, schema: Schema) -> dict[str, Json]:
    """Return the fields of a body that hold a service to a schema, {} where there are none that all its models take.

    Source: the API references of OpenAI (chat completions, responses), Ollama, Gemini and Cohere.
    """
    named: Schema = {"name": "answer", "schema": schema, "strict": True}
    fields: dict[str, dict[str, Json]] = {
        "openai": {"response_format": {"type": "json_schema", "json_schema": named}},
        "responses": {"text": {"format": {"type": "json_schema", **named}}},
        "ollama": {"format": schema},
        "gemini": {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}},
        "cohere": {"response_format": {"type": "json_object", "json_schema": schema}},
    }
    return fields.get(vendor, {})
