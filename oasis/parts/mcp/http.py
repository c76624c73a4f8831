"""A line to an MCP server over streamable HTTP: each message is one request of a worker, which alone has a network.

Keeps what the server wants to see again: its session, and the version. A session that the server has forgotten is told
by ForgottenError, and who asked connects anew.
"""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Message = dict[str, Any]
    # post(request, on_event, is_cancelled): one request of a worker (worker/lines.py, op "mcp"); its last event ends it
    Post = Callable[[Message, Callable[[Message], None], Callable[[], bool]], None]


class ForgottenError(ToolError):
    """The server does not know our session any more."""


class Http:
    """A line to one address; `key` is sent as a bearer token, "" for none."""

    def __init__(self, name: str, url: str, key: str, post: Post) -> None:
        self.version = ""
        self._name = name
        self._url = url
        self._key = key
        self._post = post
        self._session = ""

    def is_alive(self) -> bool:
        return True

    def ask(
        self, message: Message, seconds: float, on_message: Callable[[Message], None], is_cancelled: Callable[[], bool]
    ) -> Message:
        """Send a request and return its response; see peer.py."""
        found: list[Message] = []

        def heard(said: Message) -> None:
            if "method" in said:
                on_message(said)
            elif said.get("id") in (message["id"], None):
                found.append(said)

        self._send(message, seconds, heard, is_cancelled)
        if not found:
            raise ToolError("the MCP server %s gave no answer" % self._name, "look whether its address is right")
        return found[0]

    def tell(self, message: Message) -> None:
        """Send a notification."""
        self._send(message, 20.0, lambda said: None, lambda: False)

    def close(self) -> None:
        """Nothing is held open."""

    def _send(
        self, message: Message, seconds: float, heard: Callable[[Message], None], is_cancelled: Callable[[], bool]
    ) -> None:
        told = {"profile": "compatible", "base_url": self._url, "key": self._key, "message": message}
        told.update(session=self._session, version=self.version)
        told["options"] = {"idle_s": seconds, "total_s": seconds, "retries": 0}
        ending: Message = {}

        def on_event(event: Message) -> None:
            if event["type"] == "message":
                heard(event["message"])
            elif event["type"] in ("mcp", "error"):
                ending.update(event)

        self._post(told, on_event, is_cancelled)
        self._check(ending)

    def _check(self, ending: Message) -> None:
        if ending.get("type") == "error":
            error = ending["error"]
            raise ToolError("the MCP server %s: %s" % (self._name, error["message"]), str(error["hint"]))
        status = int(ending.get("status", 0))
        if status == 404 and self._session:
            self._session = ""
            raise ForgottenError("the MCP server %s forgot the session" % self._name)
        if status in (401, 403):
            hint = "set its token: oasis servers key %s" % self._name
            raise ToolError("the MCP server %s lets nobody in without a token (HTTP %d)" % (self._name, status), hint)
        self._session = str(ending.get("session", "")) or self._session
