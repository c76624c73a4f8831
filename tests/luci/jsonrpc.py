"""JSON-RPC as uhttpd's ubus plug-in speaks it: bytes of a POST in, bytes of the reply out.

It must not know HTTP. Error numbers, their order and their causes are those observed on a router:
the object is looked up before the rights, and a dead session looks like a missing right.
Requests of a batch are worked off one after the other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge import Bridge
    from sessions import Sessions

# A larger body is answered as if it did not parse.
BODY_MAX_BYTES = 64 * 1024
# json-c's tokener gives up below this.
DEPTH_MAX = 32
PARSE, METHOD, PARAMS, OBJECT, ACCESS = -32700, -32601, -32602, -32000, -32002
_MESSAGES = {
    PARSE: "Parse error",
    METHOD: "Method not found",
    PARAMS: "Invalid parameters",
    OBJECT: "Object not found",
    ACCESS: "Access denied",
}
PERMISSION_DENIED = 6


class Fault(Exception):
    """A JSON-RPC error on its way to the reply."""


class JsonRpc:
    """Answers requests with the sessions and the bus given."""

    def __init__(self, sessions: Sessions, bus: Bridge) -> None:
        self._sessions = sessions
        self._bus = bus

    def answer(self, body: bytes) -> bytes:
        """Answer one request or a batch."""
        try:
            request = _parse(body)
        except ValueError:
            return _dump(_error(None, PARSE))
        if isinstance(request, list):
            return _dump([self._one(item) for item in request])
        return _dump(self._one(request))

    def _one(self, request: object) -> dict[str, object]:
        number = request.get("id") if isinstance(request, dict) else None
        try:
            return {"jsonrpc": "2.0", "id": number, "result": self._result(request)}
        except Fault as fault:
            return _error(number, fault.args[0])

    def _result(self, request: object) -> object:
        if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
            raise Fault(PARSE)
        if request.get("method") == "list":
            return {}
        if request.get("method") != "call":
            raise Fault(METHOD)
        params = request.get("params")
        if not isinstance(params, list) or len(params) < 4:
            raise Fault(PARSE)
        session, obj, method, arguments = params[:4]
        if not all(isinstance(word, str) for word in (session, obj, method)) or not isinstance(arguments, dict):
            raise Fault(PARAMS)
        if "ubus_rpc_session" in arguments:
            raise Fault(PARAMS)
        return self._call(session, obj, method, arguments)

    def _call(self, session: str, obj: str, method: str, arguments: dict[str, object]) -> list[object]:
        if obj != "session" and not self._bus.has(obj):
            raise Fault(OBJECT)
        if not self._sessions.may_call(session, obj, method):
            raise Fault(ACCESS)
        if obj == "session":
            return self._session(session, method, arguments)
        status, reply = self._bus.call(obj, method, {**arguments, "ubus_rpc_session": session})
        return [status] if reply is None else [status, reply]

    def _session(self, session: str, method: str, arguments: dict[str, object]) -> list[object]:
        if method == "access":
            wanted = str(arguments.get("object", "")), str(arguments.get("function", ""))
            return [0, {"access": self._sessions.may_call(session, *wanted)}]
        if method == "destroy":
            self._sessions.destroy(session)
            return [0]
        made = self._sessions.login(str(arguments.get("username", "")), str(arguments.get("password", "")))
        if made is None:
            return [PERMISSION_DENIED]
        life_s = self._sessions.remaining_s(made)
        return [0, {"ubus_rpc_session": made, "timeout": life_s, "expires": life_s}]


def _parse(body: bytes) -> object:
    if len(body) > BODY_MAX_BYTES:
        raise ValueError("body above the limit")
    try:
        value: object = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if _depth(value) > DEPTH_MAX:
        raise ValueError("nested too deep")
    return value


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _error(number: object, code: int) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": _MESSAGES[code]}}


def _dump(reply: object) -> bytes:
    return json.dumps(reply, separators=(",", ":")).encode()
