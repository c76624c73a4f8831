"""One call of the Telegram Bot API, and what comes of it in our own words; see shapes.pyi.

    getUpdates            an `update` event each, the oldest first; what we do not use is of the kind "other"
    file                  asks where a file is and reads it: `piece` events in base64
    all else of _METHODS  the ending `telegram` tells the id of the message, or who the bot is

Nothing is kept and nothing is tried again: whoever asked decides, by the kind of a failure.
Source: core.telegram.org/bots/api, version 9.
"""

from __future__ import annotations

import base64
import contextlib
import string

from oasis.core import clean, jsonl
from oasis.errors import ProviderError, SchemaError, UsageError
from oasis.providers import events, wire
from oasis.worker import transport

if False:  # annotations only
    from oasis.core.shapes import TypeIs
    from oasis.providers.shapes import Dict, Event
    from oasis.providers.shapes import Request as Http
    from oasis.worker.shapes import Emit, Exchange, File, Read, Request, Update

HOME = "https://api.telegram.org"
# Twenty updates with long texts, quoted messages and their entities stay below.
BODY_BYTES = 4 * 1024 * 1024
_HINT = "is its address right?"
# Of the service's own words about a failure.
_WORDS_CHARS = 200
_PIECE_BYTES = 48 * 1024
TEXT_CHARS = 4096  # of a message, and more than a caption has
_DATA_CHARS = 64  # Bot API: of callback_data
_ID_CHARS = 256  # of files and presses; those seen have less than 100
_LANGUAGE_CHARS = 16  # IETF tags like zh-hans
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


def exchange(request: Request, open_it: Exchange, read: Read, emit: Emit) -> None:
    """Make a call and tell what came of it; the last event is `telegram` or `error`.

    Raises: UsageError for a method that is not ours, ProviderError for an answer that is none.
    """
    method = request["method"]
    if method not in _METHODS:
        raise UsageError(f"the method {method[:40]!r} is none of ours", "there are: " + ", ".join(_METHODS))
    parameters: Dict = {**request.get("parameters", {})}
    wanted = _whole(parameters.pop("most_bytes", 0))
    base = (request.get("base_url") or HOME).rstrip("/")
    asked: Http = {
        "method": "POST",
        "url": f"{base}/bot{request['key']}/{'getFile' if method == 'file' else method}",
        "headers": {"Content-Type": "application/json", "Accept": "application/json"},
        "body": jsonl.dumps(parameters).encode(),
    }
    with contextlib.closing(open_it(asked)) as response:
        body = b"".join(transport.pieces(response, read, BODY_BYTES, "the messenger", _HINT))
    try:
        value = wire.part(jsonl.loads(body, BODY_BYTES))
    except SchemaError:
        value = {}
    called = value.get("result")
    if response.status == 400 and "message is not modified" in str(value.get("description")):
        called = {}  # it is as it should be
    elif value.get("ok") is not True or not 200 <= response.status < 300:
        emit(_failure(response.status, value))
        return
    if method == "file":
        url = f"{base}/file/bot{request['key']}/{_path(wire.part(called).get('file_path'))}"
        file: Http = {"method": "GET", "url": url, "headers": {}, "body": None}  # type: ignore[typeddict-item]
        with contextlib.closing(open_it(file)) as response:
            is_there = response.status == 200
            got = transport.pieces(response, read, wanted, "the messenger", _HINT) if is_there else ()
            data = b"".join(got)
        for at in range(0, len(data), _PIECE_BYTES):
            emit({"type": "piece", "data": base64.b64encode(data[at : at + _PIECE_BYTES]).decode("ascii")})
        emit({"type": "telegram", "result": {"bytes": len(data)}} if is_there else _failure(response.status, {}))
    elif method == "getUpdates":
        found = [update(one) for one in wire.parts(called)]
        for one in sorted(filter(None, found), key=lambda one: one["id"]):
            emit({"type": "update", "update": one})  # type: ignore[typeddict-item]
        emit({"type": "telegram", "result": {"count": len(found)}})
    else:  # of use is the message's id, or who the bot is
        answer, result = wire.part(called), {}
        if _is_id(answer.get("message_id")):
            result["message"] = answer["message_id"]
        if method == "getMe" and _is_id(answer.get("id")):
            result.update(id=answer["id"], name=clean.name(answer.get("username")))
        emit({"type": "telegram", "result": result})  # type: ignore[typeddict-item]


def _failure(status: int, value: Dict) -> Event:
    """Return the error event of a refused call."""
    code = value.get("error_code")
    status = code if isinstance(code, int) and 400 <= code < 600 else status
    kind = _CODES.get(status, "server" if status >= 500 else "bad_answer")
    words = clean.line(str(value.get("description") or "it gave no reason"))[:_WORDS_CHARS]
    wait = wire.part(value, "parameters").get("retry_after")
    wait_s = float(wait) if isinstance(wait, (int, float)) and 0 < wait < 1e6 else None
    message = f"the messenger refuses this ({status}): {words}"
    is_retryable = kind in ("rate_limit", "server")
    return events.error(kind, message, _HINTS.get(kind, ""), is_retryable, status=status, retry_after_s=wait_s)


def _path(path: object) -> str:
    """Return the path of a file, when it is one that can stand in an address."""
    known = string.ascii_letters + string.digits + "/._-"
    is_plain = isinstance(path, str) and 0 < len(path) < 200 and set(path) <= set(known)
    if not isinstance(path, str) or not is_plain or ".." in path or path.startswith("/"):
        raise ProviderError("the messenger does not say where the file is", "send it again")
    return path


# Updates


def update(raw: Dict) -> Update | None:
    """Return an update in our words, None for what has no number."""
    number = raw.get("update_id")
    if not _is_id(number):
        return None
    press = raw.get("callback_query")
    if isinstance(press, dict):
        found, ident = _place(wire.part(press, "message"), press.get("from")), press.get("id")
        if not found or not isinstance(ident, str):
            return {"id": number, "kind": "other"}
        data = _text(press.get("data"))[:_DATA_CHARS]
        return {"id": number, **found, "kind": "button", "button": ident[:_ID_CHARS], "data": data}
    raw = wire.part(raw, "message")
    found = _place(raw, raw.get("from"))
    if not found:
        return {"id": number, "kind": "other"}
    found["kind"], found["text"] = "message", _text(raw.get("text") or raw.get("caption"))
    found["when_unix_s"] = _whole(raw.get("date"))
    reply = wire.part(raw, "reply_to_message").get("message_id")
    if _is_id(reply):
        found["reply_to"] = reply
    if any(key in raw for key in _OTHERS):
        found["is_forwarded"] = True
    file = _attached(raw)
    if file:
        found["file"] = file
    language = _text(wire.part(raw, "from").get("language_code"))[:_LANGUAGE_CHARS]
    if language:
        found["language"] = language
    return {"id": number, **found}


def _place(message: Dict, sender: object) -> Update | None:
    """Return in which chat a message is and who sent it; None where either is missing."""
    chat = message.get("chat")
    if not isinstance(chat, dict) or not isinstance(sender, dict) or sender.get("is_bot") is True:
        return None
    if not (_is_id(chat.get("id")) and _is_id(sender.get("id")) and _is_id(message.get("message_id"))):
        return None
    names = [clean.name(sender.get(key)) for key in ("first_name", "last_name")]
    return {  # type: ignore[return-value]  # `from` is no name of Python's
        "chat": chat["id"],
        "from": sender["id"],
        "is_private": chat.get("type") == "private" and chat["id"] == sender["id"],
        "name": " ".join(filter(None, names))[: clean.NAME_CHARS],
        "message": message["message_id"],
    }


def _attached(raw: Dict) -> File | None:
    found, sizes, name, media_type = raw.get("document"), raw.get("photo"), "photo.jpg", "image/jpeg"
    if isinstance(found, dict):
        name = clean.name(found.get("file_name")) or "document"
        media_type = _text(found.get("mime_type"))[:_DATA_CHARS]
    elif isinstance(sizes, list) and sizes and all(isinstance(one, dict) for one in sizes):
        found = max(sizes, key=lambda one: _whole(one.get("file_size")))
    file = wire.part(found).get("file_id")
    if not isinstance(file, str) or not 0 < len(file) <= _ID_CHARS:
        return None
    return {"id": file, "name": name, "media_type": media_type, "bytes": _whole(wire.part(found).get("file_size"))}


def _text(value: object) -> str:
    return clean.text(value)[:TEXT_CHARS] if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def _is_id(value: object) -> TypeIs[int]:
    """Tell whether a value is a number of Telegram's: whole, and of at most 52 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53
