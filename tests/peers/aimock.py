"""Start aimock, a scripted model server of others that speaks the formats of many vendors.

`start(fixtures)` gives an object with `port`, `journal()` (the requests it saw) and `close()`; None when it is not
installed (`npm install --prefix tests`).
"""

import json
import os
import subprocess
import urllib.request

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(FOLDER, "peers", "aimock.json")
ADVICE = "run `npm install --prefix tests` (needs node) to test against aimock"


def program():
    """Return the path of the installed command, None when it is missing."""
    link = os.path.join(FOLDER, "node_modules", ".bin", "llmock")
    return link if os.path.exists(link) else None


class Aimock:
    def __init__(self, fixtures):
        argv = ["node", program(), "-p", "0", "-h", "127.0.0.1", "--strict", "-f", fixtures]
        self._child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.port = 0
        for line in self._child.stdout:
            if b"listening on" in line:
                self.port = int(line.rsplit(b":", 1)[1])
                break
        assert self.port, "aimock did not start"

    def journal(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/__aimock/journal", timeout=5) as answer:
            return json.load(answer)

    def close(self):
        self._child.terminate()
        self._child.wait(10)
        self._child.stdout.close()


def start(fixtures=FIXTURES):
    return Aimock(fixtures) if program() else None
