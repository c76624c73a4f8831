"""Put tool calls together from the pieces in which servers send them.

Knows the habits of the OpenAI-compatible world (providers differ in all of these): pieces are keyed by `index`, or by
`id`, or belong to the last call; a new id on a used index is a new call; id and name count once, however often they
are repeated; arguments are text in pieces, complete at once, an object, empty or missing (both mean {}).
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import SchemaError
from oasis.providers.events import INVALID_CHARS, Event, clean

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
            value = jsonl.loads(text, max_bytes=TOTAL_BYTES, max_depth=DEPTH)
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
