"""Read the answer of Gemini's generateContent, streamed or whole.

A stream is whole answers, each with what is new; it has no end mark, so the last one names the reason it stopped.
Signatures go back with the very part they came in, so they are kept beside it: with a call, or as an empty thought
behind a text, which says how many characters of it were signed. Source: Gemini API, "GenerateContentResponse",
"Thought signatures".
"""

from __future__ import annotations

from oasis.providers import decoding, events, faults
from oasis.providers.calls import Calls

Dict = dict[str, object]

_STOP_REASONS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "MODEL_ARMOR": "refusal",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
}

# Parts that a hosted tool made; they go back as they came.
_HOSTED = ("toolCall", "toolResponse", "executableCode", "codeExecutionResult")


class Decoder(decoding.Decoder):
    """Decode one or many GenerateContentResponse."""

    def __init__(self, status: int, headers: dict[str, str], options: dict[str, object]):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        self.calls = Calls(self._owner)
        self._has_text = False
        self._is_partial = False
        self._reason = ""  # in the service's own words
        self._words = ""

    def on_done(self) -> list[events.Event]:
        return []  # of gateways: the last answer says that it is the last

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        return self.reported(piece) if piece.get("error") or event == "error" else self._answer(piece)

    def on_whole(self, answer: Dict) -> list[events.Event]:
        if not isinstance(answer.get("candidates"), list) and not isinstance(answer.get("promptFeedback"), dict):
            return self.bad_answer("it holds no candidate")
        return self._answer(answer)

    def finish(self) -> list[events.Event]:
        if self._is_partial:
            message = f"{self.label} sent a tool call in pieces, which is not understood; it was not run"
            return self.fail(faults.event("bad_tool_call", message))
        if self.stop_reason == "error":
            message = f"{self.label} wrote a tool call nobody can read ({self._reason})"
            return self.fail(faults.event("bad_tool_call", message))
        out: list[events.Event] = []
        if self.stop_reason == "refusal":
            self.calls = Calls()
            if not self._has_text:
                why = self._words or self._reason
                out.append(events.delta(f"({self.label} declined to answer: {faults.scrub(why)})"))
        return [*out, *super().finish()]

    def _answer(self, answer: Dict) -> list[events.Event]:
        self.is_started = True
        self.model = str(answer.get("modelVersion") or self.model)
        self.seed = str(answer.get("responseId") or self.seed)
        self._count(answer.get("usageMetadata"))
        self._stop(_part(answer, "promptFeedback").get("blockReason"), "", "refusal")
        candidates = answer.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict):
            return []
        parts = _part(candidate, "content").get("parts")
        out: list[events.Event] = []
        for part in parts if isinstance(parts, list) else []:
            out.extend(self._take(part) if isinstance(part, dict) else [])
        self._stop(candidate.get("finishReason"), candidate.get("finishMessage"), "other")
        return out

    def _stop(self, reason: object, words: object, unknown: str) -> None:
        if not isinstance(reason, str) or not reason or reason.endswith("_UNSPECIFIED"):
            return
        self._reason, self._words = reason, words if isinstance(words, str) else ""
        self.stop_reason = unknown if unknown == "refusal" else _STOP_REASONS.get(reason, unknown)

    def _take(self, part: Dict) -> list[events.Event]:
        signature = part.get("thoughtSignature") or part.get("thought_signature")
        if isinstance(part.get("functionCall"), dict):
            return self._call(_part(part, "functionCall"), signature)
        if any(name in part for name in _HOSTED):
            return events.echo(self._owner, {"part": part})
        text = part.get("text")
        if not isinstance(text, str):
            return []
        is_thought = part.get("thought") is True
        out = [events.thinking(text) if is_thought else events.delta(text)] if text else []
        self._has_text = self._has_text or (bool(text) and not is_thought)
        if signature:
            kept = {"signature": signature} if is_thought else {"signature": signature, "text_chars": len(text)}
            out += events.echo(self._owner, kept)
        return out

    def _call(self, call: Dict, signature: object) -> list[events.Event]:
        arguments = call.get("args")
        if call.get("willContinue") is True or "partialArgs" in call:
            self._is_partial = True  # streamed arguments are not asked for; what came is not all of them
        own: Dict = {name: value for name, value in (("thought_signature", signature), ("id", call.get("id"))) if value}
        piece: Dict = {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": arguments or {}}}
        if own:
            piece["extra_content"] = {"google": own}
        self.calls.add(piece, whole=True)
        return []

    def _count(self, usage: object) -> None:
        """Take counts; each answer of a stream has those so far."""
        if not isinstance(usage, dict):
            return
        self.counts = {
            "input_tokens": _sum(usage, "promptTokenCount", "toolUsePromptTokenCount"),
            "output_tokens": _sum(usage, "candidatesTokenCount", "thoughtsTokenCount"),
            "cache_read_input_tokens": usage.get("cachedContentTokenCount"),
            "reasoning_tokens": usage.get("thoughtsTokenCount"),
        }


def _sum(usage: Dict, *names: str) -> int | None:
    numbers = [value for value in [usage.get(name) for name in names] if isinstance(value, int)]
    return sum(numbers) if numbers else None


def _part(value: Dict, name: str) -> Dict:
    part = value.get(name)
    return part if isinstance(part, dict) else {}
