"""Runs: one owner message each, worked off in a thread of its own, followed by polling.

A run keeps its events for a while after its end. Text pieces that nobody fetched yet are joined, and beyond a size the
oldest events give way: who asks for them gets one `reset` with all text that was dropped, then what is kept. Knows no
front-end.

What is shown is masked a poll at a time, with the secrets that are known then and over all events that it holds: a
secret may become one later, and a key's lines may come one by one. No event may end within a secret: the end of a text
that may be the beginning of one is held back until more text, or the end of its block, tells.
"""

from __future__ import annotations

import sys
import threading

from oasis.core import jsonl
from oasis.errors import BusyError, CancelledError, OasisError, SchemaError, UsageError

if False:  # annotations only
    from typing import TypeVar

    from oasis.agent.shapes import Came, News
    from oasis.core.shapes import Any, Callable

    T = TypeVar("T")

    Event = dict[str, Any]

    Work = Callable[..., tuple[str, str]]

# A page that was asleep finds its run again for this long.
KEEP_S = 600
# Ended runs kept at most: more turns in ten minutes come from a program, which follows its runs while they work.
ENDED = 24
EVENT_BYTES = 256 * 1024
# Unfetched text grows to pieces of about this size, no further: each joining copies it.
_PIECE_CHARS = 2048
# LuCI gives a call 20 s; a poll must end well before.
WAIT_MS = 15000
# Text that only repeats the beginning of a secret is not held back for ever.
HELD_CHARS = 64 * 1024
# A block of text is over, and with it what was held back.
_OWNER = "the owner"
_ENDS = ("message", "error", "end")
# Runs at work at once: chats of several front ends, a schedule; more are a fault of the caller.
RUNNING = 8
# Runs that only wait for their owner to decide a plan are not at work; so many are more than anybody decides.
WAITING = 32
# Of them, those of other people's programs: what they propose waits long, and the owner's own messages find room.
CLIENTS = 6
# A title that a model made may be written just when the owner sends the next message: it waits for that.
HELD_S = 2.0
# What waits for its owner is what lasts: the plans that nobody decided.
_ROOM = "wait for one to end, or decide what waits: `oasis plans` lists it, `oasis decline PLAN` ends it"


class Run:
    """The events of one run. `now_s()` is monotonic; runs may share `news`, a lock of 2 kB that wakes who polls.

    `came`: the connections by which its owner is here, as far as anything tells (proof_of_life.py); `client`: the
    program of somebody else's that began it, by the name that it gives itself. `open_end(text)` tells how many
    characters at the end of a text may be part of a secret that goes on.
    """

    def __init__(
        self, name: str, chat: str, now_s: Callable[[], float], *, news: threading.Condition | None = None,
        came: Came = (), client: str = "", open_end: Callable[[str], int] | None = None,
    ) -> None:  # fmt: skip
        self.id = name
        self.chat = chat
        self.message = ""  # the owner's that it answers, where there is one
        self.came = came
        self.client = client
        self.state = "running"
        self._now_s = now_s
        self.ended_s: float | None = None  # by now_s
        self._events: list[Event] = []
        self._folded = ""  # the events of a run that is over, as one text
        self._sizes: list[int] = []
        self._size = 0
        self._next = 0
        self._fetched = 0  # events below this number were seen by somebody and change no more
        self._dropped: list[str] = []  # whole pieces, for the same reason as they are held back
        self._held = ""
        self._open_end = open_end
        self._news = news or threading.Condition()
        self._cancelled = threading.Event()
        self.is_cancelled = self._cancelled.is_set
        self.ended_by = _OWNER  # where it is cancelled

    def cancel(self, by: str = "") -> None:
        """Have the run end by itself, soon; `by` is who ended it, where it is not the owner."""
        if by and not self.is_cancelled():
            self.ended_by = by
        self._cancelled.set()

    def answers(self, message: str) -> None:
        """Know which message of the owner the run answers."""
        self.message = message

    def emit(self, kind: str, **fields: object) -> None:
        """Add an event; front-ends that wait are woken."""
        with self._news:
            is_ended = self.ended_s is not None
            if self._folded:
                self._events, self._folded = jsonl.shipped(self._folded.encode()), ""
            if not is_ended:
                plan = fields.get("plan")
                if kind == "plan" and isinstance(plan, dict) and plan["needs_approval"]:
                    self.state = "waiting"
                elif kind == "approval":
                    self.state = "running"
            text = ""
            if kind == "delta":
                # What may be shown of the text that was held back and the one that follows it.
                whole = self._held + str(fields["text"])
                keep = self._open_end(whole) if self._open_end is not None else 0
                shown = len(whole) - (keep if keep <= HELD_CHARS else 0)
                text, self._held = whole[:shown], whole[shown:]
            elif kind in _ENDS:
                text, self._held = self._held, ""
            last: Event = self._events[-1] if self._events else {"type": ""}
            is_open = last["type"] == "delta" and last["seq"] >= self._fetched and len(last["text"]) <= _PIECE_CHARS
            if text and is_open:
                last["text"] += text
                self._sizes[-1] += len(text)
                self._size += len(text)
            elif text:
                self._add({"type": "delta", "text": text})
            if kind != "delta":
                self._add({"type": kind, **fields})
            while self._size > EVENT_BYTES and len(self._events) > 1:
                self._drop_first()
            if is_ended:
                # As one text: a third of the memory, and hardly anybody asks again.
                try:
                    self._folded, self._events = jsonl.dumps(self._events), []
                except SchemaError:
                    pass  # half a surrogate pair from somewhere: shown as it is
            self._news.notify_all()

    def _add(self, event: Event) -> None:
        # An estimate is enough for a bound, and events are made of texts.
        size = 64 + sum(len(str(value)) for value in event.values())
        self._events.append({"seq": self._next, **event})
        self._sizes.append(size)
        self._size += size
        self._next += 1

    def _drop_first(self) -> None:
        event = self._events.pop(0)
        self._size -= self._sizes.pop(0)
        if event["type"] == "delta":
            self._dropped.append(event["text"])
        elif event["type"] == "message" and self._dropped:
            self._dropped.append("\n\n")  # a stored message ends a block of text
        while sum(map(len, self._dropped)) > EVENT_BYTES:
            self._dropped.pop(0)

    def end(self, state: str, stop_reason: str) -> None:
        """Close the run."""
        with self._news:
            if state == "cancelled" and self.ended_by != _OWNER:  # who follows it did not stop it
                has_plan = any(one.get("decision") == "cancelled" for one in self._events)
                words = self.ended_by + (": the plan that waited is dropped" if has_plan else "")
                error = CancelledError("stopped by " + words, "say it again")
                self.emit("error", error=error.as_dict())
            self.state = state
            self.ended_s = self._now_s()
            self.emit("end", state=state, stop_reason=stop_reason)

    def poll(self, since: int, wait_ms: int) -> News:
        """Return the events from number `since` on, waiting for the first of them.

        Shape: {"run", "chat", "state", "events", "next"}; `next` is the `since` of the following poll.
        """
        deadline = self._now_s() + min(max(wait_ms, 0), WAIT_MS) / 1000
        found: list[Event] = []
        with self._news:
            while self._next <= since and self.ended_s is None:
                left_s = deadline - self._now_s()
                if left_s <= 0:
                    break
                self._news.wait(left_s)
            since = max(since, 0)
            kept = jsonl.shipped(self._folded.encode()) if self._folded else self._events
            first = kept[0]["seq"] if kept else self._next
            if since < first:
                found.append({"seq": since, "type": "reset", "text": "".join(self._dropped)})
            for event in kept[max(since - first, 0) :]:
                if event["type"] == "delta" and found and found[-1]["type"] == "delta":
                    found[-1] = {**event, "text": found[-1]["text"] + event["text"]}
                else:
                    found.append(event)
            self._fetched = self._next
            return {"run": self.id, "chat": self.chat, "state": self.state, "events": found, "next": self._next}


class Runs:
    """All runs of one daemon. `new_id()` gives xids; `open_end` as in Run."""

    def __init__(
        self, new_id: Callable[[], str], now_s: Callable[[], float], open_end: Callable[[str], int] | None = None
    ) -> None:
        self._new_id = new_id
        self._now_s = now_s
        self._open_end = open_end
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._runs: dict[str, Run] = {}
        self._held: set[str] = set()  # chats that somebody works on without a run
        self._released = threading.Condition(self._lock)

    def start(
        self, chat: str, work: Work, prepare: Callable[[Run], object] | None = None, came: Came = (),
        client: str = "",
    ) -> Run:  # fmt: skip
        """Start a run on a chat, or on none (""); `work(run)` does it and returns (state, stop_reason).

        `prepare(run)` is called before, in the caller's thread, while the chat is reserved already; what it returns
        is given on: `work(run, prepared)`.
        Raises: BusyError when the chat, or the daemon, is busy; what prepare raises, and there is no run then.
        """
        with self._lock:
            self._released.wait_for(lambda: chat not in self._held, HELD_S)
            self._forget_old()
            busy = [run for run in self._runs.values() if run.ended_s is None]
            if chat and (chat in self._held or any(run.chat == chat for run in busy)):
                raise BusyError("chat %s is being answered already" % chat, _ROOM)
            waiting = sum(1 for run in busy if run.state == "waiting")
            if len(busy) - waiting >= RUNNING:
                raise BusyError("%d runs are at work already" % RUNNING, _ROOM)
            if waiting >= WAITING:
                raise BusyError("%d runs wait for a decision already" % WAITING, _ROOM)
            if client and sum(1 for run in busy if run.client) >= CLIENTS:
                raise BusyError("%d calls of clients are at work already" % CLIENTS, _ROOM)
            run = Run(
                self._new_id(), chat, self._now_s, news=self._news, came=came, client=client, open_end=self._open_end
            )
            self._runs[run.id] = run
        try:
            arguments = (prepare(run),) if prepare else ()
            name = "run " + run.id
            threading.Thread(target=_work, args=(run, work, arguments), name=name, daemon=True).start()
        except BaseException:
            with self._lock:
                del self._runs[run.id]
            raise
        return run

    def alone(self, chat: str, work: Callable[[], T]) -> T:
        """Do something with a chat that nobody answers meanwhile; return what `work()` returns.

        Raises: BusyError when the chat is being answered; what work raises.
        """
        with self._lock:
            if chat in self._held or any(run.chat == chat for run in self._runs.values() if run.ended_s is None):
                raise BusyError("chat %s is being answered" % chat, _ROOM)
            self._held.add(chat)
        try:
            return work()
        finally:
            with self._lock:
                self._held.remove(chat)
                self._released.notify_all()

    def get(self, name: str) -> Run:
        """Return a run; raise UsageError when it never was, or ended too long ago."""
        with self._lock:
            self._forget_old()
            if name not in self._runs:
                raise UsageError("there is no run %r any more" % name, "its chat holds what was said: oasis list")
            return self._runs[name]

    def came(self, name: str) -> Came:
        """Return by which connections the owner of a run is here, () when nothing tells or the run is unknown."""
        run = self._runs.get(name)
        return run.came if run is not None else ()

    def tell(self, name: str, kind: str, **fields: object) -> None:
        """Add an event to a run that may be long over."""
        run = self._runs.get(name)
        if run is not None:
            run.emit(kind, **fields)

    def active(self) -> list[Run]:
        """Return the runs that have not ended."""
        with self._lock:
            return [run for run in self._runs.values() if run.ended_s is None]

    def wait_ended(self, seconds: float) -> None:
        """Wait until no run is at work, at most so long."""
        deadline = self._now_s() + seconds
        for run in self.active():
            while run.ended_s is None and self._now_s() < deadline:
                run.poll(1 << 60, 50)

    def _forget_old(self) -> None:
        ended = [(run.ended_s, name) for name, run in self._runs.items() if run.ended_s is not None]
        old_s = self._now_s() - KEEP_S
        # In the order in which they were started: beyond ENDED the oldest give way before their time.
        for number, (ended_s, name) in enumerate(ended, ENDED - len(ended)):
            if number < 0 or ended_s < old_s:
                del self._runs[name]


def _work(run: Run, work: Work, arguments: tuple[object, ...]) -> None:
    state, stop_reason = "error", "error"
    try:
        state, stop_reason = work(run, *arguments)
    except OasisError as error:
        run.emit("error", error=error.as_dict())
    except Exception as bug:
        fault = OasisError("a fault in oasis ended this run", "its log tells more: logread -e oasis")
        run.emit("error", error=fault.as_dict())
        sys.excepthook(type(bug), bug, bug.__traceback__)
    finally:  # a run without an end keeps its chat, a place among those at work, and who follows it
        run.end(state, stop_reason)
