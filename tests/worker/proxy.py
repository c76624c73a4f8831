"""A small HTTP proxy: CONNECT and whole addresses, with a password when one is given; `seen` holds what it was asked.

`Proxy(auth)` listens on 127.0.0.1 and a free port until it is closed. It leads everything to `leads_to`, a port, so
that names and places that exist nowhere can be asked for.
"""

import base64
import contextlib
import socket
import threading


class Proxy:
    def __init__(self, leads_to, auth="", status=200):
        self.seen = []
        self._leads_to = leads_to
        self._auth = "Basic " + base64.b64encode(auth.encode()).decode() if auth else ""
        self._status = status
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            head, _, rest = head.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, version = first.split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            self.seen.append({"method": method, "target": target, "headers": headers})
            if self._auth and headers.get("proxy-authorization") != self._auth:
                client.sendall(b"HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
                return
            if self._status != 200:
                client.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % self._status)
                return
            with socket.create_connection(("127.0.0.1", self._leads_to)) as server:
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Go on\r\n\r\n")
                else:
                    path = "/" + target.partition("://")[2].partition("/")[2]
                    kept = [line for line in lines if not line.lower().startswith("proxy-")]
                    server.sendall("\r\n".join([f"{method} {path} {version}", *kept, "", ""]).encode("latin-1") + rest)
                back = threading.Thread(target=_pump, args=(server, client), daemon=True)
                back.start()
                _pump(client, server)
                back.join()


def _pump(source, target):
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
