"""Read the answer of Anthropic's Messages API, streamed or whole.

A whole answer is read as the stream it could have been. Signatures, redacted thoughts and what a hosted tool did go
along as what the service wants back. Unknown kinds of events, blocks and pieces are skipped: the API adds some within a
version. Source: Anthropic API reference, "Messages" and "Streaming Messages".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import SchemaError
from oasis.providers import decoding, events
from oasis.providers.calls import Calls

Dict = dict[str, object]

_STOP_REASONS = {
    "end_turn": "end_turn",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "pause",
    "refusal": "refusal",
}

# The statuses of its errors: those in the middle of a stream come without one.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Decoder(decoding.Decoder):
    """Decode a message of the Messages API."""

    def __init__(self, status: int, headers: dict[str, str], options: dict[str, object]):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        self._usage: Dict = {}
        self._block: Dict = {}  # the one that is open
        self._pieces: list[str] = []  # of its arguments or its signature
        self._has_text = False
        self._explanation = ""

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        kind = piece.get("type")
        if kind == "error" or event == "error" or piece.get("error"):
            return self._failed(piece)
        if kind == "message_start":
            self._begin(_part(piece, "message"))
        elif kind == "content_block_start":
            return self._open(_part(piece, "content_block"))
        elif kind == "content_block_delta":
            return self._more(_part(piece, "delta"))
        elif kind == "content_block_stop":
            return self._shut()
        elif kind == "message_delta":
            self._stop(_part(piece, "delta"))
            self._count(piece.get("usage"))
        elif kind == "message_stop":
            return self.finish() if self.is_started else self.nothing()
        return []

    def on_whole(self, answer: Dict) -> list[events.Event]:
        content = answer.get("content")
        if not isinstance(content, list):
            return self.bad_answer("it holds no content")
        self._begin(answer)
        out: list[events.Event] = []
        for block in content:
            out.extend(self._open(block) if isinstance(block, dict) else [])
        self._stop(answer)
        return out

    def finish(self) -> list[events.Event]:
        out = self._shut()
        if self.stop_reason == "refusal":
            self.calls = Calls()  # of an answer that was taken back
            if not self._has_text:
                out.append(events.delta(self._explanation or f"({self.label} declined to answer.)"))
        return [*out, *super().finish()]

    # The message

    def _begin(self, message: Dict) -> None:
        self.is_started = True
        self.model = str(message.get("model") or self.model)
        self.seed = str(message.get("id") or self.seed)
        self._count(message.get("usage"))

    def _stop(self, delta: Dict) -> None:
        reason, details = delta.get("stop_reason"), _part(delta, "stop_details")
        if isinstance(reason, str) and reason:
            self.stop_reason = _STOP_REASONS.get(reason, "other")
        if isinstance(details.get("explanation"), str):
            self._explanation = str(details["explanation"])

    def _failed(self, piece: Dict) -> list[events.Event]:
        error = piece.get("error")
        if isinstance(error, dict) and "code" not in error and error.get("type") in _STATUS:
            piece = {**piece, "error": {**error, "code": _STATUS[str(error["type"])]}}
        return self.reported(piece)

    def _count(self, usage: object) -> None:
        """Take counts; later ones replace earlier ones, what is missing stays."""
        given = usage if isinstance(usage, dict) else {}
        self._usage.update({name: value for name, value in given.items() if value is not None})
        parts = [self._usage.get(f"{name}input_tokens") for name in ("", "cache_read_", "cache_creation_")]
        numbers = [part for part in parts if isinstance(part, int)]
        self.counts = {
            "input_tokens": sum(numbers) if numbers else None,
            "output_tokens": self._usage.get("output_tokens"),
            "cache_read_input_tokens": parts[1],
            "cache_creation_input_tokens": parts[2],
            "reasoning_tokens": _part(self._usage, "output_tokens_details").get("thinking_tokens"),
        }

    # Its blocks

    def _open(self, block: Dict) -> list[events.Event]:
        out = self._shut()
        self.is_started, self._block = True, block
        kind = block.get("type")
        return out + self._said(kind, block.get("text") if kind == "text" else block.get("thinking"))

    def _more(self, delta: Dict) -> list[events.Event]:
        kind = delta.get("type")
        if kind == "input_json_delta" and isinstance(delta.get("partial_json"), str):
            self._pieces.append(str(delta["partial_json"]))
        if kind == "signature_delta" and isinstance(delta.get("signature"), str):
            self._pieces = [str(delta["signature"])]  # whole each time
        if kind == "text_delta":
            return self._said("text", delta.get("text"))
        return self._said("thinking", delta.get("thinking")) if kind == "thinking_delta" else []

    def _said(self, kind: object, text: object) -> list[events.Event]:
        if not isinstance(text, str) or not text or kind not in ("text", "thinking"):
            return []
        self._has_text = self._has_text or kind == "text"
        return [events.delta(text) if kind == "text" else events.thinking(text)]

    def _shut(self) -> list[events.Event]:
        """End the open block; return what goes back."""
        block, joined = self._block, "".join(self._pieces)
        self._block, self._pieces = {}, []
        kind = block.get("type")
        if kind == "tool_use":
            given = block.get("input")
            arguments = joined if joined.strip() or not given else given
            call = {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": arguments}}
            self.calls.add(call, whole=True)
        elif kind == "thinking":
            signature = joined or block.get("signature")
            return events.echo(self._owner, {"signature": signature}) if signature else []
        elif kind == "redacted_thinking":
            return events.echo(self._owner, {"redacted": block.get("data")})
        elif kind in ("server_tool_use", "web_search_tool_result"):
            return self._hosted(block, joined)
        return []

    def _hosted(self, block: Dict, joined: str) -> list[events.Event]:
        """Return what a hosted tool was asked, or found, to go back as it came."""
        if joined.strip():
            try:
                block = {**block, "input": jsonl.loads(joined, max_bytes=TOTAL_BYTES)}
            except SchemaError:
                return []  # cut in the middle of its arguments: it was never run
        return events.echo(self._owner, {"block": block})


def _part(value: Dict, name: str) -> Dict:
    part = value.get(name)
    return part if isinstance(part, dict) else {}
