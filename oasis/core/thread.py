"""The thread of a message: what it continues, parents before children, each message once, and the options in force.

Works on messages alone; imports under MicroPython. `messages` maps the ids of one chat to its messages and is only
asked `get`; `find(id)` gives a message of another chat, or None. A shared ancestor appears once, siblings stand in the
order listed, a cycle ends the walk, and a parent that is gone is a marker {"type": "missing", "id"} for front-ends,
which no model sees. Of a long thread a model gets the newest messages; the options come from all of it.

An import's options are stored and not in force: who wrote the file chooses neither the service nor its search.

Where only the newer part of a thread was read, `older` holds the ids at which it goes on, and `older_options` what was
merged up to there; a reader gets {"type": "older", "id"} in their place.

New messages are made here as well. What is not given is left out of one; what is given stays, false and [] too: those
switch something off further down the thread.
"""

from oasis.core import schema
from oasis.core.schema import blocks, taint_of, tool_result
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Any, Block, Callable, Marker, Message, Options, Response, Thread

    Find = Callable[[str], Message | None]
    Messages = dict[str, Message]

# The longest thread handed to a model; older messages stay on disk. It begins with an owner's message, so that no
# tool_result stands there without its tool_use.
CONTEXT_MESSAGES = 200
# A walk that finds more ends there: a year of a chat with a hundred messages a day.
WALK_MESSAGES = 40000

# The taint of messages that came in with a file (export.py).
IMPORTED = "an imported chat"

INTERRUPTED = "interrupted: the daemon stopped before this call was answered; nothing of it is known to have happened"


def resolve(
    messages: "Messages", heads: "list[str]", find: "Find | None" = None,
    older: "list[str] | None" = None, older_options: "Options | None" = None,
) -> "Thread":  # fmt: skip
    """Return what a model is sent of the thread that `heads` end, and what of it could not be."""
    walk = _Walk(messages, find, heads, older or [])
    # The newest CONTEXT_MESSAGES messages, each reached from the heads through others of them. Ids sort by time: of
    # several branches and documents the newest come along, whatever their place in the order.
    chosen: set[str] = set()
    waiting = [head for head in heads if head in walk.parents]
    while waiting and len(chosen) < CONTEXT_MESSAGES:
        name = max(waiting)
        waiting.remove(name)
        if name not in chosen:
            chosen.add(name)
            waiting += [parent for parent in walk.parents[name] if parent in walk.parents and parent not in chosen]
    # What follows a cut, up to the next owner's message, has lost its calls and goes as well. Where that leaves
    # nothing, the newest exchange is longer than the context and stays as it is.
    ordered = [walk.get(name) for name in walk.order if name in chosen]
    lost: set[str] = set()
    for message in ordered:
        known = [name for name in message.get("continues", []) if name in walk.parents or name in walk.older]
        is_cut = known and not [parent for parent in known if parent in chosen and parent not in lost]
        if is_cut and message["role"] not in ("user", "system"):
            lost.add(message["id"])
    kept = [message for message in ordered if message["id"] not in lost] or ordered
    return {
        "messages": kept,
        "options": merged([older_options or {}] + [walk.deltas[name] for name in walk.order if name in walk.deltas]),
        "missing": walk.missing,
        "left_out": len(walk.order) - len(kept),
        "has_older": walk.has_older,
    }


def context(messages: "Messages", heads: "list[str]", find: "Find | None" = None) -> "list[Message]":
    """Return the messages that `heads` (ids) continue and the heads themselves, parents before children, each once.

    At most the newest CONTEXT_MESSAGES. A missing parent is left out.
    """
    return resolve(messages, heads, find)["messages"]


def lineage(
    messages: "Messages", heads: "list[str]", find: "Find | None" = None, older: "list[str] | None" = None
) -> "list[Message | Marker]":
    """Return the thread for a reader: its messages, and once a marker where a parent is gone or was not read."""
    walk = _Walk(messages, find, heads, older or [])
    shown: list[Message | Marker] = []
    marked: set[str] = set()
    for name in walk.order:
        for parent in walk.parents[name]:
            kind = "missing" if parent in walk.gone else "older" if parent in walk.older else ""
            if kind and parent not in marked:
                marked.add(parent)
                shown.append({"type": kind, "id": parent})
        shown.append(walk.get(name))
    return shown


class _Walk:
    """Every message from the heads upwards, by id; the messages themselves are not kept.

    `order` lists ids, parents before children; `parents` maps each to what it continues, `deltas` to the options that
    it changes; `missing` are ids that are gone, in the order met.
    """

    def __init__(self, messages: "Messages", find: "Find | None", heads: "list[str]", older: "list[str]") -> None:
        self._messages = messages
        self._find = find
        self.older = set(older)
        self.has_older = False
        self.deltas: dict[str, Options] = {}
        self.order: list[str] = []
        self.parents: dict[str, list[str]] = {}
        self.missing: list[str] = []
        self.gone: set[str] = set()
        stack = [(head, False) for head in reversed(heads)]
        while stack:
            name, is_done = stack.pop()
            if is_done:
                self.order.append(name)
            elif name not in self.parents and name not in self.gone and len(self.parents) < WALK_MESSAGES:
                message = self.get(name)
                if message:
                    self.parents[name] = message.get("continues", [])
                    if "options" in message and IMPORTED not in message.get("taint", ()):
                        self.deltas[name] = message["options"]
                    stack.append((name, True))
                    stack += [(parent, False) for parent in reversed(self.parents[name])]
                elif name in self.older:
                    self.has_older = True
                else:
                    self.gone.add(name)
                    self.missing.append(name)

    def get(self, name: str) -> "Message":
        """Return a message, {} for one that is gone."""
        return self._messages.get(name) or (self._find(name) if self._find else None) or {}


def merged(deltas: "list[Options]") -> "Options":
    """Return the options that hold after some deltas, oldest first.

    Objects merge, lists of objects merge element by element, all else (other lists, false and [] too) replaces.
    """
    found: Options = {}
    for delta in deltas:
        found = _merged(found, delta)
    return found


def _merged(old: "Any", new: "Any") -> "Any":
    """Return a value that shares no list and no object with the two it was made of, so that neither ever changes."""
    if isinstance(new, dict):
        found = old.copy() if isinstance(old, dict) else {}
        for key in new:
            found[key] = _merged(found.get(key), new[key])
        return found
    if not isinstance(new, list):
        return new
    are_objects = new and isinstance(old, list) and all([isinstance(item, dict) for item in old + new])
    kept = old if are_objects else []
    made = [_merged(kept[at] if at < len(kept) else None, item) for at, item in enumerate(new)]
    return made + kept[len(new) :]


def taint(ordered: "list[Message]") -> "list[str]":
    """Return whose words, apart from the owner's, Oasis's and a model's, are in a thread; [] for nobody's."""
    found: list[str] = []
    for message in ordered:
        found += [label for label in taint_of(message) if label not in found]
    return found


def unanswered(ordered: "list[Message]") -> "list[Block]":
    """Return the tool_use blocks of a thread that no later tool_result answers, oldest first.

    A result closes the oldest open call of its id: some services number the calls of each answer afresh.
    """
    calls: list[Block] = []
    for message in ordered:
        for block in blocks(message):
            if block["type"] == "tool_use":
                calls.append(block)
            elif block["type"] == "tool_result":
                answered = [call for call in calls if call["id"] == block["tool_use_id"]]
                if answered:
                    calls.remove(answered[0])
    return calls


def interruption(calls: "list[Block]") -> "list[Block]":
    """Return the tool_result blocks that close calls which a crash left open."""
    return [tool_result(call, INTERRUPTED, True) for call in calls]


# -- new messages -----------------------------------------------------------------------------------------------------


def message(
    name: str, role: str, given: object, continues: "list[str] | None" = None, head: str = "",
    options: "Options | None" = None,
) -> "Message":  # fmt: skip
    """Return a new, checked message; `options` holds what changes from here on.

    Its content is given as a text, a list of texts (a block each), or a list of blocks.
    Raises: SchemaError naming the path.
    """
    if not isinstance(given, (str, list)):
        raise SchemaError("content must be a text, a list of texts or a list of blocks")
    content: list[Block] = []
    for number, item in enumerate(given if isinstance(given, list) else []):
        block = {"type": "text", "text": item} if isinstance(item, str) else item
        content.append(schema.check_block(block, "content[%d]" % number))
    made: Message = {"id": name, "role": role, "content": given if isinstance(given, str) else schema.compact(content)}
    if continues:
        made["continues"] = continues
    if head:
        made["head"] = head
    if options:
        made["options"] = options
    schema.check_message(made)
    return made


def parents(given: object, resolve: "Callable[[str], str]", newest: str = "") -> "list[str]":
    """Return the ids that a new message continues, each once, in the order given.

    `given` is None, one headish or a list of them; `resolve(headish)` gives the id; `newest` is the id of the newest
    message of all, where the new one responds to that as well.
    Raises: SchemaError for any other value, and what `resolve` raises.
    """
    if given is None:
        names: list[str] = []
    elif isinstance(given, str):
        names = [given]
    elif isinstance(given, list) and all([isinstance(item, str) for item in given]):
        names = given
    else:
        raise SchemaError("continues must be a headish or a list of them", "a headish is an id or a bookmark")
    found: list[str] = []
    for name in [resolve(item) for item in names] + ([newest] if newest else []):
        if name not in found:
            found.append(name)
    if len(found) > schema.PARENTS:
        raise SchemaError("continues has more than %d entries" % schema.PARENTS, "continue fewer messages at once")
    return found


def response(answer: "Message") -> "Response":
    """Return an assistant's message as the normalized response of its service."""
    return {
        "type": "message", "role": "assistant", "model": answer.get("model", ""), "content": schema.blocks(answer),
        "stop_reason": answer.get("stop_reason", "other"), "usage": answer.get("usage", {}),
    }  # fmt: skip


def answer(name: str, given: object, asked: "Message") -> "Message":
    """Return the assistant's message that stores a normalized response to the message `asked`, under its bookmark.

    Raises: SchemaError naming the path.
    """
    got = schema.check_response(given)
    made = message(name, "assistant", got["content"], [asked["id"]], asked.get("head", ""))
    made["stop_reason"] = got["stop_reason"]
    if got["model"]:
        made["model"] = got["model"]
    if got["usage"]:
        made["usage"] = got["usage"]
    return made
