"""What can be asked of the workers, and the workers as the daemon has them: on many routers none is ever started.

The pool behind them (pool.py) is loaded with the first request: it is what an idle daemon would pay most for.
"""

from __future__ import annotations

import threading

from oasis.errors import PeerError, ProviderError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.llm.pool import Pool
    from oasis.llm.shapes import Shown
    from oasis.providers.shapes import Event, Model

    Plain = dict[str, object]  # a request or an event of lines.py; other rooms have types of their own for those
    OnEvent = Callable[[Plain], None]
    Cancelled = Callable[[], bool] | threading.Event | None

# Of one call: 1024 vectors of 1024 numbers are 32 MB as Python has them, what a larger router can still hold.
EMBED_TEXTS = 1024
# Of one request: some services take no more than 96, and the vectors of all stay below lines.REQUEST_BYTES.
_EMBED_STEP = 64

OF_MODELS = ("chat", "models", "embed", "show")
# MCP servers that are asked at once; each request of one is short, or waits for its server alone.
_SERVERS = 4
# A messenger waits for most of its life; only the daemon's end hurries.
TICK_MS, _MESSENGER_TICK_MS = 50, 500


class Requests:
    """What can be asked of the workers; how a request gets to one is said by `ask`.

    All but chat and post raise ProviderError with the kind of failure as `code`.
    """

    def ask(self, request: Plain, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        """Have a request answered; call `on_event` with each event, the last one is the ending. Blocks until then.

        `request` is as in lines.py, without `id`. A cancelled request ends with the error `cancelled`.
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
        """Return a vector for each text, in their order; many texts are asked for in several requests.

        Raises: UsageError for too many texts.
        """
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
    """The workers as the settings want them; `prepare()` is called before each request is handed out.

    MCP servers, messengers and the web have workers of their own: models never wait for them.
    """

    def __init__(self, max_workers: int, idle_s: int, user: str, prepare: Callable[[], None]) -> None:
        self._most = {"models": max_workers, "servers": _SERVERS}
        self._idle_s = idle_s
        self._user = user
        self._prepare = prepare
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

    def ask(self, request: Plain, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        """Have a request answered; see Requests."""
        name = "models" if request.get("op") in OF_MODELS else "servers"
        with self._lock:
            if name not in self._pools:
                self._pools[name] = self._pool(self._most[name])
            pool = self._pools[name]
            if self._is_closed:
                pool.close()  # which answers that oasis is stopping
        pool.ask(request, on_event, cancelled, urgent)

    def messenger(self) -> Pool:
        """Return a new pool for a messenger, of one worker that waits for messages and one that sends: see post.

        The caller closes it.
        """
        return self._pool(2, _MESSENGER_TICK_MS)

    def _pool(self, max_workers: int, tick_ms: int = TICK_MS) -> Pool:
        from oasis.llm.pool import Pool, default_argv

        return Pool(
            default_argv(user=self._user), max_workers=max_workers, idle_s=self._idle_s, prepare=self._prepare,
            is_fenced=bool(self._user), tick_ms=tick_ms, user=self._user,
        )  # fmt: skip

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._is_closed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()
