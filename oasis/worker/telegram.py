"""One call of the Telegram Bot API, and what comes of it in our own words; see lines.py for the shapes.

    getUpdates            an `update` event each, the oldest first; what we do not use is of the kind "other"
    file                  asks where a file is and reads it: `piece` events in base64
    all else of _METHODS  the ending `telegram` tells the id of the message, or who the bot is

Nothing is kept and nothing is tried again: whoever asked decides, by the kind of a failure.
Source: core.telegram.org/bots/api, version 9.
"""

from __future__ import annotations

import base64

from oasis.core import clean, jsonl
from oasis.errors import ProviderError, SchemaError, UsageError
from oasis.providers import events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.worker.transport import Response

    Values = dict[str, Any]
    Exchange = Callable[[dict[str, object]], Response]
    Read = Callable[[Response], bytes]

HOME = "https://api.telegram.org"
# Twenty updates with long texts, quoted messages and their entities stay below.
BODY_BYTES = 4 * 1024 * 1024
# Of the service's own words about a failure.
_WORDS_CHARS = 200
_PIECE_BYTES = 48 * 1024
TEXT_CHARS = 4096  # of a message, and more than a caption has
_DATA_CHARS = 64  # Bot API: of callback_data
_ID_CHARS = 256  # of files and presses; those seen have less than 100
_METHODS = ("getMe", "getUpdates", "sendMessage", "editMessageText", "deleteMessage", "answerCallbackQuery",
            "sendChatAction", "setMyCommands", "file")  # fmt: skip
_CODES = {400: "invalid_request", 401: "authentication", 403: "permission", 404: "authentication", 409: "conflict",
          413: "too_large", 429: "rate_limit"}  # fmt: skip
# Bot API, Message: what has one of these was written by somebody else than who sent it.
_OTHERS = ("forward_origin", "forward_date", "via_bot")
_HINTS = {
    "authentication": "enter the bot's token again: oasis key telegram",
    "conflict": "another program polls with the same token: stop it, or make a token of your own at @BotFather",
    "permission": "the chat does not want messages of the bot",
}


def exchange(request: Values, open_it: Exchange, read: Read, emit: Callable[..., None]) -> None:
    """Make a call and tell what came of it; the last event is `telegram` or `error`.

    Raises: UsageError for a method that is not ours, ProviderError for an answer that is none.
    """
    method = str(request.get("method"))
    if method not in _METHODS:
        raise UsageError(f"the method {method[:40]!r} is none of ours", "there are: " + ", ".join(_METHODS))
    parameters = dict(request.get("parameters") or {})
    wanted = int(parameters.pop("most_bytes", 0))
    called, failure = _called(request, "getFile" if method == "file" else method, parameters, open_it, read)
    if failure is not None:
        emit(failure)
    elif method == "file":
        emit(_file(request, called, wanted, open_it, read, emit))
    elif method == "getUpdates":
        found = [update(one) for one in called if isinstance(one, dict)] if isinstance(called, list) else []
        for one in sorted(filter(None, found), key=lambda one: one["id"]):
            emit({"type": "update", "update": one})
        emit({"type": "telegram", "result": {"count": len(found)}})
    else:
        emit({"type": "telegram", "result": _result(method, called)})


def _called(
    request: Values, method: str, parameters: Values, open_it: Exchange, read: Read
) -> tuple[Any, events.Event | None]:
    """Return the result of a method, or the error event that says why there is none."""
    response = open_it(
        {
            "method": "POST",
            "url": f"{_base(request)}/bot{request['key']}/{method}",
            "headers": {"Content-Type": "application/json", "Accept": "application/json"},
            "body": jsonl.dumps(parameters).encode(),
        }
    )
    try:
        body = _body(response, read, BODY_BYTES)
    finally:
        response.close()
    try:
        value = jsonl.loads(body, BODY_BYTES)
    except SchemaError:
        value = None
    if isinstance(value, dict) and value.get("ok") is True and 200 <= response.status < 300:
        return value.get("result"), None
    told = value if isinstance(value, dict) else {}
    if response.status == 400 and "message is not modified" in str(told.get("description")):
        return {}, None  # it is as it should be
    return None, _failure(response.status, told)


def _base(request: Values) -> str:
    return str(request.get("base_url") or HOME).rstrip("/")


def _body(response: Response, read: Read, most: int) -> bytes:
    body = b""
    while piece := read(response):
        body += piece
        if len(body) > most:
            raise ProviderError(f"the messenger sent more than {most} bytes", "is its address right?")
    return body


def _failure(status: int, value: Values) -> events.Event:
    """Return the error event of a refused call."""
    told = value.get("error_code")
    status = told if isinstance(told, int) and 400 <= told < 600 else status
    code = _CODES.get(status, "server" if status >= 500 else "bad_answer")
    words = clean.line(str(value.get("description") or "it gave no reason"))[:_WORDS_CHARS]
    given = value.get("parameters")
    wait_s = given.get("retry_after") if isinstance(given, dict) else None
    wait_s = float(wait_s) if isinstance(wait_s, (int, float)) and 0 < wait_s < 1e6 else None
    message = f"the messenger refuses this ({status}): {words}"
    is_retryable = code in ("rate_limit", "server")
    return events.error(code, message, _HINTS.get(code, ""), is_retryable, status=status, retry_after_s=wait_s)


def _result(method: str, called: Any) -> Values:
    """Return what is of use in the answer to a method: the message's id, or who the bot is."""
    if not isinstance(called, dict):
        return {}
    found: Values = {}
    if _is_id(called.get("message_id")):
        found["message"] = called["message_id"]
    if method == "getMe" and _is_id(called.get("id")):
        found.update(id=called["id"], name=clean.name(called.get("username")))
    return found


def _file(
    request: Values, called: Any, most: int, open_it: Exchange, read: Read, emit: Callable[..., None]
) -> events.Event:
    """Read a file and tell its pieces; return the ending."""
    path = called.get("file_path") if isinstance(called, dict) else None
    if not isinstance(path, str) or not _is_plain(path):
        raise ProviderError("the messenger does not say where the file is", "send it again")
    url = f"{_base(request)}/file/bot{request['key']}/{path}"
    response = open_it({"method": "GET", "url": url, "headers": {}, "body": None})
    try:
        if response.status != 200:
            return _failure(response.status, {})
        data = _body(response, read, most)
    finally:
        response.close()
    for at in range(0, len(data), _PIECE_BYTES):
        emit({"type": "piece", "data": base64.b64encode(data[at : at + _PIECE_BYTES]).decode("ascii")})
    return {"type": "telegram", "result": {"bytes": len(data)}}


def _is_plain(path: str) -> bool:
    is_known = all((char.isalnum() and char.isascii()) or char in "/._-" for char in path)
    return is_known and 0 < len(path) < 200 and ".." not in path and not path.startswith("/")


# Updates


def update(raw: Values) -> Values | None:
    """Return an update in our words, None for what has no number.

    Shape: {"id", "kind": "message"|"button"|"other"}, and but for "other" {"chat", "from", "is_private": bool, "name",
    "message"}; of a message {"text", "when_unix_s", "reply_to"?, "is_forwarded"?: True, "file"?: {"id", "name",
    "media_type", "bytes"}}, of a button {"button": id of the press, "data"}.
    """
    number = raw.get("update_id")
    if not _is_id(number):
        return None
    other: Values = {"id": number, "kind": "other"}
    message, press = raw.get("message"), raw.get("callback_query")
    if isinstance(press, dict):
        found = _press(press)
    elif isinstance(message, dict):
        found = _message(message)
    else:
        found = None
    return {"id": number, **found} if found else other


def _message(raw: Values) -> Values | None:
    found = _place(raw, raw.get("from"))
    if not found:
        return None
    found.update(kind="message", text=_text(raw.get("text") or raw.get("caption")), when_unix_s=_whole(raw.get("date")))
    reply = raw.get("reply_to_message")
    if isinstance(reply, dict) and _is_id(reply.get("message_id")):
        found["reply_to"] = reply["message_id"]
    if any(key in raw for key in _OTHERS):
        found["is_forwarded"] = True
    file = _attached(raw)
    if file:
        found["file"] = file
    return found


def _press(raw: Values) -> Values | None:
    message = raw.get("message")
    found = _place(message, raw.get("from")) if isinstance(message, dict) else None
    if not found or not isinstance(raw.get("id"), str):
        return None
    return {**found, "kind": "button", "button": raw["id"][:_ID_CHARS], "data": _text(raw.get("data"))[:_DATA_CHARS]}


def _place(message: Values, sender: Any) -> Values | None:
    """Return in which chat a message is and who sent it; None where either is missing."""
    chat = message.get("chat")
    if not isinstance(chat, dict) or not isinstance(sender, dict) or sender.get("is_bot") is True:
        return None
    if not (_is_id(chat.get("id")) and _is_id(sender.get("id")) and _is_id(message.get("message_id"))):
        return None
    names = [clean.name(sender.get(key)) for key in ("first_name", "last_name")]
    return {
        "chat": chat["id"],
        "from": sender["id"],
        "is_private": chat.get("type") == "private" and chat["id"] == sender["id"],
        "name": " ".join(filter(None, names))[: clean.NAME_CHARS],
        "message": message["message_id"],
    }


def _attached(raw: Values) -> Values | None:
    document, sizes = raw.get("document"), raw.get("photo")
    if isinstance(document, dict):
        name = clean.name(document.get("file_name")) or "document"
        return _named(document, name, _text(document.get("mime_type"))[:_DATA_CHARS])
    if isinstance(sizes, list) and sizes and all(isinstance(one, dict) for one in sizes):
        return _named(max(sizes, key=lambda one: _whole(one.get("file_size"))), "photo.jpg", "image/jpeg")
    return None


def _named(raw: Values, name: str, media_type: str) -> Values | None:
    file = raw.get("file_id")
    if not isinstance(file, str) or not 0 < len(file) <= _ID_CHARS:
        return None
    return {"id": file, "name": name, "media_type": media_type, "bytes": _whole(raw.get("file_size"))}


def _text(value: Any) -> str:
    return clean.text(value)[:TEXT_CHARS] if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def _is_id(value: Any) -> bool:
    """Tell whether a value is a number of Telegram's: whole, and of at most 52 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53
