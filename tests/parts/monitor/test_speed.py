"""A speed test by a worker: bounded bytes and time each way, against a server on this host."""

import http.server
import threading

import pytest

from oasis.errors import PolicyError, ProviderError, UsageError
from oasis.parts.monitor import exchange
from oasis.worker import web


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(302 if self.path == "/moved" else 404 if self.path == "/gone" else 200)
        self.send_header("Location", "/file")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while self.path in ("/file", "/closed"):
                self.wfile.write(b"x" * 65536)
                self.server.sent += 65536
        except OSError:
            pass

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        if self.path == "/closed":
            self.send_error(405)
            self.close_connection = True
            return
        while left:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                return
            left -= len(piece)
            self.server.taken += len(piece)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.sent = made.taken = 0
    made.place = "127.0.0.1:%d" % made.server_port
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def speed(server, path, opened=None, bounds=(3.0, 2_000_000)):
    url = "http://" + server.place + path
    opened = [server.place] if opened is None else opened
    return exchange.speed(web.Web({"open": opened}), url, *bounds)


def test_both_ways_are_measured_and_end_with_their_bytes(server):
    found = speed(server, "/file")
    assert found["host"] == "127.0.0.1"
    for way in ("download", "upload"):
        assert 2_000_000 <= found[way]["bytes"] <= 2_100_000 and found[way]["mbit_s"] > 0, found
    assert server.taken == 2_000_000


def test_a_way_that_is_refused_says_why_and_the_other_is_measured(server):
    found = speed(server, "/closed")
    assert found["download"]["mbit_s"] > 0 and set(found["upload"]) == {"why"}
    for path, why in (("/moved", "HTTP 302"), ("/gone", "HTTP 404"), ("/empty", "empty")):
        assert why in speed(server, path)["download"]["why"]


def test_time_ends_it_as_well(server):
    found = speed(server, "/file", bounds=(0.3, 10**12))
    assert all(0.2 < found[way]["seconds"] < 2.5 for way in ("download", "upload")), found


def test_without_a_network_there_is_a_sentence_and_closed_places_stay_closed(server):
    with pytest.raises(PolicyError, match="this router itself"):
        speed(server, "/file", [])
    with pytest.raises(ProviderError, match="no address"):
        exchange.speed(web.Web({"open": []}, lambda host, port: []), "https://nowhere.invalid/x")
    with pytest.raises(ProviderError, match="cannot be read"):
        exchange.speed(web.Web({"open": ["127.0.0.1:1"]}), "http://127.0.0.1:1/x")
    with pytest.raises(UsageError):
        exchange.speed(web.Web({"open": []}), "ftp://x/y")
    assert server.sent == 0
