"""Rows of `make bench`: what it takes to decode an answer, to have a worker, and until its first word is seen."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

from oasis.llm.pool import Pool, default_argv
from tests.bench.measure import BARE, bare_memory_kib, memory_kib, seconds
from tests.cli import launcher
from tests.oasisd import copy_root, start_daemon
from tests.worker.misbehaving import HELLO, WORLD, Server, chunked

HERE = os.path.dirname(os.path.abspath(__file__))
STREAM_BYTES = 1_000_000
FIRST_CHARACTER_MS = 10.0
# The client and the worker are up and waiting when the first word comes.
_READY_S = 1.0


def measure(bench: object, folder: str, times: int) -> None:
    """Add the rows to a Bench."""
    bare = bare_memory_kib()["rss"]
    client = _decoding(bench, folder, max(2, times // 6), bare)
    bare_ms = min(seconds(BARE) for _ in range(times)) * 1000
    _worker(bench, max(2, times // 3), client or (bare, "bare, blocked"), bare_ms)
    _first_character(bench, folder, max(3, times // 3))


def stream_text() -> bytes:
    """Return a stream of about a megabyte, as OpenAI sends it: a chunk for each word."""
    out, number = [], 0
    while sum(map(len, out[-1:])) * number < STREAM_BYTES:
        delta = {"content": f"word{number} "}
        chunk = {"id": "chatcmpl-0123456789", "object": "chat.completion.chunk", "created": 1, "model": "m",
                 "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}  # fmt: skip
        out.append(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        number += 1
    chunk["choices"] = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    return b"".join([*out, b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"])


def _decoding(bench: object, folder: str, times: int, bare: int) -> tuple[float, str] | None:
    """Add the rows of decoding; return how big the official client is, when it is installed."""
    path = folder + "/stream"
    with open(path, "wb") as file:
        file.write(stream_text())
    own = _decoded("own_stream.py", path, times)
    if importlib.util.find_spec("openai") is None:
        bench.notes.append("openai is not installed (pip install openai): decoding is compared with nothing")
        bench.row("decoding a stream of 1 MB", own[0] * 1000, 0, "", "ms")
        bench.row("decoding a stream of 1 MB: peak", own[1], bare, "bare, blocked", "KiB")
        return None
    sdk = _decoded("sdk_stream.py", path, times)
    assert own[3] == sdk[3], "the same text was not decoded"
    bench.row("decoding a stream of 1 MB", own[0] * 1000, sdk[0] * 1000, "official client", "ms", 1.0)
    bench.row("decoding a stream of 1 MB: peak", own[1], sdk[1], "official client", "KiB", 1.0)
    return sdk[2], "official client"


def _decoded(script: str, path: str, times: int) -> list[float]:
    argv = [sys.executable, f"{HERE}/{script}", path, str(times)]
    return [float(word) for word in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()]


def _request(url: str) -> dict[str, object]:
    messages = [{"role": "user", "content": "hi"}]
    return {"profile": "compatible", "base_url": url, "key": "", "model": "m", "messages": messages, "tools": []}


def _worker(bench: object, times: int, other: tuple[float, str], bare_ms: float) -> None:
    server = Server()
    cold, warm, sizes, ends = [], [], [], []
    try:
        for _ in range(times):
            pool = Pool(default_argv())
            for found in (cold, warm):
                before = time.perf_counter()
                pool.chat(_request(server.url("good")), lambda event: None)
                found.append((time.perf_counter() - before) * 1000)
            pool.close()
        for _ in range(times):
            sizes.append(_size_in_call(server))
            ends.append(_cancelled_ms(server))
    finally:
        server.close()
    bench.row("a worker's answer, cold start", statistics.median(cold), bare_ms, "bare start", "ms")
    bench.row("a worker's answer, warm", statistics.median(warm), bare_ms, "bare start", "ms")
    bench.row("a worker during a call: RSS", statistics.median(sizes), *other, "KiB")
    bench.row("stop to closed connection, median", statistics.median(ends), 0, "", "ms")


def _size_in_call(server: Server) -> float:
    """Return how big a worker is that waits for the rest of an answer."""
    pool, cancelled, found = Pool(default_argv()), threading.Event(), []

    def take(event: dict[str, object]) -> None:
        if event["type"] == "delta":
            found.append(memory_kib(_child_of(os.getpid()))["rss"])
            cancelled.set()

    pool.chat(_request(server.url("stalled")), take, cancelled)
    pool.close()
    return float(found[0])


def _child_of(pid: int) -> int:
    """Return the worker among a process's children."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for child in file.read().split():
            with open(f"/proc/{child}/cmdline", "rb") as line:
                if b"/oasis/worker/__main__" in line.read():
                    return int(child)
    raise ProcessLookupError("there is no worker")


def _cancelled_ms(server: Server) -> float:
    """Return the time from stopping an answer to the service's seeing the connection closed."""
    pool, cancelled, stopped = Pool(default_argv()), threading.Event(), []
    heard, before = threading.Event(), len(server.hung_up_s)
    thread = threading.Thread(
        target=pool.chat, args=(_request(server.url("stalled")), lambda event: heard.set(), cancelled)
    )
    thread.start()
    heard.wait(20)
    stopped.append(time.monotonic())
    cancelled.set()
    thread.join(20)
    pool.close()
    while len(server.hung_up_s) == before:
        time.sleep(0.005)
    return (server.hung_up_s[-1] - stopped[0]) * 1000


class Speaker:
    """Answers every request with a first word after a while; `sent_s` is when."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.sent_s = 0.0
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection = self._listener.accept()[0]
            except OSError:
                return
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.recv(1 << 20)
                time.sleep(_READY_S)
                self.sent_s = time.perf_counter()
                connection.sendall(chunked(HELLO, end=False))
                time.sleep(0.3)
                connection.sendall(chunked(HELLO, WORLD)[len(chunked(HELLO, end=False)) :])


def _first_character(bench: object, folder: str, times: int) -> None:
    speaker = Speaker()
    root = copy_root(folder + "/first")
    with open(root + "/etc/config/oasis", "w", encoding="ascii") as file:
        file.write("config oasis 'main'\n\toption titles 'words'\n")
        file.write(
            "config service 'home'\n\toption name 'compatible'\n\toption identifier 'home'\n\toption model 'm'\n"
        )
        file.write(f"\toption endpoint 'http://127.0.0.1:{speaker.port}/v1'\n")
    program = launcher.install(folder + "/first")
    daemon = start_daemon(root)
    try:
        found = [_first_ms(program, root, speaker) for _ in range(times)]
    finally:
        daemon.stop()
        speaker.close()
    bench.row(
        f"a service's first word to the terminal's, median of {times}", statistics.median(found), FIRST_CHARACTER_MS,
        "goal", "ms", 1.0,
    )  # fmt: skip
    bench.row(f"a service's first word to the terminal's, worst of {times}", max(found), 0, "", "ms")


def _first_ms(program: list[str], root: str, speaker: Speaker) -> float:
    argv, env = [*program, "prompt", "say hello"], launcher.environment(root)
    child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        first = os.read(child.stdout.fileno(), 1)
        seen_s = time.perf_counter()
        words = first + child.communicate(timeout=30)[0]
    if b"Hello" not in words:
        raise RuntimeError(f"no answer was shown: {words!r}")
    return (seen_s - speaker.sent_s) * 1000
