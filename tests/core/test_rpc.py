"""JSON-RPC lines: what is a request, what a reply, what neither."""

from oasis.core import jsonl, rpc
from oasis.errors import PeerError, SchemaError


def refusal(kind, line, function=rpc.parse):
    try:
        function(line)
    except kind as error:
        return error.message
    raise AssertionError("it was taken")


def test_a_request_comes_back():
    value = rpc.parse(rpc.request(7, "run.poll", {"run": "x", "since": 0}))
    assert (value["id"], value["method"], value["params"]) == (7, "run.poll", {"run": "x", "since": 0})


def test_params_may_be_left_out():
    assert rpc.parse(b'{"jsonrpc":"2.0","id":1,"method":"info"}')["params"] == {}


def test_replies_come_back():
    assert rpc.parse(rpc.result("a", {"x": 1}))["result"] == {"x": 1}
    error = rpc.parse(rpc.failure(None, rpc.FAILED, "no", {"code": "usage"}))["error"]
    assert error == {"code": -32000, "message": "no", "data": {"code": "usage"}}


def test_an_error_without_data_has_no_data():
    assert "data" not in rpc.parse(rpc.failure(1, rpc.FAILED, "no"))["error"]


def test_what_is_no_json_is_a_schema_error():
    for line in (b"", b"{", b"\xff", b"[" * 1000):
        assert refusal(SchemaError, line)


def test_json_that_is_no_json_rpc_is_refused():
    for line in (
        b"1",
        b"[]",
        b"{}",
        b'{"jsonrpc":"1.0","id":1,"method":"info"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"info"}]',
    ):
        assert "JSON-RPC" in refusal(PeerError, line)


def test_a_request_needs_a_method_and_an_id():
    assert "method" in refusal(PeerError, b'{"jsonrpc":"2.0","id":1}')
    assert "method" in refusal(PeerError, b'{"jsonrpc":"2.0","id":1,"method":5}')
    assert "id" in refusal(PeerError, b'{"jsonrpc":"2.0","method":"info"}')


def test_an_id_is_what_can_be_sent_back():
    for number in (b"true", b"[1]", b'{"a":1}', b"1.5"):
        assert "id" in refusal(PeerError, b'{"jsonrpc":"2.0","method":"info","id":' + number + b"}")
    assert rpc.parse(b'{"jsonrpc":"2.0","method":"info","id":null}')["id"] is None


def test_params_are_an_object():
    assert "params" in refusal(SchemaError, b'{"jsonrpc":"2.0","id":1,"method":"info","params":[1]}')


def test_a_server_takes_no_reply():
    assert "reply" in refusal(
        PeerError, b'{"jsonrpc":"2.0","id":1,"result":{}}', lambda line: rpc.parse(line, is_request=True)
    )
    assert refusal(PeerError, b'{"jsonrpc":"2.0","result":{}}', lambda line: rpc.parse(line, is_request=True))
    line = rpc.request(1, "info", {})
    assert rpc.parse(line, is_request=True) == jsonl.loads(line)
