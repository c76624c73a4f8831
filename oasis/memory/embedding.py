"""Asks the service of the alias `embedding` for vectors; where there is none, everything goes by words.

What the router holds in secret is hidden on its way out. Knows neither documents nor facts.
"""

from __future__ import annotations

from oasis.errors import OasisError, ProviderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

ALIAS = "embedding"
# Of one request of the pool (worker/pool.py takes 1024), so that a long text can be left off in between.
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

    def _service(self) -> dict[str, Any] | None:
        if ALIAS not in self._settings.aliases():
            return None
        service: dict[str, Any] = self._settings.service(ALIAS)
        return None if service["vendor"] == "offline" else service

    def embed(
        self, texts: Sequence[str], is_cancelled: Callable[[], bool] = lambda: False,
        told: Callable[[int, int], object] = lambda done, total: None,
    ) -> list[list[float]] | None:  # fmt: skip
        """Return a vector for each text, None where no service is set for it; `told(done, total)` hears how far it is.

        Raises: SettingsError when the service cannot be used, ProviderError when it fails.
        """
        service = self._service()
        if service is None:
            return None
        found: list[list[float]] = []
        for at in range(0, len(texts), AT_ONCE):
            told(at, len(texts))
            step = [self._hide(text[:TEXT_CHARS]) or "-" for text in texts[at : at + AT_ONCE]]
            found += self._models.embed(self._settings.request(service), step, is_cancelled)
        if len({len(vector) for vector in found}) > 1 or len(found) != len(texts):
            raise ProviderError("%s gave vectors of several lengths" % service["name"], "choose another model")
        return found


def embedder(kit: Any) -> Embedder:
    """Return what makes vectors for the parts of a daemon (beside.py)."""
    return Embedder(kit.settings, kit.models, lambda text: str(kit.redactor.hide(text, "")))
