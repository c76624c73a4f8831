"""`make peers`: Oasis beside the programs that come nearest, measured in one run with one model server.

    python3 tests/bench/peers.py [--folder build/peers] [--json FILE]

Peers, from PyPI, each in an environment of its own: nanobot-ai (a general agent that calls itself ultra-light), llm (a
command line for models), regent-mcp and openwrt-mcp (MCP servers that change an OpenWrt router from a PC). What is
measured: installed bytes without pip and bytecode; the time of an empty command beside a bare interpreter; memory
while it waits for somebody; from the start of a question to the end of its answer, where the model answers at once.

A peer that cannot be installed here is named and left out. Behind the figures comes what each can do (features.py), and
whether the evidence of that is in what was installed. Exit status: 0 measured, 1 evidence is missing, 2 no peer here.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [REPOSITORY, HERE]

import features  # noqa: E402
import measure  # noqa: E402

from tests.cli import launcher  # noqa: E402
from tests.oasisd import copy_root, set_option, start_daemon  # noqa: E402
from tests.recorder import Recorder  # noqa: E402

PEERS = {
    "nanobot-ai": ("nanobot", ["--version"]),
    "llm": ("llm", ["--version"]),
    "regent-mcp": ("regent-mcp", []),
    "openwrt-mcp": ("openwrt-mcp", []),
}
QUESTION = "Say yes."
SETTLE_S = 3.0
WAIT_S = 60
TRIES = 3
KEY = "sk-peers-0123456789"
_NOT_ITS_OWN = ("pip", "setuptools", "pip-*", "setuptools-*", "_distutils_hack", "pkg_resources", "__pycache__")
_HELLO = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "peers", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)  # fmt: skip


class Peer:
    """A program in an environment of its own; a folder is its home."""

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.program, self.empty = PEERS[name]
        self.folder = os.path.join(folder, name)
        self.path = os.path.join(self.folder, "bin", self.program)
        home = self.folder + "/home"
        self.env = {"PATH": self.folder + "/bin:/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8", "CI": "1"}
        self.env.update(OPENWRT_HOST="127.0.0.1", OPENWRT_PASSWORD="none", OPENWRT_USER="root", OPENWRT_PORT="1")
        self.home = home

    def install(self) -> str:
        """Install it when it is not there; return why that could not be, "" otherwise."""
        os.makedirs(self.home, exist_ok=True)
        if not os.path.exists(self.path):
            subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)
            argv = [self.folder + "/bin/pip", "install", "-q", "--disable-pip-version-check"]
            argv.append(f"{self.name}=={features.load()['programs'][self.name]}")  # the one that was read
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr.strip().splitlines()[-1][:200] if done.stderr.strip() else "pip failed"
        return ""

    def size(self) -> int:
        """Return the installed bytes."""
        (site,) = glob.glob(self.folder + "/lib/python3*/site-packages")
        own = [one for one in os.listdir(site) if not any(_fits(one, pattern) for pattern in _NOT_ITS_OWN)]
        return sum(tree_bytes(os.path.join(site, one)) for one in own)


def _fits(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def tree_bytes(path: str) -> int:
    """Return the bytes of a file, or of all files of a folder but bytecode, which is made where it runs."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(
        os.path.getsize(os.path.join(where, name))
        for where, _, names in os.walk(path)
        for name in names
        if not os.path.islink(os.path.join(where, name)) and not name.endswith(".pyc")
    )


def seconds(argv: list[str], env: dict[str, str]) -> float:
    """Return the least time that a command takes, whatever it ends with."""
    found = []
    for _ in range(TRIES):
        before = time.perf_counter()
        subprocess.run(argv, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=WAIT_S, check=False)
        found.append(time.perf_counter() - before)
    return min(found)


def waiting_kib(argv: list[str], env: dict[str, str], lines: tuple[dict[str, object], ...] = ()) -> int | None:
    """Return the resident size of a program and its children while it waits, None when it does not stay."""
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdin is not None and process.stdout is not None
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        for line in lines:
            if "id" in line:
                process.stdout.readline()
        time.sleep(SETTLE_S)
        if process.poll() is not None:
            return None
        return sum(measure.memory_kib(pid)["rss"] for pid in _family(process.pid))
    except (OSError, ValueError):
        return None
    finally:
        process.kill()
        process.communicate()


def _family(parent: int) -> list[int]:
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as handle:
                parents[int(name)] = int(handle.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [parent]
    for pid in found:
        found += [child for child, its in parents.items() if its == pid]
    return found


def peer_row(peer: Peer, server: Recorder) -> dict[str, object]:
    """Return what a peer costs."""
    row: dict[str, object] = {"name": peer.name, "bytes": peer.size()}
    row["empty_s"] = seconds([peer.path, *peer.empty], peer.env)
    if peer.name == "llm":
        _llm_settings(peer, server.url)
        row["answer_s"] = answered(server, [peer.path, "-m", "scripted", QUESTION], peer.env)
        row["waiting"] = "is no server"
    elif peer.name == "nanobot-ai":
        config = _nanobot_settings(peer, server.url)
        ask = [peer.path, "agent", "-c", config, "--no-markdown", "--classic", "-m", QUESTION]
        row["answer_s"] = answered(server, ask, peer.env)
        row["waiting_kib"] = waiting_kib([peer.path, "gateway", "-c", config], peer.env)
    else:
        row["waiting_kib"] = waiting_kib([peer.path], peer.env, _HELLO)
    return row


def answered(server: Recorder, argv: list[str], env: dict[str, str]) -> float | None:
    """Return the least time from the start of a question to its end, None when the server was not asked."""
    before = len(server.requests)
    took = seconds(argv, env)
    return took if len(server.requests) - before >= TRIES else None


def _llm_settings(peer: Peer, url: str) -> None:
    folder = peer.home + "/.config/io.datasette.llm"
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/extra-openai-models.yaml", "w", encoding="utf-8") as handle:
        handle.write(f"- model_id: scripted\n  model_name: scripted\n  api_base: {url}\n")


def _nanobot_settings(peer: Peer, url: str) -> str:
    path = peer.home + "/config.json"
    settings = {
        "providers": {"custom": {"apiKey": KEY, "apiBase": url}},
        "agents": {"defaults": {"model": "scripted", "provider": "custom", "workspace": peer.home + "/workspace"}},
    }
    with open(path, "w", encoding="utf-8") as handle:
        json.dump(settings, handle)
    return path


def own_row(folder: str, server: Recorder) -> dict[str, object]:
    """Return what Oasis costs, measured the same way."""
    root = folder + "/router"
    shutil.rmtree(root, ignore_errors=True)
    root = copy_root(root)
    set_option(root, "titles", "words")
    with open(root + "/etc/config/oasis", encoding="utf-8") as handle:
        text = handle.read()
    service = (
        "config service 'openai'\n\toption name 'openai'\n\toption identifier 'openai'\n\toption model 'scripted'\n"
    )
    service += f"\toption endpoint '{server.url}'\n\n"
    with open(root + "/etc/config/oasis", "w", encoding="utf-8") as handle:
        handle.write(text.replace("config service", service + "config service", 1))
    os.makedirs(root + "/etc/oasis", 0o700, exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w", encoding="utf-8") as handle:
        json.dump({"openai": KEY}, handle)
    program, env = launcher.install(folder), launcher.environment(root)
    code = [os.path.join(where, name) for where, _, names in os.walk(REPOSITORY + "/oasis") for name in names
            if not name.endswith((".pyc", ".pyi"))]  # fmt: skip
    daemon = start_daemon(root)
    try:
        time.sleep(SETTLE_S)
        return {
            "name": "oasis",
            "bytes": sum(os.path.getsize(path) for path in code),
            "empty_s": seconds([*program, "--version"], env),
            "waiting_kib": measure.memory_kib(daemon.process.pid)["rss"],
            "answer_s": answered(server, [*program, "prompt", QUESTION], env),
        }
    finally:
        daemon.stop()


def table(rows: list[dict[str, object]], bare_s: float, bare_kib: int) -> str:
    """Return the rows as Markdown; each figure beside Oasis's or the bare interpreter's."""
    own = rows[0]
    lines = [
        "| program | installed | empty command | waiting | a question, answered at once |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [str(row["name"]), f"{_number(row, 'bytes') / 1e6:.1f} MB{_times(row, own, 'bytes')}"]
        cells.append(f"{_number(row, 'empty_s') * 1000:.0f} ms ({_number(row, 'empty_s') / bare_s:.1f} of bare)")
        kib, why = row.get("waiting_kib"), str(row.get("waiting", "does not stay"))
        cells.append(f"{kib / 1024:.1f} MB ({kib / bare_kib:.1f} of bare)" if isinstance(kib, int) else why)
        answer = row.get("answer_s")
        cells.append(f"{answer * 1000:.0f} ms{_times(row, own, 'answer_s')}" if isinstance(answer, float) else "-")
        lines.append("| " + " | ".join(cells) + " |")
    lines.append(f"\nBare interpreter: {bare_s * 1000:.0f} ms, {bare_kib / 1024:.1f} MB.")
    return "\n".join(lines)


def _number(row: dict[str, object], key: str) -> float:
    value = row[key]
    assert isinstance(value, (int, float))
    return float(value)


def _times(row: dict[str, object], own: dict[str, object], key: str) -> str:
    if row is own or not isinstance(own.get(key), (int, float)):
        return ""
    return f" ({_number(row, key) / _number(own, key):.0f}x)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", default=os.path.join(REPOSITORY, "build", "peers"))
    parser.add_argument("--json")
    chosen = parser.parse_args()
    os.makedirs(chosen.folder, exist_ok=True)
    server = Recorder(*["Yes."] * 1000)
    try:
        rows = [own_row(chosen.folder, server)]
        for name in PEERS:
            peer = Peer(name, os.path.abspath(chosen.folder))
            lacks = peer.install()
            if lacks:
                print(f"peers: NOT HERE: {name}: {lacks}")
                continue
            rows.append(peer_row(peer, server))
    finally:
        server.close()
    bare_s, bare_kib = min(measure.seconds(measure.BARE) for _ in range(10)), measure.bare_memory_kib()["rss"]
    print(table(rows, bare_s, bare_kib))
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as handle:
            json.dump(rows, handle, indent=1)
    data = features.load()
    print("\n" + features.page(data), end="")
    status = features.told(os.path.abspath(chosen.folder), data)
    return status if len(rows) > 1 else 2


if __name__ == "__main__":
    sys.exit(main())
