"""What all decoders have in common: find out what an answer really is, and end it with exactly one event.

The Content-Type is not believed: streams are answered by plain JSON, JSON is announced as a stream, and captive
portals answer anything with a page. The first byte that is no white space decides. An answer is complete only when
the vendor's end mark was seen; otherwise its tool calls are thrown away and it ends as the error `truncated`.

A vendor derives from Decoder and says what one JSON object of its stream, and one that is the whole answer, mean.
Calls puts tool calls together from pieces, Splitter parts thoughts from the answer of a local model.
It must not know sockets, clocks or settings.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES, Events, Lines
from oasis.errors import SchemaError
from oasis.providers import events, faults
from oasis.providers.events import INVALID_CHARS, Event, clean, delta, thinking

_BLANK = b"\xef\xbb\xbf \t\r\n"


class Decoder:
    """Bytes of one answer in, normalized events out; see events.py."""

    framing: type[Lines] | type[Events] = Events
    whole_marks = b"{["  # a first byte that says: this is one JSON text, not a stream

    def __init__(self, status: int, headers: dict[str, str], options: dict[str, object]):
        profile = options.get("profile")
        self.profile: dict[str, object] = profile if isinstance(profile, dict) else {}
        self.label = str(self.profile.get("name") or "the service")
        self.model = str(options.get("model") or "")
        self.calls = Calls()
        self.counts: dict[str, object] = {}
        self.stop_reason = ""
        self.seed = ""
        self.is_started = False
        self.is_ended = False
        self._status = status
        self._headers = headers
        self._form = "failed" if not 200 <= status < 300 else ""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._reader = self.make_reader()

    # What a vendor provides

    def make_reader(self) -> Lines | Events:
        return self.framing()

    def on_piece(self, piece: dict[str, object], event: str) -> list[events.Event]:
        """Take one object of the stream, and what its event is called, "" for a line."""
        raise NotImplementedError

    def on_done(self) -> list[events.Event]:
        """Take the mark `[DONE]`, by which many services end a stream."""
        return self.finish() if self.is_started else self.nothing()

    def on_whole(self, answer: dict[str, object]) -> list[events.Event]:
        """Take the answer that came as one JSON object."""
        raise NotImplementedError

    # What the caller uses

    def feed(self, data: bytes) -> list[events.Event]:
        """Return the events that `data` completes; nothing after the end."""
        if self.is_ended or not data:
            return []
        try:
            return self._feed(data)
        except SchemaError as error:
            return self.bad_answer(error.message)

    def close(self) -> list[events.Event]:
        """Return the events that the end of the body completes; the last one ends the answer."""
        if self.is_ended:
            return []
        try:
            return self._close()
        except SchemaError as error:
            is_cut = self.is_started or self._form == "whole"
            return self.cut() if is_cut else self.bad_answer(error.message)

    # Endings

    def finish(self) -> list[events.Event]:
        """Return the last events of a complete answer."""
        self.is_ended = True
        reason = self.stop_reason or "end_turn"
        if self.calls and reason in ("end_turn", "other"):
            reason = "tool_use"  # many servers say "stop" although there are calls
        elif reason == "tool_use" and not self.calls:
            reason = "end_turn"
        calls = self.calls.finish(self.seed, is_cut=reason == "max_tokens")
        return [*calls, *events.usage(self.counts), events.done(reason, self.model)]

    def fail(self, event: events.Event) -> list[events.Event]:
        self.is_ended = True
        return [event]

    def bad_answer(self, reason: str) -> list[events.Event]:
        kind = self._headers.get("content-type", "").split(";")[0] or "no content type"
        return self.fail(faults.event("bad_answer", f"{self.label} sent an answer ({kind}) nobody can read: {reason}"))

    def nothing(self) -> list[events.Event]:
        return self.fail(faults.event("empty_answer", f"{self.label} sent an empty answer"))

    def cut(self) -> list[events.Event]:
        message = f"the answer of {self.label} broke off before its end"
        return self.fail(events.error("truncated", message, "the connection was cut; try again", True))

    def reported(self, value: object) -> list[events.Event]:
        """End with an error object that came inside a good answer."""
        return self.fail(faults.read_object(self.label, value, self._headers))

    # Sorting

    def _feed(self, data: bytes) -> list[events.Event]:
        if not self._form:
            self._hold(data, TOTAL_BYTES)
            head = b"".join(self._held).lstrip(_BLANK)
            if not head:
                return []
            self._form = self._form_of(head[:1])
            if self._form != "stream":
                return []
            data, self._held = head, []
        if self._form == "stream":
            return self._stream(self._reader.feed(data))
        if self._form == "whole" or self._held_bytes < faults.BODY_BYTES:
            self._hold(data, TOTAL_BYTES)
        return []

    def _form_of(self, first: bytes) -> str:
        if first == b"<":
            return "page"
        return "whole" if first in self.whole_marks else "stream"

    def _hold(self, data: bytes, max_bytes: int) -> None:
        self._held_bytes += len(data)
        if self._held_bytes > max_bytes:
            raise SchemaError(f"it is longer than {max_bytes} bytes")
        self._held.append(data)

    def _stream(
        self, items: list[object] | list[bytes] | list[dict[str, str]], is_last: bool = False
    ) -> list[events.Event]:
        """Return the events of items, also of those before one that nobody can read; the last may be cut in two."""
        out: list[events.Event] = []
        for item in items:
            if self.is_ended:
                break
            try:
                out.extend(self._item(item))
            except SchemaError as error:
                out.extend(self.cut() if is_last and self.is_started else self.bad_answer(error.message))
        return out

    def _item(self, item: object) -> list[events.Event]:
        """Take one item of the stream: an event of Events or a line of Lines."""
        data, event = (item["data"].strip(), item["event"]) if isinstance(item, dict) else (item, "")
        if data == "[DONE]":
            return self.on_done()
        if not data:
            return []
        assert isinstance(data, (str, bytes))
        piece: object = jsonl.loads(data, max_bytes=TOTAL_BYTES)
        if not isinstance(piece, dict):
            raise SchemaError("a piece of the stream is no object")
        return self.on_piece(piece, event)

    def _close(self) -> list[events.Event]:
        body = b"".join(self._held)
        if self._form == "failed":
            return self.fail(faults.read(self.label, self._status, self._headers, body))
        if self._form == "page":
            message = f"{self.label} answered with a web page instead of data"
            return self.fail(faults.event("portal", message, self._status))
        if self._form == "whole":
            return self._close_whole(body)
        if not self._form:
            return self.nothing()
        out = self._stream(self._reader.close(), is_last=True)
        return out if self.is_ended else [*out, *self._close_stream()]

    def _close_whole(self, body: bytes) -> list[events.Event]:
        answer: object = jsonl.loads(body.lstrip(_BLANK), max_bytes=TOTAL_BYTES)
        if isinstance(answer, list) and answer and isinstance(answer[0], dict) and faults.has_error(answer[0]):
            answer = answer[0]
        if not isinstance(answer, dict):
            return self.bad_answer("it is no object")
        if faults.has_error(answer):
            return self.reported(answer)
        out = self.on_whole(answer)
        return out if self.is_ended else [*out, *self.finish()]

    def _close_stream(self) -> list[events.Event]:
        kind = self._headers.get("content-type", "")
        if not self.is_started and "event-stream" not in kind and "ndjson" not in kind:
            return self.bad_answer("it is no event stream")
        return self.finish() if self.stop_reason else self.cut()


_OPEN, _CLOSE = "<think>", "</think>"


class Splitter:
    """Part thoughts from the answer where a local model writes both into one text: <think>…</think> at its beginning.

    Only the beginning counts: the same words later are the model's own. Pieces may be cut anywhere. `feed` text, get
    delta and thinking events; `close` gives what was still held back.
    """

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, text: str) -> list[Event]:
        if self._state == "gap":  # white space between thoughts and answer
            text = text.lstrip()
            self._state = "answer" if text else "gap"
        if self._state in ("gap", "answer"):
            return [delta(text)] if text else []
        self._held += text
        out = self._start() if self._state == "start" else []
        return out + self._thoughts() if self._state == "thoughts" else out

    def close(self) -> list[Event]:
        held, self._held = self._held, ""
        if not held:
            return []
        return [thinking(held) if self._state == "thoughts" else delta(held)]

    def _start(self) -> list[Event]:
        head = self._held.lstrip()
        if head.startswith(_OPEN):
            self._state, self._held = "thoughts", head[len(_OPEN) :]
        elif not _OPEN.startswith(head):
            self._state = "answer"
            return self.close()
        return []

    def _thoughts(self) -> list[Event]:
        thoughts, mark, answer = self._held.partition(_CLOSE)
        if mark:
            self._state, self._held = "gap", ""
            return ([thinking(thoughts)] if thoughts else []) + self.feed(answer)
        sure = len(self._held) - _overlap(self._held)
        ready, self._held = self._held[:sure], self._held[sure:]
        return [thinking(ready)] if ready else []


def _overlap(text: str) -> int:
    """Return how many characters at the end of `text` may be the beginning of the closing mark."""
    for count in range(min(len(text), len(_CLOSE) - 1), 0, -1):
        if _CLOSE.startswith(text[-count:]):
            return count
    return 0


DEPTH = 32  # half of what a line may nest: a call travels inside other objects


class Calls:
    """The calls of one turn, in the order in which they began."""

    def __init__(self, owner: str = ""):
        """`owner` is the profile whose `extra_content` is kept with the calls; empty keeps none."""
        self._owner = owner
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, piece: object, whole: bool = False) -> None:
        """Take one entry of `tool_calls`; `whole` says that each entry is a call of its own."""
        if not isinstance(piece, dict):
            raise SchemaError(f"a tool call is a {type(piece).__name__}, not an object")
        call = self._new(piece) if whole else self._find(piece)
        function = piece.get("function")
        call.take(piece, function if isinstance(function, dict) else {})

    def _find(self, piece: dict[str, object]) -> _Call:
        index, ident = piece.get("index"), piece.get("id")
        if isinstance(index, int):
            call = self._by_index.get(index)
            is_next = call is not None and bool(ident) and bool(call.ident) and ident != call.ident
            return self._new(piece) if call is None or is_next else call
        if ident:
            same = [call for call in self._calls if call.ident == ident]
            return same[0] if same else self._new(piece)
        return self._calls[-1] if self._calls else self._new(piece)

    def _new(self, piece: dict[str, object]) -> _Call:
        call = _Call()
        self._calls.append(call)
        index = piece.get("index")
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def finish(self, seed: str, is_cut: bool = False) -> list[Event]:
        """Return the whole calls as tool_use events.

        `seed` is something of the answer that no other answer has; ids that never came are made from it. `is_cut`
        says that the length limit ended the turn: then a last call whose arguments had not begun is invalid too.
        """
        taken: set[str] = set()
        events = []
        for number, call in enumerate(self._calls):
            ident = call.ident
            if not ident or ident in taken:
                ident = _minted(seed, number, taken)
            taken.add(ident)
            event = call.event(ident, is_cut and number == len(self._calls) - 1)
            if self._owner and call.extra:
                event["provider_metadata"] = {self._owner: {"extra_content": call.extra}}
            events.append(event)
        return events


class _Call:
    def __init__(self) -> None:
        self.ident = ""
        self.name = ""
        self.extra: object = None
        self._pieces: list[str] = []
        self._object: dict[str, object] | None = None

    def take(self, piece: dict[str, object], function: dict[str, object]) -> None:
        ident, name, arguments = piece.get("id"), function.get("name"), function.get("arguments")
        if not self.ident and isinstance(ident, str):
            self.ident = clean(ident)
        if not self.name and isinstance(name, str):
            self.name = clean(name)
        if piece.get("extra_content"):
            self.extra = piece["extra_content"]
        if isinstance(arguments, str):
            self._pieces.append(arguments)
        elif isinstance(arguments, dict):
            self._object = arguments
        elif arguments is not None:
            self._pieces.append(jsonl.dumps(arguments))

    def event(self, ident: str, may_be_cut: bool) -> Event:
        raw = "".join(self._pieces)
        arguments, is_valid = self._object, True
        if arguments is None:
            arguments, is_valid = _arguments(raw)
        elif not _fits(arguments):
            arguments, is_valid = {}, False
        if may_be_cut and not raw.strip() and self._object is None:
            is_valid = False
        event: Event = {"type": "tool_use", "id": ident, "name": self.name or "unnamed", "input": arguments}
        if not is_valid or not self.name:
            event["input"] = {}
            event["invalid"] = clean(raw)[:INVALID_CHARS]
        return event


def _arguments(raw: str) -> tuple[dict[str, object], bool]:
    """Return the arguments and whether they were an object; text that holds a JSON text is opened once more."""
    text = clean(raw)
    for _ in range(2):
        if not text.strip():
            return {}, True
        try:
            value: object = jsonl.loads(text, max_bytes=TOTAL_BYTES, max_depth=DEPTH)
        except SchemaError:
            return {}, False
        if value is None:
            return {}, True
        if not isinstance(value, str):
            break
        text = clean(value)
    if isinstance(value, dict) and _fits(value):
        return value, True
    return {}, False


def _fits(value: object) -> bool:
    """Tell whether a parsed value can be written again: no NaN, no half surrogates, not too deep."""
    try:
        jsonl.check(value, "arguments", jsonl.DEPTH - DEPTH)
    except SchemaError:
        return False
    return True


def _minted(seed: str, number: int, taken: set[str]) -> str:
    stem = "".join([char for char in seed if char.isascii() and char.isalnum()])[-16:]
    ident = f"call_{stem}{number}"
    while ident in taken:
        ident += "x"
    return ident
