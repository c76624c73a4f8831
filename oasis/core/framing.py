"""Cut a stream of bytes into lines or server-sent events, wherever the pieces begin and end.

Knows nothing of sockets, JSON or providers. Contract of both readers: `feed(data)` takes any number of bytes and
returns what became complete; `close()` returns what the end of the stream completes. Feeding a stream whole or byte
by byte gives the same items. Lines are split as bytes, so a character cut in two is whole again before it is decoded,
and no other control character (U+2028, U+0085, form feed) ends a line.

Source: WHATWG HTML, section 9.2.6 (event stream interpretation), with one wish of real servers added: an event that
the end of the stream leaves open is delivered, because some end `data: [DONE]` without the blank line.
"""

from oasis.errors import SchemaError

# One answer of a model with its longest tool arguments stays far below; a router has no memory for more.
TOTAL_BYTES = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class _Stream:
    """Bytes up to a limit, cut at line feeds."""

    def __init__(self, max_bytes: int):
        self._max_bytes = max_bytes
        self._spent = 0
        self._open: list[bytes] = []

    def _spend(self, count: int) -> None:
        self._spent += count
        if self._spent > self._max_bytes:
            raise SchemaError(
                "the answer is longer than %d bytes" % self._max_bytes, "ask for a shorter answer or fewer tool results"
            )

    def _cut(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes."""
        pieces = data.split(b"\n")
        self._open.append(pieces[0])
        if len(pieces) == 1:
            return []
        pieces[0] = b"".join(self._open)
        self._open = [pieces.pop()]
        return pieces

    def _rest(self) -> bytes:
        rest = b"".join(self._open)
        self._open = []
        return rest


class Lines(_Stream):
    """Newline-delimited items: b"\\n" or b"\\r\\n" ends a line, empty lines are left out."""

    def __init__(self, max_bytes: int = TOTAL_BYTES):
        _Stream.__init__(self, max_bytes)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their ends.

        Raises: SchemaError when the stream is longer than `max_bytes`.
        """
        self._spend(len(data))
        return [line for line in [line.rstrip(b"\r") for line in self._cut(data)] if line]

    def close(self) -> list[bytes]:
        """Return the last line when it has no end."""
        rest = self._rest().rstrip(b"\r")
        return [rest] if rest else []


class Events(_Stream):
    """Server-sent events as {"event": str, "data": str}; `event` is "message" unless the stream names one.

    LF, CRLF or CR ends a line, also when CR and LF come in different pieces. A leading byte order mark is removed.
    Comments, `id`, `retry`, unknown fields and events without data are left out. `extra_fields` names fields beyond
    the standard that are read as an event of that name.
    """

    def __init__(self, max_bytes: int = TOTAL_BYTES, extra_fields: tuple[str, ...] = ()):
        _Stream.__init__(self, max_bytes)
        self._extra_fields = extra_fields
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[dict[str, str]]:
        """Return the events that `data` completes.

        Raises: SchemaError when the stream is longer than `max_bytes`.
        """
        self._spend(len(data))
        events: list[dict[str, str]] = []
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
        if data:
            self._after_cr = data[-1:] == b"\r"
            for line in self._cut(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")):
                self._take(line, events)
        return events

    def close(self) -> list[dict[str, str]]:
        """Return the event that the end of the stream completes, if one is open."""
        events: list[dict[str, str]] = []
        rest = self._rest()
        if rest:
            self._take(rest, events)
        self._dispatch(events)
        return events

    def _take(self, line: bytes, events: list[dict[str, str]]) -> None:
        if self._at_start:
            self._at_start = False
            if line[:3] == _BOM:
                line = line[3:]
        if not line:
            self._dispatch(events)
            return
        if line[:1] == b":":
            return
        field, _, value = line.partition(b":")
        name = text(field)
        if value[:1] == b" ":
            value = value[1:]
        if name == "data":
            self._data.append(text(value))
        elif name == "event":
            self._name = text(value)
        elif name in self._extra_fields:
            self._name = name
            self._data.append(text(value))

    def _dispatch(self, events: list[dict[str, str]]) -> None:
        if self._data:
            events.append({"event": self._name or "message", "data": "\n".join(self._data)})
        self._name = ""
        self._data = []


def text(raw: bytes) -> str:
    """Decode UTF-8; bytes that are none become U+FFFD instead of ending the stream."""
    try:
        return raw.decode("utf-8", "replace")
    except UnicodeError:  # MicroPython knows no error handlers
        return "".join([chr(byte) if byte < 128 else "\ufffd" for byte in raw])
