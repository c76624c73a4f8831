"""What others tell on the bus: notifications of their objects, and events.

Every wish has an object of ours without a name, to which ubusd sends each notification as a call. An object that is not
there yet, or goes and comes again, is watched from the moment that it is there. `on_event(event, data)` is called in
the thread that reads from the bus, in order: it must put the event somewhere and return.
Source: ubus's ubusd_event.c, ubusd_proto.c (ubusd_handle_add_watch) and libubus-sub.c.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from oasis.ubus import message
from oasis.ubus.message import decode, encode

if False:  # annotations only
    from oasis.ubus.peer import Link

    Data = list[dict[int, bytes]]

_EVENTS = 1  # ubusd's own object that sends events
_ADDED = "ubus.object.add"


class Wish:
    """Notifications of an object, or events of a pattern, that are wanted."""

    def __init__(self, name: str, is_object: bool, on_event: Callable[[str, dict[str, object]], None]) -> None:
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
