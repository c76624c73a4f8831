"""What all decoders have in common: find out what an answer really is, and end it with exactly one event.

The Content-Type is not believed: streams are answered by plain JSON, JSON is announced as a stream, and captive
portals answer anything with a page. The first byte that is no white space decides. An answer is complete only when
the vendor's end mark was seen; otherwise its tool calls are thrown away and it ends as the error `truncated`.

A vendor derives from Decoder and says what one JSON object of its stream, and one that is the whole answer, mean.
It must not know sockets, clocks or settings.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES, Events, Lines
from oasis.errors import SchemaError
from oasis.providers import events, faults
from oasis.providers.calls import Calls

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
            reason = "tool_use"  # many servers say "stop" beside their calls
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
        piece = jsonl.loads(data, max_bytes=TOTAL_BYTES)
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
        answer = jsonl.loads(body.lstrip(_BLANK), max_bytes=TOTAL_BYTES)
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
