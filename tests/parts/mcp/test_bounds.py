"""The MCP client under stress: servers that do not read, that ask without end, calls at once, ends in the middle."""

from __future__ import annotations

import json
import sys
import threading
import time

import pytest

from oasis.errors import ToolError
from oasis.llm.workers import Models
from oasis.parts.mcp import servers as mcp
from oasis.parts.mcp.server_connection import REPLIES, ForgottenError, Peer, Stdio
from oasis.system.files import Files
from oasis.uci.model import Section
from tests.parts.mcp.test_client import Watching, kit, section

DEAF = "import time; time.sleep(60)"
NOSY = """
import json, sys
for number in range(100000):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": "x" * 1000, "method": "ping"}) + "\\n")
    sys.stdout.flush()
"""


@pytest.fixture
def child():
    started = []

    def start(program):
        started.append(Stdio("demo", [sys.executable, "-I", "-c", program], {}, ""))
        return started[-1]

    yield start
    for one in started:
        one.close()


def ask(line, seconds=20.0, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": params}
    return line.ask(message, seconds, lambda message: None, lambda: False)


def test_server_that_does_not_read_holds_nobody_when_it_is_ended(child):
    line = child(DEAF)
    failures = []

    def call():
        try:
            ask(line, text="x" * 500_000)
        except ToolError as error:
            failures.append(error.message)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    time.sleep(0.3)
    began = time.monotonic()
    line.close()
    caller.join(5)
    assert not caller.is_alive() and time.monotonic() - began < 8
    assert failures == ["the MCP server demo is gone: it was ended"]


def test_server_that_asks_and_takes_no_answer_is_ended(child):
    line = child(NOSY)
    most = threading.active_count() + REPLIES + 4
    seen = []
    with pytest.raises(ToolError, match=r"it asks and takes no answer|it reads no more"):
        line.ask({"jsonrpc": "2.0", "id": 1, "method": "x"}, 20.0, print,
                 lambda: seen.append(threading.active_count()) or False)  # fmt: skip
    assert max(seen, default=0) <= most


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_listener_that_fails_ends_the_line_and_not_the_wait(child, capfd):
    line = child('print(\'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}\', flush=True); '
                 "import time; time.sleep(60)")  # fmt: skip
    with pytest.raises(ToolError, match="nobody reads what it says"):
        line.ask({"jsonrpc": "2.0", "id": 1, "method": "x"}, 20.0, lambda message: 1 / 0, lambda: False)


class Slow:
    """A line that tells which numbers it was given."""

    def __init__(self):
        self.numbers = []

    def agree(self, version):
        pass

    def ask(self, message, seconds, on_message, is_cancelled):
        self.numbers.append(message["id"])
        token = message["params"].get("_meta", {}).get("progressToken")
        on_message({"method": "notifications/progress", "params": {"progressToken": token, "message": "x" * 9999}})
        return {"result": {}}

    def tell(self, message):
        pass

    def close(self):
        pass

    def is_alive(self):
        return True


class Racing(int):
    """A number that gives way to other threads whenever it is added to, as any number may."""

    def __add__(self, other):
        time.sleep(0.001)
        return Racing(int(self) + other)


def test_calls_at_once_have_numbers_of_their_own():
    line = Slow()
    peer = Peer("demo", line)
    peer._number = Racing(0)
    told = []

    def work():
        for _ in range(10):
            peer.request("tools/call", {}, 1.0, lambda *words: told.append(words[0]), lambda: False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(set(line.numbers)) == len(line.numbers) == 80
    assert len(told) == 80 and max(map(len, told)) == 300


def test_list_in_huge_pages_is_not_gathered():
    class Huge(Slow):
        def ask(self, message, seconds, on_message, is_cancelled):
            self.numbers.append(message["id"])
            return {"result": {"tools": [{"name": "x" * 600_000}], "nextCursor": "on"}}

    line = Huge()
    Peer("demo", line).listed("tools")
    assert len(line.numbers) == 2


def source(tmp_path, connect):
    settings = {"name": "demo", "enabled": True, "command": ["x"], "url": "", "timeout_s": 20, "allowed": []}
    return mcp.Server(settings, connect, Files(), str(tmp_path / "mcp/demo.json"))


class Older(Slow):
    """A line to a server with one tool; `changes` are what it answers instead."""

    def __init__(self, **changes):
        Slow.__init__(self)
        self.changes = changes
        self.is_closed = False

    def ask(self, message, seconds, on_message, is_cancelled):
        method = message["method"]
        if method in self.changes:
            return self.changes[method](on_message)
        answers = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}},
                   "tools/list": {"tools": [{"name": "echo"}]}, "tools/call": {"content": []}}  # fmt: skip
        return {"result": answers[method]} if method in answers else {"error": {"code": -32601, "message": "no"}}

    def close(self):
        self.is_closed = True


def test_session_that_was_forgotten_is_opened_anew_for_a_list_as_well(tmp_path):
    def forget(on_message):
        raise ForgottenError("the MCP server demo forgot the session")

    lines = [Older(), Older(**{"tools/list": forget})]
    assert source(tmp_path, lambda settings: lines.pop()).refresh() == ["demo___echo"]
    assert not lines


def test_call_that_was_made_is_told_though_the_new_list_cannot_be_had(tmp_path):
    def change(on_message):
        on_message({"method": "notifications/tools/list_changed"})
        return {"result": {"content": [{"type": "text", "text": "done"}]}}

    line = Older(**{"tools/call": change, "tools/list": lambda on_message: {"error": {"code": 1, "message": "busy"}}})
    server = source(tmp_path, lambda settings: line)
    assert server.call("demo___echo", {}, None, Watching()) == {"text": "done"}
    assert "busy" in server.state()


def test_server_that_is_ended_while_it_connects_holds_nobody_and_is_left(tmp_path):
    opening, going_on = threading.Event(), threading.Event()

    def hang(on_message):
        opening.set()
        going_on.wait(10)
        return {"error": {"code": -32601, "message": "no"}}

    line = Older(**{"server/discover": hang})
    server = source(tmp_path, lambda settings: line)
    failures = []

    def call():
        try:
            server.refresh()
        except ToolError as error:
            failures.append(error.message)

    caller = threading.Thread(target=call)
    caller.start()
    opening.wait(10)
    began = time.monotonic()
    server.end()
    assert time.monotonic() - began < 5 and line.is_closed
    going_on.set()
    caller.join(10)
    assert failures == ["the MCP server demo was switched off or changed"]
    with pytest.raises(ToolError, match="was switched off or changed"):
        server.call("demo___echo", {}, None, Watching())


def test_kept_list_that_is_no_list_is_none(tmp_path):
    settings = {"name": "demo", "timeout_s": 20, "allowed": []}
    for odd in ({"tools": 1, "has": 7}, {"tools": ["x", None], "has": "resources"}, {"tools": {}, "has": [[]]}):
        (tmp_path / "demo.json").write_text(json.dumps(odd))
        assert mcp.Server(settings, None, Files(), str(tmp_path / "demo.json")).specs() == []


@pytest.mark.parametrize("odd", ["²", "9" * 5000, "-1", "", ["1", "2"]])
def test_odd_timeout_is_the_usual_one(odd):
    assert mcp.read([section(name="x", command=["/x"], timeout=odd)])[0]["timeout_s"] == mcp.TIMEOUT_S


def test_who_only_looks_sees_no_arguments_and_no_path(tmp_path):
    sections: list[Section] = [
        section(name="a", command=["/bin/a", "--token=tk-1"]),
        section(name="b", url="https://mcp.example.org/tk-1/mcp?key=tk-1"),
        section(name="c", url="https://mcp.example.org?key=tk-1"),
    ]
    found = mcp.Servers(kit(tmp_path, sections))
    assert [one["where"] for one in found.mcp_list({"name": "viewer"})["servers"]] == [
        "/bin/a", "https://mcp.example.org", "https://mcp.example.org"]  # fmt: skip
    assert "tk-1" in found.mcp_list({"name": "owner"})["servers"][0]["where"]


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("http://192.168.1.9:8000/mcp", True), ("http://nas/mcp", True), ("http://nas.lan:80", True),
        ("http://[fd00::9]:8000/mcp", True), ("http://172.31.0.1", True), ("http://127.0.0.1:1/mcp", True),
        ("https://mcp.example.org/mcp", True), ("http://mcp.example.org/mcp", False), ("http://8.8.8.8/mcp", False),
        ("http://[2001:db8::1]/mcp", False), ("http://172.32.0.1", False), ("http://evil.org?.lan", False),
        ("http://192.168.1.9.evil.org/", False),
    ],
)  # fmt: skip
def test_token_is_never_sent_in_the_clear_through_the_internet(tmp_path, url, is_sent):
    sent = []

    def post(request, on_event, is_cancelled):
        sent.append(request["key"])
        on_event({"type": "error", "error": {"message": "not here", "hint": ""}})

    found = mcp.Servers(kit(tmp_path, [section(name="x", url=url)], "tk-1", post))
    with pytest.raises(ToolError, match="not here" if is_sent else "for all to read"):
        found.mcp_refresh("x")
    assert bool(sent) is is_sent


def test_no_worker_is_started_after_the_end():
    started = []
    models = Models(1, 1, "", lambda: started.append(1), lambda: started.append(2))
    models.close()
    events: list[dict[str, object]] = []
    request = {"op": "mcp", "profile": "compatible", "base_url": "http://127.0.0.1:1", "message": {}}
    models.post(request, events.append, lambda: False)
    assert [one["type"] for one in events] == ["error"] and not started


ODD_ANSWERS = {
    "too deep": '{"jsonrpc": "2.0", "id": 1, "result": ' + "[" * 300 + "]" * 300 + "}",
    "cut off": '{"jsonrpc": "2.0", "id": 1, "result": {"content": [',
    "the number last": '{"jsonrpc": "2.0", "result": ' + "[" * 300 + "]" * 300 + ', "id": 1}',
    "without a number": '{"jsonrpc": "2.0", "result": {',
    "a list": "[1,2,3]",
    "a number": "5",
    "no version": '{"id": 1, "result": {}}',
    "an error of nothing": '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}',
}


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_an_answer_that_nobody_can_read_fails_its_call_at_once(child, name):
    line = child("import sys, time\nsys.stdin.readline()\nprint(%r, flush=True)\ntime.sleep(60)" % ODD_ANSWERS[name])
    began = time.monotonic()
    answer = ask(line)
    assert "not readable" in answer["error"]["message"] and time.monotonic() - began < 10


@pytest.mark.parametrize(
    "wrong", ["[1,2,3]", '{"jsonrpc": "2.0", "id": null, "result": {}}', '{"jsonrpc": "2.0", "result": {', "a word"]
)
def test_a_line_that_answers_nothing_fails_no_call_whose_answer_follows(child, wrong):
    words = ["print(%r, flush=True)\ntime.sleep(1.7)" % wrong] * 2  # together longer than a moment
    answer = 'print(\'{"jsonrpc": "2.0", "id": 1, "result": {}}\', flush=True)'
    code = "\n".join(["import sys, time", "sys.stdin.readline()", *words, answer, "time.sleep(60)"])
    assert ask(child(code))["result"] == {}


def test_lines_that_answer_nothing_hold_a_call_no_longer_than_its_time(child):
    code = "import sys, time\nsys.stdin.readline()\nwhile True: print('[1]', flush=True); time.sleep(0.2)"
    began = time.monotonic()
    with pytest.raises(ToolError, match="did not answer within 4 s"):
        ask(child(code), 4.0)
    assert time.monotonic() - began < 9


def test_a_word_for_a_log_on_the_way_fails_no_call(child):
    said = 'print(\'starting {\', flush=True)\nprint(\'{"jsonrpc": "2.0", "id": 1, "result": {}}\', flush=True)'
    assert ask(child("import sys, time\nsys.stdin.readline()\n" + said + "\ntime.sleep(60)"))["result"] == {}


def test_a_line_that_is_no_json_holds_its_call_for_a_moment_only(child):
    line = child("import sys, time\nsys.stdin.readline()\nprint('this is not json', flush=True)\ntime.sleep(60)")
    began = time.monotonic()
    with pytest.raises(ToolError, match="wrote what is no message, and no answer"):
        ask(line)
    assert time.monotonic() - began < 10


def test_an_answer_behind_a_byte_order_mark_is_one(child):
    said = 'sys.stdout.buffer.write(b\'\\xef\\xbb\\xbf\' + b\'{"jsonrpc": "2.0", "id": 1, "result": {}}\\n\')'
    code = "import sys, time\nsys.stdin.readline()\n" + said + "\nsys.stdout.flush()\ntime.sleep(60)"
    assert ask(child(code))["result"] == {}


def test_who_tells_how_far_it_is_may_take_its_time_behind_a_stray_word(child):
    told = '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}'
    words = ["print('loading', flush=True)", "time.sleep(1)", "print(%r, flush=True)" % told, "time.sleep(4)"]
    answer = 'print(\'{"jsonrpc": "2.0", "id": 1, "result": {}}\', flush=True)'
    code = "\n".join(["import sys, time", "sys.stdin.readline()", *words, answer, "time.sleep(60)"])
    assert ask(child(code))["result"] == {}
