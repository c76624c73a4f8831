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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Block = dict[str, object]
Message = dict[str, object]

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


def prepare(
    messages: list[Message],
    merge_system: Callable[[list[Message]], list[Message]],
    alternate: bool = False,
    drop_empty: bool = False,
    end_with_user: bool = False,
    bridge: bool = False,
) -> list[Message]:
    """Return the conversation as services want it; `merge_system` is rule 5 of the vendor."""
    chat = _paired(_cleaned(messages))
    if drop_empty:
        chat = [message for message in chat if message["content"]]
    chat = merge_system(chat)
    if alternate:
        chat = _alternating(chat)
    if bridge:
        chat = _bridged(chat)
    if chat and all(message["role"] == "system" for message in chat):
        chat.append(_said("user", BEGIN))
    elif alternate and chat and _first_role(chat) == "assistant":
        chat.insert(_system_count(chat), _said("user", BEGIN))
    if end_with_user and chat and chat[-1]["role"] == "assistant":
        chat.append(_said("user", CONTINUE))
    return chat


def merge_system_first(chat: list[Message]) -> list[Message]:
    """Join all system texts with a blank line into one first message; none with text gives no system message."""
    texts = [text_of(message) for message in chat if message["role"] == "system"]
    joined = "\n\n".join([text for text in texts if text])
    first = [_said("system", joined)] if joined else []
    return first + [message for message in chat if message["role"] != "system"]


def text_of(message: Message) -> str:
    """Return the texts of a message or a tool_result block, joined."""
    content = message["content"]
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join([block["text"] for block in content if block["type"] == "text"])


def blocks_of(message: Message, kind: str) -> list[Block]:
    """Return the blocks of one type of a prepared message."""
    content = message["content"]
    assert isinstance(content, list)
    return [block for block in content if block["type"] == kind]


# Rules 1 and 2


def _cleaned(messages: list[Message]) -> list[Message]:
    chat: list[Message] = []
    for message in messages:
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            continue
        given = _as_blocks(message.get("content"))
        kept = [block for block in map(_clean_block, given) if block and _is_at_home(block, str(role))]
        if kept or not given:
            chat.append({"role": role, "content": kept})
    return [message for message in chat if message["role"] != "tool" or message["content"]]


def _as_blocks(content: object) -> list[object]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        return []
    return [block for block in content if not _is_empty(block)]


def _is_empty(block: object) -> bool:
    """Tell whether a block says nothing; an empty thought may carry what a service wants back."""
    if not isinstance(block, dict) or block.get("text") != "":
        return False
    return block.get("type") != "thinking" or not block.get("provider_metadata")


def _is_at_home(block: Block, role: str) -> bool:
    return block["type"] in _ALLOWED[role]


def _clean_block(block: object) -> Block | None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return None
    kind = block["type"]
    if kind == "tool_use":
        return _clean_call(block)
    if kind == "tool_result":
        return _clean_result(block)
    if kind in ("text", "thinking"):
        if not isinstance(block.get("text"), str):
            return None
        return _pick(block, ("type", "text", "provider_metadata", "cache"))
    return dict(block)


def _clean_call(block: Block) -> Block | None:
    if not _is_word(block.get("id")) or not _is_word(block.get("name")):
        return None
    call = _pick(block, ("type", "id", "name", "provider_metadata"))
    call["input"] = block["input"] if isinstance(block.get("input"), dict) else {}
    return call


def _clean_result(block: Block) -> Block | None:
    if not _is_word(block.get("tool_use_id")):
        return None
    result = _pick(block, ("type", "tool_use_id", "name", "cache"))
    parts = [_clean_part(part) for part in _as_blocks(block.get("content")) if isinstance(part, dict)]
    result["content"] = [part for part in parts if part]
    if block.get("is_error") is True:
        result["is_error"] = True
    return result


def _clean_part(part: Block) -> Block | None:
    """Return what a tool may give back: text, image, document; None for anything else."""
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    is_file = part.get("type") in ("image", "document") and isinstance(part.get("media_type"), str)
    return dict(part) if is_file else None


def _pick(block: Block, names: tuple[str, ...]) -> Block:
    return {name: block[name] for name in names if name in block and block[name] is not None}


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value != ""


# Rules 3 and 4


def _paired(chat: list[Message]) -> list[Message]:
    """Give every call its own id and its own result, right behind it; drop what has no partner."""
    results = _partners(chat)
    paired: list[Message] = []
    for message in chat:
        content = message["content"]
        assert isinstance(content, list)
        kept = [block for block in content if block["type"] != "tool_result" and _has_partner(block, results)]
        calls = [block for block in kept if block["type"] == "tool_use"]
        if not content or _has_weight(kept):
            paired.append({"role": message["role"], "content": kept})
        if calls:
            paired.append({"role": "tool", "content": [results[id(call)] for call in calls]})
    return paired


def _has_partner(block: Block, results: dict[int, Block]) -> bool:
    return block["type"] != "tool_use" or id(block) in results


def _has_weight(blocks: list[Block]) -> bool:
    """Tell whether something is left to say: thinking alone is not."""
    return any(block["type"] != "thinking" for block in blocks)


def _partners(chat: list[Message]) -> dict[int, Block]:
    """Return the result of each answered call, by the identity of the call's block; renames repeated ids.

    A result belongs to the newest message before it that calls with its id, there to the first call still open.
    """
    taken = {str(block["id"]) for message in chat for block in blocks_of(message, "tool_use")}
    seen: set[str] = set()
    waiting: dict[str, list[Block]] = {}
    results: dict[int, Block] = {}
    for message in chat:
        calls = blocks_of(message, "tool_use")
        waiting.update({str(call["id"]): [] for call in calls})  # older calls of these ids stay unanswered
        for call in calls:
            ident = str(call["id"])
            waiting[ident].append(call)
            if ident in seen:
                call["id"] = _unused(ident, taken)
            seen.add(str(call["id"]))
        for result in blocks_of(message, "tool_result"):
            open_calls = waiting.get(str(result["tool_use_id"]))
            if open_calls:
                call = open_calls.pop(0)
                result["tool_use_id"] = call["id"]
                results[id(call)] = result
    return results


def _unused(ident: str, taken: set[str]) -> str:
    number = 2
    while f"{ident}_{number}" in taken:
        number += 1
    taken.add(f"{ident}_{number}")
    return f"{ident}_{number}"


# Rule 6


def _alternating(chat: list[Message]) -> list[Message]:
    """Merge neighbours of one role, never across tool messages and never system messages."""
    merged: list[Message] = []
    for message in chat:
        last = merged[-1] if merged else None
        if last is None or last["role"] != message["role"] or message["role"] in ("system", "tool"):
            merged.append(message)
        else:
            merged[-1] = {"role": message["role"], "content": _joined(last["content"], message["content"])}
    return merged


def _bridged(chat: list[Message]) -> list[Message]:
    """Put an answer between results and a user's message; a turn may have been stopped there."""
    bridged: list[Message] = []
    for message in chat:
        if message["role"] == "user" and bridged and bridged[-1]["role"] == "tool":
            bridged.append(_said("assistant", STOPPED))
        bridged.append(message)
    return bridged


def _joined(first: object, second: object) -> list[Block]:
    """Join two contents; texts that meet are parted by a blank line."""
    assert isinstance(first, list) and isinstance(second, list)
    if first and second and first[-1]["type"] == second[0]["type"] == "text":
        meeting = {"type": "text", "text": first[-1]["text"] + "\n\n" + second[0]["text"]}
        return [*first[:-1], meeting, *second[1:]]
    return [*first, *second]


def _system_count(chat: list[Message]) -> int:
    count = 0
    while count < len(chat) and chat[count]["role"] == "system":
        count += 1
    return count


def _first_role(chat: list[Message]) -> object:
    count = _system_count(chat)
    return chat[count]["role"] if count < len(chat) else None


def _said(role: str, text: str) -> Message:
    return {"role": role, "content": [{"type": "text", "text": text}]}
