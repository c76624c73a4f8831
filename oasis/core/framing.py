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


class Lines:
    """Newline-delimited items: b"\\n" or b"\\r\\n" ends a line, empty lines are left out."""

    def __init__(self, max_bytes: int = TOTAL_BYTES):
        self._max_bytes = max_bytes
        self._spent = 0
        self._open: list[bytes] = []  # of a line that is not complete

    def _cut(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes."""
        self._spent += len(data)
        if self._spent > self._max_bytes:
            raise SchemaError(
                "the answer is longer than %d bytes" % self._max_bytes, "ask for a shorter answer or fewer tool results"
            )
        pieces = data.split(b"\n")
        self._open.append(pieces[0])
        if len(pieces) == 1:
            return []
        pieces[0] = b"".join(self._open)
        self._open = [pieces.pop()]
        return pieces

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their ends.

        Raises: SchemaError when the stream is longer than `max_bytes`.
        """
        return [line for line in [line.rstrip(b"\r") for line in self._cut(data)] if line]

    def close(self) -> list[bytes]:
        """Return the last line when it has no end."""
        rest = b"".join(self._open).rstrip(b"\r")
        self._open = []
        return [rest] if rest else []


class Events(Lines):
    """Server-sent events as {"event": str, "data": str}; `event` is "message" unless the stream names one.

    LF, CRLF or CR ends a line, also when CR and LF come in different pieces. A leading byte order mark is removed.
    Comments, `id`, `retry`, unknown fields and events without data are left out. `extra_fields` names fields beyond
    the standard that are read as an event of that name.
    """

    def __init__(self, max_bytes: int = TOTAL_BYTES, extra_fields: tuple[str, ...] = ()):
        Lines.__init__(self, max_bytes)
        self._extra_fields = extra_fields
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[dict[str, str]]:  # type: ignore[override]  # items of another kind
        """Return the events that `data` completes.

        Raises: SchemaError when the stream is longer than `max_bytes`.
        """
        begin = 1 if self._after_cr and data[:1] == b"\n" else 0
        if data:
            self._after_cr = data[-1:] == b"\r"
        plain = data[begin:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._spent += len(data) - len(plain)  # what came counts
        return self._taken(self._cut(plain))

    def close(self) -> list[dict[str, str]]:  # type: ignore[override]
        """Return the event that the end of the stream completes, if one is open."""
        rest = b"".join(self._open)
        self._open = []
        return self._taken([rest, b""])

    def _taken(self, lines: list[bytes]) -> list[dict[str, str]]:
        """Return the events that some lines complete: an empty one ends an event."""
        events: list[dict[str, str]] = []
        for line in lines:
            if self._at_start and line[:3] == _BOM:
                line = line[3:]
            self._at_start = False
            field, _, value = line.partition(b":")
            name = text(field)
            if not line:
                if self._data:
                    events.append({"event": self._name or "message", "data": "\n".join(self._data)})
                self._name = ""
                self._data = []
            elif name == "event":
                self._name = text(value[1:] if value[:1] == b" " else value)
            elif name == "data" or name in self._extra_fields:
                self._name = self._name if name == "data" else name
                self._data.append(text(value[1:] if value[:1] == b" " else value))
        return events


def text(raw: bytes) -> str:
    """Decode UTF-8; bytes that are none become U+FFFD instead of ending the stream."""
    try:
        return raw.decode("utf-8", "replace")
    except UnicodeError:  # MicroPython knows no error handlers
        return "".join([chr(byte) if byte < 128 else "\ufffd" for byte in raw])
