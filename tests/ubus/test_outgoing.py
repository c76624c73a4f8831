"""Calls through the `ubus` program: a stand-in for its answers, and the stock router's own."""

import pytest

from oasis.errors import ToolError
from oasis.system.child import Executor
from oasis.system.root import Root
from oasis.ubus.outgoing import Ubus
from tests.oasisd import copy_root


class Answer:
    """An executor that answers with one recorded end of the program, and keeps what it was asked."""

    def __init__(self, status=0, out=b"", err=b""):
        self.end = (status, out, err)
        self.argv = None

    def run(self, argv, stdin=None, timeout_s=0):
        self.argv = argv
        return self.end


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    root = Root(
        *(lambda folder: (folder, [folder + "/bin"]))(copy_root(str(tmp_path_factory.mktemp("root") / "router")))
    )
    return Ubus(Executor(root.environment(), root.allowed("")), root.program("ubus"))


def call(answer, arguments=None):
    return Ubus(answer, "/bin/ubus").call("system", "board", arguments)


def test_a_reply_is_an_object():
    assert call(Answer(0, b'{"model":"x"}\n')) == {"model": "x"}


def test_specs_are_one_word_of_json():
    answer = Answer(0, b"{}")
    call(answer, {"name": "a b'\"", "list": [1]})
    assert answer.argv[:4] == ["/bin/ubus", "-S", "-t", "10"]
    assert answer.argv[4:] == ["call", "system", "board", '{"name":"a b\'\\"","list":[1]}']


@pytest.mark.parametrize("arguments", [None, {}])
def test_without_arguments_there_is_no_word(arguments):
    answer = Answer(0, b"{}")
    call(answer, arguments)
    assert answer.argv[4:] == ["call", "system", "board"]


@pytest.mark.parametrize("out", [b"", b"\n"])
def test_a_reply_without_data_is_none(out):
    assert call(Answer(0, out)) is None


@pytest.mark.parametrize("status, words", [
    (2, "invalid argument"), (3, "no such method"), (4, "not found"), (6, "permission denied"), (7, "timed out"),
    (255, "cannot connect to ubusd"), (99, "status 99"), (-9, "status -9"),
])  # fmt: skip
def test_a_failure_names_object_method_and_reason(status, words):
    with pytest.raises(ToolError) as caught:
        call(Answer(status, b"", b'Command failed: secret "hunter2"'))
    assert caught.value.message == f"ubus call system board: {words}"


@pytest.mark.parametrize("out", [b"{", b"not json", b'{"a":' * 1000, b"\xff"])
def test_an_answer_that_is_no_json_is_a_tool_error(out):
    with pytest.raises(ToolError, match="system board answered with"):
        call(Answer(0, out))


def test_an_answer_that_is_no_object_is_no_data():
    assert call(Answer(0, b"[1]")) is None


def test_a_host_without_ubus_says_so():
    with pytest.raises(ToolError, match="no ubus") as caught:
        Ubus(Answer(), "").call("system", "board")
    assert caught.value.hint


def test_the_stock_router_answers(router):
    assert router.call("system", "board")["release"]["distribution"] == "OpenWrt"
    option = {"config": "network", "section": "lan", "option": "proto"}
    assert router.call("uci", "get", option) == {"value": "static"}


def test_the_stock_router_refuses(router):
    with pytest.raises(ToolError, match="not found"):
        router.call("nothing", "here")
