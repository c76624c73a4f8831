import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from oasis.cli.rpc_client import REPLY_BYTES, BrokenOff, Client, NoDaemon, error_of
from oasis.errors import OasisError, PeerError, PolicyError, ProviderTimeout, RollbackError, UsageError
from tests.cli.fake_daemon import FakeDaemon


def path_of(root):
    return os.path.join(str(root), "var/run/oasis/oasis.sock")


def answering(tmp_path, *replies):
    """Return the path of a socket whose peer sends `replies`, one for each line it gets, then closes."""
    path = str(tmp_path / "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def serve():
        connection, _ = listener.accept()
        with connection, listener:
            for reply in replies:
                connection.recv(4096)
                connection.sendall(reply)

    threading.Thread(target=serve, daemon=True).start()
    return path


def test_call_returns_the_result(tmp_path):
    with FakeDaemon(tmp_path, [("chat.list", {}, {"item": []}), ("info", {"a": "ü"}, {"version": "1"})]):
        client = Client(path_of(tmp_path))
        assert client.call("chat.list", {}) == {"item": []}
        assert client.call("info", {"a": "ü"}) == {"version": "1"}


@pytest.mark.parametrize("kind", [PolicyError, RollbackError, ProviderTimeout, PeerError])
def test_error_of_the_daemon_is_raised_as_the_same_class(tmp_path, kind):
    answers = [("info", {}, {"error": kind("no", "do this").as_dict()})]
    with FakeDaemon(tmp_path, answers), pytest.raises(OasisError) as caught:
        Client(path_of(tmp_path)).call("info", {})
    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.hint) == ("no", "do this")


def test_error_without_our_code_is_still_an_error():
    assert type(error_of({"code": -32601, "message": "unknown method"})) is PeerError
    assert type(error_of({"code": "of a newer version", "message": "m", "hint": "h"})) is OasisError
    assert error_of({}).message
    for code in ("server", "bad_answer", "too_large", "no_credit", "worker"):
        assert error_of({"code": code, "message": "m"}).exit_status == 6
    assert error_of({"code": "budget", "message": "m"}).exit_status == 5


def test_missing_daemon_tells_how_to_start_it(tmp_path):
    with pytest.raises(NoDaemon) as caught:
        Client(path_of(tmp_path), hint="make run").call("info", {})
    assert caught.value.exit_status == 69
    assert caught.value.hint == "start it: make run"


def test_socket_left_by_a_dead_daemon_is_no_daemon(tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.close()
    with pytest.raises(NoDaemon):
        Client(str(tmp_path / "s")).call("info", {})


def test_long_path_is_reached(tmp_path):
    root = tmp_path / ("a" * 90) / ("b" * 90)
    with FakeDaemon(root, [("info", {}, {"version": "1"})]):
        assert Client(path_of(root)).call("info", {}) == {"version": "1"}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{}}\n', PeerError),
        (b'{"jsonrpc":"2.0","id":1,"result":[]}\n', PeerError),
        (b'{"jsonrpc":"2.0","id":1,"method":"info"}\n', PeerError),
        (b'{"id":1,"result":{}}\n', PeerError),
        (b"nonsense\n", OasisError),
        (b'{"jsonrpc":"2.0","id":1,', NoDaemon),
        (b"x" * (REPLY_BYTES + 1), PeerError),
        (b"", NoDaemon),
    ],
)
def test_broken_answer_is_an_error(tmp_path, reply, kind):
    with pytest.raises(kind):
        Client(answering(tmp_path, reply)).call("info", {})


def test_silent_daemon_is_given_up(tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    with listener, pytest.raises(PeerError, match=r"within 0\.1 s"):
        Client(str(tmp_path / "s"), timeout_s=0.1).call("info", {})


def test_late_answer_is_not_taken_for_the_next_calls(tmp_path):
    go_on = threading.Event()

    def slow(params):
        go_on.wait(10)
        return {"late": True}

    with FakeDaemon(tmp_path, [("run.poll", {}, slow), ("run.cancel", {}, {"state": "cancelled"})]):
        client = Client(path_of(tmp_path), timeout_s=0.2)
        with pytest.raises(PeerError):
            client.call("run.poll", {})
        assert client.call("run.cancel", {}) == {"state": "cancelled"}
        go_on.set()


def test_a_service_that_begins_is_waited_for_as_long_as_its_process_lives(tmp_path):
    folder = tmp_path / "var/run/oasis"
    folder.mkdir(parents=True)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "oasisd"])
    (folder / "lock").write_text(f"{process.pid}\n")
    late = []
    timer = threading.Timer(0.6, lambda: late.append(FakeDaemon(tmp_path, [("info", {}, {"version": "1"})])))
    timer.start()
    try:
        assert Client(path_of(tmp_path)).call("info", {}) == {"version": "1"}
    finally:
        timer.join()
        late[0].stop()
    ending = threading.Timer(0.6, process.kill)
    ending.start()
    begun_s = time.monotonic()
    with pytest.raises(NoDaemon, match="is not running"):
        Client(path_of(tmp_path)).call("info", {})
    assert 0.5 < time.monotonic() - begun_s < 10
    process.wait()


def test_a_connection_that_is_over_is_made_anew_and_nothing_is_sent_twice(tmp_path):
    def breaks(_):
        second.stop()
        raise OSError

    told = []
    first = FakeDaemon(tmp_path, [("info", {}, {"version": "1"})])
    client = Client(path_of(tmp_path))
    assert client.ask("info", {}, told.append) == {"version": "1"} and told == []
    first.stop()
    second = FakeDaemon(tmp_path, [("info", {}, {"version": "2"}), ("run.start", None, breaks)])
    assert client.ask("info", {}, told.append) == {"version": "2"}
    assert len(told) == 1 and "began again" in told[0]
    with pytest.raises(BrokenOff) as caught:
        client.ask("run.start", {"message": "x"}, told.append)
    assert caught.value.exit_status == 69 and "look what was done" in caught.value.hint
    with FakeDaemon(tmp_path, [("info", {}, {"version": "3"})]) as third:
        assert client.ask("info", {}, told.append) == {"version": "3"}
        assert [method for method, _ in third.calls] == ["info"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every socket")
def test_forbidden_socket_says_who_may(tmp_path):
    with FakeDaemon(tmp_path):
        os.chmod(path_of(tmp_path), 0)
        with pytest.raises(PolicyError, match="no permission"):
            Client(path_of(tmp_path)).call("info", {})


def test_a_call_that_is_too_long_says_so_and_reaches_nobody(tmp_path):
    with pytest.raises(UsageError, match="2049 kB to send, and a call may have 1024 kB") as caught:
        Client(str(tmp_path / "nobody.sock")).call("run.start", {"message": "x" * (2 << 20)})
    assert "--attach" in caught.value.hint
