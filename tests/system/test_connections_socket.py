"""Lines on a unix socket: who is connected, limits, and that one peer's fault is no other's."""

import os
import pty
import resource
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

from oasis.core import rpc
from oasis.errors import OasisError, StoreError
from oasis.system.connections import CONNECTIONS, LINE_BYTES, LineServer, has_terminal
from tests.oasisd import connected, read_line

CLIENT = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.sendall(b"hello\\n")
sys.stdout.write(connection.recv(1000).decode())
"""


def told(line, peer):
    return b"%s %d %s\n" % (line, peer["uid"], str(peer["terminal"]).encode())


class Serving:
    """A server in a thread; `connect()` gives a connection that ends with the test."""

    def __init__(self, path, answer):
        self.path = path
        self.server = LineServer(path, answer)
        self.thread = threading.Thread(target=self.server.serve, daemon=True)
        self.thread.start()
        self.connections = []

    def connect(self):
        connection = connected(self.path)
        connection.settimeout(10)
        self.connections.append(connection)
        return connection

    def stop(self):
        for connection in self.connections:
            connection.close()
        self.server.stop()
        self.thread.join(5)
        assert not self.thread.is_alive()


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(answer=told, path=""):
        started.append(Serving(path or str(tmp_path / "oasis.sock"), answer))
        return started[-1]

    yield start
    for serving in started:
        serving.stop()


def ask(connection, line):
    connection.sendall(line)
    return read_line(connection)


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_each_line_gets_its_answer_in_order(serve):
    connection = serve(lambda line, peer: line.upper() + b"\n").connect()
    connection.sendall(b"one\ntwo\nth")
    said = read_line(connection)
    if said == b"ONE\n":  # a reply comes when it is ready
        said += read_line(connection)
    assert said == b"ONE\nTWO\n"
    connection.sendall(b"ree\n")
    assert read_line(connection) == b"THREE\n"


def test_a_line_may_come_byte_by_byte(serve):
    connection = serve(lambda line, peer: line + b"\n").connect()
    for byte in b"slow":
        connection.sendall(bytes([byte]))
        time.sleep(0.005)
    assert ask(connection, b"\n") == b"slow\n"


def test_the_peer_is_told_by_the_kernel(serve):
    peers = []
    connection = serve(lambda line, peer: peers.append(peer) or b"\n").connect()
    ask(connection, b'{"pid":1,"uid":4711,"terminal":true}\n')
    assert (peers[0]["pid"], peers[0]["uid"]) == (os.getpid(), os.getuid())
    assert peers[0]["terminal"] == has_terminal(os.getpid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change to another user")
def test_another_user_is_another_peer(serve):
    serving = serve()
    os.chmod(serving.path, 0o666)
    folder = os.open(os.path.dirname(serving.path), os.O_RDONLY)
    os.chmod(folder, 0o711)
    reader, writer = os.pipe()
    child = os.fork()  # a user id belongs to a whole process, and this one serves
    if child == 0:
        try:
            os.setuid(65534)
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(f"/proc/self/fd/{folder}/oasis.sock")
            connection.sendall(b"hello\n")
            os.write(writer, connection.recv(4096))
        finally:
            os._exit(0)
    os.close(writer)
    os.close(folder)
    said = os.read(reader, 4096)
    os.close(reader)
    os.waitpid(child, 0)
    assert said.startswith(b"hello 65534 ")


def test_a_process_with_a_terminal_is_told_from_one_without(serve):
    serving = serve()
    argv = [sys.executable, "-IS", "-c", CLIENT, serving.path]
    without = subprocess.run(argv, capture_output=True, start_new_session=True)
    assert without.stdout.endswith(b" False\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(argv[0], argv)
    try:
        shown = b""
        while b"\n" not in shown:
            shown += os.read(terminal, 1000)
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    assert shown.split(b"\r\n")[0].endswith(b" True")


def test_a_process_that_is_gone_has_no_terminal():
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    assert not has_terminal(child.pid)


def test_the_socket_is_private(serve):
    serving = serve()
    assert stat.S_IMODE(os.stat(serving.path).st_mode) == 0o600


def test_the_path_may_be_longer_than_a_sockets_address(serve, tmp_path):
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    connection = serve(path=str(folder / "oasis.sock")).connect()
    assert ask(connection, b"x\n").startswith(b"x ")


def test_a_socket_left_by_a_killed_daemon_is_replaced(serve, tmp_path):
    path = str(tmp_path / "oasis.sock")
    old = socket.socket(socket.AF_UNIX)
    old.bind(path)
    old.close()
    assert ask(serve(path=path).connect(), b"x\n").startswith(b"x ")


def test_a_folder_that_is_not_there_is_a_store_error(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(StoreError, match="cannot listen on"):
        LineServer(str(tmp_path / "none/oasis.sock"), told)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_line_that_never_ends_closes_its_connection_and_no_other(serve):
    serving = serve()
    other, endless = serving.connect(), serving.connect()
    try:
        for _ in range(LINE_BYTES // 65536 + 3):
            endless.sendall(b"x" * 65536)
    except ConnectionError:
        pass
    assert is_closed(endless)
    assert ask(other, b"y\n").startswith(b"y ")


def test_the_longest_line_is_answered(serve):
    connection = serve(lambda line, peer: b"%d\n" % len(line)).connect()
    sender = threading.Thread(target=connection.sendall, args=(b"x" * LINE_BYTES + b"\n",))
    sender.start()
    assert read_line(connection) == b"%d\n" % LINE_BYTES
    sender.join(5)


def test_connections_are_bounded_and_a_freed_place_is_used_again(serve):
    serving = serve()
    held = [serving.connect() for _ in range(CONNECTIONS)]
    for connection in held:
        assert ask(connection, b"x\n")
    for _ in range(5):
        assert is_closed(serving.connect())
    assert ask(held[0], b"still\n").startswith(b"still")
    held[1].close()
    deadline = time.monotonic() + 5
    while True:
        connection = serving.connect()
        try:
            assert ask(connection, b"again\n").startswith(b"again")
            break
        except (AssertionError, ConnectionError):
            assert time.monotonic() < deadline, "the place was never freed"
            time.sleep(0.01)


def test_a_slow_answer_does_not_hold_up_others(serve):
    waits = threading.Event()

    def answer(line, peer):
        if line == b"slow":
            waits.wait(10)
        return line + b"\n"

    serving = serve(answer)
    slow = serving.connect()
    slow.sendall(b"slow\n")
    assert ask(serving.connect(), b"quick\n") == b"quick\n"
    waits.set()
    assert read_line(slow) == b"slow\n"


def test_a_peer_that_leaves_in_the_middle_is_no_fault_of_others(serve, capfd):
    serving = serve()
    for _ in range(CONNECTIONS * 2):
        leaving = serving.connect()
        leaving.sendall(b"a\nb\nc\nhalf a li")
        leaving.close()
        time.sleep(0.002)
    deadline = time.monotonic() + 5
    while True:
        try:
            assert ask(serving.connect(), b"x\n").startswith(b"x ")
            break
        except (AssertionError, ConnectionError):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert "Traceback" not in capfd.readouterr().err


def test_bad_json_is_answered_with_a_json_rpc_error_and_the_connection_goes_on(serve):
    def answer(line, peer):
        try:
            return rpc.result(rpc.parse(line, is_request=True)["id"], {})
        except OasisError as error:
            return rpc.failure(None, rpc.FAILED, error.message, error.as_dict())

    connection = serve(answer).connect()
    for line in (b"\n", b"{\n", b"\xff\n", b"[" * 10_000 + b"\n", b'{"jsonrpc":"2.0","id":1,"result":1}\n'):
        reply = rpc.parse(ask(connection, line).rstrip())
        assert (reply["id"], reply["error"]["code"]) == (None, -32000)
        assert reply["error"]["data"]["message"]
    assert rpc.parse(ask(connection, rpc.request(1, "info", {})).rstrip())["result"] == {}


def test_the_server_outlives_a_time_without_descriptors(serve, capfd):
    serving = serve()
    assert ask(serving.connect(), b"x\n")
    folder = os.open(os.path.dirname(serving.path), os.O_RDONLY)
    # The server may hold a descriptor for the next one ready: so two of them knock.
    knocking = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    serving.connections += knocking
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limit[1]))
        for connection in knocking:
            connection.settimeout(10)
            connection.connect(f"/proc/self/fd/{folder}/oasis.sock")
        time.sleep(0.3)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        os.close(folder)
    for connection in knocking:
        assert ask(connection, b"late\n").startswith(b"late")
    assert "cannot accept" in capfd.readouterr().err


def test_after_stop_nobody_is_accepted_and_connections_end(serve):
    serving = serve()
    connection = serving.connect()
    assert ask(connection, b"x\n")
    time.sleep(0.1)  # it waits for its next line now
    serving.server.stop()
    serving.thread.join(5)
    assert not serving.thread.is_alive()
    assert not os.path.exists(serving.path)
    assert ask(connection, b"last\n").startswith(b"last")
    assert is_closed(connection)
