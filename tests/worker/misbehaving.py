"""A model server with bad manners: the first word of the path says which. Raw sockets, so that it can really misbehave.

`Server()` listens on 127.0.0.1, a free port, until it is closed; `seen` holds every request as {"path", "headers",
"body"}. A behaviour is a generator: it yields bytes to send, seconds to wait, or CUT to reset the connection.
"""

import json
import socket
import ssl
import struct
import threading
import time

CUT = object()

OK = b"HTTP/1.1 200 OK\r\n"
SSE = b"Content-Type: text/event-stream\r\n"
CLOSE = b"Connection: close\r\n\r\n"

HELLO = b'data: {"id":"r","model":"m","choices":[{"delta":{"content":"Hello"}}]}\n\n'
WORLD = b'data: {"choices":[{"delta":{"content":" world"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}\n\n'
)


def answer(status, body, *headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def as_json(status, value, *headers):
    return answer(status, json.dumps(value).encode(), "Content-Type: application/json", *headers)


def chunked(*pieces, end=True):
    out = OK + SSE + b"Transfer-Encoding: chunked\r\n\r\n"
    for piece in pieces:
        out += b"%x\r\n%s\r\n" % (len(piece), piece)
    return out + (b"0\r\n\r\n" if end else b"")


def good(count):
    yield chunked(HELLO, WORLD)


def good_until_closed(count):
    yield OK + SSE + CLOSE + HELLO
    yield WORLD


def paused(count):
    """Text, a pause, the rest; a client that holds text back shows it only after the pause."""
    yield OK + SSE + CLOSE + HELLO
    yield 1.0
    yield WORLD


def byte_by_byte(count):
    for byte in chunked(HELLO, WORLD):
        yield bytes([byte])


def refused_key(count):
    yield as_json("401 Unauthorized", {"error": {"message": "Incorrect API key: sk-secret-0123456789"}})


def limited_once(count):
    if count > 1:
        yield chunked(HELLO, WORLD)
    else:
        yield as_json("429 Too Many", {"error": {"message": "slow down"}}, "Retry-After: 3")


def limited_for_long(count):
    yield as_json("429 Too Many", {"error": {"message": "slow down"}}, "Retry-After: 3600")


def broken_twice(count):
    yield (
        chunked(HELLO, WORLD)
        if count > 2
        else answer("502 Bad Gateway", b"<html>nginx</html>", "Content-Type: text/html")
    )


def broken(count):
    yield as_json("500 Oops", {"error": "boom"})


def cut(count):
    yield chunked(HELLO, CALL, end=False)


def cut_until_closed(count):
    yield OK + SSE + CLOSE + HELLO + CALL


def reset(count):
    yield chunked(HELLO, end=False)
    yield 0.2
    yield CUT


def cut_before_output(count):
    yield chunked(HELLO, WORLD) if count > 1 else chunked(b": ping\n\n", end=False)


def hung_up(count):
    yield CUT


def stalled(count):
    yield chunked(HELLO, end=False)
    yield 30.0


def silent(count):
    yield 30.0


def portal(count):
    yield answer("200 OK", b"<!DOCTYPE html><html>Welcome! Please log in.</html>", "Content-Type: text/html")


def portal_redirect(count):
    yield answer("302 Found", b"", "Location: http://portal.invalid/login")


def moved_here(count):
    yield answer("307 Temporary Redirect", b"", "Location: /good/v1/chat/completions")


def moved_away(count):
    yield answer("307 Temporary Redirect", b"", "Location: http://localhost:@PORT@/good/v1/chat/completions")


def quotes_the_key(count):
    yield as_json("400 Bad Request", {"error": {"message": "the word open sesame is wrong"}})


def quotes_the_key_in_a_failure(count):
    yield as_json("500 Oops", {"error": {"message": "the word open sesame is wrong"}})


def moved_in_circles(count):
    yield answer("307 Temporary Redirect", b"", "Location: /moved_in_circles/v1/chat/completions")


def error_at_200(count):
    yield as_json("200 OK", {"error": {"message": "model is gone", "code": "model_not_found"}})


def error_in_stream(count):
    yield chunked(HELLO, b'data: {"error":{"message":"overloaded","code":503}}\n\n')


def wrong_json(count):
    yield chunked(b'data: {"choices": oops}\n\n')


def plain_json(count):
    yield as_json("200 OK", {"choices": [{"message": {"content": "Hello world"}, "finish_reason": "stop"}]})


def huge_line(count):
    text = "x" * 3_000_000
    yield chunked(
        b'data: {"choices":[{"delta":{"content":"' + text.encode() + b'"},"finish_reason":"stop"}]}\n\n', WORLD
    )


def huge_call(count):
    text = json.dumps({"text": "x" * 2_000_000})
    call = {"index": 0, "id": "a", "function": {"name": "x", "arguments": text}}
    yield chunked(b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode() + b"\n\n", WORLD)


def endless(count):
    yield OK + SSE + CLOSE
    while True:
        yield b": " + b"x" * 65536 + b"\n"


def endless_error(count):
    yield b"HTTP/1.1 500 Oops\r\n" + CLOSE
    while True:
        yield b"x" * 65536


def packed(count):
    yield answer("200 OK", b"\x1f\x8b\x08", "Content-Encoding: gzip")


def nothing(count):
    yield answer("200 OK", b"")


def no_http(count):
    yield b"SSH-2.0-dropbear\r\n"


def goes_on_for_ever(count):
    """Interim answers without an end; each is in time."""
    while True:
        yield b"HTTP/1.1 100 Continue\r\n\r\n"
        yield 0.05


def drips_its_head(count):
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X"
        yield 0.05


def drips_its_length(count):
    """A chunk whose length has no end: no byte of the body ever comes."""
    yield OK + SSE + b"Transfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"0"
        yield 0.05


def drips_comments(count):
    yield OK + SSE + CLOSE
    while True:
        yield b": ping\n"
        yield 0.05


def drips_text(count):
    yield OK + SSE + CLOSE
    while True:
        yield HELLO
        yield 0.05


def huge_head(count):
    yield b"HTTP/1.1 200 OK\r\nX-Long: "
    while True:
        yield b"x" * 65536


def many_headers(count):
    yield b"HTTP/1.1 200 OK\r\n"
    number = 0
    while True:
        number += 1
        yield b"X-%d: x\r\n" % number


def line_without_end(count):
    """A hundred megabytes and more in one line of the stream."""
    yield OK + SSE + CLOSE + b'data: {"choices":[{"delta":{"content":"'
    while True:
        yield b"x" * 65536


def cut_in_a_character(count):
    """UTF-8 in pieces that end inside a character."""
    text = 'data: {"choices":[{"delta":{"content":"Größe 😀 €"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    yield OK + SSE + CLOSE
    for byte in text.encode():
        yield bytes([byte])
        yield 0.001


def page_with_a_status(count):
    yield answer("502 Bad Gateway", b"<html><body>nginx sk-secret-0123456789</body></html>", "Content-Type: text/html")


def page_called_json(count):
    yield answer("200 OK", b"<html>log in</html>", "Content-Type: application/json")


def stream_called_json(count):
    yield answer("200 OK", HELLO + WORLD, "Content-Type: application/json")


def text_called_stream(count):
    yield answer("200 OK", b"Service temporarily unavailable", "Content-Type: text/event-stream")


def empty_error(count):
    yield answer("500 Oops", b"")


def login_page_elsewhere(count):
    yield answer("307 Temporary Redirect", b"", "Location: http://hotspot.invalid/login?for=api")


def no_body_at_all(count):
    yield b"HTTP/1.1 204 No Content\r\n\r\n"


def refuses_temperature(count):
    """As OpenAI says it of a model that thinks."""
    yield from _unless(
        "temperature" not in _last_body(),
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
        param="temperature", code="unsupported_value",
    )  # fmt: skip


def refuses_max_tokens(count):
    yield from _unless(
        "max_tokens" not in _last_body(),
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param="max_tokens", code="unsupported_parameter",
    )  # fmt: skip


def refuses_both(count):
    body = _last_body()
    name = next((name for name in ("temperature", "max_tokens") if name in body), "")
    yield from _unless(not name, f"{name}: Extra inputs are not permitted")


def refuses_either(count):
    """Wants each of two names where the other stands."""
    name, other = "max_tokens", "max_completion_tokens"
    if name not in _last_body():
        name, other = other, name
    yield from _unless(False, f"Unsupported parameter: '{name}'. Use '{other}' instead.", param=name)


def refuses_for_ever(count):
    """Names what is not in the request."""
    yield from _unless(False, "'temperature' is not supported with this model", param="temperature")


def _unless(is_good, message, **more):
    yield chunked(HELLO, WORLD) if is_good else as_json("400 Bad Request", {"error": {"message": message, **more}})


_bodies = threading.local()


def _last_body():
    return _bodies.value


def models(count):
    yield as_json("200 OK", {"data": [{"id": "m-1"}, {"id": "m-2"}]})


class Server:
    def __init__(self, certificate=None, key=None):
        self.seen = []
        self._counts = {}
        self._tls = None
        self.hung_up_s = []
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._is_open = True
        self.hangups = threading.Semaphore(0)
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, behaviour, scheme="http", host="127.0.0.1"):
        return f"{scheme}://{host}:{self.port}/{behaviour}/v1"

    def close(self):
        self._is_open = False
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = self._read(connection)
            if request:
                self._answer(connection, request)
        except OSError:
            pass  # the client went away; that is what many tests are about
        finally:
            connection.close()
            self.hung_up_s.append(time.monotonic())
            self.hangups.release()

    def _read(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None
            data += piece
            if not data[:1].isalpha():  # a TLS greeting
                connection.sendall(answer("400 Bad Request", b""))
                return None
        head, _, body = data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        request = {"path": first.split(" ")[1], "headers": headers, "body": json.loads(body) if body else None}
        self.seen.append(request)
        return request

    def _answer(self, connection, request):
        name = request["path"].split("/")[1]
        _bodies.value = request["body"]  # a thread serves one request
        self._counts[name] = self._counts.get(name, 0) + 1
        for step in globals()[name](self._counts[name]):
            if step is CUT:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if isinstance(step, float):
                self._wait(connection, step)
            else:
                connection.sendall(step.replace(b"@PORT@", b"%d" % self.port))

    def _wait(self, connection, seconds):
        """Wait, but no longer than the client stays and the test runs."""
        connection.settimeout(0.05)
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._is_open:
            try:
                if not connection.recv(1):
                    raise ConnectionResetError
            except TimeoutError:
                continue
        connection.settimeout(None)
