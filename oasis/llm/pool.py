"""The daemon's side of the workers: start them, hand them requests, end them; every request gets exactly one ending.

Blocking calls for plain threads. A worker serves one request at a time; when all are busy, requests wait in line
(urgent ones first). A worker that breaks the protocol, dies or stays silent is killed, and its request ends as an
error event; others are not touched. An idle worker stays warm for `idle_s`, for the service that it has served: it may
be captured by then, and knows that one's key only. What a worker started is ended with the request that it was for.
Never holds a key longer than a request.
"""

from __future__ import annotations

import os
import pwd
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

from oasis import worker
from oasis.core import jsonl
from oasis.errors import OasisError, PeerError
from oasis.llm.workers import OF_MODELS, TICK_MS, Requests
from oasis.system import confinement, left_behind
from oasis.system.child import MODEL, Child
from oasis.system.digest import sha256
from oasis.worker import lines

if False:  # annotations only
    from oasis.llm.workers import Cancelled, OnEvent, Plain
    from oasis.providers.shapes import Event
    from oasis.worker.shapes import Request

# In the environment of each, so that what one has started is not mistaken for the owner's. A worker starts no
# process: whatever it started is ended.
MARK = "OASIS_WORKER"
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}

# What a worker may use up without a word on top of its own timeouts: start, DNS, two waits of 60 s before retries.
PATIENCE_S = 180.0
READ_BYTES = 65536
STDERR_BYTES = 4096  # the end of a traceback says what happened
STOP_S = 2.0


def default_argv(user: str = "") -> list[str]:
    """Return how to start the worker in worker/; it ends when it cannot become `user`."""
    return worker.program("__main__", *([user] if user else []))


class Pool(Requests):
    """At most `max_workers` workers, started when needed.

    `prepare()` is called before every request is handed out; what it raises (OasisError) is the request's ending.
    `is_fenced`: rules (confinement.py) keep the workers from the router itself, so that a refused connection
    there need not mean that nothing listens. `tick_ms`: how soon a request that waits notices that it is cancelled.
    `user`: the user that the workers become, which is for nothing else; "" when they keep the daemon's.
    """

    def __init__(
        self, argv: list[str], env: dict[str, str] | None = None, *, now_s: Callable[[], float] = time.monotonic,
        prepare: Callable[[], None] = lambda: None, max_workers: int = 2, idle_s: float = 60.0, is_fenced: bool = False,
        tick_ms: int = TICK_MS, user: str = "",
    ) -> None:  # fmt: skip
        self._argv = argv
        self._tick_ms = tick_ms
        self._prepare = prepare
        self._is_fenced = is_fenced
        self._mark = f"{MARK}={os.urandom(12).hex()}"
        self._env = {**(ENV if env is None else env), MARK: self._mark.partition("=")[2]}
        try:
            self._uid = pwd.getpwnam(user).pw_uid if user else None
        except KeyError:
            self._uid = None
        self._salt = os.urandom(16).hex()
        self._max_workers = max_workers
        self._idle_s = idle_s
        self._now_s = now_s
        self._changed = threading.Condition()
        self._waiting: list[tuple[bool, int]] = []
        self._numbers = 0
        self._busy = 0
        self._warm: list[tuple[threading.Timer, str, Process]] = []  # what ends it, for which service
        self._serving: set[Process] = set()
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
            left_behind.signalled(process.pid, signal.SIGKILL)  # who listens to it sees the end of its lines
        for timer, _, process in warm:
            timer.cancel()
            process.stop()
        if self._numbers and not was_closed:
            with _LISTED:
                left_behind.end(self._uid, {process.pid for process in serving}, self._mark, _WORKERS)

    def count(self) -> dict[str, int]:
        """Return how many requests are waiting and how many workers are busy or warm."""
        with self._changed:
            return {"waiting": len(self._waiting), "busy": self._busy, "warm": len(self._warm)}

    # One request

    def ask(self, request: Plain, on_event: OnEvent, cancelled: Cancelled, urgent: bool) -> None:
        is_cancelled = cancelled.is_set if isinstance(cancelled, threading.Event) else cancelled or bool
        number = self._take_seat(is_cancelled, urgent)
        if not number:
            return on_event({**(_CLOSED if self._is_closed else _CANCELLED)})
        job = _Job(request, on_event, is_cancelled, number)  # type: ignore[arg-type]
        process, service, ending = None, "", None
        try:
            data, service = self._handed(job)
            self._prepare()
            process = self._warm_one(service)
            ending = self._serve(job, process, data, True) if process is not None else None
            if process is None or ending is None:
                if process is not None:
                    process.stop(0)
                process = Process(self._argv, self._env)
                ending = self._serve(job, process, data, False)
        except OasisError as error:  # of a worker that broke the protocol, a request that is no JSON, or `prepare`
            failure = _CLOSED if self._is_closed else _error("worker", error.message, error.hint or _REPORT)
        except OSError as error:
            failure = _error("worker", f"no worker can be started: {error}", "check free memory and the installation")
        finally:
            self._leave_seat(process, service, ending)
        job.on_event(ending or failure)

    def _handed(self, job: _Job) -> tuple[bytes, str]:
        """Return a request as a worker reads it, and what tells its service from others, without a readable key."""
        request, options, op = job.request, job.options, job.request.get("op")
        address = [str(request.get(name)) for name in ("profile", "vendor", "base_url", "key")]
        # Operations with models share a worker, every other one has its own.
        parts = ["llm" if op in OF_MODELS else op, *address, options.get("proxy"), options.get("proxy_auth")]
        if self._is_fenced and not confinement.lets(request.get("base_url") or ""):
            options = {**options, "walled": True}  # its service, should it be on the router, is behind the rules
        data = jsonl.line({**request, "options": options, "id": job.number})
        if len(data) > lines.REQUEST_BYTES:
            raise PeerError(f"the request has {len(data)} bytes, too many for one chat", "start a new chat")
        return data, sha256(jsonl.line([self._salt, *parts]))

    def _serve(self, job: _Job, process: Process, data: bytes, is_warm: bool) -> Event | None:
        """Have one worker answer and pass on its events, but not the ending, which is returned.

        None for a warm worker that ended before it took the request: nothing is lost, a new one can have it.
        """
        with self._changed:
            if self._is_closed:
                return _CLOSED
            self._serving.add(process)
        total, heard_s = 0, self._now_s()
        once_s = (job.options.get("idle_s") or 600) + (job.options.get("connect_s") or 10)
        silence_s = float(once_s * (job.options.get("retries", 2) + 1) + PATIENCE_S)
        try:
            for line in process.talk(data, lines.EVENT_BYTES, self._tick_ms):
                if job.is_cancelled():
                    return _CANCELLED
                if not line:
                    if self._now_s() - heard_s > silence_s:
                        raise PeerError(f"the worker was silent for {silence_s:g} s")
                    continue
                heard_s = self._now_s()
                total += len(line)
                if total > lines.REQUEST_BYTES:
                    raise PeerError(f"the worker wrote more than {lines.REQUEST_BYTES} bytes")
                event = lines.decode(line, job.number)
                if event["type"] in lines.ENDINGS:
                    return event
                job.on_event(event)
            if is_warm and total == 0:
                return None
            status = process.child.wait(STOP_S)
            words = process.last_words(job.request.get("key") or "").strip().split("\n")[-1][:300]
            reason = f"status {status}" if status is None or status >= 0 else f"signal {-status}"
            hint = "the router may be out of memory; close other programs" if status == -9 else _REPORT
            message = f"the worker ended in the middle of a request ({reason}){': ' if words else ''}{words}"
            raise PeerError(message, hint)
        finally:
            with self._changed:
                self._serving.discard(process)

    # Seats

    def _take_seat(self, is_cancelled: Callable[[], bool], urgent: bool) -> int:
        """Wait for a free worker; return the number of the request, 0 when it was cancelled meanwhile."""
        with self._changed:
            self._numbers += 1
            ticket = (not urgent, self._numbers)
            self._waiting.append(ticket)
            while not self._is_closed and not is_cancelled():
                if self._busy < self._max_workers and ticket == min(self._waiting):
                    self._busy += 1
                    self._waiting.remove(ticket)
                    return ticket[1]
                self._changed.wait(0.2)
            self._waiting.remove(ticket)
            self._changed.notify_all()
            return 0

    def _warm_one(self, service: str) -> Process | None:
        """Return a warm worker of a service that still lives; where there is none, make room for a new one."""
        while True:
            with self._changed:
                mine = [one for one in self._warm if one[1] == service]
                is_full = self._busy + len(self._warm) > self._max_workers
                chosen = mine[-1] if mine else self._warm[0] if self._warm and is_full else None
                if chosen is None:
                    return None
                self._warm.remove(chosen)
            timer, _, process = chosen
            timer.cancel()
            if mine and process.child.poll() is None and not process.has_rest():
                return process
            process.stop(0)

    def _leave_seat(self, process: Process | None, service: str, ending: Event | None) -> None:
        """Give the seat to the next request; keep the worker warm if all is well with it."""
        is_healthy = False
        if process is not None:
            is_healthy = ending is not None and ending is not _CANCELLED and not process.has_rest()
            if not is_healthy:  # one that broke the protocol gets no time to end by itself
                process.stop(STOP_S if ending is _CANCELLED else 0)
            with _LISTED:
                ended = left_behind.end(self._uid, {process.pid}, self._mark, _WORKERS)
            if ended:
                print("oasisd: a worker had started other programs; they were ended", file=sys.stderr)
                if is_healthy:
                    is_healthy = False
                    process.stop(0)
        with self._changed:
            self._busy -= 1
            keep = process is not None and is_healthy and not self._is_closed and self._idle_s > 0
            if process is not None and keep:
                timer = threading.Timer(self._idle_s, self._expire, (process,))
                timer.daemon = True
                try:
                    timer.start()
                    self._warm.append((timer, service, process))
                except RuntimeError:  # no room for a thread
                    keep = False
            self._changed.notify_all()
        if process is not None and is_healthy and not keep:
            process.stop()

    def _expire(self, process: Process) -> None:
        """End a worker that was idle for too long, unless it has been taken meanwhile."""
        with self._changed:
            left = [one for one in self._warm if one[2] is not process]
            is_idle, self._warm = len(left) < len(self._warm), left
        if is_idle:
            process.stop()


class _Job:
    """One request that has its turn."""

    def __init__(
        self, request: Request, on_event: Callable[[Event], None], is_cancelled: Callable[[], bool], number: int
    ) -> None:
        self.request = request
        self.options = request.get("options") or {}
        self.on_event = on_event
        self.is_cancelled = is_cancelled
        self.number = number


def _error(code: str, message: str, hint: str) -> Event:
    return {"type": "error", "error": {"code": code, "message": message, "hint": hint, "retryable": False}}


_REPORT = "try again; when it happens again, the system log has more"
_CANCELLED = _error("cancelled", "the request was cancelled", "")
_CLOSED = _error("cancelled", "oasis is stopping", "")


# One worker process

# The workers of all pools of this daemon. Held while one is started: a worker that is not listed yet is nobody's.
_WORKERS: set[int] = set()
_LISTED = threading.Lock()


class Process:
    """A running worker. All methods are for one thread at a time.

    It has a process group of its own, an environment that is given whole, and no descriptor but its three pipes.
    """

    def __init__(self, argv: list[str], env: dict[str, str]):
        with _LISTED:
            self.child = child = Child(argv, env, MODEL, True, True)
            _WORKERS.add(child.pid)
        for number in (child.stdin, child.stdout, child.stderr):
            os.set_blocking(number, False)
        self._lines: list[bytes] = []
        self._rest = b""
        self._words = b""
        self.pid = child.pid

    def talk(self, data: bytes, line_bytes: int, tick_ms: int = TICK_MS) -> Iterator[bytes]:
        """Send `data` and yield the lines that come back, b"" at least once a tick; ends when the worker does.

        Raises: PeerError for a line longer than `line_bytes`.
        """
        unsent = memoryview(data)
        out, words, into = self.child.stdout, self.child.stderr, self.child.stdin
        poller = select.poll()
        poller.register(out, select.POLLIN)
        poller.register(words, select.POLLIN)
        poller.register(into, select.POLLOUT)
        while True:
            ready = dict(poller.poll(tick_ms))
            if into in ready:
                try:
                    unsent = unsent[os.write(into, unsent[:READ_BYTES]) :]
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    unsent = unsent[:0]  # it died; the end of its stdout tells
                if not unsent:
                    poller.unregister(into)
            if words in ready and not self._keep_words():
                poller.unregister(words)
            if out in ready:
                piece = os.read(out, READ_BYTES)
                if not piece:
                    return
                *whole, self._rest = (self._rest + piece).split(b"\n")
                if len(self._rest) > line_bytes:
                    raise PeerError(f"the worker wrote a line longer than {line_bytes} bytes")
                self._lines.extend(whole)
            while self._lines:
                yield self._lines.pop(0)
            yield b""

    def _keep_words(self) -> bool:
        piece = os.read(self.child.stderr, READ_BYTES)
        self._words = (self._words + piece)[-STDERR_BYTES:]
        return bool(piece)

    def has_rest(self) -> bool:
        """Tell whether the worker said more than it was asked for."""
        poller = select.poll()
        poller.register(self.child.stdout, select.POLLIN)
        return bool(self._lines or self._rest or poller.poll(0))

    def last_words(self, secret: str) -> str:
        """Return the end of what the worker wrote to stderr, with `secret` masked."""
        try:
            while self._keep_words():
                pass
        except OSError:
            pass  # nothing more for now
        words = self._words.decode("utf-8", "replace")
        return words.replace(secret, "…") if secret else words

    def stop(self, wait_s: float = STOP_S) -> None:
        """End the worker: close its stdin, kill its group when it still runs after `wait_s`."""
        self.child.close_input()
        if self.child.wait(wait_s) is None:
            self.child.end_group()
        self.child.close()
        with _LISTED:
            _WORKERS.discard(self.pid)
