"""A strict Bot API on 127.0.0.1: Telegram as far as a bot can see it, with people who write, press and send files.

Stricter than what telephones ever meet: what Telegram refuses is refused with its words, what it forgives is noted in
`faults`, and a chat that is written to more than once a second floods. Sources: core.telegram.org/bots/api, and for the
words of refusals, what clients of others expect (tdlib/telegram-bot-api's Client.cpp as they quote it).
"""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time

TOKEN = "123456:TEST-token_of-nobody-0123456789abcdef"
BOT = {"id": 123456, "is_bot": True, "first_name": "Attic router", "username": "attic_router_bot"}
TEXT_UNITS = 4096
DATA_BYTES = 64
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
# Telegram's limit is about one message a second in a chat.
FLOOD_S = 1.0
FILE_BYTES = 20 * 1024 * 1024

_KNOWN = {
    "getMe": set(),
    "getUpdates": {"offset", "limit", "timeout", "allowed_updates"},
    "sendMessage": {"chat_id", "text", "parse_mode", "link_preview_options", "reply_parameters", "reply_markup"},
    "editMessageText": {"chat_id", "message_id", "text", "parse_mode", "link_preview_options", "reply_markup"},
    "deleteMessage": {"chat_id", "message_id"},
    "answerCallbackQuery": {"callback_query_id", "text", "show_alert"},
    "sendChatAction": {"chat_id", "action"},
    "getFile": {"file_id"},
}


class Refused(Exception):
    def __init__(self, status, description, **parameters):
        super().__init__(description)
        self.reply = {"ok": False, "error_code": status, "description": description}
        if parameters:
            self.reply["parameters"] = parameters


class Hung(Exception):
    """A call whose answer never comes: the connection is cut after `seconds`; `is_done`: what it asked was done."""

    def __init__(self, seconds, is_done=False):
        super().__init__("hung")
        self.seconds, self.is_done = seconds, is_done


class BotApi(http.server.ThreadingHTTPServer):
    """One bot and everybody who knows it. `url` is its base; `wait(what)` waits until something is so."""

    daemon_threads = True

    def __init__(self, now_s=time.monotonic):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.now_s = now_s
        self.lock = threading.Condition()
        self.chats = {}  # chat -> {message id: message}
        self.updates = []
        self.calls, self.times = [], []  # (method, parameters) and (method, when), in order
        self.faults, self.floods = [], 0
        self.pressed = {}  # callback id -> text of the answer, None before
        self.files = {}
        self.planned = []  # what the next calls of a method are answered: (method, Refused or Hung)
        self.flood_s = FLOOD_S
        self.is_open = True  # False: connections are cut
        self.token = TOKEN
        self._message, self._update, self._pollers = 0, 700, 0
        self._written_s = {}
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing: a client that goes away is part of the tests."""

    def close(self):
        self.shutdown()
        self.server_close()

    # People

    def says(self, user, text, chat=None, reply_to=None, when=None, **more):
        """Somebody writes: in the private chat with the bot, or in a group (a negative number)."""
        with self.lock:
            message = self._add(chat or user, user, text=text, **more)
            message["date"] = int(time.time()) if when is None else when
            if reply_to:
                message["reply_to_message"] = {"message_id": reply_to, "chat": message["chat"], "date": 1}
            self._tell(message=message)
            return message["message_id"]

    def sends(self, user, name, data, media_type="text/plain", caption="", is_photo=False, size=None):
        """Somebody sends a file or a photo."""
        with self.lock:
            number = f"file-{len(self.files)}"
            self.files[number] = data
            entry = {"file_id": number, "file_unique_id": number, "file_size": len(data) if size is None else size}
            more = {"photo": [{**entry, "file_size": 3, "file_id": "small"}, entry]} if is_photo else {
                "document": {**entry, "file_name": name, "mime_type": media_type}
            }  # fmt: skip
            message = self._add(user, user, **more, **({"caption": caption} if caption else {}))
            message["date"] = int(time.time())
            self._tell(message=message)
            return message["message_id"]

    def presses(self, user, message, text, data=None):
        """Somebody presses a button by what stands on it; return the id of the press."""
        with self.lock:
            found = self.chats[user][message]
            rows = found.get("reply_markup", {}).get("inline_keyboard", [])
            buttons = {button["text"]: button["callback_data"] for row in rows for button in row}
            press = f"press-{len(self.pressed)}"
            self.pressed[press] = None
            told = {"id": press, "from": _person(user), "message": found, "chat_instance": "1"}
            self._tell(callback_query={**told, "data": buttons[text] if data is None else data})
            return press

    def again(self, number):
        """Tell an update once more, as a server does that lost the confirmation."""
        with self.lock:
            self.updates.insert(0, number)
            self.lock.notify_all()

    def _add(self, chat, user, **more):
        self._message += 1
        kind = "private" if chat > 0 else "supergroup"
        message = {"message_id": self._message, "chat": {"id": chat, "type": kind}, "from": _person(user), **more}
        self.chats.setdefault(chat, {})[self._message] = message
        return message

    def _tell(self, **what):
        self._update += 1
        self.updates.append({"update_id": self._update, **what})
        self.lock.notify_all()

    # What is there to see

    def of_bot(self, chat):
        """Return the messages of the bot in a chat, in order."""
        with self.lock:
            return [dict(one) for one in self.chats.get(chat, {}).values() if one["from"].get("is_bot")]

    def texts(self, chat):
        return [one["text"] for one in self.of_bot(chat)]

    def wait(self, what, seconds=60):
        """Wait until `what()` is true, and return it."""
        until_s = time.monotonic() + seconds
        with self.lock:
            while True:
                found = what()
                if found:
                    return found
                left_s = until_s - time.monotonic()
                assert left_s > 0, ([sent[-1] for sent in map(self.of_bot, self.chats) if sent], self.calls[-10:])
                self.lock.wait(min(left_s, 0.5))

    def wait_text(self, chat, words, seconds=60):
        """Wait for a message of the bot that holds some words; return it."""
        return self.wait(lambda: next((one for one in self.of_bot(chat) if words in one["text"]), None), seconds)

    # The API

    def call(self, method, asked):
        with self.lock:
            self.calls.append((method, asked))
            self.times.append((method, time.monotonic()))
            for number, (planned, refused) in enumerate(self.planned):
                if planned == method:
                    del self.planned[number]
                    self.lock.notify_all()
                    raise refused
            if method not in _KNOWN:
                raise Refused(404, "Not Found: method not found")
            odd = set(asked) - _KNOWN[method]
            if odd:
                self.faults.append(f"{method} has {sorted(odd)}")
            try:
                return getattr(self, "_" + method)(asked)
            finally:
                self.lock.notify_all()

    def _getMe(self, asked):
        return BOT

    def _getUpdates(self, asked):
        offset, until_s = asked.get("offset", 0), time.monotonic() + asked.get("timeout", 0)
        self._pollers += 1
        mine = self._pollers
        self.lock.notify_all()
        if offset:
            self.updates = [one for one in self.updates if one["update_id"] >= offset]
        while True:
            if self._pollers != mine:
                raise Refused(409, CONFLICT)
            found = self.updates[: asked.get("limit", 100)]
            left_s = until_s - time.monotonic()
            if found or left_s <= 0 or not self.is_open:
                return found
            self.lock.wait(min(left_s, 0.5))

    def _sendMessage(self, asked):
        chat = self._writable(asked)
        reply = asked.get("reply_parameters")
        if reply and reply["message_id"] not in self.chats[chat] and not reply.get("allow_sending_without_reply"):
            raise Refused(400, "Bad Request: message to be replied not found")
        message = self._add(chat, BOT["id"], **_content(asked))
        message["from"], message["edits"] = BOT, []
        if reply and reply["message_id"] in self.chats[chat]:
            message["reply_to"] = reply["message_id"]
        return message

    def _editMessageText(self, asked):
        chat = self._writable(asked)
        message = self.chats[chat].get(asked.get("message_id"))
        if message is None:
            raise Refused(400, "Bad Request: message to edit not found")
        if not message["from"].get("is_bot"):
            raise Refused(400, "Bad Request: message can't be edited")
        content = {"reply_markup": {}, **_content(asked)}
        if all(message.get(key, {}) == content[key] for key in ("text", "html", "reply_markup")):
            raise Refused(
                400, "Bad Request: message is not modified: specified new message content and reply markup are exactly "
                "the same as a current content and reply markup of the message"
            )  # fmt: skip
        message["edits"].append(message["text"])
        message.update(content)
        return message

    def _deleteMessage(self, asked):
        if self.chats.get(asked["chat_id"], {}).pop(asked["message_id"], None) is None:
            raise Refused(400, "Bad Request: message to delete not found")
        return True

    def _answerCallbackQuery(self, asked):
        if self.pressed.get(asked["callback_query_id"], "") is not None:
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        self.pressed[asked["callback_query_id"]] = asked.get("text", "")
        return True

    def _sendChatAction(self, asked):
        if asked["action"] != "typing":
            raise Refused(400, "Bad Request: wrong parameter action in request")
        return True

    def _getFile(self, asked):
        data = self.files.get(asked["file_id"])
        if data is None:
            raise Refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        if len(data) > FILE_BYTES:
            raise Refused(400, "Bad Request: file is too big")
        return {"file_id": asked["file_id"], "file_size": len(data), "file_path": f"documents/{asked['file_id']}.bin"}

    def _writable(self, asked):
        chat = asked.get("chat_id")
        if not isinstance(chat, int):
            raise Refused(400, "Bad Request: chat_id is empty")
        if chat not in self.chats:
            raise Refused(403, "Forbidden: bot can't initiate conversation with a user")
        last_s, self._written_s[chat] = self._written_s.get(chat, -9.0), self.now_s()
        if self.now_s() - last_s < self.flood_s:
            self.floods += 1
            raise Refused(429, "Too Many Requests: retry after 1", retry_after=1)
        return chat


def _person(user):
    return {"id": user, "is_bot": False, "first_name": f"Anna{user}"}


def _content(asked):
    """Return what a message shows.

    Raises: Refused as Telegram does.
    """
    given = asked.get("text")
    if not isinstance(given, str):
        raise Refused(400, "Bad Request: message text is empty")
    text = shown(given) if asked.get("parse_mode") == "HTML" else given
    if not text.strip():
        raise Refused(400, "Bad Request: message text is empty")
    if len(text.encode("utf-16-le")) // 2 > TEXT_UNITS:
        raise Refused(400, "Bad Request: message is too long")
    markup = asked.get("reply_markup", {})
    for row in markup.get("inline_keyboard", []):
        for button in row:
            if not 1 <= len(button["callback_data"].encode()) <= DATA_BYTES:
                raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
    return {"text": text.strip(), "html": given, "reply_markup": markup if markup.get("inline_keyboard") else {}}


_TAGS = {"b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "a", "code", "pre", "blockquote", "tg-spoiler"}
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}


def shown(html):
    """Return the text that Telegram shows of HTML.

    Raises: Refused for what its parser does not take.
    """
    out, open_, at = [], [], 0
    while at < len(html):
        char = html[at]
        if char == "&":
            end = html.find(";", at, at + 8)
            name = html[at + 1 : end] if end > 0 else ""
            if name not in _ENTITIES:
                out.append("&")  # left as it is: something was not escaped
                at += 1
                continue
            out.append(_ENTITIES[name])
            at = end + 1
        elif char == "<":
            at = _tag(html, at, open_)
        else:
            out.append(char)
            at += 1
    if open_:
        raise _unparsed(f'Can\'t find end tag corresponding to start tag "{open_[-1]}"')
    return "".join(out)


def _tag(html, at, open_):
    end = html.find(">", at)
    if end < 0:
        raise _unparsed(f"Unclosed start tag at byte offset {at}")
    inner = html[at + 1 : end]
    if inner.startswith("/"):
        if not open_ or open_[-1] != inner[1:].strip():
            raise _unparsed(f"Unmatched end tag at byte offset {at}")
        open_.pop()
        return end + 1
    name, _, attributes = inner.partition(" ")
    if name not in _TAGS:
        raise _unparsed(f'Unsupported start tag "{name}" at byte offset {at}')
    if attributes and not (attributes.count('"') == 2 and attributes.endswith('"') and '="' in attributes):
        raise _unparsed(f"Unexpected end of name token at byte offset {at}")
    if name in open_:
        raise _unparsed(f'Tag "{name}" in itself at byte offset {at}')  # forgiven by Telegram, and no use to anybody
    if open_ and open_[-1] in ("code", "pre") and not (open_[-1] == "pre" and name == "code"):
        raise _unparsed(f'Tag "{name}" in code at byte offset {at}')
    open_.append(name)
    return end + 1


def _unparsed(words):
    return Refused(400, f"Bad Request: can't parse entities: {words}")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.server.is_open:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        token, _, method = self.path.removeprefix("/bot").partition("/")
        try:
            if token != self.server.token:
                raise Refused(401 if ":" in token else 404, "Unauthorized" if ":" in token else "Not Found")
            reply = {"ok": True, "result": self.server.call(method, json.loads(body or b"{}"))}
        except Refused as refused:
            reply = refused.reply
        except Hung as hung:
            if hung.is_done:
                self.server.call(method, json.loads(body or b"{}"))
            time.sleep(hung.seconds)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._answer(reply.get("error_code", 200), json.dumps(reply).encode(), "application/json")

    def do_GET(self):
        token, _, path = self.path.removeprefix("/file/bot").partition("/")
        data = self.server.files.get(path.removeprefix("documents/").removesuffix(".bin"))
        is_right = token == self.server.token and data is not None
        self._answer(200 if is_right else 404, data if is_right else b"{}", "application/octet-stream")

    def _answer(self, status, data, kind):
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True

    def log_message(self, *words):
        """Say nothing."""
