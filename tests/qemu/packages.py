"""The packages for a guest: built from this tree, in two releases, and served over HTTP to the user network."""

from __future__ import annotations

import functools
import glob
import http.server
import os
import subprocess
import sys
import threading

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The release of the version that is the upgrade: above every real one.
NEWER = 99
# In the order of their dependencies; what the router can do without is not installed.
WANTED = (
    "oasis", "oasis-offline", "oasis-memory", "oasis-schedule", "oasis-telegram", "oasis-mcp", "oasis-monitor",
    "oasis-lua", "oasis-offline-de", "oasis-offline-es", "oasis-offline-ja", "oasis-offline-zh", "luci-app-oasis",
    "luci-i18n-oasis-ja",
)  # fmt: skip
# The same builder as `make package`, with another release: the only thing that an upgrade needs to be one.
_BUILD = """
import sys
sys.path.insert(0, sys.argv[1] + "/package")
import build, manifest
whole = manifest.load()
manifest.load = lambda *words: {**whole, "release": int(sys.argv[2]) or whole["release"]}
sys.exit(build.main(["--python", "any", "--output", sys.argv[3]]))
"""


def build(target: str, release: int = 0) -> None:
    """Build the packages into a folder. Raises: RuntimeError."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    words = [sys.executable, "-c", _BUILD, REPOSITORY, str(release), target]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("the packages could not be built:\n" + done.stdout + done.stderr)


def files(folder: str, kind: str) -> list[str]:
    """Return the packages that build() wrote in the order of their dependencies; kind is ipk or apk."""
    found = []
    for name in WANTED:
        separator = "_" if kind == "ipk" else "-[0-9]"
        found += sorted(glob.glob(os.path.join(folder, "any", name + separator + "*." + kind)))
    return found


class Shelf:
    """A folder that the guest can read: `url` is for the host's address on its LAN."""

    def __init__(self, folder: str, host: str) -> None:
        handler = functools.partial(_Silent, directory=folder)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = "http://%s:%d" % (host, self._server.server_port)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        return
