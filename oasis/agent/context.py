"""What a model is sent of a chat: the thread with what hangs in other chats, as much of it as the model takes.

Knows no service and no worker; what is left out is reported through `emit`, once a run and whenever it becomes more.
"""

from __future__ import annotations

from oasis.core import thread, trim
from oasis.errors import OasisError, ProviderError

if False:  # annotations only
    from oasis.agent.shapes import Emit, OfferedTool
    from oasis.chats.collection import Collection
    from oasis.config.shapes import Service
    from oasis.core.shapes import Block, Json, Message
    from oasis.core.store import Chat


# Of a text in the arguments of a call, where a context has no room for all of it.
CALL_CHARS = 400


class Context:
    """Makes the contexts of one run; `taint` says whose words the system message holds, apart from ours.

    `elsewhere(id)` gives messages of other chats.
    """

    def __init__(self, elsewhere: Elsewhere, emit: Emit, taint: list[str]) -> None:
        self._elsewhere = elsewhere
        self._emit = emit
        self._taint = taint
        self._told = 0

    def make(self, service: Service, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
        """Return the messages for the next request, the system message first: as many as the service takes.

        Raises: ProviderError when not even the owner's newest message fits.
        """
        found = thread.resolve(chat.messages, chat.heads, self._elsewhere, chat.left_out, chat.older_options)
        first: Message = {"role": "system", "content": system}
        if self._taint:
            first["taint"] = self._taint
        ordered = [first, *[one for one in found["messages"] if one["content"]]]
        room = trim.budget(service["context_tokens"], 0, tools)  # 0 where nobody said how much that is
        fit = trim.fit(ordered, room)
        if fit["is_over"]:
            fit = trim.fit([_with_short_calls(message) for message in ordered], room)
        if fit["is_over"] and ordered[-1]["role"] == "user":
            # Later something has been done, and its result must be reported: then the service judges the length.
            raise ProviderError(
                "the message is too long for this model: about %d tokens" % fit["tokens"],
                "ask for less at once, begin a new chat, or choose a model that takes more (option context_tokens)",
            )
        count = len(fit["left_out"]) + found["left_out"]
        if count > self._told or (found["has_older"] and not self._told):
            self._told = max(count, 1)
            self._emit("trimmed", messages=count, tokens=fit["left_out_tokens"], has_older=found["has_older"])
        messages: list[Message] = fit["messages"]
        return messages


def newest(service: Service, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
    """Return the context of a chat's newest message, uncut: for the built-in service."""
    ordered = thread.context(chat.messages, chat.heads)
    return [{"role": "system", "content": system}, *[message for message in ordered if message["content"]]]


class Elsewhere:
    """Finds messages of other chats, for threads that have parents there; what is gone is looked for once."""

    def __init__(self, chats: Collection) -> None:
        self._chats = chats
        self._found: dict[str, Message | None] = {}

    def __call__(self, name: str) -> Message | None:
        if name not in self._found:
            try:
                self._found.update(self._chats.thread_of(name))
            except OasisError:
                self._found[name] = None
        return self._found[name]


def _with_short_calls(message: Message) -> Message:
    """Return a message with shortened calls: the result shows what was run."""
    content = message["content"]
    if isinstance(content, str) or not any(block["type"] == "tool_use" for block in content):
        return message
    told: list[Block] = [
        {**block, "input": {key: _short(value) for key, value in block["input"].items()}}
        if block["type"] == "tool_use"
        else block
        for block in content
    ]
    return {**message, "content": told}


def _short(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= CALL_CHARS else value[:CALL_CHARS] + "…"
    if isinstance(value, list):
        return [_short(item) for item in value]
    return {key: _short(item) for key, item in value.items()} if isinstance(value, dict) else value
