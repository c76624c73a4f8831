"""Read the answer of OpenAI's Responses API, streamed or whole.

An answer is a list of items; each is known by its place (`output_index`), for some gateways change the ids. What the
service wants back (reasoning, hosted searches, the phase of a text) is kept with the text or the call that follows it:
{"model", "items": [...], "phase"?}; the last of an answer that was cut off is followed by nothing and not kept.
Unknown events and items are skipped. Source: OpenAI API reference, "Responses" and "Streaming events".
"""

from __future__ import annotations

from oasis.providers import decoding, events, faults

Dict = dict[str, object]
_Events = list[events.Event]

_STOP_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}

# Pieces of text: the key that holds them, and whether the model says it or only thinks it.
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
}
_ENDS = ("response.completed", "response.incomplete")
_FAILURES = ("response.failed", "response.cancelled", "error")

# Items of hosted tools that must stand between the reasoning items around them.
_KEPT = ("reasoning", "web_search_call")


class Decoder(decoding.Decoder):
    """Decode a response."""

    def __init__(self, status: int, headers: dict[str, str], options: Dict):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        # What goes back is for the model as it was asked for (wire.model_of), whatever name it answers with.
        self._asked_model = str(options.get("model") or self.profile.get("model") or "")
        self._keeps = bool(self.profile.get("encrypted"))  # other servers read their own items in many ways
        self._before: list[Dict] = []  # kept items that wait for the text or call they led to
        self._calls: dict[int, Dict] = {}  # by place: the call's item, and what was kept before it
        self._pieces: dict[int, list[str]] = {}  # by place: of its arguments, joined once at the end
        self._heard: dict[int, str] = {}  # by place: the kind of text of which something has come
        self._done: set[int] = set()
        self._places: dict[str, int] = {}  # of items whose place was not told
        self._is_refused = False

    def on_done(self) -> _Events:
        return self.cut() if self.is_started else self.nothing()  # of gateways; the API itself has no such mark

    def on_piece(self, piece: Dict, event: str) -> _Events:
        return self._event(str(piece.get("type") or event), piece)

    def on_whole(self, answer: Dict) -> _Events:
        if not isinstance(answer.get("output"), list):
            return self.bad_answer("it holds no output")
        return self._ended(answer)

    def _event(self, kind: str, event: Dict) -> _Events:
        if kind in _FAILURES or ("type" not in event and faults.has_error(event)):
            return self._failed(event)
        self.is_started = True
        place = self._place(event)
        if kind in _DELTAS:
            return self._piece(place, _DELTAS[kind], event.get("delta"))
        if kind == "response.reasoning_summary_part.added":
            return [events.thinking("\n\n")] if self._heard.get(place) == "thinking" else []
        if kind.startswith("response.function_call_arguments."):
            return self._argued(place, event)
        item = event.get("item")
        if kind == "response.output_item.added" and isinstance(item, dict):
            return self._added(place, item)
        if kind == "response.output_item.done" and isinstance(item, dict):
            return self._finished(place, item)
        response = event.get("response")
        if kind.startswith("response.") and isinstance(response, dict):
            self._named(response)
            return self._ended(response) if kind in _ENDS else []
        return []

    # Items

    def _place(self, event: Dict) -> int:
        """Return where in the output an event belongs; without a place its item's id says it."""
        place, item = event.get("output_index"), event.get("item")
        if isinstance(place, int):
            return place
        ident = event.get("item_id") or (item.get("id") if isinstance(item, dict) else None)
        return self._places.setdefault(str(ident), len(self._places))

    def _call(self, place: int) -> Dict:
        if place not in self._calls:
            self._calls[place] = {"before": self._taken()}
        return self._calls[place]

    def _taken(self) -> list[Dict]:
        taken, self._before = self._before, []
        return taken

    def _argued(self, place: int, event: Dict) -> _Events:
        call, piece = self._call(place), event.get("delta")
        if isinstance(piece, str):
            self._pieces.setdefault(place, []).append(piece)
        if isinstance(event.get("arguments"), str):
            call["arguments"] = event["arguments"]
        return []

    def _added(self, place: int, item: Dict) -> _Events:
        if item.get("type") == "function_call":
            early = {"arguments": None, "early": item.get("arguments")}  # those that count come in pieces
            self._call(place).update(_without_nothing({**item, **early}))
        if item.get("type") == "message":
            return self._opened(item)
        return []

    def _opened(self, item: Dict) -> _Events:
        """Return what goes back with the text that begins."""
        kept: Dict = {"model": self._asked_model}
        items = self._taken()
        if items:
            kept["items"] = items
        if self._keeps and isinstance(item.get("phase"), str):
            kept["phase"] = item["phase"]
        return events.echo(self._owner, kept) if len(kept) > 1 else []

    def _finished(self, place: int, item: Dict) -> _Events:
        """Take an item that is complete; what its pieces have told already is not told again."""
        if place in self._done:
            return []
        self._done.add(place)
        kind = item.get("type")
        if kind == "function_call":
            self._call(place).update(_without_nothing(item))
        if kind not in ("message", *_KEPT):
            return []
        out: _Events = [] if kind != "message" or place in self._heard else self._opened(item)
        if place not in self._heard:
            for part in _texts(item):
                out.extend(self._piece(place, *part))
        if self._keeps and (kind == "web_search_call" or item.get("encrypted_content")):
            self._before.append(item)
        return out

    def _piece(self, place: int, kind: str, text: object) -> _Events:
        if not isinstance(text, str) or not text:
            return []
        self._heard[place] = kind
        if kind == "thinking":
            return [events.thinking(text)]
        self._is_refused = self._is_refused or kind == "refusal"
        return [events.delta(text)]

    # Endings

    def _named(self, response: Dict) -> None:
        if isinstance(response.get("model"), str) and response["model"]:
            self.model = str(response["model"])
        self.seed = str(response.get("id") or self.seed)

    def _failed(self, event: Dict) -> _Events:
        response = event.get("response")
        value = response if isinstance(response, dict) and response.get("error") else event
        if value is response or event.get("type") == "error" or faults.has_error(event):
            return self.reported(value)
        return self.fail(faults.event("server", f"{self.label} gave up in the middle of its answer"))

    def _ended(self, response: Dict) -> _Events:
        """Take the whole response; its output counts only where no item came before it."""
        self._named(response)
        status, details = response.get("status"), response.get("incomplete_details")
        if status in ("failed", "cancelled"):
            return self._failed({"response": response})
        out: _Events = []
        output = response.get("output")
        if not self._done and not self._heard and not self._calls and isinstance(output, list):
            for place, item in enumerate(output):
                out.extend(self._finished(place, item) if isinstance(item, dict) else [])
        reason = details.get("reason") if isinstance(details, dict) else None
        self.stop_reason = "end_turn"
        if status == "incomplete" or reason:
            self.stop_reason = _STOP_REASONS.get(str(reason), "other")
        self._count(response.get("usage"))
        return [*out, *self.finish()]

    def finish(self) -> _Events:
        if self._is_refused:
            self.stop_reason = "refusal"
        calls = [self._calls[place] for place in sorted(self._calls)]
        for place, call in self._calls.items():
            call.setdefault("arguments", "".join(self._pieces.get(place, [])) or call.get("early"))
        for call in calls:
            function = {"name": call.get("name"), "arguments": call.get("arguments")}
            self.calls.add({"id": call.get("call_id"), "function": function}, whole=True)
        out = super().finish()
        made = [event for event in out if event["type"] == "tool_use"]
        for event, call in zip(made, calls, strict=True):
            if call.get("status") == "incomplete":  # cut, though what is there may look whole
                event.update({"input": {}, "invalid": str(call.get("arguments") or "")[: events.INVALID_CHARS]})
            if call["before"]:
                kept = {"model": self._asked_model, "items": call["before"]}
                for echo in events.echo(self._owner, kept):
                    event["provider_metadata"] = echo["provider_metadata"]
        return out

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):
            read, made = _part(usage, "input_tokens_details"), _part(usage, "output_tokens_details")
            self.counts = {
                "input_tokens": usage.get("input_tokens"),
                "output_tokens": usage.get("output_tokens"),
                "cache_read_input_tokens": read.get("cached_tokens"),
                "cache_creation_input_tokens": read.get("cache_write_tokens"),
                "reasoning_tokens": made.get("reasoning_tokens"),
            }


def _without_nothing(item: Dict) -> Dict:
    """Return the fields of a call that say something: a later copy may lack what an earlier one had."""
    return {name: item[name] for name in ("call_id", "name", "arguments", "early", "status") if item.get(name)}


def _texts(item: Dict) -> list[tuple[str, str]]:
    """Return the texts of a whole item as (kind, text)."""
    found: list[tuple[str, str]] = []
    for name, kind in (("summary", "thinking"), ("content", "thinking" if item.get("type") == "reasoning" else "text")):
        parts = item.get(name)
        for part in parts if isinstance(parts, list) else []:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("refusal"), str):
                found.append(("refusal", part["refusal"]))
            elif isinstance(part.get("text"), str):
                found.append((kind, ("\n\n" if found and kind == "thinking" else "") + part["text"]))
    return found


def _part(usage: Dict, name: str) -> Dict:
    part = usage.get(name)
    return part if isinstance(part, dict) else {}
