"""The owner's message as it enters a chat: what it continues, and which bookmark, options and files it carries.

Shape of what is asked: {"message", "chat"?, "continues"?: [headish], "head"?: bookmark, "service"?: for this answer
alone, "options"?: delta for the thread from here on, "topic"?: text of a system message that a new chat begins with,
"files"?: [document and image blocks], "taint"?: [whose words these are, where they are not the owner's]}.
Knows no run and no model.
"""

from __future__ import annotations

import functools

from oasis.core import bookmarks, jsonl, thread
from oasis.core.ids import looks_like_id
from oasis.errors import UsageError

if False:  # annotations only
    from oasis.agent.context import Elsewhere
    from oasis.agent.shapes import Asked
    from oasis.chats.collection import Collection
    from oasis.core.shapes import Callable, Message, Options
    from oasis.core.store import Chat

# A message longer than this is a file, and files are attached, not typed.
MESSAGE_CHARS = 32 * 1024
OPTIONS_BYTES = 4096
FILES = 8


def check(asked: Asked, chats: Collection) -> str:
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


def put(chat: Chat, asked: Asked, new_id: Callable[[], str], elsewhere: Elsewhere) -> tuple[Message, Options]:
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
    for name in parents:
        try:
            chat.load([name])
        except UsageError:
            if elsewhere(name) is None:
                raise
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
