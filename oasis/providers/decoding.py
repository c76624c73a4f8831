"""What all decoders have in common: find out what an answer really is, and end it with exactly one event.

The Content-Type is not believed: streams are answered by plain JSON, JSON is announced as a stream, and captive
portals answer anything with a page. The first byte that is no white space decides. An answer is complete only when
the vendor's end mark was seen; otherwise its tool calls are thrown away and it ends as the error `truncated`.

A vendor derives from Decoder and says what one JSON object of its stream, and one that is the whole answer, mean.
Calls puts tool calls together from pieces, Splitter parts thoughts from the answer of a local model.
It must not know sockets, clocks or settings.
"""

from __future__ import annotations

from collections.abc import Sequence

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES, Events, Lines
from oasis.errors import SchemaError
from oasis.providers import events, wire
from oasis.providers.events import INVALID_CHARS, clean

if False:  # annotations only
    from oasis.providers.shapes import Dict, Event, Headers, Options

_BLANK = b"\xef\xbb\xbf \t\r\n"


class Decoder:
    """Bytes of one answer in, normalized events out; see events.py."""

    whole_marks = b"{["  # a first byte that says: this is one JSON text, not a stream

    def __init__(self, status: int, headers: Headers, options: Options):
        self.profile = options["profile"]
        self.owner = self.profile.get("id", "")
        self.label = wire.label_of(options)
        self.model = options.get("model") or ""
        self.asked_model = self.model or self.profile.get("model") or ""  # whatever name it answers with
        self.calls = Calls()
        self.counts: Dict = {}
        self.stop_reason = ""
        self.seed = ""
        self.is_started = False
        self.is_ended = False
        self.has_text = False  # in the services where a refusal may come without a word
        self.is_refused = False
        self._status = status
        self._headers = headers
        self._form = "failed" if not 200 <= status < 300 else ""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._reader = self.make_reader()

    # What a vendor provides

    def make_reader(self) -> Lines | Events:
        return Events()

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        """Take one object of the stream, and what its event is called, "" for a line."""
        raise NotImplementedError

    def on_done(self) -> list[Event]:
        """Take the mark `[DONE]`, by which many services end a stream."""
        return self.finish() if self.is_started else self.nothing()

    def on_whole(self, answer: Dict) -> list[Event]:
        """Take the answer that came as one JSON object."""
        raise NotImplementedError

    # What the caller uses

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that `data` completes; nothing after the end."""
        if self.is_ended or not data:
            return []
        try:
            if not self._form:
                self._hold(data)
                head = b"".join(self._held).lstrip(_BLANK)
                if not head:
                    return []
                is_whole = head[:1] in self.whole_marks
                self._form = "page" if head[:1] == b"<" else "whole" if is_whole else "stream"
                if self._form != "stream":
                    return []
                data, self._held = head, []
            if self._form == "stream":
                return self._stream(self._reader.feed(data))
            if self._form == "whole" or self._held_bytes < events.BODY_BYTES:
                self._hold(data)
            return []
        except SchemaError as error:
            return self.bad_answer(error.message)

    def close(self) -> list[Event]:
        """Return the events that the end of the body completes; the last one ends the answer."""
        if self.is_ended:
            return []
        try:
            if self._form == "stream":
                out, kind = self._stream(self._reader.close(), is_last=True), self._headers.get("content-type", "")
                if self.is_ended:
                    return out
                if not self.is_started and "event-stream" not in kind and "ndjson" not in kind:
                    return [*out, *self.bad_answer("it is no event stream")]
                return [*out, *(self.finish() if self.stop_reason else self.cut())]
            body = b"".join(self._held)
            if self._form == "failed":
                self.is_ended = True
                return [events.of_status(self.label, self._status, self._headers, body)]
            if self._form == "page":
                return self.fail("portal", f"{self.label} answered with a web page instead of data", self._status)
            if not self._form:
                return self.nothing()
            answer: object = jsonl.loads(body.lstrip(_BLANK), max_bytes=TOTAL_BYTES)
            if isinstance(answer, list) and answer and isinstance(answer[0], dict) and events.has_error(answer[0]):
                answer = answer[0]
            if not isinstance(answer, dict):
                return self.bad_answer("it is no object")
            if events.has_error(answer):
                return self.reported(answer)
            out = self.on_whole(answer)
            return out if self.is_ended else [*out, *self.finish()]
        except SchemaError as error:
            is_cut = self.is_started or self._form == "whole"
            return self.cut() if is_cut else self.bad_answer(error.message)

    # Endings

    def stopped(self, reason: object, known: dict[str, str]) -> None:
        """Take why the service stopped; `known` has its words and ours. What is no word says nothing."""
        if isinstance(reason, str) and reason:
            self.stop_reason = known.get(reason, "other")

    def finish(self) -> list[Event]:
        """Return the last events of a complete answer."""
        self.is_ended = True
        reason = "refusal" if self.is_refused else self.stop_reason or "end_turn"
        if self.calls and reason in ("end_turn", "other"):
            reason = "tool_use"  # many servers say "stop" although there are calls
        elif reason == "tool_use" and not self.calls:
            reason = "end_turn"
        calls = self.calls.finish(self.seed, is_cut=reason == "max_tokens")
        return [*calls, *events.usage(self.counts), events.done(reason, self.model)]

    def declined(self, why: str) -> list[Event]:
        """Return what is said of an answer that was refused without a word; its calls are taken back."""
        self.calls = Calls()
        return [] if self.has_text else events.text("delta", why)

    def fail(self, code: str, message: str, status: int | None = None) -> list[Event]:
        self.is_ended = True
        return [events.failure(code, message, status)]

    def bad_answer(self, reason: str) -> list[Event]:
        kind = self._headers.get("content-type", "").split(";")[0] or "no content type"
        return self.fail("bad_answer", f"{self.label} sent an answer ({kind}) nobody can read: {reason}")

    def nothing(self) -> list[Event]:
        return self.fail("empty_answer", f"{self.label} sent an empty answer")

    def cut(self) -> list[Event]:
        return self.fail("truncated", f"the answer of {self.label} broke off before its end")

    def reported(self, value: object) -> list[Event]:
        """End with an error object that came inside a good answer."""
        self.is_ended = True
        return [events.of_object(self.label, value, self._headers)]

    # Sorting

    def _hold(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._held_bytes > TOTAL_BYTES:
            raise SchemaError(f"it is longer than {TOTAL_BYTES} bytes")
        self._held.append(data)

    def _stream(self, items: Sequence[dict[str, str] | bytes], is_last: bool = False) -> list[Event]:
        """Return the events of items, also of those before one that nobody can read; the last may be cut in two."""
        out: list[Event] = []
        for item in items:
            if self.is_ended:
                break
            data, event = (item["data"].strip(), item["event"]) if isinstance(item, dict) else (item, "")
            try:
                if data == "[DONE]":
                    out.extend(self.on_done())
                elif data:
                    piece: object = jsonl.loads(data, max_bytes=TOTAL_BYTES)
                    if not isinstance(piece, dict):
                        raise SchemaError("a piece of the stream is no object")
                    out.extend(self.on_piece(piece, event))
            except SchemaError as error:
                out.extend(self.cut() if is_last and self.is_started else self.bad_answer(error.message))
        return out


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
            return events.text("delta", text)
        self._held += text
        if self._state == "start":
            head = self._held.lstrip()
            if not head.startswith(_OPEN):
                self._state = "start" if _OPEN.startswith(head) else "answer"
                return [] if self._state == "start" else self.close()
            self._state, self._held = "thoughts", head[len(_OPEN) :]
        thoughts, mark, answer = self._held.partition(_CLOSE)
        if mark:
            self._state, self._held = "gap", ""
            return events.text("thinking", thoughts) + self.feed(answer)
        # The end of what is there may be the beginning of the closing mark.
        kept = next((count for count in range(len(_CLOSE) - 1, 0, -1) if thoughts.endswith(_CLOSE[:count])), 0)
        sure = len(thoughts) - kept
        self._held = thoughts[sure:]
        return events.text("thinking", thoughts[:sure])

    def close(self) -> list[Event]:
        held, self._held = self._held, ""
        return events.text("thinking" if self._state == "thoughts" else "delta", held)


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

    def extend(self, pieces: object, whole: bool = False) -> None:
        """Take a list of `tool_calls`, where there is one."""
        for piece in pieces if isinstance(pieces, list) else []:
            self.add(piece, whole)

    def add(self, piece: object, whole: bool = False) -> None:
        """Take one entry of `tool_calls`; `whole` says that each entry is a call of its own."""
        if not isinstance(piece, dict):
            raise SchemaError(f"a tool call is a {type(piece).__name__}, not an object")
        index, ident, call = piece.get("index"), piece.get("id"), None
        if whole:
            pass
        elif isinstance(index, int):
            call = self._by_index.get(index)
            call = None if call and ident and call.ident and ident != call.ident else call
        elif ident:
            call = next((call for call in self._calls if call.ident == ident), None)
        elif self._calls:
            call = self._calls[-1]
        if call is None:
            call = _Call()
            self._calls.append(call)
            if isinstance(index, int):
                self._by_index[index] = call
        call.take(piece)

    def finish(self, seed: str, is_cut: bool = False) -> list[Event]:
        """Return the whole calls as tool_use events.

        `seed` is something of the answer that no other answer has; ids that never came are made from it. `is_cut`
        says that the length limit ended the turn: then a last call whose arguments had not begun is invalid too.
        """
        taken: set[str] = set()
        found = []
        for number, call in enumerate(self._calls):
            ident = call.ident
            if not ident or ident in taken:
                stem = "".join([char for char in seed if char.isascii() and char.isalnum()])[-16:]
                ident = f"call_{stem}{number}"
                while ident in taken:
                    ident += "x"
            taken.add(ident)
            raw = "".join(call.pieces)
            given = _arguments(raw) if call.arguments is None else _whole(call.arguments)
            has_not_begun = call.arguments is None and not raw.strip()
            event: Event = {"type": "tool_use", "id": ident, "name": call.name or "unnamed", "input": {}}
            if given is None or not call.name or (has_not_begun and is_cut and call is self._calls[-1]):
                event["invalid"] = clean(raw)[:INVALID_CHARS]
            else:
                event["input"] = given  # type: ignore[typeddict-item]
            if self._owner and call.extra:
                event["provider_metadata"] = {self._owner: {"extra_content": call.extra}}  # type: ignore[dict-item]
            found.append(event)
        return found


class _Call:
    def __init__(self) -> None:
        self.ident = ""
        self.name = ""
        self.extra: object = None
        self.pieces: list[str] = []  # of the text of its arguments
        self.arguments: Dict | None = None  # that came as an object

    def take(self, piece: Dict) -> None:
        """Take what an entry says; of id and name the first counts."""
        function = wire.part(piece, "function")
        self.ident = self.ident or clean(wire.words(piece.get("id")))
        self.name = self.name or clean(wire.words(function.get("name")))
        self.extra = piece.get("extra_content") or self.extra
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            self.arguments = arguments
        elif arguments is not None:
            self.pieces.append(arguments if isinstance(arguments, str) else jsonl.dumps(arguments))


def _arguments(raw: str) -> Dict | None:
    """Return the arguments, None where they are no object; text that holds a JSON text is opened once more."""
    value: object = raw
    for _ in range(2):
        text = clean(value) if isinstance(value, str) else ""
        if not text.strip():
            return {}
        try:
            value = jsonl.loads(text, max_bytes=TOTAL_BYTES, max_depth=DEPTH)
        except SchemaError:
            return None
        if value is None:
            return {}
        if not isinstance(value, str):
            break
    return _whole(value)


def _whole(value: object) -> Dict | None:
    """Return an object that can be written again: no NaN, no half surrogates, not too deep."""
    try:
        jsonl.check(value, "arguments", jsonl.DEPTH - DEPTH)
    except SchemaError:
        return None
    return value if isinstance(value, dict) else None
