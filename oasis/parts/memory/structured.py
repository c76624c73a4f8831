"""Ask a small model for JSON of a given schema, beside any turn.

Where a service can be held to a schema it is; one that does not take that is asked again without, and from then on.
What comes back is read with patience: small models put fences and words around it. `ask(service, messages,
is_cancelled)` asks a model and gives its words. Knows no socket and no chat.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import OasisError, ProviderError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Service = dict[str, Any]
    Ask = Callable[[Service, list[dict[str, Any]], Callable[[], bool]], str]

OFFLINE = "offline"
# The fault of a request that a service does not understand; others say nothing about the schema.
_REFUSED = "invalid_request"
# An answer for a program is short; a model that rambles is stopped.
MOST_TOKENS = 1000
ANSWER_CHARS = 16 * 1024


class Structured:
    """Remembers which services take no schema, as long as the daemon runs."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._without: set[tuple[str, str]] = set()

    @classmethod
    def of(cls, asking: Any) -> Structured:
        """Return one that asks by a daemon's asking.py, in no chat."""
        return cls(lambda service, said, end: asking.aside(service, "", said, end))

    def answer(
        self, service: Service, messages: list[dict[str, Any]], schema: dict[str, Any], is_cancelled: Callable[[], bool]
    ) -> str:
        """Return a model's words, which are JSON where the service can be held to it.

        Raises: ProviderError when it fails.
        """
        plain = {**service, "options": {**service["options"], "temperature": 0, "max_tokens": MOST_TOKENS}}
        plain["options"].pop("thinking", None)
        place = str(service["identifier"]), str(service["model"])
        fields = {} if place in self._without else _fields(str(service["vendor"]), schema)
        if fields:
            extra = plain["options"].get("extra")
            held = {**(extra if isinstance(extra, dict) else {}), **fields}
            try:
                return self._ask({**plain, "options": {**plain["options"], "extra": held}}, messages, is_cancelled)
            except ProviderError as error:
                if error.code != _REFUSED:
                    raise
                self._without.add(place)
        return self._ask(plain, messages, is_cancelled)


def value(words: str, first: str, last: str) -> Any:
    """Return the JSON from the first bracket of a kind to the last one, None where there is none.

    Source of the way to read it: the seed's, which takes an array out of whatever stands around it.
    """
    cut = words[:ANSWER_CHARS]
    start, end = cut.find(first), cut.rfind(last)
    if start < 0 or end < start:
        return None
    try:
        return jsonl.loads(cut[start : end + 1])
    except SchemaError:
        return None


def small(settings: Any, answering: Service, names: tuple[str, ...]) -> Service | None:
    """Return the service of the first alias that there is of `names`, else the one that answered; None for no model.

    What was said at home stays there: where a service of this house answered, none elsewhere is asked.
    """
    known = settings.aliases()
    for name in names:
        if name in known:
            try:
                found: Service = settings.service(name)
            except OasisError:
                continue  # its list tells what is wrong with it
            if found["vendor"] != OFFLINE and (found["is_local"] or not answering.get("is_local")):
                return found
    return answering if answering.get("vendor", OFFLINE) not in ("", OFFLINE) else None


def _fields(vendor: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a body that hold a service to a schema, {} where there are none that all its models take.

    Source: the API references of OpenAI (chat completions, responses), Ollama, Gemini and Cohere.
    """
    named = {"name": "answer", "schema": schema, "strict": True}
    if vendor == "openai":
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if vendor == "responses":
        return {"text": {"format": {"type": "json_schema", **named}}}
    if vendor == "ollama":
        return {"format": schema}
    if vendor == "gemini":
        return {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}}
    if vendor == "cohere":
        return {"response_format": {"type": "json_object", "json_schema": schema}}
    return {}
