"""`make run`: a stock router root in a folder, oasisd on it, and the chat page; Ctrl-C ends all of it.

Keys found in the environment go into the root's key file and out of the environment of everything started here. A
router root that is already there is kept, so that what was changed is still changed; `make clean` begins anew.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

from oasisd import copy_root, start_daemon  # noqa: E402

from oasis import providers  # noqa: E402
from oasis.config.settings import Settings  # noqa: E402
from oasis.system.files import Files  # noqa: E402
from oasis.system.root import Root  # noqa: E402
from oasis.uci.backends import open_cursor  # noqa: E402

OLLAMA = ("127.0.0.1", 11434)


def router_root(target: str) -> str:
    """Copy the stock root to `target` unless one is there; return the absolute path."""
    return os.path.abspath(target) if os.path.isdir(target + "/etc/config") else copy_root(target)


def offer_services(root: str) -> None:
    """Add a service for every key in the environment and for an Ollama at its usual address."""
    settings = Settings(Root(root), Files())
    present = {item["identifier"] for item in settings.services()}
    cursor = open_cursor(root + "/etc/config", root + "/var/run/oasis-setup")
    for name, entry in providers.profiles().items():
        key = os.environ.pop(str(entry.get("key_env", "")), "") if entry.get("key_env") else ""
        model = ollama_model() if name == "ollama" else str(entry.get("model", ""))
        if name in present or not (key or (name == "ollama" and model)):
            continue
        section = cursor.section(
            "oasis", "service", name, {"name": str(entry["name"]), "identifier": name, "model": model}
        )
        cursor.save("oasis")
        cursor.commit("oasis")
        if key:
            settings.set_key(name, key)
        print(f"offered: {entry['name']} ({model}), as service {section or name}")


def allow_loopback(root: str) -> None:
    """Let connections from this very host prove a change: page, terminal and router are one machine here."""
    cursor = open_cursor(root + "/etc/config", root + "/var/run/oasis-setup")
    cursor.set("oasis", "main", "alive_loopback", "1")
    cursor.save("oasis")
    cursor.commit("oasis")


def ollama_model() -> str:
    """Return the first model of an Ollama at its usual address, "" when there is none."""
    connection = http.client.HTTPConnection(*OLLAMA, timeout=1)
    try:
        connection.request("GET", "/api/tags")
        models = json.loads(connection.getresponse().read()).get("models", [])
        return str(models[0]["name"]) if models else ""
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    finally:
        connection.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default="build/run/router")
    parser.add_argument("--port", type=int, default=8080)
    arguments = parser.parse_args()
    root = router_root(arguments.root)
    offer_services(root)
    allow_loopback(root)
    daemon = start_daemon(root)
    # The page's script that proves that the router is still reached starts the command from beside this interpreter.
    path = os.path.dirname(sys.executable) + ":" + os.environ.get("PATH", "/usr/bin:/bin")
    page = subprocess.Popen(
        [sys.executable, HERE + "/luci/server.py", "--root", root, "--port", str(arguments.port)],
        start_new_session=True,
        env={**os.environ, "PATH": path},
    )
    print(f"the router is {os.path.relpath(root)}; its services are recorded in var/log/services.log there")
    print("log in to its page as root: it has no password yet, so any is let in")
    print('in another terminal: .venv/bin/oasis prompt "call this router attic"   (Ctrl-C here ends everything)')
    try:
        return wait(daemon.process, page)
    finally:
        end(page)
        end(daemon.process)


def wait(daemon: subprocess.Popen[bytes], page: subprocess.Popen[bytes]) -> int:
    """Wait for Ctrl-C or for one of the two to end."""
    for number in (signal.SIGTERM, signal.SIGINT):  # SIGINT too: a shell's background job starts with it ignored
        signal.signal(number, signal.default_int_handler)
    try:
        while daemon.poll() is None and page.poll() is None:
            time.sleep(0.2)
    except KeyboardInterrupt:
        print()
        return 0
    print("oasisd ended" if daemon.poll() is not None else "the page server ended", file=sys.stderr)
    return 1


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to stop and wait for it; end it when it does not."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
