"""The message gate: make any stored conversation one that strict services accept.

Works on the block form of messages and returns it: role and a list of blocks, nothing else. Pure and idempotent
(preparing a prepared conversation changes nothing). Order of the rules:

 1. drop bad roles, blocks in the wrong role, calls and results with empty ids
 2. arguments that are no object become {}; `invalid` is removed
 3. repeated call ids are renamed together with the results that follow
 4. results without call and calls without result are dropped; results move directly behind their call
 5. system messages are merged, each vendor class in its own way
 6. neighbours of one role are merged, only where the profile asks; also empty messages dropped, the end made a user's,
    results that nobody answered before the user spoke again followed by an answer that says so
 7. only system messages left: a user message "Begin."

What a rule empties is dropped; a message that was stored empty stays, because services accept it. A block's `cache`
(a caller's mark: the prompt is the same up to here) passes through.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

if False:  # annotations only
    from oasis.providers.shapes import Block, Turn

BEGIN = "Begin."
CONTINUE = "Continue."
STOPPED = "(The turn ended here.)"

# Which kinds of block a role may hold. Results are kept in a user's message too: other formats store them there.
_ALLOWED = {
    "system": ("text",),
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "tool_use", "thinking"),
    "tool": ("tool_result",),
}
# What is kept of a block, and which of it must be there and not empty; of other kinds all is kept.
_KEYS = {
    "text": ("type", "text", "provider_metadata", "cache"),
    "thinking": ("type", "text", "provider_metadata", "cache"),
    "tool_use": ("type", "id", "name", "provider_metadata"),
    "tool_result": ("type", "tool_use_id", "name", "cache"),
}
_NEEDED = {"tool_use": ("id", "name"), "tool_result": ("tool_use_id",)}
# The rules that only some services want.
RULES = ("alternate", "drop_empty", "end_with_user", "bridge")


def prepare(
    messages: list[dict[str, object]], merge_system: Callable[[list[Turn]], list[Turn]], **rules: bool
) -> list[Turn]:
    """Return the conversation as services want it; `merge_system` is rule 5 of the vendor, `rules` those of RULES."""
    chat: list[Turn] = []
    for message in messages:
        role = message.get("role")
        if isinstance(role, str) and role in _ALLOWED:
            given = _as_blocks(message.get("content"))
            kept = [block for block in map(_clean_block, given) if block and block["type"] in _ALLOWED[role]]
            if kept or not (given or role == "tool"):
                chat.append({"role": role, "content": kept})
    chat = _paired(chat)
    if rules.get("drop_empty"):
        chat = [message for message in chat if message["content"]]
    chat = merge_system(chat)
    if rules.get("alternate"):
        chat = _alternating(chat)
    if rules.get("bridge"):  # an answer between results and a user's message: a turn may have been stopped there
        for at in range(len(chat) - 1, 0, -1):
            if chat[at]["role"] == "user" and chat[at - 1]["role"] == "tool":
                chat.insert(at, _of("assistant", STOPPED))
    others = list(itertools.dropwhile(lambda message: message["role"] == "system", chat))
    if chat and (not others or (rules.get("alternate") and others[0]["role"] == "assistant")):
        chat.insert(len(chat) - len(others), _of("user", BEGIN))
    if rules.get("end_with_user") and chat and chat[-1]["role"] == "assistant":
        chat.append(_of("user", CONTINUE))
    return chat


def parted(messages: list[dict[str, object]], **rules: bool) -> tuple[str, list[Turn]]:
    """Return the whole system text and the other messages, for services that want it apart; `rules` as in prepare."""
    chat = prepare(messages, merge_system_first, **rules)
    is_first = bool(chat) and chat[0]["role"] == "system"  # the only one that is left
    return (text_of(chat[0]), chat[1:]) if is_first else ("", chat)


def merge_system_first(chat: list[Turn]) -> list[Turn]:
    """Join all system texts with a blank line into one first message; none with text gives no system message."""
    joined = "\n\n".join(filter(None, [text_of(message) for message in chat if message["role"] == "system"]))
    first = [_of("system", joined)] if joined else []
    return first + [message for message in chat if message["role"] != "system"]


def text_of(message: Turn | Block) -> str:
    """Return the texts of a message or a tool_result block, joined."""
    content: str | list[Block] = message["content"]
    return content if isinstance(content, str) else "".join([one["text"] for one in content if one["type"] == "text"])


def blocks_of(message: Turn, kind: str) -> list[Block]:
    """Return the blocks of one type of a prepared message."""
    return [block for block in message["content"] if block["type"] == kind]


# Rules 1 and 2


def _as_blocks(content: object) -> list[object]:
    """Return the blocks that say something; an empty thought may carry what a service wants back."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [
        block
        for block in (blocks if isinstance(blocks, list) else [])
        if not isinstance(block, dict)
        or block.get("text") != ""
        or (block.get("type") == "thinking" and block.get("provider_metadata"))
    ]


def _clean_block(block: object) -> Block | None:
    """Return a block with the keys that count, None for what is none."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str):
        return None
    kept: Block = {name: block[name] for name in _KEYS.get(kind, block) if block.get(name) is not None}  # type: ignore[assignment]
    if kind in ("text", "thinking"):
        return kept if isinstance(block.get("text"), str) else None
    if not all(isinstance(block.get(name), str) and block[name] for name in _NEEDED.get(kind, ())):
        return None
    if kind == "tool_use":
        kept["input"] = block["input"] if isinstance(block.get("input"), dict) else {}
    if kind == "tool_result":
        kept["content"] = []
        for part in _as_blocks(block.get("content")):  # what a tool may give back: text, image, document
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                kept["content"].append({"type": "text", "text": part["text"]})
            elif isinstance(part, dict) and part.get("type") in ("image", "document"):
                kept["content"] += [{**part}] if isinstance(part.get("media_type"), str) else []  # type: ignore[typeddict-item]
        if block.get("is_error") is True:
            kept["is_error"] = True
    return kept


# Rules 3 and 4


def _paired(chat: list[Turn]) -> list[Turn]:
    """Give every call an id of its own and its result, right behind it; drop what has no partner.

    A result belongs to the newest message before it that calls with its id, there to the first call still open.
    """
    taken = {block["id"] for message in chat for block in blocks_of(message, "tool_use")}
    seen: set[str] = set()
    waiting: dict[str, list[Block]] = {}
    results: dict[int, Block] = {}  # by the identity of the call's block
    for message in chat:
        calls = blocks_of(message, "tool_use")
        waiting.update({call["id"]: [] for call in calls})  # older calls of these ids stay unanswered
        for call in calls:
            ident = call["id"]
            waiting[ident].append(call)
            if ident in seen:
                names = (f"{ident}_{number}" for number in itertools.count(2))
                call["id"] = next(name for name in names if name not in taken)
                taken.add(call["id"])
            seen.add(call["id"])
        for result in blocks_of(message, "tool_result"):
            open_calls = waiting.get(result["tool_use_id"])
            if open_calls:
                call = open_calls.pop(0)
                result["tool_use_id"] = call["id"]
                results[id(call)] = result
    paired: list[Turn] = []
    for message in chat:
        kept = [block for block in message["content"]
                if block["type"] not in ("tool_use", "tool_result") or id(block) in results]  # fmt: skip
        calls = [block for block in kept if block["type"] == "tool_use"]
        if not message["content"] or any(block["type"] != "thinking" for block in kept):
            paired.append({"role": message["role"], "content": kept})
        if calls:
            paired.append({"role": "tool", "content": [results[id(call)] for call in calls]})
    return paired


# Rule 6


def _alternating(chat: list[Turn]) -> list[Turn]:
    """Merge neighbours of one role, never across tool messages and never system messages; blank lines part texts."""
    merged: list[Turn] = []
    for message in chat:
        if not merged or merged[-1]["role"] != message["role"] or message["role"] in ("system", "tool"):
            merged.append(message)
            continue
        first, second = merged[-1]["content"], message["content"]
        if first and second and first[-1]["type"] == second[0]["type"] == "text":
            meeting: Block = {"type": "text", "text": first[-1]["text"] + "\n\n" + second[0]["text"]}
            first, second = [*first[:-1], meeting], second[1:]
        merged[-1] = {"role": message["role"], "content": [*first, *second]}
    return merged


def _of(role: str, text: str) -> Turn:
    return {"role": role, "content": [{"type": "text", "text": text}]}
