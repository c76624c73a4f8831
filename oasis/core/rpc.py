"""JSON-RPC 2.0 over lines: one object a line, both directions; no sockets here.

Source: JSON-RPC 2.0 specification. Batches and notifications from the peer are refused: every request has an id.
"""

from oasis.core import jsonl
from oasis.errors import PeerError, SchemaError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
FAILED = -32000  # an OasisError; its dict is in error.data


def request(number, method, params):
    """Return the line that asks for `method`; `params` is an object."""
    return jsonl.line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def result(number, value):
    return jsonl.line({"jsonrpc": "2.0", "id": number, "result": value})


def failure(number, code, message, data=None):
    """Return the line of an error; `data` is OasisError.as_dict() for FAILED."""
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return jsonl.line({"jsonrpc": "2.0", "id": number, "error": error})


def parse(line):
    """Return the object of one line.

    Shape: a request {"id", "method", "params"} or a reply {"id", "result"} or {"id", "error"}.
    Raises: SchemaError for no JSON, PeerError for JSON that is no JSON-RPC.
    """
    value = jsonl.loads(line)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise PeerError("not a JSON-RPC 2.0 object", 'each line is {"jsonrpc":"2.0","id":…,"method":…,"params":{…}}')
    if "result" in value or "error" in value:
        return value
    if not isinstance(value.get("method"), str) or "id" not in value:
        raise PeerError("a request needs a text `method` and an `id`")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise SchemaError("params must be an object")
    value["params"] = params
    return value
