"""Start model servers of others that fail on purpose: PyPI's llmock (not npm's of that name) and llm-katan.

`llmock()` gives an object with `port`, `script(*behaviours)`, `verdict()`, `close()`; `katan(keys)` one with `port` and
`close()`, which lets in only who has the key of its format; None when they are not installed. llm-katan is found on
PATH: it brings a package called `tests`, so it belongs into an environment of its own.
"""

import importlib.metadata
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ADVICE = "run `pip install llmock` (of PyPI) to have a judge of retries"
KATAN_ADVICE = "run `pipx install llm-katan` to test against its refusals of keys"
_READY_S = 60


def _judge():
    """Return the path of PyPI's llmock, None when it is not installed beside this Python: npm has one of that name."""
    try:
        importlib.metadata.version("llmock")
    except importlib.metadata.PackageNotFoundError:
        return None
    path = os.path.join(os.path.dirname(sys.executable), "llmock")
    return path if os.path.exists(path) else None


class Peer:
    def __init__(self, argv, health):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._home = tempfile.TemporaryDirectory()
        env = {"PATH": os.environ["PATH"], "HOME": self._home.name}
        argv = [*argv, "--host", "127.0.0.1", "--port", str(self.port)]
        null = subprocess.DEVNULL
        self._child = subprocess.Popen(argv, stdin=null, stdout=null, stderr=null, env=env)
        until = time.monotonic() + _READY_S
        while self._is_silent(health):
            if self._child.poll() is not None or time.monotonic() > until:
                self.close()
                raise RuntimeError(f"{argv[0]} did not start")
            time.sleep(0.1)

    def _is_silent(self, health):
        try:
            self.call(health)
        except urllib.error.HTTPError:
            return False
        except OSError:
            return True
        return False

    def call(self, path, value=None, method=None):
        data = None if value is None else json.dumps(value).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def script(self, *behaviours):
        """Forget what was asked, and answer the next requests as told."""
        self.call("/_llmock/reset", {})
        self.call("/_llmock/scenario", {"behaviors": list(behaviours)})

    def verdict(self):
        return self.call("/_llmock/verdict")

    def close(self):
        self._child.terminate()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._home.cleanup()


def llmock():
    program = _judge()
    return Peer([program, "serve", "--log-level", "error"], "/health") if program else None


def katan(keys):
    """Start llm-katan with {format: key}."""
    program = shutil.which("llm-katan")
    if not program:
        return None
    said = ",".join([f"{name}={key}" for name, key in keys.items()])
    argv = [program, "--model", "echo-1", "--backend", "echo", "--providers", ",".join(keys), "--log-level", "error"]
    return Peer([*argv, "--validate-keys", "--api-keys", said], "/health")
