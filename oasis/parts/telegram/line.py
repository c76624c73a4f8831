"""The Bot API of Telegram through a worker, within its rate limits, and the check of what the worker returns.

Nothing that a worker says is trusted: an update that has another shape than ours, a number out of order or a
text that is too long ends the worker (PeerError in the middle of its request), and the call fails. What is asked is

    poll(offset, timeout_s)                 the updates from a number on, see exchange.py
    send(method, chat, parameters, ...)     one call for a chat, in its turn; waits as long as Telegram says (429)
    tell(method, parameters)                a courtesy that may fail: a press answered, "typing"
    file(id, most_bytes)                    the bytes of a file

Blocking, for plain threads; `close()` ends every wait. Knows no person and no chat of ours.
"""

from __future__ import annotations

import binascii
import threading

from oasis.errors import PeerError, ProviderError

if False:  # annotations only
    from oasis.parts.telegram import shapes
    from oasis.parts.telegram.shapes import Callable, Json, Mapping, Parameters, Result, Told, TypeIs, Update

CONNECT_S = 15.0
# Of a call that does not wait for news; uploads there are none.
CALL_S = 30.0
# Telegram lets a bot say about one thing a second in a chat, and twenty a minute in a group.
PACE_S = 1.2
_IN_GROUPS = 8 / 3  # times that
# A flood is over within minutes, or it is none that one waits for.
LONGEST_WAIT_S = 300.0
TRIES = 5
_BACKOFF_S = (1.0, 3.0, 10.0, 30.0)
# Failures after which nothing has arrived there for certain, so that saying it again says it once.
_UNSENT = ("dns", "refused", "unreachable", "server", "rate_limit", "clock")
# Pauses between the tries of what must arrive: Telegram or the line is away for minutes, or for longer than one waits.
_LASTING_S = (1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 240.0)
LASTING = len(_LASTING_S) + 1  # as many `tries`, and these pauses
_DOUBTS = 3
# What may be done twice.
_SAME_TWICE = ("editMessageText", "deleteMessage", "setMyCommands")
_POLL_LIMIT = 20
# Updates are numbered one by one for all chats of a bot; a jump like this is none of Telegram's.
_JUMP = 1_000_000_000
_BIG = 1 << 53
_TEXT_CHARS, _NAME_CHARS, _ID_CHARS, _DATA_CHARS = 4096, 64, 256, 64


class RefusedError(ProviderError):
    """Telegram did not take a call; `code` is the kind, `wait_s` what it wants us to wait, 0 for nothing."""

    def __init__(self, message: str, hint: str = "", *, code: str = "", wait_s: float = 0.0) -> None:
        super().__init__(message, hint, code=code)
        self.wait_s = wait_s


class Line:
    """The calls of one bot.

    `pool` is its workers (models.messenger), `now_s()` is monotonic, `pace_s` the least time between two messages in a
    chat.
    """

    def __init__(
        self, pool: shapes.Pool, service: shapes.Service, now_s: Callable[[], float], pace_s: float = PACE_S
    ) -> None:
        self._pace_s = pace_s
        self._pool = pool
        self._service = service
        self._now_s = now_s
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._next_s: dict[int, float] = {}  # chat -> when the next thing may be said there
        self.languages: dict[int, str] = {}  # chat -> the language that is read there

    def close(self) -> None:
        """End every wait and every request."""
        self._closed.set()
        self._pool.close()

    def is_closed(self) -> bool:
        return self._closed.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait; False when the line is closed meanwhile."""
        return not self._closed.wait(max(seconds, 0.0))

    # Calls

    def poll(self, offset: int, timeout_s: int) -> list[Update]:
        """Return the updates that there are, or come within `timeout_s`; `offset` 0 is whatever Telegram holds.

        Raises: RefusedError, PeerError.
        """
        allowed = ["message", "callback_query"]
        parameters: Parameters = {"timeout": timeout_s, "limit": _POLL_LIMIT, "allowed_updates": allowed}
        if offset:
            parameters["offset"] = offset
        updates: list[Update] = []

        def take(event: Told) -> None:
            updates.append(checked(event["update"], updates[-1]["id"] if updates else 0, offset))
            if len(updates) > _POLL_LIMIT:
                raise PeerError("the worker tells more updates than it was asked for")

        self._ask("getUpdates", parameters, timeout_s + CALL_S, "update", take)
        return updates

    def send(self, method: str, chat: int, parameters: Parameters, tries: int = TRIES) -> Result | None:
        """Make a call for a chat when it is its turn; return its result, None for one that was not worth waiting.

        With no `tries` it is made once, and left out where the chat wants a pause. LASTING ones take minutes, and a few
        times what may have arrived though its answer was lost is said again as well: twice is better than never.
        Raises: RefusedError.
        """
        pauses_s, doubts = _LASTING_S if tries == LASTING else _BACKOFF_S, 0
        pace_s = self._pace_s * (1 if chat > 0 else _IN_GROUPS)
        for attempt in range(max(tries, 1)):
            while True:  # take the next turn of the chat, waiting for it where that is wanted
                with self._lock:
                    left_s = self._next_s.get(chat, 0.0) - self._now_s()
                    if left_s <= 0:
                        self._next_s[chat] = self._now_s() + pace_s
                        break
                if not tries or not self.wait(left_s):
                    return None
            if self.is_closed():
                return None
            try:
                result = self._ask(method, {**parameters, "chat_id": chat})
                self._pause(chat, pace_s)  # it may have been long on its way
                return result
            except RefusedError as refused:
                if refused.code == "rate_limit":
                    self._pause(chat, refused.wait_s or 5.0)
                if not tries:
                    return None
                # Made again where it can have had no effect, or has the same twice, or must arrive.
                doubts += refused.code not in _UNSENT
                may_repeat = method in _SAME_TWICE or (tries == LASTING and doubts <= _DOUBTS)
                is_worth_it = refused.code in _UNSENT or (is_passing(refused) and may_repeat)
                if attempt == tries - 1 or refused.wait_s > LONGEST_WAIT_S or not is_worth_it:
                    raise
                if tries == LASTING:
                    if not self.wait(max(pauses_s[attempt], refused.wait_s)):
                        raise
                elif refused.code != "rate_limit" and not self.wait(pauses_s[min(attempt, len(pauses_s) - 1)]):
                    return None
        return None

    def tell(self, method: str, parameters: Parameters) -> None:
        """Make a call that is a courtesy: where it fails, nobody misses anything."""
        try:
            self._ask(method, parameters)
        except (RefusedError, PeerError):
            pass  # the button shows a clock for a moment longer, or nobody is seen typing

    def who(self) -> shapes.Bot:
        """Return whose token it is. Raises: RefusedError, PeerError."""
        found = self._ask("getMe", {})
        number, name = found.get("id"), found.get("name")
        if number is None or not _is_number(number) or not isinstance(name, str):
            raise PeerError("the worker does not say who the bot is")
        return {"id": number, "name": name[:_NAME_CHARS]}

    def file(self, id: str, most_bytes: int) -> bytes:
        """Return the bytes of a file. Raises: RefusedError, PeerError."""
        pieces: list[bytes] = []

        def take(event: Told) -> None:
            pieces.append(binascii.a2b_base64(event["data"].encode("ascii", "replace")))
            if sum(map(len, pieces)) > most_bytes:
                raise PeerError("the worker gives more of a file than it was asked for")

        self._ask("file", {"file_id": id, "most_bytes": most_bytes}, 4 * CALL_S, "piece", take)
        return b"".join(pieces)

    def may_say(self, chat: int) -> bool:
        """Tell whether something can be said in a chat right now."""
        with self._lock:
            return self._now_s() >= self._next_s.get(chat, 0.0)

    def spoken(self, chat: int, text: str) -> str:
        """Return a text with those of its lines that are ours in the language of a chat."""
        language = self.languages.get(chat, "")
        if not language:
            return text
        from oasis.texts.translation import translation  # whoever reads English does without

        found = translation(language)
        if found is None:
            return text
        whole = found.text(text)
        if whole != text:
            return whole
        marks = [line[:2] if line.startswith("- ") else "" for line in text.split("\n")]
        lines = [mark + found.text(line[len(mark) :]) for mark, line in zip(marks, text.split("\n"), strict=True)]
        return "\n".join(lines)

    # How

    def _pause(self, chat: int, seconds: float) -> None:
        with self._lock:
            self._next_s[chat] = max(self._next_s.get(chat, 0.0), self._now_s() + seconds)

    def _ask(
        self, method: str, parameters: Parameters, seconds: float = CALL_S, kind: str = "",
        take: Callable[[Told], None] | None = None,
    ) -> Result:  # fmt: skip
        """Make a call and return its result; events of one kind are for `take`, as they come."""
        if self.is_closed():
            raise RefusedError("the messenger is being turned off", code="cancelled")
        service = self._service
        asked: shapes.Request = {
            "op": "telegram", "profile": "compatible", "base_url": service.get("base_url", ""), "key": service["key"],
            "method": method, "parameters": parameters,
            "options": {"idle_s": seconds, "total_s": seconds, "connect_s": CONNECT_S, "retries": 0},
        }  # fmt: skip
        for name in ("ca_file", "proxy"):
            if service.get(name):
                asked["options"][name] = service[name]
        endings: list[Told] = []

        def on_event(event: Told) -> None:
            if event["type"] in ("telegram", "error"):
                endings.append(event)
            elif take and event["type"] == kind:
                take(event)
            else:
                raise PeerError("the worker tells of %r, which nobody asked for" % str(event["type"])[:40])

        self._pool.post(asked, on_event, self.is_closed)
        if not endings or endings[-1]["type"] != "telegram":
            error = endings[-1].get("error") if endings else None
            if not error:
                raise RefusedError("", code="worker")
            wait_s = error.get("retry_after_s")
            raise RefusedError(
                str(error.get("message", "")), str(error.get("hint", "")), code=str(error.get("code", "worker")),
                wait_s=float(wait_s) if isinstance(wait_s, (int, float)) and wait_s > 0 else 0.0,
            )  # fmt: skip
        result = endings[-1]["result"]
        if len(result) > 8 or not _is_number(result.get("message", 0)):
            raise PeerError("the worker tells a result that is none")
        found: Result = {**result}  # type: ignore[typeddict-item]
        return found


def is_passing(refused: RefusedError) -> bool:
    """Tell whether what failed may succeed a while later."""
    return refused.code in (*_UNSENT, "timeout", "network") and refused.wait_s <= LONGEST_WAIT_S


# What a worker says


def checked(update: Mapping[str, Json], before: int, offset: int) -> Update:
    """Return an update that has its documented shape, and a number behind the one before it and near the offset.

    An update that was handled before is not an error: the messenger skips it. Raises: PeerError; see
    exchange.py for the shape.
    """
    kind = update.get("kind")
    needed = _NEEDED.get(kind) if isinstance(kind, str) else None
    if needed is None:
        raise PeerError("the worker tells an update of an unknown kind")
    if set(update) - (_MORE if kind == "message" else set()) != needed:
        raise PeerError("the worker tells more of an update than there is, or less")
    for name, value in update.items():
        if not _is_right(value, _FIELDS[name]):
            raise PeerError("the worker tells an update whose %s is none" % name)
    number, sender = update["id"], update.get("from", 1)
    if not _is_number(sender) or sender <= 0 or (update.get("is_private") and sender != update["chat"]):
        raise PeerError("the worker tells of a sender who is nobody, or of a private chat that is somebody else's")
    if not _is_number(number) or number <= before or (offset and number - offset > _JUMP):
        raise PeerError("the worker tells updates out of order")
    return update  # type: ignore[return-value]  # checked


def _is_number(value: object) -> TypeIs[int]:
    return type(value) is int and -_BIG < value < _BIG


def _is_right(value: object, wanted: object) -> bool:
    """Tell whether a value is what a field of _FIELDS wants."""
    if isinstance(wanted, dict):
        if not isinstance(value, dict) or set(value) != set(wanted):
            return False
        return all(_is_right(value[name], one) for name, one in wanted.items())
    if isinstance(wanted, int):
        return isinstance(value, str) and len(value) <= wanted
    return type(value) is bool if wanted is bool else _is_number(value)


# Of a text how long it may be.
_FIELDS: dict[str, object] = {
    "id": int, "kind": _NAME_CHARS, "chat": int, "from": int, "is_private": bool, "name": _NAME_CHARS, "message": int,
    "text": _TEXT_CHARS, "when_unix_s": int, "reply_to": int, "is_forwarded": bool,
    "file": {"id": _ID_CHARS, "name": _NAME_CHARS * 2, "media_type": _DATA_CHARS, "bytes": int},
    "button": _ID_CHARS, "data": _DATA_CHARS, "language": _NAME_CHARS,
}  # fmt: skip
_PLACE = {"id", "kind", "chat", "from", "is_private", "name", "message"}
_NEEDED = {"other": {"id", "kind"}, "message": {*_PLACE, "text", "when_unix_s"}, "button": {*_PLACE, "button", "data"}}
_MORE = {"reply_to", "is_forwarded", "file", "language"}
