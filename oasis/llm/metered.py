"""Asks models, counts what they used, and asks no more where the owner's budget is spent.

Stands in front of the models (models.chat, models.models, models.embed) and looks at each request and its `usage`
events; whatever asks a model goes through here: answers, titles, summaries, trials, vectors. Models at home and the
built-in one cost nothing and are never stopped. A budget that is spent is an error event like any other, so that
another service may stand in.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError

if False:  # annotations only
    from oasis.core.shapes import Any, Callable, Protocol
    from oasis.llm.usage import Usage

    class Models(Protocol):
        def chat(self, request: Any, on_event: Any, cancelled: Any) -> None: ...
        def models(self, request: Any, cancelled: Any) -> list[dict[str, object]]: ...
        def embed(self, request: Any, texts: list[str], cancelled: Any, on_event: Any) -> list[list[float]]: ...
        def show(self, request: Any, cancelled: Any) -> dict[str, Any]: ...
        def post(self, request: Any, on_event: Any, cancelled: Any) -> None: ...
        def messenger(self) -> Any: ...
        def web(self, request: Any, cancelled: Any) -> dict[str, Any]: ...
        def close(self) -> None: ...


class Metered:
    """`make()` gives the counts, when the first request needs them: an idle daemon has none."""

    def __init__(self, models: Models, make: Callable[[], Usage]) -> None:
        self._models = models
        self._make = make
        self._made: Usage | None = None
        self._lock = threading.Lock()

    def usage(self) -> Usage:
        """Return the counts."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def close(self) -> None:
        """End all workers, and put what is counted on flash."""
        self._models.close()
        if self._made is not None:
            self._made.close()

    def post(self, request: Any, on_event: Any, cancelled: Any) -> None:
        """Send a message to an MCP server, which no budget is about."""
        self._models.post(request, on_event, cancelled)

    def messenger(self) -> Any:
        """Return a new pool for a messenger, which no budget is about either."""
        return self._models.messenger()

    def web(self, request: dict[str, Any], cancelled: Any) -> dict[str, Any]:
        """Fetch a page or search the web; no service is asked, so nothing is counted."""
        return self._models.web(request, cancelled)

    def chat(self, request: dict[str, Any], on_event: Callable[[dict[str, Any]], None], cancelled: Any) -> None:
        """Ask a model. A note that the budget is nearly spent comes before its answer, as {"type": "note", "text"}."""
        service = str(request.pop("service", ""))
        spent: dict[str, Any] = {}
        endings = []

        def hear(event: dict[str, Any]) -> None:
            if event["type"] == "usage":
                spent.update(event["usage"])
            elif event["type"] == "done":
                endings.append(event)
            on_event(event)

        try:
            warning = self.usage().check(service)
        except OasisError as error:
            on_event({"type": "error", "error": {**error.as_dict(), "retryable": False}})
            return
        if warning:
            on_event({"type": "note", "text": warning})
        try:
            self._models.chat(request, hear, cancelled)
        finally:
            if spent or endings:  # not every server tells what it used
                self.usage().add(service, str(request.get("model", "")), spent)

    def show(self, request: dict[str, Any], cancelled: Any) -> dict[str, Any]:
        """Return the HTTP request that a chat would make; nothing is sent, so nothing is counted."""
        request.pop("service", None)
        return self._models.show(request, cancelled)

    def models(self, request: dict[str, Any], cancelled: Any) -> list[dict[str, object]]:
        """Return the models of a service, which is free."""
        request.pop("service", None)
        return self._models.models(request, cancelled)

    def embed(self, request: dict[str, Any], texts: list[str], cancelled: Any) -> list[list[float]]:
        """Return a vector for each text; what is asked for in several steps is several requests.

        Raises: OasisError where the budget is spent.
        """
        service, model = str(request.pop("service", "")), str(request.get("model", ""))
        spent: dict[str, Any] = {}

        def hear(event: dict[str, Any]) -> None:
            if event["type"] == "usage":
                spent.update(event["usage"])
            elif event["type"] == "done":
                self.usage().add(service, model, spent)
                spent.clear()

        self.usage().check(service)
        return self._models.embed(request, texts, cancelled, hear)
