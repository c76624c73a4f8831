"""Read the answer of Chat Completions, streamed or whole, in the dialects of all who imitate it.

Source: OpenAI API reference, "Chat Completions", and the notes of the services on what they leave out or add.
"""

from __future__ import annotations

from oasis.core.framing import Events
from oasis.providers import decoding, events, faults
from oasis.providers.calls import Calls
from oasis.providers.think import Splitter

Dict = dict[str, object]

_STOP_REASONS = {
    "stop": "end_turn",
    "eos": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
    "error": "error",
}


class Decoder(decoding.Decoder):
    """Decode a streamed or whole chat completion."""

    def __init__(self, status: int, headers: dict[str, str], options: Dict):
        super().__init__(status, headers, options)
        echo = self.profile.get("echo")
        self._owner, self._asked_model = str(self.profile.get("id") or ""), self.model
        self.calls = Calls(self._owner if echo == "extra_content" else "")
        self._keeps_details = echo == "reasoning_details"
        self._details: list[Dict] = []
        self._is_refused = False
        self._choice: object = None  # the number of the choice that came first
        self._text = Splitter()

    def make_reader(self) -> Events:
        return Events(extra_fields=("error",))  # older llama.cpp: a line `error: {…}` between the events

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        if event == "error" or piece.get("error") or piece.get("object") == "error":
            return self._failed(piece)
        self.is_started = True
        return self._chunk(piece, is_whole=False)

    def on_whole(self, answer: Dict) -> list[events.Event]:
        if not isinstance(answer.get("choices"), list) or not answer["choices"]:
            return self.bad_answer("it holds no choice")
        return self._chunk(answer, is_whole=True)

    def finish(self) -> list[events.Event]:
        if self.stop_reason == "error":
            return self.fail(faults.event("server", f"{self.label} failed in the middle of its answer"))
        if self._is_refused:
            self.stop_reason = "refusal"
        out = self._text.close()
        if self._details:  # for the model that was asked (wire.model_of): what is encrypted no other can open
            asked = str(self._asked_model or self.profile.get("model") or "")
            out.extend(events.echo(self._owner, {"reasoning_details": self._details, "model": asked}))
        return [*out, *super().finish()]

    def _chunk(self, chunk: Dict, is_whole: bool) -> list[events.Event]:
        if isinstance(chunk.get("model"), str) and chunk["model"]:
            self.model = str(chunk["model"])
        self.seed = str(chunk.get("id") or self.seed)
        self._count(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return []
        if self._choice is None:
            self._choice = choice.get("index")
        if choice.get("index") != self._choice and choice.get("index") is not None:
            return []  # nobody asked for a second one, and its words belong to no other
        if choice.get("error"):
            return self._failed(choice)
        said = choice.get("message") if is_whole else choice.get("delta") or choice.get("message")
        out = self._said(said, is_whole) if isinstance(said, dict) else []
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.stop_reason = _STOP_REASONS.get(reason, "other")
        return out

    def _failed(self, value: Dict) -> list[events.Event]:
        if self.stop_reason == "max_tokens":
            return self.finish()  # OpenRouter says once more, as an error, that the length limit was reached
        return self.reported(value)

    def _said(self, said: Dict, is_whole: bool) -> list[events.Event]:
        out: list[events.Event] = []
        thought = said.get("reasoning_content") or said.get("reasoning")
        if isinstance(thought, str):
            out.append(events.thinking(thought))
        if self._keeps_details:
            _join_details(self._details, said.get("reasoning_details"))
        out.extend(self._content(said.get("content")))
        if isinstance(said.get("refusal"), str) and said["refusal"]:
            self._is_refused = True
            out.append(events.delta(str(said["refusal"])))
        calls = said.get("tool_calls")
        for piece in calls if isinstance(calls, list) else []:
            self.calls.add(piece, is_whole)
        return out

    def _content(self, content: object) -> list[events.Event]:
        """Return the events of a content: text, or Mistral's list of text and thinking parts."""
        if isinstance(content, str):
            return self._text.feed(content) if content else []
        out: list[events.Event] = []
        for part in content if isinstance(content, list) else []:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str) and part["text"]:
                out.append(events.delta(part["text"]))
            thoughts = part.get("thinking")
            for thought in thoughts if isinstance(thoughts, list) else []:
                if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                    out.append(events.thinking(thought["text"]))
        return out

    def _count(self, chunk: Dict) -> None:
        """Keep the newest usage; some servers send it with every piece."""
        groq = chunk.get("x_groq")
        usage = chunk.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        if not isinstance(usage, dict):
            return
        prompt, completion = _part(usage, "prompt_tokens_details"), _part(usage, "completion_tokens_details")
        output, reasoning = usage.get("completion_tokens"), completion.get("reasoning_tokens")
        if self.profile.get("usage_adds_reasoning") and isinstance(output, int) and isinstance(reasoning, int):
            output += reasoning
        self.counts = {
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": output,
            "cache_read_input_tokens": prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            "cache_creation_input_tokens": prompt.get("cache_write_tokens"),
            "reasoning_tokens": reasoning,
        }


def _join_details(known: list[Dict], pieces: object) -> None:
    """Add pieces of reasoning details to those of the same index and type; text grows, other fields come once."""
    for piece in pieces if isinstance(pieces, list) else []:
        if not isinstance(piece, dict):
            continue
        place = (piece.get("index"), piece.get("type"))
        same = [detail for detail in known if (detail.get("index"), detail.get("type")) == place]
        if not same:
            known.append(dict(piece))
            continue
        for name, value in piece.items():
            here = same[0].get(name)
            if name in ("text", "summary", "data") and isinstance(here, str) and isinstance(value, str):
                same[0][name] = here + value
            elif value is not None:
                same[0][name] = value


def _part(usage: Dict, name: str) -> Dict:
    part = usage.get(name)
    return part if isinstance(part, dict) else {}
