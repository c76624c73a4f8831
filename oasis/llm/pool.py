"""The daemon's side of the workers: start them, hand them requests, end them; every request gets exactly one ending.

Blocking calls for plain threads. A worker serves one request at a time; when all are busy, requests wait in line
(urgent ones first). A worker that breaks the protocol, dies or stays silent is killed, and its request ends as an
error event; others are not touched. An idle worker stays warm for `idle_s`, for the service that it has served: it may
be captured by then, and knows that one's key only. What a worker started is ended with the request that it was for
(process.py). Never holds a key longer than a request.
"""

from __future__ import annotations

import os
import pwd
import sys
import threading
import time

from oasis.core import jsonl
from oasis.errors import OasisError, PeerError
from oasis.llm.process import MARK, STOP_S, TICK_MS, Process, sweep
from oasis.llm.workers import OF_MODELS, Requests
from oasis.system import confinement
from oasis.system.digest import sha256
from oasis.worker import lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.llm.workers import Cancelled, Event, OnEvent

ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}

# What a worker may use up without a word on top of its own timeouts: start, DNS, two waits of 60 s before retries.
PATIENCE_S = 180.0


def default_argv(python: str = sys.executable, user: str = "") -> list[str]:
    """Return how to start the worker in worker/; it ends when it cannot become `user`."""
    folder, _, own = __file__.rpartition("/")
    folder = folder.rpartition("/")[0] + "/worker"
    suffix = own[own.index(".") :]  # .py, or .pyc where only bytecode is installed
    return [python, "-I", "-B", f"{folder}/__main__{suffix}", *([user] if user else [])]


class Pool(Requests):
    """At most `max_workers` workers, started when needed.

    `prepare()` is called before every request is handed out; what it raises (OasisError) is the request's ending.
    `is_fenced`: rules (confinement.py) keep the workers from the router itself, so that a refused connection
    there need not mean that nothing listens. `tick_ms`: how soon a request that waits notices that it is cancelled.
    `user`: the user that the workers become, which is for nothing else; "" when they keep the daemon's.
    """

    def __init__(
        self,
        argv: list[str],
        env: dict[str, str] | None = None,
        *,
        now_s: Callable[[], float] = time.monotonic,
        prepare: Callable[[], None] = lambda: None,
        max_workers: int = 2,
        idle_s: float = 60.0,
        is_fenced: bool = False,
        tick_ms: int = 0,
        user: str = "",
    ):
        self._argv = argv
        self._tick_ms = tick_ms or TICK_MS
        self._prepare = prepare
        self._is_fenced = is_fenced
        self._mark = f"{MARK}={os.urandom(12).hex()}"
        self._env = {**(ENV if env is None else env), MARK: self._mark.partition("=")[2]}
        self._uid = _uid(user)
        self._salt = os.urandom(16).hex()
        self._max_workers = max_workers
        self._idle_s = idle_s
        self._now_s = now_s
        self._changed = threading.Condition()
        self._waiting: list[tuple[bool, int]] = []
        self._numbers = 0
        self._busy = 0
        self._warm: list[tuple[float, str, Process]] = []  # until when, for which service
        self._serving: set[Process] = set()
        self._has_janitor = False
        self._is_closed = False

    def set(self, max_workers: int, idle_s: float) -> None:
        """Have other limits from the next request on."""
        with self._changed:
            self._max_workers, self._idle_s = max_workers, idle_s
            self._changed.notify_all()

    def close(self) -> None:
        """End all workers, their requests as well, and what they left behind; let no new one start."""
        with self._changed:
            was_closed, self._is_closed = self._is_closed, True
            warm, self._warm = self._warm, []
            serving = list(self._serving)
            self._changed.notify_all()
        for process in serving:
            process.end_now()
        for _, _, process in warm:
            process.stop()
        if self._numbers and not was_closed:
            sweep(self._uid, {process.pid for process in serving}, self._mark)

    def count(self) -> dict[str, int]:
        """Return how many requests are waiting and how many workers are busy or warm."""
        with self._changed:
            return {"waiting": len(self._waiting), "busy": self._busy, "warm": len(self._warm)}

    # One request

    def ask(self, request: Event, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        job = _Job(request, on_event, cancelled)
        if not self._take_seat(job, urgent):
            on_event(_CLOSED if self._is_closed else _CANCELLED)
            return
        try:
            ending = self._ending(job)
        except OasisError as error:
            ending = _CLOSED if self._is_closed else _error("worker", error.message, error.hint or _REPORT)
        except OSError as error:
            ending = _error("worker", f"no worker can be started: {error}", "check free memory and the installation")
        finally:
            self._leave_seat(job)
        on_event(ending)

    def _ending(self, job: _Job) -> Event:
        """Have the request answered and return its ending.

        Raises: PeerError when a worker broke the protocol, SchemaError for a request that is no JSON, OSError, and
        what `prepare` raises.
        """
        data = jsonl.line({**self._told_of_walls(job.request), "id": job.number})
        if len(data) > lines.REQUEST_BYTES:
            raise PeerError(f"the request has {len(data)} bytes, too many for one chat", "start a new chat")
        self._prepare()
        job.service = self._service_of(job.request)
        job.process = self._process(job.service)
        try:
            ending = self._serve(job, job.process, data)
        except _NeverSpokeError:
            job.process.stop(0)
            job.process = Process(self._argv, self._env)
            ending = self._serve(job, job.process, data)
        job.process.is_used = True
        job.is_healthy = ending is not _CANCELLED and not job.process.has_rest()
        return ending

    def _serve(self, job: _Job, process: Process, data: bytes) -> Event:
        """Have one worker answer; while it does, the end of the daemon may kill it."""
        with self._changed:
            if self._is_closed:
                return _CLOSED
            self._serving.add(process)
        try:
            return self._converse(job, process, data)
        finally:
            with self._changed:
                self._serving.discard(process)

    def _service_of(self, request: Event) -> str:
        """Return what tells one service from another, without a key that could be read from it."""
        options = request.get("options")
        known = options if isinstance(options, dict) else {}
        op = str(request.get("op"))
        parts = ["llm" if op in OF_MODELS else op, *(str(request.get(name)) for name in _OF_SERVICE)]
        return sha256(jsonl.line([self._salt, *parts, str(known.get("proxy")), str(known.get("proxy_auth"))]))

    def _told_of_walls(self, request: Event) -> Event:
        """Return a request that says when its service, should it be on the router, is behind the rules."""
        options = request.get("options")
        known = options if isinstance(options, dict) else {}
        if not self._is_fenced or confinement.lets(str(request.get("base_url") or "")):
            return request
        return {**request, "options": {**known, "walled": True}}

    def _converse(self, job: _Job, process: Process, data: bytes) -> Event:
        """Pass on the events of one request; return its ending without passing it on."""
        total, heard_s = 0, self._now_s()
        for line in process.talk(data, lines.EVENT_BYTES, self._tick_ms):
            if job.is_cancelled():
                job.grace_s = STOP_S
                return _CANCELLED
            if not line:
                if self._now_s() - heard_s > job.silence_s:
                    raise PeerError(f"the worker was silent for {job.silence_s:g} s")
                continue
            heard_s = self._now_s()
            total += len(line)
            if total > lines.REQUEST_BYTES:
                raise PeerError(f"the worker wrote more than {lines.REQUEST_BYTES} bytes")
            event = lines.decode(line, job.number)
            if event["type"] in lines.ENDINGS:
                return event
            job.on_event(event)
        if process.is_used and total == 0:
            raise _NeverSpokeError("a warm worker ended before it took the request")
        raise PeerError(*_obituary(process, str(job.request.get("key") or "")))

    # Seats

    def _take_seat(self, job: _Job, urgent: bool) -> bool:
        """Wait for a free worker and number the request; False when it was cancelled meanwhile."""
        with self._changed:
            self._numbers += 1
            ticket = (not urgent, self._numbers)
            self._waiting.append(ticket)
            while not self._is_closed and not job.is_cancelled():
                if self._busy < self._max_workers and ticket == min(self._waiting):
                    self._busy += 1
                    self._waiting.remove(ticket)
                    job.number = ticket[1]
                    return True
                self._changed.wait(0.2)
            self._waiting.remove(ticket)
            self._changed.notify_all()
            return False

    def _process(self, service: str) -> Process:
        """Return a warm worker of a service that still lives, else a new one, in the place of another's."""
        while True:
            with self._changed:
                mine = [one for one in self._warm if one[1] == service]
                is_full = self._busy + len(self._warm) > self._max_workers
                chosen = mine[-1] if mine else self._warm[0] if self._warm and is_full else None
                if chosen is not None:
                    self._warm.remove(chosen)
            if chosen is None:
                return Process(self._argv, self._env)
            process = chosen[2]
            if mine and process.is_alive() and not process.has_rest():
                return process
            process.stop(0)

    def _leave_seat(self, job: _Job) -> None:
        process = job.process
        if process is not None and not job.is_healthy:
            process.stop(job.grace_s)
        if process is not None and sweep(self._uid, {process.pid}, self._mark):
            print("oasisd: a worker had started other programs; they were ended", file=sys.stderr)
            if job.is_healthy:
                job.is_healthy = False
                process.stop(0)
        with self._changed:
            self._busy -= 1
            keep = job.is_healthy and not self._is_closed and self._idle_s > 0
            if process is not None and keep:
                self._warm.append((self._now_s() + self._idle_s, job.service, process))
                self._start_janitor()
            self._changed.notify_all()
        if process is not None and job.is_healthy and not keep:
            process.stop()

    # Idle workers

    def _start_janitor(self) -> None:
        if not self._has_janitor:
            self._has_janitor = True
            threading.Thread(target=self._reap, name="worker-janitor", daemon=True).start()

    def _reap(self) -> None:
        """End workers whose time is over; runs as long as there are idle ones."""
        while True:
            with self._changed:
                now_s = self._now_s()
                over = [process for until_s, _, process in self._warm if until_s <= now_s]
                self._warm = [pair for pair in self._warm if pair[0] > now_s]
                if not self._warm and not over:
                    self._has_janitor = False
                    return
                if not over:
                    self._changed.wait(max(0.01, min(until_s for until_s, _, _ in self._warm) - now_s))
            for process in over:
                process.stop()


class _Job:
    """One request on its way through the pool."""

    def __init__(self, request: Event, on_event: OnEvent, cancelled: Cancelled):
        self.request = request
        self.on_event = on_event
        self.is_cancelled = _as_callable(cancelled)
        self.silence_s = _silence_s(request)
        self.number = 0
        self.process: Process | None = None
        self.service = ""
        self.is_healthy = False
        self.grace_s = 0.0  # a worker that broke the protocol gets no time to end by itself


# What a request is addressed to; operations with models share a worker, every other one has its own.
_OF_SERVICE = ("profile", "vendor", "base_url", "key")


def _uid(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid if user else None
    except KeyError:
        return None


class _NeverSpokeError(Exception):
    """A warm worker was ending when it was handed a request: nothing is lost, a new one can have it."""


def _error(code: str, message: str, hint: str) -> Event:
    return {"type": "error", "error": {"code": code, "message": message, "hint": hint, "retryable": False}}


_REPORT = "try again; when it happens again, the system log has more"
_CANCELLED = _error("cancelled", "the request was cancelled", "")
_CLOSED = _error("cancelled", "oasis is stopping", "")


def _obituary(process: Process, key: str) -> tuple[str, str]:
    status = process.exit_status()
    words = process.last_words(key).strip().split("\n")[-1][:300]
    reason = f"status {status}" if status is None or status >= 0 else f"signal {-status}"
    hint = "the router may be out of memory; close other programs" if status == -9 else _REPORT
    return f"the worker ended in the middle of a request ({reason}){': ' + words if words else ''}", hint


def _silence_s(request: Event) -> float:
    given = request.get("options")
    options = given if isinstance(given, dict) else {}
    once_s = float(options.get("idle_s") or 600) + float(options.get("connect_s") or 10)
    return once_s * (int(options.get("retries", 2)) + 1) + PATIENCE_S


def _as_callable(cancelled: Cancelled) -> Callable[[], bool]:
    if cancelled is None:
        return lambda: False
    return cancelled.is_set if isinstance(cancelled, threading.Event) else cancelled
