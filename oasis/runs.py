"""Runs: one owner message each, worked off in a thread of its own, followed by polling.

A run keeps its events for a while after its end; text pieces that nobody fetched yet are joined, and beyond a size the
oldest events give way to one `reset` with the whole text. Knows no front-end.
"""

from __future__ import annotations

import sys
import threading

from oasis.errors import OasisError, UsageError

# A page that was asleep finds its run again for this long.
KEEP_S = 600
EVENT_BYTES = 256 * 1024
# LuCI gives a call 20 s; a poll must end well before.
WAIT_MS = 15000
# Beside the runs that work: chats of several front-ends, a schedule; more at once is a fault of the caller.
RUNNING = 8


class Run:
    """The events of one run. `now_s()` is monotonic."""

    def __init__(self, name: str, chat: str, now_s: object) -> None:
        self.id = name
        self.chat = chat
        self.state = "running"
        self.ended_s = 0.0
        self._now_s = now_s
        self._events: list[dict[str, object]] = []
        self._sizes: list[int] = []
        self._next = 0
        self._text: list[str] = []
        self._news = threading.Condition()
        self._cancelled = threading.Event()

    def emit(self, kind: str, **fields: object) -> None:
        """Add an event; front-ends that wait are woken."""
        with self._news:
            if kind == "plan" and fields["plan"]["needs_approval"]:
                self.state = "waiting"
            elif kind == "approval":
                self.state = "running"
            elif kind == "message":
                self._text = []
            elif kind == "delta":
                self._text.append(str(fields["text"]))
            self._events.append({"seq": self._next, "type": kind, **fields})
            self._sizes.append(_size(fields))
            self._next += 1
            while sum(self._sizes) > EVENT_BYTES and len(self._events) > 1:
                del self._events[0], self._sizes[0]
            self._news.notify_all()

    def end(self, state: str, stop_reason: str) -> None:
        """Close the run."""
        self.state = state
        self.ended_s = self._now_s()
        self.emit("end", state=state, stop_reason=stop_reason)

    def is_ended(self) -> bool:
        return self.ended_s > 0

    def poll(self, since: int, wait_ms: int) -> dict[str, object]:
        """Return the events from number `since` on, waiting for the first of them."""
        deadline = self._now_s() + min(max(wait_ms, 0), WAIT_MS) / 1000
        with self._news:
            while self._next <= since and not self.is_ended():
                left_s = deadline - self._now_s()
                if left_s <= 0:
                    break
                self._news.wait(left_s)
            return {
                "run": self.id,
                "chat": self.chat,
                "state": self.state,
                "events": self._since(since),
                "next": self._next,
            }

    def _since(self, since: int) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        first = self._events[0]["seq"] if self._events else self._next
        if since < first:
            found.append({"seq": since, "type": "reset", "text": "".join(self._text)})
            # The text is whole already: pieces that are still kept would repeat it.
            events = [event for event in self._events if event["type"] != "delta"]
        else:
            events = self._events[max(since - first, 0) :]
        for event in events:
            if event["type"] == "delta" and found and found[-1]["type"] == "delta":
                found[-1] = {**event, "text": found[-1]["text"] + event["text"]}
            else:
                found.append(event)
        return found

    def cancel(self) -> None:
        """Ask the run to stop; it ends by itself, soon."""
        self._cancelled.set()

    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()


def _size(fields: dict[str, object]) -> int:
    # An estimate is enough for a bound, and events are made of texts.
    return 64 + sum(len(str(value)) for value in fields.values())


class Runs:
    """All runs of one daemon. `new_id()` gives xids."""

    def __init__(self, new_id: object, now_s: object) -> None:
        self._new_id = new_id
        self._now_s = now_s
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}

    def start(self, chat: str, work: object) -> Run:
        """Start a run on a chat, or on none (""); `work(run)` does it and returns (state, stop_reason).

        Raises: UsageError when the chat, or the daemon, is busy.
        """
        with self._lock:
            self._forget_old()
            busy = [run for run in self._runs.values() if not run.is_ended()]
            if chat and any(run.chat == chat for run in busy):
                raise UsageError("chat %s is being answered already" % chat, "wait for it, or stop it first")
            if len(busy) >= RUNNING:
                raise UsageError("%d runs are at work already" % RUNNING, "wait for one to end, or stop one")
            run = Run(self._new_id(), chat, self._now_s)
            self._runs[run.id] = run
        threading.Thread(target=_work, args=(run, work), name="run " + run.id, daemon=True).start()
        return run

    def get(self, name: str) -> Run:
        """Return a run.

        Raises: UsageError when it never was, or ended too long ago.
        """
        with self._lock:
            if name not in self._runs:
                raise UsageError("there is no run %r any more" % name, "its chat holds what was said: oasis list")
            return self._runs[name]

    def tell(self, name: str, kind: str, **fields: object) -> None:
        """Add an event to a run that may be long over."""
        with self._lock:
            run = self._runs.get(name)
        if run is not None:
            run.emit(kind, **fields)

    def active(self) -> list[Run]:
        """Return the runs that have not ended."""
        with self._lock:
            return [run for run in self._runs.values() if not run.is_ended()]

    def wait_ended(self, seconds: float) -> None:
        """Wait until no run is at work, at most so long."""
        deadline = self._now_s() + seconds
        for run in self.active():
            while not run.is_ended() and self._now_s() < deadline:
                run.poll(1 << 60, 50)

    def cancel_all(self) -> None:
        """Ask every run to stop, because the daemon does."""
        for run in self.active():
            run.cancel()

    def _forget_old(self) -> None:
        now_s = self._now_s()
        for name in [run.id for run in self._runs.values() if run.is_ended() and now_s - run.ended_s > KEEP_S]:
            del self._runs[name]


def _work(run: Run, work: object) -> None:
    try:
        state, stop_reason = work(run)
    except OasisError as error:
        run.emit("error", error=error.as_dict())
        state, stop_reason = "error", "error"
    except Exception:
        import traceback

        traceback.print_exc(file=sys.stderr)
        fault = OasisError("a fault in oasis ended this run", "its log tells more: logread -e oasis")
        run.emit("error", error=fault.as_dict())
        state, stop_reason = "error", "error"
    run.end(state, stop_reason)
