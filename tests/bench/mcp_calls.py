"""What MCP costs: a call of ours beside one of a server made with the official SDK, by the same client, and memory."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time

from tests.bench import measure as tools

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
SDK = os.path.join(REPOSITORY, "tests", "parts", "mcp", "served", "sdk.py")
CODE = f"import sys; sys.path.insert(0, {REPOSITORY!r})\nfrom oasis.cli.main import main; sys.exit(main(['mcp']))"
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def measure(bench: object, folder: str, times: int) -> None:
    """Add the rows to a Bench; without the SDK there is nothing to compare with, and a note says so."""
    from tests.oasisd import copy_root, start_daemon

    daemon = start_daemon(copy_root(folder + "/mcp"))
    try:
        env = {"OASIS_ROOT": daemon.root, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        argv = [sys.executable, "-IS", "-c", CODE]
        ours = _served(argv, env, {"name": "run_result", "arguments": {"run": "none"}}, times)
        whole = _served(argv, env, {"name": "read_config", "arguments": {"package": "system"}}, times)
        theirs = (0.0, 0)
        if importlib.util.find_spec("mcp") is None:
            bench.notes.append("mcp is not installed (pip install mcp): no server of others to compare with")
        else:
            argv = [sys.executable, SDK, "stdio"]
            theirs = _served(argv, dict(os.environ), {"name": "label", "arguments": {"text": "x"}}, times)
    finally:
        daemon.stop()
    bench.row("MCP: a call that oasis mcp answers itself, median", ours[0], theirs[0], "the official SDK's", "ms")
    bench.row("MCP: a call through the daemon to a tool, median", whole[0], theirs[0], "the official SDK's", "ms")
    bench.row("MCP: memory of the server, RSS", ours[1], theirs[1], "the official SDK's", "KiB")


def _served(argv: list[str], env: dict[str, str], call: dict[str, object], times: int) -> tuple[float, int]:
    """Return the median of a call's round trips in ms, and the server's RSS in KiB."""
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        _ask(process, 0, "initialize", HANDSHAKE)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        for number in range(1, 4):
            _ask(process, number, "tools/call", call)
        found = []
        for number in range(4, 4 + 2 * times):
            began = time.perf_counter()
            _ask(process, number, "tools/call", call)
            found.append((time.perf_counter() - began) * 1000)
        return statistics.median(found), tools.memory_kib(process.pid)["rss"]
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def _ask(process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, object]) -> None:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    while True:
        line = process.stdout.readline()
        if not line:
            raise tools.MeasureError(f"{argv_of(process)} ended")
        if json.loads(line).get("id") == number:
            return


def argv_of(process: subprocess.Popen[bytes]) -> str:
    return " ".join(str(word) for word in process.args)[:80]
