"""A stand-in for ubusd: the bus's protocol as the real one answers it, for hosts that have none.

    python3 tests/router/busd.py SOCKET       until it is ended

It knows objects, lookups, calls and their answers, events, subscriptions and the monitor; it has no access lists. Its
codec is its own, so that a fault in Oasis's does not cancel itself out. What a client does not read is dropped beyond
1 MiB, and a message that cannot be one ends the connection, both as ubusd does.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import selectors
import socket
import struct
import sys
import threading

HELLO, STATUS, DATA, PING, LOOKUP, INVOKE, ADD, REMOVE, SUBSCRIBE, UNSUBSCRIBE, NOTIFY, MONITOR = range(12)
OF_STATUS, OF_PATH, OF_ID, OF_METHOD, OF_TYPE, OF_SIGNATURE, OF_DATA, OF_TARGET = range(1, 9)
OF_ACTIVE, OF_NO_REPLY, OF_SUBSCRIBERS, OF_USER, OF_GROUP = range(9, 14)
OK, BAD_COMMAND, BAD_ARGUMENT, NO_METHOD, NOT_FOUND, NO_DATA, DENIED = range(7)
EVENTS, MONITOR_OBJECT = 1, 3
MOST = 1 << 20


def attribute(kind, content):
    if isinstance(content, int):
        content = struct.pack(">I", content)
    if isinstance(content, str):
        content = content.encode() + b"\0"
    return struct.pack(">I", kind << 24 | len(content) + 4) + content + bytes(-len(content) % 4)


def blob(**words):
    """Return a message's attributes; a keyword is the name of an OF_ constant in small letters."""
    return b"".join(
        attribute(globals()["OF_" + name.upper()], value) for name, value in words.items() if value is not None
    )


def parse(data):
    found = {}
    while len(data) >= 4:
        head = struct.unpack(">I", data[:4])[0]
        size = head & 0xFFFFFF
        if size < 4 or size > len(data):
            break
        found[(head >> 24) & 0x7F] = data[4:size]
        data = data[(size + 3) & ~3 :]
    return found


def named(data):
    """Return the top level of named data: {name: content}, which is all that events need."""
    found = {}
    while len(data) >= 8:
        head, length = struct.unpack(">IH", data[:6])
        size = head & 0xFFFFFF
        if size < 8 or size > len(data):
            break
        found[data[6 : 6 + length].decode()] = data[4 + ((length + 6) & ~3) : size]
        data = data[(size + 3) & ~3 :]
    return found


def value(kind, name, content):
    label = struct.pack(">H", len(name)) + name.encode() + b"\0"
    label += bytes(-len(label) % 4)
    size = 4 + len(label) + len(content)
    return struct.pack(">I", 0x80000000 | kind << 24 | size) + label + content + bytes(-len(content) % 4)


def text(content):
    return content.partition(b"\0")[0].decode()


def number(content):
    return struct.unpack(">I", content)[0] if content and len(content) == 4 else 0


class Object:
    def __init__(self, client, path, signature):
        self.number = int.from_bytes(os.urandom(4), "big") | 0x80000000  # the sign of a number must not matter
        self.client = client
        self.path = path
        self.signature = signature
        self.subscribers = []
        self.patterns = []


class Client:
    def __init__(self, connection):
        self.number = int.from_bytes(os.urandom(4), "big") | 1024
        self.connection = connection
        self.came = b""
        self.out = b""
        _, uid, gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        self.user, self.group = pwd.getpwuid(uid).pw_name, grp.getgrgid(gid).gr_name


class Busd:
    """The bus in a thread; `with Busd(path):` serves inside."""

    def __init__(self, path):
        self.path = path
        self.clients = {}
        self.objects = {}
        self.monitors = set()
        self.listener = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.listener.bind(path)
        self.listener.listen(128)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.wake, waker = socket.socketpair()
        self.waker = waker
        self.selector.register(self.wake, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """End at once, as by SIGKILL: nobody is told, the socket's name stays."""
        if self.thread.is_alive():
            self.waker.send(b"x")
            self.thread.join(10)

    def serve(self):
        try:
            while True:
                for key, events in self.selector.select():
                    if key.fileobj is self.wake:
                        return
                    if key.fileobj is self.listener:
                        self.accept()
                    elif key.data.number in self.clients:
                        self.work(key.data, events)
        finally:
            for client in list(self.clients.values()):
                client.connection.close()
            for one in (self.listener, self.wake, self.waker, self.selector):
                one.close()

    def accept(self):
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        client = Client(connection)
        self.clients[client.number] = client
        self.selector.register(connection, selectors.EVENT_READ, client)
        self.send(client, HELLO, 0, client.number, b"")

    def work(self, client, events):
        try:
            if events & selectors.EVENT_WRITE:
                client.out = client.out[client.connection.send(client.out) :]
                self.watch(client)
            if events & selectors.EVENT_READ:
                came = client.connection.recv(1 << 16)
                client.came += came
                if not came or not self.read(client):
                    self.drop(client)
        except OSError:
            self.drop(client)

    def watch(self, client):
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.out else 0)
        self.selector.modify(client.connection, wanted, client)

    def read(self, client):
        """Do what whole messages say; return whether all of them were messages."""
        while len(client.came) >= 12:
            _, kind, sequence, peer, size = struct.unpack(">BBHII", client.came[:12])
            size &= 0xFFFFFF
            if size < 4 or size > MOST:
                return False
            if len(client.came) < size + 8:
                break
            content, client.came = client.came[12 : size + 8], client.came[size + 8 :]
            self.shown(client, kind, sequence, peer, content, 0)
            status = self.take(client, kind, sequence, peer, content, parse(content))
            if status is not None:
                self.send(client, STATUS, sequence, peer, blob(status=status))
        return True

    def send(self, client, kind, sequence, peer, content):
        if kind != MONITOR:
            self.shown(client, kind, sequence, peer, content, 1)
        data = struct.pack(">BBHII", 0, kind, sequence & 0xFFFF, peer, len(content) + 4) + content
        if client.out and len(client.out) + len(data) > MOST:
            return
        client.out += data
        with contextlib.suppress(OSError):
            client.out = client.out[client.connection.send(client.out) :]
        self.watch(client)

    def shown(self, client, kind, sequence, peer, content, is_sent):
        words = enumerate((client.number, peer, bytes([is_sent]), sequence, kind, content))
        shown = b"".join(attribute(key, one) for key, one in words) if self.monitors else b""
        for one in list(self.monitors):
            if one in self.clients:
                self.send(self.clients[one], MONITOR, 0, 0, shown)

    def drop(self, client):
        del self.clients[client.number]
        self.monitors.discard(client.number)
        self.selector.unregister(client.connection)
        client.connection.close()
        for one in [one for one in self.objects.values() if one.client is client]:
            self.remove(one)

    def remove(self, gone):
        del self.objects[gone.number]
        for other in self.objects.values():
            if gone in other.subscribers:
                other.subscribers.remove(gone)
                if not other.subscribers:
                    self.active(other)
        for other in gone.subscribers:
            self.send(other.client, UNSUBSCRIBE, 1, 0, blob(id=other.number, target=gone.number))
        if gone.path:
            self.object_event(gone, "ubus.object.remove")

    def active(self, one):
        if one.client.number in self.clients:
            self.send(one.client, NOTIFY, 1, 0, blob(id=one.number, active=bytes([bool(one.subscribers)])))

    def object_event(self, one, event):
        data = value(5, "id", struct.pack(">I", one.number)) + value(3, "path", one.path.encode() + b"\0")
        self.event(one.client, event, data)

    def event(self, sender, event, data):
        for one in list(self.objects.values()):
            if one.client is sender:
                continue
            if any(event == word or (word.endswith("*") and event.startswith(word[:-1])) for word in one.patterns):
                self.send(one.client, INVOKE, 1, 0, blob(id=one.number, method=event, data=data))

    def named_as(self, path):
        return next((one for one in self.objects.values() if one.path == path), None)

    def take(self, client, kind, sequence, peer, content, words):
        """Do what a message says; return the status to send, None for none."""
        if kind == PING:
            self.send(client, DATA, sequence, peer, content)
            return OK
        if kind in (STATUS, DATA):
            return self.answered(client, kind, sequence, peer, content, words)
        doers = {LOOKUP: self.look_up, INVOKE: self.invoke, ADD: self.add, REMOVE: self.take_away}
        doers.update({SUBSCRIBE: self.subscribe, UNSUBSCRIBE: self.subscribe, NOTIFY: self.notify})
        if kind not in doers:
            return BAD_COMMAND
        return doers[kind](client, kind, sequence, peer, words)

    def answered(self, client, kind, sequence, peer, content, words):
        one, caller = self.objects.get(number(words.get(OF_ID))), self.clients.get(peer)
        has_all = (OF_STATUS if kind == STATUS else OF_DATA) in words
        if one and one.client is client and caller and has_all:
            self.send(caller, kind, sequence, one.number, content)

    def look_up(self, client, kind, sequence, peer, words):
        path = text(words[OF_PATH]) if OF_PATH in words else "*"
        if not path:
            return BAD_ARGUMENT
        found = [one for one in self.objects.values() if one.path and one.signature is not None]
        found = [one for one in found if one.path == path or (path[-1] == "*" and one.path.startswith(path[:-1]))]
        for one in sorted(found, key=lambda one: one.path):
            data = blob(path=one.path, id=one.number, type=1, signature=one.signature)
            self.send(client, DATA, sequence, peer, data)
        return OK if found or OF_PATH not in words else NOT_FOUND

    def invoke(self, client, kind, sequence, peer, words):
        if OF_ID not in words or OF_METHOD not in words:
            return BAD_ARGUMENT
        to, method = number(words[OF_ID]), text(words[OF_METHOD])
        if to == MONITOR_OBJECT:
            if os.geteuid():
                return DENIED
            self.monitors.add(client.number)
            return OK
        if to == EVENTS:
            return self.of_events(client, method, named(words.get(OF_DATA, b"")))
        if to not in self.objects:
            return NOT_FOUND
        self.forward(client, self.objects[to], sequence, words)
        return None

    def forward(self, client, one, sequence, words, **more):
        data = blob(id=one.number, method=text(words[OF_METHOD]), user=client.user, group=client.group, **more)
        data += attribute(OF_DATA, words[OF_DATA]) if OF_DATA in words else b""
        self.send(one.client, INVOKE, sequence, client.number, data)

    def of_events(self, client, method, values):
        if method == "register":
            self.objects[number(values["object"])].patterns.append(text(values["pattern"]))
            return OK
        if method == "send":
            self.event(client, text(values["id"]), values["data"])
            return OK
        return BAD_COMMAND

    def add(self, client, kind, sequence, peer, words):
        path = text(words[OF_PATH]) if OF_PATH in words else ""
        if path and self.named_as(path):
            return BAD_ARGUMENT
        one = Object(client, path, words.get(OF_SIGNATURE))
        self.objects[one.number] = one
        if path:
            self.object_event(one, "ubus.object.add")
        self.send(client, DATA, sequence, peer, blob(id=one.number, type=1 if one.signature is not None else None))
        return OK

    def take_away(self, client, kind, sequence, peer, words):
        one = self.objects.get(number(words.get(OF_ID)))
        if one is None or one.client is not client:
            return NOT_FOUND if one is None else DENIED
        self.send(client, DATA, sequence, peer, blob(id=one.number))
        self.remove(one)
        return OK

    def subscribe(self, client, kind, sequence, peer, words):
        one, target = self.objects.get(number(words.get(OF_ID))), self.objects.get(number(words.get(OF_TARGET)))
        if one is None or target is None:
            return NOT_FOUND
        was = bool(target.subscribers)
        if kind == SUBSCRIBE:
            target.subscribers.append(one)
        elif one in target.subscribers:
            target.subscribers.remove(one)
        else:
            return NOT_FOUND
        if was != bool(target.subscribers):
            self.active(target)
        return OK

    def notify(self, client, kind, sequence, peer, words):
        one = self.objects.get(number(words.get(OF_ID)))
        if one is None or one.client is not client:
            return NOT_FOUND if one is None else DENIED
        is_silent = words.get(OF_NO_REPLY, b"\0")[0] != 0
        if not is_silent:
            listed = b"".join(attribute(0, other.number) for other in one.subscribers)
            self.send(client, STATUS, sequence, peer, blob(id=one.number, subscribers=listed, status=0))
        for other in one.subscribers:
            self.forward(client, other, sequence, words, no_reply=b"\1" if is_silent else None)
        return None


if __name__ == "__main__":
    with Busd(sys.argv[1]) as bus:
        bus.thread.join()
