"""Messages in the making: an owner's turn, a service's normalized response, and what a message continues.

Works on values alone and imports under MicroPython. What is not given is left out of a message; what is given stays,
false and [] too: those switch something off further down the thread.
"""

from oasis.core import schema
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, Callable, Json, Message, Options


def content_of(given: "Json") -> "str | list[Block]":
    """Return the stored content of what a caller gives: a text, a list of texts (a block each), or a list of blocks.

    Raises: SchemaError naming the path.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise SchemaError("content must be a text, a list of texts or a list of blocks")
    found = [{"type": "text", "text": item} if isinstance(item, str) else item for item in given]
    for number, block in enumerate(found):
        schema.check_block(block, "content[%d]" % number)
    return schema.compact(found)


def message(
    name: str, role: str, given: "Json", continues: "list[str] | None" = None, head: str = "",
    options: "Options | None" = None, cache: bool = False, taint: "list[str] | None" = None,
) -> "Message":  # fmt: skip
    """Return a new, checked message; `options` holds what changes from here on.

    Raises: SchemaError naming the path.
    """
    made: Message = {"id": name, "role": role, "content": content_of(given)}
    for key, value in (("continues", continues), ("head", head), ("options", options), ("taint", taint)):
        if value:
            made[key] = value
    if cache:
        made["cache"] = True
    schema.check_message(made)
    return made


def parents(given: "Json", resolve: "Callable[[str], str]", newest: str = "") -> "list[str]":
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


def response(answer: "Message") -> "dict[str, Json]":
    """Return an assistant's message as the normalized response of its service."""
    return {
        "type": "message",
        "role": "assistant",
        "model": answer.get("model", ""),
        "content": schema.blocks(answer),
        "stop_reason": answer.get("stop_reason", "other"),
        "usage": answer.get("usage", {}),
    }


def answer(name: str, given: "Json", asked: "Message") -> "Message":
    """Return the assistant's message that stores a normalized response to the message `asked`, under its bookmark.

    Raises: SchemaError naming the path.
    """
    schema.check_response(given)
    made = message(name, "assistant", given["content"], [asked["id"]], asked.get("head", ""))
    for key in ("model", "stop_reason", "usage"):
        if given[key]:
            made[key] = given[key]
    return made
