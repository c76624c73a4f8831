"""JSON-RPC 2.0 over lines: one object a line, both directions; no sockets here.

Source: JSON-RPC 2.0 specification. Batches and notifications from the peer are refused: every request has an id.
"""

from oasis.core import jsonl
from oasis.errors import PeerError, SchemaError

if False:  # annotations only
    from oasis.core.shapes import Json, Mapping

FAILED = -32000  # an OasisError; its dict is in error.data


def request(number: object, method: str, params: "Mapping[str, object]") -> bytes:
    """Return the line that asks for `method`; `params` is an object."""
    return jsonl.line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def result(number: object, value: object) -> bytes:
    """Return the line of a reply."""
    return jsonl.line({"jsonrpc": "2.0", "id": number, "result": value})


def failure(number: object, code: int, message: str, data: object = None) -> bytes:
    """Return the line of an error; `data` is OasisError.as_dict() for FAILED."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return jsonl.line({"jsonrpc": "2.0", "id": number, "error": error})


def parse(line: bytes, is_request: bool = False) -> "dict[str, Json]":
    """Return the object of one line, from either side, or that of a request alone.

    Shape: a request {"id", "method", "params"}, or a reply {"id", "result"} or {"id", "error"}.
    Raises: SchemaError for no JSON, PeerError for JSON that is no JSON-RPC.
    """
    value = jsonl.loads(line)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise PeerError("not a JSON-RPC 2.0 object", 'each line is {"jsonrpc":"2.0","id":…,"method":…,"params":{…}}')
    number = value.get("id", False)
    if isinstance(number, bool) or not (number is None or isinstance(number, (int, str))):
        raise PeerError("each line needs an `id`: a number or a text")
    if "method" not in value and ("result" in value or "error" in value):
        if is_request:
            raise PeerError("a reply came where a request belongs")
        return value
    if not isinstance(value.get("method"), str):
        raise PeerError("a request needs a text `method`")
    if not isinstance(value.setdefault("params", {}), dict):
        raise SchemaError("params must be an object")
    return value
