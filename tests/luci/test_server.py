"""The stand-in keeps the limits of a real router: sessions, rights, sizes, batches, scripts."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oasisd import granted

NULL = "0" * 32
Answer = Callable[[dict[str, Any]], object]


@pytest.fixture
def bus(tmp_path: Any) -> Iterator[Callable[[Answer], list[dict[str, Any]]]]:
    """Listen where the daemon does; gives the list of requests, each answered with the result of a function."""
    listeners: list[socket.socket] = []
    folder = tmp_path / "var/run/oasis"
    folder.mkdir(parents=True)

    def serve(listener: socket.socket, answer: Answer, seen: list[dict[str, Any]]) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=reply, args=(peer, answer, seen), daemon=True).start()

    def reply(peer: socket.socket, answer: Answer, seen: list[dict[str, Any]]) -> None:
        with peer, peer.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                seen.append(request)
                peer.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "result": answer(request)}).encode() + b"\n")

    def run(answer: Answer) -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = []
        listener = socket.socket(socket.AF_UNIX)
        handle = os.open(folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{handle}/oasis.sock")
        os.close(handle)
        listener.listen()
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, answer, seen), daemon=True).start()
        return seen

    yield run
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def send(url: str, body: bytes | str, path: str = "/ubus", method: str = "POST") -> tuple[int, Any]:
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    return response.status, json.loads(text) if text.startswith((b"{", b"[")) else text.decode()


def request(session: str, obj: str, method: str, **arguments: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": "call", "params": [session, obj, method, arguments]}


def call(url: str, session: str, obj: str, method: str, **arguments: object) -> Any:
    status, reply = send(url, json.dumps(request(session, obj, method, **arguments)))
    assert status == 200
    return reply["error"]["code"] if "error" in reply else reply["result"]


def login(url: str, user: str = "root", password: str = "x") -> str:
    status, reply = call(url, NULL, "session", "login", username=user, password=password)
    assert status == 0
    return str(reply["ubus_rpc_session"])


def test_router_without_password_lets_any_in(router: Any) -> None:
    session = login(router(with_daemon=False).url, password="whatever")
    assert len(session) == 32 and int(session, 16)


def test_wrong_user_and_wrong_password_look_alike(router: Any) -> None:
    url = router(with_daemon=False, password="right").url
    assert call(url, NULL, "session", "login", username="root", password="wrong") == [6]
    assert call(url, NULL, "session", "login", username="nobody", password="right") == [6]
    assert login(url, password="right")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ('{"id":1,"method":"call","params":["0","oasis","info",{}]}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"call","params":["0","oasis","info"]}', -32700),
        ("[" * 100 + "]" * 100, -32700),
        ("[" * 30000 + "]" * 30000, -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"nonsense","params":[]}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"call","params":["0","oasis","info",{"ubus_rpc_session":"0"}]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"call","params":["0","oasis","info",[]]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"call","params":["0","nobody","info",{}]}', -32000),
    ],
)
def test_broken_requests(router: Any, body: str, code: int) -> None:
    status, reply = send(router(with_daemon=False).url, body)
    assert (status, reply["error"]["code"]) == (200, code)


def test_object_is_gone_while_the_daemon_does_not_run(router: Any) -> None:
    one = router(with_daemon=False)
    assert call(one.url, login(one.url), "oasis", "info") == -32000


def test_dead_session_null_session_and_missing_right_are_not_told_apart(router: Any) -> None:
    url = router().url
    assert call(url, "f" * 32, "oasis", "info") == -32002
    assert call(url, NULL, "oasis", "info") == -32002
    assert call(url, login(url), "oasis.chat", "nonsense") == -32002


def test_viewer_may_read_but_not_write(router: Any) -> None:
    url = router(viewer="seen").url
    session = login(url, "viewer", "seen")
    assert call(url, session, "oasis.chat", "list")[0] == 0
    assert call(url, session, "oasis.run", "start", message="x", chat="") == -32002


def test_every_method_of_the_acl_reaches_the_daemon(router: Any, bus: Any) -> None:
    seen = bus(lambda request: {"ok": True})
    url = router(with_daemon=False).url
    session = login(url)
    pairs = granted("luci-app-oasis", "read", "write")
    for obj, name in pairs:
        assert call(url, session, obj, name) == [0, {"ok": True}]
    assert [item["method"] for item in seen] == [f"{obj}.{name}".removeprefix("oasis.") for obj, name in pairs]


def test_session_is_added_to_the_arguments(router: Any, bus: Any) -> None:
    seen = bus(lambda request: {})
    url = router(with_daemon=False).url
    session = login(url)
    call(url, session, "oasis.chat", "load", id="c1")
    assert seen[0]["method"] == "chat.load"
    assert seen[0]["params"] == {"id": "c1", "ubus_rpc_session": session}


def test_session_expires_when_idle_and_calls_renew_it(router: Any) -> None:
    url = router(session_s=1.2).url
    session = login(url)
    for _ in range(3):
        time.sleep(0.6)
        assert call(url, session, "oasis", "info")[0] == 0
    time.sleep(1.5)
    assert call(url, session, "oasis", "info") == -32002


def test_destroyed_session_is_dead(router: Any) -> None:
    url = router().url
    session = login(url)
    assert call(url, session, "session", "destroy") == [0]
    assert call(url, session, "oasis", "info") == -32002


def test_body_above_64_kib_is_a_parse_error(router: Any) -> None:
    url = router().url
    session = login(url)
    frame = len(json.dumps(request(session, "oasis.chat", "load", id="")))
    assert call(url, session, "oasis.chat", "load", id="x" * (65536 - frame))[0] == 0
    assert call(url, session, "oasis.chat", "load", id="x" * (65537 - frame)) == -32700


def test_reply_above_1_mib_never_arrives(router: Any, bus: Any) -> None:
    bus(lambda request: {"text": "x" * int(request["params"]["id"])})
    url = router(with_daemon=False).url
    session = login(url)
    assert call(url, session, "oasis.chat", "load", id="1000000")[0] == 0
    assert call(url, session, "oasis.chat", "load", id="1048576") == [7]


def test_batch_is_worked_off_one_by_one_and_other_calls_go_on(router: Any, bus: Any) -> None:
    bus(lambda request: time.sleep(2 if request["method"] == "run.poll" else 0) or {"method": request["method"]})
    url = router(with_daemon=False).url
    session = login(url)
    batch = [
        request(session, "oasis.run", "poll"),
        request(session, "oasis.run", "poll"),
        request(session, "oasis", "info"),
    ]
    replies: list[Any] = []
    thread = threading.Thread(target=lambda: replies.append(send(url, json.dumps(batch))[1]))
    start_s = time.monotonic()
    thread.start()
    assert call(url, session, "oasis", "info")[0] == 0
    assert time.monotonic() - start_s < 2
    thread.join()
    assert time.monotonic() - start_s >= 4
    assert [item["result"][1]["method"] for item in replies[0]] == ["run.poll", "run.poll", "info"]


def test_get_of_ubus_is_not_found(router: Any) -> None:
    assert send(router(with_daemon=False).url, b"", method="GET")[0] == 404


def test_page_without_session_is_the_login(router: Any) -> None:
    status, text = send(router(with_daemon=False).url, b"", "/cgi-bin/luci/admin/network/oasis/chat", "GET")
    assert status == 403 and "luci_password" in text


@pytest.mark.parametrize(
    "path", ["/luci-static/../../pyproject.toml", "/luci-static/standin/server.py", "/cgi-bin/../x", "/x"]
)
def test_nothing_else_is_served(router: Any, path: str) -> None:
    assert send(router(with_daemon=False).url, b"", path, "GET")[0] == 404


@pytest.fixture
def www(tmp_path_factory: Any) -> Any:
    """A web folder with a script."""
    folder = tmp_path_factory.mktemp("www")
    (folder / "cgi-bin").mkdir()

    def add(name: str, text: str) -> str:
        path = folder / "cgi-bin" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(folder)

    return add


def test_script_sees_the_connection_that_asked(router: Any, www: Any) -> None:
    words = "$REQUEST_METHOD $REMOTE_ADDR $REMOTE_PORT $SERVER_ADDR $SERVER_PORT $OASIS_ROOT"
    head = "Status: 201 Made\\r\\nContent-Type: text/plain\\r\\n\\r\\n"
    folder = www("who", f'printf "{head}"; cat; echo " {words}"\n')
    one = router(with_daemon=False, www=folder)
    parts = urllib.parse.urlsplit(one.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    connection.connect()
    port = connection.sock.getsockname()[1]
    connection.request("POST", "/cgi-bin/who?a=1", b"body")
    response = connection.getresponse()
    said = response.read().decode().split()
    connection.close()
    assert response.status == 201
    assert said == ["body", "POST", "127.0.0.1", str(port), "127.0.0.1", str(parts.port), one.root]


def test_fourth_script_waits_for_a_slot_while_calls_go_on(router: Any, www: Any) -> None:
    folder = www("slow", 'sleep 3; printf "Content-Type: text/plain\\n\\nok"\n')
    url = router(www=folder).url
    session = login(url)
    start_s = time.monotonic()
    ends: list[float] = []

    def ask() -> None:
        assert send(url, b"", "/cgi-bin/slow", "GET") == (200, "ok")
        ends.append(time.monotonic() - start_s)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert call(url, session, "oasis", "info")[0] == 0
    assert time.monotonic() - start_s < 3
    for thread in threads:
        thread.join()
    assert sorted(ends)[2] < 5.9 and sorted(ends)[3] >= 6
