"""Our objects on the bus: published, called, notified from, and put there again whenever ubusd comes back.

One thread lives with the connection and only reads, so that ubusd never drops a call for want of room; calls are
answered elsewhere (incoming.py). Unknown objects and methods, and calls without data, get the statuses of libubus.
Which methods there are, and what their kinds of arguments are called, is up to the caller; roles are not known here.
Source: ubus's ubusd_proto.c, ubusd_obj.c and libubus-obj.c; the recorded bytes of a publishing client.
"""

from __future__ import annotations

import threading
import time

from oasis.errors import OasisError, ToolError
from oasis.ubus import message
from oasis.ubus.blobmsg import attribute, attributes, named
from oasis.ubus.connection import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable, Mapping

    from oasis.ubus.incoming import Call, Turns
    from oasis.ubus.watch import Watches

    Objects = dict[str, dict[str, dict[str, str]]]
    OnEvent = Callable[[str, dict[str, object]], None]

# What an argument's kind is in a signature, which is what `ubus -v list` shows; nobody checks by it. The numbers are
# those of blobmsg.py, which an idle daemon does without, and a call as well needs incoming.py.
KINDS = {"text": 3, "int": 5, "bool": 7, "list": 1, "table": 2, "number": 8}
_TABLE, _NUMBER = 2, 5
_CONNECT_S = 1.0
# procd starts ubusd again at once; a host without one costs a look in half a minute.
_FIRST_S, _LONGEST_S = 0.1, 30.0
# `stop` takes at most these together, and procd waits for 5 s.
_ANSWERS_S, _FLUSH_S, _JOIN_S = 0.8, 0.4, 0.4


class Peer:
    """The daemon on the bus.

    connect(timeout_s) -> socket      opens the bus (see ubus.opener)
    objects                           {object: {method: {argument: kind}}}, a kind of KINDS
    answer(call) -> dict              in a thread of the peer's own; may block; what it raises is a fault (status 9)
    tell(text)                        one line for the log
    """

    def __init__(
        self,
        connect: Callable[[float], _socket.socket],
        objects: Objects,
        answer: Callable[[Call], Mapping[str, object]],
        tell: Callable[[str], None],
        waiters: int = 16,
    ) -> None:
        self._connect = connect
        self._objects = objects
        self._tell = tell
        self._answer = answer
        self._waiters = waiters
        self._turns: Turns | None = None
        self._taken: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._watched: set[int] = set()
        self._watches: Watches | None = None
        self._is_waiting = False
        self._reason = "not connected yet"
        self._is_told = True
        self._changing = threading.Lock()
        self._stopped = threading.Event()
        self._link: Link | None = None
        self._thread = threading.Thread(target=self._live, name="bus", daemon=True)

    def start(self) -> None:
        """Begin to connect and to publish, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what is being answered, or say that we stop; leave the bus. Takes 2 s at most."""
        self._stopped.set()
        link = self._link
        if link is not None:
            if self._turns is not None:
                self._turns.end(_ANSWERS_S)
            link.flush(_FLUSH_S)
            link.end()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)

    def taken(self) -> dict[str, str]:
        """Return the objects that could not be put on the bus, and who has them, in words."""
        return dict(self._taken)

    def reason(self) -> str:
        """Return why we are not on the bus, "" while we are."""
        return self._reason

    def notify(self, name: str, event: str, data: dict[str, object]) -> None:
        """Tell the subscribers of an object of ours an event; nothing is sent when there are none.

        Raises: ToolError for data that the bus does not take.
        """
        link, number = self._link, self._numbers.get(name)
        if link is None or number is None or number not in self._watched:
            return
        from oasis.ubus.blobmsg import encode

        words = message.invocation(number, event, encode(data)) + attribute(message.OF_NO_REPLY, b"\1")
        most = message.REPLY_BYTES
        if len(words) > most:
            raise ToolError("the event %s of %s has %d bytes" % (event, name, len(words)), "at most %d go" % most)
        link.send(message.message(message.NOTIFY, 0, number, words))

    def subscribe(self, name: str, on_event: OnEvent) -> None:
        """Have `on_event(event, data)` called for each notification of another's object, whenever that is there."""
        self._want(name, True, on_event)

    def listen(self, pattern: str, on_event: OnEvent) -> None:
        """Have `on_event(event, data)` called for each event of this name; a `*` at its end stands for any end."""
        self._want(pattern, False, on_event)

    def _want(self, name: str, is_object: bool, on_event: OnEvent) -> None:
        from oasis.ubus.watch import Watches, Wish

        with self._changing:
            if self._watches is None:
                self._watches = Watches()
                self._watches.begin(self._link)
        self._watches.add(Wish(name, is_object, on_event))

    def _live(self) -> None:
        wait_s = _FIRST_S
        while not self._stopped.is_set():
            began_s = time.monotonic()
            reason = self._lived()
            if self._stopped.is_set():
                return
            if time.monotonic() - began_s > _LONGEST_S:
                wait_s = _FIRST_S
            if self._is_told:
                self._tell("not on the bus: %s; trying again" % reason)
            self._reason, self._is_told = reason, False
            self._stopped.wait(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_S)

    def _lived(self) -> str:
        """Live with one connection to its end; return why it ended."""
        try:
            link = Link(self._connect(_CONNECT_S))
            try:
                self._link = link
                if self._stopped.is_set():  # then `stop` may have seen no connection that it could end
                    return "stopped"
                self._begin(link)
                while link.is_open:
                    self._take(link, *link.receive())
                return "it does not read what we say"
            finally:
                self._link = None
                self._names, self._numbers, self._watched = {}, {}, set()
                if self._watches is not None:
                    self._watches.begin(None)
                link.close()
        except OasisError as error:
            return error.message
        except OSError as error:
            return error.strerror or str(error)
        except Exception as bug:  # a fault of ours; the next connection may do better
            from oasis.ubus.incoming import place

            return place(bug)

    def _begin(self, link: Link) -> None:
        self._taken = {}
        if self._watches is not None:
            self._watches.begin(link)
        for name in self._objects:
            self._publish(link, name)
        link.ask_nothing(self._published)

    def _publish(self, link: Link, name: str) -> None:
        def done(status: int, data: list[dict[int, bytes]]) -> None:
            number = message.number_of(data[0].get(message.OF_OBJECT, b"")) if data else 0
            if number and not status:
                self._names[number], self._numbers[name] = name, number
                if self._taken.pop(name, ""):
                    self._tell("%s is on the bus now" % name)
            else:
                self._taken.setdefault(name, "another program")

        words = message.text(message.OF_PATH, name) + attribute(message.OF_SIGNATURE, signature(self._objects[name]))
        link.ask(message.ADD_OBJECT, 0, words, done)

    def _published(self) -> None:
        """Every object is on the bus or refused."""
        if not self._is_told:
            self._tell("on the bus again")
        self._reason, self._is_told = "", True
        if self._taken:
            threading.Thread(target=self._explain, args=(self._taken,), name="taken", daemon=True).start()

    def _explain(self, taken: dict[str, str]) -> None:
        """Find out and tell who has the names that we did not get, and take them as soon as they are free."""
        from oasis.ubus.object_owner import owner

        if not self._is_waiting:
            self._is_waiting = True
            self.listen("ubus.object.remove", self._freed)
        for name in sorted(taken):
            who = owner(self._connect, name)
            taken[name] = who or "ubusd, which does not let this user have it (see /usr/share/acl.d)"
            self._tell("%s is taken on the bus by %s" % (name, taken[name]))
            if not who:
                self._freed("", {"path": name})  # perhaps it was given up before we listened

    def _freed(self, event: str, data: dict[str, object]) -> None:
        name, link = data.get("path"), self._link
        if isinstance(name, str) and name in self._taken and link is not None:
            self._publish(link, name)

    def _take(self, link: Link, kind: int, sequence: int, client: int, content: bytes) -> None:
        """Do what a message asks for; what cannot be read, and types that are not for us, are passed over."""
        try:
            words = attributes(content)
            number = message.number_of(words.get(message.OF_OBJECT, b""))
            if kind in (message.STATUS, message.DATA):
                link.answered(kind, sequence, words)
            elif kind == message.INVOKE:
                self._invoked(link, sequence, client, number, words)
            elif kind == message.NOTIFY and words.get(message.OF_ACTIVE, b"\0")[:1] > b"\0":
                self._watched.add(number)
            elif kind == message.NOTIFY:
                self._watched.discard(number)
            elif kind == message.UNSUBSCRIBE and self._watches is not None:
                self._watches.lost(number)
        except Exception as bug:  # nothing that comes may end the thread that reads
            if not link.is_puzzled:
                from oasis.ubus.incoming import place

                link.is_puzzled = True
                self._tell("a message of the bus is passed over: %s" % place(bug))

    def _invoked(self, link: Link, sequence: int, client: int, number: int, words: dict[int, bytes]) -> None:
        from oasis.ubus.incoming import Call, Turn

        name = self._names.get(number, "")
        method, user, group = [
            message.text_of(words.get(kind, b"")) for kind in (message.OF_METHOD, message.OF_USER, message.OF_GROUP)
        ]
        turn = Turn(Call(name, method, {}, user, group, client), link, sequence, number)
        turn.wants_reply = words.get(message.OF_NO_REPLY, b"\0")[:1] == b"\0"
        data = words.get(message.OF_DATA)
        if not name:
            is_ours = self._watches is not None and self._watches.told(number, words)
            turn.end(0 if is_ours else message.NOT_FOUND)
        elif method not in self._objects[name]:
            turn.end(message.NO_METHOD)
        elif data is None:
            turn.end(message.INVALID_ARGUMENT)
        else:
            from oasis.ubus.incoming import Turns

            if self._turns is None:
                self._turns = Turns(self._answer, self._tell, self._waiters)
                if self._stopped.is_set():
                    self._turns.end(0)
            self._turns.begin(turn, data)


def signature(methods: dict[str, dict[str, str]]) -> bytes:
    """Return what is published of an object's methods: a table of numbers for each, the types of its arguments."""
    return b"".join([named(_TABLE, method.encode() + b"\0", _types(words)) for method, words in methods.items()])


def _types(words: dict[str, str]) -> bytes:
    return b"".join(
        [named(_NUMBER, name.encode() + b"\0", KINDS[kind].to_bytes(4, "big")) for name, kind in words.items()]
    )
