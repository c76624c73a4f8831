"""Our objects on the bus: published, called, notified from, and put there again whenever ubusd comes back.

One thread lives with the connection and only reads, so that ubusd never drops a call for want of room; calls are
answered elsewhere (busturns.py). Unknown objects and methods, and calls without data, get the statuses of libubus.
Which methods there are, and what their kinds of arguments are called, is told by the caller; roles are not known here.
Source: ubus's ubusd_proto.c, ubusd_obj.c and libubus-obj.c; the recorded bytes of a publishing client.
"""

from __future__ import annotations

import threading
import time

from oasis.errors import OasisError, ToolError
from oasis.system import buswire
from oasis.system.blobmsg import ARRAY, INT8, INT32, STRING, TABLE, attribute, attributes, encode
from oasis.system.buslink import Link
from oasis.system.busturns import REPLY_BYTES, Call, Turn, Turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

    Objects = dict[str, dict[str, dict[str, str]]]

# What an argument's kind is in a signature, which is what `ubus -v list` shows; nobody checks by it.
KINDS = {"text": STRING, "int": INT32, "bool": INT8, "list": ARRAY, "table": TABLE}
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
        answer: Callable[[Call], dict[str, object]],
        tell: Callable[[str], None],
        waiters: int = 16,
    ) -> None:
        self._connect = connect
        self._objects = objects
        self._tell = tell
        self._turns = Turns(answer, tell, waiters)
        self._taken: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._watched: set[str] = set()
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
            self._turns.end(_ANSWERS_S)
            link.flush(_FLUSH_S)
            link.end()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)

    def taken(self) -> dict[str, str]:
        """Return the objects that could not be put on the bus, and why."""
        return dict(self._taken)

    def notify(self, name: str, event: str, data: dict[str, object]) -> None:
        """Tell the subscribers of an object of ours an event; nothing is sent when there are none.

        Raises: ToolError for data that the bus does not take.
        """
        link, number = self._link, self._numbers.get(name)
        if link is None or number is None or name not in self._watched:
            return
        words = buswire.number(buswire.OF_OBJECT, number) + buswire.text(buswire.OF_METHOD, event)
        words += attribute(buswire.OF_DATA, encode(data)) + attribute(buswire.OF_NO_REPLY, b"\1")
        if len(words) > REPLY_BYTES:
            raise ToolError("the event %s of %s has %d bytes" % (event, name, len(words)), "at most %d" % REPLY_BYTES)
        link.send(buswire.message(buswire.NOTIFY, 0, number, words))

    def _live(self) -> None:
        wait_s, is_told = _FIRST_S, False
        while not self._stopped.is_set():
            began_s = time.monotonic()
            reason = self._lived()
            if self._stopped.is_set():
                return
            if time.monotonic() - began_s > _LONGEST_S:
                wait_s, is_told = _FIRST_S, False
            if not is_told:
                self._tell("the bus: %s; trying again" % reason)
                is_told = True
            self._stopped.wait(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_S)

    def _lived(self) -> str:
        """Live with one connection to its end; return why it ended."""
        link = None
        try:
            connection = self._connect(_CONNECT_S)
            try:
                self._link = link = Link(connection)
                self._publish(link)
                while True:
                    self._take(link, *link.receive())
            finally:
                self._link = None
                self._names, self._numbers, self._watched = {}, {}, set()
                if link is None:
                    connection.close()
                else:
                    link.close()
        except OasisError as error:
            return error.message
        except OSError as error:
            return error.strerror or str(error)

    def _publish(self, link: Link) -> None:
        self._taken = {}
        for name, methods in self._objects.items():
            words = buswire.text(buswire.OF_PATH, name) + attribute(buswire.OF_SIGNATURE, signature(methods))
            link.ask(buswire.ADD_OBJECT, 0, words, self._published(name))

    def _published(self, name: str) -> Callable[[int, list[dict[int, bytes]]], None]:
        def done(status: int, data: list[dict[int, bytes]]) -> None:
            if status or not data:
                self._taken[name] = "status %d" % status
                self._tell("the bus: %s is taken: %s" % (name, self._taken[name]))
                return
            number = buswire.number_of(data[0].get(buswire.OF_OBJECT, b""))
            self._names[number], self._numbers[name] = name, number

        return done

    def _take(self, link: Link, kind: int, sequence: int, client: int, content: bytes) -> None:
        """Do what a message asks for; what cannot be read, and types that are not for us, are passed over."""
        try:
            if kind in (buswire.STATUS, buswire.DATA):
                link.answered(kind, sequence, content)
            elif kind in (buswire.INVOKE, buswire.NOTIFY):
                words = attributes(content)
                number = buswire.number_of(words.get(buswire.OF_OBJECT, b""))
                if kind == buswire.INVOKE:
                    self._invoked(link, sequence, client, number, words)
                elif words.get(buswire.OF_ACTIVE, b"\0")[:1] > b"\0":
                    self._watched.add(self._names.get(number, ""))
                else:
                    self._watched.discard(self._names.get(number, ""))
        except ToolError as error:
            self._tell("the bus: %s" % error.message)

    def _invoked(self, link: Link, sequence: int, client: int, number: int, words: dict[int, bytes]) -> None:
        name = self._names.get(number, "")
        method, user, group = [
            buswire.text_of(words.get(kind, b"")) for kind in (buswire.OF_METHOD, buswire.OF_USER, buswire.OF_GROUP)
        ]
        turn = Turn(Call(name, method, {}, user, group, client), link, sequence, number)
        data = words.get(buswire.OF_DATA)
        if words.get(buswire.OF_NO_REPLY, b"\0")[:1] > b"\0":
            return  # an event for a subscriber; we are none
        if not name:
            turn.end(buswire.NOT_FOUND)
        elif method not in self._objects[name]:
            turn.end(buswire.NO_METHOD)
        elif data is None:
            turn.end(buswire.INVALID_ARGUMENT)
        else:
            self._turns.begin(turn, data)


def signature(methods: dict[str, dict[str, str]]) -> bytes:
    """Return what is published of an object's methods: their arguments' types, as tables of numbers."""
    return encode({method: {name: KINDS[kind] for name, kind in words.items()} for method, words in methods.items()})
