"""Asks the service of the alias `embedding` for vectors; where there is none, everything goes by words.

What the router holds in secret is hidden on its way out. Knows neither documents nor facts.
"""

from __future__ import annotations

from oasis.errors import OasisError, ProviderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

ALIAS = "embedding"
# Of one request of the pool (llm/pool.py takes 1024), so that a long text can be left off in between.
AT_ONCE = 64
# What the shortest of today's models read of a text is less; nobody should pay for more.
TEXT_CHARS = 4000


class Embedder:
    """Vectors by the service that the owner chose for them; `name` is "" where he chose none."""

    def __init__(self, settings: Any, models: Any, hide: Callable[[str], str]) -> None:
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
        return bool((self._service() or {}).get("is_local"))

    def _service(self) -> dict[str, Any] | None:
        if ALIAS not in self._settings.aliases():
            return None
        service: dict[str, Any] = self._settings.service(ALIAS)
        return None if service["vendor"] == "offline" else service

    def embed(self, texts: Sequence[str], is_cancelled: Callable[[], bool] = lambda: False) -> list[list[float]] | None:
        """Return a vector for each text, None where no service is set for it.

        Raises: SettingsError when the service cannot be used, ProviderError when it fails.
        """
        found = self.each(texts, is_cancelled)
        return None if found is None else list(found)

    def each(
        self, texts: Sequence[str], is_cancelled: Callable[[], bool] = lambda: False,
        told: Callable[[int, int], object] = lambda done, total: None,
    ) -> Iterator[list[float]] | None:  # fmt: skip
        """Do the same in steps, while the vectors are taken; `told(done, total)` hears how far it is."""
        service = self._service()
        return None if service is None else self._steps(service, texts, is_cancelled, told)

    def _steps(
        self, service: dict[str, Any], texts: Sequence[str], is_cancelled: Callable[[], bool], told: Any
    ) -> Iterator[list[float]]:
        for at in range(0, len(texts), AT_ONCE):
            told(at, len(texts))
            step = [self._hide(text[:TEXT_CHARS]) or "-" for text in texts[at : at + AT_ONCE]]
            made = self._models.embed(self._settings.request(service), step, is_cancelled)
            if len(made) != len(step) or len({len(vector) for vector in made}) > 1:
                raise ProviderError("%s gave vectors of several lengths" % service["name"], "choose another model")
            yield from made


def embedder(kit: Any) -> Embedder:
    """Return what makes vectors for the parts of a daemon (beside.py)."""
    return Embedder(kit.settings, kit.models, lambda text: str(kit.redactor.hide(text, "")))
