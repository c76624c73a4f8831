"""A daemon that answers from a script: JSON-RPC lines on a real unix socket, a thread a connection.

`answers` is a list of (method, params, answer); params None fits every call of the method. Answers for the same call
are given in order and the last one again and again. An answer is a result, {"error": {...}}, or a function from the
params to one of those (it may block, as run.poll does). A call without an answer fails and says how to write it.
"""

import contextlib
import json
import os
import socket
import threading


class FakeDaemon:
    def __init__(self, root, answers=()):
        """Listen at the socket of the router root `root` until `stop`."""
        self.root = str(root)
        self.calls = []
        self._answers = list(answers)
        self._given = [0] * len(self._answers)
        self._lock = threading.Lock()
        self._connections = []
        folder = os.path.join(self.root, "var/run/oasis")
        os.makedirs(folder, exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        descriptor = os.open(folder, os.O_RDONLY)
        self._listener.bind(f"/proc/self/fd/{descriptor}/oasis.sock")
        os.close(descriptor)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        # First of all: who sees a connection end may listen here at once.
        os.unlink(os.path.join(self.root, "var/run/oasis/oasis.sock"))
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):  # its client left
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def params_of(self, method):
        """Return the params of every call of `method` so far."""
        return [params for called, params in self.calls if called == method]

    def unused(self):
        """Return the (method, params) that were written but never asked for."""
        return [answer[:2] for answer, given in zip(self._answers, self._given, strict=True) if not given]

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection.makefile("rb") as lines:
                for line in lines:
                    request = json.loads(line)
                    reply = {"jsonrpc": "2.0", "id": request["id"], **self._reply(request["method"], request["params"])}
                    connection.sendall(json.dumps(reply).encode() + b"\n")
        except (OSError, ValueError):
            return  # the client left

    def _reply(self, method, params):
        answer = self._find(method, params)
        if callable(answer):
            answer = answer(params)
        if "error" in answer:
            return {"error": {"code": -32000, "message": answer["error"]["message"], "data": answer["error"]}}
        return {"result": answer}

    def _find(self, method, params):
        with self._lock:
            self.calls.append((method, params))
            fitting = [i for i, a in enumerate(self._answers) if a[0] == method and a[1] in (None, params)]
            if not fitting:
                message = f"no answer is written for: {method} {json.dumps(params)}"
                return {"error": {"code": "error", "message": message, "hint": "daemon> METHOD PARAMS -> ANSWER"}}
            index = next((i for i in fitting if not self._given[i]), fitting[-1])
            self._given[index] += 1
            return self._answers[index][2]
