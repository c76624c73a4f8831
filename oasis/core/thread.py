"""The context of a chat: which messages a model sees, parents before children, each once.

Works on messages alone; imports under MicroPython. Source: reference behaviour of turn logs with `continues`, with
its repairs: a shared ancestor appears once, a cycle ends the walk, a parent that is gone is left out and can be named.
"""

from oasis.core.schema import blocks, taint_of, tool_result

if False:  # annotations only
    from oasis.core.shapes import Block, Message, Options

# The longest thread handed to a model; older messages stay on disk. It begins with an owner's message, so that no
# tool_result stands there without its tool_use.
CONTEXT_MESSAGES = 200

INTERRUPTED = "interrupted: the daemon stopped before this call was answered; nothing of it is known to have happened"


def context(messages: "dict[str, Message]", heads: "list[str]") -> "list[Message]":
    """Return the messages that `heads` (ids) continue and the heads themselves, parents before children, each once.

    `messages` maps id to message. A missing parent is left out; `missing(…)` names them.
    """
    ordered: list[Message] = []
    seen: set[str] = set()
    stack = [(head, False) for head in reversed(heads)]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            ordered.append(messages[name])
            continue
        if name in seen or name not in messages:
            continue
        seen.add(name)
        stack.append((name, True))
        for parent in reversed(messages[name].get("continues", [])):
            stack.append((parent, False))
    return _newest(ordered)


def _newest(ordered: "list[Message]") -> "list[Message]":
    first = max(len(ordered) - CONTEXT_MESSAGES, 0)
    starts = [number for number in range(first, len(ordered)) if ordered[number]["role"] == "user"]
    return ordered[starts[0] :] if first and starts else ordered[first:]


def missing(messages: "dict[str, Message]", ordered: "list[Message]") -> "list[str]":
    """Return the parent ids that `ordered` names but `messages` does not hold."""
    gone: list[str] = []
    for message in ordered:
        for parent in message.get("continues", []):
            if parent not in messages and parent not in gone:
                gone.append(parent)
    return gone


def options(ordered: "list[Message]") -> "Options":
    """Return the merged options of a thread: oldest first, objects merge, all else (false and [] too) replaces."""
    merged: Options = {}
    for message in ordered:
        _merge(merged, message.get("options", {}))
    return merged


def _merge(target: "Options", delta: "Options") -> None:
    for key in delta:
        value = delta[key]
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        elif isinstance(value, dict):
            target[key] = {}
            _merge(target[key], value)
        else:
            target[key] = value


def taint(ordered: "list[Message]") -> "list[str]":
    """Return whose words, beside the owner's, Oasis's and a model's, are in a thread; [] for nobody's."""
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
                _close(calls, block["tool_use_id"])
    return calls


def _close(calls: "list[Block]", name: str) -> None:
    for call in calls:
        if call["id"] == name:
            calls.remove(call)
            return


def interruption(calls: "list[Block]") -> "list[Block]":
    """Return the tool_result blocks that close calls which a crash left open."""
    return [tool_result(call, INTERRUPTED, True) for call in calls]
