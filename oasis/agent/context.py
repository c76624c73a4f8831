"""The thread of a turn: the owner's message as it enters a chat, and what a model is sent of that chat.

Shape of what is asked: {"message", "chat"?, "continues"?: [headish], "head"?: bookmark, "service"?: for this answer
alone, "options"?: delta for the thread from here on, "topic"?: text of a system message that a new chat begins with,
"files"?: [document and image blocks], "taint"?: [whose words these are, where they are not the owner's]}.
A model is sent the thread with what hangs in other chats, as much of it as it takes; what is left out is reported
through `emit`, once a run and whenever it becomes more. Knows no service and no worker.
"""

from __future__ import annotations

import functools

from oasis.agent.loop_guard import result_of
from oasis.core import bookmarks, jsonl, schema, thread, trim
from oasis.core.ids import looks_like_id
from oasis.errors import OasisError, ProviderError, UsageError
from oasis.redaction.redactor import walk

if False:  # annotations only
    from oasis.agent.shapes import Asked, Emit, MakeContext, OfferedTool
    from oasis.chats.collection import Collection
    from oasis.config.shapes import Service
    from oasis.core.shapes import Block, Callable, Message, Options
    from oasis.core.store import Chat

# A message longer than this is a file, and files are attached, not typed.
MESSAGE_CHARS = 32 * 1024
OPTIONS_BYTES = 4096
FILES = 8
# Of a text in the arguments of a call, where a context has no room for all of it.
CALL_CHARS = 400
# Of the changes of a thread the newest are looked after.
CHANGES = 8
# Of the calls whose results are left out so many are named to the model, the newest, and so much of their arguments.
CALLS, NAMED_CHARS = 8, 40
_NAMING = ("package", "section", "what")


def place(asked: Asked, chats: Collection) -> str:
    """Return the chat that a question goes into, "" for a new one: the one given, or that of what it continues first.

    Raises: UsageError for one that cannot be stored, or continues an unknown message.
    """
    text = asked["message"].strip()
    if not text:
        raise UsageError("the message is empty", 'say what the router should do, like: "call this router attic"')
    if len(text) > MESSAGE_CHARS:
        raise UsageError("the message has more than %d characters" % MESSAGE_CHARS, "send it in parts, or as a file")
    if len(jsonl.line(asked.get("options") or {})) > OPTIONS_BYTES:
        raise UsageError("the options have more than %d bytes" % OPTIONS_BYTES, "give what changes, and no more")
    if len(asked.get("files") or []) > FILES:
        raise UsageError("more than %d files at once" % FILES, "send them with several messages")
    continued = asked.get("continues")
    if asked.get("chat") or not continued:
        return str(asked.get("chat") or "")
    return chats.find(str(continued[0]))[0]


def add(chat: Chat, asked: Asked, new_id: Callable[[], str], elsewhere: Elsewhere) -> tuple[Message, Options]:
    """Add the owner's message; return it, and the options of its thread. The caller flushes the chat, or discards it.

    Calls that a crash left open are closed before. A new chat begins with the text of the topic.
    Raises: UsageError for a headish that is none or a bookmark that stands on another branch, SchemaError for options
    that are none.
    """
    table = functools.cache(lambda: bookmarks.table(chat.outline()))  # read from its whole file when somebody needs it
    given = asked.get("continues")
    parents = list(chat.heads)
    if given is not None:  # no parents at all is an answer too: another beginning in the same chat
        parents = thread.parents(given, lambda one: bookmarks.resolve(one, {} if looks_like_id(one) else table()))
    elsewhere.load(chat, parents)
    if asked.get("topic") and not parents:
        chat.add({"id": new_id(), "role": "system", "content": asked["topic"]})
        parents = list(chat.heads)
    open_calls = thread.unanswered(thread.context(chat.messages, parents, elsewhere))
    if open_calls:
        content = thread.interruption(open_calls)
        chat.add({"id": new_id(), "role": "tool", "content": content, "continues": parents})
        parents = list(chat.heads)
    found = thread.resolve(chat.messages, parents, elsewhere, chat.left_out, chat.older_options)
    # The bookmark that the message carries, and whether a record must set it there.
    explicit = asked.get("head") or ""
    last = {name: chat.messages.get(name) or elsewhere(name) for name in parents[-1:]}
    head, is_moved = "", False
    if explicit or any((one or {}).get("head") for one in last.values()):  # else its table need not be read
        messages = {**chat.messages, **{name: one for name, one in last.items() if one}}
        head, is_moved = bookmarks.head_of_turn(parents, messages, table(), explicit)
        if is_moved and table().get(head) and not asked.get("moves_head"):  # only bookmark.set and a schedule move one
            hint = "choose another name, or move it first: oasis branch --move %s HEADISH" % head
            raise UsageError("the bookmark %r stands on another branch" % head, hint)
    given_options: Options = asked.get("options") or {}
    delta = given_options.copy()
    blocks = [{"type": "text", "text": asked["message"].strip()}, *(asked.get("files") or [])]
    message = thread.message(new_id(), "user", blocks, parents, head, delta)
    if asked.get("taint"):
        message["taint"] = list(asked["taint"])
    chat.add(message)
    if is_moved:
        chat.note(bookmarks.record(head, message["id"]))
    return message, thread.merged([found["options"], delta])


def fitting(elsewhere: Elsewhere, emit: Emit, taint: list[str], became: Callable[[str, str], str]) -> MakeContext:
    """Return what makes the contexts of one run.

    `taint` says whose words the system message holds, apart from ours; `became` what is to say of a change, by
    its id and the status that the thread has.
    """
    told = 0

    def make(service: Service, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
        """Return the messages for the next request, the system message first: as many as the service takes.

        Raises: ProviderError when not even the owner's newest message fits.
        """
        nonlocal told
        found = thread.resolve(chat.messages, chat.heads, elsewhere, chat.left_out, chat.older_options)
        first: Message = {"role": "system", "content": system}
        if taint:
            first["taint"] = taint
        ordered = [first, *[one for one in found["messages"] if one["content"]]]
        ends = [became(*change) for change in _changes(ordered)]
        if any(ends):
            system = "%s\nSince then: %s." % (system, "; ".join(filter(None, ends)))
            ordered[0] = {**first, "content": system}
        room = trim.budget(service["context_tokens"], 0, tools)
        fit = trim.fit(ordered, room)
        if fit["is_over"]:
            ordered = [_with_short_calls(message) for message in ordered]
            fit = trim.fit(ordered, room)
        said = _left_out(fit["left_out"], ordered, found["left_out"])
        if said:  # the model hears of it, and that needs room as well
            ordered[0] = {**ordered[0], "content": "%s\n%s" % (system, said)}
            shorter = trim.fit(ordered, room)
            fit = shorter if not shorter["is_over"] else fit
        if fit["is_over"] and ordered[-1]["role"] == "user":
            # Later something has been done, and its result must be reported: then the service judges the length.
            raise ProviderError(
                "the message is too long for this model: about %d tokens" % fit["tokens"],
                "ask for less at once, begin a new chat, or choose a model that takes more (option context_tokens)",
            )
        count = len(fit["left_out"]) + found["left_out"]
        if count > told or (found["has_older"] and not told):
            told = max(count, 1)
            emit("trimmed", messages=count, tokens=fit["left_out_tokens"], has_older=found["has_older"])
        messages: list[Message] = fit["messages"]
        return messages

    return make


def newest(service: Service, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
    """Return the context of a chat's newest message, uncut: for the built-in service."""
    ordered = thread.context(chat.messages, chat.heads)
    return [{"role": "system", "content": system}, *[message for message in ordered if message["content"]]]


class Elsewhere:
    """Finds messages of other chats, for threads that have parents there; what is gone is looked for once."""

    def __init__(self, chats: Collection) -> None:
        self._chats = chats
        self._found: dict[str, Message | None] = {}

    def load(self, chat: Chat, names: list[str]) -> None:
        """Read messages into a chat's memory, those that are its own; raise UsageError for one that is nowhere."""
        for name in names:
            try:
                chat.load([name])
            except UsageError:
                if self(name) is None:
                    raise

    def __call__(self, name: str) -> Message | None:
        if name not in self._found:
            try:
                self._found.update(self._chats.thread_of(name))
            except OasisError:
                self._found[name] = None
        return self._found[name]


def _changes(ordered: list[Message]) -> list[tuple[str, str]]:
    """Return the changes that calls of a thread made, each with the status that its result has."""
    texts = [schema.text_of(block) for one in ordered if one["role"] == "tool" for block in schema.blocks(one)]
    found = [result_of(text) for text in texts if '"change":' in text]
    return [(str(one["change"]), str(one.get("status"))) for one in found if isinstance(one.get("change"), str)][
        -CHANGES:
    ]


def _left_out(gone: list[Message], ordered: list[Message], older: int) -> str:
    """Return what a model hears of messages that it is not sent, "" where it gets all: `older` were not even read."""
    asked = max((at for at, one in enumerate(ordered) if one["role"] == "user"), default=0)
    rounds = [one for one in ordered[asked:] if any(one is left for left in gone)]
    calls = [_call(block) for one in rounds for block in schema.tool_uses(one)]
    earlier = len(gone) - len(rounds) + older
    told = ["the %d oldest messages of this chat" % earlier] if earlier else []
    if calls:
        more = " and %d before" % (len(calls) - CALLS) if len(calls) > CALLS else ""
        told.append("of this task the results of %s%s" % (", ".join(calls[-CALLS:]), more))
    return "Left out for want of room: %s. Call a tool again for what you need of it." % "; ".join(told) if told else ""


def _call(block: Block) -> str:
    """Return a call with what it looked at: names of the router's own, and nothing that could be a secret."""
    given = " ".join(str(block["input"][name]) for name in _NAMING if isinstance(block["input"].get(name), str))
    return "%s(%s)" % (block["name"], given if len(given) <= NAMED_CHARS else given[:NAMED_CHARS] + "…")


def _with_short_calls(message: Message) -> Message:
    """Return a message with shortened calls: the result shows what was run."""
    if not schema.tool_uses(message):
        return message
    told: list[Block] = []
    for block in schema.blocks(message):
        if block["type"] == "tool_use":
            block = {**block, "input": walk(block["input"], _short)}
        told.append(block)
    return {**message, "content": told}


def _short(text: str) -> str:
    return text if len(text) <= CALL_CHARS else text[:CALL_CHARS] + "…"
