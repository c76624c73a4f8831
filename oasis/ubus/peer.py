"""Our objects on the bus: published, called, notified from, and put there again whenever ubusd comes back.

One thread lives with the connection and only reads, so that ubusd never drops a call for want of room; calls are
answered elsewhere (incoming.py). Unknown objects and methods, and calls without data, get the statuses of libubus.
Which methods there are, and what their kinds of arguments are called, is up to the caller; roles are not known here.
Source: ubus's ubusd_proto.c, ubusd_obj.c, ubusd_event.c and libubus-obj.c; the recorded bytes of a publishing client.
"""

from __future__ import annotations

import _socket
import threading
import time
from collections.abc import Callable, Mapping

from oasis.errors import OasisError, ToolError
from oasis.ubus import message
from oasis.ubus.incoming import Call, Calls, Pending, place
from oasis.ubus.message import INT32, TABLE, attribute, attributes, decode, encode, named

if False:  # annotations only
    Objects = dict[str, dict[str, dict[str, str]]]
    OnEvent = Callable[[str, dict[str, object]], None]
    Data = list[dict[int, bytes]]
    Done = Callable[[int, Data], None]

# What an argument's kind is in a signature, which is what `ubus -v list` shows; nobody checks by it.
KINDS = {
    "text": message.STRING, "int": INT32, "bool": message.INT8, "list": message.ARRAY, "table": TABLE,
    "number": message.DOUBLE,
}  # fmt: skip
_CONNECT_S = 1.0
# procd starts ubusd again at once; a host without one costs a look in half a minute.
_FIRST_S, _LONGEST_S = 0.1, 30.0
# `stop` takes at most these together, and procd waits for 5 s.
_ANSWERS_S, _FLUSH_S, _JOIN_S = 0.8, 0.4, 0.4
# ubusd always reads, and drops what its clients do not take: when it does not, it is stopped or gone.
_STUCK_S = 3.0
_WAIT = _socket.MSG_DONTWAIT
# Who has a name of ours: ubusd does not say which client an object belongs to.
_OTHER = "another program, perhaps a plugin of rpcd (look into /usr/libexec/rpcd and /usr/share/rpcd/ucode)"
# A lookup of everything is the most that is asked for; a router has some hundred objects.
_ANSWERS = 1024


class Peer:
    """The daemon on the bus.

    connect(timeout_s) -> socket      opens the bus (see outgoing.opener)
    objects                           {object: {method: {argument: kind}}}, a kind of KINDS
    answer(call) -> dict              in a thread of the peer's own; may block; what it raises is a fault (status 9)
    log(text)                         one line for the log
    """

    def __init__(
        self, connect: Callable[[float], _socket.socket], objects: Objects,
        answer: Callable[[Call], Mapping[str, object]], log: Callable[[str], None], waiters: int = 16,
    ) -> None:  # fmt: skip
        self._connect = connect
        self._objects = objects
        self._log = log
        self._calls = Calls(answer, log, waiters)
        self._taken: dict[str, str] = {}
        # Of the connection: our objects, those that somebody is subscribed to, whether a fault was logged.
        self._names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._watched: set[int] = set()
        self._has_fault = False
        self._watches = Watches()
        self._is_waiting = False
        self._reason = "not connected yet"
        self._is_logged = True
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
            self._calls.end(_ANSWERS_S)
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
        words = message.invocation(number, event, encode(data)) + attribute(message.OF_NO_REPLY, b"\1")
        most = message.REPLY_BYTES
        if len(words) > most:
            raise ToolError("the event %s of %s has %d bytes" % (event, name, len(words)), "at most %d go" % most)
        link.send(message.message(message.NOTIFY, 0, number, words))

    def subscribe(self, name: str, on_event: OnEvent) -> None:
        """Have `on_event(event, data)` called for each notification of another's object, whenever that is there."""
        self._watches.add(Wish(name, True, on_event))

    def listen(self, pattern: str, on_event: OnEvent) -> None:
        """Have `on_event(event, data)` called for each event of this name; a `*` at its end stands for any end."""
        self._watches.add(Wish(pattern, False, on_event))

    def _live(self) -> None:
        wait_s = _FIRST_S
        while not self._stopped.is_set():
            began_s = time.monotonic()
            reason = self._lived()
            if self._stopped.is_set():
                return
            if time.monotonic() - began_s > _LONGEST_S:
                wait_s = _FIRST_S
            if self._is_logged:
                self._log("not on the bus: %s; trying again" % reason)
            self._reason, self._is_logged = reason, False
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
                self._taken = {}
                self._watches.begin(link)
                for name in self._objects:
                    self._publish(link, name)
                link.ask_nothing(lambda: self._published(link))
                while link.is_open:
                    self._take(link, *message.receive(link.connection))
                return "it does not read what we say"
            finally:
                self._link = None
                self._watches.begin(None)
                self._names, self._numbers, self._watched, self._has_fault = {}, {}, set(), False
                link.close()
        except OasisError as error:
            return error.message
        except OSError as error:
            return error.strerror or str(error)
        except Exception as bug:  # a fault of ours; the next connection may do better
            return place(bug)

    def _publish(self, link: Link, name: str) -> None:
        def done(status: int, data: Data) -> None:
            number = message.number_of(data[0].get(message.OF_OBJECT, b"")) if data else 0
            if number and not status:
                self._names[number], self._numbers[name] = name, number
                if self._taken.pop(name, ""):
                    self._log("%s is on the bus now" % name)
            else:
                self._taken.setdefault(name, _OTHER)

        words = message.text(message.OF_PATH, name) + attribute(message.OF_SIGNATURE, signature(self._objects[name]))
        link.ask(message.ADD_OBJECT, 0, words, done)

    def _published(self, link: Link) -> None:
        """Every object is on the bus or refused: log which are not, and take them as soon as they are free."""
        if not self._is_logged:
            self._log("on the bus again")
        self._reason, self._is_logged = "", True
        if self._taken and not self._is_waiting:
            self._is_waiting = True
            self.listen("ubus.object.remove", self._freed)
        for name in sorted(self._taken):
            ask = lambda name=name: self._explain(link, name)  # noqa: E731
            link.ask_nothing(ask)  # then we listen: a name that is given up from there on is heard of

    def _explain(self, link: Link, name: str) -> None:
        def done(status: int, data: Data) -> None:
            if name not in self._taken:
                return  # it became free meanwhile, and is ours
            if not data:
                self._taken[name] = "ubusd, which does not let this user have it (see /usr/share/acl.d)"
            self._log("%s is taken on the bus by %s" % (name, self._taken[name]))
            if not data:
                self._freed("", {"path": name})  # perhaps it was given up before we listened

        link.ask(message.LOOKUP, 0, message.text(message.OF_PATH, name), done)

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
                self._invoked(link, sequence, client, words)
            elif kind == message.NOTIFY and words.get(message.OF_ACTIVE, b"\0")[:1] > b"\0":
                self._watched.add(number)
            elif kind == message.NOTIFY:
                self._watched.discard(number)
            elif kind == message.UNSUBSCRIBE:
                self._watches.lost(number)
        except Exception as bug:  # nothing that comes may end the thread that reads
            if not self._has_fault:
                self._has_fault = True
                self._log("a message of the bus is passed over: %s" % place(bug))

    def _invoked(self, link: Link, sequence: int, client: int, words: dict[int, bytes]) -> None:
        number = message.number_of(words.get(message.OF_OBJECT, b""))
        name = self._names.get(number, "")
        method, user, group = [
            message.text_of(words.get(kind, b"")) for kind in (message.OF_METHOD, message.OF_USER, message.OF_GROUP)
        ]
        wants_reply = words.get(message.OF_NO_REPLY, b"\0")[:1] == b"\0"
        data = words.get(message.OF_DATA)
        pending = Pending(Call(name, method, {}, user, group, client), data or b"", link, sequence, number, wants_reply)
        if not name:
            pending.end(0 if self._watches.told(number, words) else message.NOT_FOUND)
        elif method not in self._objects[name]:
            pending.end(message.NO_METHOD)
        elif data is None:
            pending.end(message.INVALID_ARGUMENT)
        else:
            self._calls.begin(pending)


def signature(methods: dict[str, dict[str, str]]) -> bytes:
    """Return what is published of an object's methods: a table of numbers for each, the types of its arguments."""
    found = b""
    for method, words in methods.items():
        kinds = [named(INT32, key.encode() + b"\0", KINDS[kind].to_bytes(4, "big")) for key, kind in words.items()]
        found += named(TABLE, method.encode() + b"\0", b"".join(kinds))
    return found


class Link:
    """A connection that said hello. `is_open` turns false once and for ever.

    One thread reads from `connection` and hands every status and data to `answered`; everything else may come from any
    thread. A write never waits longer than ubusd takes to read, or the connection is given up: half a message
    cannot be taken back. Knows nothing of objects and methods.
    """

    def __init__(self, connection: _socket.socket) -> None:
        try:
            if message.receive(connection)[0] != message.HELLO:
                raise ToolError("the bus did not say hello")
        except (OSError, ToolError):
            connection.close()
            raise
        connection.settimeout(None)  # a read waits for ever, and costs nothing
        self.connection = connection
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._number = 0
        self._asked: dict[int, tuple[Done, Data]] = {}
        self.is_open = True

    def send(self, data: bytes) -> None:
        """Send whole messages; what cannot be sent ends the connection, and is lost."""
        with self._sending:
            rest = memoryview(data)
            while rest and self.is_open:
                try:
                    rest = rest[self.connection.send(rest, _WAIT) :]
                except BlockingIOError:
                    import select  # only a bus that is slow needs it

                    poll = select.poll()
                    poll.register(self.connection.fileno(), select.POLLOUT)
                    if not poll.poll(_STUCK_S * 1000):
                        self.end()
                except OSError:
                    self.end()

    def ask(self, kind: int, peer: int, content: bytes, done: Done) -> None:
        """Send a request; `done(status, data)` is called in the thread that reads, never when the connection ends."""
        with self._asking:
            while True:
                self._number = self._number % 0xFFFF + 1
                if self._number not in self._asked:
                    break
            sequence = self._number
            self._asked[sequence] = done, []
        self.send(message.message(kind, sequence, peer, content))

    def answered(self, kind: int, sequence: int, words: dict[int, bytes]) -> None:
        """Take a status or data; what belongs to no request of ours is passed over."""
        with self._asking:
            found = self._asked.get(sequence)
            if found is None:
                return
            done, data = found
            if kind == message.DATA:
                if len(data) < _ANSWERS:
                    data.append(words)
                return
            del self._asked[sequence]
        done(message.number_of(words.get(message.OF_STATUS, b"")), data)

    def ask_nothing(self, done: Callable[[], None]) -> None:
        """Have `done` called when the bus has done all that it was asked before: an object of no name is looked up."""
        self.ask(message.LOOKUP, 0, message.text(message.OF_PATH, ""), lambda status, data: done())

    def flush(self, timeout_s: float) -> None:
        """Wait until the bus has read what was sent: it forgets what it did not read when a connection ends."""
        if self.is_open:
            is_read = threading.Event()
            self.ask_nothing(is_read.set)
            is_read.wait(timeout_s)

    def end(self) -> None:
        """Wake the thread that reads; it closes."""
        self.is_open = False
        try:
            self.connection.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was quicker

    def close(self) -> None:
        """Free the connection; for the thread that reads from it, at the end."""
        self.end()
        with self._sending:
            self.connection.close()


# -- what others tell on the bus: notifications of their objects, and events ------------------------------------------
#
# Every wish has an object of ours without a name, to which ubusd sends each notification as a call. An object that is
# not there yet, or goes and comes again, is watched from the moment that it is there. `on_event(event, data)` is called
# in the thread that reads from the bus, in order: it must put the event somewhere and return.
# Source: ubus's ubusd_event.c, ubusd_proto.c (ubusd_handle_add_watch) and libubus-sub.c.

_EVENTS = 1  # ubusd's own object that sends events
_ADDED = "ubus.object.add"


class Wish:
    """Notifications of an object, or events of a pattern, that are wanted."""

    def __init__(self, name: str, is_object: bool, on_event: OnEvent) -> None:
        self.name = name
        self.is_object = is_object
        self.on_event = on_event
        self.ours = self.theirs = 0  # numbers of objects, while there is a connection

    def begin(self, link: Link) -> None:
        """Ask for it over a new connection."""

        def has_object(status: int, data: Data) -> None:
            self.ours = _object(data)
            if self.ours and self.is_object:
                name = message.text(message.OF_PATH, self.name)
                link.ask(message.LOOKUP, 0, name, lambda status, data: self.subscribe(link, _object(data)))
            elif self.ours:
                # The bus has no numbers without a sign; ubusd takes the same 32 bits for one.
                number = self.ours - (self.ours >> 31 << 32)
                words = message.invocation(_EVENTS, "register", encode({"object": number, "pattern": self.name}))
                link.ask(message.INVOKE, _EVENTS, words, _nothing)

        self.ours = self.theirs = 0
        link.ask(message.ADD_OBJECT, 0, b"", has_object)

    def subscribe(self, link: Link, number: int) -> None:
        """Subscribe to the object of this number, once."""
        if number in (0, self.theirs) or not self.ours:
            return
        self.theirs = number
        words = message.number(message.OF_OBJECT, self.ours) + message.number(message.OF_TARGET, number)
        link.ask(message.SUBSCRIBE, 0, words, _nothing)

    def lost(self, number: int) -> None:
        """Take it that the object which our object of this number was subscribed to has gone."""
        if self.ours == number:
            self.theirs = 0


class Watches:
    """All subscriptions, over the connection that there is and those after it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._wishes: list[Wish] = []
        self._link: Link | None = None

    def add(self, wish: Wish) -> None:
        """Want something, over this connection and those after it."""
        with self._changing:
            new = [wish]
            if wish.is_object and not any(one.is_object for one in self._wishes):
                # Who waits for an object must hear of new ones before it asks whether it is there.
                new = [Wish(_ADDED, False, self._appeared), wish]
            self._wishes += new
            link = self._link
        for one in new:
            if link is not None:
                one.begin(link)

    def begin(self, link: Link | None) -> None:
        """Ask for everything over a new connection, None when the old one has ended."""
        with self._changing:
            wishes = list(self._wishes)
            self._link = link
        for wish in wishes:
            if link is not None:
                wish.begin(link)

    def told(self, number: int, words: dict[int, bytes]) -> bool:
        """Take what was sent to one of our objects; return whether it was to one of these.

        Raises: ToolError for data that cannot be read.
        """
        for wish in list(self._wishes):
            if wish.ours == number:
                wish.on_event(
                    message.text_of(words.get(message.OF_METHOD, b"")), decode(words.get(message.OF_DATA, b""))
                )
                return True
        return False

    def lost(self, number: int) -> None:
        """An object that one of ours was subscribed to has gone."""
        for wish in self._wishes:
            wish.lost(number)

    def _appeared(self, event: str, data: dict[str, object]) -> None:
        path, number = data.get("path"), data.get("id")
        for wish in list(self._wishes):
            if wish.is_object and wish.name == path and isinstance(number, int) and self._link is not None:
                wish.subscribe(self._link, number & 0xFFFFFFFF)


def _object(data: Data) -> int:
    return message.number_of(data[0].get(message.OF_OBJECT, b"")) if data else 0


def _nothing(status: int, data: Data) -> None:
    """An answer that changes nothing: a refused subscription shows by its absence."""
