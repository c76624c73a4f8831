"""What can be asked of the workers, and the workers as the daemon has them: on many routers none is ever started.

The pool behind them (pool.py) and the counts (usage.py) are loaded with the first request: an idle daemon would pay
most for those.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from oasis.errors import OasisError, PeerError, ProviderError, UsageError

if False:  # annotations only
    from oasis.llm.pool import Pool
    from oasis.llm.shapes import Shown
    from oasis.llm.usage import Usage
    from oasis.providers.shapes import Event, Model

    Plain = dict[str, object]  # a request or an event of lines.py; other rooms have types of their own for those
    OnEvent = Callable[[Plain], None]
    Cancelled = Callable[[], bool] | threading.Event | None

# Of one call: 1024 vectors of 1024 numbers are 32 MB as Python has them, what a larger router can still hold.
EMBED_TEXTS = 1024
# Of one request: some services take no more than 96, and the vectors of all stay below lines.REQUEST_BYTES.
_EMBED_STEP = 64

# Operations that cost something; a list of models is free, and `show` sends nothing.
_COUNTED = ("chat", "embed")
OF_MODELS = ("chat", "models", "embed", "show")
# MCP servers that are asked at once; each request of one is short, or waits for its server alone.
_SERVERS = 4
TICK_MS: int = 50
# A messenger waits for most of its life; only the daemon's end hurries.
_MESSENGER_TICK_MS = 500


class Requests:
    """What can be asked of the workers; how a request gets to one is said by `ask`.

    All but chat and post raise ProviderError with the kind of failure as `code`.
    """

    def ask(self, request: Plain, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        """Have a request (lines.py, without `id`) answered; `on_event` gets each event, the last one is the ending.

        Blocks until then. A cancelled request ends with the error `cancelled`.
        """
        raise NotImplementedError

    def chat(self, request: Plain, on_event: OnEvent, cancelled: Cancelled = None, urgent: bool = True) -> None:
        """Ask a model; call `on_event` with each event, the last is `done` or `error`."""
        self.ask({**request, "op": "chat"}, on_event, cancelled, urgent)

    def post(self, request: Plain, on_event: OnEvent, cancelled: Cancelled = None) -> None:
        """Send a message to an MCP server, or what the request's own op says; call `on_event` with each event.

        The last is `mcp`, or the ending of that op, or `error`. What `on_event` raises ends the worker.
        """
        self.ask({"op": "mcp", **request}, on_event, cancelled, True)

    def models(self, request: Plain, cancelled: Cancelled = None) -> list[Model]:
        """Return the models of a service."""
        return self._events({**request, "op": "models"}, cancelled, False)[-1]["models"]

    def embed(self, request: Plain, texts: list[str], cancelled: Cancelled = None) -> list[list[float]]:
        """Return a vector for each text, in order, by several requests; raise UsageError for too many texts."""
        if len(texts) > EMBED_TEXTS:
            raise UsageError(f"{len(texts)} texts are too many at once", f"embed at most {EMBED_TEXTS}")
        found: list[list[float]] = []
        for at in range(0, len(texts), _EMBED_STEP):
            step = texts[at : at + _EMBED_STEP]
            events = self._events({**request, "op": "embed", "texts": step}, cancelled, False)
            vectors = [event["embedding"] for event in events if event["type"] == "embedding"]
            found += [[float(number) for number in vector] for vector in vectors]
            if len(found) != at + len(step):
                raise PeerError(f"the worker gave {len(found) - at} embeddings for {len(step)} texts")
        return found

    def show(self, request: Plain, cancelled: Cancelled = None) -> Shown:
        """Return the HTTP request that `chat` would make, and send nothing."""
        pieces = [event for event in self._events({**request, "op": "show"}, cancelled, True) if "url" in event]
        first, text = pieces[0], "".join(piece["text"] for piece in pieces)
        return {"method": first["method"], "url": first["url"], "headers": first["headers"], "text": text}

    def web(self, request: Plain, cancelled: Cancelled = None) -> Plain:
        """Fetch a page or search the web, as the request's op says; return the result of web.py."""
        return {**self._events(request, cancelled, True)[-1]["result"]}

    def _events(self, request: Plain, cancelled: Cancelled, urgent: bool) -> list[Event]:
        events: list[Event] = []
        self.ask(request, events.append, cancelled, urgent)  # type: ignore[arg-type]
        if events[-1]["type"] == "error":
            error = events[-1]["error"]
            raise ProviderError(error["message"], error["hint"], code=error["code"], retryable=error["retryable"])
        return events


class Models(Requests):
    """The workers as the settings want them, which count what models use, and the owner's budget in front of them.

    MCP servers, messengers and the web have workers of their own: models never wait for them. `prepare()` is called
    before each request is handed out, `make_usage()` gives the counts when the first request needs them. Models at home
    and the built-in one cost nothing and are never stopped. A budget that is spent is an error event like any other, so
    that another service may stand in.
    """

    def __init__(
        self, max_workers: int, idle_s: int, user: str, prepare: Callable[[], None], make_usage: Callable[[], Usage]
    ) -> None:
        self._most = {"models": max_workers, "servers": _SERVERS}
        self._idle_s = idle_s
        self._user = user
        self._prepare = prepare
        self._make_usage = make_usage
        self._usage: Usage | None = None
        self._lock = threading.Lock()
        self._pools: dict[str, Pool] = {}
        self._is_closed = False

    def set(self, max_workers: int, idle_s: int) -> None:
        """Take over other settings; workers that are there already stay."""
        with self._lock:
            self._idle_s = idle_s
            self._most["models"] = max_workers
            for name, pool in self._pools.items():
                pool.set(self._most[name], idle_s)

    def usage(self) -> Usage:
        """Return the counts."""
        with self._lock:
            if self._usage is None:
                self._usage = self._make_usage()
            return self._usage

    def ask(self, request: Plain, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        """Have a request answered, counted when it asks a model; each request of `embed` counts by itself.

        A note that the budget is nearly spent comes before an answer, as {"type": "note", "text"}.
        """
        request = {**request}
        service, op = str(request.pop("service", "")), str(request.get("op"))
        if op == "chat":
            try:
                warning = self.usage().check(service)
            except OasisError as error:
                on_event({"type": "error", "error": {**error.as_dict(), "retryable": False}})
                return
            if warning:
                on_event({"type": "note", "text": warning})
        spent: Plain = {}
        endings = []

        def hear(event: Plain) -> None:
            used = event.get("usage")
            if event["type"] == "usage" and isinstance(used, dict):
                spent.update(used)
            elif event["type"] == "done":
                endings.append(event)
            on_event(event)

        try:
            self._pool_of(op).ask(request, hear, cancelled, urgent)
        finally:
            if op in _COUNTED and (spent or endings):  # not every server tells what it used
                self.usage().add(service, str(request.get("model", "")), spent)

    def embed(self, request: Plain, texts: list[str], cancelled: Cancelled = None) -> list[list[float]]:
        """Do as Requests.embed; raise BudgetError where the budget is spent."""
        self.usage().check(str(request.get("service", "")))
        return super().embed(request, texts, cancelled)

    def _pool_of(self, op: str) -> Pool:
        name = "models" if op in OF_MODELS else "servers"
        with self._lock:
            if name not in self._pools:
                self._pools[name] = self._pool(self._most[name])
            pool = self._pools[name]
            if self._is_closed:
                pool.close()  # which answers that oasis is stopping
        return pool

    def messenger(self) -> Pool:
        """Return a new pool for a messenger, which the caller closes: one worker waits for messages, one sends."""
        return self._pool(2, _MESSENGER_TICK_MS)

    def _pool(self, max_workers: int, tick_ms: int = TICK_MS) -> Pool:
        from oasis.llm.pool import Pool, default_argv

        return Pool(
            default_argv(user=self._user), max_workers=max_workers, idle_s=self._idle_s, prepare=self._prepare,
            is_fenced=bool(self._user), tick_ms=tick_ms, user=self._user,
        )  # fmt: skip

    def close(self) -> None:
        """End all workers, and put what is counted on flash."""
        with self._lock:
            self._is_closed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()
        if self._usage is not None:
            self._usage.close()
