"""`oasis alive`, not for people: hands a proof of life, or just a page's way, from the CGI script to the daemon.

Standard input holds a JSON object {"change", "nonce", "session"}, or {"session"} when a page was loaded: never in argv,
where everybody on the router could read it. The environment holds the addresses of the connection, as a web server
gives them to a script. Standard output gets the daemon's answer {"alive": …} or {"path": …}, or {"error": …}, and the
exit status is 0: the browser reads what is said.
"""

from __future__ import annotations

import os

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Params
    from oasis.cli.terminal import Screen

# Three short words and their frame; a session has 32 digits, as has a nonce.
BODY_BYTES = 1024
_SAID = {"change", "nonce", "session"}
_SEEN = {"session"}
_ENVIRONMENT = ("REMOTE_ADDR", "REMOTE_PORT", "SERVER_ADDR", "SERVER_PORT")


def show(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Ask the daemon what the connection proves."""
    try:
        words: Params = {name.lower(): os.environ.get(name, "") for name in _ENVIRONMENT}
        body = _body()
        screen.json(call("change.alive" if set(body) == _SAID else "path.seen", {**body, **words}))
    except OasisError as error:
        screen.json({"error": error.as_dict()})
    return 0


def _body() -> Params:
    length = os.environ.get("CONTENT_LENGTH", "")
    size = int(length) if length.isascii() and length.isdigit() else BODY_BYTES
    if size > BODY_BYTES:
        raise UsageError("the body has more than %d bytes" % BODY_BYTES)
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            break
        data += piece
    value: object = jsonl.loads(data)
    if (
        not isinstance(value, dict)
        or set(value) not in (_SAID, _SEEN)
        or not all(isinstance(word, str) for word in value.values())
    ):
        raise SchemaError("the body is not an object with the texts " + ", ".join(sorted(_SAID)))
    return dict(value)
