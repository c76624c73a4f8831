"""A daemon with a messenger on the stock router, and the strict Bot API that it talks to."""

from __future__ import annotations

import http.server
import json
import os
import threading
import time

from tests.oasisd import REPOSITORY, copy_root, start_daemon
from tests.parts.telegram.bot_api import TOKEN, BotApi

OWNER, GUEST, STRANGER = 1001, 2002, 3003


class Scene:
    """`api` is Telegram, `daemon` the router; `start()` and `stop()` end and begin the latter."""

    def __init__(self, folder, **options):
        self.api = BotApi()
        self.root = copy_root(str(folder / "router"))
        os.makedirs(self.root + "/etc/oasis", exist_ok=True)
        with open(self.root + "/etc/oasis/keys.json", "w") as keys:
            json.dump({"telegram": TOKEN}, keys)
        os.chmod(self.root + "/etc/oasis/keys.json", 0o600)
        lines = {"enabled": "1", "base_url": self.api.url, **options}
        if "pace_ms" in options:
            self.api.flood_s = int(options["pace_ms"]) / 1000 * 0.8
        with open(self.root + "/etc/config/oasis", "a") as settings:
            settings.write("\nconfig telegram 'telegram'\n")
            settings.writelines(f"\toption {name} '{value}'\n" for name, value in lines.items())
        self.daemon = None

    def start(self, library=REPOSITORY):
        self.daemon = start_daemon(self.root, library=library)
        return self

    def close(self):
        if self.daemon is not None:
            self.daemon.stop()
        self.api.close()

    def call(self, method, **params):
        return self.daemon.call(method, **params)

    def pair(self, user, role="owner", chat=None):
        """Let somebody in, as the router's owner does."""
        code = self.call("telegram.pair", who=role)["code"]
        self.api.says(user, code, chat=chat)
        self.api.wait_text(chat or user, "Paired")
        return code

    def settled(self):
        """Wait until all that was said to the bot was handled."""
        self.until(lambda: not self.api.updates)

    def until(self, what, seconds=60):
        """Wait until something that the daemon tells is so; return it."""
        until_s = time.monotonic() + seconds
        while True:
            found = what()
            if found:
                return found
            assert time.monotonic() < until_s, self.daemon.log()[-2000:]
            time.sleep(0.05)

    def config(self, package):
        with open(f"{self.root}/etc/config/{package}") as file:
            return file.read()

    def on_flash(self):
        """Return all that is in the chats and the log, as one text."""
        found = [self.daemon.log()]
        for folder, _, names in os.walk(self.root + "/etc/oasis"):
            for name in names:
                if name not in ("keys.json", "plan.key"):
                    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                        found.append(file.read())
        return "\n".join(found)


class Model(http.server.ThreadingHTTPServer):
    """A model at home that says `pieces`, one every `pause_s`; `asked` holds what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Says)
        self.pieces, self.pause_s, self.asked = ["Hello."], 0.0, []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing: runs are stopped in these tests."""

    def section(self):
        url = f"http://127.0.0.1:{self.server_port}/v1"
        return f"\nconfig service 'home'\n\toption name 'compatible'\n\toption model 'm'\n\toption endpoint '{url}'\n"


class _Says(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in self.server.pieces:
            self._say({"delta": {"content": piece}})
            time.sleep(self.server.pause_s)
        self._say({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _say(self, choice):
        self.wfile.write(b"data: %s\n\n" % json.dumps({"id": "r", "model": "m", "choices": [choice]}).encode())
        self.wfile.flush()

    def log_message(self, *words):
        """Say nothing."""
