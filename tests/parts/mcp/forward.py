"""A way to a server on 127.0.0.1 for programs that cannot send a token: everything goes on, with the token added."""

from __future__ import annotations

import http.client
import http.server
import threading


class Forward(http.server.ThreadingHTTPServer):
    """Listens on a free port; Host and Origin go on as if they were the server's own, others as they are."""

    daemon_threads = True

    def __init__(self, port, token):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.token = port, token
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing: a client that breaks off is part of the tests."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _forward(self):
        own, there = f":{self.server.server_port}", f":{self.server.target}"
        headers = {"Authorization": "Bearer " + self.server.token}
        for name, value in self.headers.items():
            if name.lower() not in ("authorization", "connection"):
                headers[name.title()] = value.replace(own, there) if name.lower() in ("host", "origin") else value
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        connection.request(self.command, self.path, body or None, headers)
        self._answer(connection.getresponse())
        connection.close()

    def _answer(self, answer):
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "server", "date", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while piece := answer.read1(65536):
            self.wfile.write(piece)
            self.wfile.flush()

    do_GET = do_POST = do_DELETE = _forward

    def log_message(self, *words):
        pass
