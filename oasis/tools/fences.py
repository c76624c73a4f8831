"""Tool calls for a model that cannot make any: read from the fenced blocks of its answer, and sent back as text.

The calls and their results are stored like any others, so that another model can go on with the chat. One `Written`
serves one turn. Commands that were proposed once in a turn are not proposed again: a model that tells what it did
shows them once more.
"""

from __future__ import annotations

from oasis.change.uci_commands import fenced
from oasis.core import jsonl, schema
from oasis.errors import UsageError
from oasis.redaction.secret_forms import hide_typed

if False:  # annotations only
    from oasis.change.shapes import FencedItem as Item
    from oasis.core.shapes import Block, Callable, Json, Message

# Calls with this before their id were made here: the model's own text says what they do.
MARK = "fence_"
SHOWN = 12  # refusals and offers named at once; more say the same
_CUT: Item = {
    "command": "…", "reason": "the answer was cut off at its length limit, commands may be missing",
    "hint": "write less text and all commands in one block",
}  # fmt: skip


class Written:
    """What the model of one turn wrote instead of calls. `new_id()` gives ids.

    `refusals` maps the id of a call to its result, for one that must not be run; `remark` says what of its answer was
    not run, and goes to the model with the last result.
    """

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._proposed: set[str] = set()
        self.refusals: dict[str, str] = {}
        self.remark = ""

    def read(self, text: str, is_cut: bool, may_call: bool) -> tuple[list[Block], str]:
        """Return the calls in an answer and a note for the owner, "" for none."""
        items = fenced(text)
        changes = [item for item in items if item["kind"] == "change"]
        stops = [item for item in items if item["kind"] == "refused" and item["stops"]]
        left = [item for item in items if item["kind"] == "offer" or (item["kind"] == "refused" and not item["stops"])]
        if is_cut and changes:
            stops.append(_CUT)
        if not may_call:
            return [], _note([*changes, *stops, *left])
        if len(left) == len(items):
            stops = left  # the model gets nothing else
        wanted = [item["command"] for item in items if item["kind"] == "change" or item in stops]
        is_new = not set(wanted) <= self._proposed
        self.remark = _note(left) if stops is not left else ""
        shown = [item for item in left if not (changes and item.get("implied"))]
        if not is_new and stops is not left:
            shown += stops
        return self._calls(items, wanted if is_new else [], stops), _note(shown)

    def _calls(self, items: list[Item], wanted: list[str], stops: list[Item]) -> list[Block]:
        """Return the calls in order: one for each part that is read, one for all changes where the first one stands."""
        calls: list[Block] = []

        def add(name: str, arguments: dict[str, Json]) -> None:
            calls.append({"type": "tool_use", "id": MARK + self._new_id(), "name": name, "input": arguments})

        inputs: list[object] = []
        for item in items:
            if item["kind"] == "read" and item["input"] not in inputs:
                inputs.append(item["input"])
                add("read_config", item["input"])
            elif wanted and (item["kind"] == "change" or item in stops):
                self._proposed.update(wanted)
                add("configure", {"commands": [*wanted]})
                wanted = []
                if stops:
                    hints = {item["hint"]: None for item in stops[:SHOWN] if "hint" in item}
                    error = UsageError(_note(stops), "; ".join(hints))
                    self.refusals[calls[-1]["id"]] = jsonl.dumps({"error": hide_typed(error.as_dict())})
        return calls


def _note(items: list[Item]) -> str:
    lines = []
    for item in items[:SHOWN]:
        words = item.get("words") or item.get("reason") or "the turn has too many rounds"
        if item.get("kind") == "offer" and item["input"]:
            wish = "%s %s" % (item["input"]["action"], item["input"]["name"])
            words += '; the tool service does it: say "%s" to the built-in service' % wish
        lines.append("%s (%s)" % (item["command"], words))
    if len(items) > SHOWN:
        lines.append("and %d more" % (len(items) - SHOWN))
    return str(hide_typed("not run: " + "\nnot run: ".join(lines))) if lines else ""


# Towards the model


def as_text(message: Message) -> Message:
    """Return a message without calls and results: as text, for a service that knows neither."""
    blocks = schema.blocks(message)
    if message["role"] == "tool":
        texts = [(block["name"], schema.text_of({"content": block["content"]})) for block in blocks]
        told = ["[result of %s, from Oasis, not the owner's words]\n%s" % pair for pair in texts]
        return {**message, "role": "user", "content": "\n\n".join(told)}
    if not schema.tool_uses(message):
        return message
    content = [block for block in blocks if block["type"] != "tool_use"]
    for call in schema.tool_uses(message):
        if not call["id"].startswith(MARK):
            content.append({"type": "text", "text": _written(call)})
    return {**message, "content": content}


def _written(call: Block) -> str:
    """Return a call that another model made as this one would have written it."""
    given = call["input"]
    commands = given.get("commands")
    if call["name"] == "configure" and isinstance(commands, list):
        return "\n```\n%s\n```" % "\n".join(str(command) for command in commands)
    if call["name"] == "read_config":
        place = ".".join(str(given[key]) for key in ("package", "section") if given.get(key))
        return "\n```\nuci show %s\n```" % place
    return "\n(%s %s)" % (call["name"], jsonl.dumps(given))
