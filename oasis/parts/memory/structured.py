"""Ask a small model for JSON of a given schema, outside any turn; and a service for vectors.

Where a service can be held to a schema it is; one that does not take that is asked again without, and from then on.
Answers are read leniently: small models put fences and words around it. `ask(service, messages,
is_cancelled)` asks a model and gives its words. Knows no socket and no chat.

Embeddings come from the service of the alias `embedding`; without one, everything is compared by words. What the router
holds in secret is hidden on the way out.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import OasisError, ProviderError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from oasis.agent.client import Asking
    from oasis.api.parts import Services
    from oasis.config.settings import Settings
    from oasis.config.shapes import Service
    from oasis.core.shapes import Json, Message
    from oasis.llm.usage import Metered
    from oasis.parts.memory.shapes import IsCancelled, Progress

    Schema = dict[str, Json]
    Ask = Callable[[Service, list[Message], IsCancelled], str]


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
    def of(cls, asking: Asking) -> Structured:
        """Return one that asks through the daemon's model client, outside any chat."""
        return cls(lambda service, said, end: asking.side_request(service, "", said, end))

    def answer(self, service: Service, messages: list[Message], schema: Schema, is_cancelled: IsCancelled) -> str:
        """Return a model's words, which are JSON where the service can be held to it.

        Raises: ProviderError when it fails.
        """
        plain: Service = {**service, "options": {**service["options"], "temperature": 0, "max_tokens": MOST_TOKENS}}
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


def value(words: str, first: str, last: str) -> Json:
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


ALIAS = "embedding"
# Of one request of the pool (llm/pool.py takes 1024), so that a long text can be left off in between.
AT_ONCE = 64
# What the shortest of today's models read of a text is less; nobody should pay for more.
TEXT_CHARS = 4000


class Embedder:
    """Vectors by the service that the owner chose for them; `name` is "" without one."""

    def __init__(self, settings: Settings, models: Metered, hide: Callable[[str], str]) -> None:
        self._settings = settings
        self._models = models
        self._hide = hide

    @property
    def name(self) -> str:
        """Return service/model, which vectors are labelled with; "" where there is none, or it cannot be used now."""
        try:
            service = self._service()
        except OasisError:
            return ""
        return "" if service is None else "%s/%s" % (service["identifier"], service["model"])

    @property
    def is_local(self) -> bool:
        """Return whether what is compared stays at home; for who has a name."""
        service = self._service()
        return service is not None and service["is_local"]

    def _service(self) -> Service | None:
        if ALIAS not in self._settings.aliases():
            return None
        service = self._settings.service(ALIAS)
        return None if service["vendor"] == "offline" else service

    def embed(self, texts: Sequence[str], is_cancelled: IsCancelled = lambda: False) -> list[list[float]] | None:
        """Return a vector for each text, None where no service is set for it.

        Raises: SettingsError when the service cannot be used, ProviderError when it fails.
        """
        found = self.each(texts, is_cancelled)
        return None if found is None else list(found)

    def each(
        self, texts: Sequence[str], is_cancelled: IsCancelled = lambda: False,
        told: Progress = lambda done, total: None,
    ) -> Iterator[list[float]] | None:  # fmt: skip
        """Do the same in steps, while the vectors are taken; `told(done, total)` hears how far it is."""
        service = self._service()
        return None if service is None else self._steps(service, texts, is_cancelled, told)

    def _steps(
        self, service: Service, texts: Sequence[str], is_cancelled: IsCancelled, told: Progress
    ) -> Iterator[list[float]]:
        for at in range(0, len(texts), AT_ONCE):
            told(at, len(texts))
            step = [self._hide(text[:TEXT_CHARS]) or "-" for text in texts[at : at + AT_ONCE]]
            made = self._models.embed(self._settings.request(service), step, is_cancelled)
            if len(made) != len(step) or len({len(vector) for vector in made}) > 1:
                raise ProviderError("%s gave vectors of several lengths" % service["name"], "choose another model")
            yield from made


def embedder(kit: Services) -> Embedder:
    """Return what makes vectors for the parts of a daemon (parts.py)."""
    return Embedder(kit.settings, kit.models, lambda text: str(kit.redactor.hide(text, "")))
