"""The context of a chat: which messages a model sees, parents before children, each once.

Works on messages alone; imports under MicroPython. Source: reference behaviour of turn logs with `continues`, with
its repairs: a shared ancestor appears once, a cycle ends the walk, a parent that is gone becomes a marker.
"""

from oasis.core.schema import blocks, tool_result, tool_uses

# The longest thread handed to a model; older messages stay on disk.
CONTEXT_MESSAGES = 200

INTERRUPTED = "interrupted: the daemon stopped before this call was answered; nothing of it is known to have happened"


def context(messages, heads):
    """Return the messages that `heads` (a list of ids) continue, oldest first, the heads last.

    `messages` maps id to message. A missing parent is left out; `missing(…)` names them.
    """
    ordered = []
    seen = set()
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
    return ordered[-CONTEXT_MESSAGES:]


def missing(messages, ordered):
    """Return the parent ids that `ordered` names but `messages` does not hold."""
    gone = []
    for message in ordered:
        for parent in message.get("continues", []):
            if parent not in messages and parent not in gone:
                gone.append(parent)
    return gone


def options(ordered):
    """Return the merged options of a thread: oldest first, objects merge, all else (false and [] too) replaces."""
    merged = {}
    for message in ordered:
        _merge(merged, message.get("options", {}))
    return merged


def _merge(target, delta):
    for key in delta:
        value = delta[key]
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        elif isinstance(value, dict):
            target[key] = {}
            _merge(target[key], value)
        else:
            target[key] = value


def unanswered(ordered):
    """Return the tool_use blocks of a thread that no tool_result answers, oldest first."""
    answered = set()
    calls = []
    for message in ordered:
        calls.extend(tool_uses(message))
        for block in blocks(message):
            if block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
    return [call for call in calls if call["id"] not in answered]


def interruption(calls):
    """Return the tool_result blocks that close calls which a crash left open."""
    return [tool_result(call, INTERRUPTED, True) for call in calls]
