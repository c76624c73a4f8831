"""The workers as the daemon sees them: started when a model is first asked, on many routers never."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.llm.pool import Cancelled, Event, OnEvent, Pool


# MCP servers that are asked at once; each request of one is short, or waits for its server alone.
_SERVERS = 4
# A messenger waits for most of its life; only the daemon's end hurries.
_MESSENGER_TICK_MS = 500


class Models:
    """The pool of workers, as the settings want it; `prepare()` is called before each start of one."""

    def __init__(self, max_workers: int, idle_s: int, user: str, prepare: Callable[[], None]) -> None:
        self._max_workers = max_workers
        self._idle_s = idle_s
        self._user = user
        self._prepare = prepare
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._servers: Pool | None = None
        self._is_closed = False

    def set(self, max_workers: int, idle_s: int) -> None:
        """Take over other settings; workers that are there already stay."""
        with self._lock:
            self._max_workers, self._idle_s = max_workers, idle_s
            if self._pool is not None:
                self._pool.set(max_workers, idle_s)

    def chat(self, request: Event, on_event: OnEvent, cancelled: Cancelled) -> None:
        """Ask a model; see the pool."""
        self._opened().chat(request, on_event, cancelled)

    def models(self, request: Event, cancelled: Cancelled) -> list[Event]:
        """Return the models of a service; see the pool."""
        return self._opened().models(request, cancelled)

    def embed(
        self, request: Event, texts: list[str], cancelled: Cancelled = None, on_event: OnEvent = lambda event: None
    ) -> list[list[float]]:
        """Return a vector for each text; see the pool."""
        return self._opened().embed(request, texts, cancelled, on_event)

    def show(self, request: Event, cancelled: Cancelled) -> Event:
        """Return the HTTP request that a chat would make; see the pool."""
        return self._opened().show(request, cancelled)

    def post(self, request: Event, on_event: OnEvent, cancelled: Cancelled) -> None:
        """Send a message to an MCP server; see the pool. Its workers are not those that models wait for."""
        self._beside().post(request, on_event, cancelled)

    def web(self, request: Event, cancelled: Cancelled) -> Event:
        """Fetch a page or search the web; see the pool. Not by the workers that models wait for."""
        return self._beside().web(request, cancelled)

    def messenger(self) -> Pool:
        """Return a new pool for a messenger, of one worker that waits for messages and one that sends: see post.

        Who has it closes it.
        """
        return self._made(2, tick_ms=_MESSENGER_TICK_MS)

    def _beside(self) -> Pool:
        with self._lock:
            if self._servers is None:
                self._servers = self._made(_SERVERS)
            if self._is_closed:
                self._servers.close()  # as below
            return self._servers

    def _opened(self) -> Pool:
        with self._lock:
            if self._pool is None:
                self._pool = self._made(self._max_workers)
            if self._is_closed:
                self._pool.close()  # which answers that oasis is stopping
            return self._pool

    def _made(self, max_workers: int, tick_ms: int = 0) -> Pool:
        from oasis.llm.pool import Pool, default_argv

        argv, is_fenced, idle_s = default_argv(user=self._user), bool(self._user), self._idle_s
        return Pool(
            argv, None, max_workers, idle_s,
            prepare=self._prepare, is_fenced=is_fenced, tick_ms=tick_ms, user=self._user,
        )  # fmt: skip

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._is_closed = True
            for pool in (self._pool, self._servers):
                if pool is not None:
                    pool.close()
